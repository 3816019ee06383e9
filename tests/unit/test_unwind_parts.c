/* SPDX-License-Identifier: MIT */
/*
 * The parts of unwinding on inputs whose truth is known by construction: register numbers, expressions, and
 * the ELF file of made_fixture.h.
 */
#include "made_fixture.h"

#include "unwind/unwind_expr.h"
#include "unwind/unwind_image.h"

/* ---- registers ---- */

static void test_register_numbers(void **state)
{
	/* By bit of the kernel's masks: x86 AX BX CX DX SI DI BP SP IP ... R8 .., arm64 x0 .. lr sp pc. */
	static const struct {
		const char *arch;
		unsigned bit, number;
	} rows[] = {
		{ "x86_64", 0, 0 },    { "x86_64", 1, 3 },    { "x86_64", 2, 2 },
		{ "x86_64", 3, 1 },    { "x86_64", 4, 4 },    { "x86_64", 5, 5 },
		{ "x86_64", 6, 6 },    { "x86_64", 7, 7 },    { "x86_64", 8, 16 },
		{ "x86_64", 16, 8 },   { "x86_64", 23, 15 },  { "aarch64", 0, 0 },
		{ "aarch64", 29, 29 }, { "aarch64", 30, 30 }, { "aarch64", 31, 31 },
		{ "aarch64", 32, 32 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct unwind_arch *arch = unwind_arch_find(rows[i].arch);
		uint64_t values[64], value, number = rows[i].number;
		struct unwind_input input = { .abi = 2, .regs = values };
		struct unwind_regs regs;

		assert_non_null(arch);
		input.mask = 1ULL << rows[i].bit | 1ULL << (arch->n_regs == 17 ? 8 : 32) |
			       1ULL << (arch->n_regs == 17 ? 7 : 31);
		for (unsigned bit = 0; bit < 64; bit++)
			if (input.mask >> bit & 1)
				values[input.n_regs++] = 1000 + bit;
		assert_true(unwind_regs_take(arch, &input, &regs));
		assert_true(unwind_regs_get(&regs, number, &value));
		assert_int_equal(value, 1000 + rows[i].bit);
		/* What the record has fewer values of than its mask has bits is not there. */
		input.n_regs = 1;
		assert_false(unwind_regs_take(arch, &input, &regs));
	}
	assert_null(unwind_arch_find("x86"));
}

/* ---- expressions ---- */

static struct unwind_memory expr_memory(void)
{
	static const uint8_t stack[16] = { 1, 2, 3, 4, 5, 6, 7, 0x88, 9 };

	return (struct unwind_memory){
		.stack = stack, .sp = 4096, .stack_size = 16, .budget = 1000
	};
}

static bool eval(const Dwarf_Op *ops, size_t n, uint64_t *result, bool *is_value)
{
	struct unwind_memory memory = expr_memory();
	struct unwind_regs regs = { .known = 1 << 7, .v[7] = 4096 };
	struct unwind_expr expr = {
		.memory = &memory, .regs = &regs, .bias = 0x1000, .has_cfa = true, .cfa = 77
	};

	return unwind_expr_eval(&expr, ops, n, result, is_value);
}

static const struct {
	Dwarf_Op ops[8];
	size_t n;
	uint64_t result;
} expressions[] = {
	{ { { DW_OP_lit7, 0, 0, 0 } }, 1, 7 },
	{ { { DW_OP_addr, 5, 0, 0 } }, 1, 0x1005 },
	{ { { DW_OP_breg7, 8, 0, 0 } }, 1, 4104 },
	{ { { DW_OP_bregx, 7, (Dwarf_Word)-6, 0 } }, 1, 4090 },
	{ { { DW_OP_call_frame_cfa, 0, 0, 0 }, { DW_OP_plus_uconst, 3, 0, 1 } }, 2, 80 },
	{ { { DW_OP_breg7, 0, 0, 0 }, { DW_OP_deref, 0, 0, 2 } }, 2, 0x8807060504030201 },
	{ { { DW_OP_breg7, 7, 0, 0 }, { DW_OP_deref_size, 1, 0, 2 } }, 2, 0x88 },
	{ { { DW_OP_const1s, (Dwarf_Word)-8, 0, 0 },
	    { DW_OP_lit3, 0, 0, 2 },
	    { DW_OP_div, 0, 0, 3 } },
	  3,
	  (uint64_t)-2 },
	{ { { DW_OP_consts, 1ULL << 63, 0, 0 },
	    { DW_OP_const1s, (Dwarf_Word)-1, 0, 9 },
	    { DW_OP_div, 0, 0, 11 } },
	  3,
	  1ULL << 63 },
	{ { { DW_OP_lit1, 0, 0, 0 }, { DW_OP_const1u, 64, 0, 1 }, { DW_OP_shl, 0, 0, 3 } }, 3, 0 },
	{ { { DW_OP_const1s, (Dwarf_Word)-8, 0, 0 },
	    { DW_OP_const1u, 200, 0, 2 },
	    { DW_OP_shra, 0, 0, 4 } },
	  3,
	  UINT64_MAX },
	{ { { DW_OP_consts, 1ULL << 63, 0, 0 }, { DW_OP_abs, 0, 0, 9 } }, 2, 1ULL << 63 },
	{ { { DW_OP_lit1, 0, 0, 0 },
	    { DW_OP_lit2, 0, 0, 1 },
	    { DW_OP_lit3, 0, 0, 2 },
	    { DW_OP_rot, 0, 0, 3 } },
	  4,
	  2 },
	{ { { DW_OP_lit1, 0, 0, 0 },
	    { DW_OP_lit2, 0, 0, 1 },
	    { DW_OP_swap, 0, 0, 2 },
	    { DW_OP_minus, 0, 0, 3 } },
	  4,
	  1 },
	/* 9 where the branch is taken, else 8 */
	{ { { DW_OP_lit9, 0, 0, 0 },
	    { DW_OP_lit1, 0, 0, 1 },
	    { DW_OP_bra, 1, 0, 2 },
	    { DW_OP_lit8, 0, 0, 5 },
	    { DW_OP_nop, 0, 0, 6 } },
	  5,
	  9 },
	/* what PLT entries have: 8 more from the 11th byte of 16 on */
	{ { { DW_OP_breg7, 8, 0, 0 },
	    { DW_OP_breg7, 12, 0, 2 },
	    { DW_OP_lit15, 0, 0, 4 },
	    { DW_OP_and, 0, 0, 5 },
	    { DW_OP_lit11, 0, 0, 6 },
	    { DW_OP_ge, 0, 0, 7 },
	    { DW_OP_lit3, 0, 0, 8 },
	    { DW_OP_shl, 0, 0, 9 } },
	  8,
	  8 },
};

static void test_expressions(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(expressions); i++) {
		uint64_t result = 0;
		bool is_value = true;

		assert_true(eval(expressions[i].ops, expressions[i].n, &result, &is_value));
		assert_int_equal(result, expressions[i].result);
		assert_false(is_value);
	}
}

