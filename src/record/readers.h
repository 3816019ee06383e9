/* SPDX-License-Identifier: MIT */
/*
 * readers: the threads that empty the rings, each those of some CPUs: one for all, or one for each CPU, core, package,
 * memory node or mask. A reader does nothing else, so that it is always there when a ring asks. Private to record/.
 */
#ifndef PSTAT_READERS_H
#define PSTAT_READERS_H

#include "record/record.h"
#include "record/ring_reader.h"

struct reader_thread;

struct readers {
	struct reader_thread *v;
	size_t n;
	struct ring_set *rings; /* borrowed */
	int realtime_priority; /* of SCHED_FIFO; 0: none */
	pthread_mutex_t lock;
	pthread_cond_t drained;
	uint64_t asked; /* how often they were asked to drain; under the lock */
	bool stops; /* under the lock */
};

/* Decides who reads what: readers->n threads. -errno with a sentence. readers_release is needed in every case. */
int readers_plan(struct readers *readers, struct ring_set *rings, const struct record_plan *plan,
		 struct str *err);
/*
 * A thread each, for all rings but overwrite ones; they are the buffers' producers. Signals must be blocked by the
 * caller. readers_stop is needed in every case.
 */
int readers_start(struct readers *readers, struct buffers *buffers, const struct events *events,
		  struct str *err);
/* Has every reader drain its rings once more, and hand over what it has: returns when they all did. */
void readers_drain(struct readers *readers);
/* The same without waiting for them: their buffers are handed over when the consumer has nothing else to do. */
void readers_drain_soon(struct readers *readers);
/*
 * When nothing comes into the rings any more: takes what is left, however long the consumer needs to make room, and
 * ends the threads.
 */
void readers_stop(struct readers *readers);
void readers_release(struct readers *readers);

struct reader_totals {
	uint64_t wakeups; /* that found something */
	uint64_t n_cut, n_dropped; /* samples: see ring_reader.h */
};
/* Adds up all readers; after readers_stop. */
void readers_count(const struct readers *readers, struct reader_totals *totals);

#endif
