/*
 * How often the truth lies where pstat says that it is: programs of known counts on a kernel whose groups take turns
 * (turns_sim.h), their values scaled and their errors stated as `pstat stat` does it. Claimed are 95 %.
 *
 * Each row is one program on one machine, run again and again with other random numbers. Without arguments the rows
 * are tests of what is stated how often and holds how often; with "table RUNS" they are printed, for the manual.
 */
#include "count/estimate.h"
#include "stat/stat.h"

#include "turns_sim.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { MAX_CPUS = 128 };

struct coverage {
	const char *name;
	struct sim sim;
	int repeats; /* -r */
	int runs; /* in the suite */
	/* Percent of the runs in which an error is stated, and of those in which the truth is inside. */
	double stated_min, inside_min, inside_max;
};

/* What is left out is 4 ms from tick to tick, four groups, one counter, one CPU, one group that has the event. */
static struct sim complete(struct sim sim)
{
	sim.tick_ms = sim.tick_ms ? sim.tick_ms : 4;
	sim.groups = sim.groups ? sim.groups : 4;
	sim.counters = sim.counters ? sim.counters : 1;
	sim.cpus = sim.cpus ? sim.cpus : 1;
	sim.copies = sim.copies ? sim.copies : 1;
	return sim;
}

static const struct coverage rows[] = {
	{ "white noise, 1 of 4", { .load = { load_noise, 0, 4000 } }, 1, 400, 100, 92, 99 },
	{ "white noise, 7 of 12, ticks of 1 ms",
	  { .load = { load_noise, 0, 4000 }, .tick_ms = 1, .groups = 12, .counters = 7 }, 1, 400, 100, 92, 99 },
	{ "white noise, 1 of 2, 10 s", { .load = { load_noise, 0, 10000 }, .groups = 2 }, 1, 200, 100, 92, 99 },
	{ "rare events, 10 ms apart", { .load = { load_rare, 10, 4000 } }, 1, 400, 100, 92, 99 },
	{ "drift, four times as fast at the end", { .load = { load_drift, 0, 4000 } }, 1, 400, 100, 92, 100 },
	{ "drift, -r 10", { .load = { load_drift, 0, 2000 } }, 10, 100, 100, 0, 100 },
	{ "random phases of 3 ms", { .load = { load_phases, 3, 4000 } }, 1, 400, 100, 92, 100 },
	{ "random phases of 30 ms", { .load = { load_phases, 30, 4000 } }, 1, 400, 100, 92, 100 },
	{ "random phases of 300 ms", { .load = { load_phases, 300, 4000 } }, 1, 400, 100, 92, 100 },
	{ "works 5 ms, sleeps 5 ms, at random", { .load = { load_sleeper, 5, 8000 } }, 1, 200, 100, 90, 100 },
	{ "timer of 10 ms, 10 groups, ticks of 1 ms",
	  { .load = { load_timer, 10, 4000 }, .tick_ms = 1, .groups = 10, .counters = 3 }, 1, 200, 100, 0, 10 },
	{ "timer of 20 ms, 5 groups", { .load = { load_timer, 20, 4000 }, .groups = 5 }, 1, 200, 100, 0, 10 },
	{ "timer of 40 ms, 5 groups", { .load = { load_timer, 40, 4000 }, .groups = 5 }, 1, 200, 100, 0, 100 },
	{ "timer of 40 ms, 10 groups", { .load = { load_timer, 40, 4000 }, .groups = 10 }, 1, 200, 100, 0, 10 },
	{ "timer of 100 ms, 5 groups", { .load = { load_timer, 100, 4000 }, .groups = 5 }, 1, 200, 100, 0, 100 },
	{ "timer of 19.75 ms, 5 groups",
	  { .load = { load_timer, 19.75, 4000 }, .groups = 5 }, 1, 200, 100, 0, 100 },
	{ "timer of 20 ms, 5 groups, event in 2",
	  { .load = { load_timer, 20, 4000 }, .groups = 5, .copies = 2 }, 1, 200, 100, 0, 10 },
	{ "timer of 20 ms, 5 groups, event in 4",
	  { .load = { load_timer, 20, 4000 }, .groups = 5, .copies = 4 }, 1, 200, 100, 0, 10 },
	{ "white noise, event in 4 of 5",
	  { .load = { load_noise, 0, 4000 }, .groups = 5, .copies = 4 }, 1, 400, 100, 92, 99 },
	{ "start-up of 5 ms, last of 6 groups",
	  { .load = { load_start_up, 5, 1000 }, .groups = 6, .last = true }, 1, 200, 100, 0, 10 },
	{ "start-up of 5 ms, any of 6 groups",
	  { .load = { load_start_up, 5, 1000 }, .groups = 6 }, 1, 200, 100, 0, 100 },
	{ "start-up of 5 ms, last of 6, -r 24",
	  { .load = { load_start_up, 5, 1000 }, .groups = 6, .last = true }, 24, 50, 100, 0, 10 },
	{ "start-up of 5 ms, any of 6, -r 5",
	  { .load = { load_start_up, 5, 1000 }, .groups = 6 }, 5, 100, 100, 0, 50 },
	{ "16 CPUs, half common",
	  { .load = { load_noise, 0, 2000 }, .cpus = 16, .common = 0.5 }, 1, 200, 100, 0, 80 },
	{ "64 CPUs, half common",
	  { .load = { load_noise, 0, 2000 }, .cpus = 64, .common = 0.5 }, 1, 100, 100, 0, 70 },
	{ "128 CPUs, half common",
	  { .load = { load_noise, 0, 2000 }, .cpus = 128, .common = 0.5 }, 1, 50, 100, 0, 60 },
	{ "64 CPUs, nothing common", { .load = { load_noise, 0, 2000 }, .cpus = 64 }, 1, 100, 100, 88, 100 },
	{ "64 CPUs, common phases of 30 ms",
	  { .load = { load_phases, 30, 2000 }, .cpus = 64, .common = 0.5 }, 1, 100, 100, 0, 100 },
	{ "bursts, 20 ms apart", { .load = { load_bursts, 20, 4000 } }, 1, 400, 100, 85, 99 },
	{ "bursts, 200 ms apart", { .load = { load_bursts, 200, 4000 } }, 1, 400, 100, 0, 95 },
	{ "bursts, 1 s apart", { .load = { load_bursts, 1000, 4000 } }, 1, 400, 100, 0, 80 },
	{ "phases of 300 ms, no counter for 30 %",
	  { .load = { load_phases, 300, 4000 }, .lost = 0.3 }, 1, 400, 100, 0, 95 },
	{ "phases of 300 ms, no counter for 8 %",
	  { .load = { load_phases, 300, 4000 }, .lost = 0.08 }, 1, 400, 100, 0, 100 },
};

