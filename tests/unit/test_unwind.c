/* SPDX-License-Identifier: MIT */
/*
 * Chains of the test program itself: each function of a nest notes its return address, the innermost takes
 * registers and a copy of the stack, and all unwinders must find exactly what was noted.
 */
#include "unwind_fixture.h"

#include <signal.h>

#if defined(__x86_64__)
#define NATIVE "x86_64"
#elif defined(__riscv)
#define NATIVE "riscv64"
#else
#define NATIVE "aarch64"
#endif

enum { DEPTH = 20, MANY = 200 };

static struct own own;
static const struct unwind_options own_options = { .file_of = own_file, .file_context = &own };
/* The nest, innermost first. */
static uint64_t returns[MANY + 1];
static volatile int keep;

__attribute__((noinline)) static void innermost(void)
{
	ucontext_t context;

	returns[0] = (uint64_t)(uintptr_t)__builtin_return_address(0);
	assert_int_equal(getcontext(&context), 0);
	own_take(&own, &context);
	keep++;
}

/* A frame of a size that is known only when it runs: its CFA hangs on the frame pointer. */
__attribute__((noinline)) static void nest(int depth)
{
	uint8_t *room = __builtin_alloca((size_t)(depth % 8) * 16 + 16);

	returns[depth] = (uint64_t)(uintptr_t)__builtin_return_address(0);
	room[0] = (uint8_t)depth;
	if (depth > 1)
		nest(depth - 1);
	else
		innermost();
	keep += room[0];
}

static int set_up(void **state)
{
	own_init(&own);
	nest(DEPTH);
	*state = NULL;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	own_release(&own);
	return 0;
}

/* The unwinder alone, without a second one behind it. */
static bool open_only(struct unwind *unwind, const struct unwinder *unwinder)
{
	struct str err = STR_INIT;

	*unwind = (struct unwind){ .unwinder = unwinder,
				   .arch = NATIVE,
				   .file_of = own_file,
				   .file_context = &own,
				   .second_tried = true };
	if (!unwinder->handles(NATIVE))
		return false;
	assert_int_equal(unwinder->open(unwind, &err), 0);
	str_release(&err);
	return true;
}

static const struct unwinder *const all[] = { &unwind_rows, &unwind_libunwind, &unwind_libdw };

/* Unwinds with each; checks the number of frames of the nest (-1: all and more) and the end. */
static void expect(const struct unwind_input *input, int frames, enum unwind_end end)
{
	for (size_t u = 0; u < ARRAY_SIZE(all); u++) {
		uint64_t ips[UNWIND_FRAMES_MAX];
		struct unwind unwind;
		size_t n;

		if (!open_only(&unwind, all[u]))
			continue;
		n = unwind_frames(&unwind, input, ips, UNWIND_FRAMES_MAX);
		assert_int_equal(unwind.counts.samples, 1);
		assert_int_equal(unwind.counts.ends[end], 1);
		if (frames >= 0)
			assert_int_equal(n, frames);
		else
			assert_true(n > DEPTH + 1);
		assert_int_equal(unwind.exact[0], n ? 1 : 0);
		for (size_t i = 1; i < n && i <= DEPTH; i++)
			assert_int_equal(ips[i], returns[i - 1]);
		unwind_close(&unwind);
	}
}

static void test_own_chain(void **state)
{
	(void)state;
	expect(&own.input, -1, UNWIND_COMPLETE);
}

static void test_stack_that_was_cut(void **state)
{
	struct unwind_input input = own.input;

	(void)state;
	input.stack_bytes = 0;
	expect(&input, 1, UNWIND_NO_COPY);
	input.stack_bytes = 8;
	expect(&input, 1, UNWIND_TRUNCATED);
	input.stack = NULL;
	input.stack_bytes = UINT64_MAX;
	expect(&input, 1, UNWIND_NO_COPY);
}

