/* SPDX-License-Identifier: MIT */
/*
 * The cache of files by build-id: what goes in comes out, in perf's layout; nothing that lies, leads elsewhere or is
 * somebody else's is taken, and what cannot be written leaves nothing. Everything is in a temporary folder.
 */
#include "buildcache/cache_internal.h"

#include "elf_builder.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* What is behind the first byte of a build-id that begins with 0x10, 0x20, ... */
#define REST_10 "1112131415161718191a1b1c1d1e1f20212223"
#define REST_20 "2122232425262728292a2b2c2d2e2f30313233"
#define REST_30 "3132333435363738393a3b3c3d3e3f40414243"
#define REST_40 "4142434445464748494a4b4c4d4e4f50515253"

static char top[64]; /* the temporary folder */
static char dir[96]; /* the cache in it */
static struct build_cache *cache;
static struct str err = STR_INIT;

static char *in_cache(const char *path)
{
	static char full[512];

	snprintf(full, sizeof(full), "%s/%s", dir, path);
	return full;
}

static void open_it(unsigned flags)
{
	build_cache_close(cache);
	assert_int_equal(build_cache_open(&cache, dir, flags, &err), 0);
}

static int set_up(void **state)
{
	(void)state;
	snprintf(top, sizeof(top), "/tmp/pstat-test-XXXXXX");
	assert_non_null(mkdtemp(top));
	snprintf(dir, sizeof(dir), "%s/cache", top);
	open_it(CACHE_CREATE);
	return 0;
}

static int tear_down(void **state)
{
	char *command = xasprintf("rm -rf '%s'", top);
	int rc;

	(void)state;
	build_cache_close(cache);
	cache = NULL;
	str_release(&err);
	rc = system(command);
	free(command);
	return rc;
}

/* ---- files ---- */

/* first, first + 1, ...: 20 bytes. */
static struct build_id id_of(uint8_t first)
{
	struct build_id id = { .size = 20 };

	for (uint8_t i = 0; i < id.size; i++)
		id.bytes[i] = first + i;
	return id;
}

/* An ELF file of that build-id, of at least so many bytes; 0: without one. A descriptor. */
static int elf_of(const char *path, uint8_t first, off_t bytes)
{
	struct built_elf elf;
	struct str text = STR_INIT;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);

	elf_start(&elf, ET_DYN, EM_X86_64, false, false);
	elf_add(&elf, ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000);
	if (first)
		elf_build_id(&elf, first, 20);
	elf_finish(&elf, &text);
	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, text.s, text.len), 0);
	if (bytes > (off_t)text.len)
		assert_int_equal(ftruncate(fd, bytes), 0);
	elf_end(&elf);
	str_release(&text);
	return fd;
}

static char *beside(const char *name)
{
	static char full[512];

	snprintf(full, sizeof(full), "%s/%s", top, name);
	return full;
}

static int add(int fd, const char *path, uint8_t first, enum cache_kind kind)
{
	struct cache_file file = { .fd = fd, .path = path, .id = id_of(first), .kind = kind };

	str_reset(&err);
	return build_cache_add(cache, &file, NULL, &err);
}

static int add_elf(const char *path, uint8_t first)
{
	int fd = elf_of(beside("source"), first, 0), rc = add(fd, path, first, CACHE_ELF);

	close(fd);
	return rc;
}

/* Closes what was found; its path in *path, or NULL. */
static int find(uint8_t first, enum cache_kind kind, char **path)
{
	struct build_id id = id_of(first);
	int fd;

	str_reset(&err);
	fd = build_cache_find(cache, &id, kind, path, &err);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static size_t n_names;

static int count_name(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)path;
	(void)st;
	(void)type;
	n_names += where->level > 0;
	return 0;
}

/* How many files, links and folders are in the cache. */
static size_t names(void)
{
	n_names = 0;
	assert_int_equal(nftw(dir, count_name, 8, FTW_PHYS), 0);
	return n_names;
}

static void replace_by(const char *path, const char *text)
{
	int fd;

	(void)unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, text, strlen(text)), 0);
	close(fd);
}

/* ---- what goes in comes out ---- */

