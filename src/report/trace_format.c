/*
 * A tracepoint's format is C source, nearly:
 *
 *	name: sched_switch
 *	ID: 316
 *	format:
 *		field:char prev_comm[16];	offset:8;	size:16;	signed:0;
 *		...
 *
 *	print fmt: "prev_comm=%s ...", REC->prev_comm, ...
 *
 * libtraceevent parses it by recursion and prints with the C library's printf. In a recording from elsewhere
 * it may be any text: so the lines must look as the kernel writes them, expressions may be nested and long
 * only so far, and conversions must be some that need neither much memory nor a pointer.
 */
#include "report/trace_parts.h"

#include <ctype.h>
#include <stdlib.h>

enum {
	TEXT_MAX = 256 << 10, /* the kernel's largest have some 30 KiB */
	NESTING_MAX = 64,
	OPEN_TOKENS_MAX = 2048, /* in all expressions that are open at a time */
	WIDTH_DIGITS_MAX = 3,
	FIELD_END_MAX = 1 << 20, /* a sample has less than 64 KiB */
};

/* The first field of all: by it the library finds the format of a sample. */
static const char type_field[] = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;";

/* ---- lines ---- */

static bool starts(const char *text, const char *end, const char *with)
{
	size_t len = strlen(with);

	return (size_t)(end - text) >= len && !memcmp(text, with, len);
}

/* Any number of digits, and a value that is still a place in a sample. */
static bool take_number(const char **at, const char *end, uint64_t *value)
{
	const char *p = *at;

	for (*value = 0; p < end && isdigit((unsigned char)*p) && *value < FIELD_END_MAX; p++)
		*value = *value * 10 + (uint64_t)(*p - '0');
	if (p == *at || *value >= FIELD_END_MAX)
		return false;
	*at = p;
	return true;
}

static bool take_word(const char **at, const char *end, const char *word)
{
	if (!starts(*at, end, word))
		return false;
	*at += strlen(word);
	return true;
}

/* The declaration: names, stars, brackets; no text, no control characters. */
static bool check_declaration(const char *at, const char *end)
{
	unsigned open = 0, tokens = 0;

	for (; at < end; at++) {
		if (*at < ' ' || *at > '~' || strchr("\"'\\{}:", *at))
			return false;
		if (strchr("([", *at) && ++open > NESTING_MAX)
			return false;
		if (strchr(")]", *at) && !open--)
			return false;
		tokens += !isalnum((unsigned char)*at);
	}
	return !open && tokens < OPEN_TOKENS_MAX / 8;
}

/* "\tfield:int x;\toffset:8;\tsize:4;\tsigned:1;", the last part only of newer kernels. */
static bool check_field(const char *at, const char *end)
{
	const char *semicolon;
	uint64_t offset, size, sign;

	if (!take_word(&at, end, "\tfield:"))
		return false;
	semicolon = memchr(at, ';', (size_t)(end - at));
	if (!semicolon || !check_declaration(at, semicolon))
		return false;
	at = semicolon;
	if (!take_word(&at, end, ";\toffset:") || !take_number(&at, end, &offset) ||
	    !take_word(&at, end, ";\tsize:") || !take_number(&at, end, &size))
		return false;
	if (take_word(&at, end, ";\tsigned:") && !take_number(&at, end, &sign))
		return false;
	return take_word(&at, end, ";") && at == end;
}

static bool check_name(const char *at, const char *end)
{
	if (!take_word(&at, end, "name: ") || at == end)
		return false;
	for (; at < end; at++)
		if (!isalnum((unsigned char)*at) && !strchr("_-.", *at))
			return false;
	return true;
}

static bool check_id(const char *at, const char *end)
{
	uint64_t id;

	return take_word(&at, end, "ID: ") && take_number(&at, end, &id) && at == end;
}

/* ---- the text's conversions ---- */

/* Behind a '%': moves *at behind the conversion. */
static bool check_conversion(const char **at, const char *end)
{
	const char *p = *at, *start = p;
	unsigned digits = 0, longs = 0;
	bool width_star = false, precision_star = false, precision = false;

	for (; p < end && strchr("-+ #0123456789.*hlLzZ", *p); p++) {
		bool digit = isdigit((unsigned char)*p);

		digits = digit ? digits + 1 : 0;
		longs += !!strchr("hlLzZ", *p);
		width_star |= *p == '*' && !precision;
		precision_star |= *p == '*' && precision;
		precision |= *p == '.';
		if (digits > WIDTH_DIGITS_MAX || longs > 2 || p - start > 16)
			return false;
	}
	if (p == end || !*p)
		return false;
	*at = p + 1;
	if (*p == '%')
		return p == start;
	if (*p == 's' || *p == 'c')
		return !longs && !width_star;
	if (*p == 'p')
		return !longs;
	return strchr("dixXou", *p) && !width_star && !precision_star;
}

