/* SPDX-License-Identifier: MIT */
/*
 * probe_internal: what the files of probe/ hand each other; nobody else includes it.
 *
 *   point.c       words -> struct probe_point
 *   probe_file.c   the ELF file, its symbols, its DWARF, walks over it, tables of lines
 *   sites.c      point -> places; offset -> function and line
 *   arguments.c   a variable at a place -> where it is, as the kernel is told
 *   usdt.c        probes that a program brings with it
 *   definition.c  names and text; tracefs's list
 *   probe_listing.c     lines and variables that can be probed
 */
#ifndef PSTAT_PROBE_INTERNAL_H
#define PSTAT_PROBE_INTERNAL_H

#include "elf/elf.h"
#include "probe/probe.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>

/* ---- probe_file.c ---- */

/* The functions of libdw that are used, by name. To use one more: one more FN here. All are in elfutils 0.171. */
#define PROBE_DW_FUNCTIONS(FN)                                                                                  \
	FN(dwarf_begin_elf) FN(dwarf_end) FN(dwarf_errmsg) FN(dwarf_setalt) FN(dwarf_get_units)                 \
	FN(dwarf_tag) FN(dwarf_child) FN(dwarf_siblingof) FN(dwarf_attr) FN(dwarf_attr_integrate)               \
	FN(dwarf_whatform) FN(dwarf_formstring) FN(dwarf_formudata) FN(dwarf_formsdata)                         \
	FN(dwarf_formaddr) FN(dwarf_formref_die) FN(dwarf_ranges) FN(dwarf_haspc) FN(dwarf_decl_file)           \
	FN(dwarf_diecu) FN(dwarf_getsrcfiles) FN(dwarf_filesrc) FN(dwarf_getsrclines)                           \
	FN(dwarf_onesrcline) FN(dwarf_lineaddr) FN(dwarf_lineno) FN(dwarf_linesrc)                              \
	FN(dwarf_linebeginstatement) FN(dwarf_lineendsequence) FN(dwarf_lineprologueend)                        \
	FN(dwarf_getlocation_addr) FN(dwarf_getlocation) FN(dwarf_getcfi) FN(dwarf_getlocation_attr)            \
	FN(dwarf_getlocations) FN(dwarf_getcfi_elf) FN(dwarf_cfi_end) FN(dwarf_cfi_addrframe) FN(dwarf_frame_cfa)

struct probe_dw {
#define PROBE_DW_MEMBER(name) __typeof__(name) *name;
	PROBE_DW_FUNCTIONS(PROBE_DW_MEMBER)
#undef PROBE_DW_MEMBER
};

/* libdw with the DWARF of a file, or NULL with the reason, a clause that begins with "it": "it has no DWARF". */
const struct probe_dw *probe_file_dwarf(struct probe_file *file, struct str *why);
/* The same where that was asked before and is not NULL. */
const struct probe_dw *probe_file_dw(const struct probe_file *file);
/* The next unit; begins with *cu NULL. false: no more, or the budget of walks is spent. */
bool probe_next_unit(struct probe_file *file, Dwarf_CU **cu, Dwarf_Die *die);

/* A walk over the DIEs in one, not by recursion, and not deeper than a compiler nests. */
enum { PROBE_DEPTH_MAX = 96 };
struct probe_walk {
	struct probe_file *file;
	Dwarf_Die path[PROBE_DEPTH_MAX]; /* from the one where the walk began to where it is */
	size_t depth;
};
void probe_walk_begin(struct probe_walk *walk, struct probe_file *file, const Dwarf_Die *root);
/* To the next DIE; enter: also into the one that it stands on. false: the end, or the budget is spent. */
bool probe_walk_next(struct probe_walk *walk, bool enter);

/* The attribute's text or number, also of the DIE that this one is a copy of; NULL, false: it has none. */
const char *probe_die_text(struct probe_file *file, Dwarf_Die *die, unsigned attribute);
bool probe_die_number(struct probe_file *file, Dwarf_Die *die, unsigned attribute, uint64_t *number);
/* The DIE that an attribute refers to, also by the one that this one is a copy of. */
bool probe_die_ref(struct probe_file *file, Dwarf_Die *die, unsigned attribute, Dwarf_Die *to);
/* The whole path of the source file that it is declared in; NULL: it is not known. */
const char *probe_die_source(struct probe_file *file, Dwarf_Die *die);
/* The first address that is executed; false: it has no code. */
bool probe_die_entry(struct probe_file *file, Dwarf_Die *die, uint64_t *entry);

/* A row of a unit's table of lines at which a statement begins. */
struct probe_row {
	uint64_t address;
	const char *source;
	uint64_t line;
	bool prologue_end;
	bool again; /* the row before, of the same code, has the same line */
	bool starts; /* a statement begins here, as the compiler says */
};
struct probe_rows { /* ascending by address */
	struct probe_row *v;
	size_t n, cap;
};
void probe_rows_read(struct probe_file *file, Dwarf_Die *unit, struct probe_rows *rows);
void probe_rows_release(struct probe_rows *rows);
/* A source file to be read, or NULL with a sentence. It has at most so many bytes. */
enum { PROBE_SOURCE_BYTES_MAX = 64 << 20 };
FILE *probe_source_open(const struct probe_file *file, const char *path, struct str *err);
/* The path ends with the name, whole names of folders at its front: "src/a.c" is "/x/src/a.c". */
bool probe_source_is(const char *path, const char *name);

