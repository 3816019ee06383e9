/* SPDX-License-Identifier: MIT */
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
 * Kernel modules are not linked (ET_REL): their DWARF has holes where addresses and offsets into other sections go, and
 * all their sections lie at address 0. The holes are filled here, in the bytes that libdw is going to read, with
 * addresses as elf_module_places counts them, which symbols have, too.
 *
 * Source: GNU extensions to DWARF ("DW_FORM_GNU_ref_alt"); elf(5); the psABI supplements of x86-64 and AArch64,
 * "Relocation".
 */
#include "sym/dwarf_internal.h"

#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#define DEBUG_DIR "/usr/lib/debug"

enum {
	USES_PER_BYTE = 6, /* see dwarf_file.budget */
	UNPACKED_MAX = 16, /* how many times larger than the file its sections are believed to be */
	BUDGET_MIN = 1 << 20,
};

/* ---- libdw ---- */

static const struct library_symbol dw_functions[] = {
#define ROW(name) { #name, offsetof(struct dw_lib, name) },
	DW_LIB_FUNCTIONS(ROW)
#undef ROW
};

/* A failure is remembered with its reason: every file of a report would try again. */
const struct dw_lib *dw_lib_get(struct str *err)
{
	static struct dw_lib lib;
	static struct str why = STR_INIT;
	static bool tried, loaded;

	if (!tried) {
		tried = true;
		loaded = library_load("libdw.so.1", dw_functions, ARRAY_SIZE(dw_functions), &lib, &why);
	}
	if (!loaded)
		str_add(err, why.s);
	return loaded ? &lib : NULL;
}

bool dwarf_can_be_read(void)
{
	struct str ignored = STR_INIT;
	bool can = dw_lib_get(&ignored);

	str_release(&ignored);
	return can;
}

/* ---- code ---- */

