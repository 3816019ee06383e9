/* SPDX-License-Identifier: MIT */
/*
 * completion: what can stand at the end of a command line of pstat, and the shells whose TAB pstat answers. Private
 * to cmd/.
 *
 * A shell's script is thin: it hands over what is typed to `pstat completion words SHELL ...`, and puts the answer
 * into the shell's own form. What is an answer is decided in completion.c, for all shells alike. The first
 * line of an answer is what the shell is to offer:
 *	words		the words in the lines after the second
 *	parts		these, and another may follow after a comma
 *	files, directories, programs	what the shell itself finds
 *	command		what the shell offers for a command, which begins in this line; and words
 *
 * To add a shell: completion_X.c, a row in shells[] (cmd_completion.c), its place in the Makefile and in
 * configure.ac, a class in tests/cli/completion.py.
 */
#ifndef PSTAT_COMPLETION_H
#define PSTAT_COMPLETION_H

#include "cmd/command.h"

struct offer {
	char *word, *help; /* help is one line, "" where there is none */
};

struct offers {
	const struct kern *kern;
	/* The question: argv[0] is pstat, the last word is the one being completed, as far as it is typed. */
	char *const *argv;
	int argc;
	/* The answer. */
	enum offer_kind {
		OFFER_WORDS, /* those below */
		OFFER_FILES, /* the shell knows these best */
		OFFER_DIRECTORIES,
		OFFER_PROGRAMS, /* the name of one */
		OFFER_COMMAND, /* a program and its arguments, from argv[command] on; and the words below */
	} kind;
	bool list; /* another part may follow after a comma */
	int command; /* OFFER_COMMAND: an index in argv */
	size_t kept; /* how much of the last word stays: 11 of "--event=cs,pa" */
	struct offer *v;
	size_t n, cap;
};

/* Fills the answer. argc is at least 2. The words are borrowed until offers_release(). */
void offers_find(struct offers *offers, int argc, char *const *argv, const struct kern *kern);
void offers_release(struct offers *offers);
/* The typed beginning of the part to complete: "pa". */
const char *offers_typed(const struct offers *offers);

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
