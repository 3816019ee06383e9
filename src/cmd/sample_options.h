/*
 * sample_options: the options that report, script, annotate, diff and export share: which recording, whose samples,
 * where names come from, how it is shown on a terminal; and what such a command owns while it runs. Private to
 * cmd/.
 */
#ifndef PSTAT_SAMPLE_OPTIONS_H
#define PSTAT_SAMPLE_OPTIONS_H

#include "cmd/options.h"
#include "cmd/pager.h"
#include "cmd/progress.h"
#include "cmd/raw_dump.h"
#include "fmt/fmt.h"
#include "script/script.h"

enum { DEBUG_DIRS_MAX = 16 };

/* The first member of the commands' own words, so that the shared rows fit both. */
struct sample_words {
	struct raw_dump_words dump; /* its input is the recording of all else, too */
	struct session_options session;
	struct filter_options filters;
	const char *debug_dirs[DEBUG_DIRS_MAX + 1];
	long max_stack;
	long debuginfod_seconds;
	int verbose;
	bool quiet;
	bool no_pager;
	bool no_cache;
	const char *color; /* "always", "never", "auto" or NULL */
};

/* Options of what to read and of whose samples; then those of name_options[]: the tail of a command's table. */
extern const struct option_row sample_options[];
/* Options of where names come from, and those common to all that print samples. */
extern const struct option_row name_options[];

/* Brings what the rows filled into the options that profile/ takes. 0, or an exit status after a message. */
int sample_words_finish(struct sample_words *words);

/* A command that prints samples: what it owns while it runs. */
struct sample_run {
	struct reader reader;
	bool reader_open;
	struct output output;
	struct progress progress;
	const char *input;
	int status;
};
/* Output and progress, without a recording. */
void sample_run_begin(struct sample_run *run, const struct sample_words *words);
/* The same, and opens the recording; false after a message, and the status is set. */
bool sample_run_open(struct sample_run *run, const struct sample_words *words);
/* For replay and for the reading of symbols. */
void sample_run_progress(void *context, double part);
void sample_run_symbol_progress(void *context, const char *what, double part);
/* "<file>: <text>" and status EXIT_PSTAT_FAILED. */
void sample_run_fail(struct sample_run *run, const char *text);
/* The notes of a session, after the text. */
void sample_run_notes(struct sample_run *run, struct session *session, const struct sample_words *words);
/* Closes; the exit status. */
int sample_run_close(struct sample_run *run);

#endif
