/*
 * unwind_cfi: the entries of .eh_frame or .debug_frame: which code each FDE is about, and by which CIE its program is
 * to be read. What the programs say is unwind_program.c's work.
 *
 * Private to unwind/.
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

struct cfi_cie {
	uint32_t at; /* where it begins in the section */
	bool usable;
	bool augmented; /* its FDEs have the length of their augmentation */
	bool signal;
	uint8_t encoding; /* DW_EH_PE_* of its FDEs' addresses */
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_reg;
	const uint8_t *program, *end;
};

struct cfi_fde {
	uint32_t start, end; /* the code, from the base that was given; start < end */
	uint32_t cie; /* number */
	uint32_t program, program_bytes; /* where in the section */
};

struct cfi_entries {
	struct cfi_cie *cies;
	size_t n_cies, cap_cies;
	struct cfi_fde *fdes; /* in order of start, and of the section where several have one start */
	size_t n_fdes, cap_fdes;
	struct index by_at; /* CIEs */
	bool incomplete; /* entries were not understood, or there are too many */
};

/* Those about code in [base, base + bytes); the caller releases them. The section must stay. */
void cfi_entries_read(struct cfi_entries *entries, const struct cfi_section *section, uint64_t base, uint64_t bytes);
void cfi_entries_release(struct cfi_entries *entries);

/* ---- unwind_program.c ---- */

/* Rows for all entries, in order: where ranges overlap, the one that begins last holds. */
void cfi_rows(const struct cfi_entries *entries, const struct cfi_section *section, const struct unwind_arch *arch,
	      struct unwind_builder *builder);

/* A pointer in this encoding at the cursor, in section. false: not one that can be known here. */
bool cfi_pointer(const struct cfi_section *section, struct dwarf_cursor *at, uint8_t encoding, uint64_t *value);

#endif
