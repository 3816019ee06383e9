/* SPDX-License-Identifier: MIT */
/*
 * Topology: two sockets with a CPU that is offline, a machine without any of it, and this one.
 */
#include "fake_machine.h"
#include "kern/kern.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct fake_machine machine;

static int setup(void **state)
{
	(void)state;
	fake_machine_init(&machine);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_machine_release(&machine);
	return 0;
}

static void put_cpu(int cpu, const char *file, const char *text)
{
	char *path = xasprintf("sys/devices/system/cpu/cpu%d/topology/%s", cpu, file);

	fake_machine_file(&machine, path, text);
	free(path);
}

static void two_sockets(void **state)
{
	static const struct topology_cpu expected[] = {
		{ 0, 0, 0, 0, 0, 7, 0, -1 }, { 1, 1, 1, 0, 0, -1, 0, -1 }, { 3, 0, -1, 1, 2, -1, 0, -1 },
	};
	struct topology topology;
	struct str err = STR_INIT;

	(void)state;
	fake_machine_file(&machine, "sys/devices/system/cpu/online", "0-1,3\n");
	fake_machine_file(&machine, "sys/devices/system/node/online", "0-2\n");
	fake_machine_file(&machine, "sys/devices/system/node/node0/cpulist", "0-1\n");
	fake_machine_file(&machine, "sys/devices/system/node/node1/cpulist", "\n");
	fake_machine_file(&machine, "sys/devices/system/node/node2/cpulist", "2-3\n");
	put_cpu(0, "core_id", "0\n");
	put_cpu(0, "die_id", "0\n");
	put_cpu(0, "physical_package_id", "0\n");
	put_cpu(0, "cluster_id", "7\n");
	put_cpu(1, "cluster_id", "65535\n");
	put_cpu(1, "core_id", "1\n");
	put_cpu(1, "die_id", "1\n");
	put_cpu(1, "physical_package_id", "0\n");
	put_cpu(3, "core_id", "0\n");
	put_cpu(3, "die_id", "-1\n");
	put_cpu(3, "physical_package_id", "1\n");
	assert_int_equal(topology_read(&topology, &machine.host, &err), 0);
	assert_int_equal(topology.n, ARRAY_SIZE(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		const struct topology_cpu *place = topology_find(&topology, expected[i].cpu);

		assert_non_null(place);
		assert_memory_equal(place, &expected[i], sizeof(*place));
	}
	assert_null(topology_find(&topology, 2));
	assert_null(topology_find(&topology, 4));
	topology_release(&topology);
	assert_int_equal(topology.n, 0);
}

static void unknown_places(void **state)
{
	static const struct topology_cpu expected = { 0, -1, -1, -1, -1, -1, 0, -1 };
	struct topology topology;
	struct str err = STR_INIT;

	(void)state;
	fake_machine_file(&machine, "sys/devices/system/cpu/online", "0\n");
	put_cpu(0, "physical_package_id", "65535\n");
	assert_int_equal(topology_read(&topology, &machine.host, &err), 0);
	assert_memory_equal(topology_find(&topology, 0), &expected, sizeof(expected));
	topology_release(&topology);
}

static void no_sysfs(void **state)
{
	struct topology topology;
	struct str err = STR_INIT;

	(void)state;
	assert_int_equal(topology_read(&topology, &machine.host, &err), -ENOENT);
	assert_non_null(strstr(err.s, "devices/system/cpu/online: No such file"));
	str_release(&err);
	topology_release(&topology);
}

static void put_cache(int cpu, int index, const char *level, const char *cpus)
{
	const char *const files[] = { "level", "shared_cpu_list" }, *const texts[] = { level, cpus };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		char *path = xasprintf("sys/devices/system/cpu/cpu%d/cache/index%d/%s", cpu, index, files[i]);

		fake_machine_file(&machine, path, texts[i]);
		free(path);
	}
}

static void expect_caches(int level, const char *want)
{
	struct topology topology;
	struct str got = STR_INIT, err = STR_INIT;

	assert_int_equal(topology_read(&topology, &machine.host, &err), 0);
	if (topology_read_caches(&topology, level, &machine.host, &err))
		str_add(&got, err.s);
	for (size_t i = 0; i < topology.n && !err.len; i++)
		str_addf(&got, "%sL%d %d", i ? ", " : "", topology.v[i].cache_level, topology.v[i].cache);
	assert_string_equal(got.s, want);
	topology_release(&topology);
	str_release(&got);
	str_release(&err);
}

/* Two big cores with a common L3 and two small ones without: the highest that these have is an L2. */
static void caches(void **state)
{
	(void)state;
	fake_machine_file(&machine, "sys/devices/system/cpu/online", "0-3\n");
	expect_caches(0, "caches: which CPUs share them is not known here");
	for (int cpu = 0; cpu < 4; cpu++) {
		char own[] = { (char)('0' + cpu), '\0' };

		put_cache(cpu, 0, "1\n", own);
		put_cache(cpu, 1, "1\n", "0-3\n"); /* of instructions: a second of this level */
		put_cache(cpu, 2, "2\n", cpu < 2 ? own : "2-3\n");
		if (cpu < 2)
			put_cache(cpu, 3, "3\n", "0-1\n");
	}
	expect_caches(0, "L3 0, L3 0, L2 2, L2 2");
	expect_caches(1, "L1 0, L1 1, L1 2, L1 3");
	expect_caches(2, "L2 0, L2 1, L2 2, L2 2");
	expect_caches(3, "L3 0, L3 0, L0 -1, L0 -1");
	expect_caches(4, "L4: no CPU has a cache of this level");
	put_cache(1, 3, "3\n", "2-3\n"); /* not its own */
	put_cache(0, 3, "3\n", "0-\n");
	expect_caches(0, "L2 0, L2 1, L2 2, L2 2");
}

static void this_machine(void **state)
{
	const struct host_paths here = { "/sys", "/proc", "/sys/kernel/tracing", NULL };
	struct topology topology;
	struct str err = STR_INIT;

	(void)state;
	assert_int_equal(topology_read(&topology, &here, &err), 0);
	assert_int_equal(topology.n, sysconf(_SC_NPROCESSORS_ONLN));
	topology_release(&topology);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(two_sockets, setup, teardown),
		cmocka_unit_test_setup_teardown(unknown_places, setup, teardown),
		cmocka_unit_test_setup_teardown(no_sysfs, setup, teardown),
		cmocka_unit_test_setup_teardown(caches, setup, teardown),
		cmocka_unit_test(this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
