/* SPDX-License-Identifier: MIT */
/*
 * The error of a scaled value, from the slices in which its counters were read: pure arithmetic.
 *
 * The value of a counter is a ratio estimate, V * E / R, of counts V seen in the time running R, for the time enabled
 * E; a row is the sum of its counters. With v, e and r of one slice, what it did not see is e - r. The error has these
 * parts:
 *
 *   noise    The rate q = v / r jumps about from slice to slice. If its variance per unit of time is s2, then q' - q
 *            of two slices has the variance s2 (1/r + 1/r'), and the error of a slice that is scaled by itself
 *            s2 (e - r) e / r. So D = (q' - q) sqrt(r r' / (r + r') * u), where u is the mean of the slices'
 *            (e - r) e / r, is one sample of that error, with its sign. Counters that turn in step see and miss the
 *            same moments: their D of one time are added up before they are squared, and what they have in common is
 *            in the sum. Those that turn in another order see other moments of it, and count by themselves. Sum D^2
 *            is the variance; slices that could not be compared are made up for by weight.
 *            Differences between neighbours leave out what changes slowly, as is right for samples that are spread
 *            over the whole time. What changes about as fast as turns are taken may look slow, though: so the same is
 *            done for every second and every fourth slice, and the largest variance counts.
 *   offset   Where the share r / e is not the same in slow and fast slices, the estimate leans to one side: by
 *            V E / R - sum v e / r. The square that noise alone would make of it, s2 (sum e^2 / r - E^2 / R), is taken
 *            off.
 *   lag      Where the turns come before the pauses, a rate that rises is seen half a pause too early all the time:
 *            by (last q - first q) (E - R) / 2 n. It has a sign, and adds up over counters and repeats as the bias
 *            that it is.
 *   period   Where slices repeat after L = 2, 4 or 5, they are so many numbers and not n: the variance is n / L times
 *            as large and has L - 1 degrees of freedom. Timers of 10, 20, 40 and 100 ms come to five, where a tick is
 *            4 ms: a rotation is a multiple of that.
 *   stretch  In the longest stretch g without a turn the rate may have been another: by g times the deviation of the
 *            rates from their mean.
 *
 * The interval is t * sqrt(variance), with Student's t at 95 %, and the other parts, added as squares. How many
 * degrees of freedom the variance has follows from how evenly the differences carry it: m = (sum D^2)^2 / sum D^4 is
 * n / 3 for n normal ones, and about 2 for one burst, which makes two differences. A variance of fewer than six is no
 * estimate, and none is made.
 *
 * Sources: W. G. Cochran, Sampling Techniques, 3rd ed. 1977, chapters 2 (finite population), 6 (ratio estimates) and 8
 * (systematic samples); K. M. Wolter, Introduction to Variance Estimation, 2nd ed. 2007, chapter 8 (successive
 * differences); J. von Neumann, Annals of Mathematical Statistics 12 (1941), for their degrees of freedom; F. E.
 * Satterthwaite, Biometrics 2 (1946), for those of a variance of unequal parts.
 */
#include "count/estimate.h"

#include "util/util.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* A slice ends after so many reads, even if the counter ran all the time: it may go on like that. */
enum { READS_MAX = 8 };
/* Fewer repeats tell nothing by themselves: each group has to have been first a few times. */
enum { RUNS_MIN = 20 };

/* Differences that carry a variance: see above. */
static const double carriers_min = 6;
/* Share of the time; a longer stretch that was not seen can have held anything. */
static const double stretch_max = 0.1;
/* Slices so far apart are the same again, if their differences have less than this part of the neighbours' variance. */
static const double repeats_below = 0.1;
/* Share of the value; less is shown as 0, and is less than the kernel's times of turns are good for. */
static const double error_min = 0.00005;

static double positive(double x)
{
	return x > 0 ? x : 0;
}

static const uint32_t distances[SLICE_LAGS] = { 1, 2, 4, SLICE_LAG_MAX };
/* The variance is taken from the first of these distances. */
enum { VARIANCE_LAGS = 3 };

/* ---- slices ---- */

/* Compares a slice with one that came `lag` distances before; returns the difference of the rates. */
static double compare(struct slices *s, struct pool *pool, size_t lag, const struct slice_rate *now)
{
	const struct slice_rate *then = &s->last[(s->n_last - distances[lag]) % SLICE_LAG_MAX];
	double jump = now->rate - then->rate, unseen = (now->unseen + then->unseen) / 2;

	pool->now[s->turn_kind][lag] +=
		jump * sqrt(now->running * then->running / (now->running + then->running) * unseen);
	pool->now_weight[lag] += unseen;
	return jump;
}

