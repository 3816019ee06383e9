/* SPDX-License-Identifier: MIT */
/* The reader of JSON text: one pass, no recursion. */
#include "event/json.h"

#include <ctype.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == ':';
}

static struct json_token token_at(struct json_reader *reader, enum json_kind kind, size_t start, size_t len)
{
	return (struct json_token){ kind, reader->text + start, len };
}

static struct json_token read_text(struct json_reader *reader)
{
	size_t start = reader->at + 1, at = start;

	while (at < reader->len && reader->text[at] != '"')
		at += reader->text[at] == '\\' ? 2 : 1;
	if (at >= reader->len)
		return token_at(reader, JSON_DAMAGED, reader->at, 0);
	reader->at = at + 1;
	return token_at(reader, JSON_TEXT, start, at - start);
}

static struct json_token read_bare(struct json_reader *reader, enum json_kind kind)
{
	size_t start = reader->at;

	while (reader->at < reader->len && (isalnum((unsigned char)reader->text[reader->at]) ||
					    strchr("+-.", reader->text[reader->at])) && reader->text[reader->at])
		reader->at++;
	return token_at(reader, kind, start, reader->at - start);
}

struct json_token json_next(struct json_reader *reader)
{
	char c;

	while (reader->at < reader->len && is_blank(reader->text[reader->at]))
		reader->at++;
	if (reader->at >= reader->len)
		return token_at(reader, JSON_END, reader->len, 0);
	c = reader->text[reader->at];
	if (c == '"')
		return read_text(reader);
	if (isdigit((unsigned char)c) || c == '-')
		return read_bare(reader, JSON_NUMBER);
	if (isalpha((unsigned char)c))
		return read_bare(reader, JSON_WORD);
	if (c == '{' || c == '[') {
		reader->depth++;
		return token_at(reader, c == '{' ? JSON_OPEN_OBJECT : JSON_OPEN_ARRAY, reader->at++, 1);
	}
	if ((c == '}' || c == ']') && reader->depth) {
		reader->depth--;
		return token_at(reader, JSON_CLOSE, reader->at++, 1);
	}
	return token_at(reader, JSON_DAMAGED, reader->at, 0);
}

bool json_skip(struct json_reader *reader, const struct json_token *token)
{
	size_t depth = reader->depth - 1;

	if (token->kind != JSON_OPEN_OBJECT && token->kind != JSON_OPEN_ARRAY)
		return token->kind > JSON_DAMAGED;
	while (reader->depth > depth)
		if (json_next(reader).kind <= JSON_DAMAGED)
			return false;
	return true;
}

bool json_is(const struct json_token *token, const char *word)
{
	return token->kind == JSON_TEXT && strlen(word) == token->len && !memcmp(token->text, word, token->len);
}

/* ---- escapes ---- */

static void add_utf8(struct str *out, uint32_t c)
{
	if (!c || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c < 0x80) {
		str_addc(out, (char)c);
		return;
	}
	if (c < 0x800) {
		str_addc(out, (char)(0xc0 | c >> 6));
	} else {
		if (c < 0x10000) {
			str_addc(out, (char)(0xe0 | c >> 12));
		} else {
			str_addc(out, (char)(0xf0 | c >> 18));
			str_addc(out, (char)(0x80 | (c >> 12 & 0x3f)));
		}
		str_addc(out, (char)(0x80 | (c >> 6 & 0x3f)));
	}
	str_addc(out, (char)(0x80 | (c & 0x3f)));
}

/* The four digits behind \u; false: there are none. */
static bool hex4(const char *p, const char *end, uint32_t *value)
{
	*value = 0;
	for (int i = 0; i < 4; i++, p++) {
		if (p >= end || !isxdigit((unsigned char)*p))
			return false;
		*value = *value << 4 | (uint32_t)(isdigit((unsigned char)*p) ? *p - '0' : (*p | 0x20) - 'a' + 10);
	}
	return true;
}

/* Adds the meaning of what follows a backslash. Returns where that ends. */
static const char *add_escape(struct str *out, const char *p, const char *end)
{
	static const char letters[] = "bfnrt", meant[] = "\b\f\n\r\t";
	const char *letter = *p ? strchr(letters, *p) : NULL;
	uint32_t c, low;

	if (*p != 'u' || !hex4(p + 1, end, &c)) {
		str_addc(out, letter ? meant[letter - letters] : *p);
		return p + 1;
	}
	p += 5;
	/* Characters beyond 16 bits are written as a pair of surrogates. */
	if (c >= 0xd800 && c < 0xdc00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u' && hex4(p + 2, end, &low) &&
	    low >= 0xdc00 && low < 0xe000) {
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
		p += 6;
	}
	add_utf8(out, c);
	return p;
}

void json_add_text(struct str *out, const struct json_token *token)
{
	const char *p = token->text, *end = p + token->len;

	if (token->kind != JSON_TEXT) {
		str_addn(out, p, token->len);
		return;
	}
	while (p < end) {
		if (*p == '\\' && p + 1 < end)
			p = add_escape(out, p + 1, end);
		else if (*p)
			str_addc(out, *p++);
		else
			add_utf8(out, (p++, 0));
	}
}
