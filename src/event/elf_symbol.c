/*
 * elf_symbol: function name -> offset in the file, through the symbol table and the program
 * headers:
 *
 *	offset = symbol's address - segment's address + segment's place in the file
 *
 * libelf is loaded when it is first needed, because counting by itself does not need it. It is read
 * with plain reads, not mapped: a file that is cut while it is looked at gives an error, not
 * SIGBUS. Numbers out of the file are used only after a check against the segment that they
 * belong to.
 */
#include "event/elf_symbol.h"

#include <dlfcn.h>
#include <errno.h>
#include <gelf.h>
#include <unistd.h>

#define LIBELF "libelf.so.1"

/* The functions used, by name: FN(elf_begin) is a member begin, and so on. */
#define LIBELF_FUNCTIONS(FN)                                                                \
	FN(elf_version) FN(elf_begin) FN(elf_end) FN(elf_kind) FN(elf_nextscn) FN(elf_getdata) \
	FN(elf_strptr) FN(elf_getphdrnum) FN(gelf_getehdr) FN(gelf_getshdr) FN(gelf_getsym)   \
	FN(gelf_getphdr)

struct libelf {
	void *handle;
#define MEMBER(name) __typeof__(name) *name;
	LIBELF_FUNCTIONS(MEMBER)
#undef MEMBER
};

static int libelf_load(struct libelf *lib, struct str *err)
{
	static const struct {
		const char *name;
		size_t offset;
	} members[] = {
#define ROW(name) { #name, offsetof(struct libelf, name) },
		LIBELF_FUNCTIONS(ROW)
#undef ROW
	};

	lib->handle = dlopen(LIBELF, RTLD_NOW | RTLD_LOCAL);
	if (!lib->handle)
		return fail(err, -ENOSYS, "function names need %s: %s", LIBELF, dlerror());
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		void *address = dlsym(lib->handle, members[i].name);

		if (!address)
			return fail(err, -ENOSYS, "%s has no %s", LIBELF, members[i].name);
		memcpy((char *)lib + members[i].offset, &address, sizeof(address));
	}
	if (lib->elf_version(EV_CURRENT) == EV_NONE)
		return fail(err, -ENOSYS, "%s is of another ELF version", LIBELF);
	return 0;
}

struct search {
	const struct libelf *lib;
	Elf *elf;
	const char *name;
	size_t name_len;
	struct near_name *near;
	GElf_Sym best;
	bool found, ambiguous;
};

/* "foo@@V1" in a symbol table is foo. */
static bool is_name(const struct search *s, const char *symbol)
{
	return strncmp(symbol, s->name, s->name_len) == 0 &&
	       (symbol[s->name_len] == '\0' || symbol[s->name_len] == '@');
}

static void take_symbol(struct search *s, const GElf_Sym *sym)
{
	bool local = GELF_ST_BIND(sym->st_info) == STB_LOCAL;
	bool best_local = GELF_ST_BIND(s->best.st_info) == STB_LOCAL;

	if (!s->found || (best_local && !local)) {
		s->best = *sym;
		s->found = true;
		s->ambiguous = false;
	} else if (local == best_local && s->best.st_value != sym->st_value) {
		s->ambiguous = true;
	}
}

static void search_section(struct search *s, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = s->lib->elf_getdata(section, NULL);
	size_t n = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;

	for (size_t i = 0; i < n && i <= INT32_MAX; i++) {
		GElf_Sym sym;
		const char *name;

		if (!s->lib->gelf_getsym(data, (int)i, &sym))
			break;
		if (GELF_ST_TYPE(sym.st_info) != STT_FUNC || sym.st_shndx == SHN_UNDEF)
			continue;
		name = s->lib->elf_strptr(s->elf, header->sh_link, sym.st_name);
		if (!name)
			continue;
		near_consider(s->near, name);
		if (is_name(s, name))
			take_symbol(s, &sym);
	}
}

static void search_tables(struct search *s, uint32_t type)
{
	Elf_Scn *section = NULL;

	while ((section = s->lib->elf_nextscn(s->elf, section))) {
		GElf_Shdr header;

		if (s->lib->gelf_getshdr(section, &header) && header.sh_type == type)
			search_section(s, section, &header);
	}
}

static bool file_offset(const struct search *s, uint64_t address, uint64_t *offset)
{
	size_t n;

	if (s->lib->elf_getphdrnum(s->elf, &n))
		return false;
	for (size_t i = 0; i < n && i <= INT32_MAX; i++) {
		GElf_Phdr header;
		uint64_t within;

		if (!s->lib->gelf_getphdr(s->elf, (int)i, &header))
			return false;
		if (header.p_type != PT_LOAD || !(header.p_flags & PF_X) ||
		    address < header.p_vaddr)
			continue;
		within = address - header.p_vaddr;
		if (within >= header.p_filesz || header.p_offset > INT64_MAX - within)
			continue;
		*offset = header.p_offset + within;
		return true;
	}
	return false;
}

static int search_file(struct search *s, const char *path, struct elf_function *out,
		       struct str *err)
{
	GElf_Ehdr header;

	if (s->lib->elf_kind(s->elf) != ELF_K_ELF || !s->lib->gelf_getehdr(s->elf, &header) ||
	    (header.e_type != ET_EXEC && header.e_type != ET_DYN))
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
	if (!file_offset(s, s->best.st_value, &out->offset))
		return fail(err, -ENOEXEC, "%s: '%s' lies in no executable part of the file", path,
			    s->name);
	return 0;
}

int elf_find_function(const char *path, const char *name, struct elf_function *out,
		      struct near_name *near, struct str *err)
{
	struct libelf lib = { 0 };
	struct search s = { .lib = &lib, .name = name, .name_len = strlen(name), .near = near };
	struct str why = STR_INIT;
	struct stat st;
	int fd = foreign_open(path, NULL, &st, &why);
	int ret;

	if (fd < 0)
		fail(err, fd, "%s: %s", path, why.s);
	str_release(&why);
	if (fd < 0)
		return fd;
	ret = libelf_load(&lib, err);
	if (ret)
		goto out;
	s.elf = lib.elf_begin(fd, ELF_C_READ, NULL);
	if (s.elf)
		ret = search_file(&s, path, out, err);
	else
		ret = fail(err, -ENOEXEC, "%s is not an ELF program or library", path);
out:
	if (s.elf)
		lib.elf_end(s.elf);
	if (lib.handle)
		dlclose(lib.handle);
	close(fd);
	return ret;
}