static int by_address(const void *a, const void *b)
{
	const struct dwarf_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Notes executable code at start. */
static void add_code(struct dwarf_file *file, uint64_t start, uint64_t bytes)
{
	if (bytes > UINT64_MAX - start)
		return;
	VEC_GROW(file->code, file->n_code, file->cap_code);
	file->code[file->n_code++] = (struct dwarf_range){ .start = start, .end = start + bytes };
}

/* A file may have many sections, over one another: those that touch become one. */
static void join_code(struct dwarf_file *file)
{
	size_t n = 0;

	if (file->n_code)
		qsort(file->code, file->n_code, sizeof(*file->code), by_address);
	for (size_t i = 0; i < file->n_code; i++) {
		const struct dwarf_range *next = &file->code[i];

		if (!n || next->start > file->code[n - 1].end)
			file->code[n++] = *next;
		else if (next->end > file->code[n - 1].end)
			file->code[n - 1].end = next->end;
	}
	file->n_code = n;
}

/* ---- variables of threads ---- */

/* The sections of a program that each thread has a copy of. */
struct thread_sections {
	uint64_t start, end, align;
};

static void add_thread_section(struct thread_sections *all, const Elf64_Shdr *header)
{
	if (!all->end || header->sh_addr < all->start)
		all->start = header->sh_addr;
	if (header->sh_addr + header->sh_size > all->end)
		all->end = header->sh_addr + header->sh_size;
	if (header->sh_addralign > all->align)
		all->align = header->sh_addralign;
}

/*
 * How far the copy is from what the thread pointer points to, for a program itself, not a library of it:
 *
 *	x86-64 (variant II)	| copy, up to a multiple of its alignment | thread pointer
 *	arm64 (variant I)	thread pointer | two words | up to the alignment | copy
 *
 * Source: "ELF Handling For Thread-Local Storage"; the psABI supplements.
 */
static int64_t thread_block(uint16_t machine, const struct thread_sections *all)
{
	uint64_t mask = all->align && !(all->align & (all->align - 1)) ? all->align - 1 : 0;

	return machine == EM_AARCH64 ? (int64_t)((16 + mask) & ~mask) :
				       (int64_t)(0 - ((all->end - all->start + mask) & ~mask));
}

/* Notes where code and variables of threads can be, and how much there is to read. */
static void measure(struct dwarf_file *file, uint64_t file_bytes)
{
	struct thread_sections threads = { 0 };
	bool placed = file->n_code != 0;
	struct elf_section section = { 0 };
	uint64_t bytes = 0, most = file_bytes * UNPACKED_MAX;

	while (elf_section_next(&file->view, &section)) {
		const Elf64_Shdr *header = &section.header;

		if (!(header->sh_flags & SHF_ALLOC))
			bytes += header->sh_size < most - bytes ? header->sh_size : most - bytes;
		else if ((header->sh_flags & SHF_EXECINSTR) && !placed)
			add_code(file, header->sh_addr, header->sh_size);
		if (header->sh_flags & SHF_TLS)
			add_thread_section(&threads, header);
	}
	file->thread_block = thread_block(file->view.machine, &threads);
	join_code(file);
	file->budget = BUDGET_MIN + USES_PER_BYTE * bytes;
}

bool dwarf_section_is(const char *section, const char *name)
{
	size_t len = strlen(name);

	return section[0] == '.' && strncmp(section + 1, name, len) == 0 &&
	       (!section[1 + len] || strcmp(section + 1 + len, ".dwo") == 0);
}

/* .debug_line: libdw would read or unpack it at once, a quarter of all, and it is never asked for. */
static const char *const unused[] = {
	"debug_loc",   "debug_loclists", "debug_frame",
	"debug_macro", "debug_macinfo",	 "debug_pubnames",
};

static bool is_wanted(const char *section)
{
	for (size_t i = 0; i < ARRAY_SIZE(unused); i++)
		if (dwarf_section_is(section, unused[i]))
			return false;
	return true;
}

/* Lines are found without libdw, and only where they are asked for. */
static bool is_wanted_at_first(const char *section)
{
	return is_wanted(section) && !dwarf_section_is(section, "debug_line");
}

static bool is_lines(const char *section)
{
	return dwarf_section_is(section, "debug_line");
}

bool dwarf_elf_is_locations(const char *section)
{
	return dwarf_section_is(section, "debug_loc") || dwarf_section_is(section, "debug_loclists");
}

/* The view of a file for libdw; the file itself stays held until begin() has read what is used. */
static int open_view(struct elf_file *elf, struct elf_file *view, struct str *err)
{
	/* A module's sections are linked with all else. */
	return elf_view_open(view, elf, elf->relocatable ? is_wanted : is_wanted_at_first, err);
}

/* Reads all debug sections that are used; NULL and a sentence: not to be had. */
static Dwarf *begin(const struct dw_lib *lib, struct elf_file *view, struct str *err)
{
	Dwarf *dwarf = lib->dwarf_begin_elf(view->elf, DWARF_C_READ, NULL);

	if (!dwarf)
		fail(err, 0, "it has no DWARF that can be read: %s", lib->dwarf_errmsg(-1));
	elf_view_done(view);
	return dwarf;
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
	{ "debug_addr", offsetof(struct dwarf_sections, addr) },
	{ "debug_ranges", offsetof(struct dwarf_sections, ranges) },
	{ "debug_rnglists", offsetof(struct dwarf_sections, rnglists) },
	{ "debug_loc", offsetof(struct dwarf_sections, loc) },
	{ "debug_loclists", offsetof(struct dwarf_sections, loclists) },
};

static struct dwarf_cursor *kept_cursor(struct dwarf_sections *sections, size_t i)
{
	return (void *)((char *)sections + kept[i].offset);
}

/* The first of two sections of one name counts, as for libdw. */
void dwarf_elf_find_sections(struct elf_file *view, struct dwarf_sections *sections)
{
	static const uint8_t nothing[1]; /* where the cursors of missing sections are: not at NULL */
	struct elf_section section = { 0 };

	*sections = (struct dwarf_sections){ .elf = view->elf };
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		kept_cursor(sections, i)->at = kept_cursor(sections, i)->end = nothing;
	while (elf_section_next(view, &section)) {
		for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
			struct dwarf_cursor *cursor = kept_cursor(sections, i);
			const uint8_t *bytes;
			size_t n;

			if (cursor->at != nothing || !dwarf_section_is(section.name, kept[i].name))
				continue;
			bytes = elf_view_bytes(view, &section, &n); /* libdw has unpacked it in place */
			if (!bytes)
				continue;
			cursor->at = bytes;
			cursor->end = bytes + n;
			cursor->swapped = view->swapped;
		}
	}
}

