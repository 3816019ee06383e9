/*
 * text_table.c: see text_table.h.
 */
#include "replay/text_table.h"

#include <stdlib.h>

void text_table_release(struct text_table *table)
{
	arena_release(&table->arena);
	free(table->v);
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
	VEC_GROW(table->v, table->n, table->cap);
	table->v[table->n] = arena_strndup(&table->arena, text, len);
	index_add(&table->ix, hash, (uint32_t)table->n);
	return (uint32_t)table->n++;
}
