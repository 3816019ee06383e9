/*
 * directory.h: the files of a directory (`perf record --threads`) as one sequence: of the first records of all files
 * the oldest comes next. Private to data/.
 *
 * A file may be one ring's, and is then in order by itself, or that of several (--threads=package): then it is
 * a row of runs, each in order, which overlap. So each file is looked through once before: where its runs begin
 * and how old what follows them is. That tells when a round ends: when nothing that is still to come is older than
 * the newest record of the round before.
 */
#ifndef PSTAT_DATA_DIRECTORY_H
#define PSTAT_DATA_DIRECTORY_H

#include "data/data.h"

struct recording_directory;

/* The reader has the files open, and they are at their beginning. */
struct recording_directory *recording_directory_new(struct reader *reader);
void recording_directory_free(struct recording_directory *directory); /* NULL is nothing */
/*
 * As record_source.next. A file that cannot be read on is left, its error comes when all have ended; so does
 * what is missing.
 */
int recording_directory_next(struct recording_directory *directory, struct record *record, struct str *err);

#endif
