/*
 * One cell per distinct combination of the facts that are kept. Facts lie in one array, values in another
 * and in the same order; a hash finds the cell. Adding to a cell that is there allocates nothing.
 */
#include "profile/profile.h"

#include <stdlib.h>

void cells_init(struct cells *cells, uint64_t facts)
{
	*cells = (struct cells){ .n_facts = 0 };
	for (unsigned fact = 0; fact < FACTS; fact++) {
		bool keep = facts >> fact & 1;

		cells->at[fact] = keep ? (uint8_t)cells->n_facts : UINT8_MAX;
		if (keep)
			cells->kept[cells->n_facts++] = (uint8_t)fact;
	}
}

void cells_release(struct cells *cells)
{
	free(cells->facts);
	free(cells->values);
	index_release(&cells->ix);
	cells_init(cells, 0);
}

static size_t new_cell(struct cells *cells, const uint64_t *words, uint64_t hash)
{
	size_t i = cells->n;

	if (i == cells->cap) {
		cells->cap = i ? i + i / 2 : 64;
		cells->facts = xreallocarray(cells->facts, cells->cap,
					     cells->n_facts * sizeof(*cells->facts));
		cells->values = xreallocarray(cells->values, cells->cap, sizeof(*cells->values));
	}
	if (cells->n_facts)
		memcpy(cells->facts + i * cells->n_facts, words, cells->n_facts * sizeof(*words));
	cells->values[i] = (struct cell_values){ .n_samples = 0 };
	index_add(&cells->ix, hash, (uint32_t)i);
	cells->n++;
	return i;
}

static bool is_cell(const struct cells *cells, size_t i, const uint64_t *words)
{
	const uint64_t *facts = cells->facts + i * cells->n_facts;

	for (unsigned f = 0; f < cells->n_facts; f++)
		if (facts[f] != words[f])
			return false;
	return true;
}

static size_t find_cell(struct cells *cells, const uint64_t *words)
{
	uint64_t hash = hash_words(words, cells->n_facts);
	uint32_t i;

	for (size_t at = index_first(&cells->ix, hash); index_next(&cells->ix, hash, &at, &i);)
		if (is_cell(cells, i, words))
			return i;
	return new_cell(cells, words, hash);
}

void cells_add(struct cells *cells, const uint64_t *facts, const struct cell_values *values)
{
	uint64_t words[FACTS];
	struct cell_values *sum;
	size_t cell;

	for (unsigned f = 0; f < cells->n_facts; f++)
		words[f] = facts[cells->kept[f]];
	cell = find_cell(cells, words); /* may move the values */
	sum = &cells->values[cell];
	if (!sum->n_samples)
		sum->tid = values->tid;
	sum->n_samples += values->n_samples;
	sum->period += values->period;
	sum->weight += values->weight;
}
