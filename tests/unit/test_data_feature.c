/* SPDX-License-Identifier: MIT */
/*
 * Features: each one's text against what perf 6.1 prints for the same facts, each one read back from its
 * own bytes, and each one cut at every length.
 */
#include "data_fixture.h"

/* What is read from sysfs: the machine's shape. */
static void shape_info(struct info *info)
{
	text_list_add(&info->core_siblings, "0-1", 3);
	text_list_add(&info->die_siblings, "0-1", 3);
	text_list_add(&info->thread_siblings, "0", 1);
	text_list_add(&info->thread_siblings, "1", 1);
	info->has_dies = true;
	info->cpus.v = xcalloc(2, sizeof(*info->cpus.v));
	info->cpus.v[1].core = 1;
	info->cpus.n = 2;
	info->nodes.v = xcalloc(1, sizeof(*info->nodes.v));
	info->nodes.v[0] = (struct info_node){ 0, 4155604, 3895960, xstrdup("0-1") };
	info->nodes.n = 1;
	info->pmus.v = xcalloc(2, sizeof(*info->pmus.v));
	info->pmus.v[0] = (struct info_pmu){ 1, xstrdup("software") };
	info->pmus.v[1] = (struct info_pmu){ 9, xstrdup("m\033sr") };
	info->pmus.n = 2;
	info->caches.v = xcalloc(1, sizeof(*info->caches.v));
	info->caches.v[0] =
		(struct info_cache){ 1,           64, 64, 8, xstrdup("Instruction"), xstrdup("32K"),
				     xstrdup("0") };
	info->caches.n = 1;
	info->mem_block_bytes = 0x8000000;
	info->mem_nodes.v = xcalloc(1, sizeof(*info->mem_nodes.v));
	info->mem_nodes.v[0] = (struct info_mem_node){ 0, 70, xcalloc(2, 8) };
	info->mem_nodes.v[0].blocks[0] = 0xff00ff;
	info->mem_nodes.v[0].blocks[1] = 0x20;
	info->mem_nodes.n = 1;
}

/* perf's, then pstat's own; 0: there are no more. */
static unsigned next_feature(unsigned feature)
{
	do {
		feature = feature == FEATURE_LAST_KNOWN ? FEATURE_PSTAT : feature + 1;
	} while (feature < FEATURE_BITS && !feature_name(feature));
	return feature < FEATURE_BITS ? feature : 0;
}

static void all_info(struct info *info)
{
	fix_info(info);
	shape_info(info);
	info->os_release = xstrdup("6.1.0");
	info->version = xstrdup("6.1.187");
	info->cpu_desc = xstrdup("AMD EPYC");
	info->cpuid = xstrdup("AuthenticAMD,25,1,1");
	info->total_mem_kb = 24684092;
	info->clock_res_ns = 1;
	info->dir_version = 1;
	info->comp_version = info->comp_type = 1;
	info->comp_level = 3;
	info->comp_ratio = 13;
	info->comp_chunk_bytes = 528384;
	info->clockid = 1;
	info->wall_clock_ns = 1795247014792970000;
	info->clockid_time_ns = 1007388813785;
	info->hybrid.v = xcalloc(1, sizeof(*info->hybrid.v));
	info->hybrid.v[0] = (struct info_hybrid){ xstrdup("cpu_core"), xstrdup("0-15") };
	info->hybrid.n = 1;
	info->cpu_caps.v = xcalloc(1, sizeof(*info->cpu_caps.v));
	text_list_add(&info->cpu_caps.v[0].names, "branches", 8);
	text_list_add(&info->cpu_caps.v[0].values, "32", 2);
	info->cpu_caps.n = 1;
	info->pmu_caps.v = xcalloc(1, sizeof(*info->pmu_caps.v));
	info->pmu_caps.v[0].pmu = xstrdup("cpu_atom");
	info->pmu_caps.n = 1;
	info->build_ids.v = xcalloc(1, sizeof(*info->build_ids.v));
	info->build_ids.v[0] = (struct info_build_id){ .pid = -1,
						       .misc = MISC_USER,
						       .size = 20,
						       .bytes = { 0xab, [19] = 0xcd },
						       .path = xstrdup("/bin/x") };
	info->build_ids.n = 1;
	info->auxtrace.v = xcalloc(1, sizeof(*info->auxtrace.v));
	info->auxtrace.v[0] = (struct info_section){ 100, 200 };
	info->auxtrace.n = 1;
	info->bpf_progs.v = xcalloc(1, sizeof(*info->bpf_progs.v));
	info->bpf_progs.v[0] = (struct info_blob){ 8, 0,
						   (uint8_t *)xstrdup("\1\1\1\1\5\1\1\1"
								      "123"),
						   11 };
	info->bpf_progs.n = 1;
	info->btfs.v = xcalloc(1, sizeof(*info->btfs.v));
	info->btfs.v[0] = (struct info_blob){ 6, 0, (uint8_t *)xstrdup("btf"), 3 };
	info->btfs.n = 1;
	info->tracing_data = (uint8_t *)xstrdup("tracing");
	info->tracing_data_size = 7;
	info->stat_target = STAT_TARGET_ALL_THREADS;
	for (unsigned i = 1; i; i = next_feature(i))
		info_set(info, i);
}

