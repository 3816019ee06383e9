/*
 * watch: what moves a run on: signals, the end of what is measured, control commands, descriptors, points in time.
 * kern.h includes it.
 */
#ifndef PSTAT_KERN_WATCH_H
#define PSTAT_KERN_WATCH_H

#include "util/util.h"

#include <poll.h>
#include <signal.h>

struct target;

/* What signal handlers note while a run goes on. A run without handlers has one that stays 0. */
struct run_stop {
	volatile sig_atomic_t signal; /* the first that asks for the end; 0 while none came */
	volatile sig_atomic_t count; /* how many came */
	volatile sig_atomic_t from_terminal; /* the last one's sender: the command has had it too */
	volatile sig_atomic_t snapshot; /* SIGUSR2 came; put back to 0 by who saw it */
};

/* ---- watch.c: waiting for what moves a run on ---- */

/*
 * A signal, the end of the child or of the measured tasks, a line on the control descriptor, a ring, a
 * point in time.
 *
 * Signals are blocked while a run works and let in only while it waits, so that none is lost between a
 * look at a flag and the wait. The end of a task is seen at once through a pidfd, where the kernel
 * has them.
 *
 * Sources: pidfd_open(2), ppoll(2).
 */
struct watch {
	struct pollfd *fds; /* the control descriptor, or -1; who is written to, or -1; a pidfd per task; others */
	size_t n, cap;
	size_t n_tasks; /* pidfds */
	size_t n_alive; /* tasks whose pidfd has not yet told their end */
	bool ask; /* some task has no pidfd: ask target_alive() now and then */
	sigset_t outside; /* the signal mask of the caller */
	struct sigaction old_child; /* SIGCHLD's disposition outside */
};
/* Blocks SIGINT, SIGTERM, SIGHUP, SIGUSR2 and SIGCHLD (which ends a wait). */
void watch_begin(struct watch *watch, int control_fd);
/* From now on the end of these tasks is watched too. */
void watch_tasks(struct watch *watch, const struct target *target);
/* Restores signals, closes pidfds. Safe on a zeroed watch that was never begun. */
void watch_end(struct watch *watch);
/* Waits for anything, at most until until_ns (CLOCK_MONOTONIC; UINT64_MAX: no limit). */
void watch_wait(struct watch *watch, uint64_t until_ns);
/* The last wait saw something on the control descriptor. */
bool watch_control_ready(const struct watch *watch);
/* From now on a wait ends when this descriptor can take something; -1: no more. */
void watch_for_writing(struct watch *watch, int fd);
/* The last wait saw that it can, or that its other end is gone. */
bool watch_may_write(const struct watch *watch);
/* Stops looking at the control descriptor: its other end is gone. */
void watch_forget_control(struct watch *watch);
/* All tasks given to watch_tasks have ended. */
bool watch_tasks_ended(const struct watch *watch, const struct target *target);
/* After watch_tasks: one more descriptor to read from (borrowed; -1: none yet). Returns its slot. */
size_t watch_fd(struct watch *watch, int fd);
/* What the last wait saw on it: POLLIN, POLLHUP, ... or 0. */
short watch_seen(const struct watch *watch, size_t slot);
void watch_replace_fd(struct watch *watch, size_t slot, int fd);

/* ---- control.c: the lines that --control brings ---- */

/*
 * A line may come in pieces. Each that was carried out is answered with "ack" and a newline on the
 * second descriptor, if there is one.
 */
struct control {
	int fd, ack_fd; /* -1: none; borrowed */
	struct str line; /* what has come of an unfinished line */
};
#define CONTROL_INIT { -1, -1, STR_INIT }

/* What to do for a line: 0: done, answer it; negative errno: not done. */
struct control_command {
	const char *name; /* NULL ends the table */
	bool takes_words; /* more may follow the name, after a space */
	int (*run)(void *data, const char *words); /* words: what follows, or "" */
};
/*
 * Reads once (the descriptor must be readable) and carries out all finished lines. False when the
 * other end is gone. Lines that are no command leave a note.
 */
bool control_read(struct control *control, const struct control_command *commands, void *data,
		  struct note_list *notes);
void control_release(struct control *control);

#endif
