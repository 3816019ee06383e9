/*
 * The parts of unwinding on inputs whose truth is known by construction: register numbers, expressions, and
 * an ELF file made here of three functions with their unwind tables, for either architecture: `leaf`, called
 * by `middle`, called by `start`, which nothing called.
 */
#include "unwind/unwind_expr.h"
#include "unwind_fixture.h"

#include <dwarf.h>
#include <elf.h>

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
		struct sample_regs sampled = { .abi = 2, .v = values };
		struct unwind_regs regs;

		assert_non_null(arch);
		sampled.mask = 1ULL << rows[i].bit | 1ULL << (arch->n_regs == 17 ? 8 : 32) |
			       1ULL << (arch->n_regs == 17 ? 7 : 31);
		for (unsigned bit = 0; bit < 64; bit++)
			if (sampled.mask >> bit & 1)
				values[sampled.n++] = 1000 + bit;
		assert_true(unwind_regs_take(arch, &sampled, &regs));
		assert_true(unwind_regs_get(&regs, number, &value));
		assert_int_equal(value, 1000 + rows[i].bit);
		/* What the record has fewer values of than its mask has bits is not there. */
		sampled.n = 1;
		assert_false(unwind_regs_take(arch, &sampled, &regs));
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

enum {
	VADDR = 0x10000, /* as linked */
	LEAF = 0x400,
	MIDDLE = 0x440,
	START = 0x480,
	FUNCTION_BYTES = 0x40,
	HDR = 0x100,
	FRAMES = 0x180,
	FILE_BYTES = 0x500,
	LOADED = 0x7f0000000000,
	STACK_AT = 0x7ffc00001000,
};

struct bytes {
	uint8_t v[28], n;
};

static const struct machine {
	const char *arch;
	uint16_t machine;
	struct bytes cie, leaf, middle, start; /* CFA programs, the CIE's with its alignments */
} machines[] = {
	/* start: rip undefined. middle: push %rbp; mov %rsp,%rbp. leaf: a CFA as PLT entries have it. */
	{ "x86_64",
	  EM_X86_64,
	  { { 1, 0x78, 16, 1, 0x1b, DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1 }, 10 },
	  { { DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15,
	      DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus },
	    13 },
	  { { DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2,
	      DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, 6 },
	    8 },
	  { { DW_CFA_undefined, 16 }, 2 } },
	/* start: x30 undefined. middle: paciasp; stp x29,x30,[sp,-32]!; str x19,[sp,16]. leaf: nothing. */
	{ "aarch64",
	  EM_AARCH64,
	  { { 4, 0x78, 30, 1, 0x1b, DW_CFA_def_cfa, 31, 0 }, 8 },
	  { { 0 }, 0 },
	  { { DW_CFA_advance_loc | 1, DW_CFA_GNU_window_save, DW_CFA_advance_loc | 1,
	      DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 29, 4, DW_CFA_offset | 30, 3,
	      DW_CFA_advance_loc | 1, DW_CFA_offset | 19, 2 },
	    11 },
	  { { DW_CFA_undefined, 30 }, 2 } },
};

static void put(uint8_t *file, size_t at, const void *bytes, size_t n)
{
	memcpy(file + at, bytes, n);
}

static void put_u32(uint8_t *file, size_t at, size_t value)
{
	uint32_t word = (uint32_t)value;

	put(file, at, &word, sizeof(word));
}

/* Length, id or distance to the CIE, what is given, padding to 8 bytes. */
static size_t put_entry(uint8_t *file, size_t at, size_t id, const void *head, size_t n_head,
			const struct bytes *program)
{
	size_t n = (4 + n_head + program->n + 7) / 8 * 8 + 4;

	put_u32(file, at, n);
	put_u32(file, at + 4, id);
	put(file, at + 8, head, n_head);
	put(file, at + 8 + n_head, program->v, program->n);
	return at + 4 + n;
}

static size_t put_fde(uint8_t *file, size_t at, unsigned row, size_t function,
		      const struct bytes *program)
{
	uint32_t head[2] = { (uint32_t)(function - (at + 8)), FUNCTION_BYTES };
	uint8_t bytes[9] = { 0 }; /* the last: no augmentation */

	memcpy(bytes, head, sizeof(head));
	put_u32(file, HDR + 12 + 8 * row, function - HDR);
	put_u32(file, HDR + 16 + 8 * row, at - HDR);
	return put_entry(file, at, at + 4 - FRAMES, bytes, sizeof(bytes), program);
}

static void make_file(const struct machine *m, uint8_t *file)
{
	Elf64_Ehdr elf = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			   .e_type = ET_DYN,
			   .e_machine = m->machine,
			   .e_version = EV_CURRENT,
			   .e_phoff = 64,
			   .e_ehsize = 64,
			   .e_phentsize = 56,
			   .e_phnum = 2 };
	Elf64_Phdr headers[2] = {
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_X,
		  .p_vaddr = VADDR,
		  .p_filesz = FILE_BYTES,
		  .p_memsz = FILE_BYTES },
		{ .p_type = PT_GNU_EH_FRAME,
		  .p_flags = PF_R,
		  .p_offset = HDR,
		  .p_vaddr = VADDR + HDR,
		  .p_filesz = 36,
		  .p_memsz = 36 },
	};
	size_t at;

	memset(file, 0, FILE_BYTES);
	put(file, 0, &elf, sizeof(elf));
	put(file, 64, headers, sizeof(headers));
	put(file, HDR, "\1\x1b\3\x3b", 4);
	put_u32(file, HDR + 4, (size_t)FRAMES - (HDR + 4));
	put_u32(file, HDR + 8, 3);
	at = put_entry(file, FRAMES, 0, "\1zR", 4, &m->cie);
	at = put_fde(file, at, 0, LEAF, &m->leaf);
	at = put_fde(file, at, 1, MIDDLE, &m->middle);
	at = put_fde(file, at, 2, START, &m->start);
	assert_true(at + 4 <= LEAF);
}

