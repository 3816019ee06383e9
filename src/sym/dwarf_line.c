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
 * Of rows at one address the last one counts. Line 0 is the compiler's word for "belongs to no line", and
 * stays 0.
 *
 * Source: DWARF 5, 6.2.2 to 6.2.5.
 */
#include "sym/dwarf_internal.h"

#include <stdlib.h>

struct line_reading {
	struct dwarf_file *file;
	struct dwarf_unit *unit;
	struct dwarf_cursor cursor;
	struct dwarf_line_header header;
	struct dwarf_range_list ranges;

	/* The registers. */
	uint64_t address, file_number;
	uint64_t operation; /* within a VLIW instruction */
	uint64_t line;

	size_t first; /* row of the sequence that is being read */
	bool reading, dropped; /* a sequence; one without code */
};

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
	const struct dwarf_line_header *header = &reading->header;

	if (header->operations > 1) {
		operations += reading->operation;
		reading->operation = operations % header->operations;
		operations /= header->operations;
	}
	reading->address += operations * header->instruction_bytes;
}

static void run_special(struct line_reading *reading, uint8_t opcode)
{
	const struct dwarf_line_header *header = &reading->header;
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
			dwarf_sources_add(&reading->unit->sources, &inside, name);
		break;
	}
}

static void run_standard(struct line_reading *reading, uint8_t opcode)
{
	const struct dwarf_line_header *header = &reading->header;
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

/* Where the unit's table is in .debug_line. libdw does not say it of a section that it was not given. */
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

/* The table's header and files; false: there is none that can be read. Then the cursor stands at its program. */
static bool read_header(struct line_reading *reading, struct dwarf_sources *sources)
{
	struct dwarf_file *file = reading->file;
	uint64_t offset;

	if (!find_table(file, reading->unit, &offset))
		return false;
	reading->cursor = *dwarf_elf_lines(file);
	cursor_skip(&reading->cursor, offset);
	return dwarf_line_header_read(file, &file->sections, dwarf_unit_directory(file, reading->unit),
				      &reading->cursor, &reading->header, sources);
}

/* The files alone, for calls: their program is run only where a line is asked for. */
static void read_sources(struct dwarf_file *file, struct dwarf_unit *unit)
{
	struct line_reading reading = { .file = file, .unit = unit };

	if (unit->sources_read)
		return;
	unit->sources_read = true;
	read_header(&reading, &unit->sources);
}

/* Their files were read before, perhaps. ranges: what the sequences cover is appended there; or NULL. */
static void read_rows(struct dwarf_file *file, struct dwarf_unit *unit, struct dwarf_range_list *ranges)
{
	struct line_reading reading = { .file = file, .unit = unit };
	struct dwarf_sources again = { 0 };

	if (unit->lines_read)
		return;
	unit->lines_read = true;
	if (read_header(&reading, unit->sources_read ? &again : &unit->sources) &&
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
	size_t low = 0, high;
	uint32_t id;

	*out = (struct source_line){ NULL, 0 };
	read_rows(file, unit, NULL);
	id = dwarf_spans_find(&unit->row_spans, addr);
	if (id == SPAN_NONE)
		return false;
	rows = &unit->rows[unit->sequences[id].first];
	for (high = unit->sequences[id].n; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (rows[middle].start <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	row = &rows[low - 1]; /* the sequence starts with its first row */
	id = source_id(file, &unit->sources, row->file); /* may move names */
	out->file = file->names[id];
	out->line = row->line;
	return out->file || out->line;
}
