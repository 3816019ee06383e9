/* SPDX-License-Identifier: MIT */
/*
 * unwind_libunwind: chains by libunwind's remote unwinding. It steps from frame to frame and asks back
 * for registers, memory, and the unwind tables of an ip, which it is given as the search table of the
 * file's .eh_frame_hdr; it reads the rest through access_mem.
 *
 * There is one address space for all processes. libunwind remembers what it computed for an ip, so what
 * it remembers is dropped when a sample has other maps than the one before.
 *
 * Where a file has no entry for an ip, libunwind would guess by the frame pointer. It is told of an
 * error instead: a chain that ends early says so, a wrong one doesn't. An exception is the code that a
 * signal handler returns to, which libunwind knows by heart.
 *
 * libunwind is built per architecture: the library of this machine's is loaded when it is needed.
 */
#include "unwind/unwind.h"
#include "unwind/unwind_frames.h"
#include "unwind/unwind_memory.h"

#include <errno.h>
#include <libunwind.h>
#include <stdlib.h>

/* In all of the library's builds, in none of its headers. */
#define dwarf_search_unwind_table UNW_ARCH_OBJ(dwarf_search_unwind_table)
int dwarf_search_unwind_table(unw_addr_space_t space, unw_word_t ip, unw_dyn_info_t *info,
			      unw_proc_info_t *proc, int need_unwind_info, void *arg);

/* The functions used; their names are macros that become those of the architecture. */
#define LIBUNWIND_FUNCTIONS(FN)                                                                    \
	FN(unw_create_addr_space)                                                                  \
	FN(unw_destroy_addr_space)                                                                 \
	FN(unw_set_caching_policy) FN(unw_flush_cache) FN(unw_init_remote) FN(unw_step)            \
		FN(unw_get_reg) FN(dwarf_search_unwind_table)

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

struct libunwind {
	void *handle;
	unw_addr_space_t space;
	unw_accessors_t accessors;
	struct unwind_memory memory;
	struct unwind_regs regs; /* the sampled ones */
#define MEMBER(name) __typeof__(name) *name;
	LIBUNWIND_FUNCTIONS(MEMBER)
#undef MEMBER
};

static int find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *proc,
			  int need_unwind_info, void *arg)
{
	struct libunwind *lib = arg;
	const struct unwind_module *module = unwind_memory_module(&lib->memory, ip);
	enum unwind_end why = lib->memory.why;
	unw_dyn_info_t info = { .format = UNW_INFO_FORMAT_REMOTE_TABLE };
	int code = -UNW_ENOINFO;

	if (module && module->image->n_fdes) {
		info.start_ip = module->start;
		info.end_ip = module->end;
		info.u.rti.segbase = module->image->hdr_vaddr + module->bias;
		info.u.rti.table_data = module->image->table_vaddr + module->bias;
		info.u.rti.table_len = module->image->n_fdes;
		code = lib->dwarf_search_unwind_table(space, ip, &info, proc, need_unwind_info,
						      lib);
	}
	if (code != -UNW_ENOINFO)
		return code;
	/* ip may be that of the frame, or the one before it. */
	if (unwind_memory_trampoline(&lib->memory, ip + 1) ||
	    unwind_memory_trampoline(&lib->memory, ip))
		return -UNW_ENOINFO;
	lib->memory.why = why;
	if (module && !unwind_memory_entry(&lib->memory, module, ip))
		lib->memory.why = UNWIND_NO_INFO;
	return -UNW_EINVAL;
}

static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *proc, void *arg)
{
	(void)space;
	(void)proc;
	(void)arg;
}

static int no_dynamic_info(unw_addr_space_t space, unw_word_t *addr, void *arg)
{
	(void)space;
	(void)addr;
	(void)arg;
	return -UNW_ENOINFO;
}

static int access_mem(unw_addr_space_t space, unw_word_t addr, unw_word_t *value, int write,
		      void *arg)
{
	struct libunwind *lib = arg;
	uint64_t word;

	(void)space;
	if (write || !unwind_memory_read(&lib->memory, addr, sizeof(word), &word))
		return -UNW_EINVAL;
	*value = word;
	return 0;
}

/* libunwind's numbers are those of DWARF; its pc is the number after them. */
static int access_reg(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value, int write,
		      void *arg)
{
	struct libunwind *lib = arg;
	uint64_t word;

	(void)space;
	if (write || number < 0 || !unwind_regs_get(&lib->regs, (unsigned)number, &word)) {
		lib->memory.why = UNWIND_NO_INFO;
		return -UNW_EBADREG;
	}
	*value = word;
	return 0;
}

