/* SPDX-License-Identifier: MIT */
/*
 * The recorder's thread: begun, waited for, ended. The thread that reads never waits for the recorder but where
 * nothing can be in the queue between them: before its first record, and after the source was closed.
 */
#include "cmd/live_run.h"

#include "cmd/call_texts.h"
#include "cmd/message.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* ---- the recorder's thread ---- */

static void signal_ready(struct live_run *run)
{
	pthread_mutex_lock(&run->lock);
	run->ready = true;
	pthread_cond_signal(&run->changed);
	pthread_mutex_unlock(&run->lock);
}

static void print_notes(struct live_run *run)
{
	if (!run->quiet)
		run->n_noted = message_notes(&run->notes, run->n_noted, run->verbose > 0);
}

static void on_opened(void *data, const struct counter_set *set)
{
	struct live_run *run = data;

	print_notes(run);
	for (size_t i = 0; i < set->n && run->verbose && !run->quiet; i++)
		message_counter(&set->v[i]);
}

/* ---- samples that are counted in the kernel ---- */

static int on_attach(void *data, const struct counter_set *set, struct str *err)
{
	struct live_run *run = data;
	int code = bpf_counting_attach(run->counting, set, err);

	/* Waits are not joined by the recorder then, so that nothing can take the place of the program. */
	if (code == -ENOTSUP && run->plan->sampling.waits_counted)
		str_add(err, "\nwithout --engine bpf, waits are read from rings");
	if (code != -ENOTSUP || run->plan->sampling.waits_counted)
		return code;
	note_add(&run->notes, false, NULL, "samples are read from rings: %s", err->s);
	str_reset(err);
	run->counting = NULL;
	return 0;
}

static void on_stops(void *data)
{
	struct live_run *run = data;

	if (run->counting)
		bpf_counting_stops(run->counting);
}

static const struct events *on_written(void *data, const struct events *recorded)
{
	struct live_run *run = data;

	return run->counting ? bpf_counting_written(run->counting, recorded) : recorded;
}

static struct record_sink *on_stage(void *data, const struct recording_info *recording, struct record_sink *next)
{
	struct live_run *run = data;

	(void)recording;
	return run->counting ? bpf_counting_stage(run->counting, next) : next;
}

static void count_in_kernel(struct live_run *run)
{
	run->plan->attach = on_attach;
	run->plan->stops = on_stops;
	run->plan->written = on_written;
	run->plan->stage = on_stage;
}

/* ---- texts of system calls ---- */

static int on_attach_texts(void *data, const struct counter_set *set, struct str *err)
{
	struct live_run *run = data;

	(void)err;
	call_texts_attach(run->texts, set, &run->notes);
	return 0;
}

/* A reader that is too slow misses samples, which are counted, but no record of what tasks do. */
static struct record_sink *on_begin(void *data, const struct recording_info *recording)
{
	struct live_run *run = data;
	const struct live_options options = {
		.samples_left_out = !run->counting && !run->keeps_samples,
		.no_wait = true,
	};

	run->live = live_source_new(&options, recording->events, recording->info, &run->err);
	signal_ready(run);
	return run->live ? live_source_sink(run->live) : NULL;
}

static void *record_main(void *data)
{
	struct live_run *run = data;

	run->rc = record_run(run->plan, &run->totals, &run->status, &run->err);
	signal_ready(run);
	return NULL;
}

/* ---- the command's thread ---- */

static void keep_signals_off(struct live_run *run)
{
	static const int of_run[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR2, SIGCHLD };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(of_run); i++)
		sigaddset(&set, of_run[i]);
	pthread_sigmask(SIG_BLOCK, &set, &run->outside);
}

/* The recorder takes its commands as those of --control. */
static int open_control(struct live_run *run, struct str *err)
{
	int fds[2];

	run->control_fd = -1;
	if (!run->pausable)
		return 0;
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK))
		return fail(err, -errno, "pipe: %s", strerror(errno));
	run->plan->control_fd = fds[0];
	run->control_fd = fds[1];
	return 0;
}

void live_run_pause(struct live_run *run, bool stops)
{
	/* Full of commands that nobody has read, it needs no further one. */
	(void)!write_all(run->control_fd, stops ? "disable\n" : "enable\n", stops ? 8 : 7);
}

int live_run_begin(struct live_run *run, struct str *err)
{
	int code;

	str_init(&run->err);
	pthread_mutex_init(&run->lock, NULL);
	pthread_cond_init(&run->changed, NULL);
	keep_signals_off(run);
	run->end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (run->end_fd < 0)
		return fail(err, -errno, "eventfd: %s", strerror(errno));
	code = open_control(run, err);
	if (code)
		return code;
	run->plan->end_fd = run->end_fd;
	run->plan->notes = &run->notes;
	run->plan->opened = on_opened;
	run->plan->other_sink = on_begin;
	if (run->counting)
		count_in_kernel(run);
	if (run->texts)
		run->plan->attach = on_attach_texts;
	run->plan->data = run;
	code = pthread_create(&run->thread, NULL, record_main, run);
	if (code)
		return fail(err, -code, "cannot start a thread: %s", strerror(code));
	run->started = true;
	pthread_mutex_lock(&run->lock);
	while (!run->ready)
		pthread_cond_wait(&run->changed, &run->lock);
	pthread_mutex_unlock(&run->lock);
	return 0;
}

void live_run_stop(struct live_run *run)
{
	const uint64_t one = 1;

	if (!run->started)
		return;
	(void)!write(run->end_fd, &one, sizeof(one));
	if (run->live)
		live_source_close(run->live);
	pthread_join(run->thread, NULL);
	run->started = false;
}

int live_run_end(struct live_run *run)
{
	int status = EXIT_PSTAT_FAILED;

	live_run_stop(run);
	if (run->ready) {
		print_notes(run);
		if (run->err.len)
			message_error("%s", run->err.s);
		status = run->err.len && !run->rc ? EXIT_PSTAT_FAILED : run->status;
	}
	live_source_free(run->live);
	if (run->end_fd >= 0)
		close(run->end_fd);
	if (run->control_fd >= 0) {
		close(run->control_fd);
		close(run->plan->control_fd);
	}
	record_totals_release(&run->totals);
	note_list_release(&run->notes);
	pthread_mutex_destroy(&run->lock);
	pthread_cond_destroy(&run->changed);
	pthread_sigmask(SIG_SETMASK, &run->outside, NULL);
	str_release(&run->err);
	return status;
}
