/* SPDX-License-Identifier: MIT */
/*
 * The rounds. Each run of a command is a child of the launcher (launcher.c), counted from its exec to its end:
 *
 *   chance -> order, padding    prepare -> run -> read -> conclude
 *
 * The counters are the launcher's, and never enabled in it: children inherit them, and an exec enables the child's. One
 * set so serves all runs of a pass, and a run is the difference of two readings. It is opened anew after a run that has
 * left children behind, which may have it. Counters of whole CPUs count whoever runs, and are opened for each run.
 *
 * While a task and its child have the same counters, the kernel may exchange them where it switches from one to the
 * other, and the launcher would be left with those of a child. It does not where one of them is not inherited. So the
 * launcher has each event once more, as an anchor that is not inherited and never enabled: one of any event would do,
 * but before Linux 6.2 counters of the CPU and of software are exchanged by themselves.
 *
 * Between the start of a command and its end pstat sleeps. Its work for a run comes before and after it, and is as
 * little as can be: memory is taken per round, and an event that this machine lacks is tried once.
 *
 * With more events than there are counters, rounds take turns: each counts the events of one pass, so that no event has
 * to share a counter, and each row says of how many rounds it is.
 *
 * Sources: perf_event_open(2), inherit and enable_on_exec; inherited_all in kernel/events/core.c.
 */
#include "compare/compare.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TAIL_BYTES = 2000 };

/* Events that are counted in the same rounds. */
struct counted_pass {
	struct event_list events;
	size_t *column; /* by event */
	struct run_metrics *metrics;
};

/* A counter's value after a run, summed over CPUs. */
struct counter_sum {
	uint64_t value, enabled_ns, running_ns;
	bool unknown; /* a reading failed */
};

struct runner {
	const struct compare_plan *plan;
	struct compare_data *data;
	struct str *err;
	struct chance chance;
	struct event_list events; /* that can be counted; texts are the plan's */
	struct pass_plan passes;
	struct counted_pass *v; /* by pass */
	struct child_files files; /* of the commands */
	struct child drain; /* of --output pipe */
	struct launcher launcher;
	int stderr_fd; /* what a command says there; -1: pstat's own */
	int status; /* for pstat, of a command that failed */
	size_t rounds_cap;
	size_t *order; /* of the commands in this round */
	struct counter_set anchors;
	/* The counters that are open, of which pass; NULL: none. */
	struct counter_set set;
	const struct counted_pass *open_pass;
	struct counter_sum *before, *after; /* by event: the last run and this one */
	double *counts; /* by event: of this run, as the kernel has them */
	uint64_t *enabled_ns;
	size_t first_metric; /* column */
	size_t n_shared, n_counted; /* values that were left out as others used the counters, and all */
	/* The run that goes on: */
	const struct counted_pass *pass;
	double *values;
	int signals_seen;
};

static bool stopped(const struct runner *r)
{
	return r->plan->stop->signal != 0;
}

/* ---- columns ---- */

static void add_fixed_columns(struct compare_data *data)
{
	compare_add_column(data, COMPARE_WALL, "wall", "s");
	compare_add_column(data, COMPARE_USER, "user", "s");
	compare_add_column(data, COMPARE_SYSTEM, "sys", "s");
	compare_add_column(data, COMPARE_MEMORY, "peak memory", "B");
}

/* ---- files of the commands ---- */

static int file_failed(struct runner *r, const char *what)
{
	return fail(r->err, -errno, "%s: %s", what, strerror(errno));
}

/* Starts a process that takes what commands write, and leaves it. It ends when the pipe is closed. */
static int open_drain(struct runner *r)
{
	char *words[] = { (char[]){ "/bin/sh" }, (char[]){ "-c" }, (char[]){ "exec cat >/dev/null" }, NULL };
	struct child_files files = { -1, -1, -1 };
	int ends[2], rc;

	if (pipe2(ends, O_CLOEXEC))
		return file_failed(r, "pipe");
	files.in = ends[0];
	r->files.out = ends[1];
	rc = child_fork(&r->drain, words, r->plan->found, &files, r->err);
	if (!rc)
		rc = child_release(&r->drain);
	close(ends[0]);
	return rc;
}

