/* SPDX-License-Identifier: MIT */
/*
 * Which files a dso's names and code are taken from: trees of small ELF files in a temporary folder,
 * each different from what was recorded in one way.
 */
#include "elf_builder.h"
#include "sym/cached_files.h"
#include "sym/sym_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { MADE_S = 1000000000 }; /* mtime of all files of a tree */

static char root[64]; /* the tree */
static struct sym_options options;
static struct info info;
static struct recording_info recording = { .info = &info };
static struct dso dso;
static struct dso_files files;
static char dso_path[256];

static char *in_tree(const char *path)
{
	static char full[512];

	snprintf(full, sizeof(full), "%s%s", root, path);
	return full;
}

static void empty_tree(void)
{
	char *command = xasprintf("rm -rf '%s' && mkdir '%s'", root, root);

	assert_int_equal(system(command), 0);
	free(command);
}

static int set_up(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/pstat-test-XXXXXX");
	assert_non_null(mkdtemp(root));
	assert_int_equal(chmod(root, 0755), 0);
	options = (struct sym_options){ .symfs = root, .buildid_dir = root };
	recording.written_ns = MADE_S * INT64_C(1000000000);
	snprintf(dso_path, sizeof(dso_path), "/opt/prog");
	dso = (struct dso){ .kind = DSO_FILE, .path = dso_path, .name = dso_path, .pid = -1 };
	files = (struct dso_files){ .why = STR_INIT };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	dso_files_release(&files);
	empty_tree();
	return rmdir(root);
}

/* ---- files of a tree ---- */

static void write_bytes(const char *path, const char *bytes, size_t n)
{
	const struct timespec times[2] = { { MADE_S, 0 }, { MADE_S, 0 } };
	int fd;

	for (char *full = in_tree(path), *slash = full + strlen(root) + 1;
	     (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		(void)mkdir(full, 0755);
		*slash = '/';
	}
	fd = open(in_tree(path), O_WRONLY | O_CREAT | O_TRUNC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, bytes, n), 0);
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
}

/* What a file of a tree is to have. */
struct want {
	uint8_t id; /* first byte of its build-id of 8; 0: none */
	bool symtab, dwarf;
	bool emptied; /* its code has gone: a debug file */
	const char *link; /* .gnu_debuglink, or NULL */
	uint32_t crc;
};

static void make_bytes(const struct want *want, struct str *out)
{
	struct built_elf elf;
	uint32_t text, symbols;

	elf_start(&elf, ET_DYN, EM_X86_64, false, false);
	text = elf_add(&elf, ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000);
	elf.sections[text].nobits_bytes = want->emptied ? 8 : 0;
	if (want->id)
		elf_build_id(&elf, want->id, 8);
	if (want->symtab) {
		symbols = elf_add_symbols(&elf, SHT_SYMTAB);
		elf_symbol(&elf, symbols, "f", 0x1000, 8, STB_GLOBAL, STT_FUNC, text);
	}
	if (want->dwarf)
		elf_add(&elf, ".debug_info", SHT_PROGBITS, 0, 0);
	if (want->link) {
		struct str *bytes;

		bytes = &elf.sections[elf_add(&elf, ".gnu_debuglink", SHT_PROGBITS, 0, 0)].bytes;
		str_addn(bytes, want->link, strlen(want->link) + 1);
		str_pad(bytes, '\0', -bytes->len & 3);
		elf_put(&elf, bytes, want->crc, 4);
	}
	elf_finish(&elf, out);
	elf_end(&elf);
}

