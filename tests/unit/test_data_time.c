/* SPDX-License-Identifier: MIT */
/*
 * The time of a record without decoding it is the time that decoding finds, for each layout of fields.
 */
#include "data_fixture.h"

enum { TIME = 0x1122334455 };

static struct data_event *add_event(struct events *events, uint64_t sample_type, bool all,
				    uint64_t id)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .sample_type = sample_type };

	attr.sample_id_all = all;
	return events_add(events, &attr, sizeof(attr), &id, 1);
}

/* Encodes a record of the event and looks at both ways. True where there is a time. */
static bool check(const struct events *events, const struct data_event *event, uint32_t type,
		  uint64_t id)
{
	struct record_body in = fix_sample(id, TIME), out;
	struct str bytes = STR_INIT, err = STR_INIT;
	struct decoder decoder;
	struct record record;
	uint64_t time_ns = 0;
	bool has;

	in.type = type;
	in.sample.n_ips = 0;
	if (type != RECORD_SAMPLE) {
		memset(&in.sample, 0, sizeof(in.sample));
		in.comm.comm = "comm";
	}
	in.id = (struct sample_id){ .pid = 1, .tid = 2, .time_ns = TIME, .id = id, .cpu = 3 };
	assert_int_equal(record_encode(&in, event, &bytes, &err), 0);
	record_from_bytes(&record, (const uint8_t *)bytes.s, 0x40, false);
	assert_int_equal(record.type, type);
	assert_int_equal(record.size, bytes.len);
	assert_int_equal(record.offset, 0x40);
	decoder_init(&decoder, events, false);
	has = record_time(&decoder, &record, &time_ns);
	assert_int_equal(record_decode(&decoder, &record, &out, &err), 0);
	assert_int_equal(has, !!(out.id.has & PERF_SAMPLE_TIME));
	assert_int_equal(time_ns, has ? TIME : 0);
	assert_int_equal(out.id.time_ns, time_ns);
	/* Cut: never beyond what is there. */
	for (uint16_t size = 8; size < record.size; size += 8) {
		uint8_t *copy = xmalloc(size);

		memcpy(copy, record.bytes, size);
		record.bytes = copy;
		record.size = size;
		record_time(&decoder, &record, &time_ns);
		free(copy);
		record_from_bytes(&record, (const uint8_t *)bytes.s, 0x40, false);
	}
	decoder_release(&decoder);
	str_release(&bytes);
	str_release(&err);
	return has;
}

static const uint64_t layouts[] = {
	PERF_SAMPLE_TIME,
	PERF_SAMPLE_IP | PERF_SAMPLE_TID,
	PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
	PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TIME,
	PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
		PERF_SAMPLE_PERIOD,
	PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID,
};

static void test_one_event(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		for (unsigned all = 0; all < 2; all++) {
			struct events events;
			struct data_event *event;
			bool timed = layouts[i] & PERF_SAMPLE_TIME;

			events_init(&events);
			event = add_event(&events, layouts[i], all, 101);
			assert_int_equal(check(&events, event, RECORD_SAMPLE, 101), timed);
			assert_int_equal(check(&events, event, RECORD_COMM, 101), timed && all);
			assert_int_equal(events.sample_time_word >= 0, timed);
			assert_int_equal(events.trailer_time_word >= 0, timed && all);
			events_release(&events);
		}
	}
}

/* Events that differ, and say by IDENTIFIER which one it is. */
static void test_two_events(void **state)
{
	const uint64_t both = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME;
	struct data_event *one, *two, *three;
	struct events events;

	(void)state;
	events_init(&events);
	one = add_event(&events, both | PERF_SAMPLE_TID | PERF_SAMPLE_IP, true, 101);
	two = add_event(&events, both | PERF_SAMPLE_CPU, true, 102);
	three = add_event(&events, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP, true, 103);
	assert_int_equal(events.sample_time_word, -1);
	assert_int_equal(events.trailer_time_word, -1);
	assert_true(check(&events, one, RECORD_SAMPLE, 101));
	assert_true(check(&events, two, RECORD_SAMPLE, 102));
	assert_false(check(&events, three, RECORD_SAMPLE, 103));
	assert_true(check(&events, one, RECORD_COMM, 101));
	assert_true(check(&events, two, RECORD_COMM, 102));
	assert_false(check(&events, three, RECORD_COMM, 103));
	assert_true(check(&events, one, RECORD_COMM, 0)); /* synthesized: as the first event */
	events_release(&events);
}

static void test_others_have_none(void **state)
{
	const uint8_t round[16] = { RECORD_FINISHED_ROUND, 0, 0, 0, 0, 0, 16, 0, 1 };
	struct record record;
	struct decoder decoder;
	struct events events;
	uint64_t time_ns;

	(void)state;
	events_init(&events);
	decoder_init(&decoder, &events, false);
	record_from_bytes(&record, round, 0, false);
	record.type = RECORD_SAMPLE;
	assert_false(record_time(&decoder, &record, &time_ns)); /* no event at all */
	add_event(&events, PERF_SAMPLE_TIME, true, 101);
	assert_true(record_time(&decoder, &record, &time_ns));
	record.type = RECORD_FINISHED_ROUND;
	assert_false(record_time(&decoder, &record, &time_ns));
	decoder_release(&decoder);
	events_release(&events);
}

static void test_other_byte_order(void **state)
{
	const uint8_t sample[] = { 0, 0, 0, RECORD_SAMPLE, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 1, 2 };
	struct record record;
	struct decoder decoder;
	struct events events;
	uint64_t time_ns;

	(void)state;
	events_init(&events);
	add_event(&events, PERF_SAMPLE_TIME, true, 101);
	decoder_init(&decoder, &events, true);
	record_from_bytes(&record, sample, 0, true);
	assert_int_equal(record.type, RECORD_SAMPLE);
	assert_int_equal(record.size, 16);
	assert_true(record_time(&decoder, &record, &time_ns));
	assert_int_equal(time_ns, 0x102);
	decoder_release(&decoder);
	events_release(&events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_event),
		cmocka_unit_test(test_two_events),
		cmocka_unit_test(test_others_have_none),
		cmocka_unit_test(test_other_byte_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
