/*
 * --FORMAT[=FILE] of `pstat report`: formats that are files for other programs. Without a name it is standard output,
 * but a terminal, where such a file is no good: then its name is the row's.
 */
#include "cmd/command.h"
#include "cmd/export_file.h"
#include "cmd/message.h"
#include "cmd/report_words.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static const struct export_row {
	const char *format; /* of export_text_format_find, else of report_format_find */
	const char *file; /* its name on a terminal */
} export_rows[N_EXPORTS] = {
	[EXPORT_FLAMEGRAPH] = { "flamegraph", "flamegraph.html" },
	[EXPORT_SPEEDSCOPE] = { "speedscope", "speedscope.json" },
	[EXPORT_PPROF] = { "pprof", "profile.pb.gz" },
	[EXPORT_FIREFOX] = { "firefox", "profile.json.gz" },
};

int take_export(void *target, const char *argument, struct str *err)
{
	struct export_words *words = target;

	if (argument && !*argument)
		return fail(err, -EINVAL, "the file's name is missing behind =");
	*words = (struct export_words){ .given = true, .file = argument };
	return 0;
}

/* A format of that name and of the file's extension goes before the format of that name: "flamegraph.svg". */
static const struct report_format *find_format(const char *name, const char *file)
{
	const char *extension = strrchr(file, '.');
	const struct report_format *found = NULL;

	if (extension) {
		char *both = xasprintf("%s%s", name, extension);

		found = report_format_find(both);
		free(both);
	}
	return found ? found : report_format_find(name);
}

int report_export_choose(struct report_words *words)
{
	for (size_t i = 0; i < N_EXPORTS; i++) {
		const struct export_words *given = &words->exports[i];
		const char *file = given->file ? given->file : isatty(STDOUT_FILENO) ? export_rows[i].file : "-";

		if (!given->given)
			continue;
		if (words->format || words->export)
			return bad_usage("report: --%s is one of two formats; give one", export_rows[i].format);
		words->unnamed = !given->file;
		words->output = strcmp(file, "-") != 0 ? file : NULL;
		words->packed = export_name_is_packed(file);
		words->export = export_text_format_find(export_rows[i].format);
		words->format = words->export ? NULL : find_format(export_rows[i].format, file);
	}
	return 0;
}

bool report_export_open(const struct report_words *words, struct sample_run *run)
{
	return export_file_open(run, words->output);
}

void report_export_close(const struct report_words *words, struct sample_run *run)
{
	if (export_file_close(run, words->output) && words->unnamed && words->output && !words->sample.quiet)
		export_file_say(words->export ? words->export->name : words->format->name, words->output);
}

/* ---- formats that are made sample by sample ---- */

void report_export_run(struct sample_run *run, const struct report_words *words)
{
	struct export export;
	struct str err = STR_INIT;
	int code;

	if (export_file_begin(run, &words->report.session, &words->report.filters, &export) &&
	    report_export_open(words, run)) {
		code = words->export->run(&export, &run->output, words->packed, &err);
		if (code && !run->output.failed)
			sample_run_fail(run, err.s);
		report_export_close(words, run);
		sample_run_notes(run, &export.session, &words->sample);
	}
	export_release(&export);
	str_release(&err);
}
