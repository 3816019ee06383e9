/* SPDX-License-Identifier: MIT */
/*
 * The parser of a print format: text as it stands, and one piece for each %, with its arguments.
 *
 *	"prev_comm=%s prev_pid=%d", REC->prev_comm, REC->prev_pid
 *	-> "prev_comm=", %s of a field, " prev_pid=", %d of a field
 *
 * Arguments are C's expressions on fields of the sample, with C's types and precedence; what looks like a call is one
 * of the kernel's own helpers, a row of helpers[] each. What only consists of constants is worked out here, once.
 *
 * A word that stands for nothing known is 0, as perf has it: `vmemmap_base + REC->pfn` is the number of the page then.
 * Parts of C that no kernel's format can do without a compiler (statements, assignments, what a pointer points at) are
 * not understood. What the kernel's %p can show beyond printf(3) is in Documentation/core-api/printk-formats.rst of the
 * kernel.
 */
#include "trace/trace_internal.h"

#include <ctype.h>
#include <stdlib.h>

enum {
	NODES_MAX = 16 << 10, /* of a format; the kernel's largest have some 500 */
	OPEN_MAX = 200, /* two for each expression within another; the kernel's deepest have some 30 */
	NAMES_MAX = 16 << 10, /* of a format; the kernel's largest have some 200 */
	DEPTH_MAX = 256, /* nodes below one another: a + b + c + ... */
	PIECES_MAX = 1024,
	WIDTH_MAX = 256, /* the kernel's formats have two digits at most */
};

/* ==== words: names, numbers, strings, signs ==== */

enum trace_token_kind {
	TRACE_TOKEN_END,
	TRACE_TOKEN_BAD, /* what no print format has */
	TRACE_TOKEN_WORD,
	TRACE_TOKEN_NUMBER, /* of 1, or 'x' */
	TRACE_TOKEN_STRING, /* all that stand after one another; what \ escapes is left as it is */
	TRACE_TOKEN_SIGN,
};

struct trace_token {
	enum trace_token_kind kind;
	const char *text;
	size_t len;
	unsigned sign;
	uint64_t value;
	uint8_t bytes; /* of the number's type: 4 or 8 */
	bool is_signed;
};
struct trace_lexer {
	struct arena *arena; /* for texts of strings */
	const char *at, *end;
	unsigned long_bytes;
};

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* ---- strings ---- */

/* The last quote of the string that begins after a first one at `at`; NULL: there is none. */
static const char *string_end(const struct trace_lexer *lexer, const char *at)
{
	for (at++; at < lexer->end && *at != '"'; at++)
		if (*at == '\\' && ++at == lexer->end)
			return NULL;
	return at < lexer->end ? at : NULL;
}

static void skip_blanks(struct trace_lexer *lexer)
{
	while (lexer->at < lexer->end && isspace((unsigned char)*lexer->at))
		lexer->at++;
}

/* Strings after one another are one. At the first quote. */
static struct trace_token lex_string(struct trace_lexer *lexer)
{
	struct trace_token token = { .kind = TRACE_TOKEN_STRING };
	struct trace_lexer ahead = *lexer;
	const char *last;
	char *text;

	while (ahead.at < ahead.end && *ahead.at == '"') {
		last = string_end(&ahead, ahead.at);
		if (!last)
			return (struct trace_token){ .kind = TRACE_TOKEN_BAD };
		token.len += (size_t)(last - ahead.at) - 1;
		ahead.at = last + 1;
		skip_blanks(&ahead);
	}
	token.text = text = arena_alloc(lexer->arena, token.len + 1);
	while (lexer->at < ahead.at && (last = string_end(lexer, lexer->at))) {
		text = mempcpy(text, lexer->at + 1, (size_t)(last - lexer->at) - 1);
		lexer->at = last + 1;
		skip_blanks(lexer);
	}
	*text = '\0';
	return token;
}

/* ---- numbers ---- */

/* 'x', and '\n' and its like. */
static struct trace_token lex_char(struct trace_lexer *lexer)
{
	static const char letters[] = "abfnrtv0", values[] = "\a\b\f\n\r\t\v";
	struct trace_token token = { .kind = TRACE_TOKEN_NUMBER, .bytes = 4, .is_signed = true };
	const char *p = lexer->at + 1, *letter;

	if (lexer->end - p >= 3 && *p == '\\') {
		p++;
		letter = memchr(letters, *p, sizeof(letters) - 1);
		token.value = letter ? (uint8_t)values[letter - letters] : (uint8_t)*p;
	} else if (lexer->end - p >= 2 && *p != '\'') {
		token.value = (uint8_t)*p;
	} else {
		return (struct trace_token){ .kind = TRACE_TOKEN_BAD };
	}
	if (p[1] != '\'')
		return (struct trace_token){ .kind = TRACE_TOKEN_BAD };
	lexer->at = p + 2;
	return token;
}

