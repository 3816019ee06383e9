/*
 * fmt_hierarchy.c: --hierarchy in the way of perf's --stdio: each sort key is a level, and an entry's line has
 * its numbers and the keys of its own level. What is further in is further to the right, by INDENT for
 * the numbers; keys all start in one column behind the deepest numbers.
 */
#include "hist/hist.h"
#include "fmt/fmt_internal.h"

enum { INDENT = 3 };

static unsigned n_levels(const struct table *table)
{
	unsigned n = 0;

	for (size_t i = 0; i < table->n_columns; i++)
		if (table->columns[i].kind == COLUMN_KEY && table->columns[i].level >= n)
			n = table->columns[i].level + 1;
	return n;
}

/* Blanks or dots above the indented numbers of the deepest level. */
static void add_indent(const struct table *table, char c, struct str *out)
{
	unsigned n = n_levels(table);

	if (!table->options.separator && n > 1)
		str_pad(out, c, (n - 1) * INDENT);
}

static void add_trimmed(struct str *out, const char *text)
{
	size_t len;

	text += strspn(text, " ");
	for (len = strlen(text); len && text[len - 1] == ' '; len--)
		;
	str_addn(out, text, len);
}

/* "Command / Shared Object+Symbol"; how long it is. */
static size_t add_key_heads(const struct table *table, struct str *out)
{
	const size_t start = out->len;
	const struct column *before = NULL;

	for (size_t i = 0; i < table->n_columns; i++) {
		const struct column *column = &table->columns[i];

		if (column->kind != COLUMN_KEY)
			continue;
		if (before)
			str_add(out, before->level == column->level ? "+" : " / ");
		add_trimmed(out, column->key->header);
		before = column;
	}
	return out->len - start;
}

/* The room that a level's keys need, with their indent. */
static size_t level_width(const struct table *table, const struct hist *hist, unsigned level)
{
	size_t width = level * INDENT;
	bool first = true;

	for (size_t i = 0; i < table->n_columns; i++) {
		const struct column *column = &table->columns[i];

		if (column->kind != COLUMN_KEY || column->level != level)
			continue;
		width += fmt_width(table, hist, column) + (first ? 0 : 1);
		first = false;
	}
	return width;
}

void hierarchy_add_head(struct table *table, const struct hist *hist, struct output *output)
{
	const char *separator = table->options.separator;
	struct str *out = &output->text;
	bool first = true;
	size_t width, start;

	str_add(out, "# ");
	add_indent(table, ' ', out);
	for (size_t i = 0; i < table->n_columns; i++) {
		if (table->columns[i].kind != COLUMN_NUMBER)
			continue;
		fmt_add_head(table, hist, &table->columns[i], out);
		str_add(out, fmt_between(table));
	}
	width = add_key_heads(table, out);
	str_addc(out, '\n');
	start = out->len;
	str_add(out, "# ");
	add_indent(table, '.', out);
	for (size_t i = 0; i < table->n_columns; i++) {
		if (table->columns[i].kind != COLUMN_NUMBER)
			continue;
		str_add(out, first ? "" : separator ? separator : "..");
		str_pad(out, '.', fmt_width(table, hist, &table->columns[i]));
		first = false;
	}
	for (unsigned level = 0; level < n_levels(table); level++)
		if (level_width(table, hist, level) > width)
			width = level_width(table, hist, level);
	str_add(out, fmt_between(table));
	str_pad(out, '.', width);
	fmt_fit_line(table, output, start);
	str_add(out, "\n#\n");
}

static void add_numbers(struct table *table, const struct hist *hist, const struct entry *entry,
			struct output *output)
{
	const char *separator = table->options.separator;
	bool first = true;

	str_pad(&output->text, ' ', entry->depth * INDENT);
	for (size_t i = 0; i < table->n_columns; i++) {
		if (table->columns[i].kind != COLUMN_NUMBER)
			continue;
		str_add(&output->text, !separator ? "  " : first ? "" : separator);
		fmt_add_cell(table, hist, entry, &table->columns[i], false, output);
		first = false;
	}
	add_indent(table, ' ', &output->text);
}

/* Numbers among keys are aligned to the left here, as texts are. */
static void add_keys(struct table *table, const struct hist *hist, const struct entry *entry,
		     struct output *output)
{
	struct str *out = &output->text;

	for (size_t i = 0; i < table->n_columns; i++) {
		const struct column *column = &table->columns[i];
		size_t start, blanks;

		if (column->kind != COLUMN_KEY || column->level != entry->depth)
			continue;
		str_add(out, fmt_between(table));
		start = out->len;
		fmt_add_cell(table, hist, entry, column, true, output);
		blanks = strspn(out->s + start, " ");
		memmove(out->s + start, out->s + start + blanks, out->len - start - blanks + 1);
		out->len -= blanks;
		if (column->key->flags & (KEY_LONG | KEY_FUNCTION))
			fmt_fit_text(table, output, start, column->key->flags & KEY_FUNCTION);
	}
	str_addc(out, '\n');
}

static bool has_shown_child(struct table *table, const struct hist *hist,
			    const struct entry *entry)
{
	for (size_t i = 0; i < entry->n_children; i++)
		if (entry_is_shown(table, hist, entry->children[i]))
			return true;
	return false;
}

/* What perf says where the limit leaves nothing below an entry. */
static void add_none(struct table *table, const struct hist *hist, const struct entry *entry,
		     struct str *out)
{
	unsigned width = 0;

	for (size_t i = 0; i < table->n_columns; i++)
		if (table->columns[i].kind == COLUMN_NUMBER)
			width += fmt_width(table, hist, &table->columns[i]) + (width ? 2 : 0);
	if (!table->options.separator)
		str_pad(out, ' ', (n_levels(table) + entry->depth) * INDENT);
	str_pad(out, ' ', width + 4);
	str_addf(out, "no entry >= %.2f%%\n", table->options.percent_limit);
}

static void add_entry(struct table *table, const struct hist *hist, const struct entry *entry,
		      struct output *output)
{
	if (!entry_is_shown(table, hist, entry) || output_step(output))
		return;
	add_numbers(table, hist, entry, output);
	add_keys(table, hist, entry, output);
	if (!entry->n_children) {
		calltree_print(table, hist, entry, 0, output);
		return;
	}
	if (!has_shown_child(table, hist, entry)) {
		add_none(table, hist, entry, &output->text);
		return;
	}
	for (size_t i = 0; i < entry->n_children; i++)
		add_entry(table, hist, entry->children[i], output);
}

void hierarchy_add_entries(struct table *table, const struct hist *hist, struct output *output)
{
	for (size_t i = 0; i < hist->n; i++)
		add_entry(table, hist, hist->entries[i], output);
}
