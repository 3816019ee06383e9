/* SPDX-License-Identifier: MIT */
/*
 * From the numbers of runs to verdicts. A verdict comes from differences within rounds alone, of logarithms where all
 * numbers are above 0; all else (mean, median, outliers) describes a command by itself and decides nothing. Commands
 * that have no round in common with the reference have the change of their medians, and their verdict is withheld.
 *
 * One level holds for all rows together: each has its share of it (Bonferroni), so that a false alarm in any row is as
 * rare as alpha says, whether rows depend on each other or not.
 */
#include "compare/compare.h"

#include <math.h>
#include <stdlib.h>

const char *const compare_verdict_words[] = {
	[COMPARE_SAME] = "same",	   [COMPARE_FASTER] = "faster",	  [COMPARE_SLOWER] = "slower",
	[COMPARE_DIFFERS] = "differs",	   [COMPARE_UNDECIDED] = "undecided", [COMPARE_WITHHELD] = "withheld",
	[COMPARE_REFERENCE] = "reference",
};

struct analysis {
	const struct compare_data *data;
	const struct compare_question *question;
	struct compare_result *result;
	double *numbers, *differences; /* room for one of each round */
};

/* ---- one command by itself ---- */

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The number with this share of the sorted ones below it, between two of them by their distance. */
static double quantile(const double *sorted, size_t n, double share)
{
	double at = share * (double)(n - 1);
	size_t below = (size_t)at;

	return below + 1 < n ? sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]) :
			       sorted[below];
}

static size_t outliers(const double *sorted, size_t n)
{
	double low = quantile(sorted, n, 0.25), high = quantile(sorted, n, 0.75), reach = 1.5 * (high - low);
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		found += sorted[i] < low - reach || sorted[i] > high + reach;
	return found;
}

static void describe(const struct analysis *a, size_t command, size_t column, struct compare_row *row)
{
	struct series series = { 0 };

	for (size_t round = 0; round < a->data->n_rounds; round++) {
		double x = compare_values(a->data, round, command)[column];

		if (isnan(x))
			continue;
		a->numbers[row->n++] = x;
		series_add(&series, x);
	}
	if (!row->n)
		return;
	qsort(a->numbers, row->n, sizeof(*a->numbers), ascending);
	row->mean = series.mean;
	row->deviation = series_stdev_of_mean(&series) * sqrt((double)row->n);
	row->median = quantile(a->numbers, row->n, 0.5);
	row->min = series.min;
	row->max = series.max;
	row->n_outliers = outliers(a->numbers, row->n);
}

/* ---- against the reference ---- */

/* Whether its rounds are those of the reference. */
static bool has_common_rounds(const struct analysis *a, size_t command)
{
	const struct compare_data *data = a->data;
	size_t session = data->commands[command].session;

	return session == data->commands[a->question->reference].session && data->sessions[session].by_chance;
}

static bool both_measured(const struct analysis *a, size_t round, size_t command, size_t column, double *x,
			  double *reference)
{
	*x = compare_values(a->data, round, command)[column];
	*reference = compare_values(a->data, round, a->question->reference)[column];
	return !isnan(*x) && !isnan(*reference);
}

/* Fills the differences of all rounds; of logarithms, unless a number has none. */
static void differ(const struct analysis *a, size_t command, size_t column, struct compare_row *row)
{
	double x, reference;

	for (size_t round = 0; round < a->data->n_rounds; round++)
		if (both_measured(a, round, command, column, &x, &reference))
			row->absolute = row->absolute || !(x > 0) || !(reference > 0);
	for (size_t round = 0; round < a->data->n_rounds; round++)
		if (both_measured(a, round, command, column, &x, &reference))
			a->differences[row->n_pairs++] =
				row->absolute ? x - reference : natural_log(x) - natural_log(reference);
}

/* A difference of logarithms as a share: 0.1 for ten percent more. */
static double share_of(double difference)
{
	return isinf(difference) ? difference : exponential(difference) - 1;
}

static enum compare_verdict verdict_of(const struct compare_row *row, double threshold, bool neutral)
{
	if (isinf(row->low))
		return COMPARE_WITHHELD;
	if (row->low >= -threshold && row->high <= threshold)
		return COMPARE_SAME;
	if (!neutral && row->low > threshold)
		return COMPARE_SLOWER;
	if (!neutral && row->high < -threshold)
		return COMPARE_FASTER;
	return row->low > 0 || row->high < 0 ? COMPARE_DIFFERS : COMPARE_UNDECIDED;
}

/*
 * An interval narrows with the root of the rounds: how many make it so narrow that it leaves 0 out, or stays within the
 * threshold, whichever comes first? 0: nobody knows.
 */
