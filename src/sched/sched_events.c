/* SPDX-License-Identifier: MIT */
/*
 * sched_events: the events of the scheduler, and their fields. Formats differ between kernels in place, size and kind
 * of a field, not in its name: each event's fields are found once, by name, and then taken by their places.
 */
#include "sched/sched_internal.h"

#include <errno.h>
#include <stdlib.h>

/* To add an event: a row, its kind, the places of its fields. The first field is there in all kernels. */
static const struct {
	const char *name;
	const char *fields[SCHED_FIELDS_MAX];
	const char *task, *next; /* names */
} rows[SCHED_KINDS] = {
	[SCHED_SWITCH] = { "sched_switch",
			   { [SWITCH_PREV] = "prev_pid", [SWITCH_NEXT] = "next_pid", [SWITCH_STATE] = "prev_state",
			     [SWITCH_PREV_PRIO] = "prev_prio", [SWITCH_NEXT_PRIO] = "next_prio" },
			   "prev_comm", "next_comm" },
	[SCHED_WAKEUP] = { "sched_wakeup", { [TASK_TID] = "pid" }, "comm", NULL },
	[SCHED_WAKING] = { "sched_waking", { [TASK_TID] = "pid" }, "comm", NULL },
	[SCHED_WAKEUP_NEW] = { "sched_wakeup_new", { [TASK_TID] = "pid" }, "comm", NULL },
	[SCHED_MIGRATE] = { "sched_migrate_task",
			    { [TASK_TID] = "pid", [TASK_FROM_CPU] = "orig_cpu", [TASK_TO_CPU] = "dest_cpu" },
			    "comm", NULL },
	[SCHED_FORK] = { "sched_process_fork", { [TASK_TID] = "child_pid" }, "child_comm", NULL },
	[SCHED_RUNTIME] = { "sched_stat_runtime", { [TASK_TID] = "pid", [TASK_RUNTIME] = "runtime" }, "comm", NULL },
};
static const char current_field[] = "common_pid";

enum { STATES_MAX = 32 };

struct sched_event {
	bool found;
	enum sched_kind kind;
	struct tracepoint_place places[SCHED_FIELDS_MAX], current; /* size 0: there is no such field */
	uint8_t n_places;
};

struct sched_events {
	const struct recording_info *recording;
	struct tracepoints *tracepoints;
	struct sched_event *v; /* by index of the event */
	size_t n, cap;
	bool have[SCHED_KINDS], have_chains;
	char states[STATES_MAX]; /* by number of the lowest bit that is set; 0: not named */
	unsigned n_states;
};

struct sched_events *sched_events_new(void)
{
	return xcalloc(1, sizeof(struct sched_events));
}

void sched_events_free(struct sched_events *events)
{
	if (!events)
		return;
	tracepoints_free(events->tracepoints);
	free(events->v);
	free(events);
}

/* ---- which events ---- */

static bool find_kind(struct sched_events *events, const struct data_event *event, enum sched_kind *kind)
{
	const char *system, *name;

	if (!tracepoint_names(events->tracepoints, event, &system, &name) || strcmp(system, "sched") != 0)
		return false;
	for (size_t i = 0; i < SCHED_KINDS; i++) {
		if (strcmp(rows[i].name, name) != 0)
			continue;
		*kind = (enum sched_kind)i;
		return true;
	}
	return false;
}

/* Called by tracepoint_value_names for each name of a bit: { 0x00000001, "S" }. */
static void take_state(void *context, const char *field, const char *delimiter, uint64_t value, const char *name)
{
	struct sched_events *events = context;
	unsigned bit = value ? (unsigned)__builtin_ctzll(value) : STATES_MAX;

	if (strcmp(field, "prev_state") != 0 || !delimiter || !name || bit >= STATES_MAX)
		return;
	events->states[bit] = name[0];
	if (bit >= events->n_states)
		events->n_states = bit + 1;
}

