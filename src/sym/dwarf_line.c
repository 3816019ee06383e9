/* SPDX-License-Identifier: MIT */
/*
 * dwarf_line: which line an address belongs to. The first question about a unit runs its line program once,
 * into rows that each hold up to the next one:
 *
 *	start   file  line
 *	0x1000  a.c   5
 *	0x1004  a.h   17
 *	0x1010  the sequence ends: nothing is known from here on
 *
 * The program is run here, not by libdw, because libdw sorts the rows of all sequences into one list. What
 * the linker threw away is a sequence at address 0 or so; where it is long enough to reach into the real
 * code, its rows would be the answer there. Here a sequence that starts where no code is, is dropped whole,
 * and of overlapping ones the shortest is right.
 *
 * In front of the program the table says how its opcodes are packed, and the directories and files that it names by
 * number. Up to version 4 they are lists of texts, numbered from 1, with the directory of compilation as 0; version 5
 * describes its own entries:
 *
 *	format   path line_strp | directory_index udata      entries  0x40 0 | 0x52 1 | ...
 *
 * Of rows at one address the last one counts. Line 0 is the compiler's word for "belongs to no line", and
 * stays 0.
 *
 * Source: DWARF 5, 6.2.2 to 6.2.5; DWARF 4, 6.2.4.
 */
#include "sym/dwarf_internal.h"

#include <stdlib.h>

enum {
	FORMATS_MAX = 32, /* kinds of content of an entry: 5 are defined */
	FILES_MAX = 1 << 20,
};

struct line_header {
	uint16_t version;
	uint8_t offset_bytes;
	uint8_t instruction_bytes; /* the smallest instruction */
	uint8_t operations; /* in one instruction, at most; 1 but on VLIW machines */
	int8_t line_base;
	uint8_t line_range;
	uint8_t opcode_base;
	const uint8_t *opcode_lengths; /* [opcode - 1]: operands of the standard ones */
};

struct line_reading {
	struct dwarf_file *file;
	struct dwarf_unit *unit;
	struct dwarf_cursor cursor; /* at the header, then at the program; it ends with the table */
	struct line_header header;
	struct dwarf_sources *sources; /* directories and files, as they are read */
	struct dwarf_range_list ranges;

	/* The registers. */
	uint64_t address, file_number;
	uint64_t operation; /* within a VLIW instruction */
	uint64_t line;

	size_t first; /* row of the sequence that is being read */
	bool reading, dropped; /* a sequence; one without code */
};

/* ---- header and files ---- */

static void add_directory(struct dwarf_sources *sources, const char *name)
{
	VEC_GROW(sources->directories, sources->n_directories, sources->cap_directories);
	sources->directories[sources->n_directories++] = name;
}

static void add_file(struct dwarf_sources *sources, const char *name, uint64_t directory)
{
	VEC_GROW(sources->v, sources->n, sources->cap);
	sources->v[sources->n++] = (struct dwarf_source){
		.name = name,
		.directory = directory <= UINT32_MAX ? (uint32_t)directory : UINT32_MAX,
		.id = SPAN_NONE,
	};
}

/* Adds a file, whose directory and so on stand at the cursor. */
static void add_file_at(struct dwarf_sources *sources, struct dwarf_cursor *cursor, const char *name)
{
	add_file(sources, name, cursor_uleb(cursor));
	cursor_uleb(cursor); /* time of change */
	cursor_uleb(cursor); /* bytes */
}

void dwarf_sources_release(struct dwarf_sources *sources)
{
	free(sources->directories);
	free(sources->v);
}

static bool read_lists(struct line_reading *reading, const char *directory)
{
	struct dwarf_cursor *cursor = &reading->cursor;
	const char *name;

	add_directory(reading->sources, directory);
	while ((name = cursor_text(cursor)) && name[0] && dwarf_file_spend(reading->file, 1))
		add_directory(reading->sources, name);
	add_file(reading->sources, NULL, 0);
	while ((name = cursor_text(cursor)) && name[0] && dwarf_file_spend(reading->file, 1))
		add_file_at(reading->sources, cursor, name);
	return !cursor->bad;
}

static const char *text_at(struct dwarf_cursor section, uint64_t offset)
{
	cursor_skip(&section, offset);
	return cursor_text(&section);
}

struct line_content {
	const char *text;
	uint64_t number;
};

static struct line_content read_content(struct line_reading *reading, uint64_t form)
{
	struct dwarf_cursor *cursor = &reading->cursor;
	unsigned offset_bytes = reading->header.offset_bytes;
	struct line_content content = { NULL, 0 };

