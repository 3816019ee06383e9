/*
 * Records of counts -> cells.
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
enum { CELLS_MAX = 1 << 22, THREADS_MAX = 1 << 16, CPUS_MAX = 1 << 13 /* of Linux */ };

void recorded_init(struct recorded_counts *counts)
{
	*counts = (struct recorded_counts){ .scale = 1, .aggr_mode = 1 };
}

void recorded_release(struct recorded_counts *counts)
{
	recorded_forget(counts);
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

static int take_threads(struct recorded_counts *counts, const struct record_threads *threads,
			struct str *err)
{
	if (threads->n > THREADS_MAX)
		return fail(err, -E2BIG, "%llu threads are too many", (unsigned long long)threads->n);
	counts->threads = xcalloc(threads->n + 1, sizeof(*counts->threads));
	counts->n_threads = threads->n;
	for (size_t i = 0; i < threads->n; i++) {
		struct record_thread thread = record_threads_get(threads, i);

		counts->threads[i].tid = (pid_t)thread.pid;
		counts->threads[i].pid = -1;
		memcpy(counts->threads[i].comm, thread.comm, sizeof(thread.comm));
	}
	return 0;
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
		if (!counts->has_threads && !counts->fixed)
			rc = take_threads(counts, &body->threads, err);
		counts->has_threads = true;
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

enum aggr_mode recorded_aggr(const struct recorded_counts *counts, const char *version)
{
	int mode = counts->aggr_mode < ARRAY_SIZE(numberings[0].modes) ?
			   modes_of(version)[counts->aggr_mode] : MODE_OTHER;

	return mode == MODE_OTHER ? AGGR_TOTAL : (enum aggr_mode)mode;
}
