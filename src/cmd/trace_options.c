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
#include <stdlib.h>
#include <unistd.h>

static int add_list(struct trace_words *words, const char *text, bool is_filter)
{
	VEC_GROW(words->lists, words->n_lists, words->cap_lists);
	words->lists[words->n_lists++] = (struct traced_list){ text, is_filter };
	return 0;
}

static int take_list(void *target, const char *argument, struct str *err)
{
	(void)err;
	return add_list(target, argument, false);
}

static int take_event_filter(void *target, const char *argument, struct str *err)
{
	(void)err;
	return add_list(target, argument, true);
}

static int take_faults(void *target, const char *argument, struct str *err)
{
	static const struct {
		const char *name;
		enum traced_faults faults;
	} kinds[] = { { "all", FAULTS_ALL }, { "min", FAULTS_MINOR }, { "maj", FAULTS_MAJOR } };
	struct trace_words *words = target;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (argument && strcmp(argument, kinds[i].name) != 0)
			continue;
		words->faults = argument ? kinds[i].faults : FAULTS_MAJOR;
		return 0;
	}
	return fail(err, -EINVAL, "--pf: '%s' is none of all, min and maj", argument);
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

static int take_stacks(void *target, const char *argument, struct str *err)
{
	struct trace_words *words = target;
	int code = take_call_graph(target, argument, err);

	words->stacks = words->record.plan.sampling.callchain != CALLCHAIN_NONE;
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
	{ OPTION_CALL, 'e', "event", "list", "names, patterns, %classes; !list: all but these; other events",
	  .call = take_list },
	{ OPTION_CALL, 0, "expr", "list", "the same", .call = take_list },
	{ OPTION_CALL, 0, "filter", "expression", "filter of the tracepoints of the last -e",
	  .call = take_event_filter },
	{ OPTION_CALL, 'F', "pf", "all|maj|min", "page faults, too (default maj)", .value = VALUE_ONE_OF,
	  .call = take_faults, .argument_optional = true, .argument_may_follow = true },
	{ OPTION_SWITCH, 0, "syscalls", NULL, "calls, also where other events are named, or none", FIELD(syscalls),
	  .both = true },
	{ OPTION_FLAG, 0, "failure", NULL, "print only calls that failed", FIELD(failure) },
	{ OPTION_CALL, 0, "duration", "ms", "print only calls that took at least so long", .call = take_least },
	{ OPTION_UNSIGNED, 0, "max-events", "n", "stop after n lines", FIELD(max_events), .min = 1, .max = INT_MAX },

	{ .kind = OPTION_GROUP, .help = "What to print" },
	{ OPTION_TEXT, 'o', "output", "file", "write there, not to standard error; -: standard output", FIELD(output),
	  .value = VALUE_FILE },
	{ OPTION_FLAG, 'T', "time", NULL, "print times of the clock, not since the first call", FIELD(full_time) },
	{ OPTION_FLAG, 0, "show-cpu", NULL, "print the CPU after each time", FIELD(cpu) },
	{ OPTION_UNSIGNED, 0, "string-limit", "n", "print n bytes of each buffer (default 32)",
	  FIELD(record.string_limit), .min = 0, .max = CALL_BYTES_MAX },
	{ OPTION_FLAG, 0, "no-comm", NULL, "do not print names of threads", FIELD(no_comm) },
	{ OPTION_CALL, 0, "call-graph", "fp|dwarf[,raw][,bytes]|lbr|no", "print stacks below the lines",
	  .value = VALUE_ONE_OF, .call = take_stacks },
	{ OPTION_FLAG, 0, "kernel-syscall-graph", NULL, "stacks of calls with the kernel's side",
	  FIELD(kernel_stacks) },
	{ OPTION_UNSIGNED, 0, "max-stack", "n", "print n frames of a stack at most", PLAN(sampling.max_stack), .min = 1,
	  .max = INT_MAX },
	{ OPTION_UNSIGNED, 0, "min-stack", "n", "print only what has n frames at least", FIELD(least_frames), .min = 1,
	  .max = INT_MAX },
	{ OPTION_FLAG, 'j', "json", NULL, "print each call, or row of -s, as a line of JSON", FIELD(json) },
	{ OPTION_FLAG, 0, "libtraceevent_print", NULL, "print fields of tracepoints as the kernel's format has them",
	  FIELD(kernel_format) },
	{ OPTION_FLAG, 's', "summary", NULL, "print a table of calls for each thread, no lines", FIELD(summary) },
	{ OPTION_FLAG, 'S', "with-summary", NULL, "print lines, then the tables", FIELD(with_summary) },
	{ OPTION_CHOICE, 0, "summary-mode", "thread|total|cgroup",
	  "one table for each thread, for all, or for each cgroup", FIELD(summary_mode), .value = VALUE_ONE_OF },
	{ OPTION_UNSIGNED, 0, "max-summary", "n", "at most n calls in each table", FIELD(max_rows), .min = 1,
	  .max = INT_MAX },
	{ OPTION_UNSIGNED, 'I', "interval-print", "ms", "print the tables of every n ms (alone: -s)",
	  FIELD(interval_ms), .min = 100, .max = INT_MAX },
	{ OPTION_FLAG, 0, "interval-clear", NULL, "with -I: clear the screen before each table",
	  FIELD(interval_clear) },
	{ OPTION_FLAG, 0, "errno-summary", NULL, "count each error in the tables (alone: -s)", FIELD(errno_summary) },
	{ OPTION_FLAG, 0, "sched", NULL, "sum up how long each thread was on a CPU (alone: -s)", FIELD(runtime) },
	{ OPTION_FLAG, 0, "hist", NULL, "print how long each call took (alone: -s)", FIELD(histogram) },

	{ .kind = OPTION_GROUP, .help = "How" },
	{ OPTION_CALL, 'm', "mmap-pages", "pages or size", "size of each ring buffer (default 16M or less)",
	  .value = VALUE_SIZE, .call = take_ring_size },
	{ OPTION_FLAG, 'q', "quiet", NULL, "print errors only beside the calls", FIELD(record.quiet) },
	{ OPTION_COUNT, 'v', "verbose", NULL, "report opened events", FIELD(record.verbose) },

	{ .kind = OPTION_GROUP, .help = "Accepted, or refused with the reason" },
	{ OPTION_ACCEPTED, 'f', "force", NULL, .help = "a recording's owner does not matter" },
	{ OPTION_ACCEPTED, 0, "comm", NULL, .help = "names of threads are printed" },
	{ OPTION_ACCEPTED, 0, "sort-events", NULL, .help = "calls are in order" },
	{ OPTION_ACCEPTED, 0, "force-btf", NULL, .help = "arguments have names without BTF, too" },
	{ OPTION_ACCEPTED, 0, "proc-map-timeout", "ms", .help = "no maps are read", .min = 1, .max = INT_MAX },
	{ OPTION_ACCEPTED, 0, "bpf-summary", NULL, .help = "tables are the same, however calls are counted" },
	{ OPTION_REFUSED, 0, "map-dump", "map", .help = "no program of the user's runs in the kernel" },
	{ OPTION_REFUSED, 0, "print-sample", NULL, .help = "it shows how perf reads samples",
	  .instead = "pstat trace record, then pstat script -D" },
	{ OPTION_REFUSED, 0, "show-on-off-events", NULL, .help = "no event switches tracing on or off",
	  .instead = "pstat trace record, then pstat script --switch-on" },
	{ OPTION_REFUSED, 0, "switch-off", "event", .help = "no event switches tracing on or off",
	  .instead = "pstat trace record, then pstat script --switch-off" },
	{ OPTION_REFUSED, 0, "switch-on", "event", .help = "no event switches tracing on or off",
	  .instead = "pstat trace record, then pstat script --switch-on" },
	{ OPTION_REFUSED, 0, "tool_stats", NULL, .help = "it counts look-ups of perf's own" },
	{ .kind = OPTION_END },
};

