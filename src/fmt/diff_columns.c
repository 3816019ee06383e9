/*
 * The columns of a difference: perf's, in perf's order, and behind perf's value between which bounds the true
 * difference is and whether chance explains it. A cell adds nothing where there is nothing to say.
 */
#include "fmt/diff_columns.h"

bool diff_shows_shares(const struct diff *diff)
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
	if (diff_shows_shares(place->diff))
		str_addf(out, "%.2f%%", place->cell->percent);
	else
		str_addf(out, "%.6g", place->cell->rate);
}

/* rate: a difference of rates, or a bound of one; percent: the same of shares. */
static void add_difference(const struct diff_place *place, double rate, double percent, struct str *out)
{
	if (diff_shows_shares(place->diff))
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
	return of_other(place) && !diff_shows_shares(place->diff);
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
	else if (diff_shows_shares(place->diff))
		str_addf(out, "(%llu * 100 / %llu) - (%llu * 100 / %llu)", new,
			 (unsigned long long)place->event->totals[place->side].period, old,
			 (unsigned long long)place->event->totals[0].period);
	else
		str_addf(out, "%g - %g", place->cell->rate, place->row->cells[0].rate);
}

/* perf's columns in perf's order; those that perf lacks stand behind its value. */
const struct diff_column diff_columns[] = {
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
const size_t n_diff_columns = ARRAY_SIZE(diff_columns);

void diff_column_add_head(const struct diff_column *column, const struct diff_place *place, struct str *out)
{
	column->head(place, out);
	if (place->diff->n_sides > 2)
		str_addf(out, "/%zu", place->side);
}

unsigned diff_column_width(const struct diff_column *column, const struct diff_place *place)
{
	struct str head = STR_INIT;
	unsigned width = column->width;

	diff_column_add_head(column, place, &head);
	if (!diff_shows_shares(place->diff) && width == 9)
		width = 12;
	if (width < head.len)
		width = (unsigned)head.len;
	str_release(&head);
	return width;
}

bool diff_column_is_value(const struct diff_column *column)
{
	return column->cell == cell_value;
}
