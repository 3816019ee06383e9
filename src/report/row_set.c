/*
 * Distinct rows of 64-bit words: equal rows have one number, numbers are given in order of appearance.
 * A lookup is a hash and, nearly always, one comparison; nothing is ever removed.
 */
#include "report/fold.h"

#include <stdlib.h>

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

	for (size_t at = index_first(&rows->ix, hash); index_next(&rows->ix, hash, &at, &i);)
		if (!bytes || !memcmp(row_set_at(rows, i), row, bytes))
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
