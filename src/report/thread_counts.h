/*
 * thread_counts: what `record -s` stored when each thread ended: its counts. -T prints them below the
 * report. Private to report/.
 */
#ifndef PSTAT_THREAD_COUNTS_H
#define PSTAT_THREAD_COUNTS_H

#include "report/report.h"

struct thread_count {
	int32_t pid, tid;
	uint64_t *values; /* by index of the event */
};
struct thread_counts {
	struct thread_count *v; /* in order of appearance */
	size_t n, cap;
	size_t n_events;
	struct index ix; /* by pid and tid */
};
void thread_counts_release(struct thread_counts *counts);
/* A READ record of an event; a thread's records of one event add up. */
void thread_counts_add(struct thread_counts *counts, const struct events *events,
		       const struct record_body *body);
/* A table of pid, tid and a column for each event that has a count. */
void thread_counts_print(const struct thread_counts *counts, const struct events *events,
			 struct str *out);

#endif