/* The code is not known; the frame pointer is, or not. */
static void test_nothing_known_of_the_code(void **state)
{
	uint64_t ip = own.regs[OWN_PC];

	(void)state;
	own.regs[OWN_FP] = 0;
	own.no_files = true;
	expect(&own.input, 1, UNWIND_NO_FILE);
	own.no_files = false;
	own_map(&own, DSO_ANON, "//anon", ip & ~4095ULL, (ip & ~4095ULL) + 4096, 0);
	expect(&own.input, 1, UNWIND_MADE);
	address_space_cut(&own.address_space, ip & ~4095ULL, (ip & ~4095ULL) + 4096, &own.clock);
	expect(&own.input, 1, UNWIND_BROKEN);
}

/* A chain of frame pointers as code without tables keeps it: followed, and counted as a guess. */
static void test_frame_pointers_of_code_without_tables(void **state)
{
	uint64_t *words = (uint64_t *)(void *)own.stack, sp = own.regs[OWN_SP], fp_of = sp + OWN_PAIR_BELOW, ips[8];
	uint64_t code = own.regs[OWN_PC] & ~4095ULL;
	struct unwind_input input = own.input;
	struct unwind unwind;

	(void)state;
	own_map(&own, DSO_ANON, "//anon", code, code + 4096, 0);
	own.regs[OWN_FP] = fp_of + 16;
	words[2] = fp_of + 48;
	words[3] = code + 100;
	words[6] = 0;
	words[7] = code + 200;
	assert_true(open_only(&unwind, &unwind_rows));
	assert_int_equal(unwind_frames(&unwind, &input, ips, 8), 3);
	assert_int_equal(ips[1], code + 100);
	assert_int_equal(ips[2], code + 200);
	assert_int_equal(unwind.end, UNWIND_COMPLETE);
	assert_true(unwind.guessed);
	assert_int_equal(unwind.counts.guessed, 1);
	/* The end of the chain, as code at a process's begin makes it. */
	words[7] = 0;
	assert_int_equal(unwind_frames(&unwind, &input, ips, 8), 2);
	assert_int_equal(unwind.counts.ends[UNWIND_COMPLETE], 2);
	/* It goes on where nothing was copied any more. */
	words[6] = fp_of + own.input.stack_bytes + 64;
	words[7] = code + 200;
	assert_int_equal(unwind_frames(&unwind, &input, ips, 8), 3);
	assert_int_equal(unwind.end, UNWIND_TRUNCATED);
	assert_true(unwind.guessed);
	words[6] = words[7] = 0;
	/* Down, to itself, not aligned, over the copy's end, and to what is not mapped. */
	words[2] = fp_of;
	assert_int_equal(unwind_frames(&unwind, &input, ips, 8), 2);
	words[2] = fp_of + 16;
	assert_int_equal(unwind_frames(&unwind, &input, ips, 8), 2);
	words[2] = fp_of + 49;
	assert_int_equal(unwind_frames(&unwind, &input, ips, 8), 2);
	words[2] = fp_of + 48;
	input.stack_bytes = 63;
	assert_int_equal(unwind_frames(&unwind, &input, ips, 8), 2);
	words[3] = 8;
	assert_int_equal(unwind_frames(&unwind, &input, ips, 8), 1);
	unwind_close(&unwind);
}

static void test_choice_by_name(void **state)
{
	struct unwind_options options = own_options;
	struct str err = STR_INIT;
	struct unwind unwind;

	(void)state;
	for (size_t u = 0; u < ARRAY_SIZE(all); u++) {
		assert_true(unwind_known(all[u]->name));
		options.unwinder = all[u]->name;
		if (!all[u]->handles(NATIVE))
			continue;
		assert_int_equal(unwind_open(&unwind, NATIVE, &options, &err), 0);
		assert_ptr_equal(unwind.unwinder, all[u]);
		unwind_close(&unwind);
	}
	assert_false(unwind_known("libunwin"));
	/* libunwind is for this machine's architecture at most. */
	options.unwinder = "libunwind";
	assert_int_equal(unwind_open(&unwind, strcmp(NATIVE, "aarch64") ? "aarch64" : "x86_64", &options, &err),
			 -ENOSYS);
	assert_non_null(strstr(err.s, "libunwind"));
	unwind_close(&unwind);
	str_release(&err);
}

