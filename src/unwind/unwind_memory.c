/* SPDX-License-Identifier: MIT */
/*
 * unwind_memory: an address is looked for in the copy of the stack first, then in the files. Unwind tables
 * lie in parts of the file that no executable map shows, so a module answers for all of its file: the
 * map tells the bias, the bias and the program headers where everything else is.
 */
#include "unwind/unwind_memory.h"

#include "unwind/unwind_cfi.h"

#include <stdlib.h>

enum {
	SAMPLE_BUDGET = 1 << 18, /* real chains of 127 frames need a tenth */
	/* A read this far above the copy is still taken for stack. Threads have 8 MiB, limits may be raised. */
	STACK_BYTES_MAX = 1 << 30,
	MADE_KEY_WORDS = 2,
	MADE_TABLE_ALIGN = 8, /* see struct code_piece */
};

void unwind_memory_init(struct unwind_memory *memory, struct unwind *unwind)
{
	memset(memory, 0, sizeof(*memory));
	memory->unwind = unwind;
	memory->arch = unwind_arch_find(unwind->arch);
	row_set_init(&memory->made_keys, MADE_KEY_WORDS);
}

void unwind_memory_release(struct unwind_memory *memory)
{
	for (size_t i = 0; i < memory->n_images; i++)
		image_free(memory->images[i].image);
	for (size_t i = 0; i < memory->n_made; i++)
		unwind_table_free(memory->made[i]);
	free(memory->images);
	free(memory->modules);
	free(memory->made);
	row_set_release(&memory->made_keys);
}

void unwind_memory_try_again(struct unwind_memory *memory)
{
	for (size_t i = 0; i < memory->n_images; i++)
		memory->images[i].tried = memory->images[i].image;
	memory->address_space_known = false;
}

bool unwind_memory_start(struct unwind_memory *memory, const struct unwind_input *input, uint64_t sp)
{
	const struct address_space *space = input->address_space;
	bool other = !space || !memory->address_space_known || memory->address_space_version != space->version;

	memory->address_space = space;
	memory->address_space_known = space;
	if (space)
		memory->address_space_version = space->version;
	if (other)
		memory->n_modules = memory->last_module = 0;
	memory->sp = sp;
	memory->stack = input->stack;
	memory->stack_size = input->stack ? input->stack_bytes : 0;
	memory->budget = SAMPLE_BUDGET;
	memory->why = UNWIND_BROKEN;
	memory->other_stack = false;
	return other;
}

/* Else it is code that was made at run time. */
static bool has_file(const struct dso *dso)
{
	return dso->kind == DSO_FILE || dso->kind == DSO_VDSO;
}

static struct image *image_of(struct unwind_memory *memory, const struct dso *dso)
{
	struct unwind *unwind = memory->unwind;

	if (!has_file(dso))
		return NULL;
	if (dso->index >= memory->n_images) {
		size_t n = memory->n_images;

		memory->n_images = dso->index + 1 + (size_t)dso->index / 2;
		memory->images =
			xreallocarray(memory->images, memory->n_images, sizeof(*memory->images));
		memset(memory->images + n, 0, (memory->n_images - n) * sizeof(*memory->images));
	}
	if (!memory->images[dso->index].tried) {
		memory->images[dso->index].tried = true;
		memory->images[dso->index].image =
			image_open(unwind->file_of(unwind->file_context, dso), dso, memory->arch->machine);
	}
	return memory->images[dso->index].image;
}

/* The first module that ends above the address. */
static size_t module_place(const struct unwind_memory *memory, uint64_t addr)
{
	return BISECT(i, 0, memory->n_modules, memory->modules[i].end <= addr);
}

static bool has(const struct unwind_memory *memory, size_t i, uint64_t addr)
{
	return i < memory->n_modules && addr >= memory->modules[i].start &&
	       addr < memory->modules[i].end;
}

static const struct unwind_module *add_module(struct unwind_memory *memory, size_t at, uint64_t ip)
{
	const struct map *map = memory->address_space ? address_space_find(memory->address_space, ip) : NULL;
	struct unwind_module module;
	uint64_t offset, vaddr;

	if (!map)
		return NULL;
	module = (struct unwind_module){ map->start, map->end, 0, image_of(memory, map->dso),
					 has_file(map->dso) ? UNWIND_NO_FILE : UNWIND_MADE };
	offset = ip - map->start + map->pgoff;
	if (module.image && elf_file_vaddr(module.image->file, offset, &vaddr))
		module.bias = ip - vaddr;
	else
		module.image = NULL;
	VEC_GROW(memory->modules, memory->n_modules, memory->cap_modules);
	memmove(&memory->modules[at + 1], &memory->modules[at],
		(memory->n_modules - at) * sizeof(module));
	memory->modules[at] = module;
	memory->n_modules++;
	memory->last_module = at;
	return &memory->modules[at];
}

const struct unwind_module *unwind_memory_module(struct unwind_memory *memory, uint64_t ip)
{
	const struct unwind_module *module = NULL;

	if (!has(memory, memory->last_module, ip))
		memory->last_module = module_place(memory, ip);
	if (has(memory, memory->last_module, ip))
		module = &memory->modules[memory->last_module];
	else
		module = add_module(memory, memory->last_module, ip);
	if (module && module->image)
		return module;
	memory->why = module ? module->without_image : UNWIND_BROKEN;
	return NULL;
}

