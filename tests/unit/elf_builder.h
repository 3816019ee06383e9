/* SPDX-License-Identifier: MIT */
/*
 * Small ELF files made in memory: sections in the order they are added, symbols and relocations in both
 * classes and both byte orders. What is in them is known because the test wrote it.
 */
#ifndef PSTAT_ELF_BUILDER_H
#define PSTAT_ELF_BUILDER_H

#include "util/util.h"

#include <elf.h>
#include <stdlib.h>

enum { BUILT_SECTIONS_MAX = 24 };

struct built_section {
	const char *name;
	uint32_t type, link, info;
	uint64_t flags, addr, entry_bytes, align;
	uint64_t nobits_bytes;
	uint64_t offset; /* in the file; set by elf_finish */
	struct str bytes;
};

struct built_elf {
	bool is_32, big;
	uint16_t type, machine;
	struct built_section sections[BUILT_SECTIONS_MAX]; /* [0]: the null section */
	uint32_t n;
	/* One PT_LOAD around this section; 0: none. It is mapped where the section's address says. */
	uint32_t load;
	uint32_t load_zeros; /* bytes behind it that are in memory only */
};

static inline void elf_put(const struct built_elf *elf, struct str *out, uint64_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		size_t from = elf->big ? bytes - 1 - i : i;

		str_addc(out, from < sizeof(value) ? (char)(value >> 8 * from) : '\0');
	}
}

static inline size_t elf_word(const struct built_elf *elf)
{
	return elf->is_32 ? 4 : 8;
}

static inline void elf_start(struct built_elf *elf, uint16_t type, uint16_t machine, bool is_32, bool big)
{
	*elf = (struct built_elf){
		.is_32 = is_32, .big = big, .type = type, .machine = machine, .n = 1
	};
	for (size_t i = 0; i < BUILT_SECTIONS_MAX; i++)
		str_init(&elf->sections[i].bytes);
}

static inline void elf_end(struct built_elf *elf)
{
	for (size_t i = 0; i < BUILT_SECTIONS_MAX; i++)
		str_release(&elf->sections[i].bytes);
}

/* Its index. */
static inline uint32_t elf_add(struct built_elf *elf, const char *name, uint32_t type, uint64_t flags,
			       uint64_t addr)
{
	struct built_section *section = &elf->sections[elf->n];

	section->name = name;
	section->type = type;
	section->flags = flags;
	section->addr = addr;
	section->align = 1;
	return elf->n++;
}

/* Both symbol sections and their strings; the first symbol is the null one. */
static inline uint32_t elf_add_symbols(struct built_elf *elf, uint32_t type)
{
	bool dynamic = type == SHT_DYNSYM;
	uint32_t strings = elf_add(elf, dynamic ? ".dynstr" : ".strtab", SHT_STRTAB, 0, 0);
	uint32_t symbols = elf_add(elf, dynamic ? ".dynsym" : ".symtab", type, 0, 0);

	str_addc(&elf->sections[strings].bytes, '\0');
	elf->sections[symbols].link = strings;
	elf->sections[symbols].entry_bytes = elf->is_32 ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
	str_pad(&elf->sections[symbols].bytes, '\0', elf->sections[symbols].entry_bytes);
	return symbols;
}

static inline void elf_symbol(struct built_elf *elf, uint32_t symbols, const char *name, uint64_t value,
			      uint64_t size, int binding, int type, uint32_t section)
{
	struct str *out = &elf->sections[symbols].bytes;
	struct str *strings = &elf->sections[elf->sections[symbols].link].bytes;
	uint64_t info = (uint64_t)ELF64_ST_INFO(binding, type);

	elf_put(elf, out, strings->len, 4);
	str_addn(strings, name, strlen(name) + 1);
	if (elf->is_32) {
		elf_put(elf, out, value, 4);
		elf_put(elf, out, size, 4);
	}
	elf_put(elf, out, info, 1);
	elf_put(elf, out, 0, 1);
	elf_put(elf, out, section, 2);
	if (!elf->is_32) {
		elf_put(elf, out, value, 8);
		elf_put(elf, out, size, 8);
	}
}

static inline void elf_rela(struct built_elf *elf, uint32_t section, uint64_t offset, uint32_t symbol,
			    uint32_t type, uint64_t addend)
{
	struct str *out = &elf->sections[section].bytes;

	elf->sections[section].entry_bytes = sizeof(Elf64_Rela);
	elf_put(elf, out, offset, 8);
	elf_put(elf, out, ELF64_R_INFO((uint64_t)symbol, type), 8);
	elf_put(elf, out, addend, 8);
}

/* A note section with a build-id of n bytes: first, first + 1, ... */
static inline void elf_build_id(struct built_elf *elf, uint8_t first, uint8_t n)
{
	uint32_t section = elf_add(elf, ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 0);
	struct str *out = &elf->sections[section].bytes;

	elf->sections[section].align = 4;
	elf_put(elf, out, 4, 4);
	elf_put(elf, out, n, 4);
	elf_put(elf, out, NT_GNU_BUILD_ID, 4);
	str_addn(out, "GNU", 4);
	for (uint8_t i = 0; i < n; i++)
		str_addc(out, (char)(first + i));
	str_pad(out, '\0', (size_t)(-n & 3));
}

