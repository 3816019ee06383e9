/* SPDX-License-Identifier: MIT */
/*
 * Records of counts -> cells, and the backend that an aggregation reads them from. What a recording does not have
 * (reasons, the command's own times) is not made up.
 *
 * Invariant: v has n_events x (cpus.n + 1) x n_threads cells as soon as `fixed`.
 */
#include "count/recorded.h"

#include "data/data.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/* The numbers of STAT_CONFIG: tools/lib/perf/include/perf/event.h. */
enum { CONFIG_AGGR_MODE, CONFIG_INTERVAL, CONFIG_SCALE };
enum { CELLS_MAX = 1 << 22, CPUS_MAX = 1 << 13 /* of Linux */ };

struct recorded_event {
	bool was_open;
	struct intset cpus; /* on which it has counts */
	size_t core_type; /* index into info.hybrid, or NO_CORE_TYPE */
};

void recorded_init(struct recorded_counts *counts)
{
	*counts = (struct recorded_counts){ .scale = 1, .aggr_mode = 1 };
}

static void forget(struct recorded_counts *counts)
{
	for (size_t i = 0; counts->events && i < counts->n_events; i++)
		intset_release(&counts->events[i].cpus);
	free(counts->events);
	counts->events = NULL;
	event_list_release(&counts->list);
	target_release(&counts->target);
}

void recorded_release(struct recorded_counts *counts)
{
	forget(counts);
	intset_release(&counts->cpus);
	free(counts->threads);
	free(counts->v);
}

/* ---- the shape ---- */

static void take_cpus(struct recorded_counts *counts, const struct record_cpus *cpus)
{
	size_t cursor = 0;
	int cpu;

	while (record_cpus_get(cpus, &cursor, &cpu))
		if (cpu >= 0)
			intset_add(&counts->cpus, cpu);
}

/* The list goes on in each record that comes before the counts. */
static void take_threads(struct recorded_counts *counts, const struct record_threads *threads)
{
	size_t n = counts->n_threads;

	counts->threads = xreallocarray(counts->threads, n + threads->n + 1, sizeof(*counts->threads));
	for (size_t i = 0; i < threads->n; i++) {
		struct record_thread thread = record_threads_get(threads, i);
		struct target_thread *to = &counts->threads[n + i];

		*to = (struct target_thread){ .tid = (pid_t)thread.pid, .pid = -1 };
		memcpy(to->comm, thread.comm, sizeof(thread.comm));
	}
	counts->n_threads = n + threads->n;
}

static void take_config(struct recorded_counts *counts, const struct record_words *rows)
{
	for (uint64_t i = 0; i < rows->n; i++) {
		uint64_t value = rows->v[2 * i + 1];

		if (rows->v[2 * i] == CONFIG_AGGR_MODE)
			counts->aggr_mode = value;
		else if (rows->v[2 * i] == CONFIG_INTERVAL)
			counts->interval_ms = value;
		else if (rows->v[2 * i] == CONFIG_SCALE)
			counts->scale = value;
	}
}

static int fix_shape(struct recorded_counts *counts, const struct events *events, struct str *err)
{
	size_t n;

	for (size_t i = 0; i < events->n; i++)
		for (size_t k = 0; k < events->v[i]->cpus.n; k++)
			if (events->v[i]->cpus.v[k] >= 0)
				intset_add(&counts->cpus, events->v[i]->cpus.v[k]);
	if (!counts->n_threads) {
		free(counts->threads);
		counts->threads = xcalloc(1, sizeof(*counts->threads));
		counts->threads[0] = (struct target_thread){ .tid = -1, .pid = -1 };
		counts->n_threads = 1;
	}
	counts->n_events = events->n;
	if (counts->cpus.n > CPUS_MAX)
		return fail(err, -E2BIG, "%zu CPUs are too many", counts->cpus.n);
	if (__builtin_mul_overflow(counts->n_events, recorded_columns(counts), &n) ||
	    __builtin_mul_overflow(n, counts->n_threads, &n) || n > CELLS_MAX)
		return fail(err, -E2BIG, "%zu events, %zu CPUs and %zu threads are too many counters",
			    counts->n_events, counts->cpus.n, counts->n_threads);
	counts->v = xcalloc(n + 1, sizeof(*counts->v));
	counts->fixed = true;
	return 0;
}

/* ---- counts ---- */

/* SIZE_MAX: not one of the recording's CPUs. */
static size_t column_of(const struct recorded_counts *counts, uint32_t cpu)
{
	if (cpu == UINT32_MAX)
		return counts->cpus.n;
	return cpu <= INT_MAX ? intset_index(&counts->cpus, (int)cpu) : SIZE_MAX;
}

