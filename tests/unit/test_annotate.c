/* SPDX-License-Identifier: MIT */
/*
 * The code of a function: bytes of code to instructions that say where they go, samples to instructions and lines,
 * and functions of sizes that are somebody's choice. The programs are ELF files made here, the recordings of them too:
 * what each instruction is, and has, is known by construction.
 */
#include "annotate/annotate_internal.h"
#include "elf_builder.h"
#include "replay_fixture.h"

#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

static void need_capstone(void)
{
	struct str why = STR_INIT;
	int code = annotate_try(&why);

	if (code)
		printf("# skip: needs capstone: %s\n", why.len ? why.s : "it was left out of the build");
	str_release(&why);
	if (code)
		skip();
}

/* ---- bytes to instructions ---- */

#define BASE 0x1000ULL
#define NOWHERE UINT64_MAX
static const struct code_row {
	uint16_t machine;
	uint8_t n, bytes[11];
	const char *name;
	enum annotate_flow flow;
	uint64_t target; /* NOWHERE: it names none */
	bool in_text; /* the target is its last operand */
} code_rows[] = {
	{ EM_X86_64, 1, { 0x55 }, "pushq", FLOW_ON, NOWHERE, false },
	{ EM_X86_64, 2, { 0x74, 0x05 }, "je", FLOW_JUMP, BASE + 7, true },
	{ EM_X86_64, 2, { 0x75, 0xfe }, "jne", FLOW_JUMP, BASE, true },
	{ EM_X86_64, 6, { 0x0f, 0x84, 0, 1, 0, 0 }, "je", FLOW_JUMP, BASE + 0x106, true },
	{ EM_X86_64, 2, { 0xeb, 0xfe }, "jmp", FLOW_JUMP, BASE, true },
	{ EM_X86_64, 2, { 0xff, 0xe0 }, "jmpq", FLOW_JUMP, NOWHERE, false },
	{ EM_X86_64, 6, { 0xff, 0x25, 0x10, 0, 0, 0 }, "jmpq", FLOW_JUMP, BASE + 0x16, false },
	{ EM_X86_64, 5, { 0xe8, 0xfb, 0xff, 0xff, 0xff }, "callq", FLOW_CALL, BASE, true },
	{ EM_X86_64, 2, { 0xff, 0xd0 }, "callq", FLOW_CALL, NOWHERE, false },
	{ EM_X86_64, 1, { 0xc3 }, "retq", FLOW_RETURN, NOWHERE, false },
	{ EM_X86_64, 2, { 0xf3, 0xc3 }, NULL, FLOW_RETURN, NOWHERE, false },
	{ EM_X86_64, 6, { 0x8b, 0x05, 0, 0x10, 0, 0 }, "movl", FLOW_ON, BASE + 0x1006, false },
	{ EM_X86_64, 2, { 0x0f, 0x05 }, "syscall", FLOW_ON, NOWHERE, false },
	{ EM_X86_64, 3, { 0xc5, 0xf8, 0x77 }, "vzeroupper", FLOW_ON, NOWHERE, false },
	{ EM_386, 1, { 0x06 }, NULL, FLOW_ON, NOWHERE, false },
	{ EM_386, 5, { 0xe8, 0, 0, 0, 0 }, "calll", FLOW_CALL, BASE + 5, true },
	{ EM_AARCH64, 4, { 0x1f, 0x20, 0x03, 0xd5 }, "nop", FLOW_ON, NOWHERE, false },
	{ EM_AARCH64, 4, { 0x02, 0x00, 0x00, 0x14 }, "b", FLOW_JUMP, BASE + 8, true },
	{ EM_AARCH64, 4, { 0x40, 0x00, 0x00, 0x54 }, "b.eq", FLOW_JUMP, BASE + 8, true },
	{ EM_AARCH64, 4, { 0xe0, 0xff, 0xff, 0xb4 }, "cbz", FLOW_JUMP, BASE - 4, true },
	{ EM_AARCH64, 4, { 0x40, 0x00, 0x00, 0x36 }, "tbz", FLOW_JUMP, BASE + 8, true },
	{ EM_AARCH64, 4, { 0x20, 0x00, 0x1f, 0xd6 }, "br", FLOW_JUMP, NOWHERE, false },
	{ EM_AARCH64, 4, { 0x02, 0x00, 0x00, 0x94 }, "bl", FLOW_CALL, BASE + 8, true },
	{ EM_AARCH64, 4, { 0x20, 0x00, 0x3f, 0xd6 }, "blr", FLOW_CALL, NOWHERE, false },
	{ EM_AARCH64, 4, { 0xc0, 0x03, 0x5f, 0xd6 }, "ret", FLOW_RETURN, NOWHERE, false },
	{ EM_AARCH64, 4, { 0x00, 0x00, 0x00, 0xb0 }, "adrp", FLOW_ON, BASE + 0x1000, true },
};