static void test_registers_that_lead_nowhere(void **state)
{
	static const uint64_t values[] = { 0,          1,          4096,
					   1ULL << 47, 1ULL << 63, UINT64_MAX - 7,
					   UINT64_MAX };
	struct unwind_input input = own.input;
	uint64_t regs[OWN_REGS_MAX];

	(void)state;
	input.regs = regs;
	for (size_t i = 0; i < ARRAY_SIZE(values) * input.n_regs; i++) {
		memcpy(regs, own.regs, sizeof(regs));
		regs[i % input.n_regs] = values[i / input.n_regs];
		for (size_t u = 0; u < ARRAY_SIZE(all); u++) {
			uint64_t ips[UNWIND_FRAMES_MAX];
			struct unwind unwind;

			if (!open_only(&unwind, all[u]))
				continue;
			assert_in_range(unwind_frames(&unwind, &input, ips,
						      UNWIND_FRAMES_MAX),
					1, UNWIND_FRAMES_MAX);
			unwind_close(&unwind);
		}
	}
}

static void test_inputs_without_64_bit_registers(void **state)
{
	struct unwind_input input = own.input;
	uint64_t ips[UNWIND_FRAMES_MAX];
	struct unwind unwind;
	struct str err = STR_INIT;

	(void)state;
	assert_int_equal(unwind_open(&unwind, NATIVE, &own_options, &err), 0);
	input.abi = 0;
	assert_int_equal(unwind_frames(&unwind, &input, ips, 8), 0);
	input.abi = 2;
	input.regs = NULL;
	assert_int_equal(unwind_frames(&unwind, &input, ips, 8), 0);
	assert_int_equal(unwind.counts.samples, 0);
	input.regs = own.input.regs;
	input.abi = 1;
	assert_int_equal(unwind_frames(&unwind, &input, ips, 8), 0);
	input.abi = 2;
	input.n_regs = 1; /* not both ip and sp */
	assert_int_equal(unwind_frames(&unwind, &input, ips, 8), 0);
	assert_int_equal(unwind.counts.ends[UNWIND_NOT_64], 1);
	assert_int_equal(unwind.counts.ends[UNWIND_NO_INFO], 1);
	unwind_close(&unwind);
	str_release(&err);
}

/* As many as are asked for, also more than perf's 127; the room is just enough. */
static void test_many_frames(void **state)
{
	(void)state;
	own_release(&own);
	own_init(&own);
	nest(MANY);
	for (size_t u = 0; u < ARRAY_SIZE(all); u++) {
		uint64_t ips[MANY + 1];
		struct unwind unwind;

		if (!open_only(&unwind, all[u]))
			continue;
		assert_int_equal(unwind_frames(&unwind, &own.input, ips, MANY + 1), MANY + 1);
		for (size_t i = 1; i <= MANY; i++)
			assert_int_equal(ips[i], returns[i - 1]);
		assert_int_equal(unwind.exact[0], 1);
		for (size_t i = 1; i <= MANY / 64; i++)
			assert_int_equal(unwind.exact[i], 0);
		unwind_close(&unwind);
	}
}

static void test_limit(void **state)
{
	uint64_t ips[8] = { 0 };
	struct unwind unwind;
	struct str err = STR_INIT;

	(void)state;
	assert_int_equal(unwind_open(&unwind, NATIVE, &own_options, &err), 0);
	assert_int_equal(unwind_frames(&unwind, &own.input, ips, 5), 5);
	assert_int_equal(ips[4], returns[3]);
	assert_int_equal(ips[5], 0);
	assert_int_equal(unwind.counts.ends[UNWIND_LIMIT], 1);
	unwind_close(&unwind);
	str_release(&err);
}

