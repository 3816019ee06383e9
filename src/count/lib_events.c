/* SPDX-License-Identifier: MIT */
/*
 * struct pstat_events: pstat's event list in a handle. Additions go to a copy of the list, which takes its
 * place when nothing can fail any more: a call that fails leaves the handle as it was, whatever it failed of.
 */
#include "count/lib.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

const struct kern lib_kern = { &sys_linux, { "/sys", "/proc", "/sys/kernel/tracing", NULL } };

static int make_events(void *data, struct str *err)
{
	struct pstat_events **events = data;

	(void)err;
	*events = xcalloc(1, sizeof(**events));
	event_list_init(&(*events)->list);
	return 0;
}

int pstat_events_new(struct pstat_events **events)
{
	int rc;

	if (!events)
		return -EINVAL;
	rc = lib_run(make_events, events, NULL);
	if (rc < 0)
		*events = NULL;
	return rc;
}

void pstat_events_free(struct pstat_events *events)
{
	if (!events)
		return;
	event_list_release(&events->list);
	free(events);
}

/* ---- changes ---- */

/* One change of a list, and what it needs to know. */
struct events_change {
	struct pstat_events *events;
	int (*apply)(struct event_list *list, const struct events_change *change, struct str *err);
	const char *text, *name;
	const struct perf_event_attr *attr;
	size_t index, n;
	uint64_t rate;
};

static void copy_with_notes(struct event_list *to, const struct event_list *from)
{
	event_list_copy(to, from);
	for (size_t i = 0; i < from->notes.n; i++)
		note_add(&to->notes, from->notes.v[i].verbose, from->notes.v[i].remedy, "%s",
			 from->notes.v[i].text);
}

static int apply_change(void *data, struct str *err)
{
	const struct events_change *change = data;
	struct event_list changed;
	int rc;

	copy_with_notes(&changed, &change->events->list);
	rc = change->apply(&changed, change, err);
	if (rc < 0) {
		event_list_release(&changed);
		return rc;
	}
	lib_own_notes(&changed.notes);
	event_list_release(&change->events->list);
	change->events->list = changed;
	return 0;
}

static int make_change(struct events_change *change, struct pstat_error *error)
{
	if (!change->events)
		return lib_error(error, -EINVAL, "there is no list of events");
	return lib_run(apply_change, change, error);
}

static int parse(struct event_list *list, const struct events_change *change, struct str *err)
{
	return event_list_parse(list, change->text, &lib_kern.host, err);
}

int pstat_events_parse(struct pstat_events *events, const char *text, struct pstat_error *error)
{
	struct events_change change = { .events = events, .apply = parse, .text = text };

	return text ? make_change(&change, error) : lib_error(error, -EINVAL, "there is no text");
}

/* Finds the event by its numbers, with its PMU and the CPUs of that; all else is the attr's. */
static int add_attr(struct event_list *list, const struct events_change *change, struct str *err)
{
	struct perf_event_attr attr;
	char numbers[64];
	size_t before = list->n;
	int rc;

	/* The size of an attr stands after its type; lib_take_struct() wants it in front. */
	memset(&attr, 0, sizeof(attr));
	if (change->attr->size < PERF_ATTR_SIZE_VER0)
		return fail(err, -EINVAL, "the size of the attr is not set");
	for (size_t i = sizeof(attr); i < change->attr->size; i++)
		if (((const char *)change->attr)[i])
			return fail(err, -E2BIG,
				    "the attr is newer than this library, which does not know a field it uses");
	memcpy(&attr, change->attr, change->attr->size < sizeof(attr) ? change->attr->size : sizeof(attr));
	snprintf(numbers, sizeof(numbers), "%u:0x%llx", attr.type, (unsigned long long)attr.config);
	rc = event_list_parse(list, numbers, &lib_kern.host, err);
	if (rc < 0)
		return rc;
	while (list->n > before + 1)
		event_list_remove(list, list->n - 1);
	list->v[before].attr = attr;
	list->v[before].user_excludes = true;
	list->v[before].user_guest = true;
	list->v[before].expansion = EXPANSION_NONE;
	list->v[before].expansion_id = 0;
	if (change->name) {
		free(list->v[before].name);
		list->v[before].name = xstrdup(change->name);
	}
	return 0;
}

int pstat_events_add_attr(struct pstat_events *events, const char *name, const struct perf_event_attr *attr,
			  struct pstat_error *error)
{
	struct events_change change = { .events = events, .apply = add_attr, .name = name, .attr = attr };

	return attr ? make_change(&change, error) : lib_error(error, -EINVAL, "there is no attr");
}

static int make_group(struct event_list *list, const struct events_change *change, struct str *err)
{
	size_t first = change->index;

	if (!change->n || first >= list->n || change->n > list->n - first)
		return fail(err, -EINVAL, "there are %zu events: no %zu from %zu on", list->n, change->n, first);
	for (size_t i = first; i < first + change->n; i++) {
		if (list->v[i].leader != i || list->v[i].n_members != 1)
			return fail(err, -EINVAL, "'%s' is in a group already", list->v[i].name);
		if (list->v[i].kind != EVENT_KERNEL)
			return fail(err, -EINVAL, "'%s' cannot be in a group: the kernel does not count it",
				    list->v[i].name);
	}
	for (size_t i = first; i < first + change->n; i++)
		list->v[i].leader = first;
	list->v[first].n_members = change->n;
	return 0;
}

