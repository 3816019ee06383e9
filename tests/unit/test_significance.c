/* SPDX-License-Identifier: MIT */
/*
 * Differences of rates: Holm's steps; and how often marks and intervals are right, on pairs of recordings that are
 * simulated, from fixed seeds, so that each run sees the same pairs.
 */
#include "hist/significance.h"

#include "util/util.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BLOCKS = 32, ROWS = 100, PAIRS = 200, SAMPLES = 40000, FEW = 8 };

static void assert_near(double found, double expected, double off)
{
	if (!(fabs(found - expected) <= off))
		fail_msg("%.9g is not %.9g", found, expected);
}

/* Holm 1979: the least by all, the next by one less, none before the one above. */
static void holm_steps_down(void **state)
{
	double p[] = { 0.01, 0.04, 0.03, 0.005 };

	(void)state;
	holm_correct(p, 4);
	assert_near(p[3], 0.02, 1e-12);
	assert_near(p[0], 0.03, 1e-12);
	assert_near(p[2], 0.06, 1e-12);
	assert_near(p[1], 0.06, 1e-12);
	holm_correct(p, 0);
}

/* ---- simulated recordings ---- */

static uint64_t seed;

/* xorshift64*, from 0 to 1 */
static double chance(void)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return (double)((seed * 0x2545F4914F6CDD1DULL) >> 11) / 9007199254740992.0;
}

struct simulated {
	double part[ROWS][BLOCKS], whole[BLOCKS], samples[ROWS];
	double n, period;
};

struct kind { /* of recordings */
	size_t n;
	double burst; /* samples in a row that are of one function, in the mean; 1: independent */
	bool weighted; /* periods differ */
	bool phases; /* the first row's function only runs in the middle third */
};

/* A few functions with much, many with little: shares as 1/1, 1/2, 1/3, ...; the first one's is given. */
static void make_shares(double *shares, double first)
{
	double sum = 0;

	for (size_t i = 1; i < ROWS; i++)
		sum += 1.0 / (double)i;
	shares[0] = first;
	for (size_t i = 1; i < ROWS; i++)
		shares[i] = (1 - first) / (double)i / sum;
}

/* Rows by where a number from 0 to 1 falls: one step for nearly all. */
enum { STEPS = 65536 };

static size_t draw(const double *shares)
{
	static uint8_t rows[STEPS];
	static double first;
	double end = 0;
	size_t at = 0;

	for (size_t i = 0; first != shares[0] && i < ROWS; i++)
		for (end += shares[i]; at < STEPS && (i + 1 == ROWS || (double)at < end * STEPS); at++)
			rows[at] = (uint8_t)i;
	first = shares[0];
	return rows[(size_t)(chance() * STEPS)];
}

static size_t draw_in_phase(const double *shares, size_t block)
{
	bool middle = block >= BLOCKS / 3 && block < 2 * BLOCKS / 3;
	size_t row = draw(shares);

	while (!middle && !row)
		row = draw(shares);
	return row;
}

static void simulate(struct simulated *s, const struct kind *kind, const double *shares)
{
	size_t row = 0;

	memset(s, 0, sizeof(*s));
	for (size_t i = 0; i < kind->n; i++) {
		size_t block = i * BLOCKS / kind->n;
		double period = kind->weighted ? 1 + 9 * chance() : 1;

		if (!i || chance() * kind->burst < 1)
			row = kind->phases ? draw_in_phase(shares, block) : draw(shares);
		s->part[row][block] += period;
		s->whole[block] += period;
		s->samples[row]++;
		s->n++;
		s->period += period;
	}
}

static struct rate rate_of(const struct simulated *s, size_t row)
{
	struct rate rate = { .whole = s->period, .n_whole = s->n, .n_part = s->samples[row] };

	for (size_t i = 0; i < BLOCKS; i++)
		rate.part += s->part[row][i];
	rate.sample = rate.n_part > 0 ? rate.part / rate.n_part : s->period / s->n;
	rate_add_blocks(&rate, s->part[row], s->whole, BLOCKS);
	return rate;
}

struct found {
	size_t n_marked; /* rows */
	bool first; /* the first row is marked */
	size_t n_rows, n_inside; /* intervals, and those that hold the true difference */
};

