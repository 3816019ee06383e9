/* SPDX-License-Identifier: MIT */
/*
 * One cell per distinct combination of the facts that are kept, in columns of 32-bit ids: what a column has of a
 * fact is the fact itself where it is a number of something (a location, a stack, a name), else the number of its
 * distinct value. A column whose cells all agree is one id, whatever the number of cells.
 *
 * A hash finds the cell. Adding to a cell that is there allocates nothing.
 */
#include "profile/profile.h"

#include <stdlib.h>

/* Facts that are numbers of something: their ids are themselves. All others are interned. */
static const uint64_t numbers = 1ULL << FACT_COMM | 1ULL << FACT_LOCATION | 1ULL << FACT_STACK | 1ULL << FACT_FROM |
				1ULL << FACT_TO | 1ULL << FACT_BLOCK_START | 1ULL << FACT_DATA_LOCATION |
				1ULL << FACT_TRACE | 1ULL << FACT_MISC | 1ULL << FACT_BUCKET | 1ULL << FACT_STATE |
				1ULL << FACT_PARALLELISM;

void cells_init(struct cells *cells, uint64_t facts)
{
	*cells = (struct cells){ .n_facts = 0 };
	for (unsigned fact = 0; fact < FACTS; fact++) {
		struct cell_column *column = &cells->columns[cells->n_facts];

		cells->at[fact] = facts >> fact & 1 ? (uint8_t)cells->n_facts : UINT8_MAX;
		if (cells->at[fact] == UINT8_MAX)
			continue;
		*column = (struct cell_column){ .fact = fact, .is_number = numbers >> fact & 1 };
		row_set_init(&column->distinct, 1);
		cells->n_facts++;
	}
}

void cells_release(struct cells *cells)
{
	for (unsigned c = 0; c < cells->n_facts; c++) {
		free(cells->columns[c].ids);
		row_set_release(&cells->columns[c].distinct);
	}
	free(cells->values);
	index_release(&cells->ix);
	cells_init(cells, 0);
}

/* ---- columns ---- */

/* The id of a value; samples come in runs of the same. */
static uint32_t id_of(struct cell_column *column, uint64_t value)
{
	if (column->is_number)
		return (uint32_t)value;
	if (!column->distinct.n || value != column->last_value) {
		column->last_id = row_set_intern(&column->distinct, &value);
		column->last_value = value;
	}
	return column->last_id;
}

static uint32_t column_id(const struct cell_column *column, size_t cell)
{
	return column->ids ? column->ids[cell] : column->same;
}

/* Cell number n gets its id; n_cap: room for cells. */
static void column_put(struct cell_column *column, size_t n, size_t n_cap, uint32_t id)
{
	if (!n)
		column->same = id;
	if (!column->ids && id != column->same) {
		column->ids = xreallocarray(NULL, n_cap, sizeof(*column->ids));
		for (size_t i = 0; i < n; i++)
			column->ids[i] = column->same;
	}
	if (column->ids)
		column->ids[n] = id;
}

uint64_t cell_fact(const struct cells *cells, size_t cell, enum sample_fact fact)
{
	const struct cell_column *column;
	uint32_t id;

	if (cells->at[fact] == UINT8_MAX)
		return 0;
	column = &cells->columns[cells->at[fact]];
	id = column_id(column, cell);
	return column->is_number ? id : *row_set_at(&column->distinct, id);
}

/* ---- cells ---- */

static uint64_t hash_ids(const uint32_t *ids, unsigned n)
{
	uint64_t words[(FACTS + 1) / 2];
	unsigned n_words = 0;

	for (unsigned i = 0; i + 1 < n; i += 2)
		words[n_words++] = (uint64_t)ids[i] << 32 | ids[i + 1];
	if (n % 2)
		words[n_words++] = ids[n - 1];
	return hash_words(words, n_words);
}

