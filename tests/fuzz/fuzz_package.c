/* SPDX-License-Identifier: MIT */
/*
 * fuzz_package: any bytes as the index of a .dwp file and as the sections that it is of. The claim: no crash, no
 * sanitizer report, no endless loop; a unit's part of a section lies in the section.
 */
#include "sym/dwarf_internal.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NUMBERS = 10 };

static void look_up(const uint8_t *data, size_t size, uint64_t id, bool swapped)
{
	const struct dwarf_cursor all = { .at = data, .end = data + size, .swapped = swapped };
	struct dwarf_package_unit unit;

	if (!dwarf_package_find(&unit, all, id))
		return;
	if (unit.version != 2 && unit.version != 5)
		abort();
	for (uint8_t number = 1; number < NUMBERS; number++) {
		struct dwarf_cursor part = all;

		dwarf_package_part(&unit, number, &part);
		if (part.at && (part.at < data || part.end < part.at || part.end > data + size))
			abort();
	}
}

/* Ids that are in it, where there is one, and some that need not be. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (uint64_t id = 0; id < 4; id++)
		for (int swapped = 0; swapped < 2; swapped++)
			look_up(data, size, id | id << 32, swapped);
	for (size_t at = 16; at + 8 <= size && at < 16 + 8 * 16; at += 8) {
		uint64_t id;

		memcpy(&id, data + at, sizeof(id));
		look_up(data, size, id, false);
		look_up(data, size, __builtin_bswap64(id), true);
	}
	return 0;
}
