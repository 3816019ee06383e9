/* SPDX-License-Identifier: MIT */
/*
 * The signed-rank test: as by trying all signs, as tables have it, and as often wrong as it says, under noise of six
 * kinds.
 */
#include "util/util.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_near(double found, double expected, double off)
{
	if (!(fabs(found - expected) <= off))
		fail_msg("%.17g is not %.17g", found, expected);
}

/* ---- numbers by chance, the same each time ---- */

static uint64_t chance;

static double uniform(void)
{
	uint64_t x = chance += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return (double)((x ^ x >> 31) >> 11) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(1 - uniform())) * cos(2 * acos(-1) * uniform());
}

/* ---- against all signs ---- */

/* The statistic of the test, of sizes with the signs of bits. */
static double statistic(const double *d, size_t n, unsigned signs)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		double rank = 0.5;

		for (size_t k = 0; k < n; k++)
			rank += fabs(d[k]) < fabs(d[i]) ? 1 : fabs(d[k]) == fabs(d[i]) ? 0.5 : 0;
		sum += d[i] != 0 ? (signs >> i & 1 ? rank : -rank) : 0;
	}
	return fabs(sum);
}

static double p_of_all_signs(const double *d, size_t n)
{
	unsigned own = 0, as_far = 0;

	for (size_t i = 0; i < n; i++)
		own |= (unsigned)(d[i] > 0) << i;
	for (unsigned signs = 0; signs < 1U << n; signs++)
		as_far += statistic(d, n, signs) >= statistic(d, n, own);
	return (double)as_far / (double)(1U << n);
}

static void p_is_that_of_all_signs(void **state)
{
	(void)state;
	chance = 1;
	for (size_t n = 1; n <= 12; n++) {
		for (int grain = 0; grain < 6; grain++) {
			struct signed_rank found;
			double d[12], p;

			/* The coarser the grain, the more ties and zeros. */
			for (size_t i = 0; i < n; i++)
				d[i] = grain ? round(3 * normal() / grain) + 0.0 : normal();
			p = p_of_all_signs(d, n);
			signed_rank(d, n, 0.05, &found);
			assert_near(found.p, p, 1e-12);
		}
	}
}

/* ---- against all means of pairs ---- */

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static size_t pair_means(const double *d, size_t n, double *means)
{
	size_t pairs = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = i; k < n; k++)
			means[pairs++] = (d[i] + d[k]) / 2;
	qsort(means, pairs, sizeof(*means), ascending);
	return pairs;
}

/* How many means are left out on either side: what tables of the test have as its critical value. */
static void interval_is_two_of_the_means(void **state)
{
	static const struct {
		size_t n;
		double alpha;
		size_t outside;
	} rows[] = {
		{ 6, 0.05, 0 }, { 7, 0.05, 2 }, { 8, 0.05, 3 }, { 8, 0.01, 0 }, { 10, 0.05, 8 }, { 10, 0.01, 3 },
		{ 15, 0.05, 25 }, { 20, 0.05, 52 }, { 20, 0.01, 37 }, { 25, 0.05, 89 }, { 30, 0.05, 137 },
	};

	(void)state;
	chance = 2;
	for (size_t row = 0; row < sizeof(rows) / sizeof(*rows); row++) {
		size_t n = rows[row].n, pairs;
		struct signed_rank found;
		double d[30], means[465];

		for (size_t i = 0; i < n; i++)
			d[i] = row % 2 ? normal() : round(4 * normal()) + 0.0;
		pairs = pair_means(d, n, means);
		signed_rank(d, n, rows[row].alpha, &found);
		assert_true(found.estimate == (means[(pairs - 1) / 2] + means[pairs / 2]) / 2);
		assert_true(found.low == means[rows[row].outside]);
		assert_true(found.high == means[pairs - 1 - rows[row].outside]);
	}
}

static void fewest_that_have_an_interval(void **state)
{
	(void)state;
	assert_int_equal(signed_rank_least(0.05), 6);
	assert_int_equal(signed_rank_least(0.05 / 44), 11);
	assert_int_equal(signed_rank_least(0.5), 2);
	assert_int_equal(signed_rank_least(1e-9), 31);
}

/* The test refuses no effect just where the interval has no 0; many, few and equal differences. */
static void interval_and_p_agree(void **state)
{
	(void)state;
	chance = 3;
	for (size_t n = 6; n < 260; n += 11) {
		for (double effect = 0; effect < 1; effect += 0.03) {
			double *d = xcalloc(n, sizeof(*d));
			struct signed_rank found;

			for (size_t i = 0; i < n; i++)
				d[i] = normal() + effect;
			signed_rank(d, n, 0.05, &found);
			/* The normal distribution and the rounding to whole pairs may part at the border. */
			if (n <= 200 || fabs(found.p - 0.05) > 0.002)
				assert_int_equal(found.p <= 0.05, found.low > 0 || found.high < 0);
			assert_true(found.low <= found.estimate && found.estimate <= found.high);
			free(d);
		}
	}
}

static void equal_differences(void **state)
{
	double zeros[20] = { 0 }, twos[1000];
	struct signed_rank found;

	(void)state;
	signed_rank(zeros, 20, 0.05, &found);
	assert_true(found.p == 1 && found.low == 0 && found.high == 0 && found.estimate == 0);
	for (size_t i = 0; i < 1000; i++)
		twos[i] = -2;
	signed_rank(twos, 1000, 0.05, &found);
	assert_true(found.p < 1e-100 && found.low == -2 && found.high == -2 && found.estimate == -2);
	signed_rank(twos, 1, 0.05, &found);
	assert_true(found.p == 1 && isinf(found.low) && isinf(found.high) && found.estimate == -2);
	signed_rank(twos, 5, 0.05, &found);
	assert_true(found.p == 0.0625 && isinf(found.low) && isinf(found.high));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(p_is_that_of_all_signs),
		cmocka_unit_test(interval_is_two_of_the_means),
		cmocka_unit_test(fewest_that_have_an_interval),
		cmocka_unit_test(interval_and_p_agree),
		cmocka_unit_test(equal_differences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
