/* SPDX-License-Identifier: MIT */
/*
 * The options of `pstat top`, by perf top's names: rows that fill the words of record and of report, a few of its
 * own, and at the end the rows that report has, too.
 */
#include "cmd/command.h"
#include "cmd/message.h"
#include "cmd/quantity.h"
#include "cmd/terminal.h"
#include "cmd/top_options.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <unistd.h>

enum { DELAY_NS_LEAST = 10000000 };
#define DELAY_S_MOST 86400.0

static int take_delay(void *target, const char *argument, struct str *err)
{
	struct top_words *words = target;
	double seconds;

	if (parse_double(argument, &seconds) || !(seconds * 1e9 >= DELAY_NS_LEAST && seconds <= DELAY_S_MOST))
		return fail(err, -EINVAL, "--delay: '%s' is not a number of seconds from 0.01 to %.0f", argument,
			    DELAY_S_MOST);
	words->delay_ns = (uint64_t)(seconds * 1e9);
	return 0;
}

/* How many bytes of the text say how chains are made: "dwarf,4096", "fp"; 0: it is all about how they are shown. */
static size_t mode_bytes(const char *text)
{
	struct recording_words scratch = { .call_graph = false };
	struct str ignored = STR_INIT;
	size_t n = strcspn(text, ",");
	char *mode = xstrndup(text, n);
	bool is_mode = !take_call_graph(&scratch, mode, &ignored);

	free(mode);
	str_release(&ignored);
	if (!is_mode)
		return 0;
	if (scratch.plan.sampling.callchain != CALLCHAIN_DWARF)
		return n;
	if (!strncmp(text + n, ",raw", 4) && (!text[n + 4] || text[n + 4] == ','))
		n += 4;
	if (text[n] && isdigit((unsigned char)text[n + 1]))
		n += 1 + strcspn(text + n + 1, ",");
	return n;
}

/* perf top has one option for both. */
static int take_chains_and_mode(void *target, const char *argument, struct str *err)
{
	struct top_words *words = target;
	size_t n = mode_bytes(argument);
	char *mode = xstrndup(argument, n);
	int rc = n ? take_call_graph(&words->record, mode, err) : 0;

	free(mode);
	words->record.call_graph = !n;
	return rc || !argument[n] ? rc : take_chains(&words->report, argument + n + (n > 0), err);
}

#define FIELD(name) .offset = offsetof(struct top_words, name)
#define PLAN(name) FIELD(record.plan.name)
#define QUERY(name) FIELD(report.report.name)
#define FILTER(name) FIELD(report.sample.filters.name)
#define LIMITS(low, high) .min = (low), .max = (high)

