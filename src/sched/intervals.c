/* SPDX-License-Identifier: MIT */
/*
 * intervals: ends of intervals, at the first switch after them, and the line or object before each table. Where no
 * switch came for longer, those between are left out.
 */
#include "sched/sched_internal.h"

#include <inttypes.h>

static void add_s(struct str *out, uint64_t ns)
{
	str_addf(out, "%" PRIu64 ".%03" PRIu64, ns / NS_PER_S, ns % NS_PER_S / NS_PER_MS);
}

static void add_head(const struct sched_intervals *intervals, uint64_t end_ns)
{
	struct str *out = intervals->out;

	str_add(out, intervals->options->clears ? "\033[H\033[2J" : "");
	str_add(out, intervals->json ? "{\"begin\":" : "# ");
	add_s(out, intervals->begin_ns - intervals->first_ns);
	str_add(out, intervals->json ? ",\"end\":" : " to ");
	add_s(out, end_ns - intervals->first_ns);
	str_add(out, intervals->json ? "}\n" : " s\n");
}

bool sched_interval_ends(struct sched_intervals *intervals, uint64_t time_ns)
{
	const uint64_t every_ns = intervals->options->every_ns;

	if (!every_ns)
		return false;
	if (!intervals->first_ns)
		intervals->first_ns = intervals->begin_ns = intervals->last_ns = time_ns;
	if (time_ns > intervals->last_ns)
		intervals->last_ns = time_ns;
	if (intervals->last_ns - intervals->begin_ns < every_ns)
		return false;
	add_head(intervals, intervals->begin_ns + every_ns);
	intervals->begin_ns += (intervals->last_ns - intervals->begin_ns) / every_ns * every_ns;
	return true;
}

void sched_intervals_end(const struct sched_intervals *intervals)
{
	if (intervals->options->every_ns)
		add_head(intervals, intervals->last_ns);
}

size_t sched_interval_rows(const struct sched_interval *options, size_t n, unsigned other_lines)
{
	const size_t room = options->lines > other_lines ? options->lines - other_lines : 1;

	return options->clears && options->lines && n > room ? room : n;
}
