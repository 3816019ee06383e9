/*
 * tool: what pstat measures itself, so that it can stand in an event list: wall-clock time and the
 * CPU time of the measured command, all in ns. Nothing is opened for them; the attr is the
 * kernel's dummy event, so that code that looks at it sees something harmless.
 */
#include "event/source.h"

#include <stdlib.h>

/* To add one: a row, its kind in event.h, how it is counted in stat/, a line in pstat-list(1). */
static const struct tool_event {
	const char *name;
	enum event_kind kind;
	const char *desc;
} tool_events[] = {
	{ "duration_time", EVENT_DURATION_TIME, "wall-clock time of the measurement" },
	{ "user_time", EVENT_USER_TIME, "CPU time that the command spent in user mode" },
	{ "system_time", EVENT_SYSTEM_TIME, "CPU time that the command spent in the kernel" },
};

static int tool_lookup(struct event_parse *p, const struct spec_event *spec)
{
	struct event *event;
	size_t i = 0;
	int ret;

	if (spec->kind != SPEC_WORD && spec->kind != SPEC_PMU)
		return 0;
	while (i < ARRAY_SIZE(tool_events) && strcmp(tool_events[i].name, spec->word) != 0)
		i++;
	if (i == ARRAY_SIZE(tool_events))
		return 0;
	event = event_new(p, spec, &tool_source);
	event->kind = tool_events[i].kind;
	event->attr.type = PERF_TYPE_SOFTWARE;
	event->attr.config = PERF_COUNT_SW_DUMMY;
	free(event->unit);
	event->unit = xstrdup("ns");
	ret = event_apply_terms(p, spec, event, NULL, NULL, NULL);
	return ret ? ret : 1;
}

static int tool_list(const struct host_paths *host, event_info_fn fn, void *data, struct str *err)
{
	(void)host;
	(void)err;
	for (size_t i = 0; i < ARRAY_SIZE(tool_events); i++) {
		const struct event_info info = { .topic = tool_source.topic.name,
						 .name = tool_events[i].name, .alias = "",
						 .desc = tool_events[i].desc, .pmu_name = "",
						 .unit = "ns", .scale = 1.0 };
		int ret = fn(&info, data);

		if (ret)
			return ret;
	}
	return 0;
}

const struct event_source tool_source = {
	.topic = { "tool", "Times of the measurement", "Tool event", true },
	.lookup = tool_lookup,
	.list = tool_list,
};
