/*
 * symbol_objects: functions as symbols that live as long as their struct symbols, one object each. Private to sym/.
 */
#ifndef PSTAT_HELD_SYMBOLS_H
#define PSTAT_HELD_SYMBOLS_H

#include "sym/dso_state.h"

/* The symbol of a row of the table; addr and vaddr: one and the same place in it. */
const struct symbol *held_row(struct symbols *symbols, struct dso_state *state, const struct symbol_row *row,
			      uint64_t addr, uint64_t vaddr);
/* Of a function of which only the bounds are known. */
const struct symbol *held_bounds(struct symbols *symbols, struct dso_state *state,
				 const struct function_bounds *bounds, uint64_t addr, uint64_t vaddr);
/* Of a function of state->recorded, by its number. NULL: it has no name, and none is to be made. */
const struct symbol *held_recorded(struct symbols *symbols, struct dso_state *state, uint32_t i);
/* Of an event of state->times, by its number. */
const struct symbol *held_code(struct symbols *symbols, struct dso_state *state, uint32_t i);

#endif
