/* SPDX-License-Identifier: MIT */
/*
 * A recording that is read while it is taken gives what a file with the same records gives, to a replay and to a
 * profile; what waits is bounded; who is slow, gives up or ends early keeps nobody waiting.
 */
#include "ask_fixture.h"
#include "replay_fixture.h"

#include "hist/hist.h"
#include "record/live_source.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

enum { RINGS = 3, LEAST_BYTES = 512 << 10, BLOCK_BYTES = 128 << 10, BATCH_MAX = 16 << 10 };

/* ---- records of three rings, with FINISHED_ROUND where a round ends ---- */

static void make_recording(struct made_recording *s, int rounds)
{
	uint64_t clock_ns = 1000, taken_ns[RINGS] = { 1000, 1000, 1000 };

	recording_init(s);
	fix_info(&s->info);
	recording_map(s, 0, PID, 0x10000, 0x1000, 0, "/bin/a");
	recording_map(s, 0, OTHER_PID, 0x10000, 0x1000, 0, "/bin/b");
	for (int round = 0; round < rounds; round++) {
		for (int ring = 0; ring < RINGS; ring++) {
			int n = (round * 7 + ring * 5) % 11;

			clock_ns += 100;
			for (int i = 0; i < n; i++) {
				uint64_t time_ns = taken_ns[ring] + 1 + (clock_ns - taken_ns[ring]) * (uint64_t)i / 12;
				int pid = (round + i) % 2 ? PID : OTHER_PID;

				if (i == 5)
					recording_comm(s, time_ns, pid, pid, false, round % 2 ? "odd" : "even");
				else
					recording_sample(s, time_ns, pid, pid, 0x10000 + (uint64_t)(i + ring * 16));
			}
			taken_ns[ring] = clock_ns;
		}
		recording_plain(s, RECORD_FINISHED_ROUND);
	}
}

/* ---- the recorder's side ---- */

struct feeder {
	const struct made_recording *made;
	struct record_sink *sink;
	size_t at; /* of its records */
	uint64_t n_rounds;
	atomic_size_t fed; /* bytes that were told, the present batch too */
	pthread_t thread;
};

/* The next batch, or round; false: there was none. */
static bool feed_some(struct feeder *feeder)
{
	const struct str *records = &feeder->made->records;
	size_t batch_max = 1 + feeder->at * 7919 % BATCH_MAX, n = 0;
	struct str err = STR_INIT;
	struct record record;

	while (feeder->at + n < records->len && (!n || n < batch_max)) {
		record_from_bytes(&record, (const uint8_t *)records->s + feeder->at + n, 0, false);
		if (record.type == RECORD_FINISHED_ROUND)
			break;
		n += record.size;
	}
	if (feeder->at == records->len)
		return false;
	if (n) {
		feeder->fed += n;
		assert_int_equal(feeder->sink->take(feeder->sink, records->s + feeder->at, n, &err), 0);
	} else {
		assert_int_equal(feeder->sink->round(feeder->sink, &err), 0);
		feeder->n_rounds++;
		n = record.size;
	}
	assert_int_equal(feeder->sink->flush(feeder->sink, &err), 0);
	feeder->at += n;
	return true;
}

static void *feed_all(void *data)
{
	struct feeder *feeder = data;
	struct str err = STR_INIT;

	while (feed_some(feeder))
		;
	assert_int_equal(feeder->sink->end(feeder->sink, &err), 0);
	return NULL;
}

static struct live_source *begin(struct feeder *feeder, const struct made_recording *made,
				 const struct live_options *options)
{
	struct str err = STR_INIT;
	struct live_source *live = live_source_new(options, &made->events, &made->info, &err);

	assert_non_null(live);
	*feeder = (struct feeder){ .made = made, .sink = live_source_sink(live) };
	return live;
}

/* ---- who asks ---- */

static const struct replay_options replay_options;
static const struct session_options session_options = {
	.sym = { .symfs = "/nonexistent",
		 .map_dir = "/nonexistent",
		 .kallsyms = "/nonexistent",
		 .ignore_vmlinux = true },
};

