/* SPDX-License-Identifier: MIT */
/*
 * Which file a map belongs to: what its name says, when two maps have the same file, and the three ways in
 * which build-ids come.
 */
#include "replay_fixture.h"

static void test_user_kinds(void **state)
{
	static const struct {
		const char *path;
		uint32_t flags;
		enum dso_kind code, data;
	} cases[] = {
		{ "/usr/bin/x", 2, DSO_FILE, DSO_FILE },
		{ "/tmp/x (deleted)", 2, DSO_FILE, DSO_FILE },
		{ "//anon", 2, DSO_ANON, DSO_OTHER },
		{ "//anonymous", 2, DSO_FILE, DSO_FILE },
		{ "", 2, DSO_ANON, DSO_OTHER },
		{ "/dev/zero", 1, DSO_ANON, DSO_OTHER },
		{ "/dev/zero (deleted)", 1, DSO_ANON, DSO_OTHER },
		{ "/anon_hugepage (deleted)", 2, DSO_ANON, DSO_OTHER },
		{ "/huge/file", 0x40002, DSO_ANON, DSO_OTHER },
		{ "/SYSV00000000 (deleted)", 1, DSO_ANON, DSO_OTHER },
		{ "[heap]", 2, DSO_ANON, DSO_OTHER },
		{ "[stack]", 2, DSO_ANON, DSO_OTHER },
		{ "[anon:v8]", 2, DSO_ANON, DSO_OTHER },
		/* Written through one mapping, run through the other; a program run from a memfd. */
		{ "/memfd:doublemapper (deleted)", 1, DSO_ANON, DSO_OTHER },
		{ "/memfd:program (deleted)", 2, DSO_FILE, DSO_FILE },
		{ "/dev/shm/doublemapper (deleted)", 1, DSO_ANON, DSO_FILE },
		{ "/dev/shm/doublemapper", 1, DSO_ANON, DSO_FILE },
		{ "/dev/shm/libx.so", 2, DSO_FILE, DSO_FILE },
		{ "/tmp/ffiAbCdEf (deleted)", 1, DSO_ANON, DSO_FILE },
		{ "/usr/lib/replaced.so (deleted)", 2, DSO_FILE, DSO_FILE },
		{ "/tmp/deleted", 1, DSO_FILE, DSO_FILE },
		{ "[vdso]", 2, DSO_VDSO, DSO_VDSO },
		{ "[vdso32]", 2, DSO_VDSO, DSO_VDSO },
		{ "[vsyscall]", 2, DSO_OTHER, DSO_OTHER },
		{ "[uprobes]", 2, DSO_OTHER, DSO_OTHER },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (map_kind_user(cases[i].path, true, cases[i].flags) != cases[i].code ||
		    map_kind_user(cases[i].path, false, cases[i].flags) != cases[i].data)
			fail_msg("%s", cases[i].path);
	}
}

