/*
 * fmt_stdio.c: the report as perf's --stdio prints it: per event the heads, a line per entry and, where
 * there are chains, its call tree. Everything but the last tip line is the same byte for byte; the
 * differences that stay are listed in pstat-report(1). On a terminal lines are made to fit it (fmt_fit.c).
 */
#include "hist/hist.h"
#include "fmt/fmt_internal.h"

static void add_entry(struct table *table, const struct hist *hist, const struct entry *entry,
		      struct output *output)
{
	const char *separator = table->options.separator;

	for (size_t i = 0; i < table->n_columns; i++) {
		str_add(&output->text, !separator ? "  " : i ? separator : "");
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

static int stdio_print(struct table *table, struct output *output)
{
	head_add_start(table, output);
	for (size_t i = 0; i < table->n_hists; i++) {
		const struct hist *hist = &table->hists[i];

		if (head_is_empty(hist) && !table->options.empty_shown)
			continue;
		table_columns_for(table, hist);
		fmt_fit_columns(table, hist, output);
		head_add(table, hist, output);
		if (table->options.view == VIEW_HIERARCHY)
			hierarchy_add_entries(table, hist, output);
		else
			add_entries(table, hist, output);
		str_add(&output->text, "\n\n");
		if (output_step(output))
			break;
	}
	if (table->options.threads_counted && table->profile->thread_counts.n)
		thread_counts_print(&table->profile->thread_counts, table->session->recording->events, &output->text);
	return output->failed;
}

const struct report_format format_stdio = {
	.name = "stdio",
	.help = "the table with call trees, as perf prints it",
	.needs = NEED_ENTRIES | NEED_TREES | NEED_HEAD,
	.print = stdio_print,
};
