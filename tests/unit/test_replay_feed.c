/* SPDX-License-Identifier: MIT */
/*
 * A replay that is fed without any file: two rings, whose records lie in one buffer that is used again and again,
 * and rounds that the feeder knows of. What a recorder does that looks at what it records.
 */
#include "replay_fixture.h"

struct feed {
	struct made_recording s;
	struct decoder decoder;
	struct note_list notes;
	struct recording_info recording;
	uint64_t buffer[RECORD_BYTES_MAX / 8 + 1]; /* all records come through it */
};

static void feed_init(struct feed *feed)
{
	static const struct replay_options options;
	struct replay_handlers handlers = { .context = &feed->s,
					    .sample = recording_on_sample,
					    .other = recording_on_other };

	memset(feed, 0, sizeof(*feed));
	recording_init(&feed->s);
	decoder_init(&feed->decoder, &feed->s.events, false);
	feed->recording = (struct recording_info){ .events = &feed->s.events,
						   .info = &feed->s.info,
						   .decoder = &feed->decoder,
						   .notes = &feed->notes };
	replay_init(&feed->s.replay, &feed->recording, &options);
	replay_begin(&feed->s.replay, &handlers);
}

/* What was recorded so far is what a ring had to give. */
static int give(struct feed *feed)
{
	struct made_recording *s = &feed->s;
	int rc = 0;

	for (size_t at = 0; at < s->records.len && !rc;) {
		struct record record;

		record_from_bytes(&record, (const uint8_t *)s->records.s + at, at, false);
		memcpy(feed->buffer, s->records.s + at, record.size);
		record_from_bytes(&record, (const uint8_t *)feed->buffer, at, false);
		rc = replay_feed(&s->replay, &record, &s->err);
		memset(feed->buffer, 0xee, sizeof(feed->buffer));
		at += record.size;
	}
	str_reset(&s->records);
	return rc;
}

static void feed_release(struct feed *feed)
{
	replay_release(&feed->s.replay);
	decoder_release(&feed->decoder);
	note_list_release(&feed->notes);
	recording_release(&feed->s);
}

static void test_rings(void **state)
{
	struct made_recording *s;
	struct feed feed;

	(void)state;
	feed_init(&feed);
	s = &feed.s;
	recording_map(s, 0, PID, 0x10000, 0x1000, 0, "/bin/a");
	assert_int_equal(give(&feed), 0);
	recording_sample(s, 10, PID, PID, 0x10001);
	recording_sample(s, 30, PID, PID, 0x10003);
	assert_int_equal(give(&feed), 0);
	recording_comm(s, 15, PID, PID, false, "name");
	recording_sample(s, 20, PID, PID, 0x10002);
	assert_int_equal(give(&feed), 0);
	assert_string_equal(s->log.s, "");
	assert_int_equal(replay_round(&s->replay, &s->err), 0);
	assert_string_equal(s->log.s, "");
	/* The second round: no more can come that is older than 30. */
	recording_sample(s, 40, PID, PID, 0x10005);
	assert_int_equal(give(&feed), 0);
	recording_map(s, 34, PID, 0x10000, 0x1000, 0, "/bin/b");
	recording_sample(s, 35, PID, PID, 0x10004);
	assert_int_equal(give(&feed), 0);
	assert_int_equal(replay_round(&s->replay, &s->err), 0);
	assert_string_equal(s->log.s, ":42/42 10: 10001=a+1\nname/42 20: 10002=a+2\nname/42 30: 10003=a+3\n");
	str_reset(&s->log);
	assert_int_equal(replay_end(&s->replay, &s->err), 0);
	assert_string_equal(s->log.s, "name/42 35: 10004=b+4\nname/42 40: 10005=b+5\n");
	assert_int_equal(s->replay.counts.out_of_order, 0);
	feed_release(&feed);
}

/* A handler's error comes out of whatever call delivered the sample. */
static void test_stop(void **state)
{
	struct feed feed;

	(void)state;
	feed_init(&feed);
	feed.s.stop_at = 2;
	recording_sample(&feed.s, 10, PID, PID, 0x10001);
	recording_sample(&feed.s, 20, PID, PID, 0x10002);
	assert_int_equal(give(&feed), 0);
	assert_int_equal(replay_end(&feed.s.replay, &feed.s.err), -ECANCELED);
	assert_string_equal(feed.s.err.s, "enough");
	feed_release(&feed);
}

/* A record that cannot be decoded is a note of the recording, whoever has its notes. */
static void test_broken(void **state)
{
	static const uint64_t words[2] = { RECORD_COMM | 16ULL << 48, 0 };
	struct feed feed;

	(void)state;
	feed_init(&feed);
	str_addn(&feed.s.records, (const char *)words, sizeof(words));
	assert_int_equal(give(&feed), 0);
	assert_int_equal(replay_end(&feed.s.replay, &feed.s.err), 0);
	assert_int_equal(feed.s.replay.counts.broken, 1);
	assert_int_equal(feed.notes.n, 1);
	feed_release(&feed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rings),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