static void make_file(const char *path, struct want want)
{
	struct str bytes = STR_INIT;

	make_bytes(&want, &bytes);
	write_bytes(path, bytes.s, bytes.len);
	str_release(&bytes);
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

static void recorded_id(uint8_t first)
{
	dso.build_id.size = 8;
	for (uint8_t i = 0; i < 8; i++)
		dso.build_id.bytes[i] = first + i;
}

static void find_files(void)
{
	struct cached_files *cached = cached_files_new(&options);

	dso_files_release(&files);
	dso_files_find(&options, NULL, cached, &recording, NULL, &dso, &files);
	cached_files_free(cached);
}

/* Paths within the tree; NULL: none. why: all of it, or NULL: not looked at. */
static void expect(const char *runtime, const char *debug, const char *why)
{
	find_files();
	if (runtime && files.runtime)
		assert_string_equal(files.runtime, in_tree(runtime));
	else
		assert_true(!runtime && !files.runtime);
	if (debug && files.debug)
		assert_string_equal(files.debug, in_tree(debug));
	else
		assert_true(!debug && !files.debug);
	if (why)
		assert_string_equal(files.why.s, why);
}

static const char stripped[] = "stripped, and no debug file was found";

/* ---- the file itself ---- */

static void a_file_with_names_and_lines_is_all_there_is_to_find(void **state)
{
	(void)state;
	make_file("/opt/prog", (struct want){ .id = 0x10, .symtab = true, .dwarf = true });
	recorded_id(0x10);
	expect("/opt/prog", "/opt/prog", "");
	dso.build_id.size = 0;
	expect("/opt/prog", "/opt/prog", "");
	options.symfs = NULL;
	dso.path = in_tree("/opt/prog");
	expect("/opt/prog", "/opt/prog", "");
}

static void a_replaced_file_is_not_used(void **state)
{
	(void)state;
	make_file("/opt/prog", (struct want){ .id = 0x20, .symtab = true, .dwarf = true });
	recorded_id(0x10);
	expect(NULL, NULL,
	       "replaced since the recording: its build-id is now 202122232425..., "
	       "the recording has 101112131415...");
	assert_string_equal(files.remedy, "record again");
	make_file("/opt/prog", (struct want){ .symtab = true });
	expect(NULL, NULL,
	       "replaced since the recording: its build-id is now missing, "
	       "the recording has 101112131415...");
}

static void a_file_written_since_is_used_and_told_of(void **state)
{
	(void)state;
	make_file("/opt/prog", (struct want){ .id = 0x10, .symtab = true });
	recording.written_ns = (MADE_S - 1) * INT64_C(1000000000);
	expect("/opt/prog", "/opt/prog", "it was changed after the recording");
	recorded_id(0x10); /* its build-id says that it is the same */
	expect("/opt/prog", "/opt/prog", "");
}

static void a_file_of_another_inode_is_used_and_told_of(void **state)
{
	struct stat st;
	char *why;

	(void)state;
	make_file("/opt/prog", (struct want){ .symtab = true });
	assert_int_equal(stat(in_tree("/opt/prog"), &st), 0);
	options.symfs = NULL;
	dso.path = xstrdup(in_tree("/opt/prog"));
	dso.inode = st.st_ino;
	expect("/opt/prog", "/opt/prog", "");
	dso.inode = st.st_ino + 1;
	why = xasprintf("it may be another file than the one recorded: its inode is now %llu, not %llu",
			(unsigned long long)st.st_ino, (unsigned long long)st.st_ino + 1);
	expect("/opt/prog", "/opt/prog", why);
	free(why);
	free(dso.path);
}

static void what_is_no_regular_file_is_not_opened(void **state)
{
	(void)state;
	expect(NULL, NULL, "no such file");
	assert_int_equal(mkdir(in_tree("/opt"), 0755), 0);
	assert_int_equal(mkdir(in_tree("/opt/prog"), 0755), 0);
	expect(NULL, NULL, "not a regular file");
	assert_int_equal(rmdir(in_tree("/opt/prog")), 0);
	assert_int_equal(mkfifo(in_tree("/opt/prog"), 0644), 0);
	expect(NULL, NULL, "not a regular file");
	options.symfs = "/";
	snprintf(dso_path, sizeof(dso_path), "/dev/null");
	expect(NULL, NULL, "not a regular file");
	snprintf(dso_path, sizeof(dso_path), "prog");
	expect(NULL, NULL, "it has no path in the recording");
}

static void other_kinds_of_files_are_told_of(void **state)
{
	(void)state;
	write_bytes("/opt/prog", "#!/bin/sh\n", 10);
	expect(NULL, NULL, "not an ELF file");
	write_bytes("/opt/prog", "", 0);
	expect(NULL, NULL, "not an ELF file");
	write_bytes("/opt/prog", "\x1f\x8b\x08", 3);
	expect(NULL, NULL, "its gzip data is cut or damaged");
	write_bytes("/opt/prog", "\x28\xb5\x2f\xfd", 4);
	expect(NULL, NULL, "its zstd data is cut or damaged");
}

static void an_unreadable_file_names_its_owner(void **state)
{
	bool is_root = geteuid() == 0;
	char *why = xasprintf("permission denied: it belongs to user %u", (unsigned)geteuid());

	(void)state;
	make_file("/opt/prog", (struct want){ .symtab = true });
	assert_int_equal(chmod(in_tree("/opt/prog"), 0), 0);
	if (is_root)
		assert_int_equal(seteuid(65534), 0);
	expect(NULL, NULL, why);
	if (is_root)
		assert_int_equal(seteuid(0), 0);
	assert_string_equal(files.remedy, "sudo, or make it readable");
	free(why);
}

static void a_deleted_file_is_known_by_its_build_id(void **state)
{
	(void)state;
	snprintf(dso_path, sizeof(dso_path), "/opt/prog (deleted)");
	make_file("/opt/prog", (struct want){ .id = 0x10, .symtab = true });
	expect(NULL, NULL, "deleted before or while it was recorded");
	recorded_id(0x20);
	expect(NULL, NULL, "deleted before or while it was recorded");
	recorded_id(0x10);
	expect("/opt/prog", "/opt/prog", "");
}

static void the_cache_is_looked_into_by_build_id(void **state)
{
	static const char *const places[] = {
		"/.build-id/10/11121314151617/elf",
		"/.build-id/10/11121314151617",
	};
	static const char replaced[] = "replaced since the recording: its build-id is now 202122232425..., "
				       "the recording has 101112131415...";
	char *why;

	(void)state;
	recorded_id(0x10);
	make_file("/opt/prog", (struct want){ .id = 0x20, .symtab = true });
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		make_file(places[i], (struct want){ .id = 0x10, .symtab = true });
		expect(places[i], places[i], "");
		/* A file in the cache may lie, too. */
		make_file(places[i], (struct want){ .id = 0x30, .symtab = true });
		why = xasprintf("%s; %s%s: its build-id is 303132333435...", replaced, root, places[i]);
		expect(NULL, NULL, why);
		free(why);
		empty_tree();
		make_file("/opt/prog", (struct want){ .id = 0x20, .symtab = true });
	}
}

