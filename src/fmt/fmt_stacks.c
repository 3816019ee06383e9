/* SPDX-License-Identifier: MIT */
/*
 * fmt_stacks.c: each distinct stack with the process that it was sampled in and how often, the rarest first, so that
 * the most frequent one stands at the end, above the prompt; as bcc's profile prints them:
 *
 *	    innermost
 *	    ...
 *	    outermost
 *	    -                comm (pid)
 *	        count
 *
 * Counts are samples; of time off the CPU they are us, as bcc's offcputime has it. With the delimiter a line "--"
 * stands between the kernel's and the user's part. Names of frames are those of folded lines.
 */
#include "fmt/fmt_internal.h"

#include <stdlib.h>

static int compare_rows(const void *pa, const void *pb, void *context)
{
	const struct stack_tree *tree = context;
	const struct stack_tree_row *a = *(const struct stack_tree_row *const *)pa;
	const struct stack_tree_row *b = *(const struct stack_tree_row *const *)pb;
	const uint64_t wa = stack_tree_weight(tree, a), wb = stack_tree_weight(tree, b);

	if (wa != wb)
		return wa < wb ? -1 : 1;
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

static void add_stack(const struct stack_tree *tree, const struct stack_tree_row *row, struct str *out)
{
	for (uint32_t node = row->node; node; node = tree->nodes[node].parent) {
		uint32_t frame = tree->nodes[node].frame;

		str_addf(out, "    %s\n",
			 frame == tree->delimiter ? "--" : stack_tree_text(tree, tree->frames[frame].name));
	}
	str_addf(out, "    %-16s %s\n        %llu\n\n", "-", stack_tree_text(tree, tree->groups[row->group]),
		 (unsigned long long)stack_tree_weight(tree, row));
}

static void add_stacks(struct stack_tree *tree, struct output *output)
{
	const struct stack_tree_row **rows = xcalloc(tree->n_rows + 1, sizeof(*rows));

	for (size_t i = 0; i < tree->n_rows; i++)
		rows[i] = &tree->rows[i];
	qsort_r(rows, tree->n_rows, sizeof(*rows), compare_rows, tree);
	for (size_t i = 0; i < tree->n_rows && !output_step(output); i++)
		add_stack(tree, rows[i], &output->text);
	free(rows);
}

static int stacks_print(struct table *table, struct output *output)
{
	const struct stack_tree_options options = {
		.groups = GROUPS_BY_PROCESS,
		.annotate = table->question->query.folded_annotate,
		.delimiter = table->question->query.folded_delimiter,
	};

	head_print_stacks(table, "stacks", &options, add_stacks, output);
	return output->failed;
}

const struct report_format format_stacks = {
	.name = "stacks",
	.needs = NEED_STACKS | NEED_PROCESSES,
	.print = stacks_print,
};
