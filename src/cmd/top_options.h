/* SPDX-License-Identifier: MIT */
/*
 * top_options: what the command line of `pstat top` says: the words of record, those of report, and its own. Filled
 * by the rows in top_options.c. Private to cmd/.
 */
#ifndef PSTAT_TOP_OPTIONS_H
#define PSTAT_TOP_OPTIONS_H

#include "cmd/record_options.h"
#include "cmd/report_options.h"

struct top_words {
	struct recording_words record; /* first: option functions of record and of events take it */
	struct report_words report;
	uint64_t delay_ns; /* -d: from one table to the next; 0: not given */
	long entries; /* -E; 0: not given */
	long count_filter; /* -f */
	bool zero, once;
	bool idle; /* -I: samples of idle tasks, too */
	bool screen; /* on a terminal: a browser */
	long priority; /* -r; 0: not given */
};

void top_words_init(struct top_words *words, const struct kern *kern);
void top_words_release(struct top_words *words);
/* Defaults, and what does not go together: 0, or an exit status after a message. */
int top_words_complete(struct top_words *words);

#endif
