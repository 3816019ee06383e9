/* SPDX-License-Identifier: MIT */
/*
 * record_feed.h: the records of some rings, one by one, decoded, as libpstat.h has them. Private to count/.
 */
#ifndef PSTAT_COUNT_RECORD_FEED_H
#define PSTAT_COUNT_RECORD_FEED_H

#include "count/lib.h"
#include "data/data.h"
#include "kern/kern.h"

struct record_feed {
	struct ring *rings; /* borrowed, none of them overwritten */
	size_t n_rings;
	struct events events; /* whose records these are, with the kernel's ids; in the order of the counters */
	struct decoder decoder;
	/*
	 * The ring in turn and what was ready in it: `used` of these bytes are read and given back, the `last` bytes
	 * after them are the record that was handed out last.
	 */
	size_t at, ready, used, last;
	struct ring_span span[2];
	uint64_t *around; /* room for a record that lies around a ring's end */
	struct record_body body;
	struct pstat_record record;
	struct str why; /* of the last -EBADMSG; its room is laid out when the feed is opened */
	uint64_t delivered, samples, lost, not_taken, broken; /* see struct pstat_sampler_counts */
};

/* All that reading will need is allocated here. Add to feed->events before the first record is read. */
void record_feed_init(struct record_feed *feed, struct ring *rings, size_t n_rings);
void record_feed_release(struct record_feed *feed); /* safe on a zeroed one */
/* Does any ring have a record besides the one that was handed out last? */
bool record_feed_ready(const struct record_feed *feed);
/* Returns what pstat_sampler_next() does. */
int record_feed_next(struct record_feed *feed, const struct pstat_record **record);

#endif
