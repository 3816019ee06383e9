/*
 * The backend of recorded counts: what a recording says of its events, CPUs and threads, as an aggregation
 * wants to know it. What a recording does not have (reasons, the command's own times) is not made up.
 */
#include "count/recorded.h"

#include "data/data.h"

#include <limits.h>
#include <stdlib.h>

struct recorded_event {
	bool was_open;
	struct intset cpus; /* on which it has counts */
	size_t core_type; /* index into info.hybrid, or NO_CORE_TYPE */
};

/* ---- core types ---- */

/* Generic events of hybrid machines have the type of the core's PMU in the upper half of config. */
#define CORE_TYPE_SHIFT 32

static const char *pmu_of(const struct info *info, const struct perf_event_attr *attr)
{
	bool generic = attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE;
	uint64_t type = generic ? attr->config >> CORE_TYPE_SHIFT : attr->type;

	for (size_t i = 0; type && i < info->pmus.n; i++)
		if (info->pmus.v[i].type == type)
			return info->pmus.v[i].name;
	return NULL;
}

static size_t core_type_of(const struct info *info, const struct perf_event_attr *attr)
{
	const char *pmu = pmu_of(info, attr);

	for (size_t i = 0; pmu && i < info->hybrid.n; i++)
		if (!strcmp(info->hybrid.v[i].pmu, pmu))
			return i;
	return NO_CORE_TYPE;
}

/* ---- events and target ---- */

static void add_event(struct event_list *list, const struct data_event *from)
{
	struct str name = STR_INIT, unit = STR_INIT;
	struct event *event;

	VEC_GROW(list->v, list->n, list->cap);
	event = &list->v[list->n++];
	data_event_add_name(from, &name);
	if (from->unit)
		str_add_printable(&unit, from->unit, strlen(from->unit));
	*event = (struct event){
		.attr = from->attr,
		.kind = EVENT_KERNEL,
		.source = "recording",
		.name = str_detach(&name),
		.pmu_name = xstrdup(""),
		.unit = str_detach(&unit),
		.scale = from->scale,
		.leader = from->leader <= from->index ? from->leader : from->index,
		.n_members = from->n_members,
	};
}

static bool column_is_used(const struct recorded_counts *counts, size_t event, size_t column)
{
	for (size_t t = 0; t < counts->n_threads; t++)
		if (recorded_cell(counts, event, column, t)->seen)
			return true;
	return false;
}

/* An event is counted where it has counts; one without any, wherever the others are. */
static void find_cpus(const struct recorded_counts *counts, size_t index, struct intset *cpus)
{
	for (size_t column = 0; column < counts->cpus.n; column++)
		if (column_is_used(counts, index, column))
			intset_add(cpus, counts->cpus.v[column]);
	if (!cpus->n && !column_is_used(counts, index, counts->cpus.n))
		intset_copy(cpus, &counts->cpus);
}

static void set_target(struct recorded_counts *counts)
{
	const struct info *info = counts->info;
	bool by_cpu = counts->n_threads == 1 && counts->threads[0].tid == -1;
	bool all_threads = info_has(info, FEATURE_STAT_TARGET) &&
			   info->stat_target == STAT_TARGET_ALL_THREADS;
	struct target *target = &counts->target;

	*target = (struct target){ .kind = by_cpu || all_threads ? TARGET_CPUS : TARGET_TASKS };
	intset_copy(&target->cpus, &counts->cpus);
	target->threads = xcalloc(counts->n_threads, sizeof(*target->threads));
	memcpy(target->threads, counts->threads, counts->n_threads * sizeof(*target->threads));
	target->n_threads = target->threads_cap = counts->n_threads;
}

