/*
 * order.h: records wait here until nothing older can come. Private to replay/.
 *
 * FINISHED_ROUND means: the recorder has been at all its rings once more. What a ring had not given
 * when a round ended is not older than the newest record of the round before; so at the end of a
 * round everything goes up to the newest time that was seen when the round before ended.
 */
#ifndef PSTAT_REPLAY_ORDER_H
#define PSTAT_REPLAY_ORDER_H

#include "data/data.h"

struct order_block; /* of copied records */
struct order_copy;

struct order_item {
	uint64_t time_ns;
	uint64_t offset; /* of the record in the file, times 2; odd: `at` is a struct order_copy */
	const void *at; /* the record's bytes, or a copy */
};

struct order {
	bool swap; /* of the records' bytes */
	struct order_item *v; /* [at, ready): may go; [ready, n): wait */
	size_t at, ready, n, cap;
	size_t *runs; /* where v goes back in time: each begins a run that is in order by itself */
	size_t n_runs, cap_runs;
	struct order_item *spare; /* for merging */
	size_t spare_cap;
	uint64_t newest_ns; /* of all records so far */
	uint64_t last_ns; /* of the one that was added last */
	uint64_t round_ns; /* newest_ns when the last round ended */
	size_t bytes; /* of the items that are here */
	struct order_block *block; /* copies go into it */
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
 * valid until the next call. To be called until it returns false before more is added.
 */
bool order_next(struct order *order, struct record *record, uint64_t *time_ns);

#endif
