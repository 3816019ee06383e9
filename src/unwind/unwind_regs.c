/* SPDX-License-Identifier: MIT */
/*
 * unwind_regs: the rows of the architectures.
 *
 * Sources: arch/{x86,arm64,riscv}/include/uapi/asm/perf_regs.h (bits); System V ABI AMD64 figure 3.36, DWARF for the
 * Arm 64-bit Architecture section 4.1, RISC-V ABIs "DWARF Register Numbers" and "Frame Pointer Convention" (numbers);
 * sigreturn(2) and the uapi headers asm/sigcontext.h, asm/ucontext.h (what a signal saves).
 */
#include "unwind/unwind_regs.h"

#include <elf.h>

/* AX BX CX DX SI DI BP SP IP, FLAGS and segments, R8 .. R15. */
static const int8_t x86_64_dwarf_of[] = {
	0, 3, 2, 1, 4, 5, 6, 7, 16, -1, -1, -1, -1, -1, -1, -1, 8, 9, 10, 11, 12, 13, 14, 15,
};

/* SP is at the ucontext; its general registers begin 40 bytes in: r8 .. r15 rdi rsi rbp rbx rdx rax rcx rsp rip. */
static const uint16_t x86_64_saved_at[UNWIND_REGS_MAX] = {
	144, 136, 152, 128, 112, 104, 120, 160, 40, 48, 56, 64, 72, 80, 88, 96, 168,
};

/* pop, pop of r8 .. r15, ret, ret with a prefix, ret with a count. */
static const struct unwind_code x86_64_returning[] = {
	{ { 0x58 }, { 0xf8 } },
	{ { 0x41, 0x58 }, { 0xff, 0xf8 } },
	{ { 0xc3 }, { 0xff } },
	{ { 0xf3, 0xc3 }, { 0xff, 0xff } },
	{ { 0xf2, 0xc3 }, { 0xff, 0xff } },
	{ { 0xc2 }, { 0xff } },
};

/* x0 .. x30, sp, pc: the kernel's order is that of DWARF. */
static const int8_t aarch64_dwarf_of[] = {
	0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
	17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
};

/* SP is at the siginfo (128 bytes), then the ucontext, whose registers begin 176 + 8 bytes in. */
static const uint16_t aarch64_saved_at[UNWIND_REGS_MAX] = {
	312, 320, 328, 336, 344, 352, 360, 368, 376, 384, 392, 400, 408, 416, 424, 432, 440,
	448, 456, 464, 472, 480, 488, 496, 504, 512, 520, 528, 536, 544, 552, 560, 568,
};

/* pc, x1 .. x31: DWARF's x0 is always 0, and its 32 is a register of floating point that no frame saves. */
static const int8_t riscv64_dwarf_of[] = {
	32, 1,	2,  3,	4,  5,	6,  7,	8,  9,	10, 11, 12, 13, 14, 15,
	16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
};

/* SP is at the siginfo (128 bytes), then the ucontext, whose registers begin 176 bytes in: pc, x1 .. x31. */
static const uint16_t riscv64_saved_at[UNWIND_REGS_MAX] = {
	0,   312, 320, 328, 336, 344, 352, 360, 368, 376, 384, 392, 400, 408, 416, 424, 432,
	440, 448, 456, 464, 472, 480, 488, 496, 504, 512, 520, 528, 536, 544, 552, 304,
};

/*
 * To add an architecture: a row and its two tables above, calls and patterns in unwind_code.c, rows in
 * tests/unit/made_fixture.h, tests/unit/test_unwind.c, and the man page of pstat-report. libdw must know
 * its CFI (elfutils backends/), and ELFDATA2LSB, 64 bit, is assumed.
 */
static const struct unwind_arch archs[] = {
	{
		.name = "x86_64",
		.n_regs = 17,
		.sp = 7,
		.pc = 16,
		.fp = 6,
		.preserved = 1 << 3 | 1 << 6 | 0xf << 12, /* rbx, rbp, r12 .. r15 */
		.link = NO_LINK,
		.address_bits = 64,
		.machine = EM_X86_64,
		.libunwind = true,
		.n_bits = ARRAY_SIZE(x86_64_dwarf_of),
		.dwarf_of = x86_64_dwarf_of,
		/* mov $15,%rax; syscall */
		.trampoline = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 },
		.trampoline_size = 9,
		.saved_at = x86_64_saved_at,
		.entry_bytes = 48, /* after that may stand other functions, as deregister_tm_clones */
		.returning = x86_64_returning,
		.n_returning = ARRAY_SIZE(x86_64_returning),
	},
	{
		.name = "aarch64",
		.n_regs = 33,
		.sp = 31,
		.pc = 32,
		.fp = 29,
		.preserved = 0x7ff << 19, /* x19 .. x29 */
		.link = 30,
		.link_bit = 30,
		.address_bits = 48,
		.machine = EM_AARCH64,
		/* Up to 1.6 it follows frame pointers where a step fails, calls that the end, and keeps signatures. */
		.libunwind = false,
		.n_bits = ARRAY_SIZE(aarch64_dwarf_of),
		.dwarf_of = aarch64_dwarf_of,
		/* mov x8, #139; svc #0 */
		.trampoline = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 },
		.trampoline_size = 8,
		.saved_at = aarch64_saved_at,
		.entry_bytes = 64,
	},
	{
		.name = "riscv64",
		.n_regs = 33,
		.sp = 2,
		.pc = 32,
		.fp = 8,
		.pair_below = 16,
		.preserved = 1 << 3 | 1 << 4 | 3 << 8 | 0x3ff << 18, /* gp, tp, s0, s1, s2 .. s11 */
		.link = 1,
		.link_bit = 1,
		.address_bits = 64,
		.machine = EM_RISCV,
		.n_bits = ARRAY_SIZE(riscv64_dwarf_of),
		.dwarf_of = riscv64_dwarf_of,
		/* li a7, 139; ecall */
		.trampoline = { 0x93, 0x08, 0xb0, 0x08, 0x73, 0, 0, 0 },
		.trampoline_size = 8,
		.saved_at = riscv64_saved_at,
		.entry_bytes = 34,
	},
};

const struct unwind_arch *unwind_arch_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(archs); i++)
		if (!strcmp(archs[i].name, name))
			return &archs[i];
	return NULL;
}

const struct unwind_arch *unwind_arch_of(uint16_t machine)
{
	for (size_t i = 0; i < ARRAY_SIZE(archs); i++)
		if (archs[i].machine == machine)
			return &archs[i];
	return NULL;
}

bool unwind_regs_take(const struct unwind_arch *arch, const struct unwind_input *input,
		      struct unwind_regs *regs)
{
	unsigned n = 0;
	uint64_t needed = 1ULL << arch->pc | 1ULL << arch->sp;

	regs->known = 0;
	for (unsigned bit = 0; bit < arch->n_bits && n < input->n_regs; bit++) {
		if (!(input->mask >> bit & 1))
			continue;
		if (arch->dwarf_of[bit] >= 0)
			unwind_regs_set(regs, (unsigned)arch->dwarf_of[bit], input->regs[n]);
		n++;
	}
	return (regs->known & needed) == needed;
}

uint64_t unwind_regs_strip(const struct unwind_arch *arch, const struct address_space *space, uint64_t ip)
{
	unsigned bits = arch->address_bits;

	if (bits == 64 || !(ip >> bits) || (space && address_space_find(space, ip)))
		return ip;
	return ip & ((1ULL << bits) - 1);
}
