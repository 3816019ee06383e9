/* SPDX-License-Identifier: MIT */
/*
 * Times counted by their length: percentiles beside those of the sorted times, over all magnitudes.
 */
#include "sched/sched_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { TIMES = 1000 };

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* At least the time of that rank, and at most a 32nd part more. */
static void check_quantile(const struct delays *delays, const uint64_t *sorted, unsigned pct)
{
	const uint64_t exact = sorted[(TIMES * pct + 99) / 100 - 1], found = delays_quantile(delays, pct);

	assert_true(found >= exact);
	assert_true(found - exact <= exact / 32);
}

static void test_quantiles(void **state)
{
	struct delays *delays = delays_new(), *odd = delays_new();
	uint64_t times[TIMES], seed = 88172645463325252U;

	(void)state;
	for (size_t i = 0; i < TIMES; i++) {
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		times[i] = seed >> (i % 64);
		delays_add(i % 2 ? odd : delays, times[i]);
	}
	delays_join(delays, odd);
	qsort(times, TIMES, sizeof(*times), compare);
	for (unsigned pct = 1; pct <= 100; pct++)
		check_quantile(delays, times, pct);
	delays_free(delays);
	delays_free(odd);
}

static void test_ends(void **state)
{
	struct delays *delays = delays_new();
	struct str out = STR_INIT;

	(void)state;
	assert_int_equal(delays_quantile(delays, 50), 0);
	delays_print(delays, &out);
	assert_non_null(strstr(out.s, "delay us"));
	delays_add(delays, 0);
	assert_int_equal(delays_quantile(delays, 99), 0);
	for (uint64_t ns = 1; ns < 64; ns++)
		delays_add(delays, ns);
	assert_int_equal(delays_quantile(delays, 50), 31);
	delays_add(delays, UINT64_MAX);
	assert_true(delays_quantile(delays, 100) == UINT64_MAX);
	delays_print(delays, &out);
	assert_non_null(strstr(out.s, "         0 ..          1           64 |########"));
	str_release(&out);
	delays_free(delays);
	delays_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantiles),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