static void test_expressions_that_fail(void **state)
{
	static const struct {
		Dwarf_Op ops[3];
		size_t n;
	} rows[] = {
		{ { { 0 } }, 0 }, /* nothing is left */
		{ { { DW_OP_plus, 0, 0, 0 } }, 1 },
		{ { { DW_OP_lit1, 0, 0, 0 }, { DW_OP_plus, 0, 0, 1 } }, 2 },
		{ { { DW_OP_lit1, 0, 0, 0 }, { DW_OP_lit0, 0, 0, 1 }, { DW_OP_div, 0, 0, 2 } }, 3 },
		{ { { DW_OP_lit1, 0, 0, 0 }, { DW_OP_lit0, 0, 0, 1 }, { DW_OP_mod, 0, 0, 2 } }, 3 },
		{ { { DW_OP_lit1, 0, 0, 0 }, { DW_OP_pick, 1, 0, 1 } }, 2 },
		{ { { DW_OP_drop, 0, 0, 0 } }, 1 },
		{ { { DW_OP_breg6, 0, 0, 0 } }, 1 }, /* not known */
		{ { { DW_OP_regx, UINT64_MAX, 0, 0 } }, 1 },
		{ { { DW_OP_lit1, 0, 0, 0 }, { DW_OP_deref, 0, 0, 1 } }, 2 },
		{ { { DW_OP_breg7, 9, 0, 0 }, { DW_OP_deref, 0, 0, 2 } }, 2 }, /* over the end */
		{ { { DW_OP_breg7, 0, 0, 0 }, { DW_OP_deref_size, 9, 0, 2 } }, 2 },
		{ { { DW_OP_skip, (Dwarf_Word)-3, 0, 0 } }, 1 }, /* for ever */
		{ { { DW_OP_skip, (Dwarf_Word)-2, 0, 0 } }, 1 }, /* into itself */
		{ { { DW_OP_dup, 0, 0, 0 } }, 1 },
		{ { { DW_OP_lit0, 0, 0, 0 }, { DW_OP_skip, (Dwarf_Word)-4, 0, 1 } },
		  2 }, /* fills the stack */
		{ { { DW_OP_hi_user, 0, 0, 0 } }, 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t result;
		bool is_value;

		assert_false(eval(rows[i].ops, rows[i].n, &result, &is_value));
	}
}

/* ---- a file of three functions ---- */

static const struct unwinder *const all[] = { &unwind_rows, &unwind_libunwind, &unwind_libdw };

static void test_made_chains(void **state)
{
	uint8_t file[FILE_BYTES];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(machines) * ARRAY_SIZE(all); i++) {
		const struct machine *m = &machines[i / ARRAY_SIZE(all)];
		uint64_t ips[UNWIND_FRAMES_MAX];
		struct unwind unwind;
		struct made made;

		made_init(&made);
		make_file(m, file);
		made_write(&made, file, sizeof(file));
		own_map(&made.own, DSO_FILE, made.path, LOADED, LOADED + 0x1000, 0);
		if (made_open(&made, &unwind, all[i % ARRAY_SIZE(all)], m)) {
			made_input(&made, m, LOADED + LEAF + 3);
			assert_int_equal(made_frames(&made, &unwind, ips), 3);
			assert_int_equal(ips[1], LOADED + MIDDLE + 12);
			assert_int_equal(ips[2], LOADED + START + 8);
			assert_int_equal(unwind.counts.ends[UNWIND_COMPLETE], 1);
			unwind_close(&unwind);
		}
		made_release(&made);
	}
}

