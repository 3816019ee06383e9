/*
 * drain: rings -> bytes. One drain empties some of the rings, in passes: each ring is looked at once,
 * what is ready is copied and given back to the kernel at once, then counted (tally.c) and handed on
 * in large pieces. Private to record/.
 */
#ifndef PSTAT_DRAIN_H
#define PSTAT_DRAIN_H

#include "kern/kern.h"
#include "record/tally.h"

enum { DRAIN_PIECE_BYTES = 1 << 20 }; /* handed on as soon as so much has come together */

struct drain {
	struct ring **rings; /* borrowed; owned array */
	size_t n, cap;
	struct str buf; /* whole records, copied and not yet handed on */
	struct tally tally; /* of what was copied; the receiver merges and so empties it */
	tally_space_fn on_space;
	/*
	 * Takes buf's records: 0, or a negative errno with a sentence, which ends the pass. buf is emptied
	 * afterwards in any case. round_ends: all rings have been looked at since the last call with it;
	 * this call comes at the end of each pass, also with nothing in buf.
	 */
	int (*take)(void *data, struct drain *drain, bool round_ends, struct str *err);
	void *data;
};

void drain_init(struct drain *drain, const struct events *events);
void drain_add_ring(struct drain *drain, struct ring *ring);
void drain_release(struct drain *drain);

/*
 * One look at every ring. Returns the bytes that were taken, or the negative errno of take(). A pass
 * takes no more from a ring than it held at that look, so no ring keeps the others waiting.
 */
ssize_t drain_pass(struct drain *drain, struct str *err);
/* The same for overwrite rings, which must be paused: what came since the last snapshot. */
ssize_t drain_snapshot(struct drain *drain, struct str *err);

#endif
