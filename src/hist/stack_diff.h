/* SPDX-License-Identifier: MIT */
/*
 * stack_diff: two trees of stacks, node by node: what part of all samples came by a function in one place before and
 * now, and whether chance explains the difference. Read by including hist.h.
 */
#ifndef PSTAT_STACK_DIFF_H
#define PSTAT_STACK_DIFF_H

#include "hist/diff.h"
#include "hist/stack_tree.h"

struct stack_node_diff {
	double before, now; /* parts of all periods, with what was called from there */
	struct change change;
	enum diff_verdict verdict; /* DIFF_NONE: of the root */
};
struct stack_diff {
	struct stack_node_diff *before, *now; /* by node of either tree */
};
/*
 * Nodes are the same where frames from the outermost on have the same names and kinds. Trees: with times. A node that
 * has all samples of its parent, on both sides, is no question of its own. The caller frees it.
 */
struct stack_diff *stack_diff_new(const struct stack_tree *before, const struct stack_tree *now, double confidence);
void stack_diff_free(struct stack_diff *diff); /* NULL is fine */

#endif
