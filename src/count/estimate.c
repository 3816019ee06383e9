/*
 * The error of a scaled value, from the slices in which its counter was read: pure arithmetic.
 *
 * The value that is printed is a ratio estimate, V * E / R, of counts V seen in the time running R,
 * for the time enabled E. With v, e and r of one slice, what it did not see is e - r. The error has
 * three parts:
 *
 *   noise    The rate q = v / r jumps about from slice to slice. Its variance per unit of time is
 *            s2 = sum (q' - q)^2 r r' / (r + r') w / sum w, over neighbouring slices, w = (r + r') / 2.
 *            Differences between neighbours leave out what changes slowly, as is right for samples
 *            that are spread over the whole time. What changes about as fast as turns are taken may
 *            look slow, though: so the same is done for every second and every fourth slice, and
 *            the largest s2 counts. The variance of the estimate is then s2 R (1 - f) / f^2,
 *            f = R / E: with the correction for a finite population, 1 - f.
 *   offset   Where the share r / e is not the same in slow and fast slices, the estimate leans to
 *            one side: by V E / R - sum v e / r. The square that noise alone would make of it,
 *            s2 (sum e^2 / r - E^2 / R), is taken off.
 *   lag      Where the turns come before the pauses, a rate that rises is seen half a pause too early
 *            all the time: by (last q - first q) (E - R) / 2 n.
 *
 * The interval is t * sqrt(variance), with Student's t at 95 % for 2 (n - 1)^2 / (3 n - 4) degrees of
 * freedom of n slices, and offset and lag, added as squares. What all this cannot see: a program
 * whose phases keep step with the turns, and bursts so rare that no slice had one.
 *
 * Sources: W. G. Cochran, Sampling Techniques, 3rd ed. 1977, chapters 2 (finite population), 6 (ratio
 * estimates) and 8 (systematic samples); K. M. Wolter, Introduction to Variance Estimation, 2nd ed.
 * 2007, chapter 8 (successive differences); J. von Neumann, Annals of Mathematical Statistics 12
 * (1941), for their degrees of freedom; Abramowitz and Stegun 26.7.5 for t.
 */
#include "count/estimate.h"

#include <math.h>
#include <stddef.h>

/* After so many reads a slice ends, even if the counter ran all the time: it may go on like that. */
enum { READS_MAX = 8 };

static double positive(double x)
{
	return x > 0 ? x : 0;
}

static const uint32_t distances[SLICE_LAGS] = { 1, 2, SLICE_LAG_MAX };

/* ---- slices ---- */

/* With a slice so many before; returns the difference of the rates. */
static double compare(struct slices *s, size_t lag, uint32_t distance, const struct slice_rate *now)
{
	const struct slice_rate *then = &s->last[(s->n_last - distance) % SLICE_LAG_MAX];
	double jump = now->rate - then->rate, weight = (now->running + then->running) / 2;

	s->sums.differences[lag] += jump * jump * now->running * then->running /
				    (now->running + then->running) * weight;
	s->sums.weights[lag] += weight;
	return jump;
}

