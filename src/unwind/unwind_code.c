/* SPDX-License-Identifier: MIT */
/*
 * unwind_code: patterns of instructions, some of them before ip. The first that fits holds.
 *
 * An entry of a procedure linkage table jumps to the function that it stands for; for one that is not linked yet it
 * pushes a number, and the first entry, which all of them share, pushes one more. On arm64 only the first entry
 * changes SP, on RISC-V none does.
 *
 * Sources: System V ABI AMD64, "Procedure Linkage Table"; ELF for the Arm 64-bit Architecture, "Procedure Linkage
 * Table"; RISC-V ABIs, "Procedure Linkage Table"; Intel SDM volume 2, Arm ARM and the RISC-V manual for the
 * instructions.
 */
#include "unwind/unwind_code.h"

#include <elf.h>

enum {
	PATTERN_BYTES = 20,
	BEFORE_MAX = 16,
	CALL_BYTES_MAX = 7,
};

/* CFA = SP + so many bytes; which of restored[] it restores. */
struct code_frame {
	struct unwind_rule rule;
	struct unwind_saved saved[2];
};

#define AT(reg, offset) { offset, reg, UNWIND_SAVED_AT }
#define CFA(sp, bytes, n) { .kind = UNWIND_RULE_PLAIN, .cfa_reg = sp, .cfa_offset = bytes, .n_saved = n }

static const struct code_frame x86_called = { CFA(7, 8, 1), { AT(16, -8) } };
static const struct code_frame x86_pushed = { CFA(7, 16, 1), { AT(16, -8) } };
static const struct code_frame x86_pushed_twice = { CFA(7, 24, 1), { AT(16, -8) } };
static const struct code_frame x86_saved = { CFA(7, 16, 2), { AT(16, -8), AT(6, -16) } };
static const struct code_frame x86_kept = { CFA(6, 16, 2), { AT(16, -8), AT(6, -16) } };
/* The return address is in x30. */
static const struct code_frame arm_called = { CFA(31, 0, 0), { { 0 } } };
static const struct code_frame arm_pushed = { CFA(31, 16, 1), { AT(30, -8) } };
/* The return address is in ra. */
static const struct code_frame riscv_called = { CFA(2, 0, 0), { { 0 } } };

struct pattern {
	uint16_t machine;
	uint8_t before; /* of the bytes, so many stand before ip */
	uint8_t n;
	uint8_t bytes[PATTERN_BYTES], mask[PATTERN_BYTES]; /* as they stand in memory */
	const struct code_frame *frame;
};

/* Bytes without a mask: all of their bits count; ANY4: four that don't. */
#define B 0xff
#define NO4 0, 0, 0, 0
#define B4 B, B, B, B
#define DTORS_AUX B, B, NO4, B, B, 0, B, B, B, B
/* A little-endian instruction. */
#define W(word) (word) & 0xff, (word) >> 8 & 0xff, (word) >> 16 & 0xff, (uint32_t)(word) >> 24
/* Instructions of arm64 and the bits of them that count. */
#define STP_X16_X30 W(0xa9bf7bf0)
#define ADRP_X16 W(0x90000010)
#define ADRP_MASK W(0x9f00001f)
#define LDR_X17 W(0xf9400211)
#define ADD_X16 W(0x91000210)
#define IMM12_MASK W(0xffc003ff)
#define BR_X17 W(0xd61f0220)
/* The same of RISC-V. H: an instruction of two bytes. */
#define H(half) (half) & 0xff, (half) >> 8 & 0xff
#define AUIPC_T3 W(0x00000e17)
#define AUIPC_T2 W(0x00000397)
#define AUIPC_MASK W(0x00000fff)
#define LD_T3_T3 W(0x000e3e03)
#define LD_T3_T2 W(0x0003be03)
#define ADDI_T1_T1 W(0x00030313)
#define ADDI_T0_T2 W(0x00038293)
#define I_MASK W(0x000fffff)
#define SUB_T1 W(0x41c30333)
#define SRLI_T1 W(0x00135313)
#define LD_T0_8 W(0x0082b283)
#define JALR_T1_T3 W(0x000e0367)
#define JR_T3 W(0x000e0067)
#define SD_RA H(0xe006) /* to the stack */
#define SD_RA_MASK H(0xe07f)