/* NULL: it has none. */
static struct unwind_table *made_rows(const struct unwind_memory *memory, const struct dso *dso,
				      const struct code_piece *piece)
{
	const struct unwind *unwind = memory->unwind;
	uint64_t bytes = piece->end - piece->start;
	uint64_t after = (bytes + MADE_TABLE_ALIGN - 1) & ~(uint64_t)(MADE_TABLE_ALIGN - 1);
	struct unwind_table *table = NULL;
	struct str eh_frame = STR_INIT;

	if (unwind->made->table(unwind->file_context, dso, piece, &eh_frame))
		table = cfi_table(&(struct cfi_section){ .bytes = (const uint8_t *)eh_frame.s,
							 .n = eh_frame.len,
							 .vaddr = piece->loaded_at + after },
				  memory->arch, piece->loaded_at, bytes);
	str_release(&eh_frame);
	return table;
}

const struct unwind_table *unwind_memory_made(struct unwind_memory *memory, uint64_t ip, uint64_t *vaddr)
{
	const struct unwind *unwind = memory->unwind;
	const struct map *map = memory->address_space ? address_space_find(memory->address_space, ip) : NULL;
	struct code_piece piece;
	uint32_t i;

	if (!unwind->made || !map || map->dso->kind != DSO_ANON ||
	    !unwind->made->find(unwind->file_context, map->dso, ip, &piece))
		return NULL;
	i = row_set_intern(&memory->made_keys, (const uint64_t[]){ map->dso->index, piece.number });
	if (i == memory->n_made) {
		VEC_GROW(memory->made, memory->n_made, memory->cap_made);
		memory->made[memory->n_made++] = made_rows(memory, map->dso, &piece);
	}
	*vaddr = ip - piece.start + piece.loaded_at;
	return memory->made[i];
}

static bool read_module(const struct unwind_module *module, uint64_t addr, void *bytes, size_t n)
{
	uint64_t vaddr = addr - module->bias;

	return module->image && vaddr >= module->image->start && vaddr < module->image->end &&
	       image_read(module->image, vaddr, bytes, n);
}

/* A stack may lie in a program's own data, of which the file has what was there at first. */
static bool read_constant(const struct unwind_module *module, uint64_t addr, void *bytes, size_t n)
{
	return module->image && !image_is_data(module->image, addr - module->bias) &&
	       read_module(module, addr, bytes, n);
}

static bool read_files(struct unwind_memory *memory, uint64_t addr, void *bytes, size_t n)
{
	if (memory->last_module < memory->n_modules &&
	    read_constant(&memory->modules[memory->last_module], addr, bytes, n))
		return true;
	for (size_t i = 0; i < memory->n_modules; i++)
		if (i != memory->last_module && read_constant(&memory->modules[i], addr, bytes, n)) {
			memory->last_module = i;
			return true;
		}
	return false;
}

bool unwind_memory_spend(struct unwind_memory *memory)
{
	if (memory->budget) {
		memory->budget--;
		return true;
	}
	memory->why = UNWIND_BROKEN;
	return false;
}

bool unwind_memory_read(struct unwind_memory *memory, uint64_t addr, unsigned size, uint64_t *value)
{
	uint64_t within = addr - memory->sp;

	if (!unwind_memory_spend(memory))
		return false;
	*value = 0;
	if (within < memory->stack_size && size <= memory->stack_size - within) {
		memcpy(value, memory->stack + within, size);
		return true;
	}
	if (read_files(memory, addr, value, size))
		return true;
	memory->why = unwind_memory_beyond(memory, addr);
	return false;
}

enum unwind_end unwind_memory_beyond(const struct unwind_memory *memory, uint64_t addr)
{
	if (memory->other_stack)
		return UNWIND_OTHER_STACK;
	return addr - memory->sp < STACK_BYTES_MAX ? UNWIND_TRUNCATED : UNWIND_BROKEN;
}

bool unwind_memory_code(struct unwind_memory *memory, uint64_t start, uint64_t ip, uint8_t *code, size_t n)
{
	enum unwind_end why = memory->why;
	const struct unwind_module *module = unwind_memory_module(memory, ip);

	memory->why = why;
	return module && start >= module->start && read_module(module, start, code, n);
}

bool unwind_memory_trampoline(struct unwind_memory *memory, uint64_t ip)
{
	const struct unwind_arch *arch = memory->arch;
	uint8_t code[sizeof(arch->trampoline)];

	return unwind_memory_code(memory, ip, ip, code, arch->trampoline_size) &&
	       !memcmp(code, arch->trampoline, arch->trampoline_size);
}

bool unwind_memory_entry(struct unwind_memory *memory, const struct unwind_module *module, uint64_t ip)
{
	uint64_t within = ip - module->bias - module->image->file->entry;

	if (!module->image->file->entry || within >= memory->arch->entry_bytes)
		return false;
	memory->why = UNWIND_COMPLETE;
	return true;
}

bool unwind_memory_returning(struct unwind_memory *memory, uint64_t ip)
{
	const struct unwind_arch *arch = memory->arch;
	const struct unwind_module *module = unwind_memory_module(memory, ip);
	uint8_t code[2];

	if (!module || !read_module(module, ip, code, sizeof(code)))
		return false;
	for (size_t i = 0; i < arch->n_returning; i++) {
		const struct unwind_code *known = &arch->returning[i];

		if ((code[0] & known->mask[0]) == known->bytes[0] &&
		    (code[1] & known->mask[1]) == known->bytes[1])
			return true;
	}
	return false;
}

uint64_t unwind_memory_strip(const struct unwind_memory *memory, uint64_t ip)
{
	return unwind_regs_strip(memory->arch, memory->address_space, ip);
}
