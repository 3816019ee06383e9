/* SPDX-License-Identifier: MIT */
/*
 * dwarf_internal: what the files dwarf_*.c hand each other; nobody else includes it.
 *
 *   dwarf_file.c    the front: names, ranges, answers
 *   dwarf_elf.c     the ELF file, its code sections, its alternative file; kernel modules, which nobody has linked
 *   dwarf_units.c   which unit covers an address: one table per file
 *   dwarf_split.c   units whose functions are in .dwo files or packages
 *   dwarf_scan.c    steps over the DIEs of a unit; dwarf_ranges.c: where the code of one is
 *   dwarf_inline.c  which function, inlined or not, covers it: a table of a unit's functions, and one of what is
 *                   inlined into each of those that are asked for
 *   dwarf_line.c    which line it belongs to: likewise; and the files that units name
 *   dwarf_variables.c  which variable a register or a piece of memory is; dwarf_types.c: types of data
 *   dwarf_spans.c   overlapping ranges -> the disjoint sorted spans that all of them search
 */
#ifndef PSTAT_DWARF_INTERNAL_H
#define PSTAT_DWARF_INTERNAL_H

#include "sym/file_parts.h"
#include "sym/sym_internal.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

/* The functions of libdw that are used, by name. To use one more: one more FN here. All are in elfutils 0.171. */
#define DW_LIB_FUNCTIONS(FN)                                                                \
	FN(dwarf_begin_elf) FN(dwarf_end) FN(dwarf_errmsg) FN(dwarf_setalt)                 \
	FN(dwarf_get_units) FN(dwarf_cu_info) FN(dwarf_cu_getdwarf) FN(dwarf_offdie)        \
	FN(dwarf_dieoffset) FN(dwarf_cuoffset) FN(dwarf_next_unit) FN(dwarf_getelf)         \
	FN(dwarf_tag) FN(dwarf_attr) FN(dwarf_formstring) FN(dwarf_formudata)               \
	FN(dwarf_formref_die) FN(dwarf_child) FN(dwarf_siblingof) FN(dwarf_ranges)          \
	FN(dwarf_getaranges) FN(dwarf_onearange)                                            \
	FN(dwarf_getarangeinfo)

struct dw_lib {
#define DW_LIB_MEMBER(name) __typeof__(name) *name;
	DW_LIB_FUNCTIONS(DW_LIB_MEMBER)
#undef DW_LIB_MEMBER
};

/* The library, loaded when the first file with DWARF is opened, and kept; NULL with a sentence. */
const struct dw_lib *dw_lib_get(struct str *err);

/* ---- dwarf_spans.c ---- */

#define SPAN_NONE UINT32_MAX
struct dwarf_range { /* as the file has it: they overlap, nest, and repeat */
	uint64_t start, end; /* [start, end) */
	uint64_t rank; /* where several cover an address, the greatest rank is found */
	uint32_t id;
};
struct dwarf_range_list {
	struct dwarf_range *v;
	size_t n, cap;
};
struct dwarf_span { /* up to the start of the next one; the last one's id is SPAN_NONE */
	uint64_t start;
	uint32_t id;
};
struct dwarf_spans {
	struct dwarf_span *v; /* ascending, no two neighbours with the same id */
	size_t n, cap;
};
/* Fills spans (which were empty) and releases the list. */
void dwarf_spans_build(struct dwarf_spans *spans, struct dwarf_range_list *ranges);
/* The id at addr, or SPAN_NONE. */
uint32_t dwarf_spans_find(const struct dwarf_spans *spans, uint64_t addr);
void dwarf_spans_release(struct dwarf_spans *spans);

/* ---- a unit and its tables ---- */

