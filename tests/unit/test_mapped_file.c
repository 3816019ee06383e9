/* SPDX-License-Identifier: MIT */
/*
 * Where a mapped file is looked for, in which order; and what says that an open file is the one.
 */
#include "space/space.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

static const struct mapping_seen seen[] = {
	{ .pid = 10, .ancestors = { 5, 1 }, .start = 0x1000, .end = 0x2000 },
	{ .pid = 12, .start = 0x3000, .end = 0x4000 },
	{ .pid = 12, .start = 0x5000, .end = 0x6000 },
	{ .pid = 13, .root = "/proc/13/task/14/root" },
};

struct tried {
	struct str text;
	const char *wanted; /* the place that has the file; NULL: none */
};

static bool try(void *context, const char *root, const char *path)
{
	struct tried *tried = context;
	char *whole = xasprintf("%s%s", root, path);
	bool found = tried->wanted && !strcmp(whole, tried->wanted);

	str_addf(&tried->text, "%s ", whole);
	free(whole);
	return found;
}

static void test_places(void **state)
{
	static const struct {
		unsigned places;
		const char *wanted, *tried;
	} rows[] = {
		{ 0, NULL, "" },
		{ MAPPED_HERE, NULL, "/a " },
		/* The newest first; a process that has mapped it twice in a row is asked once. */
		{ MAPPED_IN_ROOT | MAPPED_HERE, NULL, "/proc/13/task/14/root/a P/12/root/a P/10/root/a /a " },
		{ MAPPED_IN_ANCESTORS, NULL, "P/5/root/a P/1/root/a " },
		{ MAPPED_BY_RANGE, "P/12/map_files/3000-4000",
		  "P/13/map_files/0-0 P/12/map_files/5000-6000 P/12/map_files/3000-4000 " },
		/* A place is tried for all processes before the next one is. */
		{ MAPPED_IN_ROOT | MAPPED_BY_RANGE | MAPPED_IN_ANCESTORS | MAPPED_HERE, "P/1/root/a",
		  "/proc/13/task/14/root/a P/12/root/a P/10/root/a P/13/map_files/0-0 P/12/map_files/5000-6000 "
		  "P/12/map_files/3000-4000 P/10/map_files/1000-2000 P/5/root/a P/1/root/a " },
	};
	const struct mapped_file file = { .path = "/a", .seen = seen, .n_seen = ARRAY_SIZE(seen) };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tried tried = { STR_INIT, rows[i].wanted };

		assert_int_equal(mapped_file_look(&file, "P", rows[i].places, try, &tried), rows[i].wanted != NULL);
		assert_string_equal(tried.text.s, rows[i].tried);
		str_release(&tried.text);
	}
}

static void test_sightings(void **state)
{
	struct mapping_seen some[MAPPED_SEEN_MAX];
	size_t n = 0;

	(void)state;
	for (uint32_t pid = 1; pid <= 7; pid++)
		n = mapping_seen_add(some, n, &(struct mapping_seen){ .pid = pid });
	assert_int_equal(n, MAPPED_SEEN_MAX);
	assert_int_equal(some[0].pid, 1);
	assert_int_equal(some[1].pid, 5);
	assert_int_equal(some[3].pid, 7);
}

static void test_identity(void **state)
{
	static const struct build_id a = { 2, { 1, 2 } }, b = { 2, { 1, 3 } };
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct mapped_file file = { .path = "/a" };
	struct stat st;

	(void)state;
	assert_return_code(fstat(fd, &st), 0);
	assert_false(mapped_file_is(&file, fd, &st, &a)); /* nothing is known of it */
	file.inode = st.st_ino;
	file.any_device = true;
	assert_true(mapped_file_is(&file, fd, &st, NULL));
	file.any_device = false;
	file.major = major(st.st_dev);
	file.minor = minor(st.st_dev);
	assert_true(mapped_file_is(&file, fd, &st, NULL));
	file.inode++;
	assert_false(mapped_file_is(&file, fd, &st, NULL));
	/* A build-id says more than an inode. */
	file.build_id = a;
	assert_true(mapped_file_is(&file, fd, &st, &a));
	assert_false(mapped_file_is(&file, fd, &st, &b));
	file.inode = st.st_ino;
	assert_false(mapped_file_is(&file, fd, &st, NULL));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_sightings),
		cmocka_unit_test(test_identity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