static void the_layout_is_perfs(void **state)
{
	char text[256] = "", *path = NULL;
	struct stat st;

	(void)state;
	assert_int_equal(add_elf("/usr/bin/prog", 0x10), 0);
	assert_true(readlink(in_cache(".build-id/10/" REST_10), text, sizeof(text) - 1) > 0);
	assert_string_equal(text, "../../usr/bin/prog/10" REST_10);
	assert_int_equal(lstat(in_cache("usr/bin/prog/10" REST_10 "/elf"), &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	assert_int_equal(lstat(in_cache("usr/bin/prog"), &st), 0);
	assert_int_equal(st.st_mode, S_IFDIR | 0700);
	assert_int_equal(find(0x10, CACHE_ELF, &path), 0);
	assert_string_equal(path, in_cache("usr/bin/prog/10" REST_10 "/elf"));
	assert_int_equal(find(0x10, CACHE_DEBUG, NULL), -ENOENT);
	assert_int_equal(find(0x20, CACHE_ELF, NULL), -ENOENT);
	free(path);
}

static void a_second_name_and_a_second_kind_are_one_entry(void **state)
{
	struct build_id id = id_of(0x10);
	size_t before;
	int fd;

	(void)state;
	assert_int_equal(add_elf("/usr/bin/prog", 0x10), 0);
	before = names();
	assert_int_equal(add_elf("/bin/prog", 0x10), 0);
	assert_int_equal(names(), before);
	fd = elf_of(beside("source"), 0x10, 0);
	assert_int_equal(add(fd, "/usr/lib/debug/prog", 0x10, CACHE_DEBUG), 0);
	close(fd);
	assert_int_equal(names(), before + 1);
	assert_true(build_cache_has(cache, &id, CACHE_DEBUG));
	assert_int_equal(find(0x10, CACHE_DEBUG, NULL), 0);
	assert_false(build_cache_has(cache, &id, CACHE_VDSO));
}

static void all_kinds_have_their_places(void **state)
{
	int fd = elf_of(beside("vdso"), 0x30, 0);

	(void)state;
	assert_int_equal(add(fd, "[vdso]", 0x30, CACHE_VDSO), 0);
	close(fd);
	assert_int_equal(access(in_cache("[vdso]/30" REST_30 "/vdso"), R_OK), 0);
	replace_by(beside("list"), "0000000000000000 A zero\nffffffff81000000 T _text\n");
	fd = open(beside("list"), O_RDONLY);
	assert_int_equal(add(fd, "[kernel.kallsyms]", 0x40, CACHE_KALLSYMS), 0);
	close(fd);
	assert_int_equal(access(in_cache("[kernel.kallsyms]/40" REST_40 "/kallsyms"), R_OK), 0);
	assert_int_equal(find(0x40, CACHE_KALLSYMS, NULL), 0);
	assert_int_equal(find(0x40, CACHE_ELF, NULL), -ENOENT);
}

static void check_map(const char *text, const char *kept)
{
	struct str found = STR_INIT;
	char *path = NULL;
	int fd;

	replace_by(beside("map"), text);
	fd = open(beside("map"), O_RDONLY);
	assert_int_equal(add(fd, "/tmp/perf-7.map", 0x40, CACHE_MAP), 0);
	close(fd);
	assert_int_equal(find(0x40, CACHE_MAP, &path), 0);
	assert_int_equal(read_text_file(path, &found), 0);
	assert_string_equal(found.s, kept);
	str_release(&found);
	free(path);
}

static void a_longer_map_replaces_a_shorter_one(void **state)
{
	(void)state;
	check_map("1000 10 one\n", "1000 10 one\n");
	check_map("1000 10 one\n2000 10 two\n", "1000 10 one\n2000 10 two\n");
	check_map("1000 10 new\n", "1000 10 one\n2000 10 two\n");
	assert_int_equal(access(in_cache("tmp/perf-7.map/40" REST_40 "/map"), R_OK), 0);
}

/* Whoever makes the code writes to its map in place. */
static void a_big_map_is_never_linked(void **state)
{
	struct stat a, b;
	char *path = NULL;
	int fd;

	(void)state;
	replace_by(beside("map"), "1000 10 one\n");
	assert_int_equal(truncate(beside("map"), 9 << 20), 0);
	fd = open(beside("map"), O_RDONLY);
	assert_int_equal(add(fd, "/tmp/perf-7.map", 0x40, CACHE_MAP), 0);
	assert_int_equal(find(0x40, CACHE_MAP, &path), 0);
	assert_int_equal(fstat(fd, &a), 0);
	assert_int_equal(stat(path, &b), 0);
	assert_int_not_equal(a.st_ino, b.st_ino);
	assert_int_equal(a.st_size, b.st_size);
	close(fd);
	free(path);
}

static void hidden_addresses_are_no_list(void **state)
{
	size_t before = names();
	int fd;

	(void)state;
	replace_by(beside("list"), "0000000000000000 A zero\n0000000000000000 T _text\n");
	fd = open(beside("list"), O_RDONLY);
	assert_int_equal(add(fd, "[kernel.kallsyms]", 0x40, CACHE_KALLSYMS), -EINVAL);
	assert_string_equal(err.s, "a list of kernel symbols without addresses");
	close(fd);
	assert_int_equal(names(), before);
}

/* Big files are linked, but not what others may change, nor a program that runs as somebody else. */
static void a_big_file_is_linked_a_small_one_copied(void **state)
{
	static const struct {
		off_t bytes;
		mode_t mode;
		bool linked;
	} cases[] = {
		{ 9 << 20, 0644, true }, { 1 << 20, 0644, false }, { 9 << 20, 0666, false }, { 9 << 20, 04755, false },
	};
	struct stat a, b;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int fd = elf_of(beside("big"), 0x10, cases[i].bytes);
		uint64_t bytes = 99;
		struct cache_file file = { .fd = fd, .path = "/big", .id = id_of(0x10), .kind = CACHE_ELF };

		assert_int_equal(fchmod(fd, cases[i].mode), 0);
		assert_int_equal(build_cache_add(cache, &file, &bytes, &err), 0);
		assert_int_equal(fstat(fd, &a), 0);
		assert_int_equal(stat(in_cache("big/10" REST_10 "/elf"), &b), 0);
		assert_int_equal(b.st_size, a.st_size);
		assert_int_equal(a.st_ino == b.st_ino, cases[i].linked);
		assert_int_equal(bytes == 0, cases[i].linked);
		if (!cases[i].linked) /* holes stay holes */
			assert_true(bytes < 1 << 20);
		assert_int_equal(find(0x10, CACHE_ELF, NULL), 0);
		close(fd);
		assert_int_equal(unlink(beside("big")), 0);
		assert_int_equal(build_cache_remove(cache, &file.id, &err), 0);
	}
}

static void what_an_older_perf_made_is_read(void **state)
{
	struct build_id id = id_of(0x10);
	char *path = NULL;

	(void)state;
	assert_int_equal(add_elf("/usr/bin/prog", 0x10), 0);
	assert_int_equal(rename(in_cache("usr/bin/prog/10" REST_10 "/elf"), beside("old")), 0);
	assert_int_equal(unlink(in_cache("usr/bin/prog/10" REST_10 "/pstat")), 0);
	assert_int_equal(rmdir(in_cache("usr/bin/prog/10" REST_10)), 0);
	assert_int_equal(rename(beside("old"), in_cache("usr/bin/prog/10" REST_10)), 0);
	assert_int_equal(find(0x10, CACHE_ELF, &path), 0);
	assert_string_equal(path, in_cache("usr/bin/prog/10" REST_10));
	free(path);
	assert_int_equal(find(0x10, CACHE_DEBUG, NULL), -ENOENT);
	assert_int_equal(add_elf("/usr/bin/prog", 0x10), 0); /* it is there */
	assert_int_equal(build_cache_remove(cache, &id, &err), 0);
	assert_int_equal(names(), 0);
}

/* ---- removed ---- */

static void what_is_removed_leaves_nothing(void **state)
{
	struct build_id id = id_of(0x10);
	size_t before;

	(void)state;
	assert_int_equal(add_elf("/usr/bin/other", 0x20), 0);
	before = names();
	assert_int_equal(add_elf("/usr/bin/prog", 0x10), 0);
	replace_by(in_cache("usr/bin/prog/10" REST_10 "/probes"), "");
	assert_int_equal(build_cache_remove(cache, &id, &err), 0);
	assert_int_equal(names(), before);
	assert_int_equal(build_cache_remove(cache, &id, &err), -ENOENT);
	assert_int_equal(find(0x20, CACHE_ELF, NULL), 0);
}

static int take_path(void *context, const struct cache_entry *entry)
{
	struct str *text = context;

	str_addf(text, "%02x %s %x %d;", entry->id.bytes[0], entry->path, entry->kinds, entry->removable);
	return 0;
}

static void all_are_told_in_order(void **state)
{
	struct str text = STR_INIT;
	struct cache_file file = { .path = "/kept", .id = id_of(0x08), .kind = CACHE_ELF, .stays = true };

	(void)state;
	assert_int_equal(add_elf("/b", 0x20), 0);
	assert_int_equal(add_elf("/c/d", 0x10), 0);
	file.fd = elf_of(beside("source"), 0x08, 0);
	assert_int_equal(build_cache_add(cache, &file, NULL, &err), 0);
	close(file.fd);
	assert_int_equal(unlink(in_cache("b/20" REST_20 "/elf")), 0);
	assert_int_equal(build_cache_each(cache, take_path, &text, &err), 0);
	assert_string_equal(text.s, "08 /kept 1 0;10 /c/d 1 1;20 /b 0 1;");
	str_release(&text);
}

/* When it was wanted last, in seconds of another time. */
static void used_at(const char *mark, time_t seconds)
{
	const struct timespec times[2] = { { seconds, 0 }, { seconds, 0 } };

	assert_int_equal(utimensat(AT_FDCWD, in_cache(mark), times, AT_SYMLINK_NOFOLLOW), 0);
}

static void the_oldest_go_first_and_only_ours(void **state)
{
	struct cache_file kept = { .path = "/kept", .id = id_of(0x40), .kind = CACHE_ELF, .stays = true };
	uint64_t freed, left, all;

	(void)state;
	assert_int_equal(add_elf("/a", 0x10), 0);
	assert_int_equal(add_elf("/b", 0x20), 0);
	assert_int_equal(add_elf("/c", 0x30), 0);
	kept.fd = elf_of(beside("source"), 0x40, 0);
	assert_int_equal(build_cache_add(cache, &kept, NULL, &err), 0);
	close(kept.fd);
	used_at("a/10" REST_10 "/pstat", 300);
	used_at("b/20" REST_20 "/pstat", 100);
	used_at("c/30" REST_30 "/pstat", 200);
	assert_int_equal(build_cache_shrink(cache, UINT64_MAX, INT64_MAX, &freed, &all, &err), 0);
	assert_int_equal(freed, 0);
	assert_true(all > 0);
	assert_int_equal(build_cache_shrink(cache, all - 1, INT64_MAX, &freed, &left, &err), 0);
	assert_int_equal(left, all - freed);
	assert_int_equal(find(0x20, CACHE_ELF, NULL), -ENOENT);
	assert_int_equal(find(0x30, CACHE_ELF, NULL), 0);
	/* What this recording wanted stays, whatever the limit. */
	assert_int_equal(build_cache_shrink(cache, 0, INT64_C(250) * 1000000000, NULL, NULL, &err), 0);
	assert_int_equal(find(0x30, CACHE_ELF, NULL), -ENOENT);
	assert_int_equal(find(0x10, CACHE_ELF, NULL), 0);
	assert_int_equal(build_cache_shrink(cache, 0, INT64_MAX, NULL, &left, &err), 0);
	assert_int_equal(left, 0);
	assert_int_equal(find(0x10, CACHE_ELF, NULL), -ENOENT);
	assert_int_equal(find(0x40, CACHE_ELF, NULL), 0);
}

static void use_is_noted(void **state)
{
	struct build_id id = id_of(0x10);
	struct stat st;

	(void)state;
	assert_int_equal(add_elf("/a", 0x10), 0);
	used_at("a/10" REST_10 "/pstat", 300);
	assert_true(build_cache_use(cache, &id, CACHE_ELF));
	assert_int_equal(stat(in_cache("a/10" REST_10 "/pstat"), &st), 0);
	assert_true(st.st_mtime > 300);
	assert_false(build_cache_use(cache, &id, CACHE_DEBUG));
}

/* ---- what lies ---- */

static void another_build_id_is_refused(void **state)
{
	size_t before = names();
	int fd = elf_of(beside("source"), 0x20, 0);

	(void)state;
	assert_int_equal(add(fd, "/prog", 0x10, CACHE_ELF), -ESTALE);
	assert_string_equal(err.s, "its build-id is 202122232425...");
	close(fd);
	fd = elf_of(beside("source"), 0, 0);
	assert_int_equal(add(fd, "/prog", 0x10, CACHE_ELF), -ESTALE);
	assert_string_equal(err.s, "it has no build-id, or is no ELF file");
	close(fd);
	fd = open("/dev/null", O_RDONLY);
	assert_int_equal(add(fd, "/prog", 0x10, CACHE_ELF), -EINVAL);
	assert_string_equal(err.s, "not a regular file");
	close(fd);
	assert_int_equal(names(), before);
}

static void a_lying_entry_is_not_taken_and_is_mended(void **state)
{
	const char *at = "prog/10" REST_10 "/elf";

	(void)state;
	assert_int_equal(add_elf("/prog", 0x10), 0);
	close(elf_of(in_cache(at), 0x20, 0));
	assert_int_equal(find(0x10, CACHE_ELF, NULL), -ESTALE);
	assert_string_equal(err.s, "prog/10" REST_10 "/elf: its build-id is 202122232425...");
	assert_int_equal(add_elf("/prog", 0x10), 0);
	assert_int_equal(find(0x10, CACHE_ELF, NULL), 0);
	replace_by(in_cache(at), "");
	assert_int_equal(find(0x10, CACHE_ELF, NULL), -ESTALE);
	assert_int_equal(add_elf("/prog", 0x10), 0);
	assert_int_equal(unlink(in_cache(at)), 0);
	assert_int_equal(mkfifo(in_cache(at), 0600), 0);
	assert_int_equal(find(0x10, CACHE_ELF, NULL), -ESTALE); /* nobody waits for its writer */
	assert_string_equal(err.s, "prog/10" REST_10 "/elf: not a regular file");
	assert_int_equal(add_elf("/prog", 0x10), 0);
	assert_int_equal(find(0x10, CACHE_ELF, NULL), 0);
}

static void relink(const char *text)
{
	(void)unlink(in_cache(".build-id/10/" REST_10));
	assert_int_equal(symlink(text, in_cache(".build-id/10/" REST_10)), 0);
}

static void links_that_lead_elsewhere_are_not_followed(void **state)
{
	static const char *const texts[] = {
		"../../../prog/10" REST_10,
		"../../x/../prog/10" REST_10,
		"/prog/10" REST_10,
		"../../prog/20" REST_10,
		"../../10" REST_10,
		"../../.build-id/10/10" REST_10,
		"",
		"../../nothing/10" REST_10,
	};
	struct build_id id = id_of(0x10);

	(void)state;
	assert_int_equal(add_elf("/prog", 0x10), 0);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (!texts[i][0])
			continue;
		relink(texts[i]);
		assert_int_equal(find(0x10, CACHE_ELF, NULL), -ESTALE);
	}
	assert_int_equal(add_elf("/prog", 0x10), 0); /* mends the link */
	assert_int_equal(find(0x10, CACHE_ELF, NULL), 0);
	/* A folder on the way that is a link. */
	assert_int_equal(rename(in_cache("prog"), beside("outside")), 0);
	assert_int_equal(symlink(beside("outside"), in_cache("prog")), 0);
	assert_int_equal(find(0x10, CACHE_ELF, NULL), -ESTALE);
	assert_int_not_equal(add_elf("/prog", 0x10), 0);
	assert_int_equal(build_cache_remove(cache, &id, &err), 0);
	assert_int_equal(access(beside("outside/10" REST_10 "/elf"), R_OK), 0);
}

