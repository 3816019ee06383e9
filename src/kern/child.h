/*
 * child: the measured command, started in the state in which pstat itself was started. kern.h includes it.
 *
 * Sources: execve(2), "Effect on process attributes"; signal(7); getrlimit(2); wait4(2).
 */
#ifndef PSTAT_KERN_CHILD_H
#define PSTAT_KERN_CHILD_H

#include "util/util.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

/*
 * What an exec leaves as it is and pstat changes for itself, as it was when pstat began: the command finds it like
 * that. Ignored: of the signals that pstat handles; it leaves the others alone.
 */
struct exec_state {
	sigset_t blocked, ignored;
	struct rlimit files; /* RLIMIT_NOFILE */
};
/* As it is now, with nothing ignored. */
void exec_state_now(struct exec_state *state);

struct child {
	pid_t pid; /* 0: none, or reaped */
	sigset_t deaf_to; /* what it was started with: signals blocked or ignored */
	int hold_fd; /* write end: one byte lets the child exec; -1 when done */
	int exec_fd; /* read end: the errno of a failed exec, end-of-file on success; -1 when done */
	int status; /* as waitpid(2) has it, once reaped */
	bool reaped;
	bool has_usage; /* reaped, and the kernel told: not where SIGCHLD was ignored */
	struct rusage usage; /* of the child and what it waited for */
};
/*
 * Forks; the child waits for child_release() before it execs argv, in the state that is given. Files are pstat's own
 * business: open them with O_CLOEXEC.
 */
int child_fork(struct child *child, char *const argv[], const struct exec_state *found, struct str *err);
/* The same where pstat's own standard output is a recording: the command's goes to standard error. */
int child_fork_off_stdout(struct child *child, char *const argv[], const struct exec_state *found,
			  struct str *err);
/* Lets the child exec and waits for that: 0, or the negative errno of exec (the child is reaped). */
int child_release(struct child *child);
/*
 * Looks for the command as its exec will: 0, -ENOENT, or -EACCES where it is not a file that may be
 * executed. For those who have something to lose before child_release() can tell.
 */
int command_check(const char *name);
/* True once the child has ended and nobody has reaped it: what it leaves is still there to be looked at. */
bool child_has_ended(const struct child *child);
/* Non-blocking: true once the child has ended and status and usage are set. */
bool child_poll(struct child *child);
void child_wait(struct child *child);
/*
 * Sends a signal: SIGTERM in place of one that the child was started to be deaf to, and SIGKILL in place of that.
 */
void child_signal(const struct child *child, int sig);
/* SIGTERM to a child that has not ended; one that was never released is killed. Reaps it. */
void child_end(struct child *child);
/* The exit status pstat ends with: the child's own, 128 + signal if it was killed by one. */
int child_exit_status(const struct child *child);

#endif
