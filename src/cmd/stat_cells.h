/*
 * stat_cells: the counts of a recording as they come: which events, CPUs and threads there are, and the
 * last reading of each cell. Private to cmd/.
 *
 *   EVENT_UPDATE THREAD_MAP CPU_MAP STAT_CONFIG -> the shape | STAT -> a cell | STAT_ROUND -> all at once
 *
 * A cell is an event on a CPU (or on any CPU) for a thread (or for all). Its readings are totals since
 * counting began; one that is not read again keeps its last.
 */
#ifndef PSTAT_STAT_CELLS_H
#define PSTAT_STAT_CELLS_H

#include "data/data.h"
#include "stat/stat.h"

struct stat_cell {
	uint64_t value, enabled_ns, running_ns;
	bool seen;
};

struct stat_cells {
	/* The shape, fixed by the first STAT record. */
	bool fixed;
	struct intset cpus; /* columns; the last column, behind them, is "any CPU" */
	struct target_thread *threads;
	size_t n_threads, n_events;
	bool has_cpus, has_threads; /* a map of them came */
	/* Of STAT_CONFIG. */
	uint64_t aggr_mode, interval_ms, scale;
	bool has_config;
	struct stat_cell *v; /* by event, column, thread */
	uint64_t n_strays; /* counts of events, CPUs or threads that are not in the maps */
};

void stat_cells_init(struct stat_cells *cells);
void stat_cells_release(struct stat_cells *cells);
/*
 * THREAD_MAP, CPU_MAP, STAT_CONFIG and STAT; others are passed over. -EINVAL, -E2BIG with a sentence
 * where the counts have no sensible shape.
 */
int stat_cells_take(struct stat_cells *cells, const struct events *events,
		    const struct record_body *body, struct str *err);

/* How the recorder added up: aggr_mode as the recorder of that version numbers it. */
enum stat_aggr stat_cells_aggr(const struct stat_cells *cells, const char *version);

/* What a replay needs; all of it is empty at first, and released by stat_replay_set_release. */
struct stat_replay_set {
	struct event_list events;
	struct counter_set set;
	struct target target;
};
/* Events, counters and target as far as there are cells; info: of the recording's header. */
void stat_cells_describe(const struct stat_cells *cells, const struct events *events,
			 const struct info *info, struct stat_replay_set *to);
void stat_replay_set_release(struct stat_replay_set *set);
/* All cells that were ever read, into the replay's round. */
void stat_cells_replay(const struct stat_cells *cells, struct stat_replay *replay);

#endif
