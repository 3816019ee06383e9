/*
 * cache: the names of hardware cache events, for generic.c. Private to event/.
 */
#ifndef PSTAT_CACHE_H
#define PSTAT_CACHE_H

#include "event/event.h"

/*
 * "L1-dcache-load-misses" -> PERF_TYPE_HW_CACHE's config. 1 found, 0 not the name of a cache event,
 * -EINVAL a cache that has no such operation: then *why (may be NULL) gets a few static words.
 */
int cache_config(const char *name, uint64_t *config, const char **why);

/* Calls fn for each name, as an event of the topic. 0, or what fn returned. */
int cache_walk(const char *topic, event_info_fn fn, void *data);

#endif
