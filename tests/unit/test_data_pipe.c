/* SPDX-License-Identifier: MIT */
/*
 * What a pipe's records have to say about the recording, however much it is: ids and names that one record has no
 * room for, and features that no record can have.
 */
#include "data_fixture.h"

#include "data/format.h"

enum { MANY_IDS = 20000 };

struct made {
	struct events events;
	struct info info;
	struct str err;
	char path[256];
};

static int made_setup(void **state)
{
	struct made *m = xcalloc(1, sizeof(*m));

	events_init(&m->events);
	fix_info(&m->info);
	str_init(&m->err);
	fix_path(m->path, sizeof(m->path), "pipe");
	unlink(m->path);
	*state = m;
	return 0;
}

static int made_teardown(void **state)
{
	struct made *m = *state;

	events_release(&m->events);
	info_release(&m->info);
	str_release(&m->err);
	unlink(m->path);
	free(m);
	return 0;
}

static uint64_t many_id(size_t event, size_t i)
{
	return 1000000 * (event + 1) + i;
}

/* Two events with the same attr, so that nothing but the ids tells one from the other; a third has few. */
static void add_many_ids(struct made *m)
{
	static const char *const names[] = { "one", "other", "few" };
	uint64_t *ids = xcalloc(MANY_IDS, sizeof(*ids));

	for (size_t e = 0; e < 3; e++) {
		for (size_t i = 0; i < MANY_IDS; i++)
			ids[i] = many_id(e, i);
		fix_event(&m->events, PERF_COUNT_SW_CPU_CLOCK, ids, e < 2 ? MANY_IDS : 5, names[e]);
	}
	m->events.v[1]->unit = xstrdup("msec");
	m->events.v[1]->scale = 0.5;
	free(ids);
}

static void write_recording(struct made *m, struct writer_options options, bool finish)
{
	struct writer writer;

	options.path = m->path;
	assert_int_equal(writer_open(&writer, &options, &m->events, &m->info, &m->err), 0);
	for (size_t e = 0; e < m->events.n; e++) {
		const struct data_event *event = m->events.v[e];
		struct record_body body = fix_sample(event->ids[event->n_ids - 1], 1000 + e);

		assert_int_equal(writer_add_body(&writer, &body, event, &m->err), 0);
	}
	assert_int_equal(finish ? writer_finish(&writer, &m->events, &m->info, &m->err) :
				  writer_flush(&writer, &m->err),
			 0);
	writer_close(&writer);
}

/* All its events as they were written, and one sample of each. */
static void assert_comes_back(struct made *m, size_t notes)
{
	struct reader reader;
	struct record record;
	struct record_body body;
	size_t samples = 0;

	assert_int_equal(reader_open(&reader, m->path, &m->err), 0);
	while (reader_next(&reader, &record, &m->err) > 0) {
		assert_int_equal(reader_decode(&reader, &record, &body, &m->err), 0);
		if (record.type != RECORD_SAMPLE)
			continue;
		assert_non_null(body.event);
		assert_int_equal(body.event->index, samples);
		assert_string_equal(body.event->name, m->events.v[samples]->name);
		samples++;
	}
	assert_string_equal(m->err.s, "");
	assert_int_equal(samples, m->events.n);
	assert_int_equal(reader.notes.n, notes);
	assert_int_equal(reader.decoder.unknown_ids, 0);
	assert_int_equal(reader.events.n, m->events.n);
	for (size_t e = 0; e < m->events.n; e++) {
		const struct data_event *in = m->events.v[e], *out = reader.events.v[e];

		assert_int_equal(in->n_ids, out->n_ids);
		assert_memory_equal(in->ids, out->ids, in->n_ids * sizeof(*in->ids));
		assert_string_equal(in->unit ? in->unit : "", out->unit ? out->unit : "");
		assert_true(in->scale == out->scale);
	}
	reader_close(&reader);
}

/* More than 8,170 ids: further HEADER_ATTRs have them. */
static void test_many_ids(void **state)
{
	struct made *m = *state;

	add_many_ids(m);
	write_recording(m, (struct writer_options){ .pipe = true }, true);
	assert_comes_back(m, 0);
	unlink(m->path);
	write_recording(m, (struct writer_options){ 0 }, true);
	assert_comes_back(m, 0);
	unlink(m->path);
	write_recording(m, (struct writer_options){ 0 }, false);
	assert_comes_back(m, 1); /* it did not finish */
}

