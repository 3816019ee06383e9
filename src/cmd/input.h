/* SPDX-License-Identifier: MIT */
/*
 * input: a recording that a command reads and the text that it makes of it: evlist, script, report,
 * buildid-list, stat report. Private to cmd/.
 *
 * Text is collected and goes to stdout in large pieces, always before a message about what follows,
 * so that each message stands where it belongs. Messages are "<file>: at offset 0x...: MMAP2 (10): ...".
 */
#ifndef PSTAT_INPUT_H
#define PSTAT_INPUT_H

#include "data/data.h"

struct input {
	struct reader reader;
	struct str out; /* text that is not yet on stdout */
	struct str err; /* scratch */
	uint64_t n_records;
	uint64_t n_broken; /* records that could not be decoded */
	size_t n_noted; /* of the reader's notes, how many were printed */
	int status; /* EXIT_PSTAT_FAILED once something could not be read or written */
};

/* path NULL: a pipe, or perf.data. 0, or EXIT_PSTAT_FAILED after a message. Close the input in every case. */
int input_open(struct input *in, const char *path);
/* The next record. False at the end: of the recording, or because reading or writing failed. */
bool input_next(struct input *in, struct record *record);
/* False after a message; the next record can still be read. */
bool input_decode(struct input *in, const struct record *record, struct record_body *body);
/* "<file>: <text>", after the text so far. */
void input_message(struct input *in, const char *text);
/*
 * The exit status: writes what is left, reports the reader's notes and what is missing at the end. Not 0
 * where a part of the recording could not be read, or nothing of it.
 */
int input_close(struct input *in);

#endif
