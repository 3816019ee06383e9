/* SPDX-License-Identifier: MIT */
/*
 * Build-ids of mapped files: ELF files made here, byte by byte, below the roots of processes of a
 * machine of files.
 */
#include "fake_machine.h"
#include "record/record.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmocka.h>

static struct fake_machine machine;
static struct kern kern;
static struct buildid_set *set;
static struct info info;

static int setup(void **state)
{
	(void)state;
	fake_machine_init(&machine);
	kern = (struct kern){ &sys_linux, machine.host };
	set = buildid_set_new(&kern);
	info_init(&info);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	buildid_set_free(set);
	/* The next test is to find none of this one's helpers. */
	while (waitpid(-1, NULL, 0) > 0)
		;
	info_release(&info);
	fake_machine_release(&machine);
	return 0;
}

/* ---- files ---- */

static void put_bytes(const char *path, const void *bytes, size_t n)
{
	char *full = xasprintf("%s/%s", machine.root, path);
	FILE *f;

	fake_machine_file(&machine, path, "");
	f = fopen(full, "w");
	if (!f || fwrite(bytes, 1, n, f) != n || fclose(f))
		abort();
	free(full);
}

static int unlink_below(const char *path)
{
	char *full = xasprintf("%s/%s", machine.root, path);
	int rc = unlink(full);

	free(full);
	return rc;
}

static uint64_t inode_of(const char *path)
{
	char *full = xasprintf("%s/%s", machine.root, path);
	struct stat st;

	assert_int_equal(stat(full, &st), 0);
	free(full);
	return st.st_ino;
}

static uint32_t order32(uint32_t v, bool big)
{
	return big ? __builtin_bswap32(v) : v;
}

/* One note: owner, type, n times the byte `fill`. */
static size_t add_note(uint8_t *at, const char *owner, uint32_t type, uint8_t fill, uint32_t n,
		       size_t align, bool big)
{
	uint32_t name = (uint32_t)strlen(owner) + 1;
	uint32_t header[] = { order32(name, big), order32(n, big), order32(type, big) };
	size_t desc = (sizeof(header) + name + align - 1) & ~(align - 1);

	memcpy(at, header, sizeof(header));
	memcpy(at + sizeof(header), owner, name);
	memset(at + desc, fill, n);
	return desc + ((n + align - 1) & ~(align - 1));
}

struct elf_text {
	uint8_t bytes[512];
	size_t n;
};

/* An ELF program of a header, one PT_NOTE and two notes: the second is the build-id. */
static struct elf_text make_elf(uint8_t fill, uint32_t n, size_t align, bool big)
{
	struct elf_text elf = { .n = 0 };
	Elf64_Ehdr *eh = (Elf64_Ehdr *)(void *)elf.bytes;
	Elf64_Phdr *ph = (Elf64_Phdr *)(void *)(elf.bytes + sizeof(*eh));
	size_t notes = sizeof(*eh) + sizeof(*ph);
#define PUT(to, v) ((to) = big ? (sizeof(to) == 8 ? (__typeof__(to))__builtin_bswap64(v) :     \
				  sizeof(to) == 4 ? (__typeof__(to))__builtin_bswap32((uint32_t)(v)) : \
				  (__typeof__(to))__builtin_bswap16((uint16_t)(v))) : (__typeof__(to))(v))

	notes = (notes + 7) & ~(size_t)7;
	memcpy(eh->e_ident, ELFMAG, SELFMAG);
	eh->e_ident[EI_CLASS] = ELFCLASS64;
	eh->e_ident[EI_DATA] = big ? ELFDATA2MSB : ELFDATA2LSB;
	eh->e_ident[EI_VERSION] = EV_CURRENT;
	PUT(eh->e_type, ET_DYN);
	PUT(eh->e_machine, EM_X86_64);
	PUT(eh->e_version, EV_CURRENT);
	PUT(eh->e_phoff, sizeof(*eh));
	PUT(eh->e_ehsize, sizeof(*eh));
	PUT(eh->e_phentsize, sizeof(*ph));
	PUT(eh->e_phnum, 1);
	elf.n = notes;
	elf.n += add_note(elf.bytes + elf.n, "stapsdt", NT_GNU_BUILD_ID, 0xee, 5, align, big);
	elf.n += add_note(elf.bytes + elf.n, "GNU", NT_GNU_BUILD_ID, fill, n, align, big);
	PUT(ph->p_type, PT_NOTE);
	PUT(ph->p_offset, notes);
	PUT(ph->p_filesz, elf.n - notes);
	PUT(ph->p_memsz, elf.n - notes);
	PUT(ph->p_align, align);
	return elf;
}

