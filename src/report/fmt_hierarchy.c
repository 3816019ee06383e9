/*
 * fmt_hierarchy.c: --hierarchy in the way of perf's --stdio: each sort key is a level, and an entry's line has
 * its numbers and the keys of its own level. What is further in is further to the right, by INDENT for
 * the numbers; keys all start in one column behind the deepest numbers.
 */
#include "report/calltree.h"
#include "report/fmt_report.h"

enum { INDENT = 3 };

static unsigned n_levels(const struct report *report)
{
	unsigned n = 0;

	for (size_t i = 0; i < report->n_columns; i++)
		if (report->columns[i].kind == COLUMN_KEY && report->columns[i].level >= n)
			n = report->columns[i].level + 1;
	return n;
}

/* Blanks or dots above the indented numbers of the deepest level. */
static void add_indent(const struct report *report, char c, struct str *out)
{
	unsigned n = n_levels(report);

	if (!report->options.separator && n > 1)
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
static size_t add_key_heads(const struct report *report, struct str *out)
{
	const size_t start = out->len;
	const struct column *before = NULL;

	for (size_t i = 0; i < report->n_columns; i++) {
		const struct column *column = &report->columns[i];

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
static size_t level_width(const struct report *report, const struct hist *hist, unsigned level)
{
	size_t width = level * INDENT;
	bool first = true;

	for (size_t i = 0; i < report->n_columns; i++) {
		const struct column *column = &report->columns[i];

		if (column->kind != COLUMN_KEY || column->level != level)
			continue;
		width += fmt_width(report, hist, column) + (first ? 0 : 1);
		first = false;
	}
	return width;
}

void hierarchy_add_head(struct report *report, const struct hist *hist, struct output *output)
{
	const char *separator = report->options.separator;
	struct str *out = &output->text;
	bool first = true;
	size_t width, start;

	str_add(out, "# ");
	add_indent(report, ' ', out);
	for (size_t i = 0; i < report->n_columns; i++) {
		if (report->columns[i].kind != COLUMN_NUMBER)
			continue;
		fmt_add_head(report, hist, &report->columns[i], out);
		str_add(out, fmt_between(report));
	}
	width = add_key_heads(report, out);
	str_addc(out, '\n');
	start = out->len;
	str_add(out, "# ");
	add_indent(report, '.', out);
	for (size_t i = 0; i < report->n_columns; i++) {
		if (report->columns[i].kind != COLUMN_NUMBER)
			continue;
		str_add(out, first ? "" : separator ? separator : "..");
		str_pad(out, '.', fmt_width(report, hist, &report->columns[i]));
		first = false;
	}
	for (unsigned level = 0; level < n_levels(report); level++)
		if (level_width(report, hist, level) > width)
			width = level_width(report, hist, level);
	str_add(out, fmt_between(report));
	str_pad(out, '.', width);
	fmt_fit_line(report, output, start);
	str_add(out, "\n#\n");
}

static void add_numbers(struct report *report, const struct hist *hist, const struct entry *entry,
			struct output *output)
{
	const char *separator = report->options.separator;
	bool first = true;

	str_pad(&output->text, ' ', entry->depth * INDENT);
	for (size_t i = 0; i < report->n_columns; i++) {
		if (report->columns[i].kind != COLUMN_NUMBER)
			continue;
		str_add(&output->text, !separator ? "  " : first ? "" : separator);
		fmt_add_cell(report, hist, entry, &report->columns[i], false, output);
		first = false;
	}
	add_indent(report, ' ', &output->text);
}

/* Numbers among keys are aligned to the left here, as texts are. */
static void add_keys(struct report *report, const struct hist *hist, const struct entry *entry,
		     struct output *output)
{
	struct str *out = &output->text;

	for (size_t i = 0; i < report->n_columns; i++) {
		const struct column *column = &report->columns[i];
		size_t start, blanks;

		if (column->kind != COLUMN_KEY || column->level != entry->depth)
			continue;
		str_add(out, fmt_between(report));
		start = out->len;
		fmt_add_cell(report, hist, entry, column, true, output);
		blanks = strspn(out->s + start, " ");
		memmove(out->s + start, out->s + start + blanks, out->len - start - blanks + 1);
		out->len -= blanks;
		if (column->key->flags & (KEY_LONG | KEY_FUNCTION))
			fmt_fit_text(report, output, start, column->key->flags & KEY_FUNCTION);
	}
	str_addc(out, '\n');
}

static bool has_shown_child(struct report *report, const struct hist *hist,
			    const struct entry *entry)
{
	for (size_t i = 0; i < entry->n_children; i++)
		if (entry_is_shown(report, hist, entry->children[i]))
			return true;
	return false;
}

/* What perf says where the limit leaves nothing below an entry. */
static void add_none(struct report *report, const struct hist *hist, const struct entry *entry,
		     struct str *out)
{
	unsigned width = 0;

	for (size_t i = 0; i < report->n_columns; i++)
		if (report->columns[i].kind == COLUMN_NUMBER)
			width += fmt_width(report, hist, &report->columns[i]) + (width ? 2 : 0);
	if (!report->options.separator)
		str_pad(out, ' ', (n_levels(report) + entry->depth) * INDENT);
	str_pad(out, ' ', width + 4);
	str_addf(out, "no entry >= %.2f%%\n", report->options.percent_limit);
}

static void add_entry(struct report *report, const struct hist *hist, const struct entry *entry,
		      struct output *output)
{
	if (!entry_is_shown(report, hist, entry) || output_step(output))
		return;
	add_numbers(report, hist, entry, output);
	add_keys(report, hist, entry, output);
	if (!entry->n_children) {
		if (entry->tree)
			calltree_print(report, hist, entry, 0, output);
		return;
	}
	if (!has_shown_child(report, hist, entry)) {
		add_none(report, hist, entry, &output->text);
		return;
	}
	for (size_t i = 0; i < entry->n_children; i++)
		add_entry(report, hist, entry->children[i], output);
}

void hierarchy_add_entries(struct report *report, const struct hist *hist, struct output *output)
{
	for (size_t i = 0; i < hist->n; i++)
		add_entry(report, hist, hist->entries[i], output);
}