static void end_stretch(struct slices *s, double ns)
{
	if (ns > s->longest_ns)
		s->longest_ns = ns;
	if (ns > s->longest_since_ns)
		s->longest_since_ns = ns;
}

static void add_slice(struct slices *s, struct pool *pool)
{
	struct slice_sums *sums = &s->sums;
	double r = s->open_running, e = s->open_enabled;
	const struct slice_rate now = { s->open_value / r, r, positive(e - r) * e / r };

	sums->n++;
	sums->enabled_ns += e;
	sums->running_ns += r;
	sums->value += s->open_value;
	sums->local += s->open_value * e / r;
	sums->square += e * e / r;
	sums->value_square += s->open_value * s->open_value / r;
	for (size_t lag = 0; lag < SLICE_LAGS && distances[lag] <= s->n_last; lag++) {
		double jump = compare(s, pool, lag, &now);

		if (distances[lag] == 1)
			sums->drift += jump;
	}
	s->last[s->n_last++ % SLICE_LAG_MAX] = now;
	s->last_enabled = e;
}

/* Time in which the counter did not run at all belongs to the slice before. */
static void extend_last(struct slices *s)
{
	const struct slice_rate *last = &s->last[(s->n_last - 1) % SLICE_LAG_MAX];
	struct slice_sums *sums = &s->sums;
	double before = s->last_enabled, now = before + s->open_enabled;

	sums->enabled_ns += s->open_enabled;
	sums->local += last->rate * s->open_enabled;
	sums->square += (now * now - before * before) / last->running;
	s->last_enabled = now;
}

void slices_close(struct slices *s, struct pool *pool)
{
	if (s->open_running > 0)
		add_slice(s, pool);
	else if (s->open_enabled > 0 && s->n_last)
		extend_last(s);
	else
		return;
	s->open_value = s->open_enabled = s->open_running = 0;
	s->reads = 0;
}

/* The turns may have been anywhere between two reads: half of the rest is taken as before, half as after. */
static void watch_stretch(struct slices *s, double enabled, double running)
{
	double half = positive(enabled - running) / 2;

	if (running > 0) {
		end_stretch(s, s->unseen_ns + half);
		s->unseen_ns = half;
	} else {
		s->unseen_ns += enabled;
		end_stretch(s, s->unseen_ns);
	}
}

void slices_add(struct slices *s, struct pool *pool, uint64_t value, uint64_t enabled_ns,
		uint64_t running_ns)
{
	/* Nothing to add: it was not enabled in between, or the kernel's times went back a little, as they may. */
	if (enabled_ns <= s->enabled_ns || running_ns < s->running_ns || value < s->value)
		return;
	watch_stretch(s, (double)(enabled_ns - s->enabled_ns), (double)(running_ns - s->running_ns));
	s->open_value += (double)(value - s->value);
	s->open_enabled += (double)(enabled_ns - s->enabled_ns);
	s->open_running += (double)(running_ns - s->running_ns);
	s->value = value;
	s->enabled_ns = enabled_ns;
	s->running_ns = running_ns;
	s->reads++;
	/* A slice has a turn and a pause, so that its share is about that of all others. */
	if (s->open_running > 0 && (s->open_running < s->open_enabled || s->reads >= READS_MAX))
		slices_close(s, pool);
}

unsigned slices_turn_kind(size_t i, size_t n, size_t groups)
{
	return groups && n >= groups ? (unsigned)(i % groups % TURN_KINDS) : 0;
}

void pool_end_read(struct pool *pool)
{
	for (size_t lag = 0; lag < SLICE_LAGS; lag++) {
		if (!(pool->now_weight[lag] > 0))
			continue;
		for (size_t kind = 0; kind < TURN_KINDS && !lag && !pool->sums.times[0]; kind++)
			pool->sums.first += pool->now[kind][0] * pool->now[kind][0];
		pool->sums.times[lag]++;
		pool->sums.weights[lag] += pool->now_weight[lag];
		for (size_t kind = 0; kind < TURN_KINDS; kind++) {
			double square = pool->now[kind][lag] * pool->now[kind][lag];

			pool->sums.n[lag] += square > 0;
			pool->sums.squares[lag] += square;
			pool->sums.fourths[lag] += square * square;
			pool->now[kind][lag] = 0;
		}
		pool->now_weight[lag] = 0;
	}
}

