/* SPDX-License-Identifier: MIT */
/*
 * sym: addresses -> names. For each file of a recording: find it (or its debug file), read its symbols
 * once into a sorted array, and, where inlined functions or lines are asked for, its DWARF once into
 * sorted ranges. Look-ups are binary searches, and each distinct address is looked up once.
 *
 *   struct dso --find--> file, debug file --elf/kallsyms/perf map--> struct symbol_table
 *                                          --libdw--> struct dwarf_ranges (inlines, lines)
 *
 * Only files that are asked about are touched. What could not be named is kept with its reason.
 * ELF and DWARF are parsed by libelf and libdw, which are loaded when first needed. All files are
 * hostile: cut, lying, replaced since the recording, owned by somebody else.
 */
#ifndef PSTAT_SYM_H
#define PSTAT_SYM_H

#include "data/data.h"
#include "space/space.h"

#include <sys/stat.h>

/* Facts that the recording has about a process that it calls by this pid. */
struct sym_process {
	bool exited; /* all of its threads have, the first one among them */
	struct mapped_file dump; /* the jit-*.dump that it mapped last; path NULL: none */
};

/* Answers about the recording's processes, by whoever knows them. */
struct sym_processes {
	const void *context;
	/* false: it says nothing of this pid. Texts need to stay valid until the next record is read. */
	bool (*process)(const void *context, int32_t pid, struct sym_process *about);
	/* Processes that had the dso mapped and may still live, and their relatives. At most max; how many. */
	size_t (*mappers)(const void *context, const struct dso *dso, int32_t *pids, size_t max);
};

struct sym_options {
	const char *symfs; /* every path is looked up below it; NULL: / */
	bool symfs_flat; /* programs and libraries are in that folder itself, whatever their path was */
	const char *vmlinux; /* -k: the kernel's ELF file, or NULL */
	const char *kallsyms; /* --kallsyms: a copy of /proc/kallsyms, or NULL */
	const char *kcore_dir; /* a copy of the kernel's code that belongs to the recording (record --kcore), or NULL */
	bool ignore_vmlinux; /* don't look for one */
	const char *const *debug_dirs; /* --debug-dir, in order; ended by NULL; NULL: none */
	const char *buildid_dir; /* perf's cache of files by build-id; NULL: $HOME/.debug */
	const char *map_dir; /* of perf-PID.map files; NULL: /tmp */
	const char *procfs; /* NULL: /proc */
	/*
	 * Files of its processes that still live are looked for below their roots, too; borrowed until
	 * symbols_free. NULL: none are.
	 */
	const struct sym_processes *processes;
	const struct dso_table *dsos; /* the recording's, borrowed as processes are; NULL: not known */
	bool of_now; /* it is being recorded here: what has no build-id is what is there */
	bool kernel_late; /* names of the kernel may not be needed: symbols_expect does nothing */
	bool not_recorded; /* names that are in the recording itself are not used */
	bool force; /* maps and dumps of code are read whoever they belong to */
	const char *sysfs; /* NULL: /sys */
	bool debuginfod; /* ask the servers of $DEBUGINFOD_URLS */
	unsigned debuginfod_seconds; /* for all files together; 0: 30 */
	bool no_demangle; /* --no-demangle */
	bool no_inlines; /* frames have one element */
	bool no_bounds; /* --no-bounds: no symbols but those with names */
	bool keep_answers; /* in the user's cache, and those that are there are taken; see names_cache.h */
	bool verbose; /* demangled with parameters as -v has it; see perf */
	/* A step of long work: "reading symbols of x", and how far, 0 to 1, or -1. May be NULL. */
	void (*progress)(void *context, const char *what, double part);
	void *progress_context;
};

struct symbol { /* lives as long as its struct symbols; one per function: compare pointers */
	const struct dso *dso;
	uint64_t start, end; /* in the terms of location.addr; [start, end) */
	const char *name; /* for people: demangled and printable */
	const char *raw; /* as the file has it */
	char binding; /* 'g' global, 'l' local, 'w' weak, ' ' not known */
	bool inlined; /* start and end are then those of the function it was inlined into */
	uint32_t decl_line; /* of what was inlined: where it begins in its source file; 0: not known */
	/* Only its bounds are known: its name is "[FILE+0xSTART]", with the file's own name and start. */
	bool nameless;
};