/* Another process has other code at the same addresses: nothing remembered may be used. */
static void test_maps_that_change(void **state)
{
	(void)state;
	for (size_t u = 0; u < ARRAY_SIZE(all); u++) {
		uint64_t ips[UNWIND_FRAMES_MAX];
		struct unwind unwind;
		struct address_space nothing = { .version = UINT64_MAX };
		struct unwind_input other = own.input;
		size_t n;

		if (!open_only(&unwind, all[u]))
			continue;
		other.address_space = &nothing;
		n = unwind_frames(&unwind, &own.input, ips, UNWIND_FRAMES_MAX);
		assert_true(n > DEPTH);
		assert_int_equal(
			unwind_frames(&unwind, &other, ips, UNWIND_FRAMES_MAX), 1);
		other.address_space = NULL;
		assert_int_equal(
			unwind_frames(&unwind, &other, ips, UNWIND_FRAMES_MAX), 1);
		assert_int_equal(unwind_frames(&unwind, &own.input, ips,
					       UNWIND_FRAMES_MAX),
				 n);
		unwind_close(&unwind);
	}
}

static volatile uint64_t interrupted;

static void on_signal(int number, siginfo_t *info, void *context)
{
	const ucontext_t *from = context;

	(void)number;
	(void)info;
#if defined(__x86_64__)
	interrupted = (uint64_t)from->uc_mcontext.gregs[REG_RIP];
#elif defined(__riscv)
	interrupted = from->uc_mcontext.__gregs[0];
#else
	interrupted = from->uc_mcontext.pc;
#endif
	nest(3);
	keep++;
}

static void test_signal_handler(void **state)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO }, old;

	(void)state;
	assert_int_equal(sigaction(SIGUSR1, &action, &old), 0);
	assert_int_equal(raise(SIGUSR1), 0);
	sigaction(SIGUSR1, &old, NULL);
#if !defined(__x86_64__)
	printf("# skip: the code that handlers return to is in [vdso], which has no file here\n");
	skip();
#endif
	for (size_t u = 0; u < ARRAY_SIZE(all); u++) {
		static uint64_t ips[UNWIND_FRAMES_MAX];
		struct unwind unwind;
		size_t n, at = 0;

		if (!open_only(&unwind, all[u]))
			continue;
		n = unwind_frames(&unwind, &own.input, ips, UNWIND_FRAMES_MAX);
		assert_int_equal(unwind.counts.ends[UNWIND_COMPLETE], 1);
		while (at < n && ips[at] != interrupted)
			at++;
		/* innermost, 3 of the nest, the handler, the trampoline, what it interrupted */
		assert_int_equal(at, 6);
		assert_int_equal(unwind.exact[0], 1 << 0 | 1 << 5 | 1 << 6);
		unwind_close(&unwind);
	}
}

static void test_unknown_architecture(void **state)
{
	struct unwind unwind;
	struct str err = STR_INIT;
	uint64_t ip;

	(void)state;
	assert_int_equal(unwind_open(&unwind, "vax\33[2J", &own_options, &err), -ENOSYS);
	assert_non_null(strstr(err.s, "'vax\\x1b[2J'"));
	assert_int_equal(unwind_frames(&unwind, &own.input, &ip, 1), 0);
	unwind_close(&unwind);
	str_reset(&err);
	assert_int_equal(unwind_open(&unwind, NULL, &own_options, &err), -ENOSYS);
	unwind_close(&unwind);
	str_release(&err);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_own_chain),
		CASE(test_stack_that_was_cut),
		CASE(test_nothing_known_of_the_code),
		CASE(test_frame_pointers_of_code_without_tables),
		CASE(test_choice_by_name),
		CASE(test_registers_that_lead_nowhere),
		CASE(test_inputs_without_64_bit_registers),
		CASE(test_many_frames),
		CASE(test_limit),
		CASE(test_maps_that_change),
		CASE(test_signal_handler),
		CASE(test_unknown_architecture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
