/* SPDX-License-Identifier: MIT */
/*
 * Callchains that end too early: which outermost addresses count as the start of a program, and which chains count at
 * all. Files are made_fixture.h's, without names, and the test program itself, with them.
 */
#include "made_fixture.h"
#include "session_fixture.h"

#include "profile/session_internal.h"

#define USER PERF_CONTEXT_USER
#define KERNEL PERF_CONTEXT_KERNEL
#define KERNEL_IP 0xffffffff81000100ULL
#define IN_LEAF (LOADED + LEAF + 4ULL)
#define IN_MIDDLE (LOADED + MIDDLE + 12ULL)
#define IN_START (LOADED + START + 8ULL)
#define NOWHERE 0x1234ULL

enum { LONG_CHAIN = 127 }; /* the kernel's limit */

struct starts {
	struct made_recording recording;
	struct fix_session f;
	char path[300];
};

/* The file at a path of this name, whose process begins at `start`; code: what stands at IN_MIDDLE, or NULL. */
static void write_file(struct starts *s, const char *name, const char *code, size_t n)
{
	const char *tmp = getenv("TMPDIR");
	const uint64_t entry = VADDR + START;
	uint8_t file[FILE_BYTES];
	int fd;

	make_file(&machines[0], file);
	put(file, offsetof(Elf64_Ehdr, e_entry), &entry, sizeof(entry));
	if (code)
		put(file, (size_t)(IN_MIDDLE - LOADED), code, n);
	snprintf(s->path, sizeof(s->path), "%s/%s-XXXXXX", tmp && *tmp ? tmp : "/tmp", name);
	fd = mkstemp(s->path);
	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, file, sizeof(file)), 0);
	close(fd);
}

/* exec: what the process maps is known from its beginning on. */
static void begin(struct starts *s, const char *path, uint64_t bytes, bool exec)
{
	const uint64_t id = 101;
	struct perf_event_attr attr;

	recording_init(&s->recording);
	attr = s->recording.events.v[0]->attr;
	attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	attr.inherit = attr.mmap = 1;
	events_release(&s->recording.events);
	events_init(&s->recording.events);
	events_add(&s->recording.events, &attr, sizeof(attr), &id, 1)->name = xstrdup("cycles");
	s->recording.info.arch = xstrdup("x86_64");
	info_set(&s->recording.info, FEATURE_ARCH);
	recording_comm(&s->recording, 1, PID, PID, exec, "prog");
	recording_map(&s->recording, 2, PID, LOADED, bytes, 0, path);
}

static void begin_file(struct starts *s, const char *name, const char *code, size_t n)
{
	write_file(s, name, code, n);
	begin(s, s->path, 0x1000, true);
}

static void add(struct starts *s, const uint64_t *ips, size_t n)
{
	static uint64_t time_ns = 10;

	recording_chain(&s->recording, time_ns++, PID, PID, MISC_USER, ips, n);
}

static int take(void *context, struct replay *replay, const struct replay_sample *sample, struct str *err)
{
	(void)replay, (void)err;
	session_stack(context, sample);
	return 0;
}

static int take_frames(void *context, struct replay *replay, const struct replay_sample *sample, struct str *err)
{
	struct chain chain;

	(void)replay, (void)err;
	session_chain(context, sample, &chain);
	return 0;
}

static struct chain_starts read_all(struct starts *s, const struct session_options *options, session_sample_fn *fn)
{
	session_open(&s->f, &s->recording, options);
	session_replay(&s->f, fn, &s->f.session);
	return s->f.session.private->starts;
}

static void finish(struct starts *s)
{
	session_close(&s->f, &s->recording);
	if (*s->path)
		unlink(s->path);
}

/* One chain that ends at this address of a file of this name. */
static void ends_at(const char *name, uint64_t ip, const char *code, size_t n, uint64_t counted, uint64_t n_short)
{
	const uint64_t ips[] = { USER, IN_LEAF, ip };
	const struct session_options options = { .max_stack = 0 };
	struct starts s = { .path = "" };
	struct chain_starts sum;

	begin_file(&s, name, code, n);
	add(&s, ips, ARRAY_SIZE(ips));
	sum = read_all(&s, &options, take);
	assert_int_equal(sum.n, counted);
	assert_int_equal(sum.n_short, n_short);
	finish(&s);
}

