/*
 * dwarf_package: where in a package (.dwp) the parts of a unit are, by its .debug_cu_index. Private to sym/.
 */
#ifndef PSTAT_SYM_DWARF_PACKAGE_H
#define PSTAT_SYM_DWARF_PACKAGE_H

#include "elf/elf.h"

struct dwarf_package_unit {
	uint8_t version; /* 2 or 5, whose numbers of sections differ */
	/* Private. */
	uint32_t n_sections, n_units, row;
	struct dwarf_cursor table;
};

/* The unit with this id, in the index's bytes, which unit borrows; false: it is not there, or the index is no index. */
bool dwarf_package_find(struct dwarf_package_unit *unit, struct dwarf_cursor index, uint64_t id);
/* Makes of a section, by its number in the index, the unit's part; of zeros, where it has none. */
void dwarf_package_part(const struct dwarf_package_unit *unit, uint8_t number, struct dwarf_cursor *section);

#endif