static void check_row(const struct code_row *row)
{
	struct str why = STR_INIT;
	struct disasm *disasm = disasm_open(row->machine, false, &why);
	struct disasm_instruction found = { 0 };
	size_t i = (size_t)(row - code_rows);

	assert_non_null(disasm);
	if (!disasm_next(disasm, row->bytes, row->n, BASE, &found))
		fail_msg("row %zu (%s): no instruction", i, row->name ? row->name : "");
	if (found.n_bytes != row->n || (row->name && strcmp(found.name, row->name) != 0) || found.flow != row->flow)
		fail_msg("row %zu: %u bytes, %s, flow %d", i, found.n_bytes, found.name, (int)found.flow);
	if (found.has_target != (row->target != NOWHERE) ||
	    (found.has_target && (found.target != row->target || found.target_is_last_operand != row->in_text)))
		fail_msg("row %zu (%s): %s target 0x%llx", i, found.name, found.has_target ? "has" : "no",
			 (unsigned long long)found.target);
	disasm_close(disasm);
	str_release(&why);
}

static void instructions_say_where_they_go(void **state)
{
	(void)state;
	need_capstone();
	for (size_t i = 0; i < ARRAY_SIZE(code_rows); i++)
		check_row(&code_rows[i]);
}

#define R UINT8_MAX
static const struct effect_row {
	uint16_t machine;
	uint8_t n, bytes[11];
	bool reads, writes;
	uint8_t base, index;
	int64_t offset;
	enum register_move move;
	uint8_t to, from;
	int64_t number;
	bool placed, segment, stack;
} effect_rows[] = {
	/* mov 8(%rdi),%rax; mov %rax,16(%rsp); add %edx,0x3c(%rdi); cmp 8(%rdi),%eax */
	{ EM_X86_64, 4, { 0x48, 0x8b, 0x47, 0x08 }, true, false, 5, R, 8, MOVE_LOAD, 0, R, 0, 0, 0, 0 },
	{ EM_X86_64, 5, { 0x48, 0x89, 0x44, 0x24, 0x10 }, false, true, 7, R, 16, MOVE_STORE, R, 0, 0, 0, 0, 0 },
	{ EM_X86_64, 3, { 0x01, 0x57, 0x3c }, true, true, 5, R, 0x3c, MOVE_NONE, R, R, 0, 0, 0, 0 },
	{ EM_X86_64, 3, { 0x3b, 0x47, 0x08 }, true, false, 5, R, 8, MOVE_NONE, 0, R, 0, 0, 0, 0 },
	/* mov 0x1000(%rip),%rax; mov %fs:0x28,%rax */
	{ EM_X86_64, 7, { 0x48, 0x8b, 0x05, 0, 0x10 }, true, false, R, R, BASE + 0x1007, MOVE_LOAD, 0, R, 0, 1, 0, 0 },
	{ EM_X86_64, 9, { 0x64, 0x48, 0x8b, 0x04, 0x25, 0x28 }, true, false, R, R, 0x28, MOVE_LOAD, 0, R, 0, 0, 1, 0 },
	/* lea 8(%rdi),%rax; lea (%rdi,%rsi,8),%rax; mov %rdi,%rbx; mov $0x1000,%edi */
	{ EM_X86_64, 4, { 0x48, 0x8d, 0x47, 0x08 }, false, false, R, R, 0, MOVE_SUM, 0, 5, 8, 0, 0, 0 },
	{ EM_X86_64, 4, { 0x48, 0x8d, 0x04, 0xf7 }, false, false, R, R, 0, MOVE_ELEMENT, 0, 5, 0, 0, 0, 0 },
	{ EM_X86_64, 3, { 0x48, 0x89, 0xfb }, false, false, R, R, 0, MOVE_SUM, 3, 5, 0, 0, 0, 0 },
	{ EM_X86_64, 5, { 0xbf, 0x00, 0x10 }, false, false, R, R, 0, MOVE_SUM, 5, R, 0x1000, 0, 0, 0 },
	/* add $8,%rdi; sub $8,%rdi; add %rsi,%rdi; push %rbp; nopw 0(%rax,%rax) */
	{ EM_X86_64, 4, { 0x48, 0x83, 0xc7, 0x08 }, false, false, R, R, 0, MOVE_SUM, 5, 5, 8, 0, 0, 0 },
	{ EM_X86_64, 4, { 0x48, 0x83, 0xef, 0x08 }, false, false, R, R, 0, MOVE_SUM, 5, 5, -8, 0, 0, 0 },
	{ EM_X86_64, 3, { 0x48, 0x01, 0xf7 }, false, false, R, R, 0, MOVE_ELEMENT, 5, 5, 0, 0, 0, 0 },
	{ EM_X86_64, 1, { 0x55 }, false, false, R, R, 0, MOVE_NONE, R, R, 0, 0, 0, 1 },
	{ EM_X86_64, 6, { 0x66, 0x0f, 0x1f, 0x44 }, false, false, R, R, 0, MOVE_NONE, R, R, 0, 0, 0, 0 },
	/* ldr x0,[x1,#8]; str x0,[sp,#16]; ldr x0,[x1,x2,lsl #3]; ldp x29,x30,[sp],#16 */
	{ EM_AARCH64, 4, { 0x20, 0x04, 0x40, 0xf9 }, true, false, 1, R, 8, MOVE_LOAD, 0, R, 0, 0, 0, 0 },
	{ EM_AARCH64, 4, { 0xe0, 0x0b, 0x00, 0xf9 }, false, true, 31, R, 16, MOVE_STORE, R, 0, 0, 0, 0, 0 },
	{ EM_AARCH64, 4, { 0x20, 0x78, 0x62, 0xf8 }, true, false, 1, 2, 0, MOVE_LOAD, 0, R, 0, 0, 0, 0 },
	{ EM_AARCH64, 4, { 0xfd, 0x7b, 0xc1, 0xa8 }, true, false, 31, R, 0, MOVE_NONE, 29, R, 0, 0, 0, 0 },
	/* mov x19,x0; add x0,x1,#16; sub sp,sp,#32 */
	{ EM_AARCH64, 4, { 0xf3, 0x03, 0x00, 0xaa }, false, false, R, R, 0, MOVE_SUM, 19, 0, 0, 0, 0, 0 },
	{ EM_AARCH64, 4, { 0x20, 0x40, 0x00, 0x91 }, false, false, R, R, 0, MOVE_SUM, 0, 1, 16, 0, 0, 0 },
	{ EM_AARCH64, 4, { 0xff, 0x83, 0x00, 0xd1 }, false, false, R, R, 0, MOVE_SUM, 31, 31, -32, 0, 0, 0 },
};