/* Ids of an event that is not there, or that has another attr: a new event. */
static void test_further_ids_of_nothing(void **state)
{
	struct made *m = *state;
	struct reader reader;
	struct record record;
	struct str bytes;
	unsigned n = 0;

	add_many_ids(m);
	write_recording(m, (struct writer_options){ .pipe = true }, true);
	str_init(&bytes);
	assert_int_equal(read_text_file(m->path, &bytes), 0);
	assert_int_equal(reader_open(&reader, m->path, &m->err), 0);
	while (reader_next(&reader, &record, &m->err) > 0) {
		uint16_t misc = 77;

		if (record.type != RECORD_HEADER_ATTR || !record.misc)
			continue;
		assert_int_equal(record.misc, n < 2 ? 1 : 2); /* two of each */
		if (n++ % 2)
			memcpy(bytes.s + record.offset + 4, &misc, sizeof(misc));
		else
			bytes.s[record.offset + 8 + offsetof(struct perf_event_attr, config)] ^= 1;
	}
	reader_close(&reader);
	assert_int_equal(n, 4);
	assert_int_equal(reader_open_fd(&reader, fix_memory_file(bytes.s, bytes.len), "x", &m->err), 0);
	while (reader_next(&reader, &record, &m->err) > 0)
		;
	assert_string_equal(m->err.s, "");
	assert_int_equal(reader.events.n, 3 + 4);
	reader_close(&reader);
	str_release(&bytes);
}

/* EVENT_DESC of more than 64 KiB, with few ids: names and units come one by one. */
static void test_many_names(void **state)
{
	struct made *m = *state;
	char name[32];

	for (uint64_t i = 0; i < 700; i++) {
		snprintf(name, sizeof(name), "event_%u", (unsigned)i);
		fix_event(&m->events, i % 12, &i, 1, name);
		if (i % 7 == 0)
			m->events.v[i]->unit = xstrdup("J");
	}
	write_recording(m, (struct writer_options){ .pipe = true }, true);
	assert_comes_back(m, 0);
	unlink(m->path);
	write_recording(m, (struct writer_options){ 0 }, false);
	assert_comes_back(m, 1); /* it did not finish */
}

/* A feature that a record has no room for and that nothing else says: the caller is told, the rest is there. */
static void test_features_without_room(void **state)
{
	struct made *m = *state;
	struct str word = STR_INIT;
	struct writer writer;

	add_many_ids(m);
	str_pad(&word, 'x', 70000);
	text_list_add(&m->info.cmdline, word.s, word.len);
	for (int pipe = 0; pipe < 2; pipe++) {
		struct writer_options options = { .path = m->path, .pipe = pipe };
		struct reader reader;
		struct record record;

		unlink(m->path);
		assert_int_equal(writer_open(&writer, &options, &m->events, &m->info, &m->err), 0);
		assert_string_equal(writer.left_out.s, pipe ? "CMDLINE" : "");
		assert_int_equal(writer_finish(&writer, &m->events, &m->info, &m->err), 0);
		writer_close(&writer);
		assert_int_equal(reader_open(&reader, m->path, &m->err), 0);
		while (reader_next(&reader, &record, &m->err) > 0)
			;
		assert_int_equal(info_has(&reader.info, FEATURE_CMDLINE), !pipe);
		assert_string_equal(reader.info.hostname, "host");
		reader_close(&reader);
	}
	str_release(&word);
}

/* How many HEADER_FEATURE records there are; none that an older or a newer perf ends at. */
static size_t count_features(struct made *m)
{
	struct reader reader;
	struct record record;
	struct record_body body;
	size_t n = 0;

	assert_int_equal(reader_open(&reader, m->path, &m->err), 0);
	while (reader_next(&reader, &record, &m->err) > 0) {
		if (record.type != RECORD_HEADER_FEATURE)
			continue;
		assert_int_equal(reader_decode(&reader, &record, &body, &m->err), 0);
		assert_in_range(body.feature.feature, FEATURE_HOSTNAME, FEATURE_CLOCK_DATA);
		assert_true(body.feature.bytes.n > 0);
		n++;
	}
	assert_string_equal(m->err.s, "");
	assert_true(info_has(&reader.info, FEATURE_HOSTNAME));
	assert_string_equal(reader.events.v[0]->name, "one");
	reader_close(&reader);
	return n;
}

static uint64_t data_end(const struct made *m, uint64_t *data_size)
{
	struct str bytes = STR_INIT;
	uint64_t data[2];

	assert_int_equal(read_text_file(m->path, &bytes), 0);
	memcpy(data, bytes.s + FORMAT_DATA_SECTION_AT, sizeof(data));
	str_release(&bytes);
	*data_size = data[1];
	return data[0] + data[1];
}

