/* SPDX-License-Identifier: MIT */
/*
 * unwind_memory: the memory of a sampled thread as far as it is known: the copied part of its stack, and
 * what its files hold (code, constants, unwind tables). What can't be read has a reason, which says at
 * the end how a chain ended.
 *
 * Private to unwind/; one per unwinder.
 */
#ifndef PSTAT_UNWIND_MEMORY_H
#define PSTAT_UNWIND_MEMORY_H

#include "unwind/unwind.h"
#include "unwind/unwind_image.h"
#include "unwind/unwind_regs.h"

/* A mapped part of a file in the present space. */
struct unwind_module {
	uint64_t start, end; /* of the map */
	uint64_t bias; /* add to an address as linked: an address as sampled */
	struct image *image; /* NULL: there is none */
	enum unwind_end without_image; /* what a chain then ends with */
};

struct unwind_memory {
	struct unwind *unwind;
	const struct unwind_arch *arch;
	/* By dso; tried: also where there is no image. */
	struct {
		struct image *image;
		bool tried;
	} * images;
	size_t n_images;
	/* Rows of code made at run time, by dso and number of the piece. NULL: it has none. */
	struct unwind_table **made;
	size_t n_made, cap_made;
	struct row_set made_keys;
	/* The modules of the address space with this version, sorted by start; found as they are asked for. */
	struct unwind_module *modules;
	size_t n_modules, cap_modules, last_module;
	uint64_t address_space_version;
	bool address_space_known;
	/* The sample. */
	const struct address_space *address_space;
	const uint8_t *stack;
	uint64_t sp, stack_size;
	bool other_stack; /* what a signal interrupted, which was reached, has not the stack that was copied */
	unsigned budget; /* reads and operations left: tables may hold endless loops */
	enum unwind_end why; /* of the last failure */
};

void unwind_memory_init(struct unwind_memory *memory, struct unwind *unwind);
void unwind_memory_release(struct unwind_memory *memory);
/* Files that could not be had are asked for once more. */
void unwind_memory_try_again(struct unwind_memory *memory);
/* New registers. true: their thread has other maps than the one before. */
bool unwind_memory_start(struct unwind_memory *memory, const struct unwind_input *input, uint64_t sp);
/* The module of an ip, with an image; NULL, and the reason in why. */
const struct unwind_module *unwind_memory_module(struct unwind_memory *memory, uint64_t ip);
/*
 * The rows of the code made at run time that has ip, and ip as they have it; NULL: there are none. Another time may
 * have another answer.
 */
const struct unwind_table *unwind_memory_made(struct unwind_memory *memory, uint64_t ip, uint64_t *vaddr);
/* size 1 to 8 bytes as a number; false, and the reason in why. */
bool unwind_memory_read(struct unwind_memory *memory, uint64_t addr, unsigned size,
			uint64_t *value);
/* Says how a chain ends whose next frame is to be at addr, which is not in the copy of the stack. */
enum unwind_end unwind_memory_beyond(const struct unwind_memory *memory, uint64_t addr);
/* One of the budget; false: there is none left. */
bool unwind_memory_spend(struct unwind_memory *memory);
/*
 * n bytes of code from start on, of the file that has ip; after its end they are 0. Never changes why. false: they do
 * not begin in its map, or there is no file.
 */
bool unwind_memory_code(struct unwind_memory *memory, uint64_t start, uint64_t ip, uint8_t *code, size_t n);
/* The code that a signal handler returns to is at ip. Changes why only where it says true. */
bool unwind_memory_trampoline(struct unwind_memory *memory, uint64_t ip);
/*
 * ip, which has no tables, lies where a process begins. The dynamic linker's first instructions are such: nothing
 * called them. Other code may lie there, too: only these have a frame pointer of 0.
 */
bool unwind_memory_entry(struct unwind_memory *memory, const struct unwind_module *module, uint64_t ip);
/*
 * The instruction at ip is one of those that end a function, after which registers have been restored, but
 * tables still name the places below SP that they were restored from.
 */
bool unwind_memory_returning(struct unwind_memory *memory, uint64_t ip);
/* The return address without its signature. */
uint64_t unwind_memory_strip(const struct unwind_memory *memory, uint64_t ip);

#endif