/* Whether it is known what the function is called. */
static inline bool symbol_has_name(const struct symbol *symbol)
{
	return symbol && !symbol->nameless;
}

struct source_line {
	const char *file; /* as DWARF has it, with directory; raw bytes; NULL: not known */
	unsigned line; /* 0: not known */
};

struct frame {
	const struct symbol *symbol; /* NULL: not known */
	struct source_line line; /* only with SYM_LINES */
};

/* Innermost first: functions inlined there, and last the one of the symbol table, never none. */
struct frame_list {
	const struct frame *v;
	size_t n; /* at least 1 */
};

enum sym_state {
	SYM_UNTRIED,
	SYM_FOUND,
	SYM_NONE, /* looked for, none found: why says it */
};

struct symbols;
struct elf_file; /* elf.h */

/* Borrows recording (for its header and when it was written), and all that options point to. */
struct symbols *symbols_new(const struct sym_options *options, const struct recording_info *recording);
void symbols_free(struct symbols *symbols);

/*
 * Functions of this dso will be asked for, after other work: what takes long may begin beside it, in a thread.
 * Only of the running kernel anything does; all else is as without the call.
 */
void symbols_expect(struct symbols *symbols, const struct dso *dso);

/* A question that symbols_frames will be asked. */
struct symbols_place {
	const struct dso *dso;
	uint64_t addr; /* location.addr */
};
/*
 * The debug information of several files is read side by side, in as many threads as there are CPUs (at most 8); what
 * is asked for afterwards is found sooner, and is the same. want: as of symbols_frames. The places are sorted.
 */
void symbols_ahead(struct symbols *symbols, struct symbols_place *places, size_t n, unsigned want);

/*
 * Whether a user callchain that ends at this address has reached the start of its program or thread: it is in _start,
 * in clone3, in a Go program, or in what calls main or a thread's function.
 */
enum code_start { CODE_STARTS, CODE_IS_CALLED, CODE_START_NOT_KNOWN };
enum code_start symbols_code_start(struct symbols *symbols, const struct dso *dso, uint64_t addr, bool is_return);

/* The function at an address (location.addr), or NULL. The file's table is read when it is first asked. */
const struct symbol *symbols_find(struct symbols *symbols, const struct dso *dso, uint64_t addr);

/*
 * A compiler at run time puts one function after another to the same address. Which of them lay there at the time
 * of a sample: a number for symbols_code_frames; the same function in the same place has one number. 0: that is
 * not told apart, and symbols_frames answers: of all other dsos, where the recording's clock is not the
 * compiler's (CLOCK_MONOTONIC), and as long as the process has not mapped a dump.
 */
uint32_t symbols_code_at(struct symbols *symbols, const struct dso *dso, uint64_t addr, uint64_t time_ns);
enum { SYM_CODE_GONE = UINT32_MAX }; /* what was there had been moved away or given up */
/* A number; as long as it is the same, so is what symbols_code_at says of each address. */
uint32_t symbols_code_epoch(struct symbols *symbols, const struct dso *dso, uint64_t time_ns);
enum { SYM_LINES = 1 }; /* want lines */
/* The frames at an address of the code of a number that is not 0; valid as those of symbols_frames are. */
struct frame_list symbols_code_frames(struct symbols *symbols, const struct dso *dso, uint64_t addr, uint32_t code,
				      unsigned want);
/*
 * The piece of such code that lay at an address at a time, where its compiler's dump is there; the latest there, where
 * times are not told apart.
 */
bool symbols_code_piece(struct symbols *symbols, const struct dso *dso, uint64_t addr, uint64_t time_ns,
			struct code_piece *piece);
/* Appends the unwind table (.eh_frame) of a piece that symbols_code_piece gave; see struct code_piece. */
bool symbols_code_unwind(struct symbols *symbols, const struct dso *dso, const struct code_piece *piece,
			 struct str *eh_frame);
/*
 * All frames at an address, remembered per distinct address until symbols_forget: the same answer is the same
 * list. With options.no_inlines, or where there is no DWARF, just the symbol. Pass the address of the call
 * for return addresses, that is ip - 1.
 */
struct frame_list symbols_frames(struct symbols *symbols, const struct dso *dso, uint64_t addr,
				 unsigned want);

/*
 * All frames that were looked up are forgotten: lists that were given out are no longer valid. Symbols are, they
 * stay one per function. For those who read on without end and hold no list.
 */
