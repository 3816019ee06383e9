/*
 * generic: what generic.c and cache.c share. Private to event/.
 */
#ifndef PSTAT_GENERIC_H
#define PSTAT_GENERIC_H

#include "event/source.h"

/*
 * Adds the event for spec with its terms applied: one, or one per core PMU where type is counted
 * by cores and the machine has several. 1, or a negative errno with p->error filled.
 */
int generic_add(struct event_parse *p, const struct spec_event *spec,
		const struct event_source *source, uint32_t type, uint64_t config);

/* May the spec's first word be the name of an event: NAME or NAME/terms/? */
bool generic_is_name(const struct spec_event *spec);

/*
 * "L1-dcache-load-misses" -> PERF_TYPE_HW_CACHE's config. 1 found, 0 not the name of a cache event,
 * -EINVAL a cache that has no such operation: then *why (may be NULL) gets a few static words.
 */
int cache_config(const char *name, uint64_t *config, const char **why);

#endif
