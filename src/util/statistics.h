/*
 * statistics: the mean of a series and how sure it is; Student's distribution. Read by including util.h.
 */
#ifndef PSTAT_STATISTICS_H
#define PSTAT_STATISTICS_H

#include <stdint.h>

/* Mean and deviation of a series by Welford's method; zeroed is empty. */
struct series {
	uint64_t n;
	double mean, m2, min, max;
};
void series_add(struct series *s, double x);
double series_stdev_of_mean(const struct series *s); /* sqrt(variance / n); 0 for n < 2 */
double series_rel_stdev_pct(const struct series *s); /* of the mean, in % of the mean; 0 if mean is 0 */

/*
 * Student's distribution; freedom INFINITY: the normal one. t_two_sided: the probability of t, or of one further from
 * 0 on either side. t_quantile: the t for which that is 1 - probability: 12.7 of 0.95 and one degree of freedom.
 */
double t_two_sided(double t, double freedom);
double t_quantile(double probability, double freedom);

#endif
