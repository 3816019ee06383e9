/* SPDX-License-Identifier: MIT */
/*
 * events.c: what a recording measured. Owns the events and the way from a kernel id to its event: an
 * open-addressed hash, at most half full, whose empty slots have no event.
 *
 * Records name their event by an id at a place that depends on sample_type. The place is worked out
 * whenever an event is added, so that decoding only loads a word: IDENTIFIER is first in samples and
 * last elsewhere; ID lies after the fields that precede it, if all events agree on those. The same
 * holds for a record's time.
 */
#include "data/decode.h"

#include <stdlib.h>

struct event_slot {
	uint64_t id;
	struct data_event *event;
};

void events_init(struct events *events)
{
	memset(events, 0, sizeof(*events));
	events->sample_id_word = -1;
	events->trailer_id_word = -1;
	events->sample_time_word = -1;
	events->trailer_time_word = -1;
	events->sole_software = -1;
	events->same_layout = true;
}

static void data_event_free(struct data_event *event)
{
	free(event->ids);
	free(event->name);
	free(event->unit);
	free(event->group_name);
	intset_release(&event->cpus);
	free(event);
}

void events_release(struct events *events)
{
	for (size_t i = 0; i < events->n; i++)
		data_event_free(events->v[i]);
	free(events->v);
	free(events->slots);
	events_init(events);
}

/* Mixed with the table's address, so that a file cannot be made whose ids all meet in one slot. */
static size_t slot_of(const struct events *events, uint64_t id)
{
	uint64_t mix = (id ^ (uintptr_t)events->slots) * 0x9e3779b97f4a7c15ULL;
	size_t at;

	mix = (mix ^ mix >> 29) * 0xbf58476d1ce4e5b9ULL;
	at = (size_t)(mix >> 32) & (events->n_slots - 1);
	while (events->slots[at].event && events->slots[at].id != id)
		at = (at + 1) & (events->n_slots - 1);
	return at;
}

struct data_event *events_find(const struct events *events, uint64_t id)
{
	return events->n_slots ? events->slots[slot_of(events, id)].event : NULL;
}

struct data_event *events_of_sample(const struct events *events, uint64_t id)
{
	struct data_event *event = events_find(events, id);

	return event || events->sole_software < 0 || !events->n_ids ? event : events->v[events->sole_software];
}

static void slots_grow(struct events *events)
{
	struct event_slot *old = events->slots;
	size_t n_old = events->n_slots;

	events->n_slots = n_old ? n_old * 2 : 64;
	events->slots = xcalloc(events->n_slots, sizeof(*events->slots));
	for (size_t i = 0; i < n_old; i++)
		if (old[i].event)
			events->slots[slot_of(events, old[i].id)] = old[i];
	free(old);
}

/* The first event that has an id keeps it. */
static void slot_add(struct events *events, uint64_t id, struct data_event *event)
{
	size_t at;

	if ((events->n_ids + 1) * 2 > events->n_slots)
		slots_grow(events);
	at = slot_of(events, id);
	if (events->slots[at].event)
		return;
	events->slots[at] = (struct event_slot){ id, event };
	events->n_ids++;
}

/* The place of ID in a sample, in words; -1: nowhere. */
static int sample_id_word(const struct perf_event_attr *attr)
{
	const uint64_t before =
		PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;

	if (attr->sample_type & PERF_SAMPLE_IDENTIFIER)
		return 0;
	if (!(attr->sample_type & PERF_SAMPLE_ID))
		return -1;
	return __builtin_popcountll(attr->sample_type & before);
}

/* The place of ID in the trailer of another record, in words from its end; -1: nowhere. */
static int trailer_id_word(const struct perf_event_attr *attr)
{
	const uint64_t after = PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU;

	if (!attr->sample_id_all)
		return -1;
	if (attr->sample_type & PERF_SAMPLE_IDENTIFIER)
		return 1;
	if (!(attr->sample_type & PERF_SAMPLE_ID))
		return -1;
	return 1 + __builtin_popcountll(attr->sample_type & after);
}

int sample_time_word(const struct perf_event_attr *attr)
{
	const uint64_t before = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID;

	if (!(attr->sample_type & PERF_SAMPLE_TIME))
		return -1;
	return __builtin_popcountll(attr->sample_type & before);
}

int trailer_time_word(const struct perf_event_attr *attr)
{
	const uint64_t after = PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
			       PERF_SAMPLE_IDENTIFIER;

	if (!attr->sample_id_all || !(attr->sample_type & PERF_SAMPLE_TIME))
		return -1;
	return 1 + __builtin_popcountll(attr->sample_type & after);
}

static void rename_event(struct data_event *event, const char *name)
{
	free(event->name);
	event->name = xstrdup(name);
}

