/*
 * elf_symbols: a symbol section of an ELF file -> rows of a symbol table, at the file's virtual addresses.
 *
 * Taken are functions and objects that are defined in a section that is loaded, and labels without a type
 * in executable ones where no function is around them, unlike glibc's __syscall_cancel_arch_end; not what assemblers
 * leave behind ("$x", ".L12").
 *
 * A name has its version behind it, "free@V1", where a library keeps it for old programs alone; that of today,
 * "free@@V2" in .symtab, is left out. So a function has one name, whichever table is read: in .symtab versions are
 * parts of names, those of .dynsym are in a section of their own.
 *
 * Those of modules (ET_REL) are counted from the start of .text: see elf_module_places.
 *
 * Source: elf(5); ELF for the Arm Architecture, "Mapping symbols".
 */
#include "sym/sym_internal.h"

#include <errno.h>
#include <stdlib.h>

/* What has to be known of a symbol's section. */
struct place_in {
	bool executable, loaded;
	uint64_t add; /* to its symbols' values */
};

struct symbol_reader {
	struct elf_file *file;
	struct symbol_table *table;
	struct elf_data names;
	struct elf_versions versions; /* of .dynsym */
	struct str name; /* with its version */
	struct place_in *sections; /* by index; [0] is none */
	size_t n_sections;
	bool is_kernel; /* or one of its modules: its labels are entry points, as /proc/kallsyms has them */
	uint64_t name_bytes_left; /* names may overlap: a small file must not have endless ones */
};

static void place_module(struct symbol_reader *reader)
{
	uint64_t *places;
	size_t n = elf_module_places(reader->file, &places);

	for (size_t i = 1; i < n && i < reader->n_sections; i++) {
		reader->sections[i].loaded = reader->sections[i].executable && places[i] != ELF_NOWHERE;
		reader->sections[i].add = places[i];
	}
	free(places);
}

static void read_places(struct symbol_reader *reader)
{
	struct elf_section section = { 0 };
	size_t n = elf_section_count(reader->file);

	reader->sections = xcalloc(n + 1, sizeof(*reader->sections));
	reader->n_sections = n;
	for (size_t i = 1; i < n && elf_section_next(reader->file, &section); i++) {
		uint64_t flags = section.header.sh_flags;

		reader->sections[i].loaded = flags & SHF_ALLOC && !(flags & SHF_TLS);
		reader->sections[i].executable = reader->sections[i].loaded && flags & SHF_EXECINSTR;
	}
	if (reader->file->relocatable)
		place_module(reader);
}

static bool is_mapping_symbol(const char *name)
{
	if (name[0] == '.' && name[1] == 'L')
		return true;
	return name[0] == '$' && name[1] && strchr("adtx", name[1]) &&
	       (!name[2] || name[2] == '.');
}

static bool is_wanted(const Elf64_Sym *sym, const struct place_in *place, const char *name)
{
	switch (ELF64_ST_TYPE(sym->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
	case STT_OBJECT:
		return place->loaded;
	case STT_NOTYPE:
		return place->loaded && place->executable && !is_mapping_symbol(name);
	default:
		return false;
	}
}

static uint8_t binding_of(const Elf64_Sym *sym)
{
	switch (ELF64_ST_BIND(sym->st_info)) {
	case STB_LOCAL:
		return SYMBOL_LOCAL;
	case STB_WEAK:
		return SYMBOL_WEAK;
	default:
		return SYMBOL_GLOBAL;
	}
}

/* The lowest bit of a function's address says on these machines which instruction set it is in. */
static uint64_t code_address(const struct elf_file *file, const Elf64_Sym *sym)
{
	bool marked = (file->machine == EM_ARM || file->machine == EM_MIPS) &&
		      ELF64_ST_TYPE(sym->st_info) == STT_FUNC;

	return marked ? sym->st_value & ~(uint64_t)1 : sym->st_value;
}

/* The name as it is shown, of *len bytes: text of the file, or of the reader, which keeps it until the next call. */
static const char *versioned(struct symbol_reader *reader, size_t i, const char *name, size_t *len)
{
	const char *of_today = strstr(name, "@@"), *old = elf_version_old(&reader->versions, i);

	*len = of_today ? (size_t)(of_today - name) : strlen(name);
	if (!old)
		return name;
	str_reset(&reader->name);
	str_addf(&reader->name, "%s@%s", name, old);
	*len = reader->name.len;
	return reader->name.s;
}

/* False: names have become too many to go on. */
static bool take_symbol(struct symbol_reader *reader, size_t i, const Elf64_Sym *sym)
{
	const struct place_in *place;
	const char *name;
	uint64_t start;
	size_t len;

	/* Reserved indexes are at 0xff00 and above; behind SHN_XINDEX is more than 65,280 sections. */
	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx >= reader->n_sections ||
	    sym->st_shndx >= SHN_LORESERVE || !sym->st_name)
		return true;
	place = &reader->sections[sym->st_shndx];
	if (!place->loaded)
		return true;
	name = elf_text(&reader->names, sym->st_name);
	if (!name || !name[0] || !is_wanted(sym, place, name))
		return true;
	name = versioned(reader, i, name, &len);
	if (len > reader->name_bytes_left)
		return false;
	reader->name_bytes_left -= len;
	start = code_address(reader->file, sym) + place->add;
	if (ELF64_ST_TYPE(sym->st_info) == STT_NOTYPE && !sym->st_size && !reader->is_kernel)
		symbol_table_add_label(reader->table, start, name, binding_of(sym));
	else
		symbol_table_add(reader->table, start, sym->st_size, name, len, binding_of(sym));
	return true;
}

static int read_table(struct symbol_reader *reader, const struct elf_section *symbols,
		      struct str *err)
{
	struct elf_section strings;
	struct elf_data data;
	Elf64_Sym sym;

	if (!elf_section_read(reader->file, symbols, &data) ||
	    !elf_section_at(reader->file, symbols->header.sh_link, &strings) ||
	    !elf_section_read(reader->file, &strings, &reader->names) || !symbols->header.sh_entsize)
		return fail(err, -ENOEXEC, "cut or damaged: its symbols can't be read");
	reader->name_bytes_left = 4 * (uint64_t)reader->names.n + 65536;
	reader->is_kernel = reader->file->relocatable || elf_section_named(reader->file, "__ksymtab", &strings);
	read_places(reader);
	if (symbols->header.sh_type == SHT_DYNSYM)
		elf_versions_read(reader->file, &reader->versions);
	symbol_table_reserve(reader->table, data.n / symbols->header.sh_entsize, reader->names.n);
	for (size_t i = 0; elf_symbol_at(&data, i, &sym) && take_symbol(reader, i, &sym); i++)
		;
	elf_versions_release(&reader->versions);
	str_release(&reader->name);
	free(reader->sections);
	return 0;
}

int elf_table_read(struct elf_file *file, uint32_t type, struct symbol_table *table, struct str *err)
{
	struct symbol_reader reader = { .file = file, .table = table, .name = STR_INIT };
	struct elf_section section;
	int rc;

	/* In a debug file the tables of the program itself are headers without contents. */
	if (!elf_section_of_type(file, type, &section) || section.header.sh_size <= section.header.sh_entsize)
		return 0;
	rc = read_table(&reader, &section, err);
	return rc ? rc : 1;
}

int elf_symbols_read(struct elf_file *file, struct symbol_table *table, struct str *err)
{
	int rc = elf_table_read(file, SHT_SYMTAB, table, err);

	return rc ? rc : elf_table_read(file, SHT_DYNSYM, table, err);
}
