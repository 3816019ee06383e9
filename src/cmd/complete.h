/*
 * complete: what can stand at the end of a command line of pstat. The shells' scripts ask
 * (cmd_completion.c); all of it comes from the commands' and options' rows. Private to cmd/.
 */
#ifndef PSTAT_COMPLETE_H
#define PSTAT_COMPLETE_H

#include "cmd/command.h"

struct offer {
	char *word, *help; /* help is one line, "" where there is none */
};

struct offers {
	const struct kern *kern;
	/* What is asked: argv[0] is pstat, the last word is the one being completed, as far as it is typed. */
	char *const *argv;
	int argc;
	/* What is answered. */
	enum offer_kind {
		OFFER_WORDS, /* those below */
		OFFER_FILES, /* the shell knows these best */
		OFFER_DIRECTORIES,
		OFFER_PROGRAMS, /* the name of one */
		OFFER_COMMAND, /* a program and its arguments, from argv[command] on; and the words below */
	} kind;
	bool list; /* another part may follow behind a comma */
	int command; /* OFFER_COMMAND: an index in argv */
	size_t kept; /* how much of the last word stays: 11 of "--event=cs,pa" */
	struct offer *v;
	size_t n, cap;
};

/* Fills the answer. argc is at least 2. The words are borrowed until offers_release(). */
void offers_find(struct offers *offers, int argc, char *const *argv, const struct kern *kern);
void offers_release(struct offers *offers);

/* What is typed of the part to complete: "pa". */
const char *offers_typed(const struct offers *offers);
/* Words that would not go through a terminal as they are (control characters) are left out. */
void offer(struct offers *offers, const char *word, const char *help);
/* Each word of rows: false ends them. */
void offer_rows(struct offers *offers, bool (*row)(size_t i, const char **name, const char **help));

/* complete_values.c: what an option's argument may be; offers->kept is where it begins. */
void offer_value(struct offers *offers, const struct option_row *row);
/* complete_events.c: events of -e, from the last comma or brace on; a single one where list is false. */
void offer_events(struct offers *offers);

#endif
