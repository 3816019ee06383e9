/*
 * ring_poll.h: one descriptor for all rings of a ring set. Private to count/.
 */
#ifndef PSTAT_COUNT_RING_POLL_H
#define PSTAT_COUNT_RING_POLL_H

#include "kern/kern.h"

struct ring_poll {
	int fd; /* readable when one of the rings wants to be read; -1: none */
	int *polled; /* one per ring: who tells; -1: all that write into it have ended */
	size_t n, alive;
	struct ring_set *rings; /* borrowed */
};

/* A negative errno; nothing is left open then. */
int ring_poll_open(struct ring_poll *poll, struct ring_set *rings);
void ring_poll_close(struct ring_poll *poll);
/* As pstat_sampler_wait(). */
int ring_poll_wait(struct ring_poll *poll, int timeout_ms);

#endif
