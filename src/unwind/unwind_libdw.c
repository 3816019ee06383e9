/* SPDX-License-Identifier: MIT */
/*
 * unwind_libdw: chains by libdw, for all architectures that it knows, whatever this machine is. libdw
 * reads a file's tables and says for an address which rule each register has; the rules are applied
 * here:
 *
 *	ip -> module -> row (CFA rule, register rules) -> registers of the caller -> ip ...
 *
 * libdwfl is not used, because its sessions hold one process each and open each file anew for it, map
 * files into memory, and may look for debug files elsewhere. Tables here belong to files, and are
 * shared by all processes.
 *
 * Rows are kept in a table of fixed size, by address; .debug_frame is read only where .eh_frame has
 * nothing for an address.
 */
#include "unwind/unwind.h"
#include "unwind/unwind_expr.h"
#include "unwind/unwind_frames.h"
#include "unwind/unwind_memory.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#define LIBDW_FUNCTIONS(FN)                                                                        \
	FN(dwarf_begin_elf)                                                                        \
	FN(dwarf_end)                                                                              \
	FN(dwarf_getcfi) FN(dwarf_getcfi_elf) FN(dwarf_cfi_end) FN(dwarf_cfi_addrframe)            \
		FN(dwarf_frame_info) FN(dwarf_frame_cfa) FN(dwarf_frame_register)

enum { ROWS = 4096 }; /* a power of 2; a row is about 600 bytes */

/* The tables that libdw has read of one image. */
struct tables {
	const struct image *image;
	struct elf_file elf, debug_elf; /* views; elf NULL: not to be had */
	Dwarf *debug;
	Dwarf_CFI *eh, *frame; /* .eh_frame, .debug_frame */
	bool tried_frame;
};

struct libdw_row {
	struct tables *tables;
	uint64_t vaddr;
	Dwarf_Frame *rules; /* NULL: there are none for this address */
	int return_register;
	bool signal; /* its caller was interrupted, it did not call */
};

struct libdw {
	void *dw_handle;
	struct unwind_memory memory;
	struct index by_image;
	struct tables **tables;
	size_t n_tables, cap_tables;
	struct libdw_row *rows;
#define MEMBER(name) __typeof__(name) *name;
	LIBDW_FUNCTIONS(MEMBER)
#undef MEMBER
};

/* One step of a chain. */
struct libdw_step {
	struct libdw *lib;
	const struct libdw_row *row;
	struct unwind_expr expr;
	const struct unwind_regs *from;
	uint64_t ip;
	bool exact; /* ip is about to run: it is not a return address */
	bool signal; /* ip is where a signal handler returns to: its caller's ip will be exact */
	struct unwind_regs to;
};

/* ---- tables of a file ---- */

static bool is_debug_frame(const char *section)
{
	return !strcmp(section, ".debug_frame");
}

static bool is_none(const char *section)
{
	(void)section;
	return false;
}

/* A view of the file for libdw, in which only these debug sections have contents; the file is held then. */
static bool begin(const struct image *image, struct elf_file *view, bool (*wanted)(const char *section))
{
	struct str ignored = STR_INIT;
	bool begun = false;

	if (!elf_file_hold(image->file, &ignored)) {
		begun = !elf_view_open(view, image->file, wanted, &ignored);
		if (!begun)
			elf_file_let_go(image->file);
	}
	str_release(&ignored);
	return begun;
}

/* Lets the file go: all that is needed of it has been read. */
static void done_reading(const struct image *image, struct elf_file *view)
{
	elf_view_done(view);
	elf_file_let_go(image->file);
}

static struct tables *tables_of(struct libdw *lib, const struct image *image)
{
	uint64_t hash = hash_word((uintptr_t)image);
	size_t at = index_first(&lib->by_image, hash);
	struct tables *tables;
	uint32_t i;

