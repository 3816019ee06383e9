/* SPDX-License-Identifier: MIT */
/*
 * order.c: see order.h. A ring's records are in order already, so what arrives is a few runs, each in
 * order: they are noted while they arrive and merged when a round ends. With one ring there is one
 * run, and nothing is moved.
 *
 *	v:  | given back | ready | run ..... | run .. | run ....... |
 *	    0            at      ready       runs[0]  runs[1]       n
 *
 * Records whose bytes don't stay are copied into blocks; a block goes with the last of its records.
 */
#include "replay/order.h"

#include <stdlib.h>

enum {
	BLOCK_BYTES = 256 << 10,
	SPARE_MAX = 16, /* blocks that are kept: of a live view as many are needed in each round */
};

struct order_block {
	struct order_block *next; /* among the spare ones */
	size_t live; /* copies that are still needed */
	size_t used;
	_Alignas(uint64_t) uint8_t bytes[BLOCK_BYTES];
};

struct order_copy {
	struct order_block *block;
	uint64_t inner1; /* 1 + the record's inner_offset, if it was compressed; else 0 */
	uint64_t bytes[]; /* aligned as decoding likes it */
};

_Static_assert(sizeof(struct order_copy) + RECORD_BYTES_MAX + 8 <= BLOCK_BYTES,
	       "any record fits into a block");

void order_init(struct order *order, bool swap)
{
	memset(order, 0, sizeof(*order));
	order->swap = swap;
}

/* An empty one, of those that were used before if there is any: fresh memory costs a fault a page. */
static struct order_block *block_new(struct order *order)
{
	struct order_block *block = order->spare_blocks;

	if (block) {
		order->spare_blocks = block->next;
		order->n_spare_blocks--;
	} else {
		block = xmalloc(sizeof(*block));
	}
	block->live = block->used = 0;
	return block;
}

static void block_drop(struct order *order, struct order_block *block)
{
	if (order->n_spare_blocks == SPARE_MAX) {
		free(block);
		return;
	}
	block->next = order->spare_blocks;
	order->spare_blocks = block;
	order->n_spare_blocks++;
}

static void copy_drop(struct order *order, struct order_copy *copy)
{
	struct order_block *block = copy->block;

	if (--block->live)
		return;
	order->bytes -= block->used;
	if (block == order->block)
		block->used = 0;
	else
		block_drop(order, block);
}

static const struct order_copy *copy_of(const struct order_entry *item)
{
	return item->offset & 1 ? item->at : NULL;
}

/* Blocks are reached through their copies only, so these are given back one by one. */
void order_release(struct order *order)
{
	struct record record;
	uint64_t time_ns;

	order->ready = order->n;
	while (order_next(order, &record, &time_ns))
		;
	while (order->spare_blocks) {
		struct order_block *block = order->spare_blocks;

		order->spare_blocks = block->next;
		free(block);
	}
	free(order->block);
	free(order->v);
	free(order->runs);
	free(order->spare);
	order_init(order, false);
}

static struct order_copy *copy_new(struct order *order, const struct record *record)
{
	size_t need = sizeof(struct order_copy) + (record->size + 7U) / 8 * 8;
	struct order_block *block = order->block;
	struct order_copy *copy;

	if (!block || need > BLOCK_BYTES - block->used) {
		if (block && !block->live)
			block_drop(order, block);
		block = order->block = block_new(order);
	}
	copy = (struct order_copy *)(void *)(block->bytes + block->used);
	block->used += need;
	order->bytes += need;
	block->live++;
	copy->block = block;
	copy->inner1 = record->compressed ? record->inner_offset + 1 : 0;
	memcpy(copy->bytes, record->bytes, record->size);
	return copy;
}