static size_t rounds_needed(const struct compare_row *row, double threshold)
{
	double half = (row->high - row->low) / 2, off = fabs(row->change);
	double aim = off > threshold - off ? off : threshold - off, n;

	n = aim > 0 ? (double)row->n_pairs * (half / aim) * (half / aim) : 0;
	return n > 0 && n < 1e6 ? (size_t)n + 1 : 0;
}

/* Compares runs that have no round in common: chance is in all of the change, and how much of it nobody knows. */
static void compare_medians(const struct compare_row *reference, struct compare_row *row)
{
	row->compared = row->n && reference->n;
	if (!row->compared)
		return;
	row->absolute = !(row->min > 0) || !(reference->min > 0);
	row->change = row->absolute ? row->median - reference->median : row->median / reference->median - 1;
	row->low = -INFINITY;
	row->high = INFINITY;
	row->p = NAN;
}

static void compare_rounds(const struct analysis *a, size_t command, size_t column,
			   const struct compare_row *reference, struct compare_row *row)
{
	double threshold = a->question->threshold;
	struct signed_rank found;

	differ(a, command, column, row);
	row->compared = row->n_pairs > 0;
	if (!row->compared)
		return;
	signed_rank(a->differences, row->n_pairs, a->result->row_alpha, &found);
	row->change = row->absolute ? found.estimate : share_of(found.estimate);
	row->low = row->absolute ? found.low : share_of(found.low);
	row->high = row->absolute ? found.high : share_of(found.high);
	row->p = found.p;
	if (a->data->sessions[a->data->commands[command].session].interrupted) {
		row->low = -INFINITY;
		row->high = INFINITY;
	}
	threshold *= row->absolute ? fabs(reference->mean) : 1;
	row->verdict = verdict_of(row, threshold, a->data->columns[column].kind == COMPARE_METRIC);
	if (row->verdict == COMPARE_UNDECIDED)
		row->rounds_needed = rounds_needed(row, threshold);
}

/* ---- notes ---- */

enum { FIRST_SLOW_PCT = 10, DRIFT_PCT = 1, OUTLIERS_PCT = 10, PARTS = 3 };

/* Commands of one session, which has rounds; column: wall-clock time. */
struct course_of_time {
	const struct analysis *a;
	size_t session, column, n_commands;
};

/* The time of a round, as the mean of logarithms: a command that takes longer has no more weight. */
static double time_of_round(const struct course_of_time *t, size_t round)
{
	const struct compare_data *data = t->a->data;
	double sum = 0;

	for (size_t command = 0; command < data->n_commands; command++) {
		double x = compare_values(data, round, command)[t->column];

		if (data->commands[command].session == t->session)
			sum += x > 0 ? natural_log(x) / (double)t->n_commands : 0;
	}
	return sum;
}

static double median_time(const struct course_of_time *t, size_t from, size_t to)
{
	const struct analysis *a = t->a;

	for (size_t round = from; round < to; round++)
		a->numbers[round - from] = time_of_round(t, round);
	qsort(a->numbers, to - from, sizeof(*a->numbers), ascending);
	return quantile(a->numbers, to - from, 0.5);
}

/* The medians of the first and the last third, beside what chance makes of them (1.2533 times that of a mean). */
static void note_drift(const struct course_of_time *t)
{
	size_t n = t->a->data->sessions[t->session].n_rounds, part = n / PARTS;
	struct series first = { 0 }, last = { 0 };
	double off, noise;

	if (part < 3)
		return;
	for (size_t i = 0; i < part; i++) {
		series_add(&first, time_of_round(t, i));
		series_add(&last, time_of_round(t, n - 1 - i));
	}
	off = median_time(t, n - part, n) - median_time(t, 0, part);
	noise = 1.2533 * sqrt(first.m2 + last.m2) / (double)part;
	if (fabs(off) < DRIFT_PCT / 100.0 || fabs(off) < 4 * noise)
		return;
	note_add(&t->a->result->notes, false, NULL,
		 "runs became %.1f %% %s from the first third of the rounds to the last; changes are within rounds",
		 100 * fabs(share_of(off)), off > 0 ? "slower" : "faster");
}

static void note_first_round(const struct course_of_time *t)
{
	size_t n = t->a->data->sessions[t->session].n_rounds;
	double off;

	if (n < 3)
		return;
	off = share_of(time_of_round(t, 0) - median_time(t, 0, n));
	if (off > FIRST_SLOW_PCT / 100.0)
		note_add(&t->a->result->notes, false, "run more rounds before it: --warmup",
			 "the first round took %.0f %% longer than the median of all", 100 * off);
}