void symbols_forget(struct symbols *symbols);
/* About how many bytes that would free. */
size_t symbols_forgettable(const struct symbols *symbols);
/*
 * Dsos have new indexes, or went (dso_table_keep): what was read for those that went is freed, and their symbols are
 * no longer valid. All others stay.
 */
void symbols_keep(struct symbols *symbols, const uint32_t *now);
/* About how many bytes are kept for a dso, but for frames: what symbols_keep would free. */
size_t symbols_bytes(const struct symbols *symbols, const struct dso *dso);
/* Counts dsos that went of which names and headers of their files are left, which only symbols_free frees. */
size_t symbols_leftovers(const struct symbols *symbols);

/*
 * The file to read the code of a dso from, which lives as long as symbols; NULL with the reason. Never a file of
 * another build-id.
 */
struct elf_file *symbols_elf_file(struct symbols *symbols, const struct dso *dso, struct str *why);
/* The file with its debug information, where that was found; may be the same one. NULL: none. */
struct elf_file *symbols_debug_file(struct symbols *symbols, const struct dso *dso);
/* The ELF file that a kernel's names are from; NULL: they are from a list. */
const char *symbols_kernel_file(struct symbols *symbols, const struct dso *dso);
/* The dso is of the kernel that runs now, so that /proc/kallsyms is its list. false, with a clause. */
bool symbols_kernel_runs(struct symbols *symbols, const struct dso *dso, struct str *why);
/* The same for its unwind tables: the ones in the recording, where it has them, which have the sampled functions'. */
struct elf_file *symbols_unwind_file(struct symbols *symbols, const struct dso *dso, struct str *why);

/* ---- maps of code that a process made, perf-PID.map: see source_code.c ---- */

struct code_map {
	struct stat stat;
	uint64_t start_ticks; /* when its process began, since boot, as /proc/PID/stat has it; 0: it has ended */
};
/*
 * The map of a process of this machine, opened for reading, as its names would be looked for: below its own root
 * first. -ENOENT: there is none; -EPERM, -ESTALE and others with a sentence: it is not to be believed.
 */
int symbols_open_map(struct symbols *symbols, int32_t pid, struct code_map *map, struct str *err);
/* The path that a recording has for the kept map of a process, whatever its own was. The caller frees. */
char *kept_map_path(int32_t pid);
/* The same of a process whose map was kept, and the build-id by which the cache has it; the recording's. NULL: none. */
const char *symbols_kept_map(const struct symbols *symbols, int32_t pid, struct build_id *id);

/* ---- the code itself ---- */

/* Begins as { 0 }. */
struct symbol_code {
	uint8_t *bytes;
	size_t n;
	uint64_t shown; /* the address of the first byte as the file has it, which objdump shows */
	uint16_t machine; /* EM_* */
	char *from; /* where it was read, printable */
};
/*
 * The code of a dso from an address (location.addr) on: n bytes, or as many of them as there are. code: which one it
 * was, see symbols_code_at. -ENOENT, -EACCES and others with a clause of why it can't be had; of another build
 * than the recorded one none is. Files alone are read: of the running kernel /proc/kcore, where its names are
 * from /proc/kallsyms.
 */
int symbols_code(struct symbols *symbols, const struct dso *dso, uint64_t addr, uint32_t code, size_t n,
		 struct symbol_code *out, struct str *why);
void symbol_code_release(struct symbol_code *code);
/* location.addr of an address as shown; false: nothing of the file lies there. */
bool symbols_addr_of(struct symbols *symbols, const struct dso *dso, uint64_t shown, uint64_t *addr);
/*
 * The name of what has a size and lies at an address as shown, also where the file has no bytes for it (.bss), and how
 * far into it that is; NULL: none is known.
 */
const char *symbols_name_of(struct symbols *symbols, const struct dso *dso, uint64_t shown, uint64_t *offset);

/* ---- dwarf_variables.c, dwarf_types.c: what the debug information of a file says of its data ---- */

struct dwarf_file;
/* The debug information of a dso; NULL with a clause: there is none, or it is not read. It lives as symbols do. */
struct dwarf_file *symbols_dwarf(struct symbols *symbols, const struct dso *dso, struct str *why);
/* location.addr as the dso's ELF files have it, and their debug information; false: it has no place there. */
bool symbols_vaddr(struct symbols *symbols, const struct dso *dso, uint64_t addr, uint64_t *vaddr);

