/*
 * The option rows of `pstat annotate`: perf's words, and those that report and script have as well.
 */
#include "cmd/annotate_options.h"
#include "cmd/command.h"
#include "cmd/message.h"

#include <errno.h>

static struct annotate_words *of(void *target)
{
	return target;
}

static int take_percent_limit(void *target, const char *argument, struct str *err)
{
	double *limit = &of(target)->percent_limit;

	if (parse_double(argument, limit) || !(*limit >= 0 && *limit <= 100))
		return fail(err, -EINVAL, "--percent-limit: '%s' is not a number from 0 to 100", argument);
	return 0;
}

#define WORD(name) .offset = offsetof(struct annotate_words, name)
#define DUMP(name) .offset = offsetof(struct annotate_words, sample.dump.name)

const struct option_row annotate_options[] = {
	{ .kind = OPTION_GROUP, .help = "Which functions" },
	{ OPTION_TEXT, 's', "symbol", "name", "this function, as the word after the options", WORD(symbol) },
	{ OPTION_CALL, 0, "percent-limit", "percent", "of all functions those that have so much of all samples",
	  .call = take_percent_limit },
	{ OPTION_FLAG, 0, "skip-missing", NULL, "say nothing of functions whose code is not to be had",
	  WORD(skip_missing) },
	{ .kind = OPTION_GROUP, .help = "What to print; a sample is where the processor says it was, without precise\n"
					"events (-e cycles:pp) mostly an instruction or more after the costly one" },
	{ OPTION_FLAG, 'l', "print-line", NULL, "the hottest lines of source first, and beside hot instructions",
	  WORD(look.lines) },
	{ OPTION_SWITCH, 0, "source", NULL, "--no-source: no lines of source between the instructions", WORD(source),
	  .both = true },
	{ OPTION_FLAG, 'n', "show-nr-samples", NULL, "numbers of samples, not percentages", WORD(n_samples) },
	{ OPTION_FLAG, 0, "show-total-period", NULL, "sums of periods, not percentages", WORD(total_period) },
	{ OPTION_CHOICE, 0, "percent-type", "local-period|local-hits|global-period|global-hits",
	  "a percentage is of the function's period or samples (local), or of all (global)", .value = VALUE_ONE_OF,
	  WORD(look.percent) },
	{ OPTION_SWITCH, 0, "group", NULL, "all events beside each other; --no-group: one after the other", WORD(group),
	  .both = true },
	{ OPTION_CHOICE, 'M', "disassembler-style", "att|intel", "the syntax of x86 (att)", .value = VALUE_ONE_OF,
	  WORD(options.intel) },
	{ OPTION_FLAG, 0, "asm-raw", NULL, "the bytes of each instruction, too", WORD(look.raw_bytes) },
	{ OPTION_FLAG, 'P', "full-paths", NULL, "files of source lines with their folders", WORD(look.full_paths) },
	{ OPTION_TEXT, 0, "prefix", "folder", "goes in front of the names of source files where these are looked for",
	  WORD(options.prefix), .value = VALUE_DIRECTORY },
	{ OPTION_UNSIGNED, 0, "prefix-strip", "n", "and takes the place of their first n folders",
	  WORD(options.prefix_strip),
	  .max = 1000 },
	{ OPTION_FLAG, 0, "stdio", NULL, "lines as perf prints them, also on a terminal", WORD(stdio) },
	{ OPTION_FLAG, 0, "stdio2", NULL, "the same with arrows at jumps, calls and returns", WORD(look.arrows) },
	{ OPTION_FLAG, 0, "tui", NULL, "the browser: the default on a terminal", WORD(tui) },
	{ OPTION_FLAG, 'D', "dump-raw-trace", NULL, "every record with its place, name and fields", DUMP(records) },
	{ .kind = OPTION_GROUP, .help = "Accepted, or refused with the reason" },
	{ OPTION_ACCEPTED, 0, "addr2line", "path", .help = "no other program looks up lines", .value = VALUE_FILE },
	{ OPTION_ACCEPTED, 0, "demangle-kernel", NULL, .help = "names of the kernel are shown as it has them" },
	{ OPTION_ACCEPTED, 0, "itrace", "options",
	  .help = "traces of instructions (AUX) are not decoded", .argument_optional = true },
	{ OPTION_ACCEPTED, 'm', "modules", NULL, .help = "modules are always looked up" },
	{ OPTION_ACCEPTED, 0, "objdump", "path", .help = "no other program disassembles", .value = VALUE_FILE },
	{ OPTION_ACCEPTED, 0, "skip-empty", NULL, .help = "events without samples have no code to show" },
	{ OPTION_REFUSED, 0, "code-with-type", NULL, .help = "types of data are not worked out" },
	{ OPTION_REFUSED, 0, "data-type", "name",
	  .help = "types of data are not worked out", .argument_optional = true },
	{ OPTION_REFUSED, 0, "insn-stat", NULL, .help = "types of data are not worked out" },
	{ OPTION_REFUSED, 0, "type-stat", NULL, .help = "types of data are not worked out" },
	{ .kind = OPTION_END, .more = sample_options },
};

void annotate_words_init(struct annotate_words *words)
{
	*words = (struct annotate_words){ .group = -1, .source = -1 };
}

int annotate_words_finish(struct annotate_words *words)
{
	int status = sample_words_finish(&words->sample);

	if (status)
		return status;
	if (words->n_samples && words->total_period)
		return bad_usage("annotate: -n and --show-total-period: one of them");
	if (words->tui && (words->stdio || words->look.arrows))
		return bad_usage("annotate: --tui and --stdio are two ways to show it; give one");
	if (words->options.prefix_strip && !words->options.prefix)
		return bad_usage("annotate: --prefix-strip goes with --prefix");
	words->look.value = words->n_samples      ? ANNOTATION_SAMPLES
			    : words->total_period ? ANNOTATION_PERIOD
						  : ANNOTATION_PERCENT;
	words->options.no_source = !words->source;
	return 0;
}
