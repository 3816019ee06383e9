/* SPDX-License-Identifier: MIT */
/*
 * buffers: bounded memory between those who empty the rings and the one who writes. Producers fill buffers with whole
 * records, the consumer takes them in the order in which they were handed over. Private to record/.
 *
 *   producer: buffers_get -> fill -> buffers_put       (never waits, unless it asks to)
 *   consumer: buffers_take -> use -> buffers_give_back (waits where there is nothing)
 *
 * Memory is there, and as far as allowed locked, before it is needed: a quarter before the first record comes, and
 * whenever less than that is free, a thread makes more of it present. A short recording then takes a part of the
 * memory only; a producer makes pages itself only where it is faster than that thread. One lock, held for a few
 * instructions: nobody holds it while reading, writing or waiting for a file.
 *
 * A producer keeps a buffer that is not full while the consumer has other work, so that bytes, and not how
 * often rings are drained, fill the memory; a consumer that runs out of work asks for such buffers (producer.wake_fd).
 */
#ifndef PSTAT_BUFFERS_H
#define PSTAT_BUFFERS_H

#include "util/util.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
	BUFFER_BYTES = 256 << 10, /* of one buffer; less where there would be few of them */
	BUFFER_LEAST_BYTES = 64 << 10, /* a record has at most 65,528 bytes */
	BUFFERS_LEAST = 8,
};

struct producer;

/* One piece on its way: records, the news that its producer has drained all its rings, or a call. */
struct buffer {
	struct buffer *next; /* in the queue or among the free ones */
	struct producer *from;
	uint8_t *bytes; /* aligned to 8; NULL: it carries none */
	size_t n, cap;
	uint64_t drained_round; /* its producer has drained all its rings since this round began; 0: not yet */
	bool snapshot_ends; /* with it all overwrite rings have been copied */
	void (*call)(void *data); /* to be called by the consumer, in this place of the order; or NULL */
	void *data;
	bool queued;
};

/* One who fills buffers. */
struct producer {
	struct producer *next; /* of all */
	struct buffer *filling; /* NULL: none */
	struct buffer news; /* carries drained_round alone, where there are no records */
	struct buffer *last; /* what it handed over last, news among it; may be free again */
	int wake_fd; /* an eventfd, written where `filling` is wanted; -1: nobody waits for it */
	bool holds; /* `filling` has records that could be handed over */
	bool is_waited_for; /* a round ends only when it has drained its rings; false: it takes snapshots */
	uint64_t round; /* its present pass over the rings began in this round */
	/* The consumer's: the last pass that was handed over, and whether a snapshot was. */
	uint64_t drained_round;
	bool snapshot_ended;
};

struct buffers {
	pthread_mutex_t lock;
	pthread_cond_t filled, freed, called, wanted;
	struct buffer *v; /* all of them: the memory of the first n_present is or was made present */
	size_t n, n_present;
	size_t n_ahead; /* so many free ones are to be present */
	pthread_t preparer; /* makes them present */
	bool has_preparer;
	size_t buffer_bytes; /* of each */
	uint8_t *memory;
	size_t memory_bytes, locked_bytes;
	struct buffer *free; /* the present ones */
	atomic_size_t n_free; /* these, and those that are not present yet */
	struct buffer *first, *last; /* the queue */
	struct producer *producers;
	bool begun, consumer_waits, closed, released;
	bool abandoned; /* nobody takes anything: whoever waits for room need not */
	/* The consumer's: the present round, from 1 on, and how many ends of rounds its sink is still to be told. */
	atomic_uint_least64_t round;
	atomic_uint rounds_to_tell;
};

/*
 * bytes in all, for n_producers: more where each could not have two. Signals must be blocked: it begins a thread.
 * -ENOMEM with a sentence. Release it in every case.
 */
int buffers_open(struct buffers *buffers, size_t bytes, size_t n_producers, struct str *err);
void buffers_release(struct buffers *buffers);
/* Call it before the first buffer is asked for; is_waited_for and wake_fd are the caller's to set. */
void buffers_add_producer(struct buffers *buffers, struct producer *producer);

/* The part that is free, in bytes: what others take meanwhile is not known. */
size_t buffers_free_bytes(const struct buffers *buffers);
/* An empty buffer, or NULL where none is free; wait: until one is. */
struct buffer *buffers_get(struct buffers *buffers, struct producer *producer, bool wait);
/* Hands it over: it is the consumer's. */
void buffers_put(struct buffers *buffers, struct buffer *buffer);
/*
 * The producer is about to drain all its rings; and has done so. The buffer that it is filling is then handed over if
 * the consumer has nothing to do, or `now` asks for it.
 */
void buffers_drain_begins(struct buffers *buffers, struct producer *producer);
void buffers_drained(struct buffers *buffers, struct producer *producer, bool now);

/* The same for a producer that takes snapshots: its buffers since the last call are one whole snapshot. */
void buffers_snapshot_ends(struct buffers *buffers, struct producer *producer);

/* Lets buffers_take give what was handed over. */
void buffers_begin(struct buffers *buffers);
/* The next piece, in order; waits for one, and for buffers_begin. NULL: closed, and all was taken. */
struct buffer *buffers_take(struct buffers *buffers);
void buffers_give_back(struct buffers *buffers, struct buffer *buffer);
/* Calls fn(data) on the consumer, after all that was handed over; returns when it was done. */
void buffers_call(struct buffers *buffers, void (*fn)(void *data), void *data);
/* Does not wait for it. `call`, all zeros at first, is the caller's; nothing is done while its last call waits. */
void buffers_call_later(struct buffers *buffers, struct buffer *call, void (*fn)(void *data), void *data);
/* No more will be handed over. */
void buffers_close(struct buffers *buffers);
/* There is no consumer, and will be none: whoever waits for a buffer gets NULL. */
void buffers_abandon(struct buffers *buffers);

#endif
