/* SPDX-License-Identifier: MIT */
/*
 * Opening, against a kernel played by the test: which CPUs, tasks and cgroups an event is opened
 * on, and the limit of open files.
 */
#include "open_fixture.h"

/* ---- slots ---- */

static void cpus_of_all_tasks(void **state)
{
	(void)state;
	add("cs", PERF_TYPE_SOFTWARE, 3);
	all_cpus(3);
	options.enable_on_exec = false;
	options.start_disabled = true;
	open_all();
	assert_int_equal(fake.n, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(fake.calls[i].pid, -1);
		assert_int_equal(fake.calls[i].cpu, i);
	}
	assert_int_equal(set.v[0].cpus.n, 3);
	assert_int_equal(set.v[0].n_threads, 1);
}

static void pmu_with_cpumask_counts_whole_cpus(void **state)
{
	(void)state;
	on_cpu(add("uncore/x/", UNCORE_TYPE, 1), 2, false);
	open_all();
	assert_int_equal(fake.n, 1);
	assert_int_equal(fake.calls[0].pid, -1);
	assert_int_equal(fake.calls[0].cpu, 2);
	assert_int_equal(fake.calls[0].attr.enable_on_exec, 0);
	assert_int_equal(fake.calls[0].attr.disabled, 1);
	/* No exec enables it: it is started when all is open. */
	assert_int_equal(fake.n_ioctls, 1);
	assert_int_equal(fake.ioctls[0].request, PERF_EVENT_IOC_ENABLE);
	assert_true(noted("counts all tasks on CPU 2"));
}

static void core_type_follows_the_task(void **state)
{
	(void)state;
	on_cpu(add("cpu_atom/cycles/", 10, 0), 2, true);
	open_all();
	assert_int_equal(fake.calls[0].pid, 100);
	assert_int_equal(fake.calls[0].cpu, -1);
	assert_int_equal(fake.calls[0].attr.enable_on_exec, 1);
}

static void cpus_in_common(void **state)
{
	(void)state;
	on_cpu(add("cpu_atom/cycles/", 10, 0), 2, true);
	on_cpu(add("uncore/x/", UNCORE_TYPE, 1), 3, false);
	all_cpus(3);
	open_all();
	assert_int_equal(fake.n, 1);
	assert_int_equal(fake.calls[0].pid, -1);
	assert_int_equal(fake.calls[0].cpu, 2);
	assert_int_equal(set.v[1].state, COUNTER_NOT_SUPPORTED);
	assert_string_equal(set.v[1].reason, "its unit counts on CPU 3 only");
}

static void cgroup_is_opened_by_its_folder(void **state)
{
	static char name[] = "a b/c";
	char *mounts = xasprintf("none %s/cg\\040v2 cgroup2 rw 0 0\n", machine.root);

	(void)state;
	put("proc/mounts", mounts);
	put("cg v2/a b/c/cgroup.procs", "");
	free(mounts);
	add("cs", PERF_TYPE_SOFTWARE, 3)->cgroup = name;
	all_cpus(2);
	open_all();
	assert_int_equal(fake.n, 2);
	assert_true(fake.calls[0].pid >= 0 && fake.calls[0].pid < FAKE_FD);
	assert_int_equal(fake.calls[1].cpu, 1);
	assert_int_equal(fake.calls[1].flags, PERF_FLAG_FD_CLOEXEC | PERF_FLAG_PID_CGROUP);
}

static void cgroup_v1_hierarchy_wins(void **state)
{
	static char name[] = "x";
	char *mounts = xasprintf("none %s/v2 cgroup2 rw 0 0\nnone %s/cpu cgroup rw,cpu 0 0\n"
				 "none %s/perf cgroup rw,perf_event 0 0\n",
				 machine.root, machine.root, machine.root);

	(void)state;
	put("proc/mounts", mounts);
	put("perf/x/cgroup.procs", "");
	free(mounts);
	add("cs", PERF_TYPE_SOFTWARE, 3)->cgroup = name;
	all_cpus(1);
	open_all();
}

