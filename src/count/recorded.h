/* SPDX-License-Identifier: MIT */
/*
 * recorded: the counts of a recording as they come: which events, CPUs and threads there are, and the
 * last reading of each cell. Other folders see it through count.h.
 *
 *   EVENT_UPDATE THREAD_MAP CPU_MAP STAT_CONFIG -> the shape | STAT -> a cell | STAT_ROUND -> a read
 *
 * A cell is an event on a CPU (or on any CPU) for a thread (or for all). Its readings are totals since
 * counting began; one that is not read again keeps its last.
 */
#ifndef PSTAT_RECORDED_H
#define PSTAT_RECORDED_H

#include "count/count.h"

struct events; /* data/data.h */
struct info;
struct record_body;

struct recorded_cell {
	uint64_t value, enabled_ns, running_ns;
	bool seen;
};

struct recorded_counts {
	/* The shape, fixed by the first STAT record. */
	bool fixed;
	struct intset cpus; /* columns; the last column, after them, is "any CPU" */
	struct target_thread *threads;
	size_t n_threads, n_events;
	bool has_cpus; /* a map of them came */
	/* From STAT_CONFIG. */
	uint64_t aggr_mode, interval_ms, scale;
	bool has_config;
	struct recorded_cell *v; /* by event, column, thread */
	uint64_t n_strays; /* counts of events, CPUs or threads that are not in the maps */
	/* The description that an aggregation takes. */
	struct event_list list;
	struct target target;
	struct recorded_event *events; /* private */
	const struct info *info;
};

void recorded_init(struct recorded_counts *counts);
void recorded_release(struct recorded_counts *counts);
/*
 * THREAD_MAP, CPU_MAP, STAT_CONFIG and STAT; others are passed over. -EINVAL, -E2BIG with a sentence
 * where the counts have no sensible shape.
 */
int recorded_take(struct recorded_counts *counts, const struct events *events,
		  const struct record_body *body, struct str *err);

/* How the recorder added up: aggr_mode as the recorder of that version numbers it. */
enum aggr_mode recorded_aggr(const struct recorded_counts *counts, const char *version);

/*
 * Fills list and target, and makes it a backend's data, as far as there are cells: after the first round.
 * info, of the recording's header, is borrowed.
 */
void recorded_describe(struct recorded_counts *counts, const struct events *events, const struct info *info);
/* data: struct recorded_counts; a read hands over all cells that were ever read. */
extern const struct count_backend count_backend_recorded;

static inline size_t recorded_columns(const struct recorded_counts *counts)
{
	return counts->cpus.n + 1;
}

static inline struct recorded_cell *recorded_cell(const struct recorded_counts *counts, size_t event,
						  size_t column, size_t thread)
{
	return &counts->v[(event * recorded_columns(counts) + column) * counts->n_threads + thread];
}

#endif
