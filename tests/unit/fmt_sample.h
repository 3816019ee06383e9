/* SPDX-License-Identifier: MIT */
/*
 * Hand-made rows and reports for test_fmt_*.c, and a check that shows the whole text on failure.
 * The expected lines in those tests are what perf 6.1 printed for the same counts, but where pstat
 * adds something: these places say so.
 */
#ifndef FMT_SAMPLE_H
#define FMT_SAMPLE_H

#include "stat/stat.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* A name with everything that must not reach a terminal or break a line. */
#define EVIL "a,b\"c\\d\n\033[31m\xff"

/* An empty metric column. */
#define BLANK5 "     "
#define BLANK35 BLANK5 BLANK5 BLANK5 BLANK5 BLANK5 BLANK5 BLANK5

/* perf's look: no grouping, no reasons. */
static const struct stat_style as_perf = { .title = "'true'", .runs = 1 };

static char no_key[1]; /* rows own their key, so it is not const */

static inline struct stat_row plain_row(const char *name, uint64_t count)
{
	return (struct stat_row){
		.key = no_key, .n_folded = 1, .name = name, .unit = "", .value = (double)count,
		.count = count, .integral = true, .running_ns = 1000000, .running_pct = 100.0,
	};
}

static inline struct stat_row msec_row(const char *name, uint64_t ns)
{
	struct stat_row row = plain_row(name, ns);

	row.unit = "msec";
	row.value = (double)ns / 1e6;
	row.integral = false;
	row.running_ns = ns;
	return row;
}

static inline struct stat_row failed_row(const char *name, enum count_state state,
					 const char *reason)
{
	struct stat_row row = plain_row(name, 0);

	row.state = state;
	row.reason = reason;
	row.running_ns = 0;
	return row;
}

#define AT(row, aggr, text, n) set_key((row), (aggr), (char[]){ text }, (n))
static inline struct stat_row set_key(struct stat_row row, enum aggr_mode aggr, char *key,
					unsigned n_folded)
{
	row.aggr = aggr;
	row.key = key;
	row.n_folded = n_folded;
	return row;
}

static inline struct stat_row with_metrics(struct stat_row row, struct stat_metric *v, size_t n)
{
	row.metrics = v;
	row.n_metrics = n;
	return row;
}

static inline struct stat_row scaled_row(struct stat_row row, double pct)
{
	row.scaled = true;
	row.running_pct = pct;
	return row;
}

#define METRIC(text, number, digits) \
	{ .name = (text), .unit = (text), .value = (number), .decimals = (digits), .valid = true }

/* A final report over an array of rows; times may be NULL. */
#define REPORT(array, run_times)                                                      \
	((struct stat_report){ .kind = REPORT_FINAL, .first = true, .rows = (array),  \
			       .n_rows = ARRAY_SIZE(array), .times = (run_times),     \
			       .least_running_pct = 100.0 })

static inline struct stat_report interval_report(struct stat_report report, uint64_t time_ns,
						 bool first)
{
	report.kind = REPORT_INTERVAL;
	report.time_ns = time_ns;
	report.first = first;
	return report;
}

static inline void series_of(struct series *s, const double *values, size_t n)
{
	*s = (struct series){ 0 };
	for (size_t i = 0; i < n; i++)
		series_add(s, values[i]);
}

/* One run's times, with a command's user and system time if has_usage. */
static inline struct stat_times run_times(double elapsed, bool has_usage)
{
	struct stat_times times = { .has_usage = has_usage };
	const double user = 0.00148, sys = 0.0;

	series_of(&times.elapsed, &elapsed, 1);
	series_of(&times.user, &user, 1);
	series_of(&times.sys, &sys, 1);
	return times;
}

static inline void expect_report(const struct stat_format *format, const struct stat_style *style,
				 const struct stat_report *report, const char *expected)
{
	struct str out = STR_INIT;

	format->report(&out, style, report);
	assert_int_equal(out.len, strlen(out.s));
	assert_string_equal(out.s, expected);
	str_release(&out);
}

#endif