static void files_without_names(void **state)
{
	static const char exits[] = "\x89\xc7\xe8\x10", moves[] = "\x89\xc6\xe8\x10";
	(void)state;
	ends_at("prog", IN_START, NULL, 0, 1, 0);
	ends_at("prog", IN_MIDDLE, NULL, 0, 1, 1);
	/* The C library has functions that call main, and others. */
	ends_at("libc.so.6", IN_MIDDLE, NULL, 0, 0, 0);
	ends_at("ld-musl-x86_64.so.1", IN_MIDDLE, NULL, 0, 0, 0);
	/* What main returned goes to exit. */
	ends_at("prog", IN_MIDDLE, exits, sizeof(exits) - 1, 1, 0);
	ends_at("prog", IN_MIDDLE, moves, sizeof(moves) - 1, 1, 1);
}

/* One has a name of the C library's that begins threads. */
static __attribute__((noinline, used)) void start_c11(void)
{
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline, used)) void start_c111(void)
{
	__asm__ volatile("" ::: "memory");
}

static void files_with_names(void **state)
{
	static const struct {
		const char *function;
		uint64_t n_short;
	} rows[] = { { "_start", 0 }, { "main", 1 }, { "start_c11", 0 }, { "start_c111", 1 } };
	const struct session_options options = { .max_stack = 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct starts s = { .path = "" };
		struct elf_function function;
		struct near_name near;
		struct str err = STR_INIT;
		struct chain_starts sum;
		char path[4096];
		ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
		uint64_t ips[2] = { USER, 0 };

		assert_true(len > 0);
		path[len] = '\0';
		near_init(&near, rows[i].function, strlen(rows[i].function));
		if (elf_find_function(path, rows[i].function, &function, &near, &err))
			fail_msg("%s", err.s);
		str_release(&err);
		begin(&s, path, 64 << 20, true);
		ips[1] = LOADED + function.offset;
		add(&s, ips, 2);
		sum = read_all(&s, &options, take);
		assert_int_equal(sum.n, 1);
		assert_int_equal(sum.n_short, rows[i].n_short);
		finish(&s);
	}
}

static void files_that_are_gone(void **state)
{
	const uint64_t ips[] = { USER, IN_LEAF, IN_MIDDLE };
	const struct session_options options = { .max_stack = 0 };
	struct starts s = { .path = "" };
	struct chain_starts sum;

	(void)state;
	begin(&s, "/nowhere/prog", 0x1000, true);
	add(&s, ips, ARRAY_SIZE(ips));
	sum = read_all(&s, &options, take);
	assert_int_equal(sum.n, 0);
	finish(&s);
}

/* A chain that goes to where no code is ends before, and may have reached the start there. */
static void chains_that_stray(void **state)
{
	static const uint64_t from_start[] = { USER, IN_LEAF, IN_START, NOWHERE };
	static const uint64_t from_middle[] = { USER, IN_LEAF, IN_MIDDLE, NOWHERE, IN_START };
	const struct session_options as_read = { .max_stack = 0 }, as_recorded = { .as_recorded = true };
	session_sample_fn *const fns[] = { take, take_frames };
	struct chain_starts sum;

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		struct starts s = { .path = "" };
		bool whole = i & 1;

		write_file(&s, "prog", NULL, 0);
		begin(&s, s.path, 0x1000, whole);
		add(&s, from_start, ARRAY_SIZE(from_start));
		add(&s, from_middle, ARRAY_SIZE(from_middle));
		add(&s, from_middle, ARRAY_SIZE(from_middle)); /* what is remembered counts, too */
		sum = read_all(&s, i & 2 ? &as_recorded : &as_read, fns[i / 4]);
		/* Where maps may be missing, code may be there. */
		assert_int_equal(sum.n, whole ? 3 : 0);
		assert_int_equal(sum.n_short, whole ? 2 : 0);
		finish(&s);
	}
}

