/* SPDX-License-Identifier: MIT */
/*
 * How sure a scaled value is: slices, what they know, and the rows that say it. How often it holds is measured in
 * test_coverage.c.
 */
#include "count_sample.h"
#include "stat/run.h"

#include <math.h>

enum { NS = 1000000 };

/* One counter, as a row of its own. */
struct one {
	struct slices slices;
	struct pool pool;
};

static void read_one(struct one *one, double value, uint64_t enabled, uint64_t running)
{
	slices_add(&one->slices, &one->pool, (uint64_t)value, enabled, running);
	pool_end_read(&one->pool);
}

static void close_one(struct one *one)
{
	slices_close(&one->slices, &one->pool);
	pool_end_read(&one->pool);
}

static void count_one(struct one *one, bool since_last, uint64_t enabled, uint64_t running,
		      struct evidence *evidence)
{
	slices_count(evidence, &one->slices, since_last, enabled, running);
	pool_count(evidence, &one->pool, since_last);
}

static struct estimate estimate_one(struct one *one)
{
	struct evidence evidence = { 0 };
	const struct slices *s = &one->slices;

	count_one(one, false, s->enabled_ns, s->running_ns, &evidence);
	return estimate_make(&evidence, (double)s->value * (double)s->enabled_ns / (double)s->running_ns);
}

/* Numbers that jump about, the same each time. */
static double noisy(uint64_t i)
{
	return (double)(i * i * 7919 % 101);
}

/* The turn comes first in each slice, so a rate that rises all the time is always seen too early. */
static void a_long_rise_is_inside(void **state)
{
	struct one one = { 0 };
	struct estimate estimate;
	double value = 0, truth = 0, rate = 1;
	uint64_t enabled = 0, running = 0;

	(void)state;
	for (int slice = 0; slice < 2000; slice++) {
		for (int ms = 0; ms < 40; ms++, rate += 1) {
			enabled += NS;
			truth += rate;
			running += ms < 20 ? NS : 0;
			value += ms < 20 ? rate : 0;
		}
		read_one(&one, value, enabled, running);
	}
	estimate = estimate_one(&one);
	assert_int_equal(estimate.state, ESTIMATE_OK);
	assert_true(fabs(2 * value - truth) <= estimate.error);
	assert_true(estimate.error < truth / 1000);
}

/* Another user comes whenever the rate is higher: the value leans to the lower one. */
static void a_share_that_changes_with_the_rate(void **state)
{
	struct one one = { 0 };
	struct estimate estimate;
	double value = 0, truth = 0, off;
	uint64_t enabled = 0, running = 0;

	(void)state;
	for (int slice = 0; slice < 400; slice++) {
		double rate = (slice / 10 % 2 ? 3000 : 1000) + noisy((uint64_t)slice);
		int share = slice / 10 % 2 ? 8 : 36;

		truth += 40 * rate;
		value += share * rate;
		enabled += 40 * NS;
		running += (uint64_t)share * NS;
		read_one(&one, value, enabled, running);
	}
	estimate = estimate_one(&one);
	assert_int_equal(estimate.state, ESTIMATE_OK);
	off = fabs(value * (double)enabled / (double)running - truth);
	assert_true(off > truth / 4);
	assert_true(off <= estimate.error + 1 && estimate.error < 1.5 * off);
}

/* ---- what is withheld ---- */

static void too_few_slices(void **state)
{
	struct one one = { 0 };

	(void)state;
	for (uint64_t i = 1; i <= COMPARISONS_MIN; i++)
		read_one(&one, (double)(1000 * i) + noisy(i), 20 * NS * i, 10 * NS * i);
	assert_int_equal(estimate_one(&one).state, ESTIMATE_FEW_SLICES);
	for (uint64_t i = COMPARISONS_MIN + 1; i <= 40; i++)
		read_one(&one, (double)(1000 * i) + noisy(i), 20 * NS * i, 10 * NS * i);
	assert_int_equal(estimate_one(&one).state, ESTIMATE_OK);
	assert_null(estimate_reason(ESTIMATE_OK));
}

static void slices_that_are_all_alike(void **state)
{
	struct one one = { 0 };

	(void)state;
	for (uint64_t i = 1; i <= 100; i++)
		read_one(&one, (double)(100000 * i), 20 * NS * i, 10 * NS * i);
	assert_int_equal(estimate_one(&one).state, ESTIMATE_ALIKE);
	assert_non_null(estimate_reason(ESTIMATE_ALIKE));
}