void trace_words_init(struct trace_words *words, const struct kern *kern)
{
	*words = (struct trace_words){ .events = STR_INIT, .syscalls = -1, .stacks = -1 };
	recording_words_init(&words->record, kern);
}

void trace_words_release(struct trace_words *words)
{
	recording_words_release(&words->record);
	free(words->lists);
	str_release(&words->events);
	intset_release(&words->left_out);
}

/* Whoever speaks of the frames of stacks wants stacks, as perf has it. */
static void complete_stacks(struct trace_words *words)
{
	struct sampling *sampling = &words->record.plan.sampling;

	if (words->stacks < 0 && (words->kernel_stacks || words->least_frames || sampling->max_stack)) {
		sampling->callchain = CALLCHAIN_DWARF;
		words->stacks = 1;
	}
	words->sample.session.max_stack = sampling->max_stack;
}

int trace_words_check(struct trace_words *words)
{
	const struct record_plan *plan = &words->record.plan;

	complete_stacks(words);
	words->sample.quiet = words->record.quiet;
	words->sample.verbose = words->record.verbose;
	if (words->sample.dump.input &&
	    (plan->argv || plan->target.pids || plan->target.tids || plan->target.user || plan->target.cpus ||
	     plan->target.all_cpus || words->record.what.has_cgroups || words->left_out.n))
		return bad_usage("trace: --input: who was traced is in the file; it goes with no command, process or "
				 "CPU");
	if (words->summary && words->with_summary)
		return bad_usage("trace: --summary and --with-summary: give one of them");
	words->summary |= (words->max_rows || words->summary_mode || words->errno_summary || words->histogram ||
			   words->runtime || words->interval_ms) && !words->with_summary;
	if (words->interval_clear && !words->interval_ms)
		return bad_usage("trace: --interval-clear: it needs -I");
	if (words->json && words->histogram)
		return bad_usage("trace: --hist draws histograms, and --json has none");
	if (words->summary && (words->max_events || words->least_ns || words->failure))
		return bad_usage("trace: --max-events, --duration and --failure choose lines, and --summary has none\n"
				 "--with-summary has both");
	return 0;
}

