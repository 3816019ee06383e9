/*
 * dwarf_module: kernel modules are not linked (ET_REL): their DWARF has holes where addresses and offsets
 * into other sections go, and all their sections lie at address 0. The holes are filled here, in the bytes
 * that libdw is going to read, with addresses as elf_module_places counts them, which symbols have, too.
 *
 * Source: elf(5); the psABI supplements of x86-64 and AArch64, "Relocation".
 */
#include "sym/dwarf_internal.h"

#include <endian.h>
#include <stdlib.h>

/* Relocations that debug sections have. To add a machine: its rows. */
static const struct {
	uint16_t machine;
	uint8_t bytes;
	uint32_t type;
} fills[] = {
	{ EM_X86_64, 8, R_X86_64_64 },
	{ EM_X86_64, 4, R_X86_64_32 },
	{ EM_AARCH64, 8, R_AARCH64_ABS64 },
	{ EM_AARCH64, 4, R_AARCH64_ABS32 },
};

struct module {
	struct elf_file *view;
	uint64_t *places; /* by index of section */
	size_t n_places;
};

static unsigned fill_bytes(const struct module *module, const Elf64_Rela *rela)
{
	for (size_t i = 0; i < ARRAY_SIZE(fills); i++)
		if (fills[i].machine == module->view->machine &&
		    fills[i].type == ELF64_R_TYPE(rela->r_info))
			return fills[i].bytes;
	return 0;
}

static void fill(const struct module *module, uint8_t *to, size_t n, const Elf64_Rela *rela,
		 const Elf64_Sym *symbol)
{
	bool little = module->view->swapped == (BYTE_ORDER != LITTLE_ENDIAN);
	unsigned bytes = fill_bytes(module, rela);
	uint64_t value = symbol->st_value + (uint64_t)rela->r_addend;

	if (!bytes || n < bytes || rela->r_offset > n - bytes)
		return;
	if (symbol->st_shndx < module->n_places)
		value += module->places[symbol->st_shndx];
	for (unsigned i = 0; i < bytes; i++)
		to[rela->r_offset + i] = (uint8_t)(value >> 8 * (little ? i : bytes - 1 - i));
}

/* All relocations of one section that is for a debug section. */
static void fill_section(const struct module *module, const struct elf_section *section)
{
	struct elf_section target, table;
	struct elf_data relas, symbols;
	Elf64_Rela rela;
	Elf64_Sym symbol;
	uint8_t *bytes;
	size_t n;

	if (section->header.sh_info == section->header.sh_link ||
	    !elf_section_at(module->view, section->header.sh_info, &target) ||
	    !elf_section_at(module->view, section->header.sh_link, &table) ||
	    (target.header.sh_flags & SHF_ALLOC) || target.header.sh_type != SHT_PROGBITS ||
	    !elf_section_read(module->view, section, &relas) ||
	    !elf_section_read(module->view, &table, &symbols))
		return;
	bytes = elf_view_bytes(module->view, &target, &n);
	if (!bytes)
		return;
	for (size_t i = 0; elf_rela_at(&relas, i, &rela); i++)
		if (elf_symbol_at(&symbols, ELF64_R_SYM(rela.r_info), &symbol))
			fill(module, bytes, n, &rela, &symbol);
}

static void take_code(struct dwarf_file *file, const struct module *module)
{
	struct elf_section section = { 0 };

	for (size_t i = 1; i < module->n_places && elf_section_next(module->view, &section); i++)
		if (section.header.sh_flags & SHF_ALLOC && module->places[i] != ELF_NOWHERE)
			dwarf_elf_add_code(file, module->places[i], section.header.sh_size);
}

void dwarf_module_link(struct dwarf_file *file)
{
	struct module module = { .view = &file->view };
	struct elf_section section = { 0 };

	if (!file->view.relocatable)
		return;
	module.n_places = elf_module_places(module.view, &module.places);
	take_code(file, &module);
	while (elf_section_next(module.view, &section))
		if (section.header.sh_type == SHT_RELA)
			fill_section(&module, &section);
	free(module.places);
}
