/*
 * unwind_ops: DWARF expressions as bytes -> operations as libdw has them, for unwind_expr.c. Only those that rules
 * of frames may have: what needs debug information, or makes a location of pieces, is refused.
 *
 * Source: DWARF 5, sections 2.5, 6.4.2 and 7.7.1.
 */
#include "unwind/unwind_table.h"

#include <dwarf.h>

enum operand {
	REFUSED,
	BARE, /* no operand */
	U1,
	S1,
	U2,
	S2,
	U4,
	S4,
	WORD,
	ULEB,
	SLEB,
	ULEB_SLEB,
};

/* By atom; what is REFUSED is not listed. */
static const uint8_t operands[256] = {
	[DW_OP_addr] = WORD,
	[DW_OP_deref] = BARE,
	[DW_OP_const1u] = U1,
	[DW_OP_const1s] = S1,
	[DW_OP_const2u] = U2,
	[DW_OP_const2s] = S2,
	[DW_OP_const4u] = U4,
	[DW_OP_const4s] = S4,
	[DW_OP_const8u] = WORD,
	[DW_OP_const8s] = WORD,
	[DW_OP_constu] = ULEB,
	[DW_OP_consts] = SLEB,
	[DW_OP_dup] = BARE,
	[DW_OP_drop] = BARE,
	[DW_OP_over] = BARE,
	[DW_OP_pick] = U1,
	[DW_OP_swap] = BARE,
	[DW_OP_rot] = BARE,
	[DW_OP_abs ... DW_OP_plus] = BARE,
	[DW_OP_plus_uconst] = ULEB,
	[DW_OP_shl ... DW_OP_xor] = BARE,
	[DW_OP_bra] = S2,
	[DW_OP_eq ... DW_OP_ne] = BARE,
	[DW_OP_skip] = S2,
	[DW_OP_lit0 ... DW_OP_lit31] = BARE,
	[DW_OP_reg0 ... DW_OP_reg31] = BARE,
	[DW_OP_breg0 ... DW_OP_breg31] = SLEB,
	[DW_OP_regx] = ULEB,
	[DW_OP_bregx] = ULEB_SLEB,
	[DW_OP_deref_size] = U1,
	[DW_OP_nop] = BARE,
	[DW_OP_call_frame_cfa] = BARE,
	[DW_OP_stack_value] = BARE,
};

static bool decode(struct dwarf_cursor *at, Dwarf_Op *op)
{
	switch ((enum operand)operands[op->atom]) {
	case REFUSED:
		return false;
	case BARE:
		break;
	case U1:
		op->number = cursor_u8(at);
		break;
	case S1:
		op->number = (Dwarf_Word)(int8_t)cursor_u8(at);
		break;
	case U2:
		op->number = cursor_number(at, 2);
		break;
	case S2:
		op->number = (Dwarf_Word)(int16_t)cursor_number(at, 2);
		break;
	case U4:
		op->number = cursor_number(at, 4);
		break;
	case S4:
		op->number = (Dwarf_Word)(int32_t)cursor_number(at, 4);
		break;
	case WORD:
		op->number = cursor_number(at, 8);
		break;
	case ULEB:
		op->number = cursor_uleb(at);
		break;
	case SLEB:
		op->number = (Dwarf_Word)cursor_sleb(at);
		break;
	case ULEB_SLEB:
		op->number = cursor_uleb(at);
		op->number2 = (Dwarf_Word)cursor_sleb(at);
		break;
	}
	return !at->bad;
}

size_t unwind_ops_decode(const uint8_t *bytes, size_t n, Dwarf_Op *ops, size_t max)
{
	struct dwarf_cursor at = { bytes, bytes + n, false, false };
	size_t n_ops = 0;

	while (cursor_left(&at)) {
		Dwarf_Op *op = &ops[n_ops];

		if (n_ops++ == max)
			return 0;
		*op = (Dwarf_Op){ .offset = (Dwarf_Word)(at.at - bytes) };
		op->atom = cursor_u8(&at);
		if (!decode(&at, op))
			return 0;
	}
	return n_ops;
}