static void a_debug_file_is_cached_too(void **state)
{
	(void)state;
	recorded_id(0x10);
	make_file("/opt/prog", (struct want){ .id = 0x10 });
	expect("/opt/prog", NULL, stripped);
	make_file("/.build-id/10/11121314151617/debug", (struct want){ .id = 0x10, .symtab = true });
	expect("/opt/prog", "/.build-id/10/11121314151617/debug", "");
	/* Where nothing else is known of it. */
	assert_int_equal(unlink(in_tree("/opt/prog")), 0);
	expect(NULL, "/.build-id/10/11121314151617/debug", NULL);
	make_file("/.build-id/10/11121314151617/debug", (struct want){ .id = 0x20, .symtab = true });
	expect(NULL, NULL, NULL);
}

static void a_debug_file_is_never_the_program(void **state)
{
	static const char cached[] = "/.build-id/10/11121314151617/elf", debug[] = "/.build-id/10/11121314151617/debug";
	static const char in_place[] = "a debug file without code is in its place";
	const struct want emptied = { .id = 0x10, .symtab = true, .emptied = true };

	(void)state;
	make_file("/opt/prog", emptied);
	expect(NULL, "/opt/prog", in_place);
	recorded_id(0x10);
	expect(NULL, "/opt/prog", in_place);
	/* The program is looked for further on. */
	make_file(cached, (struct want){ .id = 0x10 });
	expect(cached, "/opt/prog", "");
	/* It lies in the cache, where a program would. */
	make_file(cached, emptied);
	make_file("/opt/prog", (struct want){ .id = 0x10 });
	expect("/opt/prog", cached, "");
	assert_int_equal(unlink(in_tree("/opt/prog")), 0);
	expect(NULL, cached, "no such file");
	make_file(debug, (struct want){ .id = 0x10, .symtab = true, .dwarf = true, .emptied = true });
	expect(NULL, cached, NULL);
	/* Of another build it is nothing. */
	empty_tree();
	make_file("/opt/prog", (struct want){ .id = 0x20, .symtab = true, .emptied = true });
	expect(NULL, NULL, "replaced since the recording: its build-id is now 202122232425..., "
			   "the recording has 101112131415...");
}

