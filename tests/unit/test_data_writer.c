/* SPDX-License-Identifier: MIT */
/*
 * The writer: the previous recording survives, links are not followed, the file is valid after each
 * flush and after failed writes, events and features come back as they went in.
 */
#include "data_fixture.h"

#include <signal.h>
#include <sys/resource.h>

struct made {
	struct events events;
	struct info info;
	struct writer writer;
	struct str err;
	char path[256], old[260];
};

static int made_setup(void **state)
{
	struct made *m = xcalloc(1, sizeof(*m));

	fix_events(&m->events);
	fix_info(&m->info);
	str_init(&m->err);
	m->writer.fd = -1;
	fix_path(m->path, sizeof(m->path), "written");
	snprintf(m->old, sizeof(m->old), "%s.old", m->path);
	unlink(m->path);
	unlink(m->old);
	*state = m;
	return 0;
}

static int made_teardown(void **state)
{
	struct made *m = *state;

	writer_close(&m->writer);
	events_release(&m->events);
	info_release(&m->info);
	str_release(&m->err);
	unlink(m->path);
	unlink(m->old);
	free(m);
	return 0;
}

static int begin(struct made *m, size_t flush_bytes)
{
	struct writer_options options = { .path = m->path, .flush_bytes = flush_bytes };

	return writer_open(&m->writer, &options, &m->events, &m->info, &m->err);
}

static void put_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, text, strlen(text)), 0);
	close(fd);
}

static void assert_file(const char *path, const char *text)
{
	struct str bytes = STR_INIT;

	assert_int_equal(read_text_file(path, &bytes), 0);
	assert_string_equal(bytes.s, text);
	str_release(&bytes);
}

