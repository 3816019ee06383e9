/* SPDX-License-Identifier: MIT */
/*
 * cached_files: the cache of files by build-id (buildcache/), as the searches for names ask it. Private to sym/.
 */
#ifndef PSTAT_CACHED_FILES_H
#define PSTAT_CACHED_FILES_H

#include "buildcache/buildcache.h"

struct sym_options;

struct cached_files;
struct cached_files *cached_files_new(const struct sym_options *options); /* nothing is opened yet */
void cached_files_free(struct cached_files *cached); /* NULL is nothing */
/*
 * Path in the cache of the file of that kind, which does have that build-id; the caller frees. NULL: there is none;
 * why gets one more clause, if that is worth saying: what is there is stale, or somebody else's. cached NULL: nothing
 * is cached.
 */
char *cached_file(struct cached_files *cached, const struct build_id *id, enum cache_kind kind, struct str *why);
/* Copies of that kernel's own code, as build_cache_each_kcore has them. cached NULL: as above. */
void cached_kcores(struct cached_files *cached, const struct build_id *id,
		   int (*each)(void *context, const struct cache_kcore *kcore), void *context);

#endif
