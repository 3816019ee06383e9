/* SPDX-License-Identifier: MIT */
/*
 * stream.c: bytes -> records, from a mapped file or from a pipe, plain or packed with zstd.
 *
 * Below is the source: the next n bytes are in one piece at `source_at` once `source_left` has asked for them: of a file
 * in place in its mapping, and of a pipe in a buffer. Above it the unpacker: while a COMPRESSED record has bytes left,
 * records come out of its window, which holds at most WINDOW_BYTES however much the packed data would grow to; a record
 * may begin in one COMPRESSED record and end in the next.
 *
 *   source -> record -> COMPRESSED? -> window -> record
 *
 * Memory: the window, a pipe's buffer; and of a mapping the pages that were passed are given back: when the position is
 * beyond them, and again when records that waited for their turn have been looked at once more.
 */
#include "data/stream.h"

#include "data/reader.h"

#include "data/bytes.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	WINDOW_BYTES = 512 << 10,
	PIPE_BUFFER_BYTES = 512 << 10,
	KEEP_BYTES = 4 << 20, /* of a mapping before the position */
	DROP_BYTES = 1 << 20, /* which are given back at once */
};

/*
 * Limits of what packed bytes may become: dumps of equal stacks were seen to shrink to 1/1300, small records to 1/20.
 * More than that is made to keep the reader busy.
 */
enum {
	UNPACKED_BYTES_FREE = 64 << 20,
	UNPACKED_BYTES_PER_BYTE = 4096,
	UNPACKED_RECORDS_FREE = 4 << 20,
	UNPACKED_RECORDS_PER_BYTE = 4,
};

/* The bytes of a pipe that were read and not passed; what is left moves down before more is read after it. */
struct pipe_buffer {
	int fd; /* -1: there is no pipe */
	uint8_t *bytes;
	size_t at, have; /* bytes that were read, from bytes + at */
	int error; /* errno of what stopped it */
	struct spool *kept; /* what was read is added to it; borrowed; NULL: to nothing */
};

struct stream {
	uint64_t pos; /* of the next byte, in the file or pipe */
	uint64_t skip; /* extra bytes of the last record, not yet passed */
	bool ended;

	uint8_t *map; /* NULL: a pipe */
	size_t map_bytes;
	uint64_t start, end; /* of the records */
	uint64_t dropped; /* pages below this were given back */

	struct pipe_buffer pipe;
	uint8_t small[64]; /* a short record whose extra bytes are being read */

	struct zstd_in *zstd;
	const uint8_t *packed; /* what is left of the present COMPRESSED record */
	size_t packed_left;
	bool window_full; /* the unpacker may have more without more input */
	uint64_t packed_offset; /* of that record */
	uint64_t packed_bytes, inner_records; /* of all COMPRESSED records so far */
	uint8_t *window;
	size_t win_at, win_have;
	uint64_t inner_offset; /* of window + win_at in all unpacked bytes */
};

/* ---- bytes of a pipe ---- */

static void move_down(struct pipe_buffer *buffer)
{
	memmove(buffer->bytes, buffer->bytes + buffer->at, buffer->have);
	buffer->at = 0;
}

/* Reads once, after what is there. false: the pipe has ended. */
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

/* Reads until n bytes, at most PIPE_BUFFER_BYTES, are there or the pipe ends: how many there are then. */
static size_t pipe_buffer_fill(struct pipe_buffer *buffer, size_t n)
{
	if (buffer->have >= n)
		return buffer->have;
	move_down(buffer);
	while (buffer->have < n && !buffer->error && read_more(buffer))
		;
	return buffer->have;
}

/*
 * The same without waiting. True: fewer are there, and more may come. n is at least 1: the end of the pipe gives false.
 */
static bool pipe_buffer_lacks(struct pipe_buffer *buffer, size_t n)
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

static void pipe_buffer_pass(struct pipe_buffer *buffer, size_t n)
{
	buffer->at += n;
	buffer->have -= n;
}

/* ---- the stream ---- */

static struct stream *stream_new(void)
{
	struct stream *s = xcalloc(1, sizeof(*s));

	s->pipe.fd = -1;
	return s;
}

struct stream *stream_new_map(uint8_t *map, size_t bytes, uint64_t start, uint64_t end)
{
	struct stream *s = stream_new();

