/* SPDX-License-Identifier: MIT */
/*
 * The options of `pstat stat`: one row each, under the headings of its man page, which fills the plan, the style of
 * the report, or a word that stat_words_complete() makes a part of them; what goes together, and what the command
 * line means where it says nothing. What an option does beyond filling a field is a function above the table. Which
 * words name one target is checked where targets are made (kern/target.c).
 */
#include "cmd/stat_options.h"

#include "cmd/command.h"
#include "cmd/quantity.h"
#include "cmd/recording_place.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- the rows ---- */

enum { DAY_MS = 24 * 60 * 60 * 1000, CACHE_LEVEL_MAX = 9 };

static int take_metrics(void *target, const char *argument, struct str *err)
{
	struct stat_words *words = target;

	(void)err;
	str_addf(&words->metric_names, "%s%s", words->metric_names.len ? "," : "", argument);
	return 0;
}

static int take_separator(void *target, const char *argument, struct str *err)
{
	struct stat_words *words = target;

	if (!argument[0])
		return fail(err, -EINVAL, "--field-separator: an empty separator does not separate fields");
	if (strpbrk(argument, "\"\n\r"))
		return fail(err, -EINVAL, "--field-separator: it has a quote or a newline, which fields may contain "
					  "in quotes");
	words->style.separator = strcmp(argument, "\\t") ? argument : "\t";
	return 0;
}

static int take_cache_level(void *target, const char *argument, struct str *err)
{
	struct stat_words *words = target;
	long level = 0;

	if (argument && ((*argument != 'L' && *argument != 'l') || parse_int(argument + 1, 1, CACHE_LEVEL_MAX, &level)))
		return fail(err, -EINVAL, "--per-cache: '%s' is none of L1 to L%d", argument, CACHE_LEVEL_MAX);
	words->aggr[AGGR_CACHE] = true;
	words->plan.cache_level = (int)level;
	return 0;
}

#define FIELD(name) .offset = offsetof(struct stat_words, name)
#define LIMITS(low, high, what) .min = (low), .max = (high), .unit = (what)


/* The end of the tables below. */
static const struct option_row known_rows[] = {
	{ .kind = OPTION_GROUP, .help = "Accepted, or refused with the reason" },
	{ OPTION_ACCEPTED, 0, "affinity", NULL, .help = "counters are read on their CPUs if that is cheaper" },
	{ OPTION_ACCEPTED, 0, "metric-no-group", NULL,
	  .help = "groups of metrics are split if they do not fit" },
	{ OPTION_ACCEPTED, 0, "metric-no-merge", NULL, .help = "each metric has its own events" },
	{ OPTION_ACCEPTED, 0, "record-tpebs", NULL, .help = "metrics of retirement latencies are left out" },
	{ OPTION_ACCEPTED, 0, "tpebs-mode", "mean|min|max",
	  .help = "metrics of retirement latencies are left out", .value = VALUE_ONE_OF },
	{ OPTION_REFUSED, 'b', "bpf-prog", "id", .help = "runs of single BPF programs are not counted",
	  .instead = "bpftool prog profile" },
	{ OPTION_REFUSED, 0, "bpf-counters", NULL,
	  .help = "counts are read by system calls, not by BPF programs" },
	{ OPTION_REFUSED, 0, "bpf-attr-map", "path",
	  .help = "counts are read by system calls, not by BPF programs",
	  .value = VALUE_FILE },
	{ OPTION_REFUSED, 'g', "group", NULL, .help = "groups are written with braces",
	  .instead = "-e '{a,b}'" },
	{ OPTION_REFUSED, 0, "iostat", "what",
	  .help = "there is no table of I/O units", .instead = "-e with their events, see pstat list pmu",
	  .argument_optional = true },
	{ .kind = OPTION_END },
};

