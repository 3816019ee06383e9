/* SPDX-License-Identifier: MIT */
/*
 * Which debug file the live unwinder takes: trees of small ELF files below the roots of processes of a procfs that
 * is made here, and the paths that are given out for them.
 */
#include "elf_builder.h"
#include "record/unwind_files.h"

#include "elf/elf.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

enum { WORKERS = 4, MANY = 200 };

static char root[64]; /* the tree */
static char procfs[80];
static struct unwind_files *files;
static struct elf_files *elf;

static const char *in_tree(const char *path)
{
	static char full[512];

	snprintf(full, sizeof(full), "%s%s", root, path);
	return full;
}

static int set_up(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/pstat-test-XXXXXX");
	assert_non_null(mkdtemp(root));
	snprintf(procfs, sizeof(procfs), "%s/proc", root);
	files = unwind_files_new(procfs, &(struct unwind_clock){ 0 });
	elf = elf_files_new();
	return 0;
}

static int tear_down(void **state)
{
	char *command = xasprintf("rm -rf '%s'", root);

	(void)state;
	elf_files_free(elf);
	unwind_files_free(files);
	assert_int_equal(system(command), 0);
	free(command);
	return 0;
}

/* ---- files of a tree ---- */

struct want {
	uint8_t id; /* first byte of its build-id of 8; 0: none */
	const struct build_id *whole_id; /* or all of it, or NULL */
	bool tables; /* .debug_frame */
	uint8_t build; /* what is in it */
	const char *link; /* .gnu_debuglink, or NULL */
	uint32_t crc;
};

static void make_bytes(const struct want *want, struct str *out)
{
	struct built_elf built;
	struct str *bytes;

	elf_start(&built, ET_DYN, EM_X86_64, false, false);
	elf_add(&built, ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000);
	if (want->id)
		elf_build_id(&built, want->id, 8);
	if (want->whole_id) {
		elf_build_id(&built, 1, want->whole_id->size);
		bytes = &built.sections[built.n - 1].bytes;
		memcpy(bytes->s + 16, want->whole_id->bytes, want->whole_id->size);
	}
	if (want->tables) {
		bytes = &built.sections[elf_add(&built, ".debug_frame", SHT_PROGBITS, 0, 0)].bytes;
		elf_put(&built, bytes, want->build, 8);
	}
	if (want->link) {
		bytes = &built.sections[elf_add(&built, ".gnu_debuglink", SHT_PROGBITS, 0, 0)].bytes;
		str_addn(bytes, want->link, strlen(want->link) + 1);
		str_pad(bytes, '\0', -bytes->len & 3);
		elf_put(&built, bytes, want->crc, 4);
	}
	elf_finish(&built, out);
	elf_end(&built);
}

/* path: whole. */
static void make_file(const char *path, struct want want)
{
	struct str bytes = STR_INIT;
	char *copy = xstrdup(path);
	int fd;

	for (char *slash = copy + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		(void)mkdir(copy, 0755);
		*slash = '/';
	}
	make_bytes(&want, &bytes);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, bytes.s, bytes.len), 0);
	close(fd);
	str_release(&bytes);
	free(copy);
}

/* CRC-32 bit by bit. */
static uint32_t crc_of(struct want want)
{
	struct str bytes = STR_INIT;
	uint32_t crc = ~0u;

	make_bytes(&want, &bytes);
	for (size_t i = 0; i < 8 * bytes.len; i++) {
		uint32_t bit = (uint32_t)(uint8_t)bytes.s[i / 8] >> i % 8 & 1;

		crc = crc >> 1 ^ ((crc ^ bit) & 1 ? 0xedb88320u : 0);
	}
	str_release(&bytes);
	return ~crc;
}

/* ---- questions ---- */

static void see(uint32_t index, const char *name, uint32_t pid)
{
	const struct record_mmap mmap = { .pid = pid, .start = 0x1000, .len = 0x1000 };
	char *path = xstrdup(name);
	struct dso dso = { .kind = DSO_FILE, .index = index, .path = path };

	unwind_files_see(files, &dso, &mmap);
	free(path);
}

/* opened: whose files are opened with it. */
static const char *debug_path_of(struct elf_files *opened, uint32_t index)
{
	const char *path = unwind_files_path(files, index, 0, NULL), *found = NULL;
	struct str why = STR_INIT;
	struct elf_file *file;

	if (path && !elf_files_open(opened, path, &file, &why)) {
		found = unwind_files_debug_path(files, index, file);
		elf_file_let_go(file);
	}
	str_release(&why);
	return found;
}

static const char *debug_path(uint32_t index)
{
	assert_non_null(unwind_files_path(files, index, 0, NULL));
	return debug_path_of(elf, index);
}

