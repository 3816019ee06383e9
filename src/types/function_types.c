/* SPDX-License-Identifier: MIT */
/*
 * function_types: the place of each instruction of a function, in one pass from its first instruction to its last.
 *
 *	mov 8(%rdi),%rax     rdi: the variable p    reads struct node +8 (next)    rax: points to struct node, followed
 *	mov 16(%rax),%rdx    rax: followed          reads struct node +16 (key)
 *	call f                                      rax: what f returns; others that calls change: nothing
 *
 * What a register points to is asked of the variables first. What was followed holds until the register is written or
 * the code is left. Where a jump goes to, a register holds what it does on all ways there; a loop's way back is met
 * after its head, so the pass is made again until nothing changes:
 *
 *	   lea  nodes(%rip),%r10     r10: struct node
 *	L: mov  20(%r10),%eax        on both ways the same, or another element of an array
 *	   add  $88,%r10
 *	   jne  L                    held there: struct node, 88 bytes on, which is an element
 *
 * A conditional jump waits for the comparison before it, and processors do both as one: it has the place of that, since
 * samples of a comparison that waited for memory are at the jump.
 *
 * Where samples are late, as a clock's are, the one that waited for memory is mostly just before: an instruction that
 * touches none has the place that the one before it reads.
 *
 * A place of the stack that no variable has, as where a register is kept while another value needs it, holds what was
 * stored there, as a register does. No other function writes there, unless it was given the address of something on the
 * stack that is no variable either: how large that is nobody says, so what lies above it is not followed.
 *
 * In a function with a jump whose target is not known (a table of cases), nothing is held where others go.
 */
#include "types/types_internal.h"

#include <stdlib.h>

enum {
	CANARY_OFFSET = 0x28, /* from %fs, by the ABI of x86-64 */
	PASSES_MAX = 6,
	JOINS_MAX = 1 << 13, /* in functions with more, nothing is held where jumps go */
	SLOTS_MAX = 32,
	POINTER_BYTES = 8,
	WRITE_BYTES_MAX = 64, /* of an instruction that doesn't say how many */
	SMALL_NUMBER = 1 << 12, /* no address of data, but a distance */
};

struct pointer { /* what a register or a slot holds */
	const struct data_type *type; /* of an object that it points to; NULL: it points to nothing that is known */
	int64_t offset; /* so far into it */
	bool element; /* or into a neighbour in an array */
	const struct data_type *self; /* the type of what is held; NULL: not known */
};

enum { FIRST_SLOT = CODE_REGISTERS, HELD = CODE_REGISTERS + SLOTS_MAX }; /* registers by number, then slots */

/* Stands for what the thread pointer points to. It is no object that has a size, but variables are counted from it. */
static const struct data_type thread_copy = { .kind = DATA_PLAIN, .name = "" };

struct join { /* where a jump goes to */
	uint64_t at; /* bytes from the function's start */
	bool reached; /* a way there was met */
	struct pointer held[HELD]; /* on all ways that were met */
};
enum way { /* to an instruction */
	WAY_MET, /* there is one, so that what is held counts for those behind */
	WAY_NOT_YET, /* only jumps from behind go there */
	WAY_UNKNOWN, /* none is seen: it fills up to the next one, or a table has it, or a handler of exceptions */
};
struct pass {
	const struct function_code *code;
	struct dwarf_variables *variables;
	struct pointer held[HELD];
	int64_t slots[SLOTS_MAX]; /* where they begin, from the CFA */
	unsigned n_slots;
	int64_t given; /* the lowest address, from the CFA, that is taken of what is no variable; INT64_MAX: none */
	struct join *joins; /* ascending */
	size_t n_joins, cap_joins;
	bool lost; /* nothing is held at joins */
	bool changed; /* what is held at some join is not what it was when that was passed */
	bool falls; /* what is behind the last instruction is executed next, as far as is known */
	enum way way;
	struct type_place compared; /* of the instruction before, if it compares; else its type is NULL */
	struct type_place read; /* likewise, if it reads and goes on to the next */
	uint64_t vaddr; /* of the instruction that the pass is at */
	struct data_frame frame; /* there */
};

