/* SPDX-License-Identifier: MIT */
/*
 * profile_options: what the command line of `pstat profile` says: the words of record, those of report, and its own.
 * Filled by the rows in profile_options.c. Private to cmd/.
 */
#ifndef PSTAT_PROFILE_OPTIONS_H
#define PSTAT_PROFILE_OPTIONS_H

#include "cmd/record_options.h"
#include "cmd/report_options.h"

struct profile_words {
	struct recording_words record; /* first: option functions of record and of events take it */
	struct report_words report;
	uint64_t interval_ns; /* -i: from one output to the next; 0: one at the end */
	const char *spool; /* --spool: DIR; NULL: there is none */
	uint64_t spool_max_bytes, spool_max_age_ns; /* 0: no limit */
	unsigned stacks_max; /* --stack-storage-size; 0: not given */
	bool bpf; /* --engine bpf */
	bool idle; /* -I */
	bool sampled; /* there are other events than waits */
	bool own_only; /* no target was named, and this user may sample processes of its own alone */
};

void profile_words_init(struct profile_words *words, const struct kern *kern);
void profile_words_release(struct profile_words *words);
/* Defaults, and what does not go together: 0, or an exit status after a message. */
int profile_words_complete(struct profile_words *words);

#endif
