/*
 * How sure a scaled value is: workloads of known rates on counters that take turns, in steps of 1 ms, with
 * random numbers that are the same each time. The truth has to lie inside the interval about as often as is
 * claimed, 95 %: where phases are longer than slices more often, since these err on the safe side.
 */
#include "count_sample.h"

#include <math.h>

enum { RUNS = 400, TURN_MS = 4, READ_MS = 20, NS = 1000000 };

static uint64_t random_state;

static double uniform(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (double)(random_state >> 11) / 9007199254740992.0;
}

/* ---- workloads: counts of a millisecond ---- */

struct load {
	int ms, length_ms;
	double mean_ms; /* of a phase, or between bursts */
	bool fast;
};

static double constant(struct load *load)
{
	(void)load;
	return 1000000;
}

/* Of each millisecond by itself. */
static double noise(struct load *load)
{
	(void)load;
	return 500000 + 1000000 * uniform();
}

/* Three times as fast in every other phase; how long one lasts is chance. */
static double two_phases(struct load *load)
{
	if (uniform() < 1 / load->mean_ms)
		load->fast = !load->fast;
	return (load->fast ? 3 : 1) * (900000 + 200000 * uniform());
}

/* Always as long. */
static double fixed_phases(struct load *load)
{
	return load->ms / (int)load->mean_ms % 2 ? 3000000 : 1000000;
}

static double bursts(struct load *load)
{
	return uniform() < 1 / load->mean_ms ? 20000000 : 1000000;
}

static double rise(struct load *load)
{
	return 1000000 + 3000000.0 * load->ms / load->length_ms;
}

/* Few and far between. */
static double single_events(struct load *load)
{
	return uniform() < 1 / load->mean_ms;
}

/* ---- turns: so many events in a ring, the first ones of it have a counter ---- */

struct turns {
	int counters, events;
};
static const struct turns all_turns[] = { { 1, 2 }, { 2, 3 }, { 6, 12 }, { 7, 12 }, { 11, 12 } };

struct outcome {
	int inside, estimated;
	double error_pct, stated_pct; /* means */
};

static void one_run(double (*rate)(struct load *load), struct load load, const struct turns *turns,
		    struct outcome *outcome)
{
	int turn = (int)(uniform() * turns->events * TURN_MS), read = (int)(uniform() * READ_MS);
	int first_ms = (int)(uniform() * 1000);
	double value = 0, truth = 0, scaled, off, stated;
	uint64_t enabled = 0, running = 0;
	struct slices slices = { 0 };
	struct estimate estimate;

	for (int ms = 0; ms < load.length_ms; ms++) {
		double count;

		load.ms = rate == fixed_phases ? ms + first_ms : ms;
		count = rate(&load);
		truth += count;
		enabled += NS;
		if ((ms + turn) / TURN_MS % turns->events < turns->counters) {
			value += count;
			running += NS;
		}
		if ((ms + read) % READ_MS == 0)
			slices_add(&slices, (uint64_t)value, enabled, running);
	}
	slices_add(&slices, (uint64_t)value, enabled, running);
	slices_close(&slices);
	if (!estimate_make(&slices.sums, &estimate))
		return;
	scaled = value * (double)enabled / (double)running;
	off = fabs(scaled - truth);
	stated = estimate_error(&estimate);
	outcome->estimated++;
	outcome->inside += off <= stated + 1;
	outcome->error_pct += 100 * off / truth / RUNS;
	outcome->stated_pct += 100 * stated / truth / RUNS;
}

static struct outcome many_runs(double (*rate)(struct load *load), double mean_ms, int length_ms,
				const struct turns *turns)
{
	struct outcome outcome = { 0 };

	for (int run = 0; run < RUNS; run++) {
		random_state = 0x9e3779b97f4a7c15u * (uint64_t)(run + 1);
		for (int i = 0; i < 8; i++)
			uniform();
		one_run(rate, (struct load){ .length_ms = length_ms, .mean_ms = mean_ms }, turns,
			&outcome);
	}
	assert_int_equal(outcome.estimated, RUNS);
	return outcome;
}

/* The truth is inside in low to high percent of the runs, for all turns. */
static void expect_inside(double (*rate)(struct load *load), double mean_ms, int length_ms, double low,
			  double high)
{
	for (size_t i = 0; i < ARRAY_SIZE(all_turns); i++) {
		struct outcome o = many_runs(rate, mean_ms, length_ms, &all_turns[i]);
		double pct = 100.0 * o.inside / o.estimated;

		if (pct < low || pct > high)
			fail_msg("%d counters for %d events, %g ms, %d ms: %.1f %% inside, "
				 "error %.3f %%, stated %.3f %%",
				 all_turns[i].counters, all_turns[i].events, mean_ms, length_ms,
				 pct, o.error_pct, o.stated_pct);
	}
}

