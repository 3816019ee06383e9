/* SPDX-License-Identifier: MIT */
/*
 * name_filter: which names a filter takes, in perf's words: patterns with * ? and [..], joined by & and |, of which &
 * binds closer, ! in front of what is not to match, and brackets.
 *
 *	filter = both { "|" both }   both = one { "&" one }   one = "!" one | "(" filter ")" | PATTERN
 *
 * A filter is read anew for each name: it is short, and there is nothing to keep.
 */
#include "probe/probe.h"

#include <errno.h>
#include <stdlib.h>

enum { DEPTH_MAX = 64 };

struct filter_reader {
	const char *at; /* the rest of the filter */
	const char *name;
	unsigned depth; /* of ! and brackets */
	bool bad;
};

static char next_word(struct filter_reader *reader)
{
	reader->at += strspn(reader->at, " \t");
	return *reader->at;
}

/* The length of a pattern: what is within [..] belongs to it. */
static size_t pattern_length(const char *text)
{
	size_t n = 0;

	for (bool inside = false; text[n] && (inside || !strchr("&|!() \t", text[n])); n++)
		inside = inside ? text[n] != ']' : text[n] == '[' && strchr(text + n, ']');
	return n;
}

static bool match_pattern(struct filter_reader *reader)
{
	size_t n = pattern_length(reader->at);
	char *pattern = xstrndup(reader->at, n);
	bool matches = glob_match(pattern, reader->name);

	reader->bad |= !n;
	reader->at += n;
	free(pattern);
	return matches;
}

static bool match_any(struct filter_reader *reader);

static bool match_one(struct filter_reader *reader)
{
	char word = next_word(reader);
	bool matches;

	if (reader->bad || (word != '!' && word != '('))
		return !reader->bad && match_pattern(reader);
	reader->at++;
	reader->bad |= ++reader->depth > DEPTH_MAX;
	matches = word == '!' ? !match_one(reader) : match_any(reader);
	reader->depth--;
	if (word == '!')
		return matches;
	reader->bad |= next_word(reader) != ')';
	reader->at += !reader->bad;
	return matches;
}

/* All are read, also those that make no difference any more. */
static bool match_all(struct filter_reader *reader)
{
	bool matches = match_one(reader);

	while (!reader->bad && next_word(reader) == '&') {
		reader->at++;
		matches &= match_one(reader);
	}
	return matches;
}

static bool match_any(struct filter_reader *reader)
{
	bool matches = match_all(reader);

	while (!reader->bad && next_word(reader) == '|') {
		reader->at++;
		matches |= match_all(reader);
	}
	return matches;
}

bool name_filter_takes(const char *filter, const char *name)
{
	struct filter_reader reader = { .at = filter, .name = name };

	return match_any(&reader);
}

int name_filter_check(const char *filter, struct str *err)
{
	struct filter_reader reader = { .at = filter, .name = "" };

	match_any(&reader);
	if (!reader.bad && !next_word(&reader))
		return 0;
	return fail(err, -EINVAL, "'%s' is no filter: patterns are joined by & and |, with ! in front or in brackets",
		    filter);
}