/* ---- mappings ---- */

static struct record_body map_of(uint32_t pid, const char *path, uint64_t inode)
{
	struct record_body body = { .type = RECORD_MMAP2, .misc = MISC_USER };

	body.mmap = (struct record_mmap){ .pid = pid, .tid = pid, .start = 0x1000, .len = 0x1000,
					  .major = 8, .minor = 1, .inode = inode, .prot = 5,
					  .path = path };
	return body;
}

static void take_on(uint32_t minor, uint32_t pid, const char *path, uint64_t inode)
{
	struct record_body body = map_of(pid, path, inode);

	body.mmap.minor = minor;
	buildid_set_take(set, &body);
}

static void take(uint32_t pid, const char *path, uint64_t inode)
{
	take_on(1, pid, path, inode);
}

/* All build-ids as "path size first-byte", a line each. */
static const char *written(void)
{
	static char text[4096];
	size_t at = 0;

	info_release(&info);
	info_init(&info);
	buildid_set_write(set, &info);
	text[0] = '\0';
	for (size_t i = 0; i < info.build_ids.n; i++) {
		const struct info_build_id *id = &info.build_ids.v[i];

		assert_int_equal(id->pid, -1);
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s %u %02x misc %u\n", id->path,
				       id->size, id->bytes[id->size - 1], id->misc);
	}
	assert_int_equal(info_has(&info, FEATURE_BUILD_ID), info.build_ids.n != 0);
	return text;
}

/* ---- tests ---- */

static void test_in_its_root(void **state)
{
	struct elf_text a = make_elf(0xaa, 20, 4, false), b = make_elf(0xbb, 16, 4, true);
	struct elf_text c = make_elf(0xcc, 20, 8, false), d = make_elf(0xdd, 64, 4, false);

	(void)state;
	put_bytes("proc/10/root/lib/a.so", a.bytes, a.n);
	put_bytes("proc/10/root/lib/b.so", b.bytes, b.n);
	put_bytes("proc/11/root/lib/a.so", c.bytes, c.n); /* another container */
	put_bytes("proc/11/root/lib/d.so", d.bytes, d.n);
	take(10, "/lib/a.so", inode_of("proc/10/root/lib/a.so"));
	take(10, "/lib/b.so", inode_of("proc/10/root/lib/b.so"));
	take(11, "/lib/a.so", inode_of("proc/11/root/lib/a.so"));
	take(11, "/lib/d.so", inode_of("proc/11/root/lib/d.so"));
	take(10, "/lib/a.so", inode_of("proc/10/root/lib/a.so"));
	assert_string_equal(written(), "/lib/a.so 20 aa misc 2\n/lib/b.so 16 bb misc 2\n"
				       "/lib/a.so 20 cc misc 2\n/lib/d.so 20 dd misc 2\n");
}

/* What is known needs neither the process nor the file again, under a second name neither. */
static void test_read_once(void **state)
{
	struct elf_text a = make_elf(0xaa, 20, 4, false);
	uint64_t inode;

	(void)state;
	put_bytes("proc/10/root/bin/a", a.bytes, a.n);
	inode = inode_of("proc/10/root/bin/a");
	take(10, "/bin/a", inode);
	written();
	assert_int_equal(unlink_below("proc/10/root/bin/a"), 0);
	take(99, "/bin/a", inode);
	take(99, "/bin/hard link", inode);
	assert_string_equal(written(), "/bin/a 20 aa misc 2\n/bin/hard link 20 aa misc 2\n");
}

/* The process has ended; another one maps the file later. */
static void test_seen_again(void **state)
{
	struct elf_text a = make_elf(0xaa, 20, 4, false);

	(void)state;
	put_bytes("proc/11/root/lib/a", a.bytes, a.n);
	take(10, "/lib/a", inode_of("proc/11/root/lib/a"));
	assert_string_equal(written(), "");
	take(11, "/lib/a", inode_of("proc/11/root/lib/a"));
	assert_string_equal(written(), "/lib/a 20 aa misc 2\n");
}

