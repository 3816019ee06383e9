/*
 * read_ahead.c: see read_ahead.h. Block b lies in slot b % BLOCKS. A record that begins in one block and ends in the
 * next is in one piece in front of the second, where its beginning is copied to:
 *
 *	slot:  [ front ..... | end of the block before ][ block ............................ ]
 *	                      <-------- tail ----------> bytes
 *
 * The lock is for who reads which block. The thread never reads into a slot whose block may still be looked at: it is
 * less than AHEAD blocks before the present one, and one that lies BLOCKS - AHEAD back is not given again.
 */
#include "data/read_ahead.h"

#include "data/data.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	BLOCK_BYTES = 128 << 10,
	FRONT_BYTES = 64 << 10,
	BLOCKS = 32,
	AHEAD = 12,
	THREAD_FROM = 8, /* blocks that were read, before it is worth a thread */
	THREAD_FOR = 32, /* and blocks that are left */
	STACK_BYTES = 128 << 10,
};
#define NO_BLOCK UINT64_MAX

_Static_assert((int)FRONT_BYTES >= (int)RECORD_BYTES_MAX && (int)BLOCK_BYTES >= (int)RECORD_BYTES_MAX,
	       "a record lies in two blocks at most, and its beginning has room in front of the second");

struct block_slot {
	uint64_t block; /* NO_BLOCK: none */
	size_t have; /* bytes of it that could be read */
	size_t tail; /* bytes of the block before that lie in front; 0: none */
	uint8_t *bytes; /* FRONT_BYTES lie in front */
};

struct read_ahead {
	int fd;
	uint64_t end, n_blocks;
	uint8_t *room;
	struct block_slot *slots; /* BLOCKS */
	uint64_t at; /* the present block; NO_BLOCK: before the first call */
	bool failed;
	bool thread_tried, has_thread;
	pthread_t thread;

	pthread_mutex_t lock;
	pthread_cond_t work, done;
	/* Under the lock. */
	uint64_t next; /* the first block that nobody has begun to read */
	uint64_t limit; /* the thread begins only those before it */
	uint64_t reading; /* by the thread; NO_BLOCK */
	bool sleeps, stops;
};

struct read_ahead *read_ahead_new(int fd, uint64_t end)
{
	struct read_ahead *ahead = xcalloc(1, sizeof(*ahead));

	ahead->fd = fd;
	ahead->end = end;
	ahead->n_blocks = end / BLOCK_BYTES + !!(end % BLOCK_BYTES);
	ahead->at = ahead->reading = NO_BLOCK;
	ahead->room = xmalloc((size_t)BLOCKS * (FRONT_BYTES + BLOCK_BYTES));
	ahead->slots = xcalloc(BLOCKS, sizeof(*ahead->slots));
	for (size_t i = 0; i < BLOCKS; i++) {
		ahead->slots[i].block = NO_BLOCK;
		ahead->slots[i].bytes = ahead->room + i * (FRONT_BYTES + BLOCK_BYTES) + FRONT_BYTES;
	}
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->work, NULL);
	pthread_cond_init(&ahead->done, NULL);
	return ahead;
}

void read_ahead_free(struct read_ahead *ahead)
{
	if (!ahead)
		return;
	if (ahead->has_thread) {
		pthread_mutex_lock(&ahead->lock);
		ahead->stops = true;
		pthread_cond_signal(&ahead->work);
		pthread_mutex_unlock(&ahead->lock);
		pthread_join(ahead->thread, NULL);
	}
	pthread_mutex_destroy(&ahead->lock);
	pthread_cond_destroy(&ahead->work);
	pthread_cond_destroy(&ahead->done);
	close(ahead->fd);
	free(ahead->slots);
	free(ahead->room);
	free(ahead);
}

static struct block_slot *slot_of(const struct read_ahead *ahead, uint64_t block)
{
	return &ahead->slots[block % BLOCKS];
}

/* How many bytes a whole block has: the last one of the file has fewer. */
static size_t block_bytes(const struct read_ahead *ahead, uint64_t block)
{
	uint64_t left = ahead->end - block * BLOCK_BYTES;

	return left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES;
}

static void read_block(struct read_ahead *ahead, uint64_t block)
{
	struct block_slot *slot = slot_of(ahead, block);
	size_t want = block_bytes(ahead, block);

	slot->block = block;
	slot->have = slot->tail = 0;
	while (slot->have < want) {
		ssize_t got = pread(ahead->fd, slot->bytes + slot->have, want - slot->have,
				    (off_t)(block * BLOCK_BYTES + slot->have));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return;
		slot->have += (size_t)got;
	}
}

/* ---- the thread ---- */

