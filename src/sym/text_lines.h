/* SPDX-License-Identifier: MIT */
/*
 * text_lines: a text file of any length, line by line through one buffer. Private to sym/.
 */
#ifndef PSTAT_TEXT_LINES_H
#define PSTAT_TEXT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TEXT_LINE_MAX = 64 << 10 }; /* longer lines are left out and counted */

struct text_lines {
	int fd; /* -1: none */
	char *buf;
	size_t pos, len; /* the unread bytes are buf[pos .. len) */
	bool skipping; /* within a line that is too long */
	bool ended;
	uint64_t left; /* how much may still be read; all, unless it is set after init */
	uint64_t too_long; /* lines left out */
	int error; /* negative errno where reading ended early; 0 */
};

void text_lines_init(struct text_lines *lines, int fd); /* takes the descriptor over */
void text_lines_release(struct text_lines *lines);
/*
 * The next line without its newline, ended by NUL (there may be others in it), valid until the next call;
 * NULL at the end. The last line needs no newline.
 */
char *text_lines_next(struct text_lines *lines, size_t *len);

/* The hexadecimal number at *at, at most 64 bits; *at is then behind it. false: there is none. */
bool text_hex(const char **at, uint64_t *value);

#endif