static void test_places(void **state)
{
	struct elf_text a = make_elf(0xaa, 20, 4, false), b = make_elf(0xbb, 20, 4, false);
	char *host_path = xasprintf("%s/host/a", machine.root), *expected;

	(void)state;
	/* The process is gone: by the same path in pstat's own root. */
	put_bytes("host/a", a.bytes, a.n);
	take(10, host_path, inode_of("host/a"));
	/* Deleted, but mapped. */
	put_bytes("proc/12/map_files/1000-2000", b.bytes, b.n);
	take(12, "/lib/b (deleted)", inode_of("proc/12/map_files/1000-2000"));
	/* Replaced meanwhile: another inode is at the path. */
	put_bytes("proc/13/root/lib/c", a.bytes, a.n);
	take(13, "/lib/c", inode_of("proc/13/root/lib/c") + 1);
	expected = xasprintf("%s 20 aa misc 2\n/lib/b (deleted) 20 bb misc 2\n", host_path);
	assert_string_equal(written(), expected);
	free(expected);
	free(host_path);
}

/* The process is gone, those that it descends from live: in a container, say, where a shell runs programs. */
static void test_below_the_roots_of_its_parents(void **state)
{
	struct elf_text a = make_elf(0xaa, 20, 4, false);
	struct record_body fork = { .type = RECORD_FORK };
	uint32_t chain[][2] = { { 21, 20 }, { 22, 21 }, { 22, 22 }, { 31, 32 }, { 32, 31 } };

	(void)state;
	put_bytes("proc/20/root/lib/a", a.bytes, a.n);
	for (size_t i = 0; i < ARRAY_SIZE(chain); i++) { /* the third is a thread; the last two: a circle */
		fork.task.pid = chain[i][0];
		fork.task.ppid = chain[i][1];
		buildid_set_take(set, &fork);
	}
	take(32, "/lib/a", inode_of("proc/20/root/lib/a"));
	take(32, "/lib/a", inode_of("proc/20/root/lib/a"));
	assert_string_equal(written(), "");
	take(22, "/lib/a", inode_of("proc/20/root/lib/a"));
	assert_string_equal(written(), "/lib/a 20 aa misc 2\n");
}

static void take_fork(uint32_t pid, uint32_t ppid)
{
	struct record_body fork = { .type = RECORD_FORK };

	fork.task.pid = pid;
	fork.task.ppid = ppid;
	buildid_set_take(set, &fork);
}

/* Another CPU's ring tells later that the process began: what was looked for in vain, and what is asked for now. */
static void test_parents_that_are_known_later(void **state)
{
	struct elf_text a = make_elf(0xaa, 20, 4, false), b = make_elf(0xbb, 20, 4, false);
	struct elf_text c = make_elf(0xcc, 20, 4, false);

	(void)state;
	put_bytes("proc/20/root/lib/a", a.bytes, a.n);
	put_bytes("proc/20/root/lib/b", b.bytes, b.n);
	take(42, "/lib/a", inode_of("proc/20/root/lib/a"));
	assert_string_equal(written(), "");
	take_fork(43, 20);
	assert_string_equal(written(), "");
	take_fork(42, 41);
	assert_string_equal(written(), "");
	take_fork(41, 20);
	assert_string_equal(written(), "/lib/a 20 aa misc 2\n");
	put_bytes("proc/20/root/lib/c", c.bytes, c.n);
	take(52, "/lib/b", inode_of("proc/20/root/lib/b"));
	take(52, "/lib/c", inode_of("proc/20/root/lib/c"));
	take_fork(52, 51);
	take_fork(51, 20);
	assert_string_equal(written(), "/lib/a 20 aa misc 2\n/lib/b 20 bb misc 2\n/lib/c 20 cc misc 2\n");
	/* One that was found is not asked for again. */
	take_fork(52, 1);
	take_fork(42, 1);
	assert_string_equal(written(), "/lib/a 20 aa misc 2\n/lib/b 20 bb misc 2\n/lib/c 20 cc misc 2\n");
}

/* Links lead nowhere but into the process's own root; what is not a regular file is not opened. */
static void test_no_way_out_of_its_root(void **state)
{
	struct elf_text a = make_elf(0xaa, 20, 4, false), b = make_elf(0xbb, 20, 4, false);
	char *link = xasprintf("%s/proc/10/root/out", machine.root);
	char *host = xasprintf("%s/host/b", machine.root);

	(void)state;
	put_bytes("proc/10/root/lib/a", a.bytes, a.n);
	put_bytes("host/b", b.bytes, b.n);
	assert_int_equal(symlink(host, link), 0);
	take(10, "/out", inode_of("host/b"));
	assert_string_equal(written(), "");
	assert_int_equal(unlink(link), 0);
	assert_int_equal(symlink("/lib/a", link), 0);
	take(10, "/out", inode_of("proc/10/root/lib/a"));
	assert_string_equal(written(), "/out 20 aa misc 2\n");
	free(host);
	free(link);
}

