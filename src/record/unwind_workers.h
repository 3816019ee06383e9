/* SPDX-License-Identifier: MIT */
/*
 * unwind_workers: threads that unwind samples, each with an unwinder and files of its own: what they share is a
 * queue. Private to record/.
 *
 *   give --> queue --> worker: decode, unwind, encode --> done --> take_done
 *
 * Jobs wake as few workers as there is work for: they are given in batches, and taken in batches.
 */
#ifndef PSTAT_UNWIND_WORKERS_H
#define PSTAT_UNWIND_WORKERS_H

#include "record/unwind_files.h"
#include "record/unwound.h"

/* One sample. The worker's between give and take_done. */
struct unwind_job {
	struct unwind_job *next;
	uint64_t ticket; /* of the stage */
	struct str record; /* in: as unwound_trim made it */
	struct address_space_snapshot *space; /* in: the job's; NULL: no maps are known */
	bool knows_code; /* in: as in struct unwind_input */
	uint64_t time_ns; /* in: of the sample */
	bool look_only; /* no sample: the file `dso` is to be opened */
	uint32_t dso;
	struct str out; /* the sample as the file has it; empty: it made no sense */
	size_t index; /* the stage's own */
};

struct unwind_workers_options {
	size_t n;
	const struct events *recorded, *written; /* borrowed */
	const char *arch; /* as unwind_open has it */
	struct unwind_files *files; /* borrowed */
	bool no_cache; /* rows of large files are made, and not taken from the user's cache nor kept there */
	unsigned slow_us; /* so long a job is slept over, for tests */
};

struct unwind_workers;
/* The threads. Signals must be blocked. NULL with a sentence. */
struct unwind_workers *unwind_workers_new(const struct unwind_workers_options *options, struct str *err);
/* Ends them, with what they have and is not done. NULL is nothing. */
void unwind_workers_free(struct unwind_workers *workers);

/* A list of jobs, linked by next. */
void unwind_workers_give(struct unwind_workers *workers, struct unwind_job *first, struct unwind_job *last, size_t n);
/* All that are done, as a list; wait: until there are any, which is for those who know that some were given. */
struct unwind_job *unwind_workers_take_done(struct unwind_workers *workers, bool wait);

/* Counts of the samples that all threads have unwound so far. */
struct unwind_workers_counts {
	uint64_t chains[CHAIN_ENDS]; /* by enum chain_end */
	uint64_t guessed; /* of these, with a caller that was found by the frame pointer */
};
void unwind_workers_count(struct unwind_workers *workers, struct unwind_workers_counts *counts);

#endif
