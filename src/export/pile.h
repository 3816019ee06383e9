/*
 * pile: many rows of small records that are written in turn and read one row after the other: the samples of each
 * thread. A row keeps its last records in memory, at most PILE_BYTES of them; what is full goes to a file without a
 * name, which is made when it is first needed. So memory grows with the rows, and by a struct pile_chunk for each
 * PILE_BYTES that were put away.
 *
 *	row: chunk (offset, bytes), chunk, ... | the last records, in memory
 *	record: two words, each as the difference to the one before it in the row (time), or as it is; then maybe a text
 */
#ifndef PSTAT_PILE_H
#define PSTAT_PILE_H

#include "util/util.h"

enum { PILE_BYTES = 2048, PILE_TEXT_MAX = 1024 };

struct pile {
	int fd; /* -1: not needed yet */
	uint64_t file_bytes;
};
struct pile_chunk {
	uint64_t offset;
	uint32_t n_bytes;
};
struct pile_row {
	uint8_t *bytes; /* the last ones */
	uint32_t n_bytes, cap;
	struct pile_chunk *chunks;
	size_t n_chunks, cap_chunks;
	uint64_t n_records, last_time;
};
struct pile_record {
	uint64_t time, word;
	const char *text; /* of text_bytes; valid until the next one is read */
	size_t text_bytes;
};
void pile_init(struct pile *pile);
void pile_release(struct pile *pile);
void pile_row_release(struct pile_row *row);
/* Texts are cut at PILE_TEXT_MAX. 0, or a negative errno with a sentence. */
int pile_add(struct pile *pile, struct pile_row *row, const struct pile_record *record, struct str *err);

/* Reads a row from its beginning; nothing may be added meanwhile. */
struct pile_reader {
	const struct pile *pile;
	const struct pile_row *row;
	size_t next_chunk;
	const uint8_t *at, *end;
	uint64_t time;
	uint8_t room[PILE_BYTES];
};
void pile_read(struct pile_reader *reader, const struct pile *pile, const struct pile_row *row);
/* 1; 0: there are no more; a negative errno with a sentence. */
int pile_next(struct pile_reader *reader, struct pile_record *record, struct str *err);

#endif