static struct found compare(const struct simulated *a, const struct simulated *b, const double *before,
			    const double *after)
{
	struct found found = { 0 };
	size_t rows[ROWS], n = 0;
	double p[ROWS];

	for (size_t i = 0; i < ROWS; i++) {
		const struct rate old = rate_of(a, i), new = rate_of(b, i);
		struct change change;

		rates_compare(&old, &new, RATE_SHARE, &(struct confidence){ .level = 0.95 }, &change);
		found.n_rows++;
		found.n_inside += change.low <= after[i] - before[i] && after[i] - before[i] <= change.high;
		if (old.n_part + new.n_part < FEW)
			continue;
		rows[n] = i;
		p[n++] = change.p;
	}
	holm_correct(p, n);
	for (size_t i = 0; i < n; i++) {
		found.n_marked += p[i] < 0.05;
		found.first |= p[i] < 0.05 && !rows[i];
	}
	return found;
}

/* Of PAIRS pairs: how many have a mark, how many mark the first row, and the part of intervals that hold. */
static void run_pairs(const struct kind *kind, double share, double slower, size_t *marked, size_t *first,
		      double *inside)
{
	struct simulated *a = malloc(sizeof(*a)), *b = malloc(sizeof(*b));
	double before[ROWS], after[ROWS];
	size_t n_rows = 0, n_inside = 0;

	make_shares(before, share);
	make_shares(after, share * (1 + slower) / (1 + share * slower));
	*marked = *first = 0;
	for (size_t i = 0; i < PAIRS; i++) {
		struct found found;

		seed = 0x9E3779B97F4A7C15ULL * (i + 1);
		simulate(a, kind, before);
		simulate(b, kind, after);
		found = compare(a, b, before, after);
		*marked += found.n_marked > 0;
		*first += found.first;
		n_rows += found.n_rows;
		n_inside += found.n_inside;
	}
	*inside = (double)n_inside / (double)n_rows;
	print_message("%zu samples, bursts of %g%s%s, %g slower: %zu of %d pairs have a mark, %zu the right one; "
		      "%.2f %% of intervals hold\n", kind->n, kind->burst, kind->weighted ? ", weighted" : "",
		      kind->phases ? ", in phases" : "", slower, *marked, PAIRS, *first, 100 * *inside);
	free(a);
	free(b);
}

static void assert_nothing_is_marked(const struct kind *kind)
{
	size_t marked, first;
	double inside;

	run_pairs(kind, 0.3, 0, &marked, &first, &inside);
	assert_true(marked <= PAIRS * 5 / 100);
	assert_true(inside >= 0.94);
}

static void equal_recordings_are_not_marked(void **state)
{
	(void)state;
	assert_nothing_is_marked(&(struct kind){ .n = SAMPLES, .burst = 1 });
	assert_nothing_is_marked(&(struct kind){ .n = 2000, .burst = 1 });
	assert_nothing_is_marked(&(struct kind){ .n = 300, .burst = 1 });
}

static void equal_weighted_recordings_are_not_marked(void **state)
{
	(void)state;
	assert_nothing_is_marked(&(struct kind){ .n = SAMPLES, .burst = 1, .weighted = true });
}

/* Were their samples taken as independent, nearly all of these pairs would have a mark. */
static void equal_bursts_are_not_marked(void **state)
{
	(void)state;
	assert_nothing_is_marked(&(struct kind){ .n = SAMPLES, .burst = 10 });
	assert_nothing_is_marked(&(struct kind){ .n = SAMPLES, .burst = 50 });
}

static void a_tenth_of_thirty_percent_is_marked(void **state)
{
	const struct kind kind = { .n = SAMPLES, .burst = 1 };
	size_t marked, first;
	double inside;

	(void)state;
	run_pairs(&kind, 0.3, 0.1, &marked, &first, &inside);
	assert_true(first >= PAIRS * 95 / 100);
	assert_true(inside >= 0.94);
}

static void equal_phases_are_not_marked(void **state)
{
	(void)state;
	assert_nothing_is_marked(&(struct kind){ .n = SAMPLES, .burst = 1, .phases = true });
}

