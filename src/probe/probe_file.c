/* SPDX-License-Identifier: MIT */
/*
 * file: a program or library that probes are set in: its segments (address -> offset in the file, which is what uprobes
 * are set by), its functions, and its debug information, which may be in another file (found as for reports).
 *
 * libdw parses DWARF. What it is asked for is bounded here: a walk goes over DIEs one by one, not by recursion, and all
 * walks over a file together have a budget, so that DIEs that name each other as siblings end; texts end within their
 * sections, for the last byte of each such section is made a zero, as it is in every true file.
 */
#include "annotate/annotate.h"
#include "elf/elf.h"
#include "probe/probe_internal.h"
#include "sym/sym.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

struct probe_file {
	char *path;
	struct elf_file elf;
	const char *sources; /* where source files are, in place of what the debug information says; or NULL */
	struct info info;
	struct recording_info recording; /* of nothing: what symbols are asked with */
	struct sym_options options;
	struct symbols *symbols;
	struct dso dso;

	bool dwarf_tried;
	struct probe_dw dw;
	void *library;
	struct str why; /* there is no DWARF; a clause */
	struct elf_file view, alt_view, code_view; /* as libdw has them: debug file, what it shares, program */
	Dwarf *dwarf, *alt;
	Dwarf_CFI *eh_cfi, *debug_cfi; /* .eh_frame, .debug_frame; NULL: none */
	uint64_t budget; /* DIEs that walks may still go to */
};

enum { WALKS = 16 }; /* how often each byte of DWARF may be used */

int probe_file_open(struct probe_file **opened, const char *path, struct str *err)
{
	struct probe_file *file = xcalloc(1, sizeof(*file));
	struct str why = STR_INIT;
	int rc = 0;

	*opened = NULL;
	file->elf.fd = file->view.fd = file->alt_view.fd = file->code_view.fd = -1;
	str_init(&file->why);
	info_init(&file->info);
	file->path = realpath(path, NULL);
	if (!file->path)
		rc = fail(err, -errno, "%s: %s", path, strerror(errno));
	else if (strpbrk(file->path, " \t\n"))
		rc = fail(err, -ENOTSUP, "%s: the kernel takes no path with blanks in it", file->path);
	else if (strlen(file->path) >= PATH_MAX)
		rc = fail(err, -ENAMETOOLONG, "%s: the path is too long", path);
	if (!rc) {
		rc = elf_file_open(&file->elf, file->path, &why);
		if (rc)
			fail(err, rc, "%s: %s", path, why.s);
		else if (file->elf.relocatable)
			rc = fail(err, -ENOEXEC, "%s is no program or library", path);
	}
	str_release(&why);
	if (rc) {
		probe_file_close(file);
		return rc;
	}
	file->recording.info = &file->info;
	file->options.of_now = true;
	file->dso = (struct dso){ .kind = DSO_FILE, .path = file->path, .name = file->path, .pid = -1, .jit_pid = -1,
				  .build_id = file->elf.build_id };
	file->symbols = symbols_new(&file->options, &file->recording);
	*opened = file;
	return 0;
}

void probe_file_close(struct probe_file *file)
{
	if (!file)
		return;
	if (file->eh_cfi)
		file->dw.dwarf_cfi_end(file->eh_cfi);
	/* dwarf_end() closes the table of .debug_frame. */
	if (file->dwarf)
		file->dw.dwarf_end(file->dwarf);
	if (file->alt)
		file->dw.dwarf_end(file->alt);
	elf_file_close(&file->view);
	elf_file_close(&file->alt_view);
	elf_file_close(&file->code_view);
	if (file->symbols)
		symbols_free(file->symbols);
	elf_file_close(&file->elf);
	info_release(&file->info);
	str_release(&file->why);
	free(file->path);
	free(file);
}

const char *probe_file_path(const struct probe_file *file)
{
	return file->path;
}

struct elf_file *probe_file_elf(struct probe_file *file)
{
	return &file->elf;
}

uint16_t probe_file_machine(const struct probe_file *file)
{
	return file->elf.machine;
}

bool probe_file_offset(struct probe_file *file, uint64_t address, uint64_t *offset)
{
	return elf_file_offset(&file->elf, address, offset);
}

