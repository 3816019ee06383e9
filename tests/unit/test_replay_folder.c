/*
 * A folder of files, as perf record --threads makes it: merged by time, each file read to its own end.
 */
#include "replay_fixture.h"

#include "replay/folder.h"

static void write_file(const char *folder, const char *name, const char *bytes, size_t n)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, bytes, n), 0);
	close(fd);
}

static void remove_folder(const char *folder)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/data", folder);
	unlink(path);
	for (unsigned i = 0; i < 9; i++) {
		snprintf(path, sizeof(path), "%s/data.%u", folder, i);
		unlink(path);
	}
	assert_int_equal(rmdir(folder), 0);
}

/* The records so far become the file `name`. */
static void flush(struct fix_story *s, const char *folder, const char *name)
{
	write_file(folder, name, s->records.s, s->records.len);
	str_reset(&s->records);
}

static void run_folder(struct fix_story *s, const char *folder)
{
	const struct replay_options options = { 0 };
	const struct replay_handlers handlers = { .context = s, .sample = story_on_sample };

	if (reader_open(&s->reader, folder, &s->err))
		fail_msg("%s", s->err.s);
	replay_init(&s->replay, &s->reader, &options);
	s->rc = replay_run(&s->replay, &handlers, &s->err);
}

static void test_merged(void **state)
{
	static const uint8_t no_size[8] = { RECORD_COMM, 0, 0, 0, 0, 0, 3, 0 };

	(void)state;
	for (unsigned bad = 0; bad < 2; bad++) {
		struct fix_story s;
		struct str data;
		char folder[256];

		story_init(&s);
		fix_path(folder, sizeof(folder), "folder");
		assert_int_equal(mkdir(folder, 0700), 0);
		story_map(&s, 0, PID, 0x10000, 0x1000, 0, "/bin/a");
		story_bytes(&s, false, &data);
		write_file(folder, "data", data.s, data.len);
		str_release(&data);
		str_reset(&s.records);
		story_sample(&s, 10, PID, PID, 0x10001);
		story_sample(&s, 40, PID, PID, 0x10004);
		story_sample(&s, 39, PID, PID, 0x10003); /* a little out of order */
		flush(&s, folder, "data.0");
		story_comm(&s, 25, PID, PID, false, "name");
		if (bad)
			str_addn(&s.records, (const char *)no_size, sizeof(no_size));
		story_sample(&s, 30, PID, PID, 0x10002);
		flush(&s, folder, "data.1");
		flush(&s, folder, "data.2"); /* empty */
		run_folder(&s, folder);
		remove_folder(folder);
		assert_string_equal(s.log.s,
				    bad ? ":42/42 10: 10001=a+1\nname/42 39: 10003=a+3\n"
					  "name/42 40: 10004=a+4\n"
					: ":42/42 10: 10001=a+1\nname/42 30: 10002=a+2\n"
					  "name/42 39: 10003=a+3\nname/42 40: 10004=a+4\n");
		assert_int_equal(s.rc, bad ? -EINVAL : 0);
		if (bad)
			assert_has(s.err.s, "its size is 3");
		story_release(&s);
	}
}

/* Nine rings, each in order: so is what comes out, before anything waits for a round. */
static void test_heads(void **state)
{
	enum { FILES = 9, EACH = 300 };
	uint64_t time_ns, last_ns = 0, seed = 5;
	struct record record;
	struct folder merged;
	struct fix_story s;
	struct str data;
	char folder[256];
	unsigned n = 0;

	(void)state;
	story_init(&s);
	fix_path(folder, sizeof(folder), "heads");
	assert_int_equal(mkdir(folder, 0700), 0);
	story_bytes(&s, false, &data);
	write_file(folder, "data", data.s, data.len);
	str_release(&data);
	for (unsigned i = 0; i < FILES; i++) {
		char name[16];

		time_ns = 1;
		for (unsigned k = 0; k < EACH; k++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			time_ns += (seed >> 33) % (10 + i);
			story_sample(&s, time_ns, PID, PID, 0x10000);
		}
		snprintf(name, sizeof(name), "data.%u", i);
		flush(&s, folder, name);
	}
	assert_int_equal(reader_open(&s.reader, folder, &s.err), 0);
	remove_folder(folder);
	folder_init(&merged, &s.reader);
	while (folder_next(&merged, &record, &s.err) > 0) {
		if (record.type != RECORD_SAMPLE)
			continue;
		assert_true(record_time(&s.reader.decoder, &record, &time_ns));
		assert_true(time_ns >= last_ns);
		last_ns = time_ns;
		n++;
	}
	assert_int_equal(n, FILES * EACH);
	folder_release(&merged);
	story_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merged),
		cmocka_unit_test(test_heads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
