/* SPDX-License-Identifier: MIT */
/*
 * The measured command: forked at once, held until all counters are open, then let go to exec.
 *
 *   parent                         child
 *   child_fork    --- fork --->    reads hold: waits
 *   (opens counters on it)
 *   child_release --- 1 byte ->    execvp
 *                 <-- end-of-file  exec worked (the pipe closes on exec)
 *                 <-- errno        exec failed, the child is gone
 *
 * Invariants: a parent that dies closes `hold`, and the held child leaves without having run
 * anything. The child is reaped exactly once, with wait4(2) for its resource usage. `hold` is a
 * socket so that a child that was killed while held gives EPIPE and no SIGPIPE.
 */
#include "kern/kern.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void exec_state_now(struct exec_state *state)
{
	sigprocmask(SIG_SETMASK, NULL, &state->blocked);
	sigemptyset(&state->ignored);
	state->has_files = !getrlimit(RLIMIT_NOFILE, &state->files);
}

/*
 * Puts the state back as pstat found it. exec(2) itself makes each handler the default action; but one of the parent's
 * must not run in the child before.
 */
static void put_back(const struct exec_state *found)
{
	struct sigaction action;

	for (int sig = 1; sig < NSIG; sig++) {
		if (sigaction(sig, NULL, &action) || action.sa_handler == SIG_DFL ||
		    action.sa_handler == SIG_IGN)
			continue;
		action = (struct sigaction){
			.sa_handler = sigismember(&found->ignored, sig) ? SIG_IGN : SIG_DFL,
		};
		sigaction(sig, &action, NULL);
	}
	if (found->has_files)
		setrlimit(RLIMIT_NOFILE, &found->files);
	sigprocmask(SIG_SETMASK, &found->blocked, NULL);
}

static int check_file(const char *file)
{
	struct stat st;

	if (stat(file, &st))
		return errno == ENOTDIR ? -ENOENT : -errno;
	return S_ISREG(st.st_mode) && !access(file, X_OK) ? 0 : -EACCES;
}

/* The first file of this name in PATH that may be executed; else one that may not. */
static int check_path(const char *name, const char *path)
{
	int rc = -ENOENT;

	for (const char *at = path; at && rc; at = *at ? at + 1 : NULL) {
		size_t len = strcspn(at, ":");
		char *file = len ? xasprintf("%.*s/%s", (int)len, at, name) : xstrdup(name);
		int one = access(file, F_OK) ? -ENOENT : check_file(file);

		if (one != -ENOENT)
			rc = one;
		free(file);
		at += len;
	}
	return rc;
}

int command_check(const char *name)
{
	const char *path = getenv("PATH");

	if (strchr(name, '/'))
		return check_file(name);
	/* execvp(3) has a path of its own where there is none. */
	return path ? check_path(name, path) : 0;
}

int command_failed(const char *name, int rc, int *status, struct str *err)
{
	*status = rc == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
	return rc == -ENOENT ? fail(err, rc, "%s: command not found", name) :
			       fail(err, rc, "%s: cannot be executed: %s", name, strerror(-rc));
}

/* execvp(3) also says EACCES for a folder in PATH that may not be searched; a shell does not. */
static int exec_error(const char *name, int code)
{
	const char *path = getenv("PATH");
	bool searched = *name && path && !strchr(name, '/');

	return code == EACCES && searched && check_path(name, path) == -ENOENT ? ENOENT : code;
}

/* False: errno says why. */
static bool take_files(const struct child_files *files)
{
	return (files->in < 0 || dup2(files->in, STDIN_FILENO) >= 0) &&
	       (files->out < 0 || dup2(files->out, STDOUT_FILENO) >= 0) &&
	       (files->err < 0 || dup2(files->err, STDERR_FILENO) >= 0);
}