	while (index_next(&lib->by_image, hash, &at, &i))
		if (lib->tables[i]->image == image)
			return lib->tables[i];
	tables = xcalloc(1, sizeof(*tables));
	tables->image = image;
	tables->elf.fd = tables->debug_elf.fd = -1;
	index_add(&lib->by_image, hash, (uint32_t)lib->n_tables);
	VEC_GROW(lib->tables, lib->n_tables, lib->cap_tables);
	lib->tables[lib->n_tables++] = tables;
	if (begin(image, &tables->elf, is_none)) {
		tables->eh = lib->dwarf_getcfi_elf(tables->elf.elf);
		done_reading(image, &tables->elf);
	}
	return tables;
}

/* Not before it is needed. libdw would read and unpack all debug sections for it. */
static Dwarf_CFI *debug_frame(struct libdw *lib, struct tables *tables)
{
	struct elf_section section;

	if (tables->tried_frame)
		return tables->frame;
	tables->tried_frame = true;
	if (!begin(tables->image, &tables->debug_elf, is_debug_frame))
		return NULL;
	if (elf_section_named(&tables->debug_elf, ".debug_frame", &section) &&
	    section.header.sh_type != SHT_NOBITS)
		tables->debug = lib->dwarf_begin_elf(tables->debug_elf.elf, DWARF_C_READ, NULL);
	if (tables->debug)
		tables->frame = lib->dwarf_getcfi(tables->debug);
	done_reading(tables->image, &tables->debug_elf);
	return tables->frame;
}

static void tables_free(const struct libdw *lib, struct tables *tables)
{
	if (tables->eh)
		lib->dwarf_cfi_end(tables->eh);
	if (tables->debug)
		lib->dwarf_end(tables->debug);
	elf_file_close(&tables->elf);
	elf_file_close(&tables->debug_elf);
	free(tables);
}

/* ---- rows ---- */

static void row_fill(struct libdw *lib, struct libdw_row *row)
{
	Dwarf_CFI *frame;

	if (row->tables->eh && lib->dwarf_cfi_addrframe(row->tables->eh, row->vaddr, &row->rules))
		row->rules = NULL;
	frame = row->rules ? NULL : debug_frame(lib, row->tables);
	if (frame && lib->dwarf_cfi_addrframe(frame, row->vaddr, &row->rules))
		row->rules = NULL;
	if (row->rules)
		row->return_register = lib->dwarf_frame_info(row->rules, NULL, NULL, &row->signal);
}

static const struct libdw_row *row_at(struct libdw *lib, const struct unwind_module *module, uint64_t ip)
{
	struct tables *tables = tables_of(lib, module->image);
	uint64_t key[2] = { (uintptr_t)tables, ip - module->bias };
	struct libdw_row *row = &lib->rows[hash_words(key, 2) % ROWS];

	if (row->tables == tables && row->vaddr == key[1])
		return row;
	free(row->rules);
	*row = (struct libdw_row){ .tables = tables, .vaddr = key[1] };
	row_fill(lib, row);
	return row;
}

/* ---- steps ---- */

static bool step_cfa(struct libdw_step *step)
{
	Dwarf_Op *ops;
	size_t n;
	bool is_value;

	step->lib->memory.why = UNWIND_BROKEN;
	if (step->lib->dwarf_frame_cfa(step->row->rules, &ops, &n) || !n ||
	    !unwind_expr_eval(&step->expr, ops, n, &step->expr.cfa, &is_value))
		return false;
	step->expr.has_cfa = true;
	return true;
}

enum rule_result { RULE_KNOWN, RULE_UNDEFINED, RULE_FAILED };

static bool same_value(struct libdw_step *step, unsigned number, uint64_t *value)
{
	if (unwind_regs_get(step->from, number, value))
		return true;
	step->lib->memory.why = UNWIND_NO_INFO;
	return false;
}

/* Reads what a register was saved as. A function that is returning has restored what it saved below SP. */
static bool saved_value(struct libdw_step *step, unsigned number, uint64_t address, uint64_t *value)
{
	struct unwind_memory *memory = &step->lib->memory;

	if (address < step->from->v[memory->arch->sp] && step->exact &&
	    unwind_memory_returning(memory, step->ip))
		return same_value(step, number, value);
	return unwind_memory_read(memory, address, sizeof(*value), value);
}

