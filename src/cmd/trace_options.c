/* SPDX-License-Identifier: MIT */
/*
 * The options of `pstat trace`: perf's names. What is recorded are the two tracepoints that all system calls pass, each
 * hit of them, with a filter of the kernel's where -e names calls.
 */
#include "cmd/trace_options.h"

#include "cmd/command.h"
#include "cmd/message.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

static int take_calls(void *target, const char *argument, struct str *err)
{
	struct trace_words *words = target;

	(void)err;
	str_addf(&words->calls, "%s\n", argument);
	return 0;
}

static int take_least(void *target, const char *argument, struct str *err)
{
	struct trace_words *words = target;
	double ms;

	if (parse_double(argument, &ms) || !(ms >= 0) || ms > 1e12)
		return fail(err, -EINVAL, "--duration: '%s' is not a number of ms", argument);
	words->least_ns = (uint64_t)(ms * (double)NS_PER_MS);
	return 0;
}

static int take_left_out(void *target, const char *argument, struct str *err)
{
	struct trace_words *words = target;
	struct str why = STR_INIT;
	int code = intset_parse(&words->left_out, argument, INT_MAX, &why);

	if (code)
		fail(err, code, "--filter-pids: %s", why.s);
	str_release(&why);
	return code;
}

#define FIELD(name) .offset = offsetof(struct trace_words, name)
#define PLAN(name) FIELD(record.plan.name)