const struct dwarf_sections *dwarf_elf_sections(struct dwarf_file *file, Dwarf_CU *cu)
{
	void *elf = file->lib->dwarf_getelf(file->lib->dwarf_cu_getdwarf(cu));
	const struct dwarf_sections *split;

	if (elf == file->view.elf)
		return &file->sections;
	if (elf == file->alt_view.elf)
		return &file->alt_sections;
	split = dwarf_split_sections(file, elf);
	return split ? split : &file->sections;
}

void dwarf_elf_split_used(struct dwarf_file *file, const struct dwarf_sections *sections)
{
	file->budget += USES_PER_BYTE * (uint64_t)(cursor_left(&sections->info) +
						   cursor_left(&sections->abbrev) +
						   cursor_left(&sections->rnglists));
}

void dwarf_elf_locations_used(struct dwarf_file *file, const struct dwarf_sections *sections)
{
	file->budget += USES_PER_BYTE * (uint64_t)(cursor_left(&sections->loc) + cursor_left(&sections->loclists));
}

bool dwarf_elf_open_later(struct dwarf_file *file, const struct elf_file *before, struct elf_file *view,
			  bool (*wanted)(const char *section), struct dwarf_sections *sections)
{
	const struct stat *then = &before->stat;
	struct str ignored = STR_INIT;
	struct elf_file *elf;
	bool opened = false;

	if (!elf_files_open(file->elf_files, before->path, &elf, &ignored)) {
		bool same = elf->stat.st_ino == then->st_ino && elf->stat.st_dev == then->st_dev &&
			    elf->stat.st_size == then->st_size && elf->stat.st_mtime == then->st_mtime;

		opened = same && !elf_view_open(view, elf, wanted, &ignored);
		if (opened) {
			dwarf_elf_find_sections(view, sections);
			elf_view_done(view);
		}
		elf_file_let_go(elf);
	}
	str_release(&ignored);
	return opened;
}

const struct dwarf_cursor *dwarf_elf_lines(struct dwarf_file *file)
{
	struct dwarf_sections sections;

	if (!file->lines_tried && !file->view.relocatable &&
	    dwarf_elf_open_later(file, &file->view, &file->line_view, is_lines, &sections))
		file->sections.line = sections.line;
	file->lines_tried = true;
	return &file->sections.line;
}

static void find_locations(struct dwarf_file *file)
{
	struct dwarf_sections sections;

	if (!file->locations_tried && !file->view.relocatable &&
	    dwarf_elf_open_later(file, &file->view, &file->location_view, dwarf_elf_is_locations, &sections)) {
		file->sections.loc = sections.loc;
		file->sections.loclists = sections.loclists;
		dwarf_elf_locations_used(file, &sections);
	}
	file->locations_tried = true;
}

const struct dwarf_cursor *dwarf_elf_locations(struct dwarf_file *file, const struct dwarf_unit *unit)
{
	const struct dwarf_sections *sections = dwarf_elf_sections(file, unit->code.cu);

	if (sections == &file->sections)
		find_locations(file);
	else
		dwarf_split_find_locations(file, sections->elf);
	return unit->bases.version < 5 ? &sections->loc : &sections->loclists;
}

struct alt_link {
	struct str name;
	struct build_id id;
	const char *symfs; /* "" or a folder */
};

static bool try_alt(struct dwarf_file *file, const struct alt_link *link, const char *path)
{
	struct str ignored = STR_INIT;
	struct elf_file *elf;

	if (!file_parts_open(&file->parts, file->elf_files, path, &elf, &ignored)) {
		if (!build_id_same(&elf->build_id, &link->id))
			; /* not the one, whatever is in it */
		else if (open_view(elf, &file->alt_view, &ignored))
			file->parts.unsure = true;
		else
			file->alt = begin(file->lib, &file->alt_view, &ignored);
		elf_file_let_go(elf);
	}
	if (!file->alt)
		elf_file_close(&file->alt_view);
	str_release(&ignored);
	return file->alt;
}

