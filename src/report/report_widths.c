/*
 * Which columns a hist has, and how wide they are: as their head, their widest text and perf's least width;
 * texts of all entries count that filters leave, also of those below --percent-limit. What -w
 * says is for the formats, which cut texts too.
 */
#include "report/keys.h"

/* perf's room for a file where the function is not known, as if its address stood there. */
enum { UNKNOWN_FILE_WIDTH = 16 };

static bool is_unknown_code(const struct report *report, const struct entry *entry, const char *key)
{
	for (size_t i = 0; i < report->n_keys; i++)
		if (!strcmp(report->keys[i]->name, key))
			return !report->private->codes.v[entry->values[i]].symbol;
	return false;
}

static bool is_unknown(struct report *report, const struct entry *entry, const struct sort_key *key)
{
	if (!strcmp(key->name, "dso"))
		return !place_symbol(&report->session, entry->place);
	if (!strcmp(key->name, "dso_from"))
		return is_unknown_code(report, entry, "symbol_from");
	if (!strcmp(key->name, "dso_to"))
		return is_unknown_code(report, entry, "symbol_to");
	return !strcmp(key->name, "dso_daddr") && is_unknown_code(report, entry, "symbol_daddr");
}

static void at_least(size_t *width, size_t least)
{
	if (*width < least)
		*width = least;
}

static size_t entry_width(struct report *report, const struct column *column,
			  const struct entry *entry)
{
	const struct sort_key *key = column->key;
	uint64_t value = entry->values[column->key_index];
	struct str text = STR_INIT;
	size_t width = 0;

	if (!(key->flags & KEY_FIXED_WIDTH)) {
		key->text(report, value, &text);
		width = text.len;
		str_release(&text);
	}
	if (key->width)
		at_least(&width, key->width(report, value));
	if (!report->options.separator && !report->options.filters.dsos &&
	    !report->options.field_widths && is_unknown(report, entry, key))
		at_least(&width, UNKNOWN_FILE_WIDTH);
	return width;
}

static size_t widest(struct report *report, const struct column *column,
		     struct entry *const *entries, size_t n)
{
	size_t width = 0;

	for (size_t i = 0; i < n; i++) {
		if (entries[i]->filtered)
			continue;
		at_least(&width, entry_width(report, column, entries[i]));
		at_least(&width,
			 widest(report, column, entries[i]->children, entries[i]->n_children));
	}
	return width;
}

static unsigned number_width(const struct column *column, const struct hist *hist)
{
	size_t width = column->field->width * hist->n_members;
	size_t head = strlen(column->field->header);

	return (unsigned)(width > head ? width : head);
}

static unsigned key_width(struct report *report, const struct column *column,
			  const struct hist *hist)
{
	size_t width = widest(report, column, hist->entries, hist->n);

	at_least(&width, column->key->min_width);
	at_least(&width, strlen(column->key->header));
	return (unsigned)width;
}

static void widen(struct report *report, const struct hist *hist)
{
	for (size_t i = 0; i < report->n_columns; i++) {
		struct column *column = &report->columns[i];
		unsigned width = column->kind == COLUMN_NUMBER ? number_width(column, hist)
							       : key_width(report, column, hist);

		if (width > column->width)
			column->width = width;
	}
}

static bool has_column(const struct report *report, const struct hist *hist,
		       const struct column *column)
{
	return column->kind == COLUMN_NUMBER || key_is_of_event(report, column->key, hist->event);
}

void report_columns_for(struct report *report, const struct hist *hist)
{
	const struct report_private *private = report->private;

	report->n_columns = 0;
	for (size_t i = 0; i < private->n_columns; i++)
		if (!hist || has_column(report, hist, &private->columns[i]))
			report->columns[report->n_columns++] = private->columns[i];
	if (hist)
		widen(report, hist);
	for (size_t i = 0; i < report->n_hists && !hist; i++)
		widen(report, &report->hists[i]);
}
