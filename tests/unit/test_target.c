/* SPDX-License-Identifier: MIT */
/*
 * Targets: lists of tasks and CPUs against a machine of files, and against this one.
 */
#include "fake_machine.h"
#include "kern/kern.h"

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cmocka.h>

static struct fake_machine machine;
static struct kern kern;
static struct target target;
static struct str err;

static void put_task(int pid, int tid, const char *comm, char state_letter)
{
	char path[64], text[64];

	snprintf(path, sizeof(path), "proc/%d/task/%d/stat", pid, tid);
	snprintf(text, sizeof(text), "%d (a) b) %c 1", tid, state_letter);
	fake_machine_file(&machine, path, text);
	snprintf(path, sizeof(path), "proc/%d/stat", tid);
	fake_machine_file(&machine, path, text);
	snprintf(path, sizeof(path), "proc/%d/comm", tid);
	snprintf(text, sizeof(text), "%s\n", comm);
	fake_machine_file(&machine, path, text);
	snprintf(path, sizeof(path), "proc/%d/status", tid);
	snprintf(text, sizeof(text), "Name:\t%s\nTgid:\t%d\n", comm, pid);
	fake_machine_file(&machine, path, text);
}

/* Tasks that start while procfs is walked: at the end of a folder, when it is too late to be seen in it. */
static struct {
	int left;
	int process; /* it starts them as threads; 0: they are processes */
	int next;
	int ends; /* a process that has ended by then */
} starts;

static void end_process(int pid)
{
	char *from = xasprintf("%s/%d", machine.procfs, pid);
	char *to = xasprintf("%s/ended", machine.procfs);

	if (pid)
		assert_int_equal(rename(from, to), 0);
	free(from);
	free(to);
}

/* In place of the C library's, for the functions under test, too. */
struct dirent *readdir(DIR *dir)
{
	struct dirent *(*real)(DIR *dir);
	struct dirent *entry;

	*(void **)&real = dlsym(RTLD_NEXT, "readdir");
	entry = real(dir);
	if (!entry && starts.left > 0) {
		starts.left--;
		put_task(starts.process ? starts.process : starts.next, starts.next, "late", 'R');
		starts.next++;
		end_process(starts.ends);
	}
	return entry;
}

static int setup(void **state)
{
	(void)state;
	fake_machine_init(&machine);
	kern = (struct kern){ &sys_linux, machine.host };
	fake_machine_file(&machine, "sys/devices/system/cpu/online", "0-1,4\n");
	put_task(10, 10, "main", 'S');
	put_task(10, 11, "a longer name than 15", 'R');
	put_task(20, 20, "other ", 'S');
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	memset(&starts, 0, sizeof(starts));
	target_release(&target);
	str_release(&err);
	fake_machine_release(&machine);
	return 0;
}

static int resolve(struct target_spec words)
{
	target_release(&target);
	str_release(&err);
	return target_resolve(&target, &words, &kern, &err);
}

static bool has_thread(pid_t tid, pid_t pid, const char *comm)
{
	for (size_t i = 0; i < target.n_threads; i++) {
		if (target.threads[i].tid == tid && target.threads[i].pid == pid &&
		    !strcmp(target.threads[i].comm, comm))
			return true;
	}
	return false;
}

static void processes_bring_all_their_threads(void **state)
{
	(void)state;
	assert_int_equal(resolve((struct target_spec){ .pids = "20,10,20" }), 0);
	assert_int_equal(target.kind, TARGET_TASKS);
	assert_int_equal(target.n_threads, 3);
	assert_true(has_thread(10, 10, "main"));
	assert_true(has_thread(11, 10, "a longer name t"));
	assert_true(has_thread(20, 20, "other "));
	assert_int_equal(target.pids.n, 2);
	assert_int_equal(target.cpus.n, 0);
}

/* perf takes one look. */
static void threads_that_start_while_listed(void **state)
{
	(void)state;
	starts = (typeof(starts)){ .left = 3, .process = 10, .next = 100 };
	assert_int_equal(resolve((struct target_spec){ .pids = "10" }), 0);
	assert_int_equal(target.n_threads, 2 + 3);
	for (pid_t tid = 100; tid < 103; tid++)
		assert_true(has_thread(tid, 10, "late"));
	/* A program that never stops to start them is recorded all the same. */
	starts = (typeof(starts)){ .left = INT_MAX, .process = 10, .next = 200 };
	assert_int_equal(resolve((struct target_spec){ .pids = "10" }), 0);
	assert_in_range(target.n_threads, 5 + 3, 5 + 100);
}

