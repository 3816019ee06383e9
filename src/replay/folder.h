/*
 * folder.h: the files of a folder (`perf record --threads`) as one sequence. Each is one ring's, and so in
 * order by itself; the oldest of their first records comes next. A single file is passed on as it is.
 * Private to replay/.
 */
#ifndef PSTAT_REPLAY_FOLDER_H
#define PSTAT_REPLAY_FOLDER_H

#include "data/data.h"

struct folder_head { /* the next record of one file */
	struct record record;
	uint64_t time_ns; /* of a record without one: of the record before it */
	size_t stream;
};
struct folder {
	struct reader *reader;
	struct folder_head *heap; /* a heap by time, then by file */
	size_t n;
	bool begun;
	int failed; /* the first error of a file; the others are read on */
};

void folder_init(struct folder *folder, struct reader *reader);
void folder_release(struct folder *folder);
/* As reader_next. A file that cannot be read on is left, its error comes when all have ended. */
int folder_next(struct folder *folder, struct record *record, struct str *err);

#endif
