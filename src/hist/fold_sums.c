/* SPDX-License-Identifier: MIT */
/*
 * Numbers of entries that most reports do not show: weights, and periods by what memory answered. They are summed from
 * cells when all else is known of the entries, so that samples, groups and entries of other reports carry none of
 * them. A cell counts for the entry that its group counts for itself; callers have none of what they called.
 */
#include "hist/fold_internal.h"

void entry_sums_add(struct entry_sums *to, const struct entry_sums *from)
{
	for (size_t i = 0; i < ARRAY_SIZE(to->weights); i++)
		to->weights[i] += from->weights[i];
	for (size_t respect = 0; respect < MEM_RESPECTS; respect++)
		for (size_t i = 0; i < MEM_ANSWERS_MAX; i++)
			to->periods[respect][i] += from->periods[respect][i];
}

static struct entry_sums cell_sums(const struct cells *cells, size_t cell)
{
	static const enum sample_fact weights[] = { FACT_WEIGHT, FACT_INS_LAT, FACT_P_STAGE_CYC };
	const struct cell_values *values = &cells->values[cell];
	struct entry_sums sums = { .weights = { 0 } };

	for (size_t i = 0; i < ARRAY_SIZE(weights); i++)
		sums.weights[i] = cell_fact(cells, cell, weights[i]) * values->n_samples;
	for (unsigned respect = 0; respect < MEM_RESPECTS && cells_have(cells, FACT_DATA_SRC); respect++)
		sums.periods[respect][mem_answer(respect, cell_fact(cells, cell, FACT_DATA_SRC))] = values->period;
	return sums;
}

void hist_add_sums(struct entries *entries, struct hist *hist, const struct groups *groups)
{
	if (!entries->table->question->private->sum_facts)
		return;
	hist->sums = xcalloc(1, sizeof(*hist->sums));
	for (size_t member = 0; member < hist->n_members; member++) {
		const uint32_t *of_cell = groups->of_cell[member];

		for (size_t i = 0; i < hist->cells[member]->n; i++) {
			struct entry *entry = of_cell[i] ? entries->own[of_cell[i] - 1] : NULL;
			const struct entry_sums sums = cell_sums(hist->cells[member], i);

			if (!entry)
				continue;
			entry_sums_add(&entry->sums[member], &sums);
			entry_sums_add(hist->sums, &sums);
		}
	}
}
