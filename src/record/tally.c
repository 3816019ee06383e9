/*
 * The walk over record headers. It is all the work that is done per sample while recording: a header,
 * the event's id (one load, as IDENTIFIER is first) and the time.
 */
#include "record/tally.h"

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

void tally_init(struct tally *tally, const struct events *events)
{
	*tally = (struct tally){ .events = events, .first_ns = UINT64_MAX };
	tally->v = xcalloc(events->n + 1, sizeof(*tally->v));
	tally->time_words = xcalloc(events->n + 1, sizeof(*tally->time_words));
	for (size_t i = 0; i < events->n; i++)
		tally->time_words[i] = time_word_of(events->v[i]->attr.sample_type);
	tally->time_words[events->n] = -1;
}

void tally_release(struct tally *tally)
{
	free(tally->v);
	free(tally->time_words);
	*tally = (struct tally){ 0 };
}

void tally_clear(struct tally *tally)
{
	memset(tally->v, 0, (tally->events->n + 1) * sizeof(*tally->v));
	tally->first_ns = UINT64_MAX;
	tally->last_ns = 0;
	tally->records = 0;
}

void tally_merge(struct tally *tally, struct tally *from)
{
	for (size_t i = 0; i <= tally->events->n; i++) {
		struct event_tally *to = &tally->v[i], *of = &from->v[i];

		to->samples += of->samples;
		to->lost += of->lost;
		to->lost_samples += of->lost_samples;
		to->throttled += of->throttled;
		to->unthrottled += of->unthrottled;
	}
	if (from->first_ns < tally->first_ns)
		tally->first_ns = from->first_ns;
	if (from->last_ns > tally->last_ns)
		tally->last_ns = from->last_ns;
	tally->records += from->records;
	tally_clear(from);
}

void tally_subtract(struct tally *tally, const struct tally *part)
{
	for (size_t i = 0; i <= tally->events->n; i++) {
		struct event_tally *from = &tally->v[i];
		const struct event_tally *of = &part->v[i];

		from->samples -= of->samples;
		from->lost -= of->lost;
		from->lost_samples -= of->lost_samples;
		from->throttled -= of->throttled;
		from->unthrottled -= of->unthrottled;
	}
	tally->records -= part->records;
}

void tally_move_samples(struct tally *from, struct tally *to)
{
	for (size_t i = 0; i <= from->events->n; i++) {
		to->v[i].samples += from->v[i].samples;
		from->v[i].samples = 0;
	}
}

int tally_encode_loss(const struct data_event *event, uint64_t lost, uint64_t time_ns, struct str *out,
		      struct str *err)
{
	struct record_body body = { .type = RECORD_LOST_SAMPLES };

	body.lost.lost = lost;
	body.id.time_ns = time_ns;
	if (event->n_ids)
		body.id.id = body.id.stream_id = event->ids[0];
	return record_encode(&body, event, out, err);
}

static size_t index_of(const struct tally *tally, uint64_t id)
{
	const struct data_event *event = events_find(tally->events, id);

	return event ? event->index : tally->events->n;
}

static void take_sample(struct tally *tally, const uint64_t *words, size_t n)
{
	int at = tally->events->sample_id_word;
	size_t index = 0;
	int time;

	if (tally->events->n > 1)
		index = at >= 0 && (size_t)at < n ? index_of(tally, words[at]) : tally->events->n;
	tally->v[index].samples++;
	time = tally->time_words[index];
	if (time < 0 || (size_t)time >= n)
		return;
	if (words[time] < tally->first_ns)
		tally->first_ns = words[time];
	if (words[time] > tally->last_ns)
		tally->last_ns = words[time];
}

/* The id in the trailer, which LOST_SAMPLES has nowhere else. */
static size_t index_by_trailer(const struct tally *tally, const uint64_t *words, size_t n)
{
	int back = tally->events->trailer_id_word;

	return back > 0 && (size_t)back <= n ? index_of(tally, words[n - (size_t)back]) :
					       tally->events->n;
}

static void take_other(struct tally *tally, uint32_t type, const uint64_t *words, size_t n)
{
	switch (type) {
	case RECORD_LOST: /* id, lost */
		if (n >= 2)
			tally->v[index_of(tally, words[0])].lost += words[1];
		break;
	case RECORD_LOST_SAMPLES: /* lost */
		if (n >= 1)
			tally->v[index_by_trailer(tally, words, n)].lost_samples += words[0];
		break;
	case RECORD_THROTTLE: /* time, id, stream_id */
		if (n >= 2)
			tally->v[index_of(tally, words[1])].throttled++;
		break;
	case RECORD_UNTHROTTLE:
		if (n >= 2)
			tally->v[index_of(tally, words[1])].unthrottled++;
		break;
	}
}

static bool is_in(uint64_t types, uint32_t type)
{
	return type < RECORD_USER_FIRST && types >> type & 1;
}

size_t tally_walk(struct tally *tally, const uint8_t *bytes, size_t n, uint64_t types, tally_fn fn,
		  void *data)
{
	size_t at = 0;

	while (n - at >= RECORD_HEADER_BYTES) {
		const struct perf_event_header *header = (const void *)(bytes + at);
		const uint64_t *words = (const void *)(bytes + at + RECORD_HEADER_BYTES);
		size_t size = header->size, n_words = (size - RECORD_HEADER_BYTES) / sizeof(*words);

		if (size < RECORD_HEADER_BYTES || size % 8 || size > n - at)
			break;
		if (header->type == RECORD_SAMPLE)
			take_sample(tally, words, n_words);
		else
			take_other(tally, header->type, words, n_words);
		if (is_in(types, header->type)) {
			struct record record = {
				.type = header->type,
				.misc = header->misc,
				.size = header->size,
				.bytes = bytes + at,
			};

			fn(data, &record);
		}
		tally->records++;
		at += size;
	}
	return at;
}
