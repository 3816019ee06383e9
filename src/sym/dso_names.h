/* SPDX-License-Identifier: MIT */
/*
 * dso_names: the names of one dso: an ordered array of sources, each with its own state. Private to sym/.
 *
 *	address --find--> sources, in their order --the first that has it--> symbol
 *	        --frames-> the same: inlined functions and lines
 *	        --code---> the same: the code itself
 *
 * A source is asked for nothing before those in front of it have no answer. Its file ends in one const struct
 * names_source, which is a row of the array in dso_names.c; that says which kinds of dsos it is for:
 *
 *   source_embedded.c    names that the recording has of its own
 *   source_simpleperf.c  names that Android's simpleperf has put into its recordings
 *   source_cached.c      what was found out in earlier runs
 *   source_files.c       ELF files that were found
 *   source_kernel.c      the kernel's lists, and its ELF file
 *   source_module.c      those of its modules
 *   source_code.c        maps and dumps of code made at run time; maps of code in files that are not ELF
 *   source_kcore.c       the code of the kernel and its modules
 *   source_debug.c       debug information: inlined functions and lines
 *
 * Sources that have names in a table share names_table.c; symbols.c is the front, and remembers answers.
 */
#ifndef PSTAT_DSO_NAMES_H
#define PSTAT_DSO_NAMES_H

#include "sym/code_file.h"
#include "sym/embedded_names.h"
#include "sym/processes.h"
#include "sym/sym_internal.h"

/* Answer for one address. */
struct addr_answer {
	uint64_t addr;
	const struct symbol *symbol; /* NULL: none */
	const struct frame *frames; /* NULL: not asked for yet */
	uint32_t n_frames;
	bool has_lines;
};

enum answer_depth {
	ANSWER_SYMBOL,
	ANSWER_INLINES, /* its frames */
	ANSWER_LINES, /* with their lines */
};
static inline uint8_t answer_depth(const struct addr_answer *answer)
{
	return !answer->frames ? ANSWER_SYMBOL : answer->has_lines ? ANSWER_LINES : ANSWER_INLINES;
}

/* A symbol that somebody got, and the list with nothing but it. */
struct symbol_object {
	struct symbol symbol;
	struct frame alone;
};

/* ---- sources ---- */

struct symbols;
struct dso_names;
struct names_slot;

enum source_result {
	SOURCE_NONE, /* not mine, or it has no names (and may have said why): the next one */
	SOURCE_DONE, /* names->state says how */
	SOURCE_CACHED, /* the cache answers for it; it is asked again for what the cache does not have */
};
enum { INLINES_MAX = 128 };
struct frames_request {
	struct addr_answer *answer; /* its symbol is known */
	bool inlined, lines; /* wanted: one of them at least */
};

/* Operations of a source; it has NULL for those that it does not have. */
struct names_source {
	unsigned kinds; /* of dsos: NAMES_OF(kind) | ... */
	/* Finds out whether it has names, and fills its slot. */
	enum source_result (*load)(struct symbols *symbols, struct dso_names *names, struct names_slot *slot);
	/* The symbol of an address: true; it may be NULL, where it is known that there is none. false: the next one. */
	bool (*find)(struct symbols *symbols, struct dso_names *names, struct names_slot *slot, uint64_t addr,
		     const struct symbol **symbol);
	/* Frames of an address, as of dwarf_file_inlines, *n of at most INLINES_MAX: true; false: the next one. */
	bool (*frames)(struct symbols *symbols, struct dso_names *names, struct names_slot *slot,
		       const struct frames_request *request, struct dwarf_inline *inlines, size_t *n);
	/* The code of an address, as symbols_code has it; positive: the next one. */
	int (*code)(struct symbols *symbols, struct dso_names *names, struct names_slot *slot, uint64_t addr,
		    uint32_t code, struct symbol_code *out, struct str *why);
	/* The end, before anything is freed: what is worth it goes into the cache. */
	void (*keep)(struct symbols *symbols, struct dso_names *names, struct names_slot *slot);
	void (*release)(void *state); /* its state, which is not NULL */
};
#define NAMES_OF(kind) (1u << (kind))
#define NAMES_OF_FILES (NAMES_OF(DSO_FILE) | NAMES_OF(DSO_VDSO))
#define NAMES_OF_KERNELS (NAMES_OF(DSO_KERNEL) | NAMES_OF(DSO_MODULE))

