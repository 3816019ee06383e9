/*
 * count: the engine of counting, from readings to values. It prints nothing, and neither signals nor
 * exits are its business: pstat stat is one client of it.
 *
 *   readings --> cells --> tallies, with how sure they are
 *
 * A cell keeps the last raw reading, so that an interval is a difference.
 */
#ifndef PSTAT_COUNT_H
#define PSTAT_COUNT_H

#include "count/estimate.h"

#include <stddef.h>

/* ---- scale.c: pure arithmetic (perf_event_open(2), "multiplexing") ---- */

/* value * enabled / running, rounded to nearest, in 128 bits; saturates. running must not be 0. */
uint64_t scale_count(uint64_t value, uint64_t enabled_ns, uint64_t running_ns);

/* Mean and deviation of a series by Welford's method; zeroed is empty. */
struct series {
	uint64_t n;
	double mean, m2, min, max;
};
void series_add(struct series *s, double x);
double series_stdev_of_mean(const struct series *s); /* sqrt(variance / n); 0 for n < 2 */
double series_rel_stdev_pct(const struct series *s); /* of the mean, in % of the mean; 0 if mean is 0 */

/* ---- tallies: one per event and place ---- */

struct tally { /* of one event at one place: a CPU, a core, a thread, or all */
	uint64_t value; /* scaled per cell, then summed (or raw with --no-scale) */
	uint64_t enabled_ns, running_ns; /* sums over the cells */
	uint32_t cells, cells_never_ran, cells_failed, cells_lost_pin;
	uint32_t cells_stopped; /* with their CPU, which went offline: what came before is counted */
};

struct cell {
	uint64_t value, enabled_ns, running_ns; /* as last read; 0 before */
	size_t slot; /* SLOT_NONE: a second CPU of a package, where one is enough */
};
#define SLOT_NONE SIZE_MAX

/* How sure the scaled values of a slot's cells are: nothing, unless all of them have an estimate. */
struct doubt {
	uint32_t cells_scaled, cells_estimated;
	struct estimate sum;
};

struct slot {
	struct tally total, delta; /* since counting began; since the read before */
	struct doubt total_doubt, delta_doubt;
	bool is_open; /* a counter of the current run is read into it */
	unsigned n_unsupported; /* counters that should be, and could not be opened */
	unsigned n_folded; /* CPUs of the line's first event here */
};

/* ---- doubt.c ---- */
/* A cell has been read for a report: as it is now, and the difference to the report before. */
void doubt_take(struct slot *slot, struct slices *slices, const struct cell *now, const struct cell *delta);
void doubt_add(struct doubt *sum, const struct doubt *doubt);

#endif
