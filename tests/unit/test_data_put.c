/* SPDX-License-Identifier: MIT */
/*
 * One more feature in a finished recording: what was in it stays byte by byte, and where that fails the file is as it
 * was, with nothing beside it.
 */
#include "data/format.h"
#include "data_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static const char names[] = "names\0of functions";

static char folder[200], path[256];

static void make_recording(bool pipe)
{
	struct writer_options options = { .path = path, .pipe = pipe };
	struct record_body body = { .type = RECORD_FINISHED_ROUND };
	struct writer writer;
	struct events events;
	struct info info;
	struct str err = STR_INIT;

	fix_events(&events);
	fix_info(&info);
	assert_int_equal(writer_open(&writer, &options, &events, &info, &err), 0);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(writer_add_body(&writer, &body, NULL, &err), 0);
	assert_int_equal(writer_finish(&writer, &events, &info, &err), 0);
	writer_close(&writer);
	events_release(&events);
	info_release(&info);
	str_release(&err);
}

static int set_up(void **state)
{
	(void)state;
	fix_path(folder, sizeof(folder), "put.d");
	mkdir(folder, 0700);
	snprintf(path, sizeof(path), "%s/recording", folder);
	unlink(path);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	rmdir(folder);
	return 0;
}

static size_t files_in_folder(void)
{
	DIR *dir = opendir(folder);
	size_t n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

static void read_whole(struct str *out)
{
	str_reset(out);
	assert_int_equal(read_text_file(path, out), 0);
}

/* All that the header says, but for the feature itself. */
static size_t read_back(struct str *header, struct str *found)
{
	struct reader reader;
	struct record record;
	struct str err = STR_INIT;
	size_t n = 0;

	if (reader_open(&reader, path, &err))
		fail_msg("%s", err.s);
	str_reset(found);
	str_addn(found, (const char *)reader.info.symbols, reader.info.symbols_size);
	info_clear(&reader.info, FEATURE_SYMBOLS);
	str_reset(header);
	info_print(&reader.info, &reader.events, true, header);
	while (reader_next(&reader, &record, &err) > 0)
		n++;
	assert_int_equal(reader.notes.n, 0);
	reader_close(&reader);
	str_release(&err);
	return n;
}

static int put_feature(const char *at, unsigned id, const void *bytes, size_t n, const struct interrupt *interrupt,
		       struct str *err)
{
	int fd = open(at, O_RDONLY | O_CLOEXEC), rc;

	assert_true(fd >= 0);
	rc = recording_put_feature(fd, at, id, bytes, n, interrupt, err);
	close(fd);
	return rc;
}

static void what_was_there_stays(void **state)
{
	struct str before = STR_INIT, after = STR_INIT, found = STR_INIT, err = STR_INIT;
	struct stat st;
	size_t n;

	(void)state;
	make_recording(false);
	assert_int_equal(chmod(path, 0640), 0);
	n = read_back(&before, &found);
	assert_true(n >= 1000);
	assert_int_equal(found.len, 0);
	for (size_t bytes = sizeof(names); bytes >= sizeof(names) - 1; bytes--) {
		if (put_feature(path, FEATURE_SYMBOLS, names, bytes, NULL, &err))
			fail_msg("%s", err.s);
		assert_int_equal(read_back(&after, &found), n);
		assert_string_equal(before.s, after.s);
		assert_int_equal(found.len, bytes);
		assert_memory_equal(found.s, names, bytes);
	}
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(files_in_folder(), 1);
	str_release(&before);
	str_release(&after);
	str_release(&found);
	str_release(&err);
}

static void refused(int code, const char *why)
{
	struct str before = STR_INIT, after = STR_INIT, err = STR_INIT;

	read_whole(&before);
	assert_int_equal(put_feature(path, FEATURE_SYMBOLS, names, sizeof(names), NULL, &err), code);
	if (!strstr(err.s, why))
		fail_msg("%s", err.s);
	read_whole(&after);
	assert_int_equal(before.len, after.len);
	assert_memory_equal(before.s, after.s, before.len);
	assert_int_equal(files_in_folder(), 1);
	str_release(&before);
	str_release(&after);
	str_release(&err);
}

static void a_pipes_layout_has_no_place(void **state)
{
	(void)state;
	make_recording(true);
	refused(-ENOTSUP, "not in the layout of files");
}

static void an_unfinished_one_is_left(void **state)
{
	(void)state;
	make_recording(false);
	assert_int_equal(truncate(path, 200), 0);
	refused(-EINVAL, "nothing can be put into it");
}

/* A number of the file: its header's, or one of the first row of the feature table, which is at the data's end. */
static void set_number(uint64_t at, uint64_t value)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	assert_int_equal(pwrite(fd, &value, sizeof(value), (off_t)at), sizeof(value));
	close(fd);
}