struct names_slot {
	const struct names_source *source;
	struct names_table *table; /* its names, where they are in one; or NULL */
	void *state; /* its own; NULL: none yet */
};

extern const struct names_source source_embedded, source_simpleperf, source_cached, source_files, source_kernel,
	source_module, source_code, source_mapped_code, source_kcore, source_debug;

/* ---- a dso's names ---- */

enum { NAMES_SLOTS_MAX = 7 };

struct dso_names {
	const struct dso *dso;
	struct names_slot slots[NAMES_SLOTS_MAX]; /* of the sources for its kind */
	uint8_t n_slots, n_asked; /* those in front were loaded */
	bool has_rest; /* some sources were not loaded, since a list answers first */

	/* Outcome. */
	enum sym_state state;
	bool only_exported; /* of a stripped file */
	bool hidden; /* in the kernel's list, whose addresses this user may not see */
	bool missed; /* an address was asked for that no symbol covers */
	bool unsure; /* something of the files could not be read: what is answered is not kept */
	bool keeps_answers; /* they may go into the cache: see source_cached.c */
	struct str why; /* printable */
	const char *remedy;
	char *origin; /* where the names are from, printable; NULL: nowhere, or from the recording alone */

	/* Shared by its sources. */
	struct dso_files files;
	bool files_known;
	struct elf_file *code_file; /* of code_start.c; NULL: none, or not asked for yet */
	bool code_file_known, made_by_go;
	const struct embedded_dso *listed; /* names by address, of the recording or the cache; NULL: none */
	bool listed_by_cache;
	struct code_times *times; /* DSO_ANON: what lay where when; NULL: not known */

	/* Addresses that were asked for. */
	struct index answer_index;
	struct addr_answer *answers; /* by address */
	size_t n_answers, cap_answers;

	/* Symbols that were given out, see symbol_objects.c. */
	struct index object_index, inlined_index;
	struct symbol_object **objects;
	uint64_t *object_keys; /* of each: its number and origin */
	size_t n_objects, cap_objects, cap_object_keys;
	struct symbol **inlined; /* by raw name and the function around; that of [i] is inlined_in[i] */
	const struct symbol **inlined_in;
	size_t n_inlined, cap_inlined, cap_inlined_in;
};

struct kernel_here; /* kernel_here.c */
struct simpleperf_names; /* source_simpleperf.c */
struct module_names; /* source_module.c */
struct kallsyms_prefetch; /* kallsyms_loader.c */

struct symbols {
	struct sym_options options;
	const struct recording_info *recording;
	struct dso_names **names; /* by dso.index; NULL: not asked for yet */
	size_t n_names, cap_names;
	struct arena arena; /* names, symbols */
	struct arena frames; /* of answers */
	size_t n_answers; /* of all dsos */
	size_t n_leftovers; /* dsos that symbols_keep dropped, and that had symbols */
	struct found_symbol *found; /* of symbols_find, by a hash of the address; NULL: nothing was asked yet */
	unsigned found_bits; /* of the hash */
	size_t n_looked_up; /* since found is as large as it is */
	struct frame unknown;
	unsigned long_names; /* that may still be demangled, see demangle() */
	struct processes *processes;
	struct elf_files *elf_files; /* those of the dsos and of their debug information */
	struct cached_files *cached; /* those that are kept by build-id */
	uint64_t code_work; /* that maps and dumps of code have cost, see code_file.h */
	struct kernel_here *here;
	struct module_names *modules;
	unsigned n_kernels; /* whose names were asked for */
	struct embedded_names *embedded; /* NULL: there are none, or not yet asked for */
	bool embedded_tried;
	struct simpleperf_names *simpleperf; /* NULL: not yet asked for */
	struct names_cache *names_cache; /* NULL: nothing was looked for in it */
	unsigned n_images; /* of embedded_image.c that are open */
	uint64_t image_pages_left;
	struct kallsyms_prefetch *kernel_ahead; /* of the running kernel; NULL: not begun, or taken */
};

