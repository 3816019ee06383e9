/*
 * unwind_program: runs the program of each FDE once, which says from which address on which register is where, and
 * makes a row of each address where something changes.
 *
 * A CIE's own instructions are run once, whatever number of FDEs begins with them. An instruction that is not
 * understood ends an FDE's rows: what is left of its code is another unwinder's.
 *
 * Sources: DWARF 5, section 6.4.2; Linux Standard Base Core, "DWARF Extensions"; DWARF for the Arm 64-bit
 * Architecture, section 4.4 (return addresses that are signed).
 */
#include "unwind/unwind_cfi.h"

#include <dwarf.h>
#include <stdlib.h>

enum {
	REMEMBERED_MAX = 16, /* states at a time; compilers need one or two */
	CFA_LOW_SIX = 0x3f,
	/* Of arm64; the first is GNU_window_save elsewhere. */
	CFA_NEGATE_RA_STATE = 0x2d,
	CFA_NEGATE_RA_STATE_WITH_PC = 0x2c,
};

struct run {
	const struct unwind_arch *arch;
	const struct cfi_section *section;
	struct unwind_builder *builder;
	const struct cfi_cie *cie;
	const struct unwind_state *initial; /* NULL: the CIE's own instructions */
	struct unwind_state state, remembered[REMEMBERED_MAX];
	size_t n_remembered;
	uint64_t loc, end; /* the code whose row is being made */
	bool changed; /* the state, since its rule was looked up */
	uint32_t rule;
};

/* The states that CIEs begin with, by number; made when the first FDE needs one. */
struct initial {
	struct unwind_state *state;
	bool tried; /* tried without state: not understood */
};

/* ---- registers ---- */

static bool set_saved(struct run *run, uint64_t reg, enum unwind_saved_how how, int64_t offset)
{
	if (offset != (int32_t)offset)
		return false;
	if (reg >= run->arch->n_regs) /* of vectors and the like: no frame hangs on them */
		return true;
	run->state.set |= 1ULL << reg;
	run->state.saved[reg].how = (uint8_t)how;
	run->state.saved[reg].offset = (int32_t)offset;
	return true;
}

static bool set_factored(struct run *run, uint64_t reg, enum unwind_saved_how how, int64_t factor)
{
	int64_t offset;

	return !__builtin_mul_overflow(factor, run->cie->data_align, &offset) && set_saved(run, reg, how, offset);
}

/* An expression's number, or below 0; see unwind_builder_block. */
static int32_t take_block(struct run *run, struct dwarf_cursor *at, bool of_register)
{
	uint64_t n = cursor_uleb(at);
	const uint8_t *bytes = at->at;

	cursor_skip(at, n);
	return at->bad ? -1 : unwind_builder_block(run->builder, bytes, (size_t)n, of_register);
}

static bool set_block(struct run *run, struct dwarf_cursor *at, uint64_t reg, enum unwind_saved_how how)
{
	int32_t block = take_block(run, at, true);

	return block >= 0 && set_saved(run, reg, how, block);
}

static bool restore(struct run *run, uint64_t reg)
{
	const struct unwind_state *initial = run->initial;

	if (!initial)
		return false;
	if (reg >= run->arch->n_regs)
		return true;
	run->state.set &= ~(1ULL << reg);
	run->state.set |= initial->set & 1ULL << reg;
	run->state.saved[reg] = initial->saved[reg];
	return true;
}

/* ---- the CFA ---- */

static bool set_cfa(struct run *run, uint64_t reg, int64_t offset)
{
	struct unwind_rule *cfa = &run->state.cfa;

	if (reg >= run->arch->n_regs || offset != (int32_t)offset)
		return false;
	cfa->cfa_reg = (uint8_t)reg;
	cfa->cfa_offset = (int32_t)offset;
	cfa->cfa_expression = false;
	return true;
}

static bool set_cfa_factored(struct run *run, uint64_t reg, int64_t factor)
{
	int64_t offset;

	return !__builtin_mul_overflow(factor, run->cie->data_align, &offset) && set_cfa(run, reg, offset);
}

static bool set_cfa_block(struct run *run, struct dwarf_cursor *at)
{
	int32_t block = take_block(run, at, false);

	run->state.cfa.cfa_expression = true;
	run->state.cfa.cfa_reg = 0;
	run->state.cfa.cfa_offset = block;
	return block >= 0;
}

/* ---- places ---- */

