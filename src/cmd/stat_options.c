/*
 * The options of `pstat stat`: one row each, under the headings of its man page. What an option does
 * beyond filling a field is a function above the table.
 */
#include "cmd/command.h"
#include "cmd/stat_settings.h"

#include <errno.h>
#include <limits.h>

static int take_metrics(void *target, const char *argument, struct str *err)
{
	struct stat_settings *settings = target;

	(void)err;
	str_addf(&settings->metric_names, "%s%s", settings->metric_names.len ? "," : "", argument);
	return 0;
}

static int take_separator(void *target, const char *argument, struct str *err)
{
	struct stat_settings *settings = target;

	if (!argument[0])
		return fail(err, -EINVAL, "--field-separator: it is empty, fields could not be told apart");
	if (strpbrk(argument, "\"\n\r"))
		return fail(err, -EINVAL, "--field-separator: a quote or the end of a line in it: fields could not "
					  "be told apart, as text in them is quoted");
	settings->separator = strcmp(argument, "\\t") ? argument : "\t";
	return 0;
}

#define FIELD(name) .offset = offsetof(struct stat_settings, name)
#define LIMITS(low, high, what) .min = (low), .max = (high), .unit = (what)

enum { DAY_MS = 24 * 60 * 60 * 1000 };

/* The end of the tables below. */
static const struct option_row known_rows[] = {
	{ .kind = OPTION_GROUP, .help = "Accepted, or refused with the reason" },
	{ OPTION_ACCEPTED, 0, "affinity", NULL, .help = "counters are read on their CPUs where that is cheaper" },
	{ OPTION_ACCEPTED, 0, "hybrid-merge", NULL, .help = "each type of core keeps its row" },
	{ OPTION_ACCEPTED, 0, "metric-no-group", NULL,
	  .help = "events of metrics are in weak groups, given up where they do not fit" },
	{ OPTION_ACCEPTED, 0, "metric-no-merge", NULL, .help = "each metric has its own events" },
	{ OPTION_ACCEPTED, 0, "metric-no-threshold", NULL, .help = "no event is counted for a threshold" },
	{ OPTION_REFUSED, 0, "cputype", "type",
	  .help = "a unit before an event says which cores count: cpu_core/cycles/" },
	{ OPTION_REFUSED, 0, "pmu-filter", "unit",
	  .help = "a unit before an event says which one counts: unit/event/" },
	{ OPTION_REFUSED, 'g', "group", NULL, .help = "braces make a group: -e '{a,b}'" },
	{ OPTION_REFUSED, 0, "iostat", "what",
	  .help = "name the events of the I/O units with -e, see pstat list pmu", .argument_optional = true },
	{ OPTION_REFUSED, 0, "per-cache", "level",
	  .help = "what shares a cache is not added up; --per-core, --per-die and --per-socket are",
	  .argument_optional = true },
	{ OPTION_REFUSED, 0, "per-cluster", NULL,
	  .help = "clusters of cores are not added up; --per-core and --per-die are" },
	{ OPTION_REFUSED, 0, "percore-show-thread", NULL,
	  .help = "the term percore has one row for each core" },
	{ OPTION_REFUSED, 0, "record-tpebs", NULL,
	  .help = "latencies of retirement are not sampled while counting" },
	{ OPTION_REFUSED, 0, "tpebs-mode", "mean|min|max",
	  .help = "latencies of retirement are not sampled while counting", .value = VALUE_ONE_OF },
	{ OPTION_REFUSED, 0, "smi-cost", NULL,
	  .help = "the counter of interrupts for the firmware is not switched on; -e msr/smi/ counts them" },
	{ OPTION_REFUSED, 0, "td-level", "n",
	  .help = "there is no top-down analysis; pstat list metric says which metrics there are" },
	{ OPTION_REFUSED, 0, "topdown", NULL,
	  .help = "there is no top-down analysis; pstat list metric says which metrics there are" },
	{ OPTION_REFUSED, 'T', "transaction", NULL,
	  .help = "name the events of transactions with -e: cpu/tx-start/, cpu/tx-abort/" },
	{ .kind = OPTION_END },
};

