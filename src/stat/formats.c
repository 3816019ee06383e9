/* SPDX-License-Identifier: MIT */
/*
 * The small pieces that text, CSV and JSON of `pstat stat` have in common: numbers that don't depend on the locale,
 * names that are safe for a terminal, and the look of each kind of key.
 */
#include "stat/formats.h"

#include <math.h>

/* Header lines come again after this many interval reports, as perf has it. */
#define REPORTS_PER_HEADER 25

/*
 * One row per enum aggr_mode, in its order. To add one: the enum, a row here, the tests of the
 * three formats, pstat-stat(1). The widths are perf's: a parser that cuts by column keeps working.
 */
static const struct key_look key_looks[] = {
	[AGGR_TOTAL] = { NULL, "", "", 0, false },
	[AGGR_CPU] = { "cpu", "cpu", "CPU", 11, false },
	[AGGR_CORE] = { "core", "core", "core            cpus", 21, true },
	[AGGR_CLUSTER] = { "cluster", "cluster", "cluster              cpus", 26, true },
	[AGGR_CACHE] = { "cache", "cache", "cache                  cpus", 28, true },
	[AGGR_DIE] = { "die", "die", "die          cpus", 18, true },
	[AGGR_SOCKET] = { "socket", "socket", "socket cpus", 12, true },
	[AGGR_NODE] = { "node", "node", "node   cpus", 12, true },
	[AGGR_THREAD] = { "thread", "comm-pid", "            comm-pid", 26, false },
};

const struct key_look *fmt_key(enum aggr_mode aggr)
{
	return &key_looks[aggr];
}

void fmt_fixed(struct str *out, double value, int decimals)
{
	char text[400]; /* DBL_MAX has 309 digits before the point */
	bool in_point = false;

	if (!isfinite(value)) {
		str_add(out, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
		return;
	}
	snprintf(text, sizeof(text), "%.*f", decimals, value + 0.0);
	for (const char *p = text; *p; p++) {
		bool own = (*p >= '0' && *p <= '9') || *p == '-';

		if (own)
			str_addc(out, *p);
		else if (!in_point) /* a locale's decimal point may have several bytes */
			str_addc(out, '.');
		in_point = !own;
	}
}

void fmt_time(struct str *out, uint64_t time_ns, int sec_cols)
{
	str_addf(out, "%*llu.%09llu", sec_cols, (unsigned long long)(time_ns / NS_PER_S),
		 (unsigned long long)(time_ns % NS_PER_S));
}

void fmt_name(struct str *out, const char *s)
{
	if (s)
		str_add_printable(out, s, strlen(s));
}

size_t fmt_cols(const char *s, size_t n)
{
	size_t cols = 0;

	for (size_t i = 0; i < n; i++)
		cols += ((unsigned char)s[i] & 0xc0) != 0x80;
	return cols;
}

void fmt_pad_from(struct str *out, size_t start, size_t cols)
{
	size_t have = fmt_cols(out->s + start, out->len - start);

	if (have < cols)
		str_pad(out, ' ', cols - have);
}

void fmt_right(struct str *out, const char *text, size_t cols)
{
	size_t have = fmt_cols(text, strlen(text));

	if (have < cols)
		str_pad(out, ' ', cols - have);
	str_add(out, text);
}

void fmt_value(struct str *out, const struct stat_row *row)
{
	if (row->state == COUNT_NOT_SUPPORTED)
		str_add(out, "<not supported>");
	else if (row->state == COUNT_NOT_COUNTED)
		str_add(out, "<not counted>");
	else if (row->integral)
		str_addf(out, "%llu", (unsigned long long)row->count);
	else
		fmt_fixed(out, row->value, 2);
}

bool fmt_metric_ok(const struct stat_metric *m)
{
	return m->valid && isfinite(m->value);
}

const char *fmt_metric_unit(const struct stat_metric *m, bool *pct)
{
	const char *unit = m->unit ? m->unit : "";

	*pct = unit[0] == '%';
	if (*pct)
		unit++;
	while (*unit == ' ')
		unit++;
	return unit;
}

size_t fmt_row_metric(const struct stat_row *row)
{
	size_t i = 0;

	if (row->state != COUNT_OK)
		return row->n_metrics;
	while (i < row->n_metrics && !fmt_metric_ok(&row->metrics[i]))
		i++;
	return i;
}

bool fmt_header_due(const struct stat_style *style, const struct stat_report *report)
{
	if (report->kind != REPORT_INTERVAL)
		return report->first;
	return report->first || style->interval_clear ||
	       (report->n_before && report->n_before % REPORTS_PER_HEADER == 0);
}