const struct option_row trace_options[] = {
	{ .kind = OPTION_GROUP, .help = "Whose calls to trace (default: all of the machine's)" },
	{ OPTION_FLAG, 'a', "all-cpus", NULL, "trace all CPUs", PLAN(target.all_cpus) },
	{ OPTION_TEXT, 'p', "pid", "pids", "trace these running processes", PLAN(target.pids), .value = VALUE_PIDS },
	{ OPTION_TEXT, 't', "tid", "tids", "trace these running threads", PLAN(target.tids), .value = VALUE_TIDS },
	{ OPTION_TEXT, 'u', "uid", "user", "trace all processes of this user", PLAN(target.user),
	  .value = VALUE_USER },
	{ OPTION_CALL, 'G', "cgroup", "name", "trace this cgroup", .value = VALUE_CGROUPS, .call = take_cgroups },
	{ OPTION_TEXT, 'C', "cpu", "cpus", "trace these CPUs, such as 0-3,7", PLAN(target.cpus), .value = VALUE_CPUS },
	{ OPTION_FLAG, 0, "no-inherit", NULL, "do not trace child processes", PLAN(sampling.inherit), .off = true },
	{ OPTION_CALL, 0, "filter-pids", "pids", "leave out the threads with these numbers", .call = take_left_out },
	{ OPTION_NUMBER, 'D', "delay", "ms", "start after n ms", PLAN(delay_ms), .min = 0, .max = INT_MAX },
	{ OPTION_TEXT, 'i', "input", "file", "read a recording; -: standard input", FIELD(sample.dump.input),
	  .value = VALUE_FILE },

	{ .kind = OPTION_GROUP, .help = "Which calls" },
	{ OPTION_CALL, 'e', "event", "list", "names, patterns, %classes; !list: all but these", .call = take_calls },
	{ OPTION_CALL, 0, "expr", "list", "the same", .call = take_calls },
	{ OPTION_FLAG, 0, "failure", NULL, "print only calls that failed", FIELD(failure) },
	{ OPTION_CALL, 0, "duration", "ms", "print only calls that took at least so long", .call = take_least },
	{ OPTION_UNSIGNED, 0, "max-events", "n", "stop after n lines", FIELD(max_events), .min = 1, .max = INT_MAX },

	{ .kind = OPTION_GROUP, .help = "What to print" },
	{ OPTION_TEXT, 'o', "output", "file", "write there, not to standard error; -: standard output", FIELD(output),
	  .value = VALUE_FILE },
	{ OPTION_FLAG, 'T', "time", NULL, "print times of the clock, not since the first call", FIELD(full_time) },
	{ OPTION_FLAG, 0, "no-comm", NULL, "do not print names of threads", FIELD(no_comm) },
	{ OPTION_FLAG, 'j', "json", NULL, "print each call as a line of JSON", FIELD(json) },
	{ OPTION_FLAG, 's', "summary", NULL, "print a table of calls for each thread, no lines", FIELD(summary) },
	{ OPTION_FLAG, 'S', "with-summary", NULL, "print lines, then the tables", FIELD(with_summary) },
	{ OPTION_CHOICE, 0, "summary-mode", "thread|total", "one table for each thread, or one for all",
	  FIELD(total), .value = VALUE_ONE_OF },
	{ OPTION_UNSIGNED, 0, "max-summary", "n", "at most n calls in each table", FIELD(max_rows), .min = 1,
	  .max = INT_MAX },
	{ OPTION_FLAG, 0, "errno-summary", NULL, "count each error in the tables (alone: -s)", FIELD(errno_summary) },
	{ OPTION_FLAG, 0, "hist", NULL, "print how long each call took (alone: -s)", FIELD(histogram) },

	{ .kind = OPTION_GROUP, .help = "How" },
	{ OPTION_CALL, 'm', "mmap-pages", "pages or size", "size of each ring buffer (default 16M or less)",
	  .value = VALUE_SIZE, .call = take_ring_size },
	{ OPTION_FLAG, 'q', "quiet", NULL, "print errors only beside the calls", FIELD(record.quiet) },
	{ OPTION_COUNT, 'v', "verbose", NULL, "report opened events", FIELD(record.verbose) },

	{ .kind = OPTION_GROUP, .help = "Accepted, or refused with the reason" },
	{ OPTION_ACCEPTED, 'f', "force", NULL, .help = "a recording's owner does not matter" },
	{ OPTION_ACCEPTED, 0, "comm", NULL, .help = "names of threads are printed" },
	{ OPTION_ACCEPTED, 0, "syscalls", NULL, .help = "system calls are what is traced" },
	{ OPTION_ACCEPTED, 0, "sort-events", NULL, .help = "calls are in order" },
	{ OPTION_ACCEPTED, 0, "force-btf", NULL, .help = "arguments have names without BTF, too" },
	{ OPTION_ACCEPTED, 0, "libtraceevent_print", NULL, .help = "what is printed are system calls only" },
	{ OPTION_ACCEPTED, 0, "proc-map-timeout", "ms", .help = "no maps are read", .min = 1, .max = INT_MAX },
	{ OPTION_REFUSED, 0, "bpf-summary", NULL, .help = "calls are counted by pstat, not in the kernel",
	  .instead = "-s, which costs little more" },
	{ OPTION_REFUSED, 0, "filter", "expression", .help = "calls are chosen by name", .instead = "-e" },
	{ OPTION_REFUSED, 'F', "pf", "all|min|maj", .help = "page faults are not traced",
	  .instead = "pstat record -e faults -c 1, then pstat script", .argument_optional = true },
	{ OPTION_REFUSED, 0, "sched", NULL, .help = "run times of threads are not summed up",
	  .instead = "pstat stat --per-thread" },
	{ OPTION_REFUSED, 0, "call-graph", "mode", .help = "calls have no stacks here",
	  .instead = "pstat record -g -e raw_syscalls:sys_enter, then pstat script" },
	{ .kind = OPTION_END },
};

void trace_words_init(struct trace_words *words, const struct kern *kern)
{
	*words = (struct trace_words){ .calls = STR_INIT };
	recording_words_init(&words->record, kern);
}

void trace_words_release(struct trace_words *words)
{
	recording_words_release(&words->record);
	str_release(&words->calls);
	intset_release(&words->left_out);
}

