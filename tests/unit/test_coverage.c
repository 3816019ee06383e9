/* SPDX-License-Identifier: MIT */
/*
 * How often the truth lies where pstat says that it is: programs of known counts on a kernel whose groups take turns
 * (turns_sim.h), their values scaled and their errors stated as `pstat stat` does it. Claimed are 95 %.
 *
 * Each row is one program on one machine, run again and again with other random numbers. Without arguments the rows
 * are tests of what is stated how often and holds how often; with "table RUNS" they are printed, for the manual.
 */
#include "count/estimate.h"
#include "count/count.h"
#include "util/util.h"

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
	{ "white noise, 1 of 4 groups", { .load = { load_noise, 0, 4000 } }, 1, 400, 100, 92, 99 },
	{ "white noise, 7 of 12, ticks of 1 ms",
	  { .load = { load_noise, 0, 4000 }, .tick_ms = 1, .groups = 12, .counters = 7 }, 1, 400, 100, 92, 100 },
	{ "white noise, 1 of 2, 10 s", { .load = { load_noise, 0, 10000 }, .groups = 2 }, 1, 200, 100, 92, 99 },
	{ "rare events, 10 ms apart", { .load = { load_rare, 10, 4000 } }, 1, 400, 98, 92, 99 },
	{ "drift, four times as fast at the end", { .load = { load_drift, 0, 4000 } }, 1, 400, 100, 92, 100 },
	{ "drift, -r 10", { .load = { load_drift, 0, 2000 } }, 10, 100, 100, 95, 100 },
	{ "random phases of 3 ms", { .load = { load_phases, 3, 4000 } }, 1, 400, 100, 92, 100 },
	{ "random phases of 30 ms", { .load = { load_phases, 30, 4000 } }, 1, 400, 100, 95, 100 },
	{ "random phases of 300 ms", { .load = { load_phases, 300, 4000 } }, 1, 400, 100, 95, 100 },
	{ "works and sleeps 5 ms, at random", { .load = { load_sleeper, 5, 8000 } }, 1, 200, 98, 92, 100 },

	{ "timer of 20 ms, 5 groups", { .load = { load_timer, 20, 4000 }, .groups = 5 }, 1, 200, 0, 0, 10 },
	{ "timer of 40 ms, 5 groups", { .load = { load_timer, 40, 4000 }, .groups = 5 }, 1, 200, 0, 92, 100 },
	{ "timer of 40 ms, 10 groups", { .load = { load_timer, 40, 4000 }, .groups = 10 }, 1, 200, 0, 0, 10 },
	{ "timer of 100 ms, 5 groups", { .load = { load_timer, 100, 4000 }, .groups = 5 }, 1, 200, 0, 92, 100 },
	{ "timer of 19.75 ms, 5 groups", { .load = { load_timer, 19.75, 4000 }, .groups = 5 }, 1, 200, 0, 0, 40 },
	{ "timer of 10 ms, 10 groups, ticks of 1 ms",
	  { .load = { load_timer, 10, 4000 }, .tick_ms = 1, .groups = 10, .counters = 3 }, 1, 200, 0, 0, 40 },
	{ "timer of 20 ms, event in 4 of 5 groups",
	  { .load = { load_timer, 20, 4000 }, .groups = 5, .copies = 4 }, 1, 200, 0, 95, 100 },
	{ "timer of 40 ms, event in 4 of 5",
	  { .load = { load_timer, 40, 4000 }, .groups = 5, .copies = 4 }, 1, 200, 0, 95, 100 },
	{ "timer of 100 ms, event in 4 of 5",
	  { .load = { load_timer, 100, 4000 }, .groups = 5, .copies = 4 }, 1, 200, 40, 92, 100 },
	{ "timer of 19.75 ms, event in 4 of 5",
	  { .load = { load_timer, 19.75, 4000 }, .groups = 5, .copies = 4 }, 1, 200, 100, 95, 100 },
	{ "timer of 10 ms, ticks of 1 ms, event in 3 of 10",
	  { .load = { load_timer, 10, 4000 }, .tick_ms = 1, .groups = 10, .counters = 3, .copies = 3 },
	  1, 200, 0, 0, 100 },
	{ "timer of 20 ms, another event beside 3 of 5",
	  { .load = { load_timer, 20, 4000 }, .groups = 5, .copies = 4, .other = true }, 1, 200, 0, 0, 100 },
	{ "white noise, event in 4 of 5",
	  { .load = { load_noise, 0, 4000 }, .groups = 5, .copies = 4 }, 1, 200, 100, 92, 99 },
	{ "random phases of 30 ms, event in 4 of 5",
	  { .load = { load_phases, 30, 4000 }, .groups = 5, .copies = 4 }, 1, 200, 100, 95, 100 },
	{ "bursts, 100 ms apart, event in 4 of 5",
	  { .load = { load_bursts, 100, 4000 }, .groups = 5, .copies = 4 }, 1, 200, 80, 92, 100 },

	{ "start-up of 5 ms, one of 6 groups", { .load = { load_start_up, 5, 1000 }, .groups = 6 }, 1, 200, 0, 0, 10 },
	{ "start-up, events in all 6 groups",
	  { .load = { load_start_up, 5, 1000 }, .groups = 6, .copies = 6, .apart = true }, 1, 200, 0, 0, 100 },
	{ "random phases of 30 ms, events in all 5 groups",
	  { .load = { load_phases, 30, 4000 }, .groups = 5, .copies = 5, .apart = true }, 1, 200, 98, 95, 100 },
	{ "bursts, 20 ms apart, events in all 5 groups",
	  { .load = { load_bursts, 20, 4000 }, .groups = 5, .copies = 5, .apart = true }, 1, 200, 90, 92, 100 },
	{ "start-up, last of 6 groups",
	  { .load = { load_start_up, 5, 1000 }, .groups = 6, .last = true }, 1, 200, 0, 0, 10 },
	{ "start-up, events in all 6 groups, -r 5",
	  { .load = { load_start_up, 5, 1000 }, .groups = 6, .copies = 6, .apart = true }, 5, 50, 0, 95, 100 },
	{ "start-up, last of 6 groups, -r 20",
	  { .load = { load_start_up, 5, 1000 }, .groups = 6, .last = true }, 20, 50, 95, 92, 100 },
	{ "start-up, last of 6 groups, -r 24",
	  { .load = { load_start_up, 5, 1000 }, .groups = 6, .last = true }, 24, 50, 95, 95, 100 },

	{ "4 CPUs, half common, 6 of 12",
	  { .load = { load_noise, 0, 2000 }, .cpus = 4, .groups = 12, .counters = 6, .common = 0.5 },
	  1, 200, 100, 92, 100 },
	{ "16 CPUs, half common",
	  { .load = { load_noise, 0, 2000 }, .cpus = 16, .common = 0.5 }, 1, 200, 100, 95, 100 },
	{ "64 CPUs, half common",
	  { .load = { load_noise, 0, 2000 }, .cpus = 64, .common = 0.5 }, 1, 100, 100, 95, 100 },
	{ "128 CPUs, half common",
	  { .load = { load_noise, 0, 2000 }, .cpus = 128, .common = 0.5 }, 1, 50, 100, 95, 100 },
	{ "64 CPUs, half common, lists in one order",
	  { .load = { load_noise, 0, 2000 }, .cpus = 64, .common = 0.5, .in_order = true }, 1, 100, 100, 92, 100 },
	{ "64 CPUs, nothing common", { .load = { load_noise, 0, 2000 }, .cpus = 64 }, 1, 100, 100, 92, 100 },
	{ "64 CPUs, common phases of 30 ms",
	  { .load = { load_phases, 30, 2000 }, .cpus = 64, .common = 0.5 }, 1, 100, 100, 95, 100 },

	{ "bursts, 20 ms apart", { .load = { load_bursts, 20, 4000 } }, 1, 400, 95, 92, 100 },
	{ "bursts, 200 ms apart", { .load = { load_bursts, 200, 4000 } }, 1, 400, 50, 92, 100 },
	{ "bursts, 1 s apart", { .load = { load_bursts, 1000, 4000 } }, 1, 400, 0, 92, 100 },
	{ "phases of 300 ms, 30 % lost", { .load = { load_phases, 300, 4000 }, .lost = 0.3 }, 1, 400, 0, 92, 100 },
	{ "phases of 300 ms, 8 % lost", { .load = { load_phases, 300, 4000 }, .lost = 0.08 }, 1, 400, 20, 92, 100 },
};

