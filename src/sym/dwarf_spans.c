/* SPDX-License-Identifier: MIT */
/*
 * dwarf_spans: ranges that overlap -> spans that don't, so that a look-up is one binary search.
 *
 *	ranges   |------ f, rank 1 -------|          spans   | f | g | h | g | f |
 *	             |---- g, rank 2 -|
 *	                 |h, 3|
 *
 * A sweep over the starts with a heap of the ranges that have begun, the greatest rank on top; those that
 * have ended leave when they come to the top. n log n, whatever the ranges are; improper nesting, which
 * compilers do produce, needs no case of its own.
 */
#include "sym/dwarf_internal.h"

#include <stdlib.h>

struct span_heap {
	const struct dwarf_range **v;
	size_t n, cap;
};

static int by_start(const void *a, const void *b)
{
	const struct dwarf_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Ranks decide; among equals the one that begins later wins: where ranges are copies, mostly the shorter one. */
static bool above(const struct dwarf_range *a, const struct dwarf_range *b)
{
	if (a->rank != b->rank)
		return a->rank > b->rank;
	return by_start(a, b) > 0;
}

static void heap_push(struct span_heap *heap, const struct dwarf_range *range)
{
	size_t at;

	VEC_GROW(heap->v, heap->n, heap->cap);
	for (at = heap->n++; at && above(range, heap->v[(at - 1) / 2]); at = (at - 1) / 2)
		heap->v[at] = heap->v[(at - 1) / 2];
	heap->v[at] = range;
}

static void heap_pop(struct span_heap *heap)
{
	const struct dwarf_range *last = heap->v[--heap->n];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < heap->n) {
		if (child + 1 < heap->n && above(heap->v[child + 1], heap->v[child]))
			child++;
		if (!above(heap->v[child], last))
			break;
		heap->v[at] = heap->v[child];
		at = child;
	}
	heap->v[at] = last;
}

static void emit(struct dwarf_spans *spans, uint64_t start, uint32_t id)
{
	if (spans->n ? spans->v[spans->n - 1].id == id : id == SPAN_NONE)
		return;
	VEC_GROW(spans->v, spans->n, spans->cap);
	spans->v[spans->n++] = (struct dwarf_span){ .start = start, .id = id };
}

void dwarf_spans_build(struct dwarf_spans *spans, struct dwarf_range_list *ranges)
{
	struct span_heap heap = { NULL, 0, 0 };
	size_t next = 0;
	uint64_t at = 0;

	if (ranges->n)
		qsort(ranges->v, ranges->n, sizeof(*ranges->v), by_start);
	while (next < ranges->n || heap.n) {
		if (!heap.n)
			at = ranges->v[next].start;
		while (next < ranges->n && ranges->v[next].start <= at)
			heap_push(&heap, &ranges->v[next++]);
		while (heap.n && heap.v[0]->end <= at)
			heap_pop(&heap);
		emit(spans, at, heap.n ? heap.v[0]->id : SPAN_NONE);
		if (!heap.n)
			continue;
		at = heap.v[0]->end;
		if (next < ranges->n && ranges->v[next].start < at)
			at = ranges->v[next].start;
	}
	free(heap.v);
	free(ranges->v);
	*ranges = (struct dwarf_range_list){ NULL, 0, 0 };
}

uint32_t dwarf_spans_find(const struct dwarf_spans *spans, uint64_t addr)
{
	size_t at = BISECT(i, 0, spans->n, spans->v[i].start <= addr);

	return at ? spans->v[at - 1].id : SPAN_NONE;
}

void dwarf_spans_release(struct dwarf_spans *spans)
{
	free(spans->v);
	*spans = (struct dwarf_spans){ NULL, 0, 0 };
}
