/*
 * The boxes of a picture: rows of a stack_tree in the order of a walk, group by group. What a row shares with the one
 * before stays open, all else is closed, and is left out again where it is too small to be seen: what it called then
 * is, too.
 */
#include "hist/hist.h"

#include <stdlib.h>

struct box_walk {
	struct stack_boxes *boxes;
	const struct stack_tree *tree;
	struct open_box {
		size_t box;
		uint32_t node;
	} *open; /* from the outside in */
	size_t n_open, cap_open;
	uint32_t *todo;
	size_t cap_todo;
	uint64_t x;
	double least; /* samples */
};

static void open_box(struct box_walk *walk, bool is_group, uint32_t what, uint32_t node)
{
	struct stack_boxes *boxes = walk->boxes;

	VEC_GROW(boxes->v, boxes->n, boxes->cap);
	VEC_GROW(walk->open, walk->n_open, walk->cap_open);
	boxes->v[boxes->n] = (struct stack_box){
		.is_group = is_group, .what = what, .node = node, .level = (uint32_t)walk->n_open, .start = walk->x,
	};
	walk->open[walk->n_open++] = (struct open_box){ boxes->n++, node };
}

static void close_boxes(struct box_walk *walk, size_t n_open)
{
	struct stack_boxes *boxes = walk->boxes;

	while (walk->n_open > n_open) {
		size_t at = walk->open[--walk->n_open].box;
		struct stack_box *box = &boxes->v[at];

		box->n_samples = walk->x - box->start;
		if ((double)box->n_samples < walk->least) {
			/* Those below have no more: they went before it. */
			boxes->n_small += boxes->n - at;
			boxes->n = at;
		} else if (box->level >= boxes->n_levels) {
			boxes->n_levels = box->level + 1;
		}
	}
}

static void add_row(struct box_walk *walk, const struct stack_tree_row *row, size_t n_groups)
{
	const struct stack_tree *tree = walk->tree;
	size_t n_todo = 0, depth;
	uint32_t node = row->node;

	for (;; node = tree->nodes[node].parent) {
		depth = tree->nodes[node].depth + n_groups;
		if (!node || (depth <= walk->n_open && walk->open[depth - 1].node == node))
			break;
		VEC_GROW(walk->todo, n_todo, walk->cap_todo);
		walk->todo[n_todo++] = node;
	}
	close_boxes(walk, depth);
	while (n_todo) {
		node = walk->todo[--n_todo];
		open_box(walk, false, tree->nodes[node].frame, node);
	}
	if (walk->n_open)
		walk->boxes->v[walk->open[walk->n_open - 1].box].self += row->n_samples;
	walk->x += row->n_samples;
}

void stack_boxes_make(struct stack_boxes *boxes, const struct stack_tree *tree, double part)
{
	const struct stack_tree_row **rows = stack_tree_by_group(tree);
	struct box_walk walk = { .boxes = boxes, .tree = tree, .least = part * (double)tree->n_samples };
	bool grouped = tree->n_groups > 1 || (tree->n_groups && *stack_tree_text(tree, tree->groups[0]));

	*boxes = (struct stack_boxes){ .n_samples = tree->n_samples };
	for (size_t i = 0; i < tree->n_rows; i++) {
		if (grouped && (!i || rows[i - 1]->group != rows[i]->group)) {
			close_boxes(&walk, 0);
			open_box(&walk, true, rows[i]->group, 0);
		}
		add_row(&walk, rows[i], grouped);
	}
	close_boxes(&walk, 0);
	free(rows);
	free(walk.open);
	free(walk.todo);
}

void stack_boxes_release(struct stack_boxes *boxes)
{
	free(boxes->v);
	*boxes = (struct stack_boxes){ 0 };
}
