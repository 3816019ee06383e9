/*
 * What looks like a call in a print format: the kernel's own helpers, each a row with the nodes that it makes.
 * Any other function is one of the kernel's that can't be called here.
 */
#include "trace/trace_internal.h"

#include <stdlib.h>

enum { NAMES_MAX = 16 << 10 /* of a format; the kernel's largest have some 200 */ };

static struct trace_node *typed(struct trace_node *node, unsigned bytes, bool is_signed)
{
	if (node) {
		node->bytes = (uint8_t)bytes;
		node->is_signed = is_signed;
	}
	return node;
}

/* ---- names of values: { 1, "READ" }, { 2, "WRITE" } ---- */

static bool parse_name(struct trace_parser *parser, struct trace_name *name)
{
	const struct trace_node *value, *text;

	*name = (struct trace_name){ .known = false };
	if (!trace_takes(parser, '{'))
		return false;
	if (trace_takes(parser, '}'))
		return true; /* of an empty table */
	value = trace_parse_expression(parser);
	if (!value || value->kind != TRACE_CONST || !trace_takes(parser, ','))
		return false;
	text = trace_parse_expression(parser);
	if (!text || text->kind != TRACE_CONST || !trace_takes(parser, '}'))
		return false;
	/* A row without a text is the kernel's end of the table. */
	*name = (struct trace_name){ value->value, text->text, !value->is_word && text->text };
	return true;
}

/* Up to and with the last parenthesis. */
static bool parse_names(struct trace_parser *parser, struct trace_node *node)
{
	struct trace_name *names = NULL;
	size_t n = 0, cap = 0;
	bool good;

	do {
		if (n == cap) {
			cap = cap ? 2 * cap : 8;
			names = xreallocarray(names, cap, sizeof(*names));
		}
		good = parser->n_names++ < NAMES_MAX && parse_name(parser, &names[n]);
		n++;
	} while (good && trace_takes(parser, ','));
	good = good && trace_takes(parser, ')');
	if (good) {
		node->names = arena_copy(parser->arena, names, n * sizeof(*names));
		node->n_names = n;
	}
	free(names);
	return good;
}

static struct trace_node *parse_flags(struct trace_parser *parser, enum trace_node_kind kind)
{
	const struct trace_node *value = trace_parse_expression(parser), *between = NULL;
	struct trace_node *node;

	if (!value || !trace_takes(parser, ','))
		return NULL;
	if (kind == TRACE_FLAGS) {
		between = trace_parse_expression(parser);
		if (!between || between->kind != TRACE_CONST || !between->text || !trace_takes(parser, ','))
			return NULL;
	}
	node = trace_node_new(parser, kind, value, NULL, NULL);
	if (!node || !parse_names(parser, node))
		return NULL;
	node->text = between ? between->text : NULL;
	return node;
}

/* ---- bytes ---- */

/* (field, n) or (field, n, size) */
static struct trace_node *parse_bytes(struct trace_parser *parser, enum trace_node_kind kind)
{
	const struct trace_node *arg[3] = { NULL };
	unsigned n = kind == TRACE_ARRAY ? 3 : 2;

	for (unsigned i = 0; i < n; i++) {
		arg[i] = trace_parse_expression(parser);
		if (!arg[i] || !trace_takes(parser, i + 1 < n ? ',' : ')'))
			return NULL;
	}
	return trace_node_new(parser, kind, arg[0], arg[1], arg[2]);
}

/* (NAME), a dynamic field's. */
static struct trace_node *parse_dynamic(struct trace_parser *parser, enum trace_node_kind kind)
{
	const struct trace_field *field;
	struct trace_node *node;

	if (parser->token.kind != TRACE_TOKEN_WORD)
		return NULL;
	field = trace_field_find(parser->format, parser->token.text, parser->token.len);
	trace_next(parser);
	if (!field || !field->is_dynamic || !trace_takes(parser, ')'))
		return NULL;
	node = trace_node_new(parser, kind, NULL, NULL, NULL);
	if (node)
		node->field = field;
	return kind == TRACE_DYNAMIC ? typed(node, 8, false) : node;
}

/* ---- numbers ---- */

/* __builtin_expect(x, 0): x */
static struct trace_node *parse_expect(struct trace_parser *parser, enum trace_node_kind kind)
{
	const struct trace_node *value = trace_parse_expression(parser);
	struct trace_node *node;

	if (!value || !trace_takes(parser, ',') || !trace_parse_expression(parser) || !trace_takes(parser, ')'))
		return NULL;
	node = trace_node_new(parser, kind, value, NULL, NULL);
	return typed(node, value->bytes, value->is_signed);
}

