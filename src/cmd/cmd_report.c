/* SPDX-License-Identifier: MIT */
/*
 * pstat report: what a recording adds up to. The rows are in report_options.c; here is what runs: a dump,
 * a listing of tasks, a table in one of the formats of fmt/, or samples in one of those of export/.
 */
#include "cmd/browse.h"
#include "cmd/command.h"
#include "cmd/sample_run.h"
#include "cmd/message.h"
#include "cmd/report_options.h"
#include "cmd/signals.h"

#include <unistd.h>

/* A header on a terminal, or --header: in front of the text, as perf has it. */
static void print_header(struct sample_run *run, const struct raw_dump_words *dump)
{
	if (dump->header || dump->full_header)
		reader_print_header(&run->reader, dump->full_header, &run->output.text);
}

static int ignore_sample(void *context, struct replay *replay, const struct replay_sample *sample,
			 struct str *err)
{
	(void)context, (void)replay, (void)sample, (void)err;
	return 0;
}

/* --tasks and --mmaps need no names and no samples. */
static void list_tasks(struct sample_run *run, const struct report_words *words)
{
	struct replay_options options = words->report.session.replay;
	struct replay_handlers handlers = {
		.context = run, .sample = ignore_sample, .progress = sample_run_progress,
	};
	struct replay replay;
	struct str err = STR_INIT;

	options.keep_exited = true;
	replay_init(&replay, &run->reader.recording, &options);
	if (replay_run(&replay, &run->reader.source, &handlers, &err))
		sample_run_fail(run, err.s);
	progress_end(&run->progress);
	if (words->mmaps)
		replay_print_mmaps(&replay, &run->output.text);
	else
		replay_print_tasks(&replay, &run->output.text);
	replay_release(&replay);
	str_release(&err);
}

/* A file whose name is not the user's is named in a note. */
static void close_output(struct sample_run *run, const struct report_words *words)
{
	if (sample_run_end_file(run, words->output) && words->unnamed && words->output && !words->sample.quiet)
		message_written(words->export ? words->export->name : words->format->name, words->output);
}

static void print_report(struct sample_run *run, const struct report_words *words, struct table *table)
{
	struct pager pager;

	if (!sample_run_to_file(run, words->output))
		return;
	pager_open(&pager, !words->sample.no_pager && !words->output);
	print_header(run, &words->sample.dump);
	words->format->print(table, &run->output);
	output_end(&run->output);
	pager_close(&pager);
	close_output(run, words);
}

/* Reads the recording and writes it in a format that is made sample by sample. */
static void run_export(struct sample_run *run, const struct report_words *words)
{
	struct export export;
	struct str err = STR_INIT;
	int code;

	if (sample_run_export(run, &words->report.session, &words->report.filters, &export) &&
	    sample_run_to_file(run, words->output)) {
		code = words->export->run(&export, &run->output, words->packed, &err);
		if (code && !run->output.failed)
			sample_run_fail(run, err.s);
		close_output(run, words);
		sample_run_notes(run, &export.session, &words->sample);
	}
	export_release(&export);
	str_release(&err);
}

/* A recording that could be read in part is shown as far as that. */
static void answer(struct sample_run *run, const struct report_words *words, const struct question *question,
		   struct profile *profile)
{
	struct table *table = NULL;
	struct str err = STR_INIT;

	if (profile_read(profile, sample_run_progress, run, &err))
		sample_run_fail(run, err.s);
	signals_spare_end();
	progress_end(&run->progress);
	str_reset(&err);
	if (table_make(&table, profile, question, NULL, &err)) {
		sample_run_fail(run, err.s);
	} else {
		print_report(run, words, table);
		note_list_join(&profile->session.notes, &table->notes);
	}
	sample_run_notes(run, &profile->session, &words->sample);
	table_free(table);
	str_release(&err);
}

static void run_report(struct sample_run *run, const struct report_words *words)
{
	struct question *question = NULL;
	struct profile_options options;
	struct profile *profile = NULL;
	struct str err = STR_INIT;
	int code;

	reader_know_events(&run->reader);
	code = question_make(&question, &words->report, &run->reader.recording, &err);
	if (!code) {
		options = question_profile(question, 0);
		code = profile_new(&profile, &options, &run->reader, &err);
	}
	if (code) {
		message_error("%s", err.s);
		run->status = EXIT_BAD_USAGE;
	} else {
		answer(run, words, question, profile);
	}
	profile_free(profile);
	question_free(question);
	str_release(&err);
}

static void show_report(struct sample_run *run, const struct report_words *words)
{
	const struct browse_words browsed = {
		.query = &words->report, .code_options = words->code, .code_percent = words->code_percent,
		.asked_for = words->tui,
	};
	bool wanted = report_wants_screen(words);

	if (!wanted)
		browse_not(words->tui, "it needs a terminal, and nothing that is only printed");
	if (!wanted || !browse_recording(run, &browsed))
		run_report(run, words);
}

/* perf takes a word that is no option as part of a symbol's name; users mean their recording by it. */
static int take_rest(struct report_words *words, int argc, char **argv, int first)
{
	if (first == argc)
		return 0;
	if (argc - first > 1 || !access(argv[first], F_OK))
		return bad_usage("report: '%s' is not an option; the recording is named with -i",
				 argv[first]);
	words->sample.filters.symbol_filter = argv[first];
	return 0;
}

int cmd_report(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct report_words words;
	struct sample_run run;
	int first, status;

	(void)kern;
	report_words_init(&words);
	status = command_parse(self, argc, argv, &words, &first);
	if (status >= 0)
		return status;
	status = take_rest(&words, argc, argv, first);
	if (status)
		return status;
	status = report_words_finish(&words);
	if (status)
		return status;
	if (raw_dump_only(&words.sample.dump))
		return raw_dump(&words.sample.dump);
	words.report.session.sym.progress = sample_run_symbol_progress;
	words.report.session.sym.progress_context = &run;
	if (sample_run_open(&run, &words.sample)) {
		if (words.no_shorten)
			run.output.columns = 0;
		if (words.tasks || words.mmaps)
			list_tasks(&run, &words);
		else if (words.export)
			run_export(&run, &words);
		else
			show_report(&run, &words);
	}
	return sample_run_close(&run);
}