/* ---- symbols.c ---- */
/* The dso's names, loaded. */
struct dso_names *symbols_loaded(struct symbols *symbols, const struct dso *dso);
void symbols_progress(const struct symbols *symbols, const char *what, const char *name);
/* The remembered answer of an address, its symbol looked up; valid until the next one is asked for. */
struct addr_answer *symbols_answer(struct symbols *symbols, struct dso_names *names, uint64_t addr);
/* Fills frames of an answer whose symbol is known. */
void symbols_fill_frames(struct symbols *symbols, struct dso_names *names, struct addr_answer *answer, bool lines);
/* The cache of names, once it is needed; NULL: it is not to be used. */
struct names_cache *symbols_names_cache(struct symbols *symbols);

/* ---- dso_names.c ---- */
struct dso_names *dso_names_new(const struct dso *dso);
void dso_names_drop_times(struct dso_names *names); /* none is nothing */
void dso_names_free(struct dso_names *names);
/* The slot of a source; NULL: it is not for this kind of dso. */
struct names_slot *dso_names_slot(const struct dso_names *names, const struct names_source *source);
/* The table that names are in; NULL: there is none. */
struct names_table *dso_names_table(const struct dso_names *names);
/* Sets what speaks against its names, or was left out. Takes over why's text, made printable. */
void dso_names_doubt(struct dso_names *names, struct str *why, const char *remedy);
/* Ends a load: there are no names. Takes over why's text, made printable. remedy may be NULL. */
void dso_names_none(struct dso_names *names, struct str *why, const char *remedy);
/* Ends a load: the names are from `origin`. */
void dso_names_found(struct dso_names *names, const char *origin);
/* Asks the sources until one has names, or says why there are none. */
void dso_names_load(struct symbols *symbols, struct dso_names *names);
/* Asks those that were left out since a list answers first: for addresses that it does not have, and for the code. */
void dso_names_load_rest(struct symbols *symbols, struct dso_names *names);
/* The dso's files, looked for when first asked. */
const struct dso_files *dso_names_files(struct symbols *symbols, struct dso_names *names);
/* location.addr as the ELF files that were found have it, whatever the names are from; false: it has no place there. */
bool dso_names_elf_vaddr(const struct dso_names *names, uint64_t addr, uint64_t *vaddr);
/* Names of the kernel, and of code made at run time, are never demangled. */
bool dso_names_are_raw(const struct dso_names *names);

/* ---- names_table.c: names in a table ---- */
struct names_table {
	struct symbol_table table;
	/*
	 * location.addr -> the table's addresses: by the segments of the file that ran, else by subtracting slide,
	 * modulo 2^64.
	 */
	struct elf_segment *segments;
	size_t n_segments;
	uint64_t slide;
	bool from_elf; /* its addresses are those of the ELF files found, so DWARF's as well */
	struct elf_bounds bounds; /* of the functions of the file that ran; read when a name is missing */
	bool bounds_tried;
};
/* The slot's table, empty when it is made here. */
struct symbol_table *names_table_begin(struct names_slot *slot);
void names_table_drop(struct names_slot *slot); /* none is nothing */
/* Sorts it, and ends the load: the names are from `origin`. */
void names_table_found(struct dso_names *names, struct names_slot *slot, const char *origin);
/* location.addr as the table has it; false: it lies in no segment. */
bool names_table_vaddr(const struct names_table *table, uint64_t addr, uint64_t *vaddr);
/* Reads the ELF files that were found, at their virtual addresses; false, with a sentence. *origin: of most names. */
bool names_table_read_elf(struct symbols *symbols, struct dso_names *names, struct names_slot *slot,
			  const char **origin, struct str *err);
