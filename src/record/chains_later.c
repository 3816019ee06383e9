/*
 * chains_later.c: see chains_later.h.
 *
 * Left as they are:
 *   - chains from a copy of the stack or from branch records: the kernel is not asked to walk anything;
 *   - samples without a time, as sample and record may lie in two rings, and only the time tells which comes first;
 *   - samples in rings that are overwritten: the records would be kept for long after them;
 *   - chains of limited length, for the limit does not hold for what comes later.
 */
#include "record/chains_later.h"

#include "kern/kern.h"

static bool may_wait(const struct event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	const uint64_t fields = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_TIME;

	/* A member of a :S group has no samples of its own. */
	return !event->tracking && attr->sample_period && (attr->sample_type & fields) == fields &&
	       !attr->exclude_callchain_user && !attr->sample_max_stack && !attr->write_backward &&
	       !(attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK);
}

void chains_later_ask(struct event_list *events, struct event *tracking)
{
	bool any = false;

	if (!(tracking->attr.sample_type & PERF_SAMPLE_TIME))
		return;
	for (size_t i = 0; i < events->n; i++) {
		if (!may_wait(&events->v[i]))
			continue;
		attr_set_defer(&events->v[i].attr, DEFER_CALLCHAIN);
		any = true;
	}
	if (any)
		attr_set_defer(&tracking->attr, attr_defer(&tracking->attr) | DEFER_OUTPUT);
}
