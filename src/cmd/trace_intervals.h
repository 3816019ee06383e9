/* SPDX-License-Identifier: MIT */
/*
 * trace_intervals: tables of calls again and again (pstat trace -I), each of the calls since the one before. Private to
 * cmd/.
 *
 * Intervals are of the recording's clock, so that a file has the same ones as the run that it is of. One without calls
 * has tables where they come as it passes, and none where later calls say that it has passed.
 */
#ifndef PSTAT_TRACE_INTERVALS_H
#define PSTAT_TRACE_INTERVALS_H

#include "syscall/syscall.h"

struct trace_intervals {
	uint64_t interval_ns; /* 0: there are none, and nothing is done */
	bool json, clears; /* objects; the screen is cleared before each table */
	unsigned lines; /* that the screen has, where it is cleared; 0: not known */
	/* Zero at first: the first moment, when this interval began, the last; by our clock, since when none came. */
	uint64_t first_ns, begin_ns, last_ns, seen_ns;
};

/* A call ended then: prints the tables of the intervals that are over. Before it is counted. */
void trace_intervals_reach(struct trace_intervals *intervals, struct syscall_summary *summary, uint64_t time_ns,
			   struct output *output);
/* All that came is read. How long nothing may come until an interval is over; -1: none has begun. */
int trace_intervals_wait_ms(struct trace_intervals *intervals);
/* After that wait: prints tables, if the time is over. */
void trace_intervals_tick(struct trace_intervals *intervals, struct syscall_summary *summary, struct output *output);
/* Prints the tables of the interval that was not over. */
void trace_intervals_end(struct trace_intervals *intervals, struct syscall_summary *summary, struct output *output);

#endif