static void constant_rates_are_certain(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all_turns); i++) {
		struct outcome o = many_runs(constant, 1, 1000, &all_turns[i]);

		assert_int_equal(o.inside, RUNS);
		assert_true(o.stated_pct < 1e-6);
	}
}

static void noise_is_inside_as_often_as_claimed(void **state)
{
	(void)state;
	expect_inside(noise, 1, 1000, 92, 99);
	expect_inside(noise, 1, 4000, 92, 99);
	expect_inside(noise, 1, 20000, 92, 99);
}

static void phases_are_inside_at_least_as_often(void **state)
{
	(void)state;
	expect_inside(two_phases, 3, 4000, 92, 100);
	expect_inside(two_phases, 10, 4000, 92, 100);
	expect_inside(two_phases, 30, 4000, 92, 100);
	expect_inside(two_phases, 100, 4000, 94, 100);
	expect_inside(two_phases, 1000, 4000, 94, 100);
	expect_inside(fixed_phases, 37, 4000, 95, 100);
	expect_inside(fixed_phases, 333, 4000, 95, 100);
}

static void bursts_are_inside_as_often_as_claimed(void **state)
{
	(void)state;
	expect_inside(bursts, 10, 4000, 92, 99);
	expect_inside(bursts, 50, 4000, 92, 99);
}

static void a_rising_rate_is_inside(void **state)
{
	(void)state;
	expect_inside(rise, 1, 1000, 95, 100);
	expect_inside(rise, 1, 4000, 95, 100);
}

/* The turn comes first in each slice, so a rate that rises all the time is always seen too early. */
static void a_long_rise_is_inside(void **state)
{
	struct slices slices = { 0 };
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
		slices_add(&slices, (uint64_t)value, enabled, running);
	}
	assert_true(estimate_make(&slices.sums, &estimate));
	assert_true(fabs(2 * value - truth) <= estimate_error(&estimate));
	assert_true(estimate_error(&estimate) < truth / 1000);
}

/* Another user comes for the second half, in which the rate is higher: the value leans to the first. */
static void a_share_that_changes_with_the_rate(void **state)
{
	struct slices slices = { 0 };
	struct estimate estimate;
	double value = 0, truth = 0, off;
	uint64_t enabled = 0, running = 0;

	(void)state;
	for (int slice = 0; slice < 400; slice++) {
		double rate = slice < 200 ? 1000 : 3000;
		int share = slice < 200 ? 36 : 8;

		truth += 40 * rate;
		value += share * rate;
		enabled += 40 * NS;
		running += (uint64_t)share * NS;
		slices_add(&slices, (uint64_t)value, enabled, running);
	}
	assert_true(estimate_make(&slices.sums, &estimate));
	off = fabs(value * (double)enabled / (double)running - truth);
	assert_true(off > truth / 4);
	assert_true(off <= estimate_error(&estimate) + 1 && estimate_error(&estimate) < 1.2 * off);
}

static void single_events_are_inside_as_often_as_claimed(void **state)
{
	(void)state;
	expect_inside(single_events, 10, 4000, 92, 99);
}

/* On the safe side is not anywhere: the interval is of the order of the error. */
static void intervals_are_not_too_wide(void **state)
{
	struct outcome o = many_runs(noise, 1, 4000, &all_turns[2]);

	(void)state;
	/* The mean distance of a normal distribution is 0.41 of its 95 % interval. */
	assert_true(o.error_pct > 0.3 * o.stated_pct);
	o = many_runs(two_phases, 1000, 4000, &all_turns[2]);
	assert_true(o.stated_pct < 3);
}

/* The page says so: phases that keep step with the turns, and bursts so rare that few are seen. */
static void what_slices_cannot_tell(void **state)
{
	const struct turns in_step = { 2, 10 };
	struct outcome o = many_runs(fixed_phases, 5 * TURN_MS, 4000, &in_step);

	(void)state;
	assert_true(o.inside < RUNS * 9 / 10);
	o = many_runs(bursts, 1000, 4000, &in_step);
	assert_true(o.inside < RUNS * 9 / 10);
}

/* ---- slices ---- */

static void too_few_slices(void **state)
{
	struct slices slices = { 0 };
	struct estimate estimate;

	(void)state;
	for (unsigned i = 1; i <= SLICES_MIN; i++) {
		assert_false(estimate_make(&slices.sums, &estimate));
		slices_add(&slices, 100 * i, 20 * NS * i, 10 * NS * i);
	}
	assert_true(estimate_make(&slices.sums, &estimate));
	assert_true(estimate_error(&estimate) < 1e-6);
}

