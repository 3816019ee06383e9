/* SPDX-License-Identifier: MIT */
/*
 * Filters on fields of samples: each text on one sample, with the answer worked out by hand from perf-record(1), and
 * texts that are none.
 */
#include "data/data.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* A load that hit the first TLB, was a peer's in the snoop, and came from the RAM of another socket. */
static const struct sample sample = {
	.has = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD,
	.id = 17, .ip = 0xffffffff81000000, .pid = 100, .tid = 101, .time_ns = 5000, .cpu = 3, .addr = 0x1000,
	.period = 4000, .transaction = 0x21,
	.weight = 250 | 30ull << 32 | 7ull << 48,
	.data_src = 2 | 8ull << 19 | 2ull << 24 | 10ull << 26 | 13ull << 33 | 1ull << 37 | 2ull << 38 | 4ull << 40 |
		    2ull << 43,
	.phys_addr = 0x2000, .code_page_size = 4096, .data_page_size = 2 << 20,
};

static const struct filter_case {
	const char *text;
	bool passes;
} cases[] = {
	{ "ip == 0xffffffff81000000", true }, { "ip > 0x7fffffffffffffff", true }, { "ip < 1", false },
	{ "id == 17", true }, { "pid == 100", true }, { "tid == 101", true }, { "pid == 101", false },
	{ "cpu == 3", true }, { "cpu != 3", false }, { "cpu >= 3", true }, { "cpu > 3", false }, { "cpu <= 3", true },
	{ "cpu < 3", false }, { "cpu & 2", true }, { "cpu & 4", false }, { "cpu & 6", true },
	{ "time > 4999", true }, { "addr == 4096", true }, { "period == 4000", true }, { "txn & 0x20", true },
	{ "weight == 250", true }, { "weight1 == 250", true }, { "weight2 == 30", true }, { "weight3 == 7", true },
	{ "ins_lat == 30", true }, { "retire_lat == 7", true }, { "p_stage_cyc == 7", true },
	{ "phys_addr == 0x2000", true }, { "code_pgsz == 4096", true }, { "data_pgsz == 2097152", true },
	{ "mem_op == load", true }, { "mem_op == store", false }, { "mem_lvl == ram", true }, { "mem_lvl > l4", true },
	{ "mem_snoop & peer", true }, { "mem_snoop & miss", true }, { "mem_snoop == 72", true },
	{ "mem_snoop & hitm", false }, { "mem_remote == remote", true }, { "mem_lock == locked", true },
	{ "mem_dtlb == l1_hit", true }, { "mem_dtlb == l1_miss", false }, { "mem_blk == by_addr", true },
	{ "mem_hops == hops1", true },
	/* Alternatives bind more strongly than the comma. */
	{ "mem_op == store || mem_op == load, cpu == 3", true },
	{ "cpu == 3, mem_op == store || mem_op == exec", false },
	{ "cpu == 3 || cpu == 4, pid == 1", false },
	{ "pid == 1, cpu == 3 || cpu == 4", false },
	{ "cpu == 9 || cpu == 8 || cpu == 3", true },
	{ "  cpu==3,tid>=101||tid<5  ", true },
};

static void test_cases(void **state)
{
	const struct data_event event = { .attr = { .sample_period = 9 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sample_filter filter = { 0 };
		struct str err = STR_INIT;

		if (sample_filter_parse(&filter, cases[i].text, &err))
			fail_msg("%s: %s", cases[i].text, err.s);
		if (sample_filter_passes(&filter, &event, &sample) != cases[i].passes)
			fail_msg("%s: passes: %d", cases[i].text, !cases[i].passes);
		sample_filter_release(&filter);
		str_release(&err);
	}
}

/* A fixed period is in the attr, not in the sample. */
static void test_fixed_period(void **state)
{
	const struct data_event event = { .attr = { .sample_period = 9 } };
	const struct sample without = { .has = PERF_SAMPLE_IP };
	struct sample_filter filter = { 0 };
	struct str err = STR_INIT;

	(void)state;
	assert_int_equal(sample_filter_parse(&filter, "period == 9", &err), 0);
	assert_int_equal(sample_filter_check(&filter, PERF_SAMPLE_IP, &err), 0);
	assert_true(sample_filter_passes(&filter, &event, &without));
	sample_filter_release(&filter);
}

static void test_wrong_words(void **state)
{
	static const char *const rows[][2] = {
		{ "", "'' is no field of samples" }, { "cpu == 1,", "'' is no field of samples" },
		{ "core == 1", "'core' is no field of samples" }, { "cpu", "after 'cpu' one of ==" },
		{ "cpu = 1", "after 'cpu' one of ==" }, { "cpu == ", "'' is no value of cpu" },
		{ "cpu == -1", "'' is no value of cpu" },
		{ "cpu == load", "'load' is no value of cpu: it is a number" },
		{ "mem_lvl == load", "'load' is no value of mem_lvl: it is a number, l1, l2" },
		{ "cpu == 0x1ffffffffffffffff", "'0x1ffffffffffffffff' is no value" },
		{ "cpu == 1 && pid == 2", "'&& pid == 2': conditions have a comma" },
		{ "cpu == 1 | pid == 2", "'| pid == 2': conditions have a comma" },
		{ "cpu == 1 ||", "'' is no field" }, { "(cpu == 1)", "'' is no field" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sample_filter filter = { 0 };
		struct str err = STR_INIT;

		assert_int_equal(sample_filter_parse(&filter, rows[i][0], &err), -EINVAL);
		if (strncmp(err.s, rows[i][1], strlen(rows[i][1])))
			fail_msg("%s: %s", rows[i][0], err.s);
		sample_filter_release(&filter);
		str_release(&err);
	}
}

static void expect_lacks(const char *text, uint64_t sample_type, int code, const char *want)
{
	struct sample_filter filter = { 0 };
	struct str err = STR_INIT;

	assert_int_equal(sample_filter_parse(&filter, text, &err), 0);
	assert_int_equal(sample_filter_check(&filter, sample_type, &err), code);
	assert_string_equal(err.len ? err.s : "", want);
	sample_filter_release(&filter);
	str_release(&err);
}

static void test_what_samples_have(void **state)
{
	(void)state;
	expect_lacks("ip > 1, cpu == 1", PERF_SAMPLE_IP | PERF_SAMPLE_CPU, 0, "");
	expect_lacks("ip > 1, addr == 1", PERF_SAMPLE_IP, -EINVAL,
		     "samples do not have 'addr'\nit is recorded with -d");
	expect_lacks("ins_lat > 1", PERF_SAMPLE_WEIGHT, 0, "");
	expect_lacks("ins_lat > 1", DATA_SAMPLE_WEIGHT_STRUCT, 0, "");
	expect_lacks("uid == 0", UINT64_MAX, -ENOTSUP,
		     "samples do not have 'uid': only a filter in the kernel sees it");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_fixed_period),
		cmocka_unit_test(test_wrong_words),
		cmocka_unit_test(test_what_samples_have),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
