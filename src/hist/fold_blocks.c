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

static int by_entry(const void *pa, const void *pb)
{
	const struct entry_block *a = pa, *b = pb;

	if (a->entry != b->entry)
		return a->entry < b->entry ? -1 : 1;
	return (a->block > b->block) - (a->block < b->block);
}

/* Cells of one entry and block become one row. */
static void join(struct hist_blocks *blocks)
{
	size_t n = 0;

	if (blocks->n)
		qsort(blocks->v, blocks->n, sizeof(*blocks->v), by_entry);
	for (size_t i = 0; i < blocks->n; i++) {
		if (n && !by_entry(&blocks->v[n - 1], &blocks->v[i])) {
			blocks->v[n - 1].n_samples += blocks->v[i].n_samples;
			blocks->v[n - 1].period += blocks->v[i].period;
		} else {
			blocks->v[n++] = blocks->v[i];
		}
	}
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
	join(blocks);
	return blocks;
}