/* The state holds up to `to`. */
static bool advance_to(struct run *run, uint64_t to)
{
	if (!run->initial || to < run->loc)
		return false;
	if (run->changed)
		run->rule = unwind_builder_rule(run->builder, &run->state, (unsigned)run->cie->return_reg);
	run->changed = false;
	if (to > run->loc)
		unwind_builder_row(run->builder, run->loc, run->rule);
	run->loc = to < run->end ? to : run->end;
	return true;
}

static bool advance(struct run *run, uint64_t factor)
{
	uint64_t bytes;

	return !__builtin_mul_overflow(factor, run->cie->code_align, &bytes) && bytes <= UINT32_MAX &&
	       advance_to(run, run->loc + bytes);
}

static bool set_loc(struct run *run, struct dwarf_cursor *at)
{
	uint64_t vaddr;

	return cfi_pointer(run->section, at, run->cie->encoding, &vaddr) &&
	       vaddr - run->builder->table.base <= UINT32_MAX && advance_to(run, vaddr - run->builder->table.base);
}

static bool remember(struct run *run)
{
	if (run->n_remembered == REMEMBERED_MAX)
		return false;
	run->remembered[run->n_remembered++] = run->state;
	return true;
}

static bool recall(struct run *run)
{
	if (!run->n_remembered)
		return false;
	run->state = run->remembered[--run->n_remembered];
	return true;
}

/* ---- instructions ---- */

/* Those about the CFA and places. */
static bool frame_instruction(struct run *run, uint8_t code, struct dwarf_cursor *at)
{
	uint64_t reg;

	switch (code) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_set_loc:
		return set_loc(run, at);
	case DW_CFA_advance_loc1:
		return advance(run, cursor_u8(at));
	case DW_CFA_advance_loc2:
		return advance(run, cursor_number(at, 2));
	case DW_CFA_advance_loc4:
		return advance(run, cursor_number(at, 4));
	case DW_CFA_remember_state:
		return remember(run);
	case DW_CFA_restore_state:
		return recall(run);
	case DW_CFA_def_cfa:
		reg = cursor_uleb(at);
		return set_cfa(run, reg, (int64_t)cursor_uleb(at));
	case DW_CFA_def_cfa_sf:
		reg = cursor_uleb(at);
		return set_cfa_factored(run, reg, cursor_sleb(at));
	case DW_CFA_def_cfa_register:
		return !run->state.cfa.cfa_expression &&
		       set_cfa(run, cursor_uleb(at), run->state.cfa.cfa_offset);
	case DW_CFA_def_cfa_offset:
		return !run->state.cfa.cfa_expression &&
		       set_cfa(run, run->state.cfa.cfa_reg, (int64_t)cursor_uleb(at));
	case DW_CFA_def_cfa_offset_sf:
		return !run->state.cfa.cfa_expression &&
		       set_cfa_factored(run, run->state.cfa.cfa_reg, cursor_sleb(at));
	case DW_CFA_def_cfa_expression:
		return set_cfa_block(run, at);
	case DW_CFA_GNU_args_size:
		cursor_uleb(at);
		return true;
	case CFA_NEGATE_RA_STATE: /* signatures are taken off whatever has one */
	case CFA_NEGATE_RA_STATE_WITH_PC:
		return run->arch->address_bits < 64;
	default:
		return false;
	}
}

/* Those that begin with the number of a register. */
static bool register_instruction(struct run *run, uint8_t code, struct dwarf_cursor *at)
{
	uint64_t reg = cursor_uleb(at);
	uint64_t other;

	switch (code) {
	case DW_CFA_offset_extended:
		return set_factored(run, reg, UNWIND_SAVED_AT, (int64_t)cursor_uleb(at));
	case DW_CFA_offset_extended_sf:
		return set_factored(run, reg, UNWIND_SAVED_AT, cursor_sleb(at));
	case DW_CFA_GNU_negative_offset_extended:
		other = cursor_uleb(at);
		return other <= INT32_MAX && set_factored(run, reg, UNWIND_SAVED_AT, -(int64_t)other);
	case DW_CFA_val_offset:
		return set_factored(run, reg, UNWIND_SAVED_CFA, (int64_t)cursor_uleb(at));
	case DW_CFA_val_offset_sf:
		return set_factored(run, reg, UNWIND_SAVED_CFA, cursor_sleb(at));
	case DW_CFA_restore_extended:
		return restore(run, reg);
	case DW_CFA_undefined:
		return set_saved(run, reg, UNWIND_SAVED_NOT, 0);
	case DW_CFA_same_value:
		return set_saved(run, reg, UNWIND_SAVED_SAME, 0);
	case DW_CFA_register:
		other = cursor_uleb(at);
		return other < run->arch->n_regs && set_saved(run, reg, UNWIND_SAVED_REGISTER, (int64_t)other);
	case DW_CFA_expression:
		return set_block(run, at, reg, UNWIND_SAVED_EXPRESSION);
	case DW_CFA_val_expression:
		return set_block(run, at, reg, UNWIND_SAVED_VALUE);
	default:
		return false;
	}
}

