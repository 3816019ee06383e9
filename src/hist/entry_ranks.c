/*
 * Ranks of entries are the same for questions about the same keys of the same groups: in which order their keys are,
 * and what tells their rows from others. It is learnt when entries are sorted, and again where one of them is not yet
 * known; it stands in arrays by the number that an entry has here, so that whoever orders entries by the thousand
 * needs no texts.
 */
#include "hist/fold_internal.h"

#include <stdlib.h>

static void forget(struct entry_ranks *ranks)
{
	row_set_release(&ranks->entries);
	free(ranks->found);
	free(ranks->shown);
	free(ranks->hashes);
	*ranks = (struct entry_ranks){ .found = NULL };
}

struct entry_ranks *entry_ranks_new(void)
{
	return xcalloc(1, sizeof(struct entry_ranks));
}

void entry_ranks_free(struct entry_ranks *ranks)
{
	if (ranks)
		forget(ranks);
	free(ranks);
}

static int (*order_of(const struct sort_key *key, bool found))(struct table *, uint64_t, uint64_t)
{
	return found && key->find_order ? key->find_order : key->compare;
}

static int compare_keys(struct table *table, const struct entry *a, const struct entry *b, bool found)
{
	int order = 0;

	for (size_t i = 0; i < table->question->n_keys && !order; i++)
		order = order_of(table->question->keys[i], found)(table, a->values[i], b->values[i]);
	return order;
}

static int compare_found(const void *pa, const void *pb, void *context)
{
	const struct entry *a = *(struct entry *const *)pa, *b = *(struct entry *const *)pb;
	int order = compare_keys(context, a, b, true);

	return order ? order : (a->number > b->number) - (a->number < b->number);
}

void entries_by_keys(struct table *table, struct entry **entries, size_t n)
{
	qsort_r(entries, n, sizeof(*entries), compare_found, table);
}

static int compare_shown(const void *pa, const void *pb, void *context)
{
	return compare_keys(context, *(struct entry *const *)pa, *(struct entry *const *)pb, false);
}

/* Ranks n entries that are known. `sorted`: room for them. */
static uint32_t *learn(struct table *table, struct entry *const *entries, size_t n, struct entry **sorted, bool found)
{
	uint32_t *ranks = xmalloc(n * sizeof(*ranks)), rank = 0;

	memcpy(sorted, entries, n * sizeof(*sorted));
	qsort_r(sorted, n, sizeof(*sorted), found ? compare_found : compare_shown, table);
	for (size_t i = 0; i < n; i++) {
		rank += i && compare_keys(table, sorted[i - 1], sorted[i], found);
		ranks[sorted[i]->ranked] = rank;
	}
	return ranks;
}

static bool number_known(struct entry_ranks *ranks, struct entry *const *entries, size_t n, size_t n_known)
{
	for (size_t i = 0; i < n; i++) {
		const uint64_t row[] = { entries[i]->group_key, entries[i]->frame_key };

		entries[i]->ranked = row_set_intern(&ranks->entries, row);
		if (entries[i]->ranked >= n_known)
			return false;
	}
	return true;
}

void entry_ranks_update(struct table *table, struct entry_ranks *ranks, struct entry *const *entries, size_t n)
{
	struct entry **sorted;

	if (ranks->entries.n && number_known(ranks, entries, n, ranks->entries.n))
		return;
	forget(ranks);
	row_set_init(&ranks->entries, 2);
	number_known(ranks, entries, n, n);
	sorted = xmalloc(n * sizeof(*sorted));
	ranks->found = learn(table, entries, n, sorted, true);
	ranks->shown = learn(table, entries, n, sorted, false);
	ranks->hashes = xcalloc(n, sizeof(*ranks->hashes));
	free(sorted);
}

void entries_by_rank(struct entry **entries, size_t n, const uint32_t *ranks)
{
	struct entry **sorted = xmalloc((n + 1) * sizeof(*sorted));
	uint32_t *keys = xmalloc((n + 1) * sizeof(*keys)), *order, most = 0;

	for (size_t i = 0; i < n; i++) {
		keys[i] = ranks[entries[i]->ranked];
		most = keys[i] > most ? keys[i] : most;
	}
	order = numbers_sorted(keys, n, (size_t)most + 1, NULL);
	for (size_t i = 0; i < n; i++)
		sorted[i] = entries[order[i]];
	if (n)
		memcpy(entries, sorted, n * sizeof(*sorted));
	free(sorted);
	free(keys);
	free(order);
}

/* ---- what tells rows apart ---- */

static uint64_t hash_entry(struct table *table, const struct entry *entry)
{
	const bool levels = table->question->query.view == VIEW_HIERARCHY;
	uint64_t hash = 0;

	for (size_t i = 0; i < table->n_columns; i++) {
		const struct column *column = &table->columns[i];

		if (column->kind == COLUMN_KEY && (!levels || column->level == entry->depth))
			hash = hash_word(hash ^ table_key_hash(table, entry, column));
	}
	return hash;
}

uint64_t table_entry_hash(struct table *table, const struct hist *hist, const struct entry *entry)
{
	uint64_t *known = entry->ranked == NO_ROW ? NULL : &hist->ranks->hashes[entry->ranked];

	if (!known)
		return hash_entry(table, entry);
	if (!*known)
		*known = hash_entry(table, entry);
	return *known;
}
