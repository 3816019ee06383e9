/* SPDX-License-Identifier: MIT */
/*
 * json: a reader of JSON text, one token after the other, in place and without memory of its own. Private to event/.
 *
 *   {"a": [1, "x"]}   ->   OPEN {   TEXT a   OPEN [   NUMBER 1   TEXT x   CLOSE ]   CLOSE }   END
 *
 * It finds what is in the text, and does not prove that the text is JSON: commas and colons count as blanks. A text
 * that is cut ends in JSON_END at a depth above 0, or in JSON_DAMAGED within a string. Any bytes are safe to read.
 *
 * Source: RFC 8259.
 */
#ifndef PSTAT_JSON_H
#define PSTAT_JSON_H

#include "util/util.h"

enum json_kind {
	JSON_END,
	JSON_DAMAGED, /* no token begins here, or a string does not end; the reader stays where it is */
	JSON_OPEN_OBJECT,
	JSON_OPEN_ARRAY,
	JSON_CLOSE, /* of an object or an array */
	JSON_TEXT,
	JSON_NUMBER,
	JSON_WORD, /* true, false, null */
};

struct json_reader {
	const char *text; /* borrowed, not terminated */
	size_t len, at;
	size_t depth; /* of what is open */
};

struct json_token {
	enum json_kind kind;
	const char *text; /* in the reader's text: of JSON_TEXT without its quotes, as it is written */
	size_t len;
};

struct json_token json_next(struct json_reader *reader);
/* Reads on to the end of the value that `token` begins. False: the text ends before. */
bool json_skip(struct json_reader *reader, const struct json_token *token);
/* Is it the text `word`? Escapes are not looked into. */
bool json_is(const struct json_token *token, const char *word);
/* Adds what the token says: a JSON_TEXT without its escapes, where NUL becomes U+FFFD; others as written. */
void json_add_text(struct str *out, const struct json_token *token);

#endif
