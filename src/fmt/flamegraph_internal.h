/*
 * flamegraph_internal: the page of a flame graph in parts, and the picture, for those of one recording and of two.
 * Private to fmt/.
 */
#ifndef PSTAT_FLAMEGRAPH_INTERNAL_H
#define PSTAT_FLAMEGRAPH_INTERNAL_H

#include "fmt/fmt_internal.h"

/* All that stands before the first event. */
void flamegraph_begin(struct output *output);
/* diff: of each node of the tree; NULL: nothing is compared. Commas between events are the caller's. */
void flamegraph_add_event(struct output *output, const struct stack_tree *tree, const struct stack_node_diff *diff,
			  const char *name);
/* What stands behind the last event. The caption's first line is the title. */
void flamegraph_end(struct output *output, const struct note_list *caption);

/* ---- flamegraph_svg.c ---- */
/*
 * The whole picture. tree NULL: nothing was sampled; diff as above. The caption's first line is the title; what the
 * picture leaves out is added to it. 0, or the first error of the output.
 */
int flamegraph_svg_add(struct output *output, const struct stack_tree *tree, const struct stack_node_diff *diff,
		       struct note_list *caption);

#endif
