/* SPDX-License-Identifier: MIT */
/*
 * A table for a pull request: a line for each command and row.
 */
#include "compare/compare_formats.h"

#include <math.h>

static void add_code(struct str *out, const char *text)
{
	str_addc(out, '`');
	for (; *text; text++)
		str_add(out, *text == '|' ? "\\|" : (char[]){ *text, '\0' });
	str_addc(out, '`');
}

static void print(struct str *out, const struct compare_data *data, const struct compare_result *result,
		  const struct compare_question *question)
{
	(void)question;
	str_add(out, "| Command | Row | Mean | Deviation | Change | Interval | Verdict |\n"
		     "|:---|:---|---:|---:|---:|---:|:---|\n");
	for (size_t i = 0; i < data->n_commands * data->n_columns; i++) {
		const struct compare_column *column = &data->columns[i % data->n_columns];
		const struct compare_row *row = &result->rows[i];

		if (!row->n)
			continue;
		str_add(out, "| ");
		add_code(out, data->commands[i / data->n_columns].name);
		str_addf(out, " | %s | ", column->name);
		compare_add_number(out, row->mean, column);
		str_addf(out, " | %.1f %% | ", row->mean != 0 ? 100 * row->deviation / fabs(row->mean) : 0.0);
		if (row->compared)
			compare_add_change(out, row->change, row->absolute, column);
		str_add(out, " | ");
		if (row->compared && isfinite(row->low)) {
			compare_add_change(out, row->low, row->absolute, column);
			str_add(out, " ... ");
			compare_add_change(out, row->high, row->absolute, column);
		}
		str_addf(out, " | %s |\n", compare_verdict_words[row->verdict]);
	}
	for (size_t i = 0; i < data->n_sessions; i++) {
		str_addc(out, '\n');
		compare_add_session(out, data, i);
	}
}

const struct compare_format compare_format_markdown = { print };
