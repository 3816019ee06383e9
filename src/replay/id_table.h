/*
 * id_table.h: things by their pid or tid. The link lies in the thing; a table owns nothing but its
 * buckets. Unlike util's hash, what goes away can be taken out. Private to replay/.
 */
#ifndef PSTAT_REPLAY_ID_TABLE_H
#define PSTAT_REPLAY_ID_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id_link {
	struct id_link *next;
	int32_t id;
	bool linked; /* it is in its table */
};
struct id_table {
	struct id_link **buckets;
	size_t n_buckets, n; /* n_buckets is 0 or a power of 2 */
};
void id_table_release(struct id_table *table);
struct id_link *id_table_find(const struct id_table *table, int32_t id);
/* Nothing with this id may be in the table. */
void id_table_add(struct id_table *table, struct id_link *link, int32_t id);
/* Nothing happens where it is not linked. */
void id_table_remove(struct id_table *table, struct id_link *link);

#endif
