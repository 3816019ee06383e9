/* SPDX-License-Identifier: MIT */
/*
 * unwind_cfi: the entries of a section say which code each FDE is about, and by which CIE its program is to be read;
 * a program says from which address on which register is where, and is run once for a row of each address where
 * something changes.
 *
 *	.eh_frame      length | 0                 version, augmentation, ...        CIE
 *	               length | distance to CIE   start, bytes, ..., program        FDE
 *	.debug_frame   length | ~0                version, augmentation, ...        CIE
 *	               length | place of the CIE  start, bytes, program             FDE
 *
 * Each entry is read once, CIEs when an FDE names them first. Entries that make no sense are left out and remembered as
 * that; they don't end the walk, for their length says where the next one begins. A CIE's own instructions are run
 * once, whatever number of FDEs begins with them. An instruction that is not understood ends an FDE's rows: the rest
 * of its code is left to another unwinder.
 *
 * Sources: Linux Standard Base Core, "Exception Frames" and "DWARF Extensions"; DWARF 5, sections 6.4 and 7.24; DWARF
 * for the Arm 64-bit Architecture, section 4.4 (return addresses that are signed).
 */
#include "unwind/unwind_cfi.h"

#include <dwarf.h>
#include <stdlib.h>

enum {
	CIES_MAX = 1 << 16,
	PE_FORMAT = 0x0f, /* of an encoding */
	PE_RELATIVE = 0x70,
	PE_INDIRECT = 0x80,
	REMEMBERED_MAX = 16, /* states at a time; compilers need one or two */
	CFA_LOW_SIX = 0x3f,
	/* The codes of arm64; elsewhere the first is GNU_window_save. */
	CFA_NEGATE_RA_STATE = 0x2d,
	CFA_NEGATE_RA_STATE_WITH_PC = 0x2c,
};

struct cfi_cie {
	uint32_t at; /* where it begins in the section */
	bool usable;
	bool augmented; /* its FDEs have the length of their augmentation */
	bool signal;
	uint8_t encoding; /* DW_EH_PE_* of its FDEs' addresses */
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_reg;
	const uint8_t *program, *end;
};

struct cfi_fde {
	uint32_t start, end; /* the code, from the base that was given; start < end */
	uint32_t cie; /* number */
	uint32_t program, program_bytes; /* where in the section */
};

struct cfi_entries {
	struct cfi_cie *cies;
	size_t n_cies, cap_cies;
	struct cfi_fde *fdes; /* in order of start, and of the section where several have one start */
	size_t n_fdes, cap_fdes;
	struct index by_at; /* CIEs */
	bool incomplete; /* entries were not understood, or there are too many */
};

struct cfi_entry {
	struct dwarf_cursor at; /* after its id */
	uint32_t begin; /* in the section */
	size_t id_at;
	uint64_t id;
	bool wide; /* of 64-bit DWARF */
};

struct cfi_run {
	const struct unwind_arch *arch;
	const struct cfi_section *section;
	struct unwind_builder *builder;
	const struct cfi_cie *cie;
	const struct unwind_row_state *initial; /* NULL: the CIE's own instructions */
	struct unwind_row_state state, remembered[REMEMBERED_MAX];
	size_t n_remembered;
	uint64_t loc, end; /* the code whose row is being made */
	bool changed; /* the state, since its rule was looked up */
	uint32_t rule;
};

/* The states that CIEs begin with, by number; made when the first FDE needs one. */
struct initial_state {
	struct unwind_row_state *state;
	bool tried; /* tried without state: not understood */
};

/* ---- numbers ---- */

/* Bytes of a DW_EH_PE_ format with a fixed size; 0: it has none. */
static unsigned format_bytes(uint8_t encoding)
{
	static const uint8_t bytes[16] = { 8, 0, 2, 4, 8, 0, 0, 0, 8, 0, 2, 4, 8 };

	return bytes[encoding & PE_FORMAT];
}

static bool read_format(struct dwarf_cursor *at, uint8_t encoding, uint64_t *value)
{
	unsigned bytes = format_bytes(encoding), unused = 64 - 8 * bytes;

	switch (encoding & PE_FORMAT) {
	case DW_EH_PE_uleb128:
		*value = cursor_uleb(at);
		return !at->bad;
	case DW_EH_PE_sleb128:
		*value = (uint64_t)cursor_sleb(at);
		return !at->bad;
	default:
		if (!bytes)
			return false;
		*value = cursor_number(at, bytes);
		if (encoding & DW_EH_PE_signed && unused)
			*value = (uint64_t)((int64_t)(*value << unused) >> unused);
		return !at->bad;
	}
}