static void add_slice(struct slices *s)
{
	struct slice_sums *sums = &s->sums;
	double r = s->open_running;
	const struct slice_rate now = { s->open_value / r, r };

	sums->n++;
	sums->enabled_ns += s->open_enabled;
	sums->running_ns += r;
	sums->value += s->open_value;
	sums->local += s->open_value * s->open_enabled / r;
	sums->square += s->open_enabled * s->open_enabled / r;
	for (size_t lag = 0; lag < SLICE_LAGS && distances[lag] <= s->n_last; lag++) {
		double jump = compare(s, lag, distances[lag], &now);

		if (distances[lag] == 1)
			sums->drift += jump;
	}
	s->last[s->n_last++ % SLICE_LAG_MAX] = now;
	s->last_enabled = s->open_enabled;
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

void slices_close(struct slices *s)
{
	if (s->open_running > 0)
		add_slice(s);
	else if (s->open_enabled > 0 && s->n_last)
		extend_last(s);
	else
		return;
	s->open_value = s->open_enabled = s->open_running = 0;
	s->reads = 0;
}

void slices_add(struct slices *s, uint64_t value, uint64_t enabled_ns, uint64_t running_ns)
{
	/* It was not enabled in between, or the kernel's times went back a little, as they may. */
	if (enabled_ns <= s->enabled_ns || running_ns < s->running_ns || value < s->value)
		return;
	s->open_value += (double)(value - s->value);
	s->open_enabled += (double)(enabled_ns - s->enabled_ns);
	s->open_running += (double)(running_ns - s->running_ns);
	s->value = value;
	s->enabled_ns = enabled_ns;
	s->running_ns = running_ns;
	s->reads++;
	/* A slice has a turn and a pause, so that its share is about that of all others. */
	if (s->open_running > 0 && (s->open_running < s->open_enabled || s->reads >= READS_MAX))
		slices_close(s);
}

struct slice_sums slice_sums_since(const struct slice_sums *now, const struct slice_sums *before)
{
	struct slice_sums since = {
		.n = now->n - before->n,
		.enabled_ns = now->enabled_ns - before->enabled_ns,
		.running_ns = now->running_ns - before->running_ns,
		.value = now->value - before->value,
		.local = now->local - before->local,
		.square = now->square - before->square,
		.drift = now->drift - before->drift,
	};

	for (size_t lag = 0; lag < SLICE_LAGS; lag++) {
		since.differences[lag] = now->differences[lag] - before->differences[lag];
		since.weights[lag] = now->weights[lag] - before->weights[lag];
	}
	return since;
}

/* ---- estimates ---- */

/* The largest of all distances that enough slices have; negative: there is none. */
static double variance_of_rate(const struct slice_sums *sums)
{
	double most = -1;

	for (size_t lag = 0; lag < SLICE_LAGS; lag++) {
		double s2;

		if (sums->n < 2 * distances[lag] + 4 || !(sums->weights[lag] > 0))
			continue;
		s2 = positive(sums->differences[lag]) / sums->weights[lag];
		most = s2 > most ? s2 : most;
	}
	return most;
}

bool estimate_make(const struct slice_sums *sums, struct estimate *estimate)
{
	double e = sums->enabled_ns, r = sums->running_ns, n = sums->n;
	double s2 = variance_of_rate(sums), lag, freedom = 2 * (n - 1) * (n - 1) / (3 * n - 4);

	if (sums->n < SLICES_MIN || s2 < 0 || !(r > 0))
		return false;
	estimate->variance = s2 * positive(e - r) * e / r;
	estimate->variance_doubt = estimate->variance * estimate->variance / freedom;
	estimate->offset = sums->value * e / r - sums->local;
	estimate->offset_variance = s2 * positive(sums->square - e * e / r);
	lag = sums->drift * positive(e - r) / n / 2;
	estimate->lag_square = lag * lag;
	return true;
}

void estimate_add(struct estimate *sum, const struct estimate *estimate)
{
	sum->variance += estimate->variance;
	sum->variance_doubt += estimate->variance_doubt;
	sum->offset += estimate->offset;
	sum->offset_variance += estimate->offset_variance;
	sum->lag_square += estimate->lag_square;
}

/* Two-sided, 95 %. */
static double student_t(double freedom)
{
	const double z = 1.959963984540054, z3 = z * z * z, z5 = z3 * z * z;

	return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom);
}

double estimate_error(const struct estimate *e)
{
	double noise = 0;

	/* Degrees of freedom of a sum, as F. E. Satterthwaite has them. */
	if (e->variance > 0)
		noise = student_t(e->variance * e->variance / e->variance_doubt) * sqrt(e->variance);
	return sqrt(noise * noise + positive(e->offset * e->offset - e->offset_variance) +
		    e->lag_square);
}
