/* SPDX-License-Identifier: MIT */
/*
 * Actions before and after each run of the command: --pre, --sync and --post, and its standard input, which each run is
 * to find as the first did. A file is put back to where it was. A pipe cannot be: what the first run has read
 * is gone. That is left to whoever repeats a command, as perf has it; but passes are parts of one measurement, and a
 * warm-up is no part of it.
 */
#include "stat/run.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int refuse_pipe(struct run *run)
{
	struct stat st;

	if (fstat(STDIN_FILENO, &st) || !(S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
		return 0;
	run->failed_status = EXIT_BAD_USAGE;
	return fail(run->err, -EINVAL,
		    "%s: standard input is a %s: only the first run would find data in it\n"
		    "give the command a file, or </dev/null", run->plan->passes ? "--passes" : "--warm-up",
		    S_ISFIFO(st.st_mode) ? "pipe" : "socket");
}

int hooks_begin(struct run *run)
{
	run->input_at = run->plan->argv ? lseek(STDIN_FILENO, 0, SEEK_CUR) : -1;
	return run->n_passes > 1 || run->plan->warm_up ? refuse_pipe(run) : 0;
}

int stat_shell(const char *command, const char *option, const struct exec_state *found, struct str *err)
{
	char *words[] = { (char[]){ "/bin/sh" }, (char[]){ "-c" }, NULL, NULL };
	struct child child;
	int rc;

	if (!command)
		return 0;
	words[2] = xstrdup(command);
	rc = child_fork(&child, words, found, NULL, err);
	free(words[2]);
	if (rc)
		return rc;
	rc = child_release(&child);
	if (rc)
		return fail(err, rc, "%s: cannot run '%s': %s", option, command, strerror(-rc));
	child_wait(&child);
	if (WIFSIGNALED(child.status))
		return fail(err, -ECANCELED, "%s: '%s' was ended by signal %d", option, command,
			    WTERMSIG(child.status));
	if (child.status)
		return fail(err, -ECANCELED, "%s: '%s' ended with status %d", option, command,
			    WEXITSTATUS(child.status));
	return 0;
}

int hooks_before(struct run *run)
{
	int rc = stat_shell(run->plan->pre, "--pre", run->plan->found, run->err);

	if (rc)
		return rc;
	if (run->plan->sync)
		sync();
	if (run->input_at >= 0)
		(void)lseek(STDIN_FILENO, run->input_at, SEEK_SET);
	return 0;
}

int hooks_after(struct run *run)
{
	return stat_shell(run->plan->post, "--post", run->plan->found, run->err);
}