/* ---- pstat ---- */

struct estimator {
	const struct sim *sim;
	struct slices cells[SIM_MAX_COPIES][MAX_CPUS];
	struct pool pools[SIM_MAX_COPIES];
	struct evidence evidence[SIM_MAX_COPIES];
	double value[SIM_MAX_COPIES];
	struct series runs[SIM_MAX_COPIES];
};

/* As counters_open() has it. */
static int first_group(const struct sim *sim, int cpu, int repeat)
{
	return sim->in_order ? 0 : (cpu + repeat) % sim->groups;
}

static double interval_ms(const struct sim *sim)
{
	double rotation = (double)sim->tick_ms * sim->groups / sim->counters;

	return rotation;
}

static void take_read(void *data, int copy, int cpu, uint64_t value, uint64_t enabled_ns,
		      uint64_t running_ns)
{
	struct estimator *e = data;

	slices_add(&e->cells[copy][cpu], &e->pools[copy], value, enabled_ns, running_ns);
}

static void end_read(void *data)
{
	struct estimator *e = data;

	for (int copy = 0; copy < e->sim->copies; copy++)
		pool_end_read(&e->pools[copy]);
}

static void begin_run(struct estimator *e)
{
	for (int copy = 0; copy < e->sim->copies; copy++) {
		e->pools[copy] = (struct pool){ 0 };
		for (int cpu = 0; cpu < e->sim->cpus; cpu++)
			e->cells[copy][cpu] = (struct slices){
				.turn_kind = slices_turn_kind((size_t)cpu, (size_t)e->sim->cpus,
							      e->sim->in_order ? 0 : (size_t)e->sim->groups),
			};
	}
}