int pstat_events_group(struct pstat_events *events, size_t first, size_t n, struct pstat_error *error)
{
	struct events_change change = { .events = events, .apply = make_group, .index = first, .n = n };

	return make_change(&change, error);
}

static int set_filter(struct event_list *list, const struct events_change *change, struct str *err)
{
	struct event *event;

	if (change->index >= list->n)
		return fail(err, -EINVAL, "there are %zu events: no number %zu", list->n, change->index);
	event = &list->v[change->index];
	if (event->attr.type != PERF_TYPE_TRACEPOINT)
		return fail(err, -EINVAL, "'%s' cannot have a filter: it is not a tracepoint", event->name);
	free(event->filter);
	event->filter = change->text ? xstrdup(change->text) : NULL;
	return 0;
}

int pstat_events_set_filter(struct pstat_events *events, size_t index, const char *filter, struct pstat_error *error)
{
	struct events_change change = { .events = events, .apply = set_filter, .index = index, .text = filter };

	return make_change(&change, error);
}

static int set_rate(struct event_list *list, const struct events_change *change, struct str *err)
{
	struct event *event;

	if (change->index >= list->n)
		return fail(err, -EINVAL, "there are %zu events: no number %zu", list->n, change->index);
	event = &list->v[change->index];
	if (!change->rate)
		return fail(err, -EINVAL, "'%s': a sample after 0 events, or 0 in a second, is none", event->name);
	event->attr.freq = change->n != 0;
	event->attr.sample_period = change->rate;
	event->terms.has_freq = change->n != 0;
	event->terms.has_period = !change->n;
	return 0;
}

int pstat_events_set_period(struct pstat_events *events, size_t index, uint64_t period, struct pstat_error *error)
{
	struct events_change change = { .events = events, .apply = set_rate, .index = index, .rate = period };

	return make_change(&change, error);
}

int pstat_events_set_frequency(struct pstat_events *events, size_t index, uint64_t hz, struct pstat_error *error)
{
	struct events_change change = { .events = events, .apply = set_rate, .index = index, .n = 1, .rate = hz };

	return make_change(&change, error);
}

/* ---- sets ---- */

/* To add a set: a row, and its line in pstat_events(3). */
static const struct set {
	const char *name, *help, *events;
} sets[] = {
	{ "hardware", "cycles, instructions, branches and caches, as every PMU of a CPU has them",
	  "cycles,instructions,branches,branch-misses,cache-references,cache-misses,"
	  "stalled-cycles-frontend,stalled-cycles-backend,bus-cycles,ref-cycles" },
	{ "software", "what the kernel itself counts",
	  "task-clock,cpu-clock,page-faults,minor-faults,major-faults,context-switches,cpu-migrations,"
	  "alignment-faults,emulation-faults" },
	{ "cache-l1d", "the first level's data cache",
	  "L1-dcache-loads,L1-dcache-load-misses,L1-dcache-stores,L1-dcache-store-misses,"
	  "L1-dcache-prefetches,L1-dcache-prefetch-misses" },
	{ "cache-l1i", "the first level's instruction cache", "L1-icache-loads,L1-icache-load-misses" },
	{ "cache-ll", "the last level's cache",
	  "LLC-loads,LLC-load-misses,LLC-stores,LLC-store-misses,LLC-prefetches,LLC-prefetch-misses" },
	{ "cache-dtlb", "addresses of data", "dTLB-loads,dTLB-load-misses,dTLB-stores,dTLB-store-misses" },
	{ "cache-itlb", "addresses of instructions", "iTLB-loads,iTLB-load-misses" },
	{ "cache-branch", "the branch predictor", "branch-loads,branch-load-misses" },
	{ "cache-node", "memory of this node, and of others",
	  "node-loads,node-load-misses,node-stores,node-store-misses" },
};

const char *pstat_set_name(size_t i, const char **help)
{
	if (i >= ARRAY_SIZE(sets))
		return NULL;
	if (help)
		*help = sets[i].help;
	return sets[i].name;
}

int pstat_events_add_set(struct pstat_events *events, const char *set, struct pstat_error *error)
{
	struct events_change change = { .events = events, .apply = parse };

	for (size_t i = 0; set && i < ARRAY_SIZE(sets); i++)
		if (!strcmp(sets[i].name, set))
			change.text = sets[i].events;
	return change.text ? make_change(&change, error) :
			     lib_error(error, -ENOENT, "there is no set of events of that name");
}

/* ---- what there is ---- */

size_t pstat_events_count(const struct pstat_events *events)
{
	return events->list.n;
}

const char *pstat_events_name(const struct pstat_events *events, size_t index)
{
	return index < events->list.n ? events->list.v[index].name : NULL;
}

const struct perf_event_attr *pstat_events_attr(const struct pstat_events *events, size_t index)
{
	return index < events->list.n ? &events->list.v[index].attr : NULL;
}

const char *pstat_events_note(const struct pstat_events *events, size_t i)
{
	return i < events->list.notes.n ? events->list.notes.v[i].text : NULL;
}