static void processes_that_start_while_listed(void **state)
{
	char user[16];

	(void)state;
	snprintf(user, sizeof(user), "%u", (unsigned)geteuid());
	starts = (typeof(starts)){ .left = 3, .next = 100 };
	assert_int_equal(resolve((struct target_spec){ .user = user }), 0);
	assert_int_equal(target.n_threads, 3 + 3);
	assert_true(has_thread(102, 102, "late"));
	assert_true(intset_has(&target.pids, 102));
	starts = (typeof(starts)){ .left = 3, .next = 200 };
	assert_int_equal(resolve((struct target_spec){ .all_cpus = true, .per_thread = true }), 0);
	assert_int_equal(target.n_threads, 6 + 3);
	assert_true(has_thread(202, 202, "late"));
}

/* Between two looks: that is no error, and what was seen of it stays. */
static void process_that_ends_between_looks(void **state)
{
	(void)state;
	starts = (typeof(starts)){ .left = 1, .process = 20, .next = 100, .ends = 10 };
	assert_int_equal(resolve((struct target_spec){ .pids = "10,20" }), 0);
	assert_int_equal(target.n_threads, 4);
	assert_true(has_thread(11, 10, "a longer name t"));
}

static void threads_come_alone(void **state)
{
	(void)state;
	assert_int_equal(resolve((struct target_spec){ .tids = "11" }), 0);
	assert_int_equal(target.n_threads, 1);
	assert_true(has_thread(11, 10, "a longer name t"));
}

static void command_is_one_task(void **state)
{
	(void)state;
	assert_int_equal(resolve((struct target_spec){ .command = 4711 }), 0);
	assert_int_equal(target.kind, TARGET_COMMAND);
	assert_true(has_thread(4711, 4711, ""));
	/* With -p the command only says how long. */
	assert_int_equal(resolve((struct target_spec){ .command = 4711, .pids = "20" }), 0);
	assert_int_equal(target.kind, TARGET_TASKS);
	assert_true(has_thread(20, 20, "other "));
}

static void cpus_are_checked_against_the_machine(void **state)
{
	struct str cpus = STR_INIT;

	(void)state;
	assert_int_equal(resolve((struct target_spec){ .all_cpus = true }), 0);
	assert_int_equal(target.kind, TARGET_CPUS);
	assert_true(has_thread(-1, -1, ""));
	intset_format(&target.cpus, &cpus);
	assert_string_equal(cpus.s, "0-1,4");
	assert_int_equal(resolve((struct target_spec){ .cpus = "4,0", .all_cpus = true }), 0);
	str_reset(&cpus);
	intset_format(&target.cpus, &cpus);
	assert_string_equal(cpus.s, "0,4");
	str_release(&cpus);
	assert_int_equal(resolve((struct target_spec){ .cpus = "0-2" }), -ENODEV);
	assert_string_equal(err.s, "CPU list '0-2': CPU 2 is not online; online: 0-1,4");
}

/* Containers may hide /sys: /proc/stat has a line for each CPU that is online. */
static void cpus_where_sysfs_is_hidden(void **state)
{
	struct str cpus = STR_INIT;
	char *path = xasprintf("%s/devices/system/cpu/online", machine.sysfs);

	(void)state;
	assert_int_equal(remove(path), 0);
	assert_int_equal(resolve((struct target_spec){ .all_cpus = true }), -ENOENT);
	assert_non_null(strstr(err.s, "devices/system/cpu/online: No such file"));
	assert_non_null(strstr(err.s, "/stat names no CPU either"));
	fake_machine_file(&machine, "proc/stat", "cpu  9 9 9\nintr 1 2 3\n");
	assert_int_equal(resolve((struct target_spec){ .all_cpus = true }), -ENOENT);
	fake_machine_file(&machine, "proc/stat", "cpu  9 9 9\ncpu0 1 1 1\ncpu2 1 1\ncpu11 1 1\n"
						 "cpux 1\ncpu99999999 1\nintr 1 2 3\n");
	assert_int_equal(resolve((struct target_spec){ .all_cpus = true }), 0);
	intset_format(&target.cpus, &cpus);
	assert_string_equal(cpus.s, "0,2,11");
	assert_int_equal(resolve((struct target_spec){ .cpus = "1" }), -ENODEV);
	fake_machine_file(&machine, "sys/devices/system/cpu/online", "");
	assert_int_equal(resolve((struct target_spec){ .all_cpus = true }), 0);
	assert_int_equal(target.cpus.n, 3);
	str_release(&cpus);
	free(path);
}

static void all_threads_of_the_system(void **state)
{
	(void)state;
	fake_machine_file(&machine, "proc/self/task/1/stat", "");
	assert_int_equal(resolve((struct target_spec){ .all_cpus = true, .per_thread = true }), 0);
	assert_int_equal(target.kind, TARGET_CPUS);
	assert_int_equal(target.cpus.n, 0);
	/* proc/11 is a thread's folder, which only a fake procfs lists: it has no task folder. */
	assert_int_equal(target.n_threads, 3);
	assert_true(has_thread(11, 10, "a longer name t"));
}

