/*
 * dso_state: what is known of one dso's names, and how the files of the front fill it. Private to sym/.
 *
 *   symbols.c        look-ups, answers remembered
 *   dso_frames.c     inlined functions and lines of an address
 *   frames_prefetch.c   those of several files side by side
 *   dso_recorded.c   what the recording has of its own
 *   dso_cached.c     what was found out before
 *   dso_load.c       which kind of dso is read from where; ELF files
 *   code_load.c      code made at run time
 *   processes.c      what of the recording still lives
 *   kernel_names.c   the kernel
 *   module_names.c   its modules
 *   kernel_here.c    whether the running kernel is the recorded one
 *   kcore_code.c     the code of both
 */
#ifndef PSTAT_DSO_STATE_H
#define PSTAT_DSO_STATE_H

#include "sym/code_file.h"
#include "sym/processes.h"
#include "sym/sym_internal.h"

/* What was found for one address. */
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

struct dso_state {
	const struct dso *dso;
	enum sym_state state;
	struct symbol_table table;
	bool raw_names; /* never demangled: the kernel's, and those of code made at run time */
	/*
	 * location.addr -> the table's addresses: by the segments of the file that ran, else by subtracting slide,
	 * modulo 2^64.
	 */
	struct elf_segment *segments;
	size_t n_segments;
	uint64_t slide;
	bool from_elf; /* the table's addresses are those of the ELF files found, so DWARF's as well */
	bool only_exported; /* of a stripped file */
	bool hidden; /* in the kernel's list, whose addresses this user may not see */
	struct str list_told; /* of the running kernel's list that is to be kept; "": none; see kallsyms_loader.c */
	uint64_t list_ref_addr;
	bool missed; /* an address was asked for that no symbol covers */
	struct str why; /* printable */
	const char *remedy;
	char *source; /* printable, or NULL */
	struct dso_files files;
	bool files_known;
	struct elf_names *elf; /* while they are read: see dso_load.c */
	struct elf_bounds bounds; /* of the functions of the file that ran; read when a name is missing */
	bool bounds_tried;
	char *dump; /* DSO_ANON: the jitdump that the names are from, which has the code, too; or NULL */
	struct code_rules *dump_rules;
	struct code_times *times; /* DSO_ANON: what lay where when; NULL: not known */
	char *kcore; /* of the kernel and its modules: the folder of a copy of its code; see kcore_code.c */
	uint64_t kcore_slide;
	bool kcore_tried;
	/* Names in the recording itself, see dso_recorded.c; NULL: none, or others come first. */
	struct embedded_dso *recorded, *recorded_later;
	char *recorded_source; /* printable */
	bool files_loaded; /* with `recorded`: the other sources were asked, too */
	/* What was found out before, see dso_cached.c: `recorded` is what it has. NULL: nothing. */
	struct cached_names *cached;
	bool frames_tried; /* they were looked for, see dso_cached_find_frames: */
	bool cached_frames; /* its functions are not from there: `recorded` is NULL */
	struct build_id cache_id; /* of the entry */
	struct str cache_key; /* "": it is not looked for there */
	struct str cache_search; /* where other parts of its DWARF are looked for: see dso_cached.h */
	bool unsure; /* something of the files could not be read: what is answered is not kept */
	struct dwarf_file *dwarf; /* see dso_frames.c */
	bool dwarf_tried, dwarf_refused; /* some of it is not read, and that is in why */
	struct index answer_index, held_index, inlined_index;
	struct addr_answer *answers; /* by address */
	size_t n_answers, cap_answers;
	/* By row of the table, or from HELD_BOUNDS on by bounds; that of [i] is held_rows[i]. */
	struct symbol_object **held;
	uint32_t *held_rows;
	size_t n_held, cap_held, cap_held_rows;
	struct symbol *
		*inlined; /* by raw name and the function around; that of [i] is inlined_in[i] */
	const struct symbol **inlined_in;
	size_t n_inlined, cap_inlined, cap_inlined_in;
};