	s->map = map;
	s->map_bytes = bytes;
	s->pos = s->start = start;
	s->end = end;
	return s;
}

struct stream *stream_new_pipe(int fd, uint64_t offset)
{
	struct stream *s = stream_new();

	s->pos = offset;
	s->pipe = (struct pipe_buffer){ .fd = fd, .bytes = xmalloc(PIPE_BUFFER_BYTES) };
	return s;
}

void stream_free(struct stream *s)
{
	if (!s)
		return;
	file_unmap(s->map, s->map_bytes + MAPPED_BEYOND_BYTES);
	if (s->pipe.fd >= 0)
		close(s->pipe.fd);
	free(s->pipe.bytes);
	zstd_in_free(s->zstd);
	free(s->window);
	free(s);
}

void stream_rewind(struct stream *s)
{
	zstd_in_free(s->zstd);
	free(s->window);
	*s = (struct stream){ .pos = s->start,
			      .map = s->map,
			      .map_bytes = s->map_bytes,
			      .start = s->start,
			      .end = s->end,
			      .pipe = { .fd = -1 } };
}

bool stream_position(const struct stream *s, uint64_t *given, uint64_t *all)
{
	if (!s->map)
		return false;
	*given += s->pos - s->start;
	*all += s->end > s->start ? s->end - s->start : 0;
	return true;
}

bool stream_would_wait(struct stream *s, bool swap)
{
	struct record next;

	/* Packed bytes are there already, and the bytes that follow some records may be longer than the buffer. */
	if (s->pipe.fd < 0 || s->ended || s->skip || s->packed_left || s->window_full)
		return false;
	if (pipe_buffer_lacks(&s->pipe, RECORD_HEADER_BYTES))
		return true;
	if (s->pipe.have < RECORD_HEADER_BYTES)
		return false;
	record_from_bytes(&next, s->pipe.bytes + s->pipe.at, s->pos, swap);
	return pipe_buffer_lacks(&s->pipe, next.size);
}

void stream_keep(struct stream *s, struct spool *kept)
{
	s->pipe.kept = kept;
}

bool stream_is_pipe(const struct stream *s)
{
	return s->pipe.fd >= 0;
}

/* Bytes that are there in one piece; of a pipe at most `want` of them need be. */
static inline uint64_t source_left(struct stream *s, size_t want)
{
	if (s->map)
		return s->pos < s->end ? s->end - s->pos : 0;
	return pipe_buffer_fill(&s->pipe, want < PIPE_BUFFER_BYTES ? want : PIPE_BUFFER_BYTES);
}

/* The place of these bytes, which stay there until more are asked for. */
static inline const uint8_t *source_at(const struct stream *s)
{
	return s->map ? s->map + s->pos : s->pipe.bytes + s->pipe.at;
}

/* Gives back pages that were passed. The mapping stays: a look back reads them again. */
static void map_drop(struct stream *s)
{
	uint64_t to;

	if (s->pos < s->dropped + KEEP_BYTES + DROP_BYTES)
		return;
	to = (s->pos - KEEP_BYTES) / DROP_BYTES * DROP_BYTES;
	madvise(s->map + s->dropped, to - s->dropped, MADV_DONTNEED);
	s->dropped = to;
}

/*
 * Compares them as integers: the bytes may be of another mapping. What is near the position stays, as records are
 * still taken from there, until all have been given.
 */
void stream_passed(struct stream *s, const uint8_t *from, const uint8_t *to)
{
	uintptr_t map = (uintptr_t)s->map, low = (uintptr_t)from, high = (uintptr_t)to;
	uint64_t given = s->ended ? s->map_bytes : s->dropped;

	if (!s->map || high <= map || low >= map + given)
		return;
	low = low > map ? (low - map) / DROP_BYTES * DROP_BYTES : 0;
	high = high - map < given ? high - map : given;
	if (low < high)
		madvise(s->map + low, high - low, MADV_DONTNEED);
}

