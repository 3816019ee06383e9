/* SPDX-License-Identifier: MIT */
/*
 * consumer: the one thread that takes what the readers collect, and tells it to a sink: the file, or stages and several
 * sinks in a row. Whatever takes long happens here: the rings don't wait for it. Private to record/.
 *
 * Rounds: a round of the recording ends when every reader has drained all its rings since the last one ended. What
 * was in a ring by then is before the end of the round, so nothing after the next round's end is older. Where
 * there are overwrite rings, the end of each snapshot is one: what they held is older than what others hold.
 */
#ifndef PSTAT_CONSUMER_H
#define PSTAT_CONSUMER_H

#include "data/data.h"
#include "record/buffers.h"

struct consumer {
	struct buffers *buffers; /* borrowed */
	struct record_sink *sink; /* borrowed */
	bool snapshots; /* rounds end with snapshots only */
	pthread_t thread;
	bool started;
	int wake_fd; /* an eventfd, written when `failed` is set; borrowed */
	uint64_t rounds;
	atomic_int failed; /* the first failure of the sink, a negative errno; its sentence is in why */
	struct str why;
	struct buffer flush; /* of consumer_flush_later */
};

/* The thread, which waits for its sink. Signals must be blocked. consumer_stop is needed in every case. */
int consumer_start(struct consumer *consumer, struct buffers *buffers, bool snapshots, int wake_fd,
		   struct str *err);
/* Gives the sink to the consumer's thread, until consumer_stop. */
void consumer_begin(struct consumer *consumer, struct record_sink *sink);
/* When all producers have handed over what they had: takes it, and ends. 0, or the first failure. */
int consumer_stop(struct consumer *consumer, struct str *err);
/* Has the sink failed? What came since then is not kept. */
bool consumer_failed(struct consumer *consumer);
/*
 * fn(data, err) on the consumer's thread, after all that was handed over; returns what it returned, when it did.
 */
int consumer_call(struct consumer *consumer, int (*fn)(void *data, struct str *err), void *data,
		  struct str *err);
/* The sink's flush in the same way. */
int consumer_flush(struct consumer *consumer, struct str *err);
/* When the consumer comes to it; nothing where one waits already. A failure is the consumer's. */
void consumer_flush_later(struct consumer *consumer);

#endif
