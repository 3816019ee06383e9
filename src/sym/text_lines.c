/* SPDX-License-Identifier: MIT */
/*
 * text_lines: kallsyms and perf maps have hundreds of thousands of lines and are read once. A line is handed
 * out where it lies in the buffer; only one that is cut by the buffer's end is moved, to its front.
 */
#include "sym/text_lines.h"

#include "util/util.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { BUFFER_BYTES = 2 * TEXT_LINE_MAX };

void text_lines_init(struct text_lines *lines, int fd)
{
	*lines = (struct text_lines){ .fd = fd, .buf = xmalloc(BUFFER_BYTES + 1),
				      .left = UINT64_MAX };
}

void text_lines_release(struct text_lines *lines)
{
	if (lines->fd >= 0)
		close(lines->fd);
	free(lines->buf);
	*lines = (struct text_lines){ .fd = -1 };
}

static void fill(struct text_lines *lines)
{
	size_t room;
	ssize_t n;

	lines->len -= lines->pos;
	memmove(lines->buf, lines->buf + lines->pos, lines->len);
	lines->pos = 0;
	room = BUFFER_BYTES - lines->len;
	if (room > lines->left)
		room = (size_t)lines->left;
	do
		n = read(lines->fd, lines->buf + lines->len, room);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		lines->error = -errno;
	if (n <= 0)
		lines->ended = true;
	else
		lines->len += (size_t)n;
	if (n > 0)
		lines->left -= (uint64_t)n;
}

/* Bytes up to the newline, or up to the end of the file; false: not all in the buffer yet. */
static bool line_length(const struct text_lines *lines, size_t *n)
{
	const char *at = lines->buf + lines->pos;
	const char *end = memchr(at, '\n', lines->len - lines->pos);

	*n = end ? (size_t)(end - at) : lines->len - lines->pos;
	return end || lines->ended;
}

char *text_lines_next(struct text_lines *lines, size_t *len)
{
	for (;;) {
		char *line = lines->buf + lines->pos;
		bool whole = line_length(lines, len);

		if (whole && lines->pos == lines->len)
			return NULL;
		if (whole) {
			bool skip = lines->skipping || *len > TEXT_LINE_MAX;

			lines->pos += *len + (lines->pos + *len < lines->len);
			lines->skipping = false;
			if (skip) {
				lines->too_long++;
				continue;
			}
			line[*len] = '\0';
			return line;
		}
		if (*len > TEXT_LINE_MAX) {
			lines->skipping = true;
			lines->pos = lines->len;
		}
		fill(lines);
	}
}

bool text_hex(const char **at, uint64_t *value)
{
	/* Each digit's value and 1; a list of the kernel's symbols has two million digits. */
	static const uint8_t digits1[UINT8_MAX + 1] = {
		['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
		['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
		['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
	};
	const char *p = *at;
	uint64_t sum = 0;
	ptrdiff_t n;

	while (p - *at <= 16 && digits1[(unsigned char)*p])
		sum = sum << 4 | (digits1[(unsigned char)*p++] - 1U);
	*value = sum;
	n = p - *at;
	*at = p;
	return n && n <= 16;
}