/* A C library without frame pointers may have the address of code where a caller's would be. */
static void chains_that_pass_the_start(void **state)
{
	static const uint64_t one[] = { USER, IN_LEAF, IN_START, IN_MIDDLE };
	static const uint64_t three[] = { USER, IN_START, IN_MIDDLE, IN_MIDDLE, IN_MIDDLE };
	const struct session_options options = { .max_stack = 0 };
	struct starts s = { .path = "" };
	struct chain_starts sum;

	(void)state;
	begin_file(&s, "prog", NULL, 0);
	add(&s, one, ARRAY_SIZE(one));
	add(&s, three, ARRAY_SIZE(three));
	sum = read_all(&s, &options, take);
	assert_int_equal(sum.n, 2);
	assert_int_equal(sum.n_short, 1);
	finish(&s);
}

static void chains_that_do_not_count(void **state)
{
	static const uint64_t kernel[] = { KERNEL, KERNEL_IP, KERNEL_IP + 8 };
	static const uint64_t both[] = { KERNEL, KERNEL_IP, USER, IN_LEAF, IN_MIDDLE };
	const struct session_options whole = { .max_stack = 2 }, of_kernel = { .part = STACK_KERNEL };
	const struct session_options *const options[] = { &whole, &of_kernel };
	uint64_t ips[1 + LONG_CHAIN];

	(void)state;
	ips[0] = USER;
	for (size_t i = 1; i < ARRAY_SIZE(ips); i++)
		ips[i] = IN_MIDDLE;
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		struct starts s = { .path = "" };
		struct chain_starts sum;

		begin_file(&s, "prog", NULL, 0);
		add(&s, kernel, ARRAY_SIZE(kernel));
		add(&s, both, ARRAY_SIZE(both));
		add(&s, ips, ARRAY_SIZE(ips) - 1);
		add(&s, ips, ARRAY_SIZE(ips)); /* so many that the kernel may have stopped */
		sum = read_all(&s, options[i], take);
		assert_int_equal(sum.n, i ? 0 : 2);
		assert_int_equal(sum.n_short, i ? 0 : 2);
		finish(&s);
	}
}

/* The sentence, and what it says of locations that were forgotten meanwhile. */
static void the_note(void **state)
{
	static const char text[] =
		"60.0 % of 5 user callchains do not reach the start of their program or thread: built without frame "
		"pointers; record with --call-graph dwarf";
	static const uint64_t good[] = { USER, IN_LEAF, IN_START }, bad[] = { USER, IN_LEAF, IN_MIDDLE };
	const struct session_options options = { .max_stack = 0 };
	struct note_list few = { 0 };
	struct starts s = { .path = "" };

	(void)state;
	begin_file(&s, "prog", NULL, 0);
	for (size_t i = 0; i < 5; i++)
		add(&s, i < 3 ? bad : good, 3);
	read_all(&s, &options, take);
	session_forget_locations(&s.f.session);
	session_add_notes(&s.f.session);
	assert_string_equal(s.f.session.notes.v[0].text, text);
	assert_true(s.f.session.notes.v[0].verbose); /* of five */
	assert_null(s.f.session.notes.v[0].remedy);
	s.f.session.private->starts = (struct chain_starts){ 10000, 980 };
	chain_starts_note(&s.f.session, &few);
	assert_true(few.n == 1 && few.v[0].verbose);
	s.f.session.private->starts = (struct chain_starts){ 10000, 1000 };
	chain_starts_note(&s.f.session, &few);
	assert_true(few.n == 2 && !few.v[1].verbose);
	s.f.session.private->starts = (struct chain_starts){ 19, 19 };
	chain_starts_note(&s.f.session, &few);
	assert_true(few.n == 3 && few.v[2].verbose);
	s.f.session.private->starts = (struct chain_starts){ 20, 20 };
	chain_starts_note(&s.f.session, &few);
	assert_true(few.n == 4 && !few.v[3].verbose);
	/* 0.0 %, and nothing counted. */
	s.f.session.private->starts = (struct chain_starts){ 10000, 4 };
	chain_starts_note(&s.f.session, &few);
	s.f.session.private->starts = (struct chain_starts){ 0, 0 };
	chain_starts_note(&s.f.session, &few);
	assert_int_equal(few.n, 4);
	note_list_release(&few);
	finish(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_without_names),	    cmocka_unit_test(files_with_names),
		cmocka_unit_test(files_that_are_gone),	    cmocka_unit_test(chains_that_stray),
		cmocka_unit_test(chains_that_pass_the_start), cmocka_unit_test(chains_that_do_not_count),
		cmocka_unit_test(the_note),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