/* Options that counts and recorded counts have in common: the end of the two tables below. */
static const struct option_row report_rows[] = {
	{ OPTION_FLAG, 'A', "no-aggr", NULL, "print one row per CPU", FIELD(aggr[AGGR_CPU]) },
	{ OPTION_FLAG, 0, "per-core", NULL, "print one row per core", FIELD(aggr[AGGR_CORE]) },
	{ OPTION_FLAG, 0, "per-cluster", NULL, "print one row per cluster of cores", FIELD(aggr[AGGR_CLUSTER]) },
	{ OPTION_CALL, 0, "per-cache", "level", "print one row per cache of this level: L2; the highest",
	  .argument_optional = true, .call = take_cache_level },
	{ OPTION_FLAG, 0, "per-die", NULL, "print one row per die", FIELD(aggr[AGGR_DIE]) },
	{ OPTION_FLAG, 0, "per-socket", NULL, "print one row per socket", FIELD(aggr[AGGR_SOCKET]) },
	{ OPTION_FLAG, 0, "per-node", NULL, "print one row per memory node", FIELD(aggr[AGGR_NODE]) },
	{ OPTION_FLAG, 0, "per-thread", NULL, "print one row per thread", FIELD(aggr[AGGR_THREAD]) },
	{ OPTION_FLAG, 0, "scale", NULL, "scale counts of multiplexed events (default)",
	  FIELD(plan.scale), .both = true },

	{ .kind = OPTION_GROUP, .help = "How to print" },
	{ OPTION_CALL, 'x', "field-separator", "text", "separate fields by this text; \\t is a tab",
	  .call = take_separator },
	{ OPTION_FLAG, 'j', "json-output", NULL, "print one JSON object per line", FIELD(json) },
	{ OPTION_TEXT, 'o', "output", "file", "write to this file; stat record: the recording",
	  FIELD(output), .value = VALUE_FILE },
	{ OPTION_FLAG, 0, "append", NULL, "append to the file of -o", FIELD(append) },
	{ OPTION_NUMBER, 0, "log-fd", "fd", "write to this open file descriptor", FIELD(log_fd),
	  LIMITS(0, INT_MAX, NULL) },
	{ OPTION_FLAG, 'B', "big-num", NULL, "group digits of large numbers (default)", FIELD(style.big_num),
	  .both = true },
	{ OPTION_FLAG, 0, "metric-only", NULL, "print the metrics only", FIELD(style.metric_only) },
	{ OPTION_FLAG, 0, "quiet", NULL, "print nothing", FIELD(quiet) },
	{ OPTION_COUNT, 'v', "verbose", NULL, "report opened counters and failed calls", FIELD(verbose) },
	{ .kind = OPTION_END, .more = known_rows },
};

