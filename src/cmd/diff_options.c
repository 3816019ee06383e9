/* SPDX-License-Identifier: MIT */
/*
 * The option rows of `pstat diff`, perf's letters among them, and how they become sides, options and a query.
 */
#include "cmd/command.h"
#include "cmd/diff_options.h"
#include "cmd/message.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static struct diff_words *of(void *target)
{
	return target;
}

static int take_weights(struct diff_words *words, const char *text, struct str *err)
{
	const char *comma = strchr(text, ',');
	char *first = comma ? xstrndup(text, (size_t)(comma - text)) : NULL;
	int code = !first || parse_double(first, &words->diff.weights[0]) ||
		   parse_double(comma + 1, &words->diff.weights[1]);

	free(first);
	return code ? fail(err, -EINVAL, "--compute: 'wdiff:%s' has no two weights, as wdiff:1,2 has", text) : 0;
}

/* perf takes a + in front and does nothing about it. */
static int take_compute(void *target, const char *argument, struct str *err)
{
	static const struct {
		const char *name;
		enum diff_compute compute;
	} rows[] = { { "delta", DIFF_DELTA }, { "delta-abs", DIFF_DELTA_ABS }, { "ratio", DIFF_RATIO } };
	const char *name = argument + (*argument == '+');

	of(target)->cycles = !strcmp(name, "cycles");
	if (of(target)->cycles)
		return 0;
	if (!strncmp(name, "wdiff:", 6)) {
		of(target)->diff.compute = DIFF_WEIGHTED;
		return take_weights(of(target), name + 6, err);
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strcmp(name, rows[i].name) != 0)
			continue;
		of(target)->diff.compute = rows[i].compute;
		return 0;
	}
	return fail(err, -EINVAL, "--compute: '%s' is not delta, delta-abs, ratio, wdiff:W1,W2 or cycles", argument);
}

static int take_confidence(void *target, const char *argument, struct str *err)
{
	double percent;

	if (parse_double(argument, &percent) || !(percent >= 50 && percent < 100))
		return fail(err, -EINVAL, "--confidence: '%s' is not a percentage from 50 to below 100", argument);
	of(target)->diff.confidence = percent / 100;
	return 0;
}

static int take_rule(void *target, const char *argument, struct str *err)
{
	struct diff_words *words = target;

	if (words->n_rules == DIFF_RULES_MAX)
		return fail(err, -EINVAL, "--fail-if: at most %d can be given", DIFF_RULES_MAX);
	return diff_rule_parse(&words->rules[words->n_rules++], argument, err);
}

#define WORD(name) .offset = offsetof(struct diff_words, name)
#define FILTER(name) .offset = offsetof(struct diff_words, sample.filters.name)
#define SAMPLE(name) .offset = offsetof(struct diff_words, sample.name)

