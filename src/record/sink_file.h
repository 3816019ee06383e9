/* SPDX-License-Identifier: MIT */
/*
 * sink_file: the sink that writes perf.data: one file, or one after another where --switch-output asks for it, with the
 * build-ids of what was mapped and the times of the samples in it. Private to record/.
 *
 * What came is counted here, and so is what could not be written: the two make up all that was taken.
 *
 * A file after the first begins with all tasks that live and their maps, from a table that is kept for that
 * (task_table.h): so each names its samples without the others.
 */
#ifndef PSTAT_SINK_FILE_H
#define PSTAT_SINK_FILE_H

#include "record/record.h"
#include "record/sample_counts.h"
#include "record/task_table.h"

#include <pthread.h>
#include <stdatomic.h>

/* Numbers for others while it is written. */
struct sink_file_totals {
	uint64_t samples, lost, throttled, unthrottled;
	uint64_t not_written; /* samples */
	uint64_t bytes; /* of all files */
	uint64_t opened_ns; /* when the present file began */
	unsigned files;
};

/*
 * The end of a file is a moment, not a place in the stream. Rings are read one after the other, so a sample may come
 * before the older record that says what ran there. Both have to be in one file, or the file cannot name the sample.
 * So records that are not newer than the moment still go into the file that ends, and newer ones wait, until two
 * rounds have ended: then nothing older comes.
 */
struct file_cut {
	bool on; /* the moment has been chosen, the next file is not open yet */
	uint64_t until_ns; /* the moment: the last that belongs to the file that ends */
	unsigned rounds; /* that have ended since then */
	struct str later; /* the records that wait */
	struct str now; /* those of the last call that do not */
};

struct finished_file {
	char *path;
	struct inode inode;
};

struct sink_file {
	struct record_sink sink; /* first: what tells it is given this */
	const struct record_plan *plan;
	const struct recording_info *recording; /* borrowed */
	struct info *info; /* borrowed: what is known only now goes into it */
	struct buildid_set *build_ids; /* NULL: none are wanted */
	struct task_table *tasks; /* NULL: there will be one file */
	struct file_cut cut; /* to the next file */
	struct decoder decoder;
	struct writer writer;
	bool is_open, has_begun;
	const uint8_t **strays; /* records of a call that have a stray bit: see learn() */
	size_t n_strays, cap_strays;
	struct str mended; /* the records of that call without these bits */
	struct sample_counts file; /* what was written */
	struct sample_counts dropped; /* what could not be written */
	struct sample_counts total; /* of the files before this one, and of all at the end */
	uint64_t bytes_before; /* in the files before this one */
	uint64_t beginning_bytes; /* header and what ran already: any other file begins like that */
	uint64_t opened_ns;
	unsigned n_files;
	struct finished_file *kept; /* of --switch-output, the oldest first */
	size_t n_kept, kept_cap;
	char *last_path; /* of the last finished file, or where it was written to */
	int last_fd; /* open on it; -1: there is none */
	bool full; /* --max-size was reached: samples that come now are left out */
	int failed; /* the first failure while writing; its sentence is in why */
	struct str why;
	int wake_fd; /* an eventfd, written when it is full; borrowed */
	atomic_bool is_full; /* for other threads */
	atomic_size_t mapped_files; /* whose build-ids are wanted, so far; for other threads */
	pthread_mutex_t lock; /* for shown */
	struct sink_file_totals shown; /* as of the last flush */
	/* --tail-synthesize: tells what runs, at the end of each file but the last, which is told it; or NULL */
	int (*synth)(void *data, struct record_sink *to, struct str *err);
	void *data;
};

/* Sets all up, opens nothing; before the first record. Release it in every case; build_ids (or NULL) is its own. */
void sink_file_init(struct sink_file *file, const struct record_plan *plan,
		    const struct recording_info *recording, struct info *info, struct buildid_set *build_ids,
		    int wake_fd);
void sink_file_release(struct sink_file *file);
/* The file, without a record; what ran already is the first that it is told. */
int sink_file_open(struct sink_file *file, struct str *err);
/* Called when it has all that ran already: it is readable from now on, and grows by what is recorded. */
int sink_file_begun(struct sink_file *file, struct str *err);
/*
 * Records that are not newer than the newest sample so far belong to this file, others to the next one, which
 * begins when two rounds have ended, or with sink_file_switch. data: the sink_file. Always 0.
 */
int sink_file_cut(void *data, struct str *err);
/* Ends this file, gives it its time as a name, and begins the next; nothing if that happened since the cut. */
int sink_file_switch(void *data, struct str *err);
/* Both may be called by any thread. */
void sink_file_count(struct sink_file *file, struct sink_file_totals *totals);
bool sink_file_is_full(struct sink_file *file);

#endif
