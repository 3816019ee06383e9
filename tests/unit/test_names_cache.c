/* SPDX-License-Identifier: MIT */
/*
 * Entries of the cache of names: each byte of the head, key and contents is checked; contents that are damaged all the
 * same are refused or in bounds. And the other files that an answer came from: it holds while each is what it was.
 */
#include "elf_builder.h"
#include "sym/source_cached.h"
#include "sym/names_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[64], path[96];
static struct elf_files *files;
static struct str err;

static int set_up(void **state)
{
	(void)state;
	str_init(&err);
	snprintf(root, sizeof(root), "/tmp/test_names_cache.XXXXXX");
	files = elf_files_new();
	if (!mkdtemp(root))
		return -1;
	snprintf(path, sizeof(path), "%s/part", root);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	elf_files_free(files);
	str_release(&err);
	unlink(path);
	return rmdir(root);
}

/* ---- entries ---- */

static void every_byte_of_an_entry_counts(void **state)
{
	struct str key = STR_INIT, bytes = STR_INIT, entry = STR_INIT;
	const void *kept;
	size_t n;

	(void)state;
	str_add(&key, "names 1\nof a file\n");
	str_addn(&bytes, "what\0is kept", 12);
	names_cache_wrap(&key, &bytes, &entry);
	kept = names_cache_unwrap(entry.s, entry.len, &key, &n);
	assert_non_null(kept);
	assert_int_equal(n, 12);
	assert_memory_equal(kept, bytes.s, 12);
	for (size_t i = 0; i < entry.len; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			entry.s[i] ^= (char)(1 << bit);
			assert_null(names_cache_unwrap(entry.s, entry.len, &key, &n));
			entry.s[i] ^= (char)(1 << bit);
		}
	for (size_t i = 0; i < entry.len; i++)
		assert_null(names_cache_unwrap(entry.s, i, &key, &n));
	str_add(&key, "of another");
	assert_null(names_cache_unwrap(entry.s, entry.len, &key, &n));
	str_release(&key);
	str_release(&bytes);
	str_release(&entry);
}

static void only_entries_have_their_names(void **state)
{
	(void)state;
	assert_true(names_cache_is_entry("12ab-0123456789abcdef"));
	assert_false(names_cache_is_entry("-0123456789abcdef"));
	assert_false(names_cache_is_entry("12ab-0123456789abcde"));
	assert_false(names_cache_is_entry("12ab-0123456789abcdef0"));
	assert_false(names_cache_is_entry("12AB-0123456789abcdef"));
}

/* ---- parts ---- */

static void make_part(uint8_t id)
{
	struct built_elf elf;
	struct str bytes = STR_INIT;
	int fd;

	elf_start(&elf, ET_DYN, EM_X86_64, false, false);
	elf_build_id(&elf, id, 20);
	elf_finish(&elf, &bytes);
	elf_end(&elf);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, bytes.s, bytes.len), 0);
	close(fd);
	str_release(&bytes);
}

/* As somebody asks for it who has not done so before. */
static int ask(struct file_parts *parts)
{
	struct elf_file *file;
	int rc;

	elf_files_free(files);
	files = elf_files_new();
	rc = file_parts_open(parts, files, path, &file, &err);
	if (!rc)
		elf_file_let_go(file);
	return rc;
}

static void a_part_that_changes_or_goes_is_seen(void **state)
{
	struct file_parts parts = { .v = NULL };
	struct timespec times[2];
	struct stat st;

	(void)state;
	make_part(1);
	assert_int_equal(ask(&parts), 0);
	assert_int_equal(parts.n, 1);
	assert_true(file_parts_hold(&parts));
	assert_int_equal(stat(path, &st), 0);
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	usleep(20000); /* file systems have times of some milliseconds */
	make_part(2); /* as long, in the same inode */
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	assert_false(file_parts_hold(&parts));
	assert_int_equal(ask(&parts), 0);
	assert_true(parts.unsure); /* both were met */
	assert_false(file_parts_hold(&parts));
	file_parts_release(&parts);
	assert_int_equal(ask(&parts), 0);
	assert_true(file_parts_hold(&parts));
	unlink(path);
	assert_false(file_parts_hold(&parts));
	file_parts_release(&parts);
}

static void a_part_that_comes_is_seen(void **state)
{
	struct file_parts parts = { .v = NULL };

	(void)state;
	assert_int_equal(ask(&parts), -ENOENT);
	assert_int_equal(parts.n, 1);
	assert_true(file_parts_hold(&parts));
	make_part(1);
	assert_false(file_parts_hold(&parts));
	file_parts_release(&parts);
}