static void forget_registers(struct pass *pass, uint32_t kept)
{
	for (unsigned i = 0; i < CODE_REGISTERS; i++)
		if (!(kept >> i & 1))
			pass->held[i] = (struct pointer){ .type = NULL };
}

static void forget_all(struct pass *pass)
{
	for (unsigned i = 0; i < HELD; i++)
		pass->held[i] = (struct pointer){ .type = NULL };
}

/* The next instruction is told nothing of the one before it. */
static void forget_before(struct pass *pass)
{
	pass->compared = pass->read = (struct type_place){ .type = NULL };
}

/* ---- objects ---- */

/* Makes of an array its element, which the offset is in. */
static void reduce(struct data_found *found, bool *element)
{
	for (int depth = 0; depth < DATA_DEPTH_MAX && found->type->kind == DATA_ARRAY; depth++) {
		const struct data_type *target = data_type_target(found->type);

		if (!target)
			return;
		found->type = target;
		*element = true;
	}
}

void type_place_set(struct type_place *place, struct data_found found, enum type_state state, bool element)
{
	int64_t bytes;

	reduce(&found, &element);
	if (!found.type->bytes || found.type->bytes > INT64_MAX) {
		place->state = TYPE_INCOMPLETE;
		return;
	}
	bytes = (int64_t)found.type->bytes;
	/* A pointer to one of them may be one to many: of what has no members each is like the other. */
	element |= found.type->kind != DATA_RECORD && found.type->kind != DATA_UNION;
	if (element)
		found.offset = (found.offset % bytes + bytes) % bytes;
	if (found.offset < 0 || found.offset >= bytes) {
		place->state = TYPE_OUTSIDE;
		return;
	}
	place->type = found.type;
	place->offset = (uint64_t)found.offset;
	place->state = (uint8_t)state;
}

/* ---- where an address is ---- */

static bool find_global(const struct pass *pass, int64_t address, struct data_found *found)
{
	const struct function_code *code = pass->code;
	uint64_t offset = 0, vaddr = (uint64_t)address - code->shown + code->vaddr;
	const char *name;

	if (dwarf_variables_global(pass->variables, pass->vaddr, vaddr, found))
		return true;
	name = code->name_of ? code->name_of(code->context, (uint64_t)address, &offset) : NULL;
	found->type = name ? dwarf_variables_named(pass->variables, name) : NULL;
	found->offset = (int64_t)offset;
	return found->type;
}

/* Finds what a register points to. Remembers what a variable says, which may go before the register does. */
static bool find_pointer(struct pass *pass, uint8_t reg, struct pointer *out, bool *declared)
{
	struct data_found found;

	if (reg >= CODE_REGISTERS)
		return false;
	*declared = dwarf_variables_value(pass->variables, pass->vaddr, reg, &found);
	/* One of void tells less than what was followed. */
	if (*declared && (found.type->bytes || !pass->held[reg].type))
		pass->held[reg] = (struct pointer){ found.type, found.offset, false,
						    dwarf_variables_type(pass->variables, pass->vaddr, reg) };
	*out = pass->held[reg];
	return out->type;
}

static bool is_of_frame(const struct pass *pass, uint8_t reg)
{
	return pass->frame.known && pass->frame.reg == reg;
}

static void find_of_thread(const struct pass *pass, int64_t distance, bool element, struct type_place *place)
{
	struct data_found found;

	place->state = TYPE_THREAD;
	if (dwarf_variables_thread(pass->variables, pass->vaddr, distance, &found))
		type_place_set(place, found, TYPE_DECLARED, element);
}