struct dwarf_function {
	const char *name; /* libdw's memory; NULL: not resolved, or none */
	uint64_t die; /* offset, to resolve it when it is first asked for */
	uint32_t parent; /* SPAN_NONE: this is a real function, not an inlined one */
	uint32_t call_file; /* id of dwarf_file.names */
	uint32_t call_line;
	uint32_t decl_line; /* DW_AT_decl_line, found with the name; 0: not known */
	bool has_name, has_call; /* they are known, as far as they can be */
};
struct dwarf_subprogram { /* a real function that has code */
	uint64_t die; /* where its DIE is: bytes behind the unit's own */
	uint32_t insides1; /* 1 + index of dwarf_unit.insides; 0: not asked for yet */
};
struct dwarf_row { /* up to the start of the next one, or to the end of its sequence */
	uint64_t start;
	uint32_t file; /* number in dwarf_unit.sources */
	uint32_t line;
};
struct dwarf_sequence { /* code in one piece */
	size_t first, n; /* of dwarf_unit.rows, ascending, one per start */
};
struct dwarf_source {
	const char *name;
	uint32_t directory; /* index of dwarf_sources.directories */
	uint32_t id; /* of dwarf_file.names, or SPAN_NONE: not asked for yet */
};
struct dwarf_sources { /* what a line table names by number */
	const char **directories; /* [0]: the one it was compiled in; may be NULL */
	size_t n_directories, cap_directories;
	struct dwarf_source *v;
	size_t n, cap;
};
struct dwarf_bases { /* what addresses and ranges of a unit are counted from, see dwarf_ranges.c */
	uint16_t version;
	uint8_t address_bytes, offset_bytes;
	uint64_t low;
	struct dwarf_cursor addr; /* .debug_addr from the unit's first address on */
	struct dwarf_cursor lists;
	uint64_t lists_base; /* where the offsets of lists are, or what offsets of lists are added to */
	uint64_t locations_base; /* the same of lists of locations, in version 5 */
};
struct dwarf_unit {
	Dwarf_CU *cu; /* for split DWARF, the skeleton */
	struct dwarf_bases bases; /* see subprograms_read */
	bool subprograms_read, nested_read, sources_read, lines_read;

	Dwarf_Die code; /* the DIE that has the functions, maybe in a .dwo file; see subprograms_read */
	struct dwarf_subprogram *subprograms;
	size_t n_subprograms, cap_subprograms;
	struct dwarf_spans spans, nested_spans; /* ids are indexes of subprograms; nested: those within others */
	struct dwarf_function *functions; /* those that were asked for, and all that is inlined into them */
	size_t n_functions, cap_functions;
	struct dwarf_spans *insides; /* of subprograms that were asked for; ids are indexes of functions */
	size_t n_insides, cap_insides;

	struct dwarf_sources sources; /* of the rows and of calls, also of those in a .dwo file */
	struct dwarf_row *rows;
	size_t n_rows, cap_rows;
	struct dwarf_sequence *sequences;
	size_t n_sequences, cap_sequences;
	struct dwarf_spans row_spans; /* ids are indexes of sequences */
	struct dwarf_globals *globals; /* of dwarf_variables.c; NULL: nobody has asked */
};

struct dwarf_step {
	uint32_t bytes;
	uint8_t kind;
};
struct dwarf_field { /* an attribute as an abbreviation has it; what is not known is attribute 0, form 65535 */
	int64_t constant; /* with DW_FORM_implicit_const */
	uint16_t attribute, form;
};
struct dwarf_abbrev {
	uint32_t first_step, n_steps;
	uint32_t first_field, n_fields;
	uint16_t tag;
	bool known, children;
	bool has_code; /* with low_pc or ranges */
};
struct dwarf_abbrevs { /* a table that one unit, or several, use; made by dwarf_scan.c */
	const uint8_t *bytes; /* where it begins; NULL: none yet */
	uint16_t version;
	uint8_t address_bytes, offset_bytes;
	struct dwarf_abbrev *v; /* by code */
	size_t n, cap;
	struct dwarf_step *steps;
	size_t n_steps, cap_steps;
	struct dwarf_field *fields;
	size_t n_fields, cap_fields;
};

