/*
 * pipe_buffer: the bytes of a pipe in pieces as long as are asked for, of which the last ones are kept in one place.
 * Private to data/.
 */
#ifndef PSTAT_DATA_PIPE_BUFFER_H
#define PSTAT_DATA_PIPE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PIPE_BUFFER_BYTES = 512 << 10 };

struct spool; /* reader.h */
struct pipe_buffer {
	int fd; /* -1: there is no pipe */
	uint8_t *bytes;
	size_t at, have; /* bytes that were read, from bytes + at */
	int error; /* errno of what stopped it */
	struct spool *kept; /* what was read is added to it; borrowed; NULL: to nothing */
};

/* Takes over fd. A buffer without a pipe has fd -1 and else zeros. */
void pipe_buffer_init(struct pipe_buffer *buffer, int fd);
void pipe_buffer_release(struct pipe_buffer *buffer);
/* Reads until n bytes, at most PIPE_BUFFER_BYTES, are there or the pipe ends: how many there are then. */
size_t pipe_buffer_fill(struct pipe_buffer *buffer, size_t n);
/*
 * The same without waiting: true: fewer are there, and more may come. n is at least 1: of the pipe's end it is told by
 * false.
 */
bool pipe_buffer_lacks(struct pipe_buffer *buffer, size_t n);

static inline void pipe_buffer_pass(struct pipe_buffer *buffer, size_t n)
{
	buffer->at += n;
	buffer->have -= n;
}

#endif
