/* SPDX-License-Identifier: MIT */
/*
 * fmt_cell.c: one value of one entry as text, in the width of its column; and how wide columns are.
 *
 * Numbers are aligned to the right, texts to the left. With a separator (-t) numbers lose their
 * alignment but columns stay filled up, as perf prints them; a text that holds the separator or a quote
 * is put in quotes as RFC 4180 has it, so that it stays one field.
 *
 * On a terminal tables fit it. Numbers, times and addresses are never cut; columns of long texts share the room
 * that those leave. All of these get the same limit, names of functions twice of it, and the limit is the greatest
 * that fits: so the longest texts give first, and a short column keeps its width. None is made narrower than is of
 * use; where even that does not fit, lines are longer than the terminal, and the pager chops them. A pipe or a file
 * has no columns: there nothing is cut.
 */
#include "fmt/fmt_internal.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- cells ---- */

enum { MAX_USER_WIDTH = 4096, SYMBOL_PREFIX = 4 };

/* Above these a percentage is red, or green. */
#define RED_PERCENT 5.0
#define GREEN_PERCENT 0.5

void fmt_add_colored(struct output *output, double percent, const char *text)
{
	const char *color = fabs(percent) >= RED_PERCENT    ? "\033[31m"
			    : fabs(percent) > GREEN_PERCENT ? "\033[32m"
							    : NULL;

	if (!output->color || !color) {
		str_add(&output->text, text);
		return;
	}
	str_add(&output->text, color);
	str_add(&output->text, text);
	str_add(&output->text, "\033[m");
}

const char *fmt_between(const struct table *table)
{
	return table->question->query.separator ? table->question->query.separator : "  ";
}

const char *fmt_before(const struct table *table, size_t column)
{
	const struct column *columns = table->columns;

	return column && columns[column].title && columns[column].title == columns[column - 1].title ?
		       "" :
		       fmt_between(table);
}

/* The width that -w gives a column; 0: none, as always in a hierarchy. */
static unsigned user_width(const struct table *table, const struct column *column)
{
	const char *widths = table->question->query.field_widths;
	unsigned long width;

	if (table->question->query.view == VIEW_HIERARCHY || column->title)
		return 0;
	for (const struct column *c = table->columns; widths && c < column; c++) {
		if (c->title && c->title == c[1].title)
			continue;
		widths = strchr(widths, ',');
		widths = widths ? widths + 1 : NULL;
	}
	width = widths ? strtoul(widths, NULL, 10) : 0;
	return width < MAX_USER_WIDTH ? (unsigned)width : MAX_USER_WIDTH;
}

unsigned fmt_width(const struct table *table, const struct hist *hist,
		   const struct column *column)
{
	unsigned user = user_width(table, column), width, least;

	if (column->kind == COLUMN_KEY)
		return user ? user : column->width;
	width = user ? user : column->field->width;
	least = hist->n_members > 1 ? (unsigned)hist->n_members * column->field->width : 0;
	if (least < strlen(column->field->header))
		least = (unsigned)strlen(column->field->header);
	return width > least ? width : least;
}

/* width: columns of the number with the blank before it; 0: as short as it gets. Tenths are always as wide. */
static void add_percent(const struct table *table, const struct field_row *field, double percent, int width,
			struct output *output)
{
	char text[64];

	/* The blank, the sign. */
	if (field->tenths)
		snprintf(text, sizeof(text), " %*.1f%%", (int)field->width - 2, percent);
	else
		snprintf(text, sizeof(text), " %*.2f%%", width > 2 ? width - 2 : 0, percent);
	if (table->question->query.separator)
		str_add(&output->text, text);
	else
		fmt_add_colored(output, percent, text);
}

static void add_number(const struct table *table, const struct hist *hist,
		       const struct entry *entry, const struct column *column,
		       struct output *output)
{
	const struct field_row *field = column->field;
	unsigned user = user_width(table, column);
	int width = (int)(user ? user : field->width);

	if (table->question->query.separator)
		width = 0;
	for (size_t i = 0; i < hist->n_members; i++) {
		if (field->total && !table->question->children)
			str_addf(&output->text, " %*s", width > 1 ? width - 1 : 0, "N/A");
		else if (field->percent)
			add_percent(table, field, entry_percent(table, hist, entry, field, i), width, output);
		else if (field->mean)
			str_addf(&output->text, " %*.1f", width > 1 ? width - 1 : 0, entry_mean(entry, field, i));
		else
			str_addf(&output->text, " %*llu", width > 1 ? width - 1 : 0,
				 (unsigned long long)entry_number(entry, field, i));
	}
}

