/* SPDX-License-Identifier: MIT */
/*
 * stat_output: where reports go, and as what. A report leaves whole rows at a time: in one write to a file, and
 * else in as many as never block. Any failure to write is kept and reported at the end. Private to cmd/.
 */
#ifndef PSTAT_STAT_OUTPUT_H
#define PSTAT_STAT_OUTPUT_H

#include "cmd/stat_options.h"
#include "stat/stat.h"

struct stat_output {
	int fd; /* -1: nothing is printed */
	bool close_fd;
	bool with_notes; /* it is where standard error goes */
	const char *place; /* for messages; borrowed */
	const struct stat_format *format;
	struct stat_style style;
	char *title, *started_on; /* style borrows them */
	bool begun;
	bool clear_screen; /* before each report */
	int failure; /* of the first write that failed */
	bool may_block; /* no file */
	struct str text; /* of reports, the first `sent` bytes are written */
	size_t sent;
	const struct run_stop *stop; /* a signal ends a wait for a place that takes nothing; or NULL */
};

/* Opens before anything runs. 0, or -errno with a sentence. */
int stat_output_open(struct stat_output *out, const struct stat_words *words, struct str *err);
/* Waits until all is written. 0, or -errno; the sentence comes from stat_output_close. */
int stat_output_report(struct stat_output *out, const struct stat_report *report);
/* Never waits: 1 where the place takes no more now, and stat_output_write_on() is to be called when it does. */
int stat_output_offer(struct stat_output *out, const struct stat_report *report);
int stat_output_write_on(struct stat_output *out);
/* Waits until all that was offered is written; 0, or -errno as above. */
int stat_output_finish(struct stat_output *out);
/* Closes and releases: 0, or -errno with a sentence if not everything could be written. Safe to repeat. */
int stat_output_close(struct stat_output *out, struct str *err);

#endif