struct dwarf_sections { /* of one ELF file; empty where there is none */
	void *elf; /* Elf * of libelf, which tells whose they are */
	struct dwarf_cursor info, types, abbrev, str, line, line_str, addr, ranges, rnglists, loc, loclists;
};

struct dwarf_file {
	const struct dw_lib *lib;
	char *path;
	char *program; /* whose debug file it is; NULL: it is the program, or that is not known */
	struct elf_files *elf_files; /* or NULL */
	struct elf_file view, alt_view; /* as libdw has them */
	/* Views of sections that libdw is not given, and which are read when they are asked for; see dwarf_elf.c. */
	struct elf_file line_view, location_view;
	bool lines_tried, locations_tried;
	/* Why some of it is not read, as others might expect; "": nothing is. */
	struct str refused;
	Dwarf *dwarf, *alt; /* alt: NULL: there is none, or it was not found */
	struct dwarf_sections sections, alt_sections;
	struct dwarf_split_file **splits; /* .dwo files and packages that were looked for, see dwarf_split.c */
	size_t n_splits, cap_splits;
	struct dwarf_split_unit **split_units; /* that were found in them */
	size_t n_split_units, cap_split_units;
	/*
	 * Each byte or element that is read costs one. A file has room for each byte of DWARF to be
	 * used a few times, which is plenty for a true one, and ends one in which a million units share
	 * a list.
	 */
	uint64_t budget;
	bool spent; /* something was not read, since it would have cost more */
	struct file_parts parts; /* what else was opened, or looked for, see file_parts.h */

	int64_t thread_block; /* from the thread pointer to the variables that each thread has, see dwarf_elf.c */
	struct dwarf_range *code; /* executable sections, ascending, none over another; id and rank unused */
	size_t n_code, cap_code;

	struct dwarf_unit *units;
	size_t n_units, cap_units;
	struct dwarf_spans spans; /* ids are indexes of units */
	struct dwarf_abbrevs **abbrevs; /* of the units that were read */
	size_t n_abbrevs, cap_abbrevs;
	struct index abbrev_index; /* by where they begin */

	struct dwarf_types *types; /* of dwarf_types.c; NULL: none was asked for */
	struct dwarf_globals *globals; /* of all units, also of dwarf_variables.c; NULL: nobody has asked */
	const char **names; /* source files, each once; [0] is NULL */
	size_t n_names, cap_names;
	struct index name_index;
	struct arena name_bytes;
	struct str path_buffer;
};

/* Takes so much work off the budget; false: the file has used up its share. */
bool dwarf_file_spend(struct dwarf_file *file, uint64_t work);
/*
 * Whether addr lies in an executable section. What the linker threw away keeps its DWARF, at address 0 or so:
 * no section is there. A file without any executable section: everything is code.
 */
bool dwarf_file_is_code(const struct dwarf_file *file, uint64_t addr);
/* Id of the name of a source file in a directory, which is relative to a base; each may be NULL. 0: none. */
uint32_t dwarf_file_name(struct dwarf_file *file, const char *base, const char *directory,
			 const char *name);
/* Adds the ranges of a DIE that are code. How many it had, code or not. */
size_t dwarf_file_ranges(struct dwarf_file *file, Dwarf_Die *die, uint64_t rank, uint32_t id,
			 struct dwarf_range_list *out);
/*
 * Whether what an attribute refers to is there. Where it is in an alternative file that was not found, libdw
 * must not be asked: it would take any file that lies at the place.
 */
bool dwarf_file_has(const struct dwarf_file *file, const Dwarf_Attribute *attribute);
/* Text of an attribute, or NULL; it ends within its section, which libdw does not always check. */
const char *dwarf_file_text(struct dwarf_file *file, Dwarf_Die *die, unsigned attribute);

