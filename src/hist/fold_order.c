/*
 * The order of entries, perf's: by the numbers and keys in the order of -s and -F, greater numbers first. Of
 * equal members of a group the next member decides; --group-sort-idx asks another one first. Of entries
 * with the same total the caller, that is the one with the longer way to go, stands first, but only among
 * those whose first sample was of one thread: which is no order in the strict sense (a before b before c
 * before a can be). What perf makes of it follows from how it sorts: in the order of their keys entries go
 * into a red-black tree.
 */
#include "hist/fold_internal.h"

#include <stdlib.h>

struct sorting {
	struct table *table;
	size_t n_members;
};

static int greater_first(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

static int compare_numbers(const struct sorting *sorting, const struct field_row *field,
			   const struct entry *a, const struct entry *b)
{
	const struct table *table = sorting->table;
	size_t n = a->members && !field->total ? sorting->n_members : 1;
	size_t first = table->options.group_sort < n ? table->options.group_sort : 0;
	int order = greater_first(entry_number(a, field, first), entry_number(b, field, first));

	for (size_t i = 0; i < n && !order; i++)
		order = greater_first(entry_number(a, field, i), entry_number(b, field, i));
	if (order || !field->total || !table->chains || a->tid != b->tid)
		return order;
	order = greater_first(a->chain_depth, b->chain_depth);
	return table->order == CHAIN_CALLER ? order : -order;
}

static int compare_shown(void *context, const void *pa, const void *pb)
{
	const struct sorting *sorting = context;
	const struct entry *a = pa, *b = pb;
	struct table *table = sorting->table;
	int order = 0;

	for (size_t i = 0; i < table->private->n_order && !order; i++) {
		const struct order_item *item = &table->private->order[i];
		size_t key = item->key_index;

		if (item->field)
			order = compare_numbers(sorting, item->field, a, b);
		else
			order = table->keys[key]->compare(table, a->values[key], b->values[key]);
	}
	return order;
}

static int compare_found(const void *pa, const void *pb, void *context)
{
	const struct entry *a = *(struct entry *const *)pa, *b = *(struct entry *const *)pb;
	struct table *table = context;

	for (size_t i = 0; i < table->n_keys; i++) {
		const struct sort_key *key = table->keys[i];
		int order = (key->find_order ? key->find_order : key->compare)(table, a->values[i],
									       b->values[i]);

		if (order)
			return order;
	}
	return (a->number > b->number) - (a->number < b->number);
}

void entries_sort(struct table *table, const struct hist *hist, struct entry **entries, size_t n)
{
	struct sorting sorting = { table, hist->n_members };
	void **v;

	if (!n)
		return;
	qsort_r(entries, n, sizeof(*entries), compare_found, table);
	v = xcalloc(n, sizeof(*v));
	for (size_t i = 0; i < n; i++)
		v[i] = entries[i];
	tree_sort(v, n, compare_shown, &sorting);
	for (size_t i = 0; i < n; i++)
		entries[i] = v[i];
	free(v);
}
