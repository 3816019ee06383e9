/* SPDX-License-Identifier: MIT */
/*
 * diff_text.c: a difference as perf diff prints it: lines above the rows, and rows of cells and keys. The columns of
 * cells are perf's, in perf's order, and after perf's value those between which bounds the true difference is and
 * whether chance explains it. On a terminal keys are cut so that lines fit; the widest gives first.
 */
#include "fmt/fmt_internal.h"

#include <stdlib.h>

enum { LEAST_KEY = 8, LEAST_FUNCTION = 16, MOST_KEYS = 64 };

struct diff_place { /* of a cell */
	const struct diff *diff;
	const struct diff_event *event;
	const struct diff_look *look;
	const struct diff_row *row;
	const struct diff_cell *cell;
	size_t side;
};
struct diff_column {
	unsigned width;
	void (*head)(const struct diff_place *place, struct str *out);
	/* Is it a column of this side? */
	bool (*is_there)(const struct diff_place *place);
	/* Nothing is added where there is nothing to say. */
	void (*cell)(const struct diff_place *place, struct str *out);
};

/* A part of 1 is compared. */
static bool shows_shares(const struct diff *diff)
{
	return diff->options.per == PER_SAMPLE;
}

static bool of_baseline(const struct diff_place *place)
{
	return !place->side;
}

static bool of_other(const struct diff_place *place)
{
	return place->side;
}

/* ---- cells ---- */

static void head_baseline(const struct diff_place *place, struct str *out)
{
	static const char *const heads[] = {
		[PER_SAMPLE] = "Baseline",
		[PER_SECOND] = "Base/s",
		[PER_UNIT] = "Base/unit",
		[PER_EVENT] = "Base/event",
	};

	str_add(out, heads[place->diff->options.per]);
}

static void cell_baseline(const struct diff_place *place, struct str *out)
{
	if (!place->cell->found)
		return;
	if (shows_shares(place->diff))
		str_addf(out, "%.2f%%", place->cell->percent);
	else
		str_addf(out, "%.6g", place->cell->rate);
}

/* rate: a difference of rates, or a bound of one; percent: the same of shares. */
static void add_difference(const struct diff_place *place, double rate, double percent, struct str *out)
{
	if (shows_shares(place->diff))
		str_addf(out, "%+.2f%%", percent);
	else
		str_addf(out, "%+.6g", rate);
}

static bool has_period(const struct diff_place *place)
{
	return place->look->period;
}

static bool has_base_period(const struct diff_place *place)
{
	return of_baseline(place) && has_period(place);
}

static bool has_other_period(const struct diff_place *place)
{
	return of_other(place) && has_period(place);
}

static void head_base_period(const struct diff_place *place, struct str *out)
{
	(void)place;
	str_add(out, "Base period");
}

static void head_period(const struct diff_place *place, struct str *out)
{
	(void)place;
	str_add(out, "Period");
}

static void cell_period(const struct diff_place *place, struct str *out)
{
	if (place->cell->found || !place->side)
		str_addf(out, "%llu", (unsigned long long)place->cell->period);
}

static void head_value(const struct diff_place *place, struct str *out)
{
	static const char *const heads[] = {
		[DIFF_DELTA_ABS] = "Delta Abs", [DIFF_DELTA] = "Delta", [DIFF_RATIO] = "Ratio",
		[DIFF_WEIGHTED] = "Weighted diff",
	};

	str_add(out, heads[place->diff->options.compute]);
}

static void cell_value(const struct diff_place *place, struct str *out)
{
	double value;
	bool known = diff_value(place->diff, place->row, place->side, &value);

	if (!place->cell->found)
		return;
	if (!known)
		str_add(out, "N/A");
	else if (place->diff->options.compute == DIFF_RATIO)
		str_addf(out, "%.6f", value);
	else if (place->diff->options.compute == DIFF_WEIGHTED)
		str_addf(out, "%.0f", value);
	else
		add_difference(place, value, place->cell->percent - place->row->cells[0].percent, out);
}

static bool has_relative(const struct diff_place *place)
{
	return of_other(place) && !shows_shares(place->diff);
}

static void head_relative(const struct diff_place *place, struct str *out)
{
	(void)place;
	str_add(out, "Change");
}

static void cell_relative(const struct diff_place *place, struct str *out)
{
	double old = place->row->cells[0].rate;

	if (old > 0)
		str_addf(out, "%+.2f%%", 100 * (place->cell->rate - old) / old);
}

static void head_low(const struct diff_place *place, struct str *out)
{
	str_addf(out, "Low %g%%", 100 * place->diff->options.confidence);
}

static void head_high(const struct diff_place *place, struct str *out)
{
	str_addf(out, "High %g%%", 100 * place->diff->options.confidence);
}

