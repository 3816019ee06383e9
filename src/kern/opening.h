/*
 * opening: what one call of counters_open() carries from group to group. Private to kern/: open.c
 * plans and concludes, group_open.c opens.
 */
#ifndef PSTAT_OPENING_H
#define PSTAT_OPENING_H

#include "kern/kern.h"
#include "kern/machine.h"

struct opening {
	struct counter_set *set; /* planned: every counter has its cells, all closed */
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
 * cells open.
 */
int groups_open(struct opening *opening);

#endif
