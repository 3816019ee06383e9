/* SPDX-License-Identifier: MIT */
/*
 * spool_folder: files of profiles, one after another, and an index of them, in a folder that stays within its limits,
 * for other programs to ship and to query. Private to cmd/.
 *
 *   DIR/v1/2026-11-26/22/20261126T221753Z_HOST_BOOT_00000012.pb.gz    a file; date, hour and time are UTC
 *   DIR/v1/2026-11-26/22/index.jsonl                                  a line of JSON for each file of the hour
 *   DIR/v1/lock                                                       locked (flock(2)) by whoever changes something
 *
 * Files and indexes are written beside their place, synced, and renamed: what has its name is whole. A file comes
 * before its line; a line without a file goes with the next change of the hour, a file without a line gets one.
 *
 * Only regular files whose names have this form are ever counted or removed, the oldest first, and links are not
 * followed below DIR. Any number of writers may share a DIR, each with limits of its own.
 */
#ifndef PSTAT_SPOOL_FOLDER_H
#define PSTAT_SPOOL_FOLDER_H

#include "util/util.h"

struct spool_options {
	const char *path; /* DIR, which is made where it is not there; links to it are followed */
	const char *host, *boot_id; /* as the system has them; made safe here */
	uint64_t max_bytes; /* of all files together; 0: no limit */
	uint64_t max_age_ns; /* since a file's time; 0: no limit */
};

/* One moment by the time of day, which may be set, and by a clock that is not (CLOCK_BOOTTIME). */
struct spool_moment {
	uint64_t wall_ns, steady_ns;
};

struct spool_hour; /* spool_folder.c */
struct spool_folder {
	struct spool_options options;
	int v1, lock; /* descriptors; -1: not open */
	char host[65], boot[33]; /* as in names */
	uint64_t seq; /* of the last file of this host and boot */
	uint64_t last_s; /* time in the last name: names go back in time no more than files do */
	struct spool_moment begun; /* ages are counted from here on by the steady clock */
	struct spool_hour *hours; /* the oldest first, as they were when they were counted */
	size_t n_hours, cap_hours;
};

/*
 * Opens DIR, removes what an ended writer has left half written, and what is over the limits. 0, or a negative errno
 * with a sentence that names DIR. Close it in every case.
 */
int spool_folder_open(struct spool_folder *folder, const struct spool_options *options,
		      const struct spool_moment *now, struct str *err);
void spool_folder_close(struct spool_folder *folder);

/*
 * Writes a file that has lasted duration_ns until now, and its line, after older ones have made room. facts: more
 * members of the line, as ,"name":value each. -EFBIG: it alone is over the limit. Errors as above; after one, there is
 * no such file, or it has a line without facts.
 */
int spool_folder_put(struct spool_folder *folder, const struct str *bytes, uint64_t duration_ns, const char *facts,
		     const struct spool_moment *now, struct str *err);

#endif
