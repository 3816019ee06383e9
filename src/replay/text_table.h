/* SPDX-License-Identifier: MIT */
/*
 * text_table.h: distinct texts, each with a number: names of threads, paths of cgroups. Private
 * to replay/.
 */
#ifndef PSTAT_REPLAY_TEXT_TABLE_H
#define PSTAT_REPLAY_TEXT_TABLE_H

#include "util/util.h"

struct text_table {
	struct arena arena;
	const char **v; /* NULL: its number is free */
	size_t n, cap;
	uint32_t *free; /* numbers, to be given again */
	size_t n_free;
	struct index ix;
};
void text_table_release(struct text_table *table);
uint32_t text_table_add(struct text_table *table, const char *text);
/* All that are not `used` (by number) go, and their numbers are free; the others keep theirs. */
void text_table_keep(struct text_table *table, const bool *used);

#endif
