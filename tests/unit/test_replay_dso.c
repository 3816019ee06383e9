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

static void add_with_id(struct made_recording *s, uint64_t time_ns, const char *path, unsigned char id)
{
	struct record_body body = recording_map_body(time_ns, PID, 0x10000 * time_ns, 0x1000, 0, path);

	if (id) {
		body.misc |= MISC_MMAP_BUILD_ID;
		body.mmap.build_id_size = 20;
		memset(body.mmap.build_id, id, 20);
	}
	recording_add(s, &body);
}

/* PATH:BUILD-ID for each dso. */
static void list(const struct replay *replay, struct str *out)
{
	for (size_t i = 0; i < replay->dsos.n; i++) {
		assert_int_equal(replay->dsos.v[i]->index, i);
		str_addf(out, "%s:%02x ", replay->dsos.v[i]->name,
			 replay->dsos.v[i]->build_id.size ? replay->dsos.v[i]->build_id.bytes[0] : 0);
	}
}

static void test_same_file(void **state)
{
	const struct replay_options options = { 0 };
	struct str out = STR_INIT;
	struct made_recording s;

	(void)state;
	recording_init(&s);
	add_with_id(&s, 1, "/a", 0);
	add_with_id(&s, 2, "/a", 0);
	add_with_id(&s, 3, "/a", 0xa1); /* the same one, as far as anybody knows */
	add_with_id(&s, 4, "/a", 0xa1);
	add_with_id(&s, 5, "/a", 0xa2); /* replaced */
	add_with_id(&s, 6, "/a", 0xa1);
	add_with_id(&s, 7, "/a", 0xa2);
	add_with_id(&s, 8, "/b", 0xa1); /* a link */
	add_with_id(&s, 9, "//anon", 0);
	add_with_id(&s, 10, "[heap]", 0); /* all code without a file is one dso */
	recording_run(&s, options);
	list(&s.replay, &out);
	assert_string_equal(out.s, "a:a1 a:a2 b:a1 [JIT] tid 42:00 ");
	assert_int_equal(s.replay.dsos.v[3]->pid, PID);
	assert_int_equal(s.replay.dsos.v[0]->pid, -1);
	assert_int_equal(s.replay.dsos.v[0]->inode, 7);
	str_release(&out);
	recording_release(&s);
}

static void list_id(struct info *info, const char *path, unsigned char id)
{
	struct info_build_id row = { .pid = -1, .misc = MISC_USER, .size = 20 };

	memset(row.bytes, id, 20);
	row.path = xstrdup(path);
	VEC_GROW(info->build_ids.v, info->build_ids.n, info->build_ids.cap);
	info->build_ids.v[info->build_ids.n++] = row;
	info_set(info, FEATURE_BUILD_ID);
}

static void add_with_inode(struct made_recording *s, uint64_t time_ns, const char *path, uint64_t inode)
{
	struct record_body body = recording_map_body(time_ns, PID, 0x10000 * time_ns, 0x1000, 0, path);

	body.mmap.inode = inode;
	recording_add(s, &body);
}

/* One path in several containers: files of their own. Which of the listed build-ids is whose is not known. */
static void test_several_files_of_a_path(void **state)
{
	const struct replay_options options = { 0 };

	(void)state;
	for (unsigned pipe_layout = 0; pipe_layout < 2; pipe_layout++) {
		struct str out = STR_INIT;
		struct made_recording s;

		recording_init(&s);
		list_id(&s.info, "/a", 0xa1);
		list_id(&s.info, "/a", 0xa1);
		list_id(&s.info, "/b", 0xb1);
		list_id(&s.info, "/b", 0xb2);
		add_with_inode(&s, 1, "/a", 1);
		add_with_inode(&s, 2, "/b", 1);
		add_with_inode(&s, 3, "/b", 2);
		add_with_inode(&s, 4, "/b", 0); /* not known: the first */
		add_with_inode(&s, 5, "/b", 2);
		add_with_inode(&s, 6, "/c", 0);
		add_with_inode(&s, 7, "/c", 3);
		add_with_inode(&s, 8, "/c", 4);
		add_with_inode(&s, 9, "//anon", 5); /* all code without a file is one dso */
		add_with_inode(&s, 10, "//anon", 6);
		if (pipe_layout)
			recording_run_pipe(&s, options);
		else
			recording_run(&s, options);
		assert_string_equal(s.err.s, "");
		list(&s.replay, &out);
		assert_string_equal(out.s, "a:a1 b:00 b:00 c:00 c:00 [JIT] tid 42:00 ");
		assert_int_equal(s.replay.dsos.v[2]->inode, 2);
		str_release(&out);
		recording_release(&s);
	}
}