const struct option_row diff_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to compare" },
	{ OPTION_TEXT, 0, "old", "files",
	  "recordings of the baseline: a,b,c", WORD(old),
	  .value = VALUE_FILE },
	{ OPTION_TEXT, 0, "new", "files", "recordings to compare with the baseline", WORD(new),
	  .value = VALUE_FILE },
	{ OPTION_TEXT, 's', "sort", "keys", "keys that make a row (default dso,symbol)", WORD(sort),
	  .value = VALUE_REPORT_KEYS },
	{ OPTION_FLAG, 'b', "baseline-only", NULL, "print only rows that the baseline has too",
	  WORD(diff.baseline_only) },
	{ OPTION_FLAG, 0, "no-renames", NULL, "do not match renamed or moved functions",
	  WORD(diff.names_exact) },
	{ OPTION_TEXT, 0, "per", "sample|second|n|event",
	  "compare shares (sample), or periods per unit",
	  WORD(per) },
	{ OPTION_CHOICE, 0, "percentage", "relative|absolute", "of filtered samples, or of all (default)",
	  .off = true, .value = VALUE_ONE_OF, WORD(percentage_relative) },
	{ .kind = OPTION_GROUP, .help = "Which samples" },
	{ OPTION_TEXT, 'C', "comms", "names", "only samples of tasks with these names", FILTER(comms) },
	{ OPTION_TEXT, 'd', "dsos", "names", "only samples in these files", FILTER(dsos) },
	{ OPTION_TEXT, 'S', "symbols", "names", "only samples in these functions", FILTER(symbols) },
	{ OPTION_TEXT, 0, "cpu", "list", "only samples on these CPUs", FILTER(cpus) },
	{ OPTION_TEXT, 0, "pid", "list", "only samples of these processes", FILTER(pids) },
	{ OPTION_TEXT, 0, "tid", "list", "only samples of these threads", FILTER(tids) },
	{ OPTION_TEXT, 0, "time", "spans",
	  "only samples in these spans; a:b: of each file", FILTER(time) },
	{ OPTION_FLAG, 0, "user-stacks", NULL, "use only the user frames of callchains", SAMPLE(user_stacks) },
	{ OPTION_FLAG, 0, "kernel-stacks", NULL, "use only the kernel frames of callchains",
	  SAMPLE(kernel_stacks) },
	{ .kind = OPTION_GROUP, .help = "What to print" },
	{ OPTION_CALL, 'c', "compute", "delta|delta-abs|ratio|wdiff:w1,w2|cycles",
	  "how to compute the difference (delta-abs)", .value = VALUE_ONE_OF, .call = take_compute },
	{ OPTION_NUMBER, 'o', "order", "n",
	  "sort by recording n (0: the baseline)", WORD(order),
	  .max = DIFF_SIDES_MAX - 1 },
	{ OPTION_FLAG, 0, "cycles-hist", NULL, "-c cycles, and how the cycles of a block's runs differ",
	  WORD(cycles_spread) },
	{ OPTION_FLAG, 0, "stream", NULL, "compare the ways to samples, by branches and callers",
	  WORD(streams) },
	{ OPTION_CALL, 0, "confidence", "percent", "confidence of bounds and verdicts (95)",
	  .call = take_confidence },
	{ OPTION_FLAG, 'p', "period", NULL, "add columns with the sums of periods", WORD(look.period) },
	{ OPTION_FLAG, 'F', "formula", NULL, "print how each value was computed", WORD(look.formula) },
	{ OPTION_TEXT, 't', "field-separator", "text", "separate columns by this text", WORD(look.separator) },
	{ OPTION_FLAG, 'j', "json", NULL, "print one JSON document", WORD(json) },
	{ OPTION_CALL, 0, "flamegraph", "file", "write a flame graph: red is more, blue is less",
	  WORD(flamegraph), .argument_optional = true, .value = VALUE_FILE, .call = take_export },
	{ OPTION_FLAG, 0, "stdio", NULL, "print a table, even on a terminal", WORD(stdio) },
	{ OPTION_CALL, 0, "fail-if", "rule", "exit with 1 if this is certain: 'main>+2%'",
	  .call = take_rule },
	{ OPTION_FLAG, 'D', "dump-raw-trace", NULL, "print every record", SAMPLE(dump.records) },
	{ .kind = OPTION_GROUP, .help = "Accepted, or refused with the reason" },
	{ OPTION_ACCEPTED, 'm', "modules", NULL, .help = "modules are always looked up" },
	{ OPTION_FLAG, 'f', "force", NULL, "use JIT maps and dumps of any owner",
	  SAMPLE(session.sym.force) },
	{ .kind = OPTION_END, .more = name_options },
};

void diff_words_init(struct diff_words *words)
{
	*words = (struct diff_words){ .order = -1, .diff = { .confidence = 0.95 } };
}

void diff_words_release(struct diff_words *words)
{
	for (size_t i = 0; i < words->n_files; i++) {
		free(words->files[i]);
		free(words->times[i]);
	}
	for (size_t i = 0; i < words->n_rules; i++)
		free(words->rules[i].name);
}

/* ---- sides ---- */

/* 0, or a status after a message. */
static int add_file(struct diff_words *words, const char *name, size_t len)
{
	if (!len)
		return bad_usage("diff: the name of a recording is missing");
	if (words->n_files == DIFF_RUNS_MAX)
		return bad_usage("diff: at most %d recordings", DIFF_RUNS_MAX);
	words->files[words->n_files++] = xstrndup(name, len);
	words->side_runs[words->n_sides - 1]++;
	return 0;
}

static int add_side(struct diff_words *words, const char *list)
{
	int status = 0;

	words->n_sides++;
	for (const char *at = list; !status; at++) {
		size_t len = strcspn(at, ",");

		status = add_file(words, at, len);
		at += len;
		if (!*at)
			break;
	}
	return status;
}

static int add_recording(struct diff_words *words, const char *name)
{
	if (words->n_sides == DIFF_SIDES_MAX)
		return bad_usage("diff: at most %d recordings are compared", DIFF_SIDES_MAX);
	words->n_sides++;
	return add_file(words, name, strlen(name));
}

/* A single name is the new recording's, as in perf. */
static int take_sides(struct diff_words *words, int argc, char **argv, int first)
{
	int n = argc - first, status = 0;

	if (words->old || words->new) {
		if (!words->old || !words->new)
			return bad_usage("diff: --old and --new belong together");
		if (n)
			return bad_usage("diff: '%s': recordings are named by --old and --new, or without them",
					 argv[first]);
		status = add_side(words, words->old);
		return status ? status : add_side(words, words->new);
	}
	if (n < 2)
		status = add_recording(words, "perf.data.old");
	if (!n && !status)
		return add_recording(words, "perf.data");
	for (int i = first; i < argc && !status; i++)
		status = add_recording(words, argv[i]);
	return status;
}

static size_t count_parts(const char *text)
{
	size_t n = 1;

	for (; *text; text++)
		n += *text == ':';
	return n;
}

/* Colons separate recordings where there are as many spans as these; else they are of a time of day. */
static void take_times(struct diff_words *words)
{
	const char *text = words->sample.filters.time;
	bool apart = text && words->n_files > 1 && count_parts(text) == words->n_files;

	for (size_t i = 0; text && i < words->n_files; i++) {
		size_t len = apart ? strcspn(text, ":") : strlen(text);

		words->times[i] = xstrndup(text, len);
		if (apart)
			text += len + 1;
	}
}