static void *thread_main(void *data)
{
	struct read_ahead *ahead = data;

	pthread_mutex_lock(&ahead->lock);
	while (!ahead->stops && ahead->next < ahead->n_blocks) {
		if (ahead->next >= ahead->limit) {
			ahead->sleeps = true;
			pthread_cond_wait(&ahead->work, &ahead->lock);
			ahead->sleeps = false;
			continue;
		}
		ahead->reading = ahead->next++;
		pthread_mutex_unlock(&ahead->lock);
		read_block(ahead, ahead->reading);
		pthread_mutex_lock(&ahead->lock);
		ahead->reading = NO_BLOCK;
		pthread_cond_signal(&ahead->done);
	}
	pthread_mutex_unlock(&ahead->lock);
	return NULL;
}

static bool has_cpu_to_spare(void)
{
	cpu_set_t set;

	/* A machine with more CPUs than the set has room for has some to spare. */
	return sched_getaffinity(0, sizeof(set), &set) || CPU_COUNT(&set) > 1;
}

/* Once. Where no thread can be had it goes without. */
static void start_thread(struct read_ahead *ahead)
{
	pthread_attr_t attr;

	ahead->thread_tried = true;
	if (!has_cpu_to_spare() || pthread_attr_init(&attr))
		return;
	/* The thread needs little. If the size is refused it has the usual one. */
	(void)!pthread_attr_setstacksize(&attr, STACK_BYTES);
	ahead->has_thread = !thread_start(&ahead->thread, &attr, thread_main, ahead);
	pthread_attr_destroy(&attr);
}

/* ---- the reader's side ---- */

/* Makes this block, after the present one, the present one. */
static void go_to(struct read_ahead *ahead, uint64_t block)
{
	bool reads;

	if (!ahead->thread_tried && block >= THREAD_FROM && ahead->n_blocks - block >= THREAD_FOR)
		start_thread(ahead);
	pthread_mutex_lock(&ahead->lock);
	/* Blocks that are skipped need not be read; the thread may be at one whose slot is wanted now. */
	while (ahead->next < block && ahead->reading != NO_BLOCK)
		pthread_cond_wait(&ahead->done, &ahead->lock);
	if (ahead->next < block)
		ahead->next = block;
	ahead->limit = block + AHEAD;
	reads = ahead->next == block;
	ahead->next += reads;
	if (ahead->sleeps && ahead->limit - ahead->next >= AHEAD / 2)
		pthread_cond_signal(&ahead->work);
	while (ahead->reading <= block)
		pthread_cond_wait(&ahead->done, &ahead->lock);
	pthread_mutex_unlock(&ahead->lock);
	if (reads)
		read_block(ahead, block);
	ahead->at = block;
	ahead->failed |= slot_of(ahead, block)->have < block_bytes(ahead, block);
}

/* The block was read, and its slot is still its own. */
static bool is_kept(const struct read_ahead *ahead, uint64_t block)
{
	return ahead->at != NO_BLOCK && block <= ahead->at && ahead->at - block <= BLOCKS - AHEAD &&
	       slot_of(ahead, block)->block == block;
}

/* Puts in front of the block the record that ends there: `tail` bytes of the block before. */
static const uint8_t *join(const struct read_ahead *ahead, uint64_t block, size_t tail)
{
	struct block_slot *slot = slot_of(ahead, block);
	const struct block_slot *before = slot_of(ahead, block - 1);

	if (slot->tail < tail && !is_kept(ahead, block - 1))
		return NULL;
	if (slot->tail < tail) {
		memcpy(slot->bytes - tail, before->bytes + BLOCK_BYTES - tail, tail);
		slot->tail = tail;
	}
	return slot->bytes - tail;
}

const uint8_t *read_ahead_at(struct read_ahead *ahead, uint64_t offset, size_t n)
{
	uint64_t first = offset / BLOCK_BYTES, last = (offset + n - 1) / BLOCK_BYTES;

	for (uint64_t block = first; block <= last && !ahead->failed; block++)
		if (ahead->at == NO_BLOCK || block > ahead->at)
			go_to(ahead, block);
	if (ahead->failed || !is_kept(ahead, last))
		return NULL;
	if (first < last)
		return join(ahead, last, (size_t)(last * BLOCK_BYTES - offset));
	return slot_of(ahead, first)->bytes + offset % BLOCK_BYTES;
}

const uint8_t *read_ahead_again(const struct read_ahead *ahead, uint64_t offset)
{
	uint64_t block = offset / BLOCK_BYTES;
	size_t tail = (size_t)((block + 1) * BLOCK_BYTES - offset);

	if (ahead->failed)
		return NULL;
	/* One record at most that begins in a block ends in the next. */
	if (is_kept(ahead, block + 1) && slot_of(ahead, block + 1)->tail == tail)
		return slot_of(ahead, block + 1)->bytes - tail;
	return is_kept(ahead, block) ? slot_of(ahead, block)->bytes + offset % BLOCK_BYTES : NULL;
}
