/* SPDX-License-Identifier: MIT */
/*
 * Groups of events that take turns, as the kernel lets them, over programs whose true count is known.
 *
 * The kernel keeps the groups of a unit in a list for each CPU. It goes through the list and gives counters to one
 * group after the other, until one finds too few; that one and all behind it wait. At each tick the first group goes
 * to the end of the list. Ticks are multiples of the interval on a clock that all CPUs share, so that they come at the
 * same moment everywhere, whenever counting began. Time in which a task sleeps is neither enabled time nor does it
 * turn the list. (kernel/events/core.c: merge_sched_in, perf_rotate_context, perf_mux_hrtimer_restart.)
 *
 * Time goes in steps of a quarter of a millisecond. Random numbers are the same each time.
 */
#ifndef TURNS_SIM_H
#define TURNS_SIM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_PER_MS = 4, STEP_NS = 250000, SIM_MAX_COPIES = 6, SIM_MAX_GROUPS = 32 };

/* ---- random numbers ---- */

static uint64_t sim_random;

static inline double sim_uniform(void)
{
	sim_random ^= sim_random << 13;
	sim_random ^= sim_random >> 7;
	sim_random ^= sim_random << 17;
	return (double)(sim_random >> 11) / 9007199254740992.0;
}

static inline void sim_seed(uint64_t run)
{
	sim_random = 0x9e3779b97f4a7c15u * (run + 1);
	for (int i = 0; i < 8; i++)
		sim_uniform();
}

/* ---- loads: what a program counts in each step; negative: it sleeps ---- */

struct sim_load {
	/* Fills count[n]; clock: how many steps the common clock is ahead of the first one. */
	void (*fill)(double *count, int n, double param_ms, int clock);
	double param_ms;
	int length_ms;
};

static inline void load_noise(double *count, int n, double param_ms, int clock)
{
	(void)param_ms, (void)clock;
	for (int i = 0; i < n; i++)
		count[i] = 100000 + 200000 * sim_uniform();
}

/* Single events at random, param_ms apart. */
static inline void load_rare(double *count, int n, double param_ms, int clock)
{
	(void)clock;
	for (int i = 0; i < n; i++)
		count[i] = sim_uniform() < 1 / param_ms / STEPS_PER_MS;
}

/* A steady count with bursts, which make most of it, param_ms apart. */
static inline void load_bursts(double *count, int n, double param_ms, int clock)
{
	double size = 300 * param_ms * STEPS_PER_MS;

	(void)clock;
	for (int i = 0; i < n; i++)
		count[i] = 100 + (sim_uniform() < 1 / param_ms / STEPS_PER_MS ? size : 0);
}

/* Four times as fast at the end as at the start. */
static inline void load_drift(double *count, int n, double param_ms, int clock)
{
	(void)param_ms, (void)clock;
	for (int i = 0; i < n; i++)
		count[i] = (100000 + 300000.0 * i / n) * (0.9 + 0.2 * sim_uniform());
}

/* Three times as fast in every other phase; how long one lasts is chance. */
static inline void load_phases(double *count, int n, double param_ms, int clock)
{
	bool fast = sim_uniform() < 0.5;

	(void)clock;
	for (int i = 0; i < n; i++) {
		if (sim_uniform() < 1 / param_ms / STEPS_PER_MS)
			fast = !fast;
		count[i] = (fast ? 300000 : 100000) * (0.9 + 0.2 * sim_uniform());
	}
}

/* A timer on the clock of the ticks: each time it works for a third of the period, ten times as fast. */
static inline void load_timer(double *count, int n, double param_ms, int clock)
{
	int period = (int)(param_ms * STEPS_PER_MS), at = (int)(sim_uniform() * period);

	for (int i = 0; i < n; i++)
		count[i] = (i + clock + at) % period < period / 3 ? 1000000 : 100000;
}

/* For the first param_ms fifty times as fast as from then on. */
static inline void load_start_up(double *count, int n, double param_ms, int clock)
{
	(void)clock;
	for (int i = 0; i < n; i++)
		count[i] = (i < param_ms * STEPS_PER_MS ? 5000000 : 100000) *
			   (0.9 + 0.2 * sim_uniform());
}

/* It works and sleeps by turns; each lasts param_ms in the mean, and what it does changes from one to the next. */
static inline void load_sleeper(double *count, int n, double param_ms, int clock)
{
	bool asleep = false;
	double rate = 100000;

	(void)clock;
	for (int i = 0; i < n; i++) {
		if (sim_uniform() < 1 / param_ms / STEPS_PER_MS) {
			asleep = !asleep;
			rate = 50000 + 200000 * sim_uniform();
		}
		count[i] = asleep ? -1 : rate * (0.9 + 0.2 * sim_uniform());
	}
}

/* ---- the machine ---- */

struct sim {
	struct sim_load load;
	int tick_ms, groups, counters; /* each group wants one counter */
	int cpus;
	double common; /* this part of the load is the same on all CPUs */
	bool last; /* the last group of the list has the event; else another in each run */
	int copies; /* so many groups have it, next to each other or spread over the list */
	bool apart; /* these are different events, so that their values need not agree */
	bool other; /* the last of these stands for an event that is in one group only */
	bool in_order; /* all lists begin with the same group */
	double lost; /* for this part of the time, in one stretch, nobody has a counter */
};

/* What pstat does: the first group of the list for each CPU and repeat, and how long from one read to the next. */
struct sim_reader {
	void *data;
	int (*first_group)(const struct sim *sim, int cpu, int repeat);
	double (*interval_ms)(const struct sim *sim);
	/* Totals of a cell of a copy; then end_read once for all of them. */
	void (*read)(void *data, int copy, int cpu, uint64_t value, uint64_t enabled_ns,
		     uint64_t running_ns);
	void (*end_read)(void *data);
};

