/* SPDX-License-Identifier: MIT */
/*
 * pstat annotate: the code of the functions that were sampled, with the samples of each instruction.
 *
 * The recording is read once, into cells by address. Then, for each event or group: its functions, heaviest first, or
 * those that were named. Functions that can't be shown are reported with the reason, those of one file and reason
 * together. On a terminal it is the browser, which begins with the code.
 */
#include "annotate/annotate.h"
#include "cmd/browse.h"
#include "cmd/command.h"
#include "cmd/message.h"
#include "cmd/sample_options.h"
#include "cmd/signals.h"
#include "cmd/terminal.h"
#include "fmt/fmt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct annotate_words {
	struct sample_words sample; /* first: sample_options[] fills it */
	const char *symbol; /* NULL: all */
	struct annotate_options options;
	struct annotation_look look;
	double percent_limit;
	int group, source; /* 1, 0 with --no-X; -1: not given */
	bool total_period, n_samples;
	bool skip_missing;
	bool stdio, tui; /* neither: the browser on a terminal, else printed */
	struct type_words {
		const char *name; /* of a type, with or without "struct"; NULL: all */
		bool asked, states, instructions; /* --data-type, --type-stat, --insn-stat */
		bool beside_code; /* --code-with-type */
		bool json;
	} types;
};

/* ---- options: perf's words, and those that report and script have as well ---- */

static int take_percent_limit(void *target, const char *argument, struct str *err)
{
	double *limit = target;

	if (parse_double(argument, limit) || !(*limit >= 0 && *limit <= 100))
		return fail(err, -EINVAL, "--percent-limit: '%s' is not a number from 0 to 100", argument);
	return 0;
}

static int take_data_type(void *target, const char *argument, struct str *err)
{
	struct type_words *types = target;

	(void)err;
	types->asked = true;
	types->name = argument;
	return 0;
}

#define WORD(name) .offset = offsetof(struct annotate_words, name)
#define DUMP(name) .offset = offsetof(struct annotate_words, sample.dump.name)

const struct option_row annotate_options[] = {
	{ .kind = OPTION_GROUP, .help = "Which functions" },
	{ OPTION_TEXT, 's', "symbol", "name", "show this function, as a word after the options", WORD(symbol) },
	{ OPTION_CALL, 0, "percent-limit", "percent", "only functions with this share of all samples",
	  WORD(percent_limit), .call = take_percent_limit },
	{ OPTION_FLAG, 0, "skip-missing", NULL, "silently skip functions whose code is missing",
	  WORD(skip_missing) },
	{ .kind = OPTION_GROUP, .help = "What to print. Without precise events (-e cycles:pp), a sample is mostly an\n"
					"instruction or more after the costly one" },
	{ OPTION_FLAG, 'l', "print-line", NULL, "list the hottest source lines first",
	  WORD(look.lines) },
	{ OPTION_SWITCH, 0, "source", NULL, "print source lines between instructions", WORD(source),
	  .both = true },
	{ OPTION_FLAG, 'n', "show-nr-samples", NULL, "print numbers of samples, not percentages",
	  WORD(n_samples) },
	{ OPTION_FLAG, 0, "show-total-period", NULL, "print sums of periods, not percentages",
	  WORD(total_period) },
	{ OPTION_CHOICE, 0, "percent-type", "local-period|local-hits|global-period|global-hits",
	  "percent of the function (local), or of all", .value = VALUE_ONE_OF,
	  WORD(look.percent) },
	{ OPTION_SWITCH, 0, "group", NULL, "print events side by side, or one by one", WORD(group),
	  .both = true },
	{ OPTION_CHOICE, 'M', "disassembler-style", "att|intel", "syntax of x86 code (att)",
	  .value = VALUE_ONE_OF,
	  WORD(options.intel) },
	{ OPTION_FLAG, 0, "asm-raw", NULL, "print the bytes of each instruction", WORD(look.raw_bytes) },
	{ OPTION_FLAG, 'P', "full-paths", NULL, "print source files with their folders",
	  WORD(look.full_paths) },
	{ OPTION_TEXT, 0, "prefix", "folder", "look for source files below this folder",
	  WORD(options.prefix), .value = VALUE_DIRECTORY },
	{ OPTION_UNSIGNED, 0, "prefix-strip", "n", "with --prefix: drop the first n folders",
	  WORD(options.prefix_strip),
	  .max = 1000 },
	{ OPTION_FLAG, 0, "stdio", NULL, "print lines as perf does", WORD(stdio) },
	{ OPTION_FLAG, 0, "stdio2", NULL, "the same, with arrows at jumps and calls", WORD(look.arrows) },
	{ OPTION_FLAG, 0, "tui", NULL, "open the browser (default on a terminal)", WORD(tui) },
	{ .kind = OPTION_GROUP, .help = "Types of data, by the debug information" },
	{ OPTION_CALL, 0, "data-type", "name", "print types with the samples of each member; or this one",
	  WORD(types), .call = take_data_type, .argument_optional = true },
	{ OPTION_FLAG, 0, "type-stat", NULL, "first count the instructions by what is known of their types",
	  WORD(types.states) },
	{ OPTION_FLAG, 0, "insn-stat", NULL, "first count them by their names", WORD(types.instructions) },
	{ OPTION_FLAG, 'j', "json", NULL, "with --data-type: print one line of JSON per event", WORD(types.json) },
	{ OPTION_FLAG, 0, "code-with-type", NULL, "print code with the type that each instruction reads or writes",
	  WORD(types.beside_code) },
	{ OPTION_FLAG, 'D', "dump-raw-trace", NULL, "print every record with its fields", DUMP(records) },
	{ .kind = OPTION_GROUP, .help = "Accepted, or refused with the reason" },
	{ OPTION_ACCEPTED, 0, "addr2line", "path", .help = "pstat looks up lines itself", .value = VALUE_FILE },
	{ OPTION_ACCEPTED, 0, "demangle-kernel", NULL, .help = "names of the kernel are shown unchanged" },
	{ OPTION_ACCEPTED, 0, "itrace", "options",
	  .help = "instruction traces (AUX) are not decoded", .argument_optional = true },
	{ OPTION_ACCEPTED, 'm', "modules", NULL, .help = "modules are always looked up" },
	{ OPTION_ACCEPTED, 0, "objdump", "path", .help = "pstat disassembles itself", .value = VALUE_FILE },
	{ OPTION_ACCEPTED, 0, "skip-empty", NULL, .help = "events without samples have no code to show" },
	{ .kind = OPTION_END, .more = sample_options },
};

