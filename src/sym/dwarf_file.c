/* SPDX-License-Identifier: MIT */
/*
 * dwarf_file: one file's DWARF, asked by address. libdw parses; the answers come out of tables that are
 * made once: units when the file is opened, functions and lines of a unit when one of its addresses is
 * first asked for. So a huge file costs its bytes, its list of units, and what was touched.
 *
 * All that may be wanted of a file is read when it is opened: what libdw has then stands alone (elf_view). Names are
 * libdw's memory (of functions) or kept once here (of source files); both live as long as the file.
 *
 * The .dwo files of split DWARF are opened when one of their units is asked for (dwarf_split.c).
 */
#include "sym/dwarf_internal.h"

#include <errno.h>
#include <stdlib.h>

bool dwarf_file_spend(struct dwarf_file *file, uint64_t work)
{
	if (work > file->budget) {
		file->spent = true;
		return false;
	}
	file->budget -= work;
	return true;
}

const struct file_parts *dwarf_file_parts(const struct dwarf_file *file)
{
	return file->spent || file->refused.len || file->parts.unsure ? NULL : &file->parts;
}

bool dwarf_file_is_code(const struct dwarf_file *file, uint64_t addr)
{
	size_t at = BISECT(i, 0, file->n_code, file->code[i].start <= addr);

	return !file->n_code || (at && addr < file->code[at - 1].end);
}

size_t dwarf_file_ranges(struct dwarf_file *file, Dwarf_Die *die, uint64_t rank, uint32_t id,
			 struct dwarf_range_list *out)
{
	Dwarf_Addr base = 0, start, end;
	ptrdiff_t at = 0;
	size_t n = 0;

	while ((at = file->lib->dwarf_ranges(die, at, &base, &start, &end)) > 0 &&
	       dwarf_file_spend(file, 1)) {
		n++;
		if (start >= end || !dwarf_file_is_code(file, start))
			continue;
		VEC_GROW(out->v, out->n, out->cap);
		out->v[out->n++] = (struct dwarf_range){
			.start = start, .end = end, .rank = rank, .id = id
		};
	}
	return n;
}

static bool is_alternative(const Dwarf_Attribute *attribute)
{
	return attribute->form == DW_FORM_GNU_strp_alt || attribute->form == DW_FORM_strp_sup ||
	       attribute->form == DW_FORM_GNU_ref_alt || attribute->form == DW_FORM_ref_sup4 ||
	       attribute->form == DW_FORM_ref_sup8;
}

bool dwarf_file_has(const struct dwarf_file *file, const Dwarf_Attribute *attribute)
{
	return file->alt || !is_alternative(attribute);
}

/* Whether a text ends within a section that it begins in. */
static bool is_within(const struct dwarf_cursor *section, const char *text)
{
	const uint8_t *at = (const uint8_t *)text;

	return section->at && at >= section->at && at < section->end &&
	       memchr(at, 0, (size_t)(section->end - at));
}

const char *dwarf_file_text(struct dwarf_file *file, Dwarf_Die *die, unsigned attribute)
{
	const struct dwarf_sections *sections;
	Dwarf_Attribute found;
	const char *text;

	if (!file->lib->dwarf_attr(die, attribute, &found) || !dwarf_file_has(file, &found))
		return NULL;
	text = file->lib->dwarf_formstring(&found);
	if (!text)
		return NULL;
	if (is_alternative(&found))
		return is_within(&file->alt_sections.str, text) ? text : NULL;
	sections = dwarf_elf_sections(file, found.cu);
	if (is_within(&sections->str, text) || is_within(&sections->info, text) ||
	    is_within(&sections->types, text) || is_within(&sections->line_str, text))
		return text;
	return NULL;
}

/* Appends a part of a path; what comes before an absolute one does not count. */
static void add_path(struct str *path, const char *part)
{
	if (!part || !part[0])
		return;
	if (part[0] == '/')
		str_reset(path);
	else if (path->len && path->s[path->len - 1] != '/')
		str_addc(path, '/');
	str_add(path, part);
}

