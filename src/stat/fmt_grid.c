/* SPDX-License-Identifier: MIT */
/*
 * grid: the rows of a report turned for --metric-only: lines are keys (and cgroups), columns are
 * metrics. Invariants: column titles are distinct, and the columns don't depend on which numbers
 * happen to be there, so that a header holds for all intervals.
 *
 * As in perf, rates per second and "CPUs utilized" have no column of their own, unless there is
 * nothing else to show.
 */
#include "stat/formats.h"

#include <stdlib.h>

/* Rates change their prefix with their size; a column must not. */
static const struct {
	const char *unit;
	double factor;
} rate_units[] = {
	{ "/sec", 1.0 },
	{ "K/sec", 1e3 },
	{ "M/sec", 1e6 },
	{ "G/sec", 1e9 },
};

/* The factor of a rate's number by its unit; 0 where the metric is no rate. */
static double rate_factor(const struct stat_metric *m)
{
	for (size_t i = 0; m->unit && i < ARRAY_SIZE(rate_units); i++)
		if (!strcmp(m->unit, rate_units[i].unit))
			return rate_units[i].factor;
	return 0.0;
}

static bool stands_back(const struct stat_metric *m)
{
	return rate_factor(m) != 0.0 || (m->unit && !strcmp(m->unit, "CPUs utilized"));
}

/* Is there a metric that need not stand back? */
static bool has_own_metric(const struct stat_report *report)
{
	for (size_t i = 0; i < report->n_rows; i++)
		for (size_t k = 0; k < report->rows[i].n_metrics; k++)
			if (!stands_back(&report->rows[i].metrics[k]))
				return true;
	return false;
}

static bool same_text(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

static bool same_line(const struct stat_row *a, const struct stat_row *b)
{
	return same_text(a->key, b->key) && same_text(a->cgroup, b->cgroup);
}

/* Rows cycle over keys or stay at one: look where the last one was found, then after it. */
static size_t find_line(struct grid *g, const struct stat_row *row, size_t hint)
{
	for (size_t i = 0; i < g->n_lines; i++) {
		size_t at = (hint + i) % g->n_lines;

		if (same_line(g->lines[at].row, row))
			return at;
	}
	VEC_GROW(g->lines, g->n_lines, g->cap_lines);
	g->lines[g->n_lines] = (struct grid_line){ .row = row };
	return g->n_lines++;
}

static bool title_taken(const struct grid *g, const char *title)
{
	for (size_t i = 0; i < g->n_columns; i++)
		if (!strcmp(g->columns[i].title, title))
			return true;
	return false;
}

/* The unit says it where it can; shares "of all" and rates need their event's name too. */
static char *make_title(const struct grid *g, const struct stat_row *row,
			const struct stat_metric *m)
{
	bool pct;
	const char *unit = fmt_metric_unit(m, &pct);
	struct str plain = STR_INIT, full = STR_INIT;
	size_t base;

	if (rate_factor(m) != 0.0)
		unit = "/sec";
	fmt_name(&plain, *unit ? unit : m->name);
	fmt_name(&full, row->name);
	str_addf(&full, " %s", plain.s);
	if (!strncmp(unit, "of all ", 7) || *unit == '/' || title_taken(g, plain.s)) {
		base = full.len;
		for (unsigned n = 2; title_taken(g, full.s); n++) {
			full.s[full.len = base] = '\0';
			str_addf(&full, " #%u", n);
		}
		str_release(&plain);
		return str_detach(&full);
	}
	str_release(&full);
	return str_detach(&plain);
}

/* The event's column that has no cell in this line yet, from where the last cell went. */
static size_t find_column(const struct grid *g, const struct grid_line *line,
			  const struct stat_row *row, const struct stat_metric *m)
{
	for (size_t i = 0; i < g->n_columns; i++) {
		size_t c = (line->next + i) % g->n_columns;

		if ((c >= line->n_cells || !line->cells[c]) &&
		    same_text(g->columns[c].row->name, row->name) &&
		    same_text(g->columns[c].metric->name, m->name))
			return c;
	}
	return g->n_columns;
}

static void add_cell(struct grid *g, struct grid_line *line, const struct stat_row *row,
		     const struct stat_metric *m)
{
	size_t column = find_column(g, line, row, m);

	if (column == g->n_columns) {
		char *title = make_title(g, row, m);

		VEC_GROW(g->columns, g->n_columns, g->cap_columns);
		g->columns[g->n_columns++] = (struct grid_column){ row, m, title };
	}
	while (line->n_cells <= column) {
		VEC_GROW(line->cells, line->n_cells, line->cap_cells);
		line->cells[line->n_cells++] = NULL;
	}
	line->cells[column] = m;
	line->next = column + 1;
}

void grid_init(struct grid *g, const struct stat_report *report)
{
	bool all = !has_own_metric(report);
	size_t at = 0;

	*g = (struct grid){ 0 };
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct stat_row *row = &report->rows[i];

		at = find_line(g, row, at);
		if (row->n_folded > g->lines[at].n_folded)
			g->lines[at].n_folded = row->n_folded;
		for (size_t k = 0; k < row->n_metrics; k++)
			if (all || !stands_back(&row->metrics[k]))
				add_cell(g, &g->lines[at], row, &row->metrics[k]);
		at++;
	}
}

void grid_release(struct grid *g)
{
	for (size_t i = 0; i < g->n_columns; i++)
		free(g->columns[i].title);
	for (size_t i = 0; i < g->n_lines; i++)
		free(g->lines[i].cells);
	free(g->columns);
	free(g->lines);
	*g = (struct grid){ 0 };
}

const struct stat_metric *grid_cell(const struct grid_line *line, size_t column)
{
	const struct stat_metric *m = column < line->n_cells ? line->cells[column] : NULL;

	return m && fmt_metric_ok(m) ? m : NULL;
}

void grid_add_number(struct str *out, const struct stat_metric *m)
{
	double factor = rate_factor(m);

	fmt_fixed(out, factor != 0.0 ? m->value * factor : m->value, m->decimals);
}