enum data_kind { DATA_PLAIN, DATA_POINTER, DATA_ARRAY, DATA_RECORD, DATA_UNION }; /* record: struct, class */
/* Behind typedefs and qualifiers. Lives as long as its file; the same type may be there once for each unit. */
struct data_type {
	struct dwarf_file *file;
	uint32_t number; /* among those of the file that were asked for */
	enum data_kind kind;
	const char *name; /* "struct node", "long int", "struct node*"; of what has no name a typedef's; printable */
	uint64_t bytes; /* 0: not known, as of a type that is only declared */
};
struct data_member {
	const char *name; /* printable; NULL: it has none, and its own members are meant */
	const struct data_type *type; /* never NULL */
	uint64_t offset; /* of its first byte */
	uint16_t bits, first_bit; /* of a bit field, from that byte on; 0: it is none */
};
enum { DATA_DEPTH_MAX = 32 }; /* so deep members are looked for within members */
/* The type that a pointer points to, or of an element of an array; NULL: not known, or nothing has a type there. */
const struct data_type *data_type_target(const struct data_type *type);
/*
 * Members of a record or a union, by ascending offset; others have none. Offsets are the file's to choose: they may lie
 * anywhere.
 */
size_t data_type_members(const struct data_type *type, const struct data_member **members);
/* The first member that has the byte at an offset; NULL: none. */
const struct data_member *data_type_member(const struct data_type *type, uint64_t offset);
/* Appends the names of the members that are at an offset, one within the other: "in.y". false: there is none. */
bool data_type_path(const struct data_type *type, uint64_t offset, struct str *path);

struct data_found {
	const struct data_type *type;
	int64_t offset; /* from where an object of the type begins */
};
struct data_frame { /* what the stack's variables are counted from: the CFA is this register plus offset */
	bool known;
	uint8_t reg; /* by DWARF's number */
	int64_t offset;
};
/* The variables of the function at an address, and of what is inlined into it; NULL: there is none. To be freed. */
struct dwarf_variables;
struct dwarf_variables *dwarf_variables_of(struct dwarf_file *file, uint64_t vaddr);
void dwarf_variables_free(struct dwarf_variables *variables); /* NULL is fine */
/* Tells what the value of a register points to when the instruction at vaddr begins; false: no variable says it. */
bool dwarf_variables_value(struct dwarf_variables *variables, uint64_t vaddr, uint8_t reg, struct data_found *found);
/* The type of the variable that is in a register; NULL: none is. */
const struct data_type *dwarf_variables_type(struct dwarf_variables *variables, uint64_t vaddr, uint8_t reg);
/* The same as _value, of a variable whose object has the byte at an offset from the register. */
bool dwarf_variables_reached(struct dwarf_variables *variables, uint64_t vaddr, uint8_t reg, int64_t offset,
			     struct data_found *found);
/* The variable that lies in memory at a register plus offset. */
bool dwarf_variables_memory(struct dwarf_variables *variables, uint64_t vaddr, const struct data_frame *frame,
			    uint8_t reg, int64_t offset, struct data_found *found);
/* The variable at an address of the file. */
bool dwarf_variables_global(struct dwarf_variables *variables, uint64_t vaddr, uint64_t address,
			    struct data_found *found);
/* The same of whichever unit: what is global, or static in a function. */
bool dwarf_global_at(struct dwarf_file *file, uint64_t address, struct data_found *found);
/*
 * The same as of the function's unit, of a variable that each thread has of its own, by the distance from the thread
 * pointer; of a program.
 */
bool dwarf_variables_thread(struct dwarf_variables *variables, uint64_t vaddr, int64_t distance,
			    struct data_found *found);
/* The type of a global variable that the function's unit declares by this name; NULL: it declares none. */
const struct data_type *dwarf_variables_named(struct dwarf_variables *variables, const char *name);
/* The type that a call returns, as the caller says. returns: the address behind the call. NULL: nothing is said. */
const struct data_type *dwarf_variables_returned(struct dwarf_variables *variables, uint64_t returns);
/* The type that the function at an address returns; NULL: nothing, or it is not known. */
const struct data_type *dwarf_returned(struct dwarf_file *file, uint64_t vaddr);

