/* SPDX-License-Identifier: MIT */
/*
 * Comparisons of commands: the order of a round, and what is said of numbers that are fed. How often a verdict is
 * wrong, or found, is test_compare_chance.c's.
 */
#include "compare_feed.h"
#include "fake_machine.h"

#include <math.h>

static struct compare_row row_of(const struct compare_question *question, size_t command, size_t column)
{
	struct compare_result result;
	struct compare_row row;

	compare_analyse(&fed.data, question, &result);
	row = result.rows[command * fed.data.n_columns + column];
	compare_result_release(&result);
	return row;
}

/* ---- chance ---- */

static void orders_are_as_likely(void **state)
{
	struct chance chance = { 7 };
	size_t seen[6] = { 0 }, order[3];

	(void)state;
	for (int i = 0; i < 60000; i++) {
		chance_order(&chance, order, 3);
		assert_int_equal(order[0] + order[1] + order[2], 3);
		seen[2 * order[0] + (order[1] > order[2])]++;
	}
	for (size_t i = 0; i < 6; i++) /* within five deviations */
		assert_in_range(seen[i], 10000 - 5 * 92, 10000 + 5 * 92);
}

static void chance_repeats_itself(void **state)
{
	struct chance one = { 123456789 }, two = { 123456789 }, other = { 123456790 };
	int differ = 0;

	(void)state;
	for (uint64_t n = 1; n < 1000; n++) {
		uint64_t x = chance_below(&one, n);

		assert_true(x < n);
		assert_int_equal(chance_below(&two, n), x);
		differ += chance_below(&other, n) != x;
	}
	assert_true(differ > 900);
}

/* ---- verdicts ---- */

/* The second command takes these many percent more than the first, in rounds that get slower. */
static void rows_and_verdicts(void **state)
{
	static const struct {
		double less, more; /* percent, of every other round */
		double threshold_pct;
		enum compare_verdict verdict;
	} rows[] = {
		{ 3, 5, 1, COMPARE_SLOWER },	 { -5, -3, 1, COMPARE_FASTER },	  { 0, 0, 0, COMPARE_SAME },
		{ -0.3, 0.3, 1, COMPARE_SAME },	 { 0.1, 0.2, 1, COMPARE_SAME },	  { 0.5, 3, 1, COMPARE_DIFFERS },
		{ -3, 3, 1, COMPARE_UNDECIDED }, { 3, 3, 0, COMPARE_SLOWER },	  { 0.001, 0.001, 0, COMPARE_SLOWER },
	};
	struct compare_question question = { .alpha = 0.05 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct compare_row row;

		print_message("%g to %g\n", rows[i].less, rows[i].more);
		feed(20, 1);
		for (size_t round = 0; round < 20; round++) {
			double base = 1 + (double)round / 10, pct = round % 2 ? rows[i].less : rows[i].more;

			compare_values(&fed.data, round, 0)[0] = base;
			compare_values(&fed.data, round, 1)[0] = base * (1 + pct / 100);
		}
		question.threshold = rows[i].threshold_pct / 100;
		row = row_of(&question, 1, 0);
		assert_string_equal(compare_verdict_words[row.verdict], compare_verdict_words[rows[i].verdict]);
		assert_true(row.n == 20 && row.n_pairs == 20 && !row.absolute);
		assert_true(100 * row.low >= rows[i].less - 1e-9 && 100 * row.high <= rows[i].more + 1e-9);
		assert_int_equal(row.rounds_needed > 0, row.verdict == COMPARE_UNDECIDED);
		assert_int_equal(row_of(&question, 0, 0).verdict, COMPARE_REFERENCE);
	}
}

static void zeros_are_compared_by_differences(void **state)
{
	const struct compare_question question = { .alpha = 0.05, .threshold = 0.01 };
	struct compare_row row;

	(void)state;
	feed(10, 2);
	for (size_t round = 0; round < 10; round++)
		compare_values(&fed.data, round, 1)[1] = 3;
	row = row_of(&question, 1, 0);
	assert_true(row.absolute && row.change == 0 && row.low == 0 && row.high == 0 && row.p == 1);
	assert_int_equal(row.verdict, COMPARE_SAME);
	row = row_of(&question, 1, 1);
	assert_true(row.absolute && row.change == 3 && row.low == 3 && row.high == 3);
	assert_int_equal(row.verdict, COMPARE_SLOWER);
}

static void no_interval_without_enough_rounds(void **state)
{
	const struct compare_question question = { .alpha = 0.05, .threshold = 0.01 };

	(void)state;
	assert_int_equal(compare_rounds_least(2, 1, 0.05), 6);
	assert_int_equal(compare_rounds_least(5, 11, 0.05), 11);
	assert_int_equal(compare_rounds_least(1, 11, 0.05), 1);
	for (size_t n = 1; n < 8; n++) {
		feed(n, 1);
		for (size_t i = 0; i < 2 * n; i++)
			fed.values[i] = i % 2 ? 2 : 1;
		assert_int_equal(row_of(&question, 1, 0).verdict, n < 6 ? COMPARE_WITHHELD : COMPARE_SLOWER);
	}
	/* Whoever ends it when he likes what he sees has planned nothing. */
	fed.session.interrupted = true;
	assert_int_equal(row_of(&question, 1, 0).verdict, COMPARE_WITHHELD);
	assert_true(isinf(row_of(&question, 1, 0).low));
}

