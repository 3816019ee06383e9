/*
 * outfile: what all drains hand their records to: the recording being written, with its build-ids, its
 * totals and its round marks, and the next file where --switch-output asks for one. Private to record/.
 *
 * Round marks: a reader of the file sorts what it has by time whenever it meets one, and relies on
 * this: nothing behind mark N+1 is older than the newest record before mark N. So a mark may be
 * written when every drain has completed a pass that it began after the last mark.
 */
#ifndef PSTAT_OUTFILE_H
#define PSTAT_OUTFILE_H

#include "record/drain.h"
#include "record/record.h"

#include <pthread.h>

/* One drain's side of it: the data of its calls. */
struct outfile_drain {
	struct outfile *out;
	uint64_t pass_round; /* the round in which its present pass began */
	uint64_t done_round; /* it has completed a pass that began in the round before this one */
	struct outfile_drain *next; /* of the same file */
};

struct outfile {
	pthread_mutex_t lock; /* for all below, as soon as drains run */
	const struct record_plan *plan;
	const struct target *target;
	const struct events *events; /* borrowed */
	const struct data_event *tracking; /* whose layout records about tasks have */
	struct info *info; /* borrowed */
	struct buildid_set *build_ids; /* NULL: none are wanted */
	struct decoder decoder;
	struct writer writer;
	bool is_open;
	struct tally file; /* what is in the file */
	struct tally pending; /* what is in the writer's buffer */
	struct tally dropped; /* what could not be written */
	struct tally total; /* of the files before this one, and of all at the end */
	uint64_t bytes_before; /* in the files before this one */
	uint64_t opened_ns; /* when this file began */
	uint64_t beginning_bytes; /* header and what ran already: any other file begins like that */
	unsigned n_files;
	char **kept; /* finished files of --switch-output, the oldest first */
	size_t n_kept, kept_cap;
	char *last_path; /* of the last finished file */

	struct outfile_drain *drains;
	bool snapshots; /* overwrite rings: what they hold is marked by snapshots only */
	uint64_t round;
	bool unmarked; /* records were written since the last mark */

	bool full; /* --max-size was reached: what comes now is left out */
	int failed; /* the first failure while writing; its sentence is in why */
	struct str why;
};

/* Before the first file: sets all up, opens nothing. Release it in every case. */
void outfile_init(struct outfile *out, const struct record_plan *plan, const struct target *target,
		  const struct events *events, struct info *info);
void outfile_release(struct outfile *out);
/* Makes this drain one of the file's. */
void outfile_add_drain(struct outfile *out, struct outfile_drain *side, struct drain *drain);
/* A drain that takes snapshots: it is not waited for, and each of its passes ends in a mark. */
void outfile_add_snapshots(struct outfile *out, struct outfile_drain *side, struct drain *drain);

/* The file, with what already runs in it unless that is to come last. */
int outfile_open(struct outfile *out, struct str *err);
/* Losses of one event that no record told of yet (PERF_FORMAT_LOST). */
int outfile_add_lost(struct outfile *out, size_t index, uint64_t lost, struct str *err);
/* What was taken so far into the file, so that a kill costs nothing of it. */
int outfile_flush(struct outfile *out, struct str *err);
/* Bytes of the present file beyond its beginning: header and what ran already. */
uint64_t outfile_bytes(struct outfile *out);
/* Ends this file, gives it its time as a name, and begins the next. */
int outfile_switch(struct outfile *out, struct str *err);
/* outfile_date.c: the finished file gets its time as a name. 0, or -errno with a sentence. */
int outfile_give_date(struct outfile *out, struct str *err);
/* The end: the file is whole. Also after a failure, as far as it goes. */
int outfile_finish(struct outfile *out, struct str *err);

#endif
