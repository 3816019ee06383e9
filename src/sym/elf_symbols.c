/* SPDX-License-Identifier: MIT */
/*
 * elf_symbols: what an ELF file calls its functions -> rows of a symbol table, at the file's virtual addresses: its
 * symbol sections, names for its linkage tables, and the symbols that are packed in it.
 *
 * Functions and objects are taken that are defined in a section that is loaded, and labels without a type
 * in executable ones where no function is around them, unlike glibc's __syscall_cancel_arch_end; not what assemblers
 * leave behind ("$x", ".L12"). Symbols of modules (ET_REL) are counted from the start of .text: see elf_module_places.
 *
 * A name has its version behind it, "free@V1", where a library keeps it for old programs alone; that of today,
 * "free@@V2" in .symtab, is left out. So a function has one name, whichever table is read: in .symtab versions are
 * parts of names, those of .dynsym are in a section of their own.
 *
 * A linkage table consists of small pieces of code through which a file calls what lies in others, named as "puts@plt".
 * Each piece loads its target from a slot of the global offset table, and each slot has a relocation with the name of
 * what is put there. The code is decoded for the slot that it loads, so it does not matter how the linker ordered the
 * pieces, and one that is of no known form gets no name instead of a wrong one:
 *
 *	.rela.plt, .rela.dyn -> slots, sorted by address        .plt, .plt.sec, .plt.got -> pieces
 *	                             puts  <---- 0x4018 ----  f3 0f 1e fa ff 25 rel32
 *
 * A slot whose function is chosen when the program starts (IRELATIVE) has the chooser's address instead of
 * a name. A symbol there has the name that is wanted; without one "*ABS*+0x1234@plt" is shown, as objdump does.
 *
 * Sources: elf(5); ELF for the Arm Architecture, "Mapping symbols"; psABI of x86-64, "Procedure Linkage Table" and its
 * IBT form; ELF for the Arm 64-bit Architecture.
 */
#include "sym/sym_internal.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>

/* Properties of a section that matter for the symbols in it. */
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

/* ---- linkage tables ---- */

struct plt_slot {
	uint64_t addr;
	uint64_t chooser; /* where name is NULL */
	const char *name;
};

struct plt {
	struct elf_file *file;
	struct symbol_table *table;
	struct plt_slot *slots; /* ascending by address */
	size_t n, cap;
	struct elf_data symbols, names; /* of .dynsym, or for choosers that it does not name of .symtab */
	size_t n_symbols;
};

/* A piece of code found in a section. */
struct plt_piece {
	size_t at, bytes;
	uint64_t slot; /* the address that it loads from */
};

/* ---- x86-64 ---- */

static uint32_t little32(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

/* [endbr64] [bnd] jmp *rel32(%rip). With IBT, .plt pieces only push a number and are named in .plt.sec. */
static bool x86_64_slot(const uint8_t *code, size_t n, uint64_t addr, uint64_t *slot)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t at = 0;

	if (n >= sizeof(endbr64) && !memcmp(code, endbr64, sizeof(endbr64)))
		at += sizeof(endbr64);
	if (at < n && code[at] == 0xf2)
		at++;
	if (n - at < 6 || code[at] != 0xff || code[at + 1] != 0x25)
		return false;
	*slot = addr + at + 6 + (uint64_t)(int64_t)(int32_t)little32(code + at + 2);
	return true;
}

/* Pieces of 16 bytes, or of 8 where a jump is all there is to do; not all linkers say which. */
static bool x86_64_next(const struct elf_section *section, const uint8_t *code, size_t n,
			struct plt_piece *piece)
{
	uint64_t entry = section->header.sh_entsize;
	uint64_t slot;

	if (entry != 8 && entry != 16)
		entry = n < 16 || x86_64_slot(code + 8, 8, 0, &slot) ? 8 : 16;
	for (size_t at = piece->at + piece->bytes; at < n && n - at >= entry; at += entry) {
		*piece = (struct plt_piece){ .at = at, .bytes = entry };
		if (x86_64_slot(code + at, entry, section->header.sh_addr + at, &piece->slot))
			return true;
	}
	return false;
}

/* ---- arm64: instructions are little-endian in all files ---- */

enum {
	A64_BTI_C = (int32_t)0xd503245fu,
	A64_NOP = (int32_t)0xd503201fu,
	A64_BR_X17 = (int32_t)0xd61f0220u,
};

