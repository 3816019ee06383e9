/* SPDX-License-Identifier: MIT */
/*
 * JSON, as `perf stat -j`: one object per line, and nothing else: no comment, no header. Every line
 * is valid JSON in every locale, whatever bytes a name holds.
 *
 * perf's keys come first and in its order; what pstat adds stands after them: "pass", "reason", "scaled",
 * "scale-error-pct", "partial", "mixed". Every object has "event" but those of --metric-only, whose keys are the
 * metrics' names; that of an event's second metric has no "counter-value". The last rows of a report, but for
 * intervals, are pstat's own: the times that text has below its rows, by the names that these have as events; none
 * with --metric-only.
 */
#include "stat/formats.h"

#include <math.h>

/* Above this a double no longer holds every integer. */
#define DOUBLE_EXACT (UINT64_C(1) << 53)

struct json_line {
	struct str *out;
	const struct stat_style *style;
	const struct stat_report *report;
	bool started; /* a key is there: the next one needs a comma before it */
};

static void start_line(struct json_line *line)
{
	str_addc(line->out, '{');
	line->started = false;
}

static void end_line(struct json_line *line)
{
	str_add(line->out, "}\n");
}

static void add_key(struct json_line *line, const char *key)
{
	if (line->started)
		str_add(line->out, ", ");
	line->started = true;
	str_add_json(line->out, key);
	str_add(line->out, " : ");
}

static void add_text(struct json_line *line, const char *key, const char *text)
{
	add_key(line, key);
	str_add_json(line->out, text ? text : "");
}

static void add_number(struct json_line *line, const char *key, double value, int decimals)
{
	add_key(line, key);
	if (isfinite(value))
		fmt_fixed(line->out, value, decimals);
	else
		str_add(line->out, "null"); /* it is not known, or infinite, for which JSON has no word */
}

static void add_u64(struct json_line *line, const char *key, uint64_t value)
{
	add_key(line, key);
	str_addf(line->out, "%llu", (unsigned long long)value);
}

/* A flag is only there where it is true: absent means false. */
static void add_flag(struct json_line *line, const char *key, bool on)
{
	if (!on)
		return;
	add_key(line, key);
	str_add(line->out, "true");
}

static void add_where(struct json_line *line, const struct stat_row *row, unsigned n_folded)
{
	const struct key_look *look = fmt_key(row->aggr);
	const char *key = row->key ? row->key : "";

	if (line->report->kind == REPORT_INTERVAL) {
		add_key(line, "interval");
		fmt_time(line->out, line->report->time_ns, 1);
	}
	if (look->json_key) {
		if (row->aggr == AGGR_CPU && !strncmp(key, "CPU", 3))
			key += 3; /* perf has the bare number here */
		add_text(line, look->json_key, key);
	}
	if (look->folded)
		add_u64(line, "aggregate-number", n_folded);
}

static void add_value(struct json_line *line, const struct stat_row *row)
{
	add_key(line, "counter-value");
	str_addc(line->out, '"');
	if (row->state != COUNT_OK)
		fmt_value(line->out, row);
	else if (row->integral && row->count >= DOUBLE_EXACT)
		str_addf(line->out, "%llu.000000", (unsigned long long)row->count);
	else
		fmt_fixed(line->out, row->value, 6);
	str_addc(line->out, '"');
}

static void add_metric(struct json_line *line, const struct stat_metric *m)
{
	bool pct;

	add_number(line, "metric-value", m ? m->value : 0.0, 6);
	add_text(line, "metric-unit", m ? fmt_metric_unit(m, &pct) : "");
}

/* Adds all that a row has, with this metric of its; the object stays open. */
static void begin_row(struct json_line *line, const struct stat_row *row, const struct stat_metric *m)
{
	start_line(line);
	add_where(line, row, row->n_folded);
	add_value(line, row);
	add_text(line, "unit", row->unit);
	add_text(line, "event", row->name);
	if (line->style->has_cgroups)
		add_text(line, "cgroup", row->cgroup);
	if (line->style->runs > 1)
		add_number(line, "variance", row->has_stdev ? row->stdev_pct : 0.0, 2);
	add_u64(line, "event-runtime", row->running_ns);
	add_number(line, "pcnt-running", row->unverified ? NAN : row->running_pct, 2);
	add_metric(line, m);
	if (row->pass)
		add_u64(line, "pass", row->pass);
	if (row->reason)
		add_text(line, "reason", row->reason);
	add_flag(line, "scaled", row->scaled);
	if (row->has_scale_error)
		add_number(line, "scale-error-pct", row->scale_error_pct, 4);
	else if (row->scale_error_reason)
		add_text(line, "scale-error-reason", row->scale_error_reason);
	add_flag(line, "partial", row->partial);
	add_flag(line, "unverified", row->unverified);
	add_flag(line, "mixed", m && m->mixed);
}

