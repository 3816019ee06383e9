/* SPDX-License-Identifier: MIT */
/*
 * names_cache: a folder of files of what was found out about ELF files before. Private to sym/.
 *
 *	"pstatNC" NUL | u64 checksum of all that follows | u32 version | u32 bytes of key | key, 0 to 7 NUL |
 *	what is kept
 *
 * A key is a text that begins with what is kept, and in which version of its own layout; all that this depends on
 * follows. It is compared as a whole; the entry's name has the file's build-id and the key's checksum. What is kept is
 * its owner's to know and to check: source_cached.c, and whoever calls symbols_cached_read. sym.h has its front.
 */
#ifndef PSTAT_NAMES_CACHE_H
#define PSTAT_NAMES_CACHE_H

#include "sym/sym.h"

/* An entry. */
void names_cache_wrap(const struct str *key, const struct str *bytes, struct str *entry);
/*
 * Finds what is kept in n bytes that may be an entry: a part of them, aligned to 8 if they are; NULL: they are none
 * that is whole and of this key.
 */
const void *names_cache_unwrap(const void *entry, size_t n, const struct str *key, size_t *n_bytes);
/*
 * Reads a large entry: what is kept is not copied, but a part of *map, which is for elf_unmap, and
 * aligned to 8. NULL: nothing is.
 */
char *names_cache_map(struct names_cache *cache, const struct build_id *id, const struct str *key, char **map,
		      size_t *map_bytes);
/* Write what is appended to entry between the two, as names_cache_write does. */
void names_cache_begin(const struct str *key, struct str *entry);
void names_cache_end(struct names_cache *cache, const struct build_id *id, const struct str *key, struct str *entry);
/* Hexadecimal digits, a hyphen, 16 hexadecimal digits: nothing else in the folder is touched. */
bool names_cache_is_entry(const char *name);

#endif