const struct option_row top_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to sample" },
	{ OPTION_FLAG, 'a', "all-cpus", NULL, "measure all CPUs (default)", PLAN(target.all_cpus) },
	{ OPTION_TEXT, 'C', "cpu", "cpus", "measure these CPUs, such as 0-3,7", PLAN(target.cpus),
	  .value = VALUE_CPUS },
	{ OPTION_TEXT, 'p', "pid", "pids", "measure these running processes", PLAN(target.pids),
	  .value = VALUE_PIDS },
	{ OPTION_TEXT, 't', "tid", "tids", "measure these running threads", PLAN(target.tids),
	  .value = VALUE_TIDS },
	{ OPTION_TEXT, 'u', "uid", "user", "measure all processes of this user", PLAN(target.user),
	  .value = VALUE_USER },
	{ OPTION_CALL, 'G', "cgroup", "names", "measure cgroups: one per event, or one for all",
	  .value = VALUE_CGROUPS, .call = take_cgroups },
	{ OPTION_FLAG, 'i', "no-inherit", NULL, "do not measure child processes", PLAN(sampling.inherit),
	  .off = true },
	{ OPTION_CALL, 'e', "event", "list", "events to measure, see pstat list; repeatable",
	  .value = VALUE_EVENTS, .call = take_events },
	{ OPTION_CALL, 0, "events-dir", "dir", "folder of vendors' JSON files, for the events and metrics after it",
	  .value = VALUE_DIRECTORY, .call = take_events_dir },
	{ OPTION_CALL, 0, "pfm-events", "list", "events by their libpfm4 names", .value = VALUE_PFM_EVENTS,
	  .call = take_pfm_events },
	{ OPTION_CALL, 0, "filter", "expression", "filter the tracepoints of the preceding -e",
	  .call = take_filter },
	{ OPTION_CALL, 'F', "freq", "hertz", "samples per second, or max (default 4000)",
	  .value = VALUE_FREQUENCY, .call = take_frequency },
	{ OPTION_CALL, 'c', "count", "n", "take a sample every n events", .call = take_period },
	{ OPTION_FLAG, 0, "off-cpu", NULL, "sample waiting time, not the default event",
	  PLAN(sampling.off_cpu) },
	{ OPTION_FLAG, 0, "wakers", NULL, "--off-cpu, and who ended waits: offcpu-wakers",
	  PLAN(sampling.wakers) },
	{ OPTION_FLAG, 0, "wall", NULL, "sample all time, as one event wall-clock",
	  PLAN(sampling.wall) },
	{ OPTION_CALL, 0, "off-cpu-thresh", "ms", "leave out shorter waits (default 0)",
	  .call = take_off_cpu_least },
	{ OPTION_FLAG, 'g', NULL, NULL, "take callchains by frame pointers", FIELD(record.call_graph) },
	{ OPTION_CALL, 0, "call-graph", "mode,style",
	  "callchains: fp, dwarf[,bytes], lbr; and style", .value = VALUE_CHAIN_STYLE,
	  .call = take_chains_and_mode },
	{ OPTION_FLAG, 0, "stitch-lbr", NULL, "go on with callers of earlier samples (--call-graph lbr)",
	  FIELD(report.sample.session.stitch_calls) },
	{ OPTION_UNSIGNED, 0, "max-stack", "n", "keep at most n frames of a callchain",
	  PLAN(sampling.max_stack),
	  LIMITS(1, UINT16_MAX) },
	{ OPTION_FLAG, 'b', "branch-any", NULL, "sample taken branches, one row each", FIELD(record.branches) },
	{ OPTION_CALL, 'j', "branch-filter", "list", "take branches of these kinds: any_call,u",
	  .value = VALUE_BRANCHES, .call = take_branch_filter },
	{ OPTION_FLAG, 0, "namespaces", NULL, "record the namespaces of tasks", PLAN(sampling.namespaces) },
	{ OPTION_FLAG, 0, "all-cgroups", NULL, "record the cgroup of each sample", PLAN(sampling.all_cgroups) },
	{ OPTION_CALL, 'm', "mmap-pages", "pages or size", "size of each ring buffer (default 2M or less)",
	  .value = VALUE_SIZE, .call = take_ring_size },
	{ OPTION_NUMBER, 'r', "realtime", "priority", "run pstat at this SCHED_FIFO priority", FIELD(priority),
	  LIMITS(1, 99) },

	{ .kind = OPTION_GROUP, .help = "How often, and what to keep" },
	{ OPTION_CALL, 'd', "delay", "seconds", "time between tables (default 2)", .call = take_delay },
	{ OPTION_FLAG, 0, "once", NULL, "print one table and end", FIELD(once) },
	{ OPTION_CALL, 0, "duration", "seconds", "stop after this time: 10, 0.5, 500ms, 5m", PLAN(duration_ns),
	  .value = VALUE_TIME, .call = take_duration },
	{ OPTION_FLAG, 'z', "zero", NULL, "do not carry samples over to the next table",
	  FIELD(zero) },
	{ OPTION_FLAG, 'K', "hide_kernel_symbols", NULL, "hide samples in the kernel", FILTER(kernel_hidden) },
	{ OPTION_FLAG, 'U', "hide_user_symbols", NULL, "hide samples in user space", FILTER(user_hidden) },
	{ OPTION_FLAG, 'I', "include-idle", NULL, "count idle tasks, which -g leaves out", FIELD(idle) },
	{ OPTION_FLAG, 0, "user-stacks", NULL, "use only the user frames of callchains",
	  FIELD(report.sample.user_stacks) },
	{ OPTION_FLAG, 0, "kernel-stacks", NULL, "use only the kernel frames of callchains",
	  FIELD(report.sample.kernel_stacks) },
	{ OPTION_TEXT, 0, "comms", "names", "only samples of tasks with these names", FILTER(comms) },
	{ OPTION_TEXT, 0, "dsos", "names", "only samples in these files", FILTER(dsos) },
	{ OPTION_TEXT, 0, "symbols", "names", "only samples in these functions", FILTER(symbols) },
	{ OPTION_TEXT, 0, "switch-on", "event", "only samples after one of this event", FILTER(switch_on),
	  .value = VALUE_EVENT },
	{ OPTION_TEXT, 0, "switch-off", "event", "no samples after one of this event", FILTER(switch_off),
	  .value = VALUE_EVENT },
	{ OPTION_FLAG, 0, "show-on-off-events", NULL, "print samples of these two events too",
	  FILTER(switches_shown) },

	{ .kind = OPTION_GROUP, .help = "What to show" },
	{ OPTION_TEXT, 's', "sort", "keys", "keys that make a row: comm,dso,symbol, ...",
	  QUERY(sort), .value = VALUE_REPORT_KEYS },
	{ OPTION_TEXT, 0, "fields", "fields", "columns: overhead, sample, period, sort keys", QUERY(fields),
	  .value = VALUE_REPORT_KEYS },
	{ OPTION_NUMBER, 'E', "entries", "n", "rows per event in text (what fits, or 20)",
	  FIELD(entries), LIMITS(1, INT_MAX) },
	{ OPTION_NUMBER, 'f', "count-filter", "n", "print only rows with more samples than n",
	  FIELD(count_filter),
	  LIMITS(0, INT_MAX) },
	{ OPTION_CALL, 0, "percent-limit", "percent", "leave out rows below this percentage", FIELD(report),
	  .call = take_percent_limit },
	{ OPTION_CHOICE, 0, "percentage", "relative|absolute", "of filtered samples, or of all (default)",
	  QUERY(percentage_relative), .off = true, .value = VALUE_ONE_OF },
	{ OPTION_FLAG, 'n', "show-nr-samples", NULL, "add a column with the number of samples",
	  QUERY(n_samples) },
	{ OPTION_FLAG, 0, "show-total-period", NULL, "add a column with the sum of periods",
	  QUERY(total_period) },
	{ OPTION_SWITCH, 0, "children", NULL, "add a column that includes callees",
	  FIELD(report.children), .both = true },
	{ OPTION_FLAG, 'H', "hierarchy", NULL, "nest rows, one level per sort key", FIELD(report.hierarchy) },
	{ OPTION_SWITCH, 0, "group", NULL, "print events side by side, or one by one",
	  FIELD(report.group), .both = true },
	{ OPTION_NUMBER, 0, "group-sort-idx", "n", "sort groups by event n (from 0)",
	  FIELD(report.group_sort), LIMITS(0, 65535) },
	{ OPTION_TEXT, 0, "ignore-callees", "regex", "count callees as part of these functions",
	  QUERY(ignore_callees) },
	{ OPTION_FLAG, 0, "raw-trace", NULL, "key trace: print raw fields",
	  QUERY(raw_trace) },
	{ OPTION_CALL, 'w', "column-widths", "list", "widths of the columns", FIELD(report),
	  .call = take_widths },
	{ OPTION_FLAG, 0, "stdio", NULL, "print text tables, even on a terminal", FIELD(report.stdio) },
	{ OPTION_FLAG, 0, "tui", NULL, "open the browser (default on a terminal)", FIELD(report.tui) },
	{ OPTION_CHOICE, 'M', "disassembler-style", "att|intel", "syntax of x86 code in the browser (att)",
	  .value = VALUE_ONE_OF, FIELD(report.code.intel) },
	{ OPTION_TEXT, 0, "prefix", "folder", "the browser looks for source files below this folder",
	  FIELD(report.code.prefix), .value = VALUE_DIRECTORY },
	{ OPTION_UNSIGNED, 0, "prefix-strip", "n", "with --prefix: drop the first n folders",
	  FIELD(report.code.prefix_strip), .max = 1000 },
	{ OPTION_FLAG, 0, "force", NULL, "use JIT maps and dumps of any owner",
	  FIELD(report.sample.session.sym.force) },
	{ .kind = OPTION_GROUP, .help = "Accepted, or refused with the reason" },
	{ OPTION_ACCEPTED, 0, "addr2line", "path", .help = "pstat looks up lines itself", .value = VALUE_FILE },
	{ OPTION_ACCEPTED, 0, "asm-raw", NULL, .help = "a key switches it in the view of the code" },
	{ OPTION_ACCEPTED, 0, "demangle-kernel", NULL, .help = "names of the kernel are shown unchanged" },
	{ OPTION_ACCEPTED, 0, "no-bpf-event", NULL, .help = "addresses of BPF programs are recorded" },
	{ OPTION_ACCEPTED, 0, "num-thread-synthesize", "n",
	  .help = "one thread reads /proc", .min = 1, .max = INT_MAX },
	{ OPTION_ACCEPTED, 0, "objdump", "path", .help = "pstat disassembles itself", .value = VALUE_FILE },
	{ OPTION_ACCEPTED, 0, "overwrite", NULL, .help = "rings are read all the time" },
	{ OPTION_ACCEPTED, 0, "proc-map-timeout", "ms",
	  .help = "reading /proc has no time limit", .min = 1, .max = INT_MAX },
	{ OPTION_ACCEPTED, 0, "source", NULL, .help = "a key switches it in the view of the code" },
	{ OPTION_REFUSED, 0, "branch-history", NULL,
	  .help = "branches are not added to callchains", .instead = "-b prints one row per branch" },
	{ OPTION_REFUSED, 'D', "dump-symtab", NULL,
	  .help = "symbol tables are not printed", .instead = "nm FILE; -v reports where names come from" },
	{ OPTION_REFUSED, 0, "sym-annotate", "symbol",
	  .help = "code is shown in the browser",
	  .instead = "the key a on a function; pstat annotate for a recording" },
	{ .kind = OPTION_END, .more = name_options, FIELD(report) },
};

