/*
 * id_table.c: see id_table.h. Chained buckets, at most as many things as buckets.
 */
#include "replay/id_table.h"

#include "util/util.h"

#include <stdlib.h>

void id_table_release(struct id_table *table)
{
	free(table->buckets);
	*table = (struct id_table){ NULL, 0, 0 };
}

static struct id_link **bucket(const struct id_table *table, int32_t id)
{
	return &table->buckets[hash_word((uint32_t)id) & (table->n_buckets - 1)];
}

struct id_link *id_table_find(const struct id_table *table, int32_t id)
{
	struct id_link *link = table->n_buckets ? *bucket(table, id) : NULL;

	while (link && link->id != id)
		link = link->next;
	return link;
}

static void grow(struct id_table *table)
{
	struct id_table old = *table;

	table->n_buckets = old.n_buckets ? old.n_buckets * 2 : 64;
	table->buckets = xcalloc(table->n_buckets, sizeof(*table->buckets));
	for (size_t i = 0; i < old.n_buckets; i++) {
		struct id_link *link = old.buckets[i];

		while (link) {
			struct id_link *next = link->next;
			struct id_link **to = bucket(table, link->id);

			link->next = *to;
			*to = link;
			link = next;
		}
	}
	free(old.buckets);
}

void id_table_add(struct id_table *table, struct id_link *link, int32_t id)
{
	struct id_link **to;

	if (table->n == table->n_buckets)
		grow(table);
	to = bucket(table, id);
	*link = (struct id_link){ *to, id, true };
	*to = link;
	table->n++;
}

void id_table_remove(struct id_table *table, struct id_link *link)
{
	struct id_link **at;

	if (!link->linked)
		return;
	for (at = bucket(table, link->id); *at != link; at = &(*at)->next)
		;
	*at = link->next;
	link->linked = false;
	table->n--;
}
