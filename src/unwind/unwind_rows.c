/* SPDX-License-Identifier: MIT */
/*
 * unwind_rows: chains by rows of our own. A step finds the rule of an address, by a hash of what was asked before or
 * else in the file's rows, and applies it to the registers:
 *
 *	ip -> slot -> rule -> CFA, registers saved near it -> ip of the caller ...
 *
 * What stops a chain, whatever tables say: a CFA that does not rise from frame to frame (but over a signal, which
 * may have had a stack of its own), a return address that is not mapped, the budget of the sample. A register that a
 * call may change is not known any more in the caller, unless its rule says where it is.
 *
 * Tables are asked first, .eh_frame before .debug_frame. Where files say nothing, code may: unwind_code.c. Then the
 * frame pointer is tried, and such a chain is counted as a guess. Another unwinder is given the registers at a frame
 * that rows cannot express, and all from there on.
 */
#include "unwind/unwind.h"
#include "unwind/unwind_code.h"
#include "unwind/unwind_expr.h"
#include "unwind/unwind_frames.h"
#include "unwind/unwind_table.h"

#include <stdlib.h>

enum { SLOTS = 1 << 13 };

struct rule_slot {
	uint64_t ip, version; /* of the address space; 0: empty */
	const struct unwind_rule *rule;
	const struct unwind_saved *saved; /* what it restores */
	const struct unwind_table *table; /* that has its expressions */
	bool exact; /* ip is about to run: it is not a return address */
	bool passing; /* code made at run time: another may lie there at another time */
	enum unwind_end otherwise; /* why it has no tables, where the frame pointer does not lead on either */
};

struct rows {
	struct unwind_memory memory;
	struct rule_slot *slots;
	struct rule_slot other; /* of an address space that is not known */
};

struct rows_walk {
	struct rows *rows;
	struct unwind_memory *memory;
	struct unwind_regs regs;
	struct unwind_chain chain;
	uint64_t ip, cfa; /* cfa: of the frame before; SP of the first one, and of one that was interrupted */
	bool exact; /* ip is about to run: it is not a return address */
	bool guessed;
};

/* ---- the rule of an address ---- */

static const struct unwind_rule outermost = { .kind = UNWIND_RULE_OUTERMOST };
static const struct unwind_rule other = { .kind = UNWIND_RULE_OTHER };
static const struct unwind_rule trampoline = { .kind = UNWIND_RULE_TRAMPOLINE, .signal = true };
static const struct unwind_rule entry = { .kind = UNWIND_RULE_ENTRY };
static const struct unwind_rule pointer = { .kind = UNWIND_RULE_POINTER };
static const struct unwind_rule unmapped = { .kind = UNWIND_RULE_UNMAPPED };

/* The first of rule->n_saved; a table without any has no place for them. */
static const struct unwind_saved *saved_of(const struct unwind_table *table, const struct unwind_rule *rule)
{
	return rule->n_saved ? table->saved + rule->saved : NULL;
}

/* NULL: they say nothing. */
static const struct unwind_rule *find_in_tables(struct unwind_memory *memory, const struct unwind_module *module,
						uint64_t ip, struct rule_slot *slot)
{
	const struct unwind *unwind = memory->unwind;
	const struct unwind_table *tables[2] = { image_eh_rows(module->image, memory->arch, unwind), NULL };
	bool incomplete = false;

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		const struct unwind_rule *rule;

		if (i)
			tables[i] = image_debug_rows(module->image, memory->arch, unwind);
		if (!tables[i])
			continue;
		rule = unwind_table_find(tables[i], ip - module->bias);
		slot->table = tables[i];
		slot->saved = saved_of(tables[i], rule);
		if (rule->kind != UNWIND_RULE_NONE)
			return rule;
		incomplete |= tables[i]->incomplete;
	}
	return incomplete ? &other : NULL;
}