static void test_passed_over(void **state)
{
	struct elf_text a = make_elf(0xaa, 20, 4, false);
	struct record_body body;
	char *fifo = xasprintf("%s/proc/10/root/fifo", machine.root);

	(void)state;
	put_bytes("proc/10/root/a", a.bytes, a.n);
	put_bytes("proc/10/root//anon", a.bytes, a.n);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	take(10, "//anon", inode_of("proc/10/root/anon"));
	take(10, "[heap]", 0);
	take(10, "/a", 0);
	take(10, "", 1);
	take(10, "/fifo", inode_of("proc/10/root/fifo"));
	body = map_of(10, "/a", inode_of("proc/10/root/a"));
	body.misc |= MISC_MMAP_DATA;
	buildid_set_take(set, &body);
	body.misc = MISC_GUEST_USER;
	buildid_set_take(set, &body);
	body.misc = MISC_USER;
	body.type = RECORD_COMM;
	buildid_set_take(set, &body);
	assert_string_equal(written(), "");
	free(fifo);
}

/* Cut at every length, and every byte of the headers and notes flipped: no crash, no invented size. */
static void test_damaged(void **state)
{
	struct elf_text whole = make_elf(0xaa, 20, 4, false);

	(void)state;
	for (size_t i = 0; i < whole.n * 2; i++) {
		struct elf_text elf = whole;
		char name[32];

		snprintf(name, sizeof(name), "/%zu", i);
		if (i < whole.n)
			elf.n = i;
		else
			elf.bytes[i - whole.n] ^= 0xff;
		put_bytes("proc/10/root/x", elf.bytes, elf.n);
		take(10, "/x", inode_of("proc/10/root/x"));
		written();
		for (size_t k = 0; k < info.build_ids.n; k++)
			assert_true(info.build_ids.v[k].size <= 20);
		if (i < whole.n)
			assert_int_equal(info.build_ids.n, 0);
		buildid_set_free(set);
		set = buildid_set_new(&kern);
	}
}

static void test_kernel_and_modules(void **state)
{
	uint8_t notes[256];
	size_t n = add_note(notes, "Xen", 6, 1, 8, 4, false);
	struct record_body body = { .type = RECORD_MMAP, .misc = MISC_KERNEL };
	static const char *const paths[] = {
		"[kernel.kallsyms]_text", "/lib/modules/6.1/kernel/fs/a-b.ko.xz", "[c]", "[c]", "[gone]",
	};

	(void)state;
	n += add_note(notes + n, "GNU", NT_GNU_BUILD_ID, 0x11, 20, 4, false);
	put_bytes("sys/kernel/notes", notes, n);
	put_bytes("sys/module/a_b/notes/.note.gnu.build-id", notes,
		  add_note(notes, "GNU", NT_GNU_BUILD_ID, 0x22, 20, 4, false));
	put_bytes("sys/module/c/notes/.note.gnu.build-id", notes,
		  add_note(notes, "GNU", NT_GNU_BUILD_ID, 0x33, 20, 4, false));
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		body.mmap.path = paths[i];
		buildid_set_take(set, &body);
	}
	assert_string_equal(written(), "[kernel.kallsyms] 20 11 misc 1\n"
				       "/lib/modules/6.1/kernel/fs/a-b.ko.xz 20 22 misc 1\n"
				       "[c] 20 33 misc 1\n");
}

static void test_notes_cut(void **state)
{
	uint8_t notes[64];
	size_t n = add_note(notes, "GNU", NT_GNU_BUILD_ID, 0x11, 20, 4, false);

	(void)state;
	for (size_t cut = 0; cut < n; cut++) {
		put_bytes("sys/kernel/notes", notes, cut);
		assert_string_equal(written(), "");
	}
	/* Sizes that wrap around. */
	for (size_t field = 0; field < 2; field++) {
		uint8_t broken[64];

		memcpy(broken, notes, n);
		memset(broken + 4 * field, 0xff, 4);
		put_bytes("sys/kernel/notes", broken, n);
		assert_string_equal(written(), "");
	}
	put_bytes("sys/kernel/notes", notes, n);
	assert_string_equal(written(), "[kernel.kallsyms] 20 11 misc 1\n");
}