static void a_replay_tells_what_that_of_a_file_does(void **state)
{
	static const size_t bytes_max[] = { 0, LEAST_BYTES };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bytes_max); i++) {
		const struct live_options options = { .bytes_max = bytes_max[i] };
		struct replay_handlers handlers = { .sample = recording_on_sample, .other = recording_on_other };
		struct made_recording file, s;
		struct feeder feeder;
		struct live_source *live;
		struct replay_counts *counts = &s.replay.counts;

		make_recording(&file, 1500);
		recording_run(&file, replay_options);
		make_recording(&s, 1500);
		assert_true(s.records.len > 2 * LEAST_BYTES);
		live = begin(&feeder, &s, &options);
		assert_int_equal(pthread_create(&feeder.thread, NULL, feed_all, &feeder), 0);
		handlers.context = &s;
		replay_init(&s.replay, live_source_recording(live), &replay_options);
		assert_int_equal(replay_run(&s.replay, live_source_source(live), &handlers, &s.err), 0);
		pthread_join(feeder.thread, NULL);
		assert_string_equal(s.log.s, file.log.s);
		assert_true(s.log.len > 100000);
		/* A file has what the writer tells of itself, and a record for each round. */
		assert_int_equal(feeder.n_rounds, 1500);
		assert_true(counts->records + 1500 <= file.replay.counts.records);
		assert_int_equal(counts->samples, file.replay.counts.samples);
		assert_int_equal(counts->out_of_order + counts->broken + counts->unknown_ids + counts->forced, 0);
		assert_int_equal(live_source_left_out(live), 0);
		assert_true(live_source_source(live)->part(live_source_source(live)) < 0);
		replay_release(&s.replay);
		live_source_free(live);
		recording_release(&s);
		recording_release(&file);
	}
}

static void what_waits_is_bounded(void **state)
{
	const struct live_options options = { .bytes_max = LEAST_BYTES };
	struct record_source *source;
	struct made_recording s;
	struct feeder feeder;
	struct live_source *live;
	struct record record;
	size_t given = 0;
	int rc;

	(void)state;
	make_recording(&s, 1500);
	live = begin(&feeder, &s, &options);
	source = live_source_source(live);
	assert_int_equal(pthread_create(&feeder.thread, NULL, feed_all, &feeder), 0);
	while ((rc = source->next(source, &record, &s.err)) > 0) {
		assert_true(feeder.fed - given <= LEAST_BYTES + BATCH_MAX + 4096);
		if (rc == SOURCE_RECORD)
			given += record.size;
	}
	assert_int_equal(rc, SOURCE_END);
	assert_int_equal(source->next(source, &record, &s.err), SOURCE_END);
	pthread_join(feeder.thread, NULL);
	assert_int_equal(given, feeder.fed);
	live_source_free(live);
	recording_release(&s);
}

/* Nobody asks any more: the feeder comes to its end, whether it was waiting or not. */
static void who_gives_up_lets_the_others_go(void **state)
{
	static const int asked[] = { 0, 1, 5000 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
		const struct live_options options = { .bytes_max = LEAST_BYTES };
		struct record_source *source;
		struct made_recording s;
		struct feeder feeder;
		struct live_source *live;
		struct record record;

		make_recording(&s, 1500);
		live = begin(&feeder, &s, &options);
		source = live_source_source(live);
		assert_int_equal(pthread_create(&feeder.thread, NULL, feed_all, &feeder), 0);
		for (int k = 0; k < asked[i]; k++)
			assert_true(source->next(source, &record, &s.err) > 0);
		live_source_close(live);
		pthread_join(feeder.thread, NULL);
		assert_int_equal(feeder.at, s.records.len);
		live_source_free(live);
		recording_release(&s);
	}
}

/* With nobody who asks: the sink never waits, and what is left out is counted; no COMM or MMAP2 is. */
static void samples_are_left_out(void **state)
{
	const struct live_options options = { .bytes_max = LEAST_BYTES, .samples_left_out = true };
	uint64_t samples = 0, others = 0, rounds = 0, all_samples = 0, all_others = 0;
	struct record_source *source;
	struct made_recording s;
	struct feeder feeder;
	struct live_source *live;
	struct record record;
	int rc;

	(void)state;
	make_recording(&s, 1500);
	for (size_t at = 0; at < s.records.len; at += record.size) {
		record_from_bytes(&record, (const uint8_t *)s.records.s + at, at, false);
		all_samples += record.type == RECORD_SAMPLE;
		all_others += record.type < RECORD_USER_FIRST && record.type != RECORD_SAMPLE;
	}
	live = begin(&feeder, &s, &options);
	source = live_source_source(live);
	feed_all(&feeder);
	while ((rc = source->next(source, &record, &s.err)) > 0) {
		rounds += rc == SOURCE_ROUND;
		samples += rc == SOURCE_RECORD && record.type == RECORD_SAMPLE;
		others += rc == SOURCE_RECORD && record.type != RECORD_SAMPLE;
	}
	assert_int_equal(rounds, 1500);
	assert_int_equal(others, all_others);
	assert_true(live_source_left_out(live) > 1000);
	assert_int_equal(samples + live_source_left_out(live), all_samples);
	/* As many as three quarters of the room hold. */
	assert_true(samples > 3 * BLOCK_BYTES / 150);
	live_source_free(live);
	recording_release(&s);
}

