/* SPDX-License-Identifier: MIT */
/*
 * pstat data convert: a recording as the JSON that perf's command of that name writes.
 */
#include "cmd/command.h"
#include "cmd/message.h"
#include "cmd/sample_run.h"

struct data_words {
	struct sample_words sample; /* first: sample_options[] fills it */
	const char *json; /* file */
	bool wall_clock;
};

#define WORD(name) .offset = offsetof(struct data_words, name)

const struct option_row data_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to write" },
	{ OPTION_TEXT, 0, "to-json", "file", "write the samples as JSON; -: stdout", WORD(json), .value = VALUE_FILE },
	{ OPTION_FLAG, 0, "tod", NULL, "give times as ns since 1970", WORD(wall_clock) },
	{ .kind = OPTION_GROUP, .help = "Refused with the reason" },
	{ OPTION_REFUSED, 0, "to-ctf", "directory", .help = "pstat writes no Common Trace Format",
	  .instead = "--to-json", .value = VALUE_DIRECTORY },
	{ OPTION_REFUSED, 0, "all", NULL, .help = "the layout has samples only",
	  .instead = "pstat script -D prints all records" },
	{ .kind = OPTION_END, .more = sample_options },
};

static int convert(struct data_words *words)
{
	struct sample_run run;
	struct export export;
	int status = sample_words_finish(&words->sample);

	if (status)
		return status;
	words->sample.session.as_recorded = true;
	words->sample.session.sym.progress = sample_run_symbol_progress;
	words->sample.session.sym.progress_context = &run;
	if (!sample_run_open(&run, &words->sample))
		return sample_run_close(&run);
	if (sample_run_export(&run, &words->sample.session, &words->sample.filters, &export)) {
		export.options.wall_clock = words->wall_clock;
		sample_run_export_text(&run, &export, "perf-json", words->json);
		sample_run_notes(&run, &export.session, &words->sample);
	}
	export_release(&export);
	return sample_run_close(&run);
}

int cmd_data(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct data_words words = { .json = NULL };
	int first, status = command_parse(self, argc, argv, &words, &first);

	(void)kern;
	if (status >= 0)
		return status;
	if (argc - first != 1 || strcmp(argv[first], "convert") != 0)
		return bad_usage("data: give what to do: convert");
	if (!words.json || !*words.json)
		return bad_usage("data convert: give --to-json with the name of a file");
	return convert(&words);
}
