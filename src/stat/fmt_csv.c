/* SPDX-License-Identifier: MIT */
/*
 * CSV, as `perf stat -x`: the same number of fields on every line of a run, in any locale.
 *
 *   [time] [key [CPUs]] value unit event [cgroup] [variance] run-time % metric-value metric-unit [pass marks]
 *
 * A field that holds the separator or a quote is quoted as RFC 4180 has it, so that names such as
 * cpu/event=1,umask=2/ don't break a line. Padding is for the eye and needs no quotes: where the separator
 * is made of blanks itself, there is none. A second metric of an event has a line of its own, on
 * which the fields between key and metric are empty; so has the error of a scaled value.
 */
#include "stat/formats.h"

struct csv_line {
	struct str *out;
	const struct stat_style *style;
	const struct stat_report *report;
	bool started; /* a field is there: the next one needs a separator before it */
	struct str field; /* the field that is being made */
};

static const char *separator_of(const struct csv_line *line)
{
	return line->style->separator ? line->style->separator : ",";
}

/* Is the separator in the field, or across its end, as "a:" before "::"? */
static bool holds_separator(struct csv_line *line, const char *sep)
{
	size_t len = line->field.len;
	bool holds;

	str_add(&line->field, sep);
	holds = strstr(line->field.s, sep) < line->field.s + len;
	line->field.len = len;
	line->field.s[len] = '\0';
	return holds;
}

static void end_field(struct csv_line *line)
{
	const char *sep = separator_of(line);
	bool quote = strchr(line->field.s, '"') || holds_separator(line, sep);

	if (line->started)
		str_add(line->out, sep);
	line->started = true;
	if (quote)
		str_addc(line->out, '"');
	for (const char *p = line->field.s; *p; p++) {
		if (quote && *p == '"')
			str_addc(line->out, '"');
		str_addc(line->out, *p);
	}
	if (quote)
		str_addc(line->out, '"');
	str_reset(&line->field);
}

/* Blanks before a field, as perf has them; none where a reader would take them for separators. */
static size_t padded_cols(const struct csv_line *line, size_t cols)
{
	const char *sep = separator_of(line);

	return sep[strspn(sep, " ")] ? cols : 0;
}

static void name_field(struct csv_line *line, const char *name)
{
	fmt_name(&line->field, name);
	end_field(line);
}

static void u64_field(struct csv_line *line, uint64_t value)
{
	str_addf(&line->field, "%llu", (unsigned long long)value);
	end_field(line);
}

static void empty_fields(struct csv_line *line, unsigned n)
{
	while (n--)
		end_field(line);
}

static void end_line(struct csv_line *line)
{
	str_addc(line->out, '\n');
	line->started = false;
}

static bool has_tag(const struct csv_line *line)
{
	return line->report->kind == REPORT_SUMMARY && line->style->csv_summary_tag;
}

static void where_fields(struct csv_line *line, const struct stat_row *row, unsigned n_folded)
{
	const struct key_look *look = fmt_key(row->aggr);

	if (line->report->kind == REPORT_INTERVAL) {
		fmt_time(&line->field, line->report->time_ns, (int)padded_cols(line, 6));
		end_field(line);
	} else if (has_tag(line)) {
		fmt_right(&line->field, "summary", padded_cols(line, 16));
		end_field(line);
	}
	if (look->json_key)
		name_field(line, row->key);
	if (look->folded)
		u64_field(line, n_folded);
}

static void value_fields(struct csv_line *line, const struct stat_row *row)
{
	fmt_value(&line->field, row);
	end_field(line);
	name_field(line, row->unit);
	name_field(line, row->name);
	if (line->style->has_cgroups)
		name_field(line, row->cgroup);
	if (line->style->runs > 1) {
		fmt_fixed(&line->field, row->has_stdev ? row->stdev_pct : 0.0, 2);
		str_addc(&line->field, '%');
		end_field(line);
	}
	u64_field(line, row->running_ns);
	if (!row->unverified)
		fmt_fixed(&line->field, row->running_pct, 2);
	end_field(line);
}

static void metric_fields(struct csv_line *line, const struct stat_metric *m)
{
	bool pct;

	fmt_fixed(&line->field, m->value, m->decimals);
	end_field(line);
	name_field(line, fmt_metric_unit(m, &pct));
}

/* Marks of a metric with --passes: words with a blank between them. */
static void marks_field(struct csv_line *line, bool mixed)
{
	bool differ = line->report->passes_differ;

	str_addf(&line->field, "%s%s%s", mixed ? "mixed" : "", mixed && differ ? " " : "",
		 differ ? "differ" : "");
	end_field(line);
}