void top_words_init(struct top_words *words, const struct kern *kern)
{
	*words = (struct top_words){ .zero = false };
	recording_words_init(&words->record, kern);
	report_words_init(&words->report);
}

void top_words_release(struct top_words *words)
{
	recording_words_release(&words->record);
}

enum { ENTRIES_DEFAULT = 20, HEAD_LINES = 12, DELAY_DEFAULT_S = 2 };

/* Defaults of the options that are the table's own. */
static void add_defaults(struct top_words *words)
{
	struct query *query = &words->report.report;
	unsigned lines = terminal_lines(STDOUT_FILENO);

	if (!words->delay_ns)
		words->delay_ns = DELAY_DEFAULT_S * NS_PER_S;
	query->rows_max = words->entries ? (size_t)words->entries : ENTRIES_DEFAULT;
	if (!words->entries && lines > HEAD_LINES)
		query->rows_max = lines - HEAD_LINES;
	query->samples_over = (uint64_t)words->count_filter;
	if (!query->sort)
		query->sort = words->record.branches || words->record.plan.sampling.branch_filter ? NULL :
			      words->record.plan.sampling.wall ? "state,dso,symbol" : "dso,symbol";
}

/* A tracepoint that is hit in an idle task is what was asked for. */
static bool has_tracepoint(const struct event_list *events)
{
	for (size_t i = 0; i < events->n; i++)
		if (events->v[i].attr.type == PERF_TYPE_TRACEPOINT)
			return true;
	return false;
}

/* Callchains of all CPUs: most of an idle machine's would be of nothing that runs. */
static bool leaves_out_idle(const struct top_words *words)
{
	const struct target_spec *target = &words->record.plan.target;

	return !words->idle && words->record.plan.sampling.callchain != CALLCHAIN_NONE &&
	       (target->all_cpus || target->cpus) && !has_tracepoint(&words->record.what.events);
}

int top_words_complete(struct top_words *words)
{
	struct record_plan *plan = &words->record.plan;
	struct str err = STR_INIT;
	int status;

	words->record.quiet = words->report.sample.quiet;
	words->record.verbose = words->report.sample.verbose;
	words->report.sample.session.max_stack = plan->sampling.max_stack;
	plan->sampling.off_cpu |= plan->sampling.wakers;
	words->record.no_default_event = plan->sampling.off_cpu;
	add_defaults(words);
	status = report_words_finish(&words->report);
	words->report.report.header_shown = true; /* there is another line above all */
	if (!status && recording_words_complete(&words->record, &err))
		status = bad_usage("%s", err.s);
	words->report.report.filters.idle_hidden = leaves_out_idle(words);
	plan->path = NULL; /* no file */
	plan->build_ids = false;
	str_release(&err);
	return status;
}
