/* SPDX-License-Identifier: MIT */
/*
 * Metric formulas: a recursive descent writes a program in postfix order, which a stack of values runs.
 *
 *   100 * misses / loads      ->      100  [0]  *  [1]  /
 *
 * Invariants: the position never passes the terminating NUL; each nesting costs one level of depth and is
 * refused beyond EXPR_MAX_DEPTH, so that hostile text cannot use up the stack; the height of the
 * value stack is known at every step, and refused beyond EXPR_MAX_STACK.
 */
#include "stat/expr.h"
#include "util/util.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

enum op_code {
	OP_NUMBER,
	OP_VALUE, /* of an input */
	OP_N_SOURCES,
	OP_HAS_EVENT,
	OP_NEGATE,
	OP_BINARY, /* index: into binaries[] */
	OP_IF, /* value, condition, other value */
	OP_KEEP, /* index: into kept[]; the value stays on the stack, too */
	OP_KEPT,
};

struct op {
	enum op_code code;
	unsigned index; /* of the input, or of the operator */
	double number;
};

struct operand {
	double v;
	enum expr_status status;
	bool varies; /* v is one of many: whether there is a value may not depend on it */
};

/* A formula within the program. */
struct kept {
	const char *formula;
	bool whole; /* all of it is compiled: a name of it in itself is a circle */
};

struct expr {
	struct op *ops;
	size_t n_ops, cap_ops;
	struct expr_name *names;
	size_t n_names, cap_names;
	struct kept *kept;
	struct operand *values; /* of these, while the program runs */
	size_t n_kept, cap_kept;
	bool has_threshold; /* whose value is on the stack above the formula's */
};

/* ---- operators ---- */

static double add(double a, double b) { return a + b; }
static double subtract(double a, double b) { return a - b; }
static double multiply(double a, double b) { return a * b; }
static double divide(double a, double b) { return b == 0 ? NAN : a / b; }
static double less(double a, double b) { return a < b; }
static double more(double a, double b) { return a > b; }
static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }
static double ratio(double a, double b) { return b == 0 ? 0 : a / b; }

/* Cuts the fractions of both; false: one is no int64_t. */
static bool to_whole(double a, double b, int64_t *whole_a, int64_t *whole_b)
{
	if (!(fabs(a) < 0x1p63 && fabs(b) < 0x1p63))
		return false;
	*whole_a = (int64_t)a;
	*whole_b = (int64_t)b;
	return true;
}

static double modulo(double a, double b)
{
	int64_t x, y;

	return to_whole(a, b, &x, &y) && y ? (double)(x % y) : NAN;
}

static double bit_and(double a, double b)
{
	int64_t x, y;

	return to_whole(a, b, &x, &y) ? (double)(x & y) : NAN;
}

static double bit_or(double a, double b)
{
	int64_t x, y;

	return to_whole(a, b, &x, &y) ? (double)(x | y) : NAN;
}

static double bit_xor(double a, double b)
{
	int64_t x, y;

	return to_whole(a, b, &x, &y) ? (double)(x ^ y) : NAN;
}

enum { N_LEVELS = 6, FUNCTION = N_LEVELS };

/* To add an operator of two values: a row, the grammar in expr.h, tests/unit/test_expr.c. NAN: undefined. */
static const struct binary {
	const char *text;
	unsigned level; /* a higher one binds tighter; FUNCTION: text(a, b) */
	double (*apply)(double a, double b);
	bool passes_over; /* an argument that is missing leaves the other */
} binaries[] = {
	{ "|", 0, bit_or, false },	  { "^", 1, bit_xor, false },
	{ "&", 2, bit_and, false },	  { "<", 3, less, false },
	{ ">", 3, more, false },	  { "+", 4, add, false },
	{ "-", 4, subtract, false },	  { "*", 5, multiply, false },
	{ "/", 5, divide, false },	  { "%", 5, modulo, false },
	{ "max", FUNCTION, larger, true }, { "min", FUNCTION, smaller, true },
	{ "d_ratio", FUNCTION, ratio, false },
};

/* ---- text -> program ---- */

struct expr_parser {
	struct expr *expr;
	const struct expr_others *others; /* NULL: the language is our own */
	const char *p;
	const char *why;
	unsigned depth;
	size_t height; /* of the value stack, after what is written so far */
};

