/*
 * synth: what one walk over the running tasks carries. Private to record/.
 */
#ifndef PSTAT_SYNTH_H
#define PSTAT_SYNTH_H

#include "record/line_reader.h"
#include "record/record.h"

struct synth {
	const struct kern *kern;
	unsigned what; /* enum synth_what */
	bool namespaces;
	synth_fn fn;
	void *data;
	struct line_reader reader; /* one file at a time */
};

/*
 * synth_maps.c: MMAP2 records of a process from the file `path` below dir ("maps"). *seen: it has
 * mappings, executable or not. What fn returned; 0 also where the file cannot be read: the task ended,
 * or is another user's.
 */
int synth_maps(struct synth *synth, int dir, const char *path, uint32_t pid, bool *seen);
/* synth_cgroups.c: CGROUP records of the whole hierarchy that perf events follow. */
int synth_cgroups(struct synth *synth);

#endif