static void add_row(struct json_line *line, const struct stat_row *row)
{
	size_t first = fmt_row_metric(row);

	begin_row(line, row, first < row->n_metrics ? &row->metrics[first] : NULL);
	end_line(line);
	for (size_t i = first + 1; i < row->n_metrics; i++) {
		if (!fmt_metric_ok(&row->metrics[i]))
			continue;
		start_line(line);
		add_where(line, row, row->n_folded);
		add_text(line, "event", row->name);
		add_metric(line, &row->metrics[i]);
		add_flag(line, "mixed", row->metrics[i].mixed);
		end_line(line);
	}
}

static void add_grid_line(struct json_line *line, const struct grid *g, const struct grid_line *at)
{
	bool mixed = false;

	start_line(line);
	add_where(line, at->row, at->n_folded);
	if (line->style->has_cgroups)
		add_text(line, "cgroup", at->row->cgroup);
	for (size_t c = 0; c < g->n_columns; c++) {
		const struct stat_metric *m = grid_cell(at, c);

		add_key(line, g->columns[c].title);
		if (!m) {
			str_add(line->out, "null");
			continue;
		}
		str_addc(line->out, '"');
		grid_add_number(line->out, m);
		str_addc(line->out, '"');
		mixed |= m->mixed;
	}
	add_flag(line, "mixed", mixed);
	end_line(line);
}

static void json_begin(struct str *out, const struct stat_style *style)
{
	(void)out; /* the date of -o would be a line that is not JSON */
	(void)style;
}

static bool is_counted(const struct stat_report *report, const char *name)
{
	for (size_t i = 0; i < report->n_rows; i++)
		if (!strcmp(report->rows[i].name, name))
			return true;
	return false;
}

/* A row as of an event of that name; of several runs, their mean. A row that is there already is not repeated. */
static void add_time(struct json_line *line, const char *name, const struct series *seconds)
{
	const struct stat_row row = {
		.key = NULL, .name = name, .unit = "ns", .state = COUNT_OK, .value = seconds->mean * 1e9,
		.running_ns = (uint64_t)(line->report->times->elapsed.mean * 1e9 + 0.5), .running_pct = 100.0,
		.has_stdev = true, .stdev_pct = series_rel_stdev_pct(seconds),
	};

	if (seconds->n <= 1 && is_counted(line->report, name))
		return;
	begin_row(line, &row, NULL);
	if (seconds->n > 1)
		add_u64(line, "runs", seconds->n);
	add_flag(line, "passes-differ", line->report->passes_differ);
	end_line(line);
}

static void add_times(struct json_line *line)
{
	const struct stat_times *times = line->report->times;

	if (!times || line->report->kind == REPORT_INTERVAL)
		return;
	add_time(line, "duration_time", &times->elapsed);
	if (!times->has_usage)
		return;
	add_time(line, "user_time", &times->user);
	add_time(line, "system_time", &times->sys);
}

static void json_report(struct str *out, const struct stat_style *style,
			const struct stat_report *report)
{
	struct json_line line = { .out = out, .style = style, .report = report };
	struct grid g;

	if (!style->metric_only || style->null_run) {
		for (size_t i = 0; i < report->n_rows; i++)
			add_row(&line, &report->rows[i]);
	} else {
		grid_init(&g, report);
		for (size_t i = 0; i < g.n_lines; i++)
			add_grid_line(&line, &g, &g.lines[i]);
		grid_release(&g);
	}
	if (!style->metric_only)
		add_times(&line);
}

const struct stat_format stat_format_json = {
	.begin = json_begin,
	.report = json_report,
};
