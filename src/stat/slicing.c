/*
 * When to read between reports, so that a scaled value can say how sure it is (estimate.c).
 *
 * Reading costs time on the CPUs that are measured, so it is seldom done in vain: 20 ms after the start,
 * then at doubling distances up to a second, until a counter is seen to take turns. From then on every
 * 20 ms, or 100 times as long as a read takes, so that reading is 1 % of the time at most; the longer
 * the run, the longer the slices. With -I they stay as they are: each interval needs enough of them.
 */
#include "stat/run.h"

#define SLICE_NS (20 * NS_PER_MS)
#define LONGEST_SLICE_NS (160 * NS_PER_MS)
#define LONGEST_WAIT_NS NS_PER_S

enum { COST_FACTOR = 100, READS_PER_LENGTH = 256 };

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
		.interval_ns = SLICE_NS, .next_ns = run->start_ns + SLICE_NS,
	};
}

static void wait_longer(struct slicing *s, uint64_t limit_ns)
{
	s->n = 0;
	s->interval_ns *= 2;
	if (s->interval_ns > limit_ns)
		s->interval_ns = limit_ns;
}

static void noticed(struct slicing *s, uint64_t cost_ns)
{
	s->takes_turns = true;
	s->n = 0;
	s->interval_ns = cost_ns * COST_FACTOR;
	if (s->interval_ns < SLICE_NS)
		s->interval_ns = SLICE_NS;
}

void slicing_go_on(struct run *run, uint64_t now)
{
	struct slicing *s = &run->slicing;
	bool takes_turns;

	if (now < s->next_ns)
		return;
	takes_turns = aggregation_read_slices(run->reporter->counts);
	s->n++;
	if (takes_turns && !s->takes_turns)
		noticed(s, now_ns() - now);
	else if (!s->takes_turns)
		wait_longer(s, LONGEST_WAIT_NS);
	else if (s->n >= READS_PER_LENGTH && s->interval_ns < LONGEST_SLICE_NS &&
		 !run->plan->interval_ms)
		wait_longer(s, LONGEST_SLICE_NS);
	s->next_ns = now + s->interval_ns;
}