static void somebody_elses_cache_is_refused(void **state)
{
	char *why;

	(void)state;
	if (geteuid() != 0)
		skip(); /* only root makes other users' files */
	recorded_id(0x10);
	make_file("/.build-id/10/11121314151617/elf", (struct want){ .id = 0x10, .symtab = true });
	assert_int_equal(chown(root, 12345, 12345), 0);
	why = xasprintf("no such file; %s: it belongs to user 12345, not to you or root", root);
	expect(NULL, NULL, why);
	free(why);
	options.force = true;
	expect("/.build-id/10/11121314151617/elf", "/.build-id/10/11121314151617/elf", "");
}

static void the_vdso_of_another_kernel_is_in_the_cache(void **state)
{
	static const char cached[] = "/[vdso]/1011121314151617/vdso";

	(void)state;
	snprintf(dso_path, sizeof(dso_path), "[vdso]");
	dso.kind = DSO_VDSO;
	recorded_id(0x10);
	make_file(cached, (struct want){ .id = 0x10, .symtab = true });
	expect(cached, cached, "");
}

static void the_running_kernels_vdso_is_at_hand(void **state)
{
	struct elf_file vdso;
	struct str err = STR_INIT;
	const char *path = vdso_file_path();

	(void)state;
	if (!path)
		skip();
	assert_int_equal(elf_file_open(&vdso, path, &err), 0);
	snprintf(dso_path, sizeof(dso_path), "[vdso]");
	dso.kind = DSO_VDSO;
	expect(NULL, NULL, "its build-id is not in the recording");
	dso.build_id = vdso.build_id;
	find_files();
	assert_string_equal(files.runtime, path);
	assert_string_equal(files.why.s, "");
	dso.build_id.bytes[0] ^= 1;
	expect(NULL, NULL, "it is of another kernel than the running one");
	elf_file_close(&vdso);
}

static void a_kernels_file_is_used_with_its_own_build_id(void **state)
{
	char release[] = "6.1.0", no_release[] = "../6.1.0";

	(void)state;
	dso.kind = DSO_KERNEL;
	snprintf(dso_path, sizeof(dso_path), "[kernel.kallsyms]");
	info.os_release = no_release;
	recorded_id(0x10);
	expect(NULL, NULL, "");
	info.os_release = release;
	expect(NULL, NULL, "no vmlinux was found");
	make_file("/boot/vmlinux-6.1.0", (struct want){ .id = 0x10, .symtab = true });
	expect("/boot/vmlinux-6.1.0", "/boot/vmlinux-6.1.0", "");
	options.ignore_vmlinux = true;
	expect(NULL, NULL, "");
	make_file("/other", (struct want){ .id = 0x20, .symtab = true });
	options.vmlinux = xstrdup(in_tree("/other"));
	expect(NULL, NULL,
	       "of another kernel: its build-id is 202122232425..., the recording has 101112131415...");
	recorded_id(0x20);
	expect("/other", "/other", "");
	free((void *)(uintptr_t)options.vmlinux);
}

static void code_without_a_file_is_not_looked_for(void **state)
{
	static const enum dso_kind kinds[] = { DSO_ANON, DSO_BPF, DSO_OTHER };

	(void)state;
	make_file("/opt/prog", (struct want){ .symtab = true });
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		dso.kind = kinds[i];
		expect(NULL, NULL, "");
	}
}

/* ---- debug files ---- */

