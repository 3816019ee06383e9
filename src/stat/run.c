/* SPDX-License-Identifier: MIT */
/*
 * The course of a run: start the command, open, count, wait, read, report; as often as -r says.
 *
 *   pre -> fork, held -> open -> enable, release -> [ tick: read, report ]... -> end -> read -> post
 *
 * At the beginning the command is forked and held, what is measured becomes a target, all counters are opened on it,
 * and only then does anything go. A command that is itself the target is counted from its exec on, by the kernel
 * (enable_on_exec), so that nothing of pstat is in the counts; all else is enabled by hand.
 *
 * One loop (run_loop) waits for everything that can happen, by kern's watch; between two waits each cause is looked at
 * in a fixed order, the end of the command first, so that its end is the moment that counts. Counters of the last run
 * stay open until the final report: it may ask them for reasons.
 *
 * How a run ends early: a command is told to end and then waited for, so that what it does while it shuts down is
 * counted and its exit status is known; without a command the run ends at once.
 */
#include "stat/passes.h"
#include "stat/run.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

static bool stopped(const struct run *run)
{
	return run->plan->stop->signal != 0;
}

/* ---- the beginning ---- */

static int start_child(struct run *run)
{
	static const struct child_files off_stdout = { -1, STDERR_FILENO, -1 };
	const struct stat_plan *plan = run->plan;
	int rc;

	if (!plan->argv)
		return 0;
	rc = child_fork(&run->child, plan->argv, plan->found, plan->stdout_taken ? &off_stdout : NULL, run->err);
	run->has_child = !rc;
	return rc;
}

static int resolve(struct run *run)
{
	struct target_spec words = run->plan->target;
	int rc;

	words.command = run->child.pid;
	rc = target_resolve(&run->target, &words, run->plan->kern, run->err);
	run->child_is_target = !rc && run->target.kind == TARGET_COMMAND;
	if (rc == -EINVAL)
		run->failed_status = EXIT_BAD_USAGE;
	return rc;
}

static bool starts_with_exec(const struct run *run)
{
	return run->child_is_target && run->plan->delay_ms == 0;
}

static int open_counters(struct run *run)
{
	const struct stat_plan *plan = run->plan;
	const struct event_list *events = run->passes ? passes_events(run) : plan->events;
	struct open_options options = plan->open;
	int rc = 0;

	options.enable_on_exec = starts_with_exec(run);
	options.start_disabled = !options.enable_on_exec;
	options.single_reads = plan->aggr == AGGR_THREAD;
	options.first_group = run->index;
	run->set = (struct counter_set){ .kern = plan->kern, .notes = plan->notes };
	if (!plan->null_run)
		rc = counters_open(&run->set, events, &run->target, &options, plan->kern,
				   plan->notes, run->err);
	run->set_open = !rc && !plan->null_run;
	if (rc)
		return rc;
	removal_watch(&run->set, &run->target, run->child_is_target ? &run->child : NULL,
		      plan->argv ? plan->argv[0] : NULL);
	if (!run->index)
		plan->opened(plan->emit_data, &run->set);
	if (run->passes)
		return 0;
	rc = reporter_attach(run->reporter, &count_backend_perf, &run->set, &run->target, run->err);
	if (!rc && plan->tap)
		rc = plan->tap->begin(plan->tap->data, &run->set, &run->target, run->err);
	return rc;
}

static uint64_t later(uint64_t ns, long ms)
{
	return ms ? ns + (uint64_t)ms * NS_PER_MS : NEVER_NS;
}

static int begin_counting(struct run *run)
{
	const struct stat_plan *plan = run->plan;
	int rc = 0;

	run->delay_until_ns = NEVER_NS;
	if (!starts_with_exec(run) && plan->delay_ms >= 0)
		rc = counters_enable(&run->set);
	run->start_ns = run->last_ns = now_ns();
	run->look_at_ns = run->start_ns;
	watch_duration(&run->watch, plan->duration_ns);
	ticker_start(&run->ticker, run->start_ns, (uint64_t)plan->interval_ms * NS_PER_MS);
	if (rc)
		return fail(run->err, rc, "the counters cannot be started: %s", strerror(-rc));
	slicing_begin(run);
	return 0;
}