static const struct pattern patterns[] = {
	/* push *x(%rip); jmp *x(%rip), also with a prefix: the first entry, at either instruction */
	{ EM_X86_64, 6, 8, { 0xff, 0x35, NO4, 0xff, 0x25 }, { B, B, NO4, B, B }, &x86_pushed_twice },
	{ EM_X86_64, 6, 9, { 0xff, 0x35, NO4, 0xf2, 0xff, 0x25 }, { B, B, NO4, B, B, B }, &x86_pushed_twice },
	{ EM_X86_64, 0, 8, { 0xff, 0x35, NO4, 0xff, 0x25 }, { B, B, NO4, B, B }, &x86_pushed },
	{ EM_X86_64, 0, 9, { 0xff, 0x35, NO4, 0xf2, 0xff, 0x25 }, { B, B, NO4, B, B, B }, &x86_pushed },
	/* push $n; jmp x: the others, after the push and before it */
	{ EM_X86_64, 5, 6, { 0x68, NO4, 0xe9 }, { B, NO4, B }, &x86_pushed },
	{ EM_X86_64, 5, 7, { 0x68, NO4, 0xf2, 0xe9 }, { B, NO4, B, B }, &x86_pushed },
	{ EM_X86_64, 0, 6, { 0x68, NO4, 0xe9 }, { B, NO4, B }, &x86_called },
	{ EM_X86_64, 0, 7, { 0x68, NO4, 0xf2, 0xe9 }, { B, NO4, B, B }, &x86_called },
	{ EM_X86_64, 0, 10, { 0xf3, 0x0f, 0x1e, 0xfa, 0x68, NO4, 0xe9 }, { B4, B, NO4, B }, &x86_called },
	/* jmp *x(%rip), after endbr64, a prefix, or mov $n,%r11d */
	{ EM_X86_64, 0, 2, { 0xff, 0x25 }, { B, B }, &x86_called },
	{ EM_X86_64, 0, 3, { 0xf2, 0xff, 0x25 }, { B, B, B }, &x86_called },
	{ EM_X86_64, 0, 6, { 0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25 }, { B4, B, B }, &x86_called },
	{ EM_X86_64, 0, 7, { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25 }, { B4, B, B, B }, &x86_called },
	{ EM_X86_64, 0, 8, { 0x41, 0xbb, NO4, 0xff, 0x25 }, { B, B, NO4, B, B }, &x86_called },
	{ EM_X86_64, 0, 6, { 0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0xbb }, { B4, B, B }, &x86_called },
	/* cmpb $0,x; jne x; push %rbp; cmpq: __do_global_dtors_aux, each instruction of it */
	{ EM_X86_64, 10, 13, { 0x80, 0x3d, NO4, 0, 0x75, 0, 0x55, 0x48, 0x83, 0x3d }, { DTORS_AUX }, &x86_saved },
	{ EM_X86_64, 9, 13, { 0x80, 0x3d, NO4, 0, 0x75, 0, 0x55, 0x48, 0x83, 0x3d }, { DTORS_AUX }, &x86_called },
	{ EM_X86_64, 7, 13, { 0x80, 0x3d, NO4, 0, 0x75, 0, 0x55, 0x48, 0x83, 0x3d }, { DTORS_AUX }, &x86_called },
	{ EM_X86_64, 0, 13, { 0x80, 0x3d, NO4, 0, 0x75, 0, 0x55, 0x48, 0x83, 0x3d }, { DTORS_AUX }, &x86_called },
	/* push %rbp; mov %rsp,%rbp, after the push and before it */
	{ EM_X86_64, 1, 4, { 0x55, 0x48, 0x89, 0xe5 }, { B4 }, &x86_saved },
	{ EM_X86_64, 0, 4, { 0x55, 0x48, 0x89, 0xe5 }, { B4 }, &x86_called },
	{ EM_X86_64, 0, 8, { 0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5 }, { B4, B4 }, &x86_called },
	/* ret; pop %rbp; leave */
	{ EM_X86_64, 0, 1, { 0xc3 }, { B }, &x86_called },
	{ EM_X86_64, 0, 2, { 0xf3, 0xc3 }, { B, B }, &x86_called },
	{ EM_X86_64, 0, 2, { 0xf2, 0xc3 }, { B, B }, &x86_called },
	{ EM_X86_64, 0, 2, { 0x5d, 0xc3 }, { B, B }, &x86_saved },
	{ EM_X86_64, 0, 2, { 0xc9, 0xc3 }, { B, B }, &x86_kept },
	/* endbr64, and after it: what is jumped to from elsewhere is a function's first instruction, nearly always */
	{ EM_X86_64, 0, 4, { 0xf3, 0x0f, 0x1e, 0xfa }, { B4 }, &x86_called },
	{ EM_X86_64, 4, 4, { 0xf3, 0x0f, 0x1e, 0xfa }, { B4 }, &x86_called },
	/* The first entry, after its store, at each instruction; then all of them, and the first before its store */
	{ EM_AARCH64, 4, 12, { STP_X16_X30, ADRP_X16, LDR_X17 }, { B4, ADRP_MASK, IMM12_MASK }, &arm_pushed },
	{ EM_AARCH64, 8, 12, { STP_X16_X30, ADRP_X16, LDR_X17 }, { B4, ADRP_MASK, IMM12_MASK }, &arm_pushed },
	{ EM_AARCH64, 12, 16, { STP_X16_X30, ADRP_X16, LDR_X17, ADD_X16 }, { B4, ADRP_MASK, IMM12_MASK, IMM12_MASK },
	  &arm_pushed },
	{ EM_AARCH64, 16, 20, { STP_X16_X30, ADRP_X16, LDR_X17, ADD_X16, BR_X17 },
	  { B4, ADRP_MASK, IMM12_MASK, IMM12_MASK, B4 }, &arm_pushed },
	{ EM_AARCH64, 0, 8, { STP_X16_X30, ADRP_X16 }, { B4, ADRP_MASK }, &arm_called },
	{ EM_AARCH64, 0, 8, { ADRP_X16, LDR_X17 }, { ADRP_MASK, IMM12_MASK }, &arm_called },
	{ EM_AARCH64, 0, 8, { LDR_X17, ADD_X16 }, { IMM12_MASK, IMM12_MASK }, &arm_called },
	{ EM_AARCH64, 0, 8, { ADD_X16, BR_X17 }, { IMM12_MASK, B4 }, &arm_called },
	{ EM_AARCH64, 0, 4, { BR_X17 }, { B4 }, &arm_called },
	/* bti c; stp x29, x30, [sp, #-n]!; ret */
	{ EM_AARCH64, 0, 4, { W(0xd503245f) }, { B4 }, &arm_called },
	{ EM_AARCH64, 0, 4, { W(0xa9807bfd) }, { W(0xffc07fff) }, &arm_called },
	{ EM_AARCH64, 0, 4, { W(0xd65f03c0) }, { B4 }, &arm_called },
	/* Entries, at each instruction; the first one, at each */
	{ EM_RISCV, 0, 8, { AUIPC_T3, LD_T3_T3 }, { AUIPC_MASK, I_MASK }, &riscv_called },
	{ EM_RISCV, 0, 8, { LD_T3_T3, JALR_T1_T3 }, { I_MASK, B4 }, &riscv_called },
	{ EM_RISCV, 0, 4, { JALR_T1_T3 }, { B4 }, &riscv_called },
	{ EM_RISCV, 0, 8, { AUIPC_T2, SUB_T1 }, { AUIPC_MASK, B4 }, &riscv_called },
	{ EM_RISCV, 0, 8, { SUB_T1, LD_T3_T2 }, { B4, I_MASK }, &riscv_called },
	{ EM_RISCV, 0, 8, { LD_T3_T2, ADDI_T1_T1 }, { I_MASK, I_MASK }, &riscv_called },
	{ EM_RISCV, 0, 8, { ADDI_T1_T1, ADDI_T0_T2 }, { I_MASK, I_MASK }, &riscv_called },
	{ EM_RISCV, 0, 8, { ADDI_T0_T2, SRLI_T1 }, { I_MASK, B4 }, &riscv_called },
	{ EM_RISCV, 0, 8, { SRLI_T1, LD_T0_8 }, { B4, B4 }, &riscv_called },
	{ EM_RISCV, 0, 8, { LD_T0_8, JR_T3 }, { B4, B4 }, &riscv_called },
	{ EM_RISCV, 0, 4, { JR_T3 }, { B4 }, &riscv_called },
	/* addi sp,sp,-n, in each of three forms, and sd ra: what a function begins with; ret, in either form */
	{ EM_RISCV, 0, 4, { H(0x1101), SD_RA }, { H(0xff83), SD_RA_MASK }, &riscv_called },
	{ EM_RISCV, 0, 4, { H(0x7101), SD_RA }, { H(0xff83), SD_RA_MASK }, &riscv_called },
	{ EM_RISCV, 0, 6, { W(0x80010113), SD_RA }, { W(0x800fffff), SD_RA_MASK }, &riscv_called },
	{ EM_RISCV, 0, 2, { H(0x8082) }, { H(0xffff) }, &riscv_called },
	{ EM_RISCV, 0, 4, { W(0x00008067) }, { B4 }, &riscv_called },
};

