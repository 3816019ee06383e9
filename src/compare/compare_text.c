/* SPDX-License-Identifier: MIT */
/*
 * The comparison as text: for each command its numbers and, below, its changes against the reference, with bars that
 * all have one axis; then a sentence for each. All fits 80 columns. Colour only repeats what a word says.
 */
#include "compare/compare_formats.h"

#include <math.h>

enum { NAME_COLUMNS = 18, BAR_HALF = 7 };

static double lesser(double a, double b)
{
	return a < b ? a : b;
}

static double greater(double a, double b)
{
	return a > b ? a : b;
}

/* ---- numbers in few columns ---- */

static const struct number_unit {
	const char *of; /* the column's */
	double at_least, divisor;
	const char *name;
} number_units[] = {
	{ "s", 60, 60, "min" },
	{ "s", 1, 1, "s" },
	{ "s", 1e-3, 1e-3, "ms" },
	{ "s", 1e-6, 1e-6, "us" },
	{ "s", 0, 1e-9, "ns" },
	{ "B", 0x1p30, 0x1p30, "GiB" },
	{ "B", 0x1p20, 0x1p20, "MiB" },
	{ "B", 0x1p10, 0x1p10, "KiB" },
	{ "B", 0, 1, "B" },
	{ "", 1e12, 1e12, "T" },
	{ "", 1e9, 1e9, "G" },
	{ "", 1e6, 1e6, "M" },
	{ "", 1e4, 1e3, "K" },
	{ "", 0, 1, "" },
};

static const struct number_unit *unit_for(const char *of, double value)
{
	const struct number_unit *found = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(number_units) && !found; i++)
		if (!strcmp(number_units[i].of, of) && fabs(value) >= number_units[i].at_least)
			found = &number_units[i];
	return found;
}

/* Three or four digits that mean something. */
static void add_digits(struct str *out, double value)
{
	double size = fabs(value);

	str_addf(out, "%.*f", size >= 100 || value == (double)(int64_t)value ? 0 : size >= 10 ? 1 : 2, value);
}

void compare_add_number(struct str *out, double value, const struct compare_column *column)
{
	const struct number_unit *unit = unit_for(column->unit, value);

	add_digits(out, unit ? value / unit->divisor : value);
	if (unit ? unit->name[0] : column->unit[0])
		str_addf(out, " %s", unit ? unit->name : column->unit);
}

/* The same, right-aligned. */
static void add_number_in(struct str *out, double value, const struct compare_column *column, size_t columns)
{
	struct str text = STR_INIT;

	compare_add_number(&text, value, column);
	str_pad(out, ' ', text.len < columns ? columns - text.len : 0);
	str_add(out, text.s);
	str_release(&text);
}

/* A change, or an end of its interval: with its sign, and in percent but where it is a difference. */
void compare_add_change(struct str *out, double change, bool absolute, const struct compare_column *column)
{
	str_add(out, change < 0 ? "-" : "+");
	if (absolute)
		compare_add_number(out, fabs(change), column);
	else
		str_addf(out, "%.*f %%", fabs(change) < 0.1 ? 2 : fabs(change) < 1 ? 1 : 0, 100 * fabs(change));
}

/* ---- bars ---- */

/* A change as a share of the reference's mean, whatever it is of. */
static double share(const struct compare_row *row, double change, double reference_mean)
{
	if (!row->absolute)
		return change;
	return reference_mean != 0 ? change / fabs(reference_mean) : change > 0 ? 1 : change < 0 ? -1 : 0;
}

/* The furthest that any interval reaches: the axis of all bars. Twice as much, or nothing, is the most. */
static double reach_of(const struct compare_data *data, const struct compare_result *result, size_t reference)
{
	double reach = 0.01;

	for (size_t i = 0; i < data->n_commands * data->n_columns; i++) {
		const struct compare_row *row = &result->rows[i];
		double mean = result->rows[reference * data->n_columns + i % data->n_columns].mean;

		if (!row->compared || !isfinite(row->low))
			continue;
		reach = greater(reach, fabs(share(row, row->low, mean)));
		reach = greater(reach, fabs(share(row, row->high, mean)));
	}
	return lesser(reach, 1);
}

static size_t place(double at, double reach)
{
	double off = lesser(greater(at / reach, -1), 1);

	return (size_t)(BAR_HALF + off * BAR_HALF + 0.5);
}

static void add_bar(struct str *out, const struct compare_row *row, double reference_mean, double reach)
{
	char bar[2 * BAR_HALF + 2];
	size_t from, to;

	memset(bar, ' ', sizeof(bar) - 1);
	bar[sizeof(bar) - 1] = '\0';
	bar[BAR_HALF] = '|';
	if (row->compared && isfinite(row->low)) {
		from = place(share(row, row->low, reference_mean), reach);
		to = place(share(row, row->high, reference_mean), reach);
		for (size_t i = from; i <= to; i++)
			bar[i] = i == BAR_HALF ? '+' : '-';
		bar[place(share(row, row->change, reference_mean), reach)] = '*';
	}
	str_add(out, bar);
}

