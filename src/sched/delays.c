/* SPDX-License-Identifier: MIT */
/*
 * delays: how often a time was how long, so that percentiles can be told without keeping each time. A power of two has
 * STEPS equal steps, so a time is known to a 32nd part; memory is there for powers that occurred.
 */
#include "sched/sched_internal.h"

#include <stdlib.h>

enum { STEP_BITS = 5, STEPS = 1 << STEP_BITS, POWERS = 64 - STEP_BITS + 1, ROWS = 64 };

struct delays {
	uint64_t n, max_ns;
	uint32_t *counts[POWERS]; /* STEPS of each power; those below 2 * STEPS ns are exact */
	uint32_t rows[ROWS]; /* of the histogram, whose bounds are no steps: by the bits of the number of us */
};

struct delays *delays_new(void)
{
	return xcalloc(1, sizeof(struct delays));
}

void delays_free(struct delays *delays)
{
	for (size_t i = 0; delays && i < POWERS; i++)
		free(delays->counts[i]);
	free(delays);
}

/* The power and the step of a time: 0 for those that are smaller than STEPS, which are steps themselves. */
static unsigned power_of(uint64_t ns, unsigned *step)
{
	const unsigned bits = 64 - (unsigned)__builtin_clzll(ns | 1);
	const unsigned power = bits > STEP_BITS ? bits - STEP_BITS : 0;

	*step = power ? (unsigned)(ns >> (power - 1)) & (STEPS - 1) : (unsigned)ns;
	return power;
}

/* The greatest time of a step. */
static uint64_t end_of(unsigned power, unsigned step)
{
	return power ? ((uint64_t)(STEPS + step + 1) << (power - 1)) - 1 : step;
}

static unsigned row_of(uint64_t ns)
{
	const uint64_t us = ns / NS_PER_US;

	return us ? 64 - (unsigned)__builtin_clzll(us) : 0;
}

void delays_add(struct delays *delays, uint64_t ns)
{
	unsigned step, power = power_of(ns, &step);

	if (!delays->counts[power])
		delays->counts[power] = xcalloc(STEPS, sizeof(**delays->counts));
	delays->counts[power][step]++;
	delays->rows[row_of(ns)]++;
	delays->n++;
	if (ns > delays->max_ns)
		delays->max_ns = ns;
}

void delays_join(struct delays *delays, const struct delays *others)
{
	for (unsigned power = 0; power < POWERS; power++) {
		if (!others->counts[power])
			continue;
		if (!delays->counts[power])
			delays->counts[power] = xcalloc(STEPS, sizeof(**delays->counts));
		for (unsigned step = 0; step < STEPS; step++)
			delays->counts[power][step] += others->counts[power][step];
	}
	for (unsigned row = 0; row < ROWS; row++)
		delays->rows[row] += others->rows[row];
	delays->n += others->n;
	if (others->max_ns > delays->max_ns)
		delays->max_ns = others->max_ns;
}

uint64_t delays_quantile(const struct delays *delays, unsigned pct)
{
	/* The rank of the smallest time that so many percent of all do not exceed. */
	const uint64_t rank = (delays->n * pct + 99) / 100;
	uint64_t n = 0, end;

	for (unsigned power = 0; power < POWERS; power++) {
		for (unsigned step = 0; delays->counts[power] && step < STEPS; step++) {
			n += delays->counts[power][step];
			if (!n || n < rank)
				continue;
			end = end_of(power, step);
			return end < delays->max_ns ? end : delays->max_ns;
		}
	}
	return 0;
}

/* ---- as text: a row for each power of two of microseconds ---- */

enum { BAR_COLUMNS = 40 };

static void add_bar(struct str *out, uint64_t n, uint64_t most)
{
	const unsigned columns = most ? (unsigned)(n * BAR_COLUMNS / most) : 0;

	str_addc(out, '|');
	str_pad(out, '#', columns);
	str_pad(out, ' ', BAR_COLUMNS - columns);
	str_add(out, "|\n");
}

void delays_print(const struct delays *delays, struct str *out)
{
	uint64_t most = 0;
	unsigned first = ROWS, last = 0;

	for (unsigned row = 0; row < ROWS; row++) {
		if (!delays->rows[row])
			continue;
		first = first == ROWS ? row : first;
		last = row;
		most = delays->rows[row] > most ? delays->rows[row] : most;
	}
	str_addf(out, "%26s %10s\n", "delay us", "count");
	for (unsigned row = first; row <= last; row++) {
		str_addf(out, "%10llu .. %10llu %12u ", row ? 1ULL << (row - 1) : 0ULL, 1ULL << row, delays->rows[row]);
		add_bar(out, delays->rows[row], most);
	}
}