/* expected: a whole path; NULL: none is found. */
static void expect(uint32_t index, const char *expected)
{
	const char *found = debug_path(index);
	struct stat a, b;

	if (!expected) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_int_equal(stat(found, &a), 0);
	assert_int_equal(stat(expected, &b), 0);
	assert_true(a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

/* ---- where, and with which proof ---- */

static const char *const by_link[] = { "/opt/prog.dbg", "/opt/.debug/prog.dbg", "/usr/lib/debug/opt/prog.dbg" };
static const char by_id[] = "/usr/lib/debug/.build-id/10/11121314151617.debug";

/* A process, whose root has this file and, at a place, this debug file. */
static void expect_at(const char *place, struct want prog, struct want debug, bool fits)
{
	static uint32_t n;
	char *path = xasprintf("%s/%u/root%s", procfs, 12 + ++n, place);
	char *file = xasprintf("%s/%u/root/opt/prog", procfs, 12 + n);

	make_file(file, prog);
	make_file(path, debug);
	see(n, "/opt/prog", 12 + n);
	expect(n, fits ? path : NULL);
	free(path);
	free(file);
}

static void with_the_same_build_id(void **state)
{
	const struct want good = { .id = 0x10, .tables = true }, other = { .id = 0x20, .tables = true };
	const struct want lost = { .tables = true }, stripped = { .id = 0x10, .build = 1 };
	struct want prog = { .id = 0x10 };

	(void)state;
	expect_at(by_id, prog, good, true);
	expect_at(by_id, prog, other, false);
	expect_at(by_id, prog, stripped, false);
	for (size_t i = 0; i < ARRAY_SIZE(by_link); i++) {
		prog.link = NULL;
		expect_at(by_link[i], prog, good, false);
		prog.link = "prog.dbg";
		expect_at(by_link[i], prog, good, true);
		expect_at(by_link[i], prog, stripped, false);
		/* That its checksum is right does not make up for it. */
		prog.crc = crc_of(other);
		expect_at(by_link[i], prog, other, false);
		prog.crc = crc_of(lost);
		expect_at(by_link[i], prog, lost, false);
	}
}

static void with_the_checksum_of_the_link(void **state)
{
	const struct want good = { .tables = true }, other = { .tables = true, .build = 1 };
	const struct want prog = { .link = "prog.dbg", .crc = crc_of(good) };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(by_link); i++) {
		expect_at(by_link[i], prog, good, true);
		expect_at(by_link[i], prog, other, false);
	}
	expect_at(by_id, prog, good, false);
}

/* The link has the file's own name, and leads to the file itself first. */
static void not_the_file_itself(void **state)
{
	const struct want prog = { .id = 0x10, .tables = true, .link = "prog" };

	(void)state;
	expect_at("/opt/.debug/prog", prog, (struct want){ .id = 0x10, .tables = true, .build = 1 }, true);
	expect_at("/opt/prog", prog, prog, false);
}

/* ---- whose root ---- */

static void here_where_the_process_has_ended(void **state)
{
	const struct want good = { .tables = true };
	const struct want prog = { .link = "prog.dbg", .crc = crc_of(good) };
	char *debug;

	(void)state;
	make_file(in_tree("/opt/prog"), prog);
	debug = xstrdup(in_tree("/opt/prog.dbg"));
	make_file(debug, good);
	see(0, in_tree("/opt/prog"), 12);
	expect(0, debug);
	free(debug);
}

static void the_processs_before_ours(void **state)
{
	const struct want good = { .id = 0x10, .tables = true }, prog = { .id = 0x10, .link = "prog.dbg" };
	char *there = xasprintf("%s/12/root%s", procfs, in_tree("/opt/prog"));
	char *debug = xasprintf("%s.dbg", there);

	(void)state;
	make_file(in_tree("/opt/prog"), prog);
	make_file(in_tree("/opt/prog.dbg"), good);
	make_file(there, prog);
	make_file(debug, good);
	see(0, in_tree("/opt/prog"), 12);
	expect(0, debug);
	free(debug);
	free(there);
}

/* Those who mapped it after it was opened. */
static void of_a_later_process(void **state)
{
	char *debug;

	(void)state;
	make_file(in_tree("/proc/12/root/opt/prog"), (struct want){ .id = 0x10 });
	see(0, "/opt/prog", 12);
	assert_non_null(unwind_files_path(files, 0, 0, NULL));
	debug = xasprintf("%s/13/root%s", procfs, by_id);
	make_file(debug, (struct want){ .id = 0x10, .tables = true });
	see(0, "/opt/prog", 13);
	expect(0, debug);
	free(debug);
}

/* ---- when, and for how long ---- */

static void it_is_looked_for_once(void **state)
{
	const struct want prog = { .id = 0x10, .link = "prog.dbg" }, good = { .id = 0x10, .tables = true };
	const char *path;

	(void)state;
	make_file(in_tree("/proc/12/root/opt/prog"), prog);
	see(0, "/opt/prog", 12);
	expect(0, NULL);
	make_file(in_tree("/proc/12/root/opt/prog.dbg"), good);
	expect(0, NULL);
	make_file(in_tree("/proc/13/root/opt/prog"), prog);
	make_file(in_tree("/proc/13/root/opt/prog.dbg"), good);
	see(1, "/opt/prog", 13);
	path = debug_path(1);
	assert_non_null(path);
	/* It stays when the process has gone. */
	assert_int_equal(unlink(in_tree("/proc/13/root/opt/prog.dbg")), 0);
	assert_ptr_equal(debug_path(1), path);
	assert_int_equal(access(path, R_OK), 0);
}

/* Workers that ask at once: one looks for it, the others wait for what it finds. */
static void *ask_for_all(void *data)
{
	const char **found = data;
	struct elf_files *own = elf_files_new();

	for (uint32_t i = 0; i < MANY; i++)
		found[i] = debug_path_of(own, i);
	elf_files_free(own);
	return NULL;
}

static void all_workers_get_the_same(void **state)
{
	const struct want good = { .tables = true };
	const struct want prog = { .link = "prog.dbg", .crc = crc_of(good) };
	const char *found[WORKERS][MANY];
	pthread_t threads[WORKERS];

	(void)state;
	make_file(in_tree("/opt/prog"), prog);
	make_file(in_tree("/opt/prog.dbg"), good);
	for (uint32_t i = 0; i < MANY; i++)
		see(i, in_tree("/opt/prog"), 12);
	for (size_t i = 0; i < WORKERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask_for_all, found[i]), 0);
	for (size_t i = 0; i < WORKERS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	for (size_t i = 0; i < MANY; i++) {
		assert_non_null(found[0][i]);
		for (size_t worker = 1; worker < WORKERS; worker++)
			assert_ptr_equal(found[worker][i], found[0][i]);
	}
}

/* It is held as the file itself is, and counted with it. */
static void descriptors_that_are_held(void **state)
{
	const struct want prog = { .id = 0x10, .link = "prog.dbg" }, good = { .id = 0x10, .tables = true };
	struct rlimit limit, few;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = (struct rlimit){ 12, limit.rlim_max }; /* a quarter may be held */
	unwind_files_free(files);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	files = unwind_files_new(procfs, &(struct unwind_clock){ 0 });
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	make_file(in_tree("/opt/prog"), prog);
	make_file(in_tree("/opt/prog.dbg"), good);
	for (uint32_t i = 0; i < 3; i++)
		see(i, in_tree("/opt/prog"), 12);
	assert_non_null(strstr(debug_path(0), "/proc/self/fd/"));
	assert_string_equal(debug_path(1), in_tree("/opt/prog.dbg"));
	assert_string_equal(unwind_files_path(files, 2, 0, NULL), in_tree("/opt/prog"));
}

static void of_the_vdso_none_is_looked_for(void **state)
{
	char name[] = "[vdso]";
	const struct record_mmap mmap = { .pid = 12, .start = 0x1000, .len = 0x1000 };
	const struct dso dso = { .kind = DSO_VDSO, .path = name };
	struct build_id id;
	char *folder, *place;
	int fd;

	(void)state;
	if (!unwind_files_see(files, &dso, &mmap) || !unwind_files_path(files, 0, 0, NULL))
		skip();
	fd = open(unwind_files_path(files, 0, 0, NULL), O_RDONLY);
	assert_true(elf_build_id_of_fd(fd, &id));
	close(fd);
	folder = xasprintf("%s/12/root" ELF_DEBUG_DIR, procfs);
	place = build_id_path(folder, &id, ".debug");
	make_file(place, (struct want){ .whole_id = &id, .tables = true });
	expect(0, NULL);
	free(place);
	free(folder);
}

static void set_written(const char *path, time_t seconds)
{
	const struct timespec times[] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = seconds, .tv_nsec = 1 } };

	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Who reads one while it is written to learns of it, whoever else has learned of it before. */
static void one_that_is_written_to_while_it_is_read(void **state)
{
	struct timespec first, then;
	const char *path = in_tree("/opt/prog");

	(void)state;
	make_file(path, (struct want){ .id = 0x10 });
	set_written(path, 1000);
	see(0, path, 1);
	assert_non_null(unwind_files_path(files, 0, 0, &first));
	assert_int_equal(first.tv_sec, 1000);
	assert_false(unwind_files_changed(files, 0, &first));
	set_written(path, 1001);
	assert_true(unwind_files_changed(files, 0, &first));
	assert_true(unwind_files_changed(files, 0, &first));
	assert_non_null(unwind_files_path(files, 0, 0, &then));
	assert_int_equal(then.tv_sec, 1001);
	assert_false(unwind_files_changed(files, 0, &then));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(with_the_same_build_id),
		TEST(with_the_checksum_of_the_link),
		TEST(not_the_file_itself),
		TEST(here_where_the_process_has_ended),
		TEST(the_processs_before_ours),
		TEST(of_a_later_process),
		TEST(it_is_looked_for_once),
		TEST(all_workers_get_the_same),
		TEST(descriptors_that_are_held),
		TEST(one_that_is_written_to_while_it_is_read),
		TEST(of_the_vdso_none_is_looked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