bool probe_file_offset(struct probe_file *file, uint64_t address, uint64_t *offset);
bool probe_file_address(struct probe_file *file, uint64_t offset, uint64_t *address);
bool probe_file_is_code(const struct probe_file *file, uint64_t address); /* in a part that is mapped as code */
/* The function of the symbol table at an address, and its bounds; NULL: none is known. Lives as long as the file. */
const char *probe_file_symbol(struct probe_file *file, uint64_t address, uint64_t *start, uint64_t *end);
struct elf_file *probe_file_elf(struct probe_file *file);
uint16_t probe_file_machine(const struct probe_file *file); /* EM_* */
/* Sorts names, and drops those that are there twice. */
void probe_names_sort(struct probe_names *names);
/* Whether an instruction begins at an address of a function that begins at start; negative: that can't be told. */
int probe_file_is_instruction(struct probe_file *file, uint64_t start, uint64_t address, struct str *why);
/* Operations that give the frame address (CFA) at an address of code. */
bool probe_file_cfa(struct probe_file *file, uint64_t address, Dwarf_Op **ops, size_t *n, void **frame);

/* ---- sites.c ---- */

struct probe_site {
	uint64_t address; /* as the file's symbols count */
	uint64_t start; /* of the function that has the place */
	bool at_entry; /* at the function's first instruction */
	bool inlined; /* the function is a copy in another one */
	bool has_dwarf; /* the next ones are set: */
	Dwarf_Die scope; /* the function or its copy */
	Dwarf_Die real; /* the function with code of its own that holds it */
	Dwarf_Die unit;
	const char *name; /* the function's; lives as long as the file; NULL: not known */
};
struct probe_sites { /* zeroed: none */
	struct probe_site *v;
	size_t n, cap;
};
int probe_sites_find(struct probe_file *file, const struct probe_point *point, struct probe_sites *places,
		      struct note_list *notes, struct str *err);
void probe_sites_release(struct probe_sites *places);
/* Whether an address is code of the place's function: a copy may begin with a range that is empty. */
bool probe_site_has(struct probe_file *file, const struct probe_site *place, uint64_t address);
/* Goes on to where a function that was compiled without optimization has stored its parameters. */
void probe_site_after_prologue(struct probe_file *file, struct probe_site *place);
/* The innermost function, or copy of one, that has an address; false: none. */
bool probe_site_at(struct probe_file *file, uint64_t address, struct probe_site *place);

/* ---- arguments.c ---- */

/*
 * Adds an argument as the kernel takes it, a blank before: " total=%dx:s32"; of $vars and $params all that can be read.
 * A place at the entry may move behind the prologue. 0, or a negative errno with a sentence.
 */
int probe_argument_add(struct probe_file *file, struct probe_site *place, const struct probe_point *point,
		       const char *words, struct str *out, struct str *err);
/* Whether the arguments are of variables that are in memory from the end of the prologue on. */
bool probe_needs_prologue(struct probe_file *file, const struct probe_site *place, const struct probe_point *point);
struct probe_variable {
	const char *name, *type;
	bool here; /* it can be read at the place */
	bool global;
	const char *ranges; /* "0-7,28-35": where a local one has a value, in bytes from an address */
};
/* Calls take for each variable in scope at a place, outer ones first; from: what ranges are counted from. */
typedef void probe_variable_fn(void *context, const struct probe_variable *variable);
void probe_variables_each(struct probe_file *file, const struct probe_site *place, bool externs, uint64_t from,
			  probe_variable_fn *take, void *context);

/* ---- usdt.c ---- */

/* A probe that the program's author has put there. Texts are the file's. */
struct probe_usdt {
	uint64_t address, semaphore; /* as the file's symbols count; semaphore 0: it has none */
	const char *provider, *name, *arguments;
};
struct probe_usdt_notes { /* private */
	struct dwarf_cursor at;
	uint64_t base;
	uint8_t address_bytes;
};
void probe_usdt_begin(struct probe_file *file, struct probe_usdt_notes *notes);
/* The next one; false: no more. Notes that are cut or of other kinds are passed over. */
bool probe_usdt_next(struct probe_usdt_notes *notes, struct probe_usdt *usdt);
bool probe_usdt_is(const struct probe_usdt *usdt, const struct probe_point *point);
/* Adds its arguments as the kernel fetches them: " arg1=%di:s32"; how many it cannot fetch. machine: EM_*. */
size_t probe_usdt_arguments(uint16_t machine, const char *arguments, struct str *out);

/* ---- definition.c ---- */

/* The sentence about a pattern and the name that was given. */
#define PROBE_ONE_NAME "'%s' matches several functions, which cannot have one name, '%s'"
/* Drops all definitions from n on. */
void probe_definitions_cut(struct probe_definitions *definitions, size_t n);

/* Whether a symbol is a function that the point's pattern takes: parts that the compiler moved away are none. */
bool probe_name_matches(const struct probe_point *point, const char *symbol);
/* "sdt_PROVIDER"; heap text. */
char *probe_usdt_group(const char *provider);
/* The event's name of a point, in a function of that name (NULL: not known); heap text; NULL with a sentence. */
char *probe_event_name(const struct probe_point *point, const char *group, const char *function,
		       const struct probe_naming *naming, const struct probe_definitions *made, struct str *err);
/* Adds the point as people write it, but for its arguments. */
void probe_point_text(const struct probe_point *point, struct str *out);

#endif