/* In the middle of a prologue: x30 is signed already, but not yet saved. */
static void test_signed_return_address(void **state)
{
	const struct machine *m = &machines[1];
	uint64_t ips[UNWIND_FRAMES_MAX];
	uint8_t file[FILE_BYTES];
	struct unwind unwind;
	struct made made;

	(void)state;
	made_init(&made);
	make_file(m, file);
	made_write(&made, file, sizeof(file));
	own_map(&made.own, DSO_FILE, made.path, LOADED, LOADED + 0x1000, 0);
	assert_true(made_open(&made, &unwind, &unwind_libdw, m));
	made_input(&made, m, LOADED + MIDDLE + 4);
	made.own.regs[30] = (LOADED + START + 8) | 0x2aULL << 48;
	assert_int_equal(made_frames(&made, &unwind, ips), 2);
	assert_int_equal(ips[1], LOADED + START + 8);
	assert_int_equal(unwind.counts.ends[UNWIND_COMPLETE], 1);
	unwind_close(&unwind);
	made_release(&made);
}

/* Where x30 stands among the sampled registers, and samples that do not have it. */
static void test_link_register(void **state)
{
	static const uint64_t values[33] = { 100, 101, 102, 103, [30] = 130 };
	static const struct {
		const char *arch;
		uint64_t mask, abi, link; /* link 0: there is none */
		unsigned n;
	} rows[] = {
		{ "aarch64", 1ULL << 30, 2, 100, 1 },
		{ "aarch64", 1ULL << 29 | 1ULL << 30 | 1ULL << 32, 2, 101, 3 },
		{ "aarch64", 7ULL << 28, 2, 102, 3 },
		{ "aarch64", (1ULL << 33) - 1, 2, 130, 33 },
		/* Not sampled; fewer values than bits; registers of 32 bits; another architecture. */
		{ "aarch64", 7ULL << 27, 2, 0, 3 },
		{ "aarch64", 7ULL << 28, 2, 0, 2 },
		{ "aarch64", 1ULL << 30, 1, 0, 1 },
		{ "x86_64", 1ULL << 30, 2, 0, 1 },
		{ "riscv64", 1ULL << 30, 2, 0, 1 },
		{ "riscv64", 3, 2, 101, 2 },
		{ "s390x", 1ULL << 30, 2, 0, 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct unwind_input input = {
			.abi = rows[i].abi, .mask = rows[i].mask, .regs = values, .n_regs = rows[i].n
		};
		uint64_t link = 0;

		assert_int_equal(unwind_link(rows[i].arch, &input, &link), rows[i].link != 0);
		assert_int_equal(link, rows[i].link);
		input.regs = NULL;
		assert_false(unwind_link(rows[i].arch, &input, &link));
	}
}

/* Tables of a circle: each of two functions is the other one's caller, from fixed words of the stack. */
static void test_circle(void **state)
{
	static uint64_t ips[UNWIND_FRAMES_MAX];
	struct machine m = machines[0];
	uint64_t stack[1024] = { 0 };
	uint8_t file[FILE_BYTES];

	(void)state;
	/* The CFA is STACK_AT + 16, and + 32: the return addresses are the second word, and the fourth. */
	m.leaf = (struct bytes){ { DW_CFA_def_cfa_expression, 9, DW_OP_const8u, 0x10, 0x10, 0, 0, 0xfc, 0x7f }, 11 };
	m.middle = m.leaf;
	m.middle.v[3] = 0x20;
	make_file(&m, file);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct unwind unwind;
		struct made made;
		size_t n;

		made_init(&made);
		made_write(&made, file, sizeof(file));
		own_map(&made.own, DSO_FILE, made.path, LOADED, LOADED + 0x1000, 0);
		if (made_open(&made, &unwind, all[i], &m)) {
			made_input(&made, &m, LOADED + LEAF + 3);
			stack[1] = LOADED + MIDDLE + 12;
			stack[3] = LOADED + LEAF + 8;
			made.own.input.stack = (const uint8_t *)stack;
			made.own.input.stack_bytes = sizeof(stack);
			n = made_frames(&made, &unwind, ips);
			assert_int_equal(ips[1], LOADED + MIDDLE + 12);
			assert_int_equal(ips[2], LOADED + LEAF + 8);
			/* libunwind sees by itself that it does not come further. */
			assert_in_range(n, 3, ARRAY_SIZE(stack) + 127);
			if (all[i] == &unwind_libdw)
				assert_int_equal(unwind.counts.ends[UNWIND_LIMIT], 1);
			unwind_close(&unwind);
		}
		made_release(&made);
	}
}