	switch (form) {
	case DW_FORM_string:
		content.text = cursor_text(cursor);
		break;
	case DW_FORM_line_strp:
		content.text = text_at(reading->file->sections.line_str,
				       cursor_number(cursor, offset_bytes));
		break;
	case DW_FORM_strp:
		content.text = text_at(reading->file->sections.str, cursor_number(cursor, offset_bytes));
		break;
	case DW_FORM_udata:
		content.number = cursor_uleb(cursor);
		break;
	case DW_FORM_data1:
		content.number = cursor_number(cursor, 1);
		break;
	case DW_FORM_data2:
		content.number = cursor_number(cursor, 2);
		break;
	case DW_FORM_data4:
		content.number = cursor_number(cursor, 4);
		break;
	case DW_FORM_data8:
		content.number = cursor_number(cursor, 8);
		break;
	case DW_FORM_data16: /* a checksum */
		cursor_skip(cursor, 16);
		break;
	case DW_FORM_block:
		cursor_skip(cursor, cursor_uleb(cursor));
		break;
	default: /* of a size that is not known here */
		cursor_spoil(cursor);
	}
	return content;
}

static bool read_entries(struct line_reading *reading, bool files)
{
	struct dwarf_cursor *cursor = &reading->cursor;
	uint64_t kinds[FORMATS_MAX], forms[FORMATS_MAX], n;
	size_t n_formats = cursor_u8(cursor);

	if (n_formats > FORMATS_MAX)
		return false;
	for (size_t i = 0; i < n_formats; i++) {
		kinds[i] = cursor_uleb(cursor);
		forms[i] = cursor_uleb(cursor);
	}
	n = cursor_uleb(cursor);
	if (n > FILES_MAX || (n && !n_formats))
		return false;
	while (n-- && !cursor->bad && dwarf_file_spend(reading->file, 1)) {
		const char *name = NULL;
		uint64_t directory = 0;

		for (size_t i = 0; i < n_formats; i++) {
			struct line_content content = read_content(reading, forms[i]);

			if (kinds[i] == DW_LNCT_path)
				name = content.text;
			else if (kinds[i] == DW_LNCT_directory_index)
				directory = content.number;
		}
		if (files)
			add_file(reading->sources, name, directory);
		else
			add_directory(reading->sources, name);
	}
	return !cursor->bad;
}

static bool read_packing(struct dwarf_cursor *cursor, struct line_header *header)
{
	header->instruction_bytes = cursor_u8(cursor);
	header->operations = header->version >= 4 ? cursor_u8(cursor) : 1;
	cursor_u8(cursor); /* whether rows are statements at first */
	header->line_base = (int8_t)cursor_u8(cursor);
	header->line_range = cursor_u8(cursor);
	header->opcode_base = cursor_u8(cursor);
	header->opcode_lengths = cursor->at;
	cursor_skip(cursor, header->opcode_base ? header->opcode_base - 1 : 0);
	return !cursor->bad && header->operations && header->line_range && header->opcode_base;
}

/* Reads the header at the cursor; then that stands at the program. directory: of compilation, or NULL. */
static bool read_header(struct line_reading *reading, const char *directory)
{
	struct line_header *header = &reading->header;
	struct dwarf_cursor *cursor = &reading->cursor;
	const uint8_t *program;
	uint64_t bytes = cursor_number(cursor, 4);

	header->offset_bytes = bytes == UINT32_MAX ? 8 : 4;
	if (header->offset_bytes == 8)
		bytes = cursor_number(cursor, 8);
	if (bytes > cursor_left(cursor))
		return false;
	cursor->end = cursor->at + bytes;
	header->version = (uint16_t)cursor_number(cursor, 2);
	if (header->version < 2 || header->version > 5)
		return false;
	if (header->version == 5)
		cursor_skip(cursor, 2); /* sizes of addresses, which each operand says, and of segments */
	bytes = cursor_number(cursor, header->offset_bytes);
	if (bytes > cursor_left(cursor))
		return false;
	program = cursor->at + bytes;
	if (!read_packing(cursor, header))
		return false;
	if (header->version == 5 ? !read_entries(reading, false) || !read_entries(reading, true) :
				   !read_lists(reading, directory))
		return false;
	cursor->at = program;
	return true;
}

/* ---- the program ---- */

static void reset(struct line_reading *reading)
{
	reading->address = reading->operation = 0;
	reading->file_number = reading->line = 1;
	reading->first = reading->unit->n_rows;
	reading->reading = reading->dropped = false;
}

/* All rows since `first` are code up to the address. */
static void end_sequence(struct line_reading *reading)
{
	struct dwarf_unit *unit = reading->unit;
	struct dwarf_range_list *ranges = &reading->ranges;
	size_t n = unit->n_rows - reading->first;
	uint64_t start = n ? unit->rows[reading->first].start : 0;

	if (!n || start >= reading->address || unit->n_sequences >= SPAN_NONE - 1) {
		unit->n_rows = reading->first;
		return;
	}
	VEC_GROW(ranges->v, ranges->n, ranges->cap);
	ranges->v[ranges->n++] = (struct dwarf_range){
		.start = start,
		.end = reading->address,
		.rank = ~(reading->address - start),
		.id = (uint32_t)unit->n_sequences,
	};
	VEC_GROW(unit->sequences, unit->n_sequences, unit->cap_sequences);
	unit->sequences[unit->n_sequences++] = (struct dwarf_sequence){ reading->first, n };
	reading->first = unit->n_rows;
}

