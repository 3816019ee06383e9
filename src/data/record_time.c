/*
 * record_time.c: what a reader that puts records in order needs of each: when it was written, with one
 * load and no decoding, and the record again from bytes that were kept.
 */
#include "data/decode.h"

/* The word at `word` of the payload (from the start, or from 1 at its end); false: it is shorter. */
static bool payload_word(const struct record *record, bool swap, bool from_end, int word,
			 uint64_t *value)
{
	size_t n = (size_t)record->size - RECORD_HEADER_BYTES;
	size_t need = 8 * ((size_t)word + !from_end);
	const uint8_t *end = record->bytes + record->size;

	if (word < from_end || n < need)
		return false;
	*value = load_u64(from_end ? end - need : record->bytes + need, swap);
	return true;
}

/* By the layout of the record's own event, where events differ. */
static bool own_time(const struct decoder *d, const struct record *record, bool sample,
		     uint64_t *time_ns)
{
	const struct events *events = d->events;
	int word = sample ? events->sample_id_word : events->trailer_id_word;
	const struct data_event *layout;
	uint64_t id = 0;
	bool has_id = payload_word(record, d->swap, !sample, word, &id);

	event_of(d, id, has_id, &layout);
	if (!layout && events->n && !sample && !id)
		layout = events->v[0];
	if (!layout)
		return false;
	word = sample ? sample_time_word(&layout->attr) : trailer_time_word(&layout->attr);
	return payload_word(record, d->swap, !sample, word, time_ns);
}

bool record_time(const struct decoder *d, const struct record *record, uint64_t *time_ns)
{
	bool sample = record->type == RECORD_SAMPLE;
	int word = sample ? d->events->sample_time_word : d->events->trailer_time_word;

	if (record->type >= RECORD_USER_FIRST)
		return false;
	if (word >= 0)
		return payload_word(record, d->swap, !sample, word, time_ns);
	return own_time(d, record, sample, time_ns);
}

void record_from_bytes(struct record *record, const uint8_t *bytes, uint64_t offset, bool swap)
{
	*record = (struct record){ .offset = offset, .bytes = bytes };
	record->type = load_u32(bytes, swap);
	record->misc = load_u16(bytes + 4, swap);
	record->size = load_u16(bytes + 6, swap);
}

size_t record_whole(const void *bytes, size_t n)
{
	struct perf_event_header header;

	if (n < sizeof(header))
		return 0;
	memcpy(&header, bytes, sizeof(header));
	return header.size >= sizeof(header) && header.size <= n ? header.size : 0;
}

size_t records_whole(const void *bytes, size_t n)
{
	size_t at = 0, size;

	while ((size = record_whole((const char *)bytes + at, n - at)) > 0)
		at += size;
	return at;
}