static void a_file_that_is_a_link_is_not_followed(void **state)
{
	const char *at = "prog/10" REST_10 "/elf";
	struct stat st;

	(void)state;
	assert_int_equal(add_elf("/prog", 0x10), 0);
	assert_int_equal(rename(in_cache(at), beside("outside")), 0);
	assert_int_equal(symlink(beside("outside"), in_cache(at)), 0);
	assert_int_equal(find(0x10, CACHE_ELF, NULL), -ESTALE);
	assert_int_equal(truncate(beside("outside"), 0), 0);
	assert_int_equal(add_elf("/prog", 0x10), 0); /* replaces the link, not what it leads to */
	assert_int_equal(stat(beside("outside"), &st), 0);
	assert_int_equal(st.st_size, 0);
	assert_int_equal(find(0x10, CACHE_ELF, NULL), 0);
}

static void names_that_lead_out_are_refused(void **state)
{
	static const char *const paths[] = {
		"", "prog", "/", "//prog", "/../prog", "/a/../b", "/a/./b", "/a/", "/.build-id",
		"/.build-id/10/x", "[x/y]", "/..",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		assert_int_equal(add_elf(paths[i], 0x10), -EINVAL);
		assert_string_equal(err.s, "there is no entry of such a name");
	}
	assert_int_equal(names(), 0);
	assert_int_equal(add_elf("/..a/.b", 0x10), 0);
}

