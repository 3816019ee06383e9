/* SPDX-License-Identifier: MIT */
/*
 * The measured command: held until released, exec's errno handed over, reaped with its usage, and
 * gone when its parent is gone. No test waits for a time: a pipe or a wait tells when to look.
 */
#include "kern/kern.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct child child;
static struct exec_state found; /* main() fills it */
static struct str err;

static void start(const char *a, const char *b, const char *c)
{
	char *words[] = { xstrdup(a), b ? xstrdup(b) : NULL, c ? xstrdup(c) : NULL, NULL };

	assert_int_equal(child_fork(&child, words, &found, NULL, &err), 0);
	for (size_t i = 0; i < 3; i++)
		free(words[i]);
}

static void exit_status_is_handed_on(void **state)
{
	(void)state;
	start("sh", "-c", "exit 7");
	assert_true(child.pid > 0);
	assert_false(child_poll(&child));
	assert_int_equal(child_release(&child), 0);
	child_wait(&child);
	assert_true(child.reaped);
	assert_int_equal(child.pid, 0);
	assert_int_equal(child_exit_status(child.status), 7);
	assert_true(child.usage.ru_maxrss > 0);
	assert_true(child_poll(&child));
	child_end(&child);
}

static void signal_becomes_128_and_its_number(void **state)
{
	(void)state;
	start("sh", "-c", "kill -9 $$");
	assert_int_equal(child_release(&child), 0);
	child_wait(&child);
	assert_int_equal(child_exit_status(child.status), 128 + SIGKILL);
}

static void held_command_has_not_run(void **state)
{
	char path[] = "/tmp/pstat-held-XXXXXX", script[64];

	(void)state;
	assert_non_null(mkdtemp(path));
	snprintf(script, sizeof(script), "rmdir %s", path);
	start("sh", "-c", script);
	child_end(&child);
	assert_true(child.reaped);
	assert_int_equal(child_exit_status(child.status), 128 + SIGKILL);
	/* It is still there to be removed. */
	assert_int_equal(rmdir(path), 0);
}

static void exec_errors_come_back(void **state)
{
	char path[] = "/tmp/pstat-file-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	start("/none/such", NULL, NULL);
	assert_int_equal(child_release(&child), -ENOENT);
	assert_true(child.reaped);
	start("pstat-no-such-command", NULL, NULL);
	assert_int_equal(child_release(&child), -ENOENT);
	start("/tmp", NULL, NULL);
	assert_int_equal(child_release(&child), -EACCES);
	start(path, NULL, NULL);
	assert_int_equal(child_release(&child), -EACCES);
	start("", NULL, NULL);
	assert_int_equal(child_release(&child), -ENOENT);
	unlink(path);
}

/* A folder that may not be searched hides nothing; a file in PATH that may not run is found. */
static void path_is_searched_as_a_shell_does(void **state)
{
	char dir[] = "/tmp/pstat-path-XXXXXX", *old = xstrdup(getenv("PATH")), *path, *file;

	(void)state;
	assert_non_null(mkdtemp(dir));
	file = xasprintf("%s/pstat-plain", dir);
	assert_int_equal(close(open(file, O_CREAT | O_WRONLY, 0600)), 0);
	path = xasprintf("/dev/null:%s::/bin", dir);
	setenv("PATH", path, 1);
	start("pstat-plain", NULL, NULL);
	assert_int_equal(child_release(&child), -EACCES);
	start("pstat-no-such-command", NULL, NULL);
	assert_int_equal(child_release(&child), -ENOENT);
	/* As root this says nothing: root may search any folder. */
	unlink(file);
	chmod(dir, 0);
	start("pstat-no-such-command", NULL, NULL);
	assert_int_equal(child_release(&child), -ENOENT);
	start("true", NULL, NULL);
	assert_int_equal(child_release(&child), 0);
	child_wait(&child);
	setenv("PATH", old, 1);
	rmdir(dir);
	free(file);
	free(path);
	free(old);
}

/* A script without #! is run by the shell, as a shell would do it. */
static void script_without_interpreter(void **state)
{
	char path[] = "/tmp/pstat-script-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(write_all(fd, "exit 5\n", 7), 0);
	fchmod(fd, 0700);
	close(fd);
	start(path, NULL, NULL);
	assert_int_equal(child_release(&child), 0);
	child_wait(&child);
	assert_int_equal(child_exit_status(child.status), 5);
	unlink(path);
}

