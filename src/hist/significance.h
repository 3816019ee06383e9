/* SPDX-License-Identifier: MIT */
/*
 * significance: is a difference of two rates more than chance? Pure numbers: what was counted goes in, an interval and
 * a probability come out. Read by including diff.h.
 *
 *     rate: part / whole        share:     periods of a row / periods of all
 *                               per unit:  periods of a row / seconds, or units of work
 *                               per event: periods of a row / periods of another event
 *
 * Samples of one burst are not independent: a function that runs is sampled again and again until it returns, so that
 * a hundred samples in a row may say no more than one. How much less is estimated from blocks of time: were samples
 * independent, the part would differ from block to block as much as chance says; as many times as the variance is
 * greater (the design effect, of surveys by clusters), as many times fewer samples there are in effect. Blocks are
 * compared with their neighbours, not with the mean, so that a program that first reads and then works is not taken
 * for one that is uncertain: only what is uneven from one block to the next counts (the successive difference
 * estimator of systematic samples; Wolter, Introduction to Variance Estimation).
 */
#ifndef PSTAT_SIGNIFICANCE_H
#define PSTAT_SIGNIFICANCE_H

#include <stdbool.h>
#include <stddef.h>

enum rate_kind { RATE_SHARE, RATE_PER_UNIT, RATE_PER_EVENT };

struct rate {
	double part, whole; /* the rate is part / whole */
	double n_part, n_whole; /* samples of either; n_whole is not used with RATE_PER_UNIT */
	double sample; /* what one sample of the part stands for, in its mean; of all samples where the part has none */
	double scatter; /* variance of `part - rate * whole` as blocks have it; see rate_add_blocks */
	double freedom; /* degrees of it; 0: there are no blocks */
};

/* 0 where there is no whole. */
double rate_value(const struct rate *rate);
/* 100 times that, rounded once: a share of a small number of samples is often half way between two numbers in print. */
double rate_percent(const struct rate *rate);
/*
 * Adds what n blocks of one recording tell, in order of time. whole NULL: the same for each of them. To be called when
 * part and whole are complete.
 */
void rate_add_blocks(struct rate *rate, const double *part, const double *whole, size_t n);
/* Variance of the rate, were its samples independent and its true value this one. */
double rate_chance(const struct rate *rate, enum rate_kind kind, double value);
/* How many times more the blocks scatter than chance says, of both together; at least 1. */
double design_effect(const struct rate *a, const struct rate *b, enum rate_kind kind);

struct change {
	double difference; /* new - old */
	double low, high; /* interval of it */
	double p; /* of such a difference, or a greater one, where nothing changed: two-sided */
	double error, freedom; /* standard error of the difference, its degrees of freedom */
	double design_effect; /* 1 where it comes from runs */
};
/* How certain intervals are to be. The rows of a comparison mostly have the same degrees of freedom: t is kept. */
struct confidence {
	double level; /* 0.95 */
	double freedom, t; /* t_quantile of the last that was asked for; freedom 0: none was */
};
/* From the samples of both sides. */
void rates_compare(const struct rate *before, const struct rate *after, enum rate_kind kind,
		   struct confidence *confidence, struct change *change);
/*
 * From the variance between runs (Welch's t), which is never taken for less than what sampling explains. before, after:
 * one for each run; those without a whole say nothing. False: there are less than two others on a side.
 */
bool runs_compare(const struct rate *before, size_t n_before, const struct rate *after, size_t n_after,
		  enum rate_kind kind, struct confidence *confidence, struct change *change);
/* Runs that have a whole; the mean of their rates, 0 where there is none. */
size_t rates_known(const struct rate *runs, size_t n);
double rates_mean(const struct rate *runs, size_t n);
/* Probability that a change like this one is at least (sign 1) or at most (-1) `limit`: of one side. */
double change_beyond(const struct change *change, double limit, int sign);

/*
 * The p values of n rows, corrected for n questions at once by Holm's steps: the chance that any unchanged row is
 * marked stays below the level whatever the rows depend on. (Benjamini and Hochberg's way finds more, but a mark would
 * then be no claim about its own row, and it asks for rows that don't take from each other, which shares do.)
 */
void holm_correct(double *p, size_t n);

#endif
