/* SPDX-License-Identifier: MIT */
/*
 * sched_options: rows of pstat sched and of its commands, and what their texts mean.
 */
#include "cmd/sched_options.h"

#include "cmd/command.h"
#include "cmd/terminal.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define WORD(name) .offset = offsetof(struct sched_words, name)
#define SAMPLE(name) .offset = offsetof(struct sched_words, sample.name)
#define SHOW(name) .offset = offsetof(struct sched_words, timehist.name)

/* Rows of all of them. */
#define INPUT_ROW                                                                                                  \
	{ OPTION_TEXT, 'i', "input", "file", "the recording (pipe or perf.data); -: stdin",                        \
	  SAMPLE(dump.input), .value = VALUE_FILE }
#define DUMP_ROW                                                                                                   \
	{ OPTION_FLAG, 'D', "dump-raw-trace", NULL, "print every record with its fields", SAMPLE(dump.records) }
#define TIME_ROW                                                                                                   \
	{ OPTION_TEXT, 0, "time", "start,stop", "only what was between these times: 1.5,3.25; 1.5, or ,3.25",      \
	  WORD(time) }
#define FORCE_ROW { OPTION_ACCEPTED, 'f', "force", NULL, .help = "a recording is read, whoever owns it" }

const struct option_row sched_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to read; also after the command's name" },
	INPUT_ROW,
	DUMP_ROW,
	FORCE_ROW,
	{ OPTION_COUNT, 'v', "verbose", NULL, "print more notes", SAMPLE(verbose) },
	{ .kind = OPTION_END },
};

const struct option_row timehist_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to print" },
	{ OPTION_FLAG, 'w', "wakeups", NULL, "print wakeups too", SHOW(wakeups) },
	{ OPTION_FLAG, 'M', "migrations", NULL, "print moves to another CPU too", SHOW(migrations) },
	{ OPTION_FLAG, 'n', "next", NULL, "print which task is next", SHOW(next) },
	{ OPTION_FLAG, 'V', "cpu-visual", NULL, "print a column for each CPU", SHOW(cpu_visual) },
	{ OPTION_FLAG, 0, "state", NULL, "print the state that the task leaves in; of -s: kinds of waits",
	  SHOW(state) },
	{ OPTION_FLAG, 0, "show-prio", NULL, "print the priority", SHOW(prio) },
	{ OPTION_FLAG, 'P', "pre-migrations", NULL, "print the wait before a move to another CPU",
	  SHOW(pre_migrations) },
	{ OPTION_FLAG, 'g', "call-graph", NULL, "print callchains (default)", .off = true, SHOW(no_chains),
	  .both = true },
	{ OPTION_UNSIGNED, 0, "max-stack", "n", "print at most n frames of a callchain (5)", SHOW(max_stack),
	  .min = 1, .max = 65535 },
	{ OPTION_FLAG, 'I', "idle-hist", NULL, "print only when CPUs had nothing to do", SHOW(idle) },
	{ OPTION_FLAG, 's', "summary", NULL, "print only the sums of each task", SHOW(summary_only) },
	{ OPTION_FLAG, 'S', "with-summary", NULL, "print the sums of each task too", SHOW(summary) },
	{ .kind = OPTION_GROUP, .help = "What to read, and which runs" },
	INPUT_ROW,
	{ OPTION_TEXT, 'C', "cpu", "list", "only runs on these CPUs", WORD(cpus), .value = VALUE_CPUS },
	{ OPTION_TEXT, 'p', "pid", "list", "only runs of these processes", WORD(pids) },
	{ OPTION_TEXT, 't', "tid", "list", "only runs of these threads", WORD(tids) },
	{ OPTION_TEXT, 0, "prio", "list", "only runs of tasks with these priorities", WORD(prios) },
	TIME_ROW,
	DUMP_ROW,
	FORCE_ROW,
	{ .kind = OPTION_END, .more = name_options },
};

/* Rows of those that print rows. */
#define FORMAT_ROWS                                                                                                \
	{ OPTION_FLAG, 'j', "json", NULL, "print one JSON object per row", WORD(format.json) },                    \
	{ OPTION_TEXT, 'x', "field-separator", "text", "print fields with this between them", WORD(format.separator) }