static void cell_low(const struct diff_place *place, struct str *out)
{
	if (place->cell->verdict != DIFF_NONE)
		add_difference(place, place->cell->change.low, 100 * place->cell->change.low, out);
}

static void cell_high(const struct diff_place *place, struct str *out)
{
	if (place->cell->verdict != DIFF_NONE)
		add_difference(place, place->cell->change.high, 100 * place->cell->change.high, out);
}

static void head_verdict(const struct diff_place *place, struct str *out)
{
	(void)place;
	str_add(out, "Verdict");
}

static void cell_verdict(const struct diff_place *place, struct str *out)
{
	str_add(out, diff_verdict_name(place->cell->verdict));
}

static bool has_samples(const struct diff_place *place)
{
	return place->look->samples;
}

static void head_samples(const struct diff_place *place, struct str *out)
{
	(void)place;
	str_add(out, "Samples");
}

static void cell_samples(const struct diff_place *place, struct str *out)
{
	str_addf(out, "%llu", (unsigned long long)place->cell->n_samples);
}

static bool has_effect(const struct diff_place *place)
{
	return of_other(place) && has_samples(place) && !place->diff->sides[place->side].runs;
}

static void head_effect(const struct diff_place *place, struct str *out)
{
	(void)place;
	str_add(out, "Effect");
}

static void cell_effect(const struct diff_place *place, struct str *out)
{
	if (place->cell->verdict != DIFF_NONE)
		str_addf(out, "%.2f", place->cell->change.design_effect);
}

static bool has_formula(const struct diff_place *place)
{
	return of_other(place) && place->look->formula;
}

static void head_formula(const struct diff_place *place, struct str *out)
{
	(void)place;
	str_add(out, "Formula");
}

static void cell_formula(const struct diff_place *place, struct str *out)
{
	const struct diff *diff = place->diff;
	unsigned long long old = place->row->cells[0].period, new = place->cell->period;

	if (!place->cell->found)
		return;
	if (diff->options.compute == DIFF_RATIO)
		str_addf(out, "%llu / %llu", new, old);
	else if (diff->options.compute == DIFF_WEIGHTED)
		str_addf(out, "(%llu * %g) - (%llu * %g)", new, diff->options.weights[1], old,
			 diff->options.weights[0]);
	else if (shows_shares(place->diff))
		str_addf(out, "(%llu * 100 / %llu) - (%llu * 100 / %llu)", new,
			 (unsigned long long)place->event->totals[place->side].period, old,
			 (unsigned long long)place->event->totals[0].period);
	else
		str_addf(out, "%g - %g", place->cell->rate, place->row->cells[0].rate);
}

/* perf's columns in perf's order; those that perf lacks stand after its value. To add one: a row, pstat-diff(1). */
static const struct diff_column diff_columns[] = {
	{ 8, head_baseline, of_baseline, cell_baseline },
	{ 14, head_base_period, has_base_period, cell_period },
	{ 9, head_samples, has_samples, cell_samples },
	{ 9, head_value, of_other, cell_value },
	{ 9, head_relative, has_relative, cell_relative },
	{ 9, head_low, of_other, cell_low },
	{ 9, head_high, of_other, cell_high },
	{ 7, head_verdict, of_other, cell_verdict },
	{ 7, head_effect, has_effect, cell_effect },
	{ 70, head_formula, has_formula, cell_formula },
	{ 14, head_period, has_other_period, cell_period },
};

/* A head ends in the recording's number where there are more than two. */
static void column_add_head(const struct diff_column *column, const struct diff_place *place, struct str *out)
{
	column->head(place, out);
	if (place->diff->n_sides > 2)
		str_addf(out, "/%zu", place->side);
}

static unsigned column_width(const struct diff_column *column, const struct diff_place *place)
{
	struct str head = STR_INIT;
	unsigned width = column->width;

	column_add_head(column, place, &head);
	if (!shows_shares(place->diff) && width == 9)
		width = 12;
	if (width < head.len)
		width = (unsigned)head.len;
	str_release(&head);
	return width;
}

/* Is it the column of perf's value? */
static bool column_is_value(const struct diff_column *column)
{
	return column->cell == cell_value;
}

/* ---- lines ---- */

struct diff_lines {
	const struct diff *diff;
	const struct diff_event *event;
	const struct diff_look *look;
	unsigned keys[MOST_KEYS]; /* widths; 0: as it comes */
};

static size_t n_keys(const struct diff *diff)
{
	return diff->n_keys < MOST_KEYS ? diff->n_keys : MOST_KEYS;
}

/* A row without cells, for heads. */
static struct diff_place place_of(const struct diff_lines *lines, const struct diff_row *row, size_t side)
{
	return (struct diff_place){ .diff = lines->diff, .event = lines->event, .look = lines->look, .row = row,
			       .cell = row ? &row->cells[side] : NULL, .side = side };
}

