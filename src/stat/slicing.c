/* SPDX-License-Identifier: MIT */
/*
 * The times to read at between reports, so that a scaled value can say how sure it is (estimate.c).
 *
 * Reading costs time on the CPUs that are measured, so it is seldom done in vain: 20 ms after the start, then at
 * doubling distances up to a second, until a counter is seen to take turns. From then on a slice is about one
 * rotation, in which each group has its turn: a tick divided by the share of the time that the event ran that ran
 * least. It is longer only where a read costs more than 1 % of it. What a read costs changes, when threads come above
 * all, so each read is timed; a single one may have been interrupted, and the cheaper of the last two counts.
 */
#include "stat/run.h"

#define FIRST_NS (20 * NS_PER_MS)
#define LONGEST_WAIT_NS NS_PER_S
/* The kernel's perf_event_mux_interval_ms, where nobody has changed it and a second has 250 ticks. */
#define TICK_NS (4 * NS_PER_MS)
/* An event that hardly ran says little of the rotation. */
#define SHORTEST_SLICE_NS (8 * NS_PER_MS)
#define LONGEST_SLICE_NS (200 * NS_PER_MS)

enum { COST_FACTOR = 100 };

static bool may_take_turns(const struct counter_set *set)
{
	for (size_t i = 0; i < set->n; i++) {
		const struct counter *c = &set->v[i];

		if (c->state == COUNTER_OPEN && c->event->attr.type != PERF_TYPE_BREAKPOINT &&
		    events_share_counters(c->event, c->event))
			return true;
	}
	return false;
}

void slicing_begin(struct run *run)
{
	if (!run->plan->scale || !run->set_open || run->passes || !may_take_turns(&run->set))
		return;
	aggregation_keep_slices(run->reporter->counts);
	run->slicing = (struct slicing){
		.interval_ns = FIRST_NS, .next_ns = run->start_ns + FIRST_NS,
	};
}

uint64_t slicing_interval_ns(double least_share, uint64_t cost_ns)
{
	double rotation = least_share > 0 ? (double)TICK_NS / least_share : 0;
	uint64_t ns = rotation < (double)SHORTEST_SLICE_NS  ? SHORTEST_SLICE_NS
		      : rotation > (double)LONGEST_SLICE_NS ? LONGEST_SLICE_NS
							    : (uint64_t)rotation;

	return ns < cost_ns * COST_FACTOR ? cost_ns * COST_FACTOR : ns;
}

void slicing_go_on(struct run *run, uint64_t now)
{
	struct slicing *s = &run->slicing;
	uint64_t cost_ns;
	double least;

	if (now < s->next_ns)
		return;
	least = aggregation_read_slices(run->reporter->counts);
	cost_ns = now_ns() - now;
	s->takes_turns |= least < 1;
	if (s->takes_turns)
		s->interval_ns = slicing_interval_ns(
			least, s->last_cost_ns && s->last_cost_ns < cost_ns ? s->last_cost_ns : cost_ns);
	else if (s->interval_ns < LONGEST_WAIT_NS)
		s->interval_ns *= 2;
	s->last_cost_ns = cost_ns;
	s->next_ns = now + s->interval_ns;
}
