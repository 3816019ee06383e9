/* SPDX-License-Identifier: MIT */
/*
 * unwind_image: the ELF files that code was mapped from, as unwinding needs them: where each part of
 * the file lies in memory, where the table of .eh_frame_hdr is, and the bytes after an address.
 *
 *	file offset --(PT_LOAD)--> address as linked --(bias of one process)--> address as sampled
 *
 * Private to unwind/.
 */
#ifndef PSTAT_UNWIND_IMAGE_H
#define PSTAT_UNWIND_IMAGE_H

#include "elf/elf.h"

struct unwind_table; /* unwind_table.h */
struct unwind_arch;
struct unwind;
struct dso;

struct image {
	struct elf_file *file; /* not held: its bytes are read in pages */
	uint64_t start, end; /* lowest address as linked, end of the highest */
	/* .eh_frame_hdr with its search table (pairs of sdata4 from hdr); n_fdes 0: there is none. */
	uint64_t hdr_vaddr, table_vaddr, n_fdes;
	uint64_t eh_frame_vaddr; /* of .eh_frame, as .eh_frame_hdr has it; 0: not known */
	const struct dso *dso;
	/* Rows, made when they are first asked for. NULL: none. */
	struct unwind_table *eh, *debug;
	bool tried_eh, tried_debug;
};

/* NULL: not an ELF file of this machine (EM_*), or NULL itself. */
struct image *image_open(struct elf_file *file, const struct dso *dso, uint16_t machine);
void image_free(struct image *image); /* NULL is nothing */
/*
 * The n bytes at an address as linked. After the end of the part that has the first byte they are 0,
 * because words are asked for where bytes are needed. false: the first byte is in no part.
 */
bool image_read(struct image *image, uint64_t vaddr, void *bytes, size_t n);
/* True: the program may have written there since it was mapped, and the file does not tell what. */
bool image_is_data(const struct image *image, uint64_t vaddr);

/* The rows of .eh_frame; NULL: there are none. unwind: who keeps rows, and has the architecture of `arch`. */
const struct unwind_table *image_eh_rows(struct image *image, const struct unwind_arch *arch,
					 const struct unwind *unwind);
/* The rows of .debug_frame, of the file itself or else of its debug file, which unwind->debug_file_of gives. */
const struct unwind_table *image_debug_rows(struct image *image, const struct unwind_arch *arch,
					    const struct unwind *unwind);
/* How many rows of the file there are by now, and the memory that they take. */
size_t image_rows(const struct image *image, size_t *bytes);

#endif
