/* SPDX-License-Identifier: MIT */
/* Multiplex scaling against long double and exact cases. */
#include "stat/stat.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_identity(void **state)
{
	(void)state;
	assert_int_equal(scale_count(0, 5, 3), 0);
	assert_int_equal(scale_count(7, 0, 3), 0);
	assert_int_equal(scale_count(123456789, 1000, 1000), 123456789);
	assert_true(scale_count(UINT64_MAX, 77, 77) == UINT64_MAX);
	assert_true(scale_count(UINT64_MAX, UINT64_MAX, UINT64_MAX) == UINT64_MAX);
}

static void test_rounds_to_nearest(void **state)
{
	(void)state;
	assert_int_equal(scale_count(1, 4, 3), 1); /* 1.33 */
	assert_int_equal(scale_count(1, 5, 3), 2); /* 1.67 */
	assert_int_equal(scale_count(1, 3, 2), 2); /* 1.5 goes up */
	assert_int_equal(scale_count(10, 1000, 333), 30); /* 30.03 */
}

static void test_saturates(void **state)
{
	(void)state;
	assert_true(scale_count(UINT64_MAX, 2, 1) == UINT64_MAX);
	assert_true(scale_count(UINT64_MAX, UINT64_MAX, 1) == UINT64_MAX);
	assert_true(scale_count(UINT64_C(1) << 63, 2, 1) == UINT64_MAX);
	assert_true(scale_count((UINT64_C(1) << 63) - 1, 2, 1) == UINT64_MAX - 1);
	/* Rounding up must not wrap around either. */
	assert_true(scale_count(UINT64_MAX, UINT64_MAX, UINT64_MAX - 1) == UINT64_MAX);
}

/* A day of nanoseconds times a day of cycles: the product has 96 bits. */
static void test_long_runs(void **state)
{
	const uint64_t day_ns = UINT64_C(86400000000000);
	const uint64_t cycles = UINT64_C(259200000000000);

	(void)state;
	assert_true(scale_count(cycles, day_ns, day_ns / 3) == cycles * 3);
	assert_true(scale_count(cycles, day_ns, day_ns - 1) == cycles + 3);
}

/* Every fraction is within half a count of the exact quotient, by an independent route. */
static void test_against_long_double(void **state)
{
	uint64_t x = 88172645463325252u;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint64_t v, e, r, got;
		long double exact;

		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		v = x >> 34;
		e = (x & 0xffffff) + 1;
		r = (x >> 24 & 0xffff) % e + 1;
		got = scale_count(v, e, r);
		exact = (long double)v * (long double)e / (long double)r;
		assert_true(fabsl((long double)got - exact) <= 0.5L + exact * 1e-15L);
	}
}

static void expect_core_time(uint64_t here_ns, uint64_t there_ns, size_t n_counted, uint64_t enabled_ns,
			     enum core_time known, uint64_t on_type_ns)
{
	const uint64_t longest[] = { here_ns, there_ns };
	uint64_t got = 0;

	assert_int_equal(core_time_of(longest, 2, n_counted, 0, enabled_ns, &got), known);
	if (known == CORE_TIME_KNOWN)
		assert_int_equal(got, on_type_ns);
}

/* One per cent of the enabled time may be missing, or too much: readings are not of one moment. */
static void test_core_time(void **state)
{
	(void)state;
	expect_core_time(400, 600, 2, 1000, CORE_TIME_KNOWN, 400);
	expect_core_time(400, 590, 2, 1000, CORE_TIME_KNOWN, 400);
	expect_core_time(400, 589, 2, 1000, CORE_TIME_GAPS, 0);
	expect_core_time(400, 610, 2, 1000, CORE_TIME_KNOWN, 400);
	expect_core_time(400, 611, 2, 1000, CORE_TIME_GAPS, 0);
	expect_core_time(0, 1000, 2, 1000, CORE_TIME_KNOWN, 0);
	expect_core_time(400, 0, 1, 1000, CORE_TIME_UNSEEN, 0);
	expect_core_time(990, 0, 1, 1000, CORE_TIME_KNOWN, 990);
	expect_core_time(UINT64_MAX, UINT64_MAX, 2, UINT64_MAX, CORE_TIME_GAPS, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_rounds_to_nearest),
		cmocka_unit_test(test_saturates),
		cmocka_unit_test(test_long_runs),
		cmocka_unit_test(test_against_long_double),
		cmocka_unit_test(test_core_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
