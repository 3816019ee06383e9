/* SPDX-License-Identifier: MIT */
/*
 * unwind_fixture.h: the maps of the test program itself, as a replay would have them, and its own registers and
 * stack.
 */
#ifndef UNWIND_FIXTURE_H
#define UNWIND_FIXTURE_H

#include "elf/elf.h"
#include "space/space.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

enum { OWN_STACK_BYTES = 65536, OWN_DSOS_MAX = 64, OWN_REGS_MAX = 33 };

/* Which of own.regs are these, of the machine that the test runs on; the pair that OWN_FP leads to is so far below. */
#if defined(__x86_64__)
enum { OWN_PC = 8, OWN_SP = 7, OWN_FP = 6, OWN_PAIR_BELOW = 0 };
#elif defined(__riscv)
enum { OWN_PC = 0, OWN_SP = 2, OWN_FP = 8, OWN_PAIR_BELOW = 16 };
#else
enum { OWN_PC = 32, OWN_SP = 31, OWN_FP = 29, OWN_PAIR_BELOW = 0 };
#endif

struct own {
	struct address_space address_space;
	uint64_t clock;
	struct dso dsos[OWN_DSOS_MAX];
	struct unwind_input input;
	uint64_t regs[OWN_REGS_MAX];
	uint8_t stack[OWN_STACK_BYTES];
	uint64_t stack_end;
	bool no_files; /* file_of finds nothing */
	struct elf_files *files;
};

/* One more dso and its map. Paths live as long as the program. */
static inline void own_map(struct own *own, enum dso_kind kind, const char *path, uint64_t start,
			   uint64_t end, uint64_t pgoff)
{
	uint32_t index = 0;
	struct map map = { .start = start, .end = end, .pgoff = pgoff };

	while (own->dsos[index].path && strcmp(own->dsos[index].path, path))
		index++;
	assert_in_range(index, 0, OWN_DSOS_MAX - 1);
	if (!own->dsos[index].path)
		own->dsos[index] =
			(struct dso){ .index = index, .kind = kind, .path = xstrdup(path) };
	map.dso = &own->dsos[index];
	address_space_add(&own->address_space, &map, &own->clock);
}

/* Executable maps of files, as records would tell of them. */
static inline void own_init(struct own *own)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4400], path[4200], prot[8];
	unsigned long long start, end, pgoff;

	memset(own, 0, sizeof(*own));
	own->input.address_space = &own->address_space;
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %4199s", &start, &end, prot, &pgoff,
			   path) != 5)
			continue;
		if (prot[2] == 'x' && path[0] == '/')
			own_map(own, DSO_FILE, path, start, end, pgoff);
		if (!strcmp(path, "[stack]"))
			own->stack_end = end;
	}
	fclose(maps);
}

static inline void own_release(struct own *own)
{
	for (size_t i = 0; i < OWN_DSOS_MAX; i++)
		free(own->dsos[i].path);
	address_space_release(&own->address_space);
	elf_files_free(own->files);
}

static inline struct elf_file *own_file(void *context, const struct dso *dso)
{
	struct own *own = context;
	struct elf_file *file = NULL;
	struct str err = STR_INIT;

	if (!own->files)
		own->files = elf_files_new();
	if (!own->no_files && !elf_files_open(own->files, dso->path, &file, &err))
		elf_file_let_go(file);
	str_release(&err);
	return file;
}

/* Registers by the kernel's bits, and the stack from its pointer on. */
static inline void own_take(struct own *own, const ucontext_t *context)
{
	struct unwind_input *input = &own->input;
	uint64_t sp;
	int memory;

#if defined(__x86_64__)
	static const int by_bit[] = { REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
				      REG_RBP, REG_RSP, REG_RIP, REG_R8,  REG_R9,  REG_R10,
				      REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };

	for (size_t i = 0; i < ARRAY_SIZE(by_bit); i++)
		own->regs[i] = (uint64_t)context->uc_mcontext.gregs[by_bit[i]];
	input->mask = 0xff01ff;
	input->n_regs = ARRAY_SIZE(by_bit);
#elif defined(__riscv)
	for (size_t i = 0; i < 32; i++)
		own->regs[i] = context->uc_mcontext.__gregs[i];
	input->mask = (1ULL << 32) - 1;
	input->n_regs = 32;
#else
	for (size_t i = 0; i < 31; i++)
		own->regs[i] = context->uc_mcontext.regs[i];
	own->regs[31] = context->uc_mcontext.sp;
	own->regs[32] = context->uc_mcontext.pc;
	input->mask = (1ULL << 33) - 1;
	input->n_regs = 33;
#endif
	sp = own->regs[OWN_SP];
	input->abi = 2;
	input->regs = own->regs;
	input->stack = own->stack;
	input->stack_bytes = OWN_STACK_BYTES;
	if (own->stack_end - sp < OWN_STACK_BYTES)
		input->stack_bytes = own->stack_end - sp;
	/* Not by memcpy: sanitizers keep it out of other functions' frames. */
	memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	assert_int_equal(pread(memory, own->stack, input->stack_bytes, (off_t)sp),
			 input->stack_bytes);
	close(memory);
}

#endif
