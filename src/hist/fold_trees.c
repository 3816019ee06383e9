/*
 * Call trees, in a second pass over the groups: only of entries that are shown, and only where a branch can
 * reach the threshold of -g. That threshold is a part of all samples, so that most entries need no tree;
 * only with `fractal` it is a part of the branch above.
 *
 * Groups are taken in the order in which a walk through the tree of all stacks comes to theirs: chains that begin
 * alike follow each other, and go the same way through nodes that were just used.
 */
#include "hist/hist.h"
#include "hist/fold_internal.h"

#include <stdlib.h>

static bool wants_tree(const struct table *table, const struct hist *hist,
		       const struct entry *entry)
{
	const struct chain_options *chain = &table->options.chain;
	double all = (double)hist_period(table, hist, 0);

	if (!entry_is_shown(table, hist, entry))
		return false;
	return chain->kind == CHAIN_FRACTAL ||
	       (double)entry_limit_period(table, entry) >= all * chain->min_percent / 100.0;
}

static bool plant_trees(struct entries *entries)
{
	bool any = false;

	for (size_t i = 0; i < entries->n; i++) {
		struct entry *entry = entries->v[i];

		if (!wants_tree(entries->table, entries->hist, entry))
			continue;
		entry->tree = calltree_new();
		entry->tree->places = entries->table->session->places;
		any = true;
	}
	return any;
}

static void grow_trees(struct entries *entries, size_t number, struct view_frame *chain)
{
	const struct frames *frames = &entries->table->private->frames;
	const struct entry_stats *stats = &entries->groups->v[number].stats;
	size_t len, n = entries_shares(entries, number, &len);

	for (size_t i = 0; i < len; i++)
		chain[i] = frames->v[entries->chain[i]].view;
	for (size_t i = 0; i < n; i++) {
		const struct share *share = &entries->shares[i];

		if (share->entry->tree && len > share->from)
			calltree_add(share->entry->tree, entries->table->options.chain.key,
				     chain + share->from, len - share->from, stats->period,
				     stats->n_samples);
	}
}

/* Of each stack its number in a walk from the root: before those that go on from it. */
static uint32_t *walk_numbers(const struct stacks *stacks)
{
	uint32_t *number = xcalloc(stacks->n + 1, sizeof(*number));
	uint32_t *next = xcalloc(stacks->n + 1, sizeof(*next)); /* first: how many stacks go on from one */

	for (size_t i = stacks->n; i-- > 1;)
		next[stacks->v[i].parent] += next[i] + 1;
	for (size_t i = 0; i < stacks->n; i++) {
		uint32_t n_below = next[i], *at = &next[stacks->v[i].parent];

		if (i) {
			number[i] = *at;
			*at += n_below + 1;
		}
		next[i] = number[i] + 1;
	}
	free(next);
	return number;
}

/* The numbers of the groups, ordered by their stacks'. */
static uint32_t *groups_in_order(const struct groups *groups, const struct stacks *stacks)
{
	uint32_t *number = walk_numbers(stacks);
	uint32_t *end = xcalloc(stacks->n + 1, sizeof(*end)); /* of those of each number */
	uint32_t *order = xcalloc(groups->n + 1, sizeof(*order));

	for (size_t g = 0; g < groups->n; g++)
		end[number[groups->v[g].stack]]++;
	for (size_t i = 1; i < stacks->n; i++)
		end[i] += end[i - 1];
	for (size_t g = groups->n; g-- > 0;)
		order[--end[number[groups->v[g].stack]]] = (uint32_t)g;
	free(end);
	free(number);
	return order;
}

void entries_build_trees(struct entries *entries)
{
	struct table *table = entries->table;
	const struct frames *frames = &table->private->frames;
	struct view_frame *chain;
	uint32_t *order;

	if (!table->chains || !plant_trees(entries))
		return;
	chain = xcalloc(frames->max_depth + 1, sizeof(*chain));
	memset(entries->seen, 0, (frames->values.n + 1) * sizeof(*entries->seen));
	order = groups_in_order(entries->groups, &frames->stacks);
	for (size_t i = 0; i < entries->groups->n; i++)
		if (!entries->groups->v[order[i]].member)
			grow_trees(entries, order[i], chain);
	free(order);
	free(chain);
	for (size_t i = 0; i < entries->n; i++)
		if (entries->v[i]->tree)
			calltree_finish(entries->v[i]->tree);
}
