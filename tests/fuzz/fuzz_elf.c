/* SPDX-License-Identifier: MIT */
/*
 * fuzz_elf: any bytes as an ELF file, through all that reads symbols from one: sections, segments, .symtab and
 * .dynsym, PLT names, the packed .gnu_debugdata, the bounds of functions, the debug link; and as a file on disk
 * through the DWARF reader, with variables at addresses and their types. The claim: no crash, no sanitizer report, no
 * endless loop; memory bounded. Symbols and bounds that come out have an end behind their start, in order.
 */
#include "sym/sym_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LOOKUPS = 64, INLINES_MAX = 16, REGISTERS = 17, TARGETS = 8, CALL_BYTES_MAX = 7 };

static void check_table(struct symbol_table *table)
{
	symbol_table_finish(table);
	for (size_t i = 1; i < table->n; i++)
		if (table->v[i].start <= table->v[i - 1].start || table->v[i].name >= table->names.len)
			abort();
	for (size_t i = 0; i < table->n; i += 1 + table->n / LOOKUPS) {
		const struct symbol_row *row = symbol_table_find(table, table->v[i].start);

		if (row && table->v[i].start - row->start > row->size)
			abort();
	}
}

static void check_bounds(const struct elf_bounds *bounds)
{
	for (size_t i = 0; i < bounds->n; i++) {
		const struct function_bounds *v = &bounds->v[i];

		if (v->start >= v->end || (i && v[-1].end > v->start) || elf_bounds_find(bounds, v->start) != v ||
		    elf_bounds_find(bounds, v->end - 1) != v || elf_bounds_find(bounds, v->end) == v)
			abort();
	}
}

static void read_elf(void *bytes, size_t n)
{
	struct elf_file file = { .fd = -1 };
	struct elf_bounds bounds = { 0 };
	struct symbol_table table;
	struct str err = STR_INIT;
	size_t section_bytes;
	uint32_t crc;

	symbol_table_init(&table);
	if (!elf_file_open_memory(&file, bytes, n, "input", &err)) {
		uint64_t vaddr, back;

		elf_symbols_read(&file, &table, &err);
		elf_plt_read(&file, &table, &err);
		elf_minidebug_read(&file, &table, &err);
		elf_bounds_read(&file, &bounds);
		check_bounds(&bounds);
		elf_bounds_release(&bounds);
		elf_file_section(&file, ".debug_info", &section_bytes);
		elf_file_debuglink(&file, &err, &crc);
		for (uint64_t at = 0; at < n; at += 1 + n / LOOKUPS)
			if (elf_file_vaddr(&file, at, &vaddr))
				elf_file_offset(&file, vaddr, &back);
		check_table(&table);
	}
	elf_file_close(&file);
	symbol_table_release(&table);
	str_release(&err);
}

/* Goes through members at an offset, and from pointers to what they point to, as far as a damaged file may lead. */
static void read_type(const struct data_found *found)
{
	const struct data_type *type = found->type;
	const struct data_member *members;
	struct str path = STR_INIT;

	for (int i = 0; type && i < TARGETS; i++) {
		data_type_path(type, (uint64_t)found->offset, &path);
		if (data_type_members(type, &members) && !members[0].type)
			abort();
		type = type->kind == DATA_RECORD ? members[0].type : data_type_target(type);
	}
	str_release(&path);
}

static void read_variables(struct dwarf_file *file, uint64_t vaddr)
{
	struct dwarf_variables *variables = dwarf_variables_of(file, vaddr);
	const struct data_frame frame = { .known = true, .reg = 7, .offset = 16 };
	struct data_found found = { .type = dwarf_returned(file, vaddr) };

	if (found.type)
		read_type(&found);
	for (uint64_t bytes = 2; variables && bytes <= CALL_BYTES_MAX; bytes++) {
		found = (struct data_found){ .type = dwarf_variables_returned(variables, vaddr + bytes) };
		if (found.type)
			read_type(&found);
	}
	for (uint8_t reg = 0; variables && reg < REGISTERS; reg++) {
		if (dwarf_variables_value(variables, vaddr, reg, &found))
			read_type(&found);
		if (dwarf_variables_memory(variables, vaddr, &frame, reg, -(int64_t)reg * 8, &found))
			read_type(&found);
	}
	if (variables && dwarf_variables_global(variables, vaddr, vaddr * 0x10, &found))
		read_type(&found);
	if (variables && dwarf_variables_thread(variables, vaddr, -(int64_t)(vaddr & 0xff), &found))
		read_type(&found);
	dwarf_variables_free(variables);
}

static void read_dwarf(int fd)
{
	struct dwarf_inline inlines[INLINES_MAX];
	struct source_line line;
	struct str err = STR_INIT;
	struct dwarf_file *file;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	dwarf_file_open(NULL, path, NULL, NULL, &file, &err);
	for (uint64_t at = 0; file && at < LOOKUPS; at++) {
		uint64_t vaddr = at < 16 ? at : 0x1000 + at * 16;

		dwarf_file_inlines(file, vaddr, true, inlines, INLINES_MAX);
		dwarf_file_line(file, vaddr, &line);
		read_variables(file, vaddr);
	}
	dwarf_file_close(file);
	str_release(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("input", MFD_CLOEXEC);
	void *copy = xmalloc(size ? size : 1);

	if (fd < 0 || write_all(fd, data, size))
		abort();
	memcpy(copy, data, size);
	read_elf(copy, size);
	free(copy);
	read_dwarf(fd);
	close(fd);
	return 0;
}
