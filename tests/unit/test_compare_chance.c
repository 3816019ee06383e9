/* SPDX-License-Identifier: MIT */
/*
 * Equal commands seldom look different, and different ones often do: shown with many comparisons under noise of six
 * kinds. Runs follow each other in time, as those of a machine do, in an order by chance; the numbers are the same in
 * each run of this test. What one comparison says is test_compare.c's.
 */
#include "compare_feed.h"

#include <math.h>

/* ---- noise ---- */

static struct chance noise;

static double uniform(void)
{
	return (double)chance_below(&noise, 1ULL << 53) / (double)(1ULL << 53);
}

static double normal(void)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += uniform();
	return sum;
}

/* What is added to the logarithm of a run, by its number in time, of n, and its place in its round. */
static double by_itself(size_t at, size_t n, size_t position)
{
	(void)at;
	(void)n;
	(void)position;
	return 0.02 * normal();
}

static double drifting(size_t at, size_t n, size_t position)
{
	(void)position;
	return 0.02 * normal() + 0.1 * (double)at / (double)n;
}

static double remembering(size_t at, size_t n, size_t position)
{
	static double last;

	(void)n;
	(void)position;
	last = at ? 0.9 * last + 0.01 * normal() : 0.02 * normal();
	return last;
}

/* Fast until it is hot, after a time that differs. */
static double turbo(size_t at, size_t n, size_t position)
{
	static size_t hot;

	(void)position;
	hot = at ? hot : chance_below(&noise, n);
	return 0.01 * normal() + (at < hot ? 0 : 0.08);
}

static double with_outliers(size_t at, size_t n, size_t position)
{
	(void)at;
	(void)n;
	(void)position;
	return 0.01 * normal() + (uniform() < 0.05 ? 0.5 * uniform() : 0);
}

static double by_place(size_t at, size_t n, size_t position)
{
	(void)at;
	(void)n;
	return 0.02 * normal() + 0.03 * (double)position;
}

static const struct {
	const char *name;
	double (*next)(size_t at, size_t n, size_t position);
	double power; /* at least so often 2 % are found in 20 rounds; 0: nothing is promised */
} models[] = {
	{ "by itself", by_itself, 0.75 },	 { "drift", drifting, 0 },	{ "memory", remembering, 0 },
	{ "turbo", turbo, 0.9 },		 { "outliers", with_outliers, 0.85 }, { "place", by_place, 0 },
};

/* Runs of two commands in time; the second has so much more in each column. */
static void play(size_t model, size_t n_rounds, size_t n_columns, double effect)
{
	feed(n_rounds, n_columns);
	for (size_t column = 0; column < n_columns; column++) {
		for (size_t round = 0; round < n_rounds; round++) {
			size_t order[COMMANDS];

			chance_order(&noise, order, COMMANDS);
			for (size_t at = 0; at < COMMANDS; at++)
				compare_values(&fed.data, round, order[at])[column] = exp(
					models[model].next(COMMANDS * round + at, COMMANDS * n_rounds, at) +
					(order[at] ? effect : 0));
		}
	}
}

static bool is_alarm(enum compare_verdict verdict)
{
	return verdict == COMPARE_SLOWER || verdict == COMPARE_FASTER || verdict == COMPARE_DIFFERS;
}

/* Of so many comparisons, those in which any row is said to differ. */
static size_t alarms(size_t model, size_t n_rounds, size_t n_columns, double effect, size_t comparisons)
{
	const struct compare_question question = { .alpha = 0.05 };
	size_t found = 0;

	for (size_t i = 0; i < comparisons; i++) {
		struct compare_result result;
		bool any = false;

		play(model, n_rounds, n_columns, effect);
		compare_analyse(&fed.data, &question, &result);
		for (size_t column = 0; column < n_columns; column++)
			any = any || is_alarm(result.rows[n_columns + column].verdict);
		found += any;
		compare_result_release(&result);
	}
	return found;
}

enum { COMPARISONS = 2000 };

static void equal_commands_seldom_look_different(void **state)
{
	(void)state;
	noise.state = 1;
	for (size_t model = 0; model < ARRAY_SIZE(models); model++) {
		for (size_t n_columns = 1; n_columns <= 7; n_columns += 6) {
			for (size_t n_rounds = 10; n_rounds <= 30; n_rounds += 20) {
				size_t found = alarms(model, n_rounds, n_columns, 0, COMPARISONS);

				print_message("%s, %zu rows, %zu rounds: %.2f %%\n", models[model].name, n_columns,
					      n_rounds, 100.0 * (double)found / COMPARISONS);
				assert_true((double)found <= 0.065 * COMPARISONS);
			}
		}
	}
}

static void two_percent_are_found(void **state)
{
	(void)state;
	noise.state = 2;
	for (size_t model = 0; model < ARRAY_SIZE(models); model++) {
		size_t found = alarms(model, 20, 1, 0.02, COMPARISONS);

		print_message("%s: %.1f %%\n", models[model].name, 100.0 * (double)found / COMPARISONS);
		assert_true((double)found >= models[model].power * COMPARISONS);
	}
}

/* ---- other designs: the table of pstat-compare(1) ---- */

/* All runs of one command before all of the other, and Welch's test. */
static bool blocks_differ(size_t model, size_t n)
{
	struct series series[COMMANDS] = { { 0 }, { 0 } };
	double off, error, freedom, a, b;

	for (size_t i = 0; i < COMMANDS * n; i++)
		series_add(&series[i / n], models[model].next(i, COMMANDS * n, 0));
	a = series_stdev_of_mean(&series[0]) * series_stdev_of_mean(&series[0]);
	b = series_stdev_of_mean(&series[1]) * series_stdev_of_mean(&series[1]);
	off = series[1].mean - series[0].mean;
	error = sqrt(a + b);
	freedom = (a + b) * (a + b) / ((a * a + b * b) / (double)(n - 1));
	return t_two_sided(off / error, freedom) <= 0.05;
}

/* One after the other, always in the same order. */
static bool turns_differ(size_t model, size_t n)
{
	double differences[ROUNDS_MAX];
	struct signed_rank found;

	for (size_t i = 0; i < n; i++) {
		differences[i] = models[model].next(COMMANDS * i, COMMANDS * n, 0);
		differences[i] -= models[model].next(COMMANDS * i + 1, COMMANDS * n, 1);
	}
	signed_rank(differences, n, 0.05, &found);
	return found.p <= 0.05;
}

static void false_alarms_of_other_designs(void **state)
{
	/* Percent, as the manual has them. */
	static const int blocks[] = { 6, 100, 65, 85, 1, 6 }, turns[] = { 5, 5, 1, 5, 6, 100 };

	(void)state;
	noise.state = 3;
	for (size_t model = 0; model < ARRAY_SIZE(models); model++) {
		size_t by_blocks = 0, by_turns = 0, n = 30;

		for (int i = 0; i < COMPARISONS; i++) {
			by_blocks += blocks_differ(model, n);
			by_turns += turns_differ(model, n);
		}
		print_message("%s: %.1f %%, %.1f %%\n", models[model].name, 100.0 * (double)by_blocks / COMPARISONS,
			      100.0 * (double)by_turns / COMPARISONS);
		assert_true(fabs(100.0 * (double)by_blocks / COMPARISONS - blocks[model]) < 1);
		assert_true(fabs(100.0 * (double)by_turns / COMPARISONS - turns[model]) < 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_commands_seldom_look_different),
		cmocka_unit_test(two_percent_are_found),
		cmocka_unit_test(false_alarms_of_other_designs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