static void unknown_cgroup_is_an_error(void **state)
{
	static char name[] = "no\x1bsuch";
	char *mounts = xasprintf("none %s/v2 cgroup2 rw 0 0\n", machine.root);

	(void)state;
	put("proc/mounts", mounts);
	free(mounts);
	add("cs", PERF_TYPE_SOFTWARE, 3)->cgroup = name;
	all_cpus(1);
	assert_int_equal(do_open(), -ENOENT);
	assert_non_null(strstr(err.s, "there is no folder"));
	assert_null(strchr(err.s, '\x1b'));
	assert_int_equal(fake.n, 0);
}

static void cgroup_needs_cpus(void **state)
{
	static char name[] = "x";

	(void)state;
	add("cs", PERF_TYPE_SOFTWARE, 3)->cgroup = name;
	assert_int_equal(do_open(), -EINVAL);
	assert_non_null(strstr(err.s, "-a or -C"));
}

static int second_thread_is_gone(const struct fake_call *call)
{
	return call->pid == 101 ? -ESRCH : 0;
}

static void thread_that_ended_leaves_its_slot_closed(void **state)
{
	(void)state;
	threads[1] = (struct target_thread){ .tid = 101, .pid = 100 };
	threads[2] = (struct target_thread){ .tid = 102, .pid = 100 };
	target = (struct target){ .kind = TARGET_TASKS, .threads = threads, .n_threads = 3 };
	add("a", PERF_TYPE_SOFTWARE, 1);
	add("b", PERF_TYPE_SOFTWARE, 2);
	group_from(0);
	fake.answer = second_thread_is_gone;
	open_all();
	assert_int_equal(fake.n, 5);
	assert_int_equal(set.v[0].fds[1], -1);
	assert_int_equal(set.v[1].fds[1], -1);
	assert_int_equal(fake_call_of(set.v[1].fds[2])->group_fd, set.v[0].fds[2]);
}

static void target_gone_is_an_error(void **state)
{
	(void)state;
	add("a", PERF_TYPE_SOFTWARE, 1);
	answer_errno = ESRCH;
	fake.answer = always;
	assert_int_equal(do_open(), -ESRCH);
	assert_non_null(strstr(err.s, "the target has ended"));
}

static int cpu_one_is_offline(const struct fake_call *call)
{
	return call->cpu == 1 ? -ENODEV : 0;
}

static void cpu_that_went_offline_leaves_its_slot_closed(void **state)
{
	(void)state;
	add("a", PERF_TYPE_SOFTWARE, 1);
	all_cpus(3);
	fake.answer = cpu_one_is_offline;
	open_all();
	assert_int_equal(set.v[0].fds[1], -1);
	assert_true(set.v[0].fds[2] >= FAKE_FD);
}

/* ---- file limits ---- */

static void limit_is_raised_to_the_need(void **state)
{
	(void)state;
	fake.limit = (struct rlimit){ 10, 4096 };
	for (int i = 0; i < 8; i++)
		add("a", PERF_TYPE_SOFTWARE, 1);
	all_cpus(4);
	open_all();
	assert_int_equal(fake.n_open, 32);
	assert_in_range(fake.limit.rlim_cur, 32, 4096);
}

static void limit_that_is_enough_stays(void **state)
{
	(void)state;
	add("a", PERF_TYPE_SOFTWARE, 1);
	open_all();
	assert_int_equal(fake.limit.rlim_cur, 1024);
}

static void too_few_files_is_an_error_with_both_numbers(void **state)
{
	(void)state;
	fake.limit = (struct rlimit){ 10, 20 };
	for (int i = 0; i < 8; i++)
		add("a", PERF_TYPE_SOFTWARE, 1);
	all_cpus(4);
	assert_int_equal(do_open(), -EMFILE);
	assert_non_null(strstr(err.s, "96 file descriptors are needed, the limit is 20"));
	assert_int_equal(fake.n_open, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(cpus_of_all_tasks), T(pmu_with_cpumask_counts_whole_cpus),
		T(core_type_follows_the_task), T(cpus_in_common),
		T(cgroup_is_opened_by_its_folder), T(cgroup_v1_hierarchy_wins),
		T(unknown_cgroup_is_an_error), T(cgroup_needs_cpus),
		T(thread_that_ended_leaves_its_slot_closed), T(target_gone_is_an_error),
		T(cpu_that_went_offline_leaves_its_slot_closed), T(limit_is_raised_to_the_need),
		T(limit_that_is_enough_stays), T(too_few_files_is_an_error_with_both_numbers),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