/* Each byte of the headers and tables in turn has other values; the file is cut at each length. */
static void test_broken_files(void **state)
{
	static const uint8_t values[] = { 0, 0x7f, 0x80, 0xff, DW_OP_skip };
	uint8_t file[FILE_BYTES];
	size_t end = FRAMES + 0xc0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(machines) * ARRAY_SIZE(all); i++) {
		const struct machine *m = &machines[i / ARRAY_SIZE(all)];
		struct unwind unwind;
		struct made made;
		struct dso *dso = &made.own.dsos[0];

		made_init(&made);
		own_map(&made.own, DSO_FILE, made.path, LOADED, LOADED + 0x1000, 0);
		if (!made_open(&made, &unwind, all[i % ARRAY_SIZE(all)], m)) {
			made_release(&made);
			continue;
		}
		for (size_t at = 0; at < end * (ARRAY_SIZE(values) + 1); at++) {
			size_t value = at / end, n = sizeof(file);
			uint64_t ips[UNWIND_FRAMES_MAX];

			make_file(m, file);
			if (value < ARRAY_SIZE(values))
				file[at % end] = values[value];
			else
				n = at % end;
			made_write(&made, file, n);
			/* Another dso, for what is known of one is kept. */
			dso->index++;
			made.own.address_space.version++;
			made_input(&made, m, LOADED + LEAF + 3);
			assert_in_range(made_frames(&made, &unwind, ips), 1, UNWIND_FRAMES_MAX);
		}
		unwind_close(&unwind);
		made_release(&made);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_register_numbers),      cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_expressions_that_fail), cmocka_unit_test(test_made_chains),
		cmocka_unit_test(test_signed_return_address), cmocka_unit_test(test_link_register),
		cmocka_unit_test(test_circle),
		cmocka_unit_test(test_broken_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