/* NULL: the code says nothing either. */
static const struct unwind_rule *find_in_code(struct unwind_memory *memory, const struct unwind_module *module,
					      uint64_t ip, struct rule_slot *slot)
{
	if (unwind_memory_entry(memory, module, ip))
		return &entry;
	if (slot->exact)
		return unwind_code_rule(memory, slot->ip, &slot->saved);
	return unwind_code_outermost(memory, slot->ip) ? &outermost : NULL;
}

static const struct unwind_rule *find_rule(struct unwind_memory *memory, const struct unwind_module *module,
					   uint64_t ip, struct rule_slot *slot)
{
	const struct unwind_rule *rule = find_in_tables(memory, module, ip, slot), *code = NULL;

	/* The code itself says best whether a handler returns there. */
	if ((!rule || rule->signal) && unwind_memory_trampoline(memory, slot->ip))
		return &trampoline;
	if (!rule || rule == &other)
		code = find_in_code(memory, module, ip, slot);
	return code ? code : rule ? rule : &pointer;
}

/* NULL: nobody says anything about it. */
static const struct unwind_rule *find_made_rule(struct unwind_memory *memory, uint64_t ip, struct rule_slot *slot)
{
	const struct unwind_rule *rule;
	uint64_t vaddr;

	slot->passing = memory->unwind->made;
	slot->table = unwind_memory_made(memory, ip, &vaddr);
	if (!slot->table)
		return NULL;
	rule = unwind_table_find(slot->table, vaddr);
	slot->saved = saved_of(slot->table, rule);
	return rule->kind != UNWIND_RULE_NONE ? rule : NULL;
}

/* Sets all but ip, version and exact, in the present address space. */
static void fill_slot(struct unwind_memory *memory, struct rule_slot *slot)
{
	/* A return address may lie past the function that made the call. */
	uint64_t ip = slot->exact ? slot->ip : slot->ip - 1;
	const struct unwind_module *module = unwind_memory_module(memory, ip);
	const struct unwind_rule *made = NULL;

	slot->otherwise = module ? UNWIND_NO_INFO : memory->why;
	if (slot->otherwise == UNWIND_MADE)
		made = find_made_rule(memory, ip, slot);
	if (module)
		slot->rule = find_rule(memory, module, ip, slot);
	else
		slot->rule = made ? made : slot->otherwise == UNWIND_BROKEN ? &unmapped : &pointer;
}

static const struct rule_slot *slot_of(struct rows *rows, uint64_t ip, bool exact)
{
	const struct unwind_memory *memory = &rows->memory;
	uint64_t version = memory->address_space_version;
	struct rule_slot *slot = &rows->slots[(ip ^ ip >> 13 ^ version * 31 ^ exact) % SLOTS];

	if (!memory->address_space_known)
		slot = &rows->other;
	else if (slot->ip == ip && slot->version == version && slot->exact == exact && slot->rule && !slot->passing)
		return slot;
	*slot = (struct rule_slot){ .ip = ip, .version = version, .exact = exact };
	fill_slot(&rows->memory, slot);
	return slot;
}

/* ---- one step ---- */

static inline bool read_word(struct unwind_memory *memory, uint64_t addr, uint64_t *value)
{
	uint64_t within = addr - memory->sp;

	if (memory->stack_size < sizeof(*value) || within > memory->stack_size - sizeof(*value))
		return unwind_memory_read(memory, addr, sizeof(*value), value);
	memcpy(value, memory->stack + within, sizeof(*value));
	return true;
}

/* Reads what a register was saved as. A function that is returning has restored what it saved below SP. */
static inline bool saved_value(struct rows_walk *walk, unsigned reg, uint64_t address, uint64_t sp, uint64_t *value)
{
	if (address < sp && walk->exact && unwind_memory_returning(walk->memory, walk->ip))
		return unwind_regs_get(&walk->regs, reg, value);
	return read_word(walk->memory, address, value);
}

