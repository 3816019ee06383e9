/* SPDX-License-Identifier: MIT */
/*
 * source_simpleperf: names that Android's simpleperf has put into its recordings: features FILE (128) and FILE2 (132),
 * an entry for each file that was sampled, with the functions that were.
 *
 *	FILE    entries: u32 bytes of the rest | path, NUL | u32 type | u64 min_vaddr | u32 number of symbols |
 *	        symbols: u64 vaddr | u32 bytes | name, NUL
 *	        then for a dex file: u32 number | u64 offsets; an ELF file: u64 its offset of min_vaddr, which old ones
 *	        lack; a kernel module: u64 its distance of min_vaddr in memory
 *	FILE2   entries: u32 bytes of the rest | a message of protocol buffers: 1 path, 2 type, 3 min_vaddr, 4 symbol
 *	        (1 vaddr, 2 bytes, 3 name), 6 ELF file (1 its offset of min_vaddr), 7 kernel module (1 its distance)
 *
 * Addresses are those of the file as linked; min_vaddr is the lowest that is executable. A recording from a telephone
 * is mostly read elsewhere, so these names come before files; where the user says where files are, after them.
 *
 * Source: Android's system/extras, the file format and record_file.proto of simpleperf.
 */
#include "sym/dso_names.h"

#include <stdlib.h>

enum { FEATURE_FILE = 128, FEATURE_FILE2 = 132 };
enum simpleperf_type {
	SIMPLEPERF_KERNEL,
	SIMPLEPERF_MODULE,
	SIMPLEPERF_ELF,
	SIMPLEPERF_DEX,
};

/* One file's entry. */
struct simpleperf_file {
	const char *path; /* in the feature's bytes, or "" */
	size_t path_bytes;
	uint64_t type; /* enum simpleperf_type, or others */
	uint64_t min_vaddr;
	uint64_t min_at; /* of min_vaddr: the offset in the file, or of a module the distance in memory */
	bool has_min_at;
};

struct simpleperf_entry {
	struct dwarf_cursor at; /* its bytes */
	const char *path; /* a dso's that it is of; path_bytes of it */
	size_t path_bytes;
	bool is_message; /* of FILE2 */
};

struct simpleperf_names {
	struct simpleperf_entry *v;
	size_t n, cap;
	struct index by_path;
};

/* table: NULL: the symbols are not wanted now. */
static void add_symbol(struct symbol_table *table, uint64_t vaddr, uint64_t bytes, const char *name, size_t name_bytes)
{
	if (table && name_bytes && bytes && bytes <= UINT64_MAX - vaddr)
		symbol_table_add(table, vaddr, bytes, name, strnlen(name, name_bytes), SYMBOL_GLOBAL);
}

/* ---- FILE ---- */

static void read_struct(struct dwarf_cursor at, struct simpleperf_file *file, struct symbol_table *table)
{
	const char *path = cursor_text(&at);
	uint64_t n;

	file->path = path ? path : "";
	file->path_bytes = strlen(file->path);
	file->type = cursor_number(&at, 4);
	file->min_vaddr = cursor_number(&at, 8);
	if (!table)
		return;
	n = cursor_number(&at, 4);
	for (uint64_t i = 0; i < n && !at.bad; i++) {
		uint64_t vaddr = cursor_number(&at, 8), bytes = cursor_number(&at, 4);
		const char *name = cursor_text(&at);

		add_symbol(table, vaddr, bytes, name, name ? strlen(name) : 0);
	}
	file->has_min_at = (file->type == SIMPLEPERF_ELF || file->type == SIMPLEPERF_MODULE) && cursor_left(&at) >= 8;
	if (file->has_min_at)
		file->min_at = cursor_number(&at, 8);
}

/* ---- FILE2: protocol buffers ---- */

struct message_field {
	uint64_t number;
	uint64_t value; /* of a number */
	struct dwarf_cursor bytes; /* of a text or a message */
};

