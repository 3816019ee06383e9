/*
 * The cost of a look is one load per ring (its head) and a copy of the bytes that are there: empty rings cost
 * next to nothing, and headers are read only where a buffer ends, or where room is short.
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

/* How many bytes of whole records from `at` on are at most max. */
static size_t whole_records(const struct ring_span span[2], size_t at, size_t end, size_t max)
{
	size_t n = 0;

	while (at + n < end) {
		size_t size = record_size(span, at + n, end);

		if (!size || n + size > max)
			break;
		n += size;
	}
	return n;
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

static void fill(struct buffer *buffer, const struct ring_span span[2], size_t at, size_t n)
{
	copy(span, at, buffer->bytes + buffer->n, n);
	buffer->n += n;
}

/* As much as fits into one buffer. Returns how many bytes; 0: there is no buffer. */
static size_t take_some(struct ring_reader *reader, const struct ring_span span[2], size_t at,
			size_t end, bool wait)
{
	struct buffer *buffer = buffer_for(reader, sizeof(struct perf_event_header), wait);
	size_t n = end - at;

	if (!buffer)
		return 0;
	if (n > buffer->cap - buffer->n)
		n = whole_records(span, at, end, buffer->cap - buffer->n);
	if (!n) {
		size_t size = record_size(span, at, end);

		buffer = size ? buffer_for(reader, size, wait) : NULL;
		/* Nothing behind a header that makes no sense can be understood: all of it goes. */
		if (!buffer)
			return size ? 0 : end - at;
		n = size;
	}
	fill(buffer, span, at, n);
	return n;
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
