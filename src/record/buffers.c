/* SPDX-License-Identifier: MIT */
/*
 * buffers.c: the lock is taken once a buffer and once for each pass over the rings, never for a record.
 */
#include "record/buffers.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- memory ---- */

static size_t size_of_each(size_t bytes, size_t n_producers)
{
	size_t each = BUFFER_BYTES;

	while (each > BUFFER_LEAST_BYTES && bytes / each < BUFFERS_LEAST * (1 + n_producers))
		each /= 2;
	return each;
}

static int map_memory(struct buffers *buffers, size_t bytes, struct str *err)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return fail(err, -ENOMEM, "buffers of %zu KiB: %s\na smaller --buffer-size may work",
			    bytes / 1024, strerror(errno));
	/* Huge pages are made faster; if they are refused, small ones do as well. */
	(void)!madvise(memory, bytes, MADV_HUGEPAGE);
	/* A process that is started to read build-ids would have them copied page by page as they are filled. */
	(void)!madvise(memory, bytes, MADV_DONTFORK);
	buffers->memory = memory;
	buffers->memory_bytes = bytes;
	buffers->locked_bytes = memory_lock(memory, bytes);
	return 0;
}

/* Needs the lock. */
static void add_to_list(struct buffers *buffers, struct buffer *buffer)
{
	buffer->next = buffers->free;
	buffers->free = buffer;
}

static void add_free(struct buffers *buffers, struct buffer *buffer)
{
	add_to_list(buffers, buffer);
	atomic_fetch_add_explicit(&buffers->n_free, 1, memory_order_relaxed);
}

/* Needs the lock, and a buffer that is not present yet. */
static struct buffer *next_absent(struct buffers *buffers)
{
	return &buffers->v[buffers->n_present++];
}

/* Needs the lock. */
static bool more_is_wanted(const struct buffers *buffers)
{
	size_t n_absent = buffers->n - buffers->n_present;

	return n_absent && atomic_load_explicit(&buffers->n_free, memory_order_relaxed) < n_absent + buffers->n_ahead;
}

/* A buffer stays free while its pages are made: a producer that needs it then takes it, and makes them as well. */
static void *preparer_main(void *data)
{
	struct buffers *buffers = data;

	pthread_mutex_lock(&buffers->lock);
	while (!buffers->released) {
		struct buffer *buffer;

		if (!more_is_wanted(buffers)) {
			pthread_cond_wait(&buffers->wanted, &buffers->lock);
			continue;
		}
		buffer = &buffers->v[buffers->n_present];
		pthread_mutex_unlock(&buffers->lock);
		memory_make_present(buffer->bytes, buffer->cap);
		pthread_mutex_lock(&buffers->lock);
		if (buffer == &buffers->v[buffers->n_present])
			add_to_list(buffers, next_absent(buffers));
	}
	pthread_mutex_unlock(&buffers->lock);
	return NULL;
}

/* The first n, by the thread that opens them. */
static void prepare(struct buffers *buffers, size_t n)
{
	size_t done = buffers->n_present * buffers->buffer_bytes;

	memory_make_present(buffers->memory + done, n * buffers->buffer_bytes - done);
	while (buffers->n_present < n)
		add_to_list(buffers, next_absent(buffers));
}

int buffers_open(struct buffers *buffers, size_t bytes, size_t n_producers, struct str *err)
{
	size_t each = size_of_each(bytes, n_producers), n = bytes / each, least = 2 * n_producers;
	int rc;

	*buffers = (struct buffers){ 0 };
	pthread_mutex_init(&buffers->lock, NULL);
	pthread_cond_init(&buffers->filled, NULL);
	pthread_cond_init(&buffers->freed, NULL);
	pthread_cond_init(&buffers->called, NULL);
	pthread_cond_init(&buffers->wanted, NULL);
	atomic_init(&buffers->round, 1);
	least = least < BUFFERS_LEAST ? BUFFERS_LEAST : least;
	n = n < least ? least : n;
	rc = map_memory(buffers, n * each, err);
	if (rc)
		return rc;
	buffers->v = xcalloc(n, sizeof(*buffers->v));
	buffers->n = n;
	buffers->buffer_bytes = each;
	for (size_t i = 0; i < n; i++)
		buffers->v[i] = (struct buffer){ .bytes = buffers->memory + i * each, .cap = each };
	atomic_init(&buffers->n_free, n);
	buffers->n_ahead = n_producers + n / 4 < n ? n_producers + n / 4 : n;
	prepare(buffers, buffers->n_ahead);
	buffers->has_preparer = !pthread_create(&buffers->preparer, NULL, preparer_main, buffers);
	if (!buffers->has_preparer)
		prepare(buffers, n);
	return 0;
}