struct cached_names; /* dso_cached.h */
struct embedded_dso; /* embedded_names.h */
struct embedded_names;
struct kernel_here; /* kernel_here.c */
struct module_names; /* module_names.c */
struct kallsyms_prefetch; /* kallsyms_loader.c */

struct symbols {
	struct sym_options options;
	const struct recording_info *recording;
	struct dso_state **states; /* by dso.index; NULL: not asked for yet */
	size_t n_states, cap_states;
	struct arena arena; /* names, symbols */
	struct arena frames; /* of answers */
	size_t n_answers; /* of all states */
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
	struct embedded_names *recorded; /* NULL: there are none, or not yet asked for */
	bool recorded_tried;
	struct names_cache *names_cache; /* NULL: nothing was looked for in it */
	unsigned n_images; /* of embedded_image.c that are open */
	uint64_t image_pages_left;
	struct kallsyms_prefetch *kernel_ahead; /* of the running kernel; NULL: not begun, or taken */
};

/* ---- symbols.c ---- */
/* The dso's state, its table read. */
struct dso_state *symbols_loaded(struct symbols *symbols, const struct dso *dso);
/* The remembered answer of an address, its symbol looked up; valid until the next one is asked for. */
struct addr_answer *symbols_answer(struct symbols *symbols, struct dso_state *state, uint64_t addr);
/* location.addr as the table has it; false: it lies in no segment. */
bool dso_state_vaddr(const struct dso_state *state, uint64_t addr, uint64_t *vaddr);
/* location.addr as the ELF files that were found have it, whatever the table is from; false: it has no place there. */
bool dso_state_elf_vaddr(const struct dso_state *state, uint64_t addr, uint64_t *vaddr);
/* raw for people: demangled where that is wanted, printable; raw itself where nothing changes. */
const char *symbols_display_name(struct symbols *symbols, const char *raw, bool demangled);
/* The dso's files, looked for when first asked. */
const struct dso_files *dso_state_files(struct symbols *symbols, struct dso_state *state);
void symbols_progress(const struct symbols *symbols, const char *what, const char *name);

/* The cache of names, once it is needed; NULL: it is not to be used. */
struct names_cache *symbols_names_cache(struct symbols *symbols);

/* ---- dso_frames.c ---- */
struct dwarf_opened {
	bool tried;
	bool unsure; /* something could not be read */
	struct dwarf_file *dwarf; /* NULL: there is none */
	struct str doubt; /* why one that is there is not read; "": it is */
};
/* The DWARF of a file, from its debug file or itself. Touches nothing but elf_files. */
void dwarf_opened_find(struct elf_files *elf_files, const struct dso_files *files, const struct sym_options *options,
		       struct dwarf_opened *opened);
/* The state has it from now on, and `opened` nothing any more. */
void dso_state_take_dwarf(struct symbols *symbols, struct dso_state *state, struct dwarf_opened *opened);
/* Fills frames of an answer whose symbol is known. */
void dso_frames_fill(struct symbols *symbols, struct dso_state *state, struct addr_answer *answer,
		     bool lines);

/* ---- dso_load.c: the sources of names ---- */
enum source_result {
	SOURCE_NONE, /* not mine, or it has no names: the next one */
	SOURCE_SOME, /* names were added; others may have more */
	SOURCE_ALL, /* done: state->state says how */
	SOURCE_REFUSED, /* there are none, or they are not to be used: with the reason */
};
/* The sources that read the ELF files that were found for a dso, of whatever kind. */
#define SOURCES_OF_FILES (1u << 31)
/* Asks the sources of these kinds (bits by enum dso_kind, SOURCES_OF_FILES) in their order. */
void dso_state_ask(struct symbols *symbols, struct dso_state *state, unsigned kinds, struct str *why);

