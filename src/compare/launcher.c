/* SPDX-License-Identifier: MIT */
/*
 * The launcher: a process of its own that starts the commands, so that what is counted of them, and how long they take,
 * is not pstat's. It is forked once, before pstat grows, and starts each command with posix_spawn(3), which copies
 * nothing of it: a command's peak memory begins at what its parent has in memory, and this parent has little.
 *
 *   pstat                          launcher                          command
 *   launcher_run   --- a byte -->  posix_spawn() ----------------->  runs
 *   (reads or waits)               wait4()      <------------------  ends
 *                  <-- a byte ---  reaps what it has left behind
 *
 * What is asked and what came of it lies in a page that both have. A pstat that has gone closes the socket, and the
 * launcher ends after the command that runs.
 *
 * Sources: posix_spawn(3), wait4(2), prctl(2) PR_SET_CHILD_SUBREAPER, setmax_mm_hiwater_rss() in fs/exec.c.
 */
#include "compare/compare.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PADDING "PSTAT_PADDING="

struct launching {
	const struct compare_plan *plan;
	const struct compare_data *data;
	struct launch *launch;
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
};

/* ---- in the launcher ---- */

/* putenv(3) takes the text itself; setenv(3) of the GNU C library keeps a copy of each that there ever was. */
static void set_padding(const struct launching *l)
{
	static char text[sizeof(PADDING) + COMPARE_PADDING_MAX] = PADDING;
	char *value = text + strlen(PADDING);

	if (!l->plan->padding)
		return;
	memset(value, 'x', l->launch->padding);
	value[l->launch->padding] = '\0';
	putenv(text);
}

void compare_exchange_environment(char **assignments)
{
	for (size_t i = 0; assignments && assignments[i]; i++) {
		char *name = xstrndup(assignments[i], strcspn(assignments[i], "=")), *next;
		const char *value = assignments[i][strlen(name)] ? assignments[i] + strlen(name) + 1 : NULL;
		const char *own = getenv(name);

		next = own ? xasprintf("%s=%s", name, own) : xstrdup(name);
		if (value)
			setenv(name, value, 1);
		else
			unsetenv(name);
		free(assignments[i]);
		free(name);
		assignments[i] = next;
	}
}

/* Reaps what earlier commands have left. True: some of it lives. */
static bool has_children(void)
{
	pid_t pid;

	do {
		pid = waitpid(-1, NULL, WNOHANG);
	} while (pid > 0 || (pid < 0 && errno == EINTR));
	return pid == 0;
}

static void run_command(const struct launching *l)
{
	struct launch *launch = l->launch;
	struct rusage own;
	char *const *argv = l->data->commands[launch->command].argv;
	char **assignments = l->plan->environment ? l->plan->environment[launch->command] : NULL;
	uint64_t began;
	pid_t pid, ended;

	compare_exchange_environment(assignments);
	set_padding(l);
	began = now_ns();
	launch->rc = -posix_spawnp(&pid, argv[0], &l->files, &l->attr, argv, environ);
	if (!launch->rc) {
		launch->pid = pid;
		launch->status = 0;
		do {
			ended = wait4(pid, &launch->status, 0, &launch->usage);
		} while (ended < 0 && errno == EINTR);
		launch->wall_ns = now_ns() - began;
		launch->has_usage = ended == pid;
		launch->pid = 0;
	}
	if (l->plan->padding)
		unsetenv("PSTAT_PADDING");
	compare_exchange_environment(assignments);
	launch->left_children = has_children();
	getrusage(RUSAGE_SELF, &own);
	launch->floor_bytes = (uint64_t)own.ru_maxrss * 1024;
}

/* The launcher lives through all signals that pstat handles; commands have them as pstat was given them. */
static void arrange_signals(struct launching *l)
{
	const struct exec_state *found = l->plan->found;
	struct sigaction action;
	sigset_t defaults;

	sigemptyset(&defaults);
	for (int sig = 1; sig < NSIG; sig++) {
		if (sigaction(sig, NULL, &action) || action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)
			continue;
		signal(sig, SIG_IGN);
		if (!sigismember(&found->ignored, sig))
			sigaddset(&defaults, sig);
	}
	posix_spawnattr_init(&l->attr);
	posix_spawnattr_setsigdefault(&l->attr, &defaults);
	posix_spawnattr_setsigmask(&l->attr, &found->blocked);
	posix_spawnattr_setflags(&l->attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
}

static void arrange_files(struct launching *l, const struct child_files *files)
{
	const int fds[] = { files->in, files->out, files->err };

	posix_spawn_file_actions_init(&l->files);
	for (int i = 0; i < (int)ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			posix_spawn_file_actions_adddup2(&l->files, fds[i], i);
	if (l->plan->found->has_files)
		setrlimit(RLIMIT_NOFILE, &l->plan->found->files);
}

static void __attribute__((noreturn))
launch_all(const struct compare_plan *plan, const struct compare_data *data, const struct child_files *files,
	   struct launch *launch, int fd)
{
	struct launching l = { .plan = plan, .data = data, .launch = launch };
	char byte;
	ssize_t n;

	arrange_signals(&l);
	arrange_files(&l, files);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1L);
	for (;;) {
		n = read(fd, &byte, 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n != 1)
			_exit(0);
		run_command(&l);
		(void)send(fd, "", 1, MSG_NOSIGNAL);
	}
}

/* ---- in pstat ---- */

int launcher_start(struct launcher *launcher, const struct compare_plan *plan, const struct compare_data *data,
		   const struct child_files *files, struct str *err)
{
	int fds[2];
	void *page;

	*launcher = (struct launcher){ .fd = -1 };
	page = mmap(NULL, sizeof(*launcher->launch), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return fail(err, -errno, "cannot start commands: mmap: %s", strerror(errno));
	launcher->launch = page;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return fail(err, -errno, "cannot start commands: socketpair: %s", strerror(errno));
	launcher->pid = fork();
	if (!launcher->pid) {
		close(fds[0]);
		launch_all(plan, data, files, launcher->launch, fds[1]);
	}
	close(fds[1]);
	launcher->fd = fds[0];
	return launcher->pid < 0 ? fail(err, -errno, "cannot start commands: fork: %s", strerror(errno)) : 0;
}

int launcher_run(const struct launcher *launcher, size_t command, unsigned padding, void (*interrupted)(void *data),
		 void *data, struct str *err)
{
	struct launch *launch = launcher->launch;
	char byte;
	ssize_t n;

	launch->command = command;
	launch->padding = padding;
	n = send(launcher->fd, "", 1, MSG_NOSIGNAL);
	while (n == 1) {
		n = read(launcher->fd, &byte, 1);
		if (n == 1)
			return 0;
		if (n < 0 && errno == EINTR) {
			interrupted(data);
			n = 1;
		}
	}
	return fail(err, -EPIPE, "the process that starts the commands has ended");
}

void launcher_end(struct launcher *launcher)
{
	if (launcher->fd >= 0)
		close(launcher->fd);
	if (launcher->pid > 0)
		while (waitpid(launcher->pid, NULL, 0) < 0 && errno == EINTR)
			;
	if (launcher->launch)
		munmap(launcher->launch, sizeof(*launcher->launch));
}
