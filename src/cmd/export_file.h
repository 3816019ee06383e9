/*
 * export_file: where what is exported goes: a file that the user has named, or standard output; and a recording
 * that is exported sample by sample. Private to cmd/.
 */
#ifndef PSTAT_EXPORT_FILE_H
#define PSTAT_EXPORT_FILE_H

#include "cmd/sample_options.h"
#include "export/export.h"

/* Sends the text of run->output to the path from now on; NULL: to standard output. False after a message. */
bool export_file_open(struct sample_run *run, const char *path);
/* All of it is written; true: without an error, which is said and is run->status. */
bool export_file_close(struct sample_run *run, const char *path);
/* "PATH: WHY", and run->status. */
void export_file_failed(struct sample_run *run, const char *path, const char *why);
/* "FORMAT: written to PATH": where the name was not the user's. */
void export_file_say(const char *format, const char *path);

/* For an export that reads run's recording; false after a message. Release it in any case. */
bool export_file_begin(struct sample_run *run, const struct session_options *session,
		       const struct filter_options *filters, struct export *export);
bool export_name_is_packed(const char *path); /* it ends in .gz */

#endif