/* ---- whose it is ---- */

/* Runs it with the rights of another user; the exit status is 0 where it returned true. */
static bool as_nobody(bool (*run)(void))
{
	pid_t child = fork();
	int status = -1;

	if (!child) {
		if (setregid(65534, 65534) || setreuid(65534, 65534))
			_exit(2);
		_exit(run() ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status == 0;
}

static bool refuses_the_folder(void)
{
	struct build_cache *other;

	return build_cache_open(&other, dir, CACHE_CREATE, &err) == -EPERM &&
	       strstr(err.s, "belongs to user 12345") && !other;
}

static void need_root(void)
{
	if (geteuid() != 0)
		skip(); /* other users' files are made by root alone */
}

static void somebody_elses_folder_is_refused(void **state)
{
	struct build_cache *other;

	(void)state;
	need_root();
	assert_int_equal(chmod(top, 01777), 0);
	assert_int_equal(chmod(dir, 0777), 0);
	assert_int_equal(chown(dir, 12345, 12345), 0);
	assert_true(as_nobody(refuses_the_folder));
	str_reset(&err);
	assert_int_equal(build_cache_open(&other, dir, 0, &err), -EPERM); /* root does not write for others */
	assert_int_equal(build_cache_open(&other, dir, CACHE_FORCE, &err), 0);
	build_cache_close(other);
	/* Nor is a link of theirs followed to what is ours. */
	assert_int_equal(chown(dir, 0, 0), 0);
	assert_int_equal(symlink(dir, beside("link")), 0);
	assert_int_equal(lchown(beside("link"), 12345, 12345), 0);
	str_reset(&err);
	assert_int_equal(build_cache_open(&other, beside("link"), CACHE_CREATE, &err), -EPERM);
	assert_string_equal(err.s, "a link of user 12345, not yours or root's");
}

static void somebody_elses_entries_in_a_shared_folder_are_refused(void **state)
{
	static const char *const owned[] = { "prog", ".build-id", ".build-id/10", ("prog/10" REST_10) };

	(void)state;
	need_root();
	assert_int_equal(add_elf("/prog", 0x10), 0);
	for (size_t i = 0; i < ARRAY_SIZE(owned); i++) {
		assert_int_equal(chown(in_cache(owned[i]), 12345, 12345), 0);
		assert_int_equal(find(0x10, CACHE_ELF, NULL), -EPERM);
		assert_int_equal(add_elf("/prog", 0x10), -EPERM);
		assert_int_equal(chown(in_cache(owned[i]), 0, 0), 0);
	}
	/* A file of theirs: only where they could have put it themselves. */
	assert_int_equal(chown(in_cache("prog/10" REST_10 "/elf"), 12345, 12345), 0);
	assert_int_equal(find(0x10, CACHE_ELF, NULL), 0);
	assert_int_equal(chmod(in_cache("prog/10" REST_10), 01777), 0);
	assert_int_equal(find(0x10, CACHE_ELF, NULL), -EPERM);
	assert_string_equal(err.s, "prog/10" REST_10 "/elf: a file of user 12345");
}

/* ---- what cannot be written ---- */

static void a_file_that_may_not_get_longer_leaves_nothing(void **state)
{
	const struct rlimit little = { 1 << 20, RLIM_INFINITY }, none = { RLIM_INFINITY, RLIM_INFINITY };
	int fd = elf_of(beside("source"), 0x10, 0);
	char *zeros = xcalloc(1, 2 << 20);

	(void)state;
	assert_int_equal(pwrite(fd, zeros, 2 << 20, 4096), 2 << 20);
	assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
	assert_int_equal(add(fd, "/a/prog", 0x10, CACHE_ELF), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	assert_int_equal(names(), 0);
	assert_int_equal(add(fd, "/a/prog", 0x10, CACHE_ELF), 0);
	close(fd);
	free(zeros);
}

/* In the new user namespace we stay who we are. */
static bool map_ourselves(uid_t uid, gid_t gid)
{
	char *users = xasprintf("%u %u 1", uid, uid), *groups = xasprintf("%u %u 1", gid, gid);
	const char *const rows[][2] = { { "uid_map", users }, { "setgroups", "deny" }, { "gid_map", groups } };
	bool mapped = true;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *path = xasprintf("/proc/self/%s", rows[i][0]);
		int fd = open(path, O_WRONLY);

		mapped &= fd >= 0 && !write_all(fd, rows[i][1], strlen(rows[i][1]));
		if (fd >= 0)
			close(fd);
		free(path);
	}
	free(users);
	free(groups);
	return mapped;
}

/* In a namespace of its own, where a folder is a disk of 256 KiB. 0: as expected; 77: that can't be had. */
static int on_a_small_disk(void)
{
	char *zeros = xcalloc(1, 1 << 20);
	int fd = elf_of(beside("source"), 0x10, 0);
	uid_t uid = geteuid();
	gid_t gid = getegid();

	assert_int_equal(pwrite(fd, zeros, 1 << 20, 4096), 1 << 20);
	if (unshare(CLONE_NEWNS | (uid ? CLONE_NEWUSER : 0)) || (uid && !map_ourselves(uid, gid)) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) || mount("none", dir, "tmpfs", 0, "size=256k"))
		return 77;
	open_it(0);
	if (add(fd, "/a/prog", 0x10, CACHE_ELF) != -ENOSPC || strcmp(err.s, strerror(ENOSPC)) != 0)
		return 1;
	return names() == 0 ? 0 : 2;
}

static void a_full_disk_leaves_nothing(void **state)
{
	pid_t child = fork();
	int status = -1;

	(void)state;
	if (!child)
		_exit(on_a_small_disk());
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip(); /* no right to mount */
	assert_int_equal(status, 0);
}

/* What a writer leaves that was killed at each of its steps is no entry, and does not stand in the way. */
static void what_a_killed_writer_left_is_completed(void **state)
{
	struct build_id id = id_of(0x10);

	(void)state;
	assert_int_equal(add_elf("/prog", 0x10), 0);
	assert_int_equal(rename(in_cache("prog/10" REST_10 "/elf"), beside("part")), 0);
	assert_int_equal(rename(beside("part"), in_cache("prog/10" REST_10 "/.elf.1.0.new")), 0);
	assert_int_equal(find(0x10, CACHE_ELF, NULL), -ENOENT);
	assert_int_equal(build_cache_shrink(cache, 0, INT64_MAX, NULL, NULL, &err), 0);
	assert_int_equal(names(), 0);
	assert_int_equal(add_elf("/prog", 0x10), 0);
	assert_int_equal(unlink(in_cache("prog/10" REST_10 "/elf")), 0);
	assert_int_equal(add_elf("/prog", 0x10), 0);
	assert_int_equal(find(0x10, CACHE_ELF, NULL), 0);
	/* The folder without its link. */
	assert_int_equal(unlink(in_cache(".build-id/10/" REST_10)), 0);
	assert_int_equal(find(0x10, CACHE_ELF, NULL), -ENOENT);
	assert_int_equal(add_elf("/prog", 0x10), 0);
	assert_int_equal(find(0x10, CACHE_ELF, NULL), 0);
	assert_int_equal(build_cache_remove(cache, &id, &err), 0);
	assert_int_equal(names(), 0);
}

enum { ROUNDS = 150, WRITERS = 3 };

static void write_and_remove(int writer)
{
	struct build_id id = id_of(0x10);
	char name[32], path[32];
	int fd, wrong = 0;

	snprintf(name, sizeof(name), "source%d", writer);
	snprintf(path, sizeof(path), "/prog%d", writer / 2);
	fd = elf_of(beside(name), 0x10, 0);
	for (int i = 0; i < ROUNDS; i++) {
		int rc = add(fd, path, 0x10, CACHE_ELF);

		/* It may be removed again at any time, but is never another file. */
		wrong += rc != 0 && rc != -EAGAIN;
		rc = find(0x10, CACHE_ELF, NULL);
		wrong += rc != 0 && rc != -ENOENT && rc != -ESTALE;
		if (writer == WRITERS - 1) {
			str_reset(&err);
			rc = build_cache_remove(cache, &id, &err);
			wrong += rc != 0 && rc != -ENOENT && rc != -EAGAIN;
		}
	}
	_exit(wrong ? 1 : 0);
}

static void several_may_write_and_remove_at_once(void **state)
{
	struct build_id id = id_of(0x10);
	pid_t children[WRITERS];
	int status;

	(void)state;
	for (int i = 0; i < WRITERS; i++) {
		children[i] = fork();
		if (!children[i])
			write_and_remove(i);
	}
	for (int i = 0; i < WRITERS; i++) {
		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(add_elf("/prog0", 0x10), 0);
	assert_int_equal(find(0x10, CACHE_ELF, NULL), 0);
	assert_int_equal(build_cache_remove(cache, &id, &err), 0);
}

/* ---- which folder ---- */

static void take_dir(void *context, const char *key, const char *value, unsigned line)
{
	char **found = context;

	assert_true(line > 0);
	if (strcmp(key, "buildid.dir") != 0 || !*value)
		return;
	free(*found);
	*found = xstrdup(value);
}

static void the_folder_is_where_perf_has_it(void **state)
{
	static const struct {
		const char *text, *dir; /* NULL: none is named */
	} cases[] = {
		{ "", NULL },
		{ "[buildid]\n\tdir = /x/y\n", "/x/y" },
		{ "[buildid]\ndir=/x # so\n", "/x" },
		{ "[buildid]\n dir = \"/x y #\"  ; so\n", "/x y #" },
		{ "[buildid] dir = /x", "/x" },
		{ "# [buildid]\n dir = /x\n", NULL },
		{ "[buildid]\n#dir = /x\n[other]\ndir = /y\n", NULL },
		{ "[BuildID]\nDIR = /x\ndir = /y\n", "/y" },
		{ "[buildid]\ndirectory = /x\n", NULL },
		{ "[buildid]\ndir =\n", NULL },
		{ "[buildid]\ndir = \"a\\\"b\\\\\"", "a\"b\\" },
		{ "[buildid]\ndir = \"/x", NULL },
		{ "[buildid\ndir = /x\n", NULL },
		{ "[]\n.dir = /x\n[buildid]\ndir /x\n = /y\n", NULL },
		{ "dir = /x\n", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = xstrdup(cases[i].text), *found = NULL;

		config_parse(text, &(struct config_reader){ .value = take_dir, .context = &found });
		if (cases[i].dir && found)
			assert_string_equal(found, cases[i].dir);
		else
			assert_true(!cases[i].dir && !found);
		free(found);
		free(text);
	}
}

static void expect_place(const char *dir_named, const char *expected)
{
	char *place = build_cache_place(dir_named);

	if (place && expected)
		assert_string_equal(place, expected);
	else
		assert_true(!place && !expected);
	free(place);
}

static void the_environment_and_the_configuration_name_it(void **state)
{
	char *expected = xasprintf("%s/.debug", top), *below = xasprintf("%s/below", top);

	(void)state;
	assert_int_equal(setenv("HOME", top, 1), 0);
	assert_int_equal(unsetenv("PERF_CONFIG"), 0);
	assert_int_equal(unsetenv("PERF_BUILDID_DIR"), 0);
	expect_place(NULL, expected);
	expect_place("/named", "/named");
	replace_by(beside(".perfconfig"), "[buildid]\ndir = ~/below\n");
	expect_place(NULL, below);
	assert_int_equal(setenv("PERF_BUILDID_DIR", "/of/env", 1), 0);
	expect_place(NULL, "/of/env");
	assert_int_equal(unsetenv("PERF_BUILDID_DIR"), 0);
	replace_by(beside(".perfconfig"), "[buildid]\ndir = /dev/null\n");
	expect_place(NULL, NULL);
	assert_int_equal(unsetenv("HOME"), 0);
	expect_place(NULL, NULL);
	expect_place("/dev/null", NULL);
	assert_int_equal(setenv("PERF_CONFIG", beside(".perfconfig"), 1), 0);
	replace_by(beside(".perfconfig"), "[buildid]\ndir = /of/config\n");
	expect_place(NULL, "/of/config");
	if (geteuid() == 0) { /* somebody else's configuration */
		assert_int_equal(chown(beside(".perfconfig"), 12345, 12345), 0);
		expect_place(NULL, NULL);
	}
	assert_int_equal(unsetenv("PERF_CONFIG"), 0);
	free(expected);
	free(below);
}

static void what_is_not_there_is_made_only_when_asked_for(void **state)
{
	struct build_cache *other = NULL;

	(void)state;
	assert_int_equal(build_cache_open(&other, beside("none"), 0, &err), 0);
	assert_null(other);
	assert_int_equal(build_cache_open(&other, beside("none/none"), CACHE_CREATE, &err), -ENOENT);
	assert_int_equal(access(beside("none"), F_OK), -1);
	replace_by(beside("file"), "");
	str_reset(&err);
	assert_int_equal(build_cache_open(&other, beside("file"), CACHE_CREATE, &err), -ENOTDIR);
	assert_string_equal(err.s, strerror(ENOTDIR));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static bool at_once(void *data)
{
	(void)data;
	return true;
}

/* Nothing is left of it, and it can be added afterwards. */
static void what_is_interrupted_leaves_nothing(void **state)
{
	const struct interrupt now = { .came = at_once }, never = { .came = NULL };
	int fd = elf_of(beside("source"), 0x10, 0), rc;

	(void)state;
	build_cache_interrupt(cache, &now);
	rc = add(fd, "/usr/bin/x", 0x10, CACHE_ELF);
	if (!rc)
		skip(); /* the file system shares blocks: nothing is copied */
	assert_int_equal(rc, -ECANCELED);
	assert_string_equal(err.s, "interrupted");
	assert_int_equal(names(), 0);
	build_cache_interrupt(cache, &never);
	assert_int_equal(add(fd, "/usr/bin/x", 0x10, CACHE_ELF), 0);
	assert_int_equal(find(0x10, CACHE_ELF, NULL), 0);
	close(fd);
}

/* Between file systems the kernel does not copy by itself, since 5.19. */
static void what_lies_elsewhere_is_copied_by_hand(void **state)
{
	enum { BYTES = 700000, TAIL = 300000 };
	int source = elf_of(beside("source"), 0x10, 0), fd = memfd_create("elsewhere", MFD_CLOEXEC), entry;
	char *was = xcalloc(1, BYTES), *now = xcalloc(1, BYTES);
	ssize_t n = pread(source, was, BYTES - TAIL, 0);

	(void)state;
	assert_true(fd >= 0 && n > 0);
	for (int i = BYTES - TAIL; i < BYTES; i++)
		was[i] = (char)(i * 7 / 3);
	assert_int_equal(pwrite(fd, was, (size_t)n, 0), n);
	assert_int_equal(pwrite(fd, was + BYTES - TAIL, TAIL, BYTES - TAIL), TAIL);
	assert_int_equal(add(fd, "/usr/bin/x", 0x10, CACHE_ELF), 0);
	entry = open(in_cache("usr/bin/x/10" REST_10 "/elf"), O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(entry, now, BYTES), BYTES);
	assert_int_equal(read(entry, now, 1), 0);
	assert_int_equal(pread(entry, now, BYTES, 0), BYTES);
	assert_memory_equal(was, now, BYTES);
	close(entry);
	close(source);
	close(fd);
	free(was);
	free(now);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_layout_is_perfs),
		TEST(a_second_name_and_a_second_kind_are_one_entry),
		TEST(all_kinds_have_their_places),
		TEST(a_longer_map_replaces_a_shorter_one),
		TEST(a_big_map_is_never_linked),
		TEST(hidden_addresses_are_no_list),
		TEST(a_big_file_is_linked_a_small_one_copied),
		TEST(what_lies_elsewhere_is_copied_by_hand),
		TEST(what_an_older_perf_made_is_read),
		TEST(what_is_removed_leaves_nothing),
		TEST(all_are_told_in_order),
		TEST(the_oldest_go_first_and_only_ours),
		TEST(use_is_noted),
		TEST(another_build_id_is_refused),
		TEST(a_lying_entry_is_not_taken_and_is_mended),
		TEST(links_that_lead_elsewhere_are_not_followed),
		TEST(a_file_that_is_a_link_is_not_followed),
		TEST(names_that_lead_out_are_refused),
		TEST(somebody_elses_folder_is_refused),
		TEST(somebody_elses_entries_in_a_shared_folder_are_refused),
		TEST(a_file_that_may_not_get_longer_leaves_nothing),
		TEST(a_full_disk_leaves_nothing),
		TEST(what_is_interrupted_leaves_nothing),
		TEST(what_a_killed_writer_left_is_completed),
		TEST(several_may_write_and_remove_at_once),
		TEST(the_folder_is_where_perf_has_it),
		TEST(the_environment_and_the_configuration_name_it),
		TEST(what_is_not_there_is_made_only_when_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
