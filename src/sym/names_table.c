/* SPDX-License-Identifier: MIT */
/*
 * names_table: names that are in a sorted table of symbols: of ELF files, of lists of the kernel, of maps and dumps.
 *
 *	location.addr --segments or slide--> virtual address --binary search--> row --> symbol, made when it is hit
 *	                                                        | none
 *	                                                        +--> bounds of the function (.eh_frame) --> nameless
 *
 * Where no row covers an address, the bounds of its function give it a symbol without a name of its own, so that a
 * stripped function is one, however many of its addresses were sampled.
 */
#include "sym/dso_names.h"

#include <stdlib.h>

struct symbol_table *names_table_begin(struct names_slot *slot)
{
	if (!slot->table) {
		slot->table = xcalloc(1, sizeof(*slot->table));
		symbol_table_init(&slot->table->table);
	}
	return &slot->table->table;
}

void names_table_drop(struct names_slot *slot)
{
	if (!slot->table)
		return;
	symbol_table_release(&slot->table->table);
	elf_bounds_release(&slot->table->bounds);
	free(slot->table->segments);
	free(slot->table);
	slot->table = NULL;
}

void names_table_found(struct dso_names *names, struct names_slot *slot, const char *origin)
{
	symbol_table_finish(&slot->table->table);
	dso_names_found(names, origin);
}

bool names_table_vaddr(const struct names_table *table, uint64_t addr, uint64_t *vaddr)
{
	const struct elf_file file = {
		.segments = table->segments,
		.n_segments = table->n_segments,
	};

	if (table->n_segments)
		return elf_file_vaddr(&file, addr, vaddr);
	*vaddr = addr - table->slide;
	return true;
}

/* ---- out of ELF files ---- */

static void take_segments(struct names_table *table, const struct elf_file *file)
{
	size_t bytes = file->n_segments * sizeof(*file->segments);

	if (!bytes)
		return;
	table->segments = xmalloc(bytes);
	memcpy(table->segments, file->segments, bytes);
	table->n_segments = file->n_segments;
}

/* eu-strip leaves the program headers as they were: then code has as many bytes in the file as in memory. */
static bool has_own_offsets(const struct names_table *table)
{
	for (size_t i = 0; i < table->n_segments; i++)
		if (table->segments[i].executable && table->segments[i].file_size < table->segments[i].mem_size)
			return false;
	return true;
}

/*
 * A debug file alone: its segments' addresses are those of the file that ran, their offsets and sizes in the
 * file are not. Linkers put a segment's bytes behind those of the one before, as near as its alignment allows,
 * so the offsets can be told all the same.
 */
static void restore_offsets(struct names_table *table)
{
	uint64_t end = 0;

	if (has_own_offsets(table))
		return;

	for (size_t i = 0; i < table->n_segments; i++) {
		struct elf_segment *segment = &table->segments[i];
		uint64_t align = segment->align > 1 ? segment->align : 1;

		segment->offset = end + (segment->vaddr % align + align - end % align) % align;
		segment->file_size = segment->mem_size;
		if (segment->offset > UINT64_MAX / 2 ||
		    segment->file_size > UINT64_MAX / 2) { /* no linker's work */
			table->n_segments = i;
			return;
		}
		end = segment->offset + segment->file_size;
	}
}

struct elf_names {
	struct elf_file *file, *debug; /* held; NULL: not there; debug also where it is the file itself */
	const char *origin; /* of most names */
	bool complete; /* all functions have names, not just those that are exported */
	bool unsure; /* something could not be read */
};

/* Adds the symbols of the first that has them: debug file, file; what is packed in one; then exported ones; the PLT. */
static void read_symbols(struct elf_names *names, const struct dso_files *paths, struct symbol_table *table,
			 struct str *err)
{
	struct elf_file *file = names->file, *debug = names->debug, *packed[] = { debug, file };
	struct str ignored = STR_INIT;
	bool is_packed = false;

