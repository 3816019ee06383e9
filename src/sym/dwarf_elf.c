/*
 * dwarf_elf: from a path to libdw's Dwarf: the ELF file, its executable sections, and the alternative file
 * (made by dwz, named by .gnu_debugaltlink) that several debug files share names and types in. That one is
 * taken only with the build-id that the link states:
 *
 *	<debug dir>/.build-id/ab/cdef..debug      for each debug directory
 *	the link's own path                       relative to where the file really lies
 *
 * Both below --symfs alone, where it is given, and below the root of a process first, where the file was found there.
 *
 * Source: GNU extensions to DWARF ("DW_FORM_GNU_ref_alt"); elf(5).
 */
#include "sym/dwarf_parts.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEBUG_DIR "/usr/lib/debug"

enum {
	USES_PER_BYTE = 4, /* see dwarf_file.budget */
	UNPACKED_MAX = 16, /* how many times larger than the file its sections are believed to be */
	BUDGET_MIN = 1 << 20,
	UNPACKED_FREE = 64 << 20, /* any file's sections may become so many bytes */
	GNU_HEADER_BYTES = 12, /* "ZLIB" and the size, big-endian, in front of a .zdebug section */
	ALT_ID_BYTES_MIN = 2,
	ALT_ID_BYTES_MAX = 64,
};