/* A pointer in this encoding at the cursor, in section. false: not one that can be known here. */
static bool cfi_pointer(const struct cfi_section *section, struct dwarf_cursor *at, uint8_t encoding, uint64_t *value)
{
	uint64_t here = section->vaddr + (uint64_t)(at->at - section->bytes);

	if (encoding == DW_EH_PE_omit || encoding & PE_INDIRECT || !read_format(at, encoding, value))
		return false;
	if ((encoding & PE_RELATIVE) == DW_EH_PE_pcrel)
		*value += here;
	return (encoding & PE_RELATIVE) == DW_EH_PE_pcrel || (encoding & PE_RELATIVE) == DW_EH_PE_absptr;
}

/* ---- entries ---- */

/* The entry at the cursor, which moves after it. false: no more. */
static bool next_entry(const struct cfi_section *section, struct dwarf_cursor *at, struct cfi_entry *entry)
{
	uint64_t length = 0;

	/* The end of one file's entries may be followed by those of another. */
	while (!length && cursor_left(at)) {
		entry->begin = (uint32_t)(at->at - section->bytes);
		length = cursor_number(at, 4);
	}
	entry->wide = length == UINT32_MAX;
	if (entry->wide)
		length = cursor_number(at, 8);
	if (at->bad || !length || length > cursor_left(at))
		return false;
	entry->at = (struct dwarf_cursor){ at->at, at->at + length, false, false };
	cursor_skip(at, length);
	entry->id_at = (size_t)(entry->at.at - section->bytes);
	entry->id = cursor_number(&entry->at, entry->wide ? 8 : 4);
	return true;
}

static bool is_cie(const struct cfi_section *section, const struct cfi_entry *entry)
{
	if (!section->debug_frame)
		return !entry->id;
	return entry->id == (entry->wide ? UINT64_MAX : UINT32_MAX);
}

/* Reads what the letters after 'z' announce; `at` is the cursor over these bytes alone. */
static bool read_augmentation(const char *letters, struct dwarf_cursor at,
			      struct cfi_cie *cie)
{
	uint64_t ignored;
	uint8_t encoding;

	for (; *letters; letters++)
		switch (*letters) {
		case 'R':
			cie->encoding = cursor_u8(&at);
			break;
		case 'S':
			cie->signal = true;
			break;
		case 'L':
			cursor_u8(&at);
			break;
		case 'P':
			encoding = cursor_u8(&at);
			if (!read_format(&at, encoding, &ignored))
				return false;
			break;
		case 'B': /* signed with the other key */
		case 'G': /* tagged stack */
			break;
		default:
			return false;
		}
	return !at.bad;
}

static bool read_cie(struct dwarf_cursor at, struct cfi_cie *cie)
{
	uint8_t version = cursor_u8(&at);
	const char *augmentation = cursor_text(&at);

	if (!augmentation || (version != 1 && version != 3 && version != 4))
		return false;
	if (!strncmp(augmentation, "eh", 2)) { /* of very old compilers */
		cursor_skip(&at, 8);
		augmentation += 2;
	}
	/* Bytes of an address, bytes of a segment's number. */
	if (version == 4 && (cursor_u8(&at) != 8 || cursor_u8(&at)))
		return false;
	cie->code_align = cursor_uleb(&at);
	cie->data_align = cursor_sleb(&at);
	cie->return_reg = version == 1 ? cursor_u8(&at) : cursor_uleb(&at);
	cie->augmented = *augmentation == 'z';
	if (*augmentation && !cie->augmented)
		return false;
	if (cie->augmented) {
		uint64_t n = cursor_uleb(&at);
		struct dwarf_cursor data = at;

		cursor_skip(&at, n);
		data.end = at.at;
		if (at.bad || !read_augmentation(augmentation + 1, data, cie))
			return false;
	}
	cie->program = at.at;
	cie->end = at.end;
	return !at.bad;
}

/* The number of the CIE at a place; negative: there are too many. */
static int64_t cie_at(struct cfi_entries *entries, const struct cfi_section *section, uint64_t place)
{
	struct dwarf_cursor at = { section->bytes, section->bytes + section->n, false, false };
	struct cfi_cie cie = { .at = (uint32_t)place };
	struct cfi_entry entry;
	uint32_t i;

	if (place >= section->n || entries->n_cies == CIES_MAX)
		return -1;
	if (INDEX_FIND(&entries->by_at, hash_word(place), i, entries->cies[i].at == place))
		return i;
	cursor_skip(&at, place);
	cie.usable = next_entry(section, &at, &entry) && entry.begin == place && is_cie(section, &entry) &&
		     read_cie(entry.at, &cie);
	index_add(&entries->by_at, hash_word(place), (uint32_t)entries->n_cies);
	VEC_GROW(entries->cies, entries->n_cies, entries->cap_cies);
	entries->cies[entries->n_cies] = cie;
	return (int64_t)entries->n_cies++;
}