static void check_effect(const struct effect_row *row)
{
	struct str why = STR_INIT;
	struct disasm *disasm = disasm_open(row->machine, true, &why);
	struct disasm_instruction found = { 0 };
	struct data_effect effect;
	const struct data_access *access = &effect.access;
	int i = (int)(row - effect_rows);

	assert_non_null(disasm);
	assert_true(disasm_next(disasm, row->bytes, row->n, BASE, &found));
	disasm_effect(disasm, &found, &effect);
	if (access->reads != row->reads || access->writes != row->writes || effect.stack != row->stack)
		fail_msg("row %d (%s %s): reads or writes", i, found.name, found.operands);
	if ((row->reads || row->writes) &&
	    (access->base != row->base || access->index != row->index || access->offset != row->offset ||
	     access->placed != row->placed || access->segment != row->segment))
		fail_msg("row %d (%s %s): at %u, %u and %lld", i, found.name, found.operands, access->base,
			 access->index, (long long)access->offset);
	if (effect.move != row->move || (row->move && effect.to != row->to) ||
	    (row->move > MOVE_LOAD && (effect.from != row->from || effect.number != row->number)))
		fail_msg("row %d (%s %s): moves %d, to %u", i, found.name, found.operands, (int)effect.move, effect.to);
	if (row->move && row->to != R && !(effect.changed >> row->to & 1))
		fail_msg("row %d (%s %s): register %u has changed", i, found.name, found.operands, row->to);
	disasm_close(disasm);
	str_release(&why);
}

static void instructions_say_what_they_do_with_data(void **state)
{
	(void)state;
	need_capstone();
	for (size_t i = 0; i < ARRAY_SIZE(effect_rows); i++)
		check_effect(&effect_rows[i]);
}

/* What is none is passed over as far as its length can be told, and never beyond the end. */
static void what_is_no_instruction_has_a_length(void **state)
{
	static const struct {
		uint16_t machine;
		uint8_t n, bytes[8];
		unsigned passed;
	} rows[] = {
		{ EM_X86_64, 3, { 0x06, 0x90, 0x90 }, 1 },
		{ EM_X86_64, 2, { 0x0f, 0x0b }, 0 }, /* ud2: an instruction of that name */
		{ EM_X86_64, 1, { 0xe8 }, 1 }, /* a call whose end is missing */
		{ EM_AARCH64, 8, { 0xff, 0xff, 0xff, 0xff, 0x1f, 0x20, 0x03, 0xd5 }, 4 },
		{ EM_AARCH64, 3, { 0x1f, 0x20, 0x03 }, 3 },
	};

	(void)state;
	need_capstone();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct str why = STR_INIT;
		struct disasm *disasm = disasm_open(rows[i].machine, false, &why);
		struct disasm_instruction found;

		assert_non_null(disasm);
		assert_int_equal(disasm_next(disasm, rows[i].bytes, rows[i].n, BASE, &found), !rows[i].passed);
		if (rows[i].passed)
			assert_int_equal(disasm_unknown(disasm, rows[i].bytes, rows[i].n), rows[i].passed);
		disasm_close(disasm);
		str_release(&why);
	}
}

