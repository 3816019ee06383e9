/* SPDX-License-Identifier: MIT */
/*
 * The order of rows. It is total, and the same whatever the order of the samples was:
 *
 *	1. the numbers and keys of -s and -F as they are typed, greater numbers first (question.c, make_order). Of a
 *	   group's members the first that differs decides; --group-sort-idx asks another one before it
 *	2. right behind an equal total, the entry with more frames to come in the order that chains are shown in, which
 *	   is the caller: main stands before what it calls, where both have all samples
 *	3. all keys, in the order of -s
 *	4. the order of appearance, for rows whose keys look the same
 */
#include "hist/fold_internal.h"

#include <stdlib.h>

struct sorting { /* of the entries of one hist */
	struct table *table;
	size_t n_members;
};

static int greater_first(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

static int compare_numbers(const struct sorting *by, const struct field_row *field, const struct entry *a,
			   const struct entry *b)
{
	const struct question *question = by->table->question;
	size_t n = a->members && !field->total ? by->n_members : 1;
	size_t first = question->query.group_sort < n ? question->query.group_sort : 0;
	int order = greater_first(entry_number(a, field, first), entry_number(b, field, first));

	for (size_t i = 0; i < n && !order; i++)
		order = greater_first(entry_number(a, field, i), entry_number(b, field, i));
	if (order || !field->total)
		return order;
	order = greater_first(a->chain_depth, b->chain_depth);
	return question->order == CHAIN_CALLER ? order : -order;
}

static int compare_key(const struct sorting *by, size_t key, const struct entry *a, const struct entry *b)
{
	return by->table->question->keys[key]->compare(by->table, a->values[key], b->values[key]);
}

static int compare_entries(const void *pa, const void *pb, void *context)
{
	const struct entry *a = *(struct entry *const *)pa, *b = *(struct entry *const *)pb;
	const struct sorting *by = context;
	const struct question *question = by->table->question;
	int order = 0;

	for (size_t i = 0; i < question->private->n_order && !order; i++) {
		const struct order_item *item = &question->private->order[i];

		order = item->field ? compare_numbers(by, item->field, a, b) : compare_key(by, item->key_index, a, b);
	}
	for (size_t key = 0; key < question->n_keys && !order; key++)
		order = compare_key(by, key, a, b);
	return order ? order : (a->number > b->number) - (a->number < b->number);
}

void entries_sort(struct table *table, const struct hist *hist, struct entry **entries, size_t n)
{
	struct sorting by = { table, hist->n_members };

	if (n)
		qsort_r(entries, n, sizeof(*entries), compare_entries, &by);
}