/* The code that an FDE is about: the part in [0, bytes) after base. false: none. */
static bool clip(struct cfi_fde *fde, uint64_t start, uint64_t length, uint64_t base, uint64_t bytes)
{
	uint64_t end = length < UINT64_MAX - start ? start + length : UINT64_MAX;

	if (start < base || start - base >= bytes || !length)
		return false;
	end -= base;
	fde->start = (uint32_t)(start - base);
	fde->end = (uint32_t)(end < bytes ? end : bytes);
	return true;
}

/* false: it is not understood. */
static bool add_fde(struct cfi_entries *entries, const struct cfi_section *section, struct cfi_entry *entry,
		    uint64_t base, uint64_t bytes)
{
	int64_t cie = cie_at(entries, section, section->debug_frame ? entry->id : entry->id_at - entry->id);
	struct cfi_fde fde = { .cie = (uint32_t)cie };
	struct dwarf_cursor *at = &entry->at;
	uint64_t start, length;

	if (cie < 0 || !entries->cies[cie].usable ||
	    !cfi_pointer(section, at, entries->cies[cie].encoding, &start) ||
	    !read_format(at, entries->cies[cie].encoding, &length))
		return false;
	if (entries->cies[cie].augmented)
		cursor_skip(at, cursor_uleb(at));
	if (at->bad)
		return false;
	if (!clip(&fde, start, length, base, bytes))
		return true;
	fde.program = (uint32_t)(at->at - section->bytes);
	fde.program_bytes = (uint32_t)cursor_left(at);
	VEC_GROW(entries->fdes, entries->n_fdes, entries->cap_fdes);
	entries->fdes[entries->n_fdes++] = fde;
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct cfi_fde *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->program < y->program ? -1 : x->program > y->program;
}

/* Reads the entries about code in [base, base + bytes). */
static void entries_read(struct cfi_entries *entries, const struct cfi_section *whole, uint64_t base, uint64_t bytes)
{
	struct cfi_section section = *whole;
	struct dwarf_cursor at;
	struct cfi_entry entry;

	*entries = (struct cfi_entries){ 0 };
	if (section.n > UINT32_MAX)
		section.n = UINT32_MAX;
	if (bytes > UINT32_MAX)
		bytes = UINT32_MAX;
	at = (struct dwarf_cursor){ section.bytes, section.bytes + section.n, false, false };
	while (next_entry(&section, &at, &entry))
		if (!is_cie(&section, &entry) && !add_fde(entries, &section, &entry, base, bytes))
			entries->incomplete = true;
	if (entries->n_fdes)
		qsort(entries->fdes, entries->n_fdes, sizeof(*entries->fdes), by_start);
}

static void entries_release(struct cfi_entries *entries)
{
	free(entries->cies);
	free(entries->fdes);
	index_release(&entries->by_at);
}

/* ---- programs: registers ---- */

static bool set_saved(struct cfi_run *run, uint64_t reg, enum unwind_saved_how how, int64_t offset)
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

static bool set_factored(struct cfi_run *run, uint64_t reg, enum unwind_saved_how how, int64_t factor)
{
	int64_t offset;

	return !__builtin_mul_overflow(factor, run->cie->data_align, &offset) && set_saved(run, reg, how, offset);
}

/* An expression's number, or below 0; see unwind_builder_block. */
static int32_t take_block(struct cfi_run *run, struct dwarf_cursor *at, bool of_register)
{
	uint64_t n = cursor_uleb(at);
	const uint8_t *bytes = at->at;

	cursor_skip(at, n);
	return at->bad ? -1 : unwind_builder_block(run->builder, bytes, (size_t)n, of_register);
}

static bool set_block(struct cfi_run *run, struct dwarf_cursor *at, uint64_t reg, enum unwind_saved_how how)
{
	int32_t block = take_block(run, at, true);

	return block >= 0 && set_saved(run, reg, how, block);
}

static bool restore(struct cfi_run *run, uint64_t reg)
{
	const struct unwind_row_state *initial = run->initial;

	if (!initial)
		return false;
	if (reg >= run->arch->n_regs)
		return true;
	run->state.set &= ~(1ULL << reg);
	run->state.set |= initial->set & 1ULL << reg;
	run->state.saved[reg] = initial->saved[reg];
	return true;
}

/* ---- programs: the CFA ---- */

static bool set_cfa(struct cfi_run *run, uint64_t reg, int64_t offset)
{
	struct unwind_rule *cfa = &run->state.cfa;

	if (reg >= run->arch->n_regs || offset != (int32_t)offset)
		return false;
	cfa->cfa_reg = (uint8_t)reg;
	cfa->cfa_offset = (int32_t)offset;
	cfa->cfa_expression = false;
	return true;
}

