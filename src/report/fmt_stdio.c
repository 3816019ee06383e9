/*
 * fmt_stdio.c: the report as perf's --stdio prints it: per event the heads, a line per entry and, where
 * there are chains, its call tree. Everything but the last tip line is the same byte for byte; the
 * differences that stay are listed in pstat-report(1). On a terminal lines are made to fit it (fmt_fit.c).
 */
#include "report/calltree.h"
#include "report/fmt_report.h"

static void add_entry(struct report *report, const struct hist *hist, const struct entry *entry,
		      struct output *output)
{
	const char *separator = report->options.separator;

	for (size_t i = 0; i < report->n_columns; i++) {
		str_add(&output->text, !separator ? "  " : i ? separator : "");
		fmt_add_cell(report, hist, entry, &report->columns[i], i + 1 == report->n_columns,
			     output);
	}
	str_addc(&output->text, '\n');
	if (entry->tree)
		calltree_print(report, hist, entry, 0, output);
}

static void add_entries(struct report *report, const struct hist *hist, struct output *output)
{
	for (size_t i = 0; i < hist->n; i++) {
		if (!entry_is_shown(report, hist, hist->entries[i]))
			continue;
		add_entry(report, hist, hist->entries[i], output);
		if (output_step(output))
			return;
	}
}

static int stdio_print(struct report *report, struct output *output)
{
	head_add_start(report, output);
	for (size_t i = 0; i < report->n_hists; i++) {
		const struct hist *hist = &report->hists[i];

		if (head_is_empty(hist) && !report->options.empty_shown)
			continue;
		report_columns_for(report, hist);
		fmt_fit_columns(report, hist, output);
		head_add(report, hist, output);
		if (report->options.view == VIEW_HIERARCHY)
			hierarchy_add_entries(report, hist, output);
		else
			add_entries(report, hist, output);
		str_add(&output->text, "\n\n");
		if (output_step(output))
			break;
	}
	if (report->options.threads_counted && report->thread_counts.n)
		thread_counts_print(&report->thread_counts, &report->session.reader->events, &output->text);
	return output->failed;
}

const struct report_format format_stdio = {
	.name = "stdio",
	.help = "the table with call trees, as perf prints it",
	.print = stdio_print,
};
