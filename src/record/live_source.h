/* SPDX-License-Identifier: MIT */
/*
 * live_source: a recording that can be read while it is taken. One thread, the recorder's consumer, tells the sink;
 * another one asks the source. Between the two lie copies of the records, so many and no more.
 *
 *   consumer -> sink | blocks of copied records | source -> replay, profile
 *
 * Who is slow: a full queue lets the sink wait, so the recorder's buffers fill, and what these drop is counted
 * there; or, where it was asked for, samples are left out here, and counted.
 *
 * How it ends: after the sink's `end` the source gives what is left, then SOURCE_END. Who asks may stop before
 * that: after live_source_close the sink never waits again. Whoever would wait for the recorder's end in the thread
 * that asks has to do one of the two first, ask until SOURCE_END or close, as the consumer may be waiting for room.
 */
#ifndef PSTAT_LIVE_SOURCE_H
#define PSTAT_LIVE_SOURCE_H

#include "data/data.h"

struct live_options {
	size_t bytes_max; /* of records that were told and not asked for yet; 0: 16 MiB. At least 512 KiB */
	/*
	 * Samples are left out while three quarters of these are full. The rest is for records about tasks, for
	 * which the sink waits all the same when that is full, too.
	 */
	bool samples_left_out;
	bool no_wait; /* the source gives SOURCE_LATER where it would wait */
};

struct live_source;

/*
 * The recording's events and info are copied, so that the recorder may go on filling its own: what info gains later
 * is not seen. NULL with a sentence: no descriptor is left.
 */
struct live_source *live_source_new(const struct live_options *options, const struct events *events,
				    const struct info *info, struct str *err);
/* When neither thread uses it any more. NULL is fine. */
void live_source_free(struct live_source *live);

struct record_sink *live_source_sink(struct live_source *live);

/* ---- for the thread that asks ---- */

/* Records stay until the next call; rounds come without a FINISHED_ROUND record. */
struct record_source *live_source_source(struct live_source *live);
/* The decoder and notes in it are for this thread alone. */
const struct recording_info *live_source_recording(const struct live_source *live);
/* One moment on the time of day, as it is set now, and on the clock of the samples; for this thread. */
void live_source_set_clock(struct live_source *live, uint64_t wall_ns, uint64_t clock_ns);
/*
 * Readable, for poll(2) beside other things, when the source has given SOURCE_LATER and there is something again, its
 * end too. It may be so once too often: then the source gives SOURCE_LATER again. Nobody else reads it.
 */
int live_source_fd(const struct live_source *live);
/* Says that the source will be asked no more. */
void live_source_close(struct live_source *live);

/* Samples that were left out so far; for any thread. */
uint64_t live_source_left_out(const struct live_source *live);

#endif
