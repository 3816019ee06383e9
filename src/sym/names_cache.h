/*
 * names_cache: a folder of files of what was found out about ELF files before. Private to sym/.
 *
 *	"pstatNC" NUL | u64 checksum of all that follows | u32 version | u32 bytes of key | key | what is kept
 *
 * A key is a text that begins with what is kept, and in which version of its own layout; all that this depends on
 * follows. It is compared as a whole; the entry's name has the file's build-id and the key's checksum. What is kept is
 * its owner's to know and to check: dso_cached.c, and those who come through rows_cached.c.
 */
#ifndef PSTAT_NAMES_CACHE_H
#define PSTAT_NAMES_CACHE_H

#include "util/util.h"

struct names_cache;
struct names_cache *names_cache_new(void); /* nothing is opened yet */
/* Where it has grown past its bounds, what was not used for longest goes. NULL is nothing. */
void names_cache_free(struct names_cache *cache);
/*
 * What is kept about this file under this key, appended. false: nothing is, or the entry is not this user's own, is
 * damaged, or of another version.
 */
bool names_cache_read(struct names_cache *cache, const struct build_id *id, const struct str *key, struct str *bytes);
/* In place of what was there, at once and whole. Where it can't be written, nothing changes. */
void names_cache_write(struct names_cache *cache, const struct build_id *id, const struct str *key,
		       const struct str *bytes);
/* An entry. */
void names_cache_wrap(const struct str *key, const struct str *bytes, struct str *entry);
/* What is kept in n bytes that may be an entry: a part of them; NULL: they are none that is whole and of this key. */
const void *names_cache_unwrap(const void *entry, size_t n, const struct str *key, size_t *n_bytes);
/* Hexadecimal digits, a hyphen, 16 hexadecimal digits: nothing else in the folder is touched. */
bool names_cache_is_entry(const char *name);

#endif