static void __attribute__((noreturn))
run_child(char *const argv[], const struct exec_state *found, const struct child_files *files, int hold, int exec_fd)
{
	ssize_t n;
	char byte;
	int code;

	put_back(found);
	do {
		n = read(hold, &byte, 1);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(EXIT_PSTAT_FAILED);
	if (!files || take_files(files))
		execvp(argv[0], argv);
	code = exec_error(argv[0], errno);
	/* Nothing can be done here if the parent is gone. */
	_exit(write_all(exec_fd, &code, sizeof(code)) ? EXIT_PSTAT_FAILED : EXIT_NOT_FOUND);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int fork_failed(struct str *err, const char *what)
{
	int code = -errno;

	return fail(err, code, "cannot start the command: %s: %s", what, strerror(-code));
}

int child_fork(struct child *child, char *const argv[], const struct exec_state *found, const struct child_files *files,
	       struct str *err)
{
	int hold[2], exec_fds[2], rc = 0;
	sigset_t all, old;

	*child = (struct child){ .hold_fd = -1, .exec_fd = -1 };
	sigorset(&child->deaf_to, &found->blocked, &found->ignored);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, hold))
		return fork_failed(err, "socketpair");
	if (pipe2(exec_fds, O_CLOEXEC)) {
		rc = fork_failed(err, "pipe");
		goto close_hold;
	}
	/* Signals wait until the child has its own dispositions. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	child->pid = fork();
	if (child->pid == 0) {
		close(hold[1]);
		run_child(argv, found, files, hold[0], exec_fds[1]);
	}
	if (child->pid < 0) {
		rc = fork_failed(err, "fork");
		child->pid = 0;
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(exec_fds[1]);
	if (!rc) {
		child->hold_fd = hold[1];
		child->exec_fd = exec_fds[0];
		close(hold[0]);
		return 0;
	}
	close(exec_fds[0]);
close_hold:
	close(hold[0]);
	close(hold[1]);
	return rc;
}

int child_release(struct child *child)
{
	ssize_t n;
	int code = 0, unsent = 0;

	do {
		n = send(child->hold_fd, "", 1, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	/* EPIPE: it was killed while it was held; child_poll() will tell. */
	if (n < 0 && errno != EPIPE)
		unsent = errno;
	close_fd(&child->hold_fd);
	do {
		n = read(child->exec_fd, &code, sizeof(code));
	} while (n < 0 && errno == EINTR);
	close_fd(&child->exec_fd);
	if (n != (ssize_t)sizeof(code) || code <= 0)
		code = unsent;
	if (code)
		child_wait(child);
	return -code;
}

static bool reap(struct child *child, int options)
{
	pid_t pid;

	if (child->reaped || child->pid <= 0)
		return true;
	do {
		pid = wait4(child->pid, &child->status, options, &child->usage);
	} while (pid < 0 && errno == EINTR);
	if (pid == 0)
		return false;
	/* ECHILD: SIGCHLD is ignored, its status is lost. */
	if (pid < 0)
		child->status = 0;
	child->has_usage = pid > 0;
	child->reaped = true;
	child->pid = 0;
	close_fd(&child->hold_fd);
	close_fd(&child->exec_fd);
	return true;
}

bool child_has_ended(const struct child *child)
{
	siginfo_t info = { 0 };

	return !child->reaped && child->pid > 0 &&
	       !waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid;
}

bool child_poll(struct child *child)
{
	return reap(child, WNOHANG);
}

void child_wait(struct child *child)
{
	reap(child, 0);
}

void child_signal(const struct child *child, int sig)
{
	if (child->pid <= 0)
		return;
	if (sigismember(&child->deaf_to, sig))
		sig = sigismember(&child->deaf_to, SIGTERM) ? SIGKILL : SIGTERM;
	kill(child->pid, sig);
}

void child_end(struct child *child)
{
	if (!child_poll(child)) {
		child_signal(child, child->hold_fd >= 0 ? SIGKILL : SIGTERM);
		/* A stopped process takes no SIGTERM before it goes on. */
		kill(child->pid, SIGCONT);
		child_wait(child);
	}
	close_fd(&child->hold_fd);
	close_fd(&child->exec_fd);
}

int child_exit_status(int status)
{
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}