static void find_based(struct pass *pass, const struct data_access *access, struct type_place *place)
{
	struct data_found found;
	struct pointer pointer;
	bool declared, element = access->index != NO_REGISTER;
	uint8_t base = access->base;

	if (dwarf_variables_memory(pass->variables, pass->vaddr, &pass->frame, base, access->offset, &found)) {
		type_place_set(place, found, TYPE_DECLARED, element);
		return;
	}
	/* Either of two registers may be the pointer. */
	if (!find_pointer(pass, base, &pointer, &declared) &&
	    !(access->scale <= 1 && find_pointer(pass, access->index, &pointer, &declared))) {
		place->state = is_of_frame(pass, base) ? TYPE_NO_SLOT : TYPE_NO_VARIABLE;
		if (find_global(pass, access->offset, &found))
			type_place_set(place, found, TYPE_DECLARED, true);
		return;
	}
	found = (struct data_found){ pointer.type, (int64_t)((uint64_t)pointer.offset + (uint64_t)access->offset) };
	if (found.type == &thread_copy) {
		find_of_thread(pass, found.offset, element || pointer.element, place);
		return;
	}
	type_place_set(place, found, declared ? TYPE_DECLARED : TYPE_FOLLOWED, element || pointer.element);
	/* A register that holds several variables, as an object and the head that lies before it: the one around it. */
	if (!place->type && dwarf_variables_reached(pass->variables, pass->vaddr, base, access->offset, &found)) {
		found.offset = (int64_t)((uint64_t)found.offset + (uint64_t)access->offset);
		type_place_set(place, found, TYPE_DECLARED, element);
	}
}

static void find_place(struct pass *pass, const struct data_effect *effect, struct type_place *place)
{
	const struct data_access *access = &effect->access;
	struct data_found found;

	*place = (struct type_place){ .state = TYPE_NO_VARIABLE, .writes = access->writes, .bytes = access->bytes };
	if (!access->reads && !access->writes)
		place->state = effect->stack ? TYPE_STACK : TYPE_NO_ACCESS;
	else if (access->segment && access->base != NO_REGISTER)
		place->state = TYPE_THREAD;
	else if (access->segment && access->offset == CANARY_OFFSET)
		place->state = TYPE_CANARY;
	else if (access->segment)
		find_of_thread(pass, access->offset, access->index != NO_REGISTER, place);
	else if (!access->placed)
		find_based(pass, access, place);
	else if (find_global(pass, access->offset, &found))
		type_place_set(place, found, TYPE_DECLARED, access->index != NO_REGISTER);
}

/* ---- slots of the stack ---- */

/* Finds where an access to the frame begins, from the CFA; false: it is none, or nobody can tell. */
static bool frame_offset(const struct pass *pass, const struct data_access *access, int64_t *offset)
{
	*offset = (int64_t)((uint64_t)access->offset - (uint64_t)pass->frame.offset);
	return !access->segment && !access->placed && is_of_frame(pass, access->base);
}

/* Finds what is held at the place of an access, which is all of a slot; NULL: it is of none. */
static struct pointer *slot_of(struct pass *pass, const struct data_access *access)
{
	int64_t offset;

	if (!frame_offset(pass, access, &offset) || access->index != NO_REGISTER)
		return NULL;
	for (unsigned i = 0; i < pass->n_slots; i++)
		if (pass->slots[i] == offset)
			return &pass->held[FIRST_SLOT + i];
	return NULL;
}

/* Slots that an instruction writes to hold nothing that is known. */
static void forget_written(struct pass *pass, const struct data_effect *effect)
{
	const struct data_access *access = &effect->access;
	int64_t bytes = access->bytes ? access->bytes : WRITE_BYTES_MAX, start;
	bool anywhere = access->index != NO_REGISTER;

	if (effect->move == MOVE_STORE)
		bytes = POINTER_BYTES;
	if (effect->stack)
		bytes = POINTER_BYTES, start = -pass->frame.offset - bytes; /* what it pushes, if it does */
	else if (!access->writes || !frame_offset(pass, access, &start))
		return;
	for (unsigned i = 0; i < pass->n_slots; i++)
		if (anywhere || (pass->slots[i] - start < bytes && start - pass->slots[i] < POINTER_BYTES))
			pass->held[FIRST_SLOT + i] = (struct pointer){ .type = NULL };
}

