/* SPDX-License-Identifier: MIT */
/*
 * stages: what may stand between the recorder's consumer and its sinks, and changes samples on their way. Private to
 * record/.
 *
 *   consumer -> [stage -> stage ->] sink
 *                |   ^
 *           take v   | collect
 *               workers
 *
 * A stage may finish a sample late, and one sample before another. What comes out has the order in which it came in
 * all the same: what follows an unfinished sample is held until that is done, rounds too. So what rounds promise
 * (record_source.h) stays true as long as a replaced sample keeps its time.
 *
 * All is done by the consumer's thread; `collect` is where results of other threads come in. After a failure, its
 * own or that of a sink after it, a stage may still be told more, and hands on what it can: a sink counts what it
 * cannot keep, and its `end` is called in every case.
 */
#ifndef PSTAT_STAGES_H
#define PSTAT_STAGES_H

#include "data/data.h"

enum stage_verdict {
	STAGE_PASS, /* the record goes on as it is */
	STAGE_REPLACED, /* by what was added to out; nothing: it is left out */
	STAGE_LATER, /* collect will give what comes in its place */
};

/*
 * One kind of stage. `out` takes native records whose sizes are multiples of 8, none or more. Each function may
 * give a negative errno with a sentence: then the stage has failed, none of its functions is called any more, and the
 * samples that it still has and those that come are lost and counted.
 */
struct stage_ops {
	/* Every record, in order: aligned to 8, valid during the call. enum stage_verdict. */
	int (*take)(void *data, const struct perf_event_header *record, uint64_t ticket, struct str *out,
		    struct str *err);
	/*
	 * One that is finished of those that take left for later, in any order: 1 with its ticket. 0: none is. wait:
	 * returns when one is, which may not depend on records or rounds that are still to come. Not asked where
	 * none was left. NULL: take never says STAGE_LATER.
	 */
	int (*collect)(void *data, bool wait, uint64_t *ticket, struct str *out, struct str *err);
	/* A round has ended after what was taken so far: see record_sink.h. May be NULL. */
	int (*round)(void *data, struct str *err);
	/* No more will come, and all that was left for later has been collected: the last records. May be NULL. */
	int (*end)(void *data, struct str *out, struct str *err);
};

struct held; /* private: a sample or a round that waits, and what follows it */

struct stage {
	struct record_sink sink; /* what stands before it tells this */
	/* The events of the records that it hands on: a stage may give out samples with other fields than it takes. */
	const struct events *events;
	uint64_t waits; /* how often so much was held that the consumer had to wait for samples to be done */
	uint64_t lost; /* samples that were lost as the stage failed; it adds those that it can make nothing of */
	size_t held_most; /* bytes that waited at once, at most */

	/* Private. */
	const struct stage_ops *ops;
	void *data;
	struct record_sink *next;
	size_t held_bytes, held_bytes_max;
	struct held *held; /* [held_at, n_held), the oldest first */
	size_t held_at, n_held, cap_held;
	uint64_t oldest_ticket; /* of held[held_at] */
	size_t n_waiting; /* of these that are not done */
	struct str passed; /* from passed_at on: the records after each of these, one after another */
	size_t passed_at;
	struct str ready; /* what is handed on next, if anything */
	struct str out; /* of the ops */
	unsigned rounds_to_tell; /* ends of rounds that the next sink is still to be told, see record_sink.h */
	bool failed;
	int code; /* of the present call, with its sentence in err */
	struct str *err;
};

/*
 * ops, data, events and next are borrowed. events: of the records that come out, where that are not the ones that
 * come in; see stage.events. held_bytes_max: so much may wait, samples that are not done by the size they came
 * with; then the consumer waits, and so the buffers before it fill.
 */
struct stage *stage_new(const struct stage_ops *ops, void *data, const struct events *events, struct record_sink *next,
			size_t held_bytes_max);
/* Frees it, after its end or without it: what is held is gone. NULL is fine. */
void stage_free(struct stage *stage);

/*
 * Hands on what is done, for when no records come; stage.sink.flush does so too. wait: until all is done, as for
 * those who begin another file: a flush does not wait, so that no recorder stops for it. Of several the first one
 * first.
 */
int stage_hand_on(struct stage *stage, bool wait, struct str *err);

#endif
