/*
 * text_table.h: distinct texts, each with a number that stays: names of threads, paths of cgroups. Private
 * to replay/.
 */
#ifndef PSTAT_REPLAY_TEXT_TABLE_H
#define PSTAT_REPLAY_TEXT_TABLE_H

#include "util/util.h"

struct text_table {
	struct arena arena;
	const char **v;
	size_t n, cap;
	struct index ix;
};
void text_table_release(struct text_table *table);
uint32_t text_table_add(struct text_table *table, const char *text);

#endif