bool probe_file_address(struct probe_file *file, uint64_t offset, uint64_t *address)
{
	return elf_file_vaddr(&file->elf, offset, address);
}

bool probe_file_is_code(const struct probe_file *file, uint64_t address)
{
	for (size_t i = 0; i < file->elf.n_segments; i++) {
		const struct elf_segment *segment = &file->elf.segments[i];

		if (segment->executable && address >= segment->vaddr && address - segment->vaddr < segment->file_size)
			return true;
	}
	return false;
}

/* ---- symbols ---- */

const char *probe_file_symbol(struct probe_file *file, uint64_t address, uint64_t *start, uint64_t *end)
{
	const struct symbol *symbol = NULL;
	uint64_t offset;

	if (probe_file_offset(file, address, &offset))
		symbol = symbols_find(file->symbols, &file->dso, offset);
	if (!symbol_has_name(symbol))
		return NULL;
	*start = address - (offset - symbol->start);
	*end = *start + (symbol->end - symbol->start);
	return symbol->raw;
}

int probe_file_is_instruction(struct probe_file *file, uint64_t start, uint64_t address, struct str *why)
{
	struct symbol_code code = { 0 };
	uint64_t offset;
	int rc = -ENOENT;

	if (!probe_file_offset(file, start, &offset))
		fail(why, 0, "it is not in the file");
	else
		rc = symbols_code(file->symbols, &file->dso, offset, 0, (size_t)(address - start) + 16, &code, why);
	if (!rc)
		rc = code_instruction_begins(code.machine, code.bytes, code.n, (size_t)(address - start), why);
	symbol_code_release(&code);
	return rc;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Functions of one table of symbols. */
static void add_functions(struct elf_file *elf, const struct elf_section *section, bool demangled,
			  struct probe_names *names)
{
	struct elf_section strings;
	struct elf_data data, texts;
	struct str shown = STR_INIT;
	Elf64_Sym symbol;

	if (!elf_section_at(elf, section->header.sh_link, &strings) || !elf_section_read(elf, &strings, &texts) ||
	    !elf_section_read(elf, section, &data))
		return;
	for (size_t i = 0; elf_symbol_at(&data, i, &symbol); i++) {
		const char *name = elf_text(&texts, symbol.st_name);

		if (!name || !*name || symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC)
			continue;
		VEC_GROW(names->v, names->n, names->cap);
		names->v[names->n++] = demangled && demangle(name, false, NULL, &shown) ?
					       str_detach(&shown) :
					       xstrndup(name, strcspn(name, "@"));
	}
}

static void add_tables(struct elf_file *elf, bool demangled, struct probe_names *names)
{
	struct elf_section section = { 0 };

	while (elf_section_next(elf, &section))
		if (section.header.sh_type == SHT_SYMTAB || section.header.sh_type == SHT_DYNSYM)
			add_functions(elf, &section, demangled, names);
}

void probe_names_sort(struct probe_names *names)
{
	size_t n = 0;

	if (names->n)
		qsort(names->v, names->n, sizeof(*names->v), compare_texts);
	for (size_t i = 0; i < names->n; i++) {
		if (n && !strcmp(names->v[n - 1], names->v[i]))
			free(names->v[i]);
		else
			names->v[n++] = names->v[i];
	}
	names->n = n;
}

static void take_name(void *context, const char *name)
{
	struct probe_names *names = context;

	VEC_GROW(names->v, names->n, names->cap);
	names->v[names->n++] = xstrdup(name);
}

int probe_kernel_functions(const char *procfs, struct probe_names *names, struct str *err)
{
	int rc = kallsyms_functions(procfs, take_name, names, err);

	probe_names_sort(names);
	return rc;
}

void probe_file_functions(struct probe_file *file, bool demangled, struct probe_names *names)
{
	struct elf_file *debug = symbols_debug_file(file->symbols, &file->dso);
	struct str ignored = STR_INIT;

	add_tables(&file->elf, demangled, names);
	if (debug && !elf_file_hold(debug, &ignored)) {
		add_tables(debug, demangled, names);
		elf_file_let_go(debug);
	}
	str_release(&ignored);
	probe_names_sort(names);
}

void probe_names_release(struct probe_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->v[i]);
	free(names->v);
	*names = (struct probe_names){ 0 };
}

/* ---- opening the DWARF ---- */

