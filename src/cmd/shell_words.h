/* SPDX-License-Identifier: MIT */
/*
 * shell_words: a line as a shell takes it apart. Private to cmd/.
 */
#ifndef PSTAT_SHELL_WORDS_H
#define PSTAT_SHELL_WORDS_H

#include "util/util.h"

struct shell_words {
	char **v; /* without their quotes, n of them and a NULL */
	const char **at; /* where each begins in the line */
	int n;
	char open; /* the quote that is still open at the end: ' or ", else 0 */
};

/* The last word is the one being typed: "" after a blank and in an empty line. The line is borrowed. */
void shell_words_split(struct shell_words *words, const char *line);
void shell_words_release(struct shell_words *words);

#endif
