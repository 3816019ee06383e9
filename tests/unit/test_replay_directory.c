/* SPDX-License-Identifier: MIT */
/*
 * A directory of files, as perf record --threads makes it: merged by time, each file read to its own end. A file
 * may hold the records of several rings: its rounds are found.
 */
#include "replay_fixture.h"

enum { FILES_MAX = 64 };

static void write_file(const char *directory, const char *name, const char *bytes, size_t n)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, bytes, n), 0);
	close(fd);
}

static void remove_directory(const char *directory)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/data", directory);
	unlink(path);
	for (unsigned i = 0; i < FILES_MAX; i++) {
		snprintf(path, sizeof(path), "%s/data.%u", directory, i);
		unlink(path);
	}
	assert_int_equal(rmdir(directory), 0);
}

/* The records so far become the file `name`. */
static void flush(struct made_recording *s, const char *directory, const char *name)
{
	write_file(directory, name, s->records.s, s->records.len);
	str_reset(&s->records);
}

static void run_directory(struct made_recording *s, const char *directory)
{
	const struct replay_options options = { 0 };
	const struct replay_handlers handlers = { .context = s, .sample = recording_on_sample };

	if (reader_open(&s->reader, directory, &s->err))
		fail_msg("%s", s->err.s);
	replay_init(&s->replay, &s->reader.recording, &options);
	s->rc = replay_run(&s->replay, &s->reader.source, &handlers, &s->err);
}

static void test_merged(void **state)
{
	static const uint8_t no_size[8] = { RECORD_COMM, 0, 0, 0, 0, 0, 3, 0 };

	(void)state;
	for (unsigned bad = 0; bad < 2; bad++) {
		struct made_recording s;
		struct str data;
		char directory[256];

		recording_init(&s);
		fix_path(directory, sizeof(directory), "directory");
		assert_int_equal(mkdir(directory, 0700), 0);
		recording_map(&s, 0, PID, 0x10000, 0x1000, 0, "/bin/a");
		recording_bytes(&s, false, &data);
		write_file(directory, "data", data.s, data.len);
		str_release(&data);
		str_reset(&s.records);
		recording_sample(&s, 10, PID, PID, 0x10001);
		recording_sample(&s, 40, PID, PID, 0x10004);
		recording_sample(&s, 39, PID, PID, 0x10003); /* a little out of order */
		flush(&s, directory, "data.0");
		recording_comm(&s, 25, PID, PID, false, "name");
		if (bad)
			str_addn(&s.records, (const char *)no_size, sizeof(no_size));
		recording_sample(&s, 30, PID, PID, 0x10002);
		flush(&s, directory, "data.1");
		flush(&s, directory, "data.2"); /* empty */
		run_directory(&s, directory);
		remove_directory(directory);
		assert_string_equal(s.log.s,
				    bad ? ":42/42 10: 10001=a+1\nname/42 39: 10003=a+3\n"
					  "name/42 40: 10004=a+4\n"
					: ":42/42 10: 10001=a+1\nname/42 30: 10002=a+2\n"
					  "name/42 39: 10003=a+3\nname/42 40: 10004=a+4\n");
		assert_int_equal(s.rc, bad ? -EINVAL : 0);
		if (bad)
			assert_has(s.err.s, "its size is 3");
		recording_release(&s);
	}
}

/* Nine rings, each in order: so is what comes out, before anything waits for a round. */
static void test_heads(void **state)
{
	enum { FILES = 9, EACH = 300 };
	uint64_t time_ns, last_ns = 0, seed = 5;
	struct record record;
	struct made_recording s;
	struct str data;
	char directory[256];
	unsigned n = 0;
	int rc;

	(void)state;
	recording_init(&s);
	fix_path(directory, sizeof(directory), "heads");
	assert_int_equal(mkdir(directory, 0700), 0);
	recording_bytes(&s, false, &data);
	write_file(directory, "data", data.s, data.len);
	str_release(&data);
	for (unsigned i = 0; i < FILES; i++) {
		char name[16];

		time_ns = 1;
		for (unsigned k = 0; k < EACH; k++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			time_ns += (seed >> 33) % (10 + i);
			recording_sample(&s, time_ns, PID, PID, 0x10000);
		}
		snprintf(name, sizeof(name), "data.%u", i);
		flush(&s, directory, name);
	}
	assert_int_equal(reader_open(&s.reader, directory, &s.err), 0);
	remove_directory(directory);
	while ((rc = s.reader.source.next(&s.reader.source, &record, &s.err)) > 0) {
		if (rc == SOURCE_ROUND || record.type != RECORD_SAMPLE)
			continue;
		assert_true(record_time(&s.reader.decoder, &record, &time_ns));
		assert_true(time_ns >= last_ns);
		last_ns = time_ns;
		n++;
	}
	assert_int_equal(n, FILES * EACH);
	recording_release(&s);
}