static bool is_wanted(const char *section)
{
	return strcmp(section, ".debug_macro") != 0 && strcmp(section, ".debug_macinfo") != 0 &&
	       strcmp(section, ".debug_pubnames") != 0;
}

static bool is_none(const char *section)
{
	(void)section;
	return false;
}

/* Texts end within the sections that they are in. */
static void end_texts(struct elf_file *view)
{
	static const char *const sections[] = { ".debug_info", ".debug_types", ".debug_str", ".debug_line_str" };

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		struct elf_section section;
		uint8_t *bytes;
		size_t n;

		if (!elf_section_named(view, sections[i], &section))
			continue;
		bytes = elf_view_bytes(view, &section, &n);
		if (bytes && n)
			bytes[n - 1] = 0;
	}
}

static Dwarf *begin(struct probe_file *file, struct elf_file *elf, struct elf_file *view, struct str *why)
{
	Dwarf *dwarf = NULL;

	if (elf_view_open(view, elf, is_wanted, why))
		return NULL;
	dwarf = file->dw.dwarf_begin_elf(view->elf, DWARF_C_READ, NULL);
	if (!dwarf)
		fail(why, 0, "it has no debug information that can be read: %s", file->dw.dwarf_errmsg(-1));
	elf_view_done(view);
	if (dwarf)
		end_texts(view);
	return dwarf;
}

/*
 * The file that the debug file shares names and types with (dwz). libdw looks for it by itself where it is not given,
 * and would take whatever lies there: without it, there is no DWARF.
 */
static bool find_shared(struct probe_file *file, struct elf_file *debug, struct str *why)
{
	struct str name = STR_INIT, ignored = STR_INIT;
	struct build_id id = { 0 };
	struct elf_file shared = { .fd = -1 };
	char *path;

	if (!elf_file_debugaltlink(debug, &name, &id)) {
		str_release(&name);
		return true;
	}
	path = build_id_path(ELF_DEBUG_DIR, &id, ".debug");
	if (!elf_file_open(&shared, path, &ignored)) {
		if (build_id_same(&shared.build_id, &id))
			file->alt = begin(file, &shared, &file->alt_view, &ignored);
		elf_file_close(&shared);
	}
	if (file->alt)
		file->dw.dwarf_setalt(file->dwarf, file->alt);
	else
		fail(why, 0, "its debug information is shared with %s, which does not exist", path);
	free(path);
	str_release(&ignored);
	str_release(&name);
	return file->alt;
}

/* All units are skeletons: what they say of functions and variables is in files of their own. */
static bool is_split(const struct probe_file *file)
{
	Dwarf_CU *cu = NULL;
	uint64_t n = 0;
	uint8_t kind;

	while (!file->dw.dwarf_get_units(file->dwarf, cu, &cu, NULL, &kind, NULL, NULL)) {
		if (kind == DW_UT_compile)
			return false;
		n += kind == DW_UT_skeleton;
	}
	return n;
}

static void open_tables(struct probe_file *file)
{
	struct str ignored = STR_INIT;

	if (!elf_view_open(&file->code_view, &file->elf, is_none, &ignored)) {
		file->eh_cfi = file->dw.dwarf_getcfi_elf(file->code_view.elf);
		elf_view_done(&file->code_view);
	}
	file->debug_cfi = file->dw.dwarf_getcfi(file->dwarf);
	str_release(&ignored);
}

static void open_dwarf(struct probe_file *file)
{
	static const struct library_symbol probe_functions[] = {
#define ROW(name) { #name, offsetof(struct probe_dw, name) },
		PROBE_DW_FUNCTIONS(ROW)
#undef ROW
	};
	struct elf_file *debug = symbols_debug_file(file->symbols, &file->dso);

	file->library = library_load("libdw.so.1", probe_functions, ARRAY_SIZE(probe_functions), &file->dw,
				     &file->why);
	if (!file->library)
		return;
	if (!debug || elf_file_hold(debug, &file->why)) {
		str_reset(&file->why);
		fail(&file->why, 0, "it has no debug information");
		return;
	}
	file->dwarf = begin(file, debug, &file->view, &file->why);
	if (file->dwarf && !find_shared(file, debug, &file->why)) {
		file->dw.dwarf_end(file->dwarf);
		file->dwarf = NULL;
	}
	if (file->dwarf && is_split(file)) {
		fail(&file->why, 0, "its debug information is in .dwo files, which are not read for probes");
		file->dw.dwarf_end(file->dwarf);
		file->dwarf = NULL;
	}
	file->budget = WALKS * (debug->unpacked ? debug->unpacked_bytes : (uint64_t)debug->stat.st_size);
	elf_file_let_go(debug);
	if (file->dwarf)
		open_tables(file);
}

