/* SPDX-License-Identifier: MIT */
/*
 * estimate: how far a scaled value may be from the truth.
 *
 * A counter that takes turns is read now and then; from one read to another is a slice, of which it saw a part. How
 * much its rate changes from slice to slice tells how much the parts that it did not see may differ from those that
 * it saw. The counters of a row are compared together: what all CPUs do at once they all see, or miss, at once. See
 * estimate.c for the method and its sources.
 *
 *   read of a counter --slices_add--> slices (one per counter) + pool (one per row) --estimate_make--> stated error
 *
 * For a row: slices_add() for each of its counters, pool_end_read() once after them, as often as it is read. Before a
 * value is shown: the same, with slices_close() after slices_add(). Then slices_count() for each counter and
 * pool_count() once bring together what the slices know; such evidence adds up over repeats.
 */
#ifndef PSTAT_ESTIMATE_H
#define PSTAT_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The truth is within a stated error so often. */
#define ESTIMATE_CONFIDENCE 0.95

/* Fewer times at which slices could be compared give no estimate: a variance of so few numbers is a guess. */
enum { COMPARISONS_MIN = 7 };

/* Slices are compared with the next one, that after it, the fourth and the fifth. */
enum { SLICE_LAGS = 4, SLICE_LAG_MAX = 5 };

/* Counters whose lists turn alike see and miss the same moments. More kinds than this are told apart no longer. */
enum { TURN_KINDS = 8 };

/* Sums over the slices of one counter, so that the difference of two is that of the slices between. */
struct slice_sums {
	uint32_t n;
	double enabled_ns, running_ns;
	double value; /* as read */
	double local; /* each slice scaled by itself */
	double square; /* of enabled, divided by running */
	double value_square; /* of value, divided by running */
	double drift; /* the last rate less the first */
};

struct slices {
	struct slice_sums sums;
	struct slice_sums reported; /* as they were at the last interval */
	unsigned turn_kind; /* counters with the same number may turn in step; set by the owner */
	uint64_t value, enabled_ns, running_ns; /* as last read */
	unsigned reads; /* of the slice that is not closed yet */
	double open_value, open_enabled, open_running; /* that slice so far */
	double last_enabled; /* of the slice before */
	double unseen_ns, longest_ns, longest_since_ns; /* without a counter: now; the longest; since the last report */
	struct slice_rate {
		double rate, running, unseen;
	} last[SLICE_LAG_MAX]; /* slice i at i % SLICE_LAG_MAX */
	uint32_t n_last;
};

/* Sums over the times at which slices of a row were compared. */
struct pool_sums {
	uint32_t times[SLICE_LAGS]; /* reads at which there was something to compare */
	double n[SLICE_LAGS]; /* differences: at each time one for each kind of turn */
	double squares[SLICE_LAGS], fourths[SLICE_LAGS], weights[SLICE_LAGS]; /* of differences: see estimate.c */
	double first; /* the part of squares[0] that is of the first two slices */
};

struct pool {
	struct pool_sums sums;
	struct pool_sums reported; /* as they were at the last interval */
	double now[TURN_KINDS][SLICE_LAGS]; /* differences of the read that goes on */
	double now_weight[SLICE_LAGS];
};

/*
 * The kind of counter number i of n on as many CPUs or tasks, where so many groups take turns and each list begins with
 * the next one (open_options.first_group). Where there are fewer lists than groups, neighbours see nearly the same:
 * they are one kind.
 */
unsigned slices_turn_kind(size_t i, size_t n, size_t groups);
/* The next read of a counter of the pool, as the kernel gives it: totals. */
void slices_add(struct slices *slices, struct pool *pool, uint64_t value, uint64_t enabled_ns,
		uint64_t running_ns);
/* Adds the readings since the last slice as one, whatever they saw: to be called before sums are used. */
void slices_close(struct slices *slices, struct pool *pool);
/* Ends a read: all counters of the pool have been read. */
void pool_end_read(struct pool *pool);

/* Evidence for the error of a scaled value; it adds up over counters and over repeats. */
struct evidence {
	uint32_t cells; /* counters that were scaled */
	double unseen; /* what they did not see: sum of (E - R) E / R */
	double spread; /* how far two such values are apart: sum of E^2 / R */
	double offset; /* scaled as a whole, less each slice scaled by itself */
	double offset_weight; /* how much of the offset's square is noise */
	double lag; /* how much a rate that drifts is seen too early or too late */
	double stretch; /* what the longest stretch that was not seen may have had more or less */
	double stretch_ns, enabled_ns; /* that stretch; the whole time */
	struct pool_sums pool;
};
/*
 * Adds a counter: all its slices, or those since the last call with since_last. It ran for running_ns of enabled_ns
 * in that time; if that is all of it there is nothing to add.
 */
void slices_count(struct evidence *evidence, struct slices *slices, bool since_last,
		  uint64_t enabled_ns, uint64_t running_ns);
void pool_count(struct evidence *evidence, struct pool *pool, bool since_last);
void evidence_add(struct evidence *sum, const struct evidence *evidence);

enum estimate_state {
	ESTIMATE_OK,
	ESTIMATE_FEW_SLICES, /* too short, or read too seldom */
	ESTIMATE_FEW_DIFFERENCES, /* nearly all of the variance comes from a handful of slices */
	ESTIMATE_UNSEEN, /* one stretch of more than a tenth of the time was not seen */
	ESTIMATE_ALIKE, /* no difference that could be stated: steady, or in step with the turns */
	ESTIMATE_IN_STEP, /* another event showed that the turns keep step with the program */
	ESTIMATE_START, /* another event showed that the start was unlike the rest */
	ESTIMATE_NOTHING, /* the count is 0 */
	ESTIMATE_N_STATES,
};
/* A few words; NULL for ESTIMATE_OK. */
const char *estimate_reason(enum estimate_state state);

struct estimate {
	enum estimate_state state;
	double error; /* with 95 % confidence the truth is not further from the value, in counts; if the state is OK */
	double unit_variance; /* of the count per unit of time, s2; where slices could be compared, else negative */
	double freedom; /* degrees of freedom of it */
	bool start_differs; /* the first slice makes the difference: groups that came later did not see the like */
};
struct estimate estimate_make(const struct evidence *evidence, double value);
/*
 * Estimates the error of the sum of n runs whose first groups were others each time, where the slices of so few turns
 * tell nothing: from the runs' own values, of which stdev is the standard deviation. Unchanged if it is OK, or the runs
 * are too few.
 */
void estimate_from_runs(struct estimate *estimate, uint64_t n, double stdev, double value);

/* ---- agreement.c: one event in several groups ---- */

struct copy {
	double value;
	double spread; /* evidence's */
	struct estimate estimate;
};
/* False: they are further apart than chance makes them. *scatter is then how far the truth may be from each. */
bool copies_agree(const struct copy *copies, size_t n, double *scatter);
/* The turns keep step with the program, as copies showed; alone: this event is in one group only. */
void copy_widen(struct copy *copy, bool alone, double scatter);

#endif