/* A key with what it was called on the baseline. */
static void add_key(const struct diff_row *row, size_t i, struct str *out)
{
	size_t len, len_was;
	const char *text = diff_key_text(row->key, i, &len);
	const char *was = row->was ? diff_key_text(row->was, i, &len_was) : NULL;

	str_addn(out, text, len);
	if (!was || (len == len_was && !memcmp(was, text, len)))
		return;
	str_add(out, " (was ");
	/* "[.] " stands there already. */
	was = diff_key_plain(was, &len_was);
	str_addn(out, was, len_was);
	str_addc(out, ')');
}

static void measure_keys(struct diff_lines *lines)
{
	struct str text = STR_INIT;

	for (size_t i = 0; i < n_keys(lines->diff); i++) {
		lines->keys[i] = (unsigned)strlen(lines->diff->keys[i]->header);
		for (size_t k = 0; k < lines->event->n; k++) {
			str_reset(&text);
			add_key(lines->event->rows[k], i, &text);
			if (lines->keys[i] < text_columns(text.s, text.len))
				lines->keys[i] = (unsigned)text_columns(text.s, text.len);
		}
	}
	str_release(&text);
}

static unsigned numbers_width(const struct diff_lines *lines)
{
	unsigned width = 0;

	for (size_t side = 0; side < lines->diff->n_sides; side++) {
		const struct diff_place place = place_of(lines, NULL, side);

		for (size_t i = 0; i < ARRAY_SIZE(diff_columns); i++)
			if (diff_columns[i].is_there(&place))
				width += 2 + column_width(&diff_columns[i], &place);
	}
	return width;
}

static unsigned least_key(const struct sort_key *key)
{
	return key->flags & KEY_FUNCTION ? LEAST_FUNCTION : LEAST_KEY;
}

/* The widest key gives first. */
static void fit_keys(struct diff_lines *lines, unsigned columns)
{
	unsigned width = numbers_width(lines);

	for (size_t i = 0; i < n_keys(lines->diff); i++)
		width += 2 + lines->keys[i];
	while (width > columns) {
		size_t widest = 0;

		for (size_t i = 1; i < n_keys(lines->diff); i++)
			if (lines->keys[i] > lines->keys[widest])
				widest = i;
		if (!n_keys(lines->diff) || lines->keys[widest] <= least_key(lines->diff->keys[widest]))
			break;
		lines->keys[widest]--;
		width--;
	}
}

struct diff_lines *diff_lines_new(const struct diff *diff, const struct diff_event *event, const struct diff_look *look,
				  const struct output *output)
{
	struct diff_lines *lines = xcalloc(1, sizeof(*lines));

	*lines = (struct diff_lines){ .diff = diff, .event = event, .look = look };
	if (look->separator)
		return lines;
	measure_keys(lines);
	if (output->columns)
		fit_keys(lines, output->columns);
	return lines;
}

void diff_lines_free(struct diff_lines *lines)
{
	free(lines);
}

/* Between columns; in front of the first one where they are aligned. */
static void add_between(const struct diff_lines *lines, bool first, struct str *out)
{
	if (!lines->look->separator)
		str_add(out, "  ");
	else if (!first)
		str_add(out, lines->look->separator);
}

static void add_right(struct str *out, const struct str *text, unsigned width)
{
	if (text->len < width)
		str_pad(out, ' ', width - text->len);
	str_addn(out, text->s, text->len);
}

/* Red is more, green less, where that is certain. */
static void add_cell(const struct diff_column *column, const struct diff_place *place, struct output *output,
		     struct str *text)
{
	bool colored = output->color && column_is_value(column) && place->cell->verdict == DIFF_CERTAIN;
	struct str *out = &output->text;

	str_reset(text);
	column->cell(place, text);
	if (place->look->separator) {
		size_t start = out->len;

		str_addn(out, text->s, text->len);
		if (fmt_needs_quotes(out->s + start, place->look->separator))
			fmt_quote_field(out, start);
		return;
	}
	if (colored)
		str_add(out, place->cell->change.difference > 0 ? "\033[31m" : "\033[32m");
	add_right(out, text, column_width(column, place));
	if (colored)
		str_add(out, "\033[m");
}

static void add_key_cell(const struct diff_lines *lines, const struct diff_row *row, size_t i, struct output *output)
{
	bool function = lines->diff->keys[i]->flags & KEY_FUNCTION, last = i + 1 == n_keys(lines->diff);
	struct str *out = &output->text;
	size_t start = out->len, columns;

	add_key(row, i, out);
	if (lines->look->separator) {
		if (fmt_needs_quotes(out->s + start, lines->look->separator))
			fmt_quote_field(out, start);
		return;
	}
	str_shorten(out, start, lines->keys[i], function, output->dots);
	columns = text_columns(out->s + start, out->len - start);
	if (!last && columns < lines->keys[i])
		str_pad(out, ' ', lines->keys[i] - columns);
}

