/*
 * pipe_buffer.c: see pipe_buffer.h. What is left moves down to the beginning before more is read behind it.
 */
#include "data/pipe_buffer.h"

#include "data/reader.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

void pipe_buffer_init(struct pipe_buffer *buffer, int fd)
{
	*buffer = (struct pipe_buffer){ .fd = fd, .bytes = xmalloc(PIPE_BUFFER_BYTES) };
}

void pipe_buffer_release(struct pipe_buffer *buffer)
{
	if (buffer->fd >= 0)
		close(buffer->fd);
	free(buffer->bytes);
}

static void move_down(struct pipe_buffer *buffer)
{
	memmove(buffer->bytes, buffer->bytes + buffer->at, buffer->have);
	buffer->at = 0;
}

/* Once, behind what is there. false: the pipe has ended. */
static bool read_more(struct pipe_buffer *buffer)
{
	uint8_t *to = buffer->bytes + buffer->have;
	ssize_t got = read(buffer->fd, to, PIPE_BUFFER_BYTES - buffer->have);

	if (got < 0 && errno == EINTR)
		return true;
	if (got < 0)
		buffer->error = errno;
	if (got <= 0)
		return false;
	if (buffer->kept)
		spool_add(buffer->kept, to, (size_t)got);
	buffer->have += (size_t)got;
	return true;
}

size_t pipe_buffer_fill(struct pipe_buffer *buffer, size_t n)
{
	if (buffer->have >= n)
		return buffer->have;
	move_down(buffer);
	while (buffer->have < n && !buffer->error && read_more(buffer))
		;
	return buffer->have;
}

bool pipe_buffer_lacks(struct pipe_buffer *buffer, size_t n)
{
	struct pollfd fd = { .fd = buffer->fd, .events = POLLIN };

	while (buffer->have < n && !buffer->error) {
		if (poll(&fd, 1, 0) <= 0)
			return true;
		move_down(buffer);
		if (!read_more(buffer))
			return false;
	}
	return false;
}
