/* SPDX-License-Identifier: MIT */
/*
 * Files that are cut while they are mapped: what is gone is zeros, and a recording is damaged there. Any other
 * SIGBUS is what it was.
 */
#include "data_fixture.h"

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Three pages full of x. */
static int file_of_pages(void)
{
	char name[] = "/tmp/file_mapXXXXXX", *bytes = xmalloc(3 * page_bytes());
	int fd = mkstemp(name);

	assert_true(fd >= 0);
	unlink(name);
	memset(bytes, 'x', 3 * page_bytes());
	assert_int_equal(write(fd, bytes, 3 * page_bytes()), 3 * page_bytes());
	free(bytes);
	return fd;
}

static void what_is_cut_off_is_zeros(void **state)
{
	const size_t page = page_bytes();
	int fd = file_of_pages();
	const char *map = file_map(fd, 3 * page, PROT_READ, MAP_PRIVATE);

	(void)state;
	assert_non_null(map);
	assert_true(file_map_has((uintptr_t)map) && file_map_has((uintptr_t)map + 3 * page - 1));
	assert_false(file_map_has((uintptr_t)map + 3 * page));
	assert_int_equal(map[2 * page], 'x');
	assert_int_equal(ftruncate(fd, (off_t)page), 0);
	assert_int_equal(map[page - 1], 'x');
	assert_int_equal(map[page], 0);
	assert_int_equal(map[3 * page - 1], 0);
	file_unmap((void *)(uintptr_t)map, 3 * page);
	assert_false(file_map_has((uintptr_t)map));
	close(fd);
}

/* The status of a child that does this. */
static int status_of(void (*act)(void))
{
	const pid_t child = fork();
	int status;

	if (!child) {
		const struct rlimit no_core = { 0, 0 };

		setrlimit(RLIMIT_CORE, &no_core);
		act();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void look_beside_the_maps(void)
{
	const size_t page = page_bytes();
	int guarded = file_of_pages(), fd = file_of_pages();
	const volatile char *map = mmap(NULL, 3 * page, PROT_READ, MAP_PRIVATE, fd, 0);

	signal(SIGBUS, SIG_DFL);
	if (file_map(guarded, 3 * page, PROT_READ, MAP_PRIVATE) && !ftruncate(fd, 0))
		_exit(map[0] ? 1 : 2);
}

static void be_sent_one(void)
{
	signal(SIGBUS, SIG_DFL);
	if (file_map(file_of_pages(), page_bytes(), PROT_READ, MAP_PRIVATE))
		raise(SIGBUS);
}

static void other_bus_errors_end_the_program(void **state)
{
	int status = status_of(look_beside_the_maps);

	(void)state;
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	status = status_of(be_sent_one);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
}

/* More at once than there is room for: those are not mapped, and there is room again when others go. */
static void room_is_given_back(void **state)
{
	static void *maps[FILE_MAPS_MAX];
	int fd = file_of_pages();

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < FILE_MAPS_MAX; i++)
			assert_non_null(maps[i] = file_map(fd, page_bytes(), PROT_READ, MAP_PRIVATE));
		assert_null(file_map(fd, page_bytes(), PROT_READ, MAP_PRIVATE));
		for (size_t i = 0; i < FILE_MAPS_MAX; i++)
			file_unmap(maps[i], page_bytes());
	}
	file_unmap(NULL, 0);
	close(fd);
}

/* How many samples are read of a recording that is cut to `left` bytes when it was opened; the code at its end. */
static size_t read_cut(const char *golden, size_t left, int *code, struct str *why)
{
	char path[] = "/tmp/file_mapXXXXXX";
	struct str bytes = STR_INIT;
	struct record record;
	struct reader reader;
	size_t n = 0;
	int fd = mkstemp(path);

	assert_int_equal(read_text_file(golden, &bytes), 0);
	assert_true(bytes.len > left);
	assert_int_equal(write(fd, bytes.s, bytes.len), bytes.len);
	assert_int_equal(reader_open(&reader, path, why), 0);
	assert_int_equal(ftruncate(fd, (off_t)left), 0);
	while ((*code = reader.source.next(&reader.source, &record, why)) == SOURCE_RECORD)
		n++;
	reader_close(&reader);
	close(fd);
	unlink(path);
	str_release(&bytes);
	return n;
}

static void a_recording_that_is_cut_while_it_is_read_is_damaged(void **state)
{
	struct str why = STR_INIT;
	int code;

	(void)state;
	if (page_bytes() > 4096) /* no recording here is longer */
		skip();
	assert_in_range(read_cut("tests/golden/hostile_names.data", page_bytes(), &code, &why), 1, 1000);
	assert_true(code < 0);
	assert_non_null(strstr(why.s, "size"));
	str_release(&why);
}

/* The last record is looked at once more when somebody has made it the largest that there can be. */
static void a_record_that_grows_while_it_waits_ends_in_the_mapping(void **state)
{
	const uint8_t largest[] = { 0xf8, 0xff };
	char path[] = "/tmp/file_mapXXXXXX";
	struct str bytes = STR_INIT, why = STR_INIT;
	struct record record, last = { 0 }, again;
	struct reader reader;
	unsigned sum = 0;
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(read_text_file("tests/golden/hostile_names.data", &bytes), 0);
	assert_int_equal(write(fd, bytes.s, bytes.len), bytes.len);
	assert_int_equal(reader_open(&reader, path, &why), 0);
	while (reader.source.next(&reader.source, &record, &why) == SOURCE_RECORD)
		last = record;
	assert_true(last.stable);
	assert_int_equal(pwrite(fd, largest, sizeof(largest), (off_t)last.offset + 6), sizeof(largest));
	record_from_bytes(&again, last.bytes, last.offset, false);
	assert_int_equal(again.size, 0xfff8);
	for (size_t i = last.size; i < again.size; i++)
		sum += again.bytes[i];
	/* What stands after the records in the file, and then nothing. */
	assert_true(sum < 255 * bytes.len);
	assert_int_equal(again.bytes[again.size - 1], 0);
	reader_close(&reader);
	close(fd);
	unlink(path);
	str_release(&bytes);
	str_release(&why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_cut_off_is_zeros),
		cmocka_unit_test(other_bus_errors_end_the_program),
		cmocka_unit_test(room_is_given_back),
		cmocka_unit_test(a_recording_that_is_cut_while_it_is_read_is_damaged),
		cmocka_unit_test(a_record_that_grows_while_it_waits_ends_in_the_mapping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
