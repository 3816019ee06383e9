/* SPDX-License-Identifier: MIT */
/*
 * A spool folder: how its files are named, what stays and what goes, by clocks and sizes that the test feeds; what
 * ended writers and others have left in it; writers side by side, and a disk that is full.
 */
#include "cmd/spool_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define BOOT "0123456789abcdef0123456789abcdef"
#define HOUR "v1/2026-11-26/22"
#define NAME(time, seq) "20261126T" time "Z_host.one_" BOOT "_" seq ".pb.gz"
enum { T0 = 1795732200 }; /* 2026-11-26T22:30:00Z */

static char *dir;
static struct spool_folder folder;
static struct spool_moment now;
static struct str why = STR_INIT;

static char *below(const char *path)
{
	return xasprintf("%s/%s", dir, path);
}

static int setup(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	dir = xasprintf("%s/spool-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		abort();
	folder = (struct spool_folder){ .v1 = -1, .lock = -1 };
	now = (struct spool_moment){ T0 * NS_PER_S, 1000 * NS_PER_S };
	str_reset(&why);
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st, (void)kind, (void)at;
	return remove(path);
}

static int teardown(void **state)
{
	(void)state;
	spool_folder_close(&folder);
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(dir);
	str_release(&why);
	return 0;
}

static void begin(struct spool_folder *writer, uint64_t max_bytes, uint64_t max_age_ns)
{
	const struct spool_options options = {
		.path = dir, .host = "host.one", .boot_id = "01234567-89ab-cdef-0123-456789abcdef\n",
		.max_bytes = max_bytes, .max_age_ns = max_age_ns,
	};

	assert_int_equal(spool_folder_open(writer, &options, &now, &why), 0);
}

static void pass(uint64_t seconds)
{
	now.wall_ns += seconds * NS_PER_S;
	now.steady_ns += seconds * NS_PER_S;
}

/* A file of so many bytes that began when this is called. */
static int put(struct spool_folder *writer, size_t n_bytes)
{
	struct str bytes = STR_INIT;
	int code;

	str_pad(&bytes, 'x', n_bytes);
	str_reset(&why);
	code = spool_folder_put(writer, &bytes, 0, ",\"samples\":7", &now, &why);
	str_release(&bytes);
	return code;
}

static void make(const char *path, const char *text)
{
	char *full = below(path);
	FILE *f = fopen(full, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
	free(full);
}

static void make_hour(void)
{
	static const char *const folders[] = { "v1", "v1/2026-11-26", HOUR };

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		char *path = below(folders[i]);

		if (mkdir(path, 0777))
			abort();
		free(path);
	}
}

static bool is_there(const char *path)
{
	char *full = below(path);
	struct stat st;
	bool is = !lstat(full, &st);

	free(full);
	return is;
}

static void has_text(const char *path, const char *expected)
{
	char *full = below(path);
	struct str text = STR_INIT;

	assert_int_equal(read_text_file(full, &text), 0);
	assert_string_equal(text.s, expected);
	str_release(&text);
	free(full);
}

#define LINE_OF(name, seq, start, bytes, facts)                                                           \
	"{\"path\":\"" HOUR "/" name "\",\"host\":\"host.one\",\"boot\":\"" BOOT "\",\"seq\":" seq         \
	",\"start\":\"2026-11-26T" start "Z\",\"bytes\":" bytes facts "}\n"
#define LINE(time, seq, number, start, bytes) \
	LINE_OF(NAME(time, seq), number, start, bytes, ",\"samples\":7")

static void files_and_their_lines(void **state)
{
	(void)state;
	begin(&folder, 0, 0);
	now.wall_ns += 123456789;
	assert_int_equal(put(&folder, 5), 0);
	has_text(HOUR "/" NAME("223000", "00000001"), "xxxxx");
	pass(60);
	assert_int_equal(put(&folder, 3), 0);
	pass(3600);
	assert_int_equal(put(&folder, 1), 0);
	has_text(HOUR "/index.jsonl", LINE("223000", "00000001", "1", "22:30:00.123456", "5")
		 LINE("223100", "00000002", "2", "22:31:00.123456", "3"));
	assert_true(is_there("v1/2026-11-26/23/" NAME("233100", "00000003")));
}

/* Whatever a host is called, its name is one part of a file's name. */
static void names_of_hosts(void **state)
{
	static const struct {
		const char *host, *as;
	} rows[] = {
		{ "../../etc/pass_wd", "..-..-etc-pass-wd" },
		{ "", "unknown" },
		{ "a b\nc\"\xff", "a-b-c--" },
		{ "0123456789012345678901234567890123456789012345678901234567890123456789",
		  "0123456789012345678901234567890123456789012345678901234567890123" },
	};
	struct spool_options options = { .boot_id = "" };

	(void)state;
	options.path = dir;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *name = xasprintf(HOUR "/20261126T223000Z_%s_%032d_00000001.pb.gz", rows[i].as, 0);

		options.host = rows[i].host;
		assert_int_equal(spool_folder_open(&folder, &options, &now, &why), 0);
		assert_int_equal(put(&folder, 1), 0);
		assert_true(is_there(name));
		spool_folder_close(&folder);
		free(name);
	}
}