const struct option_row stat_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to count" },
	{ OPTION_CALL, 'e', "event", "list", "events to measure, see pstat list; repeatable",
	  .value = VALUE_EVENTS, .call = take_events },
	{ OPTION_CALL, 0, "events-dir", "dir", "folder of vendors' JSON files, for the events and metrics after it",
	  .value = VALUE_DIRECTORY, .call = take_events_dir },
	{ OPTION_CALL, 0, "pfm-events", "list", "events by their libpfm4 names",
	  .value = VALUE_PFM_EVENTS, .call = take_pfm_events },
	{ OPTION_CALL, 'M', "metrics", "list", "metrics to print, see pstat list metric",
	  .value = VALUE_METRICS, .call = take_metrics },
	{ OPTION_FLAG, 0, "topdown", NULL, "print where the slots of cores went", FIELD(topdown) },
	{ OPTION_NUMBER, 0, "td-level", "n", "level of --topdown (1)", FIELD(topdown_level), LIMITS(1, 6, NULL) },
	{ OPTION_FLAG, 'T', "transaction", NULL, "print what became of hardware transactions", FIELD(transaction) },
	{ OPTION_FLAG, 0, "smi-cost", NULL, "print the cost of system management interrupts", FIELD(plan.smi_cost) },
	{ OPTION_FLAG, 0, "metric-no-threshold", NULL, "count nothing for the thresholds of metrics alone",
	  FIELD(no_thresholds) },
	{ OPTION_CALL, 0, "filter", "expression", "filter the tracepoints of the preceding -e",
	  .call = take_filter },
	{ OPTION_COUNT, 'd', "detailed", NULL, "add cache events; -dd: TLBs; -ddd: prefetches",
	  FIELD(detailed) },
	{ OPTION_FLAG, 'n', "null", NULL, "count no events, print the times only", FIELD(plan.null_run) },
	{ OPTION_TEXT, 0, "cputype", "type", "of events of several core types: this one, core or atom",
	  FIELD(only_pmu) },
	{ OPTION_TEXT, 0, "pmu-filter", "unit", "of events of several units: this one", FIELD(only_pmu) },
	{ OPTION_FLAG, 0, "all-user", NULL, "count in user mode only", FIELD(all_user) },
	{ OPTION_FLAG, 0, "all-kernel", NULL, "count in the kernel only", FIELD(all_kernel) },

	{ .kind = OPTION_GROUP, .help = "What to measure" },
	{ OPTION_FLAG, 'a', "all-cpus", NULL, "measure all CPUs", FIELD(plan.target.all_cpus) },
	{ OPTION_TEXT, 'C', "cpu", "cpus", "measure these CPUs, such as 0-3,7", FIELD(plan.target.cpus),
	  .value = VALUE_CPUS },
	{ OPTION_TEXT, 'p', "pid", "pids", "measure these running processes", FIELD(plan.target.pids),
	  .value = VALUE_PIDS },
	{ OPTION_TEXT, 't', "tid", "tids", "measure these running threads", FIELD(plan.target.tids),
	  .value = VALUE_TIDS },
	{ OPTION_CALL, 'G', "cgroup", "names", "measure cgroups: one per event, or one for all",
	  .value = VALUE_CGROUPS, .call = take_cgroups },
	{ OPTION_TEXT, 0, "for-each-cgroup", "names", "count all events in each of these cgroups",
	  FIELD(each_cgroup), .value = VALUE_CGROUPS },
	{ OPTION_FLAG, 'i', "no-inherit", NULL, "do not count child processes", FIELD(plan.open.inherit),
	  .off = true },

	{ .kind = OPTION_GROUP, .help = "How often" },
	{ OPTION_NUMBER, 'r', "repeat", "n", "run n times and print means; 0: without end",
	  FIELD(plan.repeat), LIMITS(0, 1000000, NULL) },
	{ OPTION_FLAG, 0, "passes", NULL,
	  "repeat the command until no event is scaled", FIELD(plan.passes) },
	{ OPTION_FLAG, 0, "warm-up", NULL, "run the command once before, without counting",
	  FIELD(plan.warm_up) },
	{ OPTION_FLAG, 0, "table", NULL, "with -r: print the elapsed time of each run", FIELD(style.table) },
	{ OPTION_NUMBER, 'I', "interval-print", "ms", "print counts every n ms",
	  FIELD(plan.interval_ms), LIMITS(1, DAY_MS, "ms") },
	{ OPTION_NUMBER, 0, "interval-count", "n", "with -I: stop after n intervals",
	  FIELD(plan.interval_count), LIMITS(1, INT_MAX, NULL) },
	{ OPTION_FLAG, 0, "interval-clear", NULL, "with -I: clear the screen before each interval",
	  FIELD(interval_clear) },
	{ OPTION_FLAG, 0, "summary", NULL, "with -I: print totals at the end",
	  FIELD(plan.summary) },
	{ OPTION_FLAG, 0, "no-csv-summary", NULL, "with -x: omit the word summary from totals",
	  FIELD(style.csv_summary_tag), .off = true },
	{ OPTION_CALL, 0, "duration", "seconds", "stop after this time: 10, 0.5, 500ms, 5m",
	  FIELD(plan.duration_ns),
	  .value = VALUE_TIME, .call = take_duration },
	{ OPTION_NUMBER, 0, "timeout", "ms", "the same in ms (perf's name), at least 10",
	  FIELD(timeout_ms), LIMITS(10, INT_MAX, "ms") },
	{ OPTION_NUMBER, 'D', "delay", "ms", "start counting after n ms; -1: by --control",
	  FIELD(plan.delay_ms), LIMITS(-1, INT_MAX, "ms") },
	{ OPTION_TEXT, 0, "control", "fd:n[,n] | fifo:path[,path]",
	  "read commands such as enable, write acks", FIELD(control), .value = VALUE_CONTROL },
	{ OPTION_TEXT, 0, "pre", "command", "run this shell command before each run", FIELD(plan.pre),
	  .value = VALUE_SHELL_COMMAND },
	{ OPTION_TEXT, 0, "post", "command", "run this shell command after each run", FIELD(plan.post),
	  .value = VALUE_SHELL_COMMAND },
	{ OPTION_FLAG, 'S', "sync", NULL, "call sync() before each run", FIELD(plan.sync) },

	{ .kind = OPTION_GROUP, .help = "How to add up" },
	{ OPTION_FLAG, 0, "hybrid-merge", NULL, "print one row for all types of cores", FIELD(plan.hybrid_merge) },
	{ OPTION_FLAG, 0, "percore-show-thread", NULL, "with -A: print a percore event's sum for each CPU",
	  FIELD(plan.percore_on_cpus) },
	{ OPTION_FLAG, 0, "no-merge", NULL, "print one row per unit that counts an event",
	  FIELD(plan.merge), .off = true },
	{ .kind = OPTION_END, .more = report_rows },
};

