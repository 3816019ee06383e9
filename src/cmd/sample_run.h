/* SPDX-License-Identifier: MIT */
/*
 * sample_run: what a command that prints samples owns while it runs: the recording, its output (standard output, or a
 * file that the user has named), the progress line, the exit status. Private to cmd/.
 */
#ifndef PSTAT_SAMPLE_RUN_H
#define PSTAT_SAMPLE_RUN_H

#include "cmd/pager.h"
#include "cmd/progress.h"
#include "cmd/sample_options.h"
#include "export/export.h"

struct sample_run {
	struct reader reader;
	bool reader_open;
	struct output output;
	int fd; /* of the file that sample_run_to_file() has opened */
	struct progress progress;
	int status;
};
/* Writes an output's text to standard output. */
int output_to_stdout(void *context, struct str *text);
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

/* Sends the text of run->output to the path from now on; NULL: to standard output. False after a message. */
bool sample_run_to_file(struct sample_run *run, const char *path);
/* All of it is written; true: without an error, which is said and is run->status. */
bool sample_run_end_file(struct sample_run *run, const char *path);
/* "PATH: WHY", and run->status. */
void sample_run_fail_file(struct sample_run *run, const char *path, const char *why);
/* "FORMAT: written to PATH": where the name was not the user's. */
void message_written(const char *format, const char *path);

/* For an export that reads run's recording; false after a message. Release it in any case. */
bool sample_run_export(struct sample_run *run, const struct session_options *session,
		       const struct filter_options *filters, struct export *export);
bool export_name_is_packed(const char *path); /* it ends in .gz */
/* Writes an export of text in that format into a file, or to standard output: "-". After a message: run->status. */
void sample_run_export_text(struct sample_run *run, struct export *export, const char *format, const char *file);

#endif