/* ---- dwarf_elf.c ---- */
/* Fills elf, dwarf, alt, their sections, code and budget. dwarf_elf_close also after a failure. */
int dwarf_elf_open(struct dwarf_file *file, const struct sym_options *options, struct str *err);
/* ".debug_info" and ".debug_info.dwo" are debug_info. */
bool dwarf_section_is(const char *section, const char *name);
/* Finds the sections of a view that are looked at here. */
void dwarf_elf_find_sections(struct elf_file *view, struct dwarf_sections *sections);
void dwarf_elf_close(struct dwarf_file *file);
/* .debug_line of the file itself; empty where it can't be had. It is read, and unpacked, when it is first asked for. */
const struct dwarf_cursor *dwarf_elf_lines(struct dwarf_file *file);
/* .debug_loclists of a unit, or up to version 4 .debug_loc: likewise, of the file that its functions are in. */
const struct dwarf_cursor *dwarf_elf_locations(struct dwarf_file *file, const struct dwarf_unit *unit);
/*
 * The sections of a view that is opened now, of a file as it was before; false: it is not there any more, or not to be
 * read. Not of a module, all of whose sections were linked when it was opened.
 */
bool dwarf_elf_open_later(struct dwarf_file *file, const struct elf_file *before, struct elf_file *view,
			  bool (*wanted)(const char *section), struct dwarf_sections *sections);
bool dwarf_elf_is_locations(const char *section);
/* The sections of the file that a unit is in: this one, the alternative one, or a .dwo file. */
const struct dwarf_sections *dwarf_elf_sections(struct dwarf_file *file, Dwarf_CU *cu);
/* A unit of split DWARF is used: what is in it may be read, too. */
void dwarf_elf_split_used(struct dwarf_file *file, const struct dwarf_sections *sections);
void dwarf_elf_locations_used(struct dwarf_file *file, const struct dwarf_sections *sections);

/* ---- dwarf_units.c ---- */
int dwarf_units_read(struct dwarf_file *file, struct str *err);
/* The unit that has addr's code, or NULL. */
struct dwarf_unit *dwarf_units_find(struct dwarf_file *file, uint64_t addr);
/* Sets the unit's DIE with the functions, which may be in a .dwo file, and its bases. false: it can't be read. */
bool dwarf_unit_code_die(struct dwarf_file *file, struct dwarf_unit *unit);
/* The directory that the unit was compiled in, or NULL. */
const char *dwarf_unit_directory(struct dwarf_file *file, const struct dwarf_unit *unit);
void dwarf_units_release(struct dwarf_file *file);

/* ---- dwarf_scan.c ---- */

struct dwarf_scan {
	struct dwarf_file *file;
	const struct dwarf_abbrevs *abbrevs;
	const uint8_t *unit; /* its header */
	struct dwarf_cursor at;
	size_t n_levels; /* that are open */

	/* The DIE that dwarf_scan_next came to. */
	const uint8_t *die;
	const struct dwarf_abbrev *abbrev;
	size_t depth; /* 0: the unit's own */
	const uint8_t *sibling; /* NULL: not said */
};
/* Before the unit's own DIE. false: the unit can't be read. */
bool dwarf_scan_begin(struct dwarf_scan *scan, struct dwarf_file *file, Dwarf_Die *unit);
/* Before the DIE at these bytes of the unit, which then is at depth 0, as is what comes after all that is in it. */
void dwarf_scan_from(struct dwarf_scan *scan, const uint8_t *die);
/* To the next DIE; enter: also into the one that it stands on. false: the end, or the budget is used up. */
bool dwarf_scan_next(struct dwarf_scan *scan, bool enter);
struct dwarf_value {
	uint64_t attribute; /* DW_AT_* that is asked for */
	bool takes_block; /* it may be a block of bytes, too: */
	bool known; /* the DIE has it, as a number: */
	uint64_t form, number;
	const uint8_t *block; /* the bytes, of which there are `number`; NULL: it is a number */
};
/* Attributes of the DIE that the scan stands on, those with known false; how many it has. */
size_t dwarf_scan_values(const struct dwarf_scan *scan, struct dwarf_value *values, size_t n);
void dwarf_scan_release(struct dwarf_file *file);

