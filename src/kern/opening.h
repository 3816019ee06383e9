/*
 * opening: what one call of counters_open() carries from event to event. Private to kern/: open.c
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
	bool batches; /* there are at least two lone software events to be read together: */
	struct counter *batch; /* leads the lone software events of whole CPUs; NULL: none is open */
	size_t refused, gone; /* counters that failed for want of permission, or of a task */
};

/*
 * Opens the group that the event at index `first` leads, each counter by way of the ladder. What
 * cannot be opened has its reason; a negative errno with a sentence is the end of the run.
 */
int open_group(struct opening *opening, size_t first);

/* Decides, once all counters are planned, whether lone software events are opened as one group. */
void batch_plan(struct opening *opening);

/* File descriptors that the whole set takes, with those that pstat has open anyway. */
size_t counters_need_fds(const struct counter_set *set);

#endif