static void grow(struct cells *cells)
{
	cells->cap = cells->n ? cells->n + cells->n / 2 : 64;
	cells->values = xreallocarray(cells->values, cells->cap, sizeof(*cells->values));
	for (unsigned c = 0; c < cells->n_facts; c++)
		if (cells->columns[c].ids)
			cells->columns[c].ids =
				xreallocarray(cells->columns[c].ids, cells->cap, sizeof(uint32_t));
}

static bool is_cell(const struct cells *cells, size_t i, const uint32_t *ids)
{
	for (unsigned c = 0; c < cells->n_facts; c++)
		if (column_id(&cells->columns[c], i) != ids[c])
			return false;
	return true;
}

static size_t add_ids(struct cells *cells, const uint32_t *ids, const struct cell_values *values)
{
	uint64_t hash = hash_ids(ids, cells->n_facts);
	struct cell_values *sum = NULL;
	uint32_t i;

	for (size_t at = index_first(&cells->ix, hash); !sum && index_next(&cells->ix, hash, &at, &i);)
		if (is_cell(cells, i, ids))
			sum = &cells->values[i];
	if (!sum) {
		if (cells->n == cells->cap)
			grow(cells);
		for (unsigned c = 0; c < cells->n_facts; c++)
			column_put(&cells->columns[c], cells->n, cells->cap, ids[c]);
		index_add(&cells->ix, hash, (uint32_t)cells->n);
		sum = &cells->values[cells->n++];
		*sum = (struct cell_values){ 0 };
	}
	sum->n_samples += values->n_samples;
	sum->period += values->period;
	sum->weight += values->weight;
	return (size_t)(sum - cells->values);
}

size_t cells_add(struct cells *cells, const uint64_t *facts, const struct cell_values *values)
{
	uint32_t ids[FACTS];

	for (unsigned c = 0; c < cells->n_facts; c++)
		ids[c] = id_of(&cells->columns[c], facts[cells->columns[c].fact]);
	return add_ids(cells, ids, values);
}

/* ---- all at once ---- */

static uint64_t moved(const struct cell_moves *moves, enum sample_fact fact, uint64_t value)
{
	const struct cell_renumbering *numbers_of = &moves->renumbered[fact];

	if (value < numbers_of->n)
		return numbers_of->v[value];
	return fact == FACT_BUCKET ? value >> moves->bucket_shift : value;
}

/* n of `of` parts of a sum; n is at most `of`. */
static uint64_t part(uint64_t sum, uint64_t n, uint64_t of)
{
	return sum / of * n + sum % of * n / of;
}

static void decay(struct cell_values *values, const struct cell_moves *moves)
{
	uint64_t n = values->n_samples, eighths, left;

	if (!moves->decay_eighths || !n)
		return;
	eighths = 8 - moves->decay_eighths;
	*moves->carry += n % 8 * eighths;
	left = n / 8 * eighths + *moves->carry / 8;
	*moves->carry %= 8;
	values->n_samples = left;
	values->period = part(values->period, left, n);
	values->weight = part(values->weight, left, n);
}

void cells_move(struct cells *to, const struct cells *from, uint64_t kept, const struct cell_moves *moves)
{
	uint64_t facts[FACTS] = { 0 };

	cells_init(to, kept);
	for (size_t i = 0; i < from->n; i++) {
		struct cell_values values = from->values[i];

		decay(&values, moves);
		if (!values.n_samples)
			continue;
		for (unsigned c = 0; c < to->n_facts; c++) {
			enum sample_fact fact = to->columns[c].fact;

			facts[fact] = moved(moves, fact, cell_fact(from, i, fact));
		}
		cells_add(to, facts, &values);
	}
}

uint64_t cells_facts(const struct cells *cells)
{
	uint64_t facts = 0;

	for (unsigned c = 0; c < cells->n_facts; c++)
		facts |= 1ULL << cells->columns[c].fact;
	return facts;
}
