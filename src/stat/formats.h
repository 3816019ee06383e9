/* SPDX-License-Identifier: MIT */
/*
 * formats: what the formats of `pstat stat` share. Private to stat/: only formats.c and fmt_*.c include it.
 *
 * Numbers are written with a decimal point in every locale, names go out printable, and each kind
 * of place has one row that says how it looks in each format. Nothing here keeps state.
 */
#ifndef PSTAT_FORMATS_H
#define PSTAT_FORMATS_H

#include "stat/stat.h"

/* How rows of one aggregation begin. */
struct key_look {
	const char *json_key; /* NULL: rows have no key */
	const char *csv_title; /* of the key's column, in --metric-only headers */
	const char *text_title; /* heading over key and number of CPUs */
	size_t cols; /* width of key, number and the space after them, in text */
	bool folded; /* the number of CPUs follows the key */
};
const struct key_look *fmt_key(enum aggr_mode aggr);

/* "%.*f", always with '.'; -0 is 0; else "nan", "inf" or "-inf". */
void fmt_fixed(struct str *out, double value, int decimals);
/* Interval time as perf has it: "%lu.%09lu", seconds padded to sec_cols. */
void fmt_time(struct str *out, uint64_t time_ns, int sec_cols);
/* Adds s, made printable; NULL is "". */
void fmt_name(struct str *out, const char *s);
/* Columns on a terminal of n bytes of printable UTF-8 text, one per character. */
size_t fmt_cols(const char *s, size_t n);
/* Spaces until what was added to out since `start` is `cols` wide. */
void fmt_pad_from(struct str *out, size_t start, size_t cols);
/* text, right-aligned in cols. */
void fmt_right(struct str *out, const char *text, size_t cols);

/* The value field: digits, not grouped (two decimals where it is no plain count), or the state. */
void fmt_value(struct str *out, const struct stat_row *row);
/* Is there a number to print? */
bool fmt_metric_ok(const struct stat_metric *m);
/* The unit without the "% " of a percentage; never NULL. *pct says whether it was one. */
const char *fmt_metric_unit(const struct stat_metric *m, bool *pct);
/*
 * Index of the metric that stands on the row itself: the first that has a number; n_metrics if none
 * has. Metrics after it that have one go on lines of their own.
 */
size_t fmt_row_metric(const struct stat_row *row);

/* Header lines go before this report. */
bool fmt_header_due(const struct stat_style *style, const struct stat_report *report);

/* ---- fmt_grid.c: --metric-only, a line per key and cgroup, a column per metric ---- */
struct grid_column {
	const struct stat_row *row; /* where it was seen first */
	const struct stat_metric *metric;
	char *title; /* printable, distinct within the grid */
};
struct grid_line {
	const struct stat_row *row; /* the first one of this key and cgroup */
	unsigned n_folded; /* the most that any event of the line has */
	const struct stat_metric **cells; /* by column; NULL: none here */
	size_t n_cells, cap_cells; /* columns beyond n_cells are empty */
	size_t next; /* column where the search for the next cell's begins */
};
struct grid {
	struct grid_column *columns;
	size_t n_columns, cap_columns;
	struct grid_line *lines;
	size_t n_lines, cap_lines;
};
void grid_init(struct grid *g, const struct stat_report *report);
void grid_release(struct grid *g);
/* The metric at a line and column, or NULL where there is no number. */
const struct stat_metric *grid_cell(const struct grid_line *line, size_t column);
/* The cell's number, rates without their K, M or G: a column has one unit. */
void grid_add_number(struct str *out, const struct stat_metric *m);

#endif