/* ---- which calls, and which other events ---- */

/*
 * Parts a list: words that name calls, and all others, which are events' with their commas: "a,b/c,d/" has two calls at
 * most, and as c and d/ are none, b/c,d/.
 */
static void part_list(const struct syscall_table *table, const char *list, struct str *calls, struct str *events)
{
	char *copy = xstrdup(list), *rest = copy, *word;

	while ((word = strsep(&rest, ",")) != NULL) {
		struct str *out = *word == '!' || syscall_is_name(table, word) ? calls : events;

		str_addf(out, "%s%s", out->len ? "," : "", word);
	}
	free(copy);
}

/* A word without a sign of an event's syntax may be meant as a call. */
static bool may_be_call(const char *events)
{
	return !strpbrk(events, ":/{=");
}

static int take_other_events(struct trace_words *words, const struct syscall_table *table, const char *events,
			     struct syscall_selection *selection, struct str *err)
{
	struct str why = STR_INIT;
	int code = words->sample.dump.input ? 0 : take_events(&words->record.what, events, &why);

	if (code && may_be_call(events))
		code = syscall_selection_add(selection, table, events, err);
	else if (code)
		str_add(err, why.s);
	else
		str_addf(&words->events, "%s\n", events);
	str_release(&why);
	return code;
}

static int take_one_list(struct trace_words *words, const struct syscall_table *table, const char *list,
			 struct syscall_selection *selection, struct str *err)
{
	struct str calls = STR_INIT, events = STR_INIT;
	int code = 0;

	if (*list == '!')
		str_add(&calls, list);
	else
		part_list(table, list, &calls, &events);
	if (events.len)
		code = take_other_events(words, table, events.s, selection, err);
	if (!code && calls.len)
		code = syscall_selection_add(selection, table, calls.s, err);
	str_release(&calls);
	str_release(&events);
	return code;
}

int trace_words_select(struct trace_words *words, const struct syscall_table *table,
		       struct syscall_selection *selection, struct str *err)
{
	int code = 0;

	for (size_t i = 0; i < words->n_lists && !code; i++) {
		const struct traced_list *list = &words->lists[i];

		if (!list->is_filter)
			code = take_one_list(words, table, list->text, selection, err);
		else if (words->sample.dump.input || !words->record.what.events.n)
			code = fail(err, -EINVAL, "--filter: it stands behind -e with tracepoints, which it filters "
				    "while they are recorded");
		else
			code = take_filter(&words->record.what, list->text, err);
	}
	words->no_calls = words->syscalls == 0 || (words->syscalls < 0 && words->events.len && !selection->taken);
	if (words->no_calls)
		syscall_selection_none(selection, table);
	return code;
}

/* ---- events of a recording ---- */

static bool names_event(const char *events, const struct data_event *event)
{
	char *copy = xstrdup(events), *rest = copy, *word;
	struct str name = STR_INIT;
	bool found = false;

	data_event_add_name(event, &name);
	while (!found && (word = strsep(&rest, ",\n")) != NULL)
		found = *word && glob_match(word, name.s);
	str_release(&name);
	free(copy);
	return found;
}

int trace_words_find(const struct trace_words *words, const struct events *events, struct str *err)
{
	char *copy = xstrdup(words->events.s), *rest = copy, *word;
	int code = 0;

	while (!code && words->sample.dump.input && (word = strsep(&rest, ",\n")) != NULL) {
		bool found = !*word;

		for (size_t i = 0; i < events->n && !found; i++)
			found = names_event(word, events->v[i]);
		if (!found)
			code = fail(err, -EINVAL, "--event: '%s' is neither a system call nor an event of the "
				    "recording", word);
	}
	free(copy);
	return code;
}