static bool readable(const struct live_source *live)
{
	struct pollfd pollfd = { .fd = live_source_fd(live), .events = POLLIN };

	return poll(&pollfd, 1, 0) == 1;
}

static void a_screen_does_not_wait(void **state)
{
	const struct live_options options = { .no_wait = true };
	struct record_source *source;
	struct record_sink *sink;
	struct made_recording s;
	struct feeder feeder;
	struct live_source *live;
	struct record record;

	(void)state;
	recording_init(&s);
	recording_sample(&s, 10, PID, PID, 0x10001);
	recording_sample(&s, 20, PID, PID, 0x10002);
	live = begin(&feeder, &s, &options);
	source = live_source_source(live);
	sink = live_source_sink(live);
	assert_int_equal(source->next(source, &record, &s.err), SOURCE_LATER);
	assert_false(readable(live));
	assert_true(feed_some(&feeder));
	assert_true(readable(live));
	assert_int_equal(source->next(source, &record, &s.err), SOURCE_RECORD);
	assert_int_equal(record.type, RECORD_SAMPLE);
	assert_true(readable(live));
	while (feed_some(&feeder))
		;
	assert_int_equal(source->next(source, &record, &s.err), SOURCE_RECORD);
	assert_int_equal(source->next(source, &record, &s.err), SOURCE_LATER);
	assert_false(readable(live));
	assert_int_equal(sink->round(sink, &s.err), 0);
	assert_true(readable(live));
	assert_int_equal(source->next(source, &record, &s.err), SOURCE_ROUND);
	assert_int_equal(source->next(source, &record, &s.err), SOURCE_LATER);
	assert_false(readable(live));
	/* What is not whole is refused, and what is before it is there. */
	assert_int_equal(sink->take(sink, s.records.s, s.records.len - 8, &s.err), -EINVAL);
	assert_int_equal(source->next(source, &record, &s.err), SOURCE_RECORD);
	assert_int_equal(source->next(source, &record, &s.err), SOURCE_LATER);
	assert_int_equal(sink->end(sink, &s.err), 0);
	assert_true(readable(live));
	assert_int_equal(source->next(source, &record, &s.err), SOURCE_END);
	live_source_free(live);
	recording_release(&s);
}

/* What the recorder does with its own events and info afterwards is not seen. */
static void a_copy_of_what_is_said(void **state)
{
	const struct live_options options = { 0 };
	const struct recording_info *recording;
	struct made_recording s;
	struct feeder feeder;
	struct live_source *live;

	(void)state;
	make_recording(&s, 1);
	live = begin(&feeder, &s, &options);
	recording = live_source_recording(live);
	s.info.arch[0] = 'X';
	s.events.v[0]->name[0] = 'X';
	info_set(&s.info, FEATURE_BUILD_ID);
	assert_string_equal(recording->info->arch, "x86_64");
	assert_string_equal(recording->info->hostname, "host");
	assert_int_equal(recording->info->cmdline.n, 2);
	assert_int_equal(recording->info->cpus_online, 2);
	assert_false(info_has(recording->info, FEATURE_BUILD_ID));
	assert_true(info_has(recording->info, FEATURE_EVENT_DESC));
	assert_int_equal(recording->events->n, 2);
	assert_string_equal(recording->events->v[0]->name, "cpu-clock");
	assert_ptr_equal(events_find(recording->events, 201), recording->events->v[1]);
	assert_int_equal(recording->written_ns, 0);
	live_source_free(live);
	recording_release(&s);
}

/* ---- a profile, asked while it is fed ---- */

/* "PERIOD KEYS", a line for each entry. Returns the samples. */
static uint64_t ask(struct profile *profile, struct str *text)
{
	const struct query query = { .children = 0, .sort = "comm,dso,pid", .session = session_options };
	struct str err = STR_INIT;
	struct table *table;
	struct asked asked;
	uint64_t samples = 0;

	str_reset(text);
	if (asked_of(&asked, profile, &query, NULL, &err))
		fail_msg("%s", err.s);
	table = asked.table;
	for (size_t i = 0; table->n_hists && i < table->hists[0].n; i++) {
		const struct entry *entry = table->hists[0].entries[i];

		samples += entry->self.n_samples;
		str_addf(text, "%llu", (unsigned long long)entry->self.period);
		for (size_t c = 0; c < table->n_columns; c++)
			if (table->columns[c].kind == COLUMN_KEY) {
				str_addc(text, ' ');
				table_key_text(table, entry, &table->columns[c], text);
			}
		str_addc(text, '\n');
	}
	asked_release(&asked);
	return samples;
}

