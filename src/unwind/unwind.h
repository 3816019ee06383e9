/* SPDX-License-Identifier: MIT */
/*
 * unwind: registers + stack bytes + address space -> return addresses. `perf record --call-graph dwarf` stores
 * a copy of the user registers and of the top of the stack in each sample; here the frames are found from
 * them with the unwind tables (.eh_frame, .debug_frame) of the files that were mapped. Whose registers they
 * are, and who keeps track of the maps, is not known here.
 *
 * One struct unwinder per library; unwind_open takes the first that can do the recording's
 * architecture. Files are named by the caller, because finding them is the work of sym/.
 */
#ifndef PSTAT_UNWIND_H
#define PSTAT_UNWIND_H

#include "space/space.h"

enum { UNWIND_FRAMES_MAX = 1 << 16 }; /* whatever the caller asks for */

/* The ELF file of a dso, which lives as long as the unwinder is open; NULL: there is none. */
struct elf_file; /* elf.h */
typedef struct elf_file *unwind_file_fn(void *context, const struct dso *dso);

/* Is called for a file whose code can be unwound by rows: how many there are, and the memory that they take. */
typedef void unwind_tables_fn(void *context, const struct dso *dso, size_t n_rows, size_t bytes);

/*
 * Whoever has read what run-time compilers say of their code, of the sample at hand. dso: DSO_ANON.
 */
struct unwind_made {
	/* The code that lay at an address (as sampled); false: none is known. */
	bool (*find)(void *context, const struct dso *dso, uint64_t addr, struct code_piece *piece);
	/* Appends the .eh_frame of such a piece; false: it has none. Asked once for each number. */
	bool (*table)(void *context, const struct dso *dso, const struct code_piece *piece, struct str *eh_frame);
};

/* The numbers are those of enum chain_end, which files have. */
enum unwind_end {
	UNWIND_COMPLETE, /* the outermost frame was reached */
	UNWIND_TRUNCATED, /* the copied stack ended */
	UNWIND_NO_INFO, /* code without unwind tables, nor a frame pointer that leads on */
	UNWIND_BROKEN, /* registers or tables that lead nowhere */
	UNWIND_LIMIT, /* more frames than asked for: the outermost are left out */
	UNWIND_NO_COPY = 6, /* nothing of the stack was copied */
	UNWIND_OTHER_STACK, /* what a signal interrupted has another stack than its handler, whose was copied */
	UNWIND_NO_FILE, /* a file could not be had */
	UNWIND_NOT_64, /* the task's registers have 32 bits, which nobody unwinds here */
	UNWIND_STRAY, /* where the caller should be there is no code */
	UNWIND_MADE, /* code made at run time, of which no tables are known, without a frame pointer that leads on */
	UNWIND_ENDS,
};

struct unwind_counts {
	uint64_t samples, ends[UNWIND_ENDS];
	uint64_t guessed; /* in which a caller was found by the frame pointer, as a file has no tables for its code */
};

struct unwind {
	const struct unwinder *unwinder;
	void *state; /* of the unwinder */
	const char *arch;
	unwind_file_fn *file_of, *debug_file_of;
	void *file_context;
	const struct unwind_keeper *keeper; /* NULL: none */
	const struct unwind_made *made; /* NULL: nothing is known of code made at run time */
	struct unwind_counts counts;
	/* How the last of unwind_frames ended, and whether it is one of counts.guessed. */
	enum unwind_end end;
	bool guessed;
	/*
	 * The next unwinder that handles arch, opened when this one first finds no way on, and asked then: its
	 * chain is taken where it is longer. It is asked by one that has the last word only for what that leaves to
	 * it. NULL: not opened yet, or there is none.
	 */
	struct unwind *second;
	bool second_tried;
	uint64_t *second_ips; /* room for its chain */
	size_t second_room;
	/*
	 * Bit i is set where frame i of the last unwind_frames is an instruction about to run (the sampled one,
	 * one that a signal interrupted, the code that a handler returns to). All others are return addresses:
	 * the call lies before them, so names and lines are those of ip - 1.
	 */
	uint64_t exact[UNWIND_FRAMES_MAX / 64];
};

/* A thread at one moment. All is borrowed for the call. */
struct unwind_input {
	uint64_t abi; /* PERF_SAMPLE_REGS_ABI_*; 0: there are no user registers, as in kernel threads */
	uint64_t mask; /* which registers, by the kernel's numbers: attr.sample_regs_user */
	const uint64_t *regs; /* one per bit of mask, ascending; NULL: none */
	size_t n_regs;
	const uint8_t *stack; /* its bytes from the stack pointer up; NULL: none */
	uint64_t stack_bytes;
	const struct address_space *address_space; /* also one of a snapshot; NULL: its maps are not known */
	bool knows_code; /* what is in none of its executable maps is no code */
};

