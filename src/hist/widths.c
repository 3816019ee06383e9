/* SPDX-License-Identifier: MIT */
/*
 * Which columns a hist has, and how wide they are: as their head, their widest text and perf's least width;
 * texts of all entries count that filters leave, also of those below --percent-limit. What -w
 * says is for the formats, which cut texts too.
 */
#include "hist/keys_internal.h"

#include <stdlib.h>

/* perf's room for a file where the function is not known, as if its address stood there. */
enum { UNKNOWN_FILE_WIDTH = 16 };

static bool is_unknown_function(const struct table *table, const struct entry *entry, const char *key)
{
	for (size_t i = 0; i < table->question->n_keys; i++)
		if (!strcmp(table->question->keys[i]->name, key))
			return !table->private->cache->function_ids.v[entry->values[i]].symbol;
	return false;
}

static bool is_unknown(struct table *table, const struct entry *entry, const struct sort_key *key)
{
	if (!strcmp(key->name, "dso"))
		return !location_symbol(table->session, entry->location);
	if (!strcmp(key->name, "dso_from"))
		return is_unknown_function(table, entry, "symbol_from");
	if (!strcmp(key->name, "dso_to"))
		return is_unknown_function(table, entry, "symbol_to");
	return !strcmp(key->name, "dso_daddr") && is_unknown_function(table, entry, "symbol_daddr");
}

static bool leaves_room(const struct table *table)
{
	const struct query *query = &table->question->query;

	return !query->separator && !query->filters.dsos && !query->field_widths;
}

static void at_least(size_t *width, size_t least)
{
	if (*width < least)
		*width = least;
}

/* least: of those before it, which is all that matters of this one if it is wider. */
static size_t entry_width(struct table *table, const struct sort_key *key, size_t key_index,
			  const struct entry *entry, size_t least)
{
	uint64_t value = entry->values[key_index];
	struct str text = STR_INIT;
	size_t width = least;

	if (!(key->flags & KEY_FIXED_WIDTH)) {
		key->text(table, value, &text);
		at_least(&width, text.len);
		str_release(&text);
	}
	if (key->width)
		at_least(&width, key->width(table, value));
	if (width < UNKNOWN_FILE_WIDTH && leaves_room(table) && is_unknown(table, entry, key))
		width = UNKNOWN_FILE_WIDTH;
	return width;
}

static size_t widest(struct table *table, size_t key_index, struct entry *const *entries, size_t n, size_t width)
{
	for (size_t i = 0; i < n; i++) {
		width = entry_width(table, table->question->keys[key_index], key_index, entries[i], width);
		width = widest(table, key_index, entries[i]->children, entries[i]->n_children, width);
	}
	return width;
}

void known_widths_forget(struct known_widths *known)
{
	for (size_t i = 0; i < 4; i++)
		free(known->v[i / 2][i % 2]);
	*known = (struct known_widths){ .v = { { NULL } } };
}

void hist_measure(struct table *table, struct hist *hist, struct known_widths *known)
{
	size_t **widths = known ? &known->v[table->question->children][leaves_room(table)] : NULL;
	const size_t size = (table->question->n_keys + 1) * sizeof(*hist->widths);

	free(hist->widths);
	hist->widths = xcalloc(1, size);
	if (widths && *widths) {
		memcpy(hist->widths, *widths, size);
		return;
	}
	for (size_t key = 0; key < table->question->n_keys; key++)
		hist->widths[key] = widest(table, key, hist->entries, hist->n, 0);
	if (widths) {
		*widths = xmalloc(size);
		memcpy(*widths, hist->widths, size);
	}
}

static unsigned number_width(const struct column *column, const struct hist *hist)
{
	size_t width = column->field->width * hist->n_members;
	size_t head = strlen(column->field->header);

	return (unsigned)(width > head ? width : head);
}

static unsigned key_width(const struct column *column, const struct hist *hist)
{
	size_t width = hist->widths ? hist->widths[column->key_index] : 0;

	at_least(&width, column->key->min_width);
	at_least(&width, strlen(column->key->header));
	return (unsigned)width;
}

static void widen(struct table *table, const struct hist *hist)
{
	for (size_t i = 0; i < table->n_columns; i++) {
		struct column *column = &table->columns[i];
		unsigned width = column->kind == COLUMN_NUMBER ? number_width(column, hist)
							       : key_width(column, hist);

		if (width > column->width)
			column->width = width;
	}
}

/* hist NULL: has any of them the column? */
static bool has_column(const struct table *table, const struct hist *hist,
		       const struct column *column)
{
	if (column->kind == COLUMN_NUMBER)
		return !(column->field->of_latency && table->private->latency_left_out);
	return !hist || key_is_of_event(table->question, column->key, hist->event);
}

/* hist NULL: does it occur in any of them? */
static bool occurs(const struct table *table, const struct hist *hist, enum mem_respect respect, unsigned answer)
{
	uint64_t period = hist && hist->sums ? hist->sums->periods[respect][answer] : 0;

	for (size_t i = 0; i < table->n_hists && !hist && !period; i++)
		period = table->hists[i].sums ? table->hists[i].sums->periods[respect][answer] : 0;
	return period;
}

static void add_answers(struct table *table, const struct hist *hist, const struct column *title)
{
	const enum mem_respect respect = title->field->respect;

	for (unsigned i = 0; i < MEM_ANSWERS_MAX; i++) {
		struct column column = *title;

		column.title = title->field;
		column.field = &table->question->private->answers[respect][i];
		if (occurs(table, hist, respect, i))
			table->columns[table->n_columns++] = column;
	}
}

void table_columns_for(struct table *table, const struct hist *hist)
{
	const struct question *question = table->question;

	table->n_columns = 0;
	for (size_t i = 0; i < question->n_columns; i++) {
		const struct column *column = &question->columns[i];

		if (column->field && column->field->answers)
			add_answers(table, hist, column);
		else if (has_column(table, hist, column))
			table->columns[table->n_columns++] = *column;
	}
	if (hist)
		widen(table, hist);
	for (size_t i = 0; i < table->n_hists && !hist; i++)
		widen(table, &table->hists[i]);
}