static void add_row(struct line_reading *reading)
{
	struct dwarf_unit *unit = reading->unit;
	uint32_t file = reading->file_number < SPAN_NONE ? (uint32_t)reading->file_number : SPAN_NONE;
	uint32_t line = reading->line <= UINT32_MAX ? (uint32_t)reading->line : 0;
	struct dwarf_row *last;

	if (!reading->reading) {
		reading->reading = true;
		reading->dropped = !dwarf_file_is_code(reading->file, reading->address);
	}
	if (reading->dropped)
		return;
	last = unit->n_rows > reading->first ? &unit->rows[unit->n_rows - 1] : NULL;
	if (last && reading->address < last->start) { /* addresses must not go back: another piece */
		uint64_t address = reading->address;

		reading->address = last->start;
		end_sequence(reading);
		reading->address = address;
		last = NULL;
	}
	if (last && last->start == reading->address) {
		unit->n_rows--;
		last = unit->n_rows > reading->first ? last - 1 : NULL;
	}
	if (last && last->file == file && last->line == line)
		return;
	VEC_GROW(unit->rows, unit->n_rows, unit->cap_rows);
	unit->rows[unit->n_rows++] = (struct dwarf_row){
		.start = reading->address, .file = file, .line = line
	};
}

static void advance(struct line_reading *reading, uint64_t operations)
{
	const struct line_header *header = &reading->header;

	if (header->operations > 1) {
		operations += reading->operation;
		reading->operation = operations % header->operations;
		operations /= header->operations;
	}
	reading->address += operations * header->instruction_bytes;
}

static void run_special(struct line_reading *reading, uint8_t opcode)
{
	const struct line_header *header = &reading->header;
	unsigned adjusted = opcode - header->opcode_base;

	advance(reading, adjusted / header->line_range);
	reading->line += (uint64_t)(int64_t)(header->line_base + (int)(adjusted % header->line_range));
	add_row(reading);
}

static void run_extended(struct line_reading *reading)
{
	struct dwarf_cursor *cursor = &reading->cursor, inside;
	uint64_t bytes = cursor_uleb(cursor);
	const char *name;

	inside = *cursor;
	cursor_skip(cursor, bytes);
	if (cursor->bad || !bytes)
		return;
	inside.end = inside.at + bytes;
	switch (cursor_u8(&inside)) {
	case DW_LNE_end_sequence:
		end_sequence(reading);
		reset(reading);
		break;
	case DW_LNE_set_address:
		reading->address = cursor_number(&inside, (unsigned)(bytes <= 9 ? bytes - 1 : 0));
		reading->operation = 0;
		break;
	case DW_LNE_define_file:
		name = cursor_text(&inside);
		if (name)
			add_file_at(&reading->unit->sources, &inside, name);
		break;
	}
}

