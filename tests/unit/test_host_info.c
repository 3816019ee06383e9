/* SPDX-License-Identifier: MIT */
/*
 * The header's features from a machine of files: two sockets, a CPU that is offline, two nodes. Shown as
 * the header prints them, so that the text is what a user would see.
 */
#include "fake_machine.h"
#include "record/record.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct fake_machine machine;
static struct kern kern;
static struct event_list events;
static struct info info;
static struct str out = STR_INIT;

static int setup(void **state)
{
	(void)state;
	fake_machine_init(&machine);
	kern = (struct kern){ &sys_linux, machine.host };
	event_list_init(&events);
	info_init(&info);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	event_list_release(&events);
	info_release(&info);
	str_release(&out);
	fake_machine_release(&machine);
	return 0;
}

static void put(const char *text, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void put(const char *text, const char *fmt, ...)
{
	struct str path = STR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&path, fmt, ap);
	va_end(ap);
	fake_machine_file(&machine, path.s, text);
	str_release(&path);
}

static void collect(void)
{
	char program[] = "pstat", record[] = "record", empty[] = "";
	char *argv[] = { program, record, empty, NULL };

	info_release(&info);
	info_init(&info);
	host_info_collect(&info, &events, 3, argv, &kern);
}

/* The header's lines of one feature; "" where it is missing. */
static const char *shown(unsigned feature)
{
	struct events none;

	events_init(&none);
	str_reset(&out);
	if (info_has(&info, feature))
		feature_print(feature, &info, &none, true, &out);
	return out.s;
}

