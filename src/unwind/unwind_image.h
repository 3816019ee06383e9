/*
 * unwind_image: the ELF files that code was mapped from, as unwinding needs them: where each part of
 * the file lies in memory, where the table of .eh_frame_hdr is, and the bytes behind an address.
 *
 *	file offset --(PT_LOAD)--> address as linked --(bias of one process)--> address as sampled
 *
 * Private to unwind/.
 */
#ifndef PSTAT_UNWIND_IMAGE_H
#define PSTAT_UNWIND_IMAGE_H

#include "elf/elf.h"

struct image {
	struct elf_file *file; /* not held: its bytes are read in pages */
	uint64_t start, end; /* lowest address as linked, end of the highest */
	/* .eh_frame_hdr with its search table (pairs of sdata4 from hdr); n_fdes 0: there is none. */
	uint64_t hdr_vaddr, table_vaddr, n_fdes;
};

/* NULL: not an ELF file of this machine (EM_*), or NULL itself. */
struct image *image_open(struct elf_file *file, uint16_t machine);
void image_free(struct image *image); /* NULL is nothing */
/*
 * The n bytes at an address as linked. Behind the end of the part that has the first byte they are 0,
 * because words are asked for where bytes are needed. false: the first byte is in no part.
 */
bool image_read(struct image *image, uint64_t vaddr, void *bytes, size_t n);

#endif
