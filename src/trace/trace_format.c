/* SPDX-License-Identifier: MIT */
/*
 * The lines of a tracepoint's format, as the kernel writes them:
 *
 *	name: sched_switch
 *	ID: 316
 *	format:
 *		field:unsigned short common_type;	offset:0;	size:2;	signed:0;
 *		...
 *
 *		field:char prev_comm[16];	offset:8;	size:16;	signed:0;
 *		field:__data_loc char[] name;	offset:24;	size:4;	signed:0;
 *
 *	print fmt: "prev_comm=%s ...", REC->prev_comm, ...
 *
 * A declaration is only looked at for what a value needs: its name, and whether it is an array, a text, a
 * pointer, a long, or a reference to bytes that are elsewhere in the sample. The kernel gives the rest.
 *
 * Source: Documentation/trace/events.rst of the kernel.
 */
#include "trace/trace_internal.h"

#include <ctype.h>
#include <stdlib.h>

enum {
	TEXT_MAX = 256 << 10, /* the kernel's largest have some 30 KiB */
	FIELDS_MAX = 512,
	FIELD_END_MAX = 1 << 20, /* a sample has less than 64 KiB */
};

/* The first field of all: by it the format of a sample is found. */
static const char type_field[] = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;";

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* ---- lines ---- */

static bool take_word(const char **at, const char *end, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(end - *at) < len || memcmp(*at, word, len) != 0)
		return false;
	*at += len;
	return true;
}

/* Any number of digits, and a value that is still a place in a sample. */
static bool take_number(const char **at, const char *end, uint32_t *value)
{
	const char *p = *at;

	for (*value = 0; p < end && isdigit((unsigned char)*p) && *value < FIELD_END_MAX; p++)
		*value = *value * 10 + (uint32_t)(*p - '0');
	if (p == *at || *value >= FIELD_END_MAX)
		return false;
	*at = p;
	return true;
}

/* The next line without its end; false: there is none. */
static bool take_line(const char **at, const char *end, const char **line, const char **line_end)
{
	const char *newline;

	if (*at >= end)
		return false;
	newline = memchr(*at, '\n', (size_t)(end - *at));
	*line = *at;
	*line_end = newline ? newline : end;
	*at = newline ? newline + 1 : end;
	return true;
}

bool trace_format_id(const char *text, size_t len, uint16_t *id)
{
	const char *at = text, *end = text + len, *line, *line_end;
	uint32_t value;

	if (len > TEXT_MAX || !take_line(&at, end, &line, &line_end) || !take_word(&line, line_end, "name: ") ||
	    !take_line(&at, end, &line, &line_end) || !take_word(&line, line_end, "ID: ") ||
	    !take_number(&line, line_end, &value) || line != line_end || value > UINT16_MAX)
		return false;
	*id = (uint16_t)value;
	return true;
}

/* ---- a declaration ---- */

static bool has_text(const char *at, const char *end, const char *text)
{
	return memmem(at, (size_t)(end - at), text, strlen(text)) != NULL;
}

/* Bytes of the type whose name ends at `end`: of the elements of a dynamic array. */
static uint32_t type_bytes(const char *start, const char *end, unsigned long_bytes)
{
	static const struct {
		const char *name;
		uint32_t bytes; /* 0: as long as a long */
	} types[] = { { "u8", 1 },  { "s8", 1 },  { "char", 1 },  { "u16", 2 }, { "s16", 2 }, { "short", 2 },
		      { "u32", 4 }, { "s32", 4 }, { "int", 4 },   { "u64", 8 }, { "s64", 8 }, { "long", 0 } };
	const char *word = end;

	while (word > start && is_name_char(word[-1]))
		word--;
	if (end - word > 2 && word[0] == '_' && word[1] == '_')
		word += 2;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (strlen(types[i].name) == (size_t)(end - word) &&
		    !memcmp(word, types[i].name, (size_t)(end - word)))
			return types[i].bytes ? types[i].bytes : long_bytes;
	return 0;
}

/* The last number in brackets; 0: a word stands there, or nothing. */
static uint32_t bracket_number(const char *open, const char *close)
{
	const char *digits = close;
	uint32_t n = 0;

	while (digits > open + 1 && isalnum((unsigned char)digits[-1]))
		digits--;
	return take_number(&digits, close, &n) && digits == close ? n : 0;
}

/* "char prev_comm[16]", "__data_loc char[] name", "const char * name", "int x". */
static bool parse_declaration(struct arena *arena, const char *start, const char *end, unsigned long_bytes,
			      struct trace_field *field)
{
	const char *open = memchr(start, '[', (size_t)(end - start)), *close = NULL;
	const char *name_end = end, *name, *type_end;
	uint32_t n_elements = 0;

