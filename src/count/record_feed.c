/*
 * record_feed.c: records where they lie. A record is decoded in the ring, not copied out of it; its room goes
 * back to the kernel when the next one is asked for. Only one that lies around the ring's end is copied, into
 * a buffer that is as large as a record can be.
 *
 *   tail      handed out last                     head as it was
 *   |[..used..[====last====]======= ready =========)
 *
 * Rings take turns: what was ready in one is handed out before the next is looked at, so that a ring that is
 * filled all the time does not keep the others waiting.
 *
 * What the bytes say is believed as far as it was checked: a size that makes no sense means that no record's
 * beginning is known behind it, and all that was ready goes. A record that cannot be decoded goes alone.
 */
#include "count/record_feed.h"
#include "count/public_record.h"

#include <errno.h>
#include <stdlib.h>

/* A sentence about a record is shorter: type, place, and one of data/'s fixed texts. */
enum { SENTENCE_BYTES = 512 };

void record_feed_init(struct record_feed *feed, struct ring *rings, size_t n_rings)
{
	*feed = (struct record_feed){ .rings = rings, .n_rings = n_rings, .why = STR_INIT };
	events_init(&feed->events);
	decoder_init(&feed->decoder, &feed->events, false);
	feed->around = xmalloc(RECORD_BYTES_MAX + 1);
	str_pad(&feed->why, ' ', SENTENCE_BYTES);
	str_reset(&feed->why);
}

void record_feed_release(struct record_feed *feed)
{
	/* Zeroed, it never had any of these. */
	if (!feed->around)
		return;
	decoder_release(&feed->decoder);
	events_release(&feed->events);
	str_release(&feed->why);
	free(feed->around);
	*feed = (struct record_feed){ 0 };
}

static struct ring *ring_in_turn(const struct record_feed *feed)
{
	return &feed->rings[feed->at];
}

static void give_back(struct record_feed *feed, size_t bytes)
{
	ring_release(ring_in_turn(feed), bytes);
	feed->used += bytes;
	feed->last = 0;
}

/* The next ring that has something; false: none has. */
static bool next_ring(struct record_feed *feed)
{
	for (size_t i = 0; i < feed->n_rings; i++) {
		feed->at = feed->at + 1 < feed->n_rings ? feed->at + 1 : 0;
		feed->ready = ring_ready(ring_in_turn(feed), feed->span);
		feed->used = 0;
		if (feed->ready)
			return true;
	}
	return false;
}

/* The first of the bytes that are left; *n: how many of them follow each other there. */
static const unsigned char *place(const struct record_feed *feed, size_t *n)
{
	size_t first = feed->span[0].n;

	if (feed->used < first) {
		*n = first - feed->used;
		return feed->span[0].bytes + feed->used;
	}
	*n = feed->ready - feed->used;
	return feed->span[1].bytes + (feed->used - first);
}

/* The record's bytes in one piece; NULL: there is none that makes sense. */
static const uint8_t *whole_record(struct record_feed *feed, size_t *size)
{
	size_t left = feed->ready - feed->used, n;
	const unsigned char *at = place(feed, &n);
	struct perf_event_header header;

	if (n < sizeof(header))
		return NULL;
	memcpy(&header, at, sizeof(header));
	if (header.size < sizeof(header) || header.size % 8 || header.size > left)
		return NULL;
	*size = header.size;
	if (header.size <= n)
		return at;
	memcpy(feed->around, at, n);
	memcpy((char *)feed->around + n, feed->span[1].bytes, header.size - n);
	return (const uint8_t *)feed->around;
}

static int lose_track(struct record_feed *feed)
{
	size_t left = feed->ready - feed->used;

	str_reset(&feed->why);
	str_addf(&feed->why, "%zu bytes in the ring of CPU %d begin with no record", left, ring_in_turn(feed)->cpu);
	give_back(feed, left);
	feed->broken++;
	return -EBADMSG;
}

static void count(struct record_feed *feed)
{
	feed->delivered++;
	if (feed->body.type == RECORD_SAMPLE)
		feed->samples++;
	else if (feed->body.type == RECORD_LOST)
		feed->lost += feed->body.lost.lost;
	else if (feed->body.type == RECORD_LOST_SAMPLES)
		feed->not_taken += feed->body.lost.lost;
}

/* Types from 64 on are those of a file; from a ring they are as good as unknown. */
static int decode(struct record_feed *feed, const struct record *record)
{
	str_reset(&feed->why);
	if (record->type < RECORD_USER_FIRST)
		return record_decode(&feed->decoder, record, &feed->body, &feed->why);
	memset(&feed->body, 0, sizeof(feed->body));
	feed->body.type = record->type;
	return 0;
}

int record_feed_next(struct record_feed *feed, const struct pstat_record **out)
{
	struct record record;
	const uint8_t *bytes;
	size_t size;

	*out = NULL;
	if (feed->last)
		give_back(feed, feed->last);
	if (feed->used == feed->ready && !next_ring(feed))
		return 0;
	bytes = whole_record(feed, &size);
	if (!bytes)
		return lose_track(feed);
	record_from_bytes(&record, bytes, ring_in_turn(feed)->tail, false);
	feed->last = size;
	if (decode(feed, &record)) {
		feed->broken++;
		return -EBADMSG;
	}
	count(feed);
	feed->record.ring_cpu = ring_in_turn(feed)->cpu;
	public_record_fill(&feed->record, &record, &feed->body);
	*out = &feed->record;
	return 1;
}
