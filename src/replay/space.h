/*
 * space.h: how address spaces change; how they are read stands in replay.h. Private to replay/.
 *
 * A space is a list of chunks, each of at most SPACE_CHUNK_MAX maps in order, none empty: a change moves
 * at most one chunk, also among millions of maps, and nearly every process has just one. Chunks count
 * their users and are copied before the first change (copy on write).
 */
#ifndef PSTAT_REPLAY_SPACE_H
#define PSTAT_REPLAY_SPACE_H

#include "replay/replay.h"

enum { SPACE_CHUNK_MAX = 128 };

struct map_chunk {
	uint32_t refs;
	uint16_t n, cap;
	struct map v[];
};

/* `clock` gives versions: one for all spaces of a replay. A space of zeros is an empty one. */
void space_release(struct space *space);
void space_clear(struct space *space, uint64_t *clock);
/* Takes the place of whatever was in [start, end) before. Empty ranges change nothing. */
void space_add(struct space *space, const struct map *map, uint64_t *clock);
/* Only where nothing is yet. */
void space_fill(struct space *space, const struct map *map, uint64_t *clock);
void space_cut(struct space *space, uint64_t start, uint64_t end, uint64_t *clock);
/* The last map that begins at or below addr, whether it reaches there or not; or NULL. */
const struct map *space_below(const struct space *space, uint64_t addr);
/* `to`, which is empty, has from then on what `from` has. */
void space_share(struct space *to, const struct space *from);

#endif