static int release_child(struct run *run)
{
	int rc = run->has_child ? child_release(&run->child) : 0;

	if (!rc && starts_with_exec(run))
		removal_begin_at_exec(&run->set);
	return rc ? command_failed(run->plan->argv[0], rc, &run->failed_status, run->err) : 0;
}

static int start_uncounted(struct run *run)
{
	int rc = start_child(run);

	watch_duration(&run->watch, run->plan->duration_ns);
	return rc ? rc : release_child(run);
}

static int start_counted(struct run *run)
{
	const struct stat_plan *plan = run->plan;
	int rc = start_child(run);

	if (!rc)
		rc = resolve(run);
	if (!rc)
		rc = open_counters(run);
	if (!rc && run->target.kind == TARGET_TASKS)
		watch_tasks(&run->watch, &run->target);
	if (!rc && plan->delay_ms > 0)
		run->delay_until_ns = later(now_ns(), plan->delay_ms);
	else if (!rc)
		rc = begin_counting(run);
	return rc ? rc : release_child(run);
}

/* ---- reports ---- */

static uint64_t timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_usec * NS_PER_US;
}

/* User and system time are the command's: known when it is the target and has been reaped. */
static struct count_clock clock_since(const struct run *run, uint64_t since_ns, uint64_t now_ns_value)
{
	struct count_clock clock = { .elapsed_ns = now_ns_value - since_ns };

	if (!run->child_is_target || !run->child.has_usage)
		return clock;
	clock.has_usage = true;
	clock.user_ns = timeval_ns(run->child.usage.ru_utime);
	clock.system_ns = timeval_ns(run->child.usage.ru_stime);
	return clock;
}

static int read_counters(struct run *run, enum stat_report_kind kind, uint64_t now)
{
	const struct stat_tap *tap = run->plan->tap;
	struct count_clock since_start = clock_since(run, run->start_ns, now);
	struct count_clock since_last = clock_since(run, run->last_ns, now);

	if (run->passes)
		passes_read(run, &since_start);
	else
		reporter_read(run->reporter, &since_start, &since_last);
	run->last_ns = now;
	return tap ? tap->round(tap->data, kind, since_start.elapsed_ns, run->err) : 0;
}

/* Takes the result of emit() or write_on(). */
static int written(struct run *run, int rc)
{
	run->output_waits = rc > 0;
	if (run->watch.fds)
		watch_for_writing(&run->watch, rc > 0 ? run->plan->output_fd : -1);
	return rc < 0 ? rc : 0;
}

static int emit(struct run *run, enum stat_report_kind kind, uint64_t time_ns)
{
	struct stat_report report = *reporter_report(run->reporter, kind, time_ns);

	report.passes_differ = run->n_passes > 1 && passes_compare(run);
	return written(run, run->plan->emit(run->plan->emit_data, &report));
}

static bool intervals_left(const struct run *run)
{
	return run->plan->interval_ms &&
	       (!run->plan->interval_count || run->n_intervals < run->plan->interval_count);
}

static int emit_interval(struct run *run, uint64_t now)
{
	int rc = read_counters(run, REPORT_INTERVAL, now);

	run->n_intervals++;
	if (!intervals_left(run))
		ticker_stop(&run->ticker);
	return rc ? rc : emit(run, REPORT_INTERVAL, now - run->start_ns);
}

/* ---- ending ---- */

/* pstat itself ends the run: the first reason counts. */
static void tell_to_end(struct run *run)
{
	if (run->told_to_end)
		return;
	run->told_to_end = true;
	ticker_stop(&run->ticker);
	if (run->has_child && !run->child.reaped)
		child_signal(&run->child, SIGTERM);
}

