/*
 * dwarf_module: kernel modules are not linked (ET_REL): their DWARF has holes where addresses and offsets
 * into other sections go, and all their sections lie at address 0. The holes are filled here, in the bytes
 * that libdw is going to read, with addresses as elf_symbols.c counts them: the executable sections one
 * after the other, from the start of .text; .init sections, which the kernel has dropped, nowhere.
 *
 * Source: elf(5); the psABI supplements of x86-64 and AArch64, "Relocation".
 */
#include "sym/dwarf_parts.h"

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

/* Where code goes that is in no place: no executable section is there. */
#define NOWHERE ((uint64_t)1 << 62)

struct module {
	struct dwarf_file *file;
	GElf_Ehdr header;
	uint64_t *places; /* by index of section: what its addresses are counted from */
	size_t n_places;
	size_t names;
};

static const char *section_name(const struct module *module, const GElf_Shdr *header)
{
	const char *name = module->file->lib->elf_strptr(module->file->elf, module->names,
							 header->sh_name);

	return name ? name : "";
}

static void place_sections(struct module *module)
{
	const struct dw_lib *lib = module->file->lib;
	Elf_Scn *section = NULL;
	uint64_t end = 0, text = 0;
	bool seen = false;

	for (size_t i = 1; i < module->n_places; i++) {
		uint64_t align;
		GElf_Shdr header;

		section = lib->elf_nextscn(module->file->elf, section);
		if (!section || !lib->gelf_getshdr(section, &header))
			break;
		if (!(header.sh_flags & SHF_ALLOC))
			continue;
		module->places[i] = NOWHERE;
		align = header.sh_addralign ? header.sh_addralign : 1;
		if (!(header.sh_flags & SHF_EXECINSTR) || header.sh_size > UINT32_MAX ||
		    align > UINT32_MAX || !strncmp(section_name(module, &header), ".init", 5))
			continue;
		end = (end + align - 1) / align * align;
		if (!seen && !strcmp(section_name(module, &header), ".text")) {
			seen = true;
			text = end;
		}
		if (seen) {
			module->places[i] = end - text;
			dwarf_elf_add_code(module->file, end - text, header.sh_size);
		}
		end += header.sh_size;
	}
}

static unsigned fill_bytes(const struct module *module, const GElf_Rela *rela)
{
	for (size_t i = 0; i < ARRAY_SIZE(fills); i++)
		if (fills[i].machine == module->header.e_machine &&
		    fills[i].type == GELF_R_TYPE(rela->r_info))
			return fills[i].bytes;
	return 0;
}

static void fill(const struct module *module, Elf_Data *data, const GElf_Rela *rela,
		 const GElf_Sym *symbol)
{
	bool little = module->header.e_ident[EI_DATA] == ELFDATA2LSB;
	unsigned bytes = fill_bytes(module, rela);
	uint64_t value = symbol->st_value + (uint64_t)rela->r_addend;
	uint8_t *at = data->d_buf;

	if (!bytes || data->d_size < bytes || rela->r_offset > data->d_size - bytes)
		return;
	if (symbol->st_shndx < module->n_places)
		value += module->places[symbol->st_shndx];
	for (unsigned i = 0; i < bytes; i++)
		at[rela->r_offset + i] = (uint8_t)(value >> 8 * (little ? i : bytes - 1 - i));
}

/* All relocations of one section that is for a debug section. */
static void fill_section(const struct module *module, Elf_Scn *section, const GElf_Shdr *header)
{
	const struct dw_lib *lib = module->file->lib;
	Elf *elf = module->file->elf;
	Elf_Scn *target = lib->elf_getscn(elf, header->sh_info);
	Elf_Scn *table = lib->elf_getscn(elf, header->sh_link);
	Elf_Data *relas, *symbols, *data;
	GElf_Shdr of;

	if (!target || !table || target == table || !lib->gelf_getshdr(target, &of) ||
	    (of.sh_flags & SHF_ALLOC) || of.sh_type != SHT_PROGBITS)
		return;
	if ((of.sh_flags & SHF_COMPRESSED) && lib->elf_compress(target, 0, 0) < 0)
		return;
	relas = lib->elf_getdata(section, NULL);
	symbols = lib->elf_getdata(table, NULL);
	data = lib->elf_rawdata(target, NULL);
	if (!relas || !symbols || symbols->d_type != ELF_T_SYM || !data || !data->d_buf)
		return;
	for (int i = 0; i < INT32_MAX; i++) {
		GElf_Rela rela;
		GElf_Sym symbol;

		if (!lib->gelf_getrela(relas, i, &rela))
			return;
		if (GELF_R_SYM(rela.r_info) <= INT32_MAX &&
		    lib->gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &symbol))
			fill(module, data, &rela, &symbol);
	}
}

void dwarf_module_link(struct dwarf_file *file)
{
	const struct dw_lib *lib = file->lib;
	struct module module = { .file = file };
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	if (!lib->gelf_getehdr(file->elf, &module.header) || module.header.e_type != ET_REL ||
	    lib->elf_getshdrnum(file->elf, &module.n_places) ||
	    lib->elf_getshdrstrndx(file->elf, &module.names))
		return;
	module.places = xcalloc(module.n_places + 1, sizeof(*module.places));
	place_sections(&module);
	while ((section = lib->elf_nextscn(file->elf, section)))
		if (lib->gelf_getshdr(section, &header) && header.sh_type == SHT_RELA)
			fill_section(&module, section, &header);
	free(module.places);
}
