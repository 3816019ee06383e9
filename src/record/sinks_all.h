/*
 * sinks_all: one sink that tells several: the file, and a view of what is being recorded. Private to record/.
 *
 * Each is told all, in the order in which they were added, also after a failure of its own or of another one: the first
 * failure of a call is what that returns. So each has its end, and one that cannot go on counts what it is told.
 */
#ifndef PSTAT_SINKS_ALL_H
#define PSTAT_SINKS_ALL_H

#include "data/data.h"

struct sinks_all {
	struct record_sink sink; /* what stands before them tells this */
	struct record_sink **v; /* borrowed */
	size_t n, cap;
};

void sinks_all_init(struct sinks_all *all);
void sinks_all_add(struct sinks_all *all, struct record_sink *sink);
void sinks_all_release(struct sinks_all *all); /* the sinks stay */

#endif
