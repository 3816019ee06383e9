/* SPDX-License-Identifier: MIT */
/*
 * sym_internal: what the files of sym/ hand each other. Private to sym/.
 *
 *   dso_file.c debuginfod.c vdso_file.c   which file (symfs, cache, build-id, debuglink)
 *   processes.c            whose process still lives, and below which root its files are
 *   code_file.c            whether to believe a map or dump of code made at run time
 *   elf_symbols.c          symbols of an ELF file
 *   elf_bounds.c           where its functions begin and end, whatever they are called
 *   kallsyms.c perf_map.c jitdump.c                    symbols of other kinds of text
 *   code_times.c           which of the codes of a dump lay at an address when
 *   symbol_table.c  the sorted array that all of them fill
 *   dwarf_*.c       inlined functions and lines
 *   dso_names.c source_*.c     the sources of a dso's names, see dso_names.h
 *   symbols.c       the front: the names of each dso, answers remembered
 */
#ifndef PSTAT_SYM_INTERNAL_H
#define PSTAT_SYM_INTERNAL_H

#include "elf/elf.h"
#include "sym/sym.h"

/* ---- symbol_table.c ---- */

enum symbol_rank_bits { /* of two at one address the higher one is shown */
			SYMBOL_LOCAL,
			SYMBOL_WEAK,
			SYMBOL_GLOBAL,
};
enum { SYMBOL_OUTER_MAX = (1 << 28) - 1 };
struct symbol_row {
	uint64_t start;
	uint64_t size; /* 0 until finish: up to the next symbol */
	uint32_t name; /* offset in names */
	uint32_t binding : 2; /* enum above */
	uint32_t open : 1; /* it had no size: that it reaches up to the next one is a guess */
	uint32_t label : 1; /* until finish: added by symbol_table_add_label */
	uint32_t outer1 : 28; /* 1 + index of the nearest row before that reaches over start; 0: none */
};
struct symbol_table {
	struct symbol_row *v; /* after symbol_table_finish: ascending by start, one row per start */
	size_t n, cap;
	struct str names; /* each ended by NUL */
	/*
	 * After finish: other names of rows' starts that only the rule of names put behind, where demangling may
	 * turn that round; ascending by start.
	 */
	struct symbol_row *aliases;
	size_t n_aliases, cap_aliases;
	uint64_t *marks; /* after finish: where each MARKED_ROWS-th row starts, from the first on */
	size_t n_marks;
	/* Not NULL: of a file that elf_map has mapped all is a part, finished, and unmapped with the table. */
	char *mapped;
	size_t mapped_bytes;
};
void symbol_table_init(struct symbol_table *table);
void symbol_table_release(struct symbol_table *table);
/* Room for so many more, with names of so many bytes: a guess, which may be wrong either way. */
void symbol_table_reserve(struct symbol_table *table, size_t n, size_t name_bytes);
/* name is copied; it need not end in NUL. At most 100 million symbols; more are left out. */
void symbol_table_add(struct symbol_table *table, uint64_t start, uint64_t size, const char *name,
		      size_t name_len, uint8_t binding);
/* A label without a size: finish drops it where a symbol with a size that begins before it holds its address. */
void symbol_table_add_label(struct symbol_table *table, uint64_t start, const char *name, uint8_t binding);
/* Names for many symbols, each ended by NUL: where the first byte is now; UINT32_MAX: no room, nothing was added. */
uint32_t symbol_table_add_names(struct symbol_table *table, const char *names, size_t bytes);
/* A symbol whose name is at that place in the names. */
void symbol_table_add_named(struct symbol_table *table, uint64_t start, uint64_t size, uint32_t name,
			    uint8_t binding);
/*
 * Sorts, keeps the best of the names of one address (see symbol_table.c), and ends symbols without a size
 * at the next one; the last one, without a size, a 4 KiB page after its page's end, as perf does.
 */
void symbol_table_finish(struct symbol_table *table);
/* How many marks a table of so many rows has. */
size_t symbol_table_marks(size_t n_rows);
/* A row's name; "" where it has none: what is mapped is not believed. */
static inline const char *symbol_table_name(const struct symbol_table *table, const struct symbol_row *row)
{
	return row->name < table->names.len ? table->names.s + row->name : "";
}
/* Compares two names of one address. Positive: b is to be shown, negative: a; 0: they are the same. */
int symbol_name_compare(const char *b, const char *a);
/* The n aliases of a row's start. */
const struct symbol_row *symbol_table_aliases(const struct symbol_table *table, uint64_t start,
					      size_t *n);
/* The row that covers addr, or NULL. */
const struct symbol_row *symbol_table_find(const struct symbol_table *table, uint64_t addr);

/* ---- elf_symbols.c ---- */
/*
 * Function symbols of a table (SHT_SYMTAB, SHT_DYNSYM), at virtual addresses: 1; 0: the file has no such table.
 * Labels without a type count in executable sections: in the kernel, where they are entry points, all of
 * them, else where no function with a size is around them; objects are there for data addresses.
 * Modules (relocatable): counted from the start of .text, see elf_module_places.
 */
int elf_table_read(struct elf_file *file, uint32_t type, struct symbol_table *table, struct str *err);
/* Reads .symtab, else .dynsym. */
int elf_symbols_read(struct elf_file *file, struct symbol_table *table, struct str *err);
/* "puts@plt" for .plt, .plt.sec, .plt.got by their relocations. */
int elf_plt_read(struct elf_file *file, struct symbol_table *table, struct str *err);
/* Symbols of the packed .gnu_debugdata, if there is one. 1 read, 0 none, negative broken. */
int elf_minidebug_read(struct elf_file *file, struct symbol_table *table, struct str *err);