static bool is_variable(struct pass *pass, uint8_t reg, int64_t offset)
{
	struct data_found ignored;

	return dwarf_variables_memory(pass->variables, pass->vaddr, &pass->frame, reg, offset, &ignored);
}

/* Takes note of a store to what is no variable, and of the address of such, before anything is followed. */
static void find_slot(struct pass *pass, const struct data_effect *effect)
{
	const struct data_access *access = &effect->access;
	int64_t offset = (int64_t)((uint64_t)effect->number - (uint64_t)pass->frame.offset);
	bool moves = effect->move == MOVE_SUM || effect->move == MOVE_ELEMENT;

	if (moves && is_of_frame(pass, effect->from) && effect->to != pass->frame.reg &&
	    effect->to != disasm_frame_pointer(pass->code->disasm) && offset < pass->given &&
	    !is_variable(pass, effect->from, effect->number))
		pass->given = offset;
	if (effect->move == MOVE_STORE && pass->n_slots < SLOTS_MAX && frame_offset(pass, access, &offset) &&
	    !slot_of(pass, access) && access->index == NO_REGISTER && !is_variable(pass, access->base, access->offset))
		pass->slots[pass->n_slots++] = offset;
}

/* Keeps the slots that no other function has the address of. */
static void keep_slots(struct pass *pass)
{
	unsigned n = 0;

	for (unsigned i = 0; i < pass->n_slots; i++)
		if (pass->slots[i] <= pass->given - POINTER_BYTES)
			pass->slots[n++] = pass->slots[i];
	pass->n_slots = n;
}

/* ---- from one instruction to the next ---- */

/* The pointer that was loaded from a place, if it is one. */
static struct pointer loaded(const struct type_place *place)
{
	const struct data_type *type = place->type;
	uint64_t offset = place->offset;

	for (int depth = 0; depth < DATA_DEPTH_MAX && type && type->kind != DATA_POINTER; depth++) {
		const struct data_member *member = data_type_member(type, offset);

		if (type->kind == DATA_ARRAY) {
			type = data_type_target(type);
			offset = type && type->bytes ? offset % type->bytes : offset;
			continue;
		}
		type = member ? member->type : NULL;
		offset -= member ? member->offset : 0;
	}
	return (struct pointer){ .type = type && !offset ? data_type_target(type) : NULL,
				 .self = offset ? NULL : type };
}

/* A pointer to a global variable at an address as the file has it; or to an element of one, if it is an array. */
static struct pointer to_global(const struct pass *pass, int64_t address, bool element)
{
	struct data_found found;

	if (!find_global(pass, address, &found))
		return (struct pointer){ .type = NULL };
	reduce(&found, &element);
	return (struct pointer){ found.type, found.offset, element, NULL };
}

static struct pointer computed(struct pass *pass, const struct data_effect *effect)
{
	struct pointer pointer = { .type = NULL };
	bool ignored, element = effect->move == MOVE_ELEMENT;
	struct data_found found;

	if (effect->from == NO_REGISTER && effect->other == NO_REGISTER)
		return to_global(pass, effect->number, element);
	if (is_of_frame(pass, effect->from) &&
	    dwarf_variables_memory(pass->variables, pass->vaddr, &pass->frame, effect->from, effect->number, &found)) {
		reduce(&found, &element);
		return (struct pointer){ found.type, found.offset, element, NULL };
	}
	if (!find_pointer(pass, effect->from, &pointer, &ignored) &&
	    !find_pointer(pass, effect->other, &pointer, &ignored))
		return effect->number >= SMALL_NUMBER ? to_global(pass, effect->number, true) : pointer;
	pointer.offset = (int64_t)((uint64_t)pointer.offset + (uint64_t)effect->number);
	pointer.element |= element;
	if (element || effect->number)
		pointer.self = NULL;
	return pointer;
}

static struct pointer returned(const struct pass *pass, const struct disasm_instruction *call)
{
	const struct function_code *code = pass->code;
	const struct data_type *type = dwarf_variables_returned(pass->variables, pass->vaddr + call->n_bytes);

