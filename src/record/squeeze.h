/*
 * squeeze: what of a record is kept while the consumer is behind and buffers run short. Private to record/.
 *
 *   free buffers   what is kept
 *   a quarter      all
 *   less           samples without the copy of their stack (--call-graph dwarf)
 *   an eighth      no samples: only what tasks do, without which samples have no names
 *   none           nothing: records stay in their rings, and the kernel counts what finds no room there
 *
 * Whoever reads the recording can tell: a sample that was cut has user registers, but a stack of size 0, which the
 * kernel writes only where there are no registers, or of a task that is exiting; dropped samples are told by
 * LOST_SAMPLES records, one for each event, with the time of the last sample that was dropped.
 * A callchain is never cut: nobody could tell it from a whole one.
 */
#ifndef PSTAT_SQUEEZE_H
#define PSTAT_SQUEEZE_H

#include "data/data.h"
#include "record/tally.h"

enum squeeze_level { SQUEEZE_NOTHING, SQUEEZE_STACKS, SQUEEZE_SAMPLES };

struct squeeze {
	struct decoder decoder;
	struct str record; /* one that was made smaller */
	struct tally dropped; /* samples that squeeze_losses has not told yet */
	bool any_dropped;
	/* Samples, of all events, for the closing lines. */
	uint64_t n_cut, n_dropped;
};

void squeeze_init(struct squeeze *squeeze, const struct events *events);
void squeeze_release(struct squeeze *squeeze);
enum squeeze_level squeeze_level(size_t free_bytes, size_t all_bytes);
/*
 * What is left of a whole record, aligned to 8: the record itself, a smaller one that is good until the next call, or
 * NULL, where it is a sample that was dropped; what went is counted.
 */
const struct perf_event_header *squeeze_record(struct squeeze *squeeze, enum squeeze_level level,
					       const struct perf_event_header *record);
/*
 * Appends the LOST_SAMPLES records of what was dropped and not yet told, of as many events as fit into max bytes;
 * any_dropped says whether some are left.
 */
void squeeze_losses(struct squeeze *squeeze, struct str *out, size_t max);

#endif