static void end_run(struct estimator *e)
{
	for (int copy = 0; copy < e->sim->copies; copy++) {
		double value = 0;

		for (int cpu = 0; cpu < e->sim->cpus; cpu++)
			slices_close(&e->cells[copy][cpu], &e->pools[copy]);
		pool_end_read(&e->pools[copy]);
		for (int cpu = 0; cpu < e->sim->cpus; cpu++) {
			struct slices *s = &e->cells[copy][cpu];

			slices_count(&e->evidence[copy], s, false, s->enabled_ns, s->running_ns);
			if (s->running_ns)
				value += (double)scale_count(s->value, s->enabled_ns, s->running_ns);
		}
		pool_count(&e->evidence[copy], &e->pools[copy], false);
		e->value[copy] += value;
		series_add(&e->runs[copy], value);
	}
}

struct outcome {
	int copies, stated, inside;
	double off_pct, stated_pct; /* sums, where an error is stated */
	int states[ESTIMATE_N_STATES];
};

/* The estimates of all copies, with what the copies say of each other. */
static void estimate_copies(const struct estimator *e, struct copy *copies)
{
	int alone = e->sim->other ? e->sim->copies - 1 : -1;
	size_t n = (size_t)(e->sim->other ? e->sim->copies - 1 : e->sim->copies);
	double scatter;

	for (int i = 0; i < e->sim->copies; i++) {
		const struct series *runs = &e->runs[i];

		copies[i] = (struct copy){ e->value[i], e->evidence[i].spread,
					   estimate_make(&e->evidence[i], e->value[i]) };
		estimate_from_runs(&copies[i].estimate, runs->n,
				   series_stdev_of_mean(runs) * sqrt((double)runs->n), e->value[i]);
	}
	for (int i = 0; i < e->sim->copies; i++)
		for (int k = 0; copies[i].estimate.start_differs && k < e->sim->copies; k++)
			if (copies[k].estimate.state == ESTIMATE_OK)
				copies[k].estimate.state = ESTIMATE_START;
	if (e->sim->apart || copies_agree(copies, n, &scatter))
		return;
	for (int i = 0; i < e->sim->copies; i++)
		copy_widen(&copies[i], i == alone, scatter);
}

static void judge(const struct coverage *row, const struct estimator *e, double truth,
		  struct outcome *outcome)
{
	struct copy copies[SIM_MAX_COPIES];

	estimate_copies(e, copies);
	for (int i = e->sim->other ? e->sim->copies - 1 : 0; i < e->sim->copies; i++) {
		double off = fabs(copies[i].value - truth), error = copies[i].estimate.error;

		outcome->copies++;
		outcome->states[copies[i].estimate.state]++;
		if (copies[i].estimate.state != ESTIMATE_OK)
			continue;
		outcome->stated++;
		/* A value is rounded in each cell. */
		outcome->inside += off <= error + e->sim->cpus * row->repeats;
		outcome->off_pct += 100 * off / truth;
		outcome->stated_pct += 100 * error / truth;
	}
}

static struct outcome cover(const struct coverage *row, int runs)
{
	static struct estimator e;
	static struct sim sim; /* e keeps its address */
	struct sim_reader reader = { &e, first_group, interval_ms, take_read, end_read };
	struct outcome outcome = { 0 };

	sim = complete(row->sim);
	for (int run = 0; run < runs; run++) {
		double truth = 0;
		int group;

		sim_seed((uint64_t)run);
		group = sim.last ? sim.groups - 1 : (int)(sim_uniform() * sim.groups);
		e = (struct estimator){ .sim = &sim };
		for (int repeat = 0; repeat < row->repeats; repeat++) {
			begin_run(&e);
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

/* Why most of those that are withheld are. */
static const char *main_reason(const struct outcome *outcome)
{
	enum estimate_state most = ESTIMATE_OK;

	for (int i = ESTIMATE_OK + 1; i < ESTIMATE_N_STATES; i++)
		if (outcome->states[i] && (most == ESTIMATE_OK || outcome->states[i] > outcome->states[most]))
			most = (enum estimate_state)i;
	return most == ESTIMATE_OK ? "" : estimate_reason(most);
}

static int print_table(int runs)
{
	printf("%-48s %6s %6s %9s %9s\n", "", "stated", "inside", "off by", "stated");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct outcome outcome = cover(&rows[i], runs ? runs : rows[i].runs);
		struct percents p = percents_of(&outcome);

		printf("%-48s %5.0f%% %5.1f%% %8.3f%% %8.3f%%  %s\n", rows[i].name, p.stated, p.inside, p.off,
		       p.error, main_reason(&outcome));
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