static uint64_t number_at(uint64_t at)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t value = 0;

	assert_int_equal(pread(fd, &value, sizeof(value), (off_t)at), sizeof(value));
	close(fd);
	return value;
}

static void what_lies_about_its_size_is_left(void **state)
{
	enum { DATA_AT = FORMAT_DATA_SECTION_AT, DATA_BYTES_AT = DATA_AT + 8 };
	uint64_t table, bytes;
	struct stat st;

	(void)state;
	make_recording(false);
	assert_int_equal(stat(path, &st), 0);
	bytes = number_at(DATA_BYTES_AT);
	table = number_at(DATA_AT) + bytes;
	set_number(table, (uint64_t)st.st_size + 1);
	refused(-EINVAL, "its feature table is damaged");
	set_number(table, (uint64_t)st.st_size - 8);
	set_number(table + 8, 9);
	refused(-EINVAL, "its feature table is damaged");
	set_number(table + 8, UINT64_MAX);
	refused(-EINVAL, "its feature table is damaged");
	assert_int_equal(unlink(path), 0);
	make_recording(false);
	set_number(DATA_BYTES_AT, (uint64_t)st.st_size + 1);
	refused(-EINVAL, "did not finish");
	set_number(DATA_BYTES_AT, bytes);
	set_number(DATA_AT, UINT64_MAX - 8);
	refused(-EINVAL, "did not finish");
	set_number(DATA_AT, 0); /* the header would be of the data */
	set_number(DATA_BYTES_AT, 8);
	refused(-EINVAL, "did not finish");
}

static void a_full_disk_leaves_it(void **state)
{
	struct rlimit was, limit;
	struct stat st;

	(void)state;
	make_recording(false);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	signal(SIGXFSZ, SIG_IGN);
	limit = was;
	limit.rlim_cur = (rlim_t)st.st_size; /* it is longer with the feature */
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	refused(-EFBIG, "recording");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
}

/* Names that were found for one are not for another that has its place now, however much they are alike. */
static void another_gets_nothing(void **state)
{
	char moved[sizeof(path) + 8];
	struct str before = STR_INIT, after = STR_INIT, err = STR_INIT;
	int fd;

	(void)state;
	make_recording(false);
	snprintf(moved, sizeof(moved), "%s.moved", path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(rename(path, moved), 0);
	make_recording(false);
	read_whole(&before);
	assert_int_equal(recording_put_feature(fd, path, FEATURE_SYMBOLS, names, sizeof(names), NULL, &err), -ESTALE);
	read_whole(&after);
	assert_int_equal(before.len, after.len);
	assert_memory_equal(before.s, after.s, before.len);
	assert_int_equal(files_in_folder(), 2);
	close(fd);
	unlink(moved);
	str_release(&before);
	str_release(&after);
	str_release(&err);
}

static bool at_once(void *data)
{
	(void)data;
	return true;
}

static void given_up(void **state)
{
	const struct interrupt interrupt = { .came = at_once };
	struct str before = STR_INIT, after = STR_INIT, err = STR_INIT;

	(void)state;
	make_recording(false);
	read_whole(&before);
	assert_int_equal(put_feature(path, FEATURE_SYMBOLS, names, sizeof(names), &interrupt, &err),
			 -ECANCELED);
	assert_non_null(strstr(err.s, "interrupted"));
	read_whole(&after);
	assert_int_equal(before.len, after.len);
	assert_memory_equal(before.s, after.s, before.len);
	assert_int_equal(files_in_folder(), 1);
	str_release(&before);
	str_release(&after);
	str_release(&err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_there_stays, set_up, tear_down),
		cmocka_unit_test_setup_teardown(given_up, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_pipes_layout_has_no_place, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_unfinished_one_is_left, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_lies_about_its_size_is_left, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_full_disk_leaves_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(another_gets_nothing, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