/* A slice ends when there was a turn and a pause; one without a turn belongs to that before. */
static void slices_have_a_turn_and_a_pause(void **state)
{
	struct slices slices = { 0 };

	(void)state;
	slices_add(&slices, 10, 20, 20);
	assert_int_equal(slices.sums.n, 0);
	slices_add(&slices, 10, 40, 20);
	assert_int_equal(slices.sums.n, 1);
	slices_add(&slices, 10, 60, 20);
	slices_close(&slices);
	assert_int_equal(slices.sums.n, 1);
	assert_true(slices.sums.enabled_ns == 60 && slices.sums.running_ns == 20);
	assert_true(slices.sums.local == 30);
	assert_true(slices.sums.square == 60.0 * 60 / 20);
	/* Where it runs all the time slices end all the same. */
	for (uint64_t i = 1; i <= 16; i++)
		slices_add(&slices, 10 + i, 60 + 20 * i, 20 + 20 * i);
	assert_int_equal(slices.sums.n, 3);
}

static void times_that_stand_still(void **state)
{
	struct slices slices = { 0 };

	(void)state;
	slices_close(&slices);
	slices_add(&slices, 10, 40, 20);
	slices_add(&slices, 10, 40, 20);
	slices_add(&slices, 9, 80, 19);
	slices_close(&slices);
	assert_int_equal(slices.sums.n, 1);
	assert_true(slices.sums.enabled_ns == 40);
}

static void slices_of_an_interval(void **state)
{
	struct slices slices = { 0 };
	struct slice_sums half, rest;
	struct estimate all, sum = { 0 }, part;

	(void)state;
	for (uint64_t i = 1; i <= 40; i++) {
		slices_add(&slices, 1000 * i + (i * i * 7919) % 100, 20 * NS * i, 8 * NS * i);
		if (i == 20)
			half = slices.sums;
	}
	rest = slice_sums_since(&slices.sums, &half);
	assert_int_equal(rest.n, 20);
	assert_true(rest.enabled_ns == 400.0 * NS);
	assert_true(estimate_make(&slices.sums, &all));
	assert_true(estimate_make(&half, &part));
	estimate_add(&sum, &part);
	assert_true(estimate_make(&rest, &part));
	estimate_add(&sum, &part);
	/* Variances add up: that of both halves is about that of the whole. */
	assert_true(sum.variance > 0.8 * all.variance && sum.variance < 1.25 * all.variance);
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
	for (uint64_t i = 6; i <= 40; i++)
		read_at(&w, i, 1000);
	report = world_report(&w, REPORT_FINAL);
	row = row_of(report, "CPU0", "cycles");
	assert_true(row->has_scale_error);
	assert_true(row->scale_error_pct > 0.1 && row->scale_error_pct < 10);
	assert_false(row_of(report, "CPU1", "cycles")->has_scale_error);
	/* The last interval had one slice. */
	assert_false(row_of(world_report(&w, REPORT_INTERVAL), "CPU0", "cycles")->has_scale_error);
	world_release(&w);
}

/* A sum is as sure as its parts; one part of which nothing is known makes it unknown. */
static void sums_of_cells(void **state)
{
	const struct stat_row *row;
	struct world w;

	(void)state;
	world_init(&w, AGGR_TOTAL, TARGET_CPUS, "0-2");
	world_cycles(&w);
	world_start(&w);
	aggregation_keep_slices(w.reporter->counts);
	for (uint64_t i = 1; i <= 40; i++) {
		read_at(&w, i, 1000);
		feed(&w, 0, 2, 0, 0, 0, 0);
	}
	row = row_of(world_report(&w, REPORT_FINAL), "", "cycles");
	assert_true(row->scaled && row->has_scale_error);
	read_at(&w, 41, 1000);
	feed(&w, 0, 2, 0, 10, 2 * NS, NS);
	row = row_of(world_report(&w, REPORT_FINAL), "", "cycles");
	assert_true(row->scaled && !row->has_scale_error);
	world_release(&w);
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
		cmocka_unit_test(constant_rates_are_certain),
		cmocka_unit_test(noise_is_inside_as_often_as_claimed),
		cmocka_unit_test(phases_are_inside_at_least_as_often),
		cmocka_unit_test(bursts_are_inside_as_often_as_claimed),
		cmocka_unit_test(a_rising_rate_is_inside),
		cmocka_unit_test(a_long_rise_is_inside),
		cmocka_unit_test(a_share_that_changes_with_the_rate),
		cmocka_unit_test(single_events_are_inside_as_often_as_claimed),
		cmocka_unit_test(intervals_are_not_too_wide),
		cmocka_unit_test(what_slices_cannot_tell),
		cmocka_unit_test(too_few_slices),
		cmocka_unit_test(slices_have_a_turn_and_a_pause),
		cmocka_unit_test(times_that_stand_still),
		cmocka_unit_test(slices_of_an_interval),
		cmocka_unit_test(rows_say_how_sure_they_are),
		cmocka_unit_test(sums_of_cells),
		cmocka_unit_test(means_are_surer_than_their_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
