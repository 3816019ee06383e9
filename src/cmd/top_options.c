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
	{ OPTION_FLAG, 'a', "all-cpus", NULL, "everything that runs on all CPUs (default)", PLAN(target.all_cpus) },
	{ OPTION_TEXT, 'C', "cpu", "cpus", "everything that runs on these CPUs: 0-3,7", PLAN(target.cpus),
	  .value = VALUE_CPUS },
	{ OPTION_TEXT, 'p', "pid", "pids", "running processes", PLAN(target.pids), .value = VALUE_PIDS },
	{ OPTION_TEXT, 't', "tid", "tids", "running threads", PLAN(target.tids), .value = VALUE_TIDS },
	{ OPTION_TEXT, 'u', "uid", "user", "all processes of a user", PLAN(target.user), .value = VALUE_USER },
	{ OPTION_CALL, 'G', "cgroup", "names", "the n-th cgroup for the n-th event; a single one for all",
	  .value = VALUE_CGROUPS, .call = take_cgroups },
	{ OPTION_FLAG, 'i', "no-inherit", NULL, "not the children", PLAN(sampling.inherit), .off = true },
	{ OPTION_CALL, 'e', "event", "list", "events, see pstat list; may be given several times",
	  .value = VALUE_EVENTS, .call = take_events },
	{ OPTION_CALL, 0, "pfm-events", "list", "events by their names in libpfm4", .value = VALUE_PFM_EVENTS,
	  .call = take_pfm_events },
	{ OPTION_CALL, 0, "filter", "expression", "filter for the tracepoints of the -e before it",
	  .call = take_filter },
	{ OPTION_CALL, 'F', "freq", "hertz", "samples per second of running time, or max (default 4000)",
	  .value = VALUE_FREQUENCY, .call = take_frequency },
	{ OPTION_CALL, 'c', "count", "n", "a sample every n events", .call = take_period },
	{ OPTION_FLAG, 0, "off-cpu", NULL, "the time that threads wait, not the default event",
	  PLAN(sampling.off_cpu) },
	{ OPTION_FLAG, 0, "wakers", NULL, "--off-cpu, and what ended the waits: an event offcpu-wakers",
	  PLAN(sampling.wakers) },
	{ OPTION_FLAG, 0, "wall", NULL, "time on CPUs and off them as one event, wall-clock",
	  PLAN(sampling.wall) },
	{ OPTION_CALL, 0, "off-cpu-thresh", "ms", "waits shorter than this are left out (default 0)",
	  .call = take_off_cpu_least },
	{ OPTION_FLAG, 'g', NULL, NULL, "callchains by frame pointers", FIELD(record.call_graph) },
	{ OPTION_CALL, 0, "call-graph", "mode,style",
	  "callchains: fp, dwarf[,bytes] or lbr, and how they are shown: graph,0.5,caller", .value = VALUE_CHAIN_STYLE,
	  .call = take_chains_and_mode },
	{ OPTION_UNSIGNED, 0, "max-stack", "n", "frames of a callchain at most", PLAN(sampling.max_stack),
	  LIMITS(1, UINT16_MAX) },
	{ OPTION_FLAG, 'b', "branch-any", NULL, "taken branches, a row for each", FIELD(record.branches) },
	{ OPTION_CALL, 'j', "branch-filter", "list", "taken branches of these kinds: any_call,u",
	  .value = VALUE_BRANCHES, .call = take_branch_filter },
	{ OPTION_FLAG, 0, "namespaces", NULL, "namespaces of tasks", PLAN(sampling.namespaces) },
	{ OPTION_FLAG, 0, "all-cgroups", NULL, "cgroups of samples", PLAN(sampling.all_cgroups) },
	{ OPTION_CALL, 'm', "mmap-pages", "pages or size", "room for each CPU's records (default 2M or less)",
	  .value = VALUE_SIZE, .call = take_ring_size },
	{ OPTION_NUMBER, 'r', "realtime", "priority", "pstat itself runs before others: SCHED_FIFO", FIELD(priority),
	  LIMITS(1, 99) },

	{ .kind = OPTION_GROUP, .help = "How often, and what is kept" },
	{ OPTION_CALL, 'd', "delay", "seconds", "from one table to the next (default 2)", .call = take_delay },
	{ OPTION_FLAG, 0, "once", NULL, "one table, and the end", FIELD(once) },
	{ OPTION_CALL, 0, "duration", "seconds", "end after this time: 10, 0.5, 500ms, 5m", PLAN(duration_ns),
	  .value = VALUE_TIME, .call = take_duration },
	{ OPTION_FLAG, 'z', "zero", NULL, "each table has its own samples only, not seven eighths of the last one's",
	  FIELD(zero) },
	{ OPTION_FLAG, 'K', "hide_kernel_symbols", NULL, "no samples in the kernel", FILTER(kernel_hidden) },
	{ OPTION_FLAG, 'U', "hide_user_symbols", NULL, "no samples in user space", FILTER(user_hidden) },
	{ OPTION_FLAG, 0, "user-stacks", NULL, "of each callchain only the frames in user space",
	  FIELD(report.sample.user_stacks) },
	{ OPTION_FLAG, 0, "kernel-stacks", NULL, "of each callchain only the frames in the kernel",
	  FIELD(report.sample.kernel_stacks) },
	{ OPTION_TEXT, 0, "comms", "names", "only samples of tasks with these names", FILTER(comms) },
	{ OPTION_TEXT, 0, "dsos", "names", "only samples in these files", FILTER(dsos) },
	{ OPTION_TEXT, 0, "symbols", "names", "only samples in these functions", FILTER(symbols) },
	{ OPTION_TEXT, 0, "switch-on", "event", "only samples after one of this event", FILTER(switch_on),
	  .value = VALUE_EVENT },
	{ OPTION_TEXT, 0, "switch-off", "event", "no samples after one of this event", FILTER(switch_off),
	  .value = VALUE_EVENT },
	{ OPTION_FLAG, 0, "show-on-off-events", NULL, "samples of these two events, too", FILTER(switches_shown) },

	{ .kind = OPTION_GROUP, .help = "What to show" },
	{ OPTION_TEXT, 's', "sort", "keys", "what makes a row: comm,dso,symbol and others, see pstat-report(1)",
	  QUERY(sort), .value = VALUE_REPORT_KEYS },
	{ OPTION_TEXT, 0, "fields", "fields", "the columns: overhead, sample, period and sort keys", QUERY(fields),
	  .value = VALUE_REPORT_KEYS },
	{ OPTION_NUMBER, 'E', "entries", "n", "rows of each event in a text (default: what fits a terminal, else 20)",
	  FIELD(entries), LIMITS(1, INT_MAX) },
	{ OPTION_NUMBER, 'f', "count-filter", "n", "only rows with more samples than this", FIELD(count_filter),
	  LIMITS(0, INT_MAX) },
	{ OPTION_CALL, 0, "percent-limit", "percent", "leave out rows below it", FIELD(report),
	  .call = take_percent_limit },
	{ OPTION_CHOICE, 0, "percentage", "relative|absolute", "of what the filters left, or of all (the default)",
	  QUERY(percentage_relative), .off = true, .value = VALUE_ONE_OF },
	{ OPTION_FLAG, 'n', "show-nr-samples", NULL, "a column with the number of samples", QUERY(n_samples) },
	{ OPTION_FLAG, 0, "show-total-period", NULL, "a column with the sum of the periods", QUERY(total_period) },
	{ OPTION_SWITCH, 0, "children", NULL, "a column with what a function called, too (where there are chains)",
	  FIELD(report.children), .both = true },
	{ OPTION_FLAG, 'H', "hierarchy", NULL, "rows within rows, one level a sort key", FIELD(report.hierarchy) },
	{ OPTION_SWITCH, 0, "group", NULL, "all events beside each other; --no-group: one after the other",
	  FIELD(report.group), .both = true },
	{ OPTION_NUMBER, 0, "group-sort-idx", "n", "groups: rows by the nth event's numbers, counted from 0",
	  FIELD(report.group_sort), LIMITS(0, 65535) },
	{ OPTION_TEXT, 0, "ignore-callees", "regex", "what such functions call counts as their own",
	  QUERY(ignore_callees) },
	{ OPTION_FLAG, 0, "raw-trace", NULL, "key trace: the fields one by one, not by the kernel's format",
	  QUERY(raw_trace) },
	{ OPTION_CALL, 'w', "column-widths", "list", "these widths", FIELD(report), .call = take_widths },
	{ OPTION_FLAG, 0, "stdio", NULL, "tables as text, also on a terminal", FIELD(report.stdio) },
	{ OPTION_FLAG, 0, "tui", NULL, "a browser: the default on a terminal", FIELD(report.tui) },
	{ OPTION_CHOICE, 'M', "disassembler-style", "att|intel", "the syntax of x86 code in the browser (att)",
	  .value = VALUE_ONE_OF, FIELD(report.intel) },
	{ OPTION_FLAG, 0, "force", NULL, "read maps and dumps of code made at run time, whoever they belong to",
	  FIELD(report.sample.session.sym.force) },
	{ .kind = OPTION_GROUP, .help = "Accepted, or refused with the reason" },
	{ OPTION_ACCEPTED, 0, "addr2line", "path", .help = "no other program looks up lines", .value = VALUE_FILE },
	{ OPTION_ACCEPTED, 0, "asm-raw", NULL, .help = "keys of the code's view switch lines and bytes" },
	{ OPTION_ACCEPTED, 0, "demangle-kernel", NULL, .help = "names of the kernel are shown as it has them" },
	{ OPTION_ACCEPTED, 0, "no-bpf-event", NULL, .help = "where BPF programs lie is noted like all code's" },
	{ OPTION_ACCEPTED, 0, "num-thread-synthesize", "n",
	  .help = "one thread reads /proc", .min = 1, .max = INT_MAX },
	{ OPTION_ACCEPTED, 0, "objdump", "path", .help = "no other program disassembles", .value = VALUE_FILE },
	{ OPTION_ACCEPTED, 0, "overwrite", NULL, .help = "rings are emptied all the time" },
	{ OPTION_ACCEPTED, 0, "proc-map-timeout", "ms",
	  .help = "nothing of /proc is left out for its time", .min = 1, .max = INT_MAX },
	{ OPTION_ACCEPTED, 0, "source", NULL, .help = "keys of the code's view switch lines and bytes" },
	{ OPTION_REFUSED, 0, "branch-history", NULL,
	  .help = "branches are not added to callchains; -b has a row for each" },
	{ OPTION_REFUSED, 0, "prefix", "folder",
	  .help = "it is about lines of source; pstat annotate has it", .value = VALUE_DIRECTORY },
	{ OPTION_REFUSED, 0, "prefix-strip", "n", .help = "it is about lines of source; pstat annotate has it" },
	{ OPTION_REFUSED, 0, "stitch-lbr", NULL,
	  .help = "stacks of branch records are not put together from several samples" },
	{ OPTION_REFUSED, 'D', "dump-symtab", NULL,
	  .help = "tables of symbols are not printed; nm lists those of a file, and -v says where names are from" },
	{ OPTION_REFUSED, 0, "sym-annotate", "symbol",
	  .help = "code is shown in the browser, by the key a on a function; of a recording by pstat annotate" },
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
	plan->path = NULL; /* no file */
	plan->build_ids = false;
	str_release(&err);
	return status;
}