char sched_events_state(const struct sched_events *events, uint64_t state)
{
	unsigned bit = state ? (unsigned)__builtin_ctzll(state) : STATES_MAX;

	/* A bit behind all that have names says that the task was preempted. */
	return bit >= events->n_states || !events->states[bit] ? 'R' : events->states[bit];
}

static void find_place(struct sched_events *events, const struct data_event *event, const char *name,
		       struct tracepoint_place *place)
{
	if (!tracepoint_place(events->tracepoints, event, name, place) || place->is_text || place->is_array)
		*place = (struct tracepoint_place){ .size = 0 };
}

static void find_places(struct sched_events *events, const struct data_event *event, struct sched_event *mine)
{
	const char *const *names = rows[mine->kind].fields;

	for (mine->n_places = 0; mine->n_places < SCHED_FIELDS_MAX && names[mine->n_places]; mine->n_places++)
		find_place(events, event, names[mine->n_places], &mine->places[mine->n_places]);
	find_place(events, event, current_field, &mine->current);
}

/* Events of a pipe come one by one: all that are there now are looked at. */
static void look(struct sched_events *events)
{
	const struct events *all = events->recording->events;

	while (events->n < all->n) {
		const struct data_event *event = all->v[events->n];
		struct sched_event *mine;

		VEC_GROW(events->v, events->n, events->cap);
		mine = &events->v[events->n++];
		*mine = (struct sched_event){ .found = false };
		mine->found = find_kind(events, event, &mine->kind);
		if (!mine->found)
			continue;
		events->have[mine->kind] = true;
		find_places(events, event, mine);
		if (mine->kind != SCHED_SWITCH)
			continue;
		events->have_chains = events->have_chains || (event->attr.sample_type & PERF_SAMPLE_CALLCHAIN);
		if (!events->n_states)
			tracepoint_value_names(events->tracepoints, event, take_state, events);
	}
}

int sched_events_begin(struct sched_events *events, const struct recording_info *recording, struct str *err)
{
	events->recording = recording;
	events->tracepoints = tracepoints_new(recording, err);
	if (!events->tracepoints)
		return -EINVAL;
	look(events);
	if (!events->have[SCHED_SWITCH])
		return fail(err, -EINVAL, "it has no events sched:sched_switch, which pstat sched record records");
	return 0;
}

bool sched_events_have(const struct sched_events *events, enum sched_kind kind)
{
	return events->have[kind];
}

bool sched_events_have_chains(const struct sched_events *events)
{
	return events->have_chains;
}

bool sched_events_know(struct sched_events *events, const struct data_event *event, enum sched_kind *kind)
{
	if (event->index >= events->n)
		look(events);
	*kind = events->v[event->index].kind;
	/* A wakeup is told when it begins and, maybe on another CPU, when it is done: the first counts. */
	return events->v[event->index].found && !(*kind == SCHED_WAKEUP && events->have[SCHED_WAKING]);
}

/* ---- fields ---- */

bool sched_events_read(struct sched_events *events, const struct data_event *event, const struct sample *sample,
		       struct sched_fields *fields)
{
	const struct sched_event *mine = &events->v[event->index];
	uint64_t current = 0;

	*fields = (struct sched_fields){ .kind = mine->kind, .current = -1 };
	if (!tracepoint_places_read(mine->places, mine->n_places, sample, fields->number))
		return false;
	if (mine->current.size && tracepoint_place_read(&mine->current, sample, &current))
		fields->current = (int32_t)current;
	return mine->places[0].size;
}

const char *sched_events_name(struct sched_events *events, const struct data_event *event, const struct sample *sample,
			      bool next, size_t *len)
{
	const enum sched_kind kind = events->v[event->index].kind;
	const char *name = next ? rows[kind].next : rows[kind].task;
	size_t n_common, n;
	const struct tracepoint_data *all = tracepoint_all(events->tracepoints, event, sample, &n_common, &n);

	for (size_t i = 0; all && name && i < n; i++) {
		if (strcmp(all[i].name, name) != 0 || !all[i].is_text)
			continue;
		*len = all[i].len;
		return (const char *)all[i].bytes;
	}
	return NULL;
}
