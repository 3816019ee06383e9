/* SPDX-License-Identifier: MIT */
/*
 * fmt_stdio.c: the report as perf's --stdio prints it: comment lines about the recording and about each event, the
 * heads of the columns, a line per entry and, where there are chains, its call tree. Everything but the last tip
 * line is the same byte for byte; the differences that stay are listed in pstat-report(1). On a terminal lines are
 * made to fit it (fmt_cell.c).
 *
 * With --hierarchy each sort key is a level, and an entry's line has its numbers and the keys of its own level. A
 * deeper level is further to the right, by INDENT for the numbers; keys all start in one column after the deepest
 * numbers.
 */
#include "fmt/fmt_internal.h"

enum { INDENT = 3 };

/* ---- the heads of --hierarchy ---- */

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

	if (!table->question->query.separator && n > 1)
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

/* ---- titles above columns of answers ---- */

static bool has_titles(const struct table *table)
{
	for (size_t i = 0; i < table->n_columns; i++)
		if (table->columns[i].title)
			return true;
	return false;
}

/* "------ Mem Op -------" above all answers of a title; a title of one answer is its head, and has no dashes. */
static void add_title(const char *title, size_t width, bool alone, struct str *out)
{
	const size_t len = strlen(title), dashes = width > len + 2 ? width - len - 2 : 0;

	if (alone) {
		str_addf(out, "%*s", (int)width, title);
		return;
	}
	str_pad(out, '-', dashes / 2);
	str_addf(out, " %s ", title);
	str_pad(out, '-', dashes - dashes / 2);
}