static void killed_while_held(void **state)
{
	(void)state;
	start("true", NULL, NULL);
	kill(child.pid, SIGTERM);
	waitid(P_PID, (id_t)child.pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	assert_int_equal(child_release(&child), 0);
	assert_true(child_poll(&child));
	assert_int_equal(child_exit_status(child.status), 128 + SIGTERM);
}

static void end_terminates_a_stopped_command(void **state)
{
	(void)state;
	start("sleep", "1000", NULL);
	assert_int_equal(child_release(&child), 0);
	kill(child.pid, SIGSTOP);
	child_end(&child);
	assert_int_equal(child_exit_status(child.status), 128 + SIGTERM);
}

static void on_signal(int sig)
{
	(void)sig;
}

static void signals_and_limits_are_as_found(void **state)
{
	struct sigaction handled = { .sa_handler = on_signal }, ignored = { .sa_handler = SIG_IGN };
	struct sigaction old_int, old_usr2, old_hup;
	const struct exec_state before = found;
	sigset_t blocked, old;

	(void)state;
	sigaction(SIGINT, &handled, &old_int);
	sigaction(SIGUSR2, &handled, &old_usr2);
	sigaction(SIGHUP, &ignored, &old_hup);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &blocked, &old);
	sigaddset(&found.ignored, SIGUSR2);
	sigaddset(&found.blocked, SIGALRM);
	found.files.rlim_cur = 55;
	/* Held, it must end by SIGINT, not note it in a handler that is not its own. */
	start("true", NULL, NULL);
	kill(child.pid, SIGINT);
	child_wait(&child);
	assert_int_equal(child_exit_status(child.status), 128 + SIGINT);
	/* What was ignored is, whoever handles it now; what was blocked is, and not what is blocked now. */
	start("sh", "-c", "kill -HUP $$; kill -USR2 $$; kill -ALRM $$; "
			  "[ $(ulimit -Sn) = 55 ] || exit 1; kill -USR1 $$; exit 0");
	assert_int_equal(child_release(&child), 0);
	child_wait(&child);
	assert_int_equal(child_exit_status(child.status), 128 + SIGUSR1);
	found = before;
	sigprocmask(SIG_SETMASK, &old, NULL);
	sigaction(SIGINT, &old_int, NULL);
	sigaction(SIGUSR2, &old_usr2, NULL);
	sigaction(SIGHUP, &old_hup, NULL);
}

/* What it was started to be deaf to is not sent. */
static void a_deaf_command_is_ended(void **state)
{
	const struct exec_state before = found;

	(void)state;
	sigaddset(&found.blocked, SIGINT);
	start("sleep", "1000", NULL);
	assert_int_equal(child_release(&child), 0);
	child_signal(&child, SIGINT);
	child_wait(&child);
	assert_int_equal(child_exit_status(child.status), 128 + SIGTERM);
	child_signal(&child, SIGKILL); /* to nobody */
	sigaddset(&found.blocked, SIGTERM);
	start("sleep", "1000", NULL);
	assert_int_equal(child_release(&child), 0);
	child_end(&child);
	assert_int_equal(child_exit_status(child.status), 128 + SIGKILL);
	found = before;
}

/* As many files as a command has that is started without pstat. */
static void no_descriptor_leaks_into_the_command(void **state)
{
	static const char script[] = "set -- /proc/self/fd/*; exit $#";
	int before = open("/dev/null", O_RDONLY | O_CLOEXEC), after;

	(void)state;
	close(before);
	start("sh", "-c", script);
	assert_int_equal(child_release(&child), 0);
	child_wait(&child);
	assert_int_equal(child_exit_status(child.status), WEXITSTATUS(system(script)));
	after = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(before, after);
	close(after);
}

/* The parent dies without a word: this process inherits the orphan and sees it leave. */
static void orphan_leaves(void **state)
{
	char path[] = "/tmp/pstat-orphan-XXXXXX", script[64];
	int status;
	pid_t parent;

	(void)state;
	assert_non_null(mkdtemp(path));
	snprintf(script, sizeof(script), "rmdir %s", path);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	parent = fork();
	if (!parent) {
		start("sh", "-c", script);
		_exit(0);
	}
	assert_int_equal(waitpid(parent, &status, 0), parent);
	assert_true(waitpid(-1, &status, 0) > 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), EXIT_PSTAT_FAILED);
	assert_int_equal(rmdir(path), 0);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exit_status_is_handed_on),
		cmocka_unit_test(signal_becomes_128_and_its_number),
		cmocka_unit_test(held_command_has_not_run),
		cmocka_unit_test(exec_errors_come_back),
		cmocka_unit_test(path_is_searched_as_a_shell_does),
		cmocka_unit_test(script_without_interpreter),
		cmocka_unit_test(killed_while_held),
		cmocka_unit_test(end_terminates_a_stopped_command),
		cmocka_unit_test(signals_and_limits_are_as_found),
		cmocka_unit_test(a_deaf_command_is_ended),
		cmocka_unit_test(no_descriptor_leaks_into_the_command),
		cmocka_unit_test(orphan_leaves),
	};

	exec_state_now(&found);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