/* adrp x16, page; ldr x17, [x16, offset] */
static bool arm64_slot(const uint8_t *code, uint64_t addr, uint64_t *slot)
{
	uint32_t adrp = little32(code), ldr = little32(code + 4);
	uint64_t pages;

	if ((adrp & 0x9f00001fu) != 0x90000010u || (ldr & 0xffc003ffu) != 0xf9400211u)
		return false;
	pages = (uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
	if (pages & 1 << 20)
		pages |= ~(uint64_t)0 << 21;
	*slot = (addr & ~(uint64_t)4095) + (pages << 12) + (uint64_t)(ldr >> 10 & 4095) * 8;
	return true;
}

/* Begins at the BTI in front, if there is one; ends with the branch and the padding behind it. */
static bool arm64_next(const struct elf_section *section, const uint8_t *code, size_t n,
		       struct plt_piece *piece)
{
	for (size_t at = piece->at + piece->bytes; at < n && n - at >= 8; at += 4) {
		size_t start = at, end = at + 8;

		if (!arm64_slot(code + at, section->header.sh_addr + at, &piece->slot))
			continue;
		if (at >= 4 && little32(code + at - 4) == (uint32_t)A64_BTI_C)
			start -= 4;
		while (n - end >= 4 && end - start < 32 &&
		       little32(code + end - 4) != (uint32_t)A64_BR_X17)
			end += 4;
		while (n - end >= 4 && little32(code + end) == (uint32_t)A64_NOP)
			end += 4;
		piece->at = start;
		piece->bytes = end - start;
		return true;
	}
	return false;
}

/* ---- RISC-V ---- */

enum { RISCV_PIECE_BYTES = 16 };

/* auipc t3, page; ld t3, offset(t3); a jump, and padding. The first piece, which all share, has another register. */
static bool riscv_next(const struct elf_section *section, const uint8_t *code, size_t n, struct plt_piece *piece)
{
	for (size_t at = piece->at + piece->bytes; at < n && n - at >= RISCV_PIECE_BYTES; at += RISCV_PIECE_BYTES) {
		uint32_t auipc = little32(code + at), ld = little32(code + at + 4);

		if ((auipc & 0xfff) != 0xe17 || (ld & 0xfffff) != 0xe3e03)
			continue;
		*piece = (struct plt_piece){ .at = at, .bytes = RISCV_PIECE_BYTES };
		piece->slot = section->header.sh_addr + at + (uint64_t)(int64_t)(int32_t)(auipc & 0xfffff000u) +
			      (uint64_t)(int64_t)((int32_t)ld >> 20);
		return true;
	}
	return false;
}

/*
 * One row per machine: the relocations that fill slots, and the next piece of a section behind *piece, which
 * begins as { 0 }. To add one: a row, its decoder, a case in tests/unit/test_sym_elf.c.
 */
#ifndef R_AARCH64_IRELATIVE
#define R_AARCH64_IRELATIVE 1032 /* musl's elf.h lacks it */
#endif
#ifndef R_RISCV_IRELATIVE
#define R_RISCV_IRELATIVE 58
#endif
static const struct plt_machine {
	uint16_t machine;
	uint32_t jump_slot, glob_dat, irelative;
	bool (*next)(const struct elf_section *section, const uint8_t *code, size_t n,
		     struct plt_piece *piece);
} machines[] = {
	{ EM_X86_64, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_IRELATIVE, x86_64_next },
	{ EM_AARCH64, R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_IRELATIVE, arm64_next },
	{ EM_RISCV, R_RISCV_JUMP_SLOT, R_RISCV_64, R_RISCV_IRELATIVE, riscv_next },
};

/* ---- slots ---- */

static void open_symbols(struct plt *plt, uint32_t type)
{
	struct elf_section symbols, strings;

	plt->n_symbols = 0;
	if (!elf_section_of_type(plt->file, type, &symbols) || !symbols.header.sh_entsize)
		return;
	if (elf_section_at(plt->file, symbols.header.sh_link, &strings) &&
	    elf_section_read(plt->file, &strings, &plt->names) &&
	    elf_section_read(plt->file, &symbols, &plt->symbols))
		plt->n_symbols = plt->symbols.n / symbols.header.sh_entsize;
}

static const char *symbol_name(const struct plt *plt, uint64_t index)
{
	const char *name;
	Elf64_Sym sym;

	if (index >= plt->n_symbols || !elf_symbol_at(&plt->symbols, index, &sym))
		return NULL;
	name = elf_text(&plt->names, sym.st_name);
	return name && name[0] ? name : NULL;
}

static void read_relocations(struct plt *plt, const struct elf_section *section,
			     const struct plt_machine *machine)
{
	struct elf_data data;
	Elf64_Rela rela;

	if (!elf_section_read(plt->file, section, &data) || !section->header.sh_entsize)
		return;
	for (size_t i = 0; elf_rela_at(&data, i, &rela); i++) {
		struct plt_slot slot = { 0 };
		uint32_t type;

		type = (uint32_t)ELF64_R_TYPE(rela.r_info);
		slot.addr = rela.r_offset;
		if (type == machine->jump_slot || type == machine->glob_dat)
			slot.name = symbol_name(plt, ELF64_R_SYM(rela.r_info));
		else if (type == machine->irelative)
			slot.chooser = (uint64_t)rela.r_addend;
		if (!slot.name && !slot.chooser)
			continue;
		VEC_GROW(plt->slots, plt->n, plt->cap);
		plt->slots[plt->n++] = slot;
	}
}

static int by_addr(const void *left, const void *right)
{
	const struct plt_slot *a = left, *b = right;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

static int by_chooser(const void *left, const void *right)
{
	const struct plt_slot *a = left, *b = right;

	return a->chooser < b->chooser ? -1 : a->chooser > b->chooser;
}

static struct plt_slot *first_of_chooser(struct plt *plt, uint64_t addr)
{
	size_t at = BISECT(i, 0, plt->n, plt->slots[i].chooser < addr);

	return plt->slots + at;
}

static bool is_new_name(const struct plt_slot *slot, const char *name)
{
	return !slot->name || (slot->name[0] == '_' && name[0] != '_');
}

/*
 * One pass over the symbols; of several names of one chooser the first without underscores in front. All
 * slots of one chooser have the same name, so the first tells whether there is something to do.
 */
static void name_choosers(struct plt *plt)
{
	struct plt_slot *end = plt->slots + plt->n;

	for (size_t i = 1; i < plt->n_symbols; i++) {
		const char *name;
		Elf64_Sym sym;

		if (!elf_symbol_at(&plt->symbols, i, &sym))
			return;
		if (ELF64_ST_TYPE(sym.st_info) != STT_GNU_IFUNC || !sym.st_value ||
		    !(name = symbol_name(plt, i)))
			continue;
		for (struct plt_slot *slot = first_of_chooser(plt, sym.st_value);
		     slot < end && slot->chooser == sym.st_value && is_new_name(slot, name); slot++)
			slot->name = name;
	}
}

static bool all_named(const struct plt *plt)
{
	for (size_t i = 0; i < plt->n; i++)
		if (!plt->slots[i].name)
			return false;
	return true;
}

/* .rela.dyn can have millions of other relocations, so it is read only where its slots are used. */
static void read_slots(struct plt *plt, const struct plt_machine *machine)
{
	struct elf_section section = { 0 }, got;
	bool all = elf_section_named(plt->file, ".plt.got", &got) ||
		   elf_section_named(plt->file, ".iplt", &got);

	open_symbols(plt, SHT_DYNSYM);
	while (elf_section_next(plt->file, &section))
		if (section.header.sh_type == SHT_RELA && section.header.sh_flags & SHF_ALLOC &&
		    (all || !strcmp(section.name, ".rela.plt")))
			read_relocations(plt, &section, machine);
	if (!plt->n)
		return;
	qsort(plt->slots, plt->n, sizeof(*plt->slots), by_chooser);
	name_choosers(plt);
	if (!all_named(plt)) {
		open_symbols(plt, SHT_SYMTAB);
		name_choosers(plt);
	}
	qsort(plt->slots, plt->n, sizeof(*plt->slots), by_addr);
}

/* ---- pieces ---- */

static void take_piece(struct plt *plt, uint64_t addr, const struct plt_piece *piece)
{
	const struct plt_slot key = { .addr = piece->slot };
	const struct plt_slot *slot =
		bsearch(&key, plt->slots, plt->n, sizeof(*plt->slots), by_addr);
	struct str name = STR_INIT;

	if (!slot)
		return;
	if (slot->name)
		str_addf(&name, "%s@plt", slot->name);
	else
		str_addf(&name, "*ABS*+0x%llx@plt", (unsigned long long)slot->chooser);
	symbol_table_add(plt->table, addr, piece->bytes, name.s, name.len, SYMBOL_GLOBAL);
	str_release(&name);
}

static void read_pieces(struct plt *plt, const struct plt_machine *machine)
{
	struct elf_section section = { 0 };

	while (elf_section_next(plt->file, &section)) {
		struct plt_piece piece = { 0 };
		struct elf_data data;

		/* .plt, .plt.sec, .plt.got, .plt.bnd; .iplt in programs without dynamic linking */
		if ((strncmp(section.name, ".plt", strlen(".plt")) != 0 &&
		     strcmp(section.name, ".iplt") != 0) ||
		    !elf_section_read(plt->file, &section, &data))
			continue;
		while (machine->next(&section, data.bytes, data.n, &piece))
			take_piece(plt, section.header.sh_addr + piece.at, &piece);
	}
}

int elf_plt_read(struct elf_file *file, struct symbol_table *table, struct str *err)
{
	struct plt plt = { .file = file, .table = table };

	(void)err;
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		if (machines[i].machine != file->machine)
			continue;
		read_slots(&plt, &machines[i]);
		if (plt.n)
			read_pieces(&plt, &machines[i]);
	}
	free(plt.slots);
	return 0;
}

/* ---- .gnu_debugdata ---- */

int elf_minidebug_read(struct elf_file *file, struct symbol_table *table, struct str *err)
{
	struct elf_file inner;
	int rc = elf_file_open_minidebug(file, &inner, err), read;

	if (rc <= 0)
		return rc;
	read = elf_symbols_read(&inner, table, err);
	elf_file_close(&inner);
	return read < 0 ? read : rc;
}