/* The line above the heads of columns; keys: also blanks above the keys. */
static void add_titles(const struct table *table, const struct hist *hist, bool keys, struct output *output)
{
	const size_t start = output->text.len;

	str_add(&output->text, "# ");
	if (!keys)
		add_indent(table, ' ', &output->text);
	for (size_t i = 0, n; i < table->n_columns; i += n) {
		const struct column *column = &table->columns[i];
		size_t width = 0;

		n = 0;
		do
			width += fmt_width(table, hist, &column[n++]);
		while (i + n < table->n_columns && column->title && column[n].title == column->title);
		if (column->kind == COLUMN_KEY && !keys)
			continue;
		str_add(&output->text, keys && i ? fmt_between(table) : "");
		if (column->title)
			add_title(column->title->header, width, n == 1, &output->text);
		else
			str_pad(&output->text, ' ', width);
		str_add(&output->text, keys ? "" : fmt_between(table));
	}
	fmt_fit_line(table, output, start);
	str_addc(&output->text, '\n');
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

static void add_level_heads(struct table *table, const struct hist *hist, struct output *output)
{
	const char *separator = table->question->query.separator;
	struct str *out = &output->text;
	bool first = true;
	size_t width, start;

	if (has_titles(table))
		add_titles(table, hist, false, output);
	str_add(out, "# ");
	add_indent(table, ' ', out);
	for (size_t i = 0; i < table->n_columns; i++) {
		if (table->columns[i].kind != COLUMN_NUMBER)
			continue;
		str_add(out, first ? "" : fmt_before(table, i));
		fmt_add_head(table, hist, &table->columns[i], out);
		first = false;
	}
	str_add(out, first ? "" : fmt_between(table));
	first = true;
	width = add_key_heads(table, out);
	str_addc(out, '\n');
	start = out->len;
	str_add(out, "# ");
	add_indent(table, '.', out);
	for (size_t i = 0; i < table->n_columns; i++) {
		if (table->columns[i].kind != COLUMN_NUMBER)
			continue;
		str_add(out, first || !*fmt_before(table, i) ? "" : separator ? separator : "..");
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

/* ---- comment lines ---- */

/* perf's sentence, or one that fits a terminal where that does not. */
static void add_header_hint(const struct table *table, struct output *output)
{
	static const char hint[] = "# To display the perf.data header info, please use "
				   "--header/--header-only options.";
	bool long_one = !fmt_fits(table, output) || output->columns >= sizeof(hint) - 1;

	str_add(&output->text, long_one ? hint : "# --header shows the header of the recording.");
	str_add(&output->text, "\n#\n");
}

/* Everything before the first event: "# Total Lost Samples: 0". */
void stdio_add_start(struct table *table, struct output *output)
{
	struct str *out = &output->text;

	if (table->question->query.quiet)
		return;
	if (!table->question->query.header_shown)
		add_header_hint(table, output);
	str_add(out, table->question->elided.s);
	str_addf(out, "#\n# Total Lost Samples: %llu\n#\n",
		 (unsigned long long)table->session->replay.counts.lost_samples);
}

void stdio_add_event_head(struct table *table, const struct hist *hist, struct str *out)
{
	const struct entry_stats totals = head_totals(hist, table->question->query.percentage_relative);

	if (table->question->query.quiet)
		return;

	str_add(out, "# ");
	head_add_samples(table, hist, out);
	if (table_chain_hist(table, hist) != hist)
		str_add(out, ", show reference callgraph");
	if (table->question->query.mem_mode) {
		str_addf(out, "\n# Total weight : %llu\n", (unsigned long long)totals.period);
		if (table->question->sort_text.len) /* -F alone: in the order of its columns */
			str_addf(out, "# Sort order   : %s\n", table->question->sort_text.s);
	} else {
		str_addf(out, "\n# Event count (approx.): %llu\n", (unsigned long long)totals.period);
	}
	if (table->question->query.filters.sockets && *table->question->query.filters.sockets)
		str_addf(out, "# Processor Socket: %s\n", table->question->query.filters.sockets);
	str_add(out, "#\n");
}

static void add_column_heads(struct table *table, const struct hist *hist, struct output *output)
{
	struct str *out = &output->text;
	size_t start;

	if (has_titles(table))
		add_titles(table, hist, true, output);
	str_add(out, "# ");
	for (size_t i = 0; i < table->n_columns; i++) {
		str_add(out, i ? fmt_before(table, i) : "");
		fmt_add_head(table, hist, &table->columns[i], out);
	}
	str_addc(out, '\n');
	if (table->question->query.separator)
		return;
	start = out->len;
	str_add(out, "# ");
	for (size_t i = 0; i < table->n_columns; i++) {
		str_add(out, i ? fmt_before(table, i) : "");
		str_pad(out, '.', fmt_width(table, hist, &table->columns[i]));
	}
	fmt_fit_line(table, output, start);
	str_add(out, "\n#\n");
}

static void add_head(struct table *table, const struct hist *hist, struct output *output)
{
	if (table->question->query.quiet)
		return;
	stdio_add_event_head(table, hist, &output->text);
	if (table->question->query.view == VIEW_HIERARCHY)
		add_level_heads(table, hist, output);
	else
		add_column_heads(table, hist, output);
}

/* ---- entries ---- */

static void add_entry(struct table *table, const struct hist *hist, const struct entry *entry,
		      struct output *output)
{
	const char *separator = table->question->query.separator;

	for (size_t i = 0; i < table->n_columns; i++) {
		str_add(&output->text, !separator || i ? fmt_before(table, i) : "");
		fmt_add_cell(table, hist, entry, &table->columns[i], i + 1 == table->n_columns,
			     output);
	}
	str_addc(&output->text, '\n');
	calltree_print(table, hist, entry, 0, output);
}

static void add_entries(struct table *table, const struct hist *hist, struct output *output)
{
	for (size_t i = 0; i < hist->n; i++) {
		if (!entry_is_shown(table, hist, hist->entries[i]))
			continue;
		add_entry(table, hist, hist->entries[i], output);
		if (output_step(output))
			return;
	}
}

/* ---- entries of --hierarchy ---- */

static void add_numbers(struct table *table, const struct hist *hist, const struct entry *entry,
			struct output *output)
{
	const char *separator = table->question->query.separator;
	bool first = true;

	str_pad(&output->text, ' ', entry->depth * INDENT);
	for (size_t i = 0; i < table->n_columns; i++) {
		if (table->columns[i].kind != COLUMN_NUMBER)
			continue;
		str_add(&output->text, !separator || !first ? fmt_before(table, i) : "");
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

/* Says as perf does that the limit leaves nothing below an entry. */
static void add_none(struct table *table, const struct hist *hist, const struct entry *entry,
		     struct str *out)
{
	unsigned width = 0;

	for (size_t i = 0; i < table->n_columns; i++)
		if (table->columns[i].kind == COLUMN_NUMBER)
			width += fmt_width(table, hist, &table->columns[i]) + (width ? 2 : 0);
	if (!table->question->query.separator)
		str_pad(out, ' ', (n_levels(table) + entry->depth) * INDENT);
	str_pad(out, ' ', width + 4);
	str_addf(out, "no entry >= %.2f%%\n", table->question->query.percent_limit);
}

static void add_level_entry(struct table *table, const struct hist *hist, const struct entry *entry,
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
		add_level_entry(table, hist, entry->children[i], output);
}

static void add_level_entries(struct table *table, const struct hist *hist, struct output *output)
{
	for (size_t i = 0; i < hist->n; i++)
		add_level_entry(table, hist, hist->entries[i], output);
}

/* ---- the format ---- */

static int stdio_print(struct table *table, struct output *output)
{
	stdio_add_start(table, output);
	for (size_t i = 0; i < table->n_hists; i++) {
		const struct hist *hist = &table->hists[i];

		if (head_is_empty(hist) && !table->question->query.empty_shown)
			continue;
		table_columns_for(table, hist);
		fmt_fit_columns(table, hist, output);
		add_head(table, hist, output);
		if (table->question->query.view == VIEW_HIERARCHY)
			add_level_entries(table, hist, output);
		else
			add_entries(table, hist, output);
		str_add(&output->text, "\n\n");
		if (output_step(output))
			break;
	}
	if (table->question->query.threads_counted && table->profile->thread_counts.n)
		thread_counts_print(&table->profile->thread_counts, table->session->recording->events, &output->text);
	return output->failed;
}

const struct report_format format_stdio = {
	.name = "stdio",
	.needs = NEED_ENTRIES | NEED_TREES | NEED_HEAD,
	.print = stdio_print,
};
