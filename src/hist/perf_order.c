/*
 * Perf's quirks of order, all of them here, so that nothing new inherits one: which of two equal entries and which
 * of two equal branches of a tree stands first, where perf's way follows from how it happens to keep them.
 *
 * Entries: by the numbers and keys in the order of -s and -F, greater numbers first. Of equal members of a group the
 * next member decides; --group-sort-idx asks another one first. Of entries with the same total the caller, that is the
 * one with the longer way to go, stands first, but only among those whose first sample was of one thread: which is no
 * order in the strict sense (a before b before c before a can be). What perf makes of it follows from how it sorts: in
 * the order of their keys entries go into a red-black tree.
 *
 * Branches: by their files in order of appearance, then by address, both descending; lines as texts.
 */
#include "hist/fold_internal.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- a sort like a red-black tree's, with nodes in an array ---- */

/*
 * An ordinary sort gives the same as long as the comparison is an order. Where it is not, results depend on which
 * pairs are compared, and these are the ones that every such tree compares. See Cormen et al., Introduction to
 * Algorithms, "Red-Black Trees".
 */
enum { NONE = 0 }; /* node 0 is no node, and black */
enum side { LEFT, RIGHT };

struct tree_node {
	uint64_t number;
	uint32_t parent, child[2];
	bool red;
};
struct tree {
	struct tree_node *nodes;
	uint32_t root;
};