/* ---- dso_load.c: fill state->table and state->state, or say why not ---- */
void dso_state_load(struct symbols *symbols, struct dso_state *state);
/*
 * Where names are from the recording itself: asks the other sources, too, for addresses that it does not list and for
 * the code. Else nothing: they were asked.
 */
void dso_state_load_files(struct symbols *symbols, struct dso_state *state);
/* The state of a dso that has no names. Takes over why's text, made printable. remedy may be NULL. */
void dso_state_none(struct dso_state *state, struct str *why, const char *remedy);
/* What speaks against its names, or was left out. Takes over why's text, made printable. */
void dso_state_doubt(struct dso_state *state, struct str *why, const char *remedy);
/* Sorts the table; its names are from `source`. */
void dso_state_found(struct dso_state *state, const char *source);
/* The table out of the ELF files that were found, at their virtual addresses; false, with a sentence. */
bool dso_state_read_elf(struct symbols *symbols, struct dso_state *state, const char **source,
			struct str *err);

/* ---- code_load.c ---- */
void code_load(struct symbols *symbols, struct dso_state *state);
/*
 * Whether it is worth to load the names of code made at run time when it is sampled, for the times in them: the
 * recording's clock is that of dumps, and it has told by now where the process's dump is.
 */
bool code_has_times(const struct symbols *symbols, const struct dso *dso);

/* ---- kernel_names.c ---- */
void kernel_names_load(struct symbols *symbols, struct dso_state *state);
/* Begins to read the list that kernel_names_load will need, if that is the running kernel's. */
void kernel_names_expect(struct symbols *symbols, struct dso_state *state);
/* The end: the running kernel's list goes into the cache, where it isn't there. */
void kernel_names_keep(struct symbols *symbols, const struct dso_state *state);
/* The build-id of the recorded kernel, also for one of its modules. size 0: not known. */
struct build_id recorded_kernel_id(const struct symbols *symbols, const struct dso *dso);
/* ---- module_names.c ---- */
void module_names_load(struct symbols *symbols, struct dso_state *state);
void module_names_free(struct module_names *modules);

/* "[ext4]", "/lib/modules/6.1/kernel/fs/ext4/ext4.ko.xz" -> "ext4", with _ as lists have it; the caller frees. */
char *module_name_of(const char *path);

/* ---- kcore_code.c ---- */
/*
 * The code of a kernel or module, from /proc/kcore where the recorded kernel is the running one, else out of the cache;
 * out and why as of symbols_code.
 */
int kcore_code(struct symbols *symbols, struct dso_state *state, uint64_t addr, bool is_here, struct symbol_code *out,
	       struct str *why);
/*
 * The folder of the cache's copy of that code which fits, with its lists; NULL: none. The caller frees. *slide: what
 * the recorded addresses are more than those of the copy.
 */
char *kcore_copy_of(struct symbols *symbols, const struct dso *dso, uint64_t *slide);
/* ---- code_bytes.c ---- */
void symbol_code_set_from(struct symbol_code *out, const char *path);

/* ---- kernel_here.c ---- */
/*
 * Whether the recording was made by the kernel that runs now, as far as can be told: by the build-id, else by
 * release and host name. false, with a sentence. id: of the recorded kernel, size 0: not known.
 */
bool kernel_is_here(struct symbols *symbols, const struct build_id *id, struct str *why);
/* The running kernel's; size 0: it is not told. */
const struct build_id *kernel_here_id(struct symbols *symbols);
/* Where the running kernel loaded a module; 0: not known. */
uint64_t module_here(const struct symbols *symbols, const char *name);
/* The same by a list such as /proc/modules. */
uint64_t module_in_list(const char *path, const char *name);
void kernel_here_free(struct kernel_here *here);
/* "PROCFS/kallsyms" and the like: a path of options, else of the usual place; the caller frees. */
char *procfs_path(const struct symbols *symbols, const char *name);
/* What makes /proc/kallsyms show its addresses, by the settings of now. */
const char *kallsyms_remedy(const struct symbols *symbols);

#endif
