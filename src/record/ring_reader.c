/* SPDX-License-Identifier: MIT */
/*
 * ring_reader.c: rings -> buffers. One pass costs one load per ring (its head) and a copy of the bytes that are there:
 * empty rings cost next to nothing, and record headers are read only where a buffer ends or room is short.
 *
 * Pressure is the part of the buffers that is free, looked at before each copy:
 *
 *   free buffers   what is kept                                            enum shedding_level
 *   a quarter      all records                                             SHED_NOTHING
 *   less           samples without the copy of their stack (dwarf)         SHED_STACKS
 *   an eighth      records of what tasks do, which name the samples        SHED_SAMPLES
 *   none           nothing: records stay in their rings, and the kernel counts what finds no room there
 *
 * A reader of the recording can tell: a sample that was cut has user registers, but a stack of size 0, which the
 * kernel writes only where there are no registers, or of a task that is exiting; dropped samples are counted by
 * LOST_SAMPLES records, one for each event, with the time of the last sample that was dropped.
 * A callchain is never cut: nobody could tell it from a whole one.
 */
#include "record/ring_reader.h"

#include <stdlib.h>

enum { LOSSES_BYTES = 4096 }; /* of LOST_SAMPLES records at a time */
enum { LOSS_BYTES_MAX = 64 }; /* of one: header, count and a trailer of all fields */
enum { CUT_BELOW_PART = 4, DROP_BELOW_PART = 8 };
enum shedding_level { SHED_NOTHING, SHED_STACKS, SHED_SAMPLES };