/* Each returns false where the text is not a formula. */
static bool parse_expr(struct expr_parser *ps);

static bool emit(struct expr_parser *ps, struct op op)
{
	struct expr *expr = ps->expr;

	if (op.code == OP_BINARY)
		ps->height--;
	else if (op.code == OP_IF)
		ps->height -= 2;
	else if (op.code != OP_NEGATE && op.code != OP_KEEP && ++ps->height > EXPR_MAX_STACK)
		return false;
	VEC_GROW(expr->ops, expr->n_ops, expr->cap_ops);
	expr->ops[expr->n_ops++] = op;
	return true;
}

static void skip_spaces(struct expr_parser *ps)
{
	while (*ps->p == ' ' || *ps->p == '\t' || *ps->p == '\n')
		ps->p++;
}

static bool take(struct expr_parser *ps, char c)
{
	skip_spaces(ps);
	if (*ps->p != c)
		return false;
	ps->p++;
	return true;
}

static bool is_name_char(const struct expr_parser *ps, char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == ':' || c == '.' ||
	       (c && strchr(ps->others ? "@?!=" : "-", c));
}

/* Length of the name here; 0: there is none. */
static size_t name_length(const struct expr_parser *ps)
{
	const char *p = ps->p;
	size_t len = ps->others && *p == '#';

	if (!isalpha((unsigned char)p[len]) && p[len] != '_')
		return 0;
	for (;;) {
		if (is_name_char(ps, p[len]))
			len++;
		else if (ps->others && p[len] == '\\' && p[len + 1])
			len += 2;
		else
			return len;
	}
}

static bool is_word(const char *name, size_t len, const char *word)
{
	return strlen(word) == len && !memcmp(name, word, len);
}

static bool take_word(struct expr_parser *ps, const char *word)
{
	size_t len;

	skip_spaces(ps);
	len = name_length(ps);
	if (!is_word(ps->p, len, word))
		return false;
	ps->p += len;
	return true;
}

/* Digits, a fraction and an exponent; whatever the locale, the point is '.'. */
static bool parse_number(struct expr_parser *ps)
{
	double v = 0, unit = 1;
	long exponent = 0;
	bool negative = false;

	for (; isdigit((unsigned char)*ps->p); ps->p++)
		v = v * 10 + (*ps->p - '0');
	if (*ps->p == '.') {
		if (!isdigit((unsigned char)*++ps->p))
			return false;
		for (; isdigit((unsigned char)*ps->p); ps->p++)
			v += (*ps->p - '0') * (unit /= 10);
	}
	if (*ps->p == 'e' || *ps->p == 'E') {
		ps->p++;
		if (*ps->p == '+' || *ps->p == '-')
			negative = *ps->p++ == '-';
		if (!isdigit((unsigned char)*ps->p))
			return false;
		for (; isdigit((unsigned char)*ps->p); ps->p++)
			if (exponent < 10000)
				exponent = exponent * 10 + (*ps->p - '0');
	}
	if (is_name_char(ps, *ps->p) && *ps->p != '-')
		return false;
	for (unit = 1; exponent > 0 && unit < 1e300; exponent--)
		unit *= 10;
	v = exponent ? (negative || v == 0 ? 0 : INFINITY) : negative ? v / unit : v * unit;
	return emit(ps, (struct op){ .code = OP_NUMBER, .number = v });
}

static unsigned input_of(struct expr *expr, const char *text, size_t len, bool counted)
{
	size_t i = 0;

	while (i < expr->n_names &&
	       (expr->names[i].len != len || memcmp(expr->names[i].text, text, len) != 0))
		i++;
	if (i == expr->n_names) {
		VEC_GROW(expr->names, expr->n_names, expr->cap_names);
		expr->names[expr->n_names++] = (struct expr_name){ text, len, false };
	}
	expr->names[i].counted |= counted;
	return (unsigned)i;
}

/* The name in parentheses. */
static bool parse_question(struct expr_parser *ps, enum op_code code)
{
	unsigned input;
	size_t len;

	if (!take(ps, '('))
		return false;
	skip_spaces(ps);
	len = name_length(ps);
	if (!len)
		return false;
	input = input_of(ps->expr, ps->p, len, false);
	ps->p += len;
	return take(ps, ')') && emit(ps, (struct op){ .code = code, .index = input });
}

