/*
 * code_ranges: a run-time compiler uses its memory again and again, so that one address is of several
 * functions in turn. The latest one wins, address by address:
 *
 *	time |    +--c--+              start and end of c cut b in two
 *	     |  +---b-----+
 *	     |     +---a----+
 *	     +-------------------> address:   b b c c c c c b b a
 *
 * One sweep over the starts, with the ranges that are open kept in a heap, latest first.
 */
#include "sym/code_ranges.h"

#include <stdlib.h>

void code_ranges_release(struct code_ranges *ranges)
{
	free(ranges->v);
	str_release(&ranges->names);
	*ranges = (struct code_ranges)CODE_RANGES_INIT;
}

/* Cost of a range, or of a record that made none, beside its name. */
enum { STEP_WORK = 64 };

bool code_ranges_spend(struct code_ranges *ranges, size_t bytes)
{
	uint64_t work = STEP_WORK + (uint64_t)bytes;

	if (ranges->work_left < work)
		return false;
	ranges->work_left -= work;
	return true;
}

static bool add_named(struct code_ranges *ranges, uint64_t start, uint64_t size, uint32_t name)
{
	if (!size || size > UINT64_MAX - start || ranges->n >= UINT32_MAX)
		return false;
	VEC_GROW(ranges->v, ranges->n, ranges->cap);
	ranges->v[ranges->n++] =
		(struct code_range){ .start = start, .end = start + size, .name = name };
	return true;
}

bool code_ranges_add(struct code_ranges *ranges, uint64_t start, uint64_t size, const char *name,
		     size_t name_len)
{
	size_t len = strnlen(name, name_len);

	if (!len || len >= UINT32_MAX - ranges->names.len ||
	    !add_named(ranges, start, size, (uint32_t)ranges->names.len))
		return false;
	str_addn(&ranges->names, name, len);
	str_addc(&ranges->names, '\0');
	return true;
}

bool code_ranges_add_again(struct code_ranges *ranges, uint64_t start, uint64_t size,
			   const struct code_range *earlier)
{
	uint64_t bytes_at = earlier->bytes_at; /* a copy: `earlier` may move */

	if (!add_named(ranges, start, size, earlier->name))
		return false;
	ranges->v[ranges->n - 1].bytes_at = bytes_at;
	return true;
}

/* ---- the sweep; an index is also the time: greater is later ---- */

struct range_heap { /* the greatest index at v[0] */
	uint32_t *v;
	size_t n;
};

static void heap_push(struct range_heap *heap, uint32_t value)
{
	size_t i = heap->n++;

	for (; i && heap->v[(i - 1) / 2] < value; i = (i - 1) / 2)
		heap->v[i] = heap->v[(i - 1) / 2];
	heap->v[i] = value;
}

static void heap_pop(struct range_heap *heap)
{
	uint32_t value = heap->v[--heap->n];
	size_t i = 0;

	for (size_t child = 1; child < heap->n; child = 2 * i + 1) {
		if (child + 1 < heap->n && heap->v[child + 1] > heap->v[child])
			child++;
		if (heap->v[child] <= value)
			break;
		heap->v[i] = heap->v[child];
		i = child;
	}
	heap->v[i] = value;
}

struct start {
	uint64_t start;
	uint32_t index;
};

static int compare_starts(const void *a, const void *b)
{
	const struct start *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static struct start *sorted_starts(const struct code_ranges *ranges)
{
	struct start *starts = xreallocarray(NULL, ranges->n, sizeof(*starts));

	for (size_t i = 0; i < ranges->n; i++)
		starts[i] = (struct start){ ranges->v[i].start, (uint32_t)i };
	qsort(starts, ranges->n, sizeof(*starts), compare_starts);
	return starts;
}

void code_ranges_flatten(const struct code_ranges *ranges, struct symbol_table *table)
{
	struct start *starts = sorted_starts(ranges);
	struct range_heap open = { .v = xreallocarray(NULL, ranges->n, sizeof(*open.v)) };
	/* The names as they are: a range in many pieces, or moved many times, has its name once. */
	uint32_t names = symbol_table_add_names(table, ranges->names.s, ranges->names.len);
	uint64_t at = 0;
	size_t next = names == UINT32_MAX ? ranges->n : 0;

	while (open.n || next < ranges->n) {
		uint32_t top;
		uint64_t end;

		if (!open.n) {
			at = starts[next].start;
			heap_push(&open, starts[next++].index);
		}
		top = open.v[0];
		end = ranges->v[top].end;
		if (end <= at) {
			heap_pop(&open);
			continue;
		}
		while (next < ranges->n && open.v[0] == top && starts[next].start < end)
			heap_push(&open, starts[next++].index);
		if (open.v[0] != top) /* a later one begins within: the last one pushed */
			end = starts[next - 1].start;
		if (end > at)
			symbol_table_add_named(table, at, end - at, names + ranges->v[top].name,
					       SYMBOL_GLOBAL);
		at = end;
	}
	free(open.v);
	free(starts);
}
