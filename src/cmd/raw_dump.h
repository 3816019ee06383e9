/* SPDX-License-Identifier: MIT */
/*
 * raw_dump: a recording as it lies in the file: its header, its records in the file's order, how many
 * there are of each type. What `pstat script` and `pstat report` have in common. Private to cmd/.
 */
#ifndef PSTAT_RAW_DUMP_H
#define PSTAT_RAW_DUMP_H

#include "cmd/command.h"

struct raw_dump_words {
	const char *input; /* NULL: a pipe on standard input, or perf.data */
	bool records; /* -D */
	bool header, header_only;
	bool full_header; /* -I: with the machine's topology */
	bool stats; /* --stats */
};

/* Is a dump all that is asked for? A header alone stands in front of something else. */
bool raw_dump_only(const struct raw_dump_words *words);
/* Prints what the words ask for; the exit status. */
int raw_dump(const struct raw_dump_words *words);

#endif
