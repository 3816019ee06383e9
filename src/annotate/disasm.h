/* SPDX-License-Identifier: MIT */
/*
 * disasm: bytes of code -> one instruction after the other. Private to annotate/.
 */
#ifndef PSTAT_DISASM_H
#define PSTAT_DISASM_H

#include "annotate/annotate.h"

struct disasm_instruction { /* valid until the next one is asked for */
	uint8_t n_bytes;
	const char *name; /* "callq" */
	const char *operands; /* "0x1139"; not printable as such: see annotation.c */
	enum annotate_flow flow;
	bool leaves; /* whatever the flags are, what follows is not executed next */
	/*
	 * The instruction names an address: jumps there, calls it or, relative to itself or to a page that one before
	 * it has put into a register (adrp), reads there.
	 */
	bool has_target;
	bool target_is_last_operand; /* it stands in the text, as its last operand */
	uint64_t target;
};
struct disasm;

/* NULL with a clause: this build, this machine, or the library knows no such code. machine: EM_*. */
struct disasm *disasm_open(uint16_t machine, bool intel, struct str *why);
void disasm_close(struct disasm *disasm); /* NULL is fine */
/*
 * The instruction at an address; false: the n bytes begin with none. To be called from one address to the next, for
 * registers are remembered until the flow is left.
 */
bool disasm_next(struct disasm *disasm, const uint8_t *bytes, size_t n, uint64_t addr,
		 struct disasm_instruction *instruction);
/* How much is to be passed over where there is none: all of one that is not known, where its length can be told. */
unsigned disasm_unknown(const struct disasm *disasm, const uint8_t *bytes, size_t n);

/* ---- x86_vector.c ---- */
/* The length of an instruction that begins with a vector prefix (of 64-bit code); 0: it is none, or cut. */
unsigned x86_vector_length(const uint8_t *bytes, size_t n);

#endif
