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

struct search {
	struct elf_file *file;
	const char *name;
	size_t name_len;
	struct near_name *near;
	Elf64_Sym best;
	bool found, ambiguous;
};

/* "foo@@V1" in a symbol table is foo. */
static bool is_name(const struct search *s, const char *symbol)
{
	return strncmp(symbol, s->name, s->name_len) == 0 &&
	       (symbol[s->name_len] == '\0' || symbol[s->name_len] == '@');
}

static void take_symbol(struct search *s, const Elf64_Sym *sym)
{
	bool local = ELF64_ST_BIND(sym->st_info) == STB_LOCAL;
	bool best_local = ELF64_ST_BIND(s->best.st_info) == STB_LOCAL;

	if (!s->found || (best_local && !local)) {
		s->best = *sym;
		s->found = true;
		s->ambiguous = false;
	} else if (local == best_local && s->best.st_value != sym->st_value) {
		s->ambiguous = true;
	}
}

static void search_section(struct search *s, const struct elf_section *section)
{
	struct elf_section strings;
	struct elf_data data, names;
	Elf64_Sym sym;

	if (!elf_section_at(s->file, section->header.sh_link, &strings) ||
	    !elf_section_read(s->file, &strings, &names) || !elf_section_read(s->file, section, &data))
		return;
	for (size_t i = 0; elf_symbol_at(&data, i, &sym); i++) {
		const char *name;

		if (ELF64_ST_TYPE(sym.st_info) != STT_FUNC || sym.st_shndx == SHN_UNDEF)
			continue;
		name = elf_text(&names, sym.st_name);
		if (!name)
			continue;
		near_consider(s->near, name);
		if (is_name(s, name))
			take_symbol(s, &sym);
	}
}

static void search_tables(struct search *s, uint32_t type)
{
	struct elf_section section = { 0 };

	while (elf_section_next(s->file, &section))
		if (section.header.sh_type == type)
			search_section(s, &section);
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
	if (!s->found)
		search_tables(s, SHT_DYNSYM);
	if (!s->found)
		return fail(err, -ENOENT, "%s has no function '%s'", path, s->name);
	if (s->ambiguous)
		return fail(err, -EEXIST,
			    "%s has several functions '%s': offset= can tell them apart", path,
			    s->name);
	out->size_bytes = s->best.st_size;
	if (!executable_offset(s->file, s->best.st_value, &out->offset))
		return fail(err, -ENOEXEC, "%s: '%s' lies in no executable part of the file", path,
			    s->name);
	return 0;
}

int elf_find_function(const char *path, const char *name, struct elf_function *out,
		      struct near_name *near, struct str *err)
{
	struct elf_file file;
	struct search s = { .file = &file, .name = name, .name_len = strlen(name), .near = near };
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