/* ---- dwarf_ranges.c ---- */
/* skeleton: at the unit's own DIE in the program; code: in the unit that has the functions, which may be the same. */
void dwarf_bases_read(struct dwarf_bases *bases, const struct dwarf_scan *skeleton, const struct dwarf_scan *code,
		      const struct dwarf_sections *main, const struct dwarf_sections *split);
/* An address that stands in .debug_addr; false: it is not there. */
bool dwarf_bases_address(const struct dwarf_bases *bases, uint64_t index, uint64_t *addr);
/* The same as dwarf_file_ranges, of the DIE that the scan stands on. */
size_t dwarf_ranges_add(struct dwarf_file *file, const struct dwarf_bases *bases, const struct dwarf_scan *scan,
			uint64_t rank, uint32_t id, struct dwarf_range_list *out);

/* ---- dwarf_split.c ---- */
/* The unit's DIE in a .dwo file or a package, of which the skeleton is in the program; false: it is not found. */
bool dwarf_split_die(struct dwarf_file *file, Dwarf_CU *skeleton_cu, Dwarf_Die *skeleton, Dwarf_Die *die);
/* The sections of the one that libdw reads through this Elf *, or NULL. */
const struct dwarf_sections *dwarf_split_sections(const struct dwarf_file *file, const void *elf);
/* Finds loc and loclists of these, unless that has been done. */
void dwarf_split_find_locations(struct dwarf_file *file, const void *elf);
void dwarf_split_release(struct dwarf_file *file);

struct dwarf_package_unit {
	uint8_t version; /* 2 or 5, whose numbers of sections differ */
	/* Private. */
	uint32_t n_sections, n_units, row;
	struct dwarf_cursor table;
};

/* The unit with this id, in the index's bytes, which unit borrows; false: it is not there, or the index is no index. */
bool dwarf_package_find(struct dwarf_package_unit *unit, struct dwarf_cursor index, uint64_t id);
/* Makes of a section, by its number in the index, the unit's part; of zeros, where it has none. */
void dwarf_package_part(const struct dwarf_package_unit *unit, uint8_t number, struct dwarf_cursor *section);

/* ---- dwarf_inline.c ---- */
/*
 * The innermost function at addr: index of unit->functions, or SPAN_NONE. Reads the unit's functions when it is first
 * asked, and what is inlined into one when that is.
 */
uint32_t dwarf_inline_find(struct dwarf_file *file, struct dwarf_unit *unit, uint64_t addr);
/* The function that is not inlined: index of unit->subprograms, or SPAN_NONE. Reads likewise. */
uint32_t dwarf_subprogram_find(struct dwarf_file *file, struct dwarf_unit *unit, uint64_t addr);
/* The same with its name known; lines: its place of call as well. */
const struct dwarf_function *dwarf_inline_resolve(struct dwarf_file *file, struct dwarf_unit *unit,
						  uint32_t index, bool lines);

void dwarf_inline_release(struct dwarf_unit *unit);

/* ---- dwarf_variables.c, dwarf_types.c ---- */
/* The type of what the DIE declares or calls, also by what it is a copy of; NULL: it has none. */
const struct data_type *dwarf_type_of(struct dwarf_file *file, Dwarf_Die *die);
void dwarf_globals_release(struct dwarf_globals *globals); /* NULL is fine */
void dwarf_types_release(struct dwarf_file *file);

/* ---- dwarf_line.c ---- */
/* false: no line is known there. Reads the unit's rows when first asked. */
bool dwarf_line_find(struct dwarf_file *file, struct dwarf_unit *unit, uint64_t addr,
		     struct source_line *out);
/* Appends what the lines of the unit of this index cover, with the index as id. Reads its rows. */
void dwarf_line_ranges(struct dwarf_file *file, uint32_t unit, struct dwarf_range_list *out);
/* Id of the name of a file that a call, or a row, has the number of; 0: not known. */
uint32_t dwarf_line_call_source(struct dwarf_file *file, struct dwarf_unit *unit, uint64_t number);

void dwarf_sources_release(struct dwarf_sources *sources);

#endif