static void a_part_that_cannot_be_read_makes_all_unsure(void **state)
{
	struct file_parts parts = { .v = NULL }, all = { .v = NULL };
	FILE *file = fopen(path, "w");

	(void)state;
	assert_non_null(file);
	fputs("no ELF file", file);
	fclose(file);
	assert_true(ask(&parts) < 0);
	assert_true(parts.unsure);
	file_parts_join(&all, &parts);
	assert_false(file_parts_hold(&all));
	file_parts_release(&parts);
	file_parts_release(&all);
}

static void parts_are_texts_and_back(void **state)
{
	static const char good[] = "/a.dwo\0001 2 3 4.0 5.0\n\0/b.dwp\0";
	struct file_parts parts = { .v = NULL };
	struct str bytes = STR_INIT;

	(void)state;
	assert_true(file_parts_take(&parts, good, sizeof(good)));
	assert_int_equal(parts.n, 2);
	assert_string_equal(parts.v[0].identity, "1 2 3 4.0 5.0\n");
	assert_string_equal(parts.v[1].path, "/b.dwp");
	assert_string_equal(parts.v[1].identity, "");
	file_parts_put(&parts, &bytes);
	assert_int_equal(bytes.len, sizeof(good));
	assert_memory_equal(bytes.s, good, sizeof(good));
	file_parts_release(&parts);
	for (size_t n = 0; n < sizeof(good); n++) {
		bool whole = !n || n == 22;

		assert_true(file_parts_take(&parts, good, n) == whole);
		file_parts_release(&parts);
	}
	assert_false(file_parts_take(&parts, "/a\0" "1\0" "/a\0" "2", 10)); /* one path, two files */
	file_parts_release(&parts);
	assert_false(file_parts_take(&parts, "\0" "1", 3));
	file_parts_release(&parts);
	str_release(&bytes);
}

/* ---- what is kept of a file ---- */

static char dso_path[] = "/tmp/app";
static const struct dso dso = {
	.kind = DSO_FILE, .path = dso_path, .name = dso_path, .pid = -1, .build_id = { .size = 2, .bytes = "\x12\x34" },
};
/* Two addresses of leaf, in one of which mixed is inlined: embedded_names.h. */
static const char names_of_two[] =
	"\x01\x00\x4b /tmp/app\0app\0\0leaf\0mixed\0work.c\0\x01\x28" "f"
	"\0\0\x01\x02\x12\x34\0\0\0\0\0\x01\x02\x01\x80 \x80"
	"\x02\x02\x03\x01\0\x04\x06\x0c\x02\x90 \x02\x01\x06\x0e \0\0\0\x0d\0\0";

static bool is_in_bounds(const struct cached_names *cached)
{
	for (size_t i = 0; i < cached->dso->n_addrs; i++)
		if (cached->depths[i] > ANSWER_LINES || cached->dso->addrs[i].function1 > cached->dso->n_functions ||
		    cached->dso->addrs[i].inline1 > cached->dso->n_inlines)
			return false;
	return true;
}

static void contents_that_are_damaged_stay_in_bounds(void **state)
{
	struct str depths = STR_INIT, names = STR_INIT, kept = STR_INIT;
	struct file_parts parts = { .v = NULL };
	struct cached_names *cached;
	size_t n_good = 0;

	(void)state;
	str_addn(&depths, "\x02\x01", 2);
	str_addn(&names, names_of_two, sizeof(names_of_two) - 1);
	assert_true(file_parts_take(&parts, "/a\0" "1", 5));
	cached_names_put(&depths, &names, "here", &parts, 0, &kept);
	for (size_t i = 0; i < kept.len; i++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			kept.s[i] ^= (char)(1 << bit);
			cached = cached_names_read(kept.s, kept.len, &dso, 0);
			assert_true(!cached || is_in_bounds(cached));
			n_good += cached != NULL;
			cached_names_free(cached);
			kept.s[i] ^= (char)(1 << bit);
		}
		cached = cached_names_read(kept.s, i, &dso, 0);
		assert_true(!cached || is_in_bounds(cached));
		cached_names_free(cached);
	}
	cached = cached_names_read(kept.s, kept.len, &dso, 0);
	assert_non_null(cached);
	assert_string_equal(cached->search, "here");
	assert_int_equal(cached->parts.n, 1);
	assert_int_equal(cached->dso->n_addrs, 2);
	assert_true(n_good); /* else this says nothing about bounds */
	cached_names_free(cached);
	file_parts_release(&parts);
	str_release(&depths);
	str_release(&names);
	str_release(&kept);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_byte_of_an_entry_counts),
		TEST(only_entries_have_their_names),
		TEST(a_part_that_changes_or_goes_is_seen),
		TEST(a_part_that_comes_is_seen),
		TEST(a_part_that_cannot_be_read_makes_all_unsure),
		TEST(parts_are_texts_and_back),
		TEST(contents_that_are_damaged_stay_in_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