uint32_t dwarf_file_name(struct dwarf_file *file, const char *base, const char *directory,
			 const char *name)
{
	struct str *path = &file->path_buffer;
	uint64_t hash;
	size_t at;
	uint32_t i;

	if (!name || !name[0])
		return 0;
	str_reset(path);
	add_path(path, base);
	add_path(path, directory);
	add_path(path, name);
	hash = hash_bytes(path->s, path->len);
	for (at = index_first(&file->name_index, hash); index_next(&file->name_index, hash, &at, &i);)
		if (strcmp(file->names[i], path->s) == 0)
			return i;
	index_add(&file->name_index, hash, (uint32_t)file->n_names);
	VEC_GROW(file->names, file->n_names, file->cap_names);
	file->names[file->n_names] = arena_strndup(&file->name_bytes, path->s, path->len);
	return (uint32_t)file->n_names++;
}

int dwarf_file_open(struct elf_files *elf_files, const char *path, const char *program,
		    const struct sym_options *options, struct dwarf_file **opened, struct str *err)
{
	const struct dw_lib *lib = dw_lib_get(err);
	struct dwarf_file *file;
	int rc;

	*opened = NULL;
	if (!lib)
		return -ENOSYS;
	file = xcalloc(1, sizeof(*file));
	file->lib = lib;
	file->view.fd = file->alt_view.fd = file->line_view.fd = file->location_view.fd = -1;
	file->path = xstrdup(path);
	file->program = program && strcmp(program, path) != 0 ? xstrdup(program) : NULL;
	file->elf_files = elf_files;
	str_init(&file->refused);
	str_init(&file->path_buffer);
	VEC_GROW(file->names, file->n_names, file->cap_names);
	file->names[file->n_names++] = NULL;
	rc = dwarf_elf_open(file, options, err);
	if (!rc)
		rc = dwarf_units_read(file, err);
	if (rc)
		dwarf_file_close(file);
	else
		*opened = file;
	return rc;
}

void dwarf_file_close(struct dwarf_file *file)
{
	if (!file)
		return;
	dwarf_units_release(file);
	dwarf_types_release(file);
	dwarf_globals_release(file->globals);
	dwarf_elf_close(file);
	free(file->code);
	dwarf_scan_release(file);
	file_parts_release(&file->parts);
	str_release(&file->path_buffer);
	str_release(&file->refused);
	free(file->names);
	index_release(&file->name_index);
	arena_release(&file->name_bytes);
	free(file->path);
	free(file->program);
	free(file);
}

void dwarf_file_read_from(struct dwarf_file *file, struct elf_files *elf_files)
{
	file->elf_files = elf_files;
}

const char *dwarf_file_refused(const struct dwarf_file *file)
{
	return file->refused.s;
}

bool dwarf_file_line(struct dwarf_file *file, uint64_t vaddr, struct source_line *out)
{
	struct dwarf_unit *unit = dwarf_units_find(file, vaddr);

	*out = (struct source_line){ NULL, 0 };
	return unit && dwarf_line_find(file, unit, vaddr, out);
}

size_t dwarf_file_inlines(struct dwarf_file *file, uint64_t vaddr, bool lines, struct dwarf_inline *out,
			  size_t max)
{
	struct dwarf_unit *unit = dwarf_units_find(file, vaddr);
	struct source_line line = { NULL, 0 };
	bool has_line;
	size_t depth = 0, n = 0;
	uint32_t innermost;

	if (!unit || !max)
		return 0;
	has_line = lines && dwarf_line_find(file, unit, vaddr, &line);
	innermost = dwarf_inline_find(file, unit, vaddr);
	if (innermost == SPAN_NONE) {
		out[0] = (struct dwarf_inline){ .name = NULL, .line = line };
		return has_line;
	}
	for (uint32_t i = innermost; i != SPAN_NONE; i = unit->functions[i].parent)
		depth++;
	for (uint32_t i = innermost; i != SPAN_NONE; i = unit->functions[i].parent) {
		const struct dwarf_function *function = dwarf_inline_resolve(file, unit, i, lines);

		if (depth-- <= max)
			out[n++] = (struct dwarf_inline){ function->name, line, function->decl_line };
		line = (struct source_line){ file->names[function->call_file],
					     function->call_line };
	}
	return n;
}
