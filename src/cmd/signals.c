/*
 * Handlers that only note what came. Child processes have the default actions again at their exec.
 */
#include "cmd/signals.h"

#include <signal.h>

/* The one state outside structs: a handler has no other way to tell. */
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

struct run_stop *signals_catch(bool snapshots)
{
	struct sigaction on = { .sa_sigaction = on_stop, .sa_flags = SA_SIGINFO }, old;
	struct sigaction snapshot = { .sa_handler = on_snapshot };
	struct sigaction write_error = { .sa_handler = on_write_error };

	stop = (struct run_stop){ 0 };
	sigaction(SIGINT, &on, NULL);
	sigaction(SIGTERM, &on, NULL);
	sigaction(SIGPIPE, &write_error, NULL);
	sigaction(SIGXFSZ, &write_error, NULL);
	if (snapshots)
		sigaction(SIGUSR2, &snapshot, NULL);
	/* nohup(1) means it. */
	if (!sigaction(SIGHUP, NULL, &old) && old.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &on, NULL);
	return &stop;
}