static bool parse_function(struct expr_parser *ps, unsigned row)
{
	return take(ps, '(') && parse_expr(ps) && take(ps, ',') && parse_expr(ps) && take(ps, ')') &&
	       emit(ps, (struct op){ .code = OP_BINARY, .index = row });
}

/* All of a formula that another one names, or that is the program's own; its value is kept for its next name. */
static bool parse_formula(struct expr_parser *ps, const char *formula)
{
	struct expr *expr = ps->expr;
	const char *rest = ps->p;
	unsigned at = 0;
	bool good;

	while (at < expr->n_kept && expr->kept[at].formula != formula)
		at++;
	if (at < expr->n_kept) {
		if (!expr->kept[at].whole)
			ps->why = "metrics that name each other in a circle";
		return expr->kept[at].whole && emit(ps, (struct op){ .code = OP_KEPT, .index = at });
	}
	VEC_GROW(expr->kept, expr->n_kept, expr->cap_kept);
	expr->kept[expr->n_kept++] = (struct kept){ .formula = formula };
	ps->p = formula;
	good = parse_expr(ps);
	skip_spaces(ps);
	good = good && !*ps->p && emit(ps, (struct op){ .code = OP_KEEP, .index = at });
	expr->kept[at].whole = true;
	ps->p = rest;
	return good;
}

static bool parse_name(struct expr_parser *ps, size_t len)
{
	const char *name = ps->p, *formula;

	ps->p += len;
	for (unsigned i = 0; i < ARRAY_SIZE(binaries); i++)
		if (binaries[i].level == FUNCTION && is_word(name, len, binaries[i].text))
			return parse_function(ps, i);
	if (is_word(name, len, "has_event"))
		return parse_question(ps, OP_HAS_EVENT);
	if (is_word(name, len, "source_count"))
		return parse_question(ps, OP_N_SOURCES);
	if (is_word(name, len, "if") || is_word(name, len, "else"))
		return false;
	formula = ps->others ? ps->others->formula(ps->others->data, name, len) : NULL;
	if (formula)
		return parse_formula(ps, formula);
	return emit(ps, (struct op){ .code = OP_VALUE, .index = input_of(ps->expr, name, len, true) });
}

static bool parse_factor(struct expr_parser *ps)
{
	bool good = false;
	size_t len;

	skip_spaces(ps);
	if (ps->depth >= EXPR_MAX_DEPTH)
		return false;
	ps->depth++;
	len = name_length(ps);
	if (len)
		good = parse_name(ps, len);
	else if (isdigit((unsigned char)*ps->p))
		good = parse_number(ps);
	else if (take(ps, '('))
		good = parse_expr(ps) && take(ps, ')');
	else if (take(ps, '-'))
		good = parse_factor(ps) && emit(ps, (struct op){ .code = OP_NEGATE });
	ps->depth--;
	return good;
}

/* ARRAY_SIZE(binaries): none of this level stands here. */
static unsigned take_operator(struct expr_parser *ps, unsigned level)
{
	unsigned i = 0;

	while (i < ARRAY_SIZE(binaries) &&
	       (binaries[i].level != level || !take(ps, binaries[i].text[0])))
		i++;
	return i;
}

static bool parse_level(struct expr_parser *ps, unsigned level)
{
	unsigned row;

	if (level == N_LEVELS)
		return parse_factor(ps);
	if (!parse_level(ps, level + 1))
		return false;
	while ((row = take_operator(ps, level)) < ARRAY_SIZE(binaries))
		if (!parse_level(ps, level + 1) ||
		    !emit(ps, (struct op){ .code = OP_BINARY, .index = row }))
			return false;
	return true;
}

static bool parse_expr(struct expr_parser *ps)
{
	bool good;

	if (!parse_level(ps, 0))
		return false;
	if (!take_word(ps, "if"))
		return true;
	if (ps->depth >= EXPR_MAX_DEPTH)
		return false;
	ps->depth++;
	good = parse_level(ps, 0) && take_word(ps, "else") && parse_expr(ps) &&
	       emit(ps, (struct op){ .code = OP_IF });
	ps->depth--;
	return good;
}

struct expr *expr_compile(const char *text)
{
	struct expr_parser ps = { .expr = xcalloc(1, sizeof(*ps.expr)), .p = text };
	bool good = parse_expr(&ps);

	skip_spaces(&ps);
	if (good && !*ps.p)
		return ps.expr;
	expr_free(ps.expr);
	return NULL;
}