/* Finds the name of what has a size and covers a virtual address; *offset: how far into it. NULL: nothing does. */
const char *names_table_name(struct symbols *symbols, const struct dso_names *names, const struct names_table *table,
			     uint64_t vaddr, uint64_t *offset);
/* Finds a symbol in the table, as a source does. */
bool names_table_find(struct symbols *symbols, struct dso_names *names, struct names_slot *slot, uint64_t addr,
		      const struct symbol **symbol);

/* ---- symbol_objects.c: one object per function ---- */
enum symbol_origin { SYMBOL_OF_ROW, SYMBOL_OF_BOUNDS, SYMBOL_OF_CODE, SYMBOL_OF_LIST, SYMBOL_ORIGINS };
/* The object of this number of that origin; NULL: it was not made yet. */
const struct symbol *symbol_object_find(const struct dso_names *names, enum symbol_origin origin, uint32_t number);
const struct symbol *symbol_object_add(struct symbols *symbols, struct dso_names *names, enum symbol_origin origin,
				       uint32_t number, const struct symbol *symbol);
/* The function inlined into another one. */
const struct symbol *symbol_object_inlined(struct symbols *symbols, struct dso_names *names,
					   const struct dwarf_inline *inlined, const struct symbol *in);
/* The list with nothing but this symbol, or NULL, in it. */
const struct frame *symbol_object_alone(const struct symbols *symbols, const struct symbol *symbol);
/* raw for people: demangled where that is wanted, printable; raw itself where nothing changes. */
const char *symbol_display_name(struct symbols *symbols, const char *raw, bool demangled);
/* Whether b, whose raw name that is, is to be shown instead of a, of two names of one function. */
bool symbol_name_is_better(const char *b, const char *raw_b, const char *a, const char *raw_a);
/* Letter of enum symbol_rank_bits. */
char symbol_binding(unsigned binding);
enum { ALIASES_MAX = 64 };

/* ---- names by address: of the recording (source_embedded.c), of the cache ---- */
/* The object of the function that begins there, if the list has it; NULL: it has not. */
const struct symbol *listed_symbol_at(struct symbols *symbols, struct dso_names *names, uint64_t start, bool nameless);
/* Finds a symbol in the list, as a source does. */
bool listed_find(struct symbols *symbols, struct dso_names *names, uint64_t addr, const struct symbol **symbol);

/* ---- source_embedded.c ---- */
/* To be called when all other sources were asked: they may have less. */
void source_embedded_later(struct symbols *symbols, struct dso_names *names);
/* Whether it is what will be asked for the dso. */
bool source_embedded_has(struct symbols *symbols, const struct dso *dso);
/* Whether the recording has names of it that are used, now or when other sources have less. */
bool source_embedded_is_used(const struct dso_names *names);
/* Origin of the recording's names, printable; NULL: they are not used. */
const char *source_embedded_origin(const struct dso_names *names);

/* ---- source_simpleperf.c ---- */
/* To be called when all other sources were asked: they may have no names. */
void source_simpleperf_later(struct symbols *symbols, struct dso_names *names);
void simpleperf_names_free(struct simpleperf_names *all); /* NULL is nothing */

/* ---- source_debug.c ---- */
struct dwarf_opened {
	bool tried;
	bool unsure; /* something could not be read */
	struct dwarf_file *dwarf; /* NULL: there is none */
	struct str doubt; /* why one that is there is not read; "": it is */
};
/* Opens the DWARF of a file, from its debug file or itself. Touches nothing but elf_files. */
void dwarf_opened_find(struct elf_files *elf_files, const struct dso_files *files, const struct sym_options *options,
		       struct dwarf_opened *opened);
