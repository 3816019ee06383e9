/* SPDX-License-Identifier: MIT */
/*
 * text_table.c: see text_table.h.
 */
#include "replay/text_table.h"

#include <stdlib.h>

void text_table_release(struct text_table *table)
{
	arena_release(&table->arena);
	free(table->v);
	free(table->free);
	index_release(&table->ix);
	memset(table, 0, sizeof(*table));
}

uint32_t text_table_add(struct text_table *table, const char *text)
{
	size_t len = strlen(text);
	uint64_t hash = hash_bytes(text, len);
	uint32_t i;

	if (INDEX_FIND(&table->ix, hash, i, !strcmp(table->v[i], text)))
		return i;
	if (table->n_free) {
		i = table->free[--table->n_free];
	} else {
		VEC_GROW(table->v, table->n, table->cap);
		i = (uint32_t)table->n++;
	}
	table->v[i] = arena_strndup(&table->arena, text, len);
	index_add(&table->ix, hash, i);
	return i;
}

void text_table_keep(struct text_table *table, const bool *used)
{
	struct arena old = table->arena;

	table->arena = (struct arena)ARENA_INIT;
	table->free = xreallocarray(table->free, table->n + 1, sizeof(*table->free));
	table->n_free = 0;
	index_clear(&table->ix);
	for (size_t i = table->n; i-- > 0;) { /* the lowest number is given first */
		size_t len = table->v[i] ? strlen(table->v[i]) : 0;

		if (!table->v[i] || !used[i]) {
			table->v[i] = NULL;
			table->free[table->n_free++] = (uint32_t)i;
			continue;
		}
		table->v[i] = arena_strndup(&table->arena, table->v[i], len);
		index_add(&table->ix, hash_bytes(table->v[i], len), (uint32_t)i);
	}
	arena_release(&old);
}
