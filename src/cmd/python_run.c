/* SPDX-License-Identifier: MIT */
/*
 * python_run: starts python3 with python.py, which runs the script, and two pipes: one that names the script's
 * functions to us, and one that takes their calls to it. How it ends is an exit status.
 */
#include "cmd/python_run.h"

#include "cmd/command.h"
#include "cmd/message.h"
#include "cmd/perf_scripts.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FAR_DESCRIPTOR = 512, NAME_LINE_BYTES = 8192 };

/* ---- the process ---- */

/*
 * Copies a descriptor for the program that is executed: where scripts that close all that they have not opened, from 3
 * up, seldom come to. It stays where it is if so many are not allowed.
 */
static int keep_open(int fd)
{
	int copy = fcntl(fd, F_DUPFD, FAR_DESCRIPTOR);

	if (copy >= 0)
		return copy;
	fcntl(fd, F_SETFD, 0);
	return fd;
}

static void execute(int calls, int names, char *const *script, bool piped)
{
	char program[] = "python3", flag[] = "-c", stop[] = "stop", go_on[] = "go on";
	char calls_text[12], names_text[12], last_line[12];
	char **argv;
	size_t n = 0;

	while (script[n])
		n++;
	argv = xcalloc(n + 8, sizeof(*argv));
	snprintf(calls_text, sizeof(calls_text), "%d", calls);
	snprintf(names_text, sizeof(names_text), "%d", names);
	snprintf(last_line, sizeof(last_line), "%d", getppid());
	argv[0] = program;
	argv[1] = flag;
	argv[2] = (char *)(uintptr_t)python_py;
	argv[3] = calls_text;
	argv[4] = names_text;
	argv[5] = last_line;
	argv[6] = piped ? go_on : stop;
	memcpy(argv + 7, script, n * sizeof(*argv));
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
	execute(keep_open(calls), keep_open(names), script, piped);
	return 0;
}

/* "NUMBER NAME ARGUMENTS": the next function. False: the script has written it. */
static bool add_function(struct python_functions *functions, char *line)
{
	char *end, *name, *n_args;
	unsigned long number = strtoul(line, &end, 10);

	if (!isdigit((unsigned char)*line) || number != functions->n || *end != ' ')
		return false;
	name = end + 1;
	n_args = strchr(name, ' ');
	if (!n_args || n_args == name)
		return false;
	*n_args++ = '\0';
	python_functions_add(functions, name, (int)strtol(n_args, NULL, 10));
	return true;
}

/*
 * Lines of functions, ended by the number of this process, which no script writes by itself. False: the script has
 * ended before that, or its own lines are there.
 */
static bool read_names(struct python_run *run, int fd)
{
	FILE *in = fdopen(fd, "r");
	char line[NAME_LINE_BYTES], last_line[13];
	bool good = in, whole = false;

	snprintf(last_line, sizeof(last_line), "%d\n", getpid());
	while (good && !whole && fgets(line, sizeof(line), in)) {
		whole = !strcmp(line, last_line);
		good = whole || (strchr(line, '\n') && add_function(&run->functions, line));
	}
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
	run->owes_end = true;
	run->stop = signals_catch_first();
	return 0;
}

int python_write(struct python_run *run, struct str *text)
{
	int code = run->stop->count ? -ECANCELED : write_all(run->calls, text->s, text->len);

	run->owes_end = code == -ECANCELED;
	str_reset(text);
	return code;
}

int python_end(struct python_run *run)
{
	int status = 0;

	if (run->pid) {
		if (run->owes_end)
			write_all(run->calls, "N.", 2);
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
	if (WEXITSTATUS(status))
		message_error("script: it ended with status %d", WEXITSTATUS(status));
	return WEXITSTATUS(status);
}
