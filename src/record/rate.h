/*
 * rate: how often an event samples. Private to record/.
 */
#ifndef PSTAT_RATE_H
#define PSTAT_RATE_H

#include "record/record.h"

struct rate_limit {
	uint64_t max_hz; /* kernel.perf_event_max_sample_rate; 0: not known */
	uint64_t default_hz; /* for events without a rate of their own, within max_hz */
};

/*
 * Reads the limit and settles -F by it, with a note. -EINVAL: --strict-freq and a frequency over the
 * limit, or -F max where the limit cannot be read.
 */
int rate_limit_read(struct rate_limit *limit, const struct sampling *sampling,
		    const struct kern *kern, struct note_list *notes, struct str *err);
/*
 * Sets attr.sample_period or sample_freq and freq. The event's own term goes before -c and -F, and
 * these before the default: 1 for events that are hit one by one (tracepoints, breakpoints, probes),
 * else limit->default_hz.
 */
int rate_set(const struct sampling *sampling, const struct rate_limit *limit, struct event *event,
	     struct note_list *notes, struct str *err);

/*
 * Does the event go on all the time, so that a lower rate than -F says something? Page faults and other
 * single hits come as seldom as they do; then each of them is a sample, whatever was asked for.
 */
bool rate_is_reachable(const struct event *event);

#endif