	if (!type && call->has_target && call->target_is_last_operand)
		type = dwarf_returned(code->dwarf, call->target - code->shown + code->vaddr);
	return (struct pointer){ .type = type && type->kind == DATA_POINTER ? data_type_target(type) : NULL,
				 .self = type };
}

/* A register that nothing was known of is what the member is that it was stored to. */
static void learn(struct pass *pass, uint8_t reg, const struct type_place *place)
{
	if (!pass->held[reg].type)
		pass->held[reg] = loaded(place);
}

/* Finds what a register holds, also if that is no pointer. */
static struct pointer held_by(struct pass *pass, uint8_t reg)
{
	struct pointer pointer = { .type = NULL };
	bool ignored;

	if (!find_pointer(pass, reg, &pointer, &ignored) && reg < CODE_REGISTERS)
		pointer.self = dwarf_variables_type(pass->variables, pass->vaddr, reg);
	return pointer;
}

/* A register that waits on the stack, where no variable is, has there the type of what it holds. */
static void find_waiting(struct pass *pass, const struct data_effect *effect, struct type_place *place)
{
	const struct pointer *slot = slot_of(pass, &effect->access);
	const struct data_type *self;

	if (place->state != TYPE_NO_SLOT || !slot)
		return;
	self = effect->move == MOVE_STORE ? held_by(pass, effect->from).self : slot->self;
	if (self && self->bytes && self->bytes <= POINTER_BYTES && self->kind != DATA_ARRAY)
		type_place_set(place, (struct data_found){ self, 0 }, TYPE_FOLLOWED, false);
}

/* Finds what the register holds that an instruction moves something to, or that it stores. */
static struct pointer moved(struct pass *pass, const struct data_effect *effect, const struct type_place *place)
{
	const struct pointer *slot = slot_of(pass, &effect->access);
	struct pointer pointer = { .type = NULL };

	switch (effect->move) {
	case MOVE_NONE:
		break;
	case MOVE_THREAD:
		pointer.type = &thread_copy;
		break;
	case MOVE_LOAD:
		return slot && place->state != TYPE_DECLARED ? *slot : loaded(place);
	case MOVE_STORE:
		return held_by(pass, effect->from);
	case MOVE_SUM:
	case MOVE_ELEMENT:
		return computed(pass, effect);
	}
	return pointer;
}

static void follow(struct pass *pass, const struct disasm_instruction *instruction, const struct data_effect *effect,
		   const struct type_place *place)
{
	struct pointer to, *slot;
	uint8_t reg;

	if (instruction->flow == FLOW_CALL) {
		to = returned(pass, instruction);
		forget_registers(pass, disasm_kept_by_calls(pass->code->disasm, &reg));
		pass->held[reg] = to;
		return;
	}
	to = moved(pass, effect, place);
	forget_registers(pass, ~effect->changed);
	forget_written(pass, effect);
	if (effect->move == MOVE_STORE) {
		slot = slot_of(pass, &effect->access);
		if (slot)
			*slot = to;
		learn(pass, effect->from, place);
	} else if (effect->move) {
		pass->held[effect->to] = to;
	}
}

/* ---- a function ---- */

/* Goes over its instructions, one after the other; false: the end. *known: bytes that are none have no instruction. */
static bool next(const struct function_code *code, size_t *at, struct disasm_instruction *instruction, bool *known)
{
	if (*at >= code->n)
		return false;
	*known = disasm_next(code->disasm, code->bytes + *at, code->n - *at, code->shown + *at, instruction);
	if (!*known)
		instruction->n_bytes = (uint8_t)disasm_unknown(code->disasm, code->bytes + *at, code->n - *at);
	*at += instruction->n_bytes ? instruction->n_bytes : 1;
	return true;
}