const struct probe_dw *probe_file_dwarf(struct probe_file *file, struct str *why)
{
	if (!file->dwarf_tried)
		open_dwarf(file);
	file->dwarf_tried = true;
	if (file->dwarf)
		return &file->dw;
	str_add(why, file->why.s);
	return NULL;
}

const struct probe_dw *probe_file_dw(const struct probe_file *file)
{
	return &file->dw;
}

/* ---- walks ---- */

static bool spend(struct probe_file *file)
{
	if (!file->budget)
		return false;
	file->budget--;
	return true;
}

bool probe_next_unit(struct probe_file *file, Dwarf_CU **cu, Dwarf_Die *die)
{
	uint8_t kind;

	while (spend(file) && !file->dw.dwarf_get_units(file->dwarf, *cu, cu, NULL, &kind, die, NULL))
		if (kind == DW_UT_compile)
			return true;
	return false;
}

void probe_walk_begin(struct probe_walk *walk, struct probe_file *file, const Dwarf_Die *root)
{
	walk->file = file;
	walk->path[0] = *root;
	walk->depth = 0;
}

bool probe_walk_next(struct probe_walk *walk, bool enter)
{
	const struct probe_dw *dw = &walk->file->dw;

	if (!spend(walk->file))
		return false;
	if (enter && walk->depth + 1 < PROBE_DEPTH_MAX &&
	    !dw->dwarf_child(&walk->path[walk->depth], &walk->path[walk->depth + 1])) {
		walk->depth++;
		return true;
	}
	for (; walk->depth; walk->depth--) {
		Dwarf_Die next;

		if (!dw->dwarf_siblingof(&walk->path[walk->depth], &next)) {
			walk->path[walk->depth] = next;
			return true;
		}
	}
	return false;
}

const char *probe_die_text(struct probe_file *file, Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute found;

	return file->dw.dwarf_attr_integrate(die, attribute, &found) ? file->dw.dwarf_formstring(&found) : NULL;
}

bool probe_die_number(struct probe_file *file, Dwarf_Die *die, unsigned attribute, uint64_t *number)
{
	Dwarf_Attribute found;
	Dwarf_Word value;

	if (!file->dw.dwarf_attr_integrate(die, attribute, &found) || file->dw.dwarf_formudata(&found, &value))
		return false;
	*number = value;
	return true;
}

bool probe_die_ref(struct probe_file *file, Dwarf_Die *die, unsigned attribute, Dwarf_Die *to)
{
	Dwarf_Attribute found;

	return file->dw.dwarf_attr_integrate(die, attribute, &found) && file->dw.dwarf_formref_die(&found, to);
}

const char *probe_die_source(struct probe_file *file, Dwarf_Die *die)
{
	const struct probe_dw *dw = &file->dw;
	const char *source = dw->dwarf_decl_file(die);
	Dwarf_Files *files;
	Dwarf_Die unit;
	uint64_t number;
	size_t n;

	/* Since DWARF 5 the unit's own file has the number 0, for which older versions of libdw know none. */
	if (source || !probe_die_number(file, die, DW_AT_decl_file, &number) || number ||
	    !dw->dwarf_diecu(die, &unit, NULL, NULL) || dw->dwarf_getsrcfiles(&unit, &files, &n) || !n)
		return source;
	return dw->dwarf_filesrc(files, 0, NULL, NULL);
}

