/*
 * buildid_cache_list: what `pstat buildid-cache` prints of the cache: its entries, and what a recording needs that is
 * not among them.
 */
#ifndef PSTAT_BUILDID_CACHE_LIST_H
#define PSTAT_BUILDID_CACHE_LIST_H

#include "buildcache/buildcache.h"
#include "kern/kern.h"

/*
 * -l: as perf's: those whose file at its path is still the same, by build-id. all: every one, with what it has, its
 * size and when it was wanted last. cache NULL: there is none, and nothing to print. The exit status.
 */
int buildid_cache_list(struct build_cache *cache, const struct kern *kern, bool all);
/* -M: the files of the recording that are not in the cache, as buildid-list prints them. */
int buildid_cache_missing(struct build_cache *cache, const char *recording);

#endif