static void other_machines_are_refused_with_a_reason(void **state)
{
	struct str why = STR_INIT;

	(void)state;
	need_capstone();
	assert_null(disasm_open(EM_S390, false, &why));
	assert_string_equal(why.s, "its machine (ELF number 22) is not supported");
	str_release(&why);
}

/* ---- a program and its samples ---- */

#define MAPPED 0x400000ULL
#define TEXT 0x1000ULL
enum { SYMBOLS_MAX = 4, SAMPLED_MAX = 8 };

/* What is made: code at TEXT, names in it up to the first that is NULL, and how often which addresses were sampled. */
struct program {
	uint16_t machine;
	bool intel;
	const void *code;
	size_t n_code;
	struct {
		const char *name;
		uint64_t addr, size;
	} symbols[SYMBOLS_MAX];
	struct {
		uint64_t addr;
		unsigned n;
	} sampled[SAMPLED_MAX];
};
#define CODE(bytes) .code = (bytes), .n_code = sizeof(bytes)

struct made {
	struct built_elf elf;
	struct made_recording recording;
	uint64_t offset; /* of .text in the file */
	char path[256];
	struct str bytes, err;
	struct reader reader;
	struct profile *profile;
	struct annotate *annotate;
	struct annotation *annotation;
};

static void made_file(struct made *m, const struct program *program)
{
	struct str file = STR_INIT;
	uint32_t text, symbols;
	int fd;

	elf_start(&m->elf, ET_DYN, program->machine, false, false);
	text = elf_add(&m->elf, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT);
	str_addn(&m->elf.sections[text].bytes, program->code, program->n_code);
	m->elf.load = text;
	symbols = elf_add_symbols(&m->elf, SHT_SYMTAB);
	for (size_t i = 0; i < SYMBOLS_MAX && program->symbols[i].name; i++)
		elf_symbol(&m->elf, symbols, program->symbols[i].name, program->symbols[i].addr,
			   program->symbols[i].size, STB_GLOBAL, STT_FUNC, text);
	elf_finish(&m->elf, &file);
	m->offset = m->elf.sections[text].offset;
	fix_path(m->path, sizeof(m->path), "annotated");
	fd = open(m->path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, file.s, file.len), 0);
	close(fd);
	str_release(&file);
}

static void made_samples(struct made *m, const struct program *program)
{
	struct record_body map = recording_map_body(1000, 100, MAPPED, 0x10000000, 0, m->path);

	map.mmap.inode = 0;
	recording_init(&m->recording);
	recording_add(&m->recording, &map);
	for (size_t s = 0; s < SAMPLED_MAX; s++)
		for (unsigned i = 0; i < program->sampled[s].n; i++)
			recording_sample(&m->recording, 2000 + i, 100, 100,
					 MAPPED + m->offset + (program->sampled[s].addr - TEXT));
	recording_bytes(&m->recording, false, &m->bytes);
}

/* Makes all of it, and annotates the heaviest function: 0, or why not, in m->err. */
static int made_try(struct made *m, const struct program *program)
{
	static const size_t events[] = { 0 };
	const struct annotate_query query = { .events = events, .n_events = 1 };
	const struct profile_options options = { .shape = { .facts = PROFILE_WHOLE }, .session.no_unwind = true };
	const struct annotate_options looked = { .intel = program->intel };

	need_capstone();
	*m = (struct made){ .bytes = STR_INIT, .err = STR_INIT };
	made_file(m, program);
	made_samples(m, program);
	if (reader_open_fd(&m->reader, fix_memory_file(m->bytes.s, m->bytes.len), "recording", &m->err) ||
	    profile_new(&m->profile, &options, &m->reader, &m->err) || profile_read(m->profile, NULL, NULL, &m->err))
		fail_msg("%s", m->err.s);
	m->annotate = annotate_new(m->profile, &query);
	if (!annotate_function_at(m->annotate, 0))
		fail_msg("no function has samples");
	return annotation_new(&m->annotation, m->annotate, annotate_function_at(m->annotate, 0), &looked, &m->err);
}

