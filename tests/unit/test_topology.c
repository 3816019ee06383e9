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
		{ 0, 0, 0, 0, 0 }, { 1, 1, 1, 0, 0 }, { 3, 0, -1, 1, 2 },
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
	static const struct topology_cpu expected = { 0, -1, -1, -1, -1 };
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

static void this_machine(void **state)
{
	const struct host_paths here = { "/sys", "/proc", "/sys/kernel/tracing" };
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
		cmocka_unit_test(this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