static void test_given_by_the_kernel(void **state)
{
	struct record_body body = map_of(10, "/lib/a", 0);

	(void)state;
	body.misc |= MISC_MMAP_BUILD_ID;
	body.mmap.build_id_size = 20;
	memset(body.mmap.build_id, 0x77, 20);
	buildid_set_take(set, &body);
	buildid_set_take(set, &body);
	body.mmap.build_id_size = 255; /* as no kernel says */
	memset(body.mmap.build_id, 0x78, 20);
	buildid_set_take(set, &body);
	assert_string_equal(written(), "/lib/a 20 77 misc 2\n/lib/a 20 78 misc 2\n");
}

/* This machine: the program itself, and the vDSO that it has mapped. */
static void test_this_machine(void **state)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	struct stat st;

	(void)state;
	assert_true(n > 0);
	path[n] = '\0';
	assert_int_equal(stat(path, &st), 0);
	kern.host = (struct host_paths){ "/sys", "/proc", "/sys/kernel/tracing", NULL };
	take((uint32_t)getpid(), path, st.st_ino);
	take((uint32_t)getpid(), "[vdso]", 0);
	take((uint32_t)getpid(), "[vdso]", 0);
	written();
	for (size_t i = 0; i < info.build_ids.n; i++)
		assert_true(info.build_ids.v[i].size == 20 || info.build_ids.v[i].size == 16);
	assert_true(info.build_ids.n >= 1);
}

/* ---- a helper that does not answer: a stopped process is as good as one that waits for a file system ---- */

/* The newest child of this process, as /proc has it; 0: there is none. Stopped ones are left out. */
static pid_t newest_helper(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	long found = 0;

	assert_non_null(proc);
	while ((entry = readdir(proc)) != NULL) {
		char *path = xasprintf("/proc/%s/stat", entry->d_name);
		struct str text = STR_INIT;
		const char *end;
		long pid = 0;
		int parent = 0;
		char status;

		if (!parse_int(entry->d_name, 1, INT_MAX, &pid) && !read_text_file(path, &text) &&
		    (end = strrchr(text.s, ')')) != NULL && sscanf(end, ") %c %d", &status, &parent) == 2 &&
		    parent == getpid() && !strchr("ZTX", status))
			found = pid;
		str_release(&text);
		free(path);
	}
	closedir(proc);
	return (pid_t)found;
}

static void stop_helper(pid_t helper)
{
	int status;

	assert_int_equal(kill(helper, SIGSTOP), 0);
	assert_int_equal(waitpid(helper, &status, WUNTRACED), helper);
}

/* What the set says is missing, "" where it says nothing. */
static const char *noted(void)
{
	static char text[512];
	struct note_list notes = { 0 };

	buildid_set_note(set, &notes);
	assert_true(notes.n <= 1);
	snprintf(text, sizeof(text), "%s", notes.n ? notes.v[0].text : "");
	note_list_release(&notes);
	return text;
}

static void test_many(void **state)
{
	struct elf_text a = make_elf(0xaa, 20, 4, false);
	char path[32];

	(void)state;
	for (int i = 0; i < 1000; i++) {
		snprintf(path, sizeof(path), "proc/10/root/%d", i);
		put_bytes(path, a.bytes, a.n);
		take(10, strrchr(path, '/'), inode_of(path));
		take(10, strrchr(path, '/'), inode_of(path));
	}
	/* A machine may be so busy that not all come while it is waited for them. */
	do {
		info_release(&info);
		buildid_set_write(set, &info);
	} while (noted()[0]);
	assert_int_equal(info.build_ids.n, 1000);
}

/* Of /1 to /4 below the root of process 10. */
static uint64_t put_numbered(int i)
{
	struct elf_text elf = make_elf((uint8_t)(0xa0 + i), 20, 4, false);
	char path[64];

	snprintf(path, sizeof(path), "proc/10/root/%d", i);
	put_bytes(path, elf.bytes, elf.n);
	return inode_of(path);
}

/* A helper that is at hand, with /1 read. */
static pid_t some_helper(void)
{
	take(10, "/1", put_numbered(1));
	assert_string_equal(written(), "/1 20 a1 misc 2\n");
	assert_string_equal(noted(), "");
	return newest_helper();
}

