/*
 * names_cache: a folder of files of what was found out before, each by a name. Private to sym/; what is in an entry is
 * known in dso_cached.c and rows_cached.c.
 */
#ifndef PSTAT_NAMES_CACHE_H
#define PSTAT_NAMES_CACHE_H

#include "util/util.h"

struct names_cache;
struct names_cache *names_cache_new(void); /* nothing is opened yet */
/* Where it has grown past its bounds, what was not used for longest goes. NULL is nothing. */
void names_cache_free(struct names_cache *cache);
/* The whole entry, appended; false: there is none, or none that is this user's own. */
bool names_cache_read(struct names_cache *cache, const char *name, struct str *bytes);
/* In place of what was there, at once and whole. Where it can't be written, nothing changes. */
void names_cache_write(struct names_cache *cache, const char *name, const struct str *bytes);
/* What an entry about this file is called, under a key that says what it depends on; the caller frees. */
char *names_cache_name(const struct build_id *id, const struct str *key);
/* Hexadecimal digits, a hyphen, 16 hexadecimal digits: nothing else in the folder is touched. */
bool names_cache_is_entry(const char *name);

#endif
