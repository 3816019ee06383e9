/*
 * caching: what of a finished recording goes into the build-id cache (buildcache/), as perf has it. Private to record/.
 */
#ifndef PSTAT_CACHING_H
#define PSTAT_CACHING_H

#include "record/recording.h"

/*
 * After the end of the recording, while what it knows of mapped files is there, with signals let in: one that comes
 * now ends it. What could not be done is in the plan's notes.
 */
void recording_cache(const struct recording *rec);

#endif