/* Of 200 slices one or two are different. */
static void few_slices_carry_the_variance(void **state)
{
	struct one one = { 0 };
	double value = 0;

	(void)state;
	for (uint64_t i = 1; i <= 200; i++) {
		value += 1000 + noisy(i) / 10 + (i == 50 || i == 120 ? 100000 : 0);
		read_one(&one, value, 20 * NS * i, 10 * NS * i);
	}
	assert_int_equal(estimate_one(&one).state, ESTIMATE_FEW_DIFFERENCES);
}

/* Five numbers, again and again, are not four hundred: the interval is that of five. */
static void slices_that_repeat(void **state)
{
	static const double pattern[2][5] = { { 1000, 1010, 980, 1020, 990 }, { 0, 9000, 0, 0, 100 } };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct one one = { 0 };
		struct estimate estimate;
		double value = 0;

		for (uint64_t k = 0; k < 400; k++) {
			value += pattern[i][k % 5] + noisy(k) / 100;
			read_one(&one, value, 20 * NS * (k + 1), 10 * NS * (k + 1));
		}
		estimate = estimate_one(&one);
		if (i) {
			assert_int_equal(estimate.state, ESTIMATE_IN_STEP);
			continue;
		}
		assert_int_equal(estimate.state, ESTIMATE_OK);
		/* t of 4 degrees of freedom, a variance of neighbours of about 16^2, half of it seen. */
		assert_true(estimate.error > 0.005 * 2 * value && estimate.error < 0.03 * 2 * value);
	}
}

static void long_stretches_are_not_seen(void **state)
{
	(void)state;
	for (uint64_t lost = 6; lost <= 20; lost += 14) {
		struct one one = { 0 };
		uint64_t running = 0;
		double value = 0;

		for (uint64_t i = 1; i <= 100; i++) {
			bool seen = i < 40 || i >= 40 + lost;

			running += seen ? 10 * NS : 0;
			value += seen ? 1000 + noisy(i) : 0;
			read_one(&one, value, 20 * NS * i, running);
		}
		assert_int_equal(estimate_one(&one).state == ESTIMATE_UNSEEN, lost > 10);
	}
}

static void nothing_was_counted(void **state)
{
	struct one one = { 0 };

	(void)state;
	for (uint64_t i = 1; i <= 100; i++)
		read_one(&one, 0, 20 * NS * i, 10 * NS * i);
	assert_int_equal(estimate_one(&one).state, ESTIMATE_NOTHING);
}

/* ---- sums ---- */

/* Two counters that see the same, and two that see each their own: the same variance each, another of the sum. */
static void what_is_common_adds_up(void **state)
{
	struct estimate estimates[3];

	(void)state;
	for (int kind = 0; kind < 3; kind++) {
		struct slices slices[2] = { { .turn_kind = 0 }, { .turn_kind = kind == 2 } };
		struct pool pool = { 0 };
		struct evidence evidence = { 0 };
		double value[2] = { 0 };

		for (uint64_t i = 1; i <= 400; i++) {
			for (int c = 0; c < 2; c++) {
				value[c] += 1000 + noisy(kind == 1 ? i : i + 977 * (uint64_t)c);
				slices_add(&slices[c], &pool, (uint64_t)value[c], 20 * NS * i, 10 * NS * i);
			}
			pool_end_read(&pool);
		}
		for (int c = 0; c < 2; c++)
			slices_count(&evidence, &slices[c], false, 8000ull * NS, 4000ull * NS);
		pool_count(&evidence, &pool, false);
		estimates[kind] = estimate_make(&evidence, 2 * (value[0] + value[1]));
		assert_int_equal(estimates[kind].state, ESTIMATE_OK);
	}
	assert_true(estimates[1].error > 1.3 * estimates[0].error);
	assert_true(estimates[2].error < 1.2 * estimates[0].error);
}

/* A bias stays what it is in a mean, noise gets less. */
static void lag_adds_up_with_its_sign(void **state)
{
	struct evidence up = { .lag = 3 }, sum = { 0 }, down = { .lag = -3 };

	(void)state;
	for (int i = 0; i < 4; i++)
		evidence_add(&sum, &up);
	assert_true(sum.lag == 12);
	for (int i = 0; i < 4; i++)
		evidence_add(&sum, &down);
	assert_true(sum.lag == 0);
}

