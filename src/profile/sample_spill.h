/* SPDX-License-Identifier: MIT */
/*
 * sample_spill: many rows of small records that are written in turn and read one row after the other: the samples of
 * each thread. A row keeps its last records in memory, at most SPILL_BYTES of them; what is full goes to a file
 * without a name, which is made when it is first needed. So memory grows with the rows, and by a struct spill_chunk
 * for each SPILL_BYTES that were put away.
 *
 *	row: chunk (offset, bytes), chunk, ... | the last records, in memory
 *	record: two words, each as the difference to the one before it in the row (time), or as it is; then maybe a text
 *
 * Read by including profile.h.
 */
#ifndef PSTAT_SAMPLE_SPILL_H
#define PSTAT_SAMPLE_SPILL_H

#include "util/util.h"

enum { SPILL_BYTES = 2048, SPILL_TEXT_MAX = 1024 };

struct sample_spill {
	int fd; /* -1: not needed yet */
	uint64_t file_bytes;
};
struct spill_chunk {
	uint64_t offset;
	uint32_t n_bytes;
};
struct spill_row {
	uint8_t *bytes; /* the last ones */
	uint32_t n_bytes, cap;
	struct spill_chunk *chunks;
	size_t n_chunks, cap_chunks;
	uint64_t n_records, last_time;
};
struct spill_record {
	uint64_t time, word;
	const char *text; /* of text_bytes; valid until the next one is read */
	size_t text_bytes;
};
void spill_init(struct sample_spill *spill);
void spill_release(struct sample_spill *spill);
void spill_row_release(struct spill_row *row);
/* Texts are cut at SPILL_TEXT_MAX. 0, or a negative errno with a sentence. */
int spill_add(struct sample_spill *spill, struct spill_row *row, const struct spill_record *record, struct str *err);

/* Reads a row from its beginning; nothing may be added meanwhile. */
struct spill_reader {
	const struct sample_spill *spill;
	const struct spill_row *row;
	size_t next_chunk;
	const uint8_t *at, *end;
	uint64_t time;
	uint8_t room[SPILL_BYTES];
};
void spill_read(struct spill_reader *reader, const struct sample_spill *spill, const struct spill_row *row);
/* 1; 0: there are no more; a negative errno with a sentence. */
int spill_next(struct spill_reader *reader, struct spill_record *record, struct str *err);

#endif