/* ---- evidence ---- */

static struct slice_sums slices_since(const struct slice_sums *now, const struct slice_sums *before)
{
	return (struct slice_sums){
		.n = now->n - before->n,
		.enabled_ns = now->enabled_ns - before->enabled_ns,
		.running_ns = now->running_ns - before->running_ns,
		.value = now->value - before->value,
		.local = now->local - before->local,
		.square = now->square - before->square,
		.value_square = now->value_square - before->value_square,
		.drift = now->drift - before->drift,
	};
}

static void count_slices(struct evidence *evidence, const struct slice_sums *sums, double longest_ns)
{
	double e = sums->enabled_ns, r = sums->running_ns, rate = sums->value / r;

	evidence->unseen += positive(e - r) * e / r;
	evidence->spread += e * e / r;
	evidence->offset += rate * e - sums->local;
	evidence->offset_weight += positive(sums->square - e * e / r);
	evidence->lag += sums->drift * positive(e - r) / sums->n / 2;
	evidence->stretch += longest_ns * sqrt(positive(sums->value_square / r - rate * rate));
	evidence->stretch_ns += longest_ns;
}

void slices_count(struct evidence *evidence, struct slices *s, bool since_last, uint64_t enabled_ns,
		  uint64_t running_ns)
{
	struct slice_sums sums = since_last ? slices_since(&s->sums, &s->reported) : s->sums;
	double longest_ns = since_last ? s->longest_since_ns : s->longest_ns;

	if (since_last) {
		s->reported = s->sums;
		s->longest_since_ns = 0;
	}
	if (!running_ns)
		return;
	evidence->enabled_ns += (double)enabled_ns;
	if (running_ns >= enabled_ns)
		return;
	evidence->cells++;
	if (sums.n >= 2 && sums.running_ns > 0)
		count_slices(evidence, &sums, longest_ns);
	else
		evidence->stretch_ns += (double)enabled_ns; /* nothing is known of it */
}

static void add_pool(struct pool_sums *sum, const struct pool_sums *add, const struct pool_sums *less)
{
	sum->first += add->first - less->first;
	for (size_t lag = 0; lag < SLICE_LAGS; lag++) {
		sum->times[lag] += add->times[lag] - less->times[lag];
		sum->n[lag] += add->n[lag] - less->n[lag];
		sum->squares[lag] += positive(add->squares[lag] - less->squares[lag]);
		sum->fourths[lag] += positive(add->fourths[lag] - less->fourths[lag]);
		sum->weights[lag] += positive(add->weights[lag] - less->weights[lag]);
	}
}

static const struct pool_sums no_sums;

void pool_count(struct evidence *evidence, struct pool *pool, bool since_last)
{
	add_pool(&evidence->pool, &pool->sums, since_last ? &pool->reported : &no_sums);
	if (since_last)
		pool->reported = pool->sums;
}

void evidence_add(struct evidence *sum, const struct evidence *e)
{
	sum->cells += e->cells;
	sum->unseen += e->unseen;
	sum->spread += e->spread;
	sum->offset += e->offset;
	sum->offset_weight += e->offset_weight;
	sum->lag += e->lag;
	sum->stretch += e->stretch;
	sum->stretch_ns += e->stretch_ns;
	sum->enabled_ns += e->enabled_ns;
	add_pool(&sum->pool, &e->pool, &no_sums);
}

/* ---- estimates ---- */

static double variance_at(const struct pool_sums *sums, size_t lag)
{
	return sums->squares[lag] / sums->weights[lag];
}

/* The distance with the largest variance, of those that enough slices have; SLICE_LAGS: there is none. */
static size_t widest(const struct pool_sums *sums)
{
	size_t most = SLICE_LAGS;

	for (size_t lag = 0; lag < VARIANCE_LAGS; lag++) {
		if (sums->times[lag] < COMPARISONS_MIN || !(sums->weights[lag] > 0))
			continue;
		if (most == SLICE_LAGS || variance_at(sums, lag) > variance_at(sums, most))
			most = lag;
	}
	return most;
}

