/*
 * sampling_dumps.c: a copy of a stack that is unwound at once costs room in the ring alone, and the file nothing. So it
 * may be as large as the ring allows: what is too short cuts chains, and what is too large loses samples when the
 * recorder is not there at once. 50 ms are what it may be away on a busy machine.
 */
#include "record/sampling_dumps.h"

/* What a sample has beside its dump, roughly: registers, the kernel's callchain. */
enum { OTHER_BYTES = 512, HELD_PART_OF_SECOND = 20 };

uint32_t stack_dump_for(uint64_t ring_bytes, uint64_t hz)
{
	static const uint32_t sizes[] = { 32768, 16384 };

	for (size_t i = 0; hz && i < ARRAY_SIZE(sizes); i++) {
		uint64_t sample_bytes = sizes[i] + OTHER_BYTES;

		if (hz <= ring_bytes / sample_bytes * HELD_PART_OF_SECOND)
			return sizes[i];
	}
	return STACK_DUMP_BYTES_DEFAULT;
}

static bool is_free(const struct sampling *sampling, const struct event *event)
{
	return (event->attr.sample_type & PERF_SAMPLE_STACK_USER) && !event->terms.stack_size_bytes &&
	       !sampling->stack_dump_bytes && !sampling->stacks_raw;
}

/* Of events by period nobody knows; one of these is enough. */
static uint64_t samples_per_second(const struct event_list *events)
{
	uint64_t hz = 0;

	for (size_t i = 0; i < events->n; i++) {
		const struct event *event = &events->v[i];

		if (event->tracking || (event->leader != i && event->read_group))
			continue;
		if (!event->attr.freq)
			return 0;
		hz += event->attr.sample_freq;
	}
	return hz;
}

bool stack_dumps_fit(const struct sampling *sampling, struct event_list *events, uint64_t ring_bytes)
{
	uint32_t bytes = stack_dump_for(ring_bytes, samples_per_second(events));
	bool changed = false;

	for (size_t i = 0; i < events->n; i++) {
		struct event *event = &events->v[i];

		if (!is_free(sampling, event))
			continue;
		changed |= event->attr.sample_stack_user != bytes;
		event->attr.sample_stack_user = bytes;
	}
	return changed;
}