/* A recording that has ended has its features in the table alone, and its data begin behind the records of them. */
static void test_where_features_are(void **state)
{
	struct made *m = *state;
	uint64_t end, size, later_size;

	fix_event(&m->events, PERF_COUNT_SW_CPU_CLOCK, fix_ids, 2, "one");
	info_set(&m->info, FEATURE_PMU_CAPS);
	write_recording(m, (struct writer_options){ .pipe = true }, true);
	assert_int_equal(count_features(m), 6);
	unlink(m->path);
	write_recording(m, (struct writer_options){ 0 }, false);
	assert_int_equal(count_features(m), 6);
	end = data_end(m, &size);
	unlink(m->path);
	write_recording(m, (struct writer_options){ 0 }, true);
	assert_int_equal(count_features(m), 0);
	assert_int_equal(data_end(m, &later_size), end);
	assert_true(later_size < size);
}

/* A size of 0 would have the features taken for records. */
static void test_no_records_but_features(void **state)
{
	struct made *m = *state;
	struct writer_options options = { .path = m->path };
	struct writer writer;
	uint64_t size;

	fix_event(&m->events, PERF_COUNT_SW_CPU_CLOCK, fix_ids, 2, "one");
	assert_int_equal(writer_open(&writer, &options, &m->events, &m->info, &m->err), 0);
	assert_int_equal(writer_finish(&writer, &m->events, &m->info, &m->err), 0);
	writer_close(&writer);
	count_features(m);
	data_end(m, &size);
	assert_true(size > 0);
}

/* The source's records to its end or until it would wait; returns which. Counts the samples. */
static int read_source(struct made *m, struct reader *reader, size_t *samples)
{
	struct record record;
	int rc;

	*samples = 0;
	while ((rc = reader->source.next(&reader->source, &record, &m->err)) != SOURCE_LATER && rc > 0)
		*samples += rc == SOURCE_RECORD && record.type == RECORD_SAMPLE;
	assert_string_equal(m->err.s, "");
	return rc;
}

/* The first `there` bytes of a pipe, which then ends. */
static void know_events_at_end(struct made *m, const struct str *bytes, size_t there, size_t events, size_t samples)
{
	struct reader reader;
	size_t found;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write_all(fds[1], bytes->s, there), 0);
	close(fds[1]);
	assert_int_equal(reader_open_fd(&reader, fds[0], "pipe", &m->err), 0);
	reader_know_events(&reader);
	assert_int_equal(reader.events.n, events);
	assert_int_equal(read_source(m, &reader, &found), SOURCE_END);
	assert_int_equal(found, samples);
	reader_close(&reader);
}

/* A pipe that halts there, and that nobody waits for; the rest comes later. */
static void know_events_meanwhile(struct made *m, const struct str *bytes, size_t there, size_t events,
				  size_t samples)
{
	struct reader reader;
	size_t found;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write_all(fds[1], bytes->s, there), 0);
	assert_int_equal(reader_open_fd(&reader, fds[0], "pipe", &m->err), 0);
	reader_no_wait(&reader);
	reader_know_events(&reader);
	assert_int_equal(reader.events.n, events);
	assert_int_equal(read_source(m, &reader, &found), SOURCE_LATER);
	assert_int_equal(found, samples);
	assert_int_equal(write_all(fds[1], bytes->s + there, bytes->len - there), 0);
	close(fds[1]);
	assert_int_equal(read_source(m, &reader, &found), SOURCE_END);
	assert_int_equal(found, m->events.n - samples);
	assert_int_equal(reader.events.n, m->events.n);
	reader_close(&reader);
}

/* Events are known before the first sample is asked for, as far as the pipe has come. */
static void test_know_events(void **state)
{
	struct made *m = *state;
	struct str bytes = STR_INIT;
	size_t second, third;

	for (size_t e = 0; e < 3; e++)
		fix_event(&m->events, PERF_COUNT_SW_CPU_CLOCK, &(uint64_t){ many_id(e, 0) }, 1, "event");
	write_recording(m, (struct writer_options){ .pipe = true }, true);
	assert_int_equal(read_text_file(m->path, &bytes), 0);
	second = fix_find(&bytes, RECORD_HEADER_ATTR, 1);
	third = fix_find(&bytes, RECORD_HEADER_ATTR, 2);
	know_events_at_end(m, &bytes, second, 1, 0);
	know_events_at_end(m, &bytes, second + 4, 1, 0);
	know_events_at_end(m, &bytes, third - 8, 1, 0);
	know_events_at_end(m, &bytes, bytes.len, 3, 3);
	know_events_meanwhile(m, &bytes, second, 1, 0);
	know_events_meanwhile(m, &bytes, second + 4, 1, 0);
	know_events_meanwhile(m, &bytes, third, 2, 0);
	know_events_meanwhile(m, &bytes, bytes.len, 3, 3);
	str_release(&bytes);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, made_setup, made_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_many_ids),
		TEST(test_further_ids_of_nothing),
		TEST(test_many_names),
		TEST(test_features_without_room),
		TEST(test_where_features_are),
		TEST(test_no_records_but_features),
		TEST(test_know_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