void buffers_release(struct buffers *buffers)
{
	if (!buffers->v && !buffers->memory)
		return;
	pthread_mutex_lock(&buffers->lock);
	buffers->released = true;
	pthread_cond_signal(&buffers->wanted);
	pthread_mutex_unlock(&buffers->lock);
	if (buffers->has_preparer)
		pthread_join(buffers->preparer, NULL);
	pthread_mutex_destroy(&buffers->lock);
	pthread_cond_destroy(&buffers->filled);
	pthread_cond_destroy(&buffers->freed);
	pthread_cond_destroy(&buffers->called);
	pthread_cond_destroy(&buffers->wanted);
	munmap(buffers->memory, buffers->memory_bytes);
	free(buffers->v);
	*buffers = (struct buffers){ 0 };
}

void buffers_add_producer(struct buffers *buffers, struct producer *producer)
{
	producer->next = buffers->producers;
	producer->round = 1;
	producer->news.from = producer;
	buffers->producers = producer;
}

/* ---- producers ---- */

/* Needs the lock. A producer that is faster than the preparer makes pages itself. NULL: none is free. */
static struct buffer *next_free(struct buffers *buffers)
{
	struct buffer *buffer = buffers->free;

	if (!buffer && buffers->n_present == buffers->n)
		return NULL;
	if (buffer)
		buffers->free = buffer->next;
	else
		buffer = next_absent(buffers);
	atomic_fetch_sub_explicit(&buffers->n_free, 1, memory_order_relaxed);
	return buffer;
}

size_t buffers_free_bytes(const struct buffers *buffers)
{
	return atomic_load_explicit(&buffers->n_free, memory_order_relaxed) * buffers->buffer_bytes;
}

struct buffer *buffers_get(struct buffers *buffers, struct producer *producer, bool wait)
{
	struct buffer *buffer;

	pthread_mutex_lock(&buffers->lock);
	while (!(buffer = next_free(buffers)) && wait && !buffers->abandoned)
		pthread_cond_wait(&buffers->freed, &buffers->lock);
	if (buffer) {
		buffer->from = producer;
		buffer->n = 0;
		buffer->drained_round = 0;
		buffer->snapshot_ends = false;
		if (more_is_wanted(buffers))
			pthread_cond_signal(&buffers->wanted);
	}
	pthread_mutex_unlock(&buffers->lock);
	return buffer;
}

/* Needs the lock. */
static void queue(struct buffers *buffers, struct buffer *buffer)
{
	buffer->next = NULL;
	buffer->queued = true;
	if (buffer->from)
		buffer->from->last = buffer;
	if (buffers->last)
		buffers->last->next = buffer;
	else
		buffers->first = buffer;
	buffers->last = buffer;
	if (buffers->consumer_waits)
		pthread_cond_signal(&buffers->filled);
}

void buffers_put(struct buffers *buffers, struct buffer *buffer)
{
	pthread_mutex_lock(&buffers->lock);
	if (buffer->from->filling == buffer) {
		buffer->from->filling = NULL;
		buffer->from->holds = false;
	}
	queue(buffers, buffer);
	pthread_mutex_unlock(&buffers->lock);
}

void buffers_drain_begins(struct buffers *buffers, struct producer *producer)
{
	producer->round = atomic_load_explicit(&buffers->round, memory_order_acquire);
}

/* Needs the lock. A pass that found nothing: its news go with a buffer that waits already, if one does. */
static void tell_drained(struct buffers *buffers, struct producer *producer)
{
	if (producer->last && producer->last->queued && producer->last->from == producer) {
		producer->last->drained_round = producer->round;
	} else if (atomic_load_explicit(&buffers->rounds_to_tell, memory_order_relaxed)) {
		producer->news.drained_round = producer->round;
		queue(buffers, &producer->news);
	}
}