/* Not below where the frame before ended; only a first frame may have its CFA where SP is. */
static inline bool rises(const struct rows_walk *walk, uint64_t cfa)
{
	return cfa > walk->cfa || (walk->exact && cfa == walk->cfa);
}

static bool end_at(struct rows_walk *walk, enum unwind_end end)
{
	walk->chain.end = end;
	return false;
}

/* The caller's ip is known; `set`: the registers that the rule has restored. */
static inline bool finish(struct rows_walk *walk, const struct unwind_rule *rule, uint64_t cfa, uint64_t set)
{
	const struct unwind_arch *arch = walk->memory->arch;
	struct unwind_regs *regs = &walk->regs;
	unsigned from = arch->link == NO_LINK ? arch->pc : arch->link;

	if (!(set >> from & 1)) {
		/* Until something changes that register, the return address is where a call leaves it. */
		if (arch->link == NO_LINK || !walk->exact || !(regs->known >> from & 1))
			return end_at(walk, UNWIND_BROKEN);
	}
	walk->ip = regs->v[from];
	if (arch->address_bits < 64)
		walk->ip = unwind_memory_strip(walk->memory, walk->ip);
	if (!(set >> arch->sp & 1))
		unwind_regs_set(regs, arch->sp, cfa);
	if (!rule->signal)
		regs->known &= arch->preserved | set | 1ULL << arch->sp;
	walk->cfa = rule->signal ? regs->v[arch->sp] : cfa;
	walk->exact = rule->signal;
	return true;
}

static bool step_plain(struct rows_walk *walk, const struct unwind_rule *rule, const struct unwind_saved *saved)
{
	struct unwind_regs *regs = &walk->regs;
	uint64_t cfa, sp = regs->v[walk->memory->arch->sp], set = 0, value;

	if (!(regs->known >> rule->cfa_reg & 1))
		return end_at(walk, UNWIND_NO_INFO);
	cfa = regs->v[rule->cfa_reg] + (uint64_t)(int64_t)rule->cfa_offset;
	if (!rises(walk, cfa))
		return end_at(walk, UNWIND_BROKEN);
	/* The first one is the return address. */
	for (unsigned i = 0; i < rule->n_saved; i++) {
		uint64_t bit = 1ULL << saved[i].reg;

		if (saved_value(walk, saved[i].reg, cfa + (uint64_t)(int64_t)saved[i].offset, sp, &value)) {
			regs->v[saved[i].reg] = value;
			regs->known |= bit;
		} else if (i) {
			regs->known &= ~bit;
		} else {
			return end_at(walk, walk->memory->why);
		}
		set |= bit;
	}
	return finish(walk, rule, cfa, set);
}

static bool eval(const struct unwind_table *table, int32_t number, const struct unwind_expr *expr, uint64_t *value,
		 bool *is_value)
{
	const struct unwind_block *block = &table->blocks[number];

	return unwind_expr_eval(expr, table->ops + block->first, block->n, value, is_value);
}

/* The value of a register in the caller. */
static bool general_value(struct rows_walk *walk, const struct rule_slot *slot, const struct unwind_saved *saved,
			  const struct unwind_expr *expr, uint64_t *value)
{
	uint64_t at = expr->cfa + (uint64_t)(int64_t)saved->offset, sp = walk->regs.v[walk->memory->arch->sp];
	bool is_value = false;

	switch ((enum unwind_saved_how)saved->how) {
	case UNWIND_SAVED_AT:
		return saved_value(walk, saved->reg, at, sp, value);
	case UNWIND_SAVED_CFA:
		*value = at;
		return true;
	case UNWIND_SAVED_REGISTER:
		return unwind_regs_get(expr->regs, (uint64_t)saved->offset, value);
	case UNWIND_SAVED_SAME:
		return unwind_regs_get(expr->regs, saved->reg, value);
	case UNWIND_SAVED_VALUE:
		return eval(slot->table, saved->offset, expr, value, &is_value);
	case UNWIND_SAVED_EXPRESSION:
		if (!eval(slot->table, saved->offset, expr, &at, &is_value))
			return false;
		*value = at;
		return is_value || saved_value(walk, saved->reg, at, sp, value);
	case UNWIND_SAVED_NOT:
		break;
	}
	return false;
}