struct expr *expr_compile_perf(const char *text, const char *threshold, const struct expr_others *others,
			       const char **why)
{
	struct expr_parser ps = { .expr = xcalloc(1, sizeof(*ps.expr)), .others = others };
	bool good = parse_formula(&ps, text);

	if (good && threshold)
		good = ps.expr->has_threshold = parse_formula(&ps, threshold);
	ps.expr->values = xcalloc(ps.expr->n_kept, sizeof(*ps.expr->values));
	if (good)
		return ps.expr;
	*why = ps.why ? ps.why : "a formula that is not understood";
	expr_free(ps.expr);
	return NULL;
}

void expr_free(struct expr *expr)
{
	if (!expr)
		return;
	free(expr->ops);
	free(expr->names);
	free(expr->kept);
	free(expr->values);
	free(expr);
}

size_t expr_n_names(const struct expr *expr)
{
	return expr->n_names;
}

const struct expr_name *expr_name(const struct expr *expr, size_t input)
{
	return &expr->names[input];
}

/* ---- program -> value ---- */

static struct operand apply(const struct binary *row, struct operand a, struct operand b)
{
	if (row->passes_over && a.status == EXPR_MISSING)
		return b;
	if (row->passes_over && b.status == EXPR_MISSING)
		return a;
	a.varies |= b.varies;
	if (b.status > a.status)
		a.status = b.status;
	if (a.status != EXPR_OK)
		return a;
	a.v = row->apply(a.v, b.v);
	if (isnan(a.v))
		a.status = EXPR_UNDEFINED;
	return a;
}

static struct operand choose(struct operand a, struct operand condition, struct operand b)
{
	if (condition.status != EXPR_OK && !(condition.varies && condition.status == EXPR_UNDEFINED))
		return condition;
	if (!condition.varies)
		return condition.v != 0 ? a : b;
	if (b.status > a.status)
		a.status = b.status;
	a.varies = true;
	return a;
}

static struct operand load(const struct op *op, const struct expr_inputs *inputs, bool varies)
{
	struct operand to = { .v = op->number };

	if (op->code == OP_NUMBER)
		return to;
	if (op->code == OP_VALUE) {
		to.varies = varies;
		to.status = inputs->value(inputs->data, op->index, &to.v) ? EXPR_OK : EXPR_MISSING;
		return to;
	}
	to.v = inputs->n_sources(inputs->data, op->index);
	if (op->code == OP_HAS_EVENT)
		to.v = to.v > 0;
	return to;
}

enum result { RESULT_VALUE, RESULT_THRESHOLD };

static struct operand run(const struct expr *expr, const struct expr_inputs *inputs, bool varies, enum result result)
{
	struct operand stack[EXPR_MAX_STACK], *top = stack;

	for (size_t i = 0; i < expr->n_ops; i++) {
		const struct op *op = &expr->ops[i];

		switch (op->code) {
		case OP_NEGATE:
			top[-1].v = -top[-1].v;
			break;
		case OP_BINARY:
			top--;
			top[-1] = apply(&binaries[op->index], top[-1], top[0]);
			break;
		case OP_IF:
			top -= 2;
			top[-1] = choose(top[-1], top[0], top[1]);
			break;
		case OP_KEEP:
			expr->values[op->index] = top[-1];
			break;
		case OP_KEPT:
			*top++ = expr->values[op->index];
			break;
		default:
			*top++ = load(op, inputs, varies);
		}
	}
	return stack[result];
}

enum expr_status expr_eval(const struct expr *expr, const struct expr_inputs *inputs, double *value)
{
	struct operand result = run(expr, inputs, false, RESULT_VALUE);

	if (result.status == EXPR_OK && !isfinite(result.v))
		return EXPR_UNDEFINED;
	if (result.status == EXPR_OK)
		*value = result.v;
	return result.status;
}

bool expr_is_beyond(const struct expr *expr, const struct expr_inputs *inputs)
{
	struct operand result = { .v = 0 };

	if (expr->has_threshold)
		result = run(expr, inputs, false, RESULT_THRESHOLD);
	return result.status == EXPR_OK && result.v != 0;
}

bool expr_has_inputs(const struct expr *expr, const struct expr_inputs *inputs)
{
	return run(expr, inputs, true, RESULT_VALUE).status < EXPR_MISSING;
}