static void test_previous_is_kept(void **state)
{
	struct made *m = *state;
	struct stat st;

	put_file(m->path, "the recording before");
	put_file(m->old, "the one before that");
	assert_int_equal(begin(m, 0), 0);
	assert_file(m->old, "the recording before");
	assert_int_equal(lstat(m->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_true(S_ISREG(st.st_mode));
}

/* An empty file, as mktemp makes it, is no recording. */
static void test_empty_file_is_replaced(void **state)
{
	struct made *m = *state;

	put_file(m->path, "");
	assert_int_equal(begin(m, 0), 0);
	assert_int_equal(access(m->old, F_OK), -1);
}

static void test_link_is_not_followed(void **state)
{
	struct made *m = *state;
	char victim[256];
	struct stat st;

	fix_path(victim, sizeof(victim), "victim");
	put_file(victim, "precious");
	assert_int_equal(symlink(victim, m->path), 0);
	assert_int_equal(begin(m, 0), 0);
	fix_write(&m->writer, &m->events);
	assert_int_equal(writer_finish(&m->writer, &m->events, &m->info, &m->err), 0);
	assert_file(victim, "precious");
	assert_int_equal(lstat(m->path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(lstat(m->old, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	unlink(victim);
}

/* No place for the new one: the old one is untouched. */
static void test_failed_begin_keeps_previous(void **state)
{
	struct made *m = *state;
	struct rlimit limit, none = { 8, 0 };

	put_file(m->path, "the recording before");
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	none.rlim_max = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	assert_int_equal(begin(m, 0), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_has(m->err.s, "File too large");
	assert_file(m->path, "the recording before");
	assert_int_equal(access(m->old, F_OK), -1);
}

static unsigned count_samples(const char *path)
{
	struct reader reader;
	struct record record;
	struct record_body body;
	struct str err = STR_INIT;
	unsigned n = 0;

	assert_int_equal(reader_open(&reader, path, &err), 0);
	while (reader_next(&reader, &record, &err) > 0) {
		assert_int_equal(reader_decode(&reader, &record, &body, &err), 0);
		n += record.type == RECORD_SAMPLE;
	}
	assert_string_equal(err.s, "");
	reader_close(&reader);
	return n;
}

static void test_valid_after_each_flush(void **state)
{
	struct made *m = *state;
	struct reader reader;
	uint64_t before = 0;

	assert_int_equal(begin(m, 0), 0);
	for (unsigned i = 1; i < 5; i++) {
		fix_write(&m->writer, &m->events);
		assert_int_equal(writer_flush(&m->writer, &m->err), 0);
		assert_int_equal(count_samples(m->path), i * FIX_SAMPLES);
		/* The header says so, too: other readers go by it. */
		assert_int_equal(reader_open(&reader, m->path, &m->err), 0);
		assert_int_equal(reader.data_size, m->writer.data_size);
		assert_true(reader.data_size > before);
		assert_int_equal(reader.data_offset + reader.data_size, reader.file_size);
		before = reader.data_size;
		reader_close(&reader);
	}
}

/* The name of the file in the making is guessed, and a link left there. */
static void test_planted_link(void **state)
{
	struct made *m = *state;
	char victim[256], planted[300];

	fix_path(victim, sizeof(victim), "victim");
	put_file(victim, "precious");
	snprintf(planted, sizeof(planted), "%s.%d.new", m->path, (int)getpid());
	unlink(planted);
	assert_int_equal(symlink(victim, planted), 0);
	assert_int_equal(begin(m, 0), 0);
	assert_file(victim, "precious");
	assert_int_equal(access(planted, F_OK), -1);
	unlink(victim);
}

/* The disk is full in the middle: what was flushed stays, the error is said, nothing is half. */
static void test_no_space(void **state)
{
	struct made *m = *state;
	struct rlimit limit, small = { 12000, 0 };
	unsigned tries = 0, samples;
	int rc = 0;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(begin(m, 600), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small.rlim_max = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	while (!rc && tries++ < 1000) {
		struct record_body body = fix_sample(101, tries);

		rc = writer_add_body(&m->writer, &body, m->events.v[0], &m->err);
	}
	assert_int_equal(rc, -EFBIG);
	assert_has(m->err.s, "File too large");
	assert_true(m->writer.bytes_dropped > 0);
	assert_int_equal(writer_finish(&m->writer, &m->events, &m->info, &m->err), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	samples = count_samples(m->path);
	assert_true(samples > 50 && samples < tries);
}

/* The samples of a file as they lie there. */
static void read_samples(const char *path, struct str *out)
{
	struct reader reader;
	struct record record;
	struct str err = STR_INIT;

	assert_int_equal(reader_open(&reader, path, &err), 0);
	while (reader_next(&reader, &record, &err) > 0)
		if (record.type == RECORD_SAMPLE)
			str_addn(out, (const char *)record.bytes, record.size);
	assert_string_equal(err.s, "");
	reader_close(&reader);
}

static void add_samples(const struct made *m, unsigned n, uint64_t *time_ns, struct str *out)
{
	struct str err = STR_INIT;

	for (unsigned i = 0; i < n; i++) {
		struct record_body body = fix_sample(101, ++*time_ns);

		body.sample.ip = *time_ns * 0x9e3779b97f4a7c15ULL; /* hardly to be packed */
		assert_int_equal(record_encode(&body, m->events.v[0], out, &err), 0);
	}
}

static rlim_t limit_file_size(rlim_t bytes)
{
	struct rlimit limit;
	rlim_t before;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	before = limit.rlim_cur;
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	return before;
}

/* Until the limit of the file's size comes; 0 samples in one call: now few, now many. */
static int add_until_full(struct made *m, unsigned at_once, size_t most, struct str *given)
{
	uint64_t time_ns = 0;
	int rc = 0;

	while (!rc && given->len < most) {
		struct str piece = STR_INIT;

		add_samples(m, at_once ? at_once : 1 + time_ns % 101, &time_ns, &piece);
		str_addn(given, piece.s, piece.len);
		rc = writer_add(&m->writer, piece.s, piece.len, &m->err);
		str_release(&piece);
	}
	return rc;
}

/* Of 12,345 bytes; what is left has no room for some more of the records. */
static void assert_room_is_used(struct made *m, size_t given, size_t seen)
{
	struct stat st;

	assert_true(seen < given);
	assert_int_equal(stat(m->path, &st), 0);
	assert_true(st.st_size <= 12345);
	assert_true(st.st_size > 12345 - 400);
}

/* What is in the file and what is unwritten are all that was given, in its order, whichever call fails. */
static void assert_unwritten_is_the_rest(struct made *m, int zstd_level)
{
	static const struct {
		unsigned at_once;
		size_t flush_bytes, most; /* most: then the flush fails */
	} cases[] = {
		{ 1, 600, SIZE_MAX },  { 1, 6000, SIZE_MAX },  { 200, 600, SIZE_MAX },
		{ 0, 6000, SIZE_MAX }, { 90, 600, SIZE_MAX }, { 10, 1 << 20, 300000 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct writer_options options = { m->path, false, zstd_level, cases[i].flush_bytes };
		struct str given = STR_INIT, seen = STR_INIT;
		rlim_t before;
		int rc;

		assert_int_equal(writer_open(&m->writer, &options, &m->events, &m->info, &m->err), 0);
		before = limit_file_size(12345);
		rc = add_until_full(m, cases[i].at_once, cases[i].most, &given);
		assert_int_equal(rc, cases[i].most == SIZE_MAX ? -EFBIG : 0);
		assert_int_equal(writer_flush(&m->writer, &m->err), -EFBIG);
		read_samples(m->path, &seen);
		assert_true(seen.len > 0);
		assert_room_is_used(m, given.len, seen.len);
		str_addn(&seen, m->writer.unwritten.s, m->writer.unwritten.len);
		assert_int_equal(seen.len, given.len);
		assert_memory_equal(seen.s, given.s, given.len);
		assert_int_equal(m->writer.bytes_dropped, m->writer.unwritten.len);
		/* What is given later is refused. */
		assert_int_equal(writer_add(&m->writer, given.s, given.len, &m->err), -EFBIG);
		assert_int_equal(m->writer.bytes_dropped, m->writer.unwritten.len + given.len);
		assert_int_equal(limit_file_size(before), 12345);
		writer_close(&m->writer);
		str_release(&given);
		str_release(&seen);
	}
}

static void test_unwritten_is_the_rest(void **state)
{
	assert_unwritten_is_the_rest(*state, 0);
}

static void test_unwritten_is_the_rest_packed(void **state)
{
	struct zstd_out *out = NULL;
	struct str err = STR_INIT;
	int rc = zstd_out_new(&out, 1, &err);

	zstd_out_free(out);
	str_release(&err);
	if (rc) {
		print_message("needs libzstd.so.1\n");
		skip();
	}
	assert_unwritten_is_the_rest(*state, 3);
}

static void test_pipe_closed(void **state)
{
	struct made *m = *state;
	struct writer_options options = { .path = m->path };
	int fd;

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(mkfifo(m->path, 0600), 0);
	fd = open(m->path, O_RDONLY | O_NONBLOCK);
	assert_int_equal(writer_open(&m->writer, &options, &m->events, &m->info, &m->err), 0);
	assert_true(m->writer.pipe);
	close(fd);
	fix_write(&m->writer, &m->events);
	assert_int_equal(writer_flush(&m->writer, &m->err), -EPIPE);
	assert_has(m->err.s, "Broken pipe");
}

/* Names, ids, groups, units and features come back; attrs of different sizes share one entry size. */
static void test_what_comes_back(void **state)
{
	struct made *m = *state;
	struct reader reader;
	struct str in = STR_INIT, out = STR_INIT;
	uint8_t newer[sizeof(struct perf_event_attr) + 8] = { 0 };
	static const uint64_t id[] = { 301 };
	struct data_event *event;

	memcpy(newer, m->events.v[0]->attr_bytes, sizeof(struct perf_event_attr));
	newer[4] = sizeof(newer);
	newer[sizeof(newer) - 8] = 0x77; /* a member that this attr has not */
	event = events_add(&m->events, newer, sizeof(newer), id, 1);
	event->name = xstrdup("three");
	m->events.v[1]->unit = xstrdup("msec");
	m->events.v[1]->scale = 0.001;
	m->events.v[1]->n_members = 2;
	m->events.v[2]->leader = 1;
	info_set(&m->info, FEATURE_GROUP_DESC);
	assert_int_equal(begin(m, 0), 0);
	fix_write(&m->writer, &m->events);
	assert_int_equal(writer_finish(&m->writer, &m->events, &m->info, &m->err), 0);
	assert_int_equal(reader_open(&reader, m->path, &m->err), 0);
	assert_int_equal(reader.events.n, 3);
	assert_int_equal(reader.notes.n, 0);
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(reader.events.v[i]->name, m->events.v[i]->name);
		assert_int_equal(reader.events.v[i]->n_ids, m->events.v[i]->n_ids);
		assert_int_equal(reader.events.v[i]->attr.size, sizeof(newer));
	}
	assert_int_equal(reader.events.v[2]->attr_bytes[sizeof(newer) - 8], 0x77);
	assert_int_equal(reader.events.v[2]->leader, 1);
	assert_ptr_equal(events_find(&reader.events, 301), reader.events.v[2]);
	assert_null(events_find(&reader.events, 302));
	for (unsigned i = 0; i < FEATURE_BITS; i++) {
		if (i == FEATURE_EVENT_DESC)
			continue; /* it repeats the attrs, whose size became the common one */
		str_reset(&in);
		str_reset(&out);
		assert_int_equal(feature_write(i, &m->info, &m->events, &in),
				 feature_write(i, &reader.info, &reader.events, &out));
		assert_int_equal(in.len, out.len);
		assert_memory_equal(in.s, out.s, in.len);
	}
	{
		struct record record;

		while (reader_next(&reader, &record, &m->err) > 0)
			;
	}
	assert_string_equal(reader.events.v[1]->unit, "msec");
	assert_true(reader.events.v[1]->scale == 0.001);
	reader_close(&reader);
	str_release(&in);
	str_release(&out);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, made_setup, made_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_previous_is_kept),
		TEST(test_empty_file_is_replaced),
		TEST(test_link_is_not_followed),
		TEST(test_failed_begin_keeps_previous),
		TEST(test_planted_link),
		TEST(test_valid_after_each_flush),
		TEST(test_no_space),
		TEST(test_unwritten_is_the_rest),
		TEST(test_unwritten_is_the_rest_packed),
		TEST(test_pipe_closed),
		TEST(test_what_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