	if (debug && elf_table_read(debug, SHT_SYMTAB, table, err) > 0) {
		names->complete = true;
		names->origin = paths->debug;
	}
	if (file && !names->complete)
		names->complete = elf_table_read(file, SHT_SYMTAB, table, err) > 0;
	for (size_t i = 0; i < ARRAY_SIZE(packed) && !names->complete; i++)
		names->complete = is_packed = packed[i] && elf_minidebug_read(packed[i], table, &ignored) > 0;
	if ((file || debug) && (!names->complete || is_packed))
		elf_table_read(file ? file : debug, SHT_DYNSYM, table, err);
	if (file)
		elf_plt_read(file, table, err);
	names->unsure = ignored.len;
	str_release(&ignored);
}

static struct elf_file *open_held(struct symbols *symbols, const char *path, struct str *err)
{
	struct elf_file *file;

	return path && !elf_files_open(symbols->elf_files, path, &file, err) ? file : NULL;
}

bool names_table_read_elf(struct symbols *symbols, struct dso_names *names, struct names_slot *slot,
			  const char **origin, struct str *err)
{
	const struct dso_files *files = &names->files;
	struct symbol_table *table = names_table_begin(slot);
	struct elf_names elf = { .origin = files->runtime };

	elf.file = open_held(symbols, files->runtime, err);
	elf.debug = text_same(files->debug, files->runtime) ? NULL : open_held(symbols, files->debug, err);
	if (elf.file) {
		take_segments(slot->table, elf.file);
	} else if (elf.debug) {
		take_segments(slot->table, elf.debug);
		restore_offsets(slot->table);
		elf.origin = files->debug;
	}
	read_symbols(&elf, files, table, err);
	if (elf.file)
		elf_file_let_go(elf.file);
	if (elf.debug)
		elf_file_let_go(elf.debug);
	*origin = elf.origin;
	names->unsure |= elf.unsure;
	names->only_exported = !elf.complete && names->dso->kind != DSO_VDSO;
	return table->n != 0;
}

/* ---- symbols ---- */

/*
 * Finds the best of the names of one address (see symbol_table.c), as people read them. Aliases come from equal
 * functions that were merged, and from names in several languages.
 */
static const struct symbol_row *best_alias(struct symbols *symbols, const struct dso_names *names,
					   const struct symbol_table *table, const struct symbol_row *row,
					   const char **name)
{
	const struct symbol_row *aliases, *best = row;
	bool raw_names = dso_names_are_raw(names);
	size_t n;

	*name = symbol_display_name(symbols, symbol_table_name(table, row), !raw_names);
	if (raw_names || !table->n_aliases)
		return row;
	aliases = symbol_table_aliases(table, row->start, &n);
	for (size_t i = 0; i < n && i < ALIASES_MAX; i++) {
		const char *raw = symbol_table_name(table, &aliases[i]);
		const char *other = symbol_display_name(symbols, raw, true);

		if (symbol_name_is_better(other, raw, *name, symbol_table_name(table, best))) {
			best = &aliases[i];
			*name = other;
		}
	}
	return best;
}

const char *names_table_name(struct symbols *symbols, const struct dso_names *names, const struct names_table *table,
			     uint64_t vaddr, uint64_t *offset)
{
	const struct symbol_row *row = symbol_table_find(&table->table, vaddr);
	const char *name;

	if (!row || row->open)
		return NULL;
	*offset = vaddr - row->start;
	best_alias(symbols, names, &table->table, row, &name);
	return name;
}

