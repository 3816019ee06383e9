/* SPDX-License-Identifier: MIT */
/*
 * address_space.c: see space.h. All changes are made of two steps at a position (chunk, index): putting a map in
 * where no other is, and taking one out.
 *
 * Only the writer makes a chunk's count grow, since snapshots are made by it. So a chunk that it sees with one
 * user is its own and stays so; a count that another thread lowers at that moment costs a copy, no more.
 */
#include "space/space.h"

#include <stdlib.h>
#include <sys/mman.h>

struct position {
	size_t chunk, i;
};

static size_t chunk_bytes(size_t cap)
{
	return sizeof(struct map_chunk) + cap * sizeof(struct map);
}

static void chunk_ref(struct map_chunk *chunk)
{
	atomic_fetch_add_explicit(&chunk->refs, 1, memory_order_relaxed);
}

/* The counts order memory: whatever its users read of a chunk is read before the last of them frees it. */
static void chunk_unref(struct map_chunk *chunk)
{
	if (atomic_fetch_sub_explicit(&chunk->refs, 1, memory_order_acq_rel) == 1)
		free(chunk);
}

/* Users that have gone have read all that they will. */
static bool chunk_is_shared(struct map_chunk *chunk)
{
	return atomic_load_explicit(&chunk->refs, memory_order_acquire) > 1;
}

/* A copy of maps [from, to) with room for more. */
static struct map_chunk *chunk_copy(const struct map_chunk *old, size_t from, size_t to)
{
	size_t n = to - from, cap = n < 6 ? 8 : n + n / 3;
	struct map_chunk *chunk;

	if (cap > MAP_CHUNK_MAX)
		cap = MAP_CHUNK_MAX;
	chunk = xmalloc(chunk_bytes(cap));
	atomic_init(&chunk->refs, 1);
	chunk->n = (uint16_t)n;
	chunk->cap = (uint16_t)cap;
	if (n)
		memcpy(chunk->v, old->v + from, n * sizeof(*chunk->v));
	return chunk;
}

static void chunks_insert(struct address_space *space, size_t at, struct map_chunk *chunk)
{
	VEC_GROW(space->chunks, space->n_chunks, space->cap_chunks);
	memmove(space->chunks + at + 1, space->chunks + at,
		(space->n_chunks - at) * sizeof(*space->chunks));
	space->chunks[at] = chunk;
	space->n_chunks++;
}

/* The chunk, not shared, with room for another map unless it is full. */
static struct map_chunk *chunk_own(struct address_space *space, size_t at)
{
	struct map_chunk *chunk = space->chunks[at];

	if (chunk_is_shared(chunk)) {
		space->chunks[at] = chunk_copy(chunk, 0, chunk->n);
		chunk_unref(chunk);
	} else if (chunk->n == chunk->cap && chunk->cap < MAP_CHUNK_MAX) {
		size_t cap = chunk->cap * 2 < MAP_CHUNK_MAX ? chunk->cap * 2 : MAP_CHUNK_MAX;

		chunk = xreallocarray(chunk, 1, chunk_bytes(cap));
		chunk->cap = (uint16_t)cap;
		space->chunks[at] = chunk;
	}
	return space->chunks[at];
}

static void chunk_split(struct address_space *space, size_t at)
{
	struct map_chunk *low = space->chunks[at];
	size_t half = low->n / 2;

	chunks_insert(space, at + 1, chunk_copy(low, half, low->n));
	low->n = (uint16_t)half;
}

static bool valid(const struct address_space *space, struct position p)
{
	return p.chunk < space->n_chunks;
}

static const struct map *map_at(const struct address_space *space, struct position p)
{
	return &space->chunks[p.chunk]->v[p.i];
}