size_t events_turn_to_waits(struct events *events, size_t switches, bool wall)
{
	struct data_event *event = events->v[switches];
	size_t to = switches;

	for (size_t i = 0; wall && to == switches && i < events->n; i++)
		if (event_is_cpu_time(events->v[i]) && events->v[i]->n_ids)
			to = i;
	event->attr.type = PERF_TYPE_SOFTWARE;
	event->attr.config = to != switches ? PERF_COUNT_SW_DUMMY : PERF_COUNT_SW_BPF_OUTPUT;
	event->attr.context_switch = 0;
	rename_event(event, to != switches ? "dummy" : "offcpu-time");
	if (to != switches)
		rename_event(events->v[to], "wall-clock");
	return to;
}

/* Clocks have a timer, and dummies no samples; BPF programs write their own. */
static bool is_hit_in_software(const struct data_event *event)
{
	return event->attr.type == PERF_TYPE_SOFTWARE && !event_is_cpu_time(event) &&
	       event->attr.config != PERF_COUNT_SW_DUMMY && event->attr.config != PERF_COUNT_SW_BPF_OUTPUT;
}

static void find_sole_software(struct events *events)
{
	events->sole_software = -1;
	for (size_t i = 0; i < events->n; i++) {
		if (!is_hit_in_software(events->v[i]))
			continue;
		if (events->sole_software >= 0) {
			events->sole_software = -1;
			return;
		}
		events->sole_software = (int)i;
	}
}

static void update_layout(struct events *events, const struct perf_event_attr *attr)
{
	const struct perf_event_attr *first = &events->v[0]->attr;

	if (events->n == 1) {
		events->sample_id_word = sample_id_word(attr);
		events->trailer_id_word = trailer_id_word(attr);
		events->sample_time_word = sample_time_word(attr);
		events->trailer_time_word = trailer_time_word(attr);
		return;
	}
	if (attr->sample_type != first->sample_type || attr->read_format != first->read_format ||
	    attr->sample_id_all != first->sample_id_all)
		events->same_layout = false;
	if (sample_id_word(attr) != events->sample_id_word)
		events->sample_id_word = -1;
	if (trailer_id_word(attr) != events->trailer_id_word)
		events->trailer_id_word = -1;
	if (sample_time_word(attr) != events->sample_time_word)
		events->sample_time_word = -1;
	if (trailer_time_word(attr) != events->trailer_time_word)
		events->trailer_time_word = -1;
}

void events_add_ids(struct events *events, struct data_event *event, const uint64_t *ids, size_t n)
{
	if (!n)
		return;
	event->ids = xreallocarray(event->ids, event->n_ids + n, sizeof(*ids));
	memcpy(event->ids + event->n_ids, ids, n * sizeof(*ids));
	event->n_ids += n;
	for (size_t i = 0; i < n; i++)
		slot_add(events, ids[i], event);
}

struct data_event *events_add(struct events *events, const void *attr, size_t attr_size,
			      const uint64_t *ids, size_t n_ids)
{
	struct data_event *event = xcalloc(1, sizeof(*event));

	if (attr_size > DATA_ATTR_MAX)
		attr_size = DATA_ATTR_MAX;
	memcpy(event->attr_bytes, attr, attr_size);
	event->attr_size = (uint32_t)attr_size;
	event->scale = 1.0;
	event->index = events->n;
	event->leader = events->n;
	event->n_members = 1;
	sample_rows_find(event);
	VEC_GROW(events->v, events->n, events->cap);
	events->v[events->n++] = event;
	update_layout(events, &event->attr);
	find_sole_software(events);
	events_add_ids(events, event, ids, n_ids);
	return event;
}

static char *copy_text(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

void events_copy(struct events *to, const struct events *from)
{
	for (size_t i = 0; i < from->n; i++) {
		const struct data_event *old = from->v[i];
		struct data_event *event =
			events_add(to, old->attr_bytes, old->attr_size, old->ids, old->n_ids);

		event->name = copy_text(old->name);
		event->unit = copy_text(old->unit);
		event->group_name = copy_text(old->group_name);
		event->scale = old->scale;
		event->leader = old->leader;
		event->n_members = old->n_members;
		event->counted = old->counted;
		intset_copy(&event->cpus, &old->cpus);
	}
}

/* Names of the kernel's fixed events, for files that were cut before their EVENT_DESC. */
static const char *const hardware_names[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};
static const char *const software_names[] = {
	"cpu-clock",        "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",        "bpf-output",   "cgroup-switches",
};

void data_event_add_name(const struct data_event *event, struct str *out)
{
	const struct perf_event_attr *attr = &event->attr;

	if (event->name)
		str_add_printable(out, event->name, strlen(event->name));
	else if (attr->type == PERF_TYPE_HARDWARE && attr->config < ARRAY_SIZE(hardware_names))
		str_add(out, hardware_names[attr->config]);
	else if (attr->type == PERF_TYPE_SOFTWARE && attr->config < ARRAY_SIZE(software_names))
		str_add(out, software_names[attr->config]);
	else if (attr->type == PERF_TYPE_RAW)
		str_addf(out, "r%llx", (unsigned long long)attr->config);
	else
		str_addf(out, "type-%u/config=0x%llx/", attr->type,
			 (unsigned long long)attr->config);
}