/* What counts and recorded counts have in common: the rest of the two tables below. */
static const struct option_row report_rows[] = {
	{ OPTION_FLAG, 'A', "no-aggr", NULL, "a row per CPU", FIELD(aggr[AGGR_CPU]) },
	{ OPTION_FLAG, 0, "per-core", NULL, "a row per core", FIELD(aggr[AGGR_CORE]) },
	{ OPTION_FLAG, 0, "per-die", NULL, "a row per die", FIELD(aggr[AGGR_DIE]) },
	{ OPTION_FLAG, 0, "per-socket", NULL, "a row per socket", FIELD(aggr[AGGR_SOCKET]) },
	{ OPTION_FLAG, 0, "per-node", NULL, "a row per memory node", FIELD(aggr[AGGR_NODE]) },
	{ OPTION_FLAG, 0, "per-thread", NULL, "a row per thread", FIELD(aggr[AGGR_THREAD]) },
	{ OPTION_FLAG, 0, "scale", NULL, "scale counts of events that shared a counter (default)",
	  FIELD(scale), .both = true },

	{ .kind = OPTION_GROUP, .help = "How to print" },
	{ OPTION_CALL, 'x', "field-separator", "text", "fields with a separator; \\t is a tab",
	  .call = take_separator },
	{ OPTION_FLAG, 'j', "json-output", NULL, "one JSON object per line", FIELD(json) },
	{ OPTION_TEXT, 'o', "output", "file", "print to a file; stat record: the recording",
	  FIELD(output), .value = VALUE_FILE },
	{ OPTION_FLAG, 0, "append", NULL, "append to that file", FIELD(append) },
	{ OPTION_NUMBER, 0, "log-fd", "fd", "print to an open descriptor", FIELD(log_fd),
	  LIMITS(0, INT_MAX, NULL) },
	{ OPTION_FLAG, 'B', "big-num", NULL, "group digits of large numbers (default)", FIELD(big_num),
	  .both = true },
	{ OPTION_FLAG, 0, "metric-only", NULL, "only the metrics", FIELD(metric_only) },
	{ OPTION_FLAG, 0, "quiet", NULL, "print nothing", FIELD(quiet) },
	{ OPTION_COUNT, 'v', "verbose", NULL, "say what was opened, and what call failed", FIELD(verbose) },
	{ .kind = OPTION_END, .more = known_rows },
};