static void wrong_words_are_refused(void **state)
{
	static const struct {
		struct target_spec words;
		int rc;
		const char *text;
	} cases[] = {
		{ { .pids = "10", .tids = "11" }, -EINVAL, "processes or threads, not both" },
		{ { .pids = "10", .all_cpus = true }, -EINVAL, "tasks or CPUs" },
		{ { .tids = "10", .cpus = "0" }, -EINVAL, "tasks or CPUs" },
		{ { .cpus = "0", .per_thread = true }, -EINVAL, "--per-thread with -C" },
		{ { .command = 0 }, -EINVAL, "nothing to measure" },
		{ { .pids = "" }, -EINVAL, "'' is not a process id" },
		{ { .pids = "10," }, -EINVAL, "'' is not a process id" },
		{ { .pids = "1-3" }, -EINVAL, "'1-3' is not a process id" },
		{ { .tids = "x\x1b" }, -EINVAL, "'x\\x1b' is not a thread id" },
		{ { .tids = "0" }, -EINVAL, "'0' is not a thread id" },
		{ { .pids = "99999999999" }, -EINVAL, "is not a process id" },
		{ { .pids = "10,77" }, -ESRCH, "process 77: there is none with this id" },
		{ { .tids = "77" }, -ESRCH, "thread 77: there is none with this id" },
		{ { .cpus = "x" }, -EINVAL, "'x'" },
		{ { .cpus = "3-1" }, -EINVAL, "'3-1'" },
		{ { .cpus = "" }, -EINVAL, "CPU list" },
		{ { .cpus = "0-4000000000" }, -EINVAL, "out of range" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(resolve(cases[i].words), cases[i].rc);
		if (!strstr(err.s, cases[i].text))
			fail_msg("'%s' is not in '%s'", cases[i].text, err.s);
		assert_null(strchr(err.s, '\x1b'));
	}
}

static void process_that_ends_while_listed(void **state)
{
	(void)state;
	/* Its folder is there, its threads are gone already. */
	fake_machine_file(&machine, "proc/30/task/none", "");
	assert_int_equal(resolve((struct target_spec){ .pids = "10,30" }), 0);
	assert_int_equal(target.n_threads, 2);
	assert_int_equal(resolve((struct target_spec){ .pids = "30" }), -ESRCH);
	assert_non_null(strstr(err.s, "it has ended"));
}

static void alive_until_the_last_task_ended(void **state)
{
	(void)state;
	assert_int_equal(resolve((struct target_spec){ .pids = "10" }), 0);
	assert_true(target_alive(&target));
	put_task(10, 10, "main", 'Z');
	assert_true(target_alive(&target));
	put_task(10, 11, "x", 'X');
	assert_false(target_alive(&target));
	/* A thread started since then belongs to the process, not to a list of threads. */
	put_task(10, 12, "new", 'R');
	assert_true(target_alive(&target));
	assert_int_equal(resolve((struct target_spec){ .tids = "10" }), 0);
	assert_false(target_alive(&target));
}

static void this_process(void **state)
{
	struct kern here = { &sys_linux, { "/sys", "/proc", "/sys/kernel/tracing", NULL } };
	struct target_spec words = { 0 };
	char self[16];
	pid_t child;

	(void)state;
	snprintf(self, sizeof(self), "%d", (int)getpid());
	words.pids = self;
	assert_int_equal(target_resolve(&target, &words, &here, &err), 0);
	assert_true(has_thread(getpid(), getpid(), target.threads[0].comm));
	assert_true(target.threads[0].comm[0]);
	assert_true(target_alive(&target));
	target_release(&target);

	child = fork();
	if (!child) {
		pause();
		_exit(0);
	}
	snprintf(self, sizeof(self), "%d", (int)child);
	assert_int_equal(target_resolve(&target, &words, &here, &err), 0);
	assert_true(target_alive(&target));
	kill(child, SIGKILL);
	/* Ended but not reaped: a zombie is not alive. */
	assert_int_equal(waitid(P_PID, (id_t)child, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	assert_false(target_alive(&target));
	waitpid(child, NULL, 0);
	assert_false(target_alive(&target));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(processes_bring_all_their_threads), T(threads_that_start_while_listed),
		T(processes_that_start_while_listed), T(process_that_ends_between_looks),
		T(threads_come_alone), T(command_is_one_task),
		T(cpus_are_checked_against_the_machine), T(cpus_where_sysfs_is_hidden), T(all_threads_of_the_system),
		T(wrong_words_are_refused), T(process_that_ends_while_listed),
		T(alive_until_the_last_task_ended), T(this_process),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
