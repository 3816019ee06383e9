/* SPDX-License-Identifier: MIT */
/*
 * types: which type of data, and which member of it, the instruction at an address reads or writes.
 *
 *	annotate: bytes --disasm--> what each instruction does with memory and registers
 *	sym: which variable is in a register, on the stack, or at an address; members of types
 *	unwind: where the frame is that the stack's variables are counted from
 *	                 all three --function_types.c--> a place for each instruction of a function, made once
 *
 * A place is known as far as the debug information tells: by a variable that it declares there, or by following
 * what was loaded, copied and returned from one instruction to the next. Why one is not known is said, too.
 */
#ifndef PSTAT_TYPES_H
#define PSTAT_TYPES_H

#include "sym/sym.h"

/* To add one: a row in types.c. */
enum type_state {
	TYPE_DECLARED, /* of a variable that is declared where the access is */
	TYPE_FOLLOWED, /* of what instructions before it loaded, copied, computed or were returned */
	TYPE_STACK, /* what it pushes or pops: a register, a return address */
	TYPE_CANARY, /* the value that guards the stack */
	/* All others are reasons why none is known. */
	TYPE_NO_ACCESS, /* it neither reads nor writes memory by an operand */
	TYPE_NO_CODE, /* its code can't be had, or is no instruction that is known */
	TYPE_NO_DEBUG, /* its file has no debug information */
	TYPE_NO_FUNCTION, /* the debug information has no function there */
	TYPE_NO_VARIABLE, /* no variable tells what the address in the register is of */
	TYPE_NO_SLOT, /* of the stack, and no variable is there */
	TYPE_THREAD, /* each thread's own, by %fs or %gs */
	TYPE_INCOMPLETE, /* what is pointed to has no size: void, or it is only declared */
	TYPE_OUTSIDE, /* the offset lies outside of the type */
	TYPE_STATES,
};

struct type_place {
	const struct data_type *type; /* the object: of arrays an element; NULL: none */
	uint64_t offset; /* within it */
	uint8_t state; /* enum type_state */
	bool writes; /* else it reads, if it touches memory at all */
	uint8_t bytes; /* that it touches; 0: not known */
};

/* Borrows symbols, which have to stay as long as places are used. */
struct types;
struct types *types_new(struct symbols *symbols);
void types_free(struct types *types); /* NULL is fine */
/* The place of the instruction at an address (location.addr). Each function's are made when the first is asked for. */
struct type_place types_at(struct types *types, const struct dso *dso, uint64_t addr);

/* "struct node"; "(stack operation)", "(stack canary)", "(unknown)" where there is no type. */
const char *type_place_name(const struct type_place *place);
/* Is a type, or what takes its place, known? */
bool type_place_known(const struct type_place *place);
/* Why none is known: "no variable is there". Without an end. */
const char *type_state_text(enum type_state state);

#endif