static const char *const lines[] = {
	[FEATURE_HOSTNAME] = "# hostname : host\n",
	[FEATURE_OSRELEASE] = "# os release : 6.1.0\n",
	[FEATURE_VERSION] = "# perf version : 6.1.187\n",
	[FEATURE_ARCH] = "# arch : x86_64\n",
	[FEATURE_NRCPUS] = "# nrcpus online : 2\n# nrcpus avail : 2\n",
	[FEATURE_CPUDESC] = "# cpudesc : AMD EPYC\n",
	[FEATURE_CPUID] = "# cpuid : AuthenticAMD,25,1,1\n",
	[FEATURE_TOTAL_MEM] = "# total memory : 24684092 kB\n",
	[FEATURE_CMDLINE] = "# cmdline : pstat record \n",
	[FEATURE_CPU_TOPOLOGY] = "# sibling sockets : 0-1\n# sibling dies    : 0-1\n"
				 "# sibling threads : 0\n# sibling threads : 1\n"
				 "# CPU 0: Core ID 0, Die ID 0, Socket ID 0\n"
				 "# CPU 1: Core ID 1, Die ID 0, Socket ID 0\n",
	[FEATURE_NUMA_TOPOLOGY] = "# node0 meminfo  : total = 4155604 kB, free = 3895960 kB\n"
				  "# node0 cpu list : 0-1\n",
	[FEATURE_BRANCH_STACK] = "# contains samples with branch stack\n",
	[FEATURE_PMU_MAPPINGS] = "# pmu mappings: software = 1, m\\x1bsr = 9\n",
	[FEATURE_GROUP_DESC] = "# group: {cpu-clock,page-faults}\n",
	[FEATURE_AUXTRACE] = "# contains AUX area data (e.g. instruction trace)\n",
	[FEATURE_STAT] = "# contains stat data\n",
	[FEATURE_CACHE] = "# CPU cache info:\n#  L1 Instruction          32K [0]\n",
	[FEATURE_SAMPLE_TIME] = "# time of first sample : 1.000000\n"
				"# time of last sample : 3.500000\n"
				"# sample duration :   2500.000 ms\n",
	[FEATURE_MEM_TOPOLOGY] = "# memory nodes (nr 1, block size 0x8000000):\n"
				 "#    0 [2G]: 0-7,16-23,69\n",
	[FEATURE_CLOCKID] = "# clockid frequency: 1000 MHz\n",
	[FEATURE_DIR_FORMAT] = "# directory data version : 1\n",
	[FEATURE_BPF_PROG_INFO] = "# bpf_prog_info of id 16843013\n",
	[FEATURE_BPF_BTF] = "# btf info of id 6\n",
	[FEATURE_COMPRESSED] = "# compressed : Zstd, level = 3, ratio = 13\n",
	[FEATURE_CPU_PMU_CAPS] = "# cpu pmu capabilities: branches=32\n",
	[FEATURE_CLOCK_DATA] =
		"# clockid: monotonic (1)\n# reference time: 2026-11-21 07:43:34.792970"
		" = 1795247014.792970 (TOD) = 1007.388813785 (monotonic)\n",
	[FEATURE_HYBRID_TOPOLOGY] = "# hybrid cpu system:\n# cpu_core cpu list : 0-15\n",
	[FEATURE_PMU_CAPS] = "# cpu_atom pmu capabilities: not available\n",
	[FEATURE_STAT_TARGET] = "# counted : all threads of the system\n",
};

