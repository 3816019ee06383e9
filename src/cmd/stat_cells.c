/*
 * Records of counts -> cells -> what a tally book is made of.
 *
 * Invariant: v has n_events x (cpus.n + 1) x n_threads cells as soon as `fixed`.
 */
#include "cmd/stat_cells.h"

#include <errno.h>
#include <stdlib.h>

/* The numbers of STAT_CONFIG: tools/lib/perf/include/perf/event.h. */
enum { CONFIG_AGGR_MODE, CONFIG_INTERVAL, CONFIG_SCALE };
enum { CELLS_MAX = 1 << 22, THREADS_MAX = 1 << 16, CPUS_MAX = 1 << 13 /* of Linux */ };

void stat_cells_init(struct stat_cells *cells)
{
	*cells = (struct stat_cells){ .scale = 1, .aggr_mode = 1 };
}

void stat_cells_release(struct stat_cells *cells)
{
	intset_release(&cells->cpus);
	free(cells->threads);
	free(cells->v);
}

/* ---- the shape ---- */

static void take_cpus(struct stat_cells *cells, const struct record_cpus *cpus)
{
	size_t cursor = 0;
	int cpu;

	while (record_cpus_get(cpus, &cursor, &cpu))
		if (cpu >= 0)
			intset_add(&cells->cpus, cpu);
}

static int take_threads(struct stat_cells *cells, const struct record_threads *threads,
			struct str *err)
{
	if (threads->n > THREADS_MAX)
		return fail(err, -E2BIG, "%llu threads are too many", (unsigned long long)threads->n);
	cells->threads = xcalloc(threads->n + 1, sizeof(*cells->threads));
	cells->n_threads = threads->n;
	for (size_t i = 0; i < threads->n; i++) {
		struct record_thread thread = record_threads_get(threads, i);

		cells->threads[i].tid = (pid_t)thread.pid;
		cells->threads[i].pid = -1;
		memcpy(cells->threads[i].comm, thread.comm, sizeof(thread.comm));
	}
	return 0;
}

static void take_config(struct stat_cells *cells, const struct record_words *rows)
{
	for (uint64_t i = 0; i < rows->n; i++) {
		uint64_t value = rows->v[2 * i + 1];

		if (rows->v[2 * i] == CONFIG_AGGR_MODE)
			cells->aggr_mode = value;
		else if (rows->v[2 * i] == CONFIG_INTERVAL)
			cells->interval_ms = value;
		else if (rows->v[2 * i] == CONFIG_SCALE)
			cells->scale = value;
	}
}

static size_t n_columns(const struct stat_cells *cells)
{
	return cells->cpus.n + 1;
}

static int fix_shape(struct stat_cells *cells, const struct events *events, struct str *err)
{
	size_t n;

	for (size_t i = 0; i < events->n; i++)
		for (size_t k = 0; k < events->v[i]->cpus.n; k++)
			if (events->v[i]->cpus.v[k] >= 0)
				intset_add(&cells->cpus, events->v[i]->cpus.v[k]);
	if (!cells->n_threads) {
		free(cells->threads);
		cells->threads = xcalloc(1, sizeof(*cells->threads));
		cells->threads[0] = (struct target_thread){ .tid = -1, .pid = -1 };
		cells->n_threads = 1;
	}
	cells->n_events = events->n;
	if (cells->cpus.n > CPUS_MAX)
		return fail(err, -E2BIG, "%zu CPUs are too many", cells->cpus.n);
	if (__builtin_mul_overflow(cells->n_events, n_columns(cells), &n) ||
	    __builtin_mul_overflow(n, cells->n_threads, &n) || n > CELLS_MAX)
		return fail(err, -E2BIG, "%zu events, %zu CPUs and %zu threads are too many counters",
			    cells->n_events, cells->cpus.n, cells->n_threads);
	cells->v = xcalloc(n + 1, sizeof(*cells->v));
	cells->fixed = true;
	return 0;
}

/* ---- counts ---- */

/* SIZE_MAX: not one of the recording's CPUs. */
static size_t column_of(const struct stat_cells *cells, uint32_t cpu)
{
	size_t low = 0, high = cells->cpus.n;

	if (cpu == UINT32_MAX)
		return cells->cpus.n;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (cells->cpus.v[mid] == (int)cpu)
			return mid;
		if (cells->cpus.v[mid] < (int)cpu)
			low = mid + 1;
		else
			high = mid;
	}
	return SIZE_MAX;
}

static size_t cell_at(const struct stat_cells *cells, size_t event, size_t column, size_t thread)
{
	return (event * n_columns(cells) + column) * cells->n_threads + thread;
}

static int take_count(struct stat_cells *cells, const struct events *events,
		      const struct record_body *body, struct str *err)
{
	const struct data_event *event = events_find(events, body->stat.id);
	size_t column;
	int rc = cells->fixed ? 0 : fix_shape(cells, events, err);

	if (rc)
		return rc;
	column = column_of(cells, body->stat.cpu);
	if (!event || event->index >= cells->n_events || column == SIZE_MAX ||
	    body->stat.thread >= cells->n_threads) {
		cells->n_strays++;
		return 0;
	}
	cells->v[cell_at(cells, event->index, column, body->stat.thread)] = (struct stat_cell){
		body->stat.value, body->stat.enabled_ns, body->stat.running_ns, true,
	};
	return 0;
}

