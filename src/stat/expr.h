/*
 * expr: the arithmetic of metric formulas. Private to stat/.
 *
 *   expr   := term { (' + ' | ' - ') term }
 *   term   := factor { ('*' | '/') factor }
 *   factor := number | name | '-' factor | '(' expr ')' | ('max' | 'min') '(' expr ',' expr ')'
 *
 * A name begins with a letter or '_' and takes every following letter, digit, '_', ':', '.' and
 * '-': event names contain the minus sign. So "a - b" is a difference and "a-b" is one name: put a space
 * before a minus that follows a name.
 *
 * max() and min() pass over an argument that is missing; every other operation on a missing name is
 * missing. All names are looked up, from left to right, whatever the values are.
 */
#ifndef PSTAT_EXPR_H
#define PSTAT_EXPR_H

#include <stdbool.h>
#include <stddef.h>

enum { EXPR_MAX_DEPTH = 32 }; /* of nested parentheses and signs; more is EXPR_SYNTAX */

/* In rising order: the worst of its parts is the status of the whole. */
enum expr_status {
	EXPR_OK,
	EXPR_UNDEFINED, /* a division by zero, or a result that is not finite */
	EXPR_MISSING, /* the look-up did not know a name */
	EXPR_SYNTAX, /* the text is not a formula */
};

/* Sets *value and returns true, or returns false: missing. name is not terminated. */
typedef bool (*expr_lookup_fn)(void *data, const char *name, size_t len, double *value);

/* *value is set only for EXPR_OK. Uses no memory but the stack, which the depth bounds. */
enum expr_status expr_eval(const char *text, expr_lookup_fn lookup, void *data, double *value);

#endif
