/* SPDX-License-Identifier: MIT */
/*
 * Wilcoxon's signed-rank test of paired differences, and the estimate and interval of Hodges and Lehmann that go with
 * it. Nothing is asked of the differences but that, were there no effect, each would be as likely with the other sign.
 *
 * The sum of the ranks of positive differences is a sum of ranks that are in it or not, each by a coin: its
 * distribution comes from adding the ranks one after the other, exactly, ties and zeros included. An interval has the
 * effects that the test would not refuse: its ends are two of the means of all pairs of differences (Walsh averages).
 * They are n (n + 1) / 2, and are never made: how many are below a bound takes one walk along the sorted differences,
 * and a bound is found by halving what lies between two numbers, of which there are 2^64.
 *
 * Sources: F. Wilcoxon, Biometrics Bulletin 1 (1945); J. W. Pratt, Journal of the American Statistical Association 54
 * (1959), for zeros; J. L. Hodges and E. L. Lehmann, Annals of Mathematical Statistics 34 (1963).
 */
#include "util/util.h"

#include <math.h>
#include <stdlib.h>

enum { EXACT_MAX = 200 }; /* from here on the normal distribution is as good */

/* ---- the distribution ---- */

/*
 * The probability of each sum up to `most` of these ranks, each of them in it or not by a coin. ranks NULL: they are 1
 * to n. The caller frees it.
 */
static double *probabilities(const size_t *ranks, size_t n, size_t most)
{
	double *of_sum = xcalloc(most + 1, sizeof(*of_sum));
	size_t highest = 0; /* of the sums that these ranks can have */

	of_sum[0] = 1;
	for (size_t i = 0; i < n; i++) {
		size_t rank = ranks ? ranks[i] : i + 1;

		highest = highest + rank < most ? highest + rank : most;
		for (size_t sum = highest + 1; sum-- > 0;)
			of_sum[sum] = (of_sum[sum] + (sum >= rank ? of_sum[sum - rank] : 0)) / 2;
	}
	return of_sum;
}

static double sum_at_most(const size_t *ranks, size_t n, size_t most)
{
	double *of_sum = probabilities(ranks, n, most), all = 0;

	for (size_t sum = 0; sum <= most; sum++)
		all += of_sum[sum];
	free(of_sum);
	return all;
}

/* How many sums of the ranks 1 to n, from 0 on, are together less likely than this. */
static size_t unlikely_sums(size_t n, double probability)
{
	size_t most = n * (n + 1) / 4, sum = 0;
	double *of_sum = probabilities(NULL, n, most), all = of_sum[0];

	while (sum < most && all <= probability)
		all += of_sum[++sum];
	free(of_sum);
	return sum;
}

/* ---- the test ---- */

static int by_size(const void *a, const void *b)
{
	double x = fabs(*(const double *)a), y = fabs(*(const double *)b);

	return (x > y) - (x < y);
}

static double normal_p(const size_t *ranks, size_t n, size_t less, size_t all)
{
	double variance = 0, off = ((double)all - 2 * (double)less) / 2 - 1;

	for (size_t i = 0; i < n; i++)
		variance += (double)ranks[i] * (double)ranks[i] / 4;
	return off > 0 ? t_two_sided(off / sqrt(variance), INFINITY) : 1;
}

/* Ranks are doubled, so that the mean rank of equal sizes is whole. Zeros have ranks, and are in no sum. */
static double two_sided_p(double *differences, size_t n)
{
	size_t *ranks = xcalloc(n, sizeof(*ranks)), n_ranks = 0, positive = 0, all = 0, less;
	double p;

	qsort(differences, n, sizeof(*differences), by_size);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && fabs(differences[end]) == fabs(differences[i]);)
			end++;
		for (size_t k = i; k < end && differences[i] != 0; k++) {
			ranks[n_ranks++] = i + end + 1;
			all += i + end + 1;
			positive += differences[k] > 0 ? i + end + 1 : 0;
		}
	}
	less = positive < all - positive ? positive : all - positive;
	p = n <= EXACT_MAX ? 2 * sum_at_most(ranks, n_ranks, less) : normal_p(ranks, n_ranks, less, all);
	free(ranks);
	return p < 1 ? p : 1;
}

/* ---- means of pairs ---- */

/* Numbers in their order: the bits of a double that is less are less. */
static uint64_t bits_of(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits >> 63 ? ~bits : bits | 1ULL << 63;
}

static double number_of(uint64_t bits)
{
	double x;

	bits = bits >> 63 ? bits & ~(1ULL << 63) : ~bits;
	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* Pairs of ascending numbers, each with itself too, whose sum is at most this. */
static size_t pairs_up_to(const double *sorted, size_t n, double most)
{
	size_t pairs = 0, end = n;

	for (size_t i = 0; i < n; i++) {
		while (end > i && sorted[i] + sorted[end - 1] > most)
			end--;
		if (end <= i)
			break;
		pairs += end - i;
	}
	return pairs;
}

/* The mean of the pair that has so many before it. */
static double pair_mean(const double *sorted, size_t n, size_t before)
{
	uint64_t low = bits_of(2 * sorted[0]), high = bits_of(2 * sorted[n - 1]);

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (pairs_up_to(sorted, n, number_of(middle)) > before)
			high = middle;
		else
			low = middle + 1;
	}
	return number_of(low) / 2;
}

/*
 * How many means of pairs lie outside on either side of an interval: the greatest sum of ranks that the test would not
 * believe. False: it believes each.
 */
static bool pairs_outside(size_t n, double alpha, size_t *outside)
{
	double mean = (double)n * ((double)n + 1) / 4, deviation = sqrt(mean * (2 * (double)n + 1) / 6);

	if (n < signed_rank_least(alpha))
		return false;
	if (n > EXACT_MAX) {
		*outside = (size_t)(mean - t_quantile(1 - alpha, INFINITY) * deviation - 0.5);
		return true;
	}
	*outside = unlikely_sums(n, alpha / 2) - 1;
	return true;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

size_t signed_rank_least(double alpha)
{
	size_t n = 1;

	for (double p = 1; p > alpha && n < 1100; n++)
		p /= 2;
	return n;
}

void signed_rank(double *differences, size_t n, double alpha, struct signed_rank *found)
{
	size_t pairs = n * (n + 1) / 2, outside;

	found->p = two_sided_p(differences, n);
	qsort(differences, n, sizeof(*differences), ascending);
	found->estimate = (pair_mean(differences, n, (pairs - 1) / 2) + pair_mean(differences, n, pairs / 2)) / 2;
	found->low = -INFINITY;
	found->high = INFINITY;
	if (!pairs_outside(n, alpha, &outside))
		return;
	found->low = pair_mean(differences, n, outside);
	found->high = pair_mean(differences, n, pairs - 1 - outside);
}
