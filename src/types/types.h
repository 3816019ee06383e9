/* SPDX-License-Identifier: MIT */
/*
 * types: which type of data, and which member of it, the instruction at an address reads or writes.
 *
 *	annotate: bytes --disasm--> what each instruction does with memory and registers
 *	sym: which variable is in a register, on the stack, or at an address; members of types
 *	unwind: where the frame is that the stack's variables are counted from
 *	                 all three --function_types.c--> a place for each instruction of a function, made once
 *
 *	profile: the address of a sample's data, if it has one
 *	                 where no place is known --types.c--> the variable there
 *
 * type_uses.c counts the samples of a profile by type and offset.
 *
 * A place is known as far as the debug information tells: by a variable that it declares there, or by following
 * what was loaded, copied and returned from one instruction to the next. Why one is not known is said, too.
 */
#ifndef PSTAT_TYPES_H
#define PSTAT_TYPES_H

#include "sym/sym.h"
#include "util/util.h"

/* To add one: a row in types.c. */
enum type_state {
	TYPE_DECLARED, /* of a variable that is declared where the access is */
	TYPE_FOLLOWED, /* of what instructions before it loaded, copied, computed or were returned */
	TYPE_COMPARED, /* it jumps by the outcome of the comparison just before it, whose place this is */
	TYPE_WAITED, /* it touches no memory; the instruction before it reads this, for which a late sample waited */
	TYPE_ADDRESSED, /* its operands tell nothing; the sample has the address of the data, of this variable */
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
/*
 * The place of the instruction at an address (location.addr). Each function's are made when the first is asked for.
 * exact: the address is of the instruction itself, not of the one after it (MISC_EXACT_IP): never TYPE_WAITED.
 */
struct type_place types_at(struct types *types, const struct dso *dso, uint64_t addr, bool exact);

/*
 * The place of a sample's instruction. Where that is not known, and the sample has the address of the data, the place
 * is of the variable there, if there is one. data: where that address is; NULL: there is none.
 */
struct location_row;
struct type_place types_of_sample(struct types *types, const struct location_row *code, bool exact,
				  const struct location_row *data);

/* "struct node"; "(stack operation)", "(stack canary)", "(unknown)" where there is no type. */
const char *type_place_name(const struct type_place *place);
/* Is a type, or what takes its place, known? */
bool type_place_known(const struct type_place *place);
/* Why none is known: "no variable is there". Without an end. NULL: one is. */
const char *type_state_text(enum type_state state);
/* The same in perf's word, "no_mem_ops"; "insn_track" where it was followed. NULL: there is none. */
const char *type_state_word(enum type_state state);
/* Appends " +0x8 (key)": the offset, and the member there, or "no field". The place has a type. */
void type_place_add_offset(const struct type_place *place, struct str *out);

/* ---- type_uses.c: the samples of an event by type ---- */

struct type_samples {
	uint64_t n_samples, period;
};
struct type_use {
	const struct data_type *type; /* one of those that are alike */
	const struct dso *dso;
	struct type_samples total;
	struct type_use_at {
		uint64_t offset;
		struct type_samples samples;
	} *at; /* ascending */
	size_t n, cap;
};
struct type_instruction { /* all sampled instructions of a name */
	char *name; /* "movq", as the disassembler has it */
	uint64_t with, without; /* instructions that a type is known of, or not */
};
struct type_uses {
	struct type_use *v; /* heaviest first */
	size_t n, cap;
	struct index ix;
	uint64_t places[TYPE_STATES]; /* sampled instructions */
	struct type_instruction *instructions; /* most first; none where they were not asked for */
	size_t n_instructions, cap_instructions;
	struct index instruction_ix;
};
struct profile;
struct filters;
/* Facts of samples that a profile keeps for it, as far as it is to answer as report -s type does. */
#define TYPE_FACTS (1ULL << FACT_LOCATION | 1ULL << FACT_MISC | 1ULL << FACT_DATA_LOCATION)
struct type_query {
	size_t event; /* its index in the profile */
	const struct filters *filters; /* by cell and location; NULL: all that the profile has */
	const struct symbol *symbol; /* samples in the code of this function alone; NULL: all */
	bool instructions; /* they are counted by name */
};
/* Counts the samples of one event. types has to stay. */
struct type_uses *type_uses_new(struct profile *profile, struct types *types, const struct type_query *query);
void type_uses_free(struct type_uses *uses); /* NULL is fine */
/* Keeps the types of a name: as in the source, or without "struct" and the like in front of it. */
void type_uses_keep(struct type_uses *uses, const char *name);
/* Sum of the samples at offsets from this one on, so many bytes far. */
struct type_samples type_use_sum(const struct type_use *use, uint64_t offset, uint64_t bytes);

#endif
