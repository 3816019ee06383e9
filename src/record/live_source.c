/* SPDX-License-Identifier: MIT */
/*
 * live_source.c: the queue between the thread that tells and the one that asks: a list of blocks of one size, of which
 * a few are used again and again: what a burst needed goes with it.
 *
 *   head                       tail
 *   | given | to give |  ...   | filled ... | room |
 *           ^ at      ^ seen                ^ filled
 *
 * The sink's thread fills the tail and the other one reads the head without the lock; it is taken to say how far a
 * block is filled (n), to go on to the next one, and to give one back. A round is a header whose size is 0, which
 * no record has.
 */
#include "record/live_source.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
	BLOCK_BYTES = 128 << 10, /* a record of 64 KiB fits into half of it */
	BLOCKS_MIN = 4,
	SPARE_MAX = 8, /* kept for what comes next */
	BYTES_DEFAULT = 16 << 20,
	RUN_BYTES = 32 << 10, /* where samples may be left out, it is looked so often whether there is room */
};

struct live_block {
	struct live_block *next;
	size_t n; /* bytes that may be read */
	_Alignas(uint64_t) char bytes[BLOCK_BYTES];
};

struct live_source {
	struct record_sink sink;
	struct record_source source;
	struct live_options options;
	struct events events;
	struct info info;
	struct decoder decoder;
	struct note_list notes;
	struct recording_info recording;
	size_t blocks_max;
	int fd; /* eventfd: there is something */

	pthread_mutex_t lock; /* for these */
	pthread_cond_t room; /* a block was given back, or nobody asks any more */
	struct live_block *head, *tail; /* never NULL */
	struct live_block *spare;
	size_t n_spare;
	bool told; /* fd is readable */
	bool ended, closed;
	atomic_size_t n_blocks; /* from head to tail; changed with the lock held */

	size_t filled; /* of tail; the sink's */
	atomic_ullong left_out;

	size_t at, seen; /* of head; the source's */
	uint64_t given; /* bytes before head */
};

/* ---- the thread that tells ---- */

static struct live_source *live_of_sink(struct record_sink *sink)
{
	return (struct live_source *)sink;
}

/* Makes the descriptor readable. Needs the lock. */
static void wake(struct live_source *live)
{
	const uint64_t one = 1;

	if (!live->told)
		(void)!write(live->fd, &one, sizeof(one)); /* a counter at 0 takes it */
	live->told = true;
}

/* An empty tail, for which it may wait. False: nobody asks any more. */
static bool next_tail(struct live_source *live)
{
	struct live_block *block = NULL;

	pthread_mutex_lock(&live->lock);
	while (!live->closed && live->n_blocks == live->blocks_max)
		pthread_cond_wait(&live->room, &live->lock);
	if (!live->closed) {
		block = live->spare;
		if (block) {
			live->spare = block->next;
			live->n_spare--;
		} else {
			block = xmalloc(sizeof(*block));
		}
		block->next = NULL;
		block->n = 0;
		live->tail->next = block;
		live->tail = block;
		live->filled = 0;
		live->n_blocks++;
		wake(live);
	}
	pthread_mutex_unlock(&live->lock);
	return block;
}

/* Lets the other thread read what has been put into the tail. */
static void publish(struct live_source *live)
{
	pthread_mutex_lock(&live->lock);
	live->tail->n = live->filled;
	wake(live);
	pthread_mutex_unlock(&live->lock);
}

/* Whole records, as many as fit into the tail. Returns their bytes. */
static size_t fill(struct live_source *live, const char *bytes, size_t n)
{
	size_t room = BLOCK_BYTES - live->filled, piece = records_whole(bytes, n < room ? n : room);

	if (!piece)
		return 0;
	memcpy(live->tail->bytes + live->filled, bytes, piece);
	live->filled += piece;
	publish(live);
	return piece;
}

/* n bytes of whole records. */
static void put(struct live_source *live, const char *bytes, size_t n)
{
	while (n) {
		size_t piece = fill(live, bytes, n);

		if (!piece && !next_tail(live))
			return;
		bytes += piece;
		n -= piece;
	}
}

/* The last quarter is not for samples. */
static bool takes_samples(const struct live_source *live)
{
	return live->n_blocks <= live->blocks_max - live->blocks_max / 4;
}

static void put_what_fits(struct live_source *live, const char *bytes, size_t n)
{
	size_t start = 0;

	for (size_t at = 0, size; at < n; at += size) {
		struct perf_event_header header;

		memcpy(&header, bytes + at, sizeof(header));
		size = header.size;
		if (header.type == RECORD_SAMPLE && !takes_samples(live)) {
			put(live, bytes + start, at - start);
			start = at + size;
			live->left_out++;
		} else if (at - start >= RUN_BYTES) {
			put(live, bytes + start, at - start);
			start = at;
		}
	}
	put(live, bytes + start, n - start);
}

static int live_take(struct record_sink *sink, const void *records, size_t n, struct str *err)
{
	struct live_source *live = live_of_sink(sink);
	size_t whole = records_whole(records, n);

	if (live->options.samples_left_out)
		put_what_fits(live, records, whole);
	else
		put(live, records, whole);
	return whole < n ? fail(err, -EINVAL, "records that are not whole") : 0;
}

static int live_round(struct record_sink *sink, struct str *err)
{
	static const struct perf_event_header mark;
	struct live_source *live = live_of_sink(sink);

	(void)err;
	if (BLOCK_BYTES - live->filled < sizeof(mark) && !next_tail(live))
		return 0;
	memcpy(live->tail->bytes + live->filled, &mark, sizeof(mark));
	live->filled += sizeof(mark);
	publish(live);
	return 0;
}