static void run_failed(struct run *run, int rc)
{
	if (!run->rc)
		run->rc = rc;
	tell_to_end(run);
}

/* The measured command goes on to its end; without a command there is nothing left to do. */
static void output_failed(struct run *run, int rc)
{
	if (!run->rc)
		run->rc = rc;
	run->output_failed = true;
	ticker_stop(&run->ticker);
	if (!run->has_child)
		run->told_to_end = true;
}

/*
 * A signal from the terminal reached the command as well; what it does about it is its own affair.
 * Others are passed on, and each further one is harder to ignore.
 */
static void pass_signals(struct run *run)
{
	const struct run_stop *stop = run->plan->stop;
	int sig = stop->count == 1 ? stop->signal : stop->count == 2 ? SIGTERM : SIGKILL;

	if (stop->count == run->signals_seen)
		return;
	run->signals_seen = stop->count;
	if (run->has_child && !run->child.reaped && !stop->from_terminal)
		child_signal(&run->child, sig);
}

/* ---- control commands ---- */

static int control_enable(void *data, const char *words)
{
	struct run *run = data;

	(void)words;
	run->look_at_ns = now_ns();
	return counters_enable(&run->set);
}

static int control_disable(void *data, const char *words)
{
	struct run *run = data;

	(void)words;
	return counters_disable(&run->set);
}

static int control_ping(void *data, const char *words)
{
	(void)data;
	(void)words;
	return 0;
}

static int control_stop(void *data, const char *words)
{
	(void)words;
	tell_to_end(data);
	return 0;
}

/* To add one: a row here, tests/cli/control.sh, pstat-stat(1). */
static const struct control_command control_commands[] = {
	{ "enable", false, control_enable },
	{ "disable", false, control_disable },
	{ "ping", false, control_ping },
	{ "stop", false, control_stop },
	{ .name = NULL },
};

static void take_control(struct run *run)
{
	if (watch_control_ready(&run->watch) &&
	    !control_read(&run->control, control_commands, run, run->plan->notes))
		watch_forget_control(&run->watch);
}

/* ---- the loop ---- */

static bool run_is_over(struct run *run)
{
	const struct stat_plan *plan = run->plan;

	if (run->has_child && child_has_ended(&run->child))
		removal_look_at_ended(&run->set);
	if (run->has_child)
		return child_poll(&run->child);
	if (stopped(run) || run->told_to_end)
		return true;
	if (plan->interval_ms && !intervals_left(run))
		return true;
	return run->target.kind == TARGET_TASKS && watch_tasks_ended(&run->watch, &run->target);
}

static void do_what_is_due(struct run *run)
{
	uint64_t now = now_ns();
	int rc = 0;

	if (now >= run->delay_until_ns)
		rc = begin_counting(run);
	if (rc)
		run_failed(run, rc);
	rc = 0;
	if (run->output_waits && watch_may_write(&run->watch))
		rc = written(run, run->plan->write_on(run->plan->emit_data));
	/* The interval goes on while the place takes nothing. */
	if (ticker_due(&run->ticker, now) && !run->output_waits && !rc)
		rc = emit_interval(run, now);
	if (rc)
		output_failed(run, rc);
	slicing_go_on(run, now);
	if (now >= run->look_at_ns)
		run->look_at_ns = removal_look(&run->set, now);
	if (watch_time_is_up(&run->watch))
		tell_to_end(run);
}

