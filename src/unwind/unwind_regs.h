/* SPDX-License-Identifier: MIT */
/*
 * unwind_regs: what unwinding must know of an architecture, one row each. Sampled registers are numbered
 * by the kernel, unwind tables and libunwind use the numbers of the architecture's DWARF supplement;
 * the program counter, where DWARF has no column of its own, is kept after the others.
 *
 * Private to unwind/.
 */
#ifndef PSTAT_UNWIND_REGS_H
#define PSTAT_UNWIND_REGS_H

#include "unwind/unwind.h"

enum { UNWIND_REGS_MAX = 33, NO_LINK = 255 };

/* Values by DWARF number. */
struct unwind_regs {
	uint64_t v[UNWIND_REGS_MAX];
	uint64_t known; /* bit: v is known */
};

/* Instructions by their first two bytes. */
struct unwind_code {
	uint8_t bytes[2], mask[2];
};

struct unwind_arch {
	const char *name; /* as the header's ARCH has it */
	uint8_t n_regs; /* numbers 0 .. n_regs - 1 */
	uint8_t sp, pc, fp; /* their numbers */
	uint8_t pair_below; /* so many bytes below fp begin the caller's fp and, after it, the return address */
	uint64_t preserved; /* bit: a call leaves it as it was, where tables say nothing of it */
	uint8_t link, link_bit; /* what a call leaves the return address in, and its bit; NO_LINK: memory */
	uint8_t address_bits; /* return addresses may be signed in the bits above; 64: never */
	uint16_t machine; /* EM_* of its ELF files */
	bool libunwind; /* its build for this architecture gives chains that can be relied on */
	uint8_t n_bits; /* elements of dwarf_of */
	const int8_t *dwarf_of; /* by bit of sample_regs_user: the DWARF number; -1: none */
	/* The code that a signal handler returns to, and where from SP the kernel saved what was interrupted. */
	uint8_t trampoline[16], trampoline_size;
	const uint16_t *saved_at; /* by DWARF number, bytes from SP; 0: not saved */
	uint8_t entry_bytes; /* the first code of a process, where it has no tables, is at most that long */
	/* Instructions that restore one register from the stack, or return. NULL: tables know of each step. */
	const struct unwind_code *returning;
	size_t n_returning;
};

/* The row of an architecture, or NULL. */
const struct unwind_arch *unwind_arch_find(const char *name);
/* The same by the machine of its ELF files, EM_*. */
const struct unwind_arch *unwind_arch_of(uint16_t machine);

static inline bool unwind_regs_get(const struct unwind_regs *regs, uint64_t number, uint64_t *value)
{
	if (number >= UNWIND_REGS_MAX || !(regs->known >> number & 1))
		return false;
	*value = regs->v[number];
	return true;
}

static inline void unwind_regs_set(struct unwind_regs *regs, unsigned number, uint64_t value)
{
	regs->v[number] = value;
	regs->known |= 1ULL << number;
}

/* The input's registers by DWARF number. false: the program counter or the stack pointer is missing. */
bool unwind_regs_take(const struct unwind_arch *arch, const struct unwind_input *input,
		      struct unwind_regs *regs);
/* A return address without its signature: what is mapped has none. space may be NULL. */
uint64_t unwind_regs_strip(const struct unwind_arch *arch, const struct address_space *space, uint64_t ip);

#endif
