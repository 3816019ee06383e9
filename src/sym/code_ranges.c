/* SPDX-License-Identifier: MIT */
/*
 * code_ranges.c: see code_ranges.h.
 */
#include "sym/code_ranges.h"

#include <stdlib.h>

void code_ranges_release(struct code_ranges *ranges)
{
	free(ranges->v);
	str_release(&ranges->names);
	address_space_release(&ranges->latest);
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
	const struct map map = { .start = start, .end = start + size, .prot = (uint32_t)ranges->n };

	if (!size || size > UINT64_MAX - start || ranges->n >= UINT32_MAX)
		return false;
	VEC_GROW(ranges->v, ranges->n, ranges->cap);
	ranges->v[ranges->n++] =
		(struct code_range){ .start = start, .end = start + size, .name = name };
	address_space_add(&ranges->latest, &map, &ranges->clock);
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
	uint32_t piece = earlier->piece; /* a copy: `earlier` may move */

	if (!add_named(ranges, start, size, earlier->name))
		return false;
	ranges->v[ranges->n - 1].piece = piece;
	return true;
}

const struct code_range *code_ranges_find(const struct code_ranges *ranges, uint64_t addr)
{
	const struct map *map = address_space_find(&ranges->latest, addr);

	return map ? &ranges->v[map->prot] : NULL;
}

void code_ranges_flatten(const struct code_ranges *ranges, struct symbol_table *table)
{
	/* The names as they are: a range in many pieces, or moved many times, has its name once. */
	uint32_t names = symbol_table_add_names(table, ranges->names.s, ranges->names.len);
	const struct map *map = NULL;

	while (names != UINT32_MAX && (map = address_space_next(&ranges->latest, map)) != NULL)
		symbol_table_add_named(table, map->start, map->end - map->start, names + ranges->v[map->prot].name,
				       SYMBOL_GLOBAL);
}
