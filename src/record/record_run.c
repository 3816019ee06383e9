/* SPDX-License-Identifier: MIT */
/*
 * record_run.c: the course of a recording: one loop waits for everything that can happen (kern/watch.c) and then has
 * the rings drained, switches files, flushes, as the time asks for it. The records go their way without it
 * (pipeline.h).
 *
 * How it ends: with the command, with the measured tasks, by a signal, by --control, when its time is up, when the
 * file is full, or when it cannot be written. Whatever the reason, the file is finished first and the command told to
 * end afterwards: what was recorded does not depend on its goodwill.
 */
#include "record/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HOLD_POLL_FIRST_MS = 50 };

/* ---- snapshots and files ---- */

static int hand_on_all(void *data, struct str *err)
{
	return recording_hand_on(data, err);
}

/*
 * Waits until all samples read so far are unwound, joined and written. The file is then in order up to the last pass
 * but one over the rings.
 */
static int finish_stages(struct recording *rec)
{
	if (!rec->unwinds && !rec->off_cpu_joins)
		return 0;
	pipeline_drain(&rec->pipeline, false);
	return consumer_call(&rec->pipeline.consumer, hand_on_all, rec, rec->err);
}

/* The second pass over the rings brings all that is not newer than what was in them when this was asked for. */
static int switch_file(struct recording *rec)
{
	struct consumer *consumer = &rec->pipeline.consumer;
	int rc;

	pipeline_drain(&rec->pipeline, true);
	rc = finish_stages(rec);
	if (!rc)
		rc = consumer_call(consumer, sink_file_cut, &rec->file, rec->err);
	pipeline_drain(&rec->pipeline, false);
	if (!rc)
		rc = finish_stages(rec);
	return rc ? rc : consumer_call(consumer, sink_file_switch, &rec->file, rec->err);
}

static int do_snapshot(struct recording *rec)
{
	int rc;

	if (rec->plan->switch_on_signal)
		return switch_file(rec);
	pipeline_drain(&rec->pipeline, true);
	rc = finish_stages(rec);
	/* The one who asked for it may look at it now. */
	return rc ? rc : consumer_flush(&rec->pipeline.consumer, rec->err);
}

/* ---- control commands ---- */

static int forget_waits(void *data, struct str *err)
{
	struct recording *rec = data;

	(void)err;
	off_cpu_stage_interrupted(rec->off_cpu);
	return 0;
}

/* Threads have come and gone unseen while the events were disabled. */
static int interrupt_waits(struct recording *rec)
{
	int rc = rec->off_cpu_joins ? finish_stages(rec) : 0;

	if (!rc && rec->off_cpu_joins)
		rc = consumer_call(&rec->pipeline.consumer, forget_waits, rec, rec->err);
	return rc;
}

static int control_enable(void *data, const char *words)
{
	struct recording *rec = data;
	int rc = interrupt_waits(rec);

	(void)words;
	if (rc)
		return rc;
	rec->removal_look_ns = now_ns();
	if (rec->start_ns == NEVER_NS)
		rec->start_ns = rec->removal_look_ns;
	return recording_enable(rec);
}

static int control_disable(void *data, const char *words)
{
	struct recording *rec = data;

	(void)words;
	return recording_disable(rec);
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
	if (rec->has_child && child_has_ended(&rec->child))
		removal_look_at_ended(&rec->set);
	if (rec->has_child && child_poll(&rec->child))
		return true;
	if (rec->rc || rec->told_to_end || rec->plan->stop->signal || watch_time_is_up(&rec->watch) ||
	    watch_seen(&rec->watch, rec->end_slot))
		return true;
	if (consumer_failed(&rec->pipeline.consumer) || sink_file_is_full(&rec->file))
		return true;
	return rec->target.kind == TARGET_TASKS && watch_tasks_ended(&rec->watch, &rec->target);
}

/* Files that have become too large switch by themselves. */
static uint64_t next_switch_ns(struct recording *rec)
{
	struct sink_file_totals totals;

	if (!rec->plan->switch_ns)
		return NEVER_NS;
	sink_file_count(&rec->file, &totals);
	return totals.opened_ns + rec->plan->switch_ns;
}

static void each_second(struct recording *rec)
{
	const struct record_plan *plan = rec->plan;

	pipeline_drain(&rec->pipeline, false);
	consumer_flush_later(&rec->pipeline.consumer);
	if (plan->drain_later_every_ns)
		ticker_start(&rec->drain, now_ns(), plan->drain_later_every_ns);
	if (plan->progress) {
		recording_count(rec);
		plan->progress(plan->data, rec->totals);
	}
}

/*
 * Drains the rings sooner where mapped files are to be held open: a file is opened when its MMAP comes out of a ring,
 * and a process that ends within a second may take its files with it. The interval is short after the start and after
 * each new file, then doubles.
 */