/* All that was taken can be asked for already. */
static int live_flush(struct record_sink *sink, struct str *err)
{
	(void)sink, (void)err;
	return 0;
}

static int live_end(struct record_sink *sink, struct str *err)
{
	struct live_source *live = live_of_sink(sink);

	(void)err;
	pthread_mutex_lock(&live->lock);
	live->ended = true;
	wake(live);
	pthread_mutex_unlock(&live->lock);
	return 0;
}

/* ---- the thread that asks ---- */

static struct live_source *live_of_source(struct record_source *source)
{
	return (struct live_source *)(void *)((char *)source - offsetof(struct live_source, source));
}

static void give_back_head(struct live_source *live)
{
	struct live_block *head = live->head;

	live->given += head->n;
	live->head = head->next;
	live->at = live->seen = 0;
	if (live->n_spare < SPARE_MAX) {
		head->next = live->spare;
		live->spare = head;
		live->n_spare++;
	} else {
		free(head);
	}
	live->n_blocks--;
	pthread_cond_signal(&live->room);
}

/* Looks for more: SOURCE_RECORD: there is some; SOURCE_END; SOURCE_LATER. */
static int look(struct live_source *live)
{
	int found = SOURCE_RECORD;
	uint64_t count;

	pthread_mutex_lock(&live->lock);
	if (live->at == live->head->n && live->head->next)
		give_back_head(live);
	live->seen = live->head->n;
	if (live->closed || (live->at == live->seen && live->ended && !live->head->next)) {
		found = SOURCE_END;
	} else if (live->at == live->seen && !live->head->next) {
		found = SOURCE_LATER;
		if (live->told)
			(void)!read(live->fd, &count, sizeof(count));
		live->told = false;
	}
	pthread_mutex_unlock(&live->lock);
	return found;
}

static int live_next(struct record_source *source, struct record *record, struct str *err)
{
	struct live_source *live = live_of_source(source);
	struct pollfd pollfd = { .fd = live->fd, .events = POLLIN };
	const uint8_t *bytes;

	(void)err;
	while (live->at == live->seen) {
		int found = look(live);

		if (found == SOURCE_END || (found == SOURCE_LATER && live->options.no_wait))
			return found;
		if (found == SOURCE_LATER)
			poll(&pollfd, 1, -1);
	}
	bytes = (const uint8_t *)live->head->bytes + live->at;
	record_from_bytes(record, bytes, live->given + live->at, false);
	if (!record->size) {
		live->at += RECORD_HEADER_BYTES;
		return SOURCE_ROUND;
	}
	live->at += record->size;
	return SOURCE_RECORD;
}

static double live_part(const struct record_source *source)
{
	(void)source;
	return -1;
}

void live_source_close(struct live_source *live)
{
	pthread_mutex_lock(&live->lock);
	live->closed = true;
	pthread_cond_broadcast(&live->room);
	pthread_mutex_unlock(&live->lock);
}

/* ---- both ---- */

struct live_source *live_source_new(const struct live_options *options, const struct events *events,
				    const struct info *info, struct str *err)
{
	struct live_source *live = xcalloc(1, sizeof(*live));

	live->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (live->fd < 0) {
		fail(err, -errno, "eventfd: %s", strerror(errno));
		free(live);
		return NULL;
	}
	live->sink = (struct record_sink){ live_take, live_round, live_flush, live_end };
	live->source = (struct record_source){ .next = live_next, .part = live_part };
	live->options = *options;
	events_init(&live->events);
	events_copy(&live->events, events);
	info_init(&live->info);
	info_copy(&live->info, info);
	decoder_init(&live->decoder, &live->events, false);
	live->recording = (struct recording_info){
		.events = &live->events, .info = &live->info, .decoder = &live->decoder, .notes = &live->notes
	};
	live->blocks_max = (options->bytes_max ? options->bytes_max : BYTES_DEFAULT) / BLOCK_BYTES;
	if (live->blocks_max < BLOCKS_MIN)
		live->blocks_max = BLOCKS_MIN;
	pthread_mutex_init(&live->lock, NULL);
	pthread_cond_init(&live->room, NULL);
	live->head = live->tail = xmalloc(sizeof(*live->head));
	live->head->next = NULL;
	live->head->n = 0;
	live->n_blocks = 1;
	return live;
}

static void free_blocks(struct live_block *block)
{
	while (block) {
		struct live_block *next = block->next;

		free(block);
		block = next;
	}
}

void live_source_free(struct live_source *live)
{
	if (!live)
		return;
	free_blocks(live->head);
	free_blocks(live->spare);
	pthread_mutex_destroy(&live->lock);
	pthread_cond_destroy(&live->room);
	close(live->fd);
	decoder_release(&live->decoder);
	events_release(&live->events);
	info_release(&live->info);
	note_list_release(&live->notes);
	free(live);
}

struct record_sink *live_source_sink(struct live_source *live)
{
	return &live->sink;
}

struct record_source *live_source_source(struct live_source *live)
{
	return &live->source;
}

const struct recording_info *live_source_recording(const struct live_source *live)
{
	return &live->recording;
}

void live_source_set_clock(struct live_source *live, uint64_t wall_ns, uint64_t clock_ns)
{
	live->info.wall_clock_ns = wall_ns;
	live->info.clockid_time_ns = clock_ns;
}

int live_source_fd(const struct live_source *live)
{
	return live->fd;
}

uint64_t live_source_left_out(const struct live_source *live)
{
	return live->left_out;
}