const struct option_row stat_report_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to read" },
	{ OPTION_TEXT, 'i', "input", "file", "the recording (pipe or perf.data); -: stdin",
	  FIELD(input), .value = VALUE_FILE },
	{ .kind = OPTION_GROUP, .help = "How to add up" },
	{ .kind = OPTION_END, .more = report_rows },
};

/* ---- words before and after ---- */

void stat_words_init(struct stat_words *words, const struct kern *kern)
{
	*words = (struct stat_words){
		.plan = {
			.kern = kern,
			.open = { .inherit = true },
			.repeat = 1,
			.merge = true,
			.scale = true,
			.control_fd = -1,
			.ack_fd = -1,
			.output_fd = -1,
		},
		.style = { .big_num = true, .csv_summary_tag = true },
		.log_fd = -1,
		.metric_names = STR_INIT,
		.topdown_level = 1,
	};
	words->plan.events = &words->what.events;
	event_words_init(&words->what, kern);
}

void stat_words_release(struct stat_words *words)
{
	event_words_release(&words->what);
	str_release(&words->metric_names);
	metrics_release(&words->plan.metrics, &words->plan.n_metrics);
}

/* ---- what is said ---- */

static bool names_tasks(const struct stat_words *w)
{
	return w->plan.target.pids || w->plan.target.tids;
}

static bool names_cpus(const struct stat_words *w)
{
	return w->plan.target.all_cpus || w->plan.target.cpus;
}

static bool names_cgroups(const struct stat_words *w)
{
	return w->what.has_cgroups || w->each_cgroup;
}

static bool adds_up_by_cpu(const struct stat_words *w)
{
	for (int aggr = AGGR_CPU; aggr <= AGGR_NODE; aggr++)
		if (w->aggr[aggr])
			return true;
	return false;
}

static bool adds_up_by_thread(const struct stat_words *w)
{
	return w->aggr[AGGR_THREAD];
}

static enum aggr_mode aggr_of(const struct stat_words *words)
{
	for (int aggr = AGGR_CPU; aggr < N_AGGR; aggr++)
		if (words->aggr[aggr])
			return (enum aggr_mode)aggr;
	return AGGR_TOTAL;
}

/* ---- what does not go together ---- */

static bool two_outputs(const struct stat_words *w)
{
	return w->output && w->log_fd >= 0;
}

static bool append_to_nothing(const struct stat_words *w)
{
	return w->append && !w->output;
}

static bool two_formats(const struct stat_words *w)
{
	return w->json && w->style.separator;
}

/* Has an option chosen metrics, other than by name? */
static bool chooses_metrics(const struct stat_words *w)
{
	return w->topdown || w->transaction || w->plan.smi_cost;
}

static bool null_with_events(const struct stat_words *w)
{
	return w->plan.null_run && (w->what.events.n || w->metric_names.len || chooses_metrics(w) || w->detailed);
}

static bool neither_user_nor_kernel(const struct stat_words *w)
{
	return w->all_user && w->all_kernel;
}

static bool two_ways_to_add_up(const struct stat_words *w)
{
	int n = 0;

	for (int aggr = AGGR_CPU; aggr < N_AGGR; aggr++)
		n += w->aggr[aggr];
	return n > 1;
}

static bool by_cpu_without_cpus(const struct stat_words *w)
{
	return adds_up_by_cpu(w) && !names_cpus(w);
}

static bool percore_without_cpus(const struct stat_words *w)
{
	return w->plan.percore_on_cpus && !w->aggr[AGGR_CPU];
}

static bool by_thread_of_command(const struct stat_words *w)
{
	return adds_up_by_thread(w) && !names_cpus(w) && !names_tasks(w);
}

static bool cgroups_of_tasks(const struct stat_words *w)
{
	return names_cgroups(w) && names_tasks(w);
}

static bool cgroups_twice(const struct stat_words *w)
{
	return w->what.has_cgroups && w->each_cgroup;
}