static void kinds_of_turns(void **state)
{
	(void)state;
	/* Fewer lists than groups: one kind. */
	assert_int_equal(slices_turn_kind(2, 3, 4), 0);
	assert_int_equal(slices_turn_kind(2, 4, 4), 2);
	assert_int_equal(slices_turn_kind(6, 8, 4), 2);
	assert_true(slices_turn_kind(30, 64, 32) < TURN_KINDS);
	assert_int_equal(slices_turn_kind(3, 8, 0), 0);
}

/* ---- one event in several groups ---- */

static void make_copies(struct copy *copies, size_t n, double distance)
{
	for (size_t i = 0; i < n; i++)
		copies[i] = (struct copy){
			.value = 1000000 + distance * (double)i,
			.spread = 1000000,
			.estimate = { .state = ESTIMATE_OK, .error = 10000, .unit_variance = 100, .freedom = 50 },
		};
}

static void copies_of_one_event(void **state)
{
	struct copy copies[4];
	double scatter;

	(void)state;
	/* The standard deviation of each is 10000. */
	make_copies(copies, 4, 8000);
	assert_true(copies_agree(copies, 4, &scatter));
	make_copies(copies, 4, 40000);
	assert_false(copies_agree(copies, 4, &scatter));
	assert_true(scatter > 120000 && scatter < 200000);
	copy_widen(&copies[0], false, scatter);
	assert_true(copies[0].estimate.state == ESTIMATE_OK && copies[0].estimate.error == scatter);
	copy_widen(&copies[1], true, scatter);
	assert_int_equal(copies[1].estimate.state, ESTIMATE_IN_STEP);
	/* An interval wider than the value says nothing. */
	copy_widen(&copies[2], false, 2e6);
	assert_int_equal(copies[2].estimate.state, ESTIMATE_IN_STEP);
	assert_true(copies_agree(copies, 1, &scatter));
}

/* No difference from slice to slice, and all between the groups. */
static void copies_that_are_each_steady(void **state)
{
	struct copy copies[4];
	double scatter;

	(void)state;
	make_copies(copies, 4, 400);
	for (size_t i = 0; i < 4; i++)
		copies[i].estimate = (struct estimate){ .state = ESTIMATE_ALIKE, .freedom = 50 };
	assert_true(copies_agree(copies, 4, &scatter));
	make_copies(copies, 4, 10000);
	for (size_t i = 0; i < 4; i++)
		copies[i].estimate = (struct estimate){ .state = ESTIMATE_ALIKE, .freedom = 50 };
	assert_false(copies_agree(copies, 4, &scatter));
	copy_widen(&copies[0], false, scatter);
	assert_int_equal(copies[0].estimate.state, ESTIMATE_OK);
}

/* ---- slices ---- */

/* A slice ends when there was a turn and a pause; one without a turn belongs to that before. */
static void slices_have_a_turn_and_a_pause(void **state)
{
	struct one one = { 0 };
	const struct slice_sums *sums = &one.slices.sums;

	(void)state;
	read_one(&one, 10, 20, 20);
	assert_int_equal(sums->n, 0);
	read_one(&one, 10, 40, 20);
	assert_int_equal(sums->n, 1);
	read_one(&one, 10, 60, 20);
	close_one(&one);
	assert_int_equal(sums->n, 1);
	assert_true(sums->enabled_ns == 60 && sums->running_ns == 20);
	assert_true(sums->local == 30);
	assert_true(sums->square == 60.0 * 60 / 20);
	/* Where it runs all the time slices end all the same. */
	for (uint64_t i = 1; i <= 16; i++)
		read_one(&one, (double)(10 + i), 60 + 20 * i, 20 + 20 * i);
	assert_int_equal(sums->n, 3);
}

static void times_that_stand_still(void **state)
{
	struct one one = { 0 };

	(void)state;
	close_one(&one);
	read_one(&one, 10, 40, 20);
	read_one(&one, 10, 40, 20);
	read_one(&one, 9, 80, 19);
	close_one(&one);
	assert_int_equal(one.slices.sums.n, 1);
	assert_true(one.slices.sums.enabled_ns == 40);
}

