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
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the process ---- */

/* The program that is executed has the descriptor, too. */
static void keep_open(int fd)
{
	fcntl(fd, F_SETFD, 0);
}

static void execute(int calls, int names, char *const *script, bool piped)
{
	char program[] = "python3", flag[] = "-c", calls_text[12], names_text[12], stop[] = "stop", go_on[] = "go on";
	char **argv;
	size_t n = 0;

	while (script[n])
		n++;
	argv = xcalloc(n + 7, sizeof(*argv));
	snprintf(calls_text, sizeof(calls_text), "%d", calls);
	snprintf(names_text, sizeof(names_text), "%d", names);
	argv[0] = program;
	argv[1] = flag;
	argv[2] = (char *)(uintptr_t)python_py;
	argv[3] = calls_text;
	argv[4] = names_text;
	argv[5] = piped ? go_on : stop;
	memcpy(argv + 6, script, n * sizeof(*argv));
	execvp(program, argv);
	message_error("script: %s: %s", program, strerror(errno));
	_exit(EXIT_PSTAT_FAILED);
}

/* A script may never come back from a call: it does not outlive pstat, however that ends. -1 with errno. */
static pid_t start_process(int calls, int names, char *const *script, bool piped)
{
	const pid_t pstat = getpid();
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != pstat)
		_exit(EXIT_PSTAT_FAILED);
	signal(SIGPIPE, SIG_DFL);
	keep_open(calls);
	keep_open(names);
	execute(calls, names, script, piped);
	return 0;
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

int python_start(struct python_run *run, char *const *argv, bool piped)
{
	int calls[2], names[2];

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
	run->pid = start_process(calls[0], names[1], argv, piped);
	close(calls[0]);
	close(names[1]);
	run->calls = calls[1];
	if (run->pid < 0) {
		message_error("script: %s", strerror(errno));
		close(names[0]);
		close(run->calls);
		run->pid = 0;
		return EXIT_PSTAT_FAILED;
	}
	fcntl(run->calls, F_SETPIPE_SZ, 1 << 20); /* less is fine, too */
	if (!read_names(run, names[0]))
		return python_end(run);
	run->stop = signals_catch_first();
	return 0;
}

int python_write(struct python_run *run, struct str *text)
{
	int code = run->stop->count ? -ECANCELED : write_all(run->calls, text->s, text->len);

	str_reset(text);
	return code;
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