void order_add(struct order *order, const struct record *record, uint64_t time_ns, bool stable)
{
	struct order_entry item = { time_ns, record->offset << 1, record->bytes };

	if (!stable) {
		item.at = copy_new(order, record);
		item.offset |= 1;
	}
	if (order->n > order->ready && order->v[order->n - 1].time_ns > time_ns) {
		VEC_GROW(order->runs, order->n_runs, order->cap_runs);
		order->runs[order->n_runs++] = order->n;
	}
	VEC_GROW(order->v, order->n, order->cap);
	order->v[order->n++] = item;
	order->bytes += sizeof(item);
	order->last_ns = time_ns;
	if (time_ns > order->newest_ns)
		order->newest_ns = time_ns;
}

/* Makes room where records were that have been handed out. */
static void forget_given(struct order *order)
{
	size_t gone = order->at;

	if (!gone)
		return;
	order->n -= gone;
	order->ready -= gone;
	order->at = 0;
	memmove(order->v, order->v + gone, order->n * sizeof(*order->v));
	for (size_t i = 0; i < order->n_runs; i++)
		order->runs[i] -= gone;
}

/* [a, b) and [b, c) of `from`, each in order, to the same place of `to`. */
static void merge(struct order_entry *to, const struct order_entry *from, size_t a, size_t b,
		  size_t c)
{
	size_t left = a, right = b, out = a;

	while (left < b && right < c)
		to[out++] = from[right].time_ns < from[left].time_ns ? from[right++] : from[left++];
	memcpy(to + out, from + left, (b - left) * sizeof(*to));
	memcpy(to + out + (b - left), from + right, (c - right) * sizeof(*to));
}

/* Neighbours become one run each; the starts of the second ones are dropped. */
static void merge_pairs(struct order *order)
{
	size_t start = 0, kept = 0, i = 0;
	struct order_entry *from = order->v;

	while (start < order->n) {
		size_t middle = i < order->n_runs ? order->runs[i++] : order->n;
		size_t end = i < order->n_runs ? order->runs[i++] : order->n;

		merge(order->spare, from, start, middle, end);
		if (end < order->n)
			order->runs[kept++] = end;
		start = end;
	}
	order->n_runs = kept;
	order->v = order->spare;
	order->spare = from;
}

static void sort(struct order *order)
{
	forget_given(order);
	if (order->n_runs && order->spare_cap < order->cap) {
		free(order->spare);
		order->spare = xreallocarray(NULL, order->cap, sizeof(*order->spare));
		order->spare_cap = order->cap;
	}
	while (order->n_runs) {
		size_t cap = order->cap;

		merge_pairs(order);
		order->cap = order->spare_cap;
		order->spare_cap = cap;
	}
}

void order_round(struct order *order)
{
	sort(order);
	order->ready = BISECT(i, 0, order->n, order->v[i].time_ns <= order->round_ns);
	order->round_ns = order->newest_ns;
}

void order_half(struct order *order)
{
	sort(order);
	order->ready = order->n - order->n / 2;
}

void order_all(struct order *order)
{
	sort(order);
	order->ready = order->n;
}

static void stable_record(const struct order *order, const struct order_entry *item, struct record *record)
{
	record_from_bytes(record, item->at, item->offset >> 1, order->swap);
	record->stable = true;
}

static void copied_record(const struct order *order, const struct order_entry *item, struct record *record)
{
	const struct order_copy *copy = item->at;

	record_from_bytes(record, (const uint8_t *)copy->bytes, item->offset >> 1, order->swap);
	if (copy->inner1) {
		record->compressed = true;
		record->inner_offset = copy->inner1 - 1;
	}
}

bool order_next(struct order *order, struct record *record, uint64_t *time_ns)
{
	const struct order_entry *item;

	if (order->handed_out) {
		copy_drop(order, order->handed_out);
		order->handed_out = NULL;
	}
	if (order->at == order->ready)
		return false;
	item = &order->v[order->at++];
	*time_ns = item->time_ns;
	if (copy_of(item)) {
		/* The item lies in v, where it is not looked at again. */
		memcpy(&order->handed_out, &item->at, sizeof(order->handed_out));
		copied_record(order, item, record);
	} else {
		stable_record(order, item, record);
	}
	order->bytes -= sizeof(*item);
	return true;
}
