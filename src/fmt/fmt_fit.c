/*
 * fmt_fit.c: tables that fit the terminal they are printed to.
 *
 * Numbers, times and addresses are never cut; columns of long texts share the room that those leave. All of these
 * get the same limit, names of functions twice of it, and the limit is the greatest that fits: so the longest
 * texts give first, and a short column keeps its width. None is made narrower than is of use; where even that
 * does not fit, lines are longer than the terminal, and the pager chops them.
 *
 * A pipe or a file has no columns: there nothing is cut.
 */
#include "fmt/fmt_internal.h"

enum {
	LEAST_TEXT = 8, /* a column of files, tasks, ... */
	LEAST_NAME = 16, /* a function */
	FUNCTION_SHARE = 2,
};

bool fmt_fits(const struct table *table, const struct output *output)
{
	return output->columns && !table->options.separator;
}

static bool is_cut(const struct table *table, const struct column *column)
{
	return column->kind == COLUMN_KEY && column->key->flags & (KEY_LONG | KEY_FUNCTION) &&
	       !fmt_user_width(table, column);
}

/* The width of a column of long texts that has no more than its share of `limit`. */
static unsigned limited(const struct column *column, unsigned limit)
{
	bool function = column->key->flags & KEY_FUNCTION;
	unsigned share = function ? FUNCTION_SHARE * limit : limit;
	unsigned least = function ? LEAST_NAME : LEAST_TEXT;

	if (share < least)
		share = least;
	return share < column->width ? share : column->width;
}

static size_t sum_limited(const struct table *table, unsigned limit)
{
	size_t sum = 0;

	for (size_t i = 0; i < table->n_columns; i++)
		if (is_cut(table, &table->columns[i]))
			sum += limited(&table->columns[i], limit);
	return sum;
}

/* All but the long texts: the two blanks before each column, and the columns that stay as they are. */
static size_t other_columns(const struct table *table, const struct hist *hist)
{
	size_t sum = 2 * table->n_columns;

	for (size_t i = 0; i < table->n_columns; i++)
		if (!is_cut(table, &table->columns[i]))
			sum += fmt_width(table, hist, &table->columns[i]);
	return sum;
}

void fmt_fit_columns(struct table *table, const struct hist *hist, const struct output *output)
{
	size_t others = other_columns(table, hist), room = 0, sum;
	unsigned limit = output->columns;

	if (!fmt_fits(table, output) || table->options.view == VIEW_HIERARCHY)
		return;
	if (others < output->columns)
		room = output->columns - others;
	while (limit && sum_limited(table, limit) > room)
		limit--;
	sum = sum_limited(table, limit);
	for (size_t i = 0; i < table->n_columns; i++) {
		struct column *column = &table->columns[i];
		unsigned width;

		if (!is_cut(table, column))
			continue;
		width = limited(column, limit);
		/* The few columns that are left, because one more for each was too much. */
		while (width < column->width && sum < room) {
			width++;
			sum++;
		}
		column->width = width;
	}
}

void fmt_fit_text(const struct table *table, struct output *output, size_t start, bool function)
{
	struct str *out = &output->text;
	size_t line = start, at, room = LEAST_NAME;

	if (!fmt_fits(table, output))
		return;
	while (line && out->s[line - 1] != '\n')
		line--;
	at = text_columns(out->s + line, start - line);
	if (at + room < output->columns)
		room = output->columns - at;
	str_shorten(out, start, room, function, output->dots);
}

void fmt_fit_line(const struct table *table, struct output *output, size_t start)
{
	struct str *out = &output->text;

	if (!fmt_fits(table, output))
		return;
	out->len = start + text_fitting(out->s + start, out->len - start, output->columns);
	out->s[out->len] = '\0';
}