static void put_cpu(int cpu, const char *core, const char *die, const char *socket)
{
	put(core, "sys/devices/system/cpu/cpu%d/topology/core_id", cpu);
	put(die, "sys/devices/system/cpu/cpu%d/topology/die_id", cpu);
	put(socket, "sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
}

static void put_siblings(int cpu, const char *package, const char *die, const char *core)
{
	put(package, "sys/devices/system/cpu/cpu%d/topology/package_cpus_list", cpu);
	put(die, "sys/devices/system/cpu/cpu%d/topology/die_cpus_list", cpu);
	put(core, "sys/devices/system/cpu/cpu%d/topology/core_cpus_list", cpu);
}

static void test_topology(void **state)
{
	(void)state;
	put("0-2,4\n", "sys/devices/system/cpu/online");
	put("0-4\n", "sys/devices/system/cpu/present");
	put_cpu(0, "0\n", "0\n", "0\n");
	put_cpu(1, "0\n", "0\n", "0\n");
	put_cpu(2, "5\n", "0\n", "1\n");
	put_cpu(4, "6\n", "1\n", "1\n");
	put_siblings(0, "0-1\n", "0-1\n", "0-1\n");
	put_siblings(1, "0-1\n", "0-1\n", "0-1\n");
	put_siblings(2, "2,4\n", "2\n", "2\n");
	put_siblings(4, "2,4\n", "4\n", "4\n");
	collect();
	assert_string_equal(shown(FEATURE_NRCPUS), "# nrcpus online : 4\n# nrcpus avail : 5\n");
	assert_string_equal(shown(FEATURE_CPU_TOPOLOGY),
		"# sibling sockets : 0-1\n# sibling sockets : 2,4\n"
		"# sibling dies    : 0-1\n# sibling dies    : 2\n# sibling dies    : 4\n"
		"# sibling threads : 0-1\n# sibling threads : 2\n# sibling threads : 4\n"
		"# CPU 0: Core ID 0, Die ID 0, Socket ID 0\n"
		"# CPU 1: Core ID 0, Die ID 0, Socket ID 0\n"
		"# CPU 2: Core ID 5, Die ID 0, Socket ID 1\n"
		"# CPU 3: Core ID -1, Die ID -1, Socket ID -1\n"
		"# CPU 4: Core ID 6, Die ID 1, Socket ID 1\n");
}

/* Names of older kernels, and no dies. */
static void test_old_topology(void **state)
{
	(void)state;
	put("0\n", "sys/devices/system/cpu/online");
	put("0\n", "sys/devices/system/cpu/cpu0/topology/core_id");
	put("0\n", "sys/devices/system/cpu/cpu0/topology/physical_package_id");
	put("0\n", "sys/devices/system/cpu/cpu0/topology/core_siblings_list");
	put("0\n", "sys/devices/system/cpu/cpu0/topology/thread_siblings_list");
	collect();
	assert_string_equal(shown(FEATURE_CPU_TOPOLOGY),
			    "# sibling sockets : 0\n# sibling threads : 0\n"
			    "# CPU 0: Core ID 0, Socket ID 0\n");
}

static void test_nodes_and_memory(void **state)
{
	(void)state;
	put("0,2\n", "sys/devices/system/node/online");
	put("Node 0 MemTotal:       4286676 kB\nNode 0 MemFree:        3681600 kB\n",
	    "sys/devices/system/node/node0/meminfo");
	put("0-1\n", "sys/devices/system/node/node0/cpulist");
	put("Node 2 MemTotal:  7 kB\n", "sys/devices/system/node/node2/meminfo");
	put("\n", "sys/devices/system/node/node2/cpulist");
	put("8000000\n", "sys/devices/system/memory/block_size_bytes");
	for (int block = 0; block < 70; block++) {
		if (block != 30)
			put("", "sys/devices/system/node/node0/memory%d/x", block);
	}
	put("", "sys/devices/system/node/node0/memory_failure/x");
	put("", "sys/devices/system/node/node0/memory99999999/x");
	collect();
	assert_string_equal(shown(FEATURE_NUMA_TOPOLOGY),
		"# node0 meminfo  : total = 4286676 kB, free = 3681600 kB\n# node0 cpu list : 0-1\n"
		"# node2 meminfo  : total = 7 kB, free = 0 kB\n# node2 cpu list : \n");
	assert_string_equal(shown(FEATURE_MEM_TOPOLOGY),
		"# memory nodes (nr 1, block size 0x8000000):\n#    0 [8G]: 0-29,31-69\n");
	assert_int_equal(info.mem_nodes.v[0].n_blocks, 70);
}

static void put_cache(int cpu, int index, const char *level, const char *type, const char *cpus)
{
	static const struct {
		const char *file, *text;
	} more[] = { { "coherency_line_size", "64\n" }, { "number_of_sets", "64\n" },
		     { "ways_of_associativity", "8\n" }, { "size", "32K\n" } };

	put(level, "sys/devices/system/cpu/cpu%d/cache/index%d/level", cpu, index);
	put(type, "sys/devices/system/cpu/cpu%d/cache/index%d/type", cpu, index);
	put(cpus, "sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, index);
	for (size_t i = 0; i < ARRAY_SIZE(more); i++)
		put(more[i].text, "sys/devices/system/cpu/cpu%d/cache/index%d/%s", cpu, index,
		    more[i].file);
}

static void test_caches(void **state)
{
	(void)state;
	put("0-1\n", "sys/devices/system/cpu/online");
	for (int cpu = 0; cpu < 2; cpu++) {
		put_cache(cpu, 0, "1\n", "Data\n", cpu ? "1\n" : "0\n");
		put_cache(cpu, 1, "2\n", "Unified\n", "0-1\n");
	}
	collect();
	assert_string_equal(shown(FEATURE_CACHE),
		"# CPU cache info:\n"
		"#  L1 Data                 32K [0]\n"
		"#  L1 Data                 32K [1]\n"
		"#  L2 Unified              32K [0-1]\n");
	assert_int_equal(info.caches.v[0].line_bytes, 64);
	assert_int_equal(info.caches.v[0].sets, 64);
	assert_int_equal(info.caches.v[0].ways, 8);
}

static void test_texts(void **state)
{
	(void)state;
	put("processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 142\n"
	    "model name\t: Intel(R)   Core(TM) i5  CPU\nstepping\t: 10\n\n", "proc/cpuinfo");
	put("MemTotal:       24684092 kB\nMemFree: 1 kB\n", "proc/meminfo");
	collect();
	assert_string_equal(shown(FEATURE_CPUDESC), "# cpudesc : Intel(R) Core(TM) i5 CPU\n");
	assert_string_equal(shown(FEATURE_CPUID), "# cpuid : GenuineIntel,6,142,10\n");
	assert_string_equal(shown(FEATURE_TOTAL_MEM), "# total memory : 24684092 kB\n");
	assert_string_equal(info.version, "pstat " PSTAT_VERSION);
	assert_int_equal(info.cmdline.n, 3);
	assert_int_equal(info.cmdline.v[0][0], '/');
	assert_string_equal(info.cmdline.v[1], "record");
	assert_string_equal(info.cmdline.v[2], "");
	assert_true(info_has(&info, FEATURE_HOSTNAME) && info_has(&info, FEATURE_OSRELEASE) &&
		    info_has(&info, FEATURE_ARCH));
	/* arm64 */
	put("processor\t: 0\nCPU implementer\t: 0x41\n", "proc/cpuinfo");
	put("0x00000000410fd070\n", "sys/devices/system/cpu/cpu0/regs/identification/midr_el1");
	collect();
	assert_string_equal(shown(FEATURE_CPUDESC), "");
	assert_string_equal(shown(FEATURE_CPUID), "# cpuid : 0x00000000410fd070\n");
}

static void test_pmus(void **state)
{
	(void)state;
	fake_machine_pmu(&machine, "software", "type", "1\n");
	fake_machine_pmu(&machine, "cpu", "type", "4\n");
	fake_machine_pmu(&machine, "cpu", "caps/max_precise", "3\n");
	fake_machine_pmu(&machine, "cpu", "caps/branches", "32\n");
	fake_machine_pmu(&machine, "intel_pt", "type", "8\n");
	fake_machine_pmu(&machine, "intel_pt", "caps/mtc", "1\n");
	collect();
	assert_string_equal(shown(FEATURE_PMU_MAPPINGS), "# pmu mappings: cpu = 4, intel_pt = 8, "
							 "software = 1\n");
	assert_string_equal(shown(FEATURE_CPU_PMU_CAPS),
			    "# cpu pmu capabilities: branches=32, max_precise=3\n");
	assert_string_equal(shown(FEATURE_PMU_CAPS), "# intel_pt pmu capabilities: mtc=1\n");
	assert_string_equal(shown(FEATURE_HYBRID_TOPOLOGY), "");
}

static void test_hybrid(void **state)
{
	(void)state;
	fake_machine_pmu(&machine, "cpu_core", "type", "4\n");
	fake_machine_pmu(&machine, "cpu_core", "cpus", "0-3\n");
	fake_machine_pmu(&machine, "cpu_atom", "type", "10\n");
	fake_machine_pmu(&machine, "cpu_atom", "cpus", "4-7\n");
	collect();
	assert_string_equal(shown(FEATURE_HYBRID_TOPOLOGY),
			    "# hybrid cpu system:\n# cpu_atom cpu list : 4-7\n"
			    "# cpu_core cpu list : 0-3\n");
}

static void test_events(void **state)
{
	struct str err = STR_INIT;

	(void)state;
	collect();
	assert_false(info_has(&info, FEATURE_EVENT_DESC));
	assert_int_equal(event_list_parse(&events, "cpu-clock,page-faults", &kern.host, &err), 0);
	collect();
	assert_true(info_has(&info, FEATURE_EVENT_DESC));
	assert_false(info_has(&info, FEATURE_GROUP_DESC));
	assert_false(info_has(&info, FEATURE_BRANCH_STACK));
	assert_int_equal(event_list_parse(&events, "{cpu-clock,page-faults}", &kern.host, &err), 0);
	events.v[1].attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	collect();
	assert_true(info_has(&info, FEATURE_GROUP_DESC));
	assert_true(info_has(&info, FEATURE_BRANCH_STACK));
	str_release(&err);
}

/* What is not there is left out; what is broken, too. */
static void test_missing(void **state)
{
	static const unsigned wanted[] = {
		FEATURE_NRCPUS, FEATURE_CPUDESC, FEATURE_CPUID, FEATURE_TOTAL_MEM,
		FEATURE_CPU_TOPOLOGY, FEATURE_NUMA_TOPOLOGY, FEATURE_PMU_MAPPINGS, FEATURE_CACHE,
		FEATURE_MEM_TOPOLOGY, FEATURE_CPU_PMU_CAPS, FEATURE_HYBRID_TOPOLOGY, FEATURE_PMU_CAPS,
	};

	(void)state;
	for (int round = 0; round < 2; round++) {
		collect();
		for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
			assert_string_equal(shown(wanted[i]), "");
		put("x-y\n", "sys/devices/system/cpu/online");
		put("-1\n", "sys/devices/system/node/online");
		put("MemTotal: lots\n", "proc/meminfo");
		put("model name\n", "proc/cpuinfo");
	}
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_topology),	     TEST(test_old_topology),
		TEST(test_nodes_and_memory), TEST(test_caches),
		TEST(test_texts),	     TEST(test_pmus),
		TEST(test_hybrid),	     TEST(test_events),
		TEST(test_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