/* Rows of those whose tables may come again and again. */
#define INTERVAL_ROWS                                                                                              \
	{ OPTION_UNSIGNED, 'I', "interval-print", "ms", "print a table of every n ms", WORD(interval_ms),          \
	  .min = 10, .max = INT_MAX },                                                                             \
	{ OPTION_FLAG, 0, "interval-clear", NULL, "with -I: clear the screen before each table",                   \
	  WORD(interval_clear) }

#define LATENCY(name) .offset = offsetof(struct sched_words, latency.name)
/* Rows of those that show no functions. */
#define NOTE_ROWS                                                                                                  \
	{ .kind = OPTION_GROUP, .help = "Common" },                                                                \
	{ OPTION_COUNT, 'v', "verbose", NULL, "print more notes", SAMPLE(verbose) },                               \
	{ OPTION_FLAG, 'q', "quiet", NULL, "print no notes", SAMPLE(quiet) },                                      \
	{ OPTION_FLAG, 0, "no-pager", NULL, "do not use a pager", SAMPLE(no_pager) }

static int take_keys(void *target, const char *argument, struct str *err)
{
	struct sched_words *words = target;

	return latency_keys_parse(&words->latency, argument, err);
}

const struct option_row latency_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to print" },
	{ OPTION_CALL, 's', "sort", "avg|max|switch|runtime", "sort by these: avg,max,switch,runtime",
	  .call = take_keys, .value = VALUE_SOME_OF },
	{ OPTION_FLAG, 'p', "pids", NULL, "print each task, not all of one name as one", LATENCY(by_task) },
	{ OPTION_FLAG, 0, "hist", NULL, "print how many delays were how long", LATENCY(histogram) },
	FORMAT_ROWS,
	INTERVAL_ROWS,
	{ .kind = OPTION_GROUP, .help = "What to read" },
	INPUT_ROW,
	{ OPTION_TEXT, 'C', "CPU", "list", "only what was on these CPUs", WORD(cpus), .value = VALUE_CPUS },
	DUMP_ROW,
	FORCE_ROW,
	NOTE_ROWS,
	{ .kind = OPTION_END },
};

#define MAP(name) .offset = offsetof(struct sched_words, map.name)

const struct option_row map_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to print" },
	{ OPTION_FLAG, 0, "compact", NULL, "print columns of CPUs with switches only", MAP(compact) },
	{ OPTION_TEXT, 0, "cpus", "list", "only switches on these CPUs", WORD(cpus), .value = VALUE_CPUS },
	{ OPTION_TEXT, 0, "task-name", "names", "only switches to and from tasks of these names", MAP(names) },
	{ OPTION_FLAG, 0, "fuzzy-name", NULL, "the names are parts of names", MAP(fuzzy) },
	{ OPTION_TEXT, 0, "color-cpus", "list", "color these CPUs", WORD(color_cpus), .value = VALUE_CPUS },
	{ OPTION_TEXT, 0, "color-pids", "list", "color tasks with these numbers", WORD(color_pids) },
	{ OPTION_CHOICE, 0, "color", "always|never|auto", "auto: on terminals, unless NO_COLOR is set",
	  .value = VALUE_ONE_OF, SAMPLE(color), .min = COLOR_ALWAYS },
	{ .kind = OPTION_GROUP, .help = "What to read" },
	INPUT_ROW,
	DUMP_ROW,
	FORCE_ROW,
	NOTE_ROWS,
	{ .kind = OPTION_END },
};

const struct option_row task_times_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to print" },
	{ OPTION_CHOICE, 's', "sort", "runtime|max", "sort by run time, or by the longest delay",
	  .offset = offsetof(struct sched_words, times.by_delay), .value = VALUE_ONE_OF },
	FORMAT_ROWS,
	INTERVAL_ROWS,
	{ .kind = OPTION_GROUP, .help = "What to read, and which tasks" },
	INPUT_ROW,
	{ OPTION_TEXT, 'p', "pid", "list", "only tasks of these processes", WORD(pids) },
	{ OPTION_TEXT, 't', "tid", "list", "only these tasks", WORD(tids) },
	DUMP_ROW,
	FORCE_ROW,
	NOTE_ROWS,
	{ .kind = OPTION_END },
};

