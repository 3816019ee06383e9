/* SPDX-License-Identifier: MIT */
/*
 * Lines out of procfs in bounded memory: maps of a big process and kallsyms are megabytes long.
 */
#include "record/line_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int line_reader_open(struct line_reader *reader, int dir, const char *path)
{
	reader->pos = reader->len = 0;
	reader->skipping = false;
	reader->fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	return reader->fd < 0 ? -errno : 0;
}

void line_reader_close(struct line_reader *reader)
{
	if (reader->fd >= 0)
		close(reader->fd);
	reader->fd = -1;
}

/* Reads more bytes after the unread ones; false at the end. */
static bool fill(struct line_reader *reader)
{
	ssize_t n;

	memmove(reader->buf, reader->buf + reader->pos, reader->len - reader->pos);
	reader->len -= reader->pos;
	reader->pos = 0;
	if (reader->len == LINE_READER_BYTES) {
		reader->len = 0;
		reader->skipping = true;
	}
	do
		n = read(reader->fd, reader->buf + reader->len, LINE_READER_BYTES - reader->len);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	reader->len += (size_t)n;
	return true;
}

char *line_reader_next(struct line_reader *reader)
{
	for (;;) {
		char *line = reader->buf + reader->pos;
		char *end = memchr(line, '\n', reader->len - reader->pos);
		bool whole;

		if (!end) {
			if (fill(reader))
				continue;
			if (reader->pos == reader->len)
				return NULL;
			/* A last line without its newline. */
			line = reader->buf + reader->pos;
			end = reader->buf + reader->len;
		}
		*end = '\0';
		reader->pos = (size_t)(end - reader->buf);
		reader->pos += reader->pos < reader->len;
		whole = !reader->skipping;
		reader->skipping = false;
		if (whole)
			return line;
	}
}