static int by_place(const void *a, const void *b)
{
	const struct join *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static void come_to(struct pass *pass, uint64_t at)
{
	pass->vaddr = pass->code->vaddr + at;
	pass->frame.known = pass->code->cfas && unwind_cfa_at(pass->code->cfas, pass->vaddr, &pass->frame.reg,
							      &pass->frame.offset);
}

static void find_join(struct pass *pass, const struct disasm_instruction *instruction)
{
	const struct function_code *code = pass->code;

	if (instruction->flow != FLOW_JUMP)
		return;
	pass->lost |= !instruction->has_target || pass->n_joins == JOINS_MAX;
	if (!instruction->has_target || instruction->target - code->shown >= code->n || pass->n_joins == JOINS_MAX)
		return;
	VEC_GROW(pass->joins, pass->n_joins, pass->cap_joins);
	pass->joins[pass->n_joins++] = (struct join){ .at = instruction->target - code->shown };
}

/* Finds what all passes need to know before: where jumps go to, and the slots of the stack. */
static void look_ahead(struct pass *pass)
{
	struct disasm_instruction instruction;
	size_t start = 0, at = 0, n = 0;
	bool known;

	pass->given = INT64_MAX;
	for (; next(pass->code, &at, &instruction, &known); start = at) {
		struct data_effect effect;

		if (!known)
			continue;
		find_join(pass, &instruction);
		come_to(pass, start);
		disasm_effect(pass->code->disasm, &instruction, &effect);
		find_slot(pass, &effect);
	}
	keep_slots(pass);
	if (pass->n_joins)
		qsort(pass->joins, pass->n_joins, sizeof(*pass->joins), by_place);
	for (size_t i = 0; i < pass->n_joins; i++)
		if (!n || pass->joins[i].at != pass->joins[n - 1].at)
			pass->joins[n++] = pass->joins[i];
	pass->n_joins = n;
}

/* The join at a byte of the function, or NULL. */
static struct join *join_at(struct pass *pass, uint64_t at)
{
	size_t i = BISECT(k, 0, pass->n_joins, pass->joins[k].at < at);

	return i < pass->n_joins && pass->joins[i].at == at ? &pass->joins[i] : NULL;
}

/* Makes of a pointer to an array within an object one to the array's element; false: it points to no array. */
static bool narrow(struct pointer *pointer)
{
	const struct data_type *type = pointer->type;
	const struct data_member *member;
	uint64_t offset = (uint64_t)pointer->offset;

	for (int depth = 0; type && depth < DATA_DEPTH_MAX && type->kind != DATA_ARRAY; depth++) {
		member = data_type_member(type, offset);
		type = member ? member->type : NULL;
		offset -= member ? member->offset : 0;
	}
	type = type && type->kind == DATA_ARRAY ? data_type_target(type) : NULL;
	if (!type || !type->bytes || type->bytes > INT64_MAX)
		return false;
	*pointer = (struct pointer){ type, (int64_t)(offset % type->bytes), true, NULL };
	return true;
}

/* Do both point to the same place of a type, of one object or of others beside it? */
static bool agree(const struct pointer *a, const struct pointer *b)
{
	const struct data_type *type = a->type;
	int64_t bytes = type && type->bytes && type->bytes <= INT64_MAX ? (int64_t)type->bytes : INT64_MAX;

	return type && type == b->type && a->offset % bytes == b->offset % bytes;
}

/* Keeps what is held on both ways; true: it is less than on the first. */
static bool meet(struct pointer *to, const struct pointer *from)
{
	struct pointer mine = *to, other = *from;
	bool less;

	if (!to->type && !to->self)
		return false;
	/* Within an object they may be at elements of its array, each at another. */
	if (!agree(&mine, &other))
		narrow(&other);
	if (!agree(&mine, &other))
		narrow(&mine);
	if (agree(&mine, &other))
		mine.element |= other.element || mine.offset != other.offset;
	else
		mine.type = NULL;
	mine.self = to->self == from->self ? to->self : NULL;
	less = mine.type != to->type || mine.element != to->element || mine.self != to->self;
	*to = mine;
	return less;
}

/* One more way to a join, with what the pass holds. true: what is held there is not what it was. */
static bool arrive(const struct pass *pass, struct join *join)
{
	bool less = false;

	if (!join->reached) {
		memcpy(join->held, pass->held, sizeof(join->held));
		return join->reached = true;
	}
	for (unsigned i = 0; i < HELD; i++)
		less |= meet(&join->held[i], &pass->held[i]);
	return less;
}

/* Comes to the next instruction, where others may come from elsewhere. */
static void enter(struct pass *pass, uint64_t at)
{
	struct join *join = join_at(pass, at);

	if (!join) {
		if (!pass->falls) {
			forget_all(pass);
			pass->way = WAY_UNKNOWN;
		}
		return;
	}
	if (pass->falls && pass->way == WAY_MET)
		arrive(pass, join);
	pass->way = join->reached ? WAY_MET : WAY_NOT_YET;
	if (pass->lost || !join->reached)
		forget_all(pass);
	else
		memcpy(pass->held, join->held, sizeof(pass->held));
}

/* Leaves an instruction by its jump, if it has one. */
static void jump(struct pass *pass, const struct disasm_instruction *instruction)
{
	struct join *join = instruction->flow == FLOW_JUMP && instruction->has_target ?
				    join_at(pass, instruction->target - pass->code->shown) :
				    NULL;

	if (join && pass->way == WAY_MET && arrive(pass, join))
		pass->changed |= pass->code->vaddr + join->at <= pass->vaddr;
	pass->falls = !instruction->leaves || instruction->flow == FLOW_CALL;
}

/* Keeps what the next instruction is told of this one's place. */
static void leave(struct pass *pass, const struct disasm_instruction *instruction, const struct data_effect *effect,
		  const struct type_place *place)
{
	forget_before(pass);
	if (effect->compares && place->type) {
		pass->compared = *place;
		pass->compared.state = TYPE_COMPARED;
	}
	if (effect->access.reads && place->type && instruction->flow == FLOW_ON) {
		pass->read = *place;
		pass->read.state = TYPE_WAITED;
		pass->read.writes = false;
	}
}

static void take(struct pass *pass, const struct disasm_instruction *instruction, struct type_place *place)
{
	struct data_effect effect;

	disasm_effect(pass->code->disasm, instruction, &effect);
	/* An instruction without an effect, after a jump, fills up; any other is one that something goes to. */
	if (pass->way == WAY_UNKNOWN && (effect.changed || effect.access.reads || effect.access.writes ||
					 instruction->flow != FLOW_ON))
		pass->way = WAY_MET;
	find_place(pass, &effect, place);
	find_waiting(pass, &effect, place);
	if (instruction->flow == FLOW_JUMP && !instruction->leaves && pass->compared.type)
		*place = pass->compared;
	else if (place->state == TYPE_NO_ACCESS && pass->read.type)
		*place = pass->read;
	leave(pass, instruction, &effect, place);
	follow(pass, instruction, &effect, place);
	jump(pass, instruction);
}

static void run(struct pass *pass, struct function_types *types)
{
	struct disasm_instruction instruction;
	size_t start = 0, at = 0;
	bool known;

	forget_all(pass);
	forget_before(pass);
	pass->falls = true;
	pass->way = WAY_MET;
	types->n = 0;
	for (; next(pass->code, &at, &instruction, &known); start = at) {
		struct type_place place = { .state = TYPE_NO_CODE };

		enter(pass, start);
		come_to(pass, start);
		if (known) {
			take(pass, &instruction, &place);
		} else {
			forget_all(pass);
			forget_before(pass);
		}
		VEC_GROW(types->v, types->n, types->cap);
		types->v[types->n++] = (struct instruction_type){ (uint32_t)start, place };
	}
}

bool function_types_make(struct function_types *types, const struct function_code *code)
{
	struct pass pass = { .code = code };

	pass.variables = dwarf_variables_of(code->dwarf, code->vaddr);
	if (!pass.variables)
		return false;
	look_ahead(&pass);
	pass.changed = true;
	for (int i = 0; i < PASSES_MAX && pass.changed; i++) {
		pass.changed = false;
		run(&pass, types);
	}
	if (pass.changed) {
		pass.lost = true;
		run(&pass, types);
	}
	free(pass.joins);
	dwarf_variables_free(pass.variables);
	return true;
}