static void made_start(struct made *m, const struct program *program)
{
	if (made_try(m, program))
		fail_msg("%s", m->err.s);
}

static void made_end(struct made *m)
{
	annotation_free(m->annotation);
	annotate_free(m->annotate);
	profile_free(m->profile);
	reader_close(&m->reader);
	recording_release(&m->recording);
	unlink(m->path);
	str_release(&m->bytes);
	str_release(&m->err);
	elf_end(&m->elf);
}

/* The instruction that begins at an address of the file. */
static const struct annotate_instruction *at(const struct made *m, uint64_t shown)
{
	for (size_t i = 0; i < m->annotation->n_instructions; i++)
		if (m->annotation->instructions[i].shown == shown)
			return &m->annotation->instructions[i];
	fail_msg("no instruction begins at 0x%llx", (unsigned long long)shown);
	return NULL;
}

static const uint8_t small_code[] = {
	0x55, /* 1000 start: push %rbp */
	0x74, 0x03, /* 1001 je 1006 */
	0x90, 0x90, 0x90, /* 1003 nop */
	0xe8, 0x05, 0x00, 0x00, 0x00, /* 1006 call 1010 */
	0x75, 0xf3, /* 100b jne 1000 */
	0xeb, 0x03, /* 100d jmp 1012, of another function */
	0xc3, /* 100f ret */
	0xc3, 0x90, /* 1010 callee */
	0x06, 0x07, 0xc3, /* 1012 other: two bytes that are none */
};

#define SMALL_PROGRAM                                                                                                \
	.machine = EM_X86_64, CODE(small_code),                                                                      \
	.symbols = { { "start", 0x1000, 0x10 }, { "callee", 0x1010, 2 }, { "other", 0x1012, 3 } }

static void samples_belong_to_the_instruction_around_them(void **state)
{
	static const struct program program = {
		SMALL_PROGRAM,
		.sampled = { { 0x1000, 1 }, { 0x1001, 2 }, { 0x1002 /* within je */, 4 }, { 0x1006, 8 }, { 0x100f, 16 },
			     { 0x1012, 3 } },
	};
	struct made m;

	(void)state;
	made_start(&m, &program);
	assert_string_equal(m.annotation->function->symbol->name, "start");
	assert_string_equal(m.annotation->code_from, m.path);
	assert_int_equal(m.annotation->n_instructions, 9);
	assert_int_equal(at(&m, 0x1000)->cells[0].n_samples, 1);
	assert_int_equal(at(&m, 0x1001)->cells[0].n_samples, 6);
	assert_int_equal(at(&m, 0x1003)->cells[0].n_samples, 0);
	assert_int_equal(at(&m, 0x1006)->cells[0].n_samples, 8);
	assert_int_equal(at(&m, 0x100f)->cells[0].n_samples, 16);
	assert_int_equal(m.annotation->elsewhere[0].n_samples, 0);
	assert_int_equal(m.annotation->function->total[0].n_samples, 31);
	assert_int_equal(m.annotation->totals[0].n_samples, 34);
	assert_true(annotation_percent(m.annotation, 0, at(&m, 0x100f)->cells, PERCENT_LOCAL_HITS) == 1600.0 / 31);
	assert_true(annotation_percent(m.annotation, 0, at(&m, 0x100f)->cells, PERCENT_GLOBAL_HITS) == 1600.0 / 34);
	made_end(&m);
}

static void jumps_and_calls_are_named(void **state)
{
	static const struct program program = { SMALL_PROGRAM, .sampled = { { 0x1000, 1 } } };
	struct made m;

	(void)state;
	made_start(&m, &program);
	assert_string_equal(at(&m, 0x1001)->text, "je     1006 <start+0x6>");
	assert_string_equal(at(&m, 0x1001)->text + at(&m, 0x1001)->operands, "1006 <start+0x6>");
	assert_ptr_equal(&m.annotation->instructions[at(&m, 0x1001)->target_instruction], at(&m, 0x1006));
	assert_int_equal(at(&m, 0x1006)->n_jumps_here, 1);
	assert_string_equal(at(&m, 0x1006)->text, "callq  1010 <callee>");
	assert_string_equal(at(&m, 0x1006)->target_name, "callee");
	assert_int_equal(at(&m, 0x1006)->target_instruction, ANNOTATE_NONE);
	assert_string_equal(at(&m, 0x100b)->text, "jne    1000 <start>");
	assert_ptr_equal(&m.annotation->instructions[at(&m, 0x100b)->target_instruction], at(&m, 0x1000));
	assert_string_equal(at(&m, 0x100d)->text, "jmp    1012 <other>");
	assert_int_equal(at(&m, 0x100d)->target_instruction, ANNOTATE_NONE);
	assert_int_equal(at(&m, 0x100f)->flow, FLOW_RETURN);
	made_end(&m);
}