static int by_address(const void *a, const void *b)
{
	const struct dwarf_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

void dwarf_elf_add_code(struct dwarf_file *file, uint64_t start, uint64_t bytes)
{
	if (bytes > UINT64_MAX - start)
		return;
	VEC_GROW(file->code, file->n_code, file->cap_code);
	file->code[file->n_code++] = (struct dwarf_range){ .start = start, .end = start + bytes };
}

/* Where code can be; and how much there is to read. */
static void measure(struct dwarf_file *file, uint64_t file_bytes)
{
	const struct dw_lib *lib = file->lib;
	bool placed = file->n_code != 0;
	Elf_Scn *section = NULL;
	uint64_t bytes = 0, most = file_bytes * UNPACKED_MAX;

	while ((section = lib->elf_nextscn(file->elf, section))) {
		GElf_Shdr header;

		if (!lib->gelf_getshdr(section, &header))
			continue;
		if (!(header.sh_flags & SHF_ALLOC))
			bytes += header.sh_size < most - bytes ? header.sh_size : most - bytes;
		else if ((header.sh_flags & SHF_EXECINSTR) && !placed)
			dwarf_elf_add_code(file, header.sh_addr, header.sh_size);
	}
	if (file->n_code)
		qsort(file->code, file->n_code, sizeof(*file->code), by_address);
	file->budget = BUDGET_MIN + USES_PER_BYTE * bytes;
}

/* ".debug_info", ".zdebug_info" and ".debug_info.dwo" are debug_info. */
static bool is_named(const char *section, const char *name)
{
	size_t len = strlen(name);

	if (section[0] != '.')
		return false;
	section += section[1] == 'z' ? 2 : 1;
	return strncmp(section, name, len) == 0 &&
	       (!section[len] || strcmp(section + len, ".dwo") == 0);
}

/* What libdw would read at once, a quarter of all, and nobody here asks for. */
static const char *const unused[] = {
	"debug_loc",   "debug_loclists", "debug_frame",
	"debug_macro", "debug_macinfo",	 "debug_pubnames",
};

/* In memory they become sections without contents, which libdw passes over. */
static void leave_out_unused(const struct dw_lib *lib, Elf *elf)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (lib->elf_getshdrstrndx(elf, &names))
		return;
	while ((section = lib->elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;

		if (!lib->gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		name = lib->elf_strptr(elf, names, header.sh_name);
		for (size_t i = 0; name && i < ARRAY_SIZE(unused); i++)
			if (is_named(name, unused[i])) {
				header.sh_type = SHT_NOBITS;
				lib->gelf_update_shdr(section, &header);
			}
	}
}

/* What a section says that it would be unpacked; 0: it is not packed. */
static uint64_t unpacked_bytes(const struct dw_lib *lib, Elf_Scn *section, const GElf_Shdr *header,
			       const char *name)
{
	GElf_Chdr packed;
	const uint8_t *at;
	Elf_Data *data;
	uint64_t bytes = 0;

	if (header->sh_type == SHT_NOBITS)
		return 0;
	if (header->sh_flags & SHF_COMPRESSED)
		return lib->gelf_getchdr(section, &packed) ? packed.ch_size : 0;
	if (!name || strncmp(name, ".zdebug", strlen(".zdebug")))
		return 0;
	data = lib->elf_rawdata(section, NULL);
	if (!data || !data->d_buf || data->d_size < GNU_HEADER_BYTES)
		return 0;
	at = data->d_buf;
	for (size_t i = 4; i < GNU_HEADER_BYTES; i++)
		bytes = bytes << 8 | at[i];
	return bytes;
}

/*
 * libdw unpacks all debug sections when it opens a file, without a bound: a megabyte of zeros was a thousand. The
 * sizes stand in front of the packed bytes, so their sum is known before.
 */
static bool can_be_unpacked(const struct dw_lib *lib, Elf *elf, uint64_t file_bytes)
{
	uint64_t left = UNPACKED_FREE + UNPACKED_MAX * file_bytes;
	Elf_Scn *section = NULL;
	size_t names;

	if (lib->elf_getshdrstrndx(elf, &names))
		return true; /* libdw finds no sections either */
	while ((section = lib->elf_nextscn(elf, section))) {
		GElf_Shdr header;
		uint64_t bytes;

		if (!lib->gelf_getshdr(section, &header))
			continue;
		bytes = unpacked_bytes(lib, section, &header,
				       lib->elf_strptr(elf, names, header.sh_name));
		if (bytes > left)
			return false;
		left -= bytes;
	}
	return true;
}

/*
 * *elf, open on fd, which is not needed any more after begin(); NULL and a sentence: it is no ELF file, or its
 * packed sections are a bomb.
 */
static void open_elf(const struct dw_lib *lib, int fd, Elf **elf, struct str *err)
{
	const char *why = "it is not an ELF file";
	struct stat st;

	*elf = lib->elf_begin(fd, ELF_C_READ, NULL);
	if (*elf && lib->elf_kind(*elf) == ELF_K_ELF && !fstat(fd, &st)) {
		leave_out_unused(lib, *elf);
		if (can_be_unpacked(lib, *elf, (uint64_t)st.st_size))
			return;
		why = "its packed debug sections are refused: they would grow to more than 16 times the file";
	}
	if (*elf)
		lib->elf_end(*elf);
	*elf = NULL;
	fail(err, 0, "%s", why);
}

bool dwarf_elf_may_open(const struct dw_lib *lib, const char *path)
{
	struct str ignored = STR_INIT;
	struct stat st;
	Elf *elf = NULL;
	int fd = foreign_open(path, NULL, &st, &ignored);

	if (fd >= 0) {
		open_elf(lib, fd, &elf, &ignored);
		if (elf)
			lib->elf_end(elf);
		close(fd);
	}
	str_release(&ignored);
	return elf || fd == -ENOENT;
}

/* Reads all debug sections that are used; NULL and a sentence: not to be had. */
static Dwarf *begin(const struct dw_lib *lib, Elf *elf, struct str *err)
{
	Dwarf *dwarf;

	dwarf = lib->dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	if (!dwarf)
		fail(err, 0, "it has no DWARF that can be read: %s", lib->dwarf_errmsg(-1));
	lib->elf_cntl(elf, ELF_C_FDDONE);
	return dwarf;
}

static bool has_build_id(const struct dw_lib *lib, Elf *elf, const void *id, size_t n)
{
	const void *found;

	return lib->dwelf_elf_gnu_build_id(elf, &found) == (ssize_t)n && memcmp(found, id, n) == 0;
}

/* Which sections are looked at here, too. */
static const struct {
	const char *name;
	size_t offset; /* in struct dwarf_sections */
} kept[] = {
	{ "debug_info", offsetof(struct dwarf_sections, info) },
	{ "debug_types", offsetof(struct dwarf_sections, types) },
	{ "debug_abbrev", offsetof(struct dwarf_sections, abbrev) },
	{ "debug_str", offsetof(struct dwarf_sections, str) },
	{ "debug_line", offsetof(struct dwarf_sections, line) },
	{ "debug_line_str", offsetof(struct dwarf_sections, line_str) },
};

static struct dwarf_cursor *kept_cursor(struct dwarf_sections *sections, size_t i)
{
	return (void *)((char *)sections + kept[i].offset);
}

/* Of two sections of one name, libdw takes the first. */
static void find_sections(const struct dw_lib *lib, Elf *elf, struct dwarf_sections *sections)
{
	static const uint8_t nothing[1]; /* where the cursors of missing sections are: not at NULL */
	const char *ident = lib->elf_getident(elf, NULL);
	bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	Elf_Scn *section = NULL;
	size_t names;

	*sections = (struct dwarf_sections){ .elf = elf };
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		kept_cursor(sections, i)->at = kept_cursor(sections, i)->end = nothing;
	if (!ident || lib->elf_getshdrstrndx(elf, &names))
		return;
	while ((section = lib->elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;
		Elf_Data *data;

		if (!lib->gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		name = lib->elf_strptr(elf, names, header.sh_name);
		for (size_t i = 0; name && i < ARRAY_SIZE(kept); i++) {
			struct dwarf_cursor *cursor = kept_cursor(sections, i);

			if (cursor->at != nothing || !is_named(name, kept[i].name))
				continue;
			data = lib->elf_rawdata(section, NULL); /* libdw has unpacked it in place */
			if (!data || !data->d_buf)
				continue;
			cursor->at = data->d_buf;
			cursor->end = cursor->at + data->d_size;
			cursor->swapped = ident[EI_DATA] == (little ? ELFDATA2MSB : ELFDATA2LSB);
		}
	}
}

const struct dwarf_sections *dwarf_elf_sections(struct dwarf_file *file, Dwarf_CU *cu)
{
	Elf *elf = file->lib->dwarf_getelf(file->lib->dwarf_cu_getdwarf(cu));

	if (elf == file->elf)
		return &file->sections;
	if (elf == file->alt_elf)
		return &file->alt_sections;
	if (elf != file->split_sections.elf)
		find_sections(file->lib, elf, &file->split_sections);
	return &file->split_sections;
}

void dwarf_elf_split_used(struct dwarf_file *file, Dwarf_CU *cu)
{
	const struct dwarf_sections *sections = dwarf_elf_sections(file, cu);

	file->budget += USES_PER_BYTE * (uint64_t)(cursor_left(&sections->info) +
						   cursor_left(&sections->abbrev) +
						   cursor_left(&sections->line));
}

struct alt_link {
	const char *name;
	const uint8_t *id;
	size_t id_bytes;
	const char *symfs; /* "" or a folder */
};

static bool try_alt(struct dwarf_file *file, const struct alt_link *link, const char *path)
{
	struct str ignored = STR_INIT;
	struct stat status;
	int fd = foreign_open(path, NULL, &status, &ignored);

	if (fd < 0) {
		str_release(&ignored);
		return false;
	}
	open_elf(file->lib, fd, &file->alt_elf, &ignored);
	if (file->alt_elf && has_build_id(file->lib, file->alt_elf, link->id, link->id_bytes))
		file->alt = begin(file->lib, file->alt_elf, &ignored);
	close(fd);
	str_release(&ignored);
	if (file->alt)
		return true;
	if (file->alt_elf)
		file->lib->elf_end(file->alt_elf);
	file->alt_elf = NULL;
	return false;
}

static bool try_alt_below(struct dwarf_file *file, const struct alt_link *link, const char *directory)
{
	struct str path = STR_INIT;
	bool found;

	str_addf(&path, "%s/.build-id/%02x/", directory, link->id[0]);
	for (size_t i = 1; i < link->id_bytes; i++)
		str_addf(&path, "%02x", link->id[i]);
	str_add(&path, ".debug");
	found = try_alt(file, link, path.s);
	str_release(&path);
	return found;
}

static bool try_alt_installed(struct dwarf_file *file, const struct alt_link *link)
{
	size_t root = foreign_root_bytes(file->path);
	char *there = root ? xasprintf("%.*s" DEBUG_DIR, (int)root, file->path) : NULL;
	char *here = xasprintf("%s" DEBUG_DIR, link->symfs);
	bool found = (there && try_alt_below(file, link, there)) || try_alt_below(file, link, here);

	free(there);
	free(here);
	return found;
}

static bool try_alt_named(struct dwarf_file *file, const struct alt_link *link)
{
	struct str path = STR_INIT;
	size_t root = foreign_root_bytes(file->path);
	/* Below a process's root links lead elsewhere than here: there the path is taken as it is. */
	char *real = link->name[0] == '/' ? NULL :
		     root		 ? xstrdup(file->path) :
					   realpath(file->path, NULL);
	bool found;

	if (real)
		str_addn(&path, real, (size_t)(strrchr(real, '/') - real) + 1);
	else if (root)
		str_addn(&path, file->path, root);
	else
		str_add(&path, link->symfs);
	str_add(&path, link->name);
	found = try_alt(file, link, path.s);
	str_release(&path);
	free(real);
	return found;
}

/* A file whose alternative file is missing is still good: some names are then not known. */
static void find_alt(struct dwarf_file *file, const struct sym_options *options)
{
	const char *const *debug_dirs = options ? options->debug_dirs : NULL;
	const char *symfs = options && options->symfs ? options->symfs : "";
	struct alt_link link = { .symfs = strcmp(symfs, "/") != 0 ? symfs : "" };
	const void *id;
	ssize_t n = file->lib->dwelf_dwarf_gnu_debugaltlink(file->dwarf, &link.name, &id);
	bool found = false;

	if (n < ALT_ID_BYTES_MIN || n > ALT_ID_BYTES_MAX)
		return;
	link.id = id;
	link.id_bytes = (size_t)n;
	for (; !found && debug_dirs && *debug_dirs; debug_dirs++)
		found = try_alt_below(file, &link, *debug_dirs);
	if (found || try_alt_installed(file, &link) || try_alt_named(file, &link)) {
		file->lib->dwarf_setalt(file->dwarf, file->alt);
		find_sections(file->lib, file->alt_elf, &file->alt_sections);
	}
}

int dwarf_elf_open(struct dwarf_file *file, const struct sym_options *options, struct str *err)
{
	struct stat status;
	int fd = foreign_open(file->path, NULL, &status, err);

	if (fd < 0)
		return fd;
	open_elf(file->lib, fd, &file->elf, err);
	if (file->elf) {
		dwarf_module_link(file);
		file->dwarf = begin(file->lib, file->elf, err);
	}
	close(fd);
	if (!file->dwarf)
		return -ENODATA;
	find_sections(file->lib, file->elf, &file->sections);
	measure(file, (uint64_t)status.st_size);
	find_alt(file, options);
	return 0;
}

void dwarf_elf_close(struct dwarf_file *file)
{
	if (file->dwarf)
		file->lib->dwarf_end(file->dwarf);
	if (file->elf)
		file->lib->elf_end(file->elf);
	if (file->alt)
		file->lib->dwarf_end(file->alt);
	if (file->alt_elf)
		file->lib->elf_end(file->alt_elf);
}