static int open_output(struct runner *r)
{
	const struct compare_plan *plan = r->plan;

	if (plan->output == COMPARE_OUTPUT_INHERIT)
		return 0;
	if (plan->output == COMPARE_OUTPUT_PIPE)
		return open_drain(r);
	r->files.out = plan->output == COMPARE_OUTPUT_NULL ?
			       open("/dev/null", O_WRONLY | O_CLOEXEC) :
			       open(plan->output_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return r->files.out < 0 ? file_failed(r, plan->output_path ? plan->output_path : "/dev/null") : 0;
}

static int open_files(struct runner *r)
{
	const char *input = r->plan->input ? r->plan->input : "/dev/null";
	int rc;

	r->files = (struct child_files){ -1, -1, -1 };
	r->stderr_fd = -1;
	r->files.in = open(input, O_RDONLY | O_CLOEXEC);
	if (r->files.in < 0)
		return file_failed(r, input);
	rc = open_output(r);
	if (rc || r->plan->output == COMPARE_OUTPUT_INHERIT)
		return rc;
	r->stderr_fd = r->files.err = memfd_create("pstat-stderr", MFD_CLOEXEC);
	return r->stderr_fd < 0 ? file_failed(r, "memfd_create") : 0;
}

static void close_file(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* ---- one run ---- */

static int open_set(struct runner *r, struct counter_set *set, const struct event_list *events, bool inherit)
{
	const struct target_spec spec = { .command = r->launcher.pid };
	const struct open_options options = { .inherit = inherit, .enable_on_exec = true };
	struct target target = { 0 };
	int rc = target_resolve(&target, &spec, r->plan->kern, r->err);

	*set = (struct counter_set){ .kern = r->plan->kern, .notes = r->plan->notes };
	if (!rc)
		rc = counters_open(set, events, &target, &options, r->plan->kern, r->plan->notes, r->err);
	target_release(&target);
	return rc;
}

static void close_counters(struct runner *r)
{
	if (r->open_pass)
		counters_close(&r->set);
	r->open_pass = NULL;
}

/* Has the counters of this pass open, which nothing that an earlier run has left counts in. */
static int open_counters(struct runner *r)
{
	int rc;

	if (r->open_pass == r->pass)
		return 0;
	close_counters(r);
	rc = open_set(r, &r->set, &r->pass->events, true);
	if (rc)
		return rc;
	r->open_pass = r->pass;
	memset(r->before, 0, (r->pass->events.n + 1) * sizeof(*r->before));
	return 0;
}

static bool counts_cpus(const struct counter_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->v[i].state == COUNTER_OPEN && set->v[i].cpus.n)
			return true;
	return false;
}

/* A signal from the terminal has reached the command, too; others are for pstat, and each further one for both. */
static void pass_signals(void *data)
{
	struct runner *r = data;
	const struct run_stop *stop = r->plan->stop;
	pid_t pid = r->launcher.launch->pid;

	if (stop->count == r->signals_seen)
		return;
	r->signals_seen = stop->count;
	if (stop->count > 1 && pid > 0)
		kill(pid, stop->count == 2 ? SIGTERM : SIGKILL);
}

static void take_reading(void *data, size_t index, int cpu, size_t thread, const struct reading *reading)
{
	struct counter_sum *sum = &((struct runner *)data)->after[index];

	(void)cpu;
	(void)thread;
	sum->value += reading->value;
	sum->enabled_ns += reading->enabled_ns;
	sum->running_ns += reading->running_ns;
	sum->unknown = sum->unknown || reading->state != READING_OK;
}

/* Takes what this run has added to the counts. A value that is not whole is none. */
static void take_counts(struct runner *r, const char *name)
{
	const struct event_list *events = &r->pass->events;
	struct counter_sum *swapped = r->before;

	memset(r->after, 0, (events->n + 1) * sizeof(*r->after));
	counters_read(&r->set, take_reading, r);
	for (size_t i = 0; i < events->n; i++) {
		const struct event *event = &events->v[i];
		const struct counter_sum *before = &r->before[i], *after = &r->after[i];
		uint64_t enabled_ns = after->enabled_ns - before->enabled_ns;
		bool shared = after->running_ns - before->running_ns < enabled_ns;
		bool whole = !after->unknown && enabled_ns && !shared &&
			     (r->set.v[i].cpus.n ||
			      !removal_of_command(&r->set, &r->launcher.launch->usage, name, enabled_ns));
		double scale = event_is_clock(event) ? 1.0 / (double)NS_PER_S : event->scale;

		r->counts[i] = whole ? (double)(after->value - before->value) : NAN;
		r->enabled_ns[i] = enabled_ns;
		r->n_counted++;
		r->n_shared += shared;
		if (whole)
			r->values[r->pass->column[i]] = r->counts[i] * scale;
	}
	run_metrics(r->pass->metrics, r->counts, r->enabled_ns, (double)r->launcher.launch->wall_ns / (double)NS_PER_S,
		    &r->values[r->first_metric]);
	r->before = r->after;
	r->after = swapped;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void take_usage(struct runner *r)
{
	const struct launch *launch = r->launcher.launch;

	r->values[COMPARE_WALL] = (double)launch->wall_ns / (double)NS_PER_S;
	if (!launch->has_usage)
		return;
	r->values[COMPARE_USER] = seconds(launch->usage.ru_utime);
	r->values[COMPARE_SYSTEM] = seconds(launch->usage.ru_stime);
	r->values[COMPARE_MEMORY] = (double)launch->usage.ru_maxrss * 1024;
}

static int begin_files(struct runner *r)
{
	if (r->stderr_fd >= 0 && (ftruncate(r->stderr_fd, 0) || lseek(r->stderr_fd, 0, SEEK_SET)))
		return file_failed(r, "the command's standard error");
	if (r->plan->input)
		(void)lseek(r->files.in, 0, SEEK_SET);
	return 0;
}

/* Measures one run. course says what chance has decided of it, and gets how it ended. */
static int measure(struct runner *r, size_t command, struct compare_course *course)
{
	const struct launch *launch = r->launcher.launch;
	const char *name = r->data->commands[command].argv[0];
	int rc = open_counters(r);

	if (!rc)
		rc = begin_files(r);
	if (!rc)
		rc = launcher_run(&r->launcher, command, course->padding, pass_signals, r, r->err);
	if (rc)
		return rc;
	if (launch->rc)
		return command_failed(name, launch->rc, &r->status, r->err);
	take_counts(r, name);
	take_usage(r);
	course->status = child_exit_status(launch->status);
	if (counts_cpus(&r->set) || launch->left_children)
		close_counters(r);
	return 0;
}

static bool is_failure(const struct compare_plan *plan, int status)
{
	for (size_t i = 0; i < plan->n_ignored; i++)
		if (plan->ignored[i] == status)
			return false;
	return status != 0;
}

/* Adds the end of what it said on standard error. */
static void add_tail(const struct runner *r, struct str *text)
{
	char tail[TAIL_BYTES];
	off_t size = r->stderr_fd < 0 ? 0 : lseek(r->stderr_fd, 0, SEEK_END);
	ssize_t n = size <= 0 ? 0 :
				pread(r->stderr_fd, tail, sizeof(tail), size > TAIL_BYTES ? size - TAIL_BYTES : 0);

	while (n > 0 && tail[n - 1] == '\n')
		n--;
	if (n <= 0)
		return;
	str_add(text, ":\n  ");
	for (ssize_t i = 0; i < n; i++) {
		if (tail[i] == '\n')
			str_add(text, "\n  ");
		else
			str_add_printable(text, &tail[i], 1);
	}
}

/* round: from 1; 0 or less: a warm-up round. */
static int command_has_failed(struct runner *r, size_t command, long round, int status)
{
	const char *text = r->data->commands[command].text;

	r->status = 1;
	if (status > 128)
		str_addf(r->err, "%s: ended by signal %d (%s)", text, status - 128, strsignal(status - 128));
	else
		str_addf(r->err, "%s: ended with status %d", text, status);
	str_add(r->err, round > 0 ? " in round " : " in a warm-up round");
	if (round > 0)
		str_addf(r->err, "%ld", round);
	add_tail(r, r->err);
	return -ECANCELED;
}

static int run_between_hooks(struct runner *r, size_t command, long round, struct compare_course *course)
{
	const struct compare_plan *plan = r->plan;
	int rc = stat_shell(plan->prepare ? plan->prepare[command] : NULL, "--prepare", plan->found, r->err);

	if (!rc)
		rc = measure(r, command, course);
	if (rc)
		return rc;
	if (is_failure(plan, course->status) && !plan->ignore_all && !stopped(r))
		return command_has_failed(r, command, round, course->status);
	return stat_shell(plan->conclude ? plan->conclude[command] : NULL, "--conclude", plan->found, r->err);
}

static int run_one(struct runner *r, size_t command, long round, struct compare_course *course)
{
	char **assignments = r->plan->environment ? r->plan->environment[command] : NULL;
	int rc;

	compare_exchange_environment(assignments);
	rc = run_between_hooks(r, command, round, course);
	compare_exchange_environment(assignments);
	return rc;
}

/* ---- rounds ---- */

static void make_room(struct runner *r)
{
	struct compare_data *data = r->data;
	size_t cells = data->n_commands;

	if (data->n_rounds < r->rounds_cap)
		return;
	r->rounds_cap = r->rounds_cap ? 2 * r->rounds_cap : 16;
	data->courses = xreallocarray(data->courses, r->rounds_cap * cells, sizeof(*data->courses));
	data->values = xreallocarray(data->values, r->rounds_cap * cells * data->n_columns, sizeof(*data->values));
}

/* Runs all commands once, in the place for the next round: it stays if it is whole and is to be kept. */
static int run_round(struct runner *r, long round, size_t n_rounds, bool keep)
{
	struct compare_data *data = r->data;
	size_t *order = r->order;
	bool failed = false;
	int rc = 0;

	make_room(r);
	chance_order(&r->chance, order, data->n_commands);
	r->pass = &r->v[(size_t)(round > 0 ? round - 1 : -round) % r->passes.n_passes];
	for (size_t at = 0; at < data->n_commands && !rc && !stopped(r); at++) {
		struct compare_course *course = &data->courses[data->n_rounds * data->n_commands + order[at]];

		r->values = compare_values(data, data->n_rounds, order[at]);
		for (size_t i = 0; i < data->n_columns; i++)
			r->values[i] = NAN;
		*course = (struct compare_course){
			.position = (unsigned)at,
			.padding = r->plan->padding ? (unsigned)chance_below(&r->chance, COMPARE_PADDING_MAX + 1) : 0,
		};
		r->plan->progress(r->plan->progress_data, round, n_rounds, order[at]);
		rc = run_one(r, order[at], round, course);
		failed = failed || (!rc && is_failure(r->plan, course->status));
	}
	if (rc || stopped(r) || !keep)
		return rc;
	data->sessions[0].n_failed += failed;
	data->n_rounds += !failed;
	data->sessions[0].n_rounds = data->n_rounds;
	return 0;
}

/* How many rounds: as asked for, or as many as there is time for by the last warm-up round, between the bounds. */
static int plan_rounds(struct runner *r, uint64_t round_ns, size_t *n_rounds)
{
	const struct compare_plan *plan = r->plan;
	size_t n_commands = r->data->n_commands, n_columns = r->data->n_columns;
	size_t least = compare_rounds_least(n_commands, n_columns, plan->question.alpha) * r->passes.n_passes;
	uint64_t n = plan->runs > 0 ? (uint64_t)plan->runs : 0;

	if (!n && round_ns)
		n = plan->duration_ns * n_commands / round_ns;
	if (!plan->runs) {
		n = n < (uint64_t)plan->min_runs ? (uint64_t)plan->min_runs : n;
		n = n < least ? least : n;
		n = plan->max_runs && n > (uint64_t)plan->max_runs ? (uint64_t)plan->max_runs : n;
	}
	*n_rounds = (size_t)n;
	if (n >= least || n_commands == 1)
		return 0;
	r->status = EXIT_BAD_USAGE;
	return fail(r->err, -EINVAL,
		    "%s: %llu rounds are too few for a verdict: %zu rows of %zu commands at alpha %g need %zu",
		    plan->runs ? "--runs" : "--max-runs", (unsigned long long)n, n_columns, n_commands,
		    plan->question.alpha, least);
}

/* Leaves out the peak memory of commands that had, in any run, no more than the launcher. */
static void leave_out_floor(struct runner *r)
{
	struct compare_data *data = r->data;
	double floor = (double)r->launcher.launch->floor_bytes;

	for (size_t command = 0; command < data->n_commands; command++) {
		bool known = true;

		for (size_t round = 0; round < data->n_rounds; round++)
			known = known && compare_values(data, round, command)[COMPARE_MEMORY] > floor;
		for (size_t round = 0; round < data->n_rounds && !known; round++)
			compare_values(data, round, command)[COMPARE_MEMORY] = NAN;
		if (!known)
			note_add(r->plan->notes, false, NULL,
				 "%s: its peak memory is not known: it is below the %.1f MiB of its parent",
				 data->commands[command].name, floor / 0x1p20);
	}
}

static int run_rounds(struct runner *r)
{
	uint64_t began = 0;
	size_t n_rounds;
	int rc = plan_rounds(r, 0, &n_rounds); /* refused before anything has run */

	for (long i = 0; i < r->plan->warm_up && !rc && !stopped(r); i++) {
		began = now_ns();
		rc = run_round(r, -i, (size_t)r->plan->warm_up, false);
		r->data->sessions[0].n_warm_up++;
	}
	if (!rc)
		rc = plan_rounds(r, began ? now_ns() - began : 0, &n_rounds);
	for (size_t i = 0; i < n_rounds && !rc && !stopped(r); i++)
		rc = run_round(r, (long)i + 1, n_rounds, true);
	r->data->sessions[0].interrupted = stopped(r);
	leave_out_floor(r);
	if (r->n_shared)
		note_add(r->plan->notes, false, NULL,
			 "%zu of %zu counts are left out: others used the counters in part of the time", r->n_shared,
			 r->n_counted);
	if (!rc && !r->data->n_rounds && r->data->sessions[0].n_failed) {
		r->status = 1;
		return fail(r->err, -ECANCELED,
			    "a command failed in each round\n--ignore-failure=STATUS takes its status for a success");
	}
	return rc;
}

/* ---- the beginning and the end ---- */

/* Tries all events: those that this machine lacks leave. */
static int try_events(struct runner *r)
{
	const struct event_list *all = r->plan->events;
	struct str gone = STR_INIT;
	const char *reason = NULL;
	int rc = open_set(r, &r->set, all, true);

	if (rc)
		return rc;
	r->events = (struct event_list){ .v = xcalloc(all->n + 1, sizeof(*all->v)) };
	for (size_t i = 0; i < r->set.n; i++) {
		if (r->set.v[i].state == COUNTER_OPEN) {
			r->events.v[r->events.n] = all->v[i];
			r->events.v[r->events.n].leader = r->events.n;
			r->events.v[r->events.n++].n_members = 1;
			continue;
		}
		str_add(&gone, gone.len ? ", " : "");
		str_add_printable(&gone, all->v[i].name, strlen(all->v[i].name));
		reason = reason ? reason : r->set.v[i].reason;
	}
	if (gone.len)
		note_add(r->plan->notes, false, NULL, "not counted: %s: %s", gone.s,
			 reason ? reason : "not supported here");
	str_release(&gone);
	counters_close(&r->set);
	return 0;
}

/* The given event that an event of the plan is, or is once more, for the metrics of its pass. */
static size_t column_of(const struct runner *r, size_t event)
{
	size_t i = 0;

	while (event >= r->passes.n_given && i < r->passes.n_given &&
	       memcmp(&r->passes.events.v[i].attr, &r->passes.events.v[event].attr,
		      sizeof(r->passes.events.v[i].attr)))
		i++;
	return event < r->passes.n_given ? event : i;
}

static int plan_passes(struct runner *r)
{
	size_t first = r->data->n_columns;
	const struct metric *const *chosen = (const struct metric *const *)r->plan->metrics;
	int rc = pass_plan_ask(&r->passes, &r->events, chosen, r->plan->n_metrics, r->plan->kern, r->err);

	if (rc)
		return rc;
	for (size_t i = 0; i < r->events.n; i++)
		compare_add_column(r->data, COMPARE_EVENT, r->events.v[i].name,
				   event_is_clock(&r->events.v[i]) ? "s" : r->events.v[i].unit);
	r->first_metric = r->data->n_columns;
	for (size_t i = 0; i < r->plan->n_metrics; i++)
		compare_add_column(r->data, COMPARE_METRIC, chosen[i]->name, "");
	r->before = xcalloc(r->passes.events.n + 1, sizeof(*r->before));
	r->after = xcalloc(r->passes.events.n + 1, sizeof(*r->after));
	r->counts = xcalloc(r->passes.events.n + 1, sizeof(*r->counts));
	r->enabled_ns = xcalloc(r->passes.events.n + 1, sizeof(*r->enabled_ns));
	r->v = xcalloc(r->passes.n_passes, sizeof(*r->v));
	for (unsigned pass = 0; pass < r->passes.n_passes; pass++) {
		pass_plan_events(&r->passes, pass, &r->v[pass].events, &r->v[pass].column);
		for (size_t i = 0; i < r->v[pass].events.n; i++)
			r->v[pass].column[i] = column_of(r, r->v[pass].column[i]) + first;
		r->v[pass].metrics = run_metrics_new(&r->v[pass].events, chosen, r->plan->n_metrics);
	}
	return 0;
}

static int check_commands(struct runner *r)
{
	for (size_t i = 0; i < r->data->n_commands; i++) {
		const char *name = r->data->commands[i].argv[0];
		int rc = command_check(name);

		if (rc)
			return command_failed(name, rc, &r->status, r->err);
	}
	return 0;
}

static int begin(struct runner *r)
{
	int rc = check_commands(r);

	compare_note_conditions(&r->plan->kern->host, r->plan->notes);
	r->chance.state = r->data->sessions[0].seed;
	r->order = xcalloc(r->data->n_commands, sizeof(*r->order));
	if (!rc && r->plan->cpus && sched_setaffinity(0, sizeof(*r->plan->cpus), r->plan->cpus))
		rc = fail(r->err, -errno, "the CPUs cannot be used: %s", strerror(errno));
	if (!rc)
		rc = open_files(r);
	if (!rc)
		rc = launcher_start(&r->launcher, r->plan, r->data, &r->files, r->err);
	if (!rc)
		rc = try_events(r);
	if (!rc)
		rc = open_set(r, &r->anchors, &r->events, false);
	add_fixed_columns(r->data);
	if (!rc)
		rc = plan_passes(r);
	if (!rc)
		rc = stat_shell(r->plan->setup, "--setup", r->plan->found, r->err);
	return rc;
}

static void runner_release(struct runner *r)
{
	close_counters(r);
	counters_close(&r->anchors);
	launcher_end(&r->launcher);
	free(r->before);
	free(r->after);
	free(r->counts);
	free(r->enabled_ns);
	for (unsigned i = 0; r->v && i < r->passes.n_passes; i++) {
		free(r->v[i].events.v);
		free(r->v[i].column);
		run_metrics_free(r->v[i].metrics);
	}
	free(r->v);
	pass_plan_release(&r->passes);
	free(r->events.v);
	free(r->order);
	close_file(r->files.in);
	close_file(r->files.out);
	close_file(r->stderr_fd);
	if (r->drain.pid)
		child_wait(&r->drain);
}

int compare_run(const struct compare_plan *plan, struct compare_data *data, int *status, struct str *err)
{
	struct runner r = { .plan = plan, .data = data, .err = err, .status = EXIT_PSTAT_FAILED, .stderr_fd = -1,
			    .files = { -1, -1, -1 }, .launcher = { .fd = -1 } };
	int rc = begin(&r), end_rc;
	bool began = !rc;

	if (!rc)
		rc = run_rounds(&r);
	end_rc = began && !rc ? stat_shell(plan->cleanup, "--cleanup", plan->found, err) : 0;
	*status = r.status;
	runner_release(&r);
	return rc ? rc : end_rc;
}
