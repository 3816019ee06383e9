/* SPDX-License-Identifier: MIT */
/*
 * code_blocks: a branch stack says how many cycles went by between two branches. Those of a branch count for the code
 * that ended with it, and that began where the branch before it went to:
 *
 *	before: 0x10 -> 0x80        now: 0x9c -> 0x20, 12 cycles        block: 0x80 ... 0x9c, 12 cycles
 *
 * Code is a block of one function, known by its last instruction. Where it was entered in several places the block is
 * the longest one, as in perf: cycles of shorter runs are in it. The start is not known of the oldest branch of a
 * stack, where the branch before went to another function, and where not all branches were recorded.
 */
#include "hist/keys_internal.h"

#include <math.h>
#include <stdlib.h>

/* The function's block that ends there; a new one has no start. */
static struct code_block *find_block(struct code_blocks *blocks, struct row_set *ends, const struct symbol *symbol,
				     uint32_t location, uint64_t offset)
{
	const uint64_t end[] = { (uintptr_t)symbol, offset };
	const uint32_t i = row_set_intern(ends, end);

	if (i == blocks->n) {
		VEC_GROW(blocks->v, blocks->n, blocks->cap);
		blocks->v[blocks->n++] = (struct code_block){
			.symbol = symbol, .start = LOCATION_NONE, .end = location, .end_offset = offset,
		};
	}
	return &blocks->v[i];
}

static void lengthen(struct table *table, struct code_block *block, uint32_t start)
{
	uint64_t offset;

	if (start == LOCATION_NONE || location_symbol(table->session, start) != block->symbol)
		return;
	offset = table_location_row(table, start)->addr - block->symbol->start;
	if (offset > block->end_offset || (block->start != LOCATION_NONE && offset >= block->start_offset))
		return;
	block->start = start;
	block->start_offset = offset;
}

/* How many binary digits a run's cycles have. */
static size_t class_of(uint64_t cycles)
{
	size_t digits = 0;

	for (; cycles && digits < CODE_BLOCK_CLASSES - 1; cycles >>= 1)
		digits++;
	return digits;
}

static void add_branches(struct table *table, struct code_blocks *blocks, struct row_set *ends,
			 const struct cells *cells, size_t cell, uint32_t from)
{
	const uint64_t n = cells->values[cell].n_samples, each = cell_fact(cells, cell, FACT_BRANCH_CYCLES);
	const uint64_t cycles = n * each;
	const struct symbol *symbol = location_symbol(table->session, from);
	struct code_block *block;

	blocks->cycles += cycles;
	if (!cycles || !symbol)
		return;
	block = find_block(blocks, ends, symbol, from, table_location_row(table, from)->addr - symbol->start);
	lengthen(table, block, (uint32_t)cell_fact(cells, cell, FACT_BLOCK_START));
	block->n += n;
	block->cycles += cycles;
	block->squares += (double)cycles * (double)each;
	block->runs[class_of(each)] += n;
}

static int compare_blocks(const void *pa, const void *pb)
{
	const struct code_block *a = pa, *b = pb;
	int order = (a->cycles < b->cycles) - (a->cycles > b->cycles);

	order = order ? order : strcmp(a->symbol->name, b->symbol->name);
	order = order ? order : strcmp(a->symbol->dso->path, b->symbol->dso->path);
	return order ? order : (a->end_offset > b->end_offset) - (a->end_offset < b->end_offset);
}

struct code_blocks *code_blocks_new(struct table *table, const struct hist *hist)
{
	struct code_blocks *blocks = xcalloc(1, sizeof(*blocks));
	const struct cells *cells = hist->cells[0];
	struct row_set ends;

	row_set_init(&ends, 2);
	for (size_t i = 0; i < cells->n; i++) {
		const uint32_t from = (uint32_t)cell_fact(cells, i, FACT_FROM);

		if (table_takes_cell_at(table, cells, i, from))
			add_branches(table, blocks, &ends, cells, i, from);
	}
	row_set_release(&ends);
	for (size_t i = 0; i < blocks->n; i++)
		blocks->means += code_block_mean(&blocks->v[i]);
	if (blocks->n)
		qsort(blocks->v, blocks->n, sizeof(*blocks->v), compare_blocks);
	return blocks;
}