/* ---- pstat ---- */

struct estimator {
	const struct sim *sim;
	struct slices cells[SIM_MAX_COPIES][MAX_CPUS];
	struct estimate sum[SIM_MAX_COPIES];
	double value[SIM_MAX_COPIES];
	bool stated[SIM_MAX_COPIES];
};

static int first_group(const struct sim *sim, int cpu, int repeat)
{
	(void)sim, (void)cpu, (void)repeat;
	return 0;
}

static double interval_ms(const struct sim *sim)
{
	(void)sim;
	return 20;
}

static void take_read(void *data, int copy, int cpu, uint64_t value, uint64_t enabled_ns,
		      uint64_t running_ns)
{
	struct estimator *e = data;

	slices_add(&e->cells[copy][cpu], value, enabled_ns, running_ns);
}

static void end_read(void *data)
{
	(void)data;
}

static void end_run(struct estimator *e)
{
	for (int copy = 0; copy < e->sim->copies; copy++)
		for (int cpu = 0; cpu < e->sim->cpus; cpu++) {
			struct slices *slices = &e->cells[copy][cpu];
			struct estimate estimate;

			slices_close(slices);
			e->stated[copy] &= estimate_make(&slices->sums, &estimate);
			if (e->stated[copy])
				estimate_add(&e->sum[copy], &estimate);
			if (slices->running_ns)
				e->value[copy] += (double)scale_count(
					slices->value, slices->enabled_ns, slices->running_ns);
			*slices = (struct slices){ 0 };
		}
}

struct outcome {
	int copies, stated, inside;
	double off_pct, stated_pct; /* sums, where an error is stated */
};

static void judge(const struct coverage *row, const struct estimator *e, double truth,
		  struct outcome *outcome)
{
	for (int copy = 0; copy < e->sim->copies; copy++) {
		double off = fabs(e->value[copy] - truth), stated = estimate_error(&e->sum[copy]);

		outcome->copies++;
		if (!e->stated[copy])
			continue;
		outcome->stated++;
		/* A value is rounded in each cell. */
		outcome->inside += off <= stated + e->sim->cpus * row->repeats;
		outcome->off_pct += 100 * off / truth;
		outcome->stated_pct += 100 * stated / truth;
	}
}

static struct outcome cover(const struct coverage *row, int runs)
{
	static struct estimator e;
	struct sim_reader reader = { &e, first_group, interval_ms, take_read, end_read };
	struct sim sim = complete(row->sim);
	struct outcome outcome = { 0 };

	for (int run = 0; run < runs; run++) {
		double truth = 0;
		int group;

		sim_seed((uint64_t)run);
		group = sim.last ? sim.groups - 1 : (int)(sim_uniform() * sim.groups);
		e = (struct estimator){ .sim = &sim, .stated = { true, true, true, true } };
		for (int repeat = 0; repeat < row->repeats; repeat++) {
			truth += sim_run(&sim, &reader, group, repeat);
			end_run(&e);
		}
		judge(row, &e, truth, &outcome);
	}
	return outcome;
}

/* ---- tests ---- */

struct percents {
	double stated, inside, off, error;
};

static struct percents percents_of(const struct outcome *o)
{
	double n = o->stated ? o->stated : 1;

	return (struct percents){ 100.0 * o->stated / o->copies, 100.0 * o->inside / n, o->off_pct / n,
				  o->stated_pct / n };
}

static void as_often_as_expected(void **state)
{
	const struct coverage *row = *state;
	struct outcome outcome = cover(row, row->runs);
	struct percents p = percents_of(&outcome);

	if (p.stated < row->stated_min ||
	    (outcome.stated && (p.inside < row->inside_min || p.inside > row->inside_max)))
		fail_msg("%s: stated in %.1f %% of the runs, inside in %.1f %% of those, error %.3f %%, "
			 "stated %.3f %%",
			 row->name, p.stated, p.inside, p.off, p.error);
}

static int print_table(int runs)
{
	printf("%-42s %6s %6s %9s %9s\n", "", "stated", "inside", "off by", "stated");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct outcome outcome = cover(&rows[i], runs ? runs : rows[i].runs);
		struct percents p = percents_of(&outcome);

		printf("%-42s %5.0f%% %5.1f%% %8.3f%% %8.3f%%\n", rows[i].name, p.stated, p.inside, p.off,
		       p.error);
		fflush(stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct CMUnitTest tests[ARRAY_SIZE(rows)];

	if (argc > 1 && !strcmp(argv[1], "table"))
		return print_table(argc > 2 ? atoi(argv[2]) : 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		tests[i] = (struct CMUnitTest){ .name = rows[i].name,
						.test_func = as_often_as_expected,
						.initial_state = (void *)(uintptr_t)&rows[i] };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