void diff_lines_add_row(const struct diff_lines *lines, const struct diff_row *row, struct output *output)
{
	struct str text = STR_INIT;
	bool first = true;

	for (size_t side = 0; side < lines->diff->n_sides; side++) {
		const struct diff_place place = place_of(lines, row, side);

		for (size_t i = 0; i < ARRAY_SIZE(diff_columns); i++) {
			if (!diff_columns[i].is_there(&place))
				continue;
			add_between(lines, first, &output->text);
			first = false;
			add_cell(&diff_columns[i], &place, output, &text);
		}
	}
	for (size_t i = 0; i < n_keys(lines->diff); i++) {
		add_between(lines, false, &output->text);
		add_key_cell(lines, row, i, output);
	}
	str_addc(&output->text, '\n');
	str_release(&text);
}

/* Heads, or the dots below them. */
static void add_head_line(const struct diff_lines *lines, bool dots, struct str *out)
{
	struct str text = STR_INIT;
	bool first = true;

	str_add(out, "# ");
	for (size_t side = 0; side < lines->diff->n_sides; side++) {
		const struct diff_place place = place_of(lines, NULL, side);

		for (size_t i = 0; i < ARRAY_SIZE(diff_columns); i++) {
			unsigned width = column_width(&diff_columns[i], &place);

			if (!diff_columns[i].is_there(&place))
				continue;
			if (!first)
				str_add(out, lines->look->separator ? lines->look->separator : "  ");
			first = false;
			str_reset(&text);
			column_add_head(&diff_columns[i], &place, &text);
			if (dots)
				str_pad(out, '.', width);
			else
				add_right(out, &text, lines->look->separator ? 0 : width);
		}
	}
	for (size_t i = 0; i < n_keys(lines->diff); i++) {
		str_add(out, lines->look->separator ? lines->look->separator : "  ");
		if (dots)
			str_pad(out, '.', lines->keys[i]);
		else
			str_addf(out, "%-*.*s", (int)lines->keys[i],
				 lines->keys[i] ? (int)lines->keys[i] : 64, lines->diff->keys[i]->header);
	}
	str_addc(out, '\n');
	str_release(&text);
}

void diff_add_basis(const struct diff *diff, struct str *out)
{
	double percent = 100 * diff->options.confidence;
	bool runs = false, samples = false;

	for (size_t i = 1; i < diff->n_sides; i++) {
		runs |= diff->sides[i].runs;
		samples |= !diff->sides[i].runs;
	}
	if (runs)
		str_addf(out, "Bounds and verdicts (%g %%) come from the variance between %zu and %zu runs.", percent,
			 diff->sides[0].n, diff->sides[1].n);
	if (samples)
		str_addf(out,
			 "%sBounds and verdicts (%g %%) cover sampling noise only: other differences between runs "
			 "need three recordings per side.",
			 runs ? " " : "", percent);
}

static void add_files(const struct diff *diff, struct str *out)
{
	if (diff->n_runs == 2)
		return;
	str_add(out, "# Data files:\n");
	for (size_t side = 0; side < diff->n_sides; side++) {
		for (size_t i = 0; i < diff->sides[side].n; i++) {
			const struct reader *reader = diff->sides[side].tables[i]->session->reader;

			str_addf(out, "#  [%zu] ", side);
			str_add_printable(out, reader->path, strlen(reader->path));
			str_add(out, side ? "\n" : " (Baseline)\n");
		}
	}
	str_add(out, "#\n");
}

void diff_lines_add_heads(const struct diff_lines *lines, struct output *output)
{
	add_head_line(lines, false, &output->text);
}

static void add_head(const struct diff_lines *lines, struct output *output)
{
	struct str *out = &output->text;

	str_addf(out, "# Event '%s'\n#\n", lines->event->name);
	add_files(lines->diff, out);
	str_add(out, "# ");
	diff_add_basis(lines->diff, out);
	str_add(out, "\n# Bounds are for each row alone. \"maybe\": they do not include 0, "
		     "but with this many rows chance explains it.\n#\n");
	add_head_line(lines, false, out);
	if (lines->look->separator)
		return;
	add_head_line(lines, true, out);
	str_add(out, "#\n");
}

int diff_print_text(const struct diff *diff, const struct diff_look *look, struct output *output)
{
	for (size_t i = 0; i < diff->n_events; i++) {
		const struct diff_event *event = &diff->events[i];
		struct diff_lines *lines = diff_lines_new(diff, event, look, output);

		if (i)
			str_addc(&output->text, '\n');
		if (!look->quiet)
			add_head(lines, output);
		for (size_t k = 0; k < event->n && !output_step(output); k++)
			diff_lines_add_row(lines, event->rows[k], output);
		diff_lines_free(lines);
	}
	return output->failed;
}
