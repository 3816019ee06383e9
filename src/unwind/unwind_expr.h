/* SPDX-License-Identifier: MIT */
/*
 * unwind_expr: DWARF expressions, as unwind tables use them to say where a frame is and where its
 * registers were saved. Private to unwind/.
 */
#ifndef PSTAT_UNWIND_EXPR_H
#define PSTAT_UNWIND_EXPR_H

#include "unwind/unwind_memory.h"

#include <elfutils/libdw.h>

struct unwind_expr {
	struct unwind_memory *memory;
	const struct unwind_regs *regs; /* of the frame that is left */
	uint64_t bias; /* of its module, for DW_OP_addr */
	bool has_cfa; /* not while the CFA itself is computed */
	uint64_t cfa;
};

enum { EXPR_OPS_MAX = 128 }; /* of one expression */
/* Operations as libdw would decode them. How many; 0: none, too many, cut, or with one that rules have no use for. */
size_t unwind_expr_decode(const uint8_t *bytes, size_t n, Dwarf_Op *ops, size_t max);
/*
 * The value on top of the stack at the end. *is_value: it is the wanted value, else the address of it.
 * false, and the reason in memory->why: not to be computed.
 */
bool unwind_expr_eval(const struct unwind_expr *expr, const Dwarf_Op *ops, size_t n,
		      uint64_t *result, bool *is_value);

#endif
