/*
 * The cost of a look is one load per ring (its head) and a copy of the bytes that are there: empty rings cost
 * next to nothing, and headers are read only of what ends a buffer, or where room is short.
 */
#include "record/ring_reader.h"

#include <stdlib.h>

enum { LOSSES_BYTES = 4096 }; /* of LOST_SAMPLES records at a time */

void ring_reader_init(struct ring_reader *reader, const struct events *events, struct buffers *buffers)
{
	*reader = (struct ring_reader){
		.buffers = buffers,
		.producer = { .kick_fd = -1 },
		.scratch = xcalloc(1, RECORD_BYTES_MAX + 1),
		.losses = STR_INIT,
	};
	squeeze_init(&reader->squeeze, events);
	buffers_add_producer(buffers, &reader->producer);
}

void ring_reader_add(struct ring_reader *reader, struct ring *ring)
{
	VEC_GROW(reader->rings, reader->n, reader->cap);
	reader->rings[reader->n++] = ring;
}

void ring_reader_release(struct ring_reader *reader)
{
	if (!reader->buffers)
		return;
	free(reader->rings);
	free(reader->scratch);
	squeeze_release(&reader->squeeze);
	str_release(&reader->losses);
	*reader = (struct ring_reader){ 0 };
}

/* ---- what a ring holds: one piece, or two where it wraps ---- */

static const void *bytes_at(const struct ring_span span[2], size_t at)
{
	return at < span[0].n ? span[0].bytes + at : span[1].bytes + (at - span[0].n);
}

static void copy(const struct ring_span span[2], size_t at, uint8_t *to, size_t n)
{
	size_t first = at < span[0].n ? span[0].n - at : 0;

	if (first > n)
		first = n;
	if (first)
		memcpy(to, span[0].bytes + at, first);
	if (n > first)
		memcpy(to + first, span[1].bytes + (at + first - span[0].n), n - first);
}

/* Records are multiples of 8 bytes, so a header never wraps. 0: it makes no sense, which no kernel writes. */
static size_t record_size(const struct ring_span span[2], size_t at, size_t end)
{
	const struct perf_event_header *header = bytes_at(span, at);
	size_t size = header->size;

	return size < sizeof(*header) || size % 8 || size > end - at ? 0 : size;
}

/* ---- into buffers ---- */

/* A buffer with room for at least n bytes; NULL: there is none. */
static struct buffer *buffer_for(struct ring_reader *reader, size_t n, bool wait)
{
	struct producer *producer = &reader->producer;

	if (producer->filling && producer->filling->cap - producer->filling->n < n)
		buffers_put(reader->buffers, producer->filling);
	if (!producer->filling)
		producer->filling = buffers_get(reader->buffers, producer, wait);
	return producer->filling;
}

/*
 * Up to n bytes into the buffer: as many whole records as it has room for. Where that is not all they are counted
 * in the copy, which is near; in the ring each header would have to come from another CPU by itself.
 */
static size_t fill(struct buffer *buffer, const struct ring_span span[2], size_t at, size_t n)
{
	size_t room = buffer->cap - buffer->n;
	uint8_t *to = buffer->bytes + buffer->n;

	if (n > room) {
		copy(span, at, to, room);
		n = records_whole(to, room);
	} else {
		copy(span, at, to, n);
	}
	buffer->n += n;
	return n;
}

/* As much as fits into one buffer. Returns how many bytes; 0: there is no buffer. */
static size_t take_some(struct ring_reader *reader, const struct ring_span span[2], size_t at,
			size_t end, bool wait)
{
	struct buffer *buffer = buffer_for(reader, sizeof(struct perf_event_header), wait);
	size_t n = buffer ? fill(buffer, span, at, end - at) : 0, size;

	if (n || !buffer)
		return n;
	/* Not even one record fits: into another buffer, where there is room for any. */
	size = record_size(span, at, end);
	if (!size)
		return end - at; /* nothing behind a header that makes no sense can be understood: all of it goes */
	buffer = buffer_for(reader, size, wait);
	return buffer ? fill(buffer, span, at, end - at) : 0;
}

static const struct perf_event_header *in_one_piece(struct ring_reader *reader,
						    const struct ring_span span[2], size_t at,
						    size_t size)
{
	if (at + size <= span[0].n || at >= span[0].n)
		return bytes_at(span, at);
	copy(span, at, reader->scratch, size);
	return (const void *)reader->scratch;
}

/* One record, or what is left of it. Returns its bytes in the ring; 0: there is no buffer. */
static size_t take_squeezed(struct ring_reader *reader, enum squeeze_level level,
			    const struct ring_span span[2], size_t at, size_t end)
{
	size_t size = record_size(span, at, end);
	const struct perf_event_header *record;
	struct buffer *buffer;

	reader->short_of_room = true;
	if (!size)
		return end - at;
	record = squeeze_record(&reader->squeeze, level, in_one_piece(reader, span, at, size));
	if (!record)
		return size;
	buffer = buffer_for(reader, record->size, false);
	if (!buffer)
		return 0;
	memcpy(buffer->bytes + buffer->n, record, record->size);
	buffer->n += record->size;
	return size;
}

/* Returns how much of the n bytes was dealt with; the rest stays in the ring. */
static size_t take_all(struct ring_reader *reader, const struct ring_span span[2], size_t n, bool wait)
{
	size_t all = reader->buffers->memory_bytes, at = 0, done;

	while (at < n) {
		enum squeeze_level level = SQUEEZE_NOTHING;

		if (!wait)
			level = squeeze_level(buffers_free_bytes(reader->buffers), all);
		done = level == SQUEEZE_NOTHING ? take_some(reader, span, at, n, wait) :
						  take_squeezed(reader, level, span, at, n);
		if (!done)
			break;
		at += done;
	}
	reader->short_of_room |= at < n;
	return at;
}

/* What was dropped, as records, as soon as there is room for them. */
static void tell_losses(struct ring_reader *reader, bool wait)
{
	while (reader->squeeze.any_dropped) {
		struct buffer *buffer = buffer_for(reader, LOSSES_BYTES, wait);

		if (!buffer)
			return;
		str_reset(&reader->losses);
		squeeze_losses(&reader->squeeze, &reader->losses, LOSSES_BYTES);
		memcpy(buffer->bytes + buffer->n, reader->losses.s, reader->losses.len);
		buffer->n += reader->losses.len;
	}
}

size_t ring_reader_look(struct ring_reader *reader, enum ring_look how)
{
	bool wait = how == LOOK_PATIENTLY;
	size_t total = 0;

	buffers_look_begins(reader->buffers, &reader->producer);
	reader->short_of_room = false;
	for (size_t i = 0; i < reader->n; i++) {
		struct ring *ring = reader->rings[i];
		struct ring_span span[2];
		size_t n = ring_ready(ring, span);

		if (!n)
			continue;
		n = take_all(reader, span, n, wait);
		ring_release(ring, n);
		total += n;
	}
	tell_losses(reader, wait);
	buffers_looked(reader->buffers, &reader->producer, how != LOOK_ON);
	return total;
}

size_t ring_reader_snapshot(struct ring_reader *reader)
{
	size_t total = 0;

	for (size_t i = 0; i < reader->n; i++) {
		struct ring_span span[2];
		size_t n = ring_snapshot(reader->rings[i], span);

		total += take_all(reader, span, n, true);
	}
	buffers_snapshot_ends(reader->buffers, &reader->producer);
	return total;
}