static void rounds_that_were_not_measured(void **state)
{
	const struct compare_question question = { .alpha = 0.05, .threshold = 0.01 };
	struct compare_row row;

	(void)state;
	feed(20, 1);
	for (size_t i = 0; i < 40; i++)
		fed.values[i] = i % 2 ? 2 : 1;
	compare_values(&fed.data, 3, 0)[0] = NAN;
	compare_values(&fed.data, 5, 1)[0] = NAN;
	row = row_of(&question, 1, 0);
	assert_true(row.n == 19 && row.n_pairs == 18 && fabs(row.change - 1) < 1e-12);
}

static void a_command_is_described(void **state)
{
	const double values[] = { 4, 1, 2, 100, 3, 5, 2.5 };
	const struct compare_question question = { .alpha = 0.05 };
	struct compare_row row;

	(void)state;
	feed(7, 1);
	for (size_t i = 0; i < 7; i++)
		compare_values(&fed.data, i, 0)[0] = compare_values(&fed.data, i, 1)[0] = values[i];
	row = row_of(&question, 1, 0);
	assert_true(row.median == 3 && row.min == 1 && row.max == 100 && row.n_outliers == 1);
	assert_true(fabs(row.mean - 117.5 / 7) < 1e-12 && fabs(row.deviation - 36.717) < 0.01);
}

/* Commands that were measured at different times have medians, but no interval and no share of alpha. */
static void other_sessions_are_not_judged(void **state)
{
	static char file[] = "x.json";
	const struct compare_question question = { .alpha = 0.05, .threshold = 0.01 };
	struct compare_session sessions[2];
	struct compare_result result;
	const struct compare_row *row;

	(void)state;
	feed(20, 1);
	sessions[0] = sessions[1] = (struct compare_session){ .file = file, .by_chance = true, .n_rounds = 20 };
	for (size_t i = 0; i < 40; i++)
		fed.values[i] = i % 2 ? 3 : 2;
	fed.data.sessions = sessions;
	fed.data.n_sessions = 2;
	fed.commands[1].session = 1;
	compare_analyse(&fed.data, &question, &result);
	row = &result.rows[1];
	assert_true(row->compared && !row->n_pairs && row->change == 0.5 && isinf(row->low) && isnan(row->p));
	assert_int_equal(row->verdict, COMPARE_WITHHELD);
	assert_int_equal(result.n_rows, 0);
	assert_int_equal(result.notes.n, 1);
	compare_result_release(&result);

	/* In one session, but all runs of a command before those of the next: the same. */
	fed.commands[1].session = 0;
	fed.data.n_sessions = 1;
	sessions[0].by_chance = false;
	assert_int_equal(row_of(&question, 1, 0).verdict, COMPARE_WITHHELD);
	sessions[0].by_chance = true;
	assert_int_equal(row_of(&question, 1, 0).verdict, COMPARE_SLOWER);
}

static void conditions_are_said(void **state)
{
	struct fake_machine machine;
	struct note_list notes = { 0 };

	(void)state;
	fake_machine_init(&machine);
	compare_note_conditions(&machine.host, &notes);
	assert_int_equal(notes.n, 0);
	fake_machine_file(&machine, "sys/devices/system/cpu/online", "0-3\n");
	fake_machine_file(&machine, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
	fake_machine_file(&machine, "proc/loadavg", "1.90 2.00 3.00 1/100 5\n");
	compare_note_conditions(&machine.host, &notes);
	assert_int_equal(notes.n, 0);
	fake_machine_file(&machine, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
	fake_machine_file(&machine, "proc/loadavg", "2.10 2.00 3.00 1/100 5\n");
	compare_note_conditions(&machine.host, &notes);
	assert_int_equal(notes.n, 2);
	assert_string_equal(notes.v[0].text,
			    "the frequency of the CPUs changes with what they do: their governor is 'powersave'");
	assert_string_equal(notes.v[1].text,
			    "the machine is busy: 2.1 programs ran on its 4 CPUs in the last minute");
	note_list_release(&notes);
	fake_machine_release(&machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders_are_as_likely),
		cmocka_unit_test(chance_repeats_itself),
		cmocka_unit_test(rows_and_verdicts),
		cmocka_unit_test(zeros_are_compared_by_differences),
		cmocka_unit_test(no_interval_without_enough_rounds),
		cmocka_unit_test(rounds_that_were_not_measured),
		cmocka_unit_test(a_command_is_described),
		cmocka_unit_test(other_sessions_are_not_judged),
		cmocka_unit_test(conditions_are_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