void recorded_describe(struct recorded_counts *counts, const struct events *events, const struct info *info)
{
	counts->info = info;
	event_list_init(&counts->list);
	counts->events = xcalloc(counts->n_events + 1, sizeof(*counts->events));
	for (size_t i = 0; i < counts->n_events; i++) {
		struct recorded_event *event = &counts->events[i];

		add_event(&counts->list, events->v[i]);
		event->was_open = events->v[i]->n_ids > 0;
		event->core_type = NO_CORE_TYPE;
		if (!event->was_open)
			continue;
		find_cpus(counts, i, &event->cpus);
		if (!event->cpus.n)
			event->core_type = core_type_of(info, &events->v[i]->attr);
	}
	set_target(counts);
}

void recorded_forget(struct recorded_counts *counts)
{
	for (size_t i = 0; counts->events && i < counts->n_events; i++)
		intset_release(&counts->events[i].cpus);
	free(counts->events);
	counts->events = NULL;
	event_list_release(&counts->list);
	target_release(&counts->target);
}

/* ---- topology ---- */

/* The memory node of each CPU; -1: not known. */
static int node_of(const struct info *info, int cpu)
{
	int node = -1;

	for (size_t i = 0; i < info->nodes.n && node < 0; i++) {
		struct intset cpus = INTSET_INIT;
		struct str ignored = STR_INIT;

		if (info->nodes.v[i].cpus &&
		    !intset_parse(&cpus, info->nodes.v[i].cpus, INT_MAX, &ignored) &&
		    intset_has(&cpus, cpu))
			node = (int)info->nodes.v[i].node;
		intset_release(&cpus);
		str_release(&ignored);
	}
	return node;
}

static int make_topology(const void *data, struct topology *topology, struct str *err)
{
	const struct recorded_counts *counts = data;
	const struct info *info = counts->info;

	(void)err;
	topology->v = xcalloc(counts->cpus.n + 1, sizeof(*topology->v));
	for (size_t i = 0; i < counts->cpus.n; i++) {
		int cpu = counts->cpus.v[i];
		struct topology_cpu at = { cpu, -1, -1, -1, node_of(info, cpu) };

		if ((size_t)cpu < info->cpus.n) {
			at.core = (int)info->cpus.v[cpu].core;
			at.socket = (int)info->cpus.v[cpu].socket;
			at.die = info->has_dies ? (int)info->cpus.v[cpu].die : -1;
		}
		topology->v[topology->n++] = at;
	}
	return 0;
}

/* ---- the backend ---- */

static void describe(const void *data, struct counted_event *events)
{
	const struct recorded_counts *counts = data;

	for (size_t i = 0; i < counts->n_events; i++) {
		const struct recorded_event *recorded = &counts->events[i];
		const struct event *event = &counts->list.v[i];

		events[i] = (struct counted_event){
			.event = event,
			.attr = &event->attr,
			.name = event->name,
			.state = recorded->was_open ? COUNTER_OPEN : COUNTER_NOT_SUPPORTED,
			.reason = recorded->was_open ? NULL : "not opened when this was recorded",
			.cpus = &recorded->cpus,
			.n_threads = counts->n_threads,
			.leader = event->leader,
			.core_type = recorded->core_type,
		};
	}
}

static void read_event(const struct recorded_counts *counts, size_t index, reading_fn fn, void *to)
{
	for (size_t column = 0; column < recorded_columns(counts); column++) {
		int cpu = column < counts->cpus.n ? counts->cpus.v[column] : -1;

		for (size_t t = 0; t < counts->n_threads; t++) {
			const struct recorded_cell *cell = recorded_cell(counts, index, column, t);
			const struct reading reading = {
				.value = cell->value,
				.enabled_ns = cell->enabled_ns,
				.running_ns = cell->running_ns,
			};

			if (cell->seen)
				fn(to, index, cpu, t, &reading);
		}
	}
}

static void read_all(const void *data, reading_fn fn, void *to)
{
	const struct recorded_counts *counts = data;

	for (size_t i = 0; i < counts->n_events; i++)
		read_event(counts, i, fn, to);
}

const struct count_backend count_backend_recorded = {
	.name = "recorded",
	.describe = describe,
	.read = read_all,
	.topology = make_topology,
	.unread = "never read when this was recorded",
};