static void test_stuck(void **state)
{
	uint64_t inodes[] = { put_numbered(2), put_numbered(3), put_numbered(4) };
	pid_t first = some_helper();

	(void)state;
	assert_true(first > 0);
	stop_helper(first);
	take_on(2, 10, "/2", inodes[0]);
	assert_string_equal(written(), "/1 20 a1 misc 2\n");
	/* Another helper has what lies elsewhere. */
	take_on(3, 10, "/4", inodes[2]);
	assert_string_equal(written(), "/1 20 a1 misc 2\n/4 20 a4 misc 2\n");
	assert_string_equal(noted(), "the build-id of 1 file is missing: its file system did not answer: /2");
	take_on(2, 10, "/3", inodes[1]);
	assert_string_equal(written(), "/1 20 a1 misc 2\n/4 20 a4 misc 2\n");
	assert_string_equal(noted(), "the build-ids of 2 files are missing: their file system did not answer: /2, /3");
	/* It answers after all. */
	assert_int_equal(kill(first, SIGCONT), 0);
	while (noted()[0])
		written();
	assert_string_equal(written(), "/1 20 a1 misc 2\n/2 20 a2 misc 2\n/4 20 a4 misc 2\n/3 20 a3 misc 2\n");
}

/* However many stick, the end comes, and so does what was read before. */
static void test_all_stuck(void **state)
{
	enum { HELPERS = 8 };
	uint64_t inode = put_numbered(2);
	pid_t helper = some_helper();
	char path[64];

	(void)state;
	for (uint32_t i = 0; i < HELPERS; i++) {
		while (i && !(helper = newest_helper()))
			usleep(10000);
		stop_helper(helper);
		/* One that it sticks at, and one that asks for the next helper. */
		for (uint32_t k = 0; k < 2; k++) {
			snprintf(path, sizeof(path), "/%u", (i + 1) * 10 + k);
			take_on((i + 1) * 10 + k, 10, path, inode);
		}
	}
	assert_string_equal(written(), "/1 20 a1 misc 2\n");
	assert_int_equal(newest_helper(), 0);
	assert_non_null(strstr(noted(), " files are missing: their file system did not answer: /"));
	assert_non_null(strstr(noted(), ", ..."));
}

/* Killed, as by a file that its reader cannot bear: that file is given up, the others are read. */
static void test_killed(void **state)
{
	uint64_t two = put_numbered(2), three = put_numbered(3);
	pid_t helper = some_helper();

	(void)state;
	stop_helper(helper);
	take_on(2, 10, "/2", two);
	assert_string_equal(written(), "/1 20 a1 misc 2\n");
	assert_int_equal(kill(helper, SIGKILL), 0);
	while (noted()[0])
		written();
	take_on(2, 10, "/2", two);
	take_on(2, 10, "/3", three);
	assert_string_equal(written(), "/1 20 a1 misc 2\n/3 20 a3 misc 2\n");
}

/* While the first process that has it mapped is asked for, another one maps it. */
static void test_seen_while_it_is_asked_for(void **state)
{
	uint64_t inode = put_numbered(2);
	pid_t helper = some_helper();

	(void)state;
	stop_helper(helper);
	for (uint32_t pid = 90; pid < 99; pid++)
		take(pid, "/2", inode);
	take(10, "/2", inode);
	take(99, "/2", inode);
	assert_int_equal(kill(helper, SIGCONT), 0);
	assert_string_equal(written(), "/1 20 a1 misc 2\n/2 20 a2 misc 2\n");
}

static void test_no_helper_to_be_had(void **state)
{
	struct rlimit before, none;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	take(10, "/1", 1);
	take(10, "/2", 2);
	assert_string_equal(written(), "");
	assert_string_equal(noted(), "build-ids are missing: no process to read them could be started: "
				     "Too many open files");
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_in_its_root),
		TEST(test_read_once),
		TEST(test_seen_again),
		TEST(test_places),
		TEST(test_below_the_roots_of_its_parents),
		TEST(test_parents_that_are_known_later),
		TEST(test_no_way_out_of_its_root),
		TEST(test_passed_over),
		TEST(test_damaged),
		TEST(test_kernel_and_modules),
		TEST(test_notes_cut),
		TEST(test_given_by_the_kernel),
		TEST(test_this_machine),
		TEST(test_many),
		TEST(test_stuck),
		TEST(test_all_stuck),
		TEST(test_killed),
		TEST(test_seen_while_it_is_asked_for),
		TEST(test_no_helper_to_be_had),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
