/* SPDX-License-Identifier: MIT */
/*
 * record_source.h: what replay, symbols and tracepoints need of a recording, whoever reads it, or is making it: what it
 * says of itself, and its records one by one. A reader offers both; so can a recorder of what it records.
 */
#ifndef PSTAT_RECORD_SOURCE_H
#define PSTAT_RECORD_SOURCE_H

#include "data/records.h"

struct decoder;
struct events;
struct info;
struct note_list;
struct str;

/*
 * A recording's description of itself, for those who make sense of its records. Borrowed: of a reader, or of a
 * recorder that looks at what it records. It may gain while records go by.
 */
struct recording_info {
	const struct events *events;
	const struct info *info;
	struct decoder *decoder;
	struct note_list *notes; /* what is wrong with single records is told here, READER_NOTES_MAX at most */
	int64_t written_ns; /* when it was last written, since 1970; 0: not known, or it is being written */
};

enum { SOURCE_END, SOURCE_RECORD, SOURCE_ROUND, SOURCE_LATER };

/*
 * A source of records: a file, a pipe, a directory, or rings. It is the first member of what gives them.
 *
 * A round: between two SOURCE_ROUND the source has been at all that it takes records from. So what it gives
 * after a round is not older than the newest record that it had given when the round before ended. Records
 * that don't obey are given out of order, and counted.
 */
struct record_source {
	/*
	 * SOURCE_RECORD and the next record, good until the next call or, where it is stable, until the source
	 * is closed; SOURCE_ROUND, and no record; SOURCE_END; or a negative errno with a sentence where what
	 * follows cannot be read. Later calls give SOURCE_END. A source that was told not to wait, and no other,
	 * gives SOURCE_LATER, and no record, where there is nothing yet.
	 */
	int (*next)(struct record_source *source, struct record *record, struct str *err);
	/* The part that was given, 0 to 1; -1: nobody knows the whole. */
	double (*part)(const struct record_source *source);
	/*
	 * The bytes of stable records in [from, to) have been looked at again, after later records were given: those
	 * who put records in order tell, so that the memory that this took may be given back. They stay readable. NULL:
	 * nobody needs to.
	 */
	void (*passed)(struct record_source *source, const uint8_t *from, const uint8_t *to);
};

#endif
