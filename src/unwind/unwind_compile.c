/*
 * unwind_compile: a file's unwind tables -> rows, once per file and kind, when an address of it is first asked for:
 *
 *	file -> section -> entries (unwind_cfi.c) -> rows (unwind_program.c, unwind_table.c)
 *	                `-> what was kept of an earlier run (unwind_kept.c)
 *
 * The bytes of the section are needed only meanwhile. .eh_frame is found by its name, or, in files without section
 * headers, by .eh_frame_hdr; no search table is needed.
 */
#include "unwind/unwind.h"
#include "unwind/unwind_cfi.h"
#include "unwind/unwind_image.h"
#include "unwind/unwind_kept.h"

#include <stdlib.h>

#define SECTION_BYTES_MAX ((uint64_t)256 << 20) /* of an .eh_frame that only .eh_frame_hdr knows of */

static struct unwind_table *rows_of(const struct image *image, const struct unwind_arch *arch,
				    const struct cfi_section *section)
{
	struct unwind_builder builder;
	struct cfi_entries entries;

	cfi_entries_read(&entries, section, image->start, image->end - image->start);
	unwind_builder_init(&builder, image->start);
	cfi_rows(&entries, section, arch, &builder);
	cfi_entries_release(&entries);
	return unwind_builder_done(&builder);
}

/* The file is held. */
static struct unwind_table *compile(const struct image *image, struct elf_file *file, struct elf_section *section,
				    const char *name, const struct unwind_arch *arch)
{
	struct elf_data data;

	if (!elf_section_read(file, section, &data))
		return NULL;
	return rows_of(image, arch, &(struct cfi_section){ .bytes = data.bytes,
							   .n = data.n,
							   .vaddr = section->header.sh_addr,
							   .debug_frame = !strcmp(name, ".debug_frame") });
}

/* Of a section by its name, of image's file or its debug file. NULL: it has none, or nothing in it. */
static struct unwind_table *section_rows(const struct image *image, struct elf_file *file, const char *name,
					 const struct unwind_arch *arch, const struct unwind *unwind)
{
	struct unwind_table *table = NULL;
	struct str ignored = STR_INIT, key = STR_INIT;
	struct elf_section section;

	if (!elf_file_hold(file, &ignored)) {
		if (elf_section_named(file, name, &section)) {
			unwind_kept_key(unwind, image, file, name, section.header.sh_size, &key);
			table = unwind_kept_read(unwind, &file->build_id, &key);
			if (!table) {
				table = compile(image, file, &section, name, arch);
				unwind_kept_write(unwind, &file->build_id, &key, table);
			}
		}
		elf_file_let_go(file);
	}
	str_release(&key);
	str_release(&ignored);
	return table;
}

/* From where .eh_frame_hdr says to the end of the segment. */
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
		/* What is cut off has no room: sparse files say anything of themselves. */
		if (section.n > (uint64_t)image->file->stat.st_size - segment->offset)
			section.n = (size_t)((uint64_t)image->file->stat.st_size - segment->offset);
		section.bytes = bytes = xmalloc(section.n + 1);
		if (image_read(image, image->eh_frame_vaddr, bytes, section.n))
			table = rows_of(image, arch, &section);
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