static void pass_fields(struct csv_line *line, const struct stat_row *row, const struct stat_metric *m)
{
	if (!line->report->n_passes)
		return;
	u64_field(line, row->pass);
	marks_field(line, m && m->mixed);
}

/* The beginning of a line that belongs to the row before: a metric follows. */
static void begin_further_line(struct csv_line *line, const struct stat_row *row)
{
	where_fields(line, row, row->n_folded);
	empty_fields(line, 5u + line->style->has_cgroups + (line->style->runs > 1));
}

static void add_scale_error(struct csv_line *line, const struct stat_row *row)
{
	begin_further_line(line, row);
	if (row->has_scale_error)
		fmt_fixed(&line->field, row->scale_error_pct, 4);
	end_field(line);
	if (row->has_scale_error)
		str_add(&line->field, "% scale error");
	else
		str_addf(&line->field, "scale error unknown: %s", row->scale_error_reason);
	end_field(line);
	pass_fields(line, row, NULL);
	end_line(line);
}

/* A line of its own with the reason why the value is less than the truth, missing or not verified. */
static void add_shortfall(struct csv_line *line, const struct stat_row *row)
{
	begin_further_line(line, row);
	end_field(line);
	str_addf(&line->field, "%s: ", row->unverified ? "not verified" : row->partial ? "at least" : "not counted");
	fmt_name(&line->field, row->reason);
	end_field(line);
	pass_fields(line, row, NULL);
	end_line(line);
}

static void add_row(struct csv_line *line, const struct stat_row *row)
{
	size_t first = fmt_row_metric(row);

	where_fields(line, row, row->n_folded);
	value_fields(line, row);
	if (first < row->n_metrics)
		metric_fields(line, &row->metrics[first]);
	else
		empty_fields(line, 2);
	pass_fields(line, row, first < row->n_metrics ? &row->metrics[first] : NULL);
	end_line(line);
	for (size_t i = first + 1; i < row->n_metrics; i++) {
		if (!fmt_metric_ok(&row->metrics[i]))
			continue;
		begin_further_line(line, row);
		metric_fields(line, &row->metrics[i]);
		pass_fields(line, row, &row->metrics[i]);
		end_line(line);
	}
	if (row->has_scale_error || row->scale_error_reason)
		add_scale_error(line, row);
	if (row->partial || row->unverified || row->removed)
		add_shortfall(line, row);
}

static void add_grid_header(struct csv_line *line, const struct grid *g)
{
	const struct key_look *look = fmt_key(line->style->aggr);

	if (line->style->interval)
		name_field(line, padded_cols(line, 1) ? " time" : "time");
	if (look->json_key)
		name_field(line, look->csv_title);
	if (look->folded)
		name_field(line, "cpus");
	if (line->style->has_cgroups)
		name_field(line, "cgroup");
	for (size_t c = 0; c < g->n_columns; c++)
		name_field(line, g->columns[c].title);
	if (line->report->n_passes)
		name_field(line, "marks");
	end_field(line); /* perf's lines end with a separator here */
	end_line(line);
}

static void add_grid(struct csv_line *line)
{
	struct grid g;

	grid_init(&g, line->report);
	if (fmt_header_due(line->style, line->report))
		add_grid_header(line, &g);
	for (size_t i = 0; i < g.n_lines; i++) {
		bool mixed = false;

		where_fields(line, g.lines[i].row, g.lines[i].n_folded);
		if (line->style->has_cgroups)
			name_field(line, g.lines[i].row->cgroup);
		for (size_t c = 0; c < g.n_columns; c++) {
			const struct stat_metric *m = grid_cell(&g.lines[i], c);

			if (m)
				grid_add_number(&line->field, m);
			mixed |= m && m->mixed;
			end_field(line);
		}
		if (line->report->n_passes)
			marks_field(line, mixed);
		end_field(line);
		end_line(line);
	}
	grid_release(&g);
}

static void csv_begin(struct str *out, const struct stat_style *style)
{
	if (style->started_on)
		str_addf(out, "# started on %s\n\n", style->started_on);
}

static void csv_report(struct str *out, const struct stat_style *style,
		       const struct stat_report *report)
{
	struct csv_line line = {
		.out = out, .style = style, .report = report, .field = STR_INIT
	};

	if (style->metric_only && !style->null_run)
		add_grid(&line);
	else
		for (size_t i = 0; i < report->n_rows; i++)
			add_row(&line, &report->rows[i]);
	str_release(&line.field);
}

const struct stat_format stat_format_csv = {
	.dated = true,
	.begin = csv_begin,
	.report = csv_report,
};