/* ---- elf_bounds.c ---- */
struct function_bounds {
	uint64_t start, end; /* virtual addresses; [start, end) */
};
struct elf_bounds { /* begins as { 0 } */
	struct function_bounds *v; /* ascending, none over another */
	size_t n, cap;
};
/* Fills it, which is empty, from .eh_frame; it stays empty where there is none that can be read. */
void elf_bounds_read(struct elf_file *file, struct elf_bounds *bounds);
void elf_bounds_release(struct elf_bounds *bounds);
/* An entry of .eh_frame that is of a function, as offsets in the section; its CIE is one before it. */
struct frame_entry {
	uint64_t start, size; /* of the function: vaddr */
	size_t at, bytes, cie_at, cie_bytes; /* with their lengths in front */
};
/* Calls take for each, in the section's order. The section's address and contents; false: there is none. */
bool elf_frames_each(struct elf_file *file, void (*take)(void *context, const struct frame_entry *entry),
		     void *context, uint64_t *vaddr, struct elf_data *data);
/* The function that vaddr is in, or NULL. */
const struct function_bounds *elf_bounds_find(const struct elf_bounds *bounds, uint64_t vaddr);

/* ---- demangle_ocaml.c ---- */
#define OCAML_PREFIX "caml"
/* Appends the name as people wrote it; false, and nothing is appended: it is none of OCaml. */
bool demangle_ocaml(const char *raw, struct str *out);

/* ---- dso_file.c ---- */
struct processes; /* processes.h */
struct dso_files {
	char *runtime; /* the file itself, with the right build-id as far as known; NULL: not there */
	char *debug; /* the file with .symtab or DWARF, may be the same; NULL: none */
	/* For the vdso both can be "/proc/self/fd/N", which stays valid until the program ends. */
	/* Why runtime, or a better debug file, is missing; or, with runtime: what speaks against it. Printable. */
	struct str why;
	const char *remedy;
};
struct cached_files; /* cached_files.h */
/*
 * elf_files: they are opened through it; NULL: each time. cached: NULL: nothing is cached. processes: those of the
 * recording; NULL: none is asked.
 */
void dso_files_find(const struct sym_options *options, struct elf_files *elf_files, struct cached_files *cached,
		    const struct recording_info *recording, struct processes *processes, const struct dso *dso,
		    struct dso_files *files);
void dso_files_release(struct dso_files *files);

/* ---- debuginfod.c ---- */
/*
 * Asks the servers of $DEBUGINFOD_URLS for the file, or for its debug file. 0 and a path that the caller
 * frees; a negative errno with a sentence. -ETIME: the time for all files is used up.
 */
int debuginfod_fetch(const struct sym_options *options, const struct build_id *id, const char *name,
		     bool debug, char **path, struct str *err);

/* ---- perf_map.c ---- */
struct code_rules; /* code_file.h */
/*
 * perf-PID.map lines "START SIZE name" in hexadecimal. Refused (-EPERM, with the reason) where it belongs
 * to neither root, this user nor the process's; lines that are none are counted. err without a failure: what
 * was left out.
 */
int perf_map_read(const char *path, struct code_rules *rules, struct symbol_table *table,
		  uint64_t *bad_lines, struct str *err);

/* ---- dwarf_*.c: one file's DWARF ---- */
struct dwarf_file;
/* Loads libdw, which is to be done while there is one thread; false: it can't be had. */
bool dwarf_can_be_read(void);
/*
 * *file, or a negative errno with a sentence: -ENODATA: it has no DWARF; -EFBIG: it is refused. vaddr: addresses
 * below are the ELF file's own. options: where other files that it needs are looked for (symfs, debug_dirs); NULL: in
 * the usual places. program: whose debug file it is; NULL, or the path itself: none's. elf_files: they are opened
 * through it; NULL: each time.
 */
int dwarf_file_open(struct elf_files *elf_files, const char *path, const char *program,
		    const struct sym_options *options, struct dwarf_file **file, struct str *err);
/* Opens through these what is read of it from now on. */
void dwarf_file_read_from(struct dwarf_file *file, struct elf_files *elf_files);
/* Why some of its DWARF is not read, one clause; "": all that is looked for is. It may become known later. */
const char *dwarf_file_refused(const struct dwarf_file *file);
struct file_parts; /* file_parts.h */
/* All that answers so far depend on, beside the file; NULL: also on what can't be known, or not all was read. */
const struct file_parts *dwarf_file_parts(const struct dwarf_file *file);
void dwarf_file_close(struct dwarf_file *file);
struct dwarf_inline {
	/* Linkage name where there is one, else the plain name; raw. NULL: not known, as in a file that is missing. */
	const char *name;
	struct source_line line; /* [0]: the address's own; [i]: where [i-1] was called from */
	uint32_t decl_line; /* where the function begins in its own file; 0: not known */
};
/*
 * Functions inlined at an address, innermost first, and last the real one (its name may be NULL).
 * 0: not covered. At most max; the outermost are kept. Texts live as long as the file. Without `lines`,
 * [0] has none: its unit's line program then is not run.
 */
size_t dwarf_file_inlines(struct dwarf_file *file, uint64_t vaddr, bool lines, struct dwarf_inline *out,
			  size_t max);
/* Only the line of an address; false: none. */
bool dwarf_file_line(struct dwarf_file *file, uint64_t vaddr, struct source_line *out);

#endif
