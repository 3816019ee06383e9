/* SPDX-License-Identifier: MIT */
/*
 * recording_place: where a recording is when no word names it: a pipe on standard input, or on standard
 * output, stands in front of perf.data, as it does for perf. Private to cmd/.
 */
#ifndef PSTAT_RECORDING_PLACE_H
#define PSTAT_RECORDING_PLACE_H

#include "data/data.h"

/*
 * Opens the recording that is named, or else the one of a pipe on standard input, or else perf.data. Where it
 * comes through a pipe, the first SIGINT is spared (signals.h). Of a pipe that nobody named, and on which nothing
 * comes for a second, one line on stderr says that it is waited for. 0, or a negative errno with a sentence.
 * Close the reader in every case.
 */
int recording_open(struct reader *reader, const char *named, struct str *err);

/* The place that a recording is written to: named, or else "-" if standard output is a pipe, or else "perf.data". */
const char *recording_target(const char *named);

#endif