static void profile_of_file(const struct made_recording *s, struct str *text)
{
	const struct profile_options options = { .shape = { .facts = PROFILE_WHOLE }, .session = session_options };
	struct profile *profile;
	struct reader reader;
	struct str bytes, err = STR_INIT;

	recording_bytes(s, false, &bytes);
	assert_int_equal(reader_open_fd(&reader, fix_memory_file(bytes.s, bytes.len), "recording", &err), 0);
	assert_int_equal(profile_new(&profile, &options, &reader, &err), 0);
	assert_int_equal(profile_read(profile, NULL, NULL, &err), 0);
	ask(profile, text);
	profile_free(profile);
	reader_close(&reader);
	str_release(&bytes);
}

static int new_live(struct profile **profile, const struct profile_options *options, struct live_source *live,
		    struct str *err)
{
	return profile_new_live(profile, options, live_source_recording(live), live_source_source(live), err);
}

/* In one thread, so that it is known what each answer must have: all but what waits for its round. */
static void a_table_while_it_is_recorded(void **state)
{
	const struct profile_options options = { .shape = { .facts = PROFILE_WHOLE }, .session = session_options };
	const struct live_options live_options = { .no_wait = true };
	struct str text = STR_INIT, expected = STR_INIT, err = STR_INIT;
	struct profile *profile;
	struct made_recording s;
	struct feeder feeder;
	struct live_source *live;
	uint64_t last = 0, grew = 0;
	int rc;

	(void)state;
	make_recording(&s, 60);
	profile_of_file(&s, &expected);
	assert_has(expected.s, "odd");
	live = begin(&feeder, &s, &live_options);
	assert_int_equal(new_live(&profile, &options, live, &err), 0);
	while (feed_some(&feeder)) {
		uint64_t samples;

		while ((rc = profile_feed(profile, live_source_source(live), 0, &err)) == 1)
			;
		assert_int_equal(rc, PROFILE_FED_LATER);
		samples = ask(profile, &text);
		assert_true(samples >= last);
		grew += samples > last;
		last = samples;
	}
	assert_true(grew > 40);
	assert_int_equal(live_source_sink(live)->end(live_source_sink(live), &err), 0);
	while ((rc = profile_feed(profile, live_source_source(live), 0, &err)) == 1)
		;
	assert_int_equal(rc, 0);
	profile_end(profile);
	assert_true(ask(profile, &text) > last);
	assert_string_equal(text.s, expected.s);
	profile_free(profile);
	live_source_free(live);
	recording_release(&s);
	str_release(&text);
	str_release(&expected);
}

/* The recorder's thread runs beside it; what needs a second reading is refused. */
static void a_profile_beside_its_recorder(void **state)
{
	const struct profile_options options = { .shape = { .facts = PROFILE_WHOLE }, .session = session_options };
	const struct live_options live_options = { .bytes_max = LEAST_BYTES };
	const struct query time = { .children = 0, .sort = "time", .session = session_options };
	struct str text = STR_INIT, expected = STR_INIT, err = STR_INIT;
	struct filter_options percent = { .time = "10%/2" };
	struct profile_options refused = {
		.shape = { .facts = PROFILE_WHOLE }, .session = session_options, .filters = percent,
	};
	struct profile *profile;
	struct asked asked;
	struct made_recording s;
	struct feeder feeder;
	struct live_source *live;

	(void)state;
	make_recording(&s, 1500);
	profile_of_file(&s, &expected);
	live = begin(&feeder, &s, &live_options);
	assert_int_equal(new_live(&profile, &refused, live, &err), -EINVAL);
	assert_has(err.s, "the recording is not over");
	str_reset(&err);
	assert_int_equal(pthread_create(&feeder.thread, NULL, feed_all, &feeder), 0);
	assert_int_equal(new_live(&profile, &options, live, &err), 0);
	assert_int_equal(profile_read(profile, NULL, NULL, &err), 0);
	pthread_join(feeder.thread, NULL);
	ask(profile, &text);
	assert_string_equal(text.s, expected.s);
	assert_int_equal(asked_of(&asked, profile, &time, NULL, &err), -EAGAIN);
	asked_release(&asked);
	session_add_notes(&profile->session);
	profile_free(profile);
	live_source_free(live);
	recording_release(&s);
	str_release(&text);
	str_release(&expected);
	str_release(&err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_replay_tells_what_that_of_a_file_does),
		cmocka_unit_test(what_waits_is_bounded),
		cmocka_unit_test(who_gives_up_lets_the_others_go),
		cmocka_unit_test(samples_are_left_out),
		cmocka_unit_test(a_screen_does_not_wait),
		cmocka_unit_test(a_copy_of_what_is_said),
		cmocka_unit_test(a_table_while_it_is_recorded),
		cmocka_unit_test(a_profile_beside_its_recorder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
