/* SPDX-License-Identifier: MIT */
/*
 * sink_tee: one sink that passes all to several: the file, and a view of what is being recorded. Private to record/.
 *
 * Each is told all, in the order in which they were added, also after a failure of its own or of another one: the first
 * failure of a call is what that returns. So each has its end, and one that cannot go on counts what it is told.
 */
#ifndef PSTAT_SINK_TEE_H
#define PSTAT_SINK_TEE_H

#include "data/data.h"

struct sink_tee {
	struct record_sink sink; /* what stands before them tells this */
	struct record_sink **v; /* borrowed */
	size_t n, cap;
};

void sink_tee_init(struct sink_tee *tee);
void sink_tee_add(struct sink_tee *tee, struct record_sink *sink);
void sink_tee_release(struct sink_tee *tee); /* the sinks stay */

#endif
