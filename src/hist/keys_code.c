/* SPDX-License-Identifier: MIT */
/*
 * Keys of code: file, function, line. A function's value is a number in fold_cache.function_ids, given per symbol,
 * or, where none is known, per file and address; so equal values are equal text, and the text needs no
 * more than the value.
 */
#include "hist/keys_internal.h"

#include <inttypes.h>

enum code_kind { CODE_ADDRESS, CODE_SYMBOL, CODE_DATA, CODE_MEMORY, CODE_INSTRUCTION };

const struct location_row *table_location_row(struct table *table, uint32_t location)
{
	static const struct location_row nowhere = { .mode = MISC_USER };

	return location == LOCATION_NONE ? &nowhere : &table->session->locations->v[location];
}

/* Files of one name are one entry; with -v of one path. */
uint64_t table_dso_name(struct table *table, uint32_t location)
{
	struct fold_cache *cache = table->private->cache;
	const struct dso *dso = table_location_row(table, location)->dso;
	struct str path = STR_INIT;

	if (!dso)
		return 0;
	VEC_REACH(cache->dso_names, cache->n_dso_names, dso->index);
	if (!cache->dso_names[dso->index]) {
		if (table->question->query.verbose)
			str_add_printable(&path, dso->path, strlen(dso->path));
		else
			str_add(&path, dso->name);
		cache->dso_names[dso->index] = table_name(table, path.s, path.len) + 1;
		str_release(&path);
	}
	return cache->dso_names[dso->index];
}

static uint64_t function_id_intern(struct table *table, enum code_kind kind, uint64_t a, uint64_t b,
			    const struct function_id *code)
{
	struct function_ids *codes = &table->private->cache->function_ids;
	const uint64_t row[] = { kind, a, b, code->process };
	uint32_t i = row_set_intern(&codes->ids, row);

	if (i == codes->n) {
		VEC_GROW(codes->v, codes->n, codes->cap);
		codes->v[codes->n++] = *code;
	}
	return i;
}

static uint64_t function_id_of(struct table *table, uint32_t location, const struct symbol *symbol)
{
	const struct location_row *row = table_location_row(table, location);
	const struct function_id code = { .symbol = symbol,
					  .addr = symbol ? row->addr : location_own_addr(row),
					  .file = table_dso_name(table, location),
					  .level = location_level(row) };

	if (symbol)
		return function_id_intern(table, CODE_SYMBOL, (uint64_t)(uintptr_t)symbol, 0, &code);
	return function_id_intern(table, CODE_ADDRESS, code.file, code.addr, &code);
}

uint64_t table_function_id(struct table *table, const struct view_frame *view)
{
	return function_id_of(table, view->location, view->symbol);
}

uint64_t table_location_function(struct table *table, uint32_t location)
{
	return function_id_of(table, location, location_symbol(table->session, location));
}

uint64_t table_data_function(struct table *table, uint32_t location, uint64_t align, uint64_t process)
{
	const struct location_row *row = table_location_row(table, location);
	const struct function_id code = { .symbol = location_symbol(table->session, location),
					  .addr = row->addr & ~(align - 1),
					  .file = table_dso_name(table, location),
					  .process = process,
					  .level = location_level(row),
					  .data = true };

	return function_id_intern(table, CODE_DATA, code.file, code.addr, &code);
}

uint64_t table_memory_function(struct table *table, uint32_t location, bool data)
{
	const struct location_row *row = table_location_row(table, location);
	const struct function_id code = { .symbol = location_symbol(table->session, location),
					  .addr = row->addr,
					  .ip = row->ip,
					  .file = table_dso_name(table, location),
					  .level = location_level(row),
					  .data = data };

	return function_id_intern(table, data ? CODE_MEMORY : CODE_INSTRUCTION, code.file, code.addr, &code);
}

KEY_VALUE(value_dso)
{
	return table_dso_name(source->table, source->frame->location);
}

KEY_TEXT(text_dso)
{
	if (value)
		text_name(table, value - 1, out);
	else
		str_add(out, "[unknown]");
}

KEY_COMPARE(compare_dso)
{
	if (!a || !b)
		return !a - !b;
	return compare_names(table, a - 1, b - 1);
}

KEY_VALUE(value_symbol)
{
	return table_function_id(source->table, source->frame);
}

KEY_TEXT(text_function)
{
	const struct function_id *code = &table->private->cache->function_ids.v[value];

	if (table->question->query.verbose)
		str_addf(out, "%#-18" PRIx64 " ", code->addr);
	str_addf(out, "[%c] ", code->level);
	if (!code->symbol) {
		str_addf(out, "%#.16" PRIx64, code->ip ? code->ip : code->addr);
		return;
	}
	str_add(out, code->symbol->name);
	if (code->data && code->addr < code->symbol->start)
		str_addf(out, "-0x%" PRIx64, code->symbol->start - code->addr);
	else if (code->data)
		str_addf(out, "+0x%" PRIx64, code->addr - code->symbol->start);
	else if (code->symbol->inlined)
		str_add(out, " (inlined)");
}