static void note_outliers(const struct course_of_time *t)
{
	const struct analysis *a = t->a;

	for (size_t command = 0; command < a->data->n_commands; command++) {
		const struct compare_row *row = &a->result->rows[command * a->data->n_columns + t->column];

		if (a->data->commands[command].session == t->session && row->n >= 10 &&
		    row->n_outliers * 100 > row->n * OUTLIERS_PCT)
			note_add(&a->result->notes, false, NULL,
				 "%s: %zu of %zu runs are far from the others; is something else running?",
				 a->data->commands[command].name, row->n_outliers, row->n);
	}
}

/* Says why some changes have no interval. */
static void note_apart(const struct analysis *a)
{
	const struct compare_data *data = a->data;

	for (size_t i = 0; i < data->n_sessions; i++)
		if (!data->sessions[i].by_chance)
			note_add(&a->result->notes, false, NULL,
				 "%s: all runs of a command came before all of the next, so that what changed in "
				 "between is in the changes, too: no interval", data->sessions[i].file);
	if (data->n_sessions > 1)
		note_add(&a->result->notes, false, NULL,
			 "files from different times are no comparison in an order by chance: what has changed between "
			 "them besides the commands is in the changes, too: no interval");
}

static void add_notes(const struct analysis *a)
{
	const struct compare_data *data = a->data;
	struct course_of_time time = { .a = a };

	while (time.column < data->n_columns && data->columns[time.column].kind != COMPARE_WALL)
		time.column++;
	for (; time.session < data->n_sessions && time.column < data->n_columns; time.session++) {
		const struct compare_session *session = &data->sessions[time.session];

		time.n_commands = 0;
		for (size_t command = 0; command < data->n_commands; command++)
			time.n_commands += data->commands[command].session == time.session;
		if (session->file && session->by_chance) /* its notes were loaded with it */
			continue;
		if (session->by_chance) {
			note_first_round(&time);
			note_drift(&time);
		}
		note_outliers(&time);
	}
	note_apart(a);
}

/* ---- all rows ---- */

size_t compare_rounds_least(size_t n_commands, size_t n_columns, double alpha)
{
	size_t n_rows = (n_commands - 1) * n_columns;

	return n_rows ? signed_rank_least(alpha / (double)n_rows) : 1;
}

static size_t columns_measured(const struct compare_data *data, const struct compare_row *rows)
{
	size_t n = 0;

	for (size_t column = 0; column < data->n_columns; column++)
		n += rows[column].n > 0;
	return n;
}

static size_t commands_compared(const struct analysis *a)
{
	size_t n = 0;

	for (size_t command = 0; command < a->data->n_commands; command++)
		n += command != a->question->reference && has_common_rounds(a, command);
	return n;
}

static void judge(const struct analysis *a, size_t command, size_t column)
{
	struct compare_row *rows = a->result->rows, *row = &rows[command * a->data->n_columns + column];
	const struct compare_row *reference = &rows[a->question->reference * a->data->n_columns + column];

	row->verdict = row == reference ? COMPARE_REFERENCE : COMPARE_WITHHELD;
	if (row == reference)
		return;
	if (has_common_rounds(a, command))
		compare_rounds(a, command, column, reference, row);
	else
		compare_medians(reference, row);
}

void compare_analyse(const struct compare_data *data, const struct compare_question *question,
		     struct compare_result *result)
{
	struct analysis a = { .data = data, .question = question, .result = result };

	*result = (struct compare_result){ 0 };
	result->rows = xcalloc(data->n_commands * data->n_columns + 1, sizeof(*result->rows));
	a.numbers = xcalloc(data->n_rounds + 1, sizeof(*a.numbers));
	a.differences = xcalloc(data->n_rounds + 1, sizeof(*a.differences));
	for (size_t command = 0; command < data->n_commands; command++)
		for (size_t column = 0; column < data->n_columns; column++)
			describe(&a, command, column, &result->rows[command * data->n_columns + column]);
	result->n_rows = commands_compared(&a) *
			 columns_measured(data, &result->rows[question->reference * data->n_columns]);
	result->row_alpha = question->alpha / (double)(result->n_rows ? result->n_rows : 1);
	for (size_t command = 0; command < data->n_commands; command++)
		for (size_t column = 0; column < data->n_columns; column++)
			judge(&a, command, column);
	add_notes(&a);
	free(a.numbers);
	free(a.differences);
}

void compare_result_release(struct compare_result *result)
{
	free(result->rows);
	note_list_release(&result->notes);
}
