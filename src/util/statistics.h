/* SPDX-License-Identifier: MIT */
/*
 * statistics: the mean of a series and how sure it is; Student's distribution; the signed-rank test of differences.
 * Read by including util.h.
 */
#ifndef PSTAT_STATISTICS_H
#define PSTAT_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

/* Mean and deviation of a series by Welford's method; zeroed is empty. */
struct series {
	uint64_t n;
	double mean, m2, min, max;
};
void series_add(struct series *s, double x);
double series_stdev_of_mean(const struct series *s); /* sqrt(variance / n); 0 for n < 2 */
double series_rel_stdev_pct(const struct series *s); /* of the mean, in % of the mean; 0 if mean is 0 */

/* log(3) of x > 0, and exp(3), without a library of mathematics: the same on each machine. */
double natural_log(double x);
double exponential(double x);

/*
 * Student's distribution; freedom INFINITY: the normal one. t_two_sided: the probability of t, or of one further from
 * 0 on either side. t_quantile: the t for which that is 1 - probability: 12.7 of 0.95 and one degree of freedom.
 */
double t_two_sided(double t, double freedom);
double t_quantile(double probability, double freedom);

/* ---- signed_rank.c ---- */

/* An effect that is the same in all paired differences, as far as these tell. */
struct signed_rank {
	double estimate; /* of Hodges and Lehmann: the median of the means of all pairs */
	double low, high; /* the effect is in between with a confidence of 1 - alpha; infinite: there are too few */
	double p; /* two-sided, of no effect; ties by their mean rank, zeros by Pratt */
};
/* n differences, at least one and all finite, which are put in order; alpha above 0 and below 1. */
void signed_rank(double *differences, size_t n, double alpha, struct signed_rank *found);
/* The fewest differences that have an interval: 2 / 2^n is at most alpha. */
size_t signed_rank_least(double alpha);

#endif