static bool two_ends(const struct stat_words *w)
{
	return w->plan.duration_ns && w->timeout_ms;
}

static bool no_intervals(const struct stat_words *w)
{
	return !w->plan.interval_ms && (w->plan.interval_count || w->interval_clear);
}

static bool repeated_intervals(const struct stat_words *w)
{
	return w->plan.interval_ms && w->plan.repeat != 1;
}

static bool repeat_without_command(const struct stat_words *w)
{
	return w->plan.repeat != 1 && !w->plan.argv;
}

static bool passes_of_tasks(const struct stat_words *w)
{
	return w->plan.passes && names_tasks(w);
}

static bool passes_of_cpus(const struct stat_words *w)
{
	return w->plan.passes && (names_cpus(w) || names_cgroups(w) || adds_up_by_cpu(w));
}

static bool passes_of_intervals(const struct stat_words *w)
{
	return w->plan.passes && w->plan.interval_ms;
}

static bool passes_for_ever(const struct stat_words *w)
{
	return w->plan.passes && !w->plan.repeat;
}

static bool passes_of_recording(const struct stat_words *w)
{
	return w->plan.passes && w->record;
}

static bool passes_of_nothing(const struct stat_words *w)
{
	return w->plan.passes && w->plan.null_run;
}

static bool passes_without_command(const struct stat_words *w)
{
	return w->plan.passes && !w->plan.argv;
}

static bool warm_up_of_nothing(const struct stat_words *w)
{
	return w->plan.warm_up && !w->plan.argv;
}

static bool recording_of_nothing(const struct stat_words *w)
{
	return w->record && w->plan.null_run;
}

static bool recording_of_repeats(const struct stat_words *w)
{
	return w->record && w->plan.repeat != 1;
}

/*
 * To add one: a function above, a row here, tests/cli/options.sh. The first that holds is reported. First
 * those about printing, which are also those of `stat report`.
 */
struct contradiction {
	bool (*holds)(const struct stat_words *words);
	const char *text;
};
static const struct contradiction of_printing[] = {
	{ two_outputs, "--output and --log-fd: give one place to print to" },
	{ append_to_nothing, "--append: there is no --output to append to" },
	{ two_formats, "--json-output and --field-separator: give one format" },
	{ two_ways_to_add_up, "--no-aggr and the --per-X options: give one way to add up" },
};
static const struct contradiction of_counting[] = {
	{ null_with_events, "--null: it counts nothing, but events are given" },
	{ neither_user_nor_kernel, "--all-user and --all-kernel: nothing is left to count" },
	{ cgroups_twice, "--cgroup and --for-each-cgroup: give one of them" },
	{ cgroups_of_tasks, "--cgroup: cgroups are measured on CPUs, not with --pid or --tid" },
	{ by_cpu_without_cpus, "--no-aggr, --per-core and wider: they need -a or -C" },
	{ percore_without_cpus, "--percore-show-thread: it prints the rows of -A; give this, too" },
	{ by_thread_of_command, "--per-thread: it needs -p, -t or -a" },
	{ two_ends, "--duration and --timeout: give one of them" },
	{ no_intervals, "--interval-count and --interval-clear: they need -I" },
	{ repeated_intervals, "--repeat and --interval-print: give one of them" },
	{ recording_of_nothing, "--null: there would be no counts to record" },
	{ recording_of_repeats, "--repeat: a recording holds one run" },
	{ passes_of_nothing, "--passes and --null: there are no events to count in passes" },
	{ passes_of_tasks, "--passes: each pass runs a command anew; what runs already, as with --pid and "
			   "--tid, cannot be run again" },
	{ passes_of_cpus, "--passes: each pass runs a command anew; what else runs on CPUs or in cgroups "
			  "is not the same in each pass" },
	{ passes_of_intervals, "--passes and --interval-print: intervals of different runs are not the "
			       "same time" },
	{ passes_for_ever, "--passes: --repeat 0 never ends, and has a report for each run, but a run "
			   "counts a part of the events" },
	{ passes_of_recording, "--passes: a recording holds one run" },
	{ passes_without_command, "--passes: there is no command to run" },
	{ warm_up_of_nothing, "--warm-up: there is no command to run" },
	{ repeat_without_command, "--repeat: there is no command to repeat" },
};

