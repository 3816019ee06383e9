/* SPDX-License-Identifier: MIT */
/*
 * unwind_expr: bytes -> operations, and a stack machine over them. Only operations that rules of frames may have are
 * decoded: what needs debug information, or makes a location of pieces, is refused. Arithmetic wraps around in 64 bits.
 * Each operation costs one of the sample's budget, so that a loop ends.
 *
 * Sources: DWARF 5, sections 2.5, 6.4.2 and 7.7.1.
 */
#include "unwind/unwind_expr.h"

#include <dwarf.h>

enum { EXPR_STACK_MAX = 64 };

/* ---- bytes -> operations ---- */

enum op_operand {
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
	switch ((enum op_operand)operands[op->atom]) {
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

size_t unwind_expr_decode(const uint8_t *bytes, size_t n, Dwarf_Op *ops, size_t max)
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

/* ---- operations -> a value ---- */

struct expr_machine {
	const struct unwind_expr *expr;
	const Dwarf_Op *ops;
	size_t n_ops, at;
	uint64_t stack[EXPR_STACK_MAX];
	size_t n;
	bool is_value;
};

static bool push(struct expr_machine *m, uint64_t value)
{
	if (m->n == EXPR_STACK_MAX)
		return false;
	m->stack[m->n++] = value;
	return true;
}

static bool push_register(struct expr_machine *m, uint64_t number, uint64_t offset)
{
	uint64_t value;

	if (unwind_regs_get(m->expr->regs, number, &value))
		return push(m, value + offset);
	m->expr->memory->why = UNWIND_NO_INFO;
	return false;
}

/* Moves to the operation that begins where a branch leads: distances count from after the branch. */
static bool branch(struct expr_machine *m, const Dwarf_Op *op)
{
	Dwarf_Word target = op->offset + 3 + (Dwarf_Word)(int64_t)(int16_t)op->number;
	const Dwarf_Op *last = &m->ops[m->n_ops - 1];

	if (target > last->offset) {
		m->at = m->n_ops;
		return true;
	}
	for (size_t i = 0; i < m->n_ops; i++)
		if (m->ops[i].offset == target) {
			m->at = i;
			return true;
		}
	return false;
}

static bool deref(struct expr_machine *m, unsigned size)
{
	return m->n && size >= 1 && size <= 8 &&
	       unwind_memory_read(m->expr->memory, m->stack[m->n - 1], size, &m->stack[m->n - 1]);
}

/* false: not an operation on one operand. */
static bool unary(const Dwarf_Op *op, uint64_t *value)
{
	switch (op->atom) {
	case DW_OP_abs:
		*value = *value >> 63 ? -*value : *value;
		return true;
	case DW_OP_neg:
		*value = -*value;
		return true;
	case DW_OP_not:
		*value = ~*value;
		return true;
	case DW_OP_plus_uconst:
		*value += op->number;
		return true;
	default:
		return false;
	}
}

static bool divide(uint64_t a, uint64_t b, uint64_t *result)
{
	if (!b)
		return false;
	/* The one quotient that does not fit is its own wrapped value. */
	*result = b == UINT64_MAX ? -a : (uint64_t)((int64_t)a / (int64_t)b);
	return true;
}

static uint64_t shift_signed(uint64_t a, uint64_t b)
{
	return (uint64_t)((int64_t)a >> (b < 63 ? b : 63));
}

/* false: not an operation on two operands, or a division by 0. a is below b on the stack. */
static bool binary(unsigned atom, uint64_t a, uint64_t b, uint64_t *result)
{
	int64_t signed_a = (int64_t)a, signed_b = (int64_t)b;

	switch (atom) {
	case DW_OP_and:
		*result = a & b;
		return true;
	case DW_OP_div:
		return divide(a, b, result);
	case DW_OP_minus:
		*result = a - b;
		return true;
	case DW_OP_mod:
		*result = b ? a % b : 0;
		return b;
	case DW_OP_mul:
		*result = a * b;
		return true;
	case DW_OP_or:
		*result = a | b;
		return true;
	case DW_OP_plus:
		*result = a + b;
		return true;
	case DW_OP_shl:
		*result = b < 64 ? a << b : 0;
		return true;
	case DW_OP_shr:
		*result = b < 64 ? a >> b : 0;
		return true;
	case DW_OP_shra:
		*result = shift_signed(a, b);
		return true;
	case DW_OP_xor:
		*result = a ^ b;
		return true;
	case DW_OP_eq:
		*result = a == b;
		return true;
	case DW_OP_ne:
		*result = a != b;
		return true;
	case DW_OP_ge:
		*result = signed_a >= signed_b;
		return true;
	case DW_OP_gt:
		*result = signed_a > signed_b;
		return true;
	case DW_OP_le:
		*result = signed_a <= signed_b;
		return true;
	case DW_OP_lt:
		*result = signed_a < signed_b;
		return true;
	default:
		return false;
	}
}

static bool arithmetic(struct expr_machine *m, const Dwarf_Op *op)
{
	if (m->n >= 1 && unary(op, &m->stack[m->n - 1]))
		return true;
	if (m->n < 2 ||
	    !binary(op->atom, m->stack[m->n - 2], m->stack[m->n - 1], &m->stack[m->n - 2]))
		return false;
	m->n--;
	return true;
}

static bool pick(struct expr_machine *m, uint64_t depth)
{
	return depth < m->n && push(m, m->stack[m->n - 1 - depth]);
}

/* The top n elements turn by one: the top goes below the others. */
static bool rotate(struct expr_machine *m, size_t n)
{
	uint64_t top;

	if (m->n < n)
		return false;
	top = m->stack[m->n - 1];
	memmove(&m->stack[m->n - n + 1], &m->stack[m->n - n], (n - 1) * sizeof(top));
	m->stack[m->n - n] = top;
	return true;
}

static bool constant_or_register(struct expr_machine *m, const Dwarf_Op *op, bool *handled)
{
	unsigned atom = op->atom;

	*handled = true;
	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
		return push(m, atom - DW_OP_lit0);
	if (atom >= DW_OP_const1u && atom <= DW_OP_consts)
		return push(m, op->number);
	if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
		m->is_value = true;
		return push_register(m, atom - DW_OP_reg0, 0);
	}
	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
		return push_register(m, atom - DW_OP_breg0, op->number);
	*handled = false;
	return false;
}

static bool operation(struct expr_machine *m, const Dwarf_Op *op)
{
	bool handled, done = constant_or_register(m, op, &handled);

	if (handled)
		return done;
	switch (op->atom) {
	case DW_OP_nop:
		return true;
	case DW_OP_addr:
		return push(m, op->number + m->expr->bias);
	case DW_OP_regx:
		m->is_value = true;
		return push_register(m, op->number, 0);
	case DW_OP_bregx:
		return push_register(m, op->number, op->number2);
	case DW_OP_call_frame_cfa:
		return m->expr->has_cfa && push(m, m->expr->cfa);
	case DW_OP_stack_value:
		m->is_value = true;
		return true;
	case DW_OP_dup:
		return pick(m, 0);
	case DW_OP_over:
		return pick(m, 1);
	case DW_OP_pick:
		return pick(m, op->number);
	case DW_OP_drop:
		return m->n && m->n--;
	case DW_OP_swap:
		return rotate(m, 2);
	case DW_OP_rot:
		return rotate(m, 3);
	case DW_OP_deref:
		return deref(m, 8);
	case DW_OP_deref_size:
		return op->number <= 8 && deref(m, (unsigned)op->number);
	case DW_OP_skip:
		return branch(m, op);
	case DW_OP_bra:
		return m->n && (!m->stack[--m->n] || branch(m, op));
	default:
		return arithmetic(m, op);
	}
}

bool unwind_expr_eval(const struct unwind_expr *expr, const Dwarf_Op *ops, size_t n,
		      uint64_t *result, bool *is_value)
{
	struct expr_machine m = { .expr = expr, .ops = ops, .n_ops = n };

	expr->memory->why = UNWIND_BROKEN;
	while (m.at < n)
		if (!unwind_memory_spend(expr->memory) || !operation(&m, &ops[m.at++]))
			return false;
	if (!m.n)
		return false;
	*result = m.stack[m.n - 1];
	*is_value = m.is_value;
	return true;
}