	if (open) {
		close = memrchr(open, ']', (size_t)(end - open));
		if (!close)
			return false;
		n_elements = bracket_number(memrchr(start, '[', (size_t)(close - start)), close);
		name_end = close + 1 == end ? open : end;
	}
	for (name = name_end; name > start && is_name_char(name[-1]); name--)
		;
	if (name == name_end || name == start)
		return false;
	type_end = open && name > open ? open : name;
	field->name = arena_strndup(arena, name, (size_t)(name_end - name));
	field->is_array = open != NULL;
	field->is_pointer = has_text(start, name, "*");
	field->is_long = has_text(start, name, "long");
	field->is_relative = take_word(&start, type_end, "__rel_loc");
	field->is_dynamic = field->is_relative || take_word(&start, type_end, "__data_loc");
	field->is_string = open && (has_text(start, type_end, "char") || has_text(start, type_end, "u8") ||
				    has_text(start, type_end, "s8"));
	if (n_elements)
		field->element_bytes = field->size / n_elements;
	else if (field->is_dynamic)
		field->element_bytes = type_bytes(start, type_end, long_bytes);
	else if (open)
		field->element_bytes = field->is_string ? 1 : field->is_long ? long_bytes : 0;
	if (field->is_dynamic && field->size == 2) /* as old kernels had it: a text that ends in NUL */
		field->is_string = field->is_array = true;
	return true;
}

/* "\tfield:int x;\toffset:8;\tsize:4;\tsigned:1;", the last part only of newer kernels. */
static bool parse_field(struct arena *arena, const char *at, const char *end, unsigned long_bytes,
			struct trace_field *field)
{
	const char *start, *semicolon;
	uint32_t sign = 0;

	if (!take_word(&at, end, "\tfield:"))
		return false;
	start = at;
	semicolon = memchr(at, ';', (size_t)(end - at));
	if (!semicolon)
		return false;
	at = semicolon;
	*field = (struct trace_field){ 0 };
	if (!take_word(&at, end, ";\toffset:") || !take_number(&at, end, &field->offset) ||
	    !take_word(&at, end, ";\tsize:") || !take_number(&at, end, &field->size))
		return false;
	if (take_word(&at, end, ";\tsigned:") && !take_number(&at, end, &sign))
		return false;
	field->is_signed = sign;
	return take_word(&at, end, ";") && at == end &&
	       parse_declaration(arena, start, semicolon, long_bytes, field);
}

/* ---- all of it ---- */

static bool parse_fields(struct arena *arena, const char **at, const char *end, unsigned long_bytes,
			 struct trace_format *format)
{
	static const char print[] = "print fmt: ";
	const char *line, *line_end, *print_at;

	while ((print_at = *at), take_line(at, end, &line, &line_end)) {
		if (take_word(&print_at, end, print)) { /* to the end: some strings go on over several lines */
			format->print = print_at;
			format->print_len = (size_t)(end - print_at);
			return true;
		}
		if (line == line_end) {
			if (!format->n_common)
				format->n_common = format->n_fields;
			continue;
		}
		if (format->n_fields == FIELDS_MAX ||
		    !parse_field(arena, line, line_end, long_bytes, &format->fields[format->n_fields]))
			return false;
		format->n_fields++;
	}
	return true;
}

bool trace_format_parse(struct arena *arena, const char *text, size_t len, unsigned long_bytes,
			struct trace_format *format)
{
	const char *at = text, *end = text + len, *line, *line_end;
	struct trace_field fields[FIELDS_MAX];
	uint16_t id;

	*format = (struct trace_format){ .fields = fields };
	if (!trace_format_id(text, len, &id))
		return false;
	take_line(&at, end, &line, &line_end);
	take_line(&at, end, &line, &line_end);
	if (!take_line(&at, end, &line, &line_end) || !take_word(&line, line_end, "format:") || line != line_end)
		return false;
	line = at;
	if (!take_word(&line, end, type_field) || !parse_fields(arena, &at, end, long_bytes, format))
		return false;
	for (size_t i = format->n_common; i < format->n_fields; i++) {
		format->has_dynamic |= fields[i].is_dynamic;
		if (fields[i].offset + fields[i].size > format->end)
			format->end = fields[i].offset + fields[i].size;
	}
	format->fields = arena_copy(arena, fields, format->n_fields * sizeof(*fields));
	return true;
}

const struct trace_field *trace_field_find(const struct trace_format *format, const char *name, size_t len)
{
	for (size_t i = 0; i < format->n_fields; i++)
		if (!strncmp(format->fields[i].name, name, len) && !format->fields[i].name[len])
			return &format->fields[i];
	return NULL;
}