/* A program that first reads and then works is not uncertain; from the mean, blocks would be far more apart. */
static void a_phase_is_two_steps(void **state)
{
	double part[BLOCKS], whole[BLOCKS];
	struct rate rate = { .part = 0 };

	(void)state;
	for (size_t i = 0; i < BLOCKS; i++) {
		part[i] = i < BLOCKS / 2 ? 0 : 100;
		whole[i] = 100;
		rate.part += part[i];
		rate.whole += whole[i];
	}
	rate_add_blocks(&rate, part, whole, BLOCKS);
	/* One step of 100; from the mean it is 50 in each block. */
	assert_near(rate.scatter, 100.0 * 100 / 2 * BLOCKS / (BLOCKS - 1), 1e-6);
	assert_true(rate.scatter < 50.0 * 50 * BLOCKS / 10);
}

/* ---- design effect ---- */

static void bursts_are_counted_once(void **state)
{
	const struct kind even = { .n = SAMPLES, .burst = 1 }, bursts = { .n = SAMPLES, .burst = 20 };
	struct simulated *s = malloc(sizeof(*s));
	double shares[ROWS];
	struct rate rate;

	(void)state;
	make_shares(shares, 0.3);
	seed = 7;
	simulate(s, &even, shares);
	rate = rate_of(s, 0);
	assert_near(design_effect(&rate, &rate, RATE_SHARE), 1.2, 0.3);
	/* The variance of runs of geometric length with mean 20 is 39 times as great. */
	simulate(s, &bursts, shares);
	rate = rate_of(s, 0);
	assert_near(design_effect(&rate, &rate, RATE_SHARE), 39, 15);
	free(s);
}

static void without_blocks_there_is_no_effect(void **state)
{
	const struct rate a = { .part = 30, .whole = 100, .n_part = 30, .n_whole = 100, .sample = 1 };
	const struct rate b = { .part = 70, .whole = 100, .n_part = 70, .n_whole = 100, .sample = 1 };
	struct change change;

	(void)state;
	rates_compare(&a, &b, RATE_SHARE, &(struct confidence){ .level = 0.95 }, &change);
	/* z = 0.4 / sqrt(0.5 * 0.5 * 2 / 100) */
	assert_near(change.p, erfc(0.4 / sqrt(0.005) / sqrt(2)), 1e-15);
	assert_near(change.design_effect, 1, 0);
	assert_near(change.difference, 0.4, 1e-12);
	assert_true(change.low > 0.25 && change.low < 0.3 && change.high > 0.5 && change.high < 0.55);
}

/* ---- edges ---- */

static void nothing_is_finite(void **state)
{
	const struct rate none = { 0 }, empty = { .whole = 10, .n_whole = 10, .sample = 1 };
	const struct rate all = { .part = 10, .whole = 10, .n_part = 10, .n_whole = 10, .sample = 1 };
	const struct rate *rates[] = { &none, &empty, &all };
	struct change change;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < 3; k++)
			for (enum rate_kind kind = RATE_SHARE; kind <= RATE_PER_EVENT; kind++) {
				rates_compare(rates[i], rates[k], kind, &(struct confidence){ .level = 0.95 }, &change);
				assert_true(isfinite(change.low) && isfinite(change.high) && isfinite(change.p));
				assert_true(change.low <= change.difference && change.difference <= change.high);
				assert_true(change.p >= 0 && change.p <= 1);
			}
}

/* ---- several runs ---- */

static struct rate run_of(double share)
{
	return (struct rate){ .part = share * 1e6, .whole = 1e6, .n_part = share * 1e6, .n_whole = 1e6, .sample = 1 };
}

/* Welch's t by hand: means 0.30 and 0.36, variances 0.0001 and 0.0004 of three runs each. */
static void runs_are_compared_by_their_variance(void **state)
{
	const struct rate old[] = { run_of(0.29), run_of(0.30), run_of(0.31) };
	const struct rate new[] = { run_of(0.34), run_of(0.36), run_of(0.38) };
	const double a = 0.0001 / 3, b = 0.0004 / 3, freedom = (a + b) * (a + b) / (a * a / 2 + b * b / 2);
	struct change change;

	(void)state;
	runs_compare(old, 3, new, 3, RATE_SHARE, &(struct confidence){ .level = 0.95 }, &change);
	assert_near(change.difference, 0.06, 1e-12);
	assert_near(change.freedom, freedom, 1e-9);
	assert_near(change.p, t_two_sided(0.06 / sqrt(a + b), freedom), 1e-12);
	/* As samples of one recording each it would be beyond all doubt. */
	assert_true(change.p > 0.005 && change.p < 0.05);
}

