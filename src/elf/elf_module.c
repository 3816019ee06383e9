/*
 * elf_module: kernel modules are not linked (ET_REL): where their sections go is decided when they are loaded. The
 * same rule is applied here, so that symbols and DWARF are at the addresses that samples have. See elf.h.
 */
#include "elf/elf.h"

#include <stdlib.h>

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
