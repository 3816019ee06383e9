/* SPDX-License-Identifier: MIT */
/*
 * When the samples of each entry came, in blocks of time, for who asks how even they are (NEED_BLOCKS). A block is
 * FACT_BUCKET of the cells: its entry is the one that the cell's group counts for itself. All events of a table have as
 * many blocks, so that one can be measured by another. What filters by task leave out is in no cell, only in the
 * totals; nobody knows when it came.
 */
#include "hist/fold_internal.h"

#include <stdlib.h>

void hist_blocks_free(struct hist_blocks *blocks)
{
	if (!blocks)
		return;
	free(blocks->v);
	free(blocks->periods);
	free(blocks->samples);
	free(blocks);
}

/* The rows in order of their entries and, of each, of their blocks. The caller frees the numbers. */
static uint32_t *rows_sorted(const struct hist_blocks *blocks, size_t n_entries)
{
	uint32_t *keys = xcalloc(blocks->n + 1, sizeof(*keys)), *by_block, *order;

	for (size_t i = 0; i < blocks->n; i++)
		keys[i] = blocks->v[i].block;
	by_block = numbers_sorted(keys, blocks->n, blocks->n_blocks, NULL);
	for (size_t i = 0; i < blocks->n; i++)
		keys[i] = blocks->v[i].entry;
	order = numbers_sorted(keys, blocks->n, n_entries, by_block);
	free(keys);
	free(by_block);
	return order;
}

/* Cells of one entry and block become one row. */
static void join(struct hist_blocks *blocks, size_t n_entries)
{
	uint32_t *order = rows_sorted(blocks, n_entries);
	struct entry_block *joined = xcalloc(blocks->n + 1, sizeof(*joined));
	size_t n = 0;

	for (size_t i = 0; i < blocks->n; i++) {
		const struct entry_block *row = &blocks->v[order[i]];

		if (n && joined[n - 1].entry == row->entry && joined[n - 1].block == row->block) {
			joined[n - 1].n_samples += row->n_samples;
			joined[n - 1].period += row->period;
		} else {
			joined[n++] = *row;
		}
	}
	free(order);
	free(blocks->v);
	blocks->v = joined;
	blocks->n = n;
}

size_t hist_blocks_count(const struct table *table)
{
	uint64_t last = 0;

	if (!(table->question->query.needs & NEED_BLOCKS))
		return 0;
	for (size_t i = 0; i < table->n_hists; i++) {
		const struct hist *hist = &table->hists[i];

		for (size_t member = 0; member < hist->n_members; member++)
			for (size_t cell = 0; cell < hist->cells[member]->n; cell++)
				if (cell_fact(hist->cells[member], cell, FACT_BUCKET) > last)
					last = cell_fact(hist->cells[member], cell, FACT_BUCKET);
	}
	return (size_t)(last < STACK_BUCKETS ? last + 1 : STACK_BUCKETS);
}

static size_t block_of(const struct hist_blocks *blocks, const struct cells *cells, size_t cell)
{
	uint64_t block = cell_fact(cells, cell, FACT_BUCKET);

	return (size_t)(block < blocks->n_blocks ? block : blocks->n_blocks - 1);
}

struct hist_blocks *hist_blocks_new(struct entries *entries, const struct groups *groups)
{
	const struct table *table = entries->table;
	const struct cells *cells = entries->hist->cells[0];
	const uint32_t *of_cell;
	struct hist_blocks *blocks;
	size_t cap = 0;

	if (!(table->question->query.needs & NEED_BLOCKS))
		return NULL;
	of_cell = groups->of_cell[0];
	blocks = xcalloc(1, sizeof(*blocks));
	blocks->n_blocks = table->private->n_blocks;
	blocks->periods = xcalloc(blocks->n_blocks, sizeof(*blocks->periods));
	blocks->samples = xcalloc(blocks->n_blocks, sizeof(*blocks->samples));
	for (size_t i = 0; i < cells->n; i++) {
		const struct entry *entry = of_cell[i] ? entries->own[of_cell[i] - 1] : NULL;
		size_t block = block_of(blocks, cells, i);

		if (entry || !table->question->query.percentage_relative) {
			blocks->periods[block] += (double)cells->values[i].period;
			blocks->samples[block] += (double)cells->values[i].n_samples;
		}
		if (!entry)
			continue;
		VEC_GROW(blocks->v, blocks->n, cap);
		blocks->v[blocks->n++] = (struct entry_block){ entry->number, (uint32_t)block,
							       cells->values[i].n_samples, cells->values[i].period };
	}
	join(blocks, entries->n);
	return blocks;
}
