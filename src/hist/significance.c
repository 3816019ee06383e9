/* SPDX-License-Identifier: MIT */
/*
 * Rates, their variance, and tests of their differences: see significance.h.
 */
#include "hist/significance.h"

#include "util/util.h"

#include <math.h>
#include <stdlib.h>

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

/* ---- rates ---- */

double rate_value(const struct rate *rate)
{
	return rate->whole > 0 ? rate->part / rate->whole : 0;
}

double rate_percent(const struct rate *rate)
{
	return rate->whole > 0 ? 100 * rate->part / rate->whole : 0;
}

/* Half of the mean square of neighbours' differences, times the number of blocks: variance of their sum. */
void rate_add_blocks(struct rate *rate, const double *part, const double *whole, size_t n)
{
	double value = rate_value(rate), squares = 0;

	if (n < 2)
		return;
	for (size_t i = 1; i < n; i++) {
		double step = part[i] - part[i - 1];

		if (whole)
			step -= value * (whole[i] - whole[i - 1]);
		squares += step * step;
	}
	rate->scatter += squares / 2 * (double)n / (double)(n - 1);
	/* Neighbours share a block: 2 (n - 1)^2 / (3 n - 4) of independent ones. */
	rate->freedom += 2.0 * (double)(n - 1) * (double)(n - 1) / (3.0 * (double)n - 4);
}

double rate_chance(const struct rate *rate, enum rate_kind kind, double value)
{
	double chance;

	if (!(rate->whole > 0))
		return 0;
	if (kind == RATE_SHARE)
		return rate->n_whole > 0 ? value * larger(1 - value, 0) / rate->n_whole : 0;
	chance = value * rate->sample / rate->whole;
	if (kind == RATE_PER_EVENT && rate->n_whole > 0)
		chance += value * value / rate->n_whole;
	return chance;
}

static double blocks_variance(const struct rate *rate)
{
	return rate->whole > 0 ? rate->scatter / (rate->whole * rate->whole) : 0;
}

double design_effect(const struct rate *a, const struct rate *b, enum rate_kind kind)
{
	const struct rate *sides[] = { a, b };
	double found = 0, chance = 0;

	for (size_t i = 0; i < 2; i++) {
		if (!sides[i]->freedom || !(sides[i]->part > 0))
			continue;
		found += blocks_variance(sides[i]);
		chance += rate_chance(sides[i], kind, rate_value(sides[i]));
	}
	return chance > 0 ? larger(found / chance, 1) : 1;
}

/*
 * Widens an interval: a rate seen seldom, or never, is not known to be so: as if one sample more had been in the
 * part and one more outside (Agresti and Caffo), counted in samples that are independent.
 */
static double cautious(const struct rate *rate, enum rate_kind kind, double effect)
{
	double n = rate->n_whole / effect;

	if (kind == RATE_SHARE)
		return (rate_value(rate) * n + 1) / (n + 2);
	return rate_value(rate) + (rate->whole > 0 ? effect * rate->sample / rate->whole : 0);
}

static double quantile(struct confidence *confidence, double freedom)
{
	if (confidence->freedom != freedom) {
		confidence->freedom = freedom;
		confidence->t = t_quantile(confidence->level, freedom);
	}
	return confidence->t;
}

/* Shares differ by 1 at most. */
static void set_interval(struct change *change, double error, enum rate_kind kind, struct confidence *confidence)
{
	double reach = quantile(confidence, change->freedom) * error;

	change->error = error;
	change->low = change->difference - reach;
	change->high = change->difference + reach;
	if (kind == RATE_SHARE) {
		change->low = larger(change->low, -1);
		change->high = smaller(change->high, 1);
	}
}

/* The test is about one rate that both sides have; the interval about two. */
void rates_compare(const struct rate *before, const struct rate *after, enum rate_kind kind,
		   struct confidence *confidence, struct change *change)
{
	double whole = before->whole + after->whole, same = whole > 0 ? (before->part + after->part) / whole : 0;
	double effect = design_effect(before, after, kind), chance, error;

	*change = (struct change){ .p = 1, .design_effect = effect };
	change->difference = rate_value(after) - rate_value(before);
	change->freedom = before->freedom + after->freedom;
	if (!(change->freedom > 0))
		change->freedom = INFINITY;
	chance = effect * (rate_chance(before, kind, same) + rate_chance(after, kind, same));
	if (chance > 0)
		change->p = t_two_sided(change->difference / sqrt(chance), change->freedom);
	error = effect * (rate_chance(before, kind, cautious(before, kind, effect)) +
			  rate_chance(after, kind, cautious(after, kind, effect)));
	set_interval(change, sqrt(error), kind, confidence);
}

/* ---- several runs a side ---- */

size_t rates_known(const struct rate *runs, size_t n)
{
	size_t known = 0;

	for (size_t i = 0; i < n; i++)
		known += runs[i].whole > 0;
	return known;
}

double rates_mean(const struct rate *runs, size_t n)
{
	size_t known = rates_known(runs, n);
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += rate_value(&runs[i]);
	return known ? sum / (double)known : 0;
}

/* Variance of that mean; what sampling alone explains is the least. */
static double variance_of_mean(const struct rate *runs, size_t n, enum rate_kind kind)
{
	double mean = rates_mean(runs, n), squares = 0, sampling = 0, known = (double)rates_known(runs, n);

	for (size_t i = 0; i < n; i++) {
		double off = rate_value(&runs[i]) - mean;

		if (!(runs[i].whole > 0))
			continue;
		squares += off * off;
		sampling += rate_chance(&runs[i], kind, cautious(&runs[i], kind, 1));
	}
	return larger(squares / (known - 1) / known, sampling / known / known);
}

bool runs_compare(const struct rate *before, size_t n_before, const struct rate *after, size_t n_after,
		  enum rate_kind kind, struct confidence *confidence, struct change *change)
{
	double known_before = (double)rates_known(before, n_before), known_after = (double)rates_known(after, n_after);
	double a, b;

	*change = (struct change){ .difference = rates_mean(after, n_after) - rates_mean(before, n_before),
				   .p = 1, .design_effect = 1, .freedom = 1 };
	if (known_before < 2 || known_after < 2)
		return false;
	a = variance_of_mean(before, n_before, kind);
	b = variance_of_mean(after, n_after, kind);
	if (a + b > 0) {
		change->freedom = (a + b) * (a + b) / (a * a / (known_before - 1) + b * b / (known_after - 1));
		change->p = t_two_sided(change->difference / sqrt(a + b), change->freedom);
	}
	set_interval(change, sqrt(a + b), kind, confidence);
	return true;
}

double change_beyond(const struct change *change, double limit, int sign)
{
	double distance = sign * (change->difference - limit), p;

	if (!(change->error > 0))
		return distance > 0;
	p = t_two_sided(distance / change->error, change->freedom) / 2;
	return distance > 0 ? 1 - p : p;
}

/* ---- many rows ---- */

struct ranked {
	double p;
	size_t row;
};

static int least_first(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	return (a->p > b->p) - (a->p < b->p);
}

void holm_correct(double *p, size_t n)
{
	struct ranked *ranked = xcalloc(n + 1, sizeof(*ranked));
	double least = 0;

	for (size_t i = 0; i < n; i++)
		ranked[i] = (struct ranked){ p[i], i };
	qsort(ranked, n, sizeof(*ranked), least_first);
	for (size_t i = 0; i < n; i++) {
		least = larger(least, smaller(ranked[i].p * (double)(n - i), 1));
		p[ranked[i].row] = least;
	}
	free(ranked);
}