/* ---- blocks ---- */

struct text {
	struct str *out;
	const struct compare_data *data;
	const struct compare_result *result;
	const struct compare_question *question;
	bool colour;
	double reach;
};

static const struct compare_row *row_of(const struct text *t, size_t command, size_t column)
{
	return &t->result->rows[command * t->data->n_columns + column];
}

static void add_name(struct str *out, const char *name)
{
	size_t start;

	str_add(out, "  ");
	start = out->len;
	str_add(out, name);
	str_shorten(out, start, NAME_COLUMNS, false, "...");
	str_pad(out, ' ', NAME_COLUMNS - text_columns(out->s + start, out->len - start));
}

static void add_numbers(const struct text *t, size_t command)
{
	struct str *out = t->out;

	add_name(out, "");
	str_add(out, "      mean   deviation       min ...     max  outliers\n");
	for (size_t i = 0; i < t->data->n_columns; i++) {
		const struct compare_column *column = &t->data->columns[i];
		const struct compare_row *row = row_of(t, command, i);

		if (!row->n)
			continue;
		add_name(out, column->name);
		add_number_in(out, row->mean, column, 10);
		str_addf(out, "  %8.1f %%", row->mean != 0 ? 100 * row->deviation / fabs(row->mean) : 0.0);
		add_number_in(out, row->min, column, 11);
		add_number_in(out, row->max, column, 12);
		if (row->n_outliers)
			str_addf(out, "%9zu", row->n_outliers);
		str_addc(out, '\n');
	}
}

static const char *colour_of(enum compare_verdict verdict)
{
	return verdict == COMPARE_FASTER ? "\033[32m" : verdict == COMPARE_SLOWER ? "\033[31m" : "";
}

static void add_verdict(const struct text *t, const struct compare_row *row)
{
	const char *colour = t->colour ? colour_of(row->verdict) : "";

	str_addf(t->out, "  %s%s%s", colour, compare_verdict_words[row->verdict], colour[0] ? "\033[0m" : "");
}

static void add_interval(struct str *out, const struct compare_row *row, const struct compare_column *column)
{
	struct str text = STR_INIT;

	compare_add_change(&text, row->change, row->absolute, column);
	str_addf(out, "%9s", text.s);
	str_reset(&text);
	if (isfinite(row->low)) {
		compare_add_change(&text, row->low, row->absolute, column);
		str_add(&text, " ... ");
		compare_add_change(&text, row->high, row->absolute, column);
	}
	str_addf(out, "  %20s  ", text.s);
	str_release(&text);
}

static void add_changes(const struct text *t, size_t command)
{
	struct str *out = t->out;

	add_name(out, "");
	str_addf(out, "   change  %20s  %-*s  verdict\n", "interval", 2 * BAR_HALF + 1, "less       more");
	for (size_t i = 0; i < t->data->n_columns; i++) {
		const struct compare_row *row = row_of(t, command, i);

		if (!row->compared)
			continue;
		add_name(out, t->data->columns[i].name);
		add_interval(out, row, &t->data->columns[i]);
		add_bar(out, row, row_of(t, t->question->reference, i)->mean, t->reach);
		add_verdict(t, row);
		str_addc(out, '\n');
	}
}

/* ---- the sentence ---- */

static size_t find_kind(const struct compare_data *data, enum compare_kind kind)
{
	size_t i = 0;

	while (i < data->n_columns && data->columns[i].kind != kind)
		i++;
	return i;
}

/* Adds ", with 12 % fewer instructions" where their row has a verdict that says so. */
static void add_instructions(const struct text *t, size_t command)
{
	for (size_t i = 0; i < t->data->n_columns; i++) {
		const struct compare_row *row = row_of(t, command, i);

		if (strcmp(t->data->columns[i].name, "instructions:u") &&
		    strcmp(t->data->columns[i].name, "instructions"))
			continue;
		if (row->compared && !row->absolute &&
		    (row->verdict == COMPARE_FASTER || row->verdict == COMPARE_SLOWER))
			str_addf(t->out, ", with %.*f %% %s instructions", fabs(row->change) < 0.1 ? 1 : 0,
				 100 * fabs(row->change), row->change < 0 ? "fewer" : "more");
	}
}