/* The names have it from now on, and `opened` nothing any more. */
void source_debug_take(struct symbols *symbols, struct dso_names *names, struct dwarf_opened *opened);
bool source_debug_is_tried(const struct dso_names *names);
/* The DWARF that was opened; NULL: none. */
struct dwarf_file *source_debug_dwarf(const struct dso_names *names);

/* ---- source_code.c ---- */
/*
 * Whether it is worth to load the names of code made at run time when it is sampled, for the times in them: the
 * recording's clock is that of dumps, and it has said by now where the process's dump is.
 */
bool code_has_times(const struct symbols *symbols, const struct dso *dso);
/* The recording has said by now where the process's dump is. */
bool code_has_dump(const struct symbols *symbols, const struct dso *dso);
/* The symbol of an event of names->times, by its number. */
const struct symbol *code_symbol(struct symbols *symbols, struct dso_names *names, uint32_t i);
/* Do what symbols_code_piece and symbols_code_unwind do, of names that were loaded. */
bool code_piece(const struct dso_names *names, uint64_t addr, uint64_t time_ns, struct code_piece *piece);
bool code_unwind(const struct dso_names *names, const struct code_piece *piece, struct str *eh_frame);
/* The line of an address in the code of this number (0: the latest there); false: none is known. */
bool code_line(struct dso_names *names, uint64_t addr, uint32_t number, struct source_line *line);

/* ---- source_kernel.c ---- */
/* The build-id of the recorded kernel, also for one of its modules. size 0: not known. */
struct build_id recorded_kernel_id(const struct symbols *symbols, const struct dso *dso);
/* Begins to read the list that will be needed, if that is the running kernel's. */
void source_kernel_expect(struct symbols *symbols, struct dso_names *names);

/* ---- source_module.c ---- */
void module_names_free(struct module_names *modules);

/* ---- source_kcore.c ---- */
/*
 * The folder of the cache's copy of that code which fits, with its lists; NULL: none. The caller frees. *slide: what
 * the recorded addresses are more than those of the copy.
 */
char *kcore_copy_of(struct symbols *symbols, const struct dso *dso, uint64_t *slide);

/* ---- source_files.c ---- */
void symbol_code_set_from(struct symbol_code *out, const char *path);
/* The code of a kernel in its vmlinux, where its names are from that. */
int vmlinux_code(struct symbols *symbols, struct dso_names *names, uint64_t vaddr, struct symbol_code *out,
		 struct str *why);

/* ---- embedded_write.c ---- */
/*
 * Appends feature SYMBOLS with this dso alone, not packed and without an image; of each of its addresses, ascending,
 * how deeply it was asked (enum answer_depth). false: it would be too large.
 */
bool embedded_write_one(struct symbols *symbols, struct dso_names *names, struct str *out, struct str *depths);

/* ---- kernel_here.c ---- */
/*
 * Whether the recording was made by the kernel that runs now, as far as can be known: by the build-id, else by
 * release and host name. false, with a sentence. id: of the recorded kernel, size 0: not known.
 */
bool kernel_is_here(struct symbols *symbols, const struct build_id *id, struct str *why);
/* The running kernel's; size 0: it is not known. */
const struct build_id *kernel_here_id(struct symbols *symbols);
/* Address that the running kernel loaded a module at; 0: not known. */
uint64_t module_here(const struct symbols *symbols, const char *name);
/* The same by a list such as /proc/modules. */
uint64_t module_in_list(const char *path, const char *name);
void kernel_here_free(struct kernel_here *here);
/* "PROCFS/kallsyms" and the like: a path of options, else of the usual place; the caller frees. */
char *procfs_path(const struct symbols *symbols, const char *name);
/* Advice that makes /proc/kallsyms show its addresses, by the settings of now. */
const char *kallsyms_remedy(const struct symbols *symbols);

#endif
