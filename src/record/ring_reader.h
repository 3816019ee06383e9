/* SPDX-License-Identifier: MIT */
/*
 * ring_reader: rings -> buffers. It copies whole records out of some of the rings and gives the rings back at
 * once; that is all it does, so that how much room the kernel has depends on nothing but its being run. While the
 * consumer is late and buffers run short it keeps less of each sample: see ring_reader.c. Private to record/.
 */
#ifndef PSTAT_RING_READER_H
#define PSTAT_RING_READER_H

#include "kern/kern.h"
#include "record/buffers.h"
#include "record/sample_counts.h"

struct ring_reader {
	struct ring **rings; /* borrowed; owned array */
	size_t n, cap;
	struct buffers *buffers;
	struct producer producer;
	bool short_of_room; /* the last pass had to cut, drop or leave something */
	uint8_t *scratch; /* a record that wraps, in one piece */

	/* Load shedding. */
	struct decoder decoder;
	struct str smaller; /* the last sample that was cut */
	struct sample_counts dropped; /* samples that no LOST_SAMPLES record has counted yet */
	bool any_dropped;
	struct str losses; /* LOST_SAMPLES records on their way into a buffer */
	uint64_t n_cut, n_dropped; /* samples, of all events, for the closing lines */
};

void ring_reader_init(struct ring_reader *reader, const struct events *events, struct buffers *buffers);
void ring_reader_add(struct ring_reader *reader, struct ring *ring);
void ring_reader_release(struct ring_reader *reader);

enum drain_manner {
	DRAIN_ON, /* never waits, and may keep a buffer that is not full */
	DRAIN_AND_HAND_OVER, /* never waits, and keeps no buffer */
	DRAIN_PATIENTLY, /* waits for room; for when no ring fills any more */
};
/*
 * Empties every ring once. Returns the bytes that were taken. It takes no more from a ring than it held when its
 * turn came, so no ring keeps the others waiting.
 */
size_t ring_reader_drain(struct ring_reader *reader, enum drain_manner how);
/* The same for overwrite rings, which must be paused: what came since the last snapshot. It waits for room. */
size_t ring_reader_snapshot(struct ring_reader *reader);

#endif
