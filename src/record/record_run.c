/*
 * The course of a recording: one loop waits for everything that can happen (kern/watch.c) and then
 * drains, switches files, flushes, as the time or the file's size asks for it.
 *
 * How it ends: with the command, with the measured tasks, by a signal, by --control, when the file is
 * full, or when it cannot be written. Whatever the reason, the file is finished first and the command
 * told to end afterwards: what was recorded does not depend on its goodwill.
 */
#include "record/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- snapshots and files ---- */

/* Overwrite rings hold the newest records: they stand still while they are copied. */
int recording_snapshot(struct recording *rec)
{
	ssize_t n;

	if (!rec->snapshots.n)
		return 0;
	for (size_t i = 0; i < rec->snapshots.n; i++)
		ring_pause(rec->snapshots.rings[i], true);
	n = drain_snapshot(&rec->snapshots, rec->err);
	for (size_t i = 0; i < rec->snapshots.n; i++)
		ring_pause(rec->snapshots.rings[i], false);
	return n < 0 ? (int)n : 0;
}

static int drain_all(struct recording *rec)
{
	ssize_t n = rec->crew.n ? 0 : drain_pass(&rec->drain, rec->err);

	rec->totals->wakeups += n > 0;
	return n < 0 ? (int)n : 0;
}

static int switch_file(struct recording *rec)
{
	int rc = drain_all(rec);

	if (!rc)
		rc = recording_snapshot(rec);
	return rc ? rc : outfile_switch(&rec->out, rec->err);
}

static int do_snapshot(struct recording *rec)
{
	const struct record_plan *plan = rec->plan;
	int rc;

	if (plan->switch_on_signal)
		return switch_file(rec);
	rc = drain_all(rec);
	if (!rc)
		rc = recording_snapshot(rec);
	/* Who asked for it may look at it now. */
	return rc ? rc : outfile_flush(&rec->out, rec->err);
}

/* ---- control commands ---- */

static int control_enable(void *data, const char *words)
{
	struct recording *rec = data;

	(void)words;
	return counters_enable(&rec->set);
}

static int control_disable(void *data, const char *words)
{
	struct recording *rec = data;

	(void)words;
	return counters_disable(&rec->set);
}

static int control_ping(void *data, const char *words)
{
	(void)data;
	(void)words;
	return 0;
}

static int control_stop(void *data, const char *words)
{
	struct recording *rec = data;

	(void)words;
	rec->told_to_end = true;
	return 0;
}

static int control_snapshot(void *data, const char *words)
{
	struct recording *rec = data;
	int rc = do_snapshot(rec);

	(void)words;
	if (rc && !rec->rc)
		rec->rc = rc;
	return rc;
}

static int control_evlist(void *data, const char *words)
{
	struct recording *rec = data;

	rec->plan->list_events(rec->plan->data, &rec->events, words);
	return 0;
}

/* To add one: a row here, tests/cli/record_control.sh, pstat-record(1). */
static const struct control_command control_commands[] = {
	{ "enable", false, control_enable },
	{ "disable", false, control_disable },
	{ "snapshot", false, control_snapshot },
	{ "evlist", true, control_evlist },
	{ "ping", false, control_ping },
	{ "stop", false, control_stop },
	{ .name = NULL },
};

static void take_control(struct recording *rec)
{
	if (watch_control_ready(&rec->watch) &&
	    !control_read(&rec->control, control_commands, rec, rec->plan->notes))
		watch_forget_control(&rec->watch);
}

/* ---- the loop ---- */

static bool is_over(struct recording *rec)
{
	bool full;

	if (rec->has_child && child_poll(&rec->child))
		return true;
	if (rec->rc || rec->told_to_end || rec->plan->stop->signal)
		return true;
	pthread_mutex_lock(&rec->out.lock);
	full = rec->out.full || rec->out.failed;
	pthread_mutex_unlock(&rec->out.lock);
	return full || (rec->target.kind == TARGET_TASKS &&
			watch_tasks_ended(&rec->watch, &rec->target));
}

static bool switch_is_due(struct recording *rec, uint64_t now)
{
	const struct record_plan *plan = rec->plan;

	return (plan->switch_ns && now >= rec->out.opened_ns + plan->switch_ns) ||
	       (plan->switch_bytes && outfile_bytes(&rec->out) >= plan->switch_bytes);
}

static int each_second(struct recording *rec)
{
	const struct record_plan *plan = rec->plan;
	int rc = outfile_flush(&rec->out, rec->err);

	if (!rc && plan->progress) {
		recording_count(rec);
		plan->progress(plan->data, rec->totals);
	}
	return rc;
}

static int do_what_is_due(struct recording *rec)
{
	struct run_stop *stop = rec->plan->stop;
	uint64_t now = now_ns();
	int rc = 0;

	if (now >= rec->delay_until_ns)
		rc = recording_begin(rec);
	if (!rc && stop->snapshot) {
		stop->snapshot = 0;
		rc = do_snapshot(rec);
	}
	if (!rc && switch_is_due(rec, now))
		rc = switch_file(rec);
	if (!rc && ticker_due(&rec->second, now))
		rc = each_second(rec);
	return rc;
}