static bool try_alt_below(struct dwarf_file *file, const struct alt_link *link, const char *directory)
{
	char *path = build_id_path(directory, &link->id, ".debug");
	bool found = try_alt(file, link, path);

	free(path);
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
	char *real = link->name.s[0] == '/' ? NULL :
		     root		 ? xstrdup(file->path) :
					   realpath(file->path, NULL);
	bool found;

	if (real)
		str_addn(&path, real, (size_t)(strrchr(real, '/') - real) + 1);
	else if (root)
		str_addn(&path, file->path, root);
	else
		str_add(&path, link->symfs);
	str_add(&path, link->name.s);
	found = try_alt(file, link, path.s);
	str_release(&path);
	free(real);
	return found;
}

/* A file whose alternative file is missing is still good: some names are then not known. */
static void find_alt(struct dwarf_file *file, struct elf_file *elf, const struct sym_options *options)
{
	const char *const *debug_dirs = options ? options->debug_dirs : NULL;
	const char *symfs = options && options->symfs ? options->symfs : "";
	struct alt_link link = { .symfs = strcmp(symfs, "/") != 0 ? symfs : "", .name = STR_INIT };
	bool found = false;

	if (!elf_file_debugaltlink(elf, &link.name, &link.id))
		return;
	for (; !found && debug_dirs && *debug_dirs; debug_dirs++)
		found = try_alt_below(file, &link, *debug_dirs);
	if (found || try_alt_installed(file, &link) || try_alt_named(file, &link)) {
		file->lib->dwarf_setalt(file->dwarf, file->alt);
		dwarf_elf_find_sections(&file->alt_view, &file->alt_sections);
	}
	str_release(&link.name);
}

/* ---- kernel modules: their DWARF has holes where addresses and offsets into other sections go ---- */

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

struct dwarf_module {
	struct elf_file *view;
	uint64_t *places; /* by index of section */
	size_t n_places;
};

static unsigned fill_bytes(const struct dwarf_module *module, const Elf64_Rela *rela)
{
	for (size_t i = 0; i < ARRAY_SIZE(fills); i++)
		if (fills[i].machine == module->view->machine &&
		    fills[i].type == ELF64_R_TYPE(rela->r_info))
			return fills[i].bytes;
	return 0;
}

static void fill(const struct dwarf_module *module, uint8_t *to, size_t n, const Elf64_Rela *rela,
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
static void fill_section(const struct dwarf_module *module, const struct elf_section *section)
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

static void take_code(struct dwarf_file *file, const struct dwarf_module *module)
{
	struct elf_section section = { 0 };

	for (size_t i = 1; i < module->n_places && elf_section_next(module->view, &section); i++)
		if (section.header.sh_flags & SHF_ALLOC && module->places[i] != ELF_NOWHERE)
			add_code(file, module->places[i], section.header.sh_size);
}

/* Puts a kernel module's code somewhere, and links its DWARF, before libdw reads it. Other files stay as they are. */
static void link_module(struct dwarf_file *file)
{
	struct dwarf_module module = { .view = &file->view };
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

/* ---- open and close ---- */

int dwarf_elf_open(struct dwarf_file *file, const struct sym_options *options, struct str *err)
{
	struct elf_file *elf;
	uint64_t bytes;
	int rc = elf_files_open(file->elf_files, file->path, &elf, err);

	if (!rc) {
		rc = open_view(elf, &file->view, err);
		if (rc)
			elf_file_let_go(elf);
	}
	if (rc)
		return rc;
	bytes = elf->unpacked ? elf->unpacked_bytes : (uint64_t)elf->stat.st_size;
	link_module(file);
	file->dwarf = begin(file->lib, &file->view, err);
	if (file->dwarf) {
		dwarf_elf_find_sections(&file->view, &file->sections);
		measure(file, bytes);
		find_alt(file, elf, options);
	}
	elf_file_let_go(elf);
	return file->dwarf ? 0 : -ENODATA;
}

void dwarf_elf_close(struct dwarf_file *file)
{
	if (file->dwarf)
		file->lib->dwarf_end(file->dwarf);
	if (file->alt)
		file->lib->dwarf_end(file->alt);
	dwarf_split_release(file);
	elf_file_close(&file->view);
	elf_file_close(&file->alt_view);
	elf_file_close(&file->line_view);
	elf_file_close(&file->location_view);
}
