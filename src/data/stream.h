/* SPDX-License-Identifier: MIT */
/*
 * stream.h: one file's or pipe's bytes as records. Private to data/; the reader owns streams.
 */
#ifndef PSTAT_DATA_STREAM_H
#define PSTAT_DATA_STREAM_H

#include "data/data.h"

/*
 * A file is mapped beyond its end, as far as a record may reach: one whose size somebody has changed while it waited
 * still ends in the mapping.
 */
enum { MAPPED_BEYOND_BYTES = RECORD_BYTES_MAX };

/*
 * A mapped file: records from `start` to `end` (offsets in the file). Takes over the mapping of `bytes` bytes and
 * MAPPED_BEYOND_BYTES at `map`.
 */
struct stream *stream_new_map(uint8_t *map, size_t bytes, uint64_t start, uint64_t end);
/* A pipe from its present position on, which counts as `offset`. Takes over fd. */
struct stream *stream_new_pipe(int fd, uint64_t offset);
void stream_free(struct stream *stream);
/* Back to the first record; not of a pipe. */
void stream_rewind(struct stream *stream);
/* Adds the bytes that were given, and those of all records. False: a pipe, which has no end. */
bool stream_position(const struct stream *stream, uint64_t *given, uint64_t *all);
/* True: the next record is not there yet, and stream_next would wait for it: only of a pipe. */
bool stream_would_wait(struct stream *stream, bool swap);
struct spool; /* reader.h */
/* Adds from now on what is read of the pipe to it. */
void stream_keep(struct stream *stream, struct spool *kept);
bool stream_is_pipe(const struct stream *stream);
/* See record_source.passed. Bytes of other streams are none of its own. */
void stream_passed(struct stream *stream, const uint8_t *from, const uint8_t *to);

/*
 * The next record: 1; 0 at the end, with a sentence in `missing` where it came too early; or a negative
 * errno with a sentence: later calls return 0.
 */
int stream_next(struct stream *stream, bool swap, struct record *record, struct str *missing,
		struct str *err);
/*
 * Appends the record's extra bytes to out and passes them; the record stays readable. False where they
 * are more than max or are not all there (the next stream_next says so).
 */
bool stream_extra(struct stream *stream, struct record *record, uint64_t max, struct str *out);

#endif