static uint64_t next_due_ns(const struct recording *rec)
{
	uint64_t next = rec->second.next_ns;

	if (rec->delay_until_ns < next)
		next = rec->delay_until_ns;
	if (rec->plan->switch_ns && rec->out.opened_ns + rec->plan->switch_ns < next)
		next = rec->out.opened_ns + rec->plan->switch_ns;
	return next;
}

/* A ring whose descriptor has hung up is polled on the next one that writes into it. */
static void follow_rings(struct recording *rec)
{
	for (size_t i = 0; i < rec->rings.n && !rec->crew.n; i++) {
		size_t slot = rec->first_slot + i;

		if (watch_seen(&rec->watch, slot) & (POLLHUP | POLLERR))
			watch_replace_fd(&rec->watch, slot, rings_next_fd(&rec->rings, i));
	}
}

static void watch_rings(struct recording *rec)
{
	for (size_t i = 0; i < rec->rings.n && !rec->crew.n; i++) {
		bool polled = !rec->rings.v[i].overwrite;
		size_t slot = watch_fd(&rec->watch, polled ? rings_next_fd(&rec->rings, i) : -1);

		if (!i)
			rec->first_slot = slot;
	}
	if (rec->crew.n)
		rec->news_slot = watch_fd(&rec->watch, rec->crew.news_fd);
}

static void run_loop(struct recording *rec)
{
	watch_rings(rec);
	ticker_start(&rec->second, now_ns(), NS_PER_S);
	while (!is_over(rec)) {
		watch_wait(&rec->watch, next_due_ns(rec));
		follow_rings(rec);
		rec->rc = drain_all(rec);
		if (!rec->rc)
			rec->rc = do_what_is_due(rec);
		take_control(rec);
	}
}

/* ---- the command's end ---- */

/*
 * The file is finished. A command that runs on is told to end: from the terminal it has had the signal
 * already, else it is passed on; the next signal kills it.
 */
static void end_child(struct recording *rec)
{
	const struct run_stop *stop = rec->plan->stop;
	int seen = stop->count;

	if (!rec->has_child || child_poll(&rec->child))
		return;
	rec->child_told = rec->child.hold_fd < 0;
	if (rec->child_told && !(stop->signal && stop->from_terminal))
		kill(rec->child.pid, stop->signal ? stop->signal : SIGTERM);
	while (rec->child.hold_fd < 0 && !child_poll(&rec->child)) {
		if (stop->count != seen)
			kill(rec->child.pid, SIGKILL);
		watch_wait(&rec->watch, UINT64_MAX);
	}
	child_end(&rec->child);
}

static int exit_status(const struct recording *rec)
{
	const struct run_stop *stop = rec->plan->stop;

	if (stop->signal)
		return 128 + stop->signal;
	if (!rec->has_child)
		return 0;
	/* Ended as pstat told it to: no failure. */
	if (rec->child_told && WIFSIGNALED(rec->child.status) &&
	    WTERMSIG(rec->child.status) == SIGTERM)
		return 0;
	return child_exit_status(&rec->child);
}

static void release(struct recording *rec)
{
	if (rec->has_child)
		child_end(&rec->child);
	crew_stop(&rec->crew);
	drain_release(&rec->drain);
	drain_release(&rec->snapshots);
	outfile_release(&rec->out);
	rings_close(&rec->rings);
	if (rec->set_open)
		counters_close(&rec->set);
	events_release(&rec->events);
	info_release(&rec->info);
	target_release(&rec->target);
	control_release(&rec->control);
	free(rec->counter_of);
}

int record_run(const struct record_plan *plan, struct record_totals *totals, int *status,
	       struct str *err)
{
	struct recording rec = {
		.plan = plan,
		.totals = totals,
		.err = err,
		.failed_status = EXIT_PSTAT_FAILED,
		.child = { .hold_fd = -1, .exec_fd = -1 },
		.control = CONTROL_INIT,
		.crew = CREW_INIT,
		.start_ns = NEVER_NS,
		.delay_until_ns = NEVER_NS,
	};
	int rc, end_rc = 0;

	*totals = (struct record_totals){ 0 };
	events_init(&rec.events);
	info_init(&rec.info);
	rec.control.fd = plan->control_fd;
	rec.control.ack_fd = plan->ack_fd;
	watch_begin(&rec.watch, plan->control_fd);
	rc = recording_start(&rec);
	if (!rc && !plan->dry_run) {
		run_loop(&rec);
		rc = rec.rc;
	}
	if (rec.out.is_open)
		end_rc = recording_end(&rec);
	end_child(&rec);
	rc = rc ? rc : end_rc;
	*status = rc ? rec.failed_status : plan->dry_run ? 0 : exit_status(&rec);
	watch_end(&rec.watch);
	release(&rec);
	return rc;
}