static enum rule_result step_register(struct libdw_step *step, unsigned number)
{
	Dwarf_Op memory[3], *ops;
	uint64_t result, value;
	size_t n;
	bool is_value;

	if (step->lib->dwarf_frame_register(step->row->rules, (int)number, memory, &ops, &n))
		return RULE_FAILED;
	if (!n && ops == memory)
		return RULE_UNDEFINED;
	if (!n) {
		if (!same_value(step, number, &value))
			return RULE_FAILED;
	} else {
		if (!unwind_expr_eval(&step->expr, ops, n, &result, &is_value))
			return RULE_FAILED;
		value = result;
		if (!is_value && !saved_value(step, number, result, &value))
			return RULE_FAILED;
	}
	unwind_regs_set(&step->to, number, value);
	return RULE_KNOWN;
}

/* By the tables: the caller's registers into step->to, its ip. */
static bool step_by_row(struct libdw_step *step, uint64_t *ip, enum unwind_end *end)
{
	const struct unwind_arch *arch = step->lib->memory.arch;
	unsigned last = (unsigned)step->row->return_register;

	*end = UNWIND_BROKEN;
	if (last >= arch->n_regs)
		return false;
	if (!step_cfa(step)) {
		*end = step->lib->memory.why;
		return false;
	}
	for (unsigned i = 0; i < arch->n_regs; i++)
		if (i != last && i != arch->sp)
			step_register(step, i);
	if (step_register(step, arch->sp) != RULE_KNOWN)
		unwind_regs_set(&step->to, arch->sp, step->expr.cfa);
	switch (step_register(step, last)) {
	case RULE_UNDEFINED:
		*end = UNWIND_COMPLETE;
		return false;
	case RULE_FAILED:
		*end = step->lib->memory.why;
		return false;
	case RULE_KNOWN:
		break;
	}
	*ip = unwind_memory_strip(&step->lib->memory, step->to.v[last]);
	return true;
}

/* Back from a signal without tables: everything is where the kernel saved it. */
static bool step_by_signal(struct libdw_step *step, uint64_t *ip, enum unwind_end *end)
{
	struct unwind_memory *memory = &step->lib->memory;
	const struct unwind_arch *arch = memory->arch;
	uint64_t value;

	for (unsigned i = 0; i < arch->n_regs; i++)
		if (arch->saved_at[i]) {
			if (!unwind_memory_read(memory, step->from->v[arch->sp] + arch->saved_at[i],
						sizeof(value), &value)) {
				*end = memory->why;
				return false;
			}
			unwind_regs_set(&step->to, i, value);
		}
	*ip = step->to.v[arch->pc];
	return true;
}

/* True: this is the code that a process begins with, and nothing called it. */
static bool is_outermost(const struct libdw_step *step, const struct unwind_module *module, uint64_t ip)
{
	struct unwind_memory *memory = &step->lib->memory;
	uint64_t fp;

	return unwind_memory_entry(memory, module, step->exact ? ip : ip - 1) &&
	       (!unwind_regs_get(step->from, memory->arch->fp, &fp) || !fp);
}

/* To the caller's registers and ip; false, and the reason in *end: there is no way. */
static bool step_once(struct libdw_step *step, const struct unwind_module *module, struct unwind_chain *chain,
		      uint64_t *ip)
{
	struct unwind_memory *memory = &step->lib->memory;
	bool tables;

	/* A return address may lie after the function that made the call. */
	step->row = row_at(step->lib, module, step->exact ? *ip : *ip - 1);
	step->expr =
		(struct unwind_expr){ .memory = memory, .regs = step->from, .bias = module->bias };
	tables = step->row->rules;
	step->signal = tables ? step->row->signal : unwind_memory_trampoline(memory, *ip);
	if (step->signal)
		unwind_chain_signal(chain);
	if (tables)
		return step_by_row(step, ip, &chain->end);
	if (step->signal)
		return step_by_signal(step, ip, &chain->end);
	chain->end = is_outermost(step, module, *ip) ? UNWIND_COMPLETE : UNWIND_NO_INFO;
	return false;
}

