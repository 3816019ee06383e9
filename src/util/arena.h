/* SPDX-License-Identifier: MIT */
/*
 * arena: many small pieces of memory that go together. Pieces never move; there is no freeing of one.
 */
#ifndef PSTAT_ARENA_H
#define PSTAT_ARENA_H

#include <stddef.h>

struct arena_block;
struct arena {
	struct arena_block *blocks; /* newest first */
	size_t bytes; /* handed out since the last reset */
};
#define ARENA_INIT { NULL, 0 }

void *arena_alloc(struct arena *arena, size_t bytes); /* aligned for any type; not zeroed */
void *arena_copy(struct arena *arena, const void *bytes, size_t n);
char *arena_strndup(struct arena *arena, const char *text, size_t n);
void arena_release(struct arena *arena);
/* Empty again; one block is kept. */
void arena_reset(struct arena *arena);

#endif