const struct option_row stat_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to count" },
	{ OPTION_CALL, 'e', "event", "list", "events, see pstat list; may be given several times",
	  .value = VALUE_EVENTS, .call = take_events },
	{ OPTION_CALL, 0, "pfm-events", "list", "events by their names in libpfm4",
	  .value = VALUE_PFM_EVENTS, .call = take_pfm_events },
	{ OPTION_CALL, 'M', "metrics", "list", "metrics or groups of metrics, see pstat list metric",
	  .value = VALUE_METRICS, .call = take_metrics },
	{ OPTION_CALL, 0, "filter", "expression", "filter for the tracepoints of the -e before it",
	  .call = take_filter },
	{ OPTION_COUNT, 'd', "detailed", NULL, "more default events: caches; -dd TLBs; -ddd prefetches",
	  FIELD(detailed) },
	{ OPTION_FLAG, 'n', "null", NULL, "no events: only the times", FIELD(null_run) },
	{ OPTION_FLAG, 0, "all-user", NULL, "count in user mode only", FIELD(all_user) },
	{ OPTION_FLAG, 0, "all-kernel", NULL, "count in the kernel only", FIELD(all_kernel) },

	{ .kind = OPTION_GROUP, .help = "What to measure" },
	{ OPTION_FLAG, 'a', "all-cpus", NULL, "everything that runs on all CPUs", FIELD(all_cpus) },
	{ OPTION_TEXT, 'C', "cpu", "cpus", "everything that runs on these CPUs: 0-3,7", FIELD(cpus),
	  .value = VALUE_CPUS },
	{ OPTION_TEXT, 'p', "pid", "pids", "running processes", FIELD(pids), .value = VALUE_PIDS },
	{ OPTION_TEXT, 't', "tid", "tids", "running threads", FIELD(tids), .value = VALUE_TIDS },
	{ OPTION_CALL, 'G', "cgroup", "names", "the n-th cgroup for the n-th event; a single one for all",
	  .value = VALUE_CGROUPS, .call = take_cgroups },
	{ OPTION_TEXT, 0, "for-each-cgroup", "names", "all events once for each of these cgroups",
	  FIELD(each_cgroup), .value = VALUE_CGROUPS },
	{ OPTION_FLAG, 'i', "no-inherit", NULL, "do not count in children", FIELD(inherit), .off = true },

	{ .kind = OPTION_GROUP, .help = "How often" },
	{ OPTION_NUMBER, 'r', "repeat", "n", "run the command n times: mean and deviation; 0: for ever",
	  FIELD(repeat), LIMITS(0, 1000000, NULL) },
	{ OPTION_FLAG, 0, "passes", NULL,
	  "run the command as often as it takes to count all events all the time", FIELD(passes) },
	{ OPTION_FLAG, 0, "warm-up", NULL, "run the command once before, and count nothing of that",
	  FIELD(warm_up) },
	{ OPTION_FLAG, 0, "table", NULL, "with -r: every run's elapsed time", FIELD(table) },
	{ OPTION_NUMBER, 'I', "interval-print", "ms", "print the counts of every interval of n ms",
	  FIELD(interval_ms), LIMITS(1, DAY_MS, "ms") },
	{ OPTION_NUMBER, 0, "interval-count", "n", "with -I: print n intervals",
	  FIELD(interval_count), LIMITS(1, INT_MAX, NULL) },
	{ OPTION_FLAG, 0, "interval-clear", NULL, "with -I: clear the screen before each interval",
	  FIELD(interval_clear) },
	{ OPTION_FLAG, 0, "summary", NULL, "with -I: the counts of the whole run at its end",
	  FIELD(summary) },
	{ OPTION_FLAG, 0, "no-csv-summary", NULL, "no word summary at the rows of --summary with -x",
	  FIELD(csv_summary), .off = true },
	{ OPTION_NUMBER, 0, "timeout", "ms", "end the measurement after n ms; at least 10",
	  FIELD(timeout_ms), LIMITS(10, INT_MAX, "ms") },
	{ OPTION_NUMBER, 'D', "delay", "ms", "start counting n ms after the start; -1: by --control only",
	  FIELD(delay_ms), LIMITS(-1, INT_MAX, "ms") },
	{ OPTION_TEXT, 0, "control", "fd:n[,n] | fifo:path[,path]",
	  "read enable and disable from there, answer ack there", FIELD(control), .value = VALUE_CONTROL },
	{ OPTION_TEXT, 0, "pre", "command", "shell command before each run", FIELD(pre),
	  .value = VALUE_SHELL_COMMAND },
	{ OPTION_TEXT, 0, "post", "command", "shell command after each run", FIELD(post),
	  .value = VALUE_SHELL_COMMAND },
	{ OPTION_FLAG, 'S', "sync", NULL, "call sync() before each run", FIELD(sync) },

	{ .kind = OPTION_GROUP, .help = "How to add up" },
	{ OPTION_FLAG, 0, "no-merge", NULL, "a row for each of several units that count one event",
	  FIELD(merge), .off = true },
	{ .kind = OPTION_END, .more = report_rows },
};

const struct option_row stat_report_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to read" },
	{ OPTION_TEXT, 'i', "input", "file", "the recording (a pipe, else perf.data); - is standard input",
	  FIELD(input), .value = VALUE_FILE },
	{ .kind = OPTION_GROUP, .help = "How to add up" },
	{ .kind = OPTION_END, .more = report_rows },
};
