/* SPDX-License-Identifier: MIT */
/*
 * code_times: a run-time compiler uses its memory again and again. An event covers a range of addresses from its
 * time on, up to the next event there:
 *
 *	addr |  +-a-----------+-moved-        bounds: 4 addresses, 3 pieces
 *	     |  +-a----+-b----+-b-----
 *	     |         +-b------------
 *	     +-------------------------> time
 *
 * The pieces are the leaves of a binary tree, and an event is listed at the few nodes that together are its
 * range. What covers a piece is then in the lists on the way from its leaf to the root, and in each the last
 * one before a time is found by bisection.
 */
#include "sym/code_times.h"

#include <stdlib.h>

enum {
	EVENTS_MAX = 1 << 20,
	LISTED_MAX = 1 << 23, /* in all lists together */
	GONE_STEPS_MAX = 16, /* events at one piece that ended what lay there no more */
};

void code_times_release(struct code_times *times)
{
	free(times->v);
	free(times->bounds);
	free(times->lists);
	free(times->events);
	*times = (struct code_times){ 0 };
}

void code_times_add(struct code_times *times, const struct code_event *event)
{
	if (event->start >= event->end || times->n > EVENTS_MAX)
		return;
	VEC_GROW(times->v, times->n, times->cap);
	times->v[times->n] = *event;
	times->v[times->n].same = (uint32_t)times->n; /* the dump's order, until it is sorted */
	times->n++;
}

/* ---- finish ---- */

static int by_time(const void *a, const void *b)
{
	const struct code_event *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->same > y->same) - (x->same < y->same);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void make_bounds(struct code_times *times)
{
	size_t n = 0;

	times->bounds = xreallocarray(NULL, 2 * times->n, sizeof(*times->bounds));
	for (size_t i = 0; i < times->n; i++) {
		times->bounds[2 * i] = times->v[i].start;
		times->bounds[2 * i + 1] = times->v[i].end;
	}
	qsort(times->bounds, 2 * times->n, sizeof(*times->bounds), by_value);
	for (size_t i = 0; i < 2 * times->n; i++)
		if (!n || times->bounds[n - 1] != times->bounds[i])
			times->bounds[n++] = times->bounds[i];
	times->n_bounds = n;
}

/* How many of the bounds are not above addr. */
static size_t bounds_up_to(const struct code_times *times, uint64_t addr)
{
	return BISECT(i, 0, times->n_bounds, times->bounds[i] <= addr);
}

/* Leaf i is node n_bounds + i, and node i is above 2 i and 2 i + 1. The nodes of an event; returns how many. */
static size_t nodes_of(const struct code_times *times, const struct code_event *event, size_t nodes[128])
{
	size_t low = bounds_up_to(times, event->start) - 1 + times->n_bounds;
	size_t high = bounds_up_to(times, event->end) - 1 + times->n_bounds, n = 0;

	for (; low < high; low /= 2, high /= 2) {
		if (low & 1)
			nodes[n++] = low++;
		if (high & 1)
			nodes[n++] = --high;
	}
	return n;
}

/* false: the lists would be too long. */
static bool make_lists(struct code_times *times)
{
	size_t nodes[128], n_nodes = 2 * times->n_bounds, all = 0;

	times->lists = xcalloc(n_nodes + 1, sizeof(*times->lists));
	for (size_t i = 0; i < times->n; i++) {
		size_t n = nodes_of(times, &times->v[i], nodes);

		all += n;
		while (n--)
			times->lists[nodes[n]]++;
		if (all > LISTED_MAX)
			return false;
	}
	for (size_t i = 1; i <= n_nodes; i++)
		times->lists[i] += times->lists[i - 1];
	/* From the last event on: each list is filled from its end. */
	times->events = xreallocarray(NULL, all, sizeof(*times->events));
	for (size_t i = times->n; i-- > 0;)
		for (size_t n = nodes_of(times, &times->v[i], nodes); n--;)
			times->events[--times->lists[nodes[n]]] = (uint32_t)i;
	return true;
}

static bool is_same(const struct code_event *a, const struct code_event *b)
{
	return a->start == b->start && a->end == b->end && a->name == b->name;
}

struct name_reading {
	const char *names;
	struct joined_name {
		uint32_t own, first; /* offsets: of a name, and of the first one with this text */
	} *v;
	size_t n, cap;
	struct index by_own, by_text;
};