static bool step_general(struct rows_walk *walk, const struct rule_slot *slot)
{
	const struct unwind_rule *rule = slot->rule;
	const struct unwind_regs from = walk->regs;
	struct unwind_expr expr = { .memory = walk->memory, .regs = &from };
	const struct unwind_module *module = unwind_memory_module(walk->memory, walk->exact ? walk->ip : walk->ip - 1);
	struct unwind_regs to = walk->regs;
	uint64_t set = 0, value;
	bool is_value;

	expr.bias = module ? module->bias : 0;
	walk->memory->why = UNWIND_NO_INFO;
	if (rule->cfa_expression) {
		if (!eval(slot->table, rule->cfa_offset, &expr, &expr.cfa, &is_value))
			return end_at(walk, walk->memory->why);
	} else {
		if (!unwind_regs_get(&from, rule->cfa_reg, &expr.cfa))
			return end_at(walk, UNWIND_NO_INFO);
		expr.cfa += (uint64_t)(int64_t)rule->cfa_offset;
	}
	expr.has_cfa = true;
	if (!rises(walk, expr.cfa) && !rule->signal)
		return end_at(walk, UNWIND_BROKEN);
	for (unsigned i = 0; i < rule->n_saved; i++) {
		unsigned reg = slot->saved[i].reg;

		walk->memory->why = UNWIND_NO_INFO;
		if (general_value(walk, slot, &slot->saved[i], &expr, &value))
			unwind_regs_set(&to, reg, value);
		else if (!i)
			return end_at(walk, walk->memory->why);
		else
			to.known &= ~(1ULL << reg);
		set |= 1ULL << reg;
	}
	walk->regs = to;
	return finish(walk, rule, expr.cfa, set);
}

/* Back from a signal: everything is where the kernel saved it. */
static bool step_trampoline(struct rows_walk *walk)
{
	const struct unwind_arch *arch = walk->memory->arch;
	uint64_t frame = walk->regs.v[arch->sp], value;

	for (unsigned i = 0; i < arch->n_regs; i++) {
		if (!arch->saved_at[i])
			continue;
		if (!read_word(walk->memory, frame + arch->saved_at[i], &value))
			return end_at(walk, walk->memory->why);
		unwind_regs_set(&walk->regs, i, value);
	}
	walk->ip = walk->regs.v[arch->pc];
	walk->cfa = walk->regs.v[arch->sp];
	walk->exact = true;
	return true;
}

/*
 * True: the frame pointer has led to a caller's frame, as its address comes after a call. A frame pointer of 0 tells a
 * frame that has no caller, as that of the first function of a goroutine, which nothing called.
 */
static bool is_caller(struct rows_walk *walk, uint64_t ip, uint64_t next)
{
	if (!ip)
		return !next && walk->guessed;
	return unwind_code_called(walk->memory, ip) || (!next && unwind_code_made(walk->memory, ip));
}

/*
 * By the frame pointer, where it points up the copied stack and what is there looks like a caller. A guess: code
 * without tables may use the register for something else, or not have saved it yet; then it is some caller's.
 * Zeros end a chain of frame pointers; without such a chain they are just zeros.
 */
