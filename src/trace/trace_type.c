/*
 * C's types in a print format: how many bytes a value has, and whether it has a sign. More is not needed: there
 * are no structures, and a pointer is a number that knows the size of what it points to.
 */
#include "trace/trace_internal.h"

void trace_promote(const struct trace_node *node, uint8_t *bytes, bool *is_signed)
{
	*bytes = node->bytes < 4 ? 4 : node->bytes;
	*is_signed = node->bytes < 4 || node->is_signed;
}

void trace_common_type(const struct trace_node *a, const struct trace_node *b, uint8_t *bytes, bool *is_signed)
{
	uint8_t a_bytes, b_bytes;
	bool a_signed, b_signed;

	trace_promote(a, &a_bytes, &a_signed);
	trace_promote(b, &b_bytes, &b_signed);
	*bytes = a_bytes > b_bytes ? a_bytes : b_bytes;
	*is_signed = a_bytes == b_bytes ? a_signed && b_signed : a_bytes > b_bytes ? a_signed : b_signed;
}

/* A word of a type: what it says of the size and the sign. */
struct type_word {
	const char *name;
	uint8_t bytes; /* 0: nothing */
	bool is_unsigned, is_signed, is_long, is_other; /* other: of a size that is not known here */
};

static const struct type_word type_words[] = {
	{ "u8", .bytes = 1, .is_unsigned = true },
	{ "u16", .bytes = 2, .is_unsigned = true },
	{ "u32", .bytes = 4, .is_unsigned = true },
	{ "u64", .bytes = 8, .is_unsigned = true },
	{ "s8", .bytes = 1 },
	{ "s16", .bytes = 2 },
	{ "s32", .bytes = 4 },
	{ "s64", .bytes = 8 },
	{ "char", .bytes = 1, .is_unsigned = true }, /* in kernels since 6.2, on all machines */
	{ "short", .bytes = 2 },
	{ "int", .bytes = 4 },
	{ "long", .is_long = true },
	{ "unsigned", .is_unsigned = true },
	{ "signed", .is_signed = true },
	{ "const", .bytes = 0 },
	{ "volatile", .bytes = 0 },
	{ "bool", .bytes = 1, .is_unsigned = true },
	{ "size_t", .is_long = true, .is_unsigned = true },
	{ "void", .is_other = true },
	{ "struct", .is_other = true },
	{ "union", .is_other = true },
	{ "enum", .is_other = true },
};

static const struct type_word *find_type_word(const char *name, size_t len)
{
	if (len > 2 && name[0] == '_' && name[1] == '_') { /* __u32 */
		name += 2;
		len -= 2;
	}
	for (size_t i = 0; i < ARRAY_SIZE(type_words); i++)
		if (strlen(type_words[i].name) == len && !memcmp(type_words[i].name, name, len))
			return &type_words[i];
	return NULL;
}

bool trace_is_type_word(const char *name, size_t len)
{
	return find_type_word(name, len);
}

bool trace_parse_type(struct trace_parser *parser, uint8_t *bytes, bool *is_signed, bool *is_pointer)
{
	bool other = false, any = false, with_sign = false;
	unsigned longs = 0;

	*bytes = 0;
	*is_signed = true;
	*is_pointer = false;
	for (;; trace_next(parser)) {
		const struct type_word *word;

		if (trace_is_sign(parser, '*')) {
			*is_pointer = true;
			continue;
		}
		if (parser->token.kind != TRACE_TOKEN_WORD)
			break;
		any = true;
		word = find_type_word(parser->token.text, parser->token.len);
		other |= !word || word->is_other;
		if (!word)
			continue;
		if (word->bytes)
			*bytes = word->bytes;
		*is_signed &= !word->is_unsigned;
		with_sign |= word->is_signed;
		longs += word->is_long;
	}
	*is_signed |= with_sign;
	if (longs)
		*bytes = longs > 1 ? 8 : (uint8_t)parser->long_bytes;
	else if (!*bytes && any && !other)
		*bytes = 4;
	return *bytes && !other;
}