void buffers_drained(struct buffers *buffers, struct producer *producer, bool now)
{
	struct buffer *filling = producer->filling;

	pthread_mutex_lock(&buffers->lock);
	if (filling && filling->n) {
		filling->drained_round = producer->round;
		producer->holds = !now && !buffers->consumer_waits;
		if (!producer->holds) {
			producer->filling = NULL;
			queue(buffers, filling);
		}
	} else {
		tell_drained(buffers, producer);
	}
	pthread_mutex_unlock(&buffers->lock);
}

void buffers_snapshot_ends(struct buffers *buffers, struct producer *producer)
{
	struct buffer *last = producer->filling && producer->filling->n ? producer->filling :
									   &producer->news;

	last->snapshot_ends = true;
	if (last == producer->filling) {
		buffers_put(buffers, last);
		return;
	}
	pthread_mutex_lock(&buffers->lock);
	if (!last->queued)
		queue(buffers, last);
	pthread_mutex_unlock(&buffers->lock);
}

/* ---- the consumer ---- */

/* Needs the lock. Asks all who hold records for them. */
static void ask_producers(struct buffers *buffers)
{
	const uint64_t one = 1;

	for (struct producer *p = buffers->producers; p; p = p->next) {
		if (p->holds && p->wake_fd >= 0)
			(void)!write(p->wake_fd, &one, sizeof(one));
	}
}

/* Needs the lock: a producer's own buffer may be handed over again while this one is dealt with. */
static void take_news(struct buffer *buffer)
{
	struct producer *from = buffer->from;

	if (buffer->drained_round > from->drained_round)
		from->drained_round = buffer->drained_round;
	from->snapshot_ended |= buffer->snapshot_ends;
	buffer->snapshot_ends = false;
}

void buffers_begin(struct buffers *buffers)
{
	pthread_mutex_lock(&buffers->lock);
	buffers->begun = true;
	pthread_cond_signal(&buffers->filled);
	pthread_mutex_unlock(&buffers->lock);
}

struct buffer *buffers_take(struct buffers *buffers)
{
	struct buffer *buffer;

	pthread_mutex_lock(&buffers->lock);
	while (!buffers->begun && !buffers->closed)
		pthread_cond_wait(&buffers->filled, &buffers->lock);
	if (!buffers->first)
		ask_producers(buffers);
	while (!buffers->first && !buffers->closed) {
		buffers->consumer_waits = true;
		pthread_cond_wait(&buffers->filled, &buffers->lock);
	}
	buffers->consumer_waits = false;
	buffer = buffers->begun ? buffers->first : NULL;
	if (buffer) {
		buffers->first = buffer->next;
		if (!buffers->first)
			buffers->last = NULL;
		buffer->queued = false;
		if (buffer->from)
			take_news(buffer);
	}
	pthread_mutex_unlock(&buffers->lock);
	return buffer;
}

void buffers_give_back(struct buffers *buffers, struct buffer *buffer)
{
	pthread_mutex_lock(&buffers->lock);
	if (buffer->bytes) {
		add_free(buffers, buffer);
		pthread_cond_signal(&buffers->freed);
	} else if (buffer->call) {
		buffer->call = NULL;
		pthread_cond_broadcast(&buffers->called);
	}
	pthread_mutex_unlock(&buffers->lock);
}

void buffers_call(struct buffers *buffers, void (*fn)(void *data), void *data)
{
	struct buffer call = { .call = fn, .data = data };

	pthread_mutex_lock(&buffers->lock);
	queue(buffers, &call);
	while (call.call)
		pthread_cond_wait(&buffers->called, &buffers->lock);
	pthread_mutex_unlock(&buffers->lock);
}

void buffers_call_later(struct buffers *buffers, struct buffer *call, void (*fn)(void *data), void *data)
{
	pthread_mutex_lock(&buffers->lock);
	if (!call->call) {
		call->call = fn;
		call->data = data;
		queue(buffers, call);
	}
	pthread_mutex_unlock(&buffers->lock);
}

void buffers_close(struct buffers *buffers)
{
	pthread_mutex_lock(&buffers->lock);
	buffers->closed = true;
	pthread_cond_signal(&buffers->filled);
	pthread_mutex_unlock(&buffers->lock);
}

void buffers_abandon(struct buffers *buffers)
{
	pthread_mutex_lock(&buffers->lock);
	buffers->abandoned = true;
	pthread_cond_broadcast(&buffers->freed);
	pthread_mutex_unlock(&buffers->lock);
}
