/*
 * unwind_image: what unwinding needs of an ELF file besides its segments: the bytes at an address as linked, and the
 * search table in .eh_frame_hdr, read by hand, for that is little, and every number is checked here.
 *
 * .eh_frame_hdr: u8 version 1 | u8 encoding of pointer, of count, of table | pointer to .eh_frame |
 * count | table. Only tables of sdata4 relative to the section (0x3b) can be searched; all linkers
 * write that. All architectures with a row in unwind_regs.c are little-endian, and so must be the reader:
 * elsewhere files are of another byte order.
 *
 * Source: Linux Standard Base Core, "Exception Frames" and "DWARF Extensions".
 */
#include "unwind/unwind_image.h"
#include "unwind/unwind_table.h"

#include <dwarf.h>

#include <stdlib.h>

enum {
	HDR_BYTES = 4,
	TABLE_SDATA4_DATAREL = 0x3b,
	FDE_ENTRY_BYTES = 8,
};

static const struct elf_segment *segment_of(const struct image *image, uint64_t vaddr)
{
	const struct elf_file *file = image->file;

	for (size_t i = 0; i < file->n_segments; i++)
		if (vaddr - file->segments[i].vaddr < file->segments[i].file_size)
			return &file->segments[i];
	return NULL;
}

bool image_read(struct image *image, uint64_t vaddr, void *bytes, size_t n)
{
	const struct elf_segment *segment = segment_of(image, vaddr);
	uint64_t within;
	size_t there;

	if (!segment)
		return false;
	within = vaddr - segment->vaddr;
	if (within > UINT64_MAX - segment->offset)
		return false;
	there = n < segment->file_size - within ? n : (size_t)(segment->file_size - within);
	memset((char *)bytes + there, 0, n - there);
	return elf_file_read_at(image->file, segment->offset + within, bytes, there);
}

bool image_is_data(const struct image *image, uint64_t vaddr)
{
	const struct elf_segment *segment = segment_of(image, vaddr);

	return segment && segment->writable && !segment->executable;
}

/* Bytes of a value by its DW_EH_PE_ format; 0: none, or without a fixed size. */
static unsigned encoded_size(uint8_t encoding)
{
	static const uint8_t sizes[16] = { 8, 0, 2, 4, 8, 0, 0, 0, 8, 0, 2, 4, 8 };

	return encoding == 0xff ? 0 : sizes[encoding & 15];
}

/* Where .eh_frame is: the pointer behind the header, where it is of one of the two encodings that linkers use. */
static void take_pointer(struct image *image, const uint8_t *hdr, uint64_t vaddr)
{
	int32_t relative;
	uint64_t absolute;

	memcpy(&relative, hdr + HDR_BYTES, sizeof(relative));
	memcpy(&absolute, hdr + HDR_BYTES, sizeof(absolute));
	if (hdr[1] == (DW_EH_PE_pcrel | DW_EH_PE_sdata4))
		image->eh_frame_vaddr = vaddr + HDR_BYTES + (uint64_t)(int64_t)relative;
	else if (hdr[1] == DW_EH_PE_absptr)
		image->eh_frame_vaddr = absolute;
}

static void take_search_table(struct image *image, const struct elf_segment *header)
{
	uint8_t hdr[HDR_BYTES + 16];
	unsigned pointer, count_size, before;
	uint64_t count = 0;

	if (header->file_size < HDR_BYTES || !image_read(image, header->vaddr, hdr, sizeof(hdr)) || hdr[0] != 1)
		return;
	take_pointer(image, hdr, header->vaddr);
	if (hdr[3] != TABLE_SDATA4_DATAREL)
		return;
	pointer = encoded_size(hdr[1]);
	count_size = encoded_size(hdr[2]);
	before = HDR_BYTES + pointer + count_size;
	if (!pointer || !count_size || header->file_size < before)
		return;
	memcpy(&count, hdr + HDR_BYTES + pointer, count_size);
	if (count > (header->file_size - before) / FDE_ENTRY_BYTES)
		count = (header->file_size - before) / FDE_ENTRY_BYTES;
	image->hdr_vaddr = header->vaddr;
	image->table_vaddr = header->vaddr + before;
	image->n_fdes = count;
}

/* false: no part of it is loaded. */
static bool measure(struct image *image)
{
	const struct elf_file *file = image->file;
	bool any = false;

	for (size_t i = 0; i < file->n_segments; i++) {
		const struct elf_segment *segment = &file->segments[i];
		uint64_t end = segment->vaddr + segment->file_size;

		if (!segment->file_size || end < segment->vaddr)
			continue;
		if (!any || segment->vaddr < image->start)
			image->start = segment->vaddr;
		if (!any || end > image->end)
			image->end = end;
		any = true;
	}
	return any;
}

struct image *image_open(struct elf_file *file, const struct dso *dso, uint16_t machine)
{
	struct image *image;

	if (!file || !file->is_64 || file->swapped || file->machine != machine)
		return NULL;
	image = xcalloc(1, sizeof(*image));
	image->file = file;
	image->dso = dso;
	if (!measure(image)) {
		image_free(image);
		return NULL;
	}
	if (file->eh_frame_hdr.file_size)
		take_search_table(image, &file->eh_frame_hdr);
	return image;
}

void image_free(struct image *image)
{
	if (!image)
		return;
	unwind_table_free(image->eh);
	unwind_table_free(image->debug);
	free(image);
}