int trace_words_check(struct trace_words *words)
{
	const struct record_plan *plan = &words->record.plan;

	words->sample.quiet = words->record.quiet;
	words->sample.verbose = words->record.verbose;
	if (words->sample.dump.input &&
	    (plan->argv || plan->target.pids || plan->target.tids || plan->target.user || plan->target.cpus ||
	     plan->target.all_cpus || words->record.what.has_cgroups || words->left_out.n))
		return bad_usage("trace: --input: who was traced is in the file; it goes with no command, process or "
				 "CPU");
	if (words->summary && words->with_summary)
		return bad_usage("trace: --summary and --with-summary: give one of them");
	words->summary |= (words->max_rows || words->total || words->errno_summary || words->histogram) &&
			  !words->with_summary;
	if (words->json && (words->summary || words->with_summary))
		return bad_usage("trace: --json prints calls, and no tables of them");
	if (words->summary && (words->max_events || words->least_ns || words->failure))
		return bad_usage("trace: --max-events, --duration and --failure choose lines, and --summary has none\n"
				 "--with-summary has both");
	return 0;
}

int trace_words_select(const struct trace_words *words, const struct syscall_table *table,
		       struct syscall_selection *selection, struct str *err)
{
	char *copy = xstrdup(words->calls.s), *rest = copy, *line;
	int code = 0;

	while (!code && (line = strsep(&rest, "\n")) != NULL)
		if (*line)
			code = syscall_selection_add(selection, table, line, err);
	free(copy);
	return code;
}

/* Adds to the kernel's filter that these threads do not pass. */
static void leave_out(const struct intset *tids, struct str *filter)
{
	struct str calls = STR_INIT;

	if (filter->len && tids->n)
		str_addf(&calls, "(%s)", filter->s);
	for (size_t i = 0; i < tids->n; i++)
		str_addf(&calls, "%scommon_pid != %d", calls.len ? " && " : "", tids->v[i]);
	if (calls.len) {
		str_reset(filter);
		str_add(filter, calls.s);
	}
	str_release(&calls);
}

/* One register, whose only use is that it comes with the mode of the task: 64-bit or 32-bit. */
static void sample_task_mode(struct sampling *sampling)
{
	const char *name, *help;
	struct str err = STR_INIT;

	if (sample_reg_row(0, &name, &help))
		(void)sample_regs_parse(name, &sampling->user_regs, &err);
	str_release(&err);
}

enum {
	RING_BYTES_MOST = 16 << 20, RING_BYTES_LEAST = 2 << 20, /* of a CPU */
	RINGS_BYTES_MOST = 128 << 20, /* of all */
	BUFFER_BYTES = 64 << 20,
};

/*
 * Calls come in bursts of a million a second, and each is to be kept while other programs have the CPU: rings and
 * buffers hold a part of a second more than those of a recording of samples.
 */
static void give_room(struct record_plan *plan)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint64_t bytes = RING_BYTES_MOST;

	while (bytes > RING_BYTES_LEAST && cpus > 0 && bytes * (uint64_t)cpus > RINGS_BYTES_MOST)
		bytes /= 2;
	if (!plan->ring_bytes && bytes > RING_BYTES_LEAST)
		plan->ring_bytes = bytes;
	plan->buffer_bytes = BUFFER_BYTES;
}

int trace_words_complete(struct trace_words *words, const struct syscall_table *table,
			 const struct syscall_selection *selection, enum syscall_abi abi, struct str *err)
{
	struct record_plan *plan = &words->record.plan;
	struct event_list *events = &words->record.what.events;
	struct str filter = STR_INIT;
	int code = event_list_parse(events, TRACED_EVENTS, &words->record.what.host, err);

	syscall_selection_filter(selection, table, abi, &filter);
	leave_out(&words->left_out, &filter);
	if (!code && filter.len)
		code = event_list_set_filter(events, filter.s, err);
	str_release(&filter);
	give_room(plan);
	plan->sampling.period = 1;
	sample_task_mode(&plan->sampling);
	if (!code)
		code = recording_words_complete(&words->record, err);
	plan->sampling.exclude_perf = plan->target.all_cpus || plan->target.cpus || plan->target.user;
	plan->path = NULL; /* no file */
	plan->build_ids = false;
	plan->synth = SYNTH_TASKS;
	return code;
}