bool fmt_needs_quotes(const char *text, const char *separator)
{
	return separator && (strchr(text, '"') || (*separator && strstr(text, separator)));
}

void fmt_quote_field(struct str *out, size_t start)
{
	struct str field = STR_INIT;

	str_addn(&field, out->s + start, out->len - start);
	out->len = start;
	str_addc(out, '"');
	for (size_t i = 0; i < field.len; i++) {
		if (field.s[i] == '"')
			str_addc(out, '"');
		str_addc(out, field.s[i]);
	}
	str_addc(out, '"');
	str_release(&field);
}

/* The part of its column that a cell's text fills: columns of a terminal, or bytes. */
static size_t taken(const struct table *table, const struct output *output, size_t start)
{
	const struct str *out = &output->text;

	return fmt_fits(table, output) ? text_columns(out->s + start, out->len - start) :
					  out->len - start;
}

/* Moves what was added since `start` to the right end of the column. */
static void align_right(struct str *out, size_t start, size_t width)
{
	size_t len = out->len - start, blanks = width > len ? width - len : 0;

	str_pad(out, ' ', blanks);
	memmove(out->s + start + blanks, out->s + start, len);
	memset(out->s + start, ' ', blanks);
}

/* Cuts as -w says, at the end of a letter; a symbol's "[.] " does not count where there is no room for more. */
static void cut(const struct column *column, size_t width, struct str *out, size_t start)
{
	size_t len = out->len - start;

	if (len <= width || (!strncmp(column->key->name, "sym", 3) && width <= SYMBOL_PREFIX))
		return;
	while (width && (out->s[start + width] & 0xc0) == 0x80)
		width--;
	out->len = start + width;
	out->s[out->len] = '\0';
}

void fmt_add_cell(struct table *table, const struct hist *hist, const struct entry *entry,
		  const struct column *column, bool last, struct output *output)
{
	struct str *out = &output->text;
	size_t start = out->len, len, width = fmt_width(table, hist, column);
	bool fill = !last, quoted = false;

	if (column->kind == COLUMN_NUMBER) {
		add_number(table, hist, entry, column, output);
	} else {
		table_key_text(table, entry, column, out);
		if (user_width(table, column))
			cut(column, width, out, start);
		else if (fmt_fits(table, output) && table->question->query.view != VIEW_HIERARCHY &&
			 column->key->flags & (KEY_LONG | KEY_FUNCTION))
			str_shorten(out, start, width, column->key->flags & KEY_FUNCTION, output->dots);
		quoted = fmt_needs_quotes(out->s + start, table->question->query.separator);
		if (column->key->right)
			align_right(out, start, width);
		fill = fill || !(column->key->flags & KEY_RAGGED);
	}
	len = taken(table, output, start);
	if (fill && len < width)
		str_pad(out, ' ', width - len);
	/* The blanks too: after a closing quote only the separator may stand. */
	if (quoted)
		fmt_quote_field(out, start);
}

void fmt_add_head(const struct table *table, const struct hist *hist, const struct column *column,
		  struct str *out)
{
	int width = (int)fmt_width(table, hist, column);

	if (column->kind == COLUMN_NUMBER)
		str_addf(out, "%*s", width, column->field->header);
	else if (column->key->flags & KEY_HEAD_RIGHT)
		str_addf(out, "%*.*s", width, width, column->key->header);
	else
		str_addf(out, "%-*.*s", width, width, column->key->header);
}

/* ---- tables that fit a terminal ---- */

enum {
	LEAST_TEXT = 8, /* a column of files, tasks, ... */
	LEAST_NAME = 16, /* a function */
	FUNCTION_SHARE = 2,
};

bool fmt_fits(const struct table *table, const struct output *output)
{
	return output->columns && !table->question->query.separator;
}

static bool is_cut(const struct table *table, const struct column *column)
{
	return column->kind == COLUMN_KEY && column->key->flags & (KEY_LONG | KEY_FUNCTION) &&
	       !user_width(table, column);
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
	size_t sum = 0;

	for (size_t i = 0; i < table->n_columns; i++) {
		sum += strlen(fmt_before(table, i));
		if (!is_cut(table, &table->columns[i]))
			sum += fmt_width(table, hist, &table->columns[i]);
	}
	return sum;
}

void fmt_fit_columns(struct table *table, const struct hist *hist, const struct output *output)
{
	size_t others = other_columns(table, hist), room = 0, sum;
	unsigned limit = output->columns;

	if (!fmt_fits(table, output) || table->question->query.view == VIEW_HIERARCHY)
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
