/* SPDX-License-Identifier: MIT */
/*
 * sample_cells: one cell per distinct combination of the facts that are kept of samples, with how often and with how
 * much period it came. Read by including profile.h.
 */
#ifndef PSTAT_SAMPLE_CELLS_H
#define PSTAT_SAMPLE_CELLS_H

#include "util/util.h"

enum sample_fact {
	FACT_COMM,
	FACT_PID, /* << 32, and which of the processes that had it */
	FACT_TID, /* likewise */
	FACT_CPU,
	FACT_TIME, /* number of its time quantum */
	FACT_BUCKET, /* of time, one of PROFILE_BUCKETS that grow with the recording: profile.bucket_ns */
	FACT_LOCATION, /* of the ip; in branch view of the branch's target */
	FACT_STACK, /* session_stack */
	FACT_FROM,
	FACT_TO,
	FACT_BRANCH_FLAGS,
	FACT_BRANCH_CYCLES, /* branch view: one cell an entry */
	FACT_BLOCK_START, /* likewise: where the branch before it went to; LOCATION_NONE: not known */
	FACT_DATA_LOCATION,
	FACT_DATA_ADDR,
	FACT_DATA_SRC,
	FACT_WEIGHT,
	FACT_INS_LAT,
	FACT_P_STAGE_CYC,
	FACT_PHYS_ADDR,
	FACT_DATA_PAGE_SIZE,
	FACT_CODE_PAGE_SIZE,
	FACT_TRANSACTION,
	FACT_CGROUP, /* PERF_SAMPLE_CGROUP's id */
	FACT_CGROUP_DEV,
	FACT_CGROUP_INO, /* of the thread's namespace */
	FACT_TRACE, /* number of a distinct text in table.texts */
	FACT_MISC, /* cpumode, and MISC_EXACT_IP */
	FACT_STATE, /* enum task_state */
	FACT_PARALLELISM, /* threads on a CPU, itself among them */
	FACTS,
};
/* A sample is of a thread that runs, or that has been off the CPU: because it waited, or another one was to run. */
/* WAITING: nobody says whether for what a signal ends (SLEEPING), or what nothing else ends (DISK). */
enum task_state { TASK_RUNNING, TASK_WAITING, TASK_PREEMPTED, TASK_SLEEPING, TASK_DISK };
struct cell_values {
	uint64_t n_samples, period, weight;
};
struct cell_column {
	enum sample_fact fact;
	bool is_number; /* ids are the fact's values */
	uint32_t same; /* the id of all cells while ids is NULL */
	uint32_t *ids; /* of each cell */
	struct row_set distinct; /* values by id, where the fact is no number of something */
	uint64_t last_value; /* the last that was looked up */
	uint32_t last_id;
};
/*
 * Cells of one event. With eight columns (task, process, comm, stack, location, CPU, mode, time), a whole profile's, a
 * cell takes at most 56 bytes: 4 for each column whose cells differ, 24 for the sums.
 */
struct cells {
	uint8_t at[FACTS]; /* column of a fact; UINT8_MAX: not kept */
	struct cell_column columns[FACTS];
	unsigned n_facts; /* columns */
	struct cell_values *values;
	size_t n, cap;
	struct index ix;
};
void cells_init(struct cells *cells, uint64_t facts); /* bits 1 << FACT_* */
void cells_release(struct cells *cells);
/* The number of the cell. facts: all FACTS of them; those not kept are ignored. */
size_t cells_add(struct cells *cells, const uint64_t *facts, const struct cell_values *values);
/* A cell's value of a fact; 0: it is not kept. */
uint64_t cell_fact(const struct cells *cells, size_t cell, enum sample_fact fact);
static inline bool cells_have(const struct cells *cells, enum sample_fact fact)
{
	return cells->at[fact] != UINT8_MAX;
}

struct cell_renumbering {
	const uint32_t *v; /* the new number of each old one */
	size_t n; /* 0: numbers stay */
};
struct cell_moves {
	struct cell_renumbering renumbered[FACTS];
	unsigned bucket_shift; /* FACT_BUCKET is halved so many times */
	/*
	 * The eighths of all samples that go, each with its cell's mean period and weight: what is left is as if fewer
	 * had been taken. Cells give in turn, and what is less than one sample is carried on to the next cell and, in
	 * *carry, to the next move: no sum is off by more than a sample, however few samples its cells have. Cells
	 * without samples are left out. 0: all stay, and carry may be NULL.
	 */
	unsigned decay_eighths;
	uint64_t *carry; /* eighths of a sample; 0 at first */
};
/*
 * `to`, which need not be initialized, becomes the cells of `from` as moved, with these of their facts; those that then
 * agree are one.
 */
void cells_move(struct cells *to, const struct cells *from, uint64_t facts, const struct cell_moves *moves);
uint64_t cells_facts(const struct cells *cells); /* the bits of those that are kept */

#endif