static void runs_that_agree_by_chance_are_not_certain(void **state)
{
	struct rate old[3], new[3];
	struct change change;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		old[i] = (struct rate){ .part = 30, .whole = 100, .n_part = 30, .n_whole = 100, .sample = 1 };
		new[i] = (struct rate){ .part = 32, .whole = 100, .n_part = 32, .n_whole = 100, .sample = 1 };
	}
	runs_compare(old, 3, new, 3, RATE_SHARE, &(struct confidence){ .level = 0.95 }, &change);
	assert_true(change.p > 0.3);
}

static void a_limit_is_passed_with_certainty(void **state)
{
	const struct change change = { .difference = 0.05, .error = 0.01, .freedom = INFINITY };

	(void)state;
	assert_near(change_beyond(&change, 0.05, 1), 0.5, 1e-12);
	assert_near(change_beyond(&change, 0.03, 1), 0.977250, 1e-6);
	assert_near(change_beyond(&change, 0.03, -1), 0.022750, 1e-6);
}

/*
 * The least slowdown (0.1: a tenth) of a function with this share that is marked in 95 of 100 pairs of recordings with
 * so many independent samples each, when n_rows are asked about at once; INFINITY: none.
 */
static double slowdown_seen(double share, double n_samples, size_t n_rows, double confidence)
{
	double level = 1 - (1 - confidence) / (double)n_rows;
	double reach = t_quantile(level, INFINITY) + t_quantile(0.9, INFINITY);
	double low = 0, high = 1e6;

	for (int i = 0; i < 200; i++) {
		double slower = (low + high) / 2, after = share * (1 + slower) / (1 + share * slower);
		double same = (share + after) / 2, error = sqrt(2 * same * (1 - same) / n_samples);

		if (after - share < reach * error)
			low = slower;
		else
			high = slower;
	}
	return high > 1e5 ? INFINITY : high;
}

/* ---- what can be seen: the table of the manual ---- */

static void add_cell(char *line, size_t size, double share, double samples)
{
	double slower = 100 * slowdown_seen(share, samples, ROWS, 0.95);
	size_t at = strlen(line);

	if (isfinite(slower))
		snprintf(line + at, size - at, " %.*f %%", slower < 10 ? 1 : 0, slower);
	else
		snprintf(line + at, size - at, " never");
}

/* Blanks that align a table's columns become one. */
static void squeeze(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++)
		if (*from != ' ' || to == text || to[-1] != ' ')
			*to++ = *from;
	*to = '\0';
}

/* Each row of the table, as pages have it: "30 % 62 % 28 % ..." */
static void the_manual_says_what_is_computed(void **state)
{
	static const double shares[] = { 0.01, 0.03, 0.1, 0.3, 0.6 }, samples[] = { 1000, 4000, 10000, 40000, 400000 };
	FILE *file = fopen("man/pstat-diff.1", "r");
	char *text;
	long size;

	(void)state;
	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	text = calloc(1, (size_t)size + 1);
	assert_int_equal(fread(text, 1, (size_t)size, file), size);
	fclose(file);
	squeeze(text);
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		char line[256];

		snprintf(line, sizeof(line), "%g %%", 100 * shares[i]);
		for (size_t k = 0; k < sizeof(samples) / sizeof(samples[0]); k++)
			add_cell(line, sizeof(line), shares[i], samples[k]);
		if (!strstr(text, line))
			fail_msg("the manual's table lacks the line: %s", line);
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holm_steps_down),
		cmocka_unit_test(equal_recordings_are_not_marked),
		cmocka_unit_test(equal_weighted_recordings_are_not_marked),
		cmocka_unit_test(equal_bursts_are_not_marked),
		cmocka_unit_test(a_tenth_of_thirty_percent_is_marked),
		cmocka_unit_test(equal_phases_are_not_marked),
		cmocka_unit_test(a_phase_is_two_steps),
		cmocka_unit_test(bursts_are_counted_once),
		cmocka_unit_test(without_blocks_there_is_no_effect),
		cmocka_unit_test(nothing_is_finite),
		cmocka_unit_test(runs_are_compared_by_their_variance),
		cmocka_unit_test(runs_that_agree_by_chance_are_not_certain),
		cmocka_unit_test(a_limit_is_passed_with_certainty),
		cmocka_unit_test(the_manual_says_what_is_computed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
