/* SPDX-License-Identifier: MIT */
/*
 * --hierarchy: entries that agree in the keys of the upper levels come under one entry that stands for these
 * keys, with their sums. The entries found by folding are the leaves.
 */
#include "hist/fold_internal.h"

#include <stdlib.h>

struct levels {
	struct table *table;
	struct hist *hist;
	unsigned *of_key; /* per key */
	size_t n; /* levels */
	struct row_set ids; /* of v: level, then the values of the keys down to it, 0 for others */
	struct entry **v; /* of all upper levels */
	size_t n_v, cap_v;
	struct entry **tops;
	size_t n_tops, cap_tops;
};

static void levels_init(struct levels *levels, struct table *table, struct hist *hist)
{
	*levels = (struct levels){ .table = table, .hist = hist };
	levels->of_key = xcalloc(table->question->n_keys + 1, sizeof(*levels->of_key));
	for (size_t i = 0; i < table->question->n_keys; i++) {
		levels->of_key[i] = table->question->private->slots[i].level;
		if (levels->of_key[i] >= levels->n)
			levels->n = levels->of_key[i] + 1;
	}
	row_set_init(&levels->ids, (unsigned)table->question->n_keys + 1);
}

static void levels_release(struct levels *levels)
{
	free(levels->of_key);
	free(levels->v);
	row_set_release(&levels->ids);
}

/* At each power of two. */
static void double_room(const struct hist *hist, struct entry *parent)
{
	const size_t n = parent->n_children;
	struct entry **children = arena_alloc(hist->memory, (n ? n * 2 : 1) * sizeof(*children));

	if (n)
		memcpy(children, parent->children, n * sizeof(*children));
	parent->children = children;
}

static void add_child(struct levels *levels, struct entry *parent, struct entry *child)
{
	if (!parent) {
		VEC_GROW(levels->tops, levels->n_tops, levels->cap_tops);
		levels->tops[levels->n_tops++] = child;
		return;
	}
	child->parent = parent;
	if (!(parent->n_children & (parent->n_children - 1)))
		double_room(levels->hist, parent);
	parent->children[parent->n_children++] = child;
}

static struct entry *new_level(struct levels *levels, struct entry *parent,
			       const struct entry *leaf, size_t depth)
{
	struct entry *entry = entry_new(levels->table, levels->hist);

	memcpy(entry->values, leaf->values, levels->table->question->n_keys * sizeof(*entry->values));
	entry->depth = depth;
	entry->number = leaf->number;
	entry->location = leaf->location;
	entry->level = leaf->level;
	VEC_GROW(levels->v, levels->n_v, levels->cap_v);
	levels->v[levels->n_v++] = entry;
	add_child(levels, parent, entry);
	return entry;
}

static struct entry *find_level(struct levels *levels, struct entry *parent,
				const struct entry *leaf, size_t depth)
{
	size_t n_keys = levels->table->question->n_keys;
	uint64_t *row = xcalloc(n_keys + 1, sizeof(*row));
	uint32_t i;

	row[0] = depth;
	for (size_t key = 0; key < n_keys; key++)
		row[key + 1] = levels->of_key[key] <= depth ? leaf->values[key] : 0;
	i = row_set_intern(&levels->ids, row);
	free(row);
	return i < levels->n_v ? levels->v[i] : new_level(levels, parent, leaf, depth);
}

static void add_sums(const struct levels *levels, struct entry *to, const struct entry *leaf)
{
	entry_stats_add(&to->self, &leaf->self);
	for (size_t i = 0; to->members && i < levels->hist->n_members; i++)
		entry_stats_add(&to->members[i], &leaf->members[i]);
	for (size_t i = 0; to->sums && i < levels->hist->n_members; i++)
		entry_sums_add(&to->sums[i], &leaf->sums[i]);
}

void hist_make_hierarchy(struct table *table, struct hist *hist)
{
	struct levels levels;

	levels_init(&levels, table, hist);
	for (size_t i = 0; i < hist->n; i++) {
		struct entry *leaf = hist->entries[i], *parent = NULL;

		for (size_t depth = 0; depth + 1 < levels.n; depth++) {
			parent = find_level(&levels, parent, leaf, depth);
			add_sums(&levels, parent, leaf);
		}
		leaf->depth = levels.n ? levels.n - 1 : 0;
		add_child(&levels, parent, leaf);
	}
	for (size_t i = 0; i < levels.n_v; i++)
		entries_sort(table, hist, levels.v[i]->children, levels.v[i]->n_children);
	entries_sort(table, hist, levels.tops, levels.n_tops);
	free(hist->entries);
	hist->entries = levels.tops;
	hist->n = levels.n_tops;
	levels_release(&levels);
}
