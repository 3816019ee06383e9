/*
 * unwind_kept: rows as bytes, so that those of a large file are made once and not once a run. Private to unwind/.
 *
 *	"pstatUR" NUL | u64 base | u32 rows, rules, saved, blocks, ops, incomplete |
 *	u32 offset of each row | u32 rule of each row | rules, 3 u32 each | saved, 2 u32 each | blocks, 2 u32 each |
 *	operations, 4 u64 each
 *
 * The bytes are of this machine's order. They come from a file that anyone may have written who is this user: nothing
 * in them is believed that a look-up or a step relies on.
 */
#ifndef PSTAT_UNWIND_KEPT_H
#define PSTAT_UNWIND_KEPT_H

#include "unwind/unwind.h"
#include "unwind/unwind_image.h"
#include "unwind/unwind_table.h"

/*
 * All that the rows of this section depend on: the file with its times, and how rows are made. Empty: they are not
 * worth to be kept, or there is no keeper, or the file has no build-id.
 */
void unwind_kept_key(const struct unwind *unwind, const struct image *image, const struct elf_file *file,
		     const char *section, uint64_t section_bytes, struct str *key);
/* NULL: none under this key; an empty key has none. */
struct unwind_table *unwind_kept_read(const struct unwind *unwind, const struct build_id *id, const struct str *key);
/* table: NULL, and with an empty key, nothing is written. */
void unwind_kept_write(const struct unwind *unwind, const struct build_id *id, const struct str *key,
		       const struct unwind_table *table);

void unwind_table_put(const struct unwind_table *table, struct str *bytes);
/* A table of its own; NULL: these bytes are none. */
struct unwind_table *unwind_table_take(const void *bytes, size_t n);

#endif
