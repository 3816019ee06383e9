/* SPDX-License-Identifier: MIT */
/*
 * decoder.c: what the payloads of samples and of other records share: arrays of 8-byte words, which are
 * used where they lie or copied into the decoder, and the values of counters in the layout of a
 * read_format.
 *
 * Source: perf_event_open(2), "read_format".
 */
#include "data/decode.h"

#include <stdlib.h>

void decoder_init(struct decoder *decoder, const struct events *events, bool swap)
{
	*decoder = (struct decoder){ .events = events, .swap = swap };
	decoder->scratch = xmalloc(RECORD_BYTES_MAX + 1);
}

void decoder_release(struct decoder *decoder)
{
	free(decoder->scratch);
	decoder->scratch = NULL;
}

const uint64_t *decoder_words(struct decoder *decoder, struct cursor *c, uint64_t n)
{
	const uint8_t *p;
	uint64_t *copy = decoder->scratch + decoder->scratch_used;

	/* All copies together are bytes of one record, so scratch is large enough; see record_decode. */
	if (n > cursor_left(c) / 8) {
		cursor_bytes(c, UINT64_MAX);
		return NULL;
	}
	p = cursor_bytes(c, n * 8);
	if (!c->swap && (uintptr_t)p % _Alignof(uint64_t) == 0)
		return (const uint64_t *)(const void *)p;
	for (uint64_t i = 0; i < n; i++)
		copy[i] = load_u64(p + i * 8, c->swap);
	decoder->scratch_used += n;
	return copy;
}

/* ---- counter values ---- */

/* Words per event in a counter value row: value, id, lost. */
static unsigned values_stride(uint64_t format)
{
	return 1 + !!(format & PERF_FORMAT_ID) + !!(format & DATA_FORMAT_LOST);
}

static const uint64_t *values_row(const struct read_values *values, size_t i)
{
	return values->words ? values->words + i * values_stride(values->format) : values->single;
}

uint64_t read_values_value(const struct read_values *values, size_t i)
{
	return i < values->n ? values_row(values, i)[0] : 0;
}

bool read_values_id(const struct read_values *values, size_t i, uint64_t *id)
{
	if (!(values->format & PERF_FORMAT_ID) || i >= values->n)
		return false;
	*id = values_row(values, i)[1];
	return true;
}

bool read_values_lost(const struct read_values *values, size_t i, uint64_t *lost)
{
	if (!(values->format & DATA_FORMAT_LOST) || i >= values->n)
		return false;
	*lost = values_row(values, i)[values_stride(values->format) - 1];
	return true;
}

const char *read_values_decode(struct decoder *decoder, uint64_t format, struct cursor *c,
			       struct read_values *values)
{
	bool group = format & PERF_FORMAT_GROUP;
	unsigned stride = values_stride(format);

	memset(values, 0, sizeof(*values));
	values->format = format;
	values->n = 1;
	if (group)
		values->n = cursor_u64(c);
	else
		values->single[0] = cursor_u64(c);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		values->enabled_ns = cursor_u64(c);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		values->running_ns = cursor_u64(c);
	if (!group) {
		for (unsigned i = 1; i < stride; i++)
			values->single[i] = cursor_u64(c);
	} else if (values->n > cursor_left(c) / 8 / stride) {
		return "more counter values than the record has room for";
	} else {
		values->words = decoder_words(decoder, c, values->n * stride);
	}
	return c->bad ? "counter values are cut off" : NULL;
}

/* Writes them in the layout of `format`, whichever they came in: what they lack is 0. */
void read_values_encode(const struct read_values *values, uint64_t format, struct str *out)
{
	bool group = format & PERF_FORMAT_GROUP;

	put_u64(out, group ? values->n : read_values_value(values, 0));
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		put_u64(out, values->enabled_ns);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		put_u64(out, values->running_ns);
	for (uint64_t i = 0; i < (group ? values->n : 1); i++) {
		uint64_t id = 0, lost = 0;

		read_values_id(values, i, &id);
		read_values_lost(values, i, &lost);
		if (group)
			put_u64(out, read_values_value(values, i));
		if (format & PERF_FORMAT_ID)
			put_u64(out, id);
		if (format & DATA_FORMAT_LOST)
			put_u64(out, lost);
	}
}