/* Digits by their base; what they stand for beyond 64 bits is lost. */
static const char *lex_digits(const char *p, const char *end, uint64_t *value)
{
	unsigned base = 10;

	if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X') && isxdigit((unsigned char)p[2])) {
		base = 16;
		p += 2;
	} else if (*p == '0') {
		base = 8;
	}
	for (*value = 0; p < end && isxdigit((unsigned char)*p); p++) {
		unsigned digit = isdigit((unsigned char)*p) ? (unsigned)(*p - '0')
							    : (unsigned)(tolower(*p) - 'a') + 10;

		if (digit >= base)
			break;
		*value = *value * base + digit;
	}
	return p;
}

/* The type is the first of C's that holds the value. */
static struct trace_token lex_number(struct trace_lexer *lexer)
{
	struct trace_token token = { .kind = TRACE_TOKEN_NUMBER, .bytes = 4, .is_signed = true };
	bool decimal = *lexer->at != '0';
	const char *p = lex_digits(lexer->at, lexer->end, &token.value);
	unsigned longs = 0;

	for (; p < lexer->end && strchr("uUlL", *p); p++) {
		if (*p == 'u' || *p == 'U')
			token.is_signed = false;
		else
			longs++;
	}
	if (p < lexer->end && is_word_char(*p))
		return (struct trace_token){ .kind = TRACE_TOKEN_BAD };
	if (token.value > UINT32_MAX || longs > 1 || (longs && lexer->long_bytes == 8) ||
	    (token.is_signed && decimal && token.value > INT32_MAX))
		token.bytes = 8;
	if (token.is_signed && !decimal && (token.bytes == 4 ? token.value > INT32_MAX : token.value > INT64_MAX))
		token.is_signed = false;
	lexer->at = p;
	return token;
}

/* ---- signs and words ---- */

static struct trace_token lex_sign(struct trace_lexer *lexer)
{
	static const char *const pairs[] = { "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||" };
	static const char single[] = "()[]{},?:+-*/%&|^~!<>";
	const char *p = lexer->at;

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		if (lexer->end - p < 2 || p[0] != pairs[i][0] || p[1] != pairs[i][1])
			continue;
		lexer->at += 2;
		return (struct trace_token){ .kind = TRACE_TOKEN_SIGN, .sign = TRACE_SIGN(p[0], p[1]) };
	}
	if (!memchr(single, *p, sizeof(single) - 1))
		return (struct trace_token){ .kind = TRACE_TOKEN_BAD };
	lexer->at++;
	return (struct trace_token){ .kind = TRACE_TOKEN_SIGN, .sign = (unsigned char)*p };
}

static struct trace_token lex(struct trace_lexer *lexer)
{
	struct trace_token token = { .kind = TRACE_TOKEN_END };
	const char *p;

	skip_blanks(lexer);
	if (lexer->at == lexer->end)
		return token;
	if (*lexer->at == '"')
		return lex_string(lexer);
	if (*lexer->at == '\'')
		return lex_char(lexer);
	if (isdigit((unsigned char)*lexer->at))
		return lex_number(lexer);
	if (!is_word_char(*lexer->at))
		return lex_sign(lexer);
	for (p = lexer->at; p < lexer->end && is_word_char(*p); p++)
		;
	token = (struct trace_token){ .kind = TRACE_TOKEN_WORD, .text = lexer->at,
				      .len = (size_t)(p - lexer->at) };
	lexer->at = p;
	return token;
}

/* ==== expressions ==== */

struct trace_parser {
	struct arena *arena;
	const struct trace_format *format;
	struct trace_lexer lexer;
	struct trace_token token; /* the next one */
	unsigned long_bytes;
	size_t n_nodes, n_names;
	unsigned depth; /* of the expressions that are open */
};

static const struct trace_node *parse_expression(struct trace_parser *parser);

/* ---- nodes ---- */

static void next_token(struct trace_parser *parser)
{
	parser->token = lex(&parser->lexer);
}

static bool is_sign(const struct trace_parser *parser, unsigned sign)
{
	return parser->token.kind == TRACE_TOKEN_SIGN && parser->token.sign == sign;
}

static bool takes(struct trace_parser *parser, unsigned sign)
{
	if (!is_sign(parser, sign))
		return false;
	next_token(parser);
	return true;
}

