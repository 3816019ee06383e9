/* SPDX-License-Identifier: MIT */
/*
 * Mean and deviation, Student's distribution and the normal one, which it is for many degrees of freedom.
 *
 * The few functions that they need are worked out here: results are the same on each machine, and no start of pstat,
 * whatever it is to do, maps a library of mathematics for them. sqrt and fabs are instructions.
 *
 * Sources: B. P. Welford, Technometrics 4 (1962), for the series; NIST Digital Library of Mathematical Functions
 * (DLMF), by number.
 */
#include "util/util.h"

#include <math.h>

/* ---- series ---- */

void series_add(struct series *s, double x)
{
	double before = x - s->mean;

	s->n++;
	s->mean += before / (double)s->n;
	s->m2 += before * (x - s->mean);
	if (s->n == 1 || x < s->min)
		s->min = x;
	if (s->n == 1 || x > s->max)
		s->max = x;
}

double series_stdev_of_mean(const struct series *s)
{
	double n = (double)s->n;

	return s->n < 2 ? 0 : sqrt(s->m2 / (n - 1) / n);
}

double series_rel_stdev_pct(const struct series *s)
{
	return s->mean == 0 ? 0 : fabs(100 * series_stdev_of_mean(s) / s->mean);
}

/* ---- elementary functions ---- */

#define PI 3.14159265358979323846
#define LN_2 0.693147180559945309417
/* ln 2 in two parts, the first with so few digits that its multiples are exact */
#define LN_2_HIGH 0x1.62e42feep-1
#define LN_2_LOW 0x1.a39ef35793c76p-33

enum { LN_TERMS = 25, EXPONENTIAL_TERMS = 20, FRACTION_TERMS = 120 };

/* x > 0: the power of two apart, and of the rest the series in (m - 1) / (m + 1) (DLMF 4.6.4). */
double natural_log(double x)
{
	int power;
	double m = frexp(x, &power), ratio, square, sum = 0;

	if (m < 0.70710678) {
		m *= 2;
		power--;
	}
	ratio = (m - 1) / (m + 1);
	square = ratio * ratio;
	for (int i = LN_TERMS; i > 0; i -= 2)
		sum = sum * square + 1.0 / i;
	return power * LN_2_HIGH + (power * LN_2_LOW + 2 * ratio * sum);
}

/* ln(1 + x), x > -1. The digits of x that 1 + x loses are lost in the divisor, too, which makes up for them. */
static double ln_1_plus(double x)
{
	double sum = 1 + x;

	return sum == 1 ? x : natural_log(sum) * x / (sum - 1);
}

double exponential(double x)
{
	double power, rest, sum = 1;

	if (!(x > -745))
		return 0;
	if (x > 709)
		return INFINITY;
	power = (int)(x / LN_2 + (x < 0 ? -0.5 : 0.5));
	rest = x - power * LN_2_HIGH - power * LN_2_LOW;
	for (int i = EXPONENTIAL_TERMS; i > 0; i--)
		sum = 1 + rest * sum / i;
	return ldexp(sum, (int)power);
}

/* x > 0: Stirling's series (DLMF 5.11.1), for small ones from x + n on (5.5.1). */
static double ln_gamma(double x)
{
	static const double series[] = { 1.0 / 1188, 1.0 / 1680, 1.0 / 1260, 1.0 / 360, 1.0 / 12 };
	double before = 1, square, sum = 0;

	for (; x < 15; x++)
		before *= x;
	square = 1 / (x * x);
	for (size_t i = 0; i < sizeof(series) / sizeof(series[0]); i++)
		sum = series[i] - square * sum;
	return (x - 0.5) * natural_log(x) - x + natural_log(2 * PI) / 2 - natural_log(before) + sum / x;
}

/* Both tails of the normal distribution: erfc(|t| / sqrt 2), by DLMF 7.6.2 and, far out, 7.9.1. */
static double normal_two_sided(double t)
{
	double x = fabs(t) / sqrt(2), front = exponential(-x * x) / sqrt(PI), sum, term;

	if (x >= 2) {
		sum = x;
		for (int i = FRACTION_TERMS; i > 0; i--)
			sum = x + i / 2.0 / sum;
		return front / sum;
	}
	sum = term = x;
	for (int i = 1; i < FRACTION_TERMS; i++) {
		term *= 2 * x * x / (2 * i + 1);
		sum += term;
	}
	return 1 - 2 * front * sum;
}

/* ---- Student's distribution ---- */

enum { STEPS_MAX = 300 };
#define CLOSE 1e-15
#define NORMAL_FROM 1e7 /* degrees of freedom */

static double not_zero(double x)
{
	return fabs(x) < 1e-300 ? 1e-300 : x;
}

/* The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's steps. */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), value = d;

	for (int m = 1; m < STEPS_MAX; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 / not_zero(1 + even * d);
		c = not_zero(1 + even / c);
		value *= d * c;
		d = 1 / not_zero(1 + odd * d);
		c = not_zero(1 + odd / c);
		step = d * c;
		value *= step;
		if (fabs(step - 1) < CLOSE)
			break;
	}
	return value;
}

/* ln x, worked out from x or from its rest up to 1, whichever is less. */
static double ln_part(double x, double rest)
{
	return x < rest ? natural_log(x) : ln_1_plus(-rest);
}

/*
 * The regularised incomplete beta function of x. The rest up to 1 is given as well: an x next to 1 has few digits of
 * it. DLMF 8.17.4 turns the question round where the fraction would converge slowly.
 */
static double beta_part(double a, double b, double x, double rest)
{
	double front;

	if (!(x > 0 && rest > 0))
		return !(rest > 0);
	front = exponential(ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * ln_part(x, rest) +
			    b * ln_part(rest, x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, rest) / b;
}

double t_two_sided(double t, double freedom)
{
	if (isnan(t))
		return 1;
	if (!(freedom < NORMAL_FROM))
		return normal_two_sided(t);
	return beta_part(freedom / 2, 0.5, freedom / (freedom + t * t), t * t / (freedom + t * t));
}

/* How fast t_two_sided falls: the density on both sides. */
static double t_density(double t, double freedom)
{
	if (!(freedom < NORMAL_FROM))
		return sqrt(2 / PI) * exponential(-t * t / 2);
	return 2 *
	       exponential(ln_gamma((freedom + 1) / 2) - ln_gamma(freedom / 2) -
			   (freedom + 1) / 2 * ln_1_plus(t * t / freedom)) /
	       sqrt(freedom * PI);
}

/*
 * Newton's steps, and halves where they lead out of the bounds. A step leaves about its square as error, so the last
 * one may be large beside the rounding of t_two_sided, which smaller steps would only follow to and fro.
 */
double t_quantile(double probability, double freedom)
{
	double low = 0, high = 1, t, step = 1;

	while (t_two_sided(high, freedom) > 1 - probability && high < 1e12)
		high *= 2;
	t = high;
	for (int i = 0; i < 100 && fabs(step) > 1e-8 * t; i++) {
		double off = t_two_sided(t, freedom) - (1 - probability), next;

		if (off > 0)
			low = t;
		else
			high = t;
		next = t + off / t_density(t, freedom);
		if (!(next > low && next < high))
			next = (low + high) / 2;
		step = next - t;
		t = next;
	}
	return t;
}