static uint64_t earliest(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void run_loop(struct run *run)
{
	while (!run_is_over(run)) {
		pass_signals(run);
		do_what_is_due(run);
		if (!run->has_child && run_is_over(run))
			break;
		watch_wait(&run->watch,
			   earliest(earliest(run->ticker.next_ns, run->slicing.next_ns),
				    earliest(run->delay_until_ns, run->look_at_ns)));
		take_control(run);
	}
}

/* ---- the end of one repeat ---- */

static int read_at_end(struct run *run, uint64_t now)
{
	/* The command ended before -D let counting begin. */
	if (run->start_ns == NEVER_NS)
		run->start_ns = run->last_ns = now;
	/* Others than the command go on running: all counters have to stop together. */
	if (!run->child_is_target) {
		aggregation_find_stopped(run->reporter->counts);
		counters_disable(&run->set);
	}
	if (run->output_failed)
		return run->rc;
	if (intervals_left(run))
		return emit_interval(run, now);
	return read_counters(run, REPORT_FINAL, now);
}

/* A repeat that was cut short by a signal would spoil the mean, unless it is all there is. */
static bool spoils_the_mean(const struct run *run)
{
	return run->index > 0 && run->plan->repeat && stopped(run);
}

static void close_repeat(struct run *run, uint64_t now)
{
	struct count_clock clock = clock_since(run, run->start_ns, now);

	if (run->passes)
		return; /* passes_end_repeat() */
	if (spoils_the_mean(run)) {
		note_add(run->plan->notes, false, NULL,
			 "-r: run %u of %ld was interrupted and is left out", run->index + 1,
			 run->plan->repeat);
		return;
	}
	reporter_end_run(run->reporter, &clock);
}

static void note_signal(struct run *run)
{
	int status = run->child.status;

	if (!run->has_child || !WIFSIGNALED(status) || stopped(run) || run->told_to_end)
		return;
	note_add(run->plan->notes, false, NULL, "%s: ended by signal %d (%s)", run->plan->argv[0],
		 WTERMSIG(status), strsignal(WTERMSIG(status)));
}

static int exit_status(const struct run *run)
{
	/* The run that happened to be on when the signal came says nothing of many runs. */
	if (stopped(run) && (!run->has_child || run->plan->repeat != 1 || run->n_passes > 1))
		return 128 + run->plan->stop->signal;
	if (!run->has_child)
		return 0;
	/* Ended as pstat was asked to end it: no failure. */
	if (run->told_to_end && !stopped(run) && WIFSIGNALED(run->child.status) &&
	    WTERMSIG(run->child.status) == SIGTERM)
		return 0;
	return child_exit_status(run->child.status);
}

/* Keeps the last repeat's status, as perf does. Passes are parts of one measurement: their first failure counts. */
static void keep_status(struct run *run)
{
	bool keep_failure = run->n_passes > 1 || run->plan->warm_up;

	if (stopped(run) || !keep_failure || !run->status)
		run->status = exit_status(run);
	if (run->status && !run->first_failed && run->plan->repeat > 1)
		run->first_failed = run->index + 1;
}

/* A signal that came between two runs ended no run, and yet all of them. */
static void keep_interruption(struct run *run)
{
	bool more = !run->plan->repeat || run->index < run->plan->repeat || run->pass + 1 < run->n_passes;

	if (stopped(run) && more)
		run->status = 128 + run->plan->stop->signal;
}

/* The status is that of the last run, and nothing else would say that others are in the mean. */
static void note_failure(const struct run *run)
{
	if (run->first_failed && !run->status)
		note_add(run->plan->notes, false, NULL, "-r: run %u of %ld failed, the last did not",
			 run->first_failed, run->plan->repeat);
}

static void release_repeat(struct run *run)
{
	if (run->has_child)
		child_end(&run->child);
	run->has_child = false;
	if (run->set_open)
		counters_close(&run->set);
	run->set_open = false;
	run->reportable = false;
	target_release(&run->target);
	memset(&run->target, 0, sizeof(run->target));
}

static int run_repeat(struct run *run)
{
	uint64_t now;
	int rc;

	run->ticker = (struct ticker){ .next_ns = NEVER_NS };
	run->slicing = (struct slicing){ .next_ns = NEVER_NS };
	run->start_ns = run->delay_until_ns = NEVER_NS;
	run->look_at_ns = NEVER_NS;
	run->told_to_end = false;
	run->child_is_target = false;
	run->child = (struct child){ .hold_fd = -1, .exec_fd = -1 };
	watch_begin(&run->watch, run->control.fd);
	rc = run->warming_up ? start_uncounted(run) : start_counted(run);
	if (!rc) {
		run_loop(run);
		now = now_ns();
		if (!run->warming_up) {
			rc = read_at_end(run, now);
			close_repeat(run, now);
		}
		note_signal(run);
		keep_status(run);
		run->reportable = !rc && !run->warming_up;
		if (run->rc)
			rc = run->rc;
	}
	watch_end(&run->watch);
	return rc;
}

/* ---- all repeats ---- */

static int final_report(struct run *run)
{
	if (!run->plan->interval_ms)
		return emit(run, REPORT_FINAL, 0);
	return run->plan->summary ? emit(run, REPORT_SUMMARY, 0) : 0;
}

static int new_repeat(struct run *run)
{
	release_repeat(run);
	if (run->passes && !run->pass)
		passes_forget(run);
	/* -r 0: each run has a report of its own. */
	if (!run->plan->repeat) {
		reporter_free(run->reporter);
		run->reporter = NULL;
	}
	if (!run->reporter)
		run->reporter = reporter_new(run->plan, run->err);
	return run->reporter ? 0 : -EINVAL;
}

static int one_of_many(struct run *run)
{
	int rc = hooks_before(run);

	if (!rc && stopped(run))
		run->status = 128 + run->plan->stop->signal;
	if (rc || stopped(run))
		return rc;
	rc = new_repeat(run);
	if (!rc)
		rc = run_repeat(run);
	if (!rc && !run->plan->repeat && !run->warming_up)
		rc = final_report(run);
	return rc ? rc : hooks_after(run);
}

static int one_repeat(struct run *run)
{
	int rc, end_rc;

	run->pass = 0;
	do {
		rc = one_of_many(run);
	} while (!rc && !stopped(run) && ++run->pass < run->n_passes);
	end_rc = run->passes ? passes_end_repeat(run) : 0;
	run->index++;
	return rc ? rc : end_rc;
}

static int warm_up(struct run *run)
{
	int rc;

	if (!run->plan->warm_up)
		return 0;
	run->warming_up = true;
	rc = one_of_many(run);
	run->warming_up = false;
	if (stopped(run))
		note_add(run->plan->notes, false, NULL,
			 "--warm-up: interrupted before anything was counted");
	return rc;
}

int stat_run(const struct stat_plan *plan, int *status, struct str *err)
{
	struct run run = {
		.plan = plan, .err = err, .failed_status = EXIT_PSTAT_FAILED, .n_passes = 1,
		.control = CONTROL_INIT,
	};
	int rc = 0, report_rc = 0;

	run.control.fd = plan->control_fd;
	run.control.ack_fd = plan->ack_fd;
	if (plan->passes)
		rc = passes_begin(&run);
	if (!rc)
		rc = hooks_begin(&run);
	if (!rc)
		rc = smi_freeze_begin(&run);
	if (!rc)
		rc = warm_up(&run);
	if (!rc && !stopped(&run)) {
		do {
			rc = one_repeat(&run);
		} while (!rc && !stopped(&run) && (!plan->repeat || run.index < plan->repeat));
	}
	keep_interruption(&run);
	/* Counts are reported, also where --pre or --post failed since. */
	if (plan->repeat && run.reportable && !run.rc)
		report_rc = final_report(&run);
	note_failure(&run);
	rc = rc ? rc : report_rc;
	*status = rc ? run.failed_status : run.status;
	release_repeat(&run);
	smi_freeze_end(&run);
	reporter_free(run.reporter);
	passes_end(&run);
	control_release(&run.control);
	return rc;
}
