/* SPDX-License-Identifier: MIT */
/*
 * A difference as a whole: events that the sides have in common, by name; rates and changes of their rows; what is
 * certain of them, and their order.
 */
#include "hist/fold_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

size_t diff_first_run(const struct diff *diff, size_t side)
{
	size_t run = 0;

	for (size_t i = 0; i < side; i++)
		run += diff->sides[i].n;
	return run;
}

static enum rate_kind rate_kind(const struct diff *diff)
{
	switch (diff->options.per) {
	case PER_SAMPLE:
		return RATE_SHARE;
	case PER_EVENT:
		return RATE_PER_EVENT;
	default:
		return RATE_PER_UNIT;
	}
}

const char *diff_verdict_name(enum diff_verdict verdict)
{
	static const char *const names[] = {
		[DIFF_NONE] = "", [DIFF_FEW] = "few", [DIFF_NOISE] = "noise", [DIFF_CERTAIN] = "certain",
		[DIFF_MAYBE] = "maybe",
	};

	return names[verdict];
}

enum diff_verdict diff_verdict_of(const struct change *change, double corrected, double confidence)
{
	if (change->low <= 0 && change->high >= 0)
		return DIFF_NOISE;
	return corrected < 1 - confidence ? DIFF_CERTAIN : DIFF_MAYBE;
}

/* ---- rates and changes ---- */

/* All recordings of a side as one. */
static struct rate pool(const struct rate *runs, size_t n)
{
	struct rate all = { .part = 0 };
	double rest = 0;

	for (size_t i = 0; i < n; i++) {
		all.part += runs[i].part;
		all.whole += runs[i].whole;
		all.n_part += runs[i].n_part;
		all.n_whole += runs[i].n_whole;
		all.scatter += runs[i].scatter;
		all.freedom += runs[i].freedom;
		rest += runs[i].sample;
	}
	all.sample = all.n_part > 0 ? all.part / all.n_part : n ? rest / (double)n : 0;
	return all;
}

static void compare_row(const struct diff *diff, struct diff_row *row, size_t side, struct confidence *confidence)
{
	const struct diff_side *old = &diff->sides[0], *new = &diff->sides[side];
	const struct rate *runs = row->runs + diff_first_run(diff, side);
	struct diff_cell *cell = &row->cells[side];
	const struct rate before = pool(row->runs, old->n), after = pool(runs, new->n);

	cell->rate = new->runs ? rates_mean(runs, new->n) : rate_value(&after);
	cell->percent = new->runs ? 100 * cell->rate : rate_percent(&after);
	if (!side || !(before.whole > 0) || !(after.whole > 0))
		return;
	if (!new->runs)
		rates_compare(&before, &after, rate_kind(diff), confidence, &cell->change);
	else if (!runs_compare(row->runs, old->n, runs, new->n, rate_kind(diff), confidence, &cell->change))
		return;
	cell->corrected = cell->change.p;
	cell->verdict = before.n_part + after.n_part < DIFF_FEW_SAMPLES ? DIFF_FEW : DIFF_NOISE;
}

/* Rows that could not be found whatever they had are no questions. */
static void judge_rows(const struct diff *diff, struct diff_event *event, size_t side)
{
	double *p = xcalloc(event->n + 1, sizeof(*p));
	size_t n = 0;

	for (size_t i = 0; i < event->n; i++)
		if (event->rows[i]->cells[side].verdict == DIFF_NOISE)
			p[n++] = event->rows[i]->cells[side].change.p;
	holm_correct(p, n);
	n = 0;
	for (size_t i = 0; i < event->n; i++) {
		struct diff_cell *cell = &event->rows[i]->cells[side];

		if (cell->verdict != DIFF_NOISE)
			continue;
		cell->corrected = p[n++];
		cell->verdict = diff_verdict_of(&cell->change, cell->corrected, diff->options.confidence);
	}
	free(p);
}

static void judge(const struct diff *diff, struct diff_event *event)
{
	struct confidence confidence = { .level = diff->options.confidence };

	for (size_t side = 0; side < diff->n_sides; side++) {
		for (size_t i = 0; i < event->n; i++)
			compare_row(diff, event->rows[i], side, &confidence);
		if (side)
			judge_rows(diff, event, side);
	}
}

/* ---- order ---- */

bool diff_value(const struct diff *diff, const struct diff_row *row, size_t side, double *value)
{
	const struct diff_cell *old = &row->cells[0], *new = &row->cells[side];

	*value = 0;
	if (!new->found)
		return false;
	switch (diff->options.compute) {
	case DIFF_RATIO:
		*value = old->period ? (double)new->period / (double)old->period : 0;
		return old->found && old->period;
	case DIFF_WEIGHTED:
		*value = (double)new->period * diff->options.weights[1] -
			 (double)old->period * diff->options.weights[0];
		return old->found;
	default:
		*value = new->rate - old->rate;
		return true;
	}
}

