/* SPDX-License-Identifier: MIT */
/*
 * trace_internal: how the text of a tracepoint's sample is made. Private to trace/.
 *
 *	TRACING_DATA -> trace.c -> a format's text -> trace_format.c -> its fields
 *	                           print fmt -> trace_parse.c -> pieces and nodes
 *	a sample's bytes -> trace_eval.c (numbers), trace_text.c (the text)
 *
 * A recording may be from anywhere, so a format may be any text. What is made of one is bounded: in the
 * length of the text that is looked at, in fields, in nodes, and in how deep they stand below one another;
 * each sample walks each node at most once for each % that shows it, and its text ends at a bound too.
 */
#ifndef PSTAT_TRACE_PARTS_H
#define PSTAT_TRACE_PARTS_H

#include "util/util.h"

/* ---- trace_format.c: a format's lines ---- */

struct trace_field {
	const char *name;
	uint32_t offset, size; /* of its bytes in the sample; of the reference where it is dynamic */
	uint32_t element_bytes; /* of an array; 0: not known */
	bool is_signed, is_array, is_string, is_pointer, is_long;
	bool is_dynamic; /* the bytes are a reference: where the field is in the sample, and how long */
	bool is_relative; /* that place counts from the reference's end */
};

struct trace_format {
	struct trace_field *fields; /* the common ones first */
	size_t n_fields, n_common;
	uint32_t end; /* of the fields that are not common: a sample has as many bytes, or more */
	bool has_dynamic;
	const char *print; /* after "print fmt: "; not ended by NUL */
	size_t print_len; /* 0: there is none */
};

/* "ID: 316" of a format's text; false: it has none that a sample can have. */
bool trace_format_id(const char *text, size_t len, uint16_t *id);
/* The text must live as long as the format. false: the lines are not a format's. */
bool trace_format_parse(struct arena *arena, const char *text, size_t len, unsigned long_bytes,
			struct trace_format *format);
/* NULL: no such field. */
const struct trace_field *trace_field_find(const struct trace_format *format, const char *name, size_t len);

/* ---- a print format: pieces, and the expressions that they show ---- */

/* A sign of one or two characters as a number. */
#define TRACE_SIGN(a, b) ((unsigned)(a) | (unsigned)(b) << 8)

enum trace_node_kind {
	TRACE_CONST, /* text: as it was written, where it was a word or a string */
	TRACE_FIELD,
	TRACE_INDEX, /* an element of what a stands for */
	TRACE_UNARY,
	TRACE_BINARY,
	TRACE_COND, /* a ? b : c */
	TRACE_CAST, /* (type)a */
	TRACE_DYNAMIC, /* a dynamic field's bytes */
	TRACE_DYNAMIC_LEN,
	TRACE_FLAGS, /* a as names of bits, text between them */
	TRACE_SYMBOL, /* a as a name */
	TRACE_HEX, /* b bytes of a */
	TRACE_HEX_STR, /* the same without blanks */
	TRACE_ARRAY, /* b elements of c bytes at a */
	TRACE_BITMASK,
	TRACE_CPUMASK,
};

struct trace_name {
	uint64_t value;
	const char *text;
	bool known; /* false: by a word that the recording does not explain; it never matches */
};

/* The value's type is that of C: fields have their own size, all else 4 or 8 bytes. */
struct trace_node {
	enum trace_node_kind kind;
	uint8_t bytes;
	bool is_signed;
	bool is_word; /* of a constant: from a word that nobody knows, taken as 0 */
	uint16_t depth; /* of the nodes below, and one */
	/* The type that a cast to a pointer points to, 0: unknown; the type of a comparison's operands. */
	uint8_t element_bytes;
	bool element_signed;
	unsigned sign;
	const struct trace_node *a, *b, *c;
	const struct trace_field *field;
	uint64_t value;
	const char *text;
	const struct trace_name *names;
	size_t n_names;
};

struct trace_spec { /* of one % */
	char conversion; /* d u x X o c s p */
	bool left, plus, blank, zero, alternate;
	uint8_t bytes; /* of the number that is shown */
	int width, precision; /* -1: none */
	char pointer; /* after %p: S s M I U h b, or NUL; what stands for another is replaced by it */
	char options[5]; /* the letters after that one */
};
struct trace_piece {
	const char *text; /* as it is, where arg is NULL */
	size_t len;
	const struct trace_node *arg, *width, *precision;
	struct trace_spec spec;
	bool is_number; /* and width and precision are not from the sample: nothing but spec has to be looked at */
};
struct trace_print {
	struct trace_piece *pieces;
	size_t n;
};
/* trace_parse.c; false: not understood; the fields are then shown one by one. */
bool trace_print_parse(struct arena *arena, const struct trace_format *format, unsigned long_bytes,
		       struct trace_print *print);

/* ---- a sample ---- */

/* The machine that was recorded, whose pointers are looked up. Functions return NULL for what they do not know. */
struct trace_machine {
	bool swap, big_endian; /* samples are of the other byte order; of the high byte first */
	unsigned long_bytes;
	void *context;
	const char *(*function)(void *context, uint64_t address, uint64_t *start);
	const char *(*text)(void *context, uint64_t address);
};
struct trace_raw {
	const uint8_t *bytes;
	size_t len;
	const struct trace_machine *machine;
};

/* ---- trace_eval.c: numbers ---- */

/* The value's low bytes, extended to 64 bits by its sign or by 0. */
static inline uint64_t trace_extend(uint64_t value, uint8_t bytes, bool is_signed)
{
	unsigned unused = 64 - 8u * bytes;

	if (bytes >= 8)
		return value;
	return is_signed ? (uint64_t)((int64_t)(value << unused) >> unused) : value << unused >> unused;
}
uint64_t trace_eval(const struct trace_raw *raw, const struct trace_node *node);
/* 1, 2, 4 or 8 bytes at a place that is in the sample; 0 for others. */
uint64_t trace_read(const struct trace_raw *raw, size_t at, size_t bytes);
/* Finds a field's bytes; false: not all of them are in the sample. */
bool trace_field_place(const struct trace_raw *raw, const struct trace_field *field, size_t *at, size_t *len);
/* Finds the bytes that a pointer would point at; false: it is none into the sample. */
bool trace_node_place(const struct trace_raw *raw, const struct trace_node *node, size_t *at, size_t *len);

/* ---- trace_text.c ---- */

/* The text that the kernel's format makes of a sample. */
void trace_add_text(struct str *out, const struct trace_raw *raw, const struct trace_print *print);
/* " name=value" for each field that is not a common one. */
void trace_add_fields(struct str *out, const struct trace_raw *raw, const struct trace_format *format);

#endif