static unsigned depth_of(const struct trace_node *node)
{
	return node ? node->depth : 0;
}

static unsigned larger(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

static struct trace_node *new_node(struct trace_parser *parser, enum trace_node_kind kind,
				  const struct trace_node *a, const struct trace_node *b, const struct trace_node *c)
{
	unsigned depth = 1 + larger(depth_of(a), larger(depth_of(b), depth_of(c)));
	struct trace_node *node;

	if (parser->n_nodes == NODES_MAX || depth > DEPTH_MAX)
		return NULL;
	parser->n_nodes++;
	node = arena_alloc(parser->arena, sizeof(*node));
	*node = (struct trace_node){ .kind = kind, .depth = (uint16_t)depth, .bytes = 4, .is_signed = true,
				     .a = a, .b = b, .c = c };
	return node;
}

static struct trace_node *number_node(struct trace_parser *parser, uint64_t value, uint8_t bytes, bool is_signed)
{
	struct trace_node *node = new_node(parser, TRACE_CONST, NULL, NULL, NULL);

	if (!node)
		return NULL;
	node->bytes = bytes;
	node->is_signed = is_signed;
	node->value = trace_extend(value, bytes, is_signed);
	return node;
}

/* ---- C's types: how many bytes a value has, and whether it has a sign ---- */

static void promote(const struct trace_node *node, uint8_t *bytes, bool *is_signed)
{
	*bytes = node->bytes < 4 ? 4 : node->bytes;
	*is_signed = node->bytes < 4 || node->is_signed;
}

static void common_type(const struct trace_node *a, const struct trace_node *b, uint8_t *bytes, bool *is_signed)
{
	uint8_t a_bytes, b_bytes;
	bool a_signed, b_signed;

	promote(a, &a_bytes, &a_signed);
	promote(b, &b_bytes, &b_signed);
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

static bool is_type_word(const char *name, size_t len)
{
	return find_type_word(name, len);
}

static bool parse_type(struct trace_parser *parser, uint8_t *bytes, bool *is_signed, bool *is_pointer)
{
	bool other = false, any = false, with_sign = false;
	unsigned longs = 0;

	*bytes = 0;
	*is_signed = true;
	*is_pointer = false;
	for (;; next_token(parser)) {
		const struct type_word *word;

		if (is_sign(parser, '*')) {
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

/* ---- constants ---- */

static bool is_const(const struct trace_node *node)
{
	return node && node->kind == TRACE_CONST;
}

/* The node of an operation on constants becomes a constant. */
static struct trace_node *fold(struct trace_node *node)
{
	const struct trace_raw nothing = { NULL, 0, NULL };
	uint64_t value;

	if (!node || !is_const(node->a) || (node->b && !is_const(node->b)) || (node->c && !is_const(node->c)))
		return node;
	value = trace_eval(&nothing, node);
	node->is_word = node->a->is_word || (node->b && node->b->is_word) || (node->c && node->c->is_word);
	node->kind = TRACE_CONST;
	node->value = value;
	node->a = node->b = node->c = NULL;
	node->depth = 1;
	return node;
}

/* Some words of old kernels' formats, which newer ones write as numbers. */
static const struct {
	const char *name;
	uint8_t value;
} known_words[] = {
	{ "HI_SOFTIRQ", 0 },      { "TIMER_SOFTIRQ", 1 },    { "NET_TX_SOFTIRQ", 2 },    { "NET_RX_SOFTIRQ", 3 },
	{ "BLOCK_SOFTIRQ", 4 },   { "IRQ_POLL_SOFTIRQ", 5 }, { "TASKLET_SOFTIRQ", 6 },   { "SCHED_SOFTIRQ", 7 },
	{ "HRTIMER_SOFTIRQ", 8 }, { "RCU_SOFTIRQ", 9 },      { "HRTIMER_NORESTART", 0 }, { "HRTIMER_RESTART", 1 },
	{ "false", 0 },           { "true", 1 },             { "NULL", 0 },
};

static struct trace_node *word_node(struct trace_parser *parser, const struct trace_token *word)
{
	struct trace_node *node = number_node(parser, 0, 4, true);

	if (!node)
		return NULL;
	node->text = arena_strndup(parser->arena, word->text, word->len);
	node->is_word = true;
	for (size_t i = 0; i < ARRAY_SIZE(known_words); i++) {
		if (strcmp(known_words[i].name, node->text) != 0)
			continue;
		node->value = known_words[i].value;
		node->is_word = false;
	}
	return node;
}

static struct trace_node *typed(struct trace_node *node, unsigned bytes, bool is_signed)
{
	if (node) {
		node->bytes = (uint8_t)bytes;
		node->is_signed = is_signed;
	}
	return node;
}

/* ---- helpers: names of values: { 1, "READ" }, { 2, "WRITE" } ---- */

static bool parse_name(struct trace_parser *parser, struct trace_name *name)
{
	const struct trace_node *value, *text;

	*name = (struct trace_name){ .known = false };
	if (!takes(parser, '{'))
		return false;
	if (takes(parser, '}'))
		return true; /* of an empty table */
	value = parse_expression(parser);
	if (!value || value->kind != TRACE_CONST || !takes(parser, ','))
		return false;
	text = parse_expression(parser);
	if (!text || text->kind != TRACE_CONST || !takes(parser, '}'))
		return false;
	/* A row without a text is the kernel's end of the table. */
	*name = (struct trace_name){ value->value, text->text, !value->is_word && text->text };
	return true;
}

/* Parses the rows of names, up to and with the last parenthesis. */
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
	} while (good && takes(parser, ','));
	good = good && takes(parser, ')');
	if (good) {
		node->names = arena_copy(parser->arena, names, n * sizeof(*names));
		node->n_names = n;
	}
	free(names);
	return good;
}

static struct trace_node *parse_flags(struct trace_parser *parser, enum trace_node_kind kind)
{
	const struct trace_node *value = parse_expression(parser), *between = NULL;
	struct trace_node *node;

	if (!value || !takes(parser, ','))
		return NULL;
	if (kind == TRACE_FLAGS) {
		between = parse_expression(parser);
		if (!between || between->kind != TRACE_CONST || !between->text || !takes(parser, ','))
			return NULL;
	}
	node = new_node(parser, kind, value, NULL, NULL);
	if (!node || !parse_names(parser, node))
		return NULL;
	node->text = between ? between->text : NULL;
	return node;
}

/* ---- helpers: bytes ---- */

/* (field, n) or (field, n, size) */
static struct trace_node *parse_bytes(struct trace_parser *parser, enum trace_node_kind kind)
{
	const struct trace_node *arg[3] = { NULL };
	unsigned n = kind == TRACE_ARRAY ? 3 : 2;

	for (unsigned i = 0; i < n; i++) {
		arg[i] = parse_expression(parser);
		if (!arg[i] || !takes(parser, i + 1 < n ? ',' : ')'))
			return NULL;
	}
	return new_node(parser, kind, arg[0], arg[1], arg[2]);
}

/* (NAME), a dynamic field's. */
static struct trace_node *parse_dynamic(struct trace_parser *parser, enum trace_node_kind kind)
{
	const struct trace_field *field;
	struct trace_node *node;

	if (parser->token.kind != TRACE_TOKEN_WORD)
		return NULL;
	field = trace_field_find(parser->format, parser->token.text, parser->token.len);
	next_token(parser);
	if (!field || !field->is_dynamic || !takes(parser, ')'))
		return NULL;
	node = new_node(parser, kind, NULL, NULL, NULL);
	if (node)
		node->field = field;
	return kind == TRACE_DYNAMIC ? typed(node, 8, false) : node;
}

/* ---- helpers: numbers ---- */

/* __builtin_expect(x, 0): x */
static struct trace_node *parse_expect(struct trace_parser *parser, enum trace_node_kind kind)
{
	const struct trace_node *value = parse_expression(parser);
	struct trace_node *node;

	if (!value || !takes(parser, ',') || !parse_expression(parser) || !takes(parser, ')'))
		return NULL;
	node = new_node(parser, kind, value, NULL, NULL);
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
		value = parse_expression(parser);
		if (!value)
			return NULL;
		size = value->kind == TRACE_FIELD ? value->field->size : value->bytes;
	} else {
		is_known = parse_type(parser, &bytes, &is_signed, &is_pointer);
		size = is_pointer ? parser->long_bytes : bytes;
		if (!is_known && !is_pointer)
			return NULL;
	}
	return takes(parser, ')') ? number_node(parser, size, (uint8_t)parser->long_bytes, false) : NULL;
}

/* Nanoseconds as whole seconds, and what is left of them. */
static struct trace_node *parse_seconds(struct trace_parser *parser, unsigned sign)
{
	const struct trace_node *value = parse_expression(parser);
	struct trace_node *second = number_node(parser, NS_PER_S, 8, false), *node;

	if (!value || !second || !takes(parser, ')'))
		return NULL;
	node = typed(new_node(parser, TRACE_BINARY, value, second, NULL), 8, false);
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

/*
 * To add a helper: a row here; a new kind of node: also trace_eval.c or trace_text.c. Any other function is one of the
 * kernel's that can't be called here.
 */
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

static struct trace_node *parse_call(struct trace_parser *parser, const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(helpers); i++)
		if (strlen(helpers[i].name) == len && !memcmp(helpers[i].name, name, len))
			return helpers[i].parse(parser, helpers[i].kind);
	return NULL;
}

/* ---- operands ---- */

static const struct trace_node *parse_unary(struct trace_parser *parser);

/* Parses what follows REC. A field's number is as wide as the field. */
static struct trace_node *parse_field(struct trace_parser *parser)
{
	const struct trace_field *field;
	struct trace_node *node;
	struct trace_token name;

	if (!takes(parser, TRACE_SIGN('-', '>')) || parser->token.kind != TRACE_TOKEN_WORD)
		return NULL;
	name = parser->token;
	next_token(parser);
	field = trace_field_find(parser->format, name.text, name.len);
	node = field ? new_node(parser, TRACE_FIELD, NULL, NULL, NULL) : NULL;
	if (!node)
		return NULL;
	node->field = field;
	node->bytes = field->size == 1 || field->size == 2 || field->size == 4 ? (uint8_t)field->size : 8;
	node->is_signed = field->is_signed;
	return node;
}

/* The node of a string: its text, which is no number. */
static struct trace_node *string_node(struct trace_parser *parser)
{
	struct trace_node *node = number_node(parser, 0, 8, false);

	if (node)
		node->text = parser->token.text;
	next_token(parser);
	return node;
}

/* Can a cast's operand begin here? After a word that may be a value, a sign is an operator. */
static bool begins_operand(const struct trace_parser *parser, bool after_type)
{
	const struct trace_token *token = &parser->token;

	if (token->kind == TRACE_TOKEN_WORD || token->kind == TRACE_TOKEN_NUMBER ||
	    token->kind == TRACE_TOKEN_STRING)
		return true;
	return is_sign(parser, '(') ||
	       (after_type && (is_sign(parser, '-') || is_sign(parser, '~') || is_sign(parser, '!')));
}

static struct trace_node *parse_cast(struct trace_parser *parser, uint8_t bytes, bool is_signed, bool is_pointer)
{
	const struct trace_node *item = parse_unary(parser);
	struct trace_node *node = item ? new_node(parser, TRACE_CAST, item, NULL, NULL) : NULL;

	if (!node)
		return NULL;
	node->bytes = bytes ? bytes : item->bytes;
	node->is_signed = bytes ? is_signed : item->is_signed;
	if (is_pointer) {
		node->element_bytes = bytes;
		node->element_signed = is_signed;
		node->bytes = (uint8_t)parser->long_bytes;
		node->is_signed = false;
	}
	if (!is_const(item))
		return node;
	node->text = item->text;
	return fold(node);
}

/*
 * "(type)x" or "(REC)->x", after the first parenthesis. false, without having gone on: what stands in the
 * parentheses is a value.
 */
static bool parse_paren_word(struct trace_parser *parser, const struct trace_node **node)
{
	const struct trace_lexer lexer = parser->lexer;
	const struct trace_token token = parser->token;
	bool is_type = is_type_word(token.text, token.len), is_signed, is_pointer;
	bool is_rec = token.len == 3 && !memcmp(token.text, "REC", 3);
	uint8_t bytes;

	if (!parse_type(parser, &bytes, &is_signed, &is_pointer))
		bytes = 0;
	if (takes(parser, ')')) {
		if (is_rec && is_sign(parser, TRACE_SIGN('-', '>'))) {
			*node = parse_field(parser);
			return true;
		}
		if (begins_operand(parser, is_type || is_pointer)) {
			*node = parse_cast(parser, bytes, is_signed, is_pointer);
			return true;
		}
	}
	parser->lexer = lexer;
	parser->token = token;
	return false;
}

/* Parses what follows '('. */
static const struct trace_node *parse_paren(struct trace_parser *parser)
{
	const struct trace_node *node;

	if (parser->token.kind == TRACE_TOKEN_WORD && parse_paren_word(parser, &node))
		return node;
	node = parse_expression(parser);
	return node && takes(parser, ')') ? node : NULL;
}

static const struct trace_node *parse_primary(struct trace_parser *parser)
{
	struct trace_token token = parser->token;

	if (token.kind == TRACE_TOKEN_STRING)
		return string_node(parser);
	if (takes(parser, '('))
		return parse_paren(parser);
	if (token.kind != TRACE_TOKEN_NUMBER && token.kind != TRACE_TOKEN_WORD)
		return NULL;
	next_token(parser);
	if (token.kind == TRACE_TOKEN_NUMBER)
		return number_node(parser, token.value, token.bytes, token.is_signed);
	if (token.len == 3 && !memcmp(token.text, "REC", 3))
		return parse_field(parser);
	if (takes(parser, '('))
		return parse_call(parser, token.text, token.len);
	return word_node(parser, &token);
}

/* The size of what a pointer, an array, or a reference to one, consists of; 0: unknown. */
static unsigned element_of(const struct trace_parser *parser, const struct trace_node *node, bool *is_signed)
{
	unsigned bytes = 0;

	for (; node->kind == TRACE_CAST; node = node->a) {
		*is_signed = node->element_signed;
		if (node->element_bytes)
			return node->element_bytes;
	}
	if (node->kind == TRACE_DYNAMIC || node->kind == TRACE_FIELD) {
		*is_signed = node->field->is_signed;
		bytes = node->field->element_bytes;
		if (!bytes && node->kind == TRACE_DYNAMIC)
			bytes = parser->long_bytes;
	}
	return bytes;
}

/* Parses what follows '[': an element of `array`. */
static const struct trace_node *parse_index(struct trace_parser *parser, const struct trace_node *array)
{
	const struct trace_node *index = parse_expression(parser);
	struct trace_node *node;
	bool is_signed = false;
	unsigned bytes = element_of(parser, array, &is_signed);

	if (!index || !takes(parser, ']') || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
		return NULL;
	node = new_node(parser, TRACE_INDEX, array, index, NULL);
	if (node) {
		node->bytes = (uint8_t)bytes;
		node->is_signed = is_signed;
	}
	return node;
}

static const struct trace_node *parse_postfix(struct trace_parser *parser)
{
	const struct trace_node *node = parse_primary(parser);

	while (node && takes(parser, '['))
		node = parse_index(parser, node);
	return node;
}

static const struct trace_node *parse_sign(struct trace_parser *parser)
{
	unsigned sign = parser->token.sign;
	const struct trace_node *operand;
	struct trace_node *node;

	next_token(parser);
	operand = parse_unary(parser);
	node = operand ? new_node(parser, TRACE_UNARY, operand, NULL, NULL) : NULL;
	if (!node)
		return NULL;
	node->sign = sign;
	if (sign != '!')
		promote(operand, &node->bytes, &node->is_signed);
	return fold(node);
}

static const struct trace_node *parse_unary(struct trace_parser *parser)
{
	const struct trace_node *node;

	if (parser->depth == OPEN_MAX)
		return NULL;
	parser->depth++;
	if (is_sign(parser, '-') || is_sign(parser, '+') || is_sign(parser, '~') ||
	    is_sign(parser, '!'))
		node = parse_sign(parser);
	else
		node = parse_postfix(parser);
	parser->depth--;
	return node;
}

/* ---- operators ---- */

/* An operator that binds tighter has the greater number. */
static const struct {
	unsigned sign;
	unsigned char binds;
	bool is_truth; /* the value is 0 or 1 */
} operators[] = {
	{ TRACE_SIGN('|', '|'), 1, true }, { TRACE_SIGN('&', '&'), 2, true }, { '|', 3, false },
	{ '^', 4, false },                 { '&', 5, false },                 { TRACE_SIGN('=', '='), 6, true },
	{ TRACE_SIGN('!', '='), 6, true }, { '<', 7, true },                  { '>', 7, true },
	{ TRACE_SIGN('<', '='), 7, true }, { TRACE_SIGN('>', '='), 7, true }, { TRACE_SIGN('<', '<'), 8, false },
	{ TRACE_SIGN('>', '>'), 8, false }, { '+', 9, false },                { '-', 9, false },
	{ '*', 10, false },                { '/', 10, false },                { '%', 10, false },
};

static size_t find_operator(const struct trace_parser *parser)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(operators) && !is_sign(parser, operators[i].sign))
		i++;
	return i;
}

static const struct trace_node *binary_node(struct trace_parser *parser, size_t operator,
					    const struct trace_node *left, const struct trace_node *right)
{
	unsigned sign = operators[operator].sign;
	struct trace_node *node = new_node(parser, TRACE_BINARY, left, right, NULL);

	if (!node)
		return NULL;
	node->sign = sign;
	if (sign == TRACE_SIGN('<', '<') || sign == TRACE_SIGN('>', '>'))
		promote(left, &node->bytes, &node->is_signed);
	else if (!operators[operator].is_truth)
		common_type(left, right, &node->bytes, &node->is_signed);
	else /* the operands' type; a truth is a small number in any */
		common_type(left, right, &node->element_bytes, &node->element_signed);
	return fold(node);
}

static const struct trace_node *parse_binary(struct trace_parser *parser, unsigned at_least)
{
	const struct trace_node *left = parse_unary(parser), *right;
	size_t i;

	while (left && (i = find_operator(parser)) < ARRAY_SIZE(operators) && operators[i].binds >= at_least) {
		next_token(parser);
		right = parse_binary(parser, operators[i].binds + 1u);
		left = right ? binary_node(parser, i, left, right) : NULL;
	}
	return left;
}

static const struct trace_node *parse_cond(struct trace_parser *parser, const struct trace_node *cond)
{
	const struct trace_node *yes = parse_expression(parser), *no;
	struct trace_node *node;

	if (!yes || !takes(parser, ':'))
		return NULL;
	no = parse_expression(parser);
	node = no ? new_node(parser, TRACE_COND, cond, yes, no) : NULL;
	if (!node)
		return NULL;
	common_type(yes, no, &node->bytes, &node->is_signed);
	return yes->text || no->text ? node : fold(node); /* a text stays one */
}

static const struct trace_node *parse_expression(struct trace_parser *parser)
{
	const struct trace_node *node;

	if (parser->depth == OPEN_MAX)
		return NULL;
	parser->depth++;
	node = parse_binary(parser, 1);
	if (node && takes(parser, '?'))
		node = parse_cond(parser, node);
	parser->depth--;
	return node;
}

/* ==== pieces ==== */

struct print_parser {
	struct trace_parser expressions;
	const char *at, *end; /* of the text */
	struct trace_piece *pieces;
	size_t n;
};

/* ---- text ---- */

static char unescape(char c)
{
	return c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
}

/* Parses text up to the next conversion: what is escaped, and %%, as they are meant. */
static bool parse_text(struct print_parser *p)
{
	char *text = arena_alloc(p->expressions.arena, (size_t)(p->end - p->at) + 1), *to = text;

	while (p->at < p->end && (*p->at != '%' || (p->end - p->at > 1 && p->at[1] == '%'))) {
		if (*p->at == '\\' && p->end - p->at > 1)
			*to++ = unescape(*++p->at);
		else
			*to++ = *p->at;
		p->at += *p->at == '%' ? 2 : 1;
	}
	if (p->n == PIECES_MAX)
		return false;
	p->pieces[p->n++] = (struct trace_piece){ .text = text, .len = (size_t)(to - text) };
	return true;
}

/* ---- a conversion ---- */

static bool takes_char(struct print_parser *p, char c)
{
	if (p->at == p->end || *p->at != c)
		return false;
	p->at++;
	return true;
}

static void parse_spec_flags(struct print_parser *p, struct trace_spec *spec)
{
	for (; p->at < p->end; p->at++) {
		if (*p->at == '-')
			spec->left = true;
		else if (*p->at == '+')
			spec->plus = true;
		else if (*p->at == ' ')
			spec->blank = true;
		else if (*p->at == '0')
			spec->zero = true;
		else if (*p->at == '#')
			spec->alternate = true;
		else
			break;
	}
}

/* The next argument; NULL: there is none, or it is not understood. */
static const struct trace_node *next_argument(struct print_parser *p)
{
	return takes(&p->expressions, ',') ? parse_expression(&p->expressions) : NULL;
}

/* Digits, or a '*' for an argument. */
static bool parse_width(struct print_parser *p, int *width, const struct trace_node **arg)
{
	if (takes_char(p, '*')) {
		*arg = next_argument(p);
		return *arg;
	}
	for (; p->at < p->end && isdigit((unsigned char)*p->at); p->at++) {
		*width = (*width < 0 ? 0 : *width) * 10 + (*p->at - '0');
		if (*width > WIDTH_MAX)
			return false;
	}
	return true;
}

static void parse_length(struct print_parser *p, struct trace_spec *spec)
{
	unsigned longs = 0, halves = 0;
	bool size = false;

	for (; p->at < p->end && *p->at && strchr("hlLqzZt", *p->at); p->at++) {
		longs += *p->at == 'l' ? 1 : *p->at == 'L' || *p->at == 'q' ? 2 : 0;
		halves += *p->at == 'h';
		size |= strchr("zZt", *p->at) != NULL;
	}
	spec->bytes = 4;
	if (longs > 1)
		spec->bytes = 8;
	else if (longs || size)
		spec->bytes = (uint8_t)p->expressions.long_bytes;
	else if (halves)
		spec->bytes = halves > 1 ? 1 : 2;
}

/*
 * Letters that %p can have after it. One is replaced where another means the same; letters that are not here are text
 * that follows an address, as perf has it.
 */
static const struct pointer_kind {
	const char *letters; /* all of them */
	char pointer; /* of the spec */
	const char *options; /* letters that may follow */
	bool of_bytes; /* it shows bytes of the sample, not a value */
} pointer_kinds[] = {
	{ "I4", '4', "hnbl", true }, { "i4", '4', "hnbl", true }, { "I6", '6', "c", true },
	{ "i6", '6', "c", true },    { "IS", 'A', "pfschnbl", true }, { "iS", 'A', "pfschnbl", true },
	{ "S", 'S', "", false },     { "F", 'S', "", false },     { "s", 's', "", false },
	{ "f", 's', "", false },     { "M", 'M', "FR", true },    { "m", 'm', "R", true },
	{ "U", 'U', "bBlL", true },  { "h", 'h', "CDN", true },   { "b", 'b', "l", true },
};

/* Parses what follows the p. */
static const struct pointer_kind *parse_pointer(struct print_parser *p, struct trace_spec *spec)
{
	for (size_t i = 0; i < ARRAY_SIZE(pointer_kinds); i++) {
		const struct pointer_kind *kind = &pointer_kinds[i];
		size_t len = strlen(kind->letters), n = 0;

		if ((size_t)(p->end - p->at) < len || memcmp(p->at, kind->letters, len) != 0)
			continue;
		p->at += len;
		spec->pointer = kind->pointer;
		if (kind->letters[0] == 'i')
			spec->options[n++] = 'i';
		while (p->at < p->end && *p->at && strchr(kind->options, *p->at) && n < sizeof(spec->options) - 1)
			spec->options[n++] = *p->at++;
		return kind;
	}
	return NULL;
}

static bool is_place(const struct trace_node *node)
{
	while (node->kind == TRACE_CAST)
		node = node->a;
	return node->kind == TRACE_FIELD || node->kind == TRACE_DYNAMIC;
}

/* Parses a conversion, at its '%'. */
static bool parse_conversion(struct print_parser *p)
{
	struct trace_piece piece = { .spec = { .width = -1, .precision = -1 } };
	const struct pointer_kind *kind = NULL;

	p->at++;
	parse_spec_flags(p, &piece.spec);
	if (!parse_width(p, &piece.spec.width, &piece.width))
		return false;
	if (takes_char(p, '.')) {
		piece.spec.precision = 0;
		if (!parse_width(p, &piece.spec.precision, &piece.precision))
			return false;
	}
	parse_length(p, &piece.spec);
	if (p->at == p->end || !*p->at || !strchr("cdiuxXops", *p->at))
		return false;
	piece.spec.conversion = *p->at++;
	if (piece.spec.conversion == 'i')
		piece.spec.conversion = 'd';
	if (piece.spec.conversion == 'p')
		kind = parse_pointer(p, &piece.spec);
	piece.is_number = strchr("duxXo", piece.spec.conversion) && !piece.width && !piece.precision;
	piece.arg = next_argument(p);
	if (!piece.arg || p->n == PIECES_MAX || (kind && kind->of_bytes && !is_place(piece.arg)))
		return false;
	p->pieces[p->n++] = piece;
	return true;
}

bool trace_print_parse(struct arena *arena, const struct trace_format *format, unsigned long_bytes,
		       struct trace_print *print)
{
	struct trace_piece pieces[PIECES_MAX];
	struct print_parser p = {
		.pieces = pieces,
		.expressions = { .arena = arena, .format = format, .long_bytes = long_bytes },
	};
	struct trace_parser *parser = &p.expressions;

	if (!format->print_len)
		return false;
	parser->lexer = (struct trace_lexer){ arena, format->print, format->print + format->print_len, long_bytes };
	next_token(parser);
	if (parser->token.kind != TRACE_TOKEN_STRING)
		return false;
	p.at = parser->token.text;
	p.end = p.at + parser->token.len;
	next_token(parser);
	while (p.at < p.end)
		if (*p.at == '%' && p.end - p.at > 1 && p.at[1] != '%' ? !parse_conversion(&p) : !parse_text(&p))
			return false;
	/* No piece shows further arguments; they must be understood all the same. */
	while (takes(parser, ','))
		if (!parse_expression(parser))
			return false;
	if (parser->token.kind != TRACE_TOKEN_END)
		return false;
	print->pieces = arena_copy(arena, pieces, p.n * sizeof(*pieces));
	print->n = p.n;
	return true;
}
