/*
 * fmt_cell.c: one value of one entry as text, in the width of its column.
 *
 * Numbers are aligned to the right, texts to the left. With a separator (-t) numbers lose their
 * alignment but columns stay filled up, as perf prints them; a text that holds the separator or a quote
 * is put in quotes as RFC 4180 has it, so that it stays one field. On a terminal texts are cut to their columns
 * (fmt_fit.c), and filled up by what they take there, not by bytes.
 */
#include "fmt/fmt_internal.h"
#include "hist/hist.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

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
	return table->options.separator ? table->options.separator : "  ";
}

unsigned fmt_user_width(const struct table *table, const struct column *column)
{
	const char *widths = table->options.field_widths;
	unsigned long width;

	if (table->options.view == VIEW_HIERARCHY)
		return 0;
	for (ptrdiff_t i = column - table->columns; widths && i; i--) {
		widths = strchr(widths, ',');
		widths = widths ? widths + 1 : NULL;
	}
	width = widths ? strtoul(widths, NULL, 10) : 0;
	return width < MAX_USER_WIDTH ? (unsigned)width : MAX_USER_WIDTH;
}

unsigned fmt_width(const struct table *table, const struct hist *hist,
		   const struct column *column)
{
	unsigned user = fmt_user_width(table, column), width, least;

	if (column->kind == COLUMN_KEY)
		return user ? user : column->width;
	width = user ? user : column->field->width;
	least = hist->n_members > 1 ? (unsigned)hist->n_members * column->field->width : 0;
	if (least < strlen(column->field->header))
		least = (unsigned)strlen(column->field->header);
	return width > least ? width : least;
}

/* width: columns of the number with the blank before it; 0: as short as it gets. */
static void add_percent(const struct table *table, double percent, int width,
			struct output *output)
{
	char text[64];

	/* The blank, the sign. */
	snprintf(text, sizeof(text), " %*.2f%%", width > 2 ? width - 2 : 0, percent);
	if (table->options.separator)
		str_add(&output->text, text);
	else
		fmt_add_colored(output, percent, text);
}

static void add_number(const struct table *table, const struct hist *hist,
		       const struct entry *entry, const struct column *column,
		       struct output *output)
{
	const struct field_row *field = column->field;
	unsigned user = fmt_user_width(table, column);
	int width = (int)(user ? user : field->width);

	if (table->options.separator)
		width = 0;
	for (size_t i = 0; i < hist->n_members; i++) {
		if (field->total && !table->children)
			str_addf(&output->text, " %*s", width > 1 ? width - 1 : 0, "N/A");
		else if (field->percent)
			add_percent(table, entry_percent(table, hist, entry, field, i), width,
				    output);
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

/* What a cell's text takes of its column. */
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

/* With -w, at the end of a letter; a symbol's "[.] " does not count where there is no room for more. */
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
		if (fmt_user_width(table, column))
			cut(column, width, out, start);
		else if (fmt_fits(table, output) && table->options.view != VIEW_HIERARCHY &&
			 column->key->flags & (KEY_LONG | KEY_FUNCTION))
			str_shorten(out, start, width, column->key->flags & KEY_FUNCTION, output->dots);
		quoted = fmt_needs_quotes(out->s + start, table->options.separator);
		if (column->key->right)
			align_right(out, start, width);
		fill = fill || !(column->key->flags & KEY_RAGGED);
	}
	len = taken(table, output, start);
	if (fill && len < width)
		str_pad(out, ' ', width - len);
	/* The blanks too: behind a closing quote only the separator may stand. */
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