uint64_t function_identity(const struct symbol *symbol)
{
	const char *path = symbol->dso->path;
	const uint64_t words[] = { symbol->start, hash_bytes(path, strlen(path)) };

	return hash_words(words, ARRAY_SIZE(words));
}

/* Static functions of one name are as many as there are files with one. */
KEY_IDENTITY(identity_function)
{
	const struct function_id *code = &table->private->cache->function_ids.v[value];

	return code->symbol ? function_identity(code->symbol) : code->addr;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static uint64_t code_address(const struct function_id *code)
{
	return code->data || !code->symbol ? code->addr : code->symbol->start;
}

/* Ends each order of functions: files by name, addresses, and for two files of one name their paths. */
static int compare_places(struct table *table, const struct function_id *x, const struct function_id *y)
{
	int order = compare_dso(table, x->file, y->file);

	if (!order)
		order = compare_numbers(code_address(x), code_address(y));
	if (!order)
		order = compare_numbers(x->process, y->process);
	return order || !x->symbol || !y->symbol ? order : strcmp(x->symbol->dso->path, y->symbol->dso->path);
}

/* Functions without a name are last. */
static int compare_function_names(const struct function_id *x, const struct function_id *y)
{
	if (!x->symbol || !y->symbol)
		return !x->symbol - !y->symbol;
	return strcmp(x->symbol->name, y->symbol->name);
}

KEY_COMPARE(compare_function)
{
	const struct function_id *codes = table->private->cache->function_ids.v, *x = &codes[a], *y = &codes[b];
	int order = compare_function_names(x, y);

	return order ? order : compare_places(table, x, y);
}

KEY_COMPARE(compare_function_address)
{
	const struct function_id *codes = table->private->cache->function_ids.v, *x = &codes[a], *y = &codes[b];
	int order = x->data ? 0 : !x->symbol - !y->symbol;

	if (!order)
		order = compare_numbers(code_address(x), code_address(y));
	return order ? order : compare_function(table, a, b);
}

KEY_COMPARE(compare_memory)
{
	const struct function_id *codes = table->private->cache->function_ids.v;
	int order = compare_ascending(table, codes[a].ip, codes[b].ip);

	return order ? order : compare_function(table, a, b);
}

/* Compares addresses in memory as first seen: an address of a file has no other. */
KEY_VALUE(value_symoff)
{
	return table_data_function(source->table, source->frame->location, 1, 0);
}

KEY_VALUE(value_addr)
{
	return table_location_row(source->table, source->frame->location)->ip;
}

KEY_TEXT(text_addr)
{
	(void)table;
	str_addf(out, "%#" PRIx64, value);
}

static const char *base_name(const struct table *table, const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && !table->question->query.full_source_path ? slash + 1 : path;
}

uint64_t table_line(struct table *table, uint32_t location, const struct symbol *symbol, const struct source_line *line)
{
	const struct location_row *row = table_location_row(table, location);
	struct str text = STR_INIT;
	const char *file;
	uint32_t name;

	if (line->file) {
		file = base_name(table, line->file);
		str_add_printable(&text, file, strlen(file));
		str_addf(&text, ":%u", line->line);
	} else if (symbol) {
		str_addf(&text, "%s+%" PRIu64, symbol->name, row->addr - symbol->start);
	} else if (row->dso) {
		str_addf(&text, "%s[%" PRIx64 "]", row->dso->name, location_own_addr(row));
	} else {
		str_add(&text, "??:0");
	}
	name = table_name(table, text.s, text.len);
	str_release(&text);
	return name;
}

uint64_t table_location_line(struct table *table, uint32_t location)
{
	const struct frame_list *frames = location_frames(table->session, location, SYM_LINES);

	return table_line(table, location, frames->v[frames->n - 1].symbol, &frames->v[0].line);
}

KEY_VALUE(value_srcline)
{
	const struct view_frame *frame = source->frame;

	return table_line(source->table, frame->location, frame->symbol, &frame->line);
}

KEY_VALUE(value_srcfile)
{
	const char *file = source->frame->line.file;
	struct str text = STR_INIT;
	uint32_t name;

	if (file) {
		file = base_name(source->table, file);
		str_add_printable(&text, file, strlen(file));
	}
	name = table_name(source->table, text.s, text.len);
	str_release(&text);
	return name;
}

KEY_VALUE(value_symbol_size)
{
	const struct symbol *symbol = source->frame->symbol;

	return symbol ? symbol->end - symbol->start : 0;
}

KEY_VALUE(value_dso_size)
{
	return table_location_row(source->table, source->frame->location)->map_bytes;
}

KEY_NUMBER(number_size)
{
	(void)table;
	*number = value;
	return value;
}

KEY_TEXT(text_size)
{
	if (value)
		text_decimal(table, value, out);
	else
		str_add(out, "unknown");
}
