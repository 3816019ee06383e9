/*
 * export_file: text goes to the file that was named, in large pieces; a message names the file.
 */
#include "cmd/export_file.h"
#include "cmd/message.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

struct export_file {
	int fd;
};

static int write_file(void *context, struct str *text)
{
	const struct export_file *file = context;
	int code = write_all(file->fd, text->s, text->len);

	str_reset(text);
	return code;
}

void export_file_failed(struct sample_run *run, const char *path, const char *why)
{
	struct str line = STR_INIT;

	str_addf(&line, "%s: %s", path, why);
	message_error(line.s);
	str_release(&line);
	run->status = EXIT_PSTAT_FAILED;
}

bool export_file_open(struct sample_run *run, const char *path)
{
	struct export_file *file;
	struct str err = STR_INIT;
	int fd;

	if (!path)
		return true;
	fd = destination_open(path, false, &err);
	if (fd < 0) {
		export_file_failed(run, path, err.s);
		str_release(&err);
		return false;
	}
	file = xmalloc(sizeof(*file));
	file->fd = fd;
	run->output.write = write_file;
	run->output.context = file;
	return true;
}

bool export_file_close(struct sample_run *run, const char *path)
{
	struct export_file *file = run->output.context;
	int code;

	if (!path)
		return true;
	code = output_end(&run->output);
	if (close(file->fd) && !code)
		code = -errno;
	free(file);
	if (code)
		export_file_failed(run, path, strerror(-code));
	/* The error was reported above. */
	run->output.failed = 0;
	run->output.write = NULL;
	run->output.context = NULL;
	return !code;
}

void export_file_say(const char *format, const char *path)
{
	struct note_list notes = { 0 };

	note_add(&notes, false, NULL, "%s: written to %s", format, path);
	message_notes(&notes, 0, false);
	note_list_release(&notes);
}

bool export_file_begin(struct sample_run *run, const struct session_options *session,
		       const struct filter_options *filters, struct export *export)
{
	const struct export_options options = { *session, *filters };
	struct str err = STR_INIT;
	bool begun = !export_init(export, &options, &run->reader, &err);

	export->progress = sample_run_progress;
	export->progress_context = run;
	if (!begun) {
		message_error(err.s);
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
