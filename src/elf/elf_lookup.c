/* SPDX-License-Identifier: MIT */
/*
 * elf_lookup: questions to an ELF file that is open, whoever reads it: elf_file.c and elf_section.c by libelf, or
 * elf_plain.c in the library. Sections by name and type, texts in them, addresses to offsets and back, and where the
 * sections of kernel modules go.
 */
#include "elf/elf_internal.h"

#include <stdlib.h>

/* Longer names are damage, and looking for their end takes time. */
enum { TEXT_BYTES_MAX = 65536 };
#define GNU_PACKED ".zdebug_"

/* ---- sections ---- */

bool elf_section_is_gnu_packed(const char *name)
{
	return !strncmp(name, GNU_PACKED, strlen(GNU_PACKED));
}

static bool is_named(const char *section, const char *name)
{
	return !strcmp(section, name) ||
	       (elf_section_is_gnu_packed(section) && name[0] == '.' && !strcmp(section + 2, name + 1));
}

bool elf_section_named(const struct elf_file *file, const char *name, struct elf_section *section)
{
	*section = (struct elf_section){ 0 };
	while (elf_section_next(file, section))
		if (is_named(section->name, name))
			return true;
	return false;
}

bool elf_section_of_type(const struct elf_file *file, uint32_t type, struct elf_section *section)
{
	*section = (struct elf_section){ 0 };
	while (elf_section_next(file, section))
		if (section->header.sh_type == type)
			return true;
	return false;
}

const void *elf_file_section(struct elf_file *file, const char *name, size_t *bytes)
{
	struct elf_section section;
	struct elf_data data;

	if (!elf_section_named(file, name, &section) || !elf_section_read(file, &section, &data))
		return NULL;
	*bytes = data.n;
	return data.bytes;
}

const char *elf_text(const struct elf_data *strings, uint64_t offset)
{
	const char *text;
	size_t room;

	if (offset >= strings->n)
		return NULL;
	text = (const char *)strings->bytes + offset;
	room = strings->n - offset;
	return memchr(text, '\0', room < TEXT_BYTES_MAX ? room : TEXT_BYTES_MAX) ? text : NULL;
}

/* ---- addresses ---- */

/*
 * A part of the file may be mapped twice: code is meant then. Data that begins as zeros has no bytes in the
 * file; where it shares its segment's last page, it is mapped with the file all the same.
 */
bool elf_file_vaddr(const struct elf_file *file, uint64_t offset, uint64_t *vaddr)
{
	const struct elf_segment *found = NULL, *zeros = NULL;

	for (size_t i = 0; i < file->n_segments; i++) {
		const struct elf_segment *segment = &file->segments[i];

		if (offset < segment->offset)
			continue;
		if (offset - segment->offset < segment->file_size &&
		    (!found || (segment->executable && !found->executable)))
			found = segment;
		if (offset - segment->offset < segment->mem_size)
			zeros = segment;
	}
	found = found ? found : zeros;
	if (found)
		*vaddr = found->vaddr + (offset - found->offset);
	return found;
}

bool elf_file_offset(const struct elf_file *file, uint64_t vaddr, uint64_t *offset)
{
	for (size_t i = 0; i < file->n_segments; i++) {
		const struct elf_segment *segment = &file->segments[i];

		if (vaddr < segment->vaddr || vaddr - segment->vaddr >= segment->file_size)
			continue;
		*offset = segment->offset + (vaddr - segment->vaddr);
		return true;
	}
	return false;
}

/* ---- kernel modules: not linked (ET_REL), so that the loader decides where sections go; the same rule here ---- */

static bool is_placed(const struct elf_section *section, uint64_t align)
{
	return section->header.sh_flags & SHF_EXECINSTR && section->header.sh_size <= UINT32_MAX &&
	       align <= UINT32_MAX && strncmp(section->name, ".init", strlen(".init")) != 0;
}

size_t elf_module_places(const struct elf_file *file, uint64_t **places)
{
	size_t n = elf_section_count(file);
	struct elf_section section = { 0 };
	uint64_t end = 0, text = 0;
	bool text_seen = false;

	*places = xcalloc(n + 1, sizeof(**places));
	for (size_t i = 1; i < n && elf_section_next(file, &section); i++) {
		uint64_t align = section.header.sh_addralign ? section.header.sh_addralign : 1;

		if (!(section.header.sh_flags & SHF_ALLOC))
			continue;
		(*places)[i] = ELF_NOWHERE;
		if (!is_placed(&section, align))
			continue;
		end = (end + align - 1) / align * align;
		if (!text_seen && !strcmp(section.name, ".text")) {
			text_seen = true;
			text = end;
		}
		if (text_seen)
			(*places)[i] = end - text;
		end += section.header.sh_size;
	}
	return n;
}