/* -a goes without saying where nothing else is named, and for cgroups, as with perf. */
static void imply_all_cpus(struct stat_words *w)
{
	if (names_tasks(w) || names_cpus(w))
		return;
	w->whole_machine = !w->plan.argv && !names_cgroups(w);
	w->plan.target.all_cpus |= w->whole_machine || names_cgroups(w);
}

static int check(const struct stat_words *words, const struct contradiction *rows, size_t n,
		 struct str *err)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].holds(words))
			return fail(err, -EINVAL, "%s", rows[i].text);
	return 0;
}

int stat_words_check_report(struct stat_words *words, struct str *err)
{
	words->plan.aggr = aggr_of(words);
	return check(words, of_printing, ARRAY_SIZE(of_printing), err);
}

/* ---- events ---- */

static bool on_cpus(const struct stat_words *words)
{
	return names_cpus(words);
}

static bool on_tasks(const struct stat_words *words)
{
	return !names_cpus(words);
}

/* Does the core PMU offer this event, or for "" any, by name? */
static bool core_pmu_has(const struct stat_words *words, const char *event)
{
	char *path = xasprintf("%s/bus/event_source/devices/cpu/events/%s", words->what.kern->host.sysfs,
			       event);
	bool found = access(path, R_OK) == 0;

	free(path);
	return found;
}

/* The events of a plain `pstat stat`, in their order, and those that -d adds. */
static const struct default_event {
	int level; /* how many -d it takes; 0: only where no other event is given */
	const char *names;
	bool (*wanted)(const struct stat_words *words); /* NULL: always */
	bool of_few; /* only where the core PMU has it: "not supported" on all others helps no one */
} default_events[] = {
	{ 0, "task-clock", on_tasks, false },
	{ 0, "cpu-clock", on_cpus, false },
	{ 0, "context-switches,cpu-migrations,page-faults,cycles", NULL, false },
	{ 0, "stalled-cycles-frontend", NULL, true },
	{ 0, "stalled-cycles-backend", NULL, true },
	{ 0, "instructions,branches,branch-misses", NULL, false },
	{ 1, "L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses", NULL, false },
	{ 2, "L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,"
	     "iTLB-load-misses", NULL, false },
	{ 3, "L1-dcache-prefetches,L1-dcache-prefetch-misses", NULL, false },
};

static int add_default_events(struct stat_words *words, struct str *err)
{
	bool others = words->what.events.n || words->metric_names.len || chooses_metrics(words);
	/* In a virtual machine there is mostly no core PMU, and to look for a file of it costs more than to count. */
	bool named = !others && core_pmu_has(words, "");
	struct str list = STR_INIT;
	int rc = 0;

	for (size_t i = 0; i < ARRAY_SIZE(default_events) && !words->plan.null_run; i++) {
		const struct default_event *event = &default_events[i];

		if (event->level == 0 ? others : event->level > words->detailed)
			continue;
		if (event->of_few && !(named && core_pmu_has(words, event->names)))
			continue;
		if (!event->wanted || event->wanted(words))
			str_addf(&list, "%s%s", list.len ? "," : "", event->names);
	}
	if (list.len)
		rc = event_list_parse(&words->what.events, list.s, &words->what.kern->host, err);
	str_release(&list);
	return rc;
}

/* The groups of metrics by which vendors call the levels of the method; the kernel's own events have the first. */
static int add_topdown(struct stat_words *words, const struct metric_ground *ground, struct str *err)
{
	static const char *const groups[] = { "TopdownL", "PipelineL" };
	struct str reason = STR_INIT;
	int rc = -ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(groups) && rc; i++) {
		char *group = xasprintf("%s%ld", groups[i], words->topdown_level);

		str_reset(&reason);
		rc = metrics_select(group, &words->what.events, &words->plan.metrics, &words->plan.n_metrics, ground,
				    &reason);
		free(group);
	}
	str_release(&reason);
	return rc ? fail(err, -ENOTSUP, "--topdown: nothing counts slots at level %ld here: the kernel has no events "
			 "for it (topdown-*, stall_slot*), and no vendor's file has the metrics TopdownL%ld",
			 words->topdown_level, words->topdown_level) : 0;
}

/* An option that means a group of metrics; what: the events that these need. */
static int add_group_of(struct stat_words *words, const char *option, const char *group, const char *what,
			const struct metric_ground *ground, struct str *err)
{
	struct str reason = STR_INIT;
	int rc = metrics_select(group, &words->what.events, &words->plan.metrics, &words->plan.n_metrics, ground,
				&reason);

	str_release(&reason);
	return rc ? fail(err, -ENOTSUP, "%s: nothing counts that here: the kernel has no events for it (%s)", option,
			 what) : 0;
}

