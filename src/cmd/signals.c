/* SPDX-License-Identifier: MIT */
/*
 * Handlers that only note what came. What was there before them is kept for the measured command.
 */
#include "cmd/signals.h"

#include <signal.h>

/* The one state outside structs: a handler has no other way to say what came. */
static struct run_stop stop;

static void on_stop(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (!stop.signal)
		stop.signal = sig;
	stop.count++;
	stop.from_terminal = info->si_code == SI_KERNEL;
}

static void on_snapshot(int sig)
{
	(void)sig;
	stop.snapshot = 1;
}

static void on_write_error(int sig)
{
	(void)sig;
}

static void take(int sig, const struct sigaction *action, struct exec_state *found)
{
	struct sigaction old;

	if (!sigaction(sig, action, &old) && old.sa_handler == SIG_IGN)
		sigaddset(&found->ignored, sig);
}

struct run_stop *signals_catch(bool snapshots, struct exec_state *found)
{
	static const struct sigaction on = { .sa_sigaction = on_stop, .sa_flags = SA_SIGINFO };
	static const struct sigaction snapshot = { .sa_handler = on_snapshot };
	static const struct sigaction write_error = { .sa_handler = on_write_error };
	static const struct sigaction by_default = { .sa_handler = SIG_DFL };
	struct sigaction old;

	stop = (struct run_stop){ 0 };
	exec_state_now(found);
	take(SIGINT, &on, found);
	take(SIGTERM, &on, found);
	take(SIGPIPE, &write_error, found);
	take(SIGXFSZ, &write_error, found);
	/* Else nobody could say how the command ended. */
	take(SIGCHLD, &by_default, found);
	if (snapshots)
		take(SIGUSR2, &snapshot, found);
	/* nohup(1) means it. */
	if (!sigaction(SIGHUP, NULL, &old) && old.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &on, NULL);
	return &stop;
}

static void on_spared(int sig)
{
	(void)sig;
}

static const struct sigaction on_end = { .sa_sigaction = on_stop, .sa_flags = SA_SIGINFO };

/* The first of a command that cleans up after itself: the next one is noted. */
static void on_spared_end(int sig)
{
	sigaction(sig, &on_end, NULL);
}

static void spare(const struct sigaction *old)
{
	/* Takes itself away when it runs: SA_RESETHAND. */
	static const struct sigaction spared = { .sa_handler = on_spared, .sa_flags = SA_RESTART | SA_RESETHAND };
	static const struct sigaction spared_end = { .sa_handler = on_spared_end, .sa_flags = SA_RESTART };

	if (old->sa_handler == SIG_DFL)
		sigaction(SIGINT, &spared, NULL);
	else if (old->sa_flags & SA_SIGINFO && old->sa_sigaction == on_stop)
		sigaction(SIGINT, &spared_end, NULL);
}

void signals_spare_first(void)
{
	struct sigaction old;

	if (!sigaction(SIGINT, NULL, &old))
		spare(&old);
}

void signals_spare_end(void)
{
	static const struct sigaction by_default = { .sa_handler = SIG_DFL };
	struct sigaction old;

	if (sigaction(SIGINT, NULL, &old))
		return;
	if (old.sa_handler == on_spared)
		sigaction(SIGINT, &by_default, NULL);
	else if (old.sa_handler == on_spared_end)
		sigaction(SIGINT, &on_end, NULL);
}

static void on_first(int sig)
{
	stop.signal = sig;
	stop.count++;
}

const struct run_stop *signals_catch_first(void)
{
	static const struct sigaction first = { .sa_handler = on_first, .sa_flags = SA_RESTART | SA_RESETHAND };
	struct sigaction old;

	stop = (struct run_stop){ 0 };
	if (!sigaction(SIGINT, NULL, &old) && old.sa_handler == SIG_DFL)
		sigaction(SIGINT, &first, NULL);
	return &stop;
}

static bool has_come(void *data)
{
	const struct stop_since *since = data;

	return since->stop->count != since->before;
}

struct interrupt stop_interrupt(struct stop_since *since, const struct run_stop *of)
{
	*since = (struct stop_since){ of, of->count };
	return (struct interrupt){ has_come, since };
}

const struct run_stop *signals_catch_end(struct interrupt *interrupt)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
	static const struct sigaction write_error = { .sa_handler = on_write_error };
	static struct stop_since since;
	struct sigaction old;

	stop = (struct run_stop){ 0 };
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		if (sigaction(ends[i], NULL, &old) || old.sa_handler == SIG_IGN)
			continue;
		sigaction(ends[i], &on_end, NULL);
		if (old.sa_handler == on_spared)
			spare(&on_end);
	}
	sigaction(SIGXFSZ, &write_error, NULL); /* the write fails, and its caller cleans up */
	*interrupt = stop_interrupt(&since, &stop);
	return &stop;
}
