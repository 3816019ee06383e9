/* SPDX-License-Identifier: MIT */
/*
 * elf_function: function name -> offset in the file, through the symbol table and the program headers:
 *
 *	offset = symbol's address - segment's address + segment's place in the file
 *
 * Numbers out of the file are used only after a check against the segment that they belong to.
 */
#include "elf/elf.h"

#include <errno.h>
#include <unistd.h>

enum {
	TOLD_MAX = 4, /* names of several functions */
	PREFIXES_MAX = 2,
};

struct search {
	struct elf_file *file;
	const char *name;
	size_t name_len;
	struct str prefixes[PREFIXES_MAX]; /* of mangled names, which are looked for instead; "": none */
	struct near_name *near;
	Elf64_Sym best;
	unsigned best_rank; /* 0: nothing was found */
	struct str several; /* names of functions of that rank; only of mangled ones */
	unsigned n_several;
	bool ambiguous;
};

/* "foo@@V1" in a symbol table is foo. Clones of C++ functions ("_Z3foov.cold") are no functions that anyone calls. */
static bool is_name(const struct search *s, const char *symbol)
{
	if (!s->prefixes[0].len)
		return strncmp(symbol, s->name, s->name_len) == 0 &&
		       (symbol[s->name_len] == '\0' || symbol[s->name_len] == '@');
	for (size_t i = 0; i < PREFIXES_MAX; i++)
		if (!strncmp(symbol, s->prefixes[i].s, s->prefixes[i].len) && !strchr(symbol, '.'))
			return true;
	return false;
}

/*
 * Functions before labels of assembly; code of today before what a library keeps for old programs ("foo@V1"), which
 * only its full name asks for; global ones before local ones. 0: it is no code.
 */
static unsigned rank_of(const struct search *s, const Elf64_Sym *sym, const char *name, bool old)
{
	const char *version = strchr(name, '@');
	struct elf_section section;
	unsigned rank = 1;

	if (sym->st_shndx == SHN_UNDEF)
		return 0;
	if (ELF64_ST_TYPE(sym->st_info) == STT_FUNC || ELF64_ST_TYPE(sym->st_info) == STT_GNU_IFUNC)
		rank += 4;
	else if (ELF64_ST_TYPE(sym->st_info) != STT_NOTYPE ||
		 !elf_section_at(s->file, sym->st_shndx, &section) || !(section.header.sh_flags & SHF_EXECINSTR))
		return 0;
	if (!old && !(version && version[1] != '@'))
		rank += 2;
	return rank + (ELF64_ST_BIND(sym->st_info) != STB_LOCAL);
}

static void take_symbol(struct search *s, const Elf64_Sym *sym, const char *name, unsigned rank)
{
	if (rank < s->best_rank)
		return;
	if (rank > s->best_rank) {
		str_reset(&s->several);
		s->n_several = 0;
		s->ambiguous = false;
		s->best_rank = rank;
		s->best = *sym;
	} else if (s->best.st_value == sym->st_value) {
		return;
	} else {
		s->ambiguous = true;
	}
	if (s->n_several++ < TOLD_MAX) {
		str_add(&s->several, s->several.len ? ", " : "");
		str_add_printable(&s->several, name, strlen(name));
	}
}

static void search_section(struct search *s, const struct elf_section *section)
{
	struct elf_versions versions = { 0 };
	struct elf_section strings;
	struct elf_data data, names;
	Elf64_Sym sym;

	if (!elf_section_at(s->file, section->header.sh_link, &strings) ||
	    !elf_section_read(s->file, &strings, &names) || !elf_section_read(s->file, section, &data))
		return;
	if (section->header.sh_type == SHT_DYNSYM)
		elf_versions_read(s->file, &versions);
	for (size_t i = 0; elf_symbol_at(&data, i, &sym); i++) {
		const char *name = elf_text(&names, sym.st_name);
		unsigned rank;

		if (!name)
			continue;
		if (sym.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(sym.st_info) == STT_FUNC)
			near_consider(s->near, name);
		if (!is_name(s, name))
			continue;
		rank = rank_of(s, &sym, name, elf_version_old(&versions, i));
		if (rank)
			take_symbol(s, &sym, name, rank);
	}
	elf_versions_release(&versions);
}

static void search_tables(struct search *s, uint32_t type)
{
	struct elf_section section = { 0 };

	while (elf_section_next(s->file, &section))
		if (section.header.sh_type == type)
			search_section(s, &section);
}

/*
 * "ns::Box::sum" -> "_ZN2ns3Box3sumE" and, of const methods, "_ZNK2ns3Box3sumE"; "sum" -> "_Z3sum" and, of static
 * functions, "_ZL3sum": what mangled names begin with, whatever parameters follow. false: no such name.
 * Source: Itanium C++ ABI, "Mangling".
 */