/* ---- --per ---- */

static size_t parse_units(const char *text, double *units, size_t max)
{
	size_t n = 0;

	while (n < max) {
		size_t len = strcspn(text, ",");
		char *number = xstrndup(text, len);
		int code = parse_double(number, &units[n]);

		free(number);
		if (code)
			return 0;
		n++;
		if (!text[len])
			return n;
		text += len + 1;
	}
	return 0;
}

/* One number for all, one for each side, or one for each recording. */
static int spread_units(struct diff_words *words, const double *units, size_t n)
{
	size_t run = 0;

	for (size_t i = 0; i < n; i++)
		if (!(units[i] > 0) || !isfinite(units[i]))
			return bad_usage("diff: --per %s: units of work are numbers above 0", words->per);
	if (n != 1 && n != words->n_sides && n != words->n_files)
		return bad_usage("diff: --per %s: give one number, or one for each of the %zu recordings", words->per,
				 words->n_files);
	for (size_t side = 0; side < words->n_sides; side++)
		for (size_t i = 0; i < words->side_runs[side]; i++, run++)
			words->units[run] = units[n == 1 ? 0 : n == words->n_files ? run : side];
	words->diff.per = PER_UNIT;
	words->diff.units = words->units;
	return 0;
}

static int take_per(struct diff_words *words)
{
	double units[DIFF_RUNS_MAX];
	size_t n;

	if (!words->per || !strcmp(words->per, "sample"))
		return 0;
	if (!strcmp(words->per, "second")) {
		words->diff.per = PER_SECOND;
		if (words->sample.filters.time)
			return bad_usage("diff: --per second and --time: a part's seconds are not known");
		return 0;
	}
	n = parse_units(words->per, units, DIFF_RUNS_MAX);
	if (n)
		return spread_units(words, units, n);
	words->diff.per = PER_EVENT;
	words->diff.event = words->per;
	return 0;
}

/* The picture is of whole stacks, and of shares. */
static int check_picture(const struct diff_words *words)
{
	if (words->n_files != 2)
		return bad_usage("diff: --flamegraph is of two recordings; %zu are named", words->n_files);
	if (words->per || words->json || words->look.separator || words->n_rules || words->sort)
		return bad_usage("diff: --flamegraph goes without --per, --json, -t, --sort and --fail-if");
	return 0;
}

/* -c cycles and --stream have formats of their own. */
static int check_branches(const struct diff_words *words)
{
	bool others = words->n_files != 2 || words->json || words->n_rules || words->flamegraph.given || words->sort ||
		      words->per || words->order >= 0 || words->flamegraph.given;

	if (words->cycles && others)
		return bad_usage("diff: -c cycles prints the blocks of code of two recordings as text; it goes with "
				 "filters and -t alone");
	if (words->streams && (others || words->cycles || words->look.separator))
		return bad_usage("diff: --stream prints the streams of two recordings as text; it goes with filters "
				 "alone");
	return 0;
}

int diff_words_finish(struct diff_words *words, int argc, char **argv, int first)
{
	int status = sample_words_finish(&words->sample);

	if (!status)
		status = take_sides(words, argc, argv, first);
	if (!status)
		status = take_per(words);
	if (status)
		return status;
	if (words->order >= (long)words->n_sides)
		return bad_usage("diff: --order %ld: there are only recordings 0 to %zu", words->order,
				 words->n_sides - 1);
	if (words->flamegraph.given) {
		status = check_picture(words);
		if (status)
			return status;
	}
	words->cycles |= words->cycles_spread;
	status = check_branches(words);
	if (status)
		return status;
	if (words->json && words->look.separator)
		return bad_usage("diff: --json and --field-separator are two formats; give one");
	take_times(words);
	words->diff.order = (int)words->order;
	words->look.samples = words->sample.verbose > 0;
	words->look.quiet = words->sample.quiet;
	/* Rows are told apart by names alone: -v, which shows addresses, is not for the tables. */
	words->query = (struct query){
		.session = words->sample.session, .filters = words->sample.filters,
		.sort = words->sort ? words->sort : "dso,symbol", .needs = NEED_ENTRIES | NEED_BLOCKS,
		.no_chains = true, .group_off = true, .branch_stack_off = true, .latency_off = true,
		.percentage_relative = words->percentage_relative,
	};
	if (words->cycles) {
		words->query.sort = NULL;
		words->query.needs = NEED_CODE_BLOCKS;
		words->query.branch_stack_off = false;
		words->query.separator = words->look.separator;
		words->query.quiet = words->look.quiet;
	}
	if (words->streams) {
		words->query.sort = NULL;
		words->query.needs = NEED_STREAMS;
		words->query.no_chains = false;
		words->query.session.branch_history = true;
		words->query.quiet = words->look.quiet;
	}
	if (words->flamegraph.given) {
		words->query.sort = "symbol";
		words->query.no_chains = false;
		words->query.needs = NEED_STACKS | NEED_TIMES;
	}
	return 0;
}