/* A C string; *at is behind its first quote, and then behind its last. conversions: it is printf's. */
static bool check_string(const char **at, const char *end, bool conversions)
{
	const char *p = *at;

	while (p < end && *p != '"') {
		if (*p == '\\' && ++p == end)
			return false;
		if (*p++ == '%' && conversions && !check_conversion(&p, end))
			return false;
	}
	*at = p + 1;
	return p < end;
}

/* ---- its arguments ---- */

/* Tokens of the expressions that are open, level by level. */
struct nesting {
	unsigned tokens[NESTING_MAX + 1];
	unsigned depth, braces, total;
};

static bool add_token(struct nesting *n)
{
	n->tokens[n->depth]++;
	return ++n->total <= OPEN_TOKENS_MAX;
}

static void end_expression(struct nesting *n)
{
	n->total -= n->tokens[n->depth];
	n->tokens[n->depth] = 0;
}

static bool check_bracket(struct nesting *n, char c)
{
	if (strchr("([{", c)) {
		if (n->depth == NESTING_MAX)
			return false;
		n->braces += c == '{';
		n->depth++;
		return true;
	}
	if (!n->depth)
		return false;
	n->braces -= c == '}' && n->braces;
	end_expression(n);
	n->depth--;
	return true;
}

static bool check_other(struct nesting *n, const char **at, const char *end)
{
	const char *p = *at;

	/* Constants in braces are worked out while parsing: no division by 0 there. */
	if (*p < ' ' || *p > '~' || strchr("\\;@`$", *p) || (strchr("/%", *p) && n->braces))
		return false;
	if (*p == '\'') { /* one character: 'x' */
		if (end - p < 3 || p[1] < ' ' || p[1] > '~' || strchr("'\\", p[1]) || p[2] != '\'')
			return false;
		p += 3;
	} else if (isalnum((unsigned char)*p) || *p == '_') {
		while (p < end && (isalnum((unsigned char)*p) || *p == '_'))
			p++;
	} else {
		p++;
	}
	*at = p;
	return add_token(n);
}

static bool check_arguments(const char *at, const char *end)
{
	struct nesting n = { .depth = 0 };

	if (at < end && end[-1] == '\n')
		end--;
	while (at < end) {
		char c = *at;

		if (c == '"') {
			at++;
			if (!check_string(&at, end, false) || !add_token(&n))
				return false;
		} else if (strchr("()[]{}", c)) {
			at++;
			if (!check_bracket(&n, c) || !add_token(&n))
				return false;
		} else if (c == ',' || c == ' ') {
			at++;
			if (c == ',')
				end_expression(&n);
		} else if (!check_other(&n, &at, end)) {
			return false;
		}
	}
	return !n.depth;
}

static bool check_print(const char *at, const char *end)
{
	bool first = true;

	if (!take_word(&at, end, "print fmt: "))
		return false;
	/* Strings behind one another are one. */
	for (; at < end && (*at == '"' || *at == ' '); first = false)
		if (*at++ == '"' && !check_string(&at, end, true))
			return false;
	return !first && (at == end || *at == ',' || *at == '\n') && check_arguments(at, end);
}

static bool is_line(const char *at, const char *end, const char *line)
{
	return take_word(&at, end, line) && at == end;
}

enum trace_format_use trace_format_check(const char *text, size_t len, size_t *fields_len)
{
	const char *at = text, *all_end = text + len;
	enum { NAME, ID, FORMAT, TYPE, FIELDS } state = NAME;

	if (len > TEXT_MAX || memchr(text, '\0', len))
		return TRACE_FORMAT_NOTHING;
	while (at < all_end) {
		const char *end = memchr(at, '\n', (size_t)(all_end - at));
		bool good;

		end = end ? end : all_end;
		*fields_len = (size_t)(at - text);
		/* To the end: some strings go on over several lines. */
		if (state == FIELDS && starts(at, end, "print"))
			return check_print(at, all_end) ? TRACE_FORMAT_ALL : TRACE_FORMAT_FIELDS;
		if (state == NAME)
			good = check_name(at, end);
		else if (state == ID)
			good = check_id(at, end);
		else if (state != FIELDS)
			good = is_line(at, end, state == TYPE ? type_field : "format:");
		else
			good = at == end || check_field(at, end);
		if (!good)
			return TRACE_FORMAT_NOTHING;
		state += state != FIELDS;
		at = end + 1;
	}
	*fields_len = len;
	return state == FIELDS ? TRACE_FORMAT_FIELDS : TRACE_FORMAT_NOTHING;
}