/* ---- embedded_write.c: names for the recording itself ---- */

struct embedded_totals {
	size_t n_dsos, n_functions, n_addrs; /* that are in it */
	uint64_t bytes; /* that they take */
	uint64_t file_bytes; /* of the ELF files that they were read from */
};
/*
 * Feature SYMBOLS of the recording, appended to out: of each address whose frames were looked up, with lines, what was
 * found. images: what unwinding needs of these files, too. -EFBIG with a sentence: it would be too large.
 */
int symbols_write(struct symbols *symbols, bool images, struct str *out, struct embedded_totals *totals,
		  struct str *err);

enum sym_state symbols_state(const struct symbols *symbols, const struct dso *dso);
/*
 * Why a dso's addresses have no names, one clause without a full stop ("no such file", "replaced since the
 * recording: its build-id is now 12ab..", "kernel addresses are hidden: sysctl kernel.kptr_restrict=0",
 * "owned by user 1000, not by you or root"), or "" where nothing is wrong. Printable.
 */
const char *symbols_why(const struct symbols *symbols, const struct dso *dso);
/* True: names are missing because /proc/kallsyms hides the kernel's addresses from this user. */
bool symbols_hidden(const struct symbols *symbols, const struct dso *dso);
/* Advice on it ("install its debug package", "kernel.kptr_restrict=0"), or NULL. */
const char *symbols_remedy(const struct symbols *symbols, const struct dso *dso);
/* Origin of the names ("/usr/lib/debug/.build-id/..", "/proc/kallsyms"), for -v; or NULL. */
const char *symbols_source(const struct symbols *symbols, const struct dso *dso);

/* ---- names_cache.c: what was found out before ---- */

/*
 * For those who look for files themselves; each thread has its own. What is read is whole and is of this key; who wrote
 * it is not known.
 */
struct names_cache;
struct names_cache *names_cache_new(void); /* nothing is opened yet */
/* Removes what was not used for longest, where the cache has grown past its bounds. NULL is nothing. */
void names_cache_free(struct names_cache *cache);
/*
 * Appends what is kept about this file under this key. false: nothing is, or the entry is not this user's own, is
 * damaged, or of another version.
 */
bool names_cache_read(struct names_cache *cache, const struct build_id *id, const struct str *key, struct str *bytes);
/* In place of what was there, at once and whole. Where it can't be written, nothing changes. */
void names_cache_write(struct names_cache *cache, const struct build_id *id, const struct str *key,
		       const struct str *bytes);
struct names_cache_size {
	char *place; /* its folder, to be freed; NULL: there is nowhere to put one */
	size_t n; /* entries */
	uint64_t bytes, bytes_max;
};
/* 0; -ENOENT without a sentence: it is not there yet; others with one: it is not used. */
int names_cache_measure(struct names_cache_size *size, struct str *err);

/* ---- what others made of ELF files, beside it ---- */

/*
 * Bytes about a file with this build-id, under a key that says all that they depend on. false, and nothing is written,
 * without options.keep_answers. What is read is as of names_cache_read.
 */
bool symbols_cached_read(struct symbols *symbols, const struct build_id *id, const struct str *key, struct str *bytes);
void symbols_cached_write(struct symbols *symbols, const struct build_id *id, const struct str *key,
			  const struct str *bytes);

/* ---- jitdump.c: the dump of a run-time compiler that still writes it ---- */

struct jitdump;
/* The dump at this path, whoever it belongs to. work: bytes of it that may be read and kept, about. */
struct jitdump *jitdump_follow(const char *path, uint64_t work);
void jitdump_free(struct jitdump *dump); /* NULL is nothing */
/* Reads what was written since the last time; how much of its work that was. */
uint64_t jitdump_update(struct jitdump *dump);
/* The latest code at an address, as far as the dump was read; false: none. */
bool jitdump_piece(const struct jitdump *dump, uint64_t addr, struct code_piece *piece);
/* Appends the unwind table (.eh_frame) of a piece by its number; false: it has none, or it can't be read. */
bool jitdump_unwind(struct jitdump *dump, uint64_t piece, struct str *eh_frame);

/* ---- the same of one that is complete ---- */

