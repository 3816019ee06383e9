/* SPDX-License-Identifier: MIT */
/*
 * line_reader: a text file of any length, line by line through one buffer. Private to record/.
 */
#ifndef PSTAT_LINE_READER_H
#define PSTAT_LINE_READER_H

#include <stdbool.h>
#include <stddef.h>

/* Longer than any line of procfs: a path of 4095 bytes, each escaped as \ooo, and what precedes it. */
enum { LINE_READER_BYTES = 32 << 10 };

struct line_reader {
	int fd; /* -1: closed */
	size_t pos, len; /* the unread bytes are buf[pos .. len) */
	bool skipping; /* within a line that is too long */
	char buf[LINE_READER_BYTES + 1];
};

/* Opens path below the folder dir (or AT_FDCWD). 0 or -errno. Close the reader after success. */
int line_reader_open(struct line_reader *reader, int dir, const char *path);
void line_reader_close(struct line_reader *reader);
/*
 * The next line without its newline, ended by NUL, valid until the next call; NULL at the end, which a
 * read error is too: a task that ended reads so. A line longer than the buffer is left out.
 */
char *line_reader_next(struct line_reader *reader);

#endif
