/* SPDX-License-Identifier: MIT */
/*
 * A line for each row of each command: its numbers and, where there is a reference, its change. Numbers in seconds,
 * bytes and counts, changes as shares; a field that has nothing is empty.
 */
#include "compare/compare_formats.h"

#include <math.h>

static void add_text(struct str *out, const char *text)
{
	str_addc(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			str_addc(out, '"');
		str_addc(out, *text);
	}
	str_addc(out, '"');
}

static void add_number(struct str *out, double value)
{
	str_addc(out, ',');
	if (isfinite(value))
		str_addf(out, "%.17g", value);
}

static void print(struct str *out, const struct compare_data *data, const struct compare_result *result,
		  const struct compare_question *question)
{
	(void)question;
	str_add(out, "command,row,unit,n,mean,stddev,median,min,max,outliers,change,low,high,p,verdict\n");
	for (size_t i = 0; i < data->n_commands * data->n_columns; i++) {
		const struct compare_column *column = &data->columns[i % data->n_columns];
		const struct compare_row *row = &result->rows[i];

		if (!row->n)
			continue;
		add_text(out, data->commands[i / data->n_columns].name);
		str_addc(out, ',');
		add_text(out, column->name);
		str_addf(out, ",%s%s,%zu", column->unit, row->absolute ? "(difference)" : "", row->n);
		add_number(out, row->mean);
		add_number(out, row->deviation);
		add_number(out, row->median);
		add_number(out, row->min);
		add_number(out, row->max);
		str_addf(out, ",%zu", row->n_outliers);
		add_number(out, row->compared ? row->change : NAN);
		add_number(out, row->compared ? row->low : NAN);
		add_number(out, row->compared ? row->high : NAN);
		add_number(out, row->compared ? row->p : NAN);
		str_addf(out, ",%s\n", compare_verdict_words[row->verdict]);
	}
}

const struct compare_format compare_format_csv = { print };