void ring_reader_init(struct ring_reader *reader, const struct events *events, struct buffers *buffers)
{
	*reader = (struct ring_reader){
		.buffers = buffers,
		.producer = { .wake_fd = -1 },
		.scratch = xcalloc(1, RECORD_BYTES_MAX + 1),
		.smaller = STR_INIT,
		.losses = STR_INIT,
	};
	decoder_init(&reader->decoder, events, false);
	sample_counts_init(&reader->dropped, events);
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
	decoder_release(&reader->decoder);
	sample_counts_release(&reader->dropped);
	str_release(&reader->smaller);
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
 * Copies up to n bytes into the buffer: as many whole records as it has room for. If that is not all they are counted
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

/* Copies what fits into one buffer. Returns how many bytes; 0: there is no buffer. */
static size_t copy_whole(struct ring_reader *reader, const struct ring_span span[2], size_t at,
			 size_t end, bool wait)
{
	struct buffer *buffer = buffer_for(reader, sizeof(struct perf_event_header), wait);
	size_t n = buffer ? fill(buffer, span, at, end - at) : 0, size;

	if (n || !buffer)
		return n;
	/* If not even one record fits, another buffer has room for any. */
	size = record_size(span, at, end);
	if (!size)
		return end - at; /* nothing after a header that makes no sense can be understood: all of it goes */
	buffer = buffer_for(reader, size, wait);
	return buffer ? fill(buffer, span, at, end - at) : 0;
}

/* ---- load shedding, where decoding a sample costs less than losing the next ---- */

static enum shedding_level shedding_level(const struct buffers *buffers)
{
	size_t free_bytes = buffers_free_bytes(buffers);

	if (free_bytes >= buffers->memory_bytes / CUT_BELOW_PART)
		return SHED_NOTHING;
	return free_bytes >= buffers->memory_bytes / DROP_BELOW_PART ? SHED_STACKS : SHED_SAMPLES;
}

/* The sample without the copy of its stack; itself where it has none, or makes no sense. */
static const struct perf_event_header *without_stack(struct ring_reader *reader,
						     const struct perf_event_header *header)
{
	struct record record;
	struct record_body body;
	struct str why = STR_INIT;
	int rc;

	record_from_bytes(&record, (const uint8_t *)header, 0, false);
	rc = record_decode(&reader->decoder, &record, &body, &why);
	if (rc || !body.event || !(body.sample.has & PERF_SAMPLE_STACK_USER) || !body.sample.stack_size) {
		str_release(&why);
		return header;
	}
	body.sample.stack_size = body.sample.stack_dyn_size = 0;
	body.sample.stack = NULL;
	str_reset(&reader->smaller);
	rc = record_encode(&body, body.event, &reader->smaller, &why);
	str_release(&why);
	if (rc)
		return header;
	reader->n_cut++;
	return (const void *)reader->smaller.s;
}

/* The record itself, a smaller one that is good until the next call, or NULL for a sample that is dropped. */
static const struct perf_event_header *shed(struct ring_reader *reader, enum shedding_level level,
					    const struct perf_event_header *record)
{
	if (record->type != RECORD_SAMPLE)
		return record;
	if (level == SHED_STACKS)
		return without_stack(reader, record);
	sample_counts_walk(&reader->dropped, (const uint8_t *)record, record->size, 0, NULL, NULL);
	reader->any_dropped = true;
	reader->n_dropped++;
	return NULL;
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

/* Copies one record, or what is left of it. Returns its bytes in the ring; 0: there is no buffer. */
static size_t copy_shedding(struct ring_reader *reader, enum shedding_level level, const struct ring_span span[2],
			    size_t at, size_t end)
{
	size_t size = record_size(span, at, end);
	const struct perf_event_header *record;
	struct buffer *buffer;

	reader->short_of_room = true;
	if (!size)
		return end - at;
	record = shed(reader, level, in_one_piece(reader, span, at, size));
	if (!record)
		return size;
	buffer = buffer_for(reader, record->size, false);
	if (!buffer)
		return 0;
	memcpy(buffer->bytes + buffer->n, record, record->size);
	buffer->n += record->size;
	return size;
}

/* Returns the LOST_SAMPLES records of the samples that were dropped, of as many events as fit into LOSSES_BYTES. */
static const struct str *losses_of(struct ring_reader *reader)
{
	struct sample_counts *dropped = &reader->dropped;
	const struct events *events = dropped->events;
	struct str why = STR_INIT;

	str_reset(&reader->losses);
	reader->any_dropped = false;
	for (size_t i = 0; i < events->n; i++) {
		if (!dropped->v[i].samples)
			continue;
		if (reader->losses.len + LOSS_BYTES_MAX > LOSSES_BYTES) {
			reader->any_dropped = true;
			break;
		}
		/* Some words: no record is too small for it. */
		(void)loss_encode(events->v[i], dropped->v[i].samples, dropped->last_ns, &reader->losses, &why);
		dropped->v[i].samples = 0;
	}
	if (!reader->any_dropped)
		sample_counts_clear(dropped);
	str_release(&why);
	return &reader->losses;
}

/* Writes down what was dropped, as soon as there is room for it. */
static void record_losses(struct ring_reader *reader, bool wait)
{
	while (reader->any_dropped) {
		struct buffer *buffer = buffer_for(reader, LOSSES_BYTES, wait);
		const struct str *losses;

		if (!buffer)
			return;
		losses = losses_of(reader);
		memcpy(buffer->bytes + buffer->n, losses->s, losses->len);
		buffer->n += losses->len;
	}
}

/* ---- all rings ---- */

/* Returns how much of the n bytes was dealt with; the rest stays in the ring. */
static size_t copy_ring(struct ring_reader *reader, const struct ring_span span[2], size_t n, bool wait)
{
	size_t at = 0, done;

	while (at < n) {
		enum shedding_level level = wait ? SHED_NOTHING : shedding_level(reader->buffers);

		done = level == SHED_NOTHING ? copy_whole(reader, span, at, n, wait) :
					       copy_shedding(reader, level, span, at, n);
		if (!done)
			break;
		at += done;
	}
	reader->short_of_room |= at < n;
	return at;
}

size_t ring_reader_drain(struct ring_reader *reader, enum drain_manner how)
{
	bool wait = how == DRAIN_PATIENTLY;
	size_t total = 0;

	buffers_drain_begins(reader->buffers, &reader->producer);
	reader->short_of_room = false;
	for (size_t i = 0; i < reader->n; i++) {
		struct ring *ring = reader->rings[i];
		struct ring_span span[2];
		size_t n = ring_ready(ring, span);

		if (!n)
			continue;
		n = copy_ring(reader, span, n, wait);
		ring_release(ring, n);
		total += n;
	}
	record_losses(reader, wait);
	buffers_drained(reader->buffers, &reader->producer, how != DRAIN_ON);
	return total;
}

size_t ring_reader_snapshot(struct ring_reader *reader)
{
	size_t total = 0;

	for (size_t i = 0; i < reader->n; i++) {
		struct ring_span span[2];
		size_t n = ring_snapshot(reader->rings[i], span);

		total += copy_ring(reader, span, n, true);
	}
	buffers_snapshot_ends(reader->buffers, &reader->producer);
	return total;
}
