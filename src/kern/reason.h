/* SPDX-License-Identifier: MIT */
/*
 * reason: why an event could not be opened, in a few words, and what to do about it. Private to
 * kern/.
 */
#ifndef PSTAT_REASON_H
#define PSTAT_REASON_H

#include "kern/machine.h"

struct failure {
	struct machine *machine;
	const struct event *event;
	const struct perf_event_attr *attr; /* as first tried, before any fallback */
	int err; /* positive errno */
	pid_t pid; /* as given to perf_event_open; -1: all tasks */
	int cpu;
	unsigned long flags;
	bool only_in_group; /* it opens alone, but not as a member of its group */
	bool task_forks; /* too fast for its group to be opened between two forks */
	size_t group_events; /* the group's events on a PMU, this one included */
};

/*
 * Heap strings. *reason is never NULL after the call; *remedy is NULL where none is known. May open
 * and close events to find out.
 */
void reason_find(const struct failure *failure, char **reason, char **remedy);

/* The errno means "not allowed" and not "not possible". */
bool is_refusal(const struct failure *failure);

#endif
