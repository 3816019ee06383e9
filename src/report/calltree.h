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
	struct call_node *last; /* the child that was added to last: mostly the next one, too */
	struct call_node *parent, *children, *next; /* next: sibling; sorted by calltree_finish */
	uint64_t self_period, self_count; /* chains that end here */
	uint64_t total_period, total_count; /* with all below */
	uint32_t number; /* in order of appearance; the root is 0 */
};
struct call_edge; /* calltree.c: the children of a node by what makes frames the same */
struct call_chunk; /* nodes that were allocated together */
struct call_tree {
	struct call_node root; /* without a frame; totals are the tree's */
	/* Set by the caller before anything is added: tells frames without a symbol apart. Or NULL. */
	const struct places *places;
	struct call_chunk *chunks;
	struct call_edge *edges;
	size_t n_nodes, n_edges, cap_edges;
	struct index ix; /* of edges */
	enum chain_key key; /* of what was added */
	bool by_name; /* inlined frames are there: edges by name are kept too */
};
struct call_tree *calltree_new(void);
void calltree_free(struct call_tree *tree); /* NULL is allowed */
void calltree_add(struct call_tree *tree, enum chain_key key, const struct view_frame *frames,
		  size_t n, uint64_t period, uint64_t count);
/* Sorts all siblings: greatest total first, then perf's order of ties. */
void calltree_finish(struct call_tree *tree);
/* The order of ties: negative where a stands before b. */
int calltree_compare_frames(const struct call_tree *tree, const struct call_node *a,
			    const struct call_node *b);
/* A branch without forks: the last node below `node` that shares its line with it. */
const struct call_node *calltree_run_end(const struct call_node *node);
/* The name of a frame as perf writes it: "f", "f (inlined)", "f deep.c:7", "0x7f12". Printable. */
void calltree_add_name(const struct report *report, const struct view_frame *frame,
		       struct str *out);
/*
 * Prints the tree below an entry line as perf does, in the kind, value and limits of the report's chain
 * options. entry_period: of the entry (children: total), total_period: of the hist.
 */
void calltree_print(struct report *report, const struct hist *hist, const struct entry *entry,
		    unsigned left_margin, struct output *output);

#endif
