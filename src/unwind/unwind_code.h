/* SPDX-License-Identifier: MIT */
/*
 * unwind_code: what instructions say about a frame where tables say nothing. Private to unwind/.
 */
#ifndef PSTAT_UNWIND_CODE_H
#define PSTAT_UNWIND_CODE_H

#include "unwind/unwind_memory.h"
#include "unwind/unwind_table.h"

/*
 * The rule of an instruction that is about to run at ip, and what it restores; NULL: it is none of those known here.
 * Certain: entries of procedure linkage tables (lld's have no unwind tables), the first instructions of functions
 * that keep a frame pointer, and those that return.
 */
const struct unwind_rule *unwind_code_rule(struct unwind_memory *memory, uint64_t ip,
					   const struct unwind_saved **saved);
/*
 * Before ip there is a call, so that it may be a return address; where the code can't be read, it is enough that
 * something is mapped.
 */
bool unwind_code_called(struct unwind_memory *memory, uint64_t ip);
/* The same of the address that a thread's first function was made to return to, though nothing called it: a no-op. */
bool unwind_code_made(struct unwind_memory *memory, uint64_t ip);
/* True: a coroutine's first function returns to ip, in C libraries that have no tables for that code. */
bool unwind_code_outermost(struct unwind_memory *memory, uint64_t ip);

#endif