static inline void elf_put_header(const struct built_elf *elf, struct str *out, uint64_t sections_at)
{
	const size_t word = elf_word(elf), header = elf->is_32 ? 52 : 64;
	const char ident[EI_NIDENT] = { 0x7f, 'E', 'L', 'F', elf->is_32 ? ELFCLASS32 : ELFCLASS64,
					elf->big ? ELFDATA2MSB : ELFDATA2LSB, EV_CURRENT };

	str_addn(out, ident, sizeof(ident));
	elf_put(elf, out, elf->type, 2);
	elf_put(elf, out, elf->machine, 2);
	elf_put(elf, out, EV_CURRENT, 4);
	elf_put(elf, out, 0, word); /* entry */
	elf_put(elf, out, elf->load ? header : 0, word);
	elf_put(elf, out, sections_at, word);
	elf_put(elf, out, 0, 4);
	elf_put(elf, out, header, 2);
	elf_put(elf, out, elf->is_32 ? 32 : 56, 2);
	elf_put(elf, out, elf->load ? 1 : 0, 2);
	elf_put(elf, out, elf->is_32 ? 40 : 64, 2);
	elf_put(elf, out, elf->n, 2);
	elf_put(elf, out, elf->n - 1, 2); /* section names */
}

static inline void elf_put_segment(const struct built_elf *elf, struct str *out)
{
	const struct built_section *section = &elf->sections[elf->load];
	const size_t word = elf_word(elf);
	uint64_t size = section->type == SHT_NOBITS ? section->nobits_bytes : section->bytes.len;

	elf_put(elf, out, PT_LOAD, 4);
	if (!elf->is_32)
		elf_put(elf, out, PF_R | PF_X, 4);
	elf_put(elf, out, section->offset, word);
	elf_put(elf, out, section->addr, word);
	elf_put(elf, out, section->addr, word);
	elf_put(elf, out, section->type == SHT_NOBITS ? 0 : size, word);
	elf_put(elf, out, size + elf->load_zeros, word);
	if (elf->is_32)
		elf_put(elf, out, PF_R | PF_X, 4);
	elf_put(elf, out, 1, word);
}

static inline void elf_put_section(const struct built_elf *elf, const struct built_section *section,
				   uint64_t name, struct str *out)
{
	const size_t word = elf_word(elf);
	uint64_t size = section->type == SHT_NOBITS ? section->nobits_bytes : section->bytes.len;

	elf_put(elf, out, name, 4);
	elf_put(elf, out, section->type, 4);
	elf_put(elf, out, section->flags, word);
	elf_put(elf, out, section->addr, word);
	elf_put(elf, out, section->offset, word);
	elf_put(elf, out, size, word);
	elf_put(elf, out, section->link, 4);
	elf_put(elf, out, section->info, 4);
	elf_put(elf, out, section->align, word);
	elf_put(elf, out, section->entry_bytes, word);
}

/* The whole file appended to out, which is empty. Adds the section of section names. */
static inline void elf_finish(struct built_elf *elf, struct str *out)
{
	uint32_t names = elf_add(elf, ".shstrtab", SHT_STRTAB, 0, 0);
	uint64_t at = (elf->is_32 ? 52 : 64) + (elf->load ? elf->is_32 ? 32 : 56 : 0);
	uint64_t name_at[BUILT_SECTIONS_MAX] = { 0 };

	str_addc(&elf->sections[names].bytes, '\0');
	for (uint32_t i = 1, same; i < elf->n; i++) {
		for (same = 1; strcmp(elf->sections[same].name, elf->sections[i].name);)
			same++;
		name_at[i] = same < i ? name_at[same] : elf->sections[names].bytes.len;
		if (same < i) /* as linkers do */
			continue;
		str_addn(&elf->sections[names].bytes, elf->sections[i].name,
			 strlen(elf->sections[i].name) + 1);
	}
	for (uint32_t i = 1; i < elf->n; i++) {
		at = (at + 7) & ~(uint64_t)7;
		elf->sections[i].offset = at;
		if (elf->sections[i].type != SHT_NOBITS)
			at += elf->sections[i].bytes.len;
	}
	at = (at + 7) & ~(uint64_t)7;
	elf_put_header(elf, out, at);
	if (elf->load)
		elf_put_segment(elf, out);
	for (uint32_t i = 1; i < elf->n; i++) {
		str_pad(out, '\0', elf->sections[i].offset - out->len);
		if (elf->sections[i].type != SHT_NOBITS)
			str_addn(out, elf->sections[i].bytes.s, elf->sections[i].bytes.len);
	}
	str_pad(out, '\0', at - out->len);
	for (uint32_t i = 0; i < elf->n; i++)
		elf_put_section(elf, &elf->sections[i], name_at[i], out);
}

#endif
