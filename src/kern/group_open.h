/* SPDX-License-Identifier: MIT */
/*
 * group_open: opens what open.c has planned. Private to kern/.
 */
#ifndef PSTAT_GROUP_OPEN_H
#define PSTAT_GROUP_OPEN_H

#include "kern/fallback.h"
#include "kern/slots.h"

/* State that one call of counters_open() carries from group to group. */
struct opening {
	struct counter_set *set; /* planned: every counter has its slots, all closed */
	const struct target *target;
	const struct open_options *options;
	struct machine machine;
	struct intset online; /* with options->per_cpu */
	struct str *err;
	size_t refused, gone; /* counters that failed for want of permission, or of a task */
};

/*
 * Opens all counters, group by group on each CPU and task, each counter by way of the ladder. What
 * cannot be opened has its reason; a negative errno with a sentence is the end of the run, with some
 * slots open.
 */
int groups_open(struct opening *opening);

#endif
