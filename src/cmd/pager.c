/* SPDX-License-Identifier: MIT */
/*
 * The pager is the shell's `less`, told (by LESS, unless the user has one) to leave at once when the text
 * fits the screen, to let colours through and to chop long lines. The user who leaves it early ends the
 * writing: EPIPE on stdout is then no error.
 */
#include "cmd/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char *pager_command(void)
{
	static const char *const variables[] = { "PSTAT_PAGER", "PAGER" };

	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		const char *command = getenv(variables[i]);

		if (command)
			return command;
	}
	return "less";
}

static int start(struct pager *pager, const char *command, int in)
{
	char shell[] = "/bin/sh", flag[] = "-c";
	char *text = xstrdup(command);
	char *const argv[] = { shell, flag, text, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t dfl;
	int rc;

	sigemptyset(&dfl);
	sigaddset(&dfl, SIGPIPE);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigdefault(&attr, &dfl);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	rc = posix_spawn(&pager->pid, shell, &actions, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	free(text);
	return rc;
}

void pager_open(struct pager *pager, bool wanted)
{
	const char *command = pager_command();
	int ends[2];

	*pager = (struct pager){ .saved_stdout = -1 };
	if (!wanted || !isatty(STDOUT_FILENO) || !*command || !strcmp(command, "cat"))
		return;
	if (pipe2(ends, O_CLOEXEC))
		return;
	setenv("LESS", "FRSX", 0);
	if (start(pager, command, ends[0])) {
		pager->pid = 0;
	} else {
		fflush(stdout);
		pager->saved_stdout = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		dup2(ends[1], STDOUT_FILENO);
		signal(SIGPIPE, SIG_IGN);
	}
	close(ends[0]);
	close(ends[1]);
}

void pager_close(struct pager *pager)
{
	if (!pager->pid)
		return;
	fflush(stdout);
	clearerr(stdout);
	/* The last descriptor of the pipe: the pager sees its end. */
	if (pager->saved_stdout >= 0) {
		dup2(pager->saved_stdout, STDOUT_FILENO);
		close(pager->saved_stdout);
	}
	while (waitpid(pager->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*pager = (struct pager){ .saved_stdout = -1 };
}