static int access_fpreg(unw_addr_space_t space, unw_regnum_t number, unw_fpreg_t *value, int write,
			void *arg)
{
	(void)space;
	(void)number;
	(void)value;
	(void)write;
	(void)arg;
	return -UNW_EINVAL;
}

static int no_resume(unw_addr_space_t space, unw_cursor_t *cursor, void *arg)
{
	(void)space;
	(void)cursor;
	(void)arg;
	return -UNW_EINVAL;
}

static int no_name(unw_addr_space_t space, unw_word_t ip, char *name, size_t size,
		   unw_word_t *offset, void *arg)
{
	(void)space;
	(void)ip;
	(void)name;
	(void)size;
	(void)offset;
	(void)arg;
	return -UNW_EINVAL;
}

static bool libunwind_handles(const char *arch)
{
	const struct unwind_arch *row = unwind_arch_find(arch);

	return row && row->libunwind && !strcmp(arch, TEXT(UNW_TARGET));
}

static int libunwind_open(struct unwind *unwind, struct str *err)
{
	static const struct library_symbol symbols[] = {
#define ROW(name) { TEXT(name), offsetof(struct libunwind, name) },
		LIBUNWIND_FUNCTIONS(ROW)
#undef ROW
	};
	struct libunwind *lib = xcalloc(1, sizeof(*lib));

	unwind->state = lib;
	unwind_memory_init(&lib->memory, unwind);
	lib->handle = library_load("libunwind-" TEXT(UNW_TARGET) ".so.8", symbols,
				   ARRAY_SIZE(symbols), lib, err);
	if (!lib->handle)
		return -ENOSYS;
	lib->accessors = (unw_accessors_t){ .find_proc_info = find_proc_info,
					    .put_unwind_info = put_unwind_info,
					    .get_dyn_info_list_addr = no_dynamic_info,
					    .access_mem = access_mem,
					    .access_reg = access_reg,
					    .access_fpreg = access_fpreg,
					    .resume = no_resume,
					    .get_proc_name = no_name };
	lib->space = lib->unw_create_addr_space(&lib->accessors, 0);
	if (!lib->space)
		return fail(err, -ENOMEM, "libunwind has no memory for an address space");
	lib->unw_set_caching_policy(lib->space, UNW_CACHE_GLOBAL);
	return 0;
}

static void libunwind_close(struct unwind *unwind)
{
	struct libunwind *lib = unwind->state;

	if (!lib)
		return;
	if (lib->space)
		lib->unw_destroy_addr_space(lib->space);
	unwind_memory_release(&lib->memory);
	if (lib->handle)
		library_unload(lib->handle);
	free(lib);
	unwind->state = NULL;
}

static void step_all(struct libunwind *lib, struct unwind_chain *chain)
{
	unw_cursor_t cursor;
	unw_word_t ip, sp;

	chain->end = UNWIND_BROKEN;
	if (lib->unw_init_remote(&cursor, lib->space, lib) < 0)
		return;
	for (;;) {
		int ret;

		lib->memory.why = UNWIND_BROKEN;
		ret = lib->unw_step(&cursor);
		if (ret <= 0) {
			chain->end = ret ? lib->memory.why : UNWIND_COMPLETE;
			return;
		}
		if (lib->unw_get_reg(&cursor, UNW_REG_IP, &ip) < 0 ||
		    lib->unw_get_reg(&cursor, UNW_REG_SP, &sp) < 0)
			return;
		ip = unwind_memory_strip(&lib->memory, ip);
		if (!unwind_chain_add(chain, ip, sp))
			return;
		if (unwind_memory_trampoline(&lib->memory, ip))
			unwind_chain_signal(chain);
	}
}

static size_t libunwind_frames(struct unwind *unwind, const struct unwind_input *input,
			       uint64_t *ips, size_t max, enum unwind_end *end)
{
	struct libunwind *lib = unwind->state;
	const struct unwind_arch *arch = lib->memory.arch;
	struct unwind_chain chain = { .unwind = unwind, .memory = &lib->memory, .ips = ips, .max = max };
	uint64_t sp;

	if (!unwind_regs_take(arch, input, &lib->regs))
		return 0;
	sp = lib->regs.v[arch->sp];
	if (unwind_memory_start(&lib->memory, input, sp))
		lib->unw_flush_cache(lib->space, 0, 0);
	unwind_chain_start(&chain, lib->regs.v[arch->pc], sp);
	step_all(lib, &chain);
	*end = chain.end;
	return chain.n;
}

const struct unwinder unwind_libunwind = {
	.name = "libunwind",
	.handles = libunwind_handles,
	.open = libunwind_open,
	.close = libunwind_close,
	.frames = libunwind_frames,
};
