/* SPDX-License-Identifier: MIT */
/* Cells: one per combination of the facts that are kept; sums stay whole. */
#include "hist/hist.h"

#include <cmocka.h>

static const struct cell_values one = { 1, 10, 3 };

static void kept_facts_make_cells(void **state)
{
	uint64_t facts[FACTS] = { 0 };
	struct cells cells;

	(void)state;
	cells_init(&cells, 1ULL << FACT_COMM | 1ULL << FACT_MISC);
	assert_int_equal(cells.n_facts, 2);
	for (uint64_t i = 0; i < 12; i++) {
		facts[FACT_COMM] = i % 2;
		facts[FACT_MISC] = i % 3;
		facts[FACT_PID] = i; /* not kept */
		cells_add(&cells, facts, &one);
	}
	assert_int_equal(cells.n, 6);
	for (size_t i = 0; i < cells.n; i++) {
		assert_int_equal(cells.values[i].n_samples, 2);
		assert_int_equal(cells.values[i].period, 20);
		assert_int_equal(cells.values[i].weight, 6);
		assert_int_equal(cell_fact(&cells, i, FACT_PID), 0);
	}
	assert_int_equal(cell_fact(&cells, 5, FACT_COMM), 1);
	assert_int_equal(cell_fact(&cells, 5, FACT_MISC), 2);
	cells_release(&cells);
}

static void no_facts_are_one_cell(void **state)
{
	uint64_t facts[FACTS] = { 0 };
	struct cells cells;

	(void)state;
	cells_init(&cells, 0);
	for (uint64_t i = 0; i < 100; i++) {
		facts[FACT_COMM] = i;
		cells_add(&cells, facts, &one);
	}
	assert_int_equal(cells.n, 1);
	assert_int_equal(cells.values[0].n_samples, 100);
	cells_release(&cells);
}

/* Every fact, every value and growing: nothing is lost or mixed up. */
static void sums_are_whole(void **state)
{
	enum { N = 30000, DISTINCT = 10007 };
	uint64_t facts[FACTS], samples = 0, period = 0;
	struct cells cells;

	(void)state;
	cells_init(&cells, (1ULL << FACTS) - 1);
	for (uint64_t i = 0; i < N; i++) {
		const struct cell_values values = { 1, i % DISTINCT, 0 };

		for (unsigned f = 0; f < FACTS; f++)
			facts[f] = (i % DISTINCT) * (f + 1);
		cells_add(&cells, facts, &values);
	}
	assert_int_equal(cells.n, DISTINCT);
	for (size_t i = 0; i < cells.n; i++) {
		uint64_t x = cell_fact(&cells, i, 0);

		for (unsigned f = 0; f < FACTS; f++)
			assert_int_equal(cell_fact(&cells, i, f), x * (f + 1));
		assert_int_equal(cells.values[i].period, x * cells.values[i].n_samples);
		samples += cells.values[i].n_samples;
		period += cells.values[i].period;
	}
	assert_int_equal(samples, N);
	assert_true(period > 0);
	cells_release(&cells);
	assert_int_equal(cells.n, 0);
}

/* So many that some hashes agree. */
static void agreeing_hashes(void **state)
{
	enum { N = 300000 };
	uint64_t facts[FACTS] = { 0 };
	struct cells cells;

	(void)state;
	cells_init(&cells, 1ULL << FACT_STACK);
	for (uint64_t i = 0; i < N; i++) {
		facts[FACT_STACK] = i;
		cells_add(&cells, facts, &one);
	}
	assert_int_equal(cells.n, N);
	cells_release(&cells);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kept_facts_make_cells),
		cmocka_unit_test(no_facts_are_one_cell),
		cmocka_unit_test(sums_are_whole),
		cmocka_unit_test(agreeing_hashes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