/* The next field; false: the end, or what follows is none. */
static bool next_field(struct dwarf_cursor *at, struct message_field *field)
{
	enum { VARINT, FIXED_64, BYTES, FIXED_32 = 5, KINDS = 7, NUMBER_SHIFT = 3 };
	uint64_t key;

	if (!cursor_left(at))
		return false;
	key = cursor_uleb(at);
	*field = (struct message_field){ .number = key >> NUMBER_SHIFT, .bytes = { at->end, at->end, false, false } };
	switch (key & KINDS) {
	case VARINT:
		field->value = cursor_uleb(at);
		break;
	case FIXED_64:
		field->value = cursor_number(at, 8);
		break;
	case FIXED_32:
		field->value = cursor_number(at, 4);
		break;
	case BYTES:
		field->value = cursor_uleb(at);
		field->bytes.at = at->at;
		cursor_skip(at, field->value);
		field->bytes.end = at->at;
		break;
	default:
		return false;
	}
	return !at->bad;
}

static void read_symbol_message(struct dwarf_cursor at, struct symbol_table *table)
{
	uint64_t vaddr = 0, bytes = 0;
	struct message_field field, name = { .number = 0 };

	while (next_field(&at, &field)) {
		if (field.number == 1)
			vaddr = field.value;
		else if (field.number == 2)
			bytes = field.value;
		else if (field.number == 3)
			name = field;
	}
	add_symbol(table, vaddr, bytes, (const char *)name.bytes.at, name.number ? cursor_left(&name.bytes) : 0);
}

static void read_message(struct dwarf_cursor at, struct simpleperf_file *file, struct symbol_table *table)
{
	enum { PATH = 1, TYPE, MIN_VADDR, SYMBOL, DEX_FILE, ELF_FILE, MODULE };
	struct message_field field, inner;

	file->path = "";
	while (next_field(&at, &field)) {
		if (field.number == PATH) {
			file->path = (const char *)field.bytes.at;
			file->path_bytes = cursor_left(&field.bytes);
		} else if (field.number == TYPE) {
			file->type = field.value;
		} else if (field.number == MIN_VADDR) {
			file->min_vaddr = field.value;
		} else if (field.number == SYMBOL && table) {
			read_symbol_message(field.bytes, table);
		} else if (field.number == ELF_FILE || field.number == MODULE) {
			/* A number that is 0 is left out of the message. */
			file->has_min_at = true;
			while (next_field(&field.bytes, &inner))
				file->min_at = inner.number == 1 ? inner.value : file->min_at;
		}
	}
}

/* ---- entries ---- */

static struct simpleperf_file read_entry(const struct simpleperf_entry *entry, struct symbol_table *table)
{
	struct simpleperf_file file = { .type = SIMPLEPERF_KERNEL };

	(entry->is_message ? read_message : read_struct)(entry->at, &file, table);
	return file;
}

/* The next entry of a feature; false: the end. */
static bool next_entry(struct dwarf_cursor *at, struct simpleperf_entry *entry)
{
	uint64_t bytes = cursor_number(at, 4);

	entry->at = *at;
	cursor_skip(at, bytes);
	entry->at.end = at->at;
	return !at->bad && bytes;
}

/* The text by which an entry of the kernel's is known, whatever its path. */
static const char of_kernel[] = "[kernel]";

static void add_entry(struct simpleperf_names *all, struct simpleperf_entry *entry)
{
	const struct simpleperf_file file = read_entry(entry, NULL);

	entry->path = file.type == SIMPLEPERF_KERNEL ? of_kernel : file.path;
	entry->path_bytes = file.type == SIMPLEPERF_KERNEL ? strlen(of_kernel) : file.path_bytes;
	index_add(&all->by_path, hash_bytes(entry->path, entry->path_bytes), (uint32_t)all->n);
	VEC_GROW(all->v, all->n, all->cap);
	all->v[all->n++] = *entry;
}

