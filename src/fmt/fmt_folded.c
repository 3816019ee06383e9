/* SPDX-License-Identifier: MIT */
/*
 * fmt_folded.c: one line per distinct stack, as flamegraph.pl, inferno and speedscope take it:
 *
 *	comm;outermost;...;innermost count
 *
 * Counts are samples; of time off the CPU they are us. A line has no room for an event's name: fmt_head.c chooses the
 * events, and says of which they are. Stacks are the same when their texts
 * are: locations become functions, and functions of one name one frame. Inlined functions are frames too.
 *
 * A frame without a symbol is "[file]", or "[unknown]" without a file. With -a the last letters say what a
 * frame is: _[k] kernel, _[i] inlined, _[j] made at run time. With the delimiter a frame "-" stands
 * between user and kernel part. ';' in a name becomes ':', control characters become \xNN: a line
 * never breaks.
 *
 * Lines stand in the order of a walk through hist/stack_tree.h's tree, thread name by thread name.
 */
#include "fmt/fmt_internal.h"
#include "util/util.h"

#include <stdlib.h>

/* path: room for the deepest stack. */
static void add_line(const struct stack_tree *tree, const struct stack_tree_row *row, uint32_t *path,
		     struct str *out)
{
	size_t n = 0;

	for (uint32_t node = row->node; node; node = tree->nodes[node].parent)
		path[n++] = tree->frames[tree->nodes[node].frame].name;
	str_add(out, stack_tree_text(tree, tree->groups[row->group]));
	while (n) {
		str_addc(out, ';');
		str_add(out, stack_tree_text(tree, path[--n]));
	}
	str_addf(out, " %llu\n", (unsigned long long)stack_tree_weight(tree, row));
}

static void add_lines(struct stack_tree *tree, struct output *output)
{
	const struct stack_tree_row **rows = stack_tree_by_group(tree);
	uint32_t *path, depth = 0;

	for (size_t i = 0; i < tree->n; i++)
		depth = tree->nodes[i].depth > depth ? tree->nodes[i].depth : depth;
	path = xcalloc(depth + 1, sizeof(*path));
	for (size_t i = 0; i < tree->n_rows && !output_step(output); i++)
		add_line(tree, rows[i], path, &output->text);
	free(path);
	free(rows);
}

static int folded_print(struct table *table, struct output *output)
{
	const struct stack_tree_options options = {
		.groups = GROUPS_BY_COMM,
		.annotate = table->question->query.folded_annotate,
		.delimiter = table->question->query.folded_delimiter,
		.semicolon = ':',
	};

	head_print_stacks(table, "folded stacks", &options, add_lines, output);
	return output->failed;
}

const struct report_format format_folded = {
	.name = "folded",
	.needs = NEED_STACKS,
	.print = folded_print,
};