/* One pass of a recorder over its rings: what each has gained, one behind the other. */
static void add_pass(struct made_recording *s, unsigned pass, unsigned rings, unsigned batch)
{
	for (unsigned ring = 0; ring < rings; ring++)
		for (unsigned i = 0; i < batch; i++)
			recording_sample(s, 1 + ((uint64_t)pass * batch + i) * rings + ring, PID, PID, 0x10000);
}

static void open_directory(struct made_recording *s, const char *directory)
{
	struct str data;

	recording_init(s);
	assert_int_equal(mkdir(directory, 0700), 0);
	recording_bytes(s, false, &data);
	write_file(directory, "data", data.s, data.len);
	str_release(&data);
}

/* What a source promises of rounds is so; how many samples. */
static size_t check_rounds(struct made_recording *s, size_t *rounds, size_t *longest)
{
	struct record_source *source = &s->reader.source;
	uint64_t newest = 0, last_round = 0, round_before = 0, time_ns;
	size_t n = 0, since = 0;
	struct record record;
	int rc;

	*rounds = *longest = 0;
	while ((rc = source->next(source, &record, &s->err)) > 0) {
		if (rc == SOURCE_ROUND) {
			round_before = last_round;
			last_round = newest;
			++*rounds;
			since = 0;
			continue;
		}
		if (record.type != RECORD_SAMPLE)
			continue;
		assert_true(record_time(&s->reader.decoder, &record, &time_ns));
		assert_true(time_ns >= round_before);
		newest = time_ns > newest ? time_ns : newest;
		*longest = ++since > *longest ? since : *longest;
		n++;
	}
	assert_int_equal(rc, 0);
	return n;
}

static int check_order(void *context, struct replay *replay, const struct replay_sample *sample,
		       struct str *err)
{
	uint64_t *last_ns = context;

	(void)replay, (void)err;
	assert_true(sample->sample->time_ns >= *last_ns);
	*last_ns = sample->sample->time_ns;
	return 0;
}

/* Two files, each of several rings that are emptied in turn, more at a time than a round has. */
static void test_rings_in_one_file(void **state)
{
	enum { PASSES = 6, RINGS = 3, BATCH = 7000 };
	const struct replay_options options = { 0 };
	size_t rounds, longest;
	uint64_t last_ns = 0;
	const struct replay_handlers handlers = { .context = &last_ns, .sample = check_order };
	struct made_recording s;
	char directory[256];

	(void)state;
	fix_path(directory, sizeof(directory), "rings");
	open_directory(&s, directory);
	for (unsigned pass = 0; pass < PASSES; pass++)
		add_pass(&s, pass, RINGS, BATCH);
	flush(&s, directory, "data.0");
	for (unsigned pass = 0; pass < PASSES; pass++)
		add_pass(&s, pass, RINGS + 1, BATCH);
	flush(&s, directory, "data.1");
	assert_int_equal(reader_open(&s.reader, directory, &s.err), 0);
	assert_int_equal(check_rounds(&s, &rounds, &longest), PASSES * BATCH * (2 * RINGS + 1));
	assert_true(rounds >= PASSES - 1);
	assert_true(longest < 4 * BATCH * (2 * RINGS + 1));
	reader_close(&s.reader);
	assert_int_equal(reader_open(&s.reader, directory, &s.err), 0);
	replay_init(&s.replay, &s.reader.recording, &options);
	assert_int_equal(replay_run(&s.replay, &s.reader.source, &handlers, &s.err), 0);
	assert_int_equal(s.replay.counts.samples, PASSES * BATCH * (2 * RINGS + 1));
	assert_int_equal(s.replay.counts.out_of_order, 0);
	remove_directory(directory);
	recording_release(&s);
}

/* More runs than are kept: rounds are longer, and as true. */
static void test_many_runs(void **state)
{
	enum { PASSES = 20000, RINGS = 2 };
	size_t rounds, longest;
	struct made_recording s;
	char directory[256];

	(void)state;
	fix_path(directory, sizeof(directory), "runs");
	open_directory(&s, directory);
	for (unsigned i = 0; i < FILES_MAX; i++) {
		char name[16];

		for (unsigned pass = 0; pass < (i ? 1 : PASSES); pass++)
			add_pass(&s, pass, RINGS, 2);
		snprintf(name, sizeof(name), "data.%u", i);
		flush(&s, directory, name);
	}
	assert_int_equal(reader_open(&s.reader, directory, &s.err), 0);
	remove_directory(directory);
	assert_int_equal(check_rounds(&s, &rounds, &longest), (PASSES + FILES_MAX - 1) * RINGS * 2);
	assert_true(rounds > 3);
	recording_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merged),
		cmocka_unit_test(test_heads),
		cmocka_unit_test(test_rings_in_one_file),
		cmocka_unit_test(test_many_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
