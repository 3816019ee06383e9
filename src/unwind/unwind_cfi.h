/* SPDX-License-Identifier: MIT */
/*
 * unwind_cfi: .eh_frame or .debug_frame -> rows (unwind_table.h). Private to unwind/.
 */
#ifndef PSTAT_UNWIND_CFI_H
#define PSTAT_UNWIND_CFI_H

#include "unwind/unwind_table.h"

struct cfi_section {
	const uint8_t *bytes; /* at most 4 GiB of them are looked at */
	size_t n;
	uint64_t vaddr; /* of the first one, as linked: addresses may be relative to where they stand */
	bool debug_frame; /* else .eh_frame, whose entries are told apart in another way */
};

/*
 * Rows of all entries about code in [base, base + bytes), for the caller to free; NULL: there are none. Where ranges
 * overlap, the entry that begins last holds.
 */
struct unwind_table *cfi_table(const struct cfi_section *section, const struct unwind_arch *arch, uint64_t base,
			       uint64_t bytes);

#endif
