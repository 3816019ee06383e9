/*
 * row_list: what of a table is unfolded, as a list of lines.
 *
 * A row is an entry, or a frame of its call tree. Frames that share a branch without forks are one fold: the
 * first of them has the numbers and the mark, the others follow it. Trees are made when they are first unfolded,
 * and go with the table; what is unfolded is remembered by ids, made of names and addresses, so that the next table,
 * of other samples or in another order, looks the same.
 */
#include "screen/screen_internal.h"

#include <stdlib.h>

struct making {
	struct row_list *rows;
	struct table *table;
	const struct hist *hist;
	struct str text;
};

/* ---- sets of ids ---- */

static size_t id_place(const struct id_set *set, uint64_t id)
{
	size_t low = 0, high = set->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (set->v[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool id_has(const struct id_set *set, uint64_t id)
{
	size_t at = id_place(set, id);

	return at < set->n && set->v[at] == id;
}

static void id_flip(struct id_set *set, uint64_t id)
{
	size_t at = id_place(set, id);

	if (at < set->n && set->v[at] == id) {
		memmove(set->v + at, set->v + at + 1, (--set->n - at) * sizeof(id));
		return;
	}
	VEC_GROW(set->v, set->n, set->cap);
	memmove(set->v + at + 1, set->v + at, (set->n++ - at) * sizeof(id));
	set->v[at] = id;
}

static bool is_unfolded(const struct row_list *rows, uint64_t id)
{
	return rows->all_unfolded != (rows->flipped.n && id_has(&rows->flipped, id));
}

/* ---- ids ---- */

/* Rows that look the same and have the same parent get different ids by their order. */
static uint64_t child_id(struct making *m, uint64_t parent, uint64_t looks)
{
	const uint64_t words[] = { parent, looks };
	const uint64_t id = hash_words(words, ARRAY_SIZE(words));
	struct row_list *rows = m->rows;
	uint32_t i;

	if (INDEX_FIND(&rows->of_id, id, i, rows->ids[i].id == id)) {
		const uint64_t again[] = { id, rows->ids[i].n++ };

		return hash_words(again, ARRAY_SIZE(again));
	}
	VEC_GROW(rows->ids, rows->n_ids, rows->cap_ids);
	index_add(&rows->of_id, id, (uint32_t)rows->n_ids);
	rows->ids[rows->n_ids++] = (struct id_count){ id, 1 };
	return id;
}

/* An entry is what its keys are; in a hierarchy those of its level, below its parent. */
static uint64_t entry_id(struct making *m, uint64_t parent, const struct entry *entry)
{
	return child_id(m, parent, table_entry_hash(m->table, m->hist, entry));
}

static uint64_t node_id(struct making *m, uint64_t parent, const struct call_node *node)
{
	const struct symbol *symbol = node->frame.symbol;
	uint64_t looks;

	str_reset(&m->text);
	calltree_add_name(m->table, &node->frame, &m->text);
	looks = hash_bytes(m->text.s, m->text.len);
	return child_id(m, parent, symbol ? hash_word(looks ^ function_identity(symbol)) : looks);
}

/* ---- call trees ---- */

static bool has_children(const struct making *m, const struct entry *entry)
{
	for (size_t i = 0; i < entry->n_children; i++)
		if (entry_is_shown(m->table, m->hist, entry->children[i]))
			return true;
	return false;
}

static struct call_tree *tree_of(struct making *m, const struct entry *entry)
{
	const bool of_branch = m->table->question->query.chain.kind == CHAIN_FRACTAL;
	const struct tree_limit limit = table_tree_limit(m->table, m->hist, of_branch);
	struct row_list *rows = m->rows;
	uint64_t hash = hash_word((uintptr_t)entry);
	uint32_t i;

	if (INDEX_FIND(&rows->of_entry, hash, i, rows->trees[i].entry == entry))
		return rows->trees[i].tree;
	VEC_GROW(rows->trees, rows->n_trees, rows->cap_trees);
	rows->trees[rows->n_trees] = (struct row_tree){ entry, table_tree(m->table, m->hist, entry, &limit) };
	index_add(&rows->of_entry, hash, (uint32_t)rows->n_trees);
	return rows->trees[rows->n_trees++].tree;
}

static void add_row(struct making *m, const struct row *row)
{
	struct row_list *rows = m->rows;

	VEC_GROW(rows->v, rows->n, rows->cap);
	rows->v[rows->n++] = *row;
}

/* A branch up to its end, which follows its first frame where it is unfolded. The end's row. */
static struct row add_branch(struct making *m, const struct entry *entry, const struct call_node *node,
			     uint64_t parent, unsigned depth)
{
	const struct call_node *end = calltree_run_end(node);
	struct row row = { .entry = entry, .node = node, .depth = depth };

	row.id = node_id(m, parent, node);
	row.foldable = end != node || end->children;
	row.unfolded = row.foldable && is_unfolded(m->rows, row.id);
	add_row(m, &row);
	while (row.unfolded && row.node != end) {
		row.node = row.node->children;
		row.id = node_id(m, row.id, row.node);
		row.continued = true;
		row.foldable = false;
		add_row(m, &row);
	}
	row.node = row.unfolded ? end : NULL;
	return row;
}

/* The depth is input: where the walk goes on is on a stack of our own. */
static void add_tree(struct making *m, const struct entry *entry, const struct row *above)
{
	struct call_tree *tree = tree_of(m, entry);
	struct level {
		const struct call_node *next;
		uint64_t parent;
	} *levels = NULL;
	size_t n = 0, cap = 0;

	if (!tree)
		return;
	VEC_GROW(levels, n, cap);
	levels[n++] = (struct level){ tree->root.children, above->id };
	while (n) {
		struct level *level = &levels[n - 1];
		const struct call_node *node = level->next;
		struct row end;

		if (!node) {
			n--;
			continue;
		}
		level->next = node->next;
		end = add_branch(m, entry, node, level->parent, above->depth + (unsigned)n);
		if (!end.node)
			continue;
		VEC_GROW(levels, n, cap);
		levels[n++] = (struct level){ end.node->children, end.id };
	}
	free(levels);
}

/* ---- entries ---- */

static void add_entry(struct making *m, const struct entry *entry, uint64_t parent)
{
	struct row row = { .entry = entry, .depth = (unsigned)entry->depth };

	if (!entry_is_shown(m->table, m->hist, entry))
		return;
	row.id = entry_id(m, parent, entry);
	row.foldable = entry->n_children ? has_children(m, entry) : table_has_tree(m->table, m->hist, entry);
	row.unfolded = row.foldable && is_unfolded(m->rows, row.id);
	add_row(m, &row);
	if (!row.unfolded)
		return;
	if (!entry->n_children)
		add_tree(m, entry, &row);
	/* The recursion is as deep as there are keys. */
	for (size_t i = 0; i < entry->n_children; i++)
		add_entry(m, entry->children[i], row.id);
}

void row_list_make(struct row_list *rows, struct table *table, const struct hist *hist)
{
	struct making m = { .rows = rows, .table = table, .hist = hist, .text = STR_INIT };

	rows->n = rows->n_ids = 0;
	index_clear(&rows->of_id);
	for (size_t i = 0; i < hist->n; i++)
		add_entry(&m, hist->entries[i], 0);
	str_release(&m.text);
}

void row_list_forget(struct row_list *rows)
{
	for (size_t i = 0; i < rows->n_trees; i++)
		calltree_free(rows->trees[i].tree);
	rows->n_trees = 0;
	rows->n = 0;
	index_clear(&rows->of_entry);
}

void row_list_release(struct row_list *rows)
{
	row_list_forget(rows);
	free(rows->v);
	free(rows->trees);
	free(rows->flipped.v);
	index_release(&rows->of_entry);
	free(rows->ids);
	index_release(&rows->of_id);
	*rows = (struct row_list){ .n = 0 };
}

size_t row_list_find(const struct row_list *rows, uint64_t id)
{
	size_t i = 0;

	while (i < rows->n && rows->v[i].id != id)
		i++;
	return i;
}

/* ---- folding ---- */

void row_list_flip(struct row_list *rows, const struct row *row)
{
	if (row->foldable)
		id_flip(&rows->flipped, row->id);
}

void row_list_set_all(struct row_list *rows, bool unfold)
{
	rows->flipped.n = 0;
	rows->all_unfolded = unfold;
}

static void set(struct row_list *rows, uint64_t id, bool unfold)
{
	if (is_unfolded(rows, id) != unfold)
		id_flip(&rows->flipped, id);
}

/*
 * All folds below one come to light by unfolding those above them first: until nothing new does. Rounds are as
 * many as levels, and each sees the rows of the one before.
 */
void row_list_set_below(struct row_list *rows, struct table *table, const struct hist *hist, const struct row *row,
			bool unfold)
{
	const uint64_t id = row->id;
	const unsigned depth = row->depth;
	size_t before;

	do {
		size_t i = row_list_find(rows, id);

		before = rows->n;
		if (i < rows->n)
			set(rows, id, unfold);
		while (++i < rows->n &&
		       (rows->v[i].depth > depth || (rows->v[i].continued && rows->v[i].depth == depth)))
			if (rows->v[i].foldable)
				set(rows, rows->v[i].id, unfold);
		row_list_make(rows, table, hist);
	} while (unfold && rows->n > before);
}
