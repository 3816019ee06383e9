/* SPDX-License-Identifier: MIT */
/*
 * sample_counts.c: the walk over record headers. It is all the work that is done per sample while recording: a header,
 * the event's id (one load, as IDENTIFIER is first) and the time.
 */
#include "record/sample_counts.h"

#include <stdlib.h>

/* Fields before TIME in a sample, each one word: perf_event_open(2). */
static int time_word_of(uint64_t sample_type)
{
	static const uint64_t before[] = { PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP, PERF_SAMPLE_TID };
	int word = 0;

	if (!(sample_type & PERF_SAMPLE_TIME))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(before); i++)
		word += (sample_type & before[i]) != 0;
	return word;
}

void sample_counts_init(struct sample_counts *counts, const struct events *events)
{
	*counts = (struct sample_counts){ .events = events, .first_ns = UINT64_MAX };
	counts->v = xcalloc(events->n + 1, sizeof(*counts->v));
	counts->time_words = xcalloc(events->n + 1, sizeof(*counts->time_words));
	for (size_t i = 0; i < events->n; i++)
		counts->time_words[i] = time_word_of(events->v[i]->attr.sample_type);
	counts->time_words[events->n] = -1;
}

void sample_counts_release(struct sample_counts *counts)
{
	free(counts->v);
	free(counts->time_words);
	*counts = (struct sample_counts){ 0 };
}

void sample_counts_clear(struct sample_counts *counts)
{
	memset(counts->v, 0, (counts->events->n + 1) * sizeof(*counts->v));
	counts->first_ns = UINT64_MAX;
	counts->last_ns = 0;
	counts->records = 0;
}

void sample_counts_merge(struct sample_counts *counts, struct sample_counts *from)
{
	for (size_t i = 0; i <= counts->events->n; i++) {
		struct event_counts *to = &counts->v[i], *of = &from->v[i];

		to->samples += of->samples;
		to->lost += of->lost;
		to->lost_samples += of->lost_samples;
		to->throttled += of->throttled;
		to->unthrottled += of->unthrottled;
	}
	if (from->first_ns < counts->first_ns)
		counts->first_ns = from->first_ns;
	if (from->last_ns > counts->last_ns)
		counts->last_ns = from->last_ns;
	counts->records += from->records;
	sample_counts_clear(from);
}

void sample_counts_subtract(struct sample_counts *counts, const struct sample_counts *part)
{
	for (size_t i = 0; i <= counts->events->n; i++) {
		struct event_counts *from = &counts->v[i];
		const struct event_counts *of = &part->v[i];

		from->samples -= of->samples;
		from->lost -= of->lost;
		from->lost_samples -= of->lost_samples;
		from->throttled -= of->throttled;
		from->unthrottled -= of->unthrottled;
	}
	counts->records -= part->records;
}

void sample_counts_move_samples(struct sample_counts *from, struct sample_counts *to)
{
	for (size_t i = 0; i <= from->events->n; i++) {
		to->v[i].samples += from->v[i].samples;
		from->v[i].samples = 0;
	}
}

int loss_encode(const struct data_event *event, uint64_t lost, uint64_t time_ns, struct str *out,
		struct str *err)
{
	struct record_body body = { .type = RECORD_LOST_SAMPLES };

	body.lost.lost = lost;
	body.id.time_ns = time_ns;
	if (event->n_ids)
		body.id.id = body.id.stream_id = event->ids[0];
	return record_encode(&body, event, out, err);
}

static size_t index_of(const struct sample_counts *counts, uint64_t id)
{
	const struct data_event *event = events_find(counts->events, id);

	return event ? event->index : counts->events->n;
}

/* Counts a sample. True: its id is another recorder's, see events_of_sample(). */
static bool take_sample(struct sample_counts *counts, const uint64_t *words, size_t n)
{
	const struct events *events = counts->events;
	const struct data_event *event = NULL;
	const int at = events->sample_id_word;
	const bool has_id = at >= 0 && (size_t)at < n;
	size_t index = events->n > 1 ? events->n : 0;
	bool strange = false;
	int time;

	if (has_id && (events->n > 1 || events->sole_software >= 0)) {
		event = events_find(events, words[at]);
		strange = !event && (event = events_of_sample(events, words[at])) != NULL;
		index = event ? event->index : index;
	}
	counts->v[index].samples++;
	time = counts->time_words[index];
	if (time < 0 || (size_t)time >= n)
		return strange;
	if (words[time] < counts->first_ns)
		counts->first_ns = words[time];
	if (words[time] > counts->last_ns)
		counts->last_ns = words[time];
	return strange;
}

/* The id in the trailer, which LOST_SAMPLES has nowhere else. */
static size_t index_by_trailer(const struct sample_counts *counts, const uint64_t *words, size_t n)
{
	int back = counts->events->trailer_id_word;

	return back > 0 && (size_t)back <= n ? index_of(counts, words[n - (size_t)back]) :
					       counts->events->n;
}

static void take_other(struct sample_counts *counts, uint32_t type, const uint64_t *words, size_t n)
{
	switch (type) {
	case RECORD_LOST: /* id, lost */
		if (n >= 2)
			counts->v[index_of(counts, words[0])].lost += words[1];
		break;
	case RECORD_LOST_SAMPLES: /* lost */
		if (n >= 1)
			counts->v[index_by_trailer(counts, words, n)].lost_samples += words[0];
		break;
	case RECORD_THROTTLE: /* time, id, stream_id */
		if (n >= 2)
			counts->v[index_of(counts, words[1])].throttled++;
		break;
	case RECORD_UNTHROTTLE:
		if (n >= 2)
			counts->v[index_of(counts, words[1])].unthrottled++;
		break;
	}
}

static bool is_in(uint64_t types, uint32_t type)
{
	return type < RECORD_USER_FIRST && types >> type & 1;
}

size_t sample_counts_walk(struct sample_counts *counts, const uint8_t *bytes, size_t n, uint64_t types,
			  counted_record_fn fn, void *data)
{
	size_t at = 0;

	while (n - at >= RECORD_HEADER_BYTES) {
		const struct perf_event_header *header = (const void *)(bytes + at);
		const uint64_t *words = (const void *)(bytes + at + RECORD_HEADER_BYTES);
		size_t size = header->size, n_words = (size - RECORD_HEADER_BYTES) / sizeof(*words);
		bool wanted;

		if (size < RECORD_HEADER_BYTES || size % 8 || size > n - at)
			break;
		wanted = is_in(types, header->type);
		if (header->type == RECORD_SAMPLE)
			wanted &= take_sample(counts, words, n_words);
		else
			take_other(counts, header->type, words, n_words);
		if (wanted) {
			struct record record = {
				.type = header->type,
				.misc = header->misc,
				.size = header->size,
				.bytes = bytes + at,
			};

			fn(data, &record);
		}
		counts->records++;
		at += size;
	}
	return at;
}