static int take_count(struct recorded_counts *counts, const struct events *events,
		      const struct record_body *body, struct str *err)
{
	const struct data_event *event = events_find(events, body->stat.id);
	size_t column;
	int rc = counts->fixed ? 0 : fix_shape(counts, events, err);

	if (rc)
		return rc;
	column = column_of(counts, body->stat.cpu);
	if (!event || event->index >= counts->n_events || column == SIZE_MAX ||
	    body->stat.thread >= counts->n_threads) {
		counts->n_strays++;
		return 0;
	}
	*recorded_cell(counts, event->index, column, body->stat.thread) = (struct recorded_cell){
		body->stat.value, body->stat.enabled_ns, body->stat.running_ns, true,
	};
	return 0;
}

int recorded_take(struct recorded_counts *counts, const struct events *events,
		    const struct record_body *body, struct str *err)
{
	int rc = 0;

	switch (body->type) {
	case RECORD_CPU_MAP:
		if (!counts->has_cpus && !counts->fixed)
			take_cpus(counts, &body->cpus);
		counts->has_cpus = true;
		break;
	case RECORD_THREAD_MAP:
		if (!counts->fixed)
			take_threads(counts, &body->threads);
		break;
	case RECORD_STAT_CONFIG:
		if (!counts->has_config)
			take_config(counts, &body->stat_config);
		counts->has_config = true;
		break;
	case RECORD_STAT:
		rc = take_count(counts, events, body, err);
		break;
	default:
		break;
	}
	return rc;
}

/* ---- how it was added up ---- */

enum { MODE_OTHER = -1 }; /* by cluster, which no recording describes, or not said: in total */

/*
 * perf numbers its modes anew whenever it adds one in the middle; the newest first. pstat writes those of
 * 5.3 to 6.4. Source: enum aggr_mode in tools/perf/util/stat.h of each release.
 */
static const struct {
	unsigned major, minor; /* from this release on */
	int modes[10];
} numberings[] = {
	{ 6, 9, { AGGR_CPU, AGGR_TOTAL, AGGR_SOCKET, AGGR_DIE, MODE_OTHER, AGGR_CACHE, AGGR_CORE,
		  AGGR_THREAD, MODE_OTHER, AGGR_NODE } },
	{ 6, 5, { AGGR_CPU, AGGR_TOTAL, AGGR_SOCKET, AGGR_DIE, AGGR_CACHE, AGGR_CORE, AGGR_THREAD,
		  MODE_OTHER, AGGR_NODE, MODE_OTHER } },
	{ 5, 3, { AGGR_CPU, AGGR_TOTAL, AGGR_SOCKET, AGGR_DIE, AGGR_CORE, AGGR_THREAD, MODE_OTHER,
		  AGGR_NODE, MODE_OTHER, MODE_OTHER } },
	{ 0, 0, { AGGR_CPU, AGGR_TOTAL, AGGR_SOCKET, AGGR_CORE, AGGR_THREAD, MODE_OTHER, MODE_OTHER,
		  MODE_OTHER, MODE_OTHER, MODE_OTHER } },
};
enum { OWN_NUMBERING = 2 };

static const int *modes_of(const char *version)
{
	unsigned long major, minor = 0;
	char *end;

	if (!version || version[0] < '0' || version[0] > '9')
		return numberings[OWN_NUMBERING].modes;
	major = strtoul(version, &end, 10);
	if (*end == '.')
		minor = strtoul(end + 1, NULL, 10);
	for (size_t i = 0; i < ARRAY_SIZE(numberings); i++)
		if (major > numberings[i].major ||
		    (major == numberings[i].major && minor >= numberings[i].minor))
			return numberings[i].modes;
	return numberings[OWN_NUMBERING].modes;
}

enum aggr_mode recorded_aggr(const struct recorded_counts *counts, const char *version)
{
	int mode = counts->aggr_mode < ARRAY_SIZE(numberings[0].modes) ?
			   modes_of(version)[counts->aggr_mode] : MODE_OTHER;

	return mode == MODE_OTHER ? AGGR_TOTAL : (enum aggr_mode)mode;
}

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
		struct topology_cpu at = { cpu, -1, -1, -1, node_of(info, cpu), -1, 0, -1 };

		if ((size_t)cpu < info->cpus.n) {
			at.core = (int)info->cpus.v[cpu].core;
			at.socket = (int)info->cpus.v[cpu].socket;
			at.die = info->has_dies ? (int)info->cpus.v[cpu].die : -1;
		}
		topology->v[topology->n++] = at;
	}
	return 0;
}

static int add_caches(const void *data, struct topology *topology, int level, struct str *err)
{
	const struct recorded_counts *counts = data;
	const struct info *info = counts->info;

	for (size_t i = 0; i < topology->n; i++)
		for (size_t k = 0; k < info->caches.n; k++)
			if (info->caches.v[k].level <= INT_MAX && info->caches.v[k].cpus)
				topology_cpu_take_cache(&topology->v[i], level, (int)info->caches.v[k].level,
							info->caches.v[k].cpus);
	return topology_check_caches(topology, level, err);
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
	.caches = add_caches,
	.unread = "never read when this was recorded",
};
