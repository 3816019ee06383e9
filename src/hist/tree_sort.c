/*
 * Sorting by a red-black tree, with nodes in an array. An ordinary sort gives the same as long as the
 * comparison is an order. Where it is not, results depend on which pairs are compared, and here these are
 * the ones that every such tree compares. See Cormen et al., Introduction to Algorithms, "Red-Black Trees".
 */
#include "hist/fold_internal.h"

#include <stdlib.h>

enum { NONE = 0 }; /* node 0 is no node, and black */
enum side { LEFT, RIGHT };

struct tree_node {
	uint32_t parent, child[2];
	bool red;
};
struct tree {
	struct tree_node *nodes;
	uint32_t root;
};

static enum side side_of(const struct tree *tree, uint32_t node)
{
	return tree->nodes[tree->nodes[node].parent].child[RIGHT] == node ? RIGHT : LEFT;
}

static void set_child(struct tree *tree, uint32_t parent, enum side side, uint32_t child)
{
	if (parent == NONE)
		tree->root = child;
	else
		tree->nodes[parent].child[side] = child;
	if (child != NONE)
		tree->nodes[child].parent = parent;
}

/* The node's child on the other side takes its place, the node goes down on `side`. */
static void rotate(struct tree *tree, uint32_t node, enum side side)
{
	uint32_t up = tree->nodes[node].child[!side], parent = tree->nodes[node].parent;

	set_child(tree, parent, side_of(tree, node), up);
	set_child(tree, node, !side, tree->nodes[up].child[side]);
	set_child(tree, up, side, node);
}

static void rebalance(struct tree *tree, uint32_t node)
{
	struct tree_node *nodes = tree->nodes;

	while (nodes[nodes[node].parent].red) {
		uint32_t parent = nodes[node].parent, grandparent = nodes[parent].parent;
		enum side side = side_of(tree, parent);
		uint32_t uncle = nodes[grandparent].child[!side];

		if (nodes[uncle].red) {
			nodes[parent].red = nodes[uncle].red = false;
			nodes[grandparent].red = true;
			node = grandparent;
			continue;
		}
		if (side_of(tree, node) != side) {
			node = parent;
			rotate(tree, node, side);
			parent = nodes[node].parent;
		}
		nodes[parent].red = false;
		nodes[grandparent].red = true;
		rotate(tree, grandparent, !side);
	}
	nodes[tree->root].red = false;
}

static uint32_t next_node(const struct tree *tree, uint32_t node)
{
	const struct tree_node *nodes = tree->nodes;

	if (nodes[node].child[RIGHT] != NONE) {
		node = nodes[node].child[RIGHT];
		while (nodes[node].child[LEFT] != NONE)
			node = nodes[node].child[LEFT];
		return node;
	}
	while (nodes[node].parent != NONE && side_of(tree, node) == RIGHT)
		node = nodes[node].parent;
	return nodes[node].parent;
}

static uint32_t first_node(const struct tree *tree)
{
	uint32_t node = tree->root;

	while (node != NONE && tree->nodes[node].child[LEFT] != NONE)
		node = tree->nodes[node].child[LEFT];
	return node;
}

void tree_sort(void **v, size_t n, int (*compare)(void *context, const void *a, const void *b),
	       void *context)
{
	struct tree tree = { xcalloc(n + 1, sizeof(*tree.nodes)), NONE };
	void **sorted = xcalloc(n + 1, sizeof(*sorted));
	size_t i = 0;

	for (uint32_t node = 1; node <= n; node++) {
		uint32_t parent = NONE;
		enum side side = LEFT;

		for (uint32_t at = tree.root; at != NONE; at = tree.nodes[at].child[side]) {
			parent = at;
			side = compare(context, v[node - 1], v[at - 1]) < 0 ? LEFT : RIGHT;
		}
		tree.nodes[node].red = true;
		set_child(&tree, parent, side, node);
		rebalance(&tree, node);
	}
	for (uint32_t node = first_node(&tree); node != NONE; node = next_node(&tree, node))
		sorted[i++] = v[node - 1];
	if (n)
		memcpy(v, sorted, n * sizeof(*v));
	free(tree.nodes);
	free(sorted);
}
