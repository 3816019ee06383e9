/*
 * unwind_image: the ELF files that code was mapped from, as unwinding needs them: where each part of
 * the file lies in memory, where the table of .eh_frame_hdr is, and the bytes behind an address.
 *
 *	file offset --(PT_LOAD)--> address as linked --(bias of one process)--> address as sampled
 *
 * Files are read, not mapped, in pages that are kept: what was read once costs nothing again, and a file
 * of 1 GB costs what is looked at. No descriptor stays open, since dsos may be more than may be open.
 *
 * Private to unwind/.
 */
#ifndef PSTAT_UNWIND_IMAGE_H
#define PSTAT_UNWIND_IMAGE_H

#include "unwind/unwind.h"

struct image_segment {
	uint64_t vaddr, offset, size; /* PT_LOAD; size: bytes that are in the file */
	bool executable;
};

struct image {
	char *path;
	uint64_t device, inode, file_size; /* the same in each opening */
	struct image_segment *segments;
	size_t n_segments;
	uint64_t entry; /* as linked: where a process begins that was started with it */
	uint64_t start, end; /* lowest address as linked, end of the highest */
	/* .eh_frame_hdr with its search table (pairs of sdata4 from hdr); n_fdes 0: there is none. */
	uint64_t hdr_vaddr, table_vaddr, n_fdes;
	struct index page_index;
	struct image_page **pages;
	size_t n_pages, cap_pages;
	struct image_page *last;
};

/* NULL: not an ELF file of this machine (EM_*), or one that can't be read. */
struct image *image_open(const char *path, uint16_t machine);
void image_free(struct image *image); /* NULL is nothing */
/*
 * A descriptor for the same file, which the caller closes; negative errno: it is gone or another. For
 * libraries that want to read by themselves.
 */
int image_reopen(const struct image *image);
/* The address as linked of an offset in the file, of executable parts first. false: it is not loaded. */
bool image_vaddr(const struct image *image, uint64_t offset, uint64_t *vaddr);
/*
 * The n bytes at an address as linked. Behind the end of the part that has the first byte they are 0,
 * because words are asked for where bytes are needed. false: the first byte is in no part.
 */
bool image_read(struct image *image, uint64_t vaddr, void *bytes, size_t n);

#endif
