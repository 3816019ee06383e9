/*
 * writer.h: between writer.c (data, end) and writer_open.c (beginning). Private to data/.
 */
#ifndef PSTAT_DATA_WRITER_H
#define PSTAT_DATA_WRITER_H

#include "data/data.h"

/* The file's first 104 bytes; bits: of the features that are written, or NULL for none. */
int writer_put_header(struct writer *writer, const uint64_t *bits, struct str *err);
/* Records into the file at once and as they are, also where the others are packed; nothing may wait in buf. */
int writer_put_plain(struct writer *writer, const struct str *records, struct str *err);
/* Remembers the first failure and says so in err; returns its code. */
int writer_fail(struct writer *writer, int code, struct str *err);
/* info with what the writer itself knows (COMPRESSED) put in; shares all memory with it. */
struct info writer_info(const struct writer *writer, const struct info *info);

enum { WRITER_CHUNK_BYTES = 512 << 10 }; /* packed at once: readers make room for so much */

#endif
