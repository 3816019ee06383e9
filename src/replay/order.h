/* SPDX-License-Identifier: MIT */
/*
 * order.h: records wait here until nothing older can come. Private to replay/.
 *
 * FINISHED_ROUND means: the recorder has been at all its rings once more. It empties one ring after the other, so
 * a ring that it left early may hold what is older than the last records of a ring that it came to late. Three
 * rounds over two rings; a number is a record and its time, '|' is where the recorder leaves the ring:
 *
 *	time  ->
 *	ring A  1       3 | 4               8 | 9           12 |
 *	ring B      2           5 | 6               10 | 11         14 |
 *	                          ^                    ^               ^
 *	                       round 1              round 2         round 3
 *
 *	as recorded: 1 3 2 5 ROUND  4 8 6 10 ROUND  9 12 11 14 ROUND
 *
 *	at the end of   newest so far   may go                  waits
 *	round 1         5               nothing                 1 2 3 5         (4 is still in its ring)
 *	round 2         10              up to 5: 1 2 3 4 5      6 8 10          (9 is still in its ring)
 *	round 3         14              up to 10: 6 8 9 10      11 12 14
 *
 * What comes after round 2 was written after the recorder left its ring in round 2, so after round 1 had ended:
 * it is not older than 5. So the end of a round lets everything go up to the newest time that was seen when the
 * round before ended.
 */
#ifndef PSTAT_REPLAY_ORDER_H
#define PSTAT_REPLAY_ORDER_H

#include "data/data.h"

struct order_block; /* of copied records */
struct order_copy;

struct order_entry {
	uint64_t time_ns;
	uint64_t offset; /* of the record in the file, times 2; odd: `at` is a struct order_copy */
	const void *at; /* where the record's bytes stay, or a copy */
};

struct order {
	bool swap; /* of the records' bytes */
	struct order_entry *v; /* [at, ready): may go; [ready, n): wait */
	size_t at, ready, n, cap;
	size_t *runs; /* where v goes back in time: each begins a run that is in order by itself */
	size_t n_runs, cap_runs;
	struct order_entry *spare; /* for merging */
	size_t spare_cap;
	uint64_t newest_ns; /* of all records so far */
	uint64_t last_ns; /* of the one that was added last */
	uint64_t round_ns; /* newest_ns when the last round ended */
	size_t bytes; /* of the items that are here, and of each block as long as one of its copies is needed */
	struct order_block *block; /* copies go into it */
	struct order_block *spare_blocks; /* for the next ones */
	size_t n_spare_blocks;
	struct order_copy *handed_out; /* the copy that the last order_next gave */
};

void order_init(struct order *order, bool swap);
void order_release(struct order *order);
/* stable: the record's bytes stay where they are; else they are copied. */
void order_add(struct order *order, const struct record *record, uint64_t time_ns, bool stable);
/* Which records may go: by the rule of rounds; the older half of what waits; all. */
void order_round(struct order *order);
void order_half(struct order *order);
void order_all(struct order *order);
/*
 * The next of those that may go, oldest first, at equal times in the order of arrival. The record is
 * valid until the next call; it is stable, or a copy. To be called until
 * it returns false before more is added.
 */
bool order_next(struct order *order, struct record *record, uint64_t *time_ns);

#endif