static void slices_of_an_interval(void **state)
{
	struct evidence all = { 0 }, half = { 0 }, rest = { 0 };
	struct estimate whole, sum;
	struct one one = { 0 };

	(void)state;
	for (uint64_t i = 1; i <= 80; i++) {
		read_one(&one, (double)(1000 * i) + noisy(i), 20 * NS * i, 8 * NS * i);
		if (i == 40)
			count_one(&one, true, 800 * NS, 320 * NS, &half);
	}
	count_one(&one, true, 800 * NS, 320 * NS, &rest);
	count_one(&one, false, 1600 * NS, 640 * NS, &all);
	assert_true(half.enabled_ns == 800.0 * NS && rest.enabled_ns == 800.0 * NS);
	assert_true(half.pool.times[0] == 39 && rest.pool.times[0] == 40);
	evidence_add(&half, &rest);
	assert_true(half.pool.times[0] == all.pool.times[0]);
	whole = estimate_make(&all, 200000);
	sum = estimate_make(&half, 200000);
	assert_true(sum.error > 0.9 * whole.error && sum.error < 1.1 * whole.error);
}

/* A rotation of ticks of 4 ms, or what a read costs a hundred times; neither too short nor too long. */
static void slices_are_about_one_rotation(void **state)
{
	(void)state;
	assert_int_equal(slicing_interval_ns(0.25, 20000), 16 * NS);
	assert_int_equal(slicing_interval_ns(0.1, 20000), 40 * NS);
	assert_int_equal(slicing_interval_ns(0.9, 20000), 8 * NS);
	assert_int_equal(slicing_interval_ns(0.001, 20000), 200 * NS);
	assert_int_equal(slicing_interval_ns(0.25, 3 * NS), 300 * NS);
}

/* ---- in a report ---- */

static void read_at(struct world *w, uint64_t i, uint64_t per_read)
{
	world_read(w, (double)i * 0.02, 0.02);
	feed(w, 0, 0, 0, per_read * i + (i * i * 7919) % 100, 20 * NS * i, 10 * NS * i);
	feed(w, 0, 1, 0, per_read * i, 20 * NS * i, 20 * NS * i);
}

static void rows_say_how_sure_they_are(void **state)
{
	const struct stat_report *report;
	const struct stat_row *row;
	struct world w;

	(void)state;
	world_init(&w, AGGR_CPU, TARGET_CPUS, "0-1");
	world_cycles(&w);
	world_start(&w);
	aggregation_keep_slices(w.reporter->counts);
	for (uint64_t i = 1; i <= 5; i++)
		read_at(&w, i, 1000);
	row = row_of(world_report(&w, REPORT_FINAL), "CPU0", "cycles");
	assert_true(row->scaled && !row->has_scale_error);
	assert_string_equal(row->scale_error_reason, estimate_reason(ESTIMATE_FEW_SLICES));
	for (uint64_t i = 6; i <= 40; i++)
		read_at(&w, i, 1000);
	report = world_report(&w, REPORT_FINAL);
	row = row_of(report, "CPU0", "cycles");
	assert_true(row->has_scale_error && !row->scale_error_reason);
	assert_true(row->scale_error_pct > 0.1 && row->scale_error_pct < 10);
	row = row_of(report, "CPU1", "cycles");
	assert_true(!row->scaled && !row->has_scale_error && !row->scale_error_reason);
	/* The last interval had one slice. */
	assert_false(row_of(world_report(&w, REPORT_INTERVAL), "CPU0", "cycles")->has_scale_error);
	world_release(&w);
}

/* A sum is as sure as its parts; a part of more than a tenth, of which nothing is known, makes it unknown. */
static bool sum_has_error(uint64_t of_another_ms)
{
	const struct stat_row *row;
	struct world w;
	bool has;

	world_init(&w, AGGR_TOTAL, TARGET_CPUS, "0-2");
	world_cycles(&w);
	world_start(&w);
	aggregation_keep_slices(w.reporter->counts);
	for (uint64_t i = 1; i <= 40; i++) {
		read_at(&w, i, 1000);
		feed(&w, 0, 2, 0, i < 40 ? 0 : 10 * of_another_ms, i < 40 ? 0 : of_another_ms * NS,
		     i < 40 ? 0 : of_another_ms * NS / 2);
	}
	row = row_of(world_report(&w, REPORT_FINAL), "", "cycles");
	assert_true(row->scaled);
	has = row->has_scale_error;
	world_release(&w);
	return has;
}

