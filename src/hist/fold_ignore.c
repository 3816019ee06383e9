/*
 * --ignore-callees: what a matching function called counts as if it had been sampled in the function itself,
 * so that all ways to it come together. Of several in one chain the outermost stands.
 *
 * A stack is a node of a tree whose root is the outermost caller: everything below a matching node is that
 * node. One pass over the nodes finds it for all, older ones, the callers, first; then cells are moved.
 */
#include "hist/fold_internal.h"

#include <stdlib.h>

static bool ends_here(struct table *table, uint32_t location)
{
	const struct symbol *symbol = location_symbol(table->session, location);

	return symbol && name_pattern_match(table->private->ignored, symbol->name);
}

/* Of each stack the one that it counts for: itself, or that of the function whose callees are ignored. */
static uint32_t *stacks_kept(struct table *table)
{
	const struct stacks *stacks = table->session->stacks;
	uint32_t *kept = xcalloc(stacks->n + 1, sizeof(*kept));
	bool *ended = xcalloc(stacks->n + 1, sizeof(*ended));

	for (size_t i = 1; i < stacks->n; i++) {
		uint32_t parent = stacks->v[i].parent;

		ended[i] = ended[parent] || ends_here(table, stacks->v[i].location);
		kept[i] = ended[parent] ? kept[parent] : (uint32_t)i;
	}
	free(ended);
	return kept;
}

/* The cells with their stacks moved; the profile's stay as they are. */
static void move_cells(struct hist *hist, size_t member, const struct stacks *stacks, const uint32_t *kept)
{
	const struct cells *from = hist->cells[member];
	struct cells *to = hist_own_cells(hist, member);

	for (size_t i = 0; i < from->n; i++) {
		uint32_t stack = (uint32_t)cell_fact(from, i, FACT_STACK);
		uint64_t facts[FACTS];

		for (unsigned f = 0; f < FACTS; f++)
			facts[f] = cell_fact(from, i, f);
		if (kept[stack] != stack) {
			facts[FACT_STACK] = kept[stack];
			facts[FACT_LOCATION] = stacks->v[kept[stack]].location;
		}
		cells_add(to, facts, &from->values[i]);
	}
	hist->cells[member] = to;
}

void hists_ignore_callees(struct table *table)
{
	uint32_t *kept;

	if (!table->private->ignored)
		return;
	kept = stacks_kept(table);
	for (size_t i = 0; i < table->n_hists; i++) {
		struct hist *hist = &table->hists[i];

		for (size_t m = 0; m < hist->n_members; m++)
			move_cells(hist, m, table->session->stacks, kept);
	}
	free(kept);
}