static void test_kernel_kinds(void **state)
{
	static const struct {
		const char *path;
		bool guest;
		enum dso_kind kind;
		size_t bytes;
	} cases[] = {
		{ "[kernel.kallsyms]_text", false, DSO_KERNEL, 17 },
		{ "[kernel.kallsyms]", false, DSO_KERNEL, 17 },
		{ "[guest.kernel.kallsyms.7]_stext", true, DSO_GUEST_KERNEL, 25 },
		{ "[ext4]", false, DSO_MODULE, 6 },
		{ "/lib/modules/6.1/x.ko", false, DSO_MODULE, 21 },
		{ "[kernel.broken", false, DSO_MODULE, 14 },
		{ "[kvm]", true, DSO_GUEST_MODULE, 5 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t bytes;

		assert_int_equal(map_kind_kernel(cases[i].path, cases[i].guest, &bytes),
				 cases[i].kind);
		assert_int_equal(bytes, cases[i].bytes);
	}
}

static void test_people_names(void **state)
{
	static const struct {
		enum dso_kind kind;
		const char *path, *name;
	} cases[] = {
		{ DSO_FILE, "/usr/bin/x", "x" },
		{ DSO_FILE, "/a/b (deleted)", "b (deleted)" },
		{ DSO_FILE, "/ends/in/", "/ends/in/" },
		{ DSO_FILE, "", "" },
		{ DSO_FILE, "/x/a\x1b[31mb\n", "a\\x1b[31mb\\x0a" },
		{ DSO_MODULE, "/lib/modules/6/snd-hda-intel.ko.xz", "[snd_hda_intel]" },
		{ DSO_MODULE, "[ext4]", "[ext4]" },
		{ DSO_MODULE, "odd", "odd" },
		{ DSO_ANON, "//anon", "[JIT] tid 12" },
		{ DSO_VDSO, "[vdso]", "[vdso]" },
		{ DSO_BPF, "bpf_prog_1/2", "bpf_prog_1/2" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *name = dso_name_new(cases[i].kind, cases[i].path, 12);

		assert_string_equal(name, cases[i].name);
		free(name);
	}
}

static void test_jitted(void **state)
{
	(void)state;
	assert_int_equal(jitted_pid("/tmp/.debug/jit/jitted-123-5.so"), 123);
	assert_int_equal(jitted_pid("jitted-0-0.so"), 0);
	assert_int_equal(jitted_pid("/tmp/jitted--5.so"), -1);
	assert_int_equal(jitted_pid("/tmp/jitted-12.so"), -1);
	assert_int_equal(jitted_pid("/tmp/jitted-12-5"), -1);
	assert_int_equal(jitted_pid("/tmp/jitted-99999999999999999999-5.so"), -1);
	assert_int_equal(jitted_pid("/usr/bin/x"), -1);
}

/* A recording: build-ids that are listed, then maps; and the dsos that come of it, as describe() has them. */
struct dso_case {
	const char *what;
	struct listed_row {
		const char *path;
		unsigned char id;
	} listed[5];
	struct map_row {
		const char *path;
		unsigned char id; /* of the map's own build-id; 0: it has none, but: */
		uint64_t inode, generation;
	} maps[10];
	const char *dsos;
};

static const struct dso_case dso_cases[] = {
	{ "the same file, as far as anybody knows; replaced; a link; all code without a file is one dso",
	  .maps = { { "/a", 0, 7, 0 }, { "/a", 0, 7, 0 }, { "/a", 0xa1, 0, 0 },
		    { "/a", 0xa1, 0, 0 }, { "/a", 0xa2, 0, 0 }, { "/a", 0xa1, 0, 0 },
		    { "/a", 0xa2, 0, 0 }, { "/b", 0xa1, 0, 0 }, { "//anon", 0, 7, 0 },
		    { "[heap]", 0, 7, 0 } },
	  .dsos = "a:a1 inode 7 several, a:a2 several, b:a1, [JIT] tid 42:00 inode 7 pid 42, " },
	{ "a path in several containers: whose the listed build-ids are is not known",
	  .listed = { { "/a", 0xa1 }, { "/a", 0xa1 }, { "/b", 0xb1 }, { "/b", 0xb2 } },
	  .maps = { { "/a", 0, 1, 0 }, { "/b", 0, 1, 0 }, { "/b", 0, 2, 0 }, { "/b", 0, 0, 0 },
		    { "/b", 0, 2, 0 }, { "/c", 0, 0, 0 }, { "/c", 0, 3, 0 }, { "/c", 0, 4, 0 },
		    { "//anon", 0, 5, 0 }, { "//anon", 0, 6, 0 } },
	  .dsos = "a:a1 inode 1, b:00 inode 1 several, b:00 inode 2 several, c:00 inode 3 several, "
		  "c:00 inode 4 several, [JIT] tid 42:00 inode 5 pid 42, " },
	{ "a path that became another file's: the listed build-id is nobody's",
	  .listed = { { "/a", 0xa1 } }, .maps = { { "/a", 0, 1, 0 }, { "/a", 0, 2, 0 } },
	  .dsos = "a:00 inode 1 several, a:00 inode 2 several, " },
	{ "an inode that is used again is told apart, in doubt", .listed = { { "/b", 0xb1 } },
	  .maps = { { "/b", 0, 5, 1 }, { "/b", 0, 5, 2 }, { "/b", 0, 5, 3 } },
	  .dsos = "b:00 inode 5.1 several doubt, b:00 inode 5.2 several doubt, b:00 inode 5.3 "
		  "several doubt, " },
	{ "/proc tells no generation: it is the file that is mapped again",
	  .listed = { { "/b", 0xb1 } },
	  .maps = { { "/b", 0, 5, 0 }, { "/b", 0, 5, 99 }, { "/b", 0, 5, 0 }, { "/b", 0, 5, 99 } },
	  .dsos = "b:b1 inode 5.99, " },
	{ "listed build-ids: what the map says is nearer to the truth",
	  .listed = { { "/a", 0xa1 },
		      { "/b", 0xb1 },
		      { "[kernel.kallsyms]", 0xc1 },
		      { "//anon", 0xd1 },
		      { "/never/mapped", 0xe1 } },
	  .maps = { { "/a", 0, 7, 0 }, { "/b", 0xb2, 0, 0 }, { "[kernel.kallsyms]_text", 0, 0, 0 },
		    { "//anon", 0, 7, 0 } },
	  .dsos = "[kernel.kallsyms]:c1, a:a1 inode 7, b:b2, [JIT] tid 42:00 inode 7 pid 42, " },
};

static void list_id(struct info *info, const struct listed_row *listed)
{
	struct info_build_id row = { .pid = -1, .misc = MISC_USER, .size = 20 };

	memset(row.bytes, listed->id, 20);
	row.path = xstrdup(listed->path);
	VEC_GROW(info->build_ids.v, info->build_ids.n, info->build_ids.cap);
	info->build_ids.v[info->build_ids.n++] = row;
	info_set(info, FEATURE_BUILD_ID);
}

static void add_map(struct made_recording *s, uint64_t time_ns, const struct map_row *row)
{
	struct record_body body = recording_map_body(time_ns, PID, 0x10000 * time_ns, 0x1000, 0, row->path);

	if (!strncmp(row->path, "[kernel", strlen("[kernel"))) {
		recording_kernel_map(s, 0xffffffff81000000, 0x1000, 0, row->path);
		return;
	}
	body.mmap.inode = row->inode;
	body.mmap.inode_generation = row->generation;
	if (row->id) {
		body.misc |= MISC_MMAP_BUILD_ID;
		body.mmap.build_id_size = 20;
		memset(body.mmap.build_id, row->id, 20);
	}
	recording_add(s, &body);
}

/* "NAME:BUILD-ID inode N.GENERATION several doubt pid N, " for each dso; without what it has not. */
static void describe(const struct replay *replay, struct str *out)
{
	for (size_t i = 0; i < replay->dsos.n; i++) {
		const struct dso *dso = replay->dsos.v[i];

		assert_int_equal(dso->index, i);
		str_addf(out, "%s:%02x", dso->name, dso->build_id.size ? dso->build_id.bytes[0] : 0);
		if (dso->inode)
			str_addf(out, " inode %u", (unsigned)dso->inode);
		if (dso->generation)
			str_addf(out, ".%u", (unsigned)dso->generation);
		str_addf(out, "%s%s", dso->several ? " several" : "", dso->in_doubt ? " doubt" : "");
		if (dso->pid != -1)
			str_addf(out, " pid %d", (int)dso->pid);
		str_add(out, ", ");
	}
}

/* Build-ids are listed in the header of a file, and at the end of a pipe. */
static void check_case(const struct dso_case *c, bool pipe_layout)
{
	const struct replay_options options = { 0 };
	struct str out = STR_INIT;
	struct made_recording s;

	recording_init(&s);
	for (size_t i = 0; i < ARRAY_SIZE(c->listed) && c->listed[i].path; i++)
		list_id(&s.info, &c->listed[i]);
	for (size_t i = 0; i < ARRAY_SIZE(c->maps) && c->maps[i].path; i++)
		add_map(&s, i + 1, &c->maps[i]);
	if (pipe_layout)
		recording_run_pipe(&s, options);
	else
		recording_run(&s, options);
	assert_string_equal(s.err.s, "");
	describe(&s.replay, &out);
	if (strcmp(out.s, c->dsos) != 0)
		fail_msg("%s (%s): %s", c->what, pipe_layout ? "pipe" : "file", out.s);
	str_release(&out);
	recording_release(&s);
}

static void test_dsos(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(dso_cases); i++) {
		check_case(&dso_cases[i], false);
		check_case(&dso_cases[i], true);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_user_kinds),   cmocka_unit_test(test_kernel_kinds),
		cmocka_unit_test(test_people_names), cmocka_unit_test(test_jitted),
		cmocka_unit_test(test_dsos),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
