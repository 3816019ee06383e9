/* SPDX-License-Identifier: MIT */
/*
 * unwind_stage: stacks are unwound while they are recorded. Private to record/.
 *
 *	sample --trimmed copy--> job ---------------------.              workers (unwind_workers.h)
 *	   `-- brief copy ------> replay --in order of time--> snapshot of its maps --> chain --> collect
 *	MMAP, FORK, EXEC ------>   '
 *
 * A sample that cannot be decoded is left out, and counted in stage.lost: its form is not the one that the file says.
 * Another one is unwound with the maps of its time: what tasks did is followed in the order of time, by rounds, as
 * those who read the file do it; so a sample waits for two rounds. Where too much waits (stages.h), the older half
 * goes to the workers early.
 */
#ifndef PSTAT_UNWIND_STAGE_H
#define PSTAT_UNWIND_STAGE_H

#include "record/stages.h"
#include "record/unwind_workers.h"

struct unwind_stage;

struct unwind_stage_options {
	const char *procfs;
	const char *arch;
	struct unwind_clock clock;
	uint64_t user_regs; /* registers that the file is to have all the same */
	size_t n_workers; /* 0: as many as are of use here */
	size_t held_bytes; /* of samples that wait, at most; 0: 4,096 dumps of the largest size, at least 32 MiB */
	bool no_cache; /* see unwind_workers_options */
	unsigned slow_us; /* see unwind_workers_options */
};

/*
 * recorded and what options point to are borrowed. NULL: none of the events has stacks to unwind, or, with a
 * sentence, there is no thread.
 */
struct unwind_stage *unwind_stage_new(const struct events *recorded, const struct unwind_stage_options *options,
				      struct str *err);
/* After its stage. NULL is nothing. */
void unwind_stage_free(struct unwind_stage *unwind);
/* The events of what comes out. */
const struct events *unwind_stage_written(const struct unwind_stage *unwind);
/* The stage before `next`, which is the caller's to tell; it goes with unwind. */
struct stage *unwind_stage_begin(struct unwind_stage *unwind, struct record_sink *next);
/* How the chains of all samples so far ended; by any thread. */
void unwind_stage_count(struct unwind_stage *unwind, struct unwind_workers_counts *counts);

#endif