static int greater_first(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

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

void tree_sort(void **v, size_t n, const uint64_t *numbers, int (*compare)(void *context, const void *a, const void *b),
	       void *context)
{
	struct tree tree = { xcalloc(n + 1, sizeof(*tree.nodes)), NONE };
	void **sorted = xcalloc(n + 1, sizeof(*sorted));
	size_t i = 0;

	for (uint32_t node = 1; node <= n; node++) {
		uint32_t parent = NONE;
		enum side side = LEFT;

		tree.nodes[node].number = numbers ? numbers[node - 1] : 0;
		for (uint32_t at = tree.root; at != NONE; at = tree.nodes[at].child[side]) {
			parent = at;
			int order = greater_first(tree.nodes[node].number, tree.nodes[at].number);

			if (!order)
				order = compare(context, v[node - 1], v[at - 1]);
			side = order < 0 ? LEFT : RIGHT;
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

/* ---- entries ---- */

struct sorting {
	struct table *table;
	size_t n_members;
	size_t told; /* items of the order that a struct shown_row tells; 0: there are none */
};
enum { ROW_NUMBERS = 3 };
struct shown_row { /* what is asked of an entry behind its first number, close together */
	struct entry *entry;
	uint64_t numbers[ROW_NUMBERS];
	int32_t tid;
	uint32_t depth, rank;
};

static int compare_depths(const struct table *table, uint32_t a, uint32_t b)
{
	int order = greater_first(a, b);

	return table->question->order == CHAIN_CALLER ? order : -order;
}

static int compare_numbers(const struct sorting *sorting, const struct field_row *field,
			   const struct entry *a, const struct entry *b)
{
	const struct table *table = sorting->table;
	size_t n = a->members && !field->total ? sorting->n_members : 1;
	size_t first = table->question->query.group_sort < n ? table->question->query.group_sort : 0;
	int order = greater_first(entry_number(a, field, first), entry_number(b, field, first));

	for (size_t i = 0; i < n && !order; i++)
		order = greater_first(entry_number(a, field, i), entry_number(b, field, i));
	if (order || !field->total || !table->question->chains || a->tid != b->tid)
		return order;
	return compare_depths(table, a->chain_depth, b->chain_depth);
}

static int compare_items(const struct sorting *sorting, size_t from, const struct entry *a, const struct entry *b)
{
	struct table *table = sorting->table;
	int order = 0;

	for (size_t i = from; i < table->question->private->n_order && !order; i++) {
		const struct order_item *item = &table->question->private->order[i];
		size_t key = item->key_index;

		if (item->field)
			order = compare_numbers(sorting, item->field, a, b);
		else
			order = table->question->keys[key]->compare(table, a->values[key], b->values[key]);
	}
	return order;
}

static int compare_shown(void *context, const void *a, const void *b)
{
	return compare_items(context, 0, a, b);
}

/* The same for rows whose first numbers are equal. */
static int compare_rows(void *context, const void *pa, const void *pb)
{
	const struct sorting *sorting = context;
	const struct table *table = sorting->table;
	const struct shown_row *a = pa, *b = pb;
	int order = 0;

	if (table->question->private->order[0].field->total && table->question->chains && a->tid == b->tid)
		order = compare_depths(table, a->depth, b->depth);
	for (size_t i = 0; i < ROW_NUMBERS && !order; i++)
		order = greater_first(a->numbers[i], b->numbers[i]);
	if (!order)
		order = (a->rank > b->rank) - (a->rank < b->rank);
	return order ? order : compare_items(sorting, sorting->told, a->entry, b->entry);
}

/* The number that compare_shown asks first, where it is one. */
static uint64_t *first_numbers(const struct table *table, const struct hist *hist, struct entry *const *entries,
			       size_t n)
{
	const struct question_private *private = table->question->private;
	const struct field_row *field = private->n_order ? private->order[0].field : NULL;
	uint64_t *numbers;

	if (!field || hist->n_members > 1)
		return NULL;
	numbers = xcalloc(n, sizeof(*numbers));
	for (size_t i = 0; i < n; i++)
		numbers[i] = entry_number(entries[i], field, 0);
	return numbers;
}

/* Behind the first one; those of callers are asked with their depths. */
static size_t row_numbers(const struct table *table)
{
	const struct question_private *private = table->question->private;
	size_t n = 0;

	while (n < ROW_NUMBERS && n + 1 < private->n_order && private->order[n + 1].field &&
	       !private->order[n + 1].field->total)
		n++;
	return n;
}

/* Equal where all before it are: the number that one of them shows. */
static bool is_asked_before(const struct order_item *items, size_t at)
{
	const struct field_row *field = items[at].field;

	for (size_t i = 0; i < at && field; i++)
		if (items[i].field && items[i].field->total == field->total && items[i].field->stat == field->stat)
			return true;
	return false;
}

/* Some numbers and then all keys in their order, as is usual; else 0. */
static size_t told_by_rows(const struct table *table, const struct hist *hist)
{
	const struct question_private *private = table->question->private;
	size_t at = 1 + row_numbers(table);

	if (hist->n_members > 1 || !private->n_order || !private->order[0].field)
		return 0;
	for (size_t key = 0; key < table->question->n_keys; key++, at++)
		if (at >= private->n_order || private->order[at].field || private->order[at].key_index != key)
			return 0;
	while (at < private->n_order && is_asked_before(private->order, at))
		at++;
	return at;
}

static void sort_by_rows(struct sorting *sorting, struct entry **entries, size_t n, const uint64_t *numbers,
			 const struct entry_ranks *ranks)
{
	const struct order_item *order = sorting->table->question->private->order;
	const size_t n_numbers = row_numbers(sorting->table);
	struct shown_row *rows = xcalloc(n, sizeof(*rows));
	void **v = xcalloc(n, sizeof(*v));

	for (size_t i = 0; i < n; i++) {
		const struct entry *entry = entries[i];

		rows[i] = (struct shown_row){ .entry = entries[i],
					      .tid = entry->tid,
					      .depth = entry->chain_depth,
					      .rank = ranks->shown[entry->ranked] };
		for (size_t k = 0; k < n_numbers; k++)
			rows[i].numbers[k] = entry_number(entry, order[k + 1].field, 0);
		v[i] = &rows[i];
	}
	tree_sort(v, n, numbers, compare_rows, sorting);
	for (size_t i = 0; i < n; i++)
		entries[i] = ((struct shown_row *)v[i])->entry;
	free(rows);
	free(v);
}

static void sort_by_entries(struct sorting *sorting, struct entry **entries, size_t n, const uint64_t *numbers)
{
	void **v = xcalloc(n, sizeof(*v));

	for (size_t i = 0; i < n; i++)
		v[i] = entries[i];
	tree_sort(v, n, numbers, compare_shown, sorting);
	for (size_t i = 0; i < n; i++)
		entries[i] = v[i];
	free(v);
}

void entries_sort(struct table *table, const struct hist *hist, struct entry **entries, size_t n,
		  struct entry_ranks *ranks)
{
	struct sorting sorting = { table, hist->n_members, told_by_rows(table, hist) };
	uint64_t *numbers;

	if (!n)
		return;
	if (ranks) {
		entry_ranks_update(table, ranks, entries, n);
		entries_by_rank(entries, n, ranks->found);
	} else {
		entries_by_keys(table, entries, n);
	}
	numbers = first_numbers(table, hist, entries, n);
	if (ranks && sorting.told)
		sort_by_rows(&sorting, entries, n, numbers, ranks);
	else
		sort_by_entries(&sorting, entries, n, numbers);
	free(numbers);
}
