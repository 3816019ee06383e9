/*
 * archive_folder: a recording that is a folder (perf.data.5), out of an archive: its files come one by one, and it
 * has its name when all are there. Private to cmd/.
 */
#ifndef PSTAT_ARCHIVE_FOLDER_H
#define PSTAT_ARCHIVE_FOLDER_H

#include "util/util.h"

struct archive_folder { /* begins as { 0 } */
	char *path; /* its name to be; NULL: none is being made */
	struct destination beside; /* where it is made; fd -1: it was given up */
	bool has_header; /* the file `data`, which is a recording's */
};

/*
 * One more file of it, with the contents of `from`; -1: there are none. A negative errno with a clause: then
 * archive_folder_end fails, too, unless it was a file of another folder, which changes nothing.
 */
int archive_folder_add(struct archive_folder *folder, const char *path, const char *name, int from, struct str *err);
/*
 * It gets its name, if the archive was read to its end. -EEXIST: there is something of that name, which stays;
 * -EINVAL: it is none, or not whole; another errno: it can't be renamed. In each of these cases nothing is left of
 * it.
 */
int archive_folder_end(struct archive_folder *folder, bool whole, struct str *err);

/* ---- archive_restore.c ---- */
/* 0: it is a recording, with a header and events as they have to be; else a negative errno with a clause. */
int archive_check_recording(int fd, struct str *err);
/* All of a file, from its beginning. */
int archive_copy(int from, int to);

#endif