/*
 * Degrees of freedom of n differences, of which m carry the variance; neighbours overlap, which costs a third. There is
 * one at least: of less, which few differences and rounding would give, t is beyond all bounds.
 */
static double freedom_of(double n, double m)
{
	double normal = 2 * n / 3, uneven = 1 / m - 1 / n;
	double freedom = uneven > 0 && 4 / 3.0 / uneven < normal ? 4 / 3.0 / uneven : normal;

	return freedom > 1 ? freedom : 1;
}

/* Number of slices after which they repeat; 0: they do not. */
static uint32_t period_of(const struct pool_sums *sums)
{
	for (size_t lag = 1; lag < SLICE_LAGS; lag++)
		if (sums->times[lag] >= COMPARISONS_MIN && sums->weights[lag] > 0 &&
		    variance_at(sums, lag) < repeats_below * variance_at(sums, 0))
			return distances[lag];
	return 0;
}

/* The part of the error that is noise, in counts. */
static double noise_of(const struct evidence *e, const struct estimate *estimate, uint32_t period)
{
	double variance = estimate->unit_variance * e->unseen;

	if (period)
		return t_quantile(ESTIMATE_CONFIDENCE, period - 1) * sqrt(variance * (e->pool.times[0] + 1) / period);
	return t_quantile(ESTIMATE_CONFIDENCE, estimate->freedom) * sqrt(variance);
}

struct estimate estimate_make(const struct evidence *e, double value)
{
	const struct pool_sums *pool = &e->pool;
	size_t lag = widest(pool);
	struct estimate estimate = { .state = value > 0 ? ESTIMATE_FEW_SLICES : ESTIMATE_NOTHING,
				     .unit_variance = -1 };
	double carriers, noise;
	uint32_t period;

	if (lag == SLICE_LAGS)
		return estimate;
	estimate.unit_variance = variance_at(pool, lag);
	carriers = pool->fourths[lag] > 0
			   ? pool->squares[lag] * pool->squares[lag] / pool->fourths[lag]
			   : 0;
	estimate.freedom = carriers > 0 ? freedom_of(pool->n[lag], carriers) : 1;
	period = period_of(pool);
	noise = noise_of(e, &estimate, period);
	estimate.error = sqrt(noise * noise + e->lag * e->lag + e->stretch * e->stretch +
			      positive(e->offset * e->offset - estimate.unit_variance * e->offset_weight));
	if (!(value > 0))
		estimate.state = ESTIMATE_NOTHING;
	else if (e->stretch_ns > stretch_max * e->enabled_ns)
		estimate.state = ESTIMATE_UNSEEN;
	else if (estimate.error < error_min * value)
		estimate.state = ESTIMATE_ALIKE;
	else if (carriers < carriers_min)
		estimate.state = ESTIMATE_FEW_DIFFERENCES;
	else if (period && estimate.error > value)
		estimate.state = ESTIMATE_IN_STEP;
	else
		estimate.state = ESTIMATE_OK;
	estimate.start_differs =
		estimate.state == ESTIMATE_FEW_DIFFERENCES && pool->first > pool->squares[0] / 2;
	return estimate;
}

void estimate_from_runs(struct estimate *estimate, uint64_t n, double stdev, double value)
{
	bool few = estimate->state == ESTIMATE_FEW_SLICES || estimate->state == ESTIMATE_FEW_DIFFERENCES;

	if (!few || n < RUNS_MIN || !(value > 0))
		return;
	estimate->start_differs = false; /* each group has seen it */
	estimate->error = t_quantile(ESTIMATE_CONFIDENCE, (double)n - 1) * stdev * sqrt((double)n);
	estimate->state = estimate->error < error_min * value ? ESTIMATE_ALIKE : ESTIMATE_OK;
}

const char *estimate_reason(enum estimate_state state)
{
	static const char *const reasons[] = {
		[ESTIMATE_FEW_SLICES] = "too few turns",
		[ESTIMATE_FEW_DIFFERENCES] = "a few turns make the difference",
		[ESTIMATE_UNSEEN] = "more than a tenth of the time in one piece was not seen",
		[ESTIMATE_ALIKE] = "all turns alike: steady, or in step with them",
		[ESTIMATE_IN_STEP] = "the turns keep step with the program",
		[ESTIMATE_START] = "the start was unlike the rest, and not seen",
		[ESTIMATE_NOTHING] = "nothing was seen",
	};

	return reasons[state];
}