bool probe_die_entry(struct probe_file *file, Dwarf_Die *die, uint64_t *entry)
{
	Dwarf_Addr base = 0, start, end, at, low = 0;
	Dwarf_Attribute found;
	Dwarf_Word delta;
	ptrdiff_t next = 0;
	bool first = true, has_code = false;

	/* A range may be empty: then the code begins in the next one. */
	while (!has_code && spend(file) && (next = file->dw.dwarf_ranges(die, next, &base, &start, &end)) > 0) {
		if (first)
			low = start;
		first = false;
		has_code = start < end;
	}
	if (!has_code)
		return false;
	*entry = start;
	/* DW_AT_entry_pc is an address or, since DWARF 5, a distance from the first range's start. */
	if (file->dw.dwarf_attr(die, DW_AT_entry_pc, &found)) {
		if (!file->dw.dwarf_formaddr(&found, &at))
			*entry = at;
		else if (!file->dw.dwarf_formudata(&found, &delta))
			*entry = low + delta;
	}
	return true;
}

/* ---- lines ---- */

void probe_rows_read(struct probe_file *file, Dwarf_Die *unit, struct probe_rows *rows)
{
	const struct probe_dw *dw = &file->dw;
	Dwarf_Lines *lines;
	size_t n;
	bool in_sequence = false;

	if (dw->dwarf_getsrclines(unit, &lines, &n))
		return;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *line = dw->dwarf_onesrcline(lines, i);
		struct probe_row row = { 0 }, *before = in_sequence ? &rows->v[rows->n - 1] : NULL;
		Dwarf_Addr address;
		int number = 0;
		bool ends = true;

		if (!line || dw->dwarf_lineaddr(line, &address) || dw->dwarf_lineno(line, &number) ||
		    dw->dwarf_lineendsequence(line, &ends) || ends) {
			in_sequence = false;
			continue;
		}
		row.address = address;
		row.line = number > 0 ? (uint64_t)number : 0;
		row.source = dw->dwarf_linesrc(line, NULL, NULL);
		dw->dwarf_lineprologueend(line, &row.prologue_end);
		dw->dwarf_linebeginstatement(line, &row.starts);
		row.again = before && (before->starts || before->again) && before->line == row.line &&
			    text_same(before->source, row.source);
		VEC_GROW(rows->v, rows->n, rows->cap);
		rows->v[rows->n++] = row;
		in_sequence = true;
	}
}

void probe_rows_release(struct probe_rows *rows)
{
	free(rows->v);
	*rows = (struct probe_rows){ 0 };
}

void probe_file_set_sources(struct probe_file *file, const char *directory)
{
	file->sources = directory;
}

/* Opens the longest end of the path that is below the directory of sources: a descriptor, or -1. */
static int open_below(const char *directory, const char *path, const struct foreign_options *options)
{
	int fd = -1;

	for (const char *end = path; end && fd < 0; end = strchr(end, '/')) {
		char *moved = xasprintf("%s/%s", directory, end += strspn(end, "/"));
		struct str ignored = STR_INIT;
		struct stat st;

		fd = foreign_open(moved, options, &st, &ignored);
		str_release(&ignored);
		free(moved);
	}
	return fd < 0 ? -1 : fd;
}

FILE *probe_source_open(const struct probe_file *file, const char *path, struct str *err)
{
	const struct foreign_options options = { .bytes_max = PROBE_SOURCE_BYTES_MAX };
	struct str why = STR_INIT;
	struct stat st;
	int fd = file->sources ? open_below(file->sources, path, &options) : foreign_open(path, &options, &st, &why);
	FILE *stream = fd < 0 ? NULL : fdopen(fd, "r");

	if (!stream && !err->len)
		fail(err, -ENOENT, "%s: %s%s", path, why.len ? why.s : "no end of this path can be read in ",
		     file->sources ? file->sources : "");
	str_release(&why);
	return stream;
}

bool probe_source_is(const char *path, const char *name)
{
	size_t n = strlen(path), len = strlen(name);

	return len <= n && !strcmp(path + (n - len), name) && (n == len || name[0] == '/' || path[n - len - 1] == '/');
}

/* ---- frames ---- */

bool probe_file_cfa(struct probe_file *file, uint64_t address, Dwarf_Op **ops, size_t *n, void **frame)
{
	Dwarf_CFI *tables[] = { file->eh_cfi, file->debug_cfi };

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		Dwarf_Frame *found = NULL;

		if (!tables[i] || file->dw.dwarf_cfi_addrframe(tables[i], address, &found))
			continue;
		if (!file->dw.dwarf_frame_cfa(found, ops, n) && *n) {
			*frame = found;
			return true;
		}
		free(found);
	}
	return false;
}