static void debug_files_are_found_by_build_id(void **state)
{
	static const char in_system[] = "/usr/lib/debug/.build-id/10/11121314151617.debug";
	static const char in_dir[] = "/dbg/.build-id/10/11121314151617.debug";
	const char *dirs[] = { xstrdup(in_tree("/dbg")), NULL };

	(void)state;
	make_file("/opt/prog", (struct want){ .id = 0x10 });
	expect("/opt/prog", NULL, stripped);
	assert_string_equal(files.remedy, "install its debug package, or use --debuginfod");
	make_file(in_dir, (struct want){ .id = 0x10, .dwarf = true });
	expect("/opt/prog", NULL, stripped);
	options.debug_dirs = dirs;
	expect("/opt/prog", in_dir, "");
	make_file(in_system, (struct want){ .id = 0x10, .symtab = true });
	expect("/opt/prog", in_system, "");
	/* The recording's build-id finds it without the file, too. */
	recorded_id(0x10);
	assert_int_equal(unlink(in_tree("/opt/prog")), 0);
	expect(NULL, in_system, "no such file");
	free((void *)(uintptr_t)dirs[0]);
}

static void debug_files_of_another_build_are_refused(void **state)
{
	static const char place[] = "/usr/lib/debug/.build-id/10/11121314151617.debug";
	char *why = xasprintf("%s%s: of another build, with build-id 202122232425...", root, place);

	(void)state;
	make_file("/opt/prog", (struct want){ .id = 0x10 });
	make_file(place, (struct want){ .id = 0x20, .symtab = true });
	expect("/opt/prog", NULL, why);
	free(why);
	make_file(place, (struct want){ .symtab = true }); /* it has lost its own */
	expect("/opt/prog", NULL, stripped);
	make_file(place, (struct want){ .id = 0x10 }); /* nothing is in it */
	expect("/opt/prog", NULL, stripped);
}

static void debug_files_of_the_same_name_need_a_proof(void **state)
{
	static const char *const places[] = { "/dbg/opt/prog.debug", "/dbg/opt/prog" };
	const char *dirs[] = { xstrdup(in_tree("/dbg")), NULL };

	(void)state;
	options.debug_dirs = dirs;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		make_file("/opt/prog", (struct want){ .id = 0x10 });
		make_file(places[i], (struct want){ .id = 0x10, .symtab = true });
		expect("/opt/prog", places[i], "");
		make_file(places[i], (struct want){ .id = 0x20, .symtab = true });
		expect("/opt/prog", NULL, NULL);
		/* Without build-ids the user's word is taken for it, but not the system's folder. */
		make_file("/opt/prog", (struct want){ 0 });
		make_file(places[i], (struct want){ .symtab = true });
		expect("/opt/prog", places[i], "");
		empty_tree();
	}
	make_file("/opt/prog", (struct want){ 0 });
	make_file("/usr/lib/debug/opt/prog", (struct want){ .symtab = true });
	expect("/opt/prog", NULL, stripped);
	free((void *)(uintptr_t)dirs[0]);
}

static void debuglinks_are_followed_with_their_checksum(void **state)
{
	static const char *const places[] = {
		"/opt/prog.dbg",
		"/opt/.debug/prog.dbg",
		"/usr/lib/debug/opt/prog.dbg",
	};
	const struct want good = { .symtab = true, .dwarf = true };
	const struct want other = { .id = 0x20, .symtab = true, .dwarf = true };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		char *why = xasprintf("%s%s: of another build: not the checksum in .gnu_debuglink",
				      root, places[i]);

		make_file("/opt/prog", (struct want){ .link = "prog.dbg", .crc = crc_of(good) });
		make_file(places[i], good);
		expect("/opt/prog", places[i], "");
		make_file(places[i], (struct want){ .dwarf = true });
		expect("/opt/prog", NULL, why);
		free(why);
		/* A right checksum of another build. */
		make_file("/opt/prog",
			  (struct want){ .id = 0x10, .link = "prog.dbg", .crc = crc_of(other) });
		make_file(places[i], other);
		expect("/opt/prog", NULL, NULL);
		empty_tree();
	}
}