static bool fits(const struct pattern *pattern, const uint8_t *code)
{
	for (size_t i = 0; i < pattern->n; i++)
		if ((code[i] & pattern->mask[i]) != pattern->bytes[i])
			return false;
	return true;
}

const struct unwind_rule *unwind_code_rule(struct unwind_memory *memory, uint64_t ip,
					   const struct unwind_saved **saved)
{
	uint8_t code[BEFORE_MAX + PATTERN_BYTES] = { 0 };
	bool whole = unwind_memory_code(memory, ip - BEFORE_MAX, ip, code, sizeof(code));

	if (!whole && !unwind_memory_code(memory, ip, ip, code + BEFORE_MAX, PATTERN_BYTES))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		const struct pattern *pattern = &patterns[i];

		if (pattern->machine == memory->arch->machine && (whole || !pattern->before) &&
		    fits(pattern, code + BEFORE_MAX - pattern->before)) {
			*saved = pattern->frame->saved;
			return &pattern->frame->rule;
		}
	}
	return NULL;
}

bool unwind_code_outermost(struct unwind_memory *memory, uint64_t ip)
{
	/* mov %rbx,%rsp; mov (%rsp),%rdi or pop %rdi; test %rdi,%rdi. mov x0,x19; cbnz x0 */
	static const struct pattern starts[] = {
		{ EM_X86_64, 0, 10, { 0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24, 0x48, 0x85, 0xff }, { B4, B4, B, B },
		  NULL },
		{ EM_X86_64, 0, 7, { 0x48, 0x89, 0xdc, 0x5f, 0x48, 0x85, 0xff }, { B4, B, B, B }, NULL },
		{ EM_AARCH64, 0, 8, { W(0xaa1303e0), W(0xb5000000) }, { B4, W(0xff00001f) }, NULL },
	};
	uint8_t code[PATTERN_BYTES];

	if (!unwind_memory_code(memory, ip, ip, code, sizeof(code)))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
		if (starts[i].machine == memory->arch->machine && fits(&starts[i], code))
			return true;
	return false;
}

