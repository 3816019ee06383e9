/*
 * completion: a shell whose TAB pstat answers. Private to cmd/.
 *
 * A script is thin: it hands over what is typed to `pstat completion words SHELL ...`, and puts the answer
 * into the shell's own form. What is an answer is decided in complete.c, for all shells alike. The first
 * line of an answer is what the shell is to offer:
 *	words		the words in the lines behind the second
 *	parts		these, and another may follow behind a comma
 *	files, directories, programs	what the shell itself finds
 *	command		what the shell offers for a command, which begins in this line; and words
 *
 * To add a shell: completion_X.c, a row in shells[] (cmd_completion.c), its place in the Makefile and in
 * configure.ac, a class in tests/cli/completion.py.
 */
#ifndef PSTAT_COMPLETION_H
#define PSTAT_COMPLETION_H

#include "cmd/complete.h"

struct completion_shell {
	const char *name;
	const char *script;
	/* argv: what the script hands over, argc words. The answer, or nothing where there is none. */
	void (*answer)(struct str *out, int argc, char **argv, const struct kern *kern);
};
extern const struct completion_shell bash_completion, zsh_completion, fish_completion;

/* "parts\n": the first line of an answer. */
void completion_add_kind(struct str *out, const struct offers *offers);
/*
 * For shells that match and quote words themselves: the kind, what of the last word stays (for a command:
 * how many words are before it), then "word<TAB>help" line by line.
 */
void completion_add_answer(struct str *out, const struct offers *offers);

#endif