/* All files together stay at most as large as they may be: the oldest go. */
static void the_largest_size(void **state)
{
	(void)state;
	begin(&folder, 100, 0);
	for (int i = 0; i < 4; i++, pass(60))
		assert_int_equal(put(&folder, 30), 0);
	assert_false(is_there(HOUR "/" NAME("223000", "00000001")));
	has_text(HOUR "/index.jsonl", LINE("223100", "00000002", "2", "22:31:00.000000", "30")
		 LINE("223200", "00000003", "3", "22:32:00.000000", "30")
		 LINE("223300", "00000004", "4", "22:33:00.000000", "30"));
	pass(86400);
	assert_int_equal(put(&folder, 100), 0);
	assert_false(is_there("v1/2026-11-26"));
	assert_true(is_there("v1/2026-11-27/22/" "20261127T223400Z_host.one_" BOOT "_00000005.pb.gz"));
	assert_int_equal(put(&folder, 101), -EFBIG);
	assert_true(strstr(why.s, "larger than --max-size") != NULL);
	assert_true(is_there("v1/2026-11-27/22/" "20261127T223400Z_host.one_" BOOT "_00000005.pb.gz"));
	/* Another writer with a smaller limit keeps it from its start on. */
	spool_folder_close(&folder);
	begin(&folder, 99, 0);
	assert_false(is_there("v1/2026-11-27"));
}

static void the_highest_age(void **state)
{
	(void)state;
	begin(&folder, 0, 100 * NS_PER_S);
	assert_int_equal(put(&folder, 1), 0);
	pass(100);
	assert_int_equal(put(&folder, 1), 0);
	assert_true(is_there(HOUR "/" NAME("223000", "00000001")));
	pass(1);
	assert_int_equal(put(&folder, 1), 0);
	assert_false(is_there(HOUR "/" NAME("223000", "00000001")));
	assert_true(is_there(HOUR "/" NAME("223140", "00000002")));
	spool_folder_close(&folder);
	pass(86400);
	begin(&folder, 0, 100 * NS_PER_S);
	assert_false(is_there("v1/2026-11-26"));
}

static void clocks_that_are_set(void **state)
{
	(void)state;
	begin(&folder, 100, 1000 * NS_PER_S);
	assert_int_equal(put(&folder, 30), 0);
	/* Back by a year: names stay in order, and what is new is not what goes. The line has the clock's word. */
	pass(60);
	now.wall_ns -= 86400 * 365 * NS_PER_S;
	for (int i = 0; i < 3; i++)
		assert_int_equal(put(&folder, 30), 0);
	assert_false(is_there(HOUR "/" NAME("223000", "00000001")));
#define LINE_OF_2025(seq, number) \
	"{\"path\":\"" HOUR "/" NAME("223000", seq) "\",\"host\":\"host.one\",\"boot\":\"" BOOT "\",\"seq\":" number \
	",\"start\":\"2025-11-26T22:31:00.000000Z\",\"bytes\":30,\"samples\":7}\n"
	has_text(HOUR "/index.jsonl", LINE_OF_2025("00000002", "2") LINE_OF_2025("00000003", "3")
		 LINE_OF_2025("00000004", "4"));
}

/* The other way: files do not become old by it. */
static void a_clock_that_leaps(void **state)
{
	(void)state;
	begin(&folder, 0, 1000 * NS_PER_S);
	assert_int_equal(put(&folder, 1), 0);
	pass(60);
	now.wall_ns += 86400 * 365 * NS_PER_S;
	assert_int_equal(put(&folder, 1), 0);
	assert_true(is_there(HOUR "/" NAME("223000", "00000001")));
	assert_true(is_there("v1/2027-11-26/22/20271126T223100Z_host.one_" BOOT "_00000002.pb.gz"));
	pass(1000);
	assert_int_equal(put(&folder, 1), 0);
	assert_false(is_there(HOUR "/" NAME("223000", "00000001")));
}

