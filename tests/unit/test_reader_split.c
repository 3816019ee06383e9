/* SPDX-License-Identifier: MIT */
/*
 * Who drains which CPU: by place on a made topology of two packages, three nodes and an offline CPU, by masks,
 * and what is refused of them.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "record/reader_split.h"

#include <cmocka.h>

/* Two threads a core; CPU 6 is offline. Cores 0 and 1 are there in both packages, and in both dies of the first. */
static struct topology_cpu places[] = {
	{ .cpu = 0, .core = 0, .die = 0, .socket = 0, .node = 0 },
	{ .cpu = 1, .core = 0, .die = 0, .socket = 0, .node = 0 },
	{ .cpu = 2, .core = 0, .die = 1, .socket = 0, .node = 1 },
	{ .cpu = 3, .core = 1, .die = 1, .socket = 0, .node = 1 },
	{ .cpu = 4, .core = 0, .die = 0, .socket = 1, .node = 2 },
	{ .cpu = 5, .core = 1, .die = 0, .socket = 1, .node = 2 },
	{ .cpu = 7, .core = 0, .die = 0, .socket = 1, .node = 2 },
};
static const struct topology topology = { places, sizeof(places) / sizeof(places[0]) };

static struct record_plan plan;
static struct reader_shares shares;
static struct str err = STR_INIT;

static int teardown(void **state)
{
	(void)state;
	reader_masks_release(&plan.reader_masks);
	reader_shares_release(&shares);
	str_release(&err);
	plan = (struct record_plan){ 0 };
	return 0;
}

static struct intset set_of(const char *list)
{
	struct intset set = INTSET_INIT;

	assert_int_equal(intset_parse(&set, list, 1000, &err), 0);
	return set;
}

/* "0-1@0 2@" : what each reader drains, and where it runs. */
static void shares_are(const char *expected)
{
	struct str text = STR_INIT;

	for (size_t i = 0; i < shares.n; i++) {
		str_add(&text, i ? " " : "");
		intset_format(&shares.v[i].cpus, &text);
		str_addc(&text, '@');
		intset_format(&shares.v[i].affinity, &text);
	}
	assert_string_equal(text.s, expected);
	str_release(&text);
}

static int split(enum reader_split by, const char *cpus)
{
	struct intset set = set_of(cpus);
	int rc;

	reader_shares_release(&shares);
	str_reset(&err);
	plan.readers = by;
	rc = reader_split_of(&shares, &plan, &topology, &set, &err);
	intset_release(&set);
	return rc;
}

