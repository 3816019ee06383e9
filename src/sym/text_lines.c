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
	const char *p = *at;
	unsigned digits = 0;

	*value = 0;
	for (; digits <= 16; p++, digits++) {
		unsigned char c = (unsigned char)*p, letter = c | 0x20;

		if (c >= '0' && c <= '9')
			*value = *value << 4 | (uint64_t)(c - '0');
		else if (letter >= 'a' && letter <= 'f')
			*value = *value << 4 | (uint64_t)(letter - 'a' + 10);
		else
			break;
	}
	*at = p;
	return digits && digits <= 16;
}
