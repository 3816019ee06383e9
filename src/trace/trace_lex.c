/*
 * The words of a print format, which is C: names, numbers, strings, signs. Nothing is looked up here.
 */
#include "trace/trace_internal.h"

#include <ctype.h>

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* ---- strings ---- */

/* The last quote of the string that begins behind a first one at `at`; NULL: there is none. */
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

/* Strings behind one another are one. At the first quote. */
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

struct trace_token trace_lex(struct trace_lexer *lexer)
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