/* The symbol of a row; addr and vaddr: one and the same place in it. */
static const struct symbol *of_row(struct symbols *symbols, struct dso_names *names, const struct symbol_table *table,
				   const struct symbol_row *row, uint64_t addr, uint64_t vaddr)
{
	uint32_t number = (uint32_t)(row - table->v);
	uint64_t start = addr - (vaddr - row->start);
	const struct symbol *found = symbol_object_find(names, SYMBOL_OF_ROW, number);
	const struct symbol_row *named;
	struct symbol symbol;

	if (!found)
		found = listed_symbol_at(symbols, names, start, false);
	if (found)
		return found;
	symbol = (struct symbol){ .dso = names->dso, .start = start, .end = start + row->size };
	named = best_alias(symbols, names, table, row, &symbol.name);
	symbol.raw = symbol_table_name(table, named);
	symbol.binding = symbol_binding(named->binding);
	return symbol_object_add(symbols, names, SYMBOL_OF_ROW, number, &symbol);
}

/* The symbol of a function of which only the bounds are known: "[libz.so.1.2.13+0xab40]", "[vdso+0x9c0]" */
static const struct symbol *of_bounds(struct symbols *symbols, struct dso_names *names, const struct elf_bounds *all,
				      const struct function_bounds *bounds, uint64_t addr, uint64_t vaddr)
{
	uint32_t number = (uint32_t)(bounds - all->v);
	uint64_t start = addr - (vaddr - bounds->start);
	const struct symbol *found = symbol_object_find(names, SYMBOL_OF_BOUNDS, number);
	const char *name = names->dso->name;
	struct str text = STR_INIT;
	struct symbol symbol;
	size_t len;

	if (!found)
		found = listed_symbol_at(symbols, names, start, true);
	if (found)
		return found;
	symbol = (struct symbol){ .dso = names->dso, .start = start, .end = addr - (vaddr - bounds->end),
				  .binding = ' ', .nameless = true };
	name += name[0] == '[';
	len = strlen(name);
	str_addc(&text, '[');
	str_addn(&text, name, len && name[len - 1] == ']' ? len - 1 : len);
	str_addf(&text, "+0x%llx]", (unsigned long long)symbol.start);
	symbol.name = symbol.raw = arena_strndup(&symbols->arena, text.s, text.len);
	str_release(&text);
	return symbol_object_add(symbols, names, SYMBOL_OF_BOUNDS, number, &symbol);
}

static const struct function_bounds *bounds_at(struct symbols *symbols, const struct dso_names *names,
					       struct names_table *table, uint64_t vaddr)
{
	bool has = NAMES_OF(names->dso->kind) & NAMES_OF_FILES;
	struct str err = STR_INIT;
	struct elf_file *file;

	if (symbols->options.no_bounds || !has || !names->files_known || !names->files.runtime)
		return NULL;
	if (!table->bounds_tried && !elf_files_open(symbols->elf_files, names->files.runtime, &file, &err)) {
		elf_bounds_read(file, &table->bounds);
		elf_file_let_go(file);
	}
	table->bounds_tried = true;
	str_release(&err);
	return elf_bounds_find(&table->bounds, vaddr);
}

/*
 * An exported name without a size covers what follows it by a guess: where other functions lie there, their
 * bounds are better.
 */
bool names_table_find(struct symbols *symbols, struct dso_names *names, struct names_slot *slot, uint64_t addr,
		      const struct symbol **symbol)
{
	struct names_table *table = slot->table;
	const struct function_bounds *bounds = NULL;
	const struct symbol_row *row = NULL;
	uint64_t vaddr;
	bool guess;

	if (!table || !names_table_vaddr(table, addr, &vaddr))
		return false;
	if (names->state == SYM_FOUND)
		row = symbol_table_find(&table->table, vaddr);
	guess = row && row->open && names->only_exported;
	if (!row || guess)
		bounds = bounds_at(symbols, names, table, vaddr);
	if (guess && bounds && bounds->start > row->start)
		row = NULL;
	names->missed |= !row;
	if (row)
		*symbol = of_row(symbols, names, &table->table, row, addr, vaddr);
	else if (bounds)
		*symbol = of_bounds(symbols, names, &table->bounds, bounds, addr, vaddr);
	return row || bounds;
}