struct unwinder {
	const char *name; /* "rows", "libunwind", "libdw" */
	bool last_word; /* where it finds no way on, there is none; it asks another one itself: unwind_hand_over */
	/* "x86_64", "aarch64", as the header's ARCH has it. false: not this one, or not built in. */
	bool (*handles)(const char *arch);
	int (*open)(struct unwind *unwind, struct str *err); /* sets state */
	void (*close)(struct unwind *unwind);
	/* Innermost first, as instruction pointers of the frames (return addresses, unchanged). Sets exact. */
	size_t (*frames)(struct unwind *unwind, const struct unwind_input *input, uint64_t *ips,
			 size_t max, enum unwind_end *end);
	/* Does what unwind_try_again says. NULL: it is never asked to. */
	void (*try_again)(struct unwind *unwind);
	/* Does what unwind_in_link says. NULL: of no architecture that it handles do calls use a register. */
	bool (*in_link)(struct unwind *unwind, const struct address_space *space, uint64_t ip);
	/* Does what unwind_tables says. NULL: it makes none. */
	void (*tables)(const struct unwind *unwind, unwind_tables_fn *take, void *context);
};
/* Each in its own file; the build may leave libunwind out (unwind_libunwind_none.c). */
extern const struct unwinder unwind_rows, unwind_libunwind, unwind_libdw;

/*
 * Keeps what was made of large files from one run to the next, as bytes under a file's build-id and a key. The bytes
 * that read() gives are not trusted. context: unwind_options.file_context.
 */
struct unwind_keeper {
	/* Appended to bytes. false: there is nothing under this key. */
	bool (*read)(void *context, const struct build_id *id, const struct str *key, struct str *bytes);
	void (*write)(void *context, const struct build_id *id, const struct str *key, const struct str *bytes);
};

struct unwind_options {
	const char *unwinder; /* by its name; NULL: the first that can do the architecture */
	unwind_file_fn *file_of;
	unwind_file_fn *debug_file_of; /* the file with debug information, where it is another one; NULL: never */
	void *file_context; /* of both, of the keeper and of `made` */
	const struct unwind_keeper *keeper; /* NULL: nothing is kept */
	const struct unwind_made *made; /* NULL: nothing is known of code made at run time */
};
/* There is an unwinder of this name. */
bool unwind_known(const char *name);
/* -ENOSYS with a sentence: no unwinder for this architecture, or that one is not for it. */
int unwind_open(struct unwind *unwind, const char *arch, const struct unwind_options *options, struct str *err);
void unwind_close(struct unwind *unwind);
/* Files that could not be had may be there now: they are asked for once more. */
void unwind_try_again(struct unwind *unwind);
/*
 * The user frames: first the ip of the registers, then return addresses as they are in memory (without the
 * signature that arm64 puts into them). At most max and UNWIND_FRAMES_MAX, and not many more than the copied
 * stack has words: as many as a caller needs one each, so that what goes in circles ends. Counts how it ended. 0,
 * and not counted: there are no user registers. Lookup addresses are the caller's work, see exact.
 */
size_t unwind_frames(struct unwind *unwind, const struct unwind_input *input, uint64_t *ips, size_t max);
/* Calls take for each file whose tables became rows by now, or were kept as such. */
void unwind_tables(const struct unwind *unwind, unwind_tables_fn *take, void *context);
/*
 * On arm64 and the like, a call leaves the return address in a register, and frame pointers know of a function's
 * caller only after the function has saved it: a leaf function never does. So this register is sampled with such
 * callchains. true: it is among the registers, and *link is what it held.
 */
bool unwind_link(const char *arch, const struct unwind_input *input, uint64_t *link);
/* By the tables, the return address of the function at ip is still in that register. */
bool unwind_in_link(struct unwind *unwind, const struct address_space *space, uint64_t ip);
/* A value of that register as the address that it stands for: without a signature. */
uint64_t unwind_strip(const struct unwind *unwind, const struct address_space *space, uint64_t link);

/* ---- unwind_cfa.c: where the frames of a file's functions are ---- */

struct unwind_cfas;
/* NULL: the file is of a machine that is not known here. It has to stay open. */
struct unwind_cfas *unwind_cfas_new(struct elf_file *file);
void unwind_cfas_free(struct unwind_cfas *cfas); /* NULL is fine */
/* The CFA at an address as linked is a register, by DWARF's number, plus an offset; false: that is not known. */
bool unwind_cfa_at(const struct unwind_cfas *cfas, uint64_t vaddr, uint8_t *reg, int64_t *offset);

#endif
