/*
 * calltree: the call tree of one histogram entry, from its chains to what -g prints. Private to report/.
 */
#ifndef PSTAT_CALLTREE_H
#define PSTAT_CALLTREE_H

#include "report/hist.h"

/*
 * A node stands for one frame. Chains are added in the order they are shown (callers first for
 * CHAIN_CALLER, callees first for CHAIN_CALLEE); frames that are the same by options.key share a node.
 */
struct call_node {
	struct view_frame frame;
	struct call_node *parent, *children, *next; /* next: sibling; sorted by calltree_finish */
	uint64_t self_period, self_count; /* chains that end here */
	uint64_t total_period, total_count; /* with all below */
};
struct call_tree {
	struct call_node root; /* without a frame; totals are the tree's */
	struct arena arena;
	size_t n_nodes;
};
struct call_tree *calltree_new(void);
void calltree_free(struct call_tree *tree);
void calltree_add(struct call_tree *tree, enum chain_key key, const struct view_frame *frames,
		  size_t n, uint64_t period, uint64_t count);
/* Sorts all siblings: greatest total first, then perf's order of ties. */
void calltree_finish(struct call_tree *tree);
/*
 * Prints the tree below an entry line as perf does, in the kind, value and limits of the report's chain
 * options. entry_period: of the entry (children: total), total_period: of the hist.
 */
void calltree_print(struct report *report, const struct hist *hist, const struct entry *entry,
		    unsigned left_margin, struct output *output);

#endif