/* Passes n bytes; false: there are fewer. */
static bool source_pass(struct stream *s, uint64_t n)
{
	if (s->map) {
		bool enough = n <= s->end - s->pos;

		s->pos = enough ? s->pos + n : s->end;
		map_drop(s);
		return enough;
	}
	while (n) {
		uint64_t now;

		if (!pipe_buffer_fill(&s->pipe, 1))
			return false;
		now = n < s->pipe.have ? n : s->pipe.have;
		pipe_buffer_pass(&s->pipe, (size_t)now);
		s->pos += now;
		n -= now;
	}
	return true;
}

static int stream_end(struct stream *s, int rc)
{
	s->ended = true;
	return rc;
}

static int size_fail(struct stream *s, const struct record *r, struct str *err)
{
	return stream_end(s, record_fail(r, err, -EINVAL,
					 "its size is %u, less than the minimum of %d; the rest "
					 "cannot be read",
					 r->size, RECORD_HEADER_BYTES));
}

/* ---- records out of packed data ---- */

/* Bytes that follow some records and belong to them. */
static uint64_t extra_of(const struct record *r, bool swap)
{
	if (r->type == RECORD_AUXTRACE && r->size >= 16)
		return load_u64(r->bytes + 8, swap);
	if (r->type == RECORD_HEADER_TRACING_DATA && r->size >= 12)
		return load_u32(r->bytes + 8, swap);
	return 0;
}

static int unpack_begin(struct stream *s, const struct record *r, bool swap, struct str *err)
{
	size_t head = r->type == RECORD_COMPRESSED2 ? 16 : 8;
	size_t n = r->size - (r->size < head ? r->size : head);

	if (r->type == RECORD_COMPRESSED2) {
		uint64_t said = r->size < head ? UINT64_MAX : load_u64(r->bytes + 8, swap);

		if (said > n)
			return stream_end(s, record_fail(r, err, -EINVAL,
							 "its data is longer than the record"));
		n = said;
	}
	if (!s->zstd) {
		struct str why = STR_INIT;
		int rc = zstd_in_new(&s->zstd, &why);

		if (rc)
			record_fail(r, err, rc, "%s", why.s);
		str_release(&why);
		if (rc)
			return stream_end(s, rc);
		s->window = xmalloc(WINDOW_BYTES);
	}
	s->packed = r->bytes + head;
	s->packed_left = n;
	s->packed_offset = r->offset;
	s->packed_bytes += n;
	return 0;
}

static int packed_fail(struct stream *s, struct str *err, const char *why)
{
	struct record r = { .offset = s->packed_offset, .type = RECORD_COMPRESSED };

	return stream_end(s, record_fail(&r, err, -EINVAL, "%s", why));
}

/* Makes n bytes of the window readable; 0: the present packed record has no more. */
static int window_fill(struct stream *s, size_t n, struct str *err)
{
	while (s->win_have < n && (s->packed_left || s->window_full)) {
		struct str why = STR_INIT;
		int64_t got;

		memmove(s->window, s->window + s->win_at, s->win_have);
		s->win_at = 0;
		got = zstd_in_take(s->zstd, &s->packed, &s->packed_left, s->window + s->win_have,
				   WINDOW_BYTES - s->win_have, &why);
		if (got < 0) {
			packed_fail(s, err, why.s);
			str_release(&why);
			return (int)got;
		}
		s->win_have += (size_t)got;
		s->window_full = s->win_have == WINDOW_BYTES;
	}
	if (s->inner_offset + s->win_have >
	    UNPACKED_BYTES_FREE + UNPACKED_BYTES_PER_BYTE * s->packed_bytes)
		return packed_fail(s, err, "it unpacks to more than 4096 times its size: refused");
	return s->win_have >= n;
}

/* 1: a record, 0: the next one is not complete in what has been packed so far. */
static int unpack_next(struct stream *s, bool swap, struct record *r, struct str *err)
{
	int rc = window_fill(s, RECORD_HEADER_BYTES, err);

	if (rc <= 0)
		return rc;
	if (++s->inner_records >
	    UNPACKED_RECORDS_FREE + UNPACKED_RECORDS_PER_BYTE * s->packed_bytes)
		return packed_fail(
			s, err, "it unpacks to more than 4 records for each of its bytes: refused");
	record_from_bytes(r, s->window + s->win_at, s->packed_offset, swap);
	r->inner_offset = s->inner_offset;
	r->compressed = true;
	if (r->size < RECORD_HEADER_BYTES)
		return size_fail(s, r, err);
	rc = window_fill(s, r->size, err);
	if (rc <= 0)
		return rc;
	r->bytes = s->window + s->win_at; /* it may have moved */
	if (extra_of(r, swap) || r->type == RECORD_COMPRESSED || r->type == RECORD_COMPRESSED2)
		return stream_end(s,
				  record_fail(r, err, -EINVAL, "must not be inside a packed one"));
	s->win_at += r->size;
	s->win_have -= r->size;
	s->inner_offset += r->size;
	return 1;
}

