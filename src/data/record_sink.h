/* SPDX-License-Identifier: MIT */
/*
 * record_sink.h: where records go while they are taken: a file, a replay, a live view. It is the other side of
 * record_source.h: a source is asked, a sink is told. It is the first member of what takes them.
 *
 *   recorder's consumer -> [stage -> stage ->] sink, sink, ...
 *
 * A stage is a sink that hands on to the next: records in the order in which it got them, some of them replaced.
 */
#ifndef PSTAT_RECORD_SINK_H
#define PSTAT_RECORD_SINK_H

#include <stddef.h>

struct str;

/* The second end of a round after a record makes it older than all that comes: more ends say nothing new. */
enum { ROUNDS_TOLD = 2 };

/*
 * All of these are called by one thread. Each gives 0, or a negative errno with a sentence, which ends the recording;
 * of what was taken until then as much as possible is kept, and `end` is still called. After a failure `take` is told
 * what comes until then all the same, so that what could not be kept is counted; it may give the failure again.
 */
struct record_sink {
	/* n bytes of whole records, aligned to 8, n > 0: valid during the call. */
	int (*take)(struct record_sink *sink, const void *records, size_t n, struct str *err);
	/*
	 * A round has ended: whatever is taken from now on is not older than the newest record that was taken before
	 * the round before this one ended. ROUNDS_TOLD times after the last record, then not until there is another one.
	 */
	int (*round)(struct record_sink *sink, struct str *err);
	/* Puts all that was taken so far where others find it, also if this program is killed now. */
	int (*flush)(struct record_sink *sink, struct str *err);
	/* No more will come; what a stage still has is handed on first. Called once, also after a failure. */
	int (*end)(struct record_sink *sink, struct str *err);
};

#endif
