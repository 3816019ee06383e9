/* SPDX-License-Identifier: MIT */
/*
 * count: the engine of counting, from readings to values. It prints nothing, and neither signals nor exits are its
 * business: pstat stat is one client of it, the library (libpstat.h, lib.h) another.
 *
 *   backend --readings--> cells --scaled, summed--> values, by event row and key
 *
 * A backend hands over readings: of counters that are open (perf.c), or of a recording (recorded.c). A cell is a
 * counter on one CPU and thread: it keeps its last raw reading, so that an interval is a difference. A key says where
 * cells are added up: a CPU, a core, ..., a thread, or all there is. An event row is one event, or several that are
 * counted as one (the same event on several PMUs). A value that is not whole says why (missing.c), and one that is
 * scaled how far it may be off (estimate.h).
 */
#ifndef PSTAT_COUNT_H
#define PSTAT_COUNT_H

#include "count/estimate.h"
#include "kern/kern.h"

/* ---- pure arithmetic (perf_event_open(2), "multiplexing") ---- */

static inline uint64_t add_saturating(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline uint64_t positive_difference(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* value * enabled / running, rounded to nearest, in 128 bits; saturates. running must not be 0. */
uint64_t scale_count(uint64_t value, uint64_t enabled_ns, uint64_t running_ns);

/*
 * On a machine with several core types (x86 hybrid, big.LITTLE) a task's counter can run only where its
 * PMU is, but its enabled time passes everywhere. How long it could have run is how long the task was
 * on that type of core: the longest that any counter of the task ran there.
 */
enum core_time {
	CORE_TIME_KNOWN,
	CORE_TIME_UNSEEN, /* nothing is counted on the other types: where the task was is not known */
	CORE_TIME_GAPS, /* the types' times do not add up to the enabled time: none was seen whole */
};
/*
 * longest_ns: by core type, the longest running time of any of the task's counters; 0 where it has none.
 * n_counted: types that have counters. KNOWN: *on_type_ns is the time on `type`.
 */
enum core_time core_time_of(const uint64_t *longest_ns, size_t n_types, size_t n_counted, size_t type,
			    uint64_t enabled_ns, uint64_t *on_type_ns);

/* ---- backends: who counts ---- */

/* One event as it is counted. All but the numbers is borrowed from the backend. */
struct counted_event {
	const struct event *event;
	const struct perf_event_attr *attr; /* as opened */
	const char *name; /* as opened: with :u where only user mode could be had */
	enum counter_state state;
	const char *reason; /* COUNTER_NOT_SUPPORTED; or NULL */
	const struct intset *cpus; /* of its cells; n 0: one column of them, on any CPU */
	size_t n_threads; /* cells of each column: the target's threads, or 1 for all of them */
	size_t leader; /* as opened */
	unsigned pass; /* events of different passes are not counted at the same time */
	/*
	 * The type of cores that it counts on, numbered from 0, where a task may also run on others and
	 * the kernel does not say when; NO_CORE_TYPE: it counts wherever its CPUs and threads are.
	 */
	size_t core_type;
};
#define NO_CORE_TYPE SIZE_MAX

/* A backend of counts. To add one: a file that ends in such a row. Members that are NULL are not there. */
struct count_backend {
	const char *name;
	/* Describes all events, as many as the aggregation has, in its order. */
	void (*describe)(const void *data, struct counted_event *events);
	/* Hands over what all open cells have counted since they were opened. */
	void (*read)(const void *data, reading_fn fn, void *to);
	/* -errno with a sentence. */
	int (*topology)(const void *data, struct topology *topology, struct str *err);
	/* AGGR_CACHE: adds the caches of this level (0: the highest) to the topology; the same. */
	int (*caches)(const void *data, struct topology *topology, int level, struct str *err);
	/* Adds CPUs whose cells have stopped for good. */
	void (*stopped_cpus)(const void *data, struct intset *cpus);
	/* Why an open event never ran: heap text, or NULL where nothing is known beyond the times. */
	char *(*never_ran_reason)(const void *data, size_t index, const struct reading *sum);
	/* Why counters were taken away: text of data's, good until the next read. */
	const char *(*removed_reason)(const void *data);
	const char *unread; /* why an open event has no reading at all */
};
extern const struct count_backend count_backend_perf; /* perf.c; data: struct counter_set */

/* ---- keys ---- */

enum aggr_mode {
	AGGR_TOTAL, /* all in one */
	AGGR_CPU, /* -A */
	AGGR_CORE,
	AGGR_CLUSTER,
	AGGR_CACHE,
	AGGR_DIE,
	AGGR_SOCKET,
	AGGR_NODE,
	AGGR_THREAD,
};

/* A key: cells with the same one are added up. Parts that the mode does not keep are 0. */
struct aggr_key {
	enum aggr_mode mode; /* percore: AGGR_CORE among those of AGGR_CPU */
	bool rest; /* for what belongs to no CPU or thread; the only one of AGGR_TOTAL */
	int node, socket, die, cluster, cache_level, cache, core, cpu;
	int thread; /* its tid; of a command, which has another each time: its number */
	/* The thread and its name, for printing; no part of the key. */
	pid_t tid;
	char comm[16]; /* raw bytes, as the kernel has them */
};

/* ---- values ---- */

enum count_state {
	COUNT_OK,
	COUNT_NOT_COUNTED, /* it was open and never ran */
	COUNT_NOT_SUPPORTED, /* it could not be opened */
};

/* Sum of the cells of one event row at one key. */
struct count_sum {
	uint64_t value; /* scaled per cell, then summed (raw without scaling) */
	/* Sums over the cells. Enabled time is without `elsewhere`, where that is known. */
	uint64_t enabled_ns, running_ns;
	uint64_t elsewhere_ns; /* enabled, while the task was on another type of core */
	uint32_t cells, cells_scaled;
	uint32_t cells_never_ran, cells_failed, cells_lost_pin;
	uint32_t cells_stopped; /* with their CPU, which went offline: what came before is counted */
	uint32_t cells_left_tasks; /* children or new threads ran that are not counted: struct reading, others_ran */
	uint32_t cells_removed; /* the kernel took their counter away before the end: what came before is counted */
	uint64_t missed_ns; /* CPU time that these did not see */
	uint32_t cells_unverified; /* whether they saw all is not known */
	uint32_t cells_unseen, cells_gaps; /* not scaled, although they did not run all the time: enum core_time */
	struct evidence evidence; /* of how sure scaled values are */
};

struct run_value {
	unsigned run; /* from 0 */
	uint64_t value;
};

/*
 * Sum of all reads of all runs, each scaled by itself: it never falls, as an estimate for the whole time may do from
 * one read to the next. A cell that was enabled and did not run adds nothing, and its time is carried: what it counts
 * next stands for that time, too.
 */
struct read_sum {
	uint64_t value;
	uint64_t enabled_ns, running_ns;
};

struct aggr_value {
	struct count_sum total, delta; /* since counting began; since the read before */
	struct read_sum summed; /* with aggregation_options.sum_reads */
	bool is_open; /* a cell of the current run is read into it */
	unsigned n_unsupported; /* cells that should be, and could not be opened */
	unsigned n_cpus; /* of the row's first event */
	/* Over the runs that ended. */
	struct count_sum all_runs; /* value is 0: see below */
	unsigned n_runs; /* in which it had cells */
	struct run_value *runs; /* in which it ran: each one's total */
	size_t n_run_values, runs_cap;
};

struct event_row {
	size_t first; /* index of its first event, which gives name, unit and scale */
	size_t n_events;
	size_t n_unsupported; /* of its events */
	bool by_core; /* percore: with AGGR_CPU its keys are cores */
	int read_err; /* errno of the last cell that could not be read */
};

/* Wall clock and the command's times for one read, in ns: events that no backend counts. */
struct count_clock {
	uint64_t elapsed_ns; /* since counting began, or since the last interval */
	uint64_t user_ns, system_ns;
	bool has_usage;
};

struct aggregation_options {
	enum aggr_mode mode;
	int cache_level; /* AGGR_CACHE; 0: the highest that a CPU has */
	bool scale;
	bool merge; /* PMUs of a kind share a row */
	bool hybrid_merge; /* core types share a row */
	bool keep_runs; /* every run's values; memory grows with values x runs */
	bool sum_reads; /* aggr_value.summed is kept */
};

/*
 * Rows are fixed for its life. Keys only grow, at the end, so that what earlier runs counted stays where
 * it is; keys[0] is the rest. Cells, and what values say of them, belong to the current run.
 */
struct aggregation {
	const struct event_list *events; /* borrowed */
	struct aggregation_options options;
	struct event_row *rows;
	size_t n_rows;
	size_t *row_of; /* by event */
	struct aggr_key *keys;
	size_t n_keys, keys_cap;
	size_t *key_order; /* CPUs and what they belong to ascending; the rest comes last */
	struct aggr_value *values; /* [key * n_rows + row] */
	/* The current run: */
	struct counted_event *counted; /* by event */
	enum target_kind target_kind;
	bool core_wide; /* known where an event is of this kind */
	unsigned n_runs; /* that ended */
	struct cell_layout *layout; /* private */
};

/* Events stay as they are for its life. */
struct aggregation *aggregation_new(const struct event_list *events,
				    const struct aggregation_options *options);
void aggregation_free(struct aggregation *agg);
/*
 * Takes the counters of a run. backend, data and what they lend stay until the last question about this run;
 * the target only during the call. -errno with a sentence: the topology is needed and not there.
 */
int aggregation_attach(struct aggregation *agg, const struct count_backend *backend, const void *data,
		       const struct target *target, struct str *err);

static inline size_t aggregation_n_values(const struct aggregation *agg)
{
	return agg->n_keys * agg->n_rows;
}

static inline struct aggr_value *aggregation_value(const struct aggregation *agg, size_t row, size_t key)
{
	return &agg->values[key * agg->n_rows + row];
}

/*
 * Reads all cells now: totals, and the differences to the read before. Takes no memory: what a read needs
 * was laid out by aggregation_attach(). `also`, if it is not NULL, hears every reading, and the clocks as one
 * cell on no CPU.
 */
void aggregation_read(struct aggregation *agg, const struct count_clock *since_start,
		      const struct count_clock *since_last, reading_fn also, void *also_data);
/* Asks which CPUs went offline, so that later reads mark what stopped with them: while all is enabled. */
void aggregation_find_stopped(struct aggregation *agg);
/* A run is over: its totals enter the sums over runs. */
void aggregation_end_run(struct aggregation *agg);

/* The key of the core that a CPU is in, where events are percore; SIZE_MAX: not one of theirs. */
size_t aggregation_core_key(const struct aggregation *agg, int cpu);

/* The parts of aggregation_read(), for readings that come from elsewhere. */
void aggregation_begin_read(struct aggregation *agg);
/* A reading_fn. */
void aggregation_take(void *agg, size_t index, int cpu, size_t thread, const struct reading *reading);
void aggregation_end_read(struct aggregation *agg, const struct count_clock *since_start,
			  const struct count_clock *since_last, reading_fn also, void *also_data);

/*
 * From now on reads are kept as slices, from which the error of scaled values is estimated. Cells have been
 * read at most by aggregation_read_slices() before.
 */
void aggregation_keep_slices(struct aggregation *agg);
/*
 * Reads all cells for nothing but the slices. Returns the least share of its enabled time that any of those that
 * ever ran has run; 1: none takes turns.
 */
double aggregation_read_slices(struct aggregation *agg);

/* ---- missing.c: why a value is missing, or less than the truth ---- */

enum count_state count_state(const struct aggr_value *value, const struct count_sum *sum);
/*
 * A few words into *text, which is emptied first: of a value that is not there why not; of one that is, what
 * makes it a lower bound. Empty: nothing is known, or nothing is missing. May have to ask the machine, once for each
 * row and kind of idleness. Returns whether something is missing: else the text, if there is one, says why the value
 * is not verified.
 */
bool aggregation_reason(struct aggregation *agg, size_t row, const struct aggr_value *value,
			const struct count_sum *sum, struct str *text);

struct cell_count {
	uint64_t value, enabled_ns, running_ns;
};

#include "count/recorded.h"

#endif