struct jitdump_load { /* a function was put to [start, end), or went from there */
	uint64_t time_ns, start, end;
	const char *name; /* raw bytes, as long as the dump is there; NULL: it went */
	uint64_t piece; /* number of its code; what was moved keeps it */
};
struct jitdump_loads {
	struct jitdump_load *v; /* the caller frees it */
	size_t n, cap;
};
/*
 * All functions of the dump at the path, in its order; NULL with a sentence: it is not to be believed (code_file.h;
 * anyone: whoever it belongs to), or has times of another clock than CLOCK_MONOTONIC. inode: that it must have; 0: any.
 */
struct jitdump *jitdump_loads(const char *path, uint64_t inode, bool anyone, struct jitdump_loads *loads,
			      struct str *err);
/* Appends all of its code. */
bool jitdump_bytes(struct jitdump *dump, const struct jitdump_load *load, struct str *code);
uint16_t jitdump_machine(const struct jitdump *dump); /* EM_* */

/* ---- live_names.c: names in processes that run, for the library: its own tables, no cache, no debug files ---- */

struct live_names;
struct live_piece;

struct live_name {
	const char *function; /* as the file has it; NULL: not known, and reason says why */
	uint64_t offset; /* of the address in it */
	const char *file; /* that is mapped there, as the process calls it, "[kernel]", "[vdso]"; NULL: none */
	uint64_t file_address; /* as the file's symbols count, where function is known */
	const char *reason; /* a few words; NULL: function is known */
};
struct live_question {
	int pid; /* 0: this process */
	uint64_t address; /* those of the upper half are the kernel's */
	bool mapped; /* set by live_names_put(): the process's maps were read for this question */
};
struct live_names *live_names_new(void);
void live_names_free(struct live_names *names); /* NULL is nothing */
/*
 * The answer as far as it was read, in *name, whose texts live as long as the names: true. Allocates nothing. false:
 * something has to be read first, by live_names_read(), which changes nothing of the names, and put by
 * live_names_put(), which cannot fail; then ask again.
 */
bool live_names_find(const struct live_names *names, const struct live_question *question, struct live_name *name);
/* 0; or a negative errno with a sentence: the process has ended (-ESRCH), or may not be read (-EACCES). */
int live_names_read(const struct live_names *names, const struct live_question *question, struct live_piece **piece,
		    struct str *err);
void live_names_put(struct live_names *names, struct live_question *question, struct live_piece *piece);
/* Drops the maps of the process, which are read again when it is asked for next. */
void live_names_forget(struct live_names *names, int pid);

/* ---- kallsyms_find.c: where the running kernel's symbols of some names are ---- */

struct kallsyms_place {
	size_t name; /* index of the name that was asked for */
	char *module; /* owned; NULL: of the kernel itself */
	uint64_t start, end;
};
struct kallsyms_found { /* zeroed: none */
	struct kallsyms_place *v;
	size_t n, cap;
};
/*
 * Appends each symbol that has one of the names, in the order of the kernel's list; procfs NULL: /proc. 0, or a
 * negative errno with a sentence: the list cannot be read, or addresses are hidden (-EACCES).
 */
int kallsyms_find(struct kallsyms_found *found, const char *procfs, const char *const *names, size_t n,
			struct str *err);
void kallsyms_found_release(struct kallsyms_found *found);
/* Calls take with the name of each function, those of modules among them, in the kernel's order; likewise. */
int kallsyms_functions(const char *procfs, void (*take)(void *context, const char *name), void *context,
		       struct str *err);

/* ---- for those who look for files themselves ---- */

/*
 * A path to this process's own vdso, as an ELF file in memory. It stays open until the program ends, since
 * there is just one; NULL: it can't be had. The first call is to be made before there are other threads that may.
 */
const char *vdso_file_path(void);
/* The same as a descriptor of its own, for the caller to close; -1: it can't be had. */
int vdso_file_open(void);

/* ---- demangle: OCaml; C++, Rust and D by a library; demangle_none.c where it was left out ---- */
/*
 * Adds the name for people; false, and nothing added: it is not mangled, or too long. parameters: with their types.
 * Text of more than 64 KiB is made, up to 256 KiB, of as many names as *long_names says, which counts down; NULL: none.
 */
enum { DEMANGLE_LONG_NAMES = 256 };
bool demangle(const char *raw, bool parameters, unsigned *long_names, struct str *out);

/* Can debuginfod be asked? 0, -ENOSYS: left out of the build, or why it can't be loaded. */
int debuginfod_try(struct str *err);

#endif