/* All entries of the recording, found once. */
static const struct simpleperf_names *all_of(struct symbols *symbols)
{
	const struct info *info = symbols->recording->info;

	if (symbols->simpleperf)
		return symbols->simpleperf;
	symbols->simpleperf = xcalloc(1, sizeof(*symbols->simpleperf));
	for (size_t i = 0; i < info->raw.n; i++) {
		const struct info_raw *raw = &info->raw.v[i];
		struct simpleperf_entry entry = { .is_message = raw->id == FEATURE_FILE2 };
		struct dwarf_cursor at;

		if (!raw->size || (raw->id != FEATURE_FILE && raw->id != FEATURE_FILE2))
			continue;
		at = (struct dwarf_cursor){ raw->bytes, raw->bytes + raw->size, false, false };
		while (next_entry(&at, &entry))
			add_entry(symbols->simpleperf, &entry);
	}
	return symbols->simpleperf;
}

void simpleperf_names_free(struct simpleperf_names *all)
{
	if (!all)
		return;
	free(all->v);
	index_release(&all->by_path);
	free(all);
}

/* NULL: there is none. */
static const struct simpleperf_entry *find_entry(struct symbols *symbols, const struct dso *dso)
{
	const struct simpleperf_names *all = all_of(symbols);
	const char *path = dso->kind == DSO_KERNEL ? of_kernel : dso->path;
	size_t n = strlen(path);
	uint32_t i;

	if (INDEX_FIND(&all->by_path, hash_bytes(path, n), i,
		       all->v[i].path_bytes == n && !memcmp(all->v[i].path, path, n)))
		return &all->v[i];
	return NULL;
}

/* The difference of an address of the dso to the same one in the table, modulo 2^64. */
static uint64_t slide_of(const struct simpleperf_file *file, const struct dso *dso)
{
	if (file->type == SIMPLEPERF_MODULE)
		return dso->start + file->min_at - file->min_vaddr;
	if (file->type != SIMPLEPERF_ELF)
		return 0;
	/* Old ones count from the first executable mapping. */
	return (file->has_min_at ? file->min_at : dso->code.pgoff) - file->min_vaddr;
}

/* ---- as a source ---- */

/* Tells whether the user says where other names are. */
static bool has_other_places(const struct symbols *symbols, const struct dso *dso)
{
	const struct sym_options *options = &symbols->options;

	if (NAMES_OF(dso->kind) & NAMES_OF_KERNELS && (options->vmlinux || options->kallsyms))
		return true;
	return (options->symfs && strcmp(options->symfs, "/") != 0) || options->debuginfod ||
	       (options->debug_dirs && *options->debug_dirs);
}

static bool take(struct symbols *symbols, struct dso_names *names, struct names_slot *slot)
{
	const struct simpleperf_entry *entry = symbols->options.not_recorded ? NULL : find_entry(symbols, names->dso);
	struct simpleperf_file file;
	struct str none = STR_INIT;

	if (!entry)
		return false;
	file = read_entry(entry, names_table_begin(slot));
	if (!slot->table->table.n) {
		names_table_drop(slot);
		return false;
	}
	slot->table->slide = slide_of(&file, names->dso);
	names_table_found(names, slot, "the recording, where simpleperf has put them");
	dso_names_doubt(names, &none, NULL);
	return true;
}

static enum source_result load(struct symbols *symbols, struct dso_names *names, struct names_slot *slot)
{
	return !has_other_places(symbols, names->dso) && take(symbols, names, slot) ? SOURCE_DONE : SOURCE_NONE;
}

void source_simpleperf_later(struct symbols *symbols, struct dso_names *names)
{
	struct names_slot *slot = dso_names_slot(names, &source_simpleperf);

	if (slot && names->state == SYM_NONE && has_other_places(symbols, names->dso))
		take(symbols, names, slot);
}

const struct names_source source_simpleperf = {
	.kinds = NAMES_OF(DSO_FILE) | NAMES_OF_KERNELS, .load = load, .find = names_table_find,
};
