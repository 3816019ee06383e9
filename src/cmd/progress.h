/* SPDX-License-Identifier: MIT */
/*
 * progress: one line on a terminal's stderr while long work goes on, gone before anything else is
 * printed. Private to cmd/.
 */
#ifndef PSTAT_PROGRESS_H
#define PSTAT_PROGRESS_H

#include "util/util.h"

struct progress {
	bool terminal; /* stderr is one; else nothing is ever shown */
	bool shown; /* a line is there */
	uint64_t begun_ns, last_ns;
	const char *what; /* "reading perf.data"; borrowed */
};
void progress_init(struct progress *progress, const char *what, bool wanted);
/* part: 0 to 1, -1: not known. Shows nothing in the first half second, and ten times a second at most. */
void progress_step(struct progress *progress, const char *what, double part);
void progress_end(struct progress *progress);

#endif
