/* SPDX-License-Identifier: MIT */
/*
 * name_set: the names of one option, as typed or from a file with one a line.
 */
#ifndef PSTAT_NAME_SET_H
#define PSTAT_NAME_SET_H

#include "util/util.h"

struct name_set { /* names of one option */
	struct str bytes; /* each ended by NUL */
	size_t *at; /* of each name */
	size_t n, cap;
	struct index ix;
};
/*
 * Names separated by commas; "\," is a comma of a name, and "file:PATH" stands for the lines of a file: "\file:PATH" is
 * the name "file:PATH", and "\\file:PATH" the one that begins with a backslash.
 */
int name_set_parse(struct name_set *set, const char *option, const char *text, struct str *err);
void name_set_release(struct name_set *set);
/* Adds a name as name_set_parse takes it. */
void name_set_quote(const char *name, struct str *out);
/* The name, where the text is a single one; else NULL. */
const char *name_set_only(const char *text);
bool name_set_has(const struct name_set *set, const char *name);

#endif