static double order_value(const struct diff *diff, const struct diff_row *row)
{
	int side = diff->options.order;
	double value;

	if (!side)
		return row->cells[0].found ? row->cells[0].rate : -1;
	if (!diff_value(diff, row, (size_t)(side < 0 ? 1 : side), &value))
		return -INFINITY;
	return diff->options.compute == DIFF_DELTA_ABS ? fabs(value) : value;
}

/* A row that vanished has no value against the baseline in perf's order; here it may be what is most certain. */
static double certain_value(const struct diff_row *row)
{
	return fabs(row->cells[1].change.difference);
}

static int greatest_first(double a, double b)
{
	return (a < b) - (a > b);
}

static int compare_rows(const void *pa, const void *pb, void *context)
{
	const struct diff_row *a = *(struct diff_row *const *)pa, *b = *(struct diff_row *const *)pb;
	const struct diff *diff = context;
	int result = 0;

	if (diff->options.order < 0) {
		bool sure_a = a->cells[1].verdict == DIFF_CERTAIN, sure_b = b->cells[1].verdict == DIFF_CERTAIN;

		result = sure_b - sure_a;
		if (!result && sure_a)
			result = greatest_first(certain_value(a), certain_value(b));
	}
	if (!result)
		result = greatest_first(order_value(diff, a), order_value(diff, b));
	if (!result)
		result = greatest_first(a->cells[0].rate, b->cells[0].rate);
	return result ? result : strcmp(a->key, b->key);
}

bool diff_row_is_matched(const struct diff *diff, const struct diff_row *row)
{
	for (size_t side = 1; side < diff->n_sides; side++)
		if (row->cells[side].found)
			return row->cells[0].found;
	return false;
}

static void order_rows(struct diff *diff, struct diff_event *event)
{
	size_t n = 0;

	for (size_t i = 0; i < event->n; i++) {
		if (diff->options.baseline_only && !diff_row_is_matched(diff, event->rows[i]))
			diff_row_free(event->rows[i]);
		else
			event->rows[n++] = event->rows[i];
	}
	event->n = n;
	if (n)
		qsort_r(event->rows, n, sizeof(*event->rows), compare_rows, diff);
}

/* ---- events ---- */

static void add_event_name(const struct hist *hist, struct str *name)
{
	str_reset(name);
	data_event_add_name(hist->event, name);
}

/* Each recording's; how many sides have it. */
static size_t find_hists(const struct diff *diff, const char *event, struct hist **hists)
{
	size_t run = 0, n_sides = 0;

	for (size_t side = 0; side < diff->n_sides; side++) {
		bool any = false;

		for (size_t i = 0; i < diff->sides[side].n; i++, run++) {
			hists[run] = table_hist_of(diff->sides[side].tables[i], event);
			any |= hists[run] != NULL;
		}
		n_sides += any;
	}
	return n_sides;
}

/* A side whose samples all have a period of 0: or a part of it, then periods still tell most. */
static bool lacks_periods(const struct diff *diff, struct hist *const *hists)
{
	size_t run = 0;

	for (size_t side = 0; side < diff->n_sides; side++) {
		uint64_t n_samples = 0, period = 0;

		for (size_t i = 0; i < diff->sides[side].n; i++, run++) {
			n_samples += hists[run] ? hists[run]->totals.n_samples : 0;
			period += hists[run] ? hists[run]->totals.period : 0;
		}
		if (n_samples && !period)
			return true;
	}
	return false;
}

/* If a run has no samples of an event, nobody can say which share a row has. */
static bool is_run_of(const struct diff *diff, const struct hist *hist)
{
	return hist && (diff->options.per != PER_SAMPLE || hist->totals.n_samples);
}

/* Sides of several runs take the mean of those that have the event; fewer than two of them have no variance. */
static void note_missing(struct diff *diff, const char *name, struct hist *const *hists)
{
	size_t run = 0, missing = 0;
	bool judged = true;

	for (size_t side = 0; side < diff->n_sides; side++) {
		size_t known = 0;

		for (size_t i = 0; i < diff->sides[side].n; i++, run++)
			known += is_run_of(diff, hists[run]);
		if (!diff->sides[side].runs)
			continue;
		missing += diff->sides[side].n - known;
		judged &= known >= 2;
	}
	if (missing)
		note_add(&diff->notes, false, NULL, "%s: not in %zu of the %zu recordings, which the means leave out%s",
			 name, missing, diff->n_runs,
			 judged ? "" : "; less than two a side are left, which tell no variance");
}

static bool has_samples(struct hist *const *hists, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (hists[i] && hists[i]->totals.n_samples)
			return true;
	return false;
}

