/*
 * unwind_slot: the rule of an address in an address space, as rows are walked by: of the tables of the file that is
 * mapped there, or where these say nothing, of the code. Private to unwind/.
 */
#ifndef PSTAT_UNWIND_SLOT_H
#define PSTAT_UNWIND_SLOT_H

#include "unwind/unwind_memory.h"
#include "unwind/unwind_table.h"

struct unwind_slot {
	uint64_t ip, version; /* of the address space; 0: empty */
	const struct unwind_rule *rule;
	const struct unwind_saved *saved; /* what it restores */
	const struct unwind_table *table; /* that has its expressions */
	bool exact; /* ip is about to run: it is not a return address */
	enum unwind_end otherwise; /* why it has no tables, where the frame pointer does not lead on either */
};

/* Sets all but ip, version and exact, in the present address space. */
void unwind_slot_fill(struct unwind_memory *memory, struct unwind_slot *slot);

#endif
