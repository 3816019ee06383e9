/* SPDX-License-Identifier: MIT */
/*
 * screen: tables on the terminal, asked anew by keys.
 *
 *     key -> query -> question -> source.make() -> table -> rows -> lines of the terminal
 *                                     ^
 *     source.feed() ------------------+   between keys: what is still to be read, or is being recorded
 *
 * Whoever has a profile can be browsed: a recording that is read meanwhile (screen_recording_*, below), or one that
 * is being made. screen.c is the loop; a view (view_x.c) draws what lies on top and has keys of its own; keys that
 * ask another question are in ask.c and zoom.c; terminal_ncurses.c is the only file that knows the terminal. The
 * screen owns the terminal from screen_run's begin to its end, however that comes: a signal that ends the program
 * puts the terminal back first.
 *
 * To add a view: a file view_x.c with its state and a const struct view, which is a row of views[] in screen.c; its
 * keys as rows of screen_keys[]; a test in tests/cli/browser_*.sh. To add a key: a row of screen_keys[], its place in
 * pstat-report(1).
 */
#ifndef PSTAT_SCREEN_H
#define PSTAT_SCREEN_H

#include "fmt/fmt.h"

/* Answers of feed(), if not a negative errno. */
enum {
	SCREEN_FED_ALL, /* nothing more will come */
	SCREEN_FED_MORE, /* there is more at once */
	SCREEN_FED_LATER, /* there will be more: asked again after later_ms, or after a key */
};

/* A source of tables. Each function gets the context; those that may be NULL say so. */
struct screen_source {
	void *context;
	const struct recording_info *recording; /* that questions are about; its events are known */
	/*
	 * Makes a table: 0, and the screen frees it before it calls feed(); or -errno with a sentence. NULL: no table
	 * is ever asked for.
	 */
	int (*make)(void *context, struct table **table, const struct question *question, struct str *err);
	/* Takes of what there is for about budget_ns. After an error it is not called again. NULL: all is there. */
	int (*feed)(void *context, uint64_t budget_ns, struct str *err);
	/* After SCREEN_FED_ALL: has a table that was made begun another reading? NULL: none does. */
	bool (*reads_on)(const void *context);
	unsigned later_ms; /* see SCREEN_FED_LATER */
	unsigned refresh_ms; /* while it is fed: a new table after this time, though no key was pressed; never 0 */
	/* For the status line: how far it is, losses, doubts: "reading 40 % | 12 samples lost". */
	void (*status)(void *context, struct str *out);
	/* All that is to be said of losses and doubts, a line each; for key !. NULL: nothing. */
	void (*notes)(void *context, struct str *out);
	/* Adds what the recording says of itself, for key i. NULL: nothing. */
	void (*header)(void *context, struct str *out);
	/* The key z: forgets what was counted so far. NULL: it can't. */
	void (*zero)(void *context);
	/* The key f of live views: stands still, or goes on. NULL: it is not live. */
	void (*pause)(void *context);
};

/* The code of a function, with which the screen begins; it lies on the rows, and keys lead back to these. */
struct screen_code {
	const char *symbol; /* NULL: the one with most samples whose code can be shown */
	struct annotate_options options;
	struct annotation_look look;
};

struct screen_options {
	const char *title; /* "perf.data", "top": in the status line; borrowed */
	bool color;
	struct annotate_options code_options; /* of code that is gone to */
	enum annotate_percent code_percent; /* what its percentages are of at first */
	const struct screen_code *code; /* shown when all was read; NULL: it begins with the rows */
	const char *dots; /* what stands for a left out part of a name; UTF-8 where the terminal has it */
};

/*
 * Shows the answer to the query until the user leaves. 0: the user left; -ENOSYS: pstat was built without
 * ncurses; -ENOTTY: this is no terminal for it; another negative errno: the first question has no answer. All
 * with a sentence, and then nothing was shown. Texts of the query are borrowed.
 */
int screen_run(const struct screen_options *options, const struct screen_source *source, const struct query *query,
	       struct str *err);

/* A difference, which is looked at as it is. */
struct screen_diff {
	const struct diff *diff;
	const struct diff_look *look;
	void *context;
	/* The page of its flame graph; 0 or a negative errno. */
	int (*graph)(void *context, struct output *output);
	void (*notes)(void *context, struct str *out); /* as of a source */
};
/* Errors as screen_run's. */
int screen_run_diff(const struct screen_options *options, const struct screen_diff *diff, struct str *err);

/* -ENOSYS: pstat was built without ncurses; another negative errno: it can't be loaded, with a sentence. */
int screen_try(struct str *err);

/* ---- recording_source.c: a recording that is read while it is looked at ---- */
struct screen_recording;
/*
 * 0, or -EINVAL as question_make. The reader must stay open until it is freed. Questions that cells can't answer
 * make it read the recording once more, in steps as the first time.
 */
int screen_recording_new(struct screen_recording **recording, struct reader *reader, const struct query *query,
			 struct str *err);
void screen_recording_free(struct screen_recording *recording); /* NULL is fine */
/* Borrows the recording. */
struct screen_source screen_recording_source(struct screen_recording *recording);
/* The error that stopped the reading, a sentence; NULL: none. */
const char *screen_recording_failed(const struct screen_recording *recording);

#endif