static void symbols_in_the_file_do_where_no_debug_file_is(void **state)
{
	(void)state;
	make_file("/opt/prog", (struct want){ .id = 0x10, .symtab = true });
	expect("/opt/prog", "/opt/prog", "");
	make_file("/usr/lib/debug/.build-id/10/11121314151617.debug",
		  (struct want){ .id = 0x10, .symtab = true, .dwarf = true });
	expect("/opt/prog", "/usr/lib/debug/.build-id/10/11121314151617.debug", "");
}

static void reasons_are_printable(void **state)
{
	const char *dirs[] = { xstrdup(in_tree("/dbg")), NULL };

	(void)state;
	options.debug_dirs = dirs;
	snprintf(dso_path, sizeof(dso_path), "/opt/\033[31mprog");
	make_file(dso_path, (struct want){ .id = 0x10 });
	make_file("/dbg/opt/\033[31mprog", (struct want){ .id = 0x20, .symtab = true });
	expect(dso_path, NULL, NULL);
	assert_null(strchr(files.why.s, '\033'));
	assert_non_null(strstr(files.why.s, "/opt/\\x1b[31mprog: of another build"));
	free((void *)(uintptr_t)dirs[0]);
}

/* ---- servers ---- */

static void on_progress(void *context, const char *what, double part)
{
	(void)context;
	assert_string_equal(what, "fetching the debug file of /opt/prog");
	assert_true(part <= 1);
}

static void servers_are_asked_last(void **state)
{
	static const char on_server[] = "/server/buildid/1011121314151617/debuginfo";
	struct str err = STR_INIT;
	char *url = xasprintf("file://%s/server", root);
	void *function;

	(void)state;
	make_file("/opt/prog", (struct want){ .id = 0x10 });
	make_file(on_server, (struct want){ .id = 0x10, .symtab = true });
	options.debuginfod = true;
	options.progress = on_progress;
	assert_int_equal(unsetenv("DEBUGINFOD_URLS"), 0);
	expect("/opt/prog", NULL,
	       "stripped, and no debuginfod server is named in $DEBUGINFOD_URLS");
	if (library_load("libdebuginfod.so.1",
			 &(const struct library_symbol){ "debuginfod_begin", 0 }, 1, &function,
			 &err)) {
		setenv("DEBUGINFOD_CACHE_PATH", in_tree("/cache"), 1);
		setenv("DEBUGINFOD_URLS", url, 1);
		expect("/opt/prog", "/cache/1011121314151617/debuginfo", "");
		make_file(on_server, (struct want){ .id = 0x20, .symtab = true });
		assert_int_equal(unlink(in_tree("/cache/1011121314151617/debuginfo")), 0);
		expect("/opt/prog", NULL, NULL);
		assert_non_null(strstr(files.why.s, "of another build"));
		make_file("/opt/prog", (struct want){ .id = 0x40 });
		expect("/opt/prog", NULL, "stripped, and debuginfod servers don't have it");
	}
	str_release(&err);
	free(url);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_with_names_and_lines_is_all_there_is_to_find),
		TEST(a_replaced_file_is_not_used),
		TEST(a_file_written_since_is_used_and_told_of),
		TEST(a_file_of_another_inode_is_used_and_told_of),
		TEST(what_is_no_regular_file_is_not_opened),
		TEST(other_kinds_of_files_are_told_of),
		TEST(an_unreadable_file_names_its_owner),
		TEST(a_deleted_file_is_known_by_its_build_id),
		TEST(the_cache_is_looked_into_by_build_id),
		TEST(a_debug_file_is_cached_too),
		TEST(a_debug_file_is_never_the_program),
		TEST(somebody_elses_cache_is_refused),
		TEST(the_vdso_of_another_kernel_is_in_the_cache),
		TEST(the_running_kernels_vdso_is_at_hand),
		TEST(a_kernels_file_is_used_with_its_own_build_id),
		TEST(code_without_a_file_is_not_looked_for),
		TEST(debug_files_are_found_by_build_id),
		TEST(debug_files_of_another_build_are_refused),
		TEST(debug_files_of_the_same_name_need_a_proof),
		TEST(debuglinks_are_followed_with_their_checksum),
		TEST(symbols_in_the_file_do_where_no_debug_file_is),
		TEST(reasons_are_printable),
		TEST(servers_are_asked_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
