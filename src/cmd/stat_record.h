/* SPDX-License-Identifier: MIT */
/*
 * stat_record: what `pstat stat record` keeps: every reading of a run, in a perf.data file or a pipe.
 * Private to cmd/.
 *
 *   HEADER_FEATURE... EVENT_UPDATE... THREAD_MAP CPU_MAP STAT_CONFIG | STAT... STAT_ROUND | STAT... ...
 *
 * A STAT record holds what one counter has counted since it was opened, as read: neither scaled nor a
 * difference. The file is whole after every round.
 */
#ifndef PSTAT_STAT_RECORD_H
#define PSTAT_STAT_RECORD_H

#include "cmd/stat_options.h"
#include "data/data.h"
#include "stat/stat.h"

struct stat_record {
	const struct stat_words *words;
	int argc; /* pstat's own command line, for the header */
	char *const *argv;
	const struct counter_set *set;
	const struct target *target;
	struct events events; /* in the set's order, all of it */
	struct info info;
	uint64_t **ids; /* by counter and cell; 0: not open */
	size_t n_counters;
	struct writer writer;
	bool opened; /* the writer was */
	int failed; /* while writing; its sentence was given to the run */
	struct str err; /* of `failed`, until the round ends */
};

void stat_record_init(struct stat_record *record, const struct stat_words *words, int argc,
		      char *const *argv);
/* The tap for a run's plan; record must outlive the run. */
struct stat_tap stat_record_tap(struct stat_record *record);
/* The end: the file gets its features. 0, or a negative errno with a sentence. Releases all. */
int stat_record_end(struct stat_record *record, struct str *err);

#endif
