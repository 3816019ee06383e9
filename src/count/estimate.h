/*
 * estimate: how far a scaled value may be from the truth. Other folders see it through count.h.
 *
 * A counter that takes turns is read now and then; from one read to another is a slice, of which it
 * saw a part. How much its rate changes from slice to slice tells how much the parts that it did not
 * see may differ from those that it saw. See estimate.c for the method and its sources.
 */
#ifndef PSTAT_ESTIMATE_H
#define PSTAT_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

/* Fewer slices give no estimate: a variance of so few numbers is a guess. */
enum { SLICES_MIN = 8 };

/* Slices are compared with the next one, that after it, and the fourth. */
enum { SLICE_LAGS = 3, SLICE_LAG_MAX = 4 };

/* Sums over the slices of one counter, so that the difference of two is that of the slices between. */
struct slice_sums {
	uint32_t n;
	double enabled_ns, running_ns;
	double value; /* as read */
	double local; /* each slice scaled by itself */
	double square; /* of enabled, divided by running */
	double differences[SLICE_LAGS], weights[SLICE_LAGS]; /* of rates: see estimate.c */
	double drift; /* the last rate less the first */
};

struct slices {
	struct slice_sums sums;
	struct slice_sums reported; /* as they were at the last interval */
	uint64_t value, enabled_ns, running_ns; /* as last read */
	unsigned reads; /* of the slice that is not closed yet */
	double open_value, open_enabled, open_running; /* that slice so far */
	double last_enabled; /* of the slice before */
	struct slice_rate {
		double rate, running;
	} last[SLICE_LAG_MAX]; /* slice i at i % SLICE_LAG_MAX */
	uint32_t n_last;
};

/* The next read of the counter, as the kernel gives it: totals. */
void slices_add(struct slices *slices, uint64_t value, uint64_t enabled_ns, uint64_t running_ns);
/* What was read since belongs to the slices too, whatever it saw: to be called before sums are used. */
void slices_close(struct slices *slices);
struct slice_sums slice_sums_since(const struct slice_sums *now, const struct slice_sums *before);

/* Of one scaled value, or of a sum of such values: counters take turns independently of each other. */
struct estimate {
	double variance;
	double variance_doubt; /* variance^2 by degrees of freedom */
	double offset; /* scaled as a whole, less each slice scaled by itself */
	double offset_variance; /* what of the offset's square is noise */
	double lag_square; /* of how much a rate that drifts is seen too early or too late */
};
/* False: too few slices. */
bool estimate_make(const struct slice_sums *sums, struct estimate *estimate);
void estimate_add(struct estimate *sum, const struct estimate *estimate);
/* With 95 % confidence the truth is not further from the scaled value than this, in counts. */
double estimate_error(const struct estimate *estimate);

#endif