static bool set_cfa_factored(struct cfi_run *run, uint64_t reg, int64_t factor)
{
	int64_t offset;

	return !__builtin_mul_overflow(factor, run->cie->data_align, &offset) && set_cfa(run, reg, offset);
}

static bool set_cfa_block(struct cfi_run *run, struct dwarf_cursor *at)
{
	int32_t block = take_block(run, at, false);

	run->state.cfa.cfa_expression = true;
	run->state.cfa.cfa_reg = 0;
	run->state.cfa.cfa_offset = block;
	return block >= 0;
}

/* ---- programs: places ---- */

/* The state holds up to `to`. */
static bool advance_to(struct cfi_run *run, uint64_t to)
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

static bool advance(struct cfi_run *run, uint64_t factor)
{
	uint64_t bytes;

	return !__builtin_mul_overflow(factor, run->cie->code_align, &bytes) && bytes <= UINT32_MAX &&
	       advance_to(run, run->loc + bytes);
}

static bool set_loc(struct cfi_run *run, struct dwarf_cursor *at)
{
	uint64_t vaddr;

	return cfi_pointer(run->section, at, run->cie->encoding, &vaddr) &&
	       vaddr - run->builder->table.base <= UINT32_MAX && advance_to(run, vaddr - run->builder->table.base);
}

static bool remember(struct cfi_run *run)
{
	if (run->n_remembered == REMEMBERED_MAX)
		return false;
	run->remembered[run->n_remembered++] = run->state;
	return true;
}

static bool recall(struct cfi_run *run)
{
	if (!run->n_remembered)
		return false;
	run->state = run->remembered[--run->n_remembered];
	return true;
}

/* ---- programs: instructions ---- */

/* Instructions about the CFA and places. */
static bool frame_instruction(struct cfi_run *run, uint8_t code, struct dwarf_cursor *at)
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

/* Instructions that begin with the number of a register. */
static bool register_instruction(struct cfi_run *run, uint8_t code, struct dwarf_cursor *at)
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

static bool instruction(struct cfi_run *run, struct dwarf_cursor *at)
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
static bool run_program(struct cfi_run *run, const uint8_t *program, const uint8_t *end)
{
	struct dwarf_cursor at = { program, end, false, false };

	while (cursor_left(&at) && run->loc < run->end)
		if (!instruction(run, &at) || at.bad)
			return false;
	return true;
}

/* ---- rows ---- */

static const struct unwind_row_state *initial_of(struct cfi_run *run, struct initial_state *initial)
{
	if (initial->tried)
		return initial->state;
	initial->tried = true;
	run->initial = NULL;
	run->state = (struct unwind_row_state){ .cfa.signal = run->cie->signal };
	run->n_remembered = 0;
	run->loc = 0;
	run->end = 1;
	if (run->cie->return_reg >= run->arch->n_regs || !run_program(run, run->cie->program, run->cie->end))
		return NULL;
	initial->state = xmalloc(sizeof(*initial->state));
	*initial->state = run->state;
	return initial->state;
}

static void run_fde(struct cfi_run *run, const struct cfi_fde *fde, uint64_t end, struct initial_state *initial)
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

static void make_rows(const struct cfi_entries *entries, struct cfi_run *run)
{
	struct initial_state *initials = xcalloc(entries->n_cies + 1, sizeof(*initials));

	for (size_t i = 0; i < entries->n_fdes; i++) {
		const struct cfi_fde *fde = &entries->fdes[i];
		const struct cfi_fde *next = i + 1 < entries->n_fdes ? fde + 1 : NULL;
		uint64_t end = next && next->start < fde->end ? next->start : fde->end;

		if (end == fde->start) /* the next one has the same start */
			continue;
		run->cie = &entries->cies[fde->cie];
		run_fde(run, fde, end, &initials[fde->cie]);
		if (!next || next->start > end)
			unwind_builder_row(run->builder, end, UNWIND_RULE_NUMBER_NONE);
	}
	for (size_t i = 0; i < entries->n_cies; i++)
		free(initials[i].state);
	free(initials);
}

struct unwind_table *cfi_table(const struct cfi_section *section, const struct unwind_arch *arch, uint64_t base,
			       uint64_t bytes)
{
	struct cfi_run *run = xcalloc(1, sizeof(*run));
	struct unwind_builder builder;
	struct cfi_entries entries;

	entries_read(&entries, section, base, bytes);
	unwind_builder_init(&builder, base);
	builder.table.incomplete = entries.incomplete;
	run->arch = arch;
	run->section = section;
	run->builder = &builder;
	make_rows(&entries, run);
	entries_release(&entries);
	free(run);
	return unwind_builder_done(&builder);
}
