/*
 * The default event counts cycles, and many machines have no counter for them. What is meant is
 * "where does the time go", which a clock answers as well: cpu-clock, with a line that says so.
 *
 * Asking the kernel is the only test: the same errno has many causes, and four errnos mean "there is no
 * such counter".
 */
#include "record/recording.h"

#include <errno.h>
#include <stdlib.h>

static bool is_cycles(const struct event *event)
{
	return event->kind == EVENT_KERNEL && event->attr.type == PERF_TYPE_HARDWARE &&
	       (uint32_t)event->attr.config == PERF_COUNT_HW_CPU_CYCLES;
}

/* perf_event_open(2): no such event, no such device, and two for PMUs that cannot sample it. */
static bool means_no_counter(int rc)
{
	return rc == -ENOENT || rc == -ENXIO || rc == -ENODEV || rc == -EOPNOTSUPP;
}

/* "cycles:u" -> "cpu-clock:u"; p is about counters only. */
static char *clock_name(const char *name)
{
	const char *colon = strrchr(name, ':');
	struct str out = STR_INIT;

	str_add(&out, "cpu-clock");
	for (const char *at = colon ? colon + 1 : ""; *at; at++) {
		if (strchr("pP", *at))
			continue;
		if (!strchr(out.s, ':'))
			str_addc(&out, ':');
		str_addc(&out, *at);
	}
	return str_detach(&out);
}

void replace_cycles(struct event_list *events, const struct sampling *sampling,
		    const struct kern *kern, struct note_list *notes)
{
	for (size_t i = 0; i < events->n; i++) {
		struct event *event = &events->v[i];
		char *name, *why = NULL;
		int rc;

		/* A clock has no branch records: with the event's own failure all is said. */
		if (!is_cycles(event) || sampling_wants_branches(sampling, event))
			continue;
		rc = event_try_sample(event, kern, &why);
		if (!means_no_counter(rc)) {
			free(why);
			continue;
		}
		name = clock_name(event->name);
		note_add(notes, false, NULL, "%s: %s: sampling %s instead", event->name, why, name);
		free(why);
		event->attr.type = PERF_TYPE_SOFTWARE;
		event->attr.config = PERF_COUNT_SW_CPU_CLOCK;
		event->attr.precise_ip = 0;
		event->precise_max = false;
		free(event->name);
		event->name = name;
	}
}
