/* SPDX-License-Identifier: MIT */
/*
 * Ends of intervals: at a call after it, or, where none comes, as much later by this process's clock as records may
 * take from the kernel to here.
 */
#include "cmd/trace_intervals.h"

#include <inttypes.h>
#include <string.h>

#define LATE_NS (200 * NS_PER_MS)

static const char clear_screen[] = "\033[H\033[2J";

static void add_s(struct str *out, uint64_t ns)
{
	str_addf(out, "%" PRIu64 ".%03" PRIu64, ns / NS_PER_S, ns % NS_PER_S / NS_PER_MS);
}

/* Leaves as much of the text from start on as the screen has room for, with the cursor below it. */
static void fit(const struct trace_intervals *intervals, struct str *out, size_t start)
{
	const char *at = out->s + start;
	unsigned n = 1;

	if (!intervals->clears || !intervals->lines)
		return;
	while (n < intervals->lines && (at = strchr(at, '\n')) != NULL)
		at++, n++;
	if (!at || !*at)
		return;
	out->len = (size_t)(at - out->s);
	out->s[out->len] = '\0';
}

/* "# 1.000 to 2.000 s" since the first call, then the tables. */
static void print_interval(struct trace_intervals *intervals, struct syscall_summary *summary, uint64_t end_ns,
			   struct output *output)
{
	struct str *out = &output->text;
	const size_t start = out->len;

	syscall_summary_leave(summary);
	str_add(out, intervals->clears ? clear_screen : "");
	str_add(out, intervals->json ? "{\"begin\":" : "# ");
	add_s(out, intervals->begin_ns - intervals->first_ns);
	str_add(out, intervals->json ? ",\"end\":" : " to ");
	add_s(out, end_ns - intervals->first_ns);
	str_add(out, intervals->json ? "}\n" : " s\n");
	if (intervals->json)
		syscall_summary_json(summary, out);
	else
		syscall_summary_print(summary, out);
	syscall_summary_clear(summary);
	fit(intervals, out, start);
	output_end(output);
}

/* Prints the interval that is open, and opens the one that this moment is in. */
static void go_on(struct trace_intervals *intervals, struct syscall_summary *summary, uint64_t time_ns,
		  struct output *output)
{
	const uint64_t interval_ns = intervals->interval_ns;

	print_interval(intervals, summary, intervals->begin_ns + interval_ns, output);
	intervals->begin_ns += (time_ns - intervals->begin_ns) / interval_ns * interval_ns;
}

void trace_intervals_reach(struct trace_intervals *intervals, struct syscall_summary *summary, uint64_t time_ns,
			   struct output *output)
{
	if (!intervals->interval_ns)
		return;
	if (!intervals->begin_ns)
		intervals->first_ns = intervals->begin_ns = time_ns;
	if (time_ns < intervals->begin_ns)
		return;
	if (time_ns - intervals->begin_ns >= intervals->interval_ns)
		go_on(intervals, summary, time_ns, output);
	if (time_ns > intervals->last_ns) {
		intervals->last_ns = time_ns;
		intervals->seen_ns = 0;
	}
}

/* For how long nothing has come, as long as nothing comes. */
static uint64_t passed_ns(const struct trace_intervals *intervals)
{
	return intervals->seen_ns ? now_ns() - intervals->seen_ns : 0;
}

int trace_intervals_wait_ms(struct trace_intervals *intervals)
{
	const uint64_t end_ns = intervals->begin_ns + intervals->interval_ns + LATE_NS;
	uint64_t now;

	if (!intervals->begin_ns)
		return -1;
	if (!intervals->seen_ns)
		intervals->seen_ns = now_ns();
	now = intervals->last_ns + passed_ns(intervals);
	return end_ns > now ? (int)((end_ns - now) / NS_PER_MS + 1) : 0;
}

void trace_intervals_tick(struct trace_intervals *intervals, struct syscall_summary *summary, struct output *output)
{
	uint64_t now;

	if (!intervals->begin_ns)
		return;
	now = intervals->last_ns + passed_ns(intervals);
	if (now >= intervals->begin_ns + intervals->interval_ns + LATE_NS)
		go_on(intervals, summary, intervals->begin_ns + intervals->interval_ns, output);
}

void trace_intervals_end(struct trace_intervals *intervals, struct syscall_summary *summary, struct output *output)
{
	const uint64_t begin_ns = intervals->begin_ns, last_ns = intervals->last_ns;

	print_interval(intervals, summary, last_ns > begin_ns ? last_ns : begin_ns, output);
}