static void test_text(void **state)
{
	struct events events;
	struct info info;

	(void)state;
	setenv("TZ", "UTC", 1);
	fix_events(&events);
	events.v[0]->n_members = 2;
	events.v[1]->leader = 0;
	all_info(&info);
	for (unsigned i = 1; i; i = next_feature(i)) {
		struct str out = STR_INIT;

		feature_print(i, &info, &events, true, &out);
		if (i < ARRAY_SIZE(lines) && lines[i])
			assert_string_equal(out.s, lines[i]);
		str_release(&out);
	}
	info_release(&info);
	events_release(&events);
}

/* Bytes -> info -> the same bytes. */
static void test_round_trip(void **state)
{
	struct events events, other;
	struct info info, back;
	struct str err = STR_INIT;

	(void)state;
	fix_events(&events);
	fix_events(&other);
	events.v[0]->n_members = 2;
	events.v[0]->group_name = xstrdup("pair");
	all_info(&info);
	info_init(&back);
	for (unsigned i = 1; i; i = next_feature(i)) {
		struct str one = STR_INIT, two = STR_INIT;

		assert_true(feature_write(i, &info, &events, &one));
		assert_int_equal(feature_read(i, one.s, one.len, false, &back, &other, &err), 0);
		assert_true(info_has(&back, i));
		assert_true(feature_write(i, &back, &other, &two));
		assert_int_equal(one.len, two.len);
		assert_memory_equal(one.s, two.s, one.len);
		str_release(&one);
		str_release(&two);
	}
	assert_int_equal(other.v[1]->leader, 0);
	assert_string_equal(other.v[0]->group_name, "pair");
	assert_string_equal(err.s, "");
	info_release(&info);
	info_release(&back);
	events_release(&events);
	events_release(&other);
}

/* Features whose bytes may end anywhere: plain bytes, a bit, or parts that older recorders left out. */
static bool may_be_short(unsigned feature)
{
	return feature == FEATURE_TRACING_DATA || feature == FEATURE_BRANCH_STACK ||
	       feature == FEATURE_STAT || feature == FEATURE_CPU_TOPOLOGY ||
	       feature == FEATURE_BUILD_ID;
}

static void test_cut(void **state)
{
	struct events events;
	struct info info;

	(void)state;
	fix_events(&events);
	events.v[0]->n_members = 2;
	all_info(&info);
	for (unsigned i = 1; i; i = next_feature(i)) {
		struct str bytes = STR_INIT, err = STR_INIT;

		feature_write(i, &info, &events, &bytes);
		for (size_t n = 0; n < bytes.len; n++) {
			uint8_t *copy = malloc(n);
			struct info back;
			int rc;

			memcpy(copy, bytes.s, n);
			info_init(&back);
			back.cpus_available = 2;
			rc = feature_read(i, copy, n, false, &back, &events, &err);
			if (!may_be_short(i))
				assert_int_equal(rc, -EINVAL);
			assert_int_equal(info_has(&back, i), !rc);
			info_release(&back);
			free(copy);
		}
		str_release(&bytes);
		str_release(&err);
	}
	info_release(&info);
	events_release(&events);
}