void code_blocks_free(struct code_blocks *blocks)
{
	free(blocks->v);
	free(blocks);
}

double code_block_deviation(const struct code_block *block)
{
	const double mean = (double)block->cycles / (double)block->n;
	const double variance = block->squares / (double)block->n - mean * mean;

	return variance > 0 ? sqrt(variance) : 0;
}

void code_block_add_runs(const struct code_block *block, struct str *out)
{
	const char *between = "";

	for (size_t i = 1; i < CODE_BLOCK_CLASSES; i++) {
		if (!block->runs[i])
			continue;
		str_addf(out, "%s%u-%u:%llu", between, 1u << (i - 1), (1u << i) - 1,
			 (unsigned long long)block->runs[i]);
		between = " ";
	}
}

/* ---- two recordings ---- */

static int compare_places(const struct code_block *a, const struct code_block *b)
{
	int order = strcmp(a->symbol->name, b->symbol->name);

	order = order ? order : strcmp(a->symbol->dso->name, b->symbol->dso->name);
	order = order ? order : (a->end_offset > b->end_offset) - (a->end_offset < b->end_offset);
	order = order ? order : (a->start == LOCATION_NONE) - (b->start == LOCATION_NONE);
	return order || a->start == LOCATION_NONE ? order : (a->start_offset > b->start_offset) -
							    (a->start_offset < b->start_offset);
}

static int compare_by_place(const void *pa, const void *pb)
{
	return compare_places(*(const struct code_block *const *)pa, *(const struct code_block *const *)pb);
}

/* The blocks by place; the caller frees. */
static const struct code_block **sort_by_place(const struct code_blocks *blocks)
{
	const struct code_block **sorted = xcalloc(blocks->n + 1, sizeof(*sorted));

	for (size_t i = 0; i < blocks->n; i++)
		sorted[i] = &blocks->v[i];
	qsort(sorted, blocks->n, sizeof(*sorted), compare_by_place);
	return sorted;
}

static int compare_pairs(const void *pa, const void *pb)
{
	const struct code_block_pair *a = pa, *b = pb;
	const uint64_t x = (uint64_t)llabs(a->change), y = (uint64_t)llabs(b->change);

	return x != y ? (x < y ? 1 : -1) : compare_blocks(a->before, b->before);
}

static void add_lone(struct code_block_pairs *pairs, size_t side, const struct code_block *block)
{
	pairs->n_lone[side]++;
	pairs->lone_cycles[side] += block->cycles;
}

struct code_block_pairs *code_block_pairs_new(const struct code_blocks *before, const struct code_blocks *now)
{
	const struct code_block **a = sort_by_place(before), **b = sort_by_place(now);
	struct code_block_pairs *pairs = xcalloc(1, sizeof(*pairs));
	size_t i = 0, k = 0;

	pairs->v = xcalloc(before->n + 1, sizeof(*pairs->v));
	while (i < before->n || k < now->n) {
		int order = i == before->n ? 1 : k == now->n ? -1 : compare_places(a[i], b[k]);

		if (order < 0) {
			add_lone(pairs, 0, a[i++]);
		} else if (order > 0) {
			add_lone(pairs, 1, b[k++]);
		} else {
			pairs->v[pairs->n++] = (struct code_block_pair){
				a[i], b[k], (int64_t)(code_block_mean(b[k]) - code_block_mean(a[i])),
			};
			i++;
			k++;
		}
	}
	qsort(pairs->v, pairs->n, sizeof(*pairs->v), compare_pairs);
	free(a);
	free(b);
	return pairs;
}

void code_block_pairs_free(struct code_block_pairs *pairs)
{
	free(pairs->v);
	free(pairs);
}

void code_block_add_range(struct table *table, const struct code_block *block, struct str *out)
{
	str_addc(out, '[');
	if (block->start == LOCATION_NONE)
		str_addc(out, '?');
	else
		text_name(table, table_location_line(table, block->start), out);
	str_add(out, " -> ");
	text_name(table, table_location_line(table, block->end), out);
	str_addc(out, ']');
}
