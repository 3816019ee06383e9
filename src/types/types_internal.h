/* SPDX-License-Identifier: MIT */
/*
 * types_internal: what the files of types/ share, and its tests. Private to types/.
 */
#ifndef PSTAT_TYPES_INTERNAL_H
#define PSTAT_TYPES_INTERNAL_H

#include "annotate/annotate.h"
#include "types/types.h"
#include "unwind/unwind.h"

/* ---- function_types.c ---- */

struct instruction_type {
	uint32_t at; /* bytes from the function's start */
	struct type_place place;
};
struct function_types { /* of each instruction, ascending */
	struct instruction_type *v;
	size_t n, cap;
};
/* The code of one function, and who is asked about it. All is borrowed. */
struct function_code {
	const uint8_t *bytes;
	size_t n;
	uint64_t shown; /* the address of the first byte as its instructions have it */
	uint64_t vaddr; /* the same as the debug information has it */
	struct disasm *disasm; /* with `intel` */
	struct dwarf_file *dwarf;
	const struct unwind_cfas *cfas; /* NULL: where frames are is not known */
	/* The name of what lies at an address as shown, and how far into it; NULL: not known. May be NULL. */
	const char *(*name_of)(void *context, uint64_t shown, uint64_t *offset);
	void *context;
};
/*
 * Fills in type, offset and state of what was found, or why it is no place. element: what it is of may be one of
 * many in a row.
 */
void type_place_set(struct type_place *place, struct data_found found, enum type_state state, bool element);
/* Fills it, which is empty. false: the debug information has no such function. */
bool function_types_make(struct function_types *types, const struct function_code *code);

#endif
