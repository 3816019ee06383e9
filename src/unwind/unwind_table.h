/* SPDX-License-Identifier: MIT */
/*
 * unwind_table: how to get from a function's registers to its caller's, for each address of a file:
 *
 *	rows, 8 bytes each      rules, once each                      what each rule restores, once each
 *	offset | rule  ----->   CFA = register + offset, kind  --->   register, where it was saved
 *	offset | rule  --'                                    `-->    operations of DWARF expressions
 *
 * A row holds from its offset to the next row's. A file of a million rows has a few hundred rules, so that it
 * takes little more than 8 MB, and a look-up is a binary search over 4 MB of numbers.
 *
 * Private to unwind/. Made by unwind_cfi.c of .eh_frame and .debug_frame.
 */
#ifndef PSTAT_UNWIND_TABLE_H
#define PSTAT_UNWIND_TABLE_H

#include "elf/elf.h"
#include "unwind/unwind_regs.h"

#include <elfutils/libdw.h>

enum unwind_rule_kind {
	UNWIND_RULE_NONE, /* the file says nothing about these addresses */
	UNWIND_RULE_PLAIN, /* CFA = register + offset; all that is restored was saved at the CFA plus a number */
	UNWIND_RULE_GENERAL, /* anything else */
	UNWIND_RULE_OUTERMOST, /* nothing called this function */
	UNWIND_RULE_OTHER, /* the file says something that is not understood here: to be asked of another unwinder */
	UNWIND_RULE_TRAMPOLINE, /* the code that a signal handler returns to: the kernel saved all */
	UNWIND_RULE_POINTER, /* the file says nothing: the frame pointer may know */
	UNWIND_RULE_ENTRY, /* where a process begins, if the frame pointer is 0 */
	UNWIND_RULE_UNMAPPED, /* not in any map */
};

struct unwind_rule {
	int32_t cfa_offset; /* cfa_expression: the number of its block */
	uint32_t saved; /* the first of n_saved */
	uint8_t n_saved;
	uint8_t kind; /* enum unwind_rule_kind */
	uint8_t cfa_reg;
	bool cfa_expression;
	bool signal; /* what called was interrupted */
};

enum unwind_saved_how {
	UNWIND_SAVED_AT, /* in memory at CFA + offset */
	UNWIND_SAVED_CFA, /* is CFA + offset */
	UNWIND_SAVED_REGISTER, /* is in register number offset */
	UNWIND_SAVED_EXPRESSION, /* in memory where block number offset says; or that is the value itself */
	UNWIND_SAVED_VALUE, /* is what block number offset says */
	UNWIND_SAVED_SAME, /* is what it was */
	UNWIND_SAVED_NOT, /* is not known any more */
};

struct unwind_saved {
	int32_t offset;
	uint8_t reg, how; /* enum unwind_saved_how */
};

/* A DWARF expression; of a register, it begins with the CFA on the stack. */
struct unwind_block {
	uint32_t first, n; /* in ops */
};

struct unwind_table {
	uint64_t base; /* address as linked that offsets count from */
	uint32_t *offsets, *rules; /* of the rows, ascending, no two alike; the number of each one's rule */
	size_t n;
	struct unwind_rule *rule;
	size_t n_rules;
	struct unwind_saved *saved;
	size_t n_saved;
	struct unwind_block *blocks;
	size_t n_blocks;
	Dwarf_Op *ops;
	size_t n_ops;
	bool incomplete; /* entries that are not understood were left out: they may be about what no row is about */
};

void unwind_table_free(struct unwind_table *table); /* NULL is nothing */
/* The rule of an address as linked; never NULL. */
const struct unwind_rule *unwind_table_find(const struct unwind_table *table, uint64_t vaddr);
/* Memory that the table takes: 8 bytes a row, and the rules. NULL: 0. */
size_t unwind_table_bytes(const struct unwind_table *table);

/* ---- making one ---- */

/* The numbers that these rules have in each table. */
enum { UNWIND_RULE_NUMBER_NONE, UNWIND_RULE_NUMBER_OTHER };

/* The rules of all registers at one address. */
struct unwind_row_state {
	struct unwind_rule cfa; /* saved and n_saved unused */
	uint64_t set; /* bit: saved[register] is a rule */
	struct unwind_saved saved[UNWIND_REGS_MAX];
};

struct unwind_builder {
	struct unwind_table table;
	size_t cap, cap_rules, cap_saved, cap_blocks, cap_ops;
	struct index by_rule, by_saved, by_block;
	struct unwind_lists { /* of saved, each once */
		uint32_t first;
		uint8_t n;
	} *lists;
	size_t n_lists, cap_lists;
	struct { /* by number of block */
		const uint8_t *bytes;
		size_t n;
		bool of_register;
	} *texts;
	size_t cap_texts;
};

void unwind_builder_init(struct unwind_builder *builder, uint64_t base);
/*
 * A row: from offset on, this rule. Offsets must not fall; the last one at an offset counts, and what is the same
 * as in the row before needs none.
 */
void unwind_builder_row(struct unwind_builder *builder, uint64_t offset, uint32_t rule);
/* The number of a rule with these registers; return_reg: of the return address. */
uint32_t unwind_builder_rule(struct unwind_builder *builder, const struct unwind_row_state *state, unsigned return_reg);
/*
 * The number of the block with this expression; negative: it is not understood, or too long. The bytes must stay
 * until the table is done.
 */
int32_t unwind_builder_block(struct unwind_builder *builder, const uint8_t *bytes, size_t n, bool of_register);
/* The table, for the caller to free; the builder is empty then. NULL: it has no rows. */
struct unwind_table *unwind_builder_done(struct unwind_builder *builder);

/* ---- as bytes, so that the rows of a large file are made once and not once a run ---- */

void unwind_table_put(const struct unwind_table *table, struct str *bytes);
/* A table of its own; NULL: these bytes are none. */
struct unwind_table *unwind_table_take(const void *bytes, size_t n);

#endif
