/* SPDX-License-Identifier: MIT */
/*
 * pipeline: the way of the records while they are recorded, as one thing that can be started and stopped.
 *
 *   rings -> readers (threads) -> buffers -> consumer (a thread) -> sink
 *   overwrite rings -> snapshots (whoever asks) --^
 *
 * Private to record/.
 */
#ifndef PSTAT_PIPELINE_H
#define PSTAT_PIPELINE_H

#include "record/consumer.h"
#include "record/readers.h"

struct pipeline {
	struct buffers buffers;
	struct readers readers;
	struct ring_reader snapshots; /* the overwrite rings */
	struct consumer consumer;
	bool has_begun; /* somebody takes what the readers collect */
	int wake_fd; /* an eventfd, readable when a sink has failed or is full */
};
#define PIPELINE_INIT { .wake_fd = -1 }

/*
 * Memory and all threads: readers begin at once to collect. Signals must be blocked. pipeline_release is needed in
 * every case.
 */
int pipeline_open(struct pipeline *pipeline, const struct record_plan *plan, struct ring_set *rings,
		  const struct events *events, struct str *err);
/* The sink is told what was collected so far, and then all that comes. */
void pipeline_begin(struct pipeline *pipeline, struct record_sink *sink);
/*
 * Hands over what is in the rings now, that of overwrite rings too with `snapshot`: these stand still meanwhile.
 * The consumer has not necessarily come to it yet: consumer_call waits for that.
 */
void pipeline_drain(struct pipeline *pipeline, bool snapshot);
/*
 * The same, only soon: nothing is waited for, and a buffer that is not full is not handed over to a consumer that is
 * busy; records of tasks may need the room.
 */
void pipeline_drain_soon(struct pipeline *pipeline);
/*
 * Sends all that is left in the rings, which nothing enters any more, its way. 0, or the first failure of the sink,
 * which is the caller's again.
 */
int pipeline_stop(struct pipeline *pipeline, struct str *err);
void pipeline_release(struct pipeline *pipeline);

#endif