/* A command that takes over twice as long is compared in times, else in percent. */
static void add_difference(const struct text *t, size_t command, const struct compare_row *row)
{
	const char *name = t->data->commands[command].name, *than = t->data->commands[t->question->reference].name;
	double low = lesser(fabs(row->low), fabs(row->high)), high = greater(fabs(row->low), fabs(row->high));

	if (row->change > 1)
		str_addf(t->out, "%s takes %.2f times as long as %s (%.2f to %.2f)", name, 1 + row->change, than,
			 1 + row->low, 1 + row->high);
	else
		str_addf(t->out, "%s is %.1f %% %s than %s (%.1f to %.1f)", name, 100 * fabs(row->change),
			 compare_verdict_words[row->verdict], than, 100 * low, 100 * high);
	add_instructions(t, command);
	str_addc(t->out, '\n');
}

static void add_withheld(const struct text *t, size_t command, const struct compare_row *row)
{
	const struct compare_command *c = &t->data->commands[command];
	const char *than = t->data->commands[t->question->reference].name;

	if (row->compared && !row->n_pairs)
		str_addf(t->out, "%s took %.1f %% %s time than %s by their medians, which may be chance\n", c->name,
			 100 * fabs(row->change), row->change < 0 ? "less" : "more", than);
	else
		str_addf(t->out, "nothing is said of %s: %s\n", c->name,
			 t->data->sessions[c->session].interrupted ?
				 "the rounds were interrupted, and not those that were planned" :
				 "there are too few rounds");
}

/* "the same, within 1 %" and the like, about the row of wall-clock time. */
static void add_sentence(const struct text *t, size_t command)
{
	const struct compare_data *data = t->data;
	const char *name = data->commands[command].name, *than = data->commands[t->question->reference].name;
	size_t wall = find_kind(data, COMPARE_WALL);
	const struct compare_row *row = row_of(t, command, wall);

	if (wall == data->n_columns) /* a file without times */
		return;
	switch (row->verdict) {
	case COMPARE_FASTER:
	case COMPARE_SLOWER:
		add_difference(t, command, row);
		break;
	case COMPARE_SAME:
		str_addf(t->out, "%s takes as long as %s, within %g %%\n", name, than, 100 * t->question->threshold);
		break;
	case COMPARE_DIFFERS:
		str_addf(t->out, "%s is %s than %s, perhaps by less than %g %%\n", name,
			 row->change > 0 ? "slower" : "faster", than, 100 * t->question->threshold);
		break;
	case COMPARE_UNDECIDED:
		str_addf(t->out, "whether %s is slower or faster than %s is undecided", name, than);
		if (row->rounds_needed > row->n_pairs)
			str_addf(t->out, "; some %zu rounds may decide it (--runs)", row->rounds_needed);
		str_addc(t->out, '\n');
		break;
	default:
		add_withheld(t, command, row);
	}
}

void compare_add_session(struct str *out, const struct compare_data *data, size_t i)
{
	const struct compare_session *session = &data->sessions[i];
	size_t n = 0;

	for (size_t command = 0; command < data->n_commands; command++)
		n += data->commands[command].session == i;
	if (data->n_sessions > 1)
		str_addf(out, "%s: ", session->file);
	str_addf(out, "%zu command%s, ", n, n == 1 ? "" : "s");
	if (session->by_chance)
		str_addf(out, "%zu round%s in an order by chance (--seed %llu)", session->n_rounds,
			 session->n_rounds == 1 ? "" : "s", (unsigned long long)session->seed);
	else
		str_addf(out, "up to %zu runs, one command after the other", session->n_rounds);
	if (session->n_warm_up)
		str_addf(out, " after %zu to warm up", session->n_warm_up);
	if (session->n_failed)
		str_addf(out, "\n%zu more were left out because a command failed", session->n_failed);
	str_addc(out, '\n');
}

static void add_head(const struct text *t)
{
	for (size_t i = 0; i < t->data->n_sessions; i++)
		compare_add_session(t->out, t->data, i);
	if (t->result->n_rows)
		str_addf(t->out, "intervals hold together for %zu rows with a confidence of %g %%\n", t->result->n_rows,
			 100 * (1 - t->question->alpha));
}

void compare_print_text(struct str *out, const struct compare_data *data, const struct compare_result *result,
			const struct compare_question *question, const size_t *order, bool colour)
{
	struct text t = { out, data, result, question, colour, reach_of(data, result, question->reference) };

	add_head(&t);
	for (size_t i = 0; i < data->n_commands; i++) {
		size_t command = order[i];

		str_addf(out, "\n%s%s\n", data->commands[command].name,
			 command == question->reference && data->n_commands > 1 ? "  (reference)" : "");
		if (!data->n_rounds)
			continue;
		add_numbers(&t, command);
		if (command != question->reference)
			add_changes(&t, command);
	}
	if (data->n_commands > 1)
		str_addc(out, '\n');
	for (size_t i = 0; i < data->n_commands && data->n_rounds; i++)
		if (order[i] != question->reference)
			add_sentence(&t, order[i]);
}
