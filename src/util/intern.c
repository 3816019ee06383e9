/* SPDX-License-Identifier: MIT */
/*
 * intern.c: see intern.h. Rows lie one after another in one block, texts in an arena.
 */
#include "util/intern.h"

#include <stdlib.h>

/* ---- rows ---- */

void row_set_init(struct row_set *rows, unsigned width)
{
	*rows = (struct row_set){ .width = width };
}

void row_set_release(struct row_set *rows)
{
	free(rows->v);
	index_release(&rows->ix);
	row_set_init(rows, rows->width);
}

uint32_t row_set_intern(struct row_set *rows, const uint64_t *row)
{
	size_t bytes = rows->width * sizeof(*row);
	uint64_t hash = hash_words(row, rows->width);
	uint32_t i;

	if (INDEX_FIND(&rows->ix, hash, i, !bytes || !memcmp(row_set_at(rows, i), row, bytes)))
		return i;
	if (rows->n == rows->cap) {
		rows->cap = rows->n ? rows->n * 2 : 64;
		rows->v = xreallocarray(rows->v, rows->cap, bytes ? bytes : sizeof(*row));
	}
	if (bytes)
		memcpy(rows->v + rows->n * rows->width, row, bytes);
	index_add(&rows->ix, hash, (uint32_t)rows->n);
	return (uint32_t)rows->n++;
}

/* ---- texts ---- */

struct text_index {
	struct arena arena;
	struct text_row {
		const char *text;
		size_t len;
	} * v;
	size_t n, cap;
	struct index ix;
};

struct text_index *texts_new(void)
{
	return xcalloc(1, sizeof(struct text_index));
}

void texts_free(struct text_index *texts)
{
	if (!texts)
		return;
	arena_release(&texts->arena);
	free(texts->v);
	index_release(&texts->ix);
	free(texts);
}

uint32_t texts_intern(struct text_index *texts, const char *text, size_t len)
{
	uint64_t hash = hash_bytes(text, len);
	uint32_t i;

	if (INDEX_FIND(&texts->ix, hash, i, texts->v[i].len == len && !memcmp(texts->v[i].text, text, len)))
		return i;
	VEC_GROW(texts->v, texts->n, texts->cap);
	texts->v[texts->n] = (struct text_row){ arena_strndup(&texts->arena, text, len), len };
	index_add(&texts->ix, hash, (uint32_t)texts->n);
	return (uint32_t)texts->n++;
}

const char *texts_get(const struct text_index *texts, uint32_t number)
{
	return number < texts->n ? texts->v[number].text : "";
}
