/* SPDX-License-Identifier: MIT */
/*
 * reader.h: between reader.c (opening, records), reader_header.c (the bytes in front of and after the records) and
 * spool.c (copies of pipes). Private to data/.
 */
#ifndef PSTAT_DATA_READER_H
#define PSTAT_DATA_READER_H

#include "data/data.h"

enum { READER_FEATURE_MAX = 256 << 20 /* bytes of one feature */ };

void reader_note(struct reader *reader, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The recording's name in messages; "-" is not a name that anybody gave. */
static inline const char *reader_name(const struct reader *reader)
{
	return strcmp(reader->path, "-") ? reader->path : "standard input";
}

/* ---- reader_header.c ---- */
/* The first 16 bytes (n: as many as there are): sets swap and header_size. */
int header_check_magic(struct reader *reader, const uint8_t *bytes, size_t n, struct str *err);
/* A whole file's header, attrs, ids and features; *data_end is where its records end. */
int header_read(struct reader *reader, const uint8_t *map, uint64_t *data_end, struct str *err);
/* An attr of the file's byte order becomes an event. */
void reader_add_event(struct reader *reader, const uint8_t *attr, size_t size, const uint64_t *ids,
		      size_t n_ids);
/* Further ids of the event with this index, if there is one and it has this attr; else a new event. */
void reader_add_ids(struct reader *reader, size_t index, const uint8_t *attr, size_t size,
		    const uint64_t *ids, size_t n_ids);
/* A feature's bytes; a note where they cannot be read. */
void reader_add_feature(struct reader *reader, unsigned feature, const uint8_t *bytes, size_t size,
			uint64_t offset);

/* ---- spool.c ---- */
/*
 * Copies n bytes of head and the rest of a pipe into a temporary file without a name: a descriptor, which the
 * caller closes, or a negative errno with a sentence that begins with path.
 */
int spool_pipe(int pipe, const uint8_t *head, size_t n, const char *path, struct str *err);
/*
 * A temporary file of the same kind for what is read meanwhile; at most bytes_max, then nothing is kept. NULL: none can
 * be made, with a sentence.
 */
struct spool *spool_new(uint64_t bytes_max, struct str *err);
void spool_free(struct spool *spool); /* NULL is fine */
void spool_add(struct spool *spool, const void *bytes, size_t n);
/* A descriptor of all that was added, at its beginning, which the caller closes; -EFBIG: it was too much; -errno. */
int spool_open(const struct spool *spool);

#endif