int trace_words_need_cgroups(const struct trace_words *words, const struct events *events, struct str *err)
{
	bool found = words->summary_mode != SUMMARY_OF_CGROUPS;

	for (size_t i = 0; i < events->n && !found; i++)
		found = events->v[i]->attr.sample_type & PERF_SAMPLE_CGROUP;
	return found ? 0 : fail(err, -EINVAL, "--summary-mode cgroup: the samples do not have their cgroup%s",
				words->sample.dump.input ? "\nrecord them with --all-cgroups" : "");
}

static bool wants_fault(enum traced_faults faults, uint64_t config)
{
	return (config == PERF_COUNT_SW_PAGE_FAULTS && faults == FAULTS_ALL) ||
	       (config == PERF_COUNT_SW_PAGE_FAULTS_MIN && faults & FAULTS_MINOR) ||
	       (config == PERF_COUNT_SW_PAGE_FAULTS_MAJ && faults & FAULTS_MAJOR);
}

/* While events are recorded, there are those that were asked for, and a dummy; in a file there may be any. */
bool trace_words_want(const struct trace_words *words, const struct data_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	if (attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY)
		return false;
	if (!words->sample.dump.input)
		return true;
	if (words->events.len || words->faults)
		return names_event(words->events.s, event) ||
		       (attr->type == PERF_TYPE_SOFTWARE && wants_fault(words->faults, attr->config));
	return attr->type == PERF_TYPE_TRACEPOINT ||
	       (attr->type == PERF_TYPE_SOFTWARE && wants_fault(FAULTS_ALL, attr->config));
}

/* ---- what is recorded ---- */

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

/* Each time that an event happens is told; clocks and counters of hardware happen all the time. */
static void sample_each(struct event_list *events)
{
	for (size_t i = 0; i < events->n; i++) {
		struct event *event = &events->v[i];

		if (event->attr.type != PERF_TYPE_SOFTWARE || event_is_clock(event) || event->terms.has_period ||
		    event->terms.has_freq)
			continue;
		event->attr.sample_period = 1;
		event->terms.has_period = true;
	}
}

static int add_faults(struct trace_words *words, struct str *err)
{
	static const char *const events[] = {
		[FAULTS_MINOR] = "minor-faults", [FAULTS_MAJOR] = "major-faults",
		[FAULTS_ALL] = "major-faults,minor-faults",
	};
	struct sampling *sampling = &words->record.plan.sampling;

	if (!words->faults)
		return 0;
	sampling->addr = true;
	return event_list_parse(&words->record.what.events, events[words->faults], &words->record.what.host, err);
}

/* A call has its stack with its exit, and of its own code alone, unless the kernel's is asked for. */
static void choose_stacks(const struct trace_words *words, struct event_list *events)
{
	struct event *enter = &events->v[events->last_spec], *exit = enter + 1;

	if (words->stacks <= 0)
		return;
	enter->terms.call_graph = xstrdup("no");
	exit->attr.exclude_callchain_kernel = !words->kernel_stacks;
}

static int add_calls(struct trace_words *words, const struct syscall_table *table,
		     const struct syscall_selection *selection, enum syscall_abi abi, struct str *err)
{
	struct event_list *events = &words->record.what.events;
	struct str filter = STR_INIT;
	int code = event_list_parse(events, TRACED_EVENTS, &words->record.what.host, err);

	syscall_selection_filter(selection, table, abi, &filter);
	leave_out(&words->left_out, &filter);
	if (!code && filter.len)
		code = event_list_set_filter(events, filter.s, err);
	str_release(&filter);
	sample_task_mode(&words->record.plan.sampling);
	if (!code)
		choose_stacks(words, events);
	return code;
}

int trace_words_complete(struct trace_words *words, const struct syscall_table *table,
			 const struct syscall_selection *selection, enum syscall_abi abi, struct str *err)
{
	struct record_plan *plan = &words->record.plan;
	struct event_list *events = &words->record.what.events;
	int code = add_faults(words, err);

	if (!code && words->runtime)
		code = event_list_parse(events, "sched:sched_stat_runtime", &words->record.what.host, err);
	if (!code && !words->no_calls)
		code = add_calls(words, table, selection, abi, err);
	sample_each(events);
	plan->sampling.all_cgroups = words->summary_mode == SUMMARY_OF_CGROUPS;
	give_room(plan);
	if (!code)
		code = recording_words_complete(&words->record, err);
	plan->sampling.exclude_perf = plan->target.all_cpus || plan->target.cpus || plan->target.user;
	plan->path = NULL; /* no file */
	plan->build_ids = false;
	plan->synth = words->faults || words->stacks > 0 ? SYNTH_TASKS | SYNTH_MMAPS : SYNTH_TASKS;
	if (plan->sampling.all_cgroups)
		plan->synth |= SYNTH_CGROUPS;
	return code;
}
