/* SPDX-License-Identifier: MIT */
/*
 * An event that stands in several groups is counted several times, in turns that follow each other. All of these
 * values are of one truth. Where they are further apart than chance makes them, the groups saw different parts of the
 * program each time: the turns keep step with it. That cannot be seen in the slices of one group, which are alike.
 *
 * The test is chi-square: sum (X - mean)^2 / variance of n values has n - 1 degrees of freedom. The variance is
 * s2 E^2 / R, without the correction for a finite population: groups of one list see parts that the others do not,
 * and so differ more from each other than from the truth. s2 is the mean of what all of them saw. A turn begins and
 * ends some microseconds beside the kernel's times of it, so values that differ by a thousandth are no news.
 *
 * Where they do not agree, each is as far from the truth as they are from each other: the interval is t times their
 * standard deviation.
 *
 * Sources: E. B. Wilson and M. M. Hilferty, PNAS 17 (1931), for the quantile of chi-square; the t table of any text
 * book.
 */
#include "count/estimate.h"

#include "util/util.h"

#include <math.h>

/* One in a thousand: a report has many rows, and a false alarm spoils them all. */
static const double z_alarm = 3.090232;
static const double turn_precision = 0.001;

static double square(double x)
{
	return x * x;
}

static double chi_square_limit(double freedom)
{
	double part = 2 / (9 * freedom), root = 1 - part + z_alarm * sqrt(part);

	return freedom * root * root * root;
}

/* Mean variance of the copies whose slices could be compared; one of few numbers counts for more, as t does. */
static double common_variance(const struct copy *copies, size_t n)
{
	double sum = 0, freedom = 0, known = 0;

	for (size_t i = 0; i < n; i++) {
		if (copies[i].estimate.unit_variance < 0)
			continue;
		sum += copies[i].estimate.unit_variance;
		freedom += copies[i].estimate.freedom;
		known++;
	}
	if (!(known > 0))
		return -1;
	return sum / known * square(t_quantile(ESTIMATE_CONFIDENCE, freedom) /
				    t_quantile(ESTIMATE_CONFIDENCE, INFINITY));
}

bool copies_agree(const struct copy *copies, size_t n, double *scatter)
{
	double s2 = common_variance(copies, n), mean = 0, weights = 0, chi_square = 0, squares = 0;

	*scatter = 0;
	if (n < 2 || s2 < 0)
		return true;
	for (size_t i = 0; i < n; i++)
		mean += copies[i].value / (double)n;
	for (int pass = 0; pass < 2; pass++) {
		double sum = 0, floor = square(turn_precision * mean);

		chi_square = weights = squares = 0;
		for (size_t i = 0; i < n; i++) {
			double weight = 1 / (s2 * copies[i].spread + floor + 1);

			weights += weight;
			sum += copies[i].value * weight;
			chi_square += square(copies[i].value - mean) * weight;
			squares += square(copies[i].value - mean);
		}
		mean = pass ? mean : sum / weights;
	}
	*scatter = t_quantile(ESTIMATE_CONFIDENCE, (double)n - 1) * sqrt(squares / ((double)n - 1));
	return chi_square <= chi_square_limit((double)n - 1);
}

void copy_widen(struct copy *copy, bool alone, double scatter)
{
	struct estimate *estimate = &copy->estimate;

	if (estimate->state == ESTIMATE_NOTHING)
		return;
	if (alone || scatter > copy->value) {
		estimate->state = ESTIMATE_IN_STEP;
		return;
	}
	if (estimate->state != ESTIMATE_OK || estimate->error < scatter)
		estimate->error = scatter;
	estimate->state = ESTIMATE_OK;
}
