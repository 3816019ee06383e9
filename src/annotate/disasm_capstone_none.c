/* SPDX-License-Identifier: MIT */
/*
 * disasm_capstone_none: in place of disasm_capstone.c where the build leaves capstone out (make WITH_CAPSTONE=0).
 * No code can be shown.
 */
#include "annotate/annotate_internal.h"

#include <errno.h>

int annotate_try(struct str *err)
{
	(void)err;
	return -ENOSYS;
}

struct disasm *disasm_open(uint16_t machine, bool intel, struct str *why)
{
	(void)machine, (void)intel;
	str_add(why, "this pstat was built without capstone, which disassembles");
	return NULL;
}

void disasm_close(struct disasm *disasm)
{
	(void)disasm;
}

bool disasm_next(struct disasm *disasm, const uint8_t *bytes, size_t n, uint64_t addr,
		 struct disasm_instruction *instruction)
{
	(void)disasm, (void)bytes, (void)n, (void)addr, (void)instruction;
	return false;
}

void disasm_effect(const struct disasm *disasm, const struct disasm_instruction *instruction,
		   struct data_effect *effect)
{
	(void)disasm, (void)instruction, (void)effect;
}

uint8_t disasm_frame_pointer(const struct disasm *disasm)
{
	(void)disasm;
	return NO_REGISTER;
}

uint32_t disasm_kept_by_calls(const struct disasm *disasm, uint8_t *returned)
{
	(void)disasm, (void)returned;
	return 0;
}

unsigned disasm_unknown(const struct disasm *disasm, const uint8_t *bytes, size_t n)
{
	(void)disasm, (void)bytes, (void)n;
	return 1;
}