static void both_syntaxes_of_x86(void **state)
{
	static const uint8_t code[] = { 0x01, 0xd8 }; /* add ebx to eax */
	static const char *const texts[] = { "addl   %ebx, %eax", "add    eax, ebx" };
	struct program program = {
		.machine = EM_X86_64,
		CODE(code),
		.symbols = { { "f", 0x1000, sizeof(code) } },
		.sampled = { { 0x1000, 1 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct made m;

		program.intel = i == 1;
		made_start(&m, &program);
		assert_string_equal(m.annotation->instructions[0].text, texts[i]);
		made_end(&m);
	}
}

static void code_of_arm64(void **state)
{
	static const uint8_t code[] = {
		0x40, 0x00, 0x00, 0xb4, /* 1000 cbz x0, 1008 */
		0xff, 0xff, 0xff, 0xff, /* 1004 none */
		0xfe, 0xff, 0xff, 0x97, /* 1008 bl 1000 */
		0xc0, 0x03, 0x5f, 0xd6, /* 100c ret */
	};
	static const struct program program = {
		.machine = EM_AARCH64,
		CODE(code),
		.symbols = { { "f", 0x1000, sizeof(code) } },
		.sampled = { { 0x1008, 5 }, { 0x1006, 2 } },
	};
	struct made m;

	(void)state;
	made_start(&m, &program);
	assert_int_equal(m.annotation->n_instructions, 4);
	assert_string_equal(at(&m, 0x1000)->text, "cbz    x0, 1008 <f+0x8>");
	assert_true(at(&m, 0x1004)->bad);
	assert_string_equal(at(&m, 0x1004)->text, ".byte  0xff, 0xff, 0xff, 0xff");
	assert_int_equal(at(&m, 0x1004)->cells[0].n_samples, 2);
	assert_string_equal(at(&m, 0x1008)->text, "bl     1000 <f>");
	assert_int_equal(at(&m, 0x1008)->flow, FLOW_CALL);
	assert_int_equal(at(&m, 0x1008)->cells[0].n_samples, 5);
	made_end(&m);
}

/* Addresses that take two instructions: after adrp the register has a page, until it is written or the flow is left. */
static void data_of_arm64(void **state)
{
	static const uint8_t code[] = {
		0x00, 0x00, 0x00, 0x90, /* 1000 adrp x0, 1000 */
		0x01, 0xa0, 0x00, 0x91, /* 1004 add x1, x0, #0x28 */
		0x02, 0x14, 0x40, 0xf9, /* 1008 ldr x2, [x0, #0x28] */
		0x00, 0x28, 0x40, 0xb9, /* 100c ldr w0, [x0, #0x28] */
		0x02, 0x14, 0x40, 0xf9, /* 1010 ldr x2, [x0, #0x28]: no longer a page */
		0x03, 0x00, 0x00, 0x90, /* 1014 adrp x3, 1000 */
		0x00, 0x00, 0x3f, 0xd6, /* 1018 blr x0 */
		0x62, 0x14, 0x40, 0xf9, /* 101c ldr x2, [x3, #0x28]: after a call */
		0xc0, 0x03, 0x5f, 0xd6, /* 1020 ret */
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	};
	static const struct program program = {
		.machine = EM_AARCH64,
		CODE(code),
		.symbols = { { "f", 0x1000, 0x24 }, { "data", 0x1024, 12 } },
		.sampled = { { 0x1008, 5 } },
	};
	struct made m;

	(void)state;
	made_start(&m, &program);
	assert_string_equal(at(&m, 0x1000)->text, "adrp   x0, 1000 <f>");
	assert_string_equal(at(&m, 0x1004)->text, "add    x1, x0, #0x28  # 1028 <data+0x4>");
	assert_string_equal(at(&m, 0x1008)->text, "ldr    x2, [x0, #0x28]  # 1028 <data+0x4>");
	assert_string_equal(at(&m, 0x100c)->text, "ldr    w0, [x0, #0x28]  # 1028 <data+0x4>");
	assert_string_equal(at(&m, 0x1010)->text, "ldr    x2, [x0, #0x28]");
	assert_string_equal(at(&m, 0x101c)->text, "ldr    x2, [x3, #0x28]");
	made_end(&m);
}

/* Data of which the file has no bytes (.bss) has a name as far as its size goes. */
static void data_without_bytes(void **state)
{
	static const uint8_t code[] = {
		0x8b, 0x05, 0xfe, 0x0f, 0x00, 0x00, /* 1000 mov 0xffe(%rip), %eax: 2004 */
		0x8b, 0x05, 0xfc, 0x0f, 0x00, 0x00, /* 1006 mov 0xffc(%rip), %eax: 2008 */
		0xc3, /* 100c ret */
	};
	static const struct program program = {
		.machine = EM_X86_64,
		CODE(code),
		.symbols = { { "f", 0x1000, sizeof(code) }, { "counters", 0x2000, 8 } },
		.sampled = { { 0x1000, 5 } },
	};
	struct made m;

	(void)state;
	made_start(&m, &program);
	assert_string_equal(at(&m, 0x1000)->text, "movl   0xffe(%rip), %eax  # 2004 <counters+0x4>");
	assert_string_equal(at(&m, 0x1006)->text, "movl   0xffc(%rip), %eax  # 2008");
	made_end(&m);
}

/* ---- sizes ---- */

/* Of 0 it goes on to the next symbol, and bytes that are no instructions stand there as they are. */
static void a_symbol_of_size_0(void **state)
{
	static const struct program program = {
		.machine = EM_X86_64,
		CODE(small_code),
		.symbols = { { "callee", 0x1010, 0 }, { "other", 0x1012, 0 }, { "end", 0x1014, 0 } },
		.sampled = { { 0x1012, 1 }, { 0x1013, 2 } },
	};
	struct made m;

	(void)state;
	made_start(&m, &program);
	assert_string_equal(m.annotation->function->symbol->name, "other");
	assert_int_equal(m.annotation->n_instructions, 2);
	assert_true(at(&m, 0x1012)->bad);
	assert_string_equal(at(&m, 0x1012)->text, ".byte  0x06");
	assert_int_equal(at(&m, 0x1012)->cells[0].n_samples, 1);
	assert_string_equal(at(&m, 0x1013)->text, ".byte  0x07");
	assert_int_equal(at(&m, 0x1013)->cells[0].n_samples, 2);
	made_end(&m);
}

/* Of 100 MB in a file that has 21 bytes: those. Samples where the file has nothing are in no function. */
static void a_symbol_of_100_mb(void **state)
{
	static const struct program program = {
		.machine = EM_X86_64,
		CODE(small_code),
		.symbols = { { "start", 0x1000, 100 << 20 } },
		.sampled = { { 0x1000, 3 }, { 0x1100, 2 } },
	};
	struct made m;

	(void)state;
	made_start(&m, &program);
	assert_true(m.annotation->n_instructions <= sizeof(small_code));
	assert_int_equal(at(&m, 0x1000)->cells[0].n_samples, 3);
	assert_int_equal(m.annotation->function->total[0].n_samples, 3);
	assert_int_equal(m.annotation->totals[0].n_samples, 5);
	assert_false(m.annotation->cut);
	made_end(&m);
}

/* Of 3 MB that are there the MiB with most samples, from a sampled address on. */
static void the_part_of_a_large_function_with_most_samples(void **state)
{
	struct str code = STR_INIT;
	struct program program = {
		.machine = EM_X86_64,
		.symbols = { { "start", 0x1000, 3 << 20 } },
		.sampled = { { 0x1000, 3 }, { 0x1000 + (2 << 20), 2 }, { 0x1000 + (2 << 20) + 64, 2 } },
	};
	struct made m;

	(void)state;
	need_capstone();
	str_pad(&code, '\x90', 3 << 20);
	program.code = code.s;
	program.n_code = code.len;
	made_start(&m, &program);
	str_release(&code);
	assert_true(m.annotation->cut);
	assert_int_equal(m.annotation->n_instructions, ANNOTATE_BYTES_MAX);
	assert_int_equal(m.annotation->instructions[0].shown, 0x1000 + (2 << 20));
	assert_int_equal(at(&m, 0x1000 + (2 << 20) + 64)->cells[0].n_samples, 2);
	assert_int_equal(m.annotation->elsewhere[0].n_samples, 3);
	made_end(&m);
}

/* Each part is weighed by its own samples, not by those before it. */
static void parts_do_not_inherit_samples(void **state)
{
	enum { SECOND = 0x1000 + (5 << 18), THIRD = 0x1000 + (5 << 19) };
	struct str code = STR_INIT;
	struct program program = {
		.machine = EM_X86_64,
		.symbols = { { "start", 0x1000, 3 << 20 } },
		.sampled = { { 0x1000, 3 }, { SECOND, 4 }, { THIRD, 2 } },
	};
	struct made m;

	(void)state;
	need_capstone();
	str_pad(&code, '\x90', 3 << 20);
	program.code = code.s;
	program.n_code = code.len;
	made_start(&m, &program);
	str_release(&code);
	assert_int_equal(m.annotation->instructions[0].shown, SECOND);
	assert_int_equal(m.annotation->elsewhere[0].n_samples, 5);
	made_end(&m);
}

/* Of a machine that nobody disassembles. */
static void code_that_is_not_to_be_had(void **state)
{
	static const struct program program = {
		.machine = EM_S390,
		CODE(small_code),
		.symbols = { { "start", 0x1000, 0x10 } },
		.sampled = { { 0x1000, 1 } },
	};
	struct made m;

	(void)state;
	assert_int_not_equal(made_try(&m, &program), 0);
	assert_null(m.annotation);
	assert_non_null(strstr(m.err.s, "ELF number 22"));
	made_end(&m);
}

/* ---- lines ---- */

/* Instructions made by hand: three of line 2, with one of an inlined function's line 9 among them, and one of none. */
static void samples_add_up_to_lines(void **state)
{
	const struct symbol outer = { .name = "outer" }, inner = { .name = "inner", .inlined = true };
	char path[256];
	struct frame frames[3][2];
	struct annotate_cell cells[] = { { 1, 10 }, { 2, 20 }, { 4, 40 }, { 8, 80 }, { 16, 160 } };
	struct annotate_instruction instructions[5] = { 0 };
	struct annotation_private private = { 0 };
	struct annotation annotation = { .instructions = instructions, .n_instructions = 5, .n_events = 1,
					 .private = &private };
	static const enum annotate_row_kind kinds[] = { ROW_SOURCE,  ROW_INSTRUCTION, ROW_INLINED, ROW_SOURCE,
							ROW_INSTRUCTION, ROW_INLINED, ROW_SOURCE,  ROW_INSTRUCTION,
							ROW_INSTRUCTION, ROW_INSTRUCTION };
	FILE *file;

	(void)state;
	fix_path(path, sizeof(path), "lines.c");
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "one\n\ttwo\033\nthree\n");
	fclose(file);
	frames[0][0] = (struct frame){ &outer, { path, 2 } };
	frames[1][0] = (struct frame){ &inner, { path, 9 } };
	frames[1][1] = (struct frame){ &outer, { path, 1 } };
	frames[2][0] = (struct frame){ &outer, { NULL, 0 } };
	for (size_t i = 0; i < ARRAY_SIZE(instructions); i++) {
		size_t f = i == 1 ? 1 : i == 4 ? 2 : 0;

		instructions[i].frames = (struct frame_list){ frames[f], f == 1 ? 2 : 1 };
		instructions[i].cells = &cells[i];
	}
	private.sources = source_texts_new(&private.source_options);
	annotation_make_rows(&annotation);
	annotation_make_lines(&annotation);
	assert_int_equal(annotation.n_rows, ARRAY_SIZE(kinds));
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (annotation.rows[i].kind != kinds[i])
			fail_msg("row %zu is of kind %d", i, (int)annotation.rows[i].kind);
	assert_string_equal(annotation.rows[0].text, "        two\\x1b");
	assert_null(annotation.rows[3].text); /* the file has no line 9 */
	assert_int_equal(annotation.n_lines, 3);
	assert_null(annotation.lines[0].line.file);
	assert_int_equal(annotation.lines[0].cells[0].period, 160);
	assert_int_equal(annotation.lines[1].line.line, 2);
	assert_int_equal(annotation.lines[1].cells[0].n_samples, 1 + 4 + 8);
	assert_int_equal(annotation.lines[1].cells[0].period, 10 + 40 + 80);
	assert_int_equal(annotation.lines[2].line.line, 9);
	assert_int_equal(annotation.lines[2].cells[0].n_samples, 2);
	source_texts_free(private.sources);
	arena_release(&private.arena);
	free(annotation.rows);
	free(annotation.lines);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_say_where_they_go),
		cmocka_unit_test(instructions_say_what_they_do_with_data),
		cmocka_unit_test(what_is_no_instruction_has_a_length),
		cmocka_unit_test(other_machines_are_refused_with_a_reason),
		cmocka_unit_test(samples_belong_to_the_instruction_around_them),
		cmocka_unit_test(jumps_and_calls_are_named),
		cmocka_unit_test(both_syntaxes_of_x86),
		cmocka_unit_test(code_of_arm64),
		cmocka_unit_test(data_of_arm64),
		cmocka_unit_test(data_without_bytes),
		cmocka_unit_test(a_symbol_of_size_0),
		cmocka_unit_test(a_symbol_of_100_mb),
		cmocka_unit_test(the_part_of_a_large_function_with_most_samples),
		cmocka_unit_test(parts_do_not_inherit_samples),
		cmocka_unit_test(code_that_is_not_to_be_had),
		cmocka_unit_test(samples_add_up_to_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
