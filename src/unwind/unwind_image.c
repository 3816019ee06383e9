/* SPDX-License-Identifier: MIT */
/*
 * unwind_image: the bytes at an address as linked; the search table in .eh_frame_hdr, read by hand, for that is little,
 * and every number is checked here; and rows, made once per section, when an address is first asked for:
 *
 *	file -> section -> unwind_cfi.c -> rows
 *	               `-> rows that an earlier run has kept (struct unwind_keeper)
 *
 * The bytes of the section are needed only meanwhile. .eh_frame is found by its name, or, in files without section
 * headers, by .eh_frame_hdr; no search table is needed.
 *
 * .eh_frame_hdr: u8 version 1 | u8 encoding of pointer, of count, of table | pointer to .eh_frame |
 * count | table. Only tables of sdata4 relative to the section (0x3b) can be searched; all linkers
 * write that. All architectures with a row in unwind_regs.c are little-endian, and so must be the reader:
 * elsewhere files are of another byte order.
 *
 * Source: Linux Standard Base Core, "Exception Frames" and "DWARF Extensions".
 */
#include "unwind/unwind_image.h"

#include "unwind/unwind.h"
#include "unwind/unwind_cfi.h"

#include <dwarf.h>
#include <stdlib.h>

enum {
	HDR_BYTES = 4,
	TABLE_SDATA4_DATAREL = 0x3b,
	FDE_ENTRY_BYTES = 8,
	KEPT_VERSION = 1, /* of how rows are made of a section; rows of other versions are made anew */
	KEPT_BYTES_MIN = 1 << 17, /* of a section; rows of a smaller one are made in a millisecond */
};
#define SECTION_BYTES_MAX ((uint64_t)256 << 20) /* of an .eh_frame that only .eh_frame_hdr knows of */

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

/* Takes the pointer to .eh_frame, if it has one of the two encodings that linkers use. */
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

/* ---- rows that are kept from one run to the next ---- */

/*
 * All that the rows of this section depend on: the file with its times, and how rows are made. Empty: they are not
 * worth to be kept, or there is no keeper, or the file has no build-id.
 */
static void kept_key(const struct unwind *unwind, const struct image *image, const struct elf_file *file,
		     const char *section, uint64_t section_bytes, struct str *key)
{
	if (!unwind->keeper || section_bytes < KEPT_BYTES_MIN || image->dso->kind != DSO_FILE || !file->build_id.size)
		return;
	str_addf(key, "rows %d " PSTAT_VERSION " %s of machine %u at %llx-%llx\n", KEPT_VERSION, section, file->machine,
		 (unsigned long long)image->start, (unsigned long long)image->end);
	elf_file_identity(file, key);
}

/* NULL: none under this key; an empty key has none. */
static struct unwind_table *kept_read(const struct unwind *unwind, const struct build_id *id, const struct str *key)
{
	struct unwind_table *table = NULL;
	struct str bytes = STR_INIT;

	if (key->len && unwind->keeper->read(unwind->file_context, id, key, &bytes))
		table = unwind_table_take(bytes.s, bytes.len);
	str_release(&bytes);
	return table;
}

/* table: NULL, and with an empty key, nothing is written. */
static void kept_write(const struct unwind *unwind, const struct build_id *id, const struct str *key,
		       const struct unwind_table *table)
{
	struct str bytes = STR_INIT;

	if (!key->len || !table)
		return;
	unwind_table_put(table, &bytes);
	unwind->keeper->write(unwind->file_context, id, key, &bytes);
	str_release(&bytes);
}

/* ---- rows ---- */

/* The file is held. */
static struct unwind_table *compile(const struct image *image, struct elf_file *file, struct elf_section *section,
				    const char *name, const struct unwind_arch *arch)
{
	struct elf_data data;

	if (!elf_section_read(file, section, &data))
		return NULL;
	return cfi_table(&(struct cfi_section){ .bytes = data.bytes,
						.n = data.n,
						.vaddr = section->header.sh_addr,
						.debug_frame = !strcmp(name, ".debug_frame") },
			 arch, image->start, image->end - image->start);
}

/* Rows of a section by its name, in image's file or its debug file. NULL: it has none, or nothing in it. */
static struct unwind_table *section_rows(const struct image *image, struct elf_file *file, const char *name,
					 const struct unwind_arch *arch, const struct unwind *unwind)
{
	struct unwind_table *table = NULL;
	struct str ignored = STR_INIT, key = STR_INIT;
	struct elf_section section;

	if (!elf_file_hold(file, &ignored)) {
		if (elf_section_named(file, name, &section)) {
			kept_key(unwind, image, file, name, section.header.sh_size, &key);
			table = kept_read(unwind, &file->build_id, &key);
			if (!table) {
				table = compile(image, file, &section, name, arch);
				kept_write(unwind, &file->build_id, &key, table);
			}
		}
		elf_file_let_go(file);
	}
	str_release(&key);
	str_release(&ignored);
	return table;
}

/* Rows of .eh_frame by .eh_frame_hdr: from where that says to the end of the segment. */
static struct unwind_table *segment_rows(struct image *image, const struct unwind_arch *arch)
{
	struct unwind_table *table = NULL;

	for (size_t i = 0; i < image->file->n_segments && !table; i++) {
		const struct elf_segment *segment = &image->file->segments[i];
		uint64_t within = image->eh_frame_vaddr - segment->vaddr;
		struct cfi_section section = { .vaddr = image->eh_frame_vaddr };
		uint8_t *bytes;

		if (within >= segment->file_size || segment->file_size - within > SECTION_BYTES_MAX ||
		    segment->offset > (uint64_t)image->file->stat.st_size)
			continue;
		section.n = (size_t)(segment->file_size - within);
		/* No room for bytes that are cut off: sparse files say anything of themselves. */
		if (section.n > (uint64_t)image->file->stat.st_size - segment->offset)
			section.n = (size_t)((uint64_t)image->file->stat.st_size - segment->offset);
		section.bytes = bytes = xmalloc(section.n + 1);
		if (image_read(image, image->eh_frame_vaddr, bytes, section.n))
			table = cfi_table(&section, arch, image->start, image->end - image->start);
		free(bytes);
	}
	return table;
}

const struct unwind_table *image_eh_rows(struct image *image, const struct unwind_arch *arch,
					 const struct unwind *unwind)
{
	if (image->tried_eh)
		return image->eh;
	image->tried_eh = true;
	image->eh = section_rows(image, image->file, ".eh_frame", arch, unwind);
	if (!image->eh && image->eh_frame_vaddr)
		image->eh = segment_rows(image, arch);
	return image->eh;
}

const struct unwind_table *image_debug_rows(struct image *image, const struct unwind_arch *arch,
					    const struct unwind *unwind)
{
	struct elf_file *debug;

	if (image->tried_debug)
		return image->debug;
	image->tried_debug = true;
	image->debug = section_rows(image, image->file, ".debug_frame", arch, unwind);
	debug = image->debug || !unwind->debug_file_of ? NULL :
							 unwind->debug_file_of(unwind->file_context, image->dso);
	if (debug && debug != image->file && debug->is_64 && !debug->swapped && debug->machine == arch->machine)
		image->debug = section_rows(image, debug, ".debug_frame", arch, unwind);
	return image->debug;
}

size_t image_rows(const struct image *image, size_t *bytes)
{
	*bytes = unwind_table_bytes(image->eh) + unwind_table_bytes(image->debug);
	return (image->eh ? image->eh->n : 0) + (image->debug ? image->debug->n : 0);
}