/* ---- what stands before a return address ---- */

/* bl; blr and its signing kinds */
static bool arm_call(const uint8_t *end)
{
	uint32_t word;

	memcpy(&word, end - sizeof(word), sizeof(word));
	return (word & 0xfc000000) == 0x94000000 || (word & 0xfefff000) == 0xd63f0000;
}

/* call x: e8 and four bytes; call *x: ff /2 with up to five bytes of address */
static bool x86_call(const uint8_t *end)
{
	if (end[-5] == 0xe8)
		return true;
	for (int i = 2; i <= CALL_BYTES_MAX; i++)
		if (end[-i] == 0xff && (end[1 - i] >> 3 & 7) == 2)
			return true;
	return false;
}

/* jal ra; jalr ra; c.jalr of any register but x0, which would be ebreak */
static bool riscv_call(const uint8_t *end)
{
	uint32_t word;
	uint16_t half;

	memcpy(&word, end - sizeof(word), sizeof(word));
	memcpy(&half, end - sizeof(half), sizeof(half));
	return (word & 0xfff) == 0x0ef || (word & 0x7fff) == 0x00e7 || ((half & 0xf07f) == 0x9002 && (half & 0x0f80));
}

static bool arm_no_op(const uint8_t *end) /* nop; mov x0,x0 */
{
	uint32_t word;

	memcpy(&word, end - sizeof(word), sizeof(word));
	return word == 0xd503201f || word == 0xaa0003e0;
}

static bool x86_no_op(const uint8_t *end)
{
	return end[-1] == 0x90;
}

static bool riscv_no_op(const uint8_t *end) /* c.nop; nop */
{
	uint32_t word;

	memcpy(&word, end - sizeof(word), sizeof(word));
	return word >> 16 == 0x0001 || word == 0x00000013;
}

/* Each looks at the bytes before `end`, CALL_BYTES_MAX + 1 of a call and four of a no-op. */
static const struct before_return {
	uint16_t machine;
	bool (*call)(const uint8_t *end);
	bool (*no_op)(const uint8_t *end);
} before_returns[] = {
	{ EM_X86_64, x86_call, x86_no_op },
	{ EM_AARCH64, arm_call, arm_no_op },
	{ EM_RISCV, riscv_call, riscv_no_op },
};

static const struct before_return *before_return_of(uint16_t machine)
{
	for (size_t i = 0; i < ARRAY_SIZE(before_returns); i++)
		if (before_returns[i].machine == machine)
			return &before_returns[i];
	return NULL;
}

bool unwind_code_called(struct unwind_memory *memory, uint64_t ip)
{
	const struct before_return *row = before_return_of(memory->arch->machine);
	uint8_t code[CALL_BYTES_MAX + 1];

	if (!row || ip < sizeof(code) || !memory->address_space || !address_space_find(memory->address_space, ip - 1))
		return false;
	if (!unwind_memory_code(memory, ip - sizeof(code), ip - 1, code, sizeof(code)))
		return true;
	return row->call(code + sizeof(code));
}

bool unwind_code_made(struct unwind_memory *memory, uint64_t ip)
{
	const struct before_return *row = before_return_of(memory->arch->machine);
	uint8_t code[sizeof(uint32_t)];

	return row && unwind_memory_code(memory, ip - sizeof(code), ip, code, sizeof(code)) &&
	       row->no_op(code + sizeof(code));
}
