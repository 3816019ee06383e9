/* SPDX-License-Identifier: MIT */
/*
 * Names: patterns, and the nearest known name to a mistyped one.
 */
#include "util.h"

#include <ctype.h>
#include <fnmatch.h>

enum { NAME_MAX_LEN = 127 };

bool glob_match(const char *pattern, const char *text)
{
	return fnmatch(pattern, text, 0) == 0;
}

bool has_glob_chars(const char *text)
{
	return strpbrk(text, "*?[") != NULL;
}

void near_init(struct near_name *near, const char *word, size_t len)
{
	*near = (struct near_name){ .word = word, .word_len = len };
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

/* Edits (insert, delete, replace, swap of neighbours) from a to b, without regard to case. */
static unsigned edit_distance(const char *a, size_t an, const char *b, size_t bn)
{
	unsigned rows[3][NAME_MAX_LEN + 1];
	unsigned *before = rows[0], *prev = rows[1], *cur = rows[2];

	for (size_t j = 0; j <= bn; j++)
		prev[j] = (unsigned)j;
	for (size_t i = 1; i <= an; i++) {
		unsigned *spare = before;

		cur[0] = (unsigned)i;
		for (size_t j = 1; j <= bn; j++) {
			int x = tolower((unsigned char)a[i - 1]);
			int y = tolower((unsigned char)b[j - 1]);

			cur[j] = min3(prev[j] + 1, cur[j - 1] + 1, prev[j - 1] + (x != y));
			if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
			    y == tolower((unsigned char)a[i - 2]) && before[j - 2] + 1 < cur[j])
				cur[j] = before[j - 2] + 1;
		}
		before = prev;
		prev = cur;
		cur = spare;
	}
	return prev[bn];
}

void near_consider(struct near_name *near, const char *candidate)
{
	size_t len = strlen(candidate);
	unsigned d;

	if (!len || len > NAME_MAX_LEN || !near->word_len || near->word_len > NAME_MAX_LEN)
		return;
	d = edit_distance(near->word, near->word_len, candidate, len);
	if (d > (len + 2) / 3 || (near->best[0] && d >= near->best_distance))
		return;
	near->best_distance = d;
	memcpy(near->best, candidate, len + 1);
}

const char *near_best(const struct near_name *near)
{
	return near->best[0] ? near->best : NULL;
}
