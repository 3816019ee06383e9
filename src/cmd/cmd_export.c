/* SPDX-License-Identifier: MIT */
/*
 * pstat export: the samples of a recording for other programs: JSON lines for a store of many recordings, a
 * database of this one.
 */
#include "cmd/command.h"
#include "cmd/sample_run.h"
#include "cmd/message.h"
#include "cmd/signals.h"

#include <errno.h>

struct export_command {
	struct sample_words sample; /* first: sample_options[] fills it */
	const char *jsonl, *sqlite; /* files */
};

#define WORD(name) .offset = offsetof(struct export_command, name)

const struct option_row export_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to write" },
	{ OPTION_TEXT, 0, "jsonl", "file", "write one JSON line per sample; -: stdout",
	  WORD(jsonl), .value = VALUE_FILE },
	{ OPTION_TEXT, 0, "sqlite", "file", "write a database of samples and counts", WORD(sqlite),
	  .value = VALUE_FILE },
	{ .kind = OPTION_END, .more = sample_options },
};

static void write_database(struct sample_run *run, const struct export_command *words, struct export *export)
{
	const struct run_stop *stop;
	struct interrupt interrupt;
	struct str err = STR_INIT;
	int code;

	stop = signals_catch_end(&interrupt);
	export->interrupt = &interrupt;
	code = export_sqlite(export, words->sqlite, &err);
	export->interrupt = NULL;
	progress_end(&run->progress);
	if (code == EXPORT_READING_ENDED)
		sample_run_fail(run, err.s);
	else if (code)
		sample_run_fail_file(run, words->sqlite, err.s);
	if (code == -ECANCELED)
		run->status = 128 + stop->signal;
	str_release(&err);
}

static int write_export(struct export_command *words)
{
	struct sample_run run;
	struct export export;
	int status = sample_words_finish(&words->sample);

	if (status)
		return status;
	words->sample.session.sym.progress = sample_run_symbol_progress;
	words->sample.session.sym.progress_context = &run;
	if (!sample_run_open(&run, &words->sample))
		return sample_run_close(&run);
	if (sample_run_export(&run, &words->sample.session, &words->sample.filters, &export)) {
		if (words->jsonl)
			sample_run_export_text(&run, &export, "jsonl", words->jsonl);
		else
			write_database(&run, words, &export);
		sample_run_notes(&run, &export.session, &words->sample);
	}
	export_release(&export);
	return sample_run_close(&run);
}

int cmd_export(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct export_command words = { 0 };
	int status = command_parse(self, argc, argv, &words, NULL);

	(void)kern;
	if (status >= 0)
		return status;
	if (!words.jsonl == !words.sqlite)
		return bad_usage("export: %s", words.jsonl ? "--jsonl and --sqlite are two files; give one" :
							     "give --jsonl or --sqlite with the name of a file");
	if (!*(words.jsonl ? words.jsonl : words.sqlite))
		return bad_usage("export: the name of the file is empty");
	return write_export(&words);
}
