/* SPDX-License-Identifier: MIT */
/*
 * sample_run: the run of a command that prints samples, from opening the recording to the exit status. Text leaves in
 * large pieces; messages about it name the recording, or the file that is written.
 */
#include "cmd/sample_run.h"

#include "cmd/message.h"
#include "cmd/recording_place.h"
#include "cmd/terminal.h"

#include <errno.h>
#include <unistd.h>

int output_to_stdout(void *context, struct str *text)
{
	int rc = write_all(STDOUT_FILENO, text->s, text->len);

	(void)context;
	str_reset(text);
	return rc;
}

void sample_run_begin(struct sample_run *run, const struct sample_words *words)
{
	*run = (struct sample_run){ .output = { .text = STR_INIT, .write = output_to_stdout } };
	run->output.color = color_wanted(words->color, STDOUT_FILENO);
	run->output.columns = terminal_columns(STDOUT_FILENO);
	run->output.dots = terminal_dots();
	progress_init(&run->progress, "reading the recording", !words->quiet);
}

bool sample_run_open(struct sample_run *run, const struct sample_words *words)
{
	struct str err = STR_INIT;
	int rc;

	sample_run_begin(run, words);
	rc = recording_open(&run->reader, words->dump.input, &err);
	run->reader_open = true;
	if (rc) {
		message_error("%s", err.s);
		run->status = EXIT_PSTAT_FAILED;
	}
	str_release(&err);
	return !rc;
}

void sample_run_progress(void *context, double part)
{
	struct sample_run *run = context;

	progress_step(&run->progress, NULL, part);
}

void sample_run_symbol_progress(void *context, const char *what, double part)
{
	struct sample_run *run = context;

	progress_step(&run->progress, what, part);
}

void sample_run_fail(struct sample_run *run, const char *text)
{
	progress_end(&run->progress);
	output_end(&run->output);
	message_error("%s: %s", run->reader.path, text);
	run->status = EXIT_PSTAT_FAILED;
}

void sample_run_notes(struct sample_run *run, struct session *session, const struct sample_words *words)
{
	progress_end(&run->progress);
	if (words->quiet)
		return;
	session_add_notes(session);
	message_notes(&session->notes, 0, words->verbose > 0);
}

int sample_run_close(struct sample_run *run)
{
	progress_end(&run->progress);
	if (output_end(&run->output) && run->output.failed != -EPIPE && !run->status)
		run->status = message_stdout_failed(-run->output.failed);
	str_release(&run->output.text);
	if (run->reader_open)
		reader_close(&run->reader);
	return run->status;
}

/* ---- into a file ---- */

static int write_file(void *context, struct str *text)
{
	const struct sample_run *run = context;
	int code = write_all(run->fd, text->s, text->len);

	str_reset(text);
	return code;
}

void sample_run_fail_file(struct sample_run *run, const char *path, const char *why)
{
	message_error("%s: %s", path, why);
	run->status = EXIT_PSTAT_FAILED;
}

bool sample_run_to_file(struct sample_run *run, const char *path)
{
	struct str err = STR_INIT;

	if (!path)
		return true;
	run->fd = destination_open(path, false, &err);
	if (run->fd < 0) {
		sample_run_fail_file(run, path, err.s);
		str_release(&err);
		return false;
	}
	run->output.write = write_file;
	run->output.context = run;
	return true;
}

bool sample_run_end_file(struct sample_run *run, const char *path)
{
	int code;

	if (!path)
		return true;
	code = output_end(&run->output);
	if (close(run->fd) && !code)
		code = -errno;
	if (code)
		sample_run_fail_file(run, path, strerror(-code));
	/* The error was reported above. */
	run->output.failed = 0;
	run->output.write = NULL;
	run->output.context = NULL;
	return !code;
}

void message_written(const char *format, const char *path)
{
	struct note_list notes = { 0 };

	note_add(&notes, false, NULL, "%s: written to %s", format, path);
	message_notes(&notes, 0, false);
	note_list_release(&notes);
}

bool sample_run_export(struct sample_run *run, const struct session_options *session,
		       const struct filter_options *filters, struct export *export)
{
	const struct export_options options = { .session = *session, .filters = *filters };
	struct str err = STR_INIT;
	bool begun = !export_init(export, &options, &run->reader, &err);

	export->progress = sample_run_progress;
	export->progress_context = run;
	if (!begun) {
		message_error("%s", err.s);
		run->status = EXIT_BAD_USAGE;
	}
	str_release(&err);
	return begun;
}

bool export_name_is_packed(const char *path)
{
	size_t n = strlen(path);

	return n >= 3 && !strcmp(path + n - 3, ".gz");
}

void sample_run_export_text(struct sample_run *run, struct export *export, const char *format, const char *file)
{
	const char *path = strcmp(file, "-") != 0 ? file : NULL;
	struct str err = STR_INIT;
	int code;

	if (!sample_run_to_file(run, path))
		return;
	code = export_text_format_find(format)->run(export, &run->output, export_name_is_packed(file), &err);
	if (code && !run->output.failed)
		sample_run_fail(run, err.s);
	sample_run_end_file(run, path);
	str_release(&err);
}
