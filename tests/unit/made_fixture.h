/* SPDX-License-Identifier: MIT */
/*
 * made_fixture.h: an ELF file made by the test, of three functions with their unwind tables, for each
 * architecture: `leaf`, called by `middle`, called by `start`, which nothing called. A thread has it at LOADED.
 */
#ifndef MADE_FIXTURE_H
#define MADE_FIXTURE_H

#include "unwind_fixture.h"

#include <dwarf.h>
#include <elf.h>

enum {
	VADDR = 0x10000, /* as linked */
	LEAF = 0x400,
	MIDDLE = 0x440,
	START = 0x480,
	FUNCTION_BYTES = 0x40,
	HDR = 0x100,
	FRAMES = 0x180,
	FILE_BYTES = 0x500,
	LOADED = 0x7f0000000000,
	STACK_AT = 0x7ffc00001000,
};

struct bytes {
	uint8_t v[28], n;
};

static const struct machine {
	const char *arch;
	uint16_t machine;
	struct bytes cie, leaf, middle, start; /* CFA programs, the CIE's with its alignments */
	/* A sample in `leaf`: what is in the registers, by their place in it, and in the words of the stack. */
	uint64_t mask;
	uint8_t n_regs, pc, sp, fp, link; /* link 0: the return address is the first word */
	uint8_t start_word; /* has the return address of `middle`, with this signature */
	uint64_t signature;
} machines[] = {
	/* start: rip undefined. middle: push %rbp; mov %rsp,%rbp. leaf: a CFA as PLT entries have it. */
	{ "x86_64",
	  EM_X86_64,
	  { { 1, 0x78, 16, 1, 0x1b, DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1 }, 10 },
	  { { DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15,
	      DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus },
	    13 },
	  { { DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2,
	      DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, 6 },
	    8 },
	  { { DW_CFA_undefined, 16 }, 2 },
	  0xff01ff, 17, 8, 7, 6, 0, 2, 0 },
	/* start: x30 undefined. middle: paciasp; stp x29,x30,[sp,-32]!; str x19,[sp,16]. leaf: nothing. */
	{ "aarch64",
	  EM_AARCH64,
	  { { 4, 0x78, 30, 1, 0x1b, DW_CFA_def_cfa, 31, 0 }, 8 },
	  { { 0 }, 0 },
	  { { DW_CFA_advance_loc | 1, DW_CFA_GNU_window_save, DW_CFA_advance_loc | 1,
	      DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 29, 4, DW_CFA_offset | 30, 3,
	      DW_CFA_advance_loc | 1, DW_CFA_offset | 19, 2 },
	    11 },
	  { { DW_CFA_undefined, 30 }, 2 },
	  (1ULL << 33) - 1, 33, 32, 31, 29, 30, 1, 0x2aULL << 48 },
	/* start: ra undefined. middle: addi sp,-32; sd ra,24(sp). Compilers' CIEs leave the CFA's offset at 0. */
	{ "riscv64",
	  EM_RISCV,
	  { { 1, 0x7c, 1, 1, 0x1b, DW_CFA_def_cfa_register, 2 }, 7 },
	  { { 0 }, 0 },
	  { { DW_CFA_advance_loc | 2, DW_CFA_def_cfa_offset, 32, DW_CFA_advance_loc | 4, DW_CFA_offset | 1, 2,
	      DW_CFA_offset | 8, 4 },
	    8 },
	  { { DW_CFA_undefined, 1 }, 2 },
	  (1ULL << 32) - 1, 32, 0, 2, 8, 1, 3, 0 },
};

static inline void put(uint8_t *file, size_t at, const void *bytes, size_t n)
{
	memcpy(file + at, bytes, n);
}

static inline void put_u32(uint8_t *file, size_t at, size_t value)
{
	uint32_t word = (uint32_t)value;

	put(file, at, &word, sizeof(word));
}

/* Length, id or distance to the CIE, what is given, padding to 8 bytes. */
static inline size_t put_entry(uint8_t *file, size_t at, size_t id, const void *head, size_t n_head,
			const struct bytes *program)
{
	size_t n = (4 + n_head + program->n + 7) / 8 * 8 + 4;

	put_u32(file, at, n);
	put_u32(file, at + 4, id);
	put(file, at + 8, head, n_head);
	put(file, at + 8 + n_head, program->v, program->n);
	return at + 4 + n;
}