/* ---- records from the source ---- */

static int cut_off(struct stream *s, const struct record *r, uint64_t there, struct str *missing)
{
	record_fail(r, missing, 0, "cut off: it needs %llu bytes, %llu are there",
		    (unsigned long long)(r->size + r->extra_size), (unsigned long long)there);
	return stream_end(s, 0);
}

static int end_reached(struct stream *s, struct str *missing, struct str *err)
{
	if (s->pipe.error)
		return stream_end(s, fail(err, -s->pipe.error, "at offset %#llx: %s",
					  (unsigned long long)s->pos, strerror(s->pipe.error)));
	if (s->win_have)
		str_addf(missing,
			 "at offset %#llx: %zu unpacked bytes are the beginning of a record "
			 "whose end is missing",
			 (unsigned long long)s->packed_offset, s->win_have);
	return stream_end(s, 0);
}

static int source_next(struct stream *s, bool swap, struct record *r, struct str *missing,
		       struct str *err)
{
	uint64_t left = source_left(s, RECORD_HEADER_BYTES);

	if (!left || s->pipe.error)
		return end_reached(s, missing, err);
	if (left < RECORD_HEADER_BYTES) {
		str_addf(missing,
			 "at offset %#llx: %llu bytes are the beginning of a record whose "
			 "end is missing",
			 (unsigned long long)s->pos, (unsigned long long)left);
		return stream_end(s, 0);
	}
	record_from_bytes(r, source_at(s), s->pos, swap);
	if (r->size < RECORD_HEADER_BYTES)
		return size_fail(s, r, err);
	left = source_left(s, r->size);
	if (left < r->size)
		return cut_off(s, r, left, missing);
	r->bytes = source_at(s);
	r->stable = s->map;
	r->extra_size = extra_of(r, swap);
	source_pass(s, r->size);
	if (s->map && r->extra_size > s->end - s->pos) {
		/* The record itself is whole: it is handed out, and the next call ends. */
		cut_off(s, r, s->end - r->offset, missing);
		return 1;
	}
	s->skip = r->extra_size;
	return 1;
}

int stream_next(struct stream *s, bool swap, struct record *r, struct str *missing, struct str *err)
{
	int rc;

	if (s->ended)
		return 0;
	if (s->packed_left || s->window_full || s->win_have) {
		rc = unpack_next(s, swap, r, err);
		if (rc)
			return rc;
	}
	if (s->skip && !source_pass(s, s->skip)) {
		str_addf(missing,
			 "at offset %#llx: the data of the previous record is cut off",
			 (unsigned long long)s->pos);
		return stream_end(s, 0);
	}
	s->skip = 0;
	rc = source_next(s, swap, r, missing, err);
	if (rc > 0 && (r->type == RECORD_COMPRESSED || r->type == RECORD_COMPRESSED2)) {
		int begun = unpack_begin(s, r, swap, err);

		return begun ? begun : rc;
	}
	return rc;
}

bool stream_extra(struct stream *s, struct record *r, uint64_t max, struct str *out)
{
	uint64_t n = s->skip;

	if (s->ended || n > max || r->size > sizeof(s->small))
		return false;
	/* The buffer is about to move. */
	memcpy(s->small, r->bytes, r->size);
	r->bytes = s->small;
	r->stable = false;
	while (n) {
		uint64_t now = source_left(s, 1);

		now = now < n ? now : n;
		if (!now)
			break;
		/* All of them are in one piece: in the buffer, or in the mapping. */
		str_addn(out, (const char *)source_at(s), (size_t)now);
		source_pass(s, now);
		n -= now;
	}
	s->skip = n;
	return !n;
}
