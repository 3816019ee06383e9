/* SPDX-License-Identifier: MIT */
/*
 * expr: the arithmetic of metric formulas. Private to stat/.
 *
 *   expr   := or [ 'if' or 'else' expr ]          the value before 'if' unless the condition is 0
 *   or     := xor { '|' xor }                     | ^ & take whole numbers, bit by bit
 *   xor    := and { '^' and }
 *   and    := compare { '&' compare }
 *   compare := sum { ('<' | '>') sum }            1 or 0
 *   sum    := term { (' + ' | ' - ') term }
 *   term   := factor { ('*' | '/' | '%') factor }  % of whole numbers
 *   factor := number | name | '-' factor | '(' expr ')' | ('max' | 'min' | 'd_ratio') '(' expr ',' expr ')'
 *           | ('has_event' | 'source_count') '(' name ')'
 *
 * These are the operators and functions of perf's metric formulas, with their precedence. A name begins with a
 * letter or '_' and takes every following letter, digit, '_', ':', '.' and '-': event names contain the
 * minus sign. So "a - b" is a difference and "a-b" is one name: put a space before a minus that follows a name.
 *
 * max() and min() pass over an argument that is missing, and of if and else only the one that is chosen has to
 * be there; every other operation on a missing name is missing. d_ratio(a, b) is a / b, and 0 where b is 0.
 * has_event(name) is 1 where the event is counted, source_count(name) how many events are added up in it.
 *
 * The formulas that vendors publish are in perf's language (expr_compile_perf). There a name takes letters, digits,
 * '_', '.', ':', '@', '?', '!' and '=', and what follows a backslash; '@' stands for a slash: cpu@X.Y\\,cmask\\=1@. A
 * name with a '#' before it is a number about the machine. Names of other metrics stand for their formulas.
 *
 * A formula is compiled once, into a program with numbered inputs: an evaluation reads no text, looks nothing
 * up by its name and takes no memory.
 */
#ifndef PSTAT_EXPR_H
#define PSTAT_EXPR_H

#include <stdbool.h>
#include <stddef.h>

enum {
	EXPR_MAX_DEPTH = 192, /* of nested parentheses, signs, else and formulas; more is no formula */
	EXPR_MAX_STACK = 512, /* of values that wait for an operator; more is no formula */
};

/* Statuses in rising order: the worst of its parts is the status of the whole. */
enum expr_status {
	EXPR_OK,
	EXPR_UNDEFINED, /* a division by zero, or a result that is not finite */
	EXPR_MISSING, /* an input that is needed has no value */
};

struct expr_name {
	const char *text; /* in the formula, not terminated */
	size_t len;
	bool counted; /* its value is asked for, not only whether it is there */
};

struct expr;

/* NULL: the text is not a formula. The text is borrowed: it must live as long as the program. */
struct expr *expr_compile(const char *text);

/* The other formulas that a formula may name. */
struct expr_others {
	/* The formula of that name, which outlives the program, or NULL: it is none. Each is always the same text. */
	const char *(*formula)(void *data, const char *name, size_t len);
	void *data;
};
/*
 * In perf's language. A formula that is named several times is computed once. threshold: a condition on the value that
 * is compiled with it, or NULL. NULL: *why says what is wrong, in static words.
 */
struct expr *expr_compile_perf(const char *text, const char *threshold, const struct expr_others *others,
			       const char **why);
void expr_free(struct expr *expr);
/* The inputs: each name once, in the order of the text. */
size_t expr_n_names(const struct expr *expr);
const struct expr_name *expr_name(const struct expr *expr, size_t input);

struct expr_inputs {
	/* Sets *value and returns true, or returns false: missing. */
	bool (*value)(const void *data, size_t input, double *value);
	/* How many events are added up in it; 0: it is not counted. */
	unsigned (*n_sources)(const void *data, size_t input);
	const void *data;
};

/* *value is set only for EXPR_OK. */
enum expr_status expr_eval(const struct expr *expr, const struct expr_inputs *inputs, double *value);
/* Has the program a threshold, and is its condition true? */
bool expr_is_beyond(const struct expr *expr, const struct expr_inputs *inputs);
/* Would there be a result if every input that has a value now had any other? */
bool expr_has_inputs(const struct expr *expr, const struct expr_inputs *inputs);

#endif
