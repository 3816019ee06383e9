/*
 * Expressions of a print format: C's operators with C's types and precedence, on fields of the sample
 * ("REC->x"). What only consists of constants is worked out here, once.
 *
 * A word that stands for nothing known is 0, as perf has it: `vmemmap_base + REC->pfn` is the number of the
 * page then. Parts of C that no kernel's format can do without a compiler (statements, assignments, what a
 * pointer points at) are not understood.
 */
#include "trace/trace_internal.h"

enum {
	NODES_MAX = 16 << 10, /* of a format; the kernel's largest have some 500 */
	OPEN_MAX = 200, /* two for each expression within another; the kernel's deepest have some 30 */
	DEPTH_MAX = 256, /* nodes below one another: a + b + c + ... */
};

/* ---- what is shared ---- */

void trace_next(struct trace_parser *parser)
{
	parser->token = trace_lex(&parser->lexer);
}

bool trace_is_sign(const struct trace_parser *parser, unsigned sign)
{
	return parser->token.kind == TRACE_TOKEN_SIGN && parser->token.sign == sign;
}

bool trace_takes(struct trace_parser *parser, unsigned sign)
{
	if (!trace_is_sign(parser, sign))
		return false;
	trace_next(parser);
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

struct trace_node *trace_node_new(struct trace_parser *parser, enum trace_node_kind kind,
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

struct trace_node *trace_number_node(struct trace_parser *parser, uint64_t value, uint8_t bytes, bool is_signed)
{
	struct trace_node *node = trace_node_new(parser, TRACE_CONST, NULL, NULL, NULL);

	if (!node)
		return NULL;
	node->bytes = bytes;
	node->is_signed = is_signed;
	node->value = trace_extend(value, bytes, is_signed);
	return node;
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
	struct trace_node *node = trace_number_node(parser, 0, 4, true);

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

/* ---- operands ---- */

static const struct trace_node *parse_unary(struct trace_parser *parser);

/* Behind REC. A field's number is as wide as the field. */
static struct trace_node *parse_field(struct trace_parser *parser)
{
	const struct trace_field *field;
	struct trace_node *node;
	struct trace_token name;

	if (!trace_takes(parser, TRACE_SIGN('-', '>')) || parser->token.kind != TRACE_TOKEN_WORD)
		return NULL;
	name = parser->token;
	trace_next(parser);
	field = trace_field_find(parser->format, name.text, name.len);
	node = field ? trace_node_new(parser, TRACE_FIELD, NULL, NULL, NULL) : NULL;
	if (!node)
		return NULL;
	node->field = field;
	node->bytes = field->size == 1 || field->size == 2 || field->size == 4 ? (uint8_t)field->size : 8;
	node->is_signed = field->is_signed;
	return node;
}

/* Behind a string: its text, which is no number. */
static struct trace_node *string_node(struct trace_parser *parser)
{
	struct trace_node *node = trace_number_node(parser, 0, 8, false);

	if (node)
		node->text = parser->token.text;
	trace_next(parser);
	return node;
}

/* What a cast's operand can begin with. Behind a word that may be a value, a sign is an operator. */
static bool begins_operand(const struct trace_parser *parser, bool after_type)
{
	const struct trace_token *token = &parser->token;

	if (token->kind == TRACE_TOKEN_WORD || token->kind == TRACE_TOKEN_NUMBER ||
	    token->kind == TRACE_TOKEN_STRING)
		return true;
	return trace_is_sign(parser, '(') ||
	       (after_type && (trace_is_sign(parser, '-') || trace_is_sign(parser, '~') || trace_is_sign(parser, '!')));
}

static struct trace_node *parse_cast(struct trace_parser *parser, uint8_t bytes, bool is_signed, bool is_pointer)
{
	const struct trace_node *item = parse_unary(parser);
	struct trace_node *node = item ? trace_node_new(parser, TRACE_CAST, item, NULL, NULL) : NULL;

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
 * "(type)x" or "(REC)->x", behind the first parenthesis. false, without having gone on: what stands in the
 * parentheses is a value.
 */
static bool parse_paren_word(struct trace_parser *parser, const struct trace_node **node)
{
	const struct trace_lexer lexer = parser->lexer;
	const struct trace_token token = parser->token;
	bool is_type = trace_is_type_word(token.text, token.len), is_signed, is_pointer;
	bool is_rec = token.len == 3 && !memcmp(token.text, "REC", 3);
	uint8_t bytes;

	if (!trace_parse_type(parser, &bytes, &is_signed, &is_pointer))
		bytes = 0;
	if (trace_takes(parser, ')')) {
		if (is_rec && trace_is_sign(parser, TRACE_SIGN('-', '>'))) {
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

/* Behind '('. */
static const struct trace_node *parse_paren(struct trace_parser *parser)
{
	const struct trace_node *node;

	if (parser->token.kind == TRACE_TOKEN_WORD && parse_paren_word(parser, &node))
		return node;
	node = trace_parse_expression(parser);
	return node && trace_takes(parser, ')') ? node : NULL;
}

static const struct trace_node *parse_primary(struct trace_parser *parser)
{
	struct trace_token token = parser->token;

	if (token.kind == TRACE_TOKEN_STRING)
		return string_node(parser);
	if (trace_takes(parser, '('))
		return parse_paren(parser);
	if (token.kind != TRACE_TOKEN_NUMBER && token.kind != TRACE_TOKEN_WORD)
		return NULL;
	trace_next(parser);
	if (token.kind == TRACE_TOKEN_NUMBER)
		return trace_number_node(parser, token.value, token.bytes, token.is_signed);
	if (token.len == 3 && !memcmp(token.text, "REC", 3))
		return parse_field(parser);
	if (trace_takes(parser, '('))
		return trace_parse_call(parser, token.text, token.len);
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

/* Behind '[': an element of `array`. */
static const struct trace_node *parse_index(struct trace_parser *parser, const struct trace_node *array)
{
	const struct trace_node *index = trace_parse_expression(parser);
	struct trace_node *node;
	bool is_signed = false;
	unsigned bytes = element_of(parser, array, &is_signed);

	if (!index || !trace_takes(parser, ']') || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
		return NULL;
	node = trace_node_new(parser, TRACE_INDEX, array, index, NULL);
	if (node) {
		node->bytes = (uint8_t)bytes;
		node->is_signed = is_signed;
	}
	return node;
}

static const struct trace_node *parse_postfix(struct trace_parser *parser)
{
	const struct trace_node *node = parse_primary(parser);

	while (node && trace_takes(parser, '['))
		node = parse_index(parser, node);
	return node;
}

static const struct trace_node *parse_sign(struct trace_parser *parser)
{
	unsigned sign = parser->token.sign;
	const struct trace_node *operand;
	struct trace_node *node;

	trace_next(parser);
	operand = parse_unary(parser);
	node = operand ? trace_node_new(parser, TRACE_UNARY, operand, NULL, NULL) : NULL;
	if (!node)
		return NULL;
	node->sign = sign;
	if (sign != '!')
		trace_promote(operand, &node->bytes, &node->is_signed);
	return fold(node);
}

static const struct trace_node *parse_unary(struct trace_parser *parser)
{
	const struct trace_node *node;

	if (parser->depth == OPEN_MAX)
		return NULL;
	parser->depth++;
	if (trace_is_sign(parser, '-') || trace_is_sign(parser, '+') || trace_is_sign(parser, '~') ||
	    trace_is_sign(parser, '!'))
		node = parse_sign(parser);
	else
		node = parse_postfix(parser);
	parser->depth--;
	return node;
}

/* ---- operators ---- */

/* What binds tighter has the greater number. */
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

	while (i < ARRAY_SIZE(operators) && !trace_is_sign(parser, operators[i].sign))
		i++;
	return i;
}

static const struct trace_node *binary_node(struct trace_parser *parser, size_t operator,
					    const struct trace_node *left, const struct trace_node *right)
{
	unsigned sign = operators[operator].sign;
	struct trace_node *node = trace_node_new(parser, TRACE_BINARY, left, right, NULL);

	if (!node)
		return NULL;
	node->sign = sign;
	if (sign == TRACE_SIGN('<', '<') || sign == TRACE_SIGN('>', '>'))
		trace_promote(left, &node->bytes, &node->is_signed);
	else if (!operators[operator].is_truth)
		trace_common_type(left, right, &node->bytes, &node->is_signed);
	else /* the operands' type; a truth is a small number in any */
		trace_common_type(left, right, &node->element_bytes, &node->element_signed);
	return fold(node);
}

static const struct trace_node *parse_binary(struct trace_parser *parser, unsigned at_least)
{
	const struct trace_node *left = parse_unary(parser), *right;
	size_t i;

	while (left && (i = find_operator(parser)) < ARRAY_SIZE(operators) && operators[i].binds >= at_least) {
		trace_next(parser);
		right = parse_binary(parser, operators[i].binds + 1u);
		left = right ? binary_node(parser, i, left, right) : NULL;
	}
	return left;
}

static const struct trace_node *parse_cond(struct trace_parser *parser, const struct trace_node *cond)
{
	const struct trace_node *yes = trace_parse_expression(parser), *no;
	struct trace_node *node;

	if (!yes || !trace_takes(parser, ':'))
		return NULL;
	no = trace_parse_expression(parser);
	node = no ? trace_node_new(parser, TRACE_COND, cond, yes, no) : NULL;
	if (!node)
		return NULL;
	trace_common_type(yes, no, &node->bytes, &node->is_signed);
	return yes->text || no->text ? node : fold(node); /* a text stays one */
}

const struct trace_node *trace_parse_expression(struct trace_parser *parser)
{
	const struct trace_node *node;

	if (parser->depth == OPEN_MAX)
		return NULL;
	parser->depth++;
	node = parse_binary(parser, 1);
	if (node && trace_takes(parser, '?'))
		node = parse_cond(parser, node);
	parser->depth--;
	return node;
}