/* sizeof(type), sizeof(REC->x), sizeof(REC->x[0]): a constant. */
static struct trace_node *parse_sizeof(struct trace_parser *parser, enum trace_node_kind kind)
{
	const struct trace_node *value;
	unsigned size;
	bool is_signed, is_pointer, is_known;
	uint8_t bytes;

	(void)kind;
	if (parser->token.kind != TRACE_TOKEN_WORD)
		return NULL;
	if (parser->token.len == 3 && !memcmp(parser->token.text, "REC", 3)) {
		value = trace_parse_expression(parser);
		if (!value)
			return NULL;
		size = value->kind == TRACE_FIELD ? value->field->size : value->bytes;
	} else {
		is_known = trace_parse_type(parser, &bytes, &is_signed, &is_pointer);
		size = is_pointer ? parser->long_bytes : bytes;
		if (!is_known && !is_pointer)
			return NULL;
	}
	return trace_takes(parser, ')') ? trace_number_node(parser, size, (uint8_t)parser->long_bytes, false) : NULL;
}

/* Nanoseconds as whole seconds, and what is left of them. */
static struct trace_node *parse_seconds(struct trace_parser *parser, unsigned sign)
{
	const struct trace_node *value = trace_parse_expression(parser);
	struct trace_node *second = trace_number_node(parser, 1000000000, 8, false), *node;

	if (!value || !second || !trace_takes(parser, ')'))
		return NULL;
	node = typed(trace_node_new(parser, TRACE_BINARY, value, second, NULL), 8, false);
	if (node)
		node->sign = sign;
	return node;
}

static struct trace_node *parse_ns_to_secs(struct trace_parser *parser, enum trace_node_kind kind)
{
	(void)kind;
	return parse_seconds(parser, '/');
}

static struct trace_node *parse_ns_without_secs(struct trace_parser *parser, enum trace_node_kind kind)
{
	(void)kind;
	return parse_seconds(parser, '%');
}

/* To add a helper: a row here; a new kind of node: also trace_eval.c or trace_text.c. */
static const struct {
	const char *name;
	struct trace_node *(*parse)(struct trace_parser *parser, enum trace_node_kind kind);
	enum trace_node_kind kind;
} helpers[] = {
	{ "__print_flags", parse_flags, TRACE_FLAGS },
	{ "__print_flags_u64", parse_flags, TRACE_FLAGS },
	{ "__print_symbolic", parse_flags, TRACE_SYMBOL },
	{ "__print_symbolic_u64", parse_flags, TRACE_SYMBOL },
	{ "__print_hex", parse_bytes, TRACE_HEX },
	{ "__print_hex_str", parse_bytes, TRACE_HEX_STR },
	{ "__print_array", parse_bytes, TRACE_ARRAY },
	{ "__print_ns_to_secs", parse_ns_to_secs, TRACE_BINARY },
	{ "__print_ns_without_secs", parse_ns_without_secs, TRACE_BINARY },
	{ "__get_str", parse_dynamic, TRACE_DYNAMIC },
	{ "__get_rel_str", parse_dynamic, TRACE_DYNAMIC },
	{ "__get_dynamic_array", parse_dynamic, TRACE_DYNAMIC },
	{ "__get_rel_dynamic_array", parse_dynamic, TRACE_DYNAMIC },
	{ "__get_sockaddr", parse_dynamic, TRACE_DYNAMIC },
	{ "__get_rel_sockaddr", parse_dynamic, TRACE_DYNAMIC },
	{ "__get_sockaddr_rel", parse_dynamic, TRACE_DYNAMIC },
	{ "__get_dynamic_array_len", parse_dynamic, TRACE_DYNAMIC_LEN },
	{ "__get_rel_dynamic_array_len", parse_dynamic, TRACE_DYNAMIC_LEN },
	{ "__get_bitmask", parse_dynamic, TRACE_BITMASK },
	{ "__get_rel_bitmask", parse_dynamic, TRACE_BITMASK },
	{ "__get_cpumask", parse_dynamic, TRACE_CPUMASK },
	{ "__get_rel_cpumask", parse_dynamic, TRACE_CPUMASK },
	{ "__builtin_expect", parse_expect, TRACE_CAST },
	{ "sizeof", parse_sizeof, TRACE_CONST },
};

struct trace_node *trace_parse_call(struct trace_parser *parser, const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(helpers); i++)
		if (strlen(helpers[i].name) == len && !memcmp(helpers[i].name, name, len))
			return helpers[i].parse(parser, helpers[i].kind);
	return NULL;
}
