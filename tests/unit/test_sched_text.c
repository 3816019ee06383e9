/* SPDX-License-Identifier: MIT */
/*
 * Times and places as pstat sched prints them, against printf: every number of digits, narrower and wider than their
 * columns.
 */
#include "sched/sched.h"

#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void expect(struct str *text, const char *expected)
{
	assert_string_equal(text->s, expected);
	str_reset(text);
}

static void check_number(uint64_t ns)
{
	const unsigned long long ms = ns / 1000000, us = ns / 1000 % 1000;
	const unsigned long long s = ns / 1000000000, s_us = ns / 1000 % 1000000;
	const uint64_t both[] = { ns, 1000 };
	struct str text = STR_INIT;
	char expected[200];

	for (int width = 0; width < 16; width++) {
		snprintf(expected, sizeof(expected), "%*llu.%03llu", width, ms, us);
		sched_add_ms(&text, ns, (unsigned)width);
		expect(&text, expected);
		snprintf(expected, sizeof(expected), "%*llu.%06llu", width > 7 ? width - 7 : 0, s, s_us);
		sched_add_s(&text, ns, (unsigned)width);
		expect(&text, expected);
	}
	snprintf(expected, sizeof(expected), "%8llu.%06llu [%04u] ", s, s_us, (uint32_t)ns);
	sched_add_place(&text, ns, 15, (uint32_t)ns);
	expect(&text, expected);
	snprintf(expected, sizeof(expected), "%6llu.%03llu      0.001 ", ms, us);
	sched_add_ms_columns(&text, both, 2, 6);
	expect(&text, expected);
	str_release(&text);
}

static void test_numbers(void **state)
{
	(void)state;
	for (uint64_t power = 1;; power *= 10) {
		check_number(power - 1);
		check_number(power);
		check_number(power + power / 3);
		if (power > UINT64_MAX / 10)
			break;
	}
	check_number(UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