static inline size_t put_fde(uint8_t *file, size_t at, unsigned row, size_t function,
		      const struct bytes *program)
{
	uint32_t head[2] = { (uint32_t)(function - (at + 8)), FUNCTION_BYTES };
	uint8_t bytes[9] = { 0 }; /* the last: no augmentation */

	memcpy(bytes, head, sizeof(head));
	put_u32(file, HDR + 12 + 8 * row, function - HDR);
	put_u32(file, HDR + 16 + 8 * row, at - HDR);
	return put_entry(file, at, at + 4 - FRAMES, bytes, sizeof(bytes), program);
}

static inline void make_file(const struct machine *m, uint8_t *file)
{
	Elf64_Ehdr elf = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			   .e_type = ET_DYN,
			   .e_machine = m->machine,
			   .e_version = EV_CURRENT,
			   .e_phoff = 64,
			   .e_ehsize = 64,
			   .e_phentsize = 56,
			   .e_phnum = 2 };
	Elf64_Phdr headers[2] = {
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_X,
		  .p_vaddr = VADDR,
		  .p_filesz = FILE_BYTES,
		  .p_memsz = FILE_BYTES },
		{ .p_type = PT_GNU_EH_FRAME,
		  .p_flags = PF_R,
		  .p_offset = HDR,
		  .p_vaddr = VADDR + HDR,
		  .p_filesz = 36,
		  .p_memsz = 36 },
	};
	size_t at;

	memset(file, 0, FILE_BYTES);
	put(file, 0, &elf, sizeof(elf));
	put(file, 64, headers, sizeof(headers));
	put(file, HDR, "\1\x1b\3\x3b", 4);
	put_u32(file, HDR + 4, (size_t)FRAMES - (HDR + 4));
	put_u32(file, HDR + 8, 3);
	at = put_entry(file, FRAMES, 0, "\1zR", 4, &m->cie);
	at = put_fde(file, at, 0, LEAF, &m->leaf);
	at = put_fde(file, at, 1, MIDDLE, &m->middle);
	at = put_fde(file, at, 2, START, &m->start);
	assert_true(at + 4 <= LEAF);
}

/* Where a thread has it loaded, and a sample in `leaf`. */
struct made {
	char path[300];
	struct own own;
	uint64_t stack[8];
};

static inline void made_init(struct made *made)
{
	const char *tmp = getenv("TMPDIR");
	int fd;

	memset(made, 0, sizeof(*made));
	snprintf(made->path, sizeof(made->path), "%s/unwind-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	fd = mkstemp(made->path);
	assert_true(fd >= 0);
	close(fd);
	made->own.input.address_space = &made->own.address_space;
}

static inline void made_release(struct made *made)
{
	unlink(made->path);
	own_release(&made->own);
}

static inline void made_write(struct made *made, const uint8_t *bytes, size_t n)
{
	/* Anew: some file systems write a file out that was cut to nothing and filled again. */
	int fd = unlink(made->path) ? -1 : open(made->path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, bytes, n), 0);
	close(fd);
}

static inline void made_input(struct made *made, const struct machine *m, uint64_t ip)
{
	struct own *own = &made->own;
	uint64_t in_middle = LOADED + MIDDLE + 12, in_start = LOADED + START + 8;

	own->input = (struct unwind_input){ .abi = 2,
					    .mask = m->mask,
					    .regs = own->regs,
					    .n_regs = m->n_regs,
					    .stack = (const uint8_t *)made->stack,
					    .stack_bytes = sizeof(made->stack),
					    .address_space = &own->address_space };
	memset(made->stack, 0, sizeof(made->stack));
	memset(own->regs, 0, sizeof(own->regs));
	own->regs[m->pc] = ip;
	own->regs[m->sp] = STACK_AT;
	own->regs[m->fp] = m->link ? 0 : STACK_AT + 8; /* x86 alone: middle's frame hangs on it */
	*(m->link ? &own->regs[m->link] : &made->stack[0]) = in_middle;
	made->stack[m->start_word] = in_start | m->signature;
}

static inline size_t made_frames(struct made *made, struct unwind *unwind, uint64_t *ips)
{
	return unwind_frames(unwind, &made->own.input, ips, UNWIND_FRAMES_MAX);
}

static inline bool made_open(struct made *made, struct unwind *unwind, const struct unwinder *unwinder,
		      const struct machine *m)
{
	struct str err = STR_INIT;

	*unwind = (struct unwind){ .unwinder = unwinder,
				   .arch = m->arch,
				   .file_of = own_file,
				   .file_context = &made->own,
				   .second_tried = true };
	if (!unwinder->handles(m->arch))
		return false;
	assert_int_equal(unwinder->open(unwind, &err), 0);
	str_release(&err);
	return true;
}

#endif