/* Moves have the name of what was loaded, so each text is looked at once. */
static uint32_t first_name(struct name_reading *reading, uint32_t own)
{
	const char *text = reading->names + own;
	uint32_t first = own, i;
	uint64_t hash = hash_word(own);

	if (INDEX_FIND(&reading->by_own, hash, i, reading->v[i].own == own))
		return reading->v[i].first;
	index_add(&reading->by_own, hash, (uint32_t)reading->n);
	hash = hash_bytes(text, strlen(text));
	for (size_t at = index_first(&reading->by_text, hash); index_next(&reading->by_text, hash, &at, &i);)
		if (!strcmp(reading->names + reading->v[i].own, text))
			first = reading->v[i].own;
	if (first == own)
		index_add(&reading->by_text, hash, (uint32_t)reading->n);
	VEC_GROW(reading->v, reading->n, reading->cap);
	reading->v[reading->n++] = (struct joined_name){ own, first };
	return first;
}

static void join_names(struct code_times *times)
{
	struct name_reading reading = { .names = times->names };

	for (size_t i = 0; i < times->n; i++)
		if (times->v[i].kind != CODE_CLOSED)
			times->v[i].name = first_name(&reading, times->v[i].name);
	free(reading.v);
	index_release(&reading.by_own);
	index_release(&reading.by_text);
}

/* Joins events that report one code twice. */
static void join_same(struct code_times *times)
{
	struct index first = { 0 };

	join_names(times);
	for (size_t i = 0; i < times->n; i++) {
		struct code_event *event = &times->v[i];
		const uint64_t words[] = { event->start, event->end, event->name };
		uint64_t hash = hash_words(words, ARRAY_SIZE(words));
		uint32_t k;

		event->same = (uint32_t)i;
		if (event->kind != CODE_LOADED)
			continue;
		for (size_t at = index_first(&first, hash); index_next(&first, hash, &at, &k);)
			if (is_same(&times->v[k], event))
				event->same = k;
		if (event->same == i)
			index_add(&first, hash, (uint32_t)i);
	}
	index_release(&first);
}

bool code_times_finish(struct code_times *times, const char *names)
{
	bool good = times->n && times->n <= EVENTS_MAX;

	times->names = names;
	if (good) {
		qsort(times->v, times->n, sizeof(*times->v), by_time);
		make_bounds(times);
		good = make_lists(times);
	}
	if (good)
		join_same(times);
	else
		code_times_release(times);
	return good;
}

/* ---- questions ---- */

uint32_t code_times_epoch(const struct code_times *times, uint64_t time_ns)
{
	return (uint32_t)BISECT(i, 0, times->n, times->v[i].time_ns <= time_ns);
}

struct around { /* of the events that cover an address, UINT32_MAX: none */
	uint32_t before, after; /* the last one before a number, and the first one from there on */
};

static struct around events_around(const struct code_times *times, size_t piece, uint32_t number)
{
	struct around around = { UINT32_MAX, UINT32_MAX };

	for (size_t node = times->n_bounds + piece; node; node /= 2) {
		const size_t start = times->lists[node], end = times->lists[node + 1];
		const size_t at = BISECT(i, start, end, times->events[i] < number);

		if (at > start && (around.before == UINT32_MAX || times->events[at - 1] > around.before))
			around.before = times->events[at - 1];
		if (at < end && times->events[at] < around.after)
			around.after = times->events[at];
	}
	return around;
}

uint32_t code_times_find(const struct code_times *times, uint64_t addr, uint64_t time_ns)
{
	size_t below = times->n ? bounds_up_to(times, addr) : 0;
	struct around around;

	if (!below || below == times->n_bounds)
		return 0;
	around = events_around(times, below - 1, code_times_epoch(times, time_ns));
	if (around.before == UINT32_MAX) {
		bool comes = around.after != UINT32_MAX && times->v[around.after].kind == CODE_LOADED;

		return comes ? times->v[around.after].same + 1 : 0;
	}
	/* Code that was moved away may have left its place to other code before that was told. */
	for (int step = 0; step < GONE_STEPS_MAX; step++) {
		const struct code_event *found = &times->v[around.before];
		struct around earlier;

		if (found->kind == CODE_LOADED)
			return found->same + 1;
		if (found->kind == CODE_CLOSED)
			break;
		earlier = events_around(times, below - 1, around.before);
		if (earlier.before == UINT32_MAX || is_same(&times->v[earlier.before], found))
			break;
		around = earlier;
	}
	return SYM_CODE_GONE;
}