int stat_cells_take(struct stat_cells *cells, const struct events *events,
		    const struct record_body *body, struct str *err)
{
	int rc = 0;

	switch (body->type) {
	case RECORD_CPU_MAP:
		if (!cells->has_cpus && !cells->fixed)
			take_cpus(cells, &body->cpus);
		cells->has_cpus = true;
		break;
	case RECORD_THREAD_MAP:
		if (!cells->has_threads && !cells->fixed)
			rc = take_threads(cells, &body->threads, err);
		cells->has_threads = true;
		break;
	case RECORD_STAT_CONFIG:
		if (!cells->has_config)
			take_config(cells, &body->stat_config);
		cells->has_config = true;
		break;
	case RECORD_STAT:
		rc = take_count(cells, events, body, err);
		break;
	default:
		break;
	}
	return rc;
}

/* ---- how it was added up ---- */

enum { MODE_OTHER = -1 }; /* by cache, by cluster, or not said: in total */

/*
 * perf numbers its modes anew whenever it adds one in the middle; the newest first. pstat writes those of
 * 5.3 to 6.4. Source: enum aggr_mode in tools/perf/util/stat.h of each release.
 */
static const struct {
	unsigned major, minor; /* from this release on */
	int modes[10];
} numberings[] = {
	{ 6, 9, { AGGR_CPU, AGGR_TOTAL, AGGR_SOCKET, AGGR_DIE, MODE_OTHER, MODE_OTHER, AGGR_CORE,
		  AGGR_THREAD, MODE_OTHER, AGGR_NODE } },
	{ 6, 5, { AGGR_CPU, AGGR_TOTAL, AGGR_SOCKET, AGGR_DIE, MODE_OTHER, AGGR_CORE, AGGR_THREAD,
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

enum stat_aggr stat_cells_aggr(const struct stat_cells *cells, const char *version)
{
	int mode = cells->aggr_mode < ARRAY_SIZE(numberings[0].modes) ?
			   modes_of(version)[cells->aggr_mode] : MODE_OTHER;

	return mode == MODE_OTHER ? AGGR_TOTAL : (enum stat_aggr)mode;
}

/* ---- cells -> counters ---- */

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

static bool column_is_used(const struct stat_cells *cells, size_t event, size_t column)
{
	for (size_t t = 0; t < cells->n_threads; t++)
		if (cells->v[cell_at(cells, event, column, t)].seen)
			return true;
	return false;
}

/* An event is counted where it has counts; one without any, wherever the others are. */
static void set_columns(const struct stat_cells *cells, size_t index, struct counter *counter)
{
	for (size_t column = 0; column < cells->cpus.n; column++)
		if (column_is_used(cells, index, column))
			intset_add(&counter->cpus, cells->cpus.v[column]);
	if (!counter->cpus.n && !column_is_used(cells, index, cells->cpus.n))
		intset_copy(&counter->cpus, &cells->cpus);
	counter->n_cpus = counter->cpus.n ? counter->cpus.n : 1;
	counter->n_threads = cells->n_threads;
}

static void set_target(const struct stat_cells *cells, const struct info *info,
		       struct target *target)
{
	bool by_cpu = cells->n_threads == 1 && cells->threads[0].tid == -1;
	bool all_threads = info_has(info, FEATURE_STAT_TARGET) &&
			   info->stat_target == STAT_TARGET_ALL_THREADS;

	*target = (struct target){ .kind = by_cpu || all_threads ? TARGET_CPUS : TARGET_TASKS };
	intset_copy(&target->cpus, &cells->cpus);
	target->threads = xcalloc(cells->n_threads, sizeof(*target->threads));
	memcpy(target->threads, cells->threads, cells->n_threads * sizeof(*target->threads));
	target->n_threads = target->threads_cap = cells->n_threads;
}

void stat_cells_describe(const struct stat_cells *cells, const struct events *events,
			 const struct info *info, struct stat_replay_set *to)
{
	*to = (struct stat_replay_set){ 0 };
	event_list_init(&to->events);
	for (size_t i = 0; i < cells->n_events; i++)
		add_event(&to->events, events->v[i]);
	to->set.v = xcalloc(cells->n_events + 1, sizeof(*to->set.v));
	to->set.n = cells->n_events;
	for (size_t i = 0; i < cells->n_events; i++) {
		const struct event *event = &to->events.v[i];
		struct counter *counter = &to->set.v[i];
		bool open = events->v[i]->n_ids > 0;

		*counter = (struct counter){
			.event = event,
			.attr = event->attr,
			.state = open ? COUNTER_OPEN : COUNTER_NOT_SUPPORTED,
			.reason = open ? NULL : xstrdup("not opened when this was recorded"),
			.leader = event->leader,
			.n_members = event->n_members,
		};
		if (open)
			set_columns(cells, i, counter);
	}
	set_target(cells, info, &to->target);
}

void stat_replay_set_release(struct stat_replay_set *set)
{
	for (size_t i = 0; i < set->set.n; i++) {
		intset_release(&set->set.v[i].cpus);
		free(set->set.v[i].reason);
	}
	free(set->set.v);
	event_list_release(&set->events);
	target_release(&set->target);
}

void stat_cells_replay(const struct stat_cells *cells, struct stat_replay *replay)
{
	for (size_t i = 0; i < cells->n_events; i++) {
		for (size_t column = 0; column < n_columns(cells); column++) {
			int cpu = column < cells->cpus.n ? cells->cpus.v[column] : -1;

			for (size_t t = 0; t < cells->n_threads; t++) {
				const struct stat_cell *cell =
					&cells->v[cell_at(cells, i, column, t)];
				struct reading reading = {
					.value = cell->value,
					.enabled_ns = cell->enabled_ns,
					.running_ns = cell->running_ns,
				};

				if (cell->seen)
					stat_replay_reading(replay, i, cpu, t, &reading);
			}
		}
	}
}