const struct option_row page_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to write" },
	{ OPTION_TEXT, 'o', "output", "file", "the page; -: standard output; on terminals sched.html", WORD(output),
	  .value = VALUE_FILE },
	{ .kind = OPTION_GROUP, .help = "What to read" },
	INPUT_ROW,
	TIME_ROW,
	DUMP_ROW,
	FORCE_ROW,
	{ .kind = OPTION_GROUP, .help = "Common" },
	{ OPTION_COUNT, 'v', "verbose", NULL, "print more notes", SAMPLE(verbose) },
	{ OPTION_FLAG, 'q', "quiet", NULL, "print no notes", SAMPLE(quiet) },
	{ .kind = OPTION_END },
};

/* ---- what texts mean ---- */

static int take_list(struct intset *set, const char *option, const char *text, struct str *err)
{
	struct str why = STR_INIT;
	int rc = text ? intset_parse(set, text, INT32_MAX - 1, &why) : 0;

	if (rc)
		fail(err, rc, "%s: %s", option, why.s);
	str_release(&why);
	return rc;
}

/* Seconds up to the comma or the end; none: 0. */
static int take_seconds(const char *text, size_t len, uint64_t *ns)
{
	char *copy = xstrndup(text, len);
	double seconds = 0;
	int rc = len ? parse_double(copy, &seconds) : 0;

	if (!rc && !(seconds >= 0 && seconds <= 1e9))
		rc = -ERANGE;
	*ns = rc ? 0 : (uint64_t)(seconds * (double)NS_PER_S + 0.5);
	free(copy);
	return rc;
}

static int take_time(struct timehist_options *options, const char *text, struct str *err)
{
	const char *comma = text ? strchr(text, ',') : NULL;

	if (!text)
		return 0;
	if (!comma || take_seconds(text, (size_t)(comma - text), &options->start_ns) ||
	    take_seconds(comma + 1, strlen(comma + 1), &options->end_ns))
		return fail(err, -EINVAL, "--time: '%s' is not START,STOP in seconds, either of which may be empty",
			    text);
	if (options->end_ns && options->end_ns < options->start_ns)
		return fail(err, -EINVAL, "--time: '%s' ends before it begins", text);
	return 0;
}

int sched_words_finish(struct sched_words *words, struct str *err)
{
	struct timehist_options *options = &words->timehist;
	const struct {
		struct intset *set;
		const char *option, *text;
	} lists[] = {
		{ &options->pids, "--pid", words->pids },
		{ &options->tids, "--tid", words->tids },
		{ &options->cpus, "--cpu", words->cpus },
		{ &options->prios, "--prio", words->prios },
		{ &words->map.color_pids, "--color-pids", words->color_pids },
		{ &words->map.color_cpus, "--color-cpus", words->color_cpus },
	};
	int rc = take_time(options, words->time, err);

	for (size_t i = 0; i < ARRAY_SIZE(lists) && !rc; i++)
		rc = take_list(lists[i].set, lists[i].option, lists[i].text, err);
	intset_copy(&words->latency.cpus, &options->cpus);
	intset_copy(&words->map.cpus, &options->cpus);
	intset_copy(&words->times.pids, &options->pids);
	intset_copy(&words->times.tids, &options->tids);
	words->latency.format = words->times.format = words->format;
	words->latency.interval = words->times.interval = (struct sched_interval){
		(uint64_t)words->interval_ms * NS_PER_MS,
		words->interval_clear && !words->format.json && isatty(STDOUT_FILENO), terminal_lines(STDOUT_FILENO),
	};
	words->page = (struct page_options){ options->start_ns, options->end_ns };
	words->map.explain_all = words->sample.verbose;
	if (!rc && words->format.separator && !words->format.separator[0])
		rc = fail(err, -EINVAL, "-x: give the text that separates fields");
	if (!rc && words->interval_ms && words->format.separator)
		rc = fail(err, -EINVAL, "--interval-print: it goes with -j or tables, whose intervals have a line");
	if (!rc && words->interval_clear && !words->interval_ms)
		rc = fail(err, -EINVAL, "--interval-clear: it needs -I");
	return rc;
}

void sched_words_release(struct sched_words *words)
{
	struct timehist_options *options = &words->timehist;

	intset_release(&options->pids);
	intset_release(&options->tids);
	intset_release(&options->cpus);
	intset_release(&options->prios);
	intset_release(&words->latency.cpus);
	intset_release(&words->map.cpus);
	intset_release(&words->map.color_pids);
	intset_release(&words->times.pids);
	intset_release(&words->times.tids);
	intset_release(&words->map.color_cpus);
}
