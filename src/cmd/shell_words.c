/* SPDX-License-Identifier: MIT */
/*
 * shell_words: blanks divide words, backslashes and quotes keep them together, as sh(1) has it. Nothing
 * is expanded: a variable stays as it is typed. bash hands over a line in place of its own words, because
 * these are divided at : and = too, or wherever else COMP_WORDBREAKS says.
 */
#include "cmd/shell_words.h"

#include <stdlib.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* Behind a backslash in double quotes these lose their meaning; before others the backslash stays. */
static bool is_special_in_quotes(char c)
{
	return c && strchr("\"\\$`\n", c);
}

/* Takes what stands at `at`: a character of the word, or a quote. Returns what follows it. */
static const char *take(const char *at, char *open, struct str *word)
{
	bool quote = *at == '\'' || *at == '"';

	if (*at == '\\' && at[1] && *open != '\'' && (!*open || is_special_in_quotes(at[1]))) {
		str_addc(word, at[1]);
		return at + 2;
	}
	if (quote && (!*open || *open == *at))
		*open = *open ? '\0' : *at;
	else if (*at != '\\' || *open)
		str_addc(word, *at);
	return at + 1;
}

void shell_words_split(struct shell_words *words, const char *line)
{
	size_t room = strlen(line) + 2; /* more than there can be */

	*words = (struct shell_words){ .v = xcalloc(room, sizeof(*words->v)),
				       .at = xcalloc(room, sizeof(*words->at)) };
	do {
		struct str word = STR_INIT;

		while (is_blank(*line))
			line++;
		words->at[words->n] = line;
		while (*line && (words->open || !is_blank(*line)))
			line = take(line, &words->open, &word);
		words->v[words->n++] = str_detach(&word);
	} while (*line);
}

void shell_words_release(struct shell_words *words)
{
	for (int i = 0; i < words->n; i++)
		free(words->v[i]);
	free(words->v);
	free(words->at);
}
