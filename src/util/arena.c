/* SPDX-License-Identifier: MIT */
/*
 * arena.c: see arena.h. A list of blocks; a piece larger than a block gets one of its own.
 */
#include "util/arena.h"

#include "util/util.h"

#include <stdlib.h>

enum { BLOCK_BYTES = 64 << 10 };

struct arena_block {
	struct arena_block *next;
	size_t used, size; /* bytes of data */
	_Alignas(max_align_t) char data[];
};

void *arena_alloc(struct arena *arena, size_t bytes)
{
	const size_t align = _Alignof(max_align_t);
	size_t need = bytes > SIZE_MAX - align ? bytes : (bytes + align - 1) / align * align;
	struct arena_block *block = arena->blocks;
	void *piece;

	if (!block || need > block->size - block->used) {
		size_t size = need > BLOCK_BYTES ? need : BLOCK_BYTES;

		block = xmalloc(sizeof(*block) + size);
		block->next = arena->blocks;
		block->used = 0;
		block->size = size;
		arena->blocks = block;
	}
	piece = block->data + block->used;
	block->used += need;
	arena->bytes += need;
	return piece;
}

void *arena_copy(struct arena *arena, const void *bytes, size_t n)
{
	void *piece = arena_alloc(arena, n);

	if (n)
		memcpy(piece, bytes, n);
	return piece;
}

char *arena_strndup(struct arena *arena, const char *text, size_t n)
{
	char *piece = arena_alloc(arena, n + 1);

	if (n)
		memcpy(piece, text, n);
	piece[n] = '\0';
	return piece;
}

void arena_release(struct arena *arena)
{
	while (arena->blocks) {
		struct arena_block *next = arena->blocks->next;

		free(arena->blocks);
		arena->blocks = next;
	}
	arena->bytes = 0;
}

void arena_reset(struct arena *arena)
{
	struct arena_block *block = arena->blocks;

	if (!block)
		return;
	while (block->next) {
		struct arena_block *next = block->next->next;

		free(block->next);
		block->next = next;
	}
	block->used = 0;
	arena->bytes = 0;
}
