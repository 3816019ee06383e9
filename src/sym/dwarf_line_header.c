/*
 * dwarf_line_header: the part of .debug_line before a unit's program: how its opcodes are packed, and the
 * directories and files that it names by number. Up to version 4 they are lists of texts, numbered from 1,
 * with the directory of compilation as 0; version 5 describes its own entries:
 *
 *	format   path line_strp | directory_index udata      entries  0x40 0 | 0x52 1 | ...
 *
 * Source: DWARF 5, 6.2.4; DWARF 4, 6.2.4.
 */
#include "sym/dwarf_internal.h"

#include <stdlib.h>

enum {
	FORMATS_MAX = 32, /* kinds of content of an entry: 5 are defined */
	FILES_MAX = 1 << 20,
};

struct table_reading {
	struct dwarf_file *file;
	const struct dwarf_sections *sections;
	struct dwarf_sources *sources;
	struct dwarf_cursor *cursor;
	const struct dwarf_line_header *header;
};

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

void dwarf_sources_add(struct dwarf_sources *sources, struct dwarf_cursor *cursor, const char *name)
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

static bool read_lists(const struct table_reading *reading, const char *directory)
{
	struct dwarf_cursor *cursor = reading->cursor;
	const char *name;

	add_directory(reading->sources, directory);
	while ((name = cursor_text(cursor)) && name[0] && dwarf_file_spend(reading->file, 1))
		add_directory(reading->sources, name);
	add_file(reading->sources, NULL, 0);
	while ((name = cursor_text(cursor)) && name[0] && dwarf_file_spend(reading->file, 1))
		dwarf_sources_add(reading->sources, cursor, name);
	return !cursor->bad;
}

static const char *text_at(struct dwarf_cursor section, uint64_t offset)
{
	cursor_skip(&section, offset);
	return cursor_text(&section);
}

struct content {
	const char *text;
	uint64_t number;
};

static struct content read_content(const struct table_reading *reading, uint64_t form)
{
	struct dwarf_cursor *cursor = reading->cursor;
	unsigned offset_bytes = reading->header->offset_bytes;
	struct content content = { NULL, 0 };

	switch (form) {
	case DW_FORM_string:
		content.text = cursor_text(cursor);
		break;
	case DW_FORM_line_strp:
		content.text = text_at(reading->sections->line_str,
				       cursor_number(cursor, offset_bytes));
		break;
	case DW_FORM_strp:
		content.text = text_at(reading->sections->str, cursor_number(cursor, offset_bytes));
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

static bool read_entries(const struct table_reading *reading, bool files)
{
	struct dwarf_cursor *cursor = reading->cursor;
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
			struct content content = read_content(reading, forms[i]);

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

static bool read_packing(struct dwarf_cursor *cursor, struct dwarf_line_header *header)
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

bool dwarf_line_header_read(struct dwarf_file *file, const struct dwarf_sections *sections,
			    const char *directory, struct dwarf_cursor *cursor,
			    struct dwarf_line_header *header, struct dwarf_sources *sources)
{
	struct table_reading reading = { file, sections, sources, cursor, header };
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
	if (header->version == 5 ? !read_entries(&reading, false) || !read_entries(&reading, true) :
				   !read_lists(&reading, directory))
		return false;
	cursor->at = program;
	return true;
}