struct sim_cell {
	double value;
	uint64_t enabled_ns, running_ns;
};

/* What happens on one CPU, kept for each read: the reads of all CPUs are handed over together. */
struct sim_course {
	int *read_at; /* steps */
	int n_reads;
	struct sim_cell *cells; /* [n_reads][cpus][copies] */
};

static inline void sim_plan_reads(const struct sim *sim, const struct sim_reader *reader,
				  struct sim_course *course)
{
	int n = sim->load.length_ms * STEPS_PER_MS, step = 0;
	double next = 0;

	course->read_at = calloc((size_t)n + 1, sizeof(*course->read_at));
	for (;;) {
		/* Timers are late by a little, and the next read is counted from this one. */
		next = step + reader->interval_ms(sim) * STEPS_PER_MS + 2 * sim_uniform();
		step = (int)next;
		if (step >= n)
			break;
		course->read_at[course->n_reads++] = step;
	}
	course->read_at[course->n_reads++] = n;
	course->cells = calloc((size_t)course->n_reads * (size_t)(sim->cpus * sim->copies),
			       sizeof(*course->cells));
}

struct sim_cpu {
	int clock; /* steps that the clock is ahead */
	int turned; /* how often the list was turned, with what pstat did at the start */
	int lost_from, lost_to; /* steps */
	int group; /* of the first copy */
};

/* Sets which copies have a counter until the list is turned again: those of the first groups. */
static inline void sim_give_counters(const struct sim *sim, const struct sim_cpu *cpu, bool *has_counter)
{
	for (int copy = 0; copy < sim->copies; copy++) {
		int group = (cpu->group + copy * (sim->groups / sim->copies)) % sim->groups;
		int position = (group - cpu->turned % sim->groups + sim->groups) % sim->groups;

		has_counter[copy] = position < sim->counters;
	}
}

static inline void sim_run_cpu(const struct sim *sim, struct sim_cpu *cpu, const double *count,
			       const struct sim_course *course, struct sim_cell *out)
{
	struct sim_cell cells[SIM_MAX_COPIES] = { { 0 } };
	int n = sim->load.length_ms * STEPS_PER_MS, tick = sim->tick_ms * STEPS_PER_MS, read = 0;
	int to_tick = tick - cpu->clock % tick; /* steps; the first one is no tick */
	bool has_counter[SIM_MAX_COPIES];

	sim_give_counters(sim, cpu, has_counter);
	for (int step = 0; step <= n; step++) {
		bool is_tick = step && --to_tick == 0;

		if (is_tick)
			to_tick = tick;
		if (step == course->read_at[read])
			memcpy(out + (size_t)read++ * (size_t)(sim->cpus * sim->copies), cells,
			       (size_t)sim->copies * sizeof(*cells));
		if (step == n || count[step] < 0)
			continue;
		if (is_tick) {
			cpu->turned++;
			sim_give_counters(sim, cpu, has_counter);
		}
		for (int copy = 0; copy < sim->copies; copy++) {
			cells[copy].enabled_ns += STEP_NS;
			if (!has_counter[copy] || (step >= cpu->lost_from && step < cpu->lost_to))
				continue;
			cells[copy].running_ns += STEP_NS;
			cells[copy].value += count[step];
		}
	}
}

/* Own and common load of a CPU, whole counts; returns their sum. */
static inline double sim_mix(const struct sim *sim, double *count, const double *common, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++) {
		if (sim->common > 0)
			count[i] = (1 - sim->common) * count[i] + sim->common * common[i];
		count[i] = count[i] < 0 ? -1 : (double)(int64_t)count[i];
		sum += count[i] < 0 ? 0 : count[i];
	}
	return sum;
}

/* One run of the program, read as the reader wants it; returns its true count. */
static inline double sim_run(const struct sim *sim, const struct sim_reader *reader, int group,
			     int repeat)
{
	int n = sim->load.length_ms * STEPS_PER_MS, clock = (int)(sim_uniform() * 1000 * STEPS_PER_MS);
	int lost_from = (int)(sim_uniform() * (1 - sim->lost) * n);
	double *count = calloc((size_t)n, sizeof(*count)), *common = calloc((size_t)n, sizeof(*common));
	struct sim_course course = { 0 };
	double truth = 0;

	sim_plan_reads(sim, reader, &course);
	sim->load.fill(common, n, sim->load.param_ms, clock);
	for (int c = 0; c < sim->cpus; c++) {
		struct sim_cpu cpu = { .clock = clock,
				       .turned = reader->first_group(sim, c, repeat),
				       .lost_from = lost_from,
				       .lost_to = lost_from + (int)(sim->lost * n),
				       .group = group };

		if (sim->common < 1)
			sim->load.fill(count, n, sim->load.param_ms, clock);
		truth += sim_mix(sim, count, common, n);
		sim_run_cpu(sim, &cpu, count, &course, course.cells + c * sim->copies);
	}
	for (int i = 0; i < course.n_reads; i++) {
		for (int c = 0; c < sim->cpus * sim->copies; c++) {
			const struct sim_cell *cell =
				&course.cells[i * sim->cpus * sim->copies + c];

			reader->read(reader->data, c % sim->copies, c / sim->copies,
				     (uint64_t)cell->value, cell->enabled_ns, cell->running_ns);
		}
		reader->end_read(reader->data);
	}
	free(course.read_at);
	free(course.cells);
	free(count);
	free(common);
	return truth;
}

#endif
