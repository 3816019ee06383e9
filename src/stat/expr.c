/*
 * Metric formulas: a recursive descent that evaluates while it reads. Formulas are a few words
 * long and are read anew each time; nothing is kept.
 *
 * Invariants: the position never passes the terminating NUL; each nesting costs one level of depth
 * and is refused beyond EXPR_MAX_DEPTH, so that hostile text cannot use up the stack.
 */
#include "stat/expr.h"
#include "util/util.h"

#include <ctype.h>
#include <math.h>

struct parser {
	const char *p;
	unsigned depth;
	expr_lookup_fn lookup;
	void *data;
};

struct operand {
	enum expr_status status;
	double v;
};

static const struct operand not_a_formula = { EXPR_SYNTAX, 0 };

static struct operand parse_expr(struct parser *ps);
static struct operand parse_factor(struct parser *ps);

static void skip_spaces(struct parser *ps)
{
	while (*ps->p == ' ' || *ps->p == '\t' || *ps->p == '\n')
		ps->p++;
}

static bool take(struct parser *ps, char c)
{
	skip_spaces(ps);
	if (*ps->p != c)
		return false;
	ps->p++;
	return true;
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == ':' || c == '.' || c == '-';
}

/* Digits, a fraction and an exponent; whatever the locale, the point is '.'. */
static struct operand parse_number(struct parser *ps)
{
	double v = 0, unit = 1;
	long exponent = 0;
	bool negative = false;

	for (; isdigit((unsigned char)*ps->p); ps->p++)
		v = v * 10 + (*ps->p - '0');
	if (*ps->p == '.') {
		if (!isdigit((unsigned char)*++ps->p))
			return not_a_formula;
		for (; isdigit((unsigned char)*ps->p); ps->p++)
			v += (*ps->p - '0') * (unit /= 10);
	}
	if (*ps->p == 'e' || *ps->p == 'E') {
		ps->p++;
		if (*ps->p == '+' || *ps->p == '-')
			negative = *ps->p++ == '-';
		if (!isdigit((unsigned char)*ps->p))
			return not_a_formula;
		for (; isdigit((unsigned char)*ps->p); ps->p++)
			if (exponent < 10000)
				exponent = exponent * 10 + (*ps->p - '0');
	}
	if (is_name_char(*ps->p) && *ps->p != '-')
		return not_a_formula;
	for (unit = 1; exponent > 0 && unit < 1e300; exponent--)
		unit *= 10;
	return (struct operand){ EXPR_OK, exponent ? (negative || v == 0 ? 0 : INFINITY) :
					  negative ? v / unit : v * unit };
}

/* What follows "max" or "min": a missing argument leaves the other. */
static struct operand parse_choice(struct parser *ps, bool largest)
{
	struct operand a, b;

	if (!take(ps, '('))
		return not_a_formula;
	a = parse_expr(ps);
	if (a.status == EXPR_SYNTAX || !take(ps, ','))
		return not_a_formula;
	b = parse_expr(ps);
	if (b.status == EXPR_SYNTAX || !take(ps, ')'))
		return not_a_formula;
	if (a.status == EXPR_MISSING)
		return b;
	if (b.status == EXPR_MISSING)
		return a;
	if (b.status > a.status)
		a.status = b.status;
	a.v = (a.v > b.v) == largest ? a.v : b.v;
	return a;
}

static struct operand parse_name(struct parser *ps)
{
	const char *name = ps->p;
	struct operand found = { EXPR_MISSING, 0 };
	size_t len;

	while (is_name_char(*ps->p))
		ps->p++;
	len = (size_t)(ps->p - name);
	if (len == 3 && (!memcmp(name, "max", 3) || !memcmp(name, "min", 3)))
		return parse_choice(ps, name[1] == 'a');
	if (ps->lookup(ps->data, name, len, &found.v))
		found.status = EXPR_OK;
	return found;
}

static struct operand parse_parenthesis(struct parser *ps)
{
	struct operand inner = parse_expr(ps);

	return inner.status != EXPR_SYNTAX && take(ps, ')') ? inner : not_a_formula;
}

static struct operand parse_factor(struct parser *ps)
{
	struct operand result = not_a_formula;

	skip_spaces(ps);
	if (ps->depth >= EXPR_MAX_DEPTH)
		return not_a_formula;
	ps->depth++;
	if (isdigit((unsigned char)*ps->p)) {
		result = parse_number(ps);
	} else if (isalpha((unsigned char)*ps->p) || *ps->p == '_') {
		result = parse_name(ps);
	} else if (take(ps, '(')) {
		result = parse_parenthesis(ps);
	} else if (take(ps, '-')) {
		result = parse_factor(ps);
		result.v = -result.v;
	}
	ps->depth--;
	return result;
}

static struct operand apply(char op, struct operand a, struct operand b)
{
	if (b.status > a.status)
		a.status = b.status;
	if (a.status != EXPR_OK)
		return a;
	if (op == '+')
		a.v += b.v;
	else if (op == '-')
		a.v -= b.v;
	else if (op == '*')
		a.v *= b.v;
	else if (b.v == 0)
		a.status = EXPR_UNDEFINED;
	else
		a.v /= b.v;
	return a;
}

static struct operand parse_term(struct parser *ps)
{
	struct operand a = parse_factor(ps);

	while (a.status != EXPR_SYNTAX) {
		char op;

		skip_spaces(ps);
		op = *ps->p;
		if (op != '*' && op != '/')
			break;
		ps->p++;
		a = apply(op, a, parse_factor(ps));
	}
	return a;
}

static struct operand parse_expr(struct parser *ps)
{
	struct operand a = parse_term(ps);

	while (a.status != EXPR_SYNTAX) {
		char op;

		skip_spaces(ps);
		op = *ps->p;
		if (op != '+' && op != '-')
			break;
		ps->p++;
		a = apply(op, a, parse_term(ps));
	}
	return a;
}

enum expr_status expr_eval(const char *text, expr_lookup_fn lookup, void *data, double *value)
{
	struct parser ps = { .p = text, .lookup = lookup, .data = data };
	struct operand result = parse_expr(&ps);

	skip_spaces(&ps);
	if (result.status == EXPR_SYNTAX || *ps.p)
		return EXPR_SYNTAX;
	if (result.status == EXPR_OK && !isfinite(result.v))
		return EXPR_UNDEFINED;
	if (result.status == EXPR_OK)
		*value = result.v;
	return result.status;
}
