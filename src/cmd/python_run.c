/* SPDX-License-Identifier: MIT */
/*
 * python_run: starts python3 with python.py, which runs the script, and two pipes: one that names the script's
 * functions to us, and one that takes their calls to it. How it ends is an exit status.
 */
#include "cmd/python_run.h"

#include "cmd/command.h"
#include "cmd/message.h"
#include "cmd/perf_scripts.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- the process ---- */

static int spawn(struct python_run *run, int calls, int names, char *const *script)
{
	char program[] = "python3", flag[] = "-c", calls_text[12], names_text[12];
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	char **argv;
	sigset_t dfl;
	size_t n = 0;
	int rc;

	while (script[n])
		n++;
	argv = xcalloc(n + 6, sizeof(*argv));
	snprintf(calls_text, sizeof(calls_text), "%d", calls);
	snprintf(names_text, sizeof(names_text), "%d", names);
	argv[0] = program;
	argv[1] = flag;
	argv[2] = (char *)(uintptr_t)python_py;
	argv[3] = calls_text;
	argv[4] = names_text;
	memcpy(argv + 5, script, n * sizeof(*argv));
	sigemptyset(&dfl);
	sigaddset(&dfl, SIGPIPE);
	posix_spawn_file_actions_init(&actions);
	/* The same number: it stays open in the program that is executed. */
	posix_spawn_file_actions_adddup2(&actions, calls, calls);
	posix_spawn_file_actions_adddup2(&actions, names, names);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigdefault(&attr, &dfl);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	rc = posix_spawnp(&run->pid, program, &actions, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	free(argv);
	return rc;
}

/* "NAME ARGUMENTS" a line, ended by an empty one. False: the script has ended before that. */
static bool read_names(struct python_run *run, int fd)
{
	FILE *in = fdopen(fd, "r");
	char *line = NULL;
	size_t cap = 0;
	bool whole = false;

	while (!whole && in && getline(&line, &cap, in) > 0) {
		char *blank = strchr(line, ' ');

		whole = *line == '\n';
		if (!blank)
			continue;
		*blank = '\0';
		python_functions_add(&run->functions, line, (int)strtol(blank + 1, NULL, 10));
	}
	free(line);
	if (in)
		fclose(in);
	else
		close(fd);
	return whole;
}

int python_start(struct python_run *run, char *const *argv)
{
	int calls[2], names[2], rc;

	if (pipe2(calls, O_CLOEXEC)) {
		message_error("script: %s", strerror(errno));
		return EXIT_PSTAT_FAILED;
	}
	if (pipe2(names, O_CLOEXEC)) {
		message_error("script: %s", strerror(errno));
		close(calls[0]);
		close(calls[1]);
		return EXIT_PSTAT_FAILED;
	}
	perf_scripts_environment();
	signal(SIGPIPE, SIG_IGN); /* a script may end when it has seen enough */
	rc = spawn(run, calls[0], names[1], argv);
	close(calls[0]);
	close(names[1]);
	run->calls = calls[1];
	if (rc) {
		message_error("script: python3: %s", strerror(rc));
		close(names[0]);
		run->pid = 0;
		return EXIT_PSTAT_FAILED;
	}
	fcntl(run->calls, F_SETPIPE_SZ, 1 << 20); /* less is fine, too */
	return read_names(run, names[0]) ? 0 : python_end(run);
}

int python_end(struct python_run *run)
{
	int status = 0;

	if (run->pid) {
		close(run->calls);
		while (waitpid(run->pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	run->pid = 0;
	python_functions_release(&run->functions);
	if (WIFSIGNALED(status)) {
		message_error("script: killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
		return 128 + WTERMSIG(status);
	}
	return WEXITSTATUS(status);
}
