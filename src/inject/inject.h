/* SPDX-License-Identifier: MIT */
/*
 * inject: a recording is written anew with more in it, or with less: build-ids of what was sampled, code that was made
 * at run time as ELF files, waits as samples, callchains in place of copies of stacks.
 *
 *	reader -> replay, by time -> one record at a time: as it is, changed, left out, or others before it -> writer
 *
 * Replay knows what was mapped when a sample was taken, so all changes are made behind it, and what is written is in
 * the order of time. What no change is about keeps its bytes.
 */
#ifndef PSTAT_INJECT_H
#define PSTAT_INJECT_H

#include "data/data.h"
#include "profile/profile.h"

struct inject_options {
	const char *output; /* "-": standard output, in the layout of pipes */
	bool build_ids; /* of what samples are in */
	bool all_build_ids; /* of all that was mapped */
	bool map_build_ids; /* the same in the records of the mappings, in place of device and inode */
	bool used_maps; /* mappings of files without samples are left out; those that stay get build-ids likewise */
	const char *known_build_ids; /* "BUILDID PATH[,BUILDID PATH...]", before what files say; NULL: none */
	bool waits; /* sched_stat_* and the sched_switch before it become one sample */
	bool jit; /* code in dumps of run-time compilers becomes ELF files beside them, and mappings of these */
	bool chains; /* sampled stacks become callchains */
	struct sym_options sym;
	void (*progress)(void *context, double part); /* NULL: nobody wants to know */
	void *progress_context;
};

struct inject_result {
	uint64_t records, bytes; /* that were written */
	struct note_list notes; /* the caller releases it */
};

/*
 * Reads all of the recording and writes the other. 0; -EINVAL: the options are wrong, or the recording cannot be
 * written anew; another negative errno with a sentence. What was read by then is in the output all the same, if it was
 * begun. Invalid records are left out, with a note, and counted in *broken.
 */
int inject_run(struct reader *reader, const struct inject_options *options, struct inject_result *result,
	       uint64_t *broken, struct str *err);

#endif
