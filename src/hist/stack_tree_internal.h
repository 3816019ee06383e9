/*
 * stack_tree_internal: a stack_tree being made. Private to hist/: stack_tree.c owns it and makes frames and nodes,
 * stack_rows.c makes rows, groups and lanes.
 */
#ifndef PSTAT_STACK_TREE_INTERNAL_H
#define PSTAT_STACK_TREE_INTERNAL_H

#include "hist/keys_internal.h"
#include "hist/stack_tree.h"

struct stack_maker {
	struct stack_tree *tree;
	struct table *table;
	const struct cells *cells;
	const struct stack_tree_options *options;
	struct str text;
	/* stack_tree.c */
	struct index frame_ix, node_ix;
	uint32_t *of_stack; /* by stack of the session: its node + 1; 0: not yet known */
	uint32_t *of_location; /* by location: where its frames begin in `lists`, + 1; outermost first */
	uint32_t *lists;
	size_t n_lists, cap_lists;
	uint64_t *stack_samples, *location_samples; /* with what was called from there */
	uint32_t delimiter; /* number of the frame "-" */
	/* stack_rows.c */
	struct row_set values; /* of groups, by keys that are not of code */
	uint32_t *group_of; /* by row of values, or by comm: the group + 1 */
	size_t n_group_of, cap_group_of;
	struct index group_ix;
	struct row_set lanes; /* CPU, or FACT_TID */
};

/* ---- stack_tree.c ---- */
/* The node where a cell was sampled. */
uint32_t stack_maker_node(struct stack_maker *maker, size_t cell);
/* maker->text with ';' replaced, as a number of a text. */
uint32_t stack_maker_text(struct stack_maker *maker);

/* ---- stack_rows.c ---- */
/* A row for each cell that no filter leaves out; nodes get their own numbers later. */
void stack_rows_make(struct stack_maker *maker);
/* of_node: the final numbers. Sorts rows, groups and lanes, and joins what agrees. */
void stack_rows_finish(struct stack_maker *maker, const uint32_t *of_node);

#endif
