/*
 * Call trees, in a second pass over the groups: only of entries that are shown, and only where a branch can
 * reach the threshold of -g. That threshold is a part of all samples, so that most entries need no tree;
 * only with `fractal` it is a part of the branch above.
 */
#include "report/calltree.h"
#include "report/fold.h"

#include <stdlib.h>

static bool wants_tree(const struct report *report, const struct hist *hist,
		       const struct entry *entry)
{
	const struct chain_options *chain = &report->options.chain;
	double all = (double)hist_period(report, hist, 0);

	if (!entry_is_shown(report, hist, entry))
		return false;
	return chain->kind == CHAIN_FRACTAL ||
	       (double)entry_limit_period(report, entry) >= all * chain->min_percent / 100.0;
}

static bool plant_trees(struct entries *entries)
{
	bool any = false;

	for (size_t i = 0; i < entries->n; i++) {
		struct entry *entry = entries->v[i];

		if (!wants_tree(entries->report, entries->hist, entry))
			continue;
		entry->tree = calltree_new();
		entry->tree->places = entries->report->session.places;
		any = true;
	}
	return any;
}

static void grow_trees(struct entries *entries, size_t number, struct view_frame *chain)
{
	const struct frames *frames = &entries->report->private->frames;
	const struct entry_stats *stats = &entries->groups->v[number].stats;
	size_t len, n = entries_shares(entries, number, &len);

	for (size_t i = 0; i < len; i++)
		chain[i] = frames->v[entries->chain[i]].view;
	for (size_t i = 0; i < n; i++) {
		const struct share *share = &entries->shares[i];

		if (share->entry->tree && len > share->from)
			calltree_add(share->entry->tree, entries->report->options.chain.key,
				     chain + share->from, len - share->from, stats->period,
				     stats->n_samples);
	}
}

void entries_build_trees(struct entries *entries)
{
	struct report *report = entries->report;
	const struct frames *frames = &report->private->frames;
	struct view_frame *chain;

	if (!report->chains || !plant_trees(entries))
		return;
	chain = xcalloc(frames->max_depth + 1, sizeof(*chain));
	memset(entries->seen, 0, (frames->values.n + 1) * sizeof(*entries->seen));
	for (size_t g = 0; g < entries->groups->n; g++)
		if (!entries->groups->v[g].member)
			grow_trees(entries, g, chain);
	free(chain);
	for (size_t i = 0; i < entries->n; i++)
		if (entries->v[i]->tree)
			calltree_finish(entries->v[i]->tree);
}