/* How many of n ascending starts are not above addr. */
static size_t maps_up_to(const struct map *v, size_t n, uint64_t addr)
{
	size_t low = 0;

	while (n) {
		size_t half = n / 2;

		if (v[low + half].start <= addr) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return low;
}

/* The last map that begins at or below addr; false: none does. */
static bool find_below(const struct address_space *space, uint64_t addr, struct position *p)
{
	size_t low = 0, n = space->n_chunks;

	while (n) {
		size_t half = n / 2;

		if (space->chunks[low + half]->v[0].start <= addr) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	if (!low)
		return false;
	p->chunk = low - 1;
	p->i = maps_up_to(space->chunks[p->chunk]->v, space->chunks[p->chunk]->n, addr) - 1;
	return true;
}

static struct position next_of(const struct address_space *space, struct position p)
{
	if (++p.i == space->chunks[p.chunk]->n)
		p = (struct position){ p.chunk + 1, 0 };
	return p;
}

/* The first map that ends above addr; not valid: none does. */
static struct position first_above(const struct address_space *space, uint64_t addr)
{
	struct position p = { 0, 0 };

	if (find_below(space, addr, &p) && map_at(space, p)->end <= addr)
		p = next_of(space, p);
	return p;
}

const struct map *address_space_find(const struct address_space *space, uint64_t addr)
{
	struct position p;
	const struct map *map;

	if (!find_below(space, addr, &p))
		return NULL;
	map = map_at(space, p);
	return addr < map->end ? map : NULL;
}

bool address_space_has_code(const struct address_space *space, uint64_t addr)
{
	const uint64_t vsyscalls = 0xffffffffff600000, page = 4096;
	const struct map *map = address_space_find(space, addr);

	if (!map)
		return addr - vsyscalls < page;
	return !map->prot || (map->prot & PROT_EXEC);
}

const struct map *address_space_below(const struct address_space *space, uint64_t addr)
{
	struct position p;

	return find_below(space, addr, &p) ? map_at(space, p) : NULL;
}

const struct map *address_space_next(const struct address_space *space, const struct map *after)
{
	struct position p = { 0, 0 };

	if (after && find_below(space, after->start, &p))
		p = next_of(space, p);
	return valid(space, p) ? map_at(space, p) : NULL;
}

/* No map of the address space overlaps it. */
static void put(struct address_space *space, const struct map *map)
{
	struct position p = { 0, 0 };
	struct map_chunk *chunk;

	if (!space->n_chunks)
		chunks_insert(space, 0, chunk_copy(NULL, 0, 0));
	else if (find_below(space, map->start, &p))
		p.i++;
	chunk = chunk_own(space, p.chunk);
	if (chunk->n == MAP_CHUNK_MAX) {
		chunk_split(space, p.chunk);
		if (p.i > chunk->n) {
			p = (struct position){ p.chunk + 1, p.i - chunk->n };
			chunk = space->chunks[p.chunk];
		}
	}
	memmove(chunk->v + p.i + 1, chunk->v + p.i, (chunk->n - p.i) * sizeof(*chunk->v));
	chunk->v[p.i] = *map;
	chunk->n++;
	space->n++;
}

/* p is then the position of the map after it. */
static void take_out(struct address_space *space, struct position *p)
{
	struct map_chunk *chunk = chunk_own(space, p->chunk);

	space->n--;
	chunk->n--;
	memmove(chunk->v + p->i, chunk->v + p->i + 1, (chunk->n - p->i) * sizeof(*chunk->v));
	if (!chunk->n) {
		free(chunk);
		space->n_chunks--;
		memmove(space->chunks + p->chunk, space->chunks + p->chunk + 1,
			(space->n_chunks - p->chunk) * sizeof(*space->chunks));
	} else if (p->i == chunk->n) {
		*p = (struct position){ p->chunk + 1, 0 };
	}
}

/* Whether anything was there. */
static bool cut(struct address_space *space, uint64_t start, uint64_t end)
{
	struct position p = first_above(space, start);
	bool any = false;

	while (valid(space, p) && map_at(space, p)->start < end) {
		struct map old = *map_at(space, p);
		struct map *map;

		any = true;
		if (old.start >= start && old.end <= end) {
			take_out(space, &p);
			continue;
		}
		map = &chunk_own(space, p.chunk)->v[p.i];
		if (old.start < start)
			map->end = start;
		if (old.end <= end) {
			p = next_of(space, p);
			continue;
		}
		old.pgoff += end - old.start;
		old.start = end;
		if (map->start < start)
			put(space, &old);
		else
			*map = old;
		break;
	}
	return any;
}

/* Nobody is handed the present version any more: who has no snapshot shares no chunk with one. */
static void forget_snapshot(struct address_space *space)
{
	address_space_snapshot_unref(space->snapshot);
	space->snapshot = NULL;
}

static bool same(const struct map *a, const struct map *b)
{
	return a->start == b->start && a->end == b->end && a->pgoff == b->pgoff &&
	       a->dso == b->dso && a->prot == b->prot && a->flags == b->flags;
}

void address_space_add(struct address_space *space, const struct map *map, uint64_t *clock)
{
	const struct map *there = address_space_find(space, map->start);

	if (map->start >= map->end || (there && same(there, map)))
		return;
	forget_snapshot(space);
	cut(space, map->start, map->end);
	put(space, map);
	space->version = ++*clock;
}

/* Ranges that touch the new one become part of it. */
void address_space_cover(struct address_space *covered, uint64_t start, uint64_t end)
{
	const struct map *first = address_space_below(covered, start), *last = address_space_below(covered, end);
	struct map range = { .start = start, .end = end };
	uint64_t versions = 0;

	if (first && first->end >= start)
		range.start = first->start;
	if (last && last->end > end)
		range.end = last->end;
	address_space_add(covered, &range, &versions);
}

void address_space_fill(struct address_space *space, struct address_space *covered, const struct map *map,
			uint64_t *clock)
{
	struct map piece = *map;

	for (uint64_t at = map->start; at < map->end; at = piece.end) {
		const struct map *there = address_space_below(covered, at), *next;

		if (there && there->end > at) {
			piece.end = there->end;
			continue;
		}
		next = address_space_next(covered, there);
		piece.start = at;
		piece.end = next && next->start < map->end ? next->start : map->end;
		piece.pgoff = map->pgoff + (at - map->start);
		address_space_add(space, &piece, clock);
	}
	if (map->start < map->end)
		address_space_cover(covered, map->start, map->end);
}

void address_space_cut(struct address_space *space, uint64_t start, uint64_t end, uint64_t *clock)
{
	forget_snapshot(space);
	if (start < end && cut(space, start, end))
		space->version = ++*clock;
}

static void drop_chunks(struct address_space *space)
{
	for (size_t i = 0; i < space->n_chunks; i++)
		chunk_unref(space->chunks[i]);
	space->n_chunks = 0;
	space->n = 0;
}

void address_space_release(struct address_space *space)
{
	forget_snapshot(space);
	drop_chunks(space);
	free(space->chunks);
	space->chunks = NULL;
	space->cap_chunks = 0;
}

void address_space_clear(struct address_space *space, uint64_t *clock)
{
	space->is_whole = false;
	if (!space->n)
		return;
	forget_snapshot(space);
	drop_chunks(space);
	space->version = ++*clock;
}

void address_space_share(struct address_space *to, const struct address_space *from)
{
	for (size_t i = 0; i < from->n_chunks; i++) {
		VEC_GROW(to->chunks, to->n_chunks, to->cap_chunks);
		to->chunks[to->n_chunks++] = from->chunks[i];
		chunk_ref(from->chunks[i]);
	}
	to->n = from->n;
	to->is_whole = from->is_whole;
	to->version = from->version;
}

struct address_space_snapshot *address_space_snapshot(struct address_space *space)
{
	if (!space->snapshot) {
		space->snapshot = xcalloc(1, sizeof(*space->snapshot));
		atomic_init(&space->snapshot->refs, 1);
		address_space_share(&space->snapshot->address_space, space);
	}
	return address_space_snapshot_ref(space->snapshot);
}

struct address_space_snapshot *address_space_snapshot_ref(struct address_space_snapshot *snapshot)
{
	atomic_fetch_add_explicit(&snapshot->refs, 1, memory_order_relaxed);
	return snapshot;
}

void address_space_snapshot_unref(struct address_space_snapshot *snapshot)
{
	if (!snapshot ||
	    atomic_fetch_sub_explicit(&snapshot->refs, 1, memory_order_acq_rel) != 1)
		return;
	address_space_release(&snapshot->address_space);
	free(snapshot);
}