static void step_all(struct libdw *lib, struct unwind_chain *chain, struct unwind_regs *regs)
{
	unsigned sp = lib->memory.arch->sp;
	bool exact = true;
	uint64_t ip = chain->ips[0];

	do {
		struct libdw_step step = { .lib = lib, .from = regs, .ip = ip, .exact = exact };
		const struct unwind_module *module =
			unwind_memory_module(&lib->memory, exact ? ip : ip - 1);

		chain->end = lib->memory.why;
		if (!module || !step_once(&step, module, chain, &ip))
			return;
		exact = step.signal;
		*regs = step.to;
	} while (unwind_chain_add(chain, ip, regs->v[sp]));
}

/* ---- the unwinder ---- */

static bool libdw_handles(const char *arch)
{
	return unwind_arch_find(arch);
}

static int libdw_open(struct unwind *unwind, struct str *err)
{
	static const struct library_symbol symbols[] = {
#define ROW(name) { #name, offsetof(struct libdw, name) },
		LIBDW_FUNCTIONS(ROW)
#undef ROW
	};
	struct libdw *lib = xcalloc(1, sizeof(*lib));

	unwind->state = lib;
	unwind_memory_init(&lib->memory, unwind);
	lib->dw_handle = library_load("libdw.so.1", symbols, ARRAY_SIZE(symbols), lib, err);
	if (!lib->dw_handle)
		return -ENOSYS;
	lib->rows = xcalloc(ROWS, sizeof(*lib->rows));
	return 0;
}

static void libdw_close(struct unwind *unwind)
{
	struct libdw *lib = unwind->state;

	if (!lib)
		return;
	for (size_t i = 0; lib->rows && i < ROWS; i++)
		free(lib->rows[i].rules);
	free(lib->rows);
	for (size_t i = 0; i < lib->n_tables; i++)
		tables_free(lib, lib->tables[i]);
	free(lib->tables);
	index_release(&lib->by_image);
	unwind_memory_release(&lib->memory);
	if (lib->dw_handle)
		library_unload(lib->dw_handle);
	free(lib);
	unwind->state = NULL;
}

static size_t libdw_frames(struct unwind *unwind, const struct unwind_input *input, uint64_t *ips,
			   size_t max, enum unwind_end *end)
{
	struct libdw *lib = unwind->state;
	const struct unwind_arch *arch = lib->memory.arch;
	struct unwind_chain chain = { .unwind = unwind, .memory = &lib->memory, .ips = ips, .max = max };
	struct unwind_regs regs;

	if (!unwind_regs_take(arch, input, &regs))
		return 0;
	unwind_memory_start(&lib->memory, input, regs.v[arch->sp]);
	unwind_chain_start(&chain, regs.v[arch->pc], regs.v[arch->sp]);
	step_all(lib, &chain, &regs);
	*end = chain.end;
	return chain.n;
}

/* Rules of libdw: no operations, and not even a place for them: the caller's value is still there. */
static bool libdw_in_link(struct unwind *unwind, const struct address_space *space, uint64_t ip)
{
	const struct unwind_input input = { .address_space = space };
	struct libdw *lib = unwind->state;
	unsigned link = lib->memory.arch->link;
	const struct unwind_module *module;
	const struct libdw_row *row;
	Dwarf_Op memory[3], *ops;
	size_t n;

	unwind_memory_start(&lib->memory, &input, 0);
	module = unwind_memory_module(&lib->memory, ip);
	row = module ? row_at(lib, module, ip) : NULL;
	if (!row || !row->rules || row->return_register != (int)link)
		return false;
	return !lib->dwarf_frame_register(row->rules, (int)link, memory, &ops, &n) && !n && !ops;
}

const struct unwinder unwind_libdw = {
	.name = "libdw",
	.handles = libdw_handles,
	.open = libdw_open,
	.close = libdw_close,
	.frames = libdw_frames,
	.in_link = libdw_in_link,
};