static bool mangled_prefixes(struct search *s)
{
	struct str parts = STR_INIT;
	const char *at = s->name;
	size_t n = 0;

	for (; *at; n++) {
		size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

		if (!len || (at[len] && (strncmp(at + len, "::", 2) != 0 || !at[len + 2]))) {
			str_release(&parts);
			return false;
		}
		if (!n && len == strlen("std") && !strncmp(at, "std::", len + 2))
			str_add(&parts, "St");
		else
			str_addf(&parts, "%zu%.*s", len, (int)len, at);
		at += len + (at[len] ? 2 : 0);
	}
	if (n == 2 && !strncmp(s->name, "std::", 5))
		n = 1;
	str_addf(&s->prefixes[0], n > 1 ? "_ZN%sE" : "_Z%s", parts.s);
	str_addf(&s->prefixes[1], n > 1 ? "_ZNK%sE" : "_ZL%s", parts.s);
	str_release(&parts);
	return n;
}

static bool executable_offset(const struct elf_file *file, uint64_t vaddr, uint64_t *offset)
{
	for (size_t i = 0; i < file->n_segments; i++) {
		const struct elf_segment *segment = &file->segments[i];
		uint64_t within = vaddr - segment->vaddr;

		if (!segment->executable || vaddr < segment->vaddr || within >= segment->file_size ||
		    segment->offset > INT64_MAX - within)
			continue;
		*offset = segment->offset + within;
		return true;
	}
	return false;
}

static int search_file(struct search *s, const char *path, struct elf_function *out, struct str *err)
{
	if (s->file->relocatable)
		return fail(err, -ENOEXEC, "%s is not an ELF program or library", path);
	search_tables(s, SHT_SYMTAB);
	if (!s->best_rank)
		search_tables(s, SHT_DYNSYM);
	if (!s->best_rank && mangled_prefixes(s)) {
		search_tables(s, SHT_SYMTAB);
		if (!s->best_rank)
			search_tables(s, SHT_DYNSYM);
	}
	if (!s->best_rank)
		return fail(err, -ENOENT, "%s has no function '%s'", path, s->name);
	if (s->ambiguous && s->prefixes[0].len)
		return fail(err, -EEXIST, "%s has several functions '%s': name one of %s%s", path, s->name,
			    s->several.s, s->n_several > TOLD_MAX ? ", ..." : "");
	if (s->ambiguous)
		return fail(err, -EEXIST,
			    "%s has several functions '%s': choose one with offset=", path,
			    s->name);
	if (ELF64_ST_TYPE(s->best.st_info) == STT_GNU_IFUNC)
		return fail(err, -ENOEXEC,
			    "%s has several versions of '%s', and one is chosen when a program starts: name that one",
			    path, s->name);
	out->size_bytes = s->best.st_size;
	if (!executable_offset(s->file, s->best.st_value, &out->offset))
		return fail(err, -ENOEXEC, "%s: '%s' is not in an executable part of the file", path,
			    s->name);
	return 0;
}

int elf_find_function(const char *path, const char *name, struct elf_function *out,
		      struct near_name *near, struct str *err)
{
	struct elf_file file;
	struct search s = { .file = &file, .name = name, .name_len = strlen(name), .near = near, .several = STR_INIT,
			    .prefixes = { STR_INIT, STR_INIT } };
	struct str why = STR_INIT;
	int ret = elf_file_open(&file, path, &why);

	if (ret == -ENOSYS)
		fail(err, ret, "function names need %s", why.s);
	else if (ret == -ENOEXEC)
		fail(err, ret, "%s is not an ELF program or library", path);
	else if (ret)
		fail(err, ret, "%s: %s", path, why.s);
	str_release(&why);
	if (ret)
		return ret;
	ret = search_file(&s, path, out, err);
	elf_file_close(&file);
	str_release(&s.several);
	for (size_t i = 0; i < PREFIXES_MAX; i++)
		str_release(&s.prefixes[i]);
	return ret;
}

/* Whole pages are mapped. */
static bool is_code(const struct elf_segment *segment, uint64_t offset)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), first = segment->offset / page * page;

	return segment->executable && segment->file_size && offset >= first &&
	       (offset - first) / page <= (segment->offset - first + segment->file_size - 1) / page;
}

bool elf_offset_is_code(const char *path, uint64_t offset)
{
	struct str err = STR_INIT;
	struct elf_file file;
	bool code = elf_file_open(&file, path, &err) < 0;

	if (!code) {
		for (size_t i = 0; i < file.n_segments && !code; i++)
			code = is_code(&file.segments[i], offset);
		elf_file_close(&file);
	}
	str_release(&err);
	return code;
}