static bool step_pointer(struct rows_walk *walk, enum unwind_end otherwise)
{
	struct unwind_memory *memory = walk->memory;
	const struct unwind_arch *arch = memory->arch;
	uint64_t fp, pair, within, next, ip;

	if (!unwind_regs_get(&walk->regs, arch->fp, &fp) || fp % sizeof(fp))
		return end_at(walk, otherwise);
	if (!fp && walk->guessed)
		return end_at(walk, UNWIND_COMPLETE);
	pair = fp - arch->pair_below;
	if (fp < arch->pair_below || pair < walk->cfa)
		return end_at(walk, otherwise);
	within = pair - memory->sp;
	if (memory->stack_size < 2 * sizeof(fp) || within > memory->stack_size - 2 * sizeof(fp)) {
		enum unwind_end beyond = unwind_memory_beyond(memory, pair);

		return end_at(walk, beyond == UNWIND_BROKEN ? otherwise : beyond);
	}
	memcpy(&next, memory->stack + within, sizeof(next));
	memcpy(&ip, memory->stack + within + sizeof(next), sizeof(ip));
	ip = unwind_memory_strip(memory, ip);
	if (!is_caller(walk, ip, next))
		return end_at(walk, otherwise);
	walk->guessed = true;
	walk->ip = ip;
	walk->cfa = pair + 2 * sizeof(fp);
	walk->exact = false;
	walk->regs.known &= arch->preserved;
	unwind_regs_set(&walk->regs, arch->fp, next);
	unwind_regs_set(&walk->regs, arch->sp, walk->cfa);
	return true;
}

static bool step_entry(struct rows_walk *walk)
{
	uint64_t fp;

	if (!unwind_regs_get(&walk->regs, walk->memory->arch->fp, &fp) || !fp)
		return end_at(walk, UNWIND_COMPLETE);
	return step_pointer(walk, UNWIND_NO_INFO);
}

/* The rest of the chain is another unwinder's, which begins with this frame. */
static bool hand_over(struct rows_walk *walk)
{
	struct unwind_memory *memory = walk->memory;
	const struct unwind_arch *arch = memory->arch;
	struct unwind_chain *chain = &walk->chain;
	uint64_t regs[64], sp = walk->regs.v[arch->sp], above = sp - memory->sp;
	struct unwind_input input = { .abi = 2, .regs = regs, .address_space = memory->address_space };
	size_t before = chain->n - 1, n;
	const struct unwind *unwind;

	/* An unwinder that begins there looks for the tables of ip itself. */
	unwind_regs_set(&walk->regs, arch->pc, walk->exact ? walk->ip : walk->ip - 1);
	for (unsigned bit = 0; bit < arch->n_bits; bit++)
		if (arch->dwarf_of[bit] >= 0 &&
		    unwind_regs_get(&walk->regs, (unsigned)arch->dwarf_of[bit], &regs[input.n_regs])) {
			input.mask |= 1ULL << bit;
			input.n_regs++;
		}
	if (memory->stack && above < memory->stack_size) {
		input.stack = memory->stack + above;
		input.stack_bytes = memory->stack_size - above;
	}
	unwind = unwind_hand_over(memory->unwind, &input, chain->ips + before, chain->max - before, &n, &chain->end);
	chain->ips[before] = walk->ip;
	for (size_t i = 1; unwind && i < n; i++)
		if (unwind->exact[i / 64] >> i % 64 & 1)
			unwind_chain_mark_exact(chain, before + i);
	if (!unwind || (n < 2 && chain->end != UNWIND_COMPLETE && chain->end != UNWIND_TRUNCATED))
		return step_pointer(walk, UNWIND_NO_INFO);
	if (n)
		chain->n = before + n;
	return false;
}

static bool step(struct rows_walk *walk)
{
	const struct rule_slot *slot = slot_of(walk->rows, walk->ip, walk->exact);
	const struct unwind_rule *rule = slot->rule;

	if (rule->signal)
		unwind_chain_signal(&walk->chain);
	switch ((enum unwind_rule_kind)rule->kind) {
	case UNWIND_RULE_PLAIN:
		return step_plain(walk, rule, slot->saved);
	case UNWIND_RULE_GENERAL:
		return step_general(walk, slot);
	case UNWIND_RULE_OUTERMOST:
		return end_at(walk, UNWIND_COMPLETE);
	case UNWIND_RULE_OTHER:
		return hand_over(walk);
	case UNWIND_RULE_TRAMPOLINE:
		return step_trampoline(walk);
	case UNWIND_RULE_POINTER:
		return step_pointer(walk, slot->otherwise);
	case UNWIND_RULE_ENTRY:
		return step_entry(walk);
	case UNWIND_RULE_UNMAPPED:
	case UNWIND_RULE_NONE:
		break;
	}
	return end_at(walk, UNWIND_BROKEN);
}