static int add_metrics(struct stat_words *words, struct str *err)
{
	const struct target_spec *target = &words->plan.target;
	const struct metric_ground ground = {
		.host = &words->what.host,
		.cpus = target->all_cpus || target->cpus,
		.core_wide = target->all_cpus && !target->cpus,
		.no_thresholds = words->no_thresholds,
	};
	int rc;

	if (words->topdown && (rc = add_topdown(words, &ground, err)))
		return rc;
	if (words->transaction &&
	    (rc = add_group_of(words, "--transaction", "transaction", "cycles-t, tx-start", &ground, err)))
		return rc;
	if (words->plan.smi_cost &&
	    (rc = add_group_of(words, "--smi-cost", "smi", "msr/aperf/, msr/smi/", &ground, err)))
		return rc;
	if (!words->metric_names.len)
		return 0;
	return metrics_select(words->metric_names.s, &words->what.events, &words->plan.metrics,
			      &words->plan.n_metrics, &ground, err);
}

/* A core type has its unit's name without "cpu_", too. */
static bool is_unit(const char *pmu_name, const char *word)
{
	return !strcmp(pmu_name, word) || (!strncmp(pmu_name, "cpu_", 4) && !strcmp(pmu_name + 4, word));
}

static int check_unit(const char *word, const struct host_paths *host, struct str *err)
{
	struct event_pmu_list pmus = { 0 };
	bool found = false;
	int rc = event_pmus_read(&pmus, host);

	for (size_t i = 0; i < pmus.n && !found; i++)
		found = is_unit(pmus.v[i].name, word);
	event_pmu_list_release(&pmus);
	if (rc)
		return fail(err, rc, "--cputype, --pmu-filter: the units cannot be read: %s", strerror(-rc));
	return found ? 0 : fail(err, -ENOENT, "--cputype, --pmu-filter: this machine has no unit '%s'", word);
}

/* Leaves the events of one unit, where a spec means several; an event that names its unit is counted by that. */
static int keep_only_pmu(struct stat_words *words, struct str *err)
{
	struct event_list *events = &words->what.events;
	int rc = words->only_pmu ? check_unit(words->only_pmu, &words->what.kern->host, err) : 0;

	if (!words->only_pmu || rc)
		return rc;
	for (size_t i = events->n; i-- > 0;)
		if (events->v[i].expansion != EXPANSION_NONE && !is_unit(events->v[i].pmu_name, words->only_pmu))
			event_list_remove(events, i);
	return events->n ? 0 : fail(err, -ENOENT, "--cputype, --pmu-filter: no event is counted by unit '%s'",
				    words->only_pmu);
}

static int add_cgroups(struct stat_words *words, struct str *err)
{
	struct str names = STR_INIT;
	int rc;

	if (!words->each_cgroup)
		return event_words_add_cgroups(&words->what, err);
	rc = cgroups_named(words->each_cgroup, &words->what.kern->host, &names, err);
	rc = rc ? rc : event_list_for_each_cgroup(&words->what.events, names.s, err);
	str_release(&names);
	return rc;
}

int stat_words_complete(struct stat_words *words, struct str *err)
{
	int rc;

	if (words->record) {
		words->recording = recording_target(words->output);
		words->output = NULL;
	}
	imply_all_cpus(words);
	words->plan.aggr = aggr_of(words);
	words->plan.target.per_thread = words->aggr[AGGR_THREAD];
	rc = check(words, of_printing, ARRAY_SIZE(of_printing), err);
	if (!rc)
		rc = check(words, of_counting, ARRAY_SIZE(of_counting), err);
	if (!rc)
		rc = add_default_events(words, err);
	if (!rc)
		rc = add_metrics(words, err);
	if (!rc)
		rc = keep_only_pmu(words, err);
	if (!rc)
		rc = add_cgroups(words, err);
	if (rc)
		return rc;
	if (words->timeout_ms)
		words->plan.duration_ns = (uint64_t)words->timeout_ms * NS_PER_MS;
	if (words->all_user)
		event_list_only_user(&words->what.events);
	if (words->all_kernel)
		event_list_only_kernel(&words->what.events);
	return 0;
}
