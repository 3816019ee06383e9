/*
 * ring_reader: rings -> buffers. It copies whole records out of some of the rings and gives the rings back at
 * once; that is all it does, so that how much room the kernel has depends on nothing but its being run.
 * Private to record/.
 */
#ifndef PSTAT_RING_READER_H
#define PSTAT_RING_READER_H

#include "kern/kern.h"
#include "record/buffers.h"
#include "record/squeeze.h"

struct ring_reader {
	struct ring **rings; /* borrowed; owned array */
	size_t n, cap;
	struct buffers *buffers;
	struct producer producer;
	struct squeeze squeeze;
	bool short_of_room; /* the last look had to cut, drop or leave something */
	uint8_t *scratch; /* a record that wraps, in one piece */
	struct str losses;
};

void ring_reader_init(struct ring_reader *reader, const struct events *events, struct buffers *buffers);
void ring_reader_add(struct ring_reader *reader, struct ring *ring);
void ring_reader_release(struct ring_reader *reader);

/* What a look may do: never wait; not keep back a part of a buffer; wait for room, where no ring fills any more. */
enum ring_look { LOOK_ON, LOOK_AND_HAND_OVER, LOOK_PATIENTLY };
/*
 * One look at every ring. Returns the bytes that were taken. It takes no more from a ring than it held at
 * that look, so no ring keeps the others waiting.
 */
size_t ring_reader_look(struct ring_reader *reader, enum ring_look how);
/* The same for overwrite rings, which must be paused: what came since the last one. It waits for room. */
size_t ring_reader_snapshot(struct ring_reader *reader);

#endif