/* Where a thread has it loaded, and a sample in `leaf`. */
struct made {
	char path[300];
	struct own own;
	uint64_t stack[8];
};

static void made_init(struct made *made)
{
	const char *tmp = getenv("TMPDIR");
	int fd;

	memset(made, 0, sizeof(*made));
	snprintf(made->path, sizeof(made->path), "%s/unwind-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	fd = mkstemp(made->path);
	assert_true(fd >= 0);
	close(fd);
	made->own.thread.space = &made->own.space;
}

static void made_release(struct made *made)
{
	unlink(made->path);
	own_release(&made->own);
}

static void made_write(struct made *made, const uint8_t *bytes, size_t n)
{
	int fd = open(made->path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, bytes, n), 0);
	close(fd);
}

static void made_sample(struct made *made, const struct machine *m, uint64_t ip)
{
	struct own *own = &made->own;
	bool x86 = m->machine == EM_X86_64;
	uint64_t in_middle = LOADED + MIDDLE + 12, in_start = LOADED + START + 8;

	own->sample = (struct sample){ .has = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER };
	own->sample.user_regs = (struct sample_regs){ .abi = 2,
						      .v = own->regs,
						      .mask = x86 ? 0xff01ff : (1ULL << 33) - 1,
						      .n = x86 ? 17 : 33 };
	own->sample.stack = (const uint8_t *)made->stack;
	own->sample.stack_size = own->sample.stack_dyn_size = sizeof(made->stack);
	memset(made->stack, 0, sizeof(made->stack));
	memset(own->regs, 0, sizeof(own->regs));
	own->regs[x86 ? 8 : 32] = ip;
	own->regs[x86 ? 7 : 31] = STACK_AT;
	if (x86) { /* return to middle | rbp | return to start */
		made->stack[0] = in_middle;
		made->stack[2] = in_start;
		own->regs[6] = STACK_AT + 8;
	} else { /* x29 | x30, signed | x19 */
		own->regs[30] = in_middle;
		made->stack[1] = in_start | 0x2aULL << 48;
	}
}

static size_t made_frames(struct made *made, struct unwind *unwind, uint64_t *ips)
{
	return unwind_frames(unwind, &made->own.thread, &made->own.sample, ips, UNWIND_FRAMES_MAX);
}

static bool made_open(struct made *made, struct unwind *unwind, const struct unwinder *unwinder,
		      const struct machine *m)
{
	struct str err = STR_INIT;

	*unwind = (struct unwind){ .unwinder = unwinder,
				   .arch = m->arch,
				   .path_of = own_path,
				   .path_context = &made->own,
				   .second_tried = true };
	if (!unwinder->handles(m->arch))
		return false;
	assert_int_equal(unwinder->open(unwind, &err), 0);
	str_release(&err);
	return true;
}

static const struct unwinder *const both[] = { &unwind_libunwind, &unwind_libdw };

static void test_made_chains(void **state)
{
	uint8_t file[FILE_BYTES];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(machines) * ARRAY_SIZE(both); i++) {
		const struct machine *m = &machines[i / ARRAY_SIZE(both)];
		uint64_t ips[UNWIND_FRAMES_MAX];
		struct unwind unwind;
		struct made made;

		made_init(&made);
		make_file(m, file);
		made_write(&made, file, sizeof(file));
		own_map(&made.own, DSO_FILE, made.path, LOADED, LOADED + 0x1000, 0);
		if (made_open(&made, &unwind, both[i % ARRAY_SIZE(both)], m)) {
			made_sample(&made, m, LOADED + LEAF + 3);
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
	made_sample(&made, m, LOADED + MIDDLE + 4);
	made.own.regs[30] = (LOADED + START + 8) | 0x2aULL << 48;
	assert_int_equal(made_frames(&made, &unwind, ips), 2);
	assert_int_equal(ips[1], LOADED + START + 8);
	assert_int_equal(unwind.counts.ends[UNWIND_COMPLETE], 1);
	unwind_close(&unwind);
	made_release(&made);
}

/* Each byte of the headers and tables in turn has other values; the file is cut at each length. */
static void test_broken_files(void **state)
{
	static const uint8_t values[] = { 0, 0x7f, 0x80, 0xff, DW_OP_skip };
	uint8_t file[FILE_BYTES];
	size_t end = FRAMES + 0xc0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(machines) * ARRAY_SIZE(both); i++) {
		const struct machine *m = &machines[i / ARRAY_SIZE(both)];
		struct unwind unwind;
		struct made made;
		struct dso *dso = &made.own.dsos[0];

		made_init(&made);
		own_map(&made.own, DSO_FILE, made.path, LOADED, LOADED + 0x1000, 0);
		if (!made_open(&made, &unwind, both[i % ARRAY_SIZE(both)], m)) {
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
			made.own.space.version++;
			made_sample(&made, m, LOADED + LEAF + 3);
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
		cmocka_unit_test(test_signed_return_address), cmocka_unit_test(test_broken_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