static void add_event(struct diff *diff, const char *name, struct hist **hists)
{
	struct diff_event *event;

	VEC_GROW(diff->events, diff->n_events, diff->cap_events);
	event = &diff->events[diff->n_events++];
	*event = (struct diff_event){ .name = xstrdup(name), .by_samples = lacks_periods(diff, hists) };
	event->totals = xcalloc(diff->n_sides, sizeof(*event->totals));
	diff_rows_collect(diff, event, hists);
	if (!diff->options.names_exact)
		diff_rows_match(diff, event);
	judge(diff, event);
	order_rows(diff, event);
	note_missing(diff, name, hists);
	if (event->by_samples)
		note_add(&diff->notes, false, NULL, "%s: the samples of a recording all have a period of 0: "
						    "samples are compared, not their periods", name);
}

/* A recording says what it was sampled by; without samples there is nothing to name. */
static void add_names(const struct diff_side *side, struct str *out)
{
	const struct table *table = side->tables[0];
	struct str name = STR_INIT;

	for (size_t i = 0; i < table->n_hists; i++) {
		add_event_name(&table->hists[i], &name);
		str_add(out, i ? ", " : "");
		str_add(out, name.s);
	}
	if (!table->n_hists)
		str_add(out, "none");
	str_release(&name);
}

static int nothing_in_common(const struct diff *diff, struct str *err)
{
	struct str old = STR_INIT, new = STR_INIT;
	int code;

	add_names(&diff->sides[0], &old);
	add_names(&diff->sides[1], &new);
	code = fail(err, -EINVAL, "the recordings have no event in common: the baseline has %s, the other %s", old.s,
		    new.s);
	str_release(&old);
	str_release(&new);
	return code;
}

static void find_events(struct diff *diff)
{
	const struct table *base = diff->sides[0].tables[0];
	struct hist **hists = xcalloc(diff->n_runs, sizeof(*hists));
	struct str name = STR_INIT;

	for (size_t i = 0; i < base->n_hists; i++) {
		add_event_name(&base->hists[i], &name);
		if (find_hists(diff, name.s, hists) < 2)
			note_add(&diff->notes, false, NULL, "%s: only the baseline has this event", name.s);
		else if (has_samples(hists, diff->n_runs))
			add_event(diff, name.s, hists);
		else
			note_add(&diff->notes, true, NULL, "%s: no recording has samples of it", name.s);
	}
	free(hists);
	str_release(&name);
}

/* ---- what can be asked ---- */

static int check_per(const struct diff *diff, struct str *err)
{
	const struct diff_options *options = &diff->options;

	for (size_t side = 0; side < diff->n_sides; side++) {
		for (size_t i = 0; i < diff->sides[side].n; i++) {
			const struct table *table = diff->sides[side].tables[i];
			const struct replay *replay = &table->session->replay;
			const struct hist *hist = options->event ? table_hist_of(table, options->event) : NULL;

			if (options->per == PER_SECOND && replay->last_ns <= replay->first_ns)
				return fail(err, -EINVAL, "--per second: %s has no times of samples",
					    table->session->reader->path);
			if (options->per == PER_EVENT && (!hist || !hist->totals.period))
				return fail(err, -EINVAL, "--per %s: %s has no samples of such an event",
					    options->event, table->session->reader->path);
		}
	}
	return 0;
}

static void take_keys(struct diff *diff)
{
	const struct table *table = diff->sides[0].tables[0];

	diff->keys = xcalloc(table->n_columns + 1, sizeof(*diff->keys));
	for (size_t i = 0; i < table->n_columns; i++)
		if (table->columns[i].kind == COLUMN_KEY)
			diff->keys[diff->n_keys++] = table->columns[i].key;
}

static bool all_empty(const struct diff *diff)
{
	for (size_t i = 0; i < diff->n_sides; i++)
		for (size_t k = 0; k < diff->sides[i].n; k++)
			if (diff->sides[i].tables[k]->session->replay.counts.samples)
				return false;
	return true;
}

int diff_new(struct diff **diff, const struct diff_options *options, struct diff_side *sides, size_t n_sides,
	     struct str *err)
{
	struct diff *made = *diff = xcalloc(1, sizeof(*made));
	int code;

	made->options = *options;
	made->sides = sides;
	made->n_sides = n_sides;
	made->n_runs = diff_first_run(made, n_sides);
	for (size_t i = 0; i < n_sides; i++)
		sides[i].runs = sides[i].n >= DIFF_RUNS_LEAST && sides[0].n >= DIFF_RUNS_LEAST;
	take_keys(made);
	code = all_empty(made) ? fail(err, -EINVAL, "the recordings have no samples") : check_per(made, err);
	if (!code) {
		find_events(made);
		if (!made->n_events)
			code = nothing_in_common(made, err);
	}
	if (code) {
		diff_free(made);
		*diff = NULL;
	}
	return code;
}

void diff_free(struct diff *diff)
{
	if (!diff)
		return;
	for (size_t i = 0; i < diff->n_events; i++) {
		struct diff_event *event = &diff->events[i];

		for (size_t k = 0; k < event->n; k++)
			diff_row_free(event->rows[k]);
		free(event->rows);
		free(event->totals);
		free(event->name);
	}
	free(diff->events);
	free(diff->keys);
	note_list_release(&diff->notes);
	free(diff);
}