/* Neither counted nor removed: what has not exactly this form, or is no regular file of its own. */
static void what_others_put_there(void **state)
{
	static const char *const names[] = {
		"v1/2026-11-26/22/20261126T223000Z_host.one_" BOOT "_00000001.pb.gz.old",
		"v1/2026-11-26/22/20261126T213000Z_host.one_" BOOT "_00000001.pb.gz", /* of another hour */
		"v1/2026-11-26/22/20261126T229900Z_host.one_" BOOT "_00000001.pb.gz",
		"v1/2026-11-26/22/20261126T223000Z_host one_" BOOT "_00000001.pb.gz",
		"v1/2026-11-26/22/20261126T223000Z_host.one_" BOOT "_0000001.pb.gz",
		"v1/2026-11-26/22/20261126T223000Z_host.one_0123_00000001.pb.gz",
		"v1/2026-11-26/22/20261126T223000Z__" BOOT "_00000001.pb.gz",
		"v1/2026-11-26/22/20261126T223000Z_host.one_" BOOT "_00000001.pb.gz.12x.new",
		"v1/2026-11-26/22/notes",
		"v1/2026-11-26/20261126T223000Z_host.one_" BOOT "_00000001.pb.gz",
		"v1/20261126T223000Z_host.one_" BOOT "_00000001.pb.gz",
		"20261126T223000Z_host.one_" BOOT "_00000001.pb.gz",
	};
	char *victim = below("victim"), *link = below("v1/2026-11-26/23/" NAME("233000", "00000001"));
	char *hour_link = below("v1/2026-11-26/21"), *other = below("other");
	char *hour = below("v1/2026-11-26/23"), *folder_of_that_name = below(HOUR "/" NAME("223000", "00000078"));

	(void)state;
	make_hour();
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		make(names[i], "0123456789");
	make("victim", "0123456789");
	assert_int_equal(mkdir(hour, 0700), 0);
	assert_int_equal(symlink(victim, link), 0);
	assert_int_equal(mkdir(folder_of_that_name, 0700), 0);
	assert_int_equal(mkdir(other, 0700), 0);
	make("other/20261126T213000Z_host.one_" BOOT "_00000001.pb.gz", "0123456789");
	assert_int_equal(symlink(other, hour_link), 0);
	begin(&folder, 1, NS_PER_S);
	pass(3600);
	assert_int_equal(put(&folder, 1), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_true(is_there(names[i]));
	/* The link had the name that came next. */
	has_text("v1/2026-11-26/23/" NAME("233000", "00000001"), "0123456789");
	has_text("v1/2026-11-26/23/" NAME("233000", "00000002"), "x");
	assert_true(is_there(HOUR "/" NAME("223000", "00000078")));
	assert_true(is_there("other/20261126T213000Z_host.one_" BOOT "_00000001.pb.gz"));
	free(victim);
	free(link);
	free(hour);
	free(hour_link);
	free(other);
	free(folder_of_that_name);
}

static void links_in_the_way(void **state)
{
	const struct spool_options options = { .path = dir, .host = "", .boot_id = "" };
	char *v1 = below("v1"), *index = below(HOUR "/index.jsonl"), *victim = below("victim");

	(void)state;
	make_hour();
	make("victim", "mine");
	assert_int_equal(symlink(victim, index), 0);
	begin(&folder, 0, 0);
	assert_int_equal(put(&folder, 1), -ELOOP);
	has_text("victim", "mine");
	spool_folder_close(&folder);
	free(index);
	index = below("elsewhere");
	assert_int_equal(rename(v1, index), 0);
	assert_int_equal(symlink(index, v1), 0);
	assert_true(spool_folder_open(&folder, &options, &now, &why) < 0);
	assert_true(strstr(why.s, "v1") != NULL);
	free(v1);
	free(index);
	free(victim);
}

/* A writer was killed between any two of its steps. */
static void what_an_ended_writer_left(void **state)
{
	(void)state;
	make_hour();
	make(HOUR "/" NAME("223000", "00000001"), "12345");
	make(HOUR "/" NAME("223000", "00000002"), "123");
	make(HOUR "/" NAME("223000", "00000003") ".4711.new", "half");
	make(HOUR "/" NAME("223000", "00000003") ".4711.0123abcd.new", "half");
	make(HOUR "/index.jsonl.4711.new", "half");
	make(HOUR "/index.jsonl",
	     LINE("223000", "00000001", "1", "22:30:00.000000", "5")
	     LINE("223000", "00000001", "1", "22:30:00.000000", "5")
	     "{\"path\":\"" HOUR "/" NAME("223000", "00000009")
	     "\"}\nnonsense\n{\"path\":\"" HOUR "/" NAME("223000", "00000002") "\",\"ho");
	begin(&folder, 0, 0);
	has_text(HOUR "/index.jsonl", LINE("223000", "00000001", "1", "22:30:00.000000", "5")
		 LINE_OF(NAME("223000", "00000002"), "2", "22:30:00.000000", "3", ""));
	assert_false(is_there(HOUR "/" NAME("223000", "00000003") ".4711.new"));
	assert_false(is_there(HOUR "/" NAME("223000", "00000003") ".4711.0123abcd.new"));
	assert_false(is_there(HOUR "/index.jsonl.4711.new"));
	/* Numbers go on. */
	assert_int_equal(put(&folder, 1), 0);
	assert_true(is_there(HOUR "/" NAME("223000", "00000003")));
}

/* Two of one host at one time: neither takes the other's name, and both keep one limit. */
static void two_writers(void **state)
{
	struct spool_folder other;

	(void)state;
	begin(&folder, 90, 0);
	begin(&other, 90, 0);
	assert_int_equal(put(&folder, 30), 0);
	assert_int_equal(put(&other, 31), 0);
	assert_int_equal(put(&folder, 29), 0);
	has_text(HOUR "/index.jsonl", LINE("223000", "00000001", "1", "22:30:00.000000", "30")
		 LINE("223000", "00000002", "2", "22:30:00.000000", "31")
		 LINE("223000", "00000003", "3", "22:30:00.000000", "29"));
	pass(60);
	assert_int_equal(put(&other, 30), 0);
	has_text(HOUR "/index.jsonl", LINE("223000", "00000002", "2", "22:30:00.000000", "31")
		 LINE("223000", "00000003", "3", "22:30:00.000000", "29")
		 LINE("223100", "00000004", "4", "22:31:00.000000", "30"));
	spool_folder_close(&other);
}

static void a_full_disk(void **state)
{
	struct rlimit old, small;

	(void)state;
	begin(&folder, 0, 0);
	assert_int_equal(put(&folder, 30), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, SIG_IGN);
	small = (struct rlimit){ 100, old.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(put(&folder, 1000), -EFBIG); /* as -ENOSPC: after a part of it was written */
	assert_true(strstr(why.s, NAME("223000", "00000002")) != NULL);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	has_text(HOUR "/index.jsonl", LINE("223000", "00000001", "1", "22:30:00.000000", "30"));
	assert_false(is_there(HOUR "/" NAME("223000", "00000002")));
	assert_int_equal(put(&folder, 1000), 0);
	has_text(HOUR "/index.jsonl", LINE("223000", "00000001", "1", "22:30:00.000000", "30")
		 LINE("223000", "00000003", "3", "22:30:00.000000", "1000"));
}

/* What did not change is not read again, but what did is counted, whoever changed it. */
static void changes_of_others(void **state)
{
	static const struct timespec later[2] = { { .tv_sec = T0 * 2L }, { .tv_sec = T0 * 2L } };
	char *path = below(HOUR "/" NAME("223000", "00000001")), *hour = below(HOUR);

	(void)state;
	begin(&folder, 100, 0);
	assert_int_equal(put(&folder, 60), 0);
	/* The folder's time is the same after a change, as it is of changes within a tick of the kernel's clock. */
	assert_int_equal(utimensat(AT_FDCWD, hour, later, 0), 0);
	assert_int_equal(put(&folder, 30), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(utimensat(AT_FDCWD, hour, later, 0), 0);
	assert_int_equal(put(&folder, 60), 0);
	has_text(HOUR "/index.jsonl", LINE("223000", "00000002", "2", "22:30:00.000000", "30")
		 LINE("223000", "00000003", "3", "22:30:00.000000", "60"));
	free(hour);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(files_and_their_lines),
		TEST(names_of_hosts),
		TEST(the_largest_size),
		TEST(the_highest_age),
		TEST(clocks_that_are_set),
		TEST(a_clock_that_leaps),
		TEST(what_others_put_there),
		TEST(links_in_the_way),
		TEST(what_an_ended_writer_left),
		TEST(two_writers),
		TEST(a_full_disk),
		TEST(changes_of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
