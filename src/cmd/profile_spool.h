/* SPDX-License-Identifier: MIT */
/*
 * profile_spool: the outputs of `pstat profile --spool`, each a file of a spool folder with a line that says what is in
 * it. Private to cmd/.
 */
#ifndef PSTAT_PROFILE_SPOOL_H
#define PSTAT_PROFILE_SPOOL_H

#include "cmd/profile_options.h"
#include "cmd/spool_folder.h"
#include "cmd/top_status.h"

struct profile_spool {
	struct spool_folder folder;
	struct sample_losses losses; /* when the last output was made */
	uint64_t samples; /* likewise */
	uint64_t n_files, n_bytes; /* that were written */
	uint64_t n_failed, n_failed_now; /* outputs that could not be: of all, and since the last file */
};

/* 0, or an exit status after a message. Close it in every case. */
int profile_spool_open(struct profile_spool *spool, const struct profile_words *words);
/*
 * Gives the interval, whose table is made next, its times by now_ns(), which is the samples' clock, and the time of day
 * as it is set now.
 */
void profile_spool_set_times(struct profile *profile, struct live_source *live, uint64_t from_ns, uint64_t to_ns);
/* Writes the table of an interval. What is said of failures is said once for those in a row; measuring goes on. */
void profile_spool_put(struct profile_spool *spool, const struct report_format *format, struct table *table,
		       const struct top_status *status, uint64_t duration_ns);
/* "[ spool: 3 files, 12.5 kB in DIR ]" */
void profile_spool_add_closing(const struct profile_spool *spool, struct str *out);
void profile_spool_close(struct profile_spool *spool);

#endif