static void sums_of_cells(void **state)
{
	(void)state;
	assert_true(sum_has_error(0));
	assert_true(sum_has_error(50));
	assert_false(sum_has_error(300));
}

/* cycles in two groups and instructions in a third; what the second group counts more, in percent. */
static void rows_of_three_groups(struct world *w, struct note_list *notes, uint64_t more_pct)
{
	world_init(w, AGGR_TOTAL, TARGET_CPUS, "0");
	w->plan.notes = notes;
	world_cycles(w);
	world_cycles(w);
	world_instructions(w);
	world_start(w);
	aggregation_keep_slices(w->reporter->counts);
	assert_true(aggregation_read_slices(w->reporter->counts) == 1);
	for (uint64_t i = 1; i <= 60; i++) {
		world_read(w, (double)i * 0.02, 0.02);
		for (uint64_t event = 0; event < 3; event++)
			feed(w, event, 0, 0,
			     (event == 1 ? 100 + more_pct : 100) * 10 * i + (uint64_t)noisy(i + 31 * event),
			     20 * NS * i, 7 * NS * i);
	}
}

static void groups_that_do_not_agree(void **state)
{
	const struct stat_report *report;
	struct note_list notes = { 0 };
	struct world w;

	(void)state;
	rows_of_three_groups(&w, &notes, 1);
	report = world_report(&w, REPORT_FINAL);
	assert_int_equal(report->n_rows, 3);
	for (size_t i = 0; i < 3; i++)
		assert_true(report->rows[i].has_scale_error && report->rows[i].scale_error_pct < 3);
	assert_int_equal(notes.n, 0);
	world_release(&w);

	rows_of_three_groups(&w, &notes, 9);
	report = world_report(&w, REPORT_FINAL);
	/* t of one degree of freedom times the deviation of two values that are 9 % apart. */
	for (size_t i = 0; i < 2; i++)
		assert_true(report->rows[i].has_scale_error && report->rows[i].scale_error_pct > 70);
	assert_string_equal(report->rows[2].scale_error_reason, estimate_reason(ESTIMATE_IN_STEP));
	assert_int_equal(notes.n, 1);
	assert_non_null(strstr(notes.v[0].text, "keep step with the program"));
	world_release(&w);
	note_list_release(&notes);
}

static void means_are_surer_than_their_runs(void **state)
{
	double of_one = 0;
	struct world w;

	(void)state;
	world_init(&w, AGGR_CPU, TARGET_CPUS, "0-1");
	w.plan.repeat = 4;
	world_cycles(&w);
	world_reporter(&w);
	for (unsigned run = 0; run < 4; run++) {
		const struct stat_row *row;

		world_attach(&w);
		aggregation_keep_slices(w.reporter->counts);
		for (uint64_t i = 1; i <= 40; i++)
			read_at(&w, i, 1000);
		world_end_run(&w, &(struct count_clock){ .elapsed_ns = 1000000000 });
		row = row_of(world_report(&w, REPORT_FINAL), "CPU0", "cycles");
		assert_true(row->has_scale_error);
		if (!run)
			of_one = row->scale_error_pct;
		else
			assert_true(row->scale_error_pct < of_one);
	}
	world_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_rise_is_inside),
		cmocka_unit_test(a_share_that_changes_with_the_rate),
		cmocka_unit_test(too_few_slices),
		cmocka_unit_test(slices_that_are_all_alike),
		cmocka_unit_test(few_slices_carry_the_variance),
		cmocka_unit_test(slices_that_repeat),
		cmocka_unit_test(long_stretches_are_not_seen),
		cmocka_unit_test(nothing_was_counted),
		cmocka_unit_test(what_is_common_adds_up),
		cmocka_unit_test(lag_adds_up_with_its_sign),
		cmocka_unit_test(kinds_of_turns),
		cmocka_unit_test(copies_of_one_event),
		cmocka_unit_test(copies_that_are_each_steady),
		cmocka_unit_test(slices_have_a_turn_and_a_pause),
		cmocka_unit_test(times_that_stand_still),
		cmocka_unit_test(slices_of_an_interval),
		cmocka_unit_test(slices_are_about_one_rotation),
		cmocka_unit_test(rows_say_how_sure_they_are),
		cmocka_unit_test(sums_of_cells),
		cmocka_unit_test(groups_that_do_not_agree),
		cmocka_unit_test(means_are_surer_than_their_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