/* A path that became another file's: the listed build-id is nobody's. Inodes used again are told apart, in doubt. */
static void test_replaced(void **state)
{
	const struct replay_options options = { 0 };

	(void)state;
	for (unsigned pipe_layout = 0; pipe_layout < 2; pipe_layout++) {
		struct str out = STR_INIT;
		struct made_recording s;

		recording_init(&s);
		list_id(&s.info, "/a", 0xa1);
		list_id(&s.info, "/b", 0xb1);
		add_with_inode(&s, 1, "/a", 1);
		add_with_inode(&s, 2, "/a", 2);
		for (uint64_t generation = 1; generation < 4; generation++) {
			struct record_body body = recording_map_body(3 + generation, PID, 0x900000, 0x1000, 0, "/b");

			body.mmap.inode = 5;
			body.mmap.inode_generation = generation;
			recording_add(&s, &body);
		}
		if (pipe_layout)
			recording_run_pipe(&s, options);
		else
			recording_run(&s, options);
		list(&s.replay, &out);
		assert_string_equal(out.s, "a:00 a:00 b:00 b:00 b:00 ");
		for (size_t i = 0; i < s.replay.dsos.n; i++) {
			assert_true(s.replay.dsos.v[i]->several);
			assert_int_equal(s.replay.dsos.v[i]->in_doubt, s.replay.dsos.v[i]->path[1] == 'b');
		}
		str_release(&out);
		recording_release(&s);
	}
}

/* What ran before the recording comes from /proc, where no generation stands: it is the file that is mapped again. */
static void test_generation_not_known(void **state)
{
	const struct replay_options options = { 0 };
	struct made_recording s;
	struct str out = STR_INIT;

	(void)state;
	recording_init(&s);
	list_id(&s.info, "/b", 0xb1);
	for (uint64_t i = 0; i < 4; i++) {
		struct record_body body = recording_map_body(1 + i, PID, 0x10000 * i, 0x1000, 0, "/b");

		body.mmap.inode = 5;
		body.mmap.inode_generation = i % 2 ? 99 : 0;
		recording_add(&s, &body);
	}
	recording_run(&s, options);
	list(&s.replay, &out);
	assert_string_equal(out.s, "b:b1 ");
	assert_int_equal(s.replay.dsos.v[0]->generation, 99);
	assert_false(s.replay.dsos.v[0]->several);
	str_release(&out);
	recording_release(&s);
}

/* From the header of a file, and from the end of a pipe. */
static void test_listed_build_ids(void **state)
{
	const struct replay_options options = { 0 };

	(void)state;
	for (unsigned pipe_layout = 0; pipe_layout < 2; pipe_layout++) {
		struct str out = STR_INIT;
		struct made_recording s;

		recording_init(&s);
		list_id(&s.info, "/a", 0xa1);
		list_id(&s.info, "/b", 0xb1);
		list_id(&s.info, "[kernel.kallsyms]", 0xc1);
		list_id(&s.info, "//anon", 0xd1);
		list_id(&s.info, "/never/mapped", 0xe1);
		add_with_id(&s, 1, "/a", 0);
		add_with_id(&s, 2, "/b", 0xb2); /* what the map says is nearer to the truth */
		recording_kernel_map(&s, 0xffffffff81000000, 0x1000, 0, "[kernel.kallsyms]_text");
		add_with_id(&s, 3, "//anon", 0);
		if (pipe_layout)
			recording_run_pipe(&s, options);
		else
			recording_run(&s, options);
		assert_string_equal(s.err.s, "");
		list(&s.replay, &out);
		assert_string_equal(out.s, "[kernel.kallsyms]:c1 a:a1 b:b2 [JIT] tid 42:00 ");
		str_release(&out);
		recording_release(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_user_kinds),   cmocka_unit_test(test_kernel_kinds),
		cmocka_unit_test(test_people_names), cmocka_unit_test(test_jitted),
		cmocka_unit_test(test_same_file),    cmocka_unit_test(test_several_files_of_a_path),
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_generation_not_known),
		cmocka_unit_test(test_listed_build_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