static void by_place(void **state)
{
	static const struct {
		enum reader_split by;
		const char *expected;
	} rows[] = {
		{ READERS_ONE, "0-5,7@" },
		{ READERS_CPU, "0@ 1@ 2@ 3@ 4@ 5@ 7@" },
		{ READERS_CORE, "0-1@ 2@ 3@ 4,7@ 5@" },
		{ READERS_PACKAGE, "0-3@ 4-5,7@" },
		{ READERS_NODE, "0-1@ 2-3@ 4-5,7@" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(split(rows[i].by, "0-5,7"), 0);
		shares_are(rows[i].expected);
	}
	/* Of -C 3,5 there are no others. */
	assert_int_equal(split(READERS_PACKAGE, "3,5"), 0);
	shares_are("3@ 5@");
	assert_int_equal(reader_of_cpu(&shares, 3), 0);
	assert_int_equal(reader_of_cpu(&shares, 5), 1);
}

static void in_their_places(void **state)
{
	(void)state;
	plan.affinity = true;
	assert_int_equal(split(READERS_PACKAGE, "0-5,7"), 0);
	shares_are("0-3@0-3 4-5,7@4-5,7");
	assert_int_equal(split(READERS_CPU, "1,7"), 0);
	shares_are("1@1 7@7");
}

/* It came online after the topology was read. */
static void unknown_cpu(void **state)
{
	(void)state;
	assert_int_equal(split(READERS_NODE, "4,6-8"), 0);
	shares_are("4,7@ 6@ 8@");
}

static int masks(const char *text, const char *cpus)
{
	assert_int_equal(reader_masks_parse(&plan.reader_masks, text, &err), 0);
	return split(READERS_MASKS, cpus);
}

static void by_masks(void **state)
{
	(void)state;
	assert_int_equal(masks("0,2-4/2-4:1,5-7/5-7", "0-7"), 0);
	shares_are("0,2-4@2-4 1,5-7@5-7");
	assert_int_equal(reader_of_cpu(&shares, 4), 0);
	assert_int_equal(reader_of_cpu(&shares, 1), 1);
	/* One drains what the other runs on; the order is the user's. */
	assert_int_equal(masks("4-7/0:0-3/4", "0-7"), 0);
	shares_are("4-7@0 0-3@4");
	/* What has no ring is cut off both. */
	assert_int_equal(masks("0-100/0,9:200,3/3,9", "0-2"), -EINVAL);
	assert_int_equal(masks("0-2,100/0,9:200,3/3,9", "0-3"), 0);
	shares_are("0-2@0 3@3");
	/* Nor do they overlap where there is no ring. */
	assert_int_equal(masks("0,8/0,9:1,8/1,9", "0-1"), 0);
	shares_are("0@0 1@1");
}

static void wrong_masks(void **state)
{
	static const struct {
		const char *masks, *cpus, *why;
	} rows[] = {
		{ "0-1/0:1-2/1", "0-2", "--threads: two masks have CPU 1" },
		{ "0/0:2/2:0-3/1", "0-3", "--threads: two masks have CPU 0" },
		{ "1/0-1:0/0-1", "0-1", "--threads: two threads would run on CPUs 0-1" },
		{ "0/0:8-9/1", "0-1", "--threads: nothing is recorded on CPUs 8-9" },
		{ "0/7:1/1", "0-1", "--threads: a thread cannot run where nothing is recorded: CPU 7" },
		{ "0/0", "0-1", "--threads: no mask has CPU 1, which is recorded too\n"
				"add to the masks, or record fewer CPUs with -C" },
		{ "0/0", "0-3", "--threads: no mask has CPUs 1-3, which are recorded too\n"
				"add to the masks, or record fewer CPUs with -C" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(masks(rows[i].masks, rows[i].cpus), -EINVAL);
		assert_string_equal(err.s, rows[i].why);
	}
}

static void wrong_words(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "", "--threads: '': a mask is cpus/affinity-cpus, such as 0-1/0" },
		{ "0/0:1", "--threads: '1': a mask is cpus/affinity-cpus, such as 0-1/0" },
		{ "0/0:", "--threads: '': a mask is cpus/affinity-cpus, such as 0-1/0" },
		{ "/0", "--threads: a mask without CPUs before its slash" },
		{ "0/:1/1", "--threads: a mask without CPUs behind its slash" },
		{ "0/0/1", "--threads: '0/1' is not a number or a range such as 0-3" },
		{ "2-1/0", "--threads: '2-1' is not a number or a range such as 0-3" },
		{ "0/-1", "--threads: '-1' is not a number or a range such as 0-3" },
		{ "0/99999999", "--threads: '99999999' is out of range (at most 65536)" },
		{ "\033[1m/0", "--threads: '\\x1b[1m' is not a number or a range such as 0-3" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		str_reset(&err);
		assert_int_equal(reader_masks_parse(&plan.reader_masks, rows[i].text, &err), -EINVAL);
		assert_string_equal(err.s, rows[i].why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(by_place, teardown),
		cmocka_unit_test_teardown(in_their_places, teardown),
		cmocka_unit_test_teardown(unknown_cpu, teardown),
		cmocka_unit_test_teardown(by_masks, teardown),
		cmocka_unit_test_teardown(wrong_masks, teardown),
		cmocka_unit_test_teardown(wrong_words, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