static bool has_register_first(uint8_t code)
{
	switch (code) {
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
	case DW_CFA_GNU_negative_offset_extended:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
	case DW_CFA_restore_extended:
	case DW_CFA_undefined:
	case DW_CFA_same_value:
	case DW_CFA_register:
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		return true;
	default:
		return false;
	}
}

static bool instruction(struct run *run, struct dwarf_cursor *at)
{
	uint8_t code = cursor_u8(at), low = code & CFA_LOW_SIX;
	bool done;

	switch (code & ~CFA_LOW_SIX) {
	case DW_CFA_advance_loc:
		return advance(run, low);
	case DW_CFA_offset:
		done = set_factored(run, low, UNWIND_SAVED_AT, (int64_t)cursor_uleb(at));
		break;
	case DW_CFA_restore:
		done = restore(run, low);
		break;
	default:
		done = has_register_first(code) ? register_instruction(run, code, at) :
						  frame_instruction(run, code, at);
		if (code >= DW_CFA_set_loc && code <= DW_CFA_advance_loc4)
			return done;
	}
	run->changed = true;
	return done && !at->bad;
}

/* false: something was not understood; what came before it holds. */
static bool run_program(struct run *run, const uint8_t *program, const uint8_t *end)
{
	struct dwarf_cursor at = { program, end, false, false };

	while (cursor_left(&at) && run->loc < run->end)
		if (!instruction(run, &at) || at.bad)
			return false;
	return true;
}

/* ---- entries ---- */

static const struct unwind_state *initial_of(struct run *run, struct initial *initial)
{
	if (initial->tried)
		return initial->state;
	initial->tried = true;
	run->initial = NULL;
	run->state = (struct unwind_state){ .cfa.signal = run->cie->signal };
	run->n_remembered = 0;
	run->loc = 0;
	run->end = 1;
	if (run->cie->return_reg >= run->arch->n_regs || !run_program(run, run->cie->program, run->cie->end))
		return NULL;
	initial->state = xmalloc(sizeof(*initial->state));
	*initial->state = run->state;
	return initial->state;
}

static void run_fde(struct run *run, const struct cfi_fde *fde, uint64_t end, struct initial *initial)
{
	const uint8_t *program = run->section->bytes + fde->program;
	bool understood;

	run->initial = initial_of(run, initial);
	run->loc = fde->start;
	run->end = end;
	run->n_remembered = 0;
	run->changed = true;
	if (run->initial)
		run->state = *run->initial;
	understood = run->initial && run_program(run, program, program + fde->program_bytes);
	if (understood)
		advance_to(run, end);
	else
		unwind_builder_row(run->builder, run->loc, UNWIND_RULE_NUMBER_OTHER);
}

void cfi_rows(const struct cfi_entries *entries, const struct cfi_section *section, const struct unwind_arch *arch,
	      struct unwind_builder *builder)
{
	struct initial *initials = xcalloc(entries->n_cies + 1, sizeof(*initials));
	struct run *run = xcalloc(1, sizeof(*run));

	*run = (struct run){ .arch = arch, .section = section, .builder = builder };
	for (size_t i = 0; i < entries->n_fdes; i++) {
		const struct cfi_fde *fde = &entries->fdes[i];
		const struct cfi_fde *next = i + 1 < entries->n_fdes ? fde + 1 : NULL;
		uint64_t end = next && next->start < fde->end ? next->start : fde->end;

		if (end == fde->start) /* the next one has the same start */
			continue;
		run->cie = &entries->cies[fde->cie];
		run_fde(run, fde, end, &initials[fde->cie]);
		if (!next || next->start > end)
			unwind_builder_row(builder, end, UNWIND_RULE_NUMBER_NONE);
	}
	builder->table.incomplete |= entries->incomplete;
	for (size_t i = 0; i < entries->n_cies; i++)
		free(initials[i].state);
	free(initials);
	free(run);
}
