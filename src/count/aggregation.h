/* SPDX-License-Identifier: MIT */
/*
 * The inside of an aggregation: where each cell is read into. Private to count/.
 *
 *   aggregation.c  event rows, and cells laid out once per run
 *   aggr_keys.c    CPUs and threads folded to keys
 *   readings.c     readings -> cells -> values
 *   missing.c      why a value is missing
 */
#ifndef PSTAT_AGGREGATION_H
#define PSTAT_AGGREGATION_H

#include "count/count.h"

struct cell {
	struct cell_count now; /* as last read; 0 before */
	struct cell_count last; /* at the report before */
	uint64_t missed_ns, missed_last_ns; /* as now and last; see struct reading */
	uint64_t carried_ns; /* enabled since it ran last: of struct read_sum */
	bool unverified;
	size_t value; /* index; NO_VALUE: a second CPU of a package, where one is enough */
	enum reading_state state; /* of the current read */
	bool was_read; /* in the current read */
	bool has_stopped; /* with its CPU */
	bool others_ran; /* that its counter does not follow */
};
#define NO_VALUE SIZE_MAX

/* Answers of the machine to why a row never ran, asked for once for each kind. */
struct never_ran_answer {
	char *text[2]; /* never enabled; enabled and never run */
	bool asked[2];
};

/* The longest running times of a task's counters on a type of cores. */
struct core_longest {
	uint64_t *total_ns, *delta_ns; /* [thread * n_types + type] */
	size_t n_types, n_counted, n_threads;
};

struct cell_layout {
	const struct count_backend *backend;
	const void *data;
	struct cell *cells; /* by event, CPU, thread */
	size_t n_cells;
	size_t *cell_base; /* by event: index of its first cell */
	struct slices *slices; /* by cell; NULL until they are kept */
	struct pool *pools; /* by value; as long as slices */
	struct core_longest longest;

	struct intset cpus; /* of the target and of PMUs with CPUs of their own */
	struct intset stopped_cpus;
	size_t *cpu_keys, *core_keys; /* by index into cpus; NULL where not needed */
	size_t *thread_keys; /* by thread of the current run's target */
	size_t n_threads;
	struct topology topology;
	bool has_topology;

	struct never_ran_answer *never_ran; /* by row */
};

/* ---- aggr_keys.c ---- */
/* Makes the keys that the events and the target need and that are not there yet. -errno: topology. */
int keys_update(struct aggregation *agg, const struct target *target, struct str *err);
void keys_release(struct aggregation *agg);
/* Returns the key that a row's cell of one CPU (-1: any) and thread belongs to. */
size_t key_of_cell(const struct aggregation *agg, const struct event_row *row,
		   const struct counted_event *counted, int cpu, size_t thread);
/* Returns the key of events that no backend counts. */
size_t key_of_clock(const struct aggregation *agg);
/* The same for all CPUs of a package; -1 where the topology is not known. */
int64_t package_of_cpu(const struct aggregation *agg, int cpu);

#endif