/* ---- the unwinder ---- */

static bool rows_handles(const char *arch)
{
	return unwind_arch_find(arch);
}

static int rows_open(struct unwind *unwind, struct str *err)
{
	struct rows *rows = xcalloc(1, sizeof(*rows));

	(void)err;
	unwind->state = rows;
	unwind_memory_init(&rows->memory, unwind);
	rows->slots = xcalloc(SLOTS, sizeof(*rows->slots));
	return 0;
}

static void rows_close(struct unwind *unwind)
{
	struct rows *rows = unwind->state;

	if (!rows)
		return;
	unwind_memory_release(&rows->memory);
	free(rows->slots);
	free(rows);
	unwind->state = NULL;
}

static size_t rows_frames(struct unwind *unwind, const struct unwind_input *input, uint64_t *ips, size_t max,
			  enum unwind_end *end)
{
	struct rows *rows = unwind->state;
	const struct unwind_arch *arch = rows->memory.arch;
	struct rows_walk walk;

	walk.rows = rows;
	walk.memory = &rows->memory;
	walk.chain = (struct unwind_chain){ .unwind = unwind, .memory = &rows->memory, .ips = ips, .max = max };
	walk.exact = true;
	walk.guessed = false;
	if (!unwind_regs_take(arch, input, &walk.regs))
		return 0;
	walk.ip = walk.regs.v[arch->pc];
	walk.cfa = walk.regs.v[arch->sp];
	unwind_memory_start(&rows->memory, input, walk.cfa);
	unwind_chain_start(&walk.chain, walk.ip, walk.cfa);
	while (step(&walk) && unwind_chain_add(&walk.chain, walk.ip, walk.regs.v[arch->sp]))
		;
	unwind->guessed = walk.guessed;
	*end = walk.chain.end;
	return walk.chain.n;
}

static void rows_try_again(struct unwind *unwind)
{
	struct rows *rows = unwind->state;

	unwind_memory_try_again(&rows->memory);
	memset(rows->slots, 0, SLOTS * sizeof(*rows->slots));
}

static bool rows_in_link(struct unwind *unwind, const struct address_space *space, uint64_t ip)
{
	const struct unwind_input input = { .address_space = space };
	struct rows *rows = unwind->state;
	unsigned link = rows->memory.arch->link;
	const struct rule_slot *slot;

	unwind_memory_start(&rows->memory, &input, 0);
	slot = slot_of(rows, ip, true);
	if (link == NO_LINK || (slot->rule->kind != UNWIND_RULE_PLAIN && slot->rule->kind != UNWIND_RULE_GENERAL))
		return false;
	for (unsigned i = 0; i < slot->rule->n_saved; i++)
		if (slot->saved[i].reg == link && slot->saved[i].how != UNWIND_SAVED_SAME)
			return false;
	return true;
}

static void rows_tables(const struct unwind *unwind, unwind_tables_fn *take, void *context)
{
	const struct rows *rows = unwind->state;

	for (size_t i = 0; i < rows->memory.n_images; i++) {
		const struct image *image = rows->memory.images[i].image;
		size_t bytes, n = image ? image_rows(image, &bytes) : 0;

		if (n)
			take(context, image->dso, n, bytes);
	}
}

const struct unwinder unwind_rows = {
	.name = "rows",
	.last_word = true,
	.handles = rows_handles,
	.open = rows_open,
	.close = rows_close,
	.frames = rows_frames,
	.try_again = rows_try_again,
	.in_link = rows_in_link,
	.tables = rows_tables,
};