/* Arm has no dies. In a record the bytes are padded to 8, and must read as no dies all the same. */
static void test_no_dies(void **state)
{
	struct events events;

	(void)state;
	fix_events(&events);
	for (size_t cpus = 1; cpus <= 3; cpus++) {
		struct str bytes = STR_INIT, err = STR_INIT;
		struct info info, back;

		info_init(&info);
		info_init(&back);
		info.cpus_available = back.cpus_available = (uint32_t)cpus;
		info.cpus.v = xcalloc(cpus, sizeof(*info.cpus.v));
		info.cpus.n = cpus;
		text_list_add(&info.core_siblings, "0-2", 3);
		for (size_t i = 0; i < cpus; i++)
			text_list_add(&info.thread_siblings, "0", 1);
		info_set(&info, FEATURE_CPU_TOPOLOGY);
		assert_true(feature_write(FEATURE_CPU_TOPOLOGY, &info, &events, &bytes));
		/* Dies are told with an id for each CPU, or there is no room that looks like them. */
		assert_true(bytes.len % 8 == 0 ||
			    bytes.len >= 4 + 68 + 4 + 68 * cpus + 8 * cpus + 4 + 4 * cpus);
		while (bytes.len % 8)
			str_addc(&bytes, '\0');
		assert_int_equal(feature_read(FEATURE_CPU_TOPOLOGY, bytes.s, bytes.len, false, &back,
					      &events, &err), 0);
		assert_false(back.has_dies);
		str_release(&bytes);
		str_release(&err);
		info_release(&info);
		info_release(&back);
	}
	events_release(&events);
}

static void test_unknown_is_kept(void **state)
{
	struct str err = STR_INIT, out = STR_INIT;
	struct events events;
	struct info info;

	(void)state;
	fix_events(&events);
	info_init(&info);
	assert_int_equal(feature_read(FEATURE_BITS - 1, "extra", 5, false, &info, &events, &err), 0);
	assert_true(feature_write(FEATURE_BITS - 1, &info, &events, &out));
	assert_string_equal(out.s, "extra");
	assert_int_equal(feature_read(FEATURE_BITS, "x", 1, false, &info, &events, &err), -EINVAL);
	info_release(&info);
	events_release(&events);
	str_release(&err);
	str_release(&out);
}

/* Groups that name events which are not there. */
static void test_wrong_groups(void **state)
{
	static const uint32_t wrong[][2] = {
		{ 2, 1 }, { 1, 2 }, { 0, 3 }, { 0, 0 }, { 1, UINT32_MAX }
	};
	struct events events;
	struct info info;

	(void)state;
	fix_events(&events);
	info_init(&info);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		uint32_t bytes[5] = { 1, 4, 0x61, wrong[i][0], wrong[i][1] };
		struct str err = STR_INIT;

		assert_int_equal(feature_read(FEATURE_GROUP_DESC, bytes, sizeof(bytes), false,
					      &info, &events, &err),
				 -EINVAL);
		assert_has(err.s, "not in the recording");
		str_release(&err);
	}
	info_release(&info);
	events_release(&events);
}

/* A set of memory blocks larger than any machine's would become text without a bound. */
static void test_too_many_blocks(void **state)
{
	enum { BLOCKS = (1 << 20) + 64 };
	uint64_t *bytes = xcalloc(6 + BLOCKS / 64, sizeof(*bytes));
	struct str err = STR_INIT;
	struct events events;
	struct info info;

	(void)state;
	fix_events(&events);
	info_init(&info);
	bytes[0] = 1; /* version */
	bytes[2] = 1; /* nodes */
	bytes[4] = bytes[5] = BLOCKS;
	assert_int_equal(feature_read(FEATURE_MEM_TOPOLOGY, bytes, 8 * (6 + BLOCKS / 64), false,
				      &info, &events, &err),
			 -EINVAL);
	assert_has(err.s, "too large");
	bytes[5] = BLOCKS - 64;
	assert_int_equal(feature_read(FEATURE_MEM_TOPOLOGY, bytes, 8 * (6 + BLOCKS / 64), false,
				      &info, &events, &err),
			 0);
	free(bytes);
	info_release(&info);
	events_release(&events);
	str_release(&err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),         cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_no_dies),
		cmocka_unit_test(test_cut),          cmocka_unit_test(test_unknown_is_kept),
		cmocka_unit_test(test_wrong_groups), cmocka_unit_test(test_too_many_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