/* 0, or an exit status after a message. */
static int finish_words(struct annotate_words *words)
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
	if ((words->types.states || words->types.instructions) && !words->types.asked)
		return bad_usage("annotate: --type-stat and --insn-stat go with --data-type");
	if (words->types.json && !words->types.asked)
		return bad_usage("annotate: -j goes with --data-type");
	if (words->tui && (words->types.asked || words->types.beside_code))
		return bad_usage("annotate: types of data are printed; leave --tui away");
	words->look.value = words->n_samples      ? ANNOTATION_SAMPLES
			    : words->total_period ? ANNOTATION_PERIOD
						  : ANNOTATION_PERCENT;
	words->options.no_source = !words->source;
	return 0;
}

/* ---- functions whose code can't be shown ---- */

/* Functions of one file that can't be shown for one reason. */
struct missing {
	const struct dso *dso;
	char *why;
	const struct symbol *first;
	size_t n;
};
struct annotate_run {
	struct sample_run run;
	const struct annotate_words *words;
	struct profile *profile;
	struct missing *missing;
	size_t n_missing, cap_missing;
	size_t n_found; /* functions that were asked for and have samples */
	size_t n_shown;
	struct types *types; /* NULL: types are not asked for */
	struct annotation_look look; /* the words', with the types */
};

static void add_missing(struct annotate_run *run, const struct symbol *symbol, const char *why)
{
	for (size_t i = 0; i < run->n_missing; i++) {
		struct missing *known = &run->missing[i];

		if (known->dso != symbol->dso || strcmp(known->why, why) != 0)
			continue;
		known->n += known->first != symbol;
		return;
	}
	VEC_GROW(run->missing, run->n_missing, run->cap_missing);
	run->missing[run->n_missing++] = (struct missing){ symbol->dso, xstrdup(why), symbol, 1 };
}

/* Reports all functions of a file and reason in one message. */
static void report_missing(struct annotate_run *run)
{
	for (size_t i = 0; i < run->n_missing; i++) {
		const struct missing *missing = &run->missing[i];
		char others[48] = "";

		if (missing->n > 1)
			snprintf(others, sizeof(others), " and %zu other function%s", missing->n - 1,
				 missing->n > 2 ? "s" : "");
		if (!run->words->skip_missing)
			message_error("%s%s of %s: %s", missing->first->name, others, missing->dso->name, missing->why);
		free(missing->why);
	}
	free(run->missing);
}