static void pace_hold_poll(struct recording *rec, uint64_t now)
{
	size_t files = atomic_load(&rec->file.mapped_files);

	if (!rec->plan->cache || rec->plan->drain_every_ns)
		return;
	rec->hold_poll_ns = files != rec->hold_poll_files ? HOLD_POLL_FIRST_MS * NS_PER_MS : 2 * rec->hold_poll_ns;
	rec->hold_poll_files = files;
	ticker_start(&rec->drain, now, rec->hold_poll_ns < NS_PER_S ? rec->hold_poll_ns : 0);
}

/* When the next span of -D ends or begins. The first begins with the recording, when its delay is over. */
static uint64_t next_window_ns(const struct recording *rec)
{
	const struct record_plan *plan = rec->plan;

	if (rec->windows_passed == plan->n_windows_ms || rec->delay_until_ns != NEVER_NS)
		return NEVER_NS;
	return rec->start_of_delay_ns + plan->windows_ms[rec->windows_passed] * NS_PER_MS;
}

static int pass_window(struct recording *rec)
{
	bool begins = rec->windows_passed % 2;
	int rc = begins ? interrupt_waits(rec) : 0;

	if (rc)
		return rc;
	rc = begins ? recording_enable(rec) : recording_disable(rec);
	rec->windows_passed++;
	rec->told_to_end |= rec->windows_passed == rec->plan->n_windows_ms;
	return rc ? fail(rec->err, rc, "--delay: the events cannot be switched on and off: %s", strerror(-rc)) : 0;
}

static int do_what_is_due(struct recording *rec)
{
	struct run_stop *stop = rec->plan->stop;
	uint64_t now = now_ns();
	int rc = 0;

	if (now >= rec->delay_until_ns)
		rc = recording_begin(rec);
	else if (now >= next_window_ns(rec))
		rc = pass_window(rec);
	if (!rc && (switch_event_hit(&rec->switch_event) || stop->snapshot)) {
		stop->snapshot = 0;
		rc = do_snapshot(rec);
	}
	if (!rc && now >= next_switch_ns(rec))
		rc = switch_file(rec);
	if (now >= rec->removal_look_ns)
		rec->removal_look_ns = removal_look(&rec->set, now);
	if (!rc && ticker_due(&rec->second, now)) {
		each_second(rec);
		pace_hold_poll(rec, now);
	}
	if (!rc && ticker_due(&rec->drain, now)) {
		pipeline_drain_soon(&rec->pipeline);
		pace_hold_poll(rec, now);
	}
	return rc;
}

static uint64_t next_due_ns(struct recording *rec)
{
	uint64_t next = rec->second.next_ns, switch_ns = next_switch_ns(rec);

	if (rec->delay_until_ns < next)
		next = rec->delay_until_ns;
	if (rec->drain.next_ns < next)
		next = rec->drain.next_ns;
	if (rec->removal_look_ns < next)
		next = rec->removal_look_ns;
	if (next_window_ns(rec) < next)
		next = next_window_ns(rec);
	return switch_ns < next ? switch_ns : next;
}

static void run_loop(struct recording *rec)
{
	watch_fd(&rec->watch, rec->pipeline.wake_fd);
	rec->end_slot = watch_fd(&rec->watch, rec->plan->end_fd);
	watch_fd(&rec->watch, rec->switch_event.epoll_fd);
	ticker_start(&rec->second, now_ns(), rec->plan->flush_every_ns ? rec->plan->flush_every_ns : NS_PER_S);
	ticker_start(&rec->drain, now_ns(), rec->plan->drain_every_ns);
	rec->hold_poll_ns = HOLD_POLL_FIRST_MS * NS_PER_MS / 2;
	pace_hold_poll(rec, now_ns());
	while (!is_over(rec)) {
		watch_wait(&rec->watch, next_due_ns(rec));
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
		child_signal(&rec->child, stop->signal ? stop->signal : SIGTERM);
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
	return child_exit_status(rec->child.status);
}

static void release(struct recording *rec)
{
	if (rec->has_child)
		child_end(&rec->child);
	pipeline_release(&rec->pipeline);
	filter_stage_free(rec->filter);
	unwind_stage_free(rec->unwind);
	off_cpu_stage_free(rec->off_cpu);
	sink_file_release(&rec->file);
	sink_tee_release(&rec->tee);
	rings_close(&rec->rings);
	switch_event_close(&rec->switch_event);
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
		.pipeline = PIPELINE_INIT,
		.switch_event = SWITCH_EVENT_INIT,
		.start_ns = NEVER_NS,
		.delay_until_ns = NEVER_NS,
		.removal_look_ns = NEVER_NS,
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
	if (rec.sink)
		end_rc = recording_end(&rec);
	end_child(&rec);
	rc = rc ? rc : end_rc;
	*status = rc ? rec.failed_status : plan->dry_run ? 0 : exit_status(&rec);
	watch_end(&rec.watch);
	if (!rc && rec.sink)
		cache_files(&rec);
	release(&rec);
	return rc;
}