static void run_standard(struct line_reading *reading, uint8_t opcode)
{
	const struct line_header *header = &reading->header;
	struct dwarf_cursor *cursor = &reading->cursor;

	switch (opcode) {
	case DW_LNS_copy:
		add_row(reading);
		break;
	case DW_LNS_advance_pc:
		advance(reading, cursor_uleb(cursor));
		break;
	case DW_LNS_advance_line:
		reading->line += (uint64_t)cursor_sleb(cursor);
		break;
	case DW_LNS_set_file:
		reading->file_number = cursor_uleb(cursor);
		break;
	case DW_LNS_const_add_pc:
		advance(reading, (255 - header->opcode_base) / header->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		reading->address += cursor_number(cursor, 2);
		reading->operation = 0;
		break;
	default: /* columns and flags; what is not known says how many operands it has */
		for (uint8_t i = 0; i < header->opcode_lengths[opcode - 1]; i++)
			cursor_uleb(cursor);
	}
}

static void run_program(struct line_reading *reading)
{
	struct dwarf_cursor *cursor = &reading->cursor;

	reset(reading);
	while (cursor_left(cursor) && !cursor->bad) {
		uint8_t opcode = cursor_u8(cursor);

		if (opcode >= reading->header.opcode_base)
			run_special(reading, opcode);
		else if (opcode)
			run_standard(reading, opcode);
		else
			run_extended(reading);
	}
	reading->unit->n_rows = reading->first; /* a sequence without an end is not known to be code */
}

/* Finds the unit's table in .debug_line. libdw does not say where it is in a section that it was not given. */
static bool find_table(struct dwarf_file *file, const struct dwarf_unit *unit, uint64_t *offset)
{
	const struct dw_lib *lib = file->lib;
	struct dwarf_cursor cursor = file->sections.info;
	Dwarf_Attribute attribute;
	uint8_t offset_bytes;
	Dwarf_Die die;

	if (lib->dwarf_cu_info(unit->cu, NULL, NULL, &die, NULL, NULL, NULL, &offset_bytes) || !die.cu ||
	    !lib->dwarf_attr(&die, DW_AT_stmt_list, &attribute) || attribute.valp < cursor.at ||
	    attribute.valp > cursor.end)
		return false;
	if (attribute.form == DW_FORM_data4 || attribute.form == DW_FORM_data8)
		offset_bytes = attribute.form == DW_FORM_data4 ? 4 : 8;
	else if (attribute.form != DW_FORM_sec_offset)
		return false;
	cursor.at = attribute.valp;
	*offset = cursor_number(&cursor, offset_bytes);
	return !cursor.bad;
}

/* Reads the table's header and files; false: there is none that can be read. */
static bool begin_table(struct line_reading *reading)
{
	struct dwarf_file *file = reading->file;
	uint64_t offset;

	if (!find_table(file, reading->unit, &offset))
		return false;
	reading->cursor = *dwarf_elf_lines(file);
	cursor_skip(&reading->cursor, offset);
	return read_header(reading, dwarf_unit_directory(file, reading->unit));
}

/* The files alone, for calls: their program is run only where a line is asked for. */
static void read_sources(struct dwarf_file *file, struct dwarf_unit *unit)
{
	struct line_reading reading = { .file = file, .unit = unit, .sources = &unit->sources };

	if (unit->sources_read)
		return;
	unit->sources_read = true;
	begin_table(&reading);
}

/* Their files were read before, perhaps. ranges: what the sequences cover is appended there; or NULL. */
static void read_rows(struct dwarf_file *file, struct dwarf_unit *unit, struct dwarf_range_list *ranges)
{
	struct dwarf_sources again = { 0 };
	struct line_reading reading = {
		.file = file, .unit = unit, .sources = unit->sources_read ? &again : &unit->sources
	};

	if (unit->lines_read)
		return;
	unit->lines_read = true;
	if (begin_table(&reading) &&
	    dwarf_file_spend(file, cursor_left(&reading.cursor)))
		run_program(&reading);
	unit->sources_read = true;
	dwarf_sources_release(&again);
	for (size_t i = 0; ranges && i < reading.ranges.n; i++) {
		VEC_GROW(ranges->v, ranges->n, ranges->cap);
		ranges->v[ranges->n++] = reading.ranges.v[i];
	}
	dwarf_spans_build(&unit->row_spans, &reading.ranges);
}

void dwarf_line_ranges(struct dwarf_file *file, uint32_t unit, struct dwarf_range_list *out)
{
	size_t before = out->n;

	read_rows(file, &file->units[unit], out);
	for (size_t i = before; i < out->n; i++)
		out->v[i].id = unit;
}

/* A directory is relative to that of the compilation, which is the first one. */
static uint32_t source_id(struct dwarf_file *file, struct dwarf_sources *sources, uint64_t number)
{
	struct dwarf_source *source = number < sources->n ? &sources->v[number] : NULL;
	const char **directories = sources->directories;

	if (!source)
		return 0;
	if (source->id == SPAN_NONE && source->directory < sources->n_directories)
		source->id = dwarf_file_name(file, source->directory ? directories[0] : NULL,
					     directories[source->directory], source->name);
	return source->id != SPAN_NONE ? source->id : 0;
}

/*
 * Calls in a .dwo file count the files of the skeleton's table, too. A table in the .dwo file is one of its type
 * units: gcc's names the same files by the same numbers, clang's has none but theirs.
 */
uint32_t dwarf_line_call_source(struct dwarf_file *file, struct dwarf_unit *unit, uint64_t number)
{
	read_sources(file, unit);
	return source_id(file, &unit->sources, number);
}

bool dwarf_line_find(struct dwarf_file *file, struct dwarf_unit *unit, uint64_t addr,
		     struct source_line *out)
{
	const struct dwarf_row *rows, *row;
	size_t at;
	uint32_t id;

	*out = (struct source_line){ NULL, 0 };
	read_rows(file, unit, NULL);
	id = dwarf_spans_find(&unit->row_spans, addr);
	if (id == SPAN_NONE)
		return false;
	rows = &unit->rows[unit->sequences[id].first];
	at = BISECT(i, 0, unit->sequences[id].n, rows[i].start <= addr);
	row = &rows[at - 1]; /* the sequence starts with its first row */
	id = source_id(file, &unit->sources, row->file); /* may move names */
	out->file = file->names[id];
	out->line = row->line;
	return out->file || out->line;
}
