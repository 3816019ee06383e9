/* SPDX-License-Identifier: MIT */
/*
 * The mean of a series and its deviation; Student's distribution against tables of textbooks and against formulas.
 */
#include "util/util.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void mean_and_deviation(void **state)
{
	const double x[] = { 4, 7, 13, 16 };
	struct series s = { 0 };

	(void)state;
	assert_true(series_stdev_of_mean(&s) == 0);
	assert_true(series_rel_stdev_pct(&s) == 0);
	for (size_t i = 0; i < 4; i++)
		series_add(&s, x[i]);
	assert_int_equal(s.n, 4);
	assert_true(s.mean == 10 && s.min == 4 && s.max == 16);
	/* variance 30, of the mean 30 / 4 */
	assert_true(fabs(series_stdev_of_mean(&s) - sqrt(7.5)) < 1e-12);
	assert_true(fabs(series_rel_stdev_pct(&s) - 10 * sqrt(7.5)) < 1e-12);
}

static void one_value_and_negative_ones(void **state)
{
	struct series s = { 0 };

	(void)state;
	series_add(&s, -3);
	assert_true(s.mean == -3 && s.min == -3 && s.max == -3);
	assert_true(series_stdev_of_mean(&s) == 0);
	series_add(&s, -5);
	assert_true(series_rel_stdev_pct(&s) == 25);
	series_add(&s, 8); /* the mean is 0: a share of it means nothing */
	assert_true(series_rel_stdev_pct(&s) == 0);
}

/* Big numbers that differ little: sums of squares would lose all digits. */
static void big_numbers_lose_no_digits(void **state)
{
	struct series s = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++)
		series_add(&s, 1e15 + (i % 2 ? 1 : -1));
	assert_true(fabs(series_stdev_of_mean(&s) - sqrt(1000.0 / 999 / 1000)) < 1e-6);
}

static void assert_near(double found, double expected, double off)
{
	if (!(fabs(found - expected) <= off))
		fail_msg("%.9g is not %.9g", found, expected);
}

/* Quantiles of Student's distribution, two-sided, as tables have them. */
static void t_is_as_in_tables(void **state)
{
	static const struct {
		double probability, freedom, t;
	} rows[] = {
		{ 0.95, 1, 12.7062 }, { 0.95, 2, 4.30265 }, { 0.95, 4, 2.77645 },    { 0.99, 4, 4.60409 },
		{ 0.95, 10, 2.22814 }, { 0.999, 10, 4.58689 }, { 0.95, 30, 2.04227 }, { 0.99, 120, 2.61742 },
		{ 0.95, INFINITY, 1.959964 }, { 0.999, INFINITY, 3.290527 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_near(t_quantile(rows[i].probability, rows[i].freedom), rows[i].t, 2e-5 * rows[i].t);
		assert_near(t_two_sided(rows[i].t, rows[i].freedom), 1 - rows[i].probability, 1e-6);
	}
	assert_near(t_two_sided(0, 5), 1, 1e-12);
	assert_near(t_two_sided(1e9, 3), 0, 1e-12);
}

/* Formulas of 1, 2 and 4 degrees of freedom, and of the normal distribution, agree to nearly all digits. */
static void t_is_as_formulas_say(void **state)
{
	(void)state;
	for (double t = 1e-4; t < 30; t *= 1.07) {
		double two = t / sqrt(2 + t * t), four = t / sqrt(4 + t * t);

		assert_near(t_two_sided(t, 1), 1 - 2 / acos(-1) * atan(t), 1e-12);
		assert_near(t_two_sided(t, 2), 1 - two, 1e-12);
		assert_near(t_two_sided(-t, 4), 1 - four * (1.5 - four * four / 2), 1e-12);
		assert_near(t_two_sided(t, INFINITY), erfc(t / sqrt(2)), 1e-12 * erfc(t / sqrt(2)));
		assert_near(t_two_sided(t, 9e6), erfc(t / sqrt(2)), 1e-6 * (1 + t * t * t * t) * erfc(t / sqrt(2)));
	}
	assert_near(t_two_sided(50, INFINITY), 0, 1e-300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mean_and_deviation),
		cmocka_unit_test(one_value_and_negative_ones),
		cmocka_unit_test(big_numbers_lose_no_digits),
		cmocka_unit_test(t_is_as_in_tables),
		cmocka_unit_test(t_is_as_formulas_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
