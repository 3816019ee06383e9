/* SPDX-License-Identifier: MIT */
/*
 * fallback: what to try next when the kernel refuses an event. Private to kern/.
 */
#ifndef PSTAT_FALLBACK_H
#define PSTAT_FALLBACK_H

#include "kern/machine.h"

/* One event on its way to being opened: the ladder changes attr, the caller tries again. */
struct attempt {
	struct machine *machine;
	const struct event *event;
	struct perf_event_attr attr; /* what to try now */
	bool is_member; /* opens with a group_fd */
	bool weak; /* its group may be broken up */
	unsigned applied; /* bit per row of the ladder */
	unsigned deferred_bits; /* of attr_defer.c, what a step took off attr */
	unsigned dropped; /* rows of attr_since.c that a step took off attr */
	bool break_group; /* the answer is to open the group's events one by one */

	/* The place of the last try that failed. */
	pid_t pid;
	int cpu;
	unsigned long flags;
};

/*
 * Applies the first row of the ladder that may cure `err` (positive errno). True: try again, or
 * break the group up if break_group is set. False: there is nothing left to try.
 */
bool fallback_next(struct attempt *attempt, int err);

/* Leaves a note for each row that was applied, once the event is open. */
void fallback_notes(const struct attempt *attempt, struct note_list *notes);

/* The event's name for what was opened: with "u" added where only user mode could be had. Heap. */
char *fallback_name(const struct attempt *attempt);

#endif