/* ---- functions ---- */

static void show_function(struct annotate_run *run, struct annotate *annotate,
			  const struct annotate_function *function)
{
	struct annotation *annotation;
	struct str why = STR_INIT;

	if (annotation_new(&annotation, annotate, function, &run->words->options, &why)) {
		add_missing(run, function->symbol, why.s);
	} else {
		progress_end(&run->run.progress);
		annotation_print(annotation, &run->look, &run->run.output);
		annotation_free(annotation);
		run->n_shown++;
	}
	str_release(&why);
}

static void show_events(struct annotate_run *run, const size_t *events, size_t n)
{
	const struct annotate_query query = {
		.name = run->words->symbol, .filters = run->profile->filters, .events = events, .n_events = n,
	};
	struct annotate *annotate = annotate_new(run->profile, &query);
	const struct annotate_function *function;

	for (size_t i = 0; !run->run.output.failed && (function = annotate_function_at(annotate, i)); i++) {
		run->n_found++;
		if (run->words->symbol || annotate_is_heavy(annotate, function, run->words->percent_limit))
			show_function(run, annotate, function);
	}
	annotate_free(annotate);
}

/* Events beside each other: a recorded group's, all with --group, each by itself with --no-group. */
static void show_all(struct annotate_run *run)
{
	const struct events *recorded = run->profile->session.recording->events;
	size_t n = run->profile->n_events < recorded->n ? run->profile->n_events : recorded->n;
	size_t *events = xcalloc(n + 1, sizeof(*events));

	for (size_t i = 0; i < n; i++)
		events[i] = i;
	for (size_t i = 0, members = 1; i < n; i += members) {
		members = 1;
		if (run->words->group > 0)
			members = n;
		else if (run->words->group < 0)
			while (i + members < n && recorded->v[i + members]->leader == recorded->v[i]->index)
				members++;
		show_events(run, events + i, members);
	}
	free(events);
}

/* ---- types of data ---- */

static void show_event_types(struct annotate_run *run, size_t event, const char *name, bool alone)
{
	const struct type_words *words = &run->words->types;
	const struct type_query query = {
		.event = event, .filters = run->profile->filters, .instructions = words->instructions,
	};
	struct type_uses *uses = type_uses_new(run->profile, run->types, &query);
	struct output *output = &run->run.output;

	if (words->name)
		type_uses_keep(uses, words->name);
	progress_end(&run->run.progress);
	if (words->json) {
		type_uses_print_json(uses, name, output);
	} else {
		if (words->states)
			type_uses_print_states(uses, output);
		if (words->instructions)
			type_uses_print_instructions(uses, output);
		type_uses_print(uses, alone ? NULL : name, &run->look, output);
	}
	run->n_shown += uses->n;
	type_uses_free(uses);
}

static void show_types(struct annotate_run *run)
{
	const struct events *recorded = run->profile->session.recording->events;
	size_t n = run->profile->n_events < recorded->n ? run->profile->n_events : recorded->n;
	struct str name = STR_INIT;

	for (size_t i = 0; i < n && !run->run.output.failed; i++) {
		str_reset(&name);
		data_event_add_name(recorded->v[i], &name);
		show_event_types(run, i, name.s, n == 1);
	}
	str_release(&name);
}

static void fail_without_types(struct annotate_run *run)
{
	struct str err = STR_INIT;

	if (run->words->types.name)
		str_addf(&err, "%s: no sampled instruction reads or writes a type of this name",
			 run->words->types.name);
	else
		str_add(&err, "no sampled instruction has a known type of data\n"
			      "--type-stat says why; programs need debug information (-g)");
	sample_run_fail(&run->run, err.s);
	str_release(&err);
}

/* ---- the text ---- */

static void annotate(struct annotate_run *run)
{
	const struct sample_words *sample = &run->words->sample;
	struct pager pager;
	struct str err = STR_INIT;

	if (profile_read(run->profile, sample_run_progress, &run->run, &err))
		sample_run_fail(&run->run, err.s);
	signals_spare_end();
	progress_end(&run->run.progress);
	pager_open(&pager, !sample->no_pager);
	if (run->words->types.asked)
		show_types(run);
	else
		show_all(run);
	output_end(&run->run.output);
	pager_close(&pager);
	if (run->words->types.asked) {
		if (!run->n_shown)
			fail_without_types(run);
	} else if (run->words->symbol && !run->n_found && !err.len) {
		annotate_add_unknown(&run->profile->session, run->words->symbol, &err);
		sample_run_fail(&run->run, err.s);
	}
	if (run->n_missing && !run->n_shown && !run->words->skip_missing)
		run->run.status = EXIT_PSTAT_FAILED;
	report_missing(run);
	filters_add_note(run->profile->filters, &sample->filters, &run->profile->session,
			 &run->profile->session.notes);
	sample_run_notes(&run->run, &run->profile->session, sample);
	str_release(&err);
}

