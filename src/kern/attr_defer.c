/* SPDX-License-Identifier: MIT */
/*
 * The bits defer_callchain and defer_output of an attr, by their place in its word of flags: headers older than
 * Linux 6.19 have both among the reserved ones.
 *
 * Source: include/uapi/linux/perf_event.h.
 */
#include "kern/kern.h"

enum { FLAGS_OFFSET = 40, DEFER_SHIFT = 38, BOTH = DEFER_CALLCHAIN | DEFER_OUTPUT };

static uint64_t flags_of(const struct perf_event_attr *attr)
{
	uint64_t flags;

	memcpy(&flags, (const char *)attr + FLAGS_OFFSET, sizeof(flags));
	return flags;
}

unsigned attr_defer(const struct perf_event_attr *attr)
{
	return (unsigned)(flags_of(attr) >> DEFER_SHIFT) & BOTH;
}

void attr_set_defer(struct perf_event_attr *attr, unsigned bits)
{
	uint64_t flags = flags_of(attr);

	flags &= ~((uint64_t)BOTH << DEFER_SHIFT);
	flags |= (uint64_t)(bits & BOTH) << DEFER_SHIFT;
	memcpy((char *)attr + FLAGS_OFFSET, &flags, sizeof(flags));
}
