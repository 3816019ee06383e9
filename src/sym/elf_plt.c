/*
 * elf_plt: the small pieces of code through which a file calls what lies in others, named as "puts@plt".
 *
 * Each piece loads its target from a slot of the global offset table, and each slot has a relocation with
 * the name of what is put there. The code is decoded for the slot that it loads, so it does not matter how
 * the linker ordered the pieces, and one that is of no known form gets no name instead of a wrong one:
 *
 *	.rela.plt, .rela.dyn -> slots, sorted by address        .plt, .plt.sec, .plt.got -> pieces
 *	                             puts  <---- 0x4018 ----  f3 0f 1e fa ff 25 rel32
 *
 * A slot whose function is chosen when the program starts (IRELATIVE) has the chooser's address instead of
 * a name. A symbol there has the name that is wanted; without one "*ABS*+0x1234@plt" is shown, as objdump does.
 *
 * Sources: psABI of x86-64, "Procedure Linkage Table" and its IBT form; ELF for the Arm 64-bit Architecture.
 */
#include "sym/sym_internal.h"

#include <endian.h>
#include <stdlib.h>

struct slot {
	uint64_t addr;
	uint64_t chooser; /* where name is NULL */
	const char *name;
};

struct plt {
	struct elf_file *file;
	struct symbol_table *table;
	struct slot *slots; /* ascending by address */
	size_t n, cap;
	struct elf_data symbols, names; /* of .dynsym, or for choosers that it does not name of .symtab */
	size_t n_symbols;
};

/* A piece of code found in a section. */
struct piece {
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
			struct piece *piece)
{
	uint64_t entry = section->header.sh_entsize;
	uint64_t slot;

	if (entry != 8 && entry != 16)
		entry = n < 16 || x86_64_slot(code + 8, 8, 0, &slot) ? 8 : 16;
	for (size_t at = piece->at + piece->bytes; at < n && n - at >= entry; at += entry) {
		*piece = (struct piece){ .at = at, .bytes = entry };
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
		       struct piece *piece)
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

/*
 * One row per machine: the relocations that fill slots, and the next piece of a section behind *piece, which
 * begins as { 0 }. To add one: a row, its decoder, a case in tests/unit/test_sym_elf.c.
 */
static const struct plt_machine {
	uint16_t machine;
	uint32_t jump_slot, glob_dat, irelative;
	bool (*next)(const struct elf_section *section, const uint8_t *code, size_t n,
		     struct piece *piece);
} machines[] = {
	{ EM_X86_64, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_IRELATIVE, x86_64_next },
	{ EM_AARCH64, R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_IRELATIVE, arm64_next },
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
		struct slot slot = { 0 };
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
	const struct slot *a = left, *b = right;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

static int by_chooser(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;

	return a->chooser < b->chooser ? -1 : a->chooser > b->chooser;
}

static struct slot *first_of_chooser(struct plt *plt, uint64_t addr)
{
	size_t low = 0, high = plt->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (plt->slots[middle].chooser < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return plt->slots + low;
}

static bool is_new_name(const struct slot *slot, const char *name)
{
	return !slot->name || (slot->name[0] == '_' && name[0] != '_');
}

/*
 * One pass over the symbols; of several names of one chooser the first without underscores in front. All
 * slots of one chooser have the same name, so the first tells whether there is something to do.
 */
static void name_choosers(struct plt *plt)
{
	struct slot *end = plt->slots + plt->n;

	for (size_t i = 1; i < plt->n_symbols; i++) {
		const char *name;
		Elf64_Sym sym;

		if (!elf_symbol_at(&plt->symbols, i, &sym))
			return;
		if (ELF64_ST_TYPE(sym.st_info) != STT_GNU_IFUNC || !sym.st_value ||
		    !(name = symbol_name(plt, i)))
			continue;
		for (struct slot *slot = first_of_chooser(plt, sym.st_value);
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

static void take_piece(struct plt *plt, uint64_t addr, const struct piece *piece)
{
	const struct slot key = { .addr = piece->slot };
	const struct slot *slot =
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
		struct piece piece = { 0 };
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