/*
 * False after a message: no function can be shown without a disassembler, which is said once and not for each file.
 */
static bool can_disassemble(struct annotate_run *run)
{
	struct str why = STR_INIT;
	int code = annotate_try(&why);

	if (code == -ENOSYS)
		message_error("annotate: this pstat was built without capstone, which disassembles\n"
			      "build it with capstone's headers installed, or with WITH_CAPSTONE=1");
	else if (code)
		message_error("annotate: %s", why.s);
	if (code)
		run->run.status = EXIT_PSTAT_FAILED;
	str_release(&why);
	return !code;
}

/* ---- on a terminal ---- */

/* False: a text was asked for, or there is no screen to be had. */
static bool browse_code(struct sample_run *run, const struct annotate_words *words)
{
	const struct query query = {
		.session = words->sample.session,
		.filters = words->sample.filters,
		.sort = "dso,symbol",
		.chain = chain_options_default(),
		.group = words->group == 1,
		.group_off = !words->group,
		.percent_limit = words->percent_limit,
		.verbose = (unsigned)words->sample.verbose,
		.quiet = words->sample.quiet,
	};
	const struct screen_code code = { .symbol = words->symbol, .options = words->options, .look = words->look };
	const struct browse_words browsed = { .query = &query, .code = &code, .asked_for = words->tui };
	bool printed = words->stdio || words->look.arrows || words->types.asked || words->types.beside_code;
	bool wanted = !printed && !words->sample.no_pager && terminal_takes_keys();

	if (!wanted)
		browse_not(words->tui, "it needs a terminal, and nothing that is only printed");
	return wanted && browse_recording(run, &browsed);
}

/* ---- the command ---- */

static void print_code(struct annotate_run *run)
{
	struct profile_options options = {
		.session = run->words->sample.session,
		.filters = run->words->sample.filters,
		.shape = { .facts = 1ULL << FACT_LOCATION },
		.files_filtered = true,
	};
	struct str err = STR_INIT;

	if (run->words->types.asked) {
		options.shape.facts |= TYPE_FACTS;
		options.session.replay.data_maps = true;
	}
	options.shape.runs = run->words->look.arrows;
	options.session.no_unwind = true;
	options.session.sym.kernel_late = run->words->symbol;
	if (profile_new(&run->profile, &options, &run->run.reader, &err)) {
		message_error("%s", err.s);
		run->run.status = EXIT_BAD_USAGE;
	} else {
		run->look = run->words->look;
		run->types = types_new(run->profile->session.symbols);
		if (run->words->types.beside_code)
			run->look.types = run->types;
		annotate(run);
	}
	types_free(run->types);
	profile_free(run->profile);
	str_release(&err);
}

static int run_annotate(struct annotate_words *words)
{
	struct annotate_run run = { .words = words };

	words->sample.session.sym.progress = sample_run_symbol_progress;
	words->sample.session.sym.progress_context = &run.run;
	if (sample_run_open(&run.run, &words->sample) && can_disassemble(&run) && !browse_code(&run.run, words))
		print_code(&run);
	return sample_run_close(&run.run);
}

static int take_symbol(struct annotate_words *words, int argc, char **argv, int first)
{
	if (first == argc)
		return 0;
	if (argc - first > 1)
		return bad_usage("annotate: one function at a time; '%s' is one too many", argv[first + 1]);
	if (words->symbol)
		return bad_usage("annotate: -s %s and %s: one of them", words->symbol, argv[first]);
	words->symbol = argv[first];
	return 0;
}

int cmd_annotate(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct annotate_words words = { .group = -1, .source = -1 };
	int first, status;

	(void)kern;
	status = command_parse(self, argc, argv, &words, &first);
	if (status >= 0)
		return status;
	status = take_symbol(&words, argc, argv, first);
	if (status)
		return status;
	if (raw_dump_only(&words.sample.dump))
		return raw_dump(&words.sample.dump);
	status = finish_words(&words);
	return status ? status : run_annotate(&words);
}
