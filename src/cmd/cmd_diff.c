/* SPDX-License-Identifier: MIT */
/*
 * pstat diff: what is different between recordings, and what of it chance explains. The rows are in diff_options.c;
 * here is what runs: each recording is read, the tables are compared, the answer is printed.
 */
#include "cmd/command.h"
#include "cmd/diff_options.h"
#include "cmd/sample_run.h"
#include "cmd/message.h"
#include "cmd/recording_place.h"
#include "cmd/signals.h"
#include "cmd/terminal.h"
#include "screen/screen.h"

#include <stdlib.h>
#include <unistd.h>

enum { EXIT_RULE_BROKEN = 1 };

struct diff_run {
	struct sample_run run; /* output and progress; its reader is not used */
	struct diff_words *words;
	struct reader *readers; /* one a recording */
	struct diff_recording {
		struct question *question;
		struct profile *profile;
	} *recordings;
	struct table **tables;
	size_t n_open, n_read;
	struct diff_side sides[DIFF_SIDES_MAX];
	struct diff *diff;
};

static void fail_file(struct diff_run *diff, size_t i, const char *why)
{
	progress_end(&diff->run.progress);
	message_error("%s: %s", diff->words->files[i], why);
	diff->run.status = EXIT_PSTAT_FAILED;
}

/* -EINVAL with a sentence: the question is wrong. To be released in every case. */
static int open_profile(struct diff_recording *recording, const struct query *query, struct reader *reader,
			struct str *err)
{
	struct profile_options options;
	int code;

	reader_know_events(reader);
	code = question_make(&recording->question, query, &reader->recording, err);
	if (code)
		return code;
	options = question_profile(recording->question, 0);
	return profile_new(&recording->profile, &options, reader, err);
}

static int make_table(const struct diff_recording *recording, struct table **table, struct str *err)
{
	int code = table_make(table, recording->profile, recording->question, NULL, err);

	if (!code)
		note_list_join(&recording->profile->session.notes, &(*table)->notes);
	return code;
}

static void release_recording(struct diff_recording *recording)
{
	profile_free(recording->profile);
	question_free(recording->question);
}

/* Sentences of recording_open begin with the file's name. */
static bool read_file(struct diff_run *diff, size_t i)
{
	struct diff_words *words = diff->words;
	struct query query = words->query;
	struct str err = STR_INIT;
	int code = recording_open(&diff->readers[i], words->files[i], &err);

	diff->n_open = i + 1;
	if (code) {
		progress_end(&diff->run.progress);
		message_error("%s", err.s);
		diff->run.status = EXIT_PSTAT_FAILED;
		str_release(&err);
		return false;
	}
	query.filters.time = words->times[i];
	code = open_profile(&diff->recordings[i], &query, &diff->readers[i], &err);
	diff->n_read = i + 1;
	if (code) {
		message_error("%s", err.s);
		diff->run.status = EXIT_BAD_USAGE;
	} else if (profile_read(diff->recordings[i].profile, sample_run_progress, &diff->run, &err)) {
		/* A recording that could be read in part is compared as far as that. */
		fail_file(diff, i, err.s);
	}
	str_reset(&err);
	if (!code) {
		code = make_table(&diff->recordings[i], &diff->tables[i], &err);
		if (code)
			fail_file(diff, i, err.s);
	}
	str_release(&err);
	return !code;
}

static bool read_files(struct diff_run *diff)
{
	struct diff_words *words = diff->words;
	size_t run = 0;

	diff->readers = xcalloc(words->n_files, sizeof(*diff->readers));
	diff->recordings = xcalloc(words->n_files, sizeof(*diff->recordings));
	diff->tables = xcalloc(words->n_files, sizeof(*diff->tables));
	for (size_t i = 0; i < words->n_files; i++)
		if (!read_file(diff, i))
			return false;
	signals_spare_end();
	progress_end(&diff->run.progress);
	for (size_t side = 0; side < words->n_sides; side++) {
		diff->sides[side] = (struct diff_side){ .tables = diff->tables + run, .n = words->side_runs[side] };
		run += words->side_runs[side];
	}
	return true;
}

/* Names of files are looked up on this machine: on another one code has other names, but the same functions. */
static void note_machines(struct diff_run *diff, struct note_list *notes)
{
	const char *first = diff->readers[0].info.arch;

	for (size_t i = 1; i < diff->words->n_files; i++) {
		const char *other = diff->readers[i].info.arch;

		if (first && other && strcmp(first, other) != 0)
			note_add(notes, false, NULL,
				 "%s is of another architecture (%s) than %s (%s): only names are compared",
				 diff->words->files[i], other, diff->words->files[0], first);
	}
}

static bool has_common_row(const struct diff *diff)
{
	for (size_t i = 0; i < diff->n_events; i++)
		for (size_t k = 0; k < diff->events[i].n; k++)
			if (diff_row_is_matched(diff, diff->events[i].rows[k]))
				return true;
	return false;
}

/* Notes of the i-th recording, each with its file's name. */
static void add_notes_of(const struct diff_run *diff, size_t i, struct note_list *notes)
{
	struct session *session = &diff->recordings[i].profile->session;

	session_add_notes(session);
	for (size_t k = 0; k < session->notes.n; k++) {
		const struct note *note = &session->notes.v[k];

		note_add(notes, note->verbose, note->remedy, "%s: %s", diff->words->files[i], note->text);
	}
}

static void print_notes_of(struct diff_run *diff, size_t i)
{
	struct note_list notes = { 0 };

	progress_end(&diff->run.progress);
	if (diff->words->sample.quiet)
		return;
	add_notes_of(diff, i, &notes);
	message_notes(&notes, 0, diff->words->sample.verbose > 0);
	note_list_release(&notes);
}

static void print_notes(struct diff_run *diff)
{
	const struct sample_words *sample = &diff->words->sample;
	struct note_list notes = { 0 };

	if (sample->quiet)
		return;
	note_machines(diff, &notes);
	if (!has_common_row(diff->diff))
		note_add(&notes, false, NULL, "the recordings have no row in common: nothing is compared");
	message_notes(&notes, 0, sample->verbose > 0);
	message_notes(&diff->diff->notes, 0, sample->verbose > 0);
	note_list_release(&notes);
	for (size_t i = 0; i < diff->n_read; i++)
		print_notes_of(diff, i);
}

static void check_rules(struct diff_run *diff)
{
	struct diff_words *words = diff->words;
	struct note_list lines = { 0 };
	bool broken = false;

	for (size_t i = 0; i < words->n_rules; i++)
		broken |= diff_rule_broken(diff->diff, &words->rules[i], words->n_rules, &lines);
	message_notes(&lines, 0, false);
	note_list_release(&lines);
	if (broken && !diff->run.status)
		diff->run.status = EXIT_RULE_BROKEN;
}

static void print_diff(struct diff_run *diff)
{
	const struct diff_words *words = diff->words;
	struct pager pager;

	pager_open(&pager, !words->sample.no_pager);
	if (words->json)
		diff_print_json(diff->diff, &diff->run.output);
	else
		diff_print_text(diff->diff, &words->look, &diff->run.output);
	output_end(&diff->run.output);
	pager_close(&pager);
}

/* -c cycles, --stream. */
static void print_branches(struct diff_run *diff)
{
	const struct diff_words *words = diff->words;
	struct pager pager;

	pager_open(&pager, !words->sample.no_pager);
	if (words->streams)
		streams_diff_print(diff->tables[0], diff->tables[1], &diff->run.output);
	else
		code_blocks_diff_print(diff->tables[0], diff->tables[1], words->cycles_spread, &diff->run.output);
	output_end(&diff->run.output);
	pager_close(&pager);
	if (!words->sample.quiet)
		message_notes(&diff->tables[0]->notes, 0, words->sample.verbose > 0);
	for (size_t i = 0; i < diff->n_read; i++)
		print_notes_of(diff, i);
}

/* A picture without a name goes to standard output, or where that is a terminal into a file of the default name. */
static void print_picture(struct diff_run *diff)
{
	const struct diff_words *words = diff->words;
	bool unnamed = !words->flamegraph.file && isatty(STDOUT_FILENO);
	const char *file = unnamed ? "flamegraph.html" : words->flamegraph.file;
	const char *path = file && strcmp(file, "-") != 0 ? file : NULL;
	const char *extension = path ? strrchr(path, '.') : NULL;
	int (*print)(struct table *before, struct table *now, double confidence, struct output *output) =
		extension && !strcmp(extension, ".svg") ? flamegraph_diff_svg_print : flamegraph_diff_print;
	struct str err = STR_INIT;

	if (flamegraph_diff_check(diff->tables[0], diff->tables[1], &err)) {
		message_error("%s", err.s);
		diff->run.status = EXIT_PSTAT_FAILED;
	} else if (sample_run_to_file(&diff->run, path)) {
		print(diff->tables[0], diff->tables[1], words->diff.confidence, &diff->run.output);
		output_end(&diff->run.output);
		if (sample_run_end_file(&diff->run, path) && unnamed && !words->sample.quiet)
			message_written("flamegraph", path);
	}
	for (size_t i = 0; i < diff->n_read; i++)
		print_notes_of(diff, i);
	str_release(&err);
}

/* ---- on a terminal ---- */

struct graph_side {
	struct reader reader;
	struct diff_recording recording;
	struct table *table;
	bool opened;
};

/* Reads a recording once more, by its stacks. Errors of reading were reported the first time: the rest is drawn. */
static int read_stacks(const struct diff_run *diff, size_t file, struct graph_side *side)
{
	struct query query = diff->words->query;
	struct str err = STR_INIT;
	int code;

	query.sort = "symbol";
	query.no_chains = false;
	query.needs = NEED_STACKS | NEED_TIMES;
	query.filters.time = diff->words->times[file];
	query.session.sym.progress = NULL;
	side->opened = true;
	code = reader_open_again(&side->reader, &diff->readers[file], &err);
	if (!code)
		code = open_profile(&side->recording, &query, &side->reader, &err);
	if (!code) {
		profile_read(side->recording.profile, NULL, NULL, &err);
		code = make_table(&side->recording, &side->table, &err);
	}
	str_release(&err);
	return code;
}

static int write_graph(void *context, struct output *output)
{
	const struct diff_run *diff = context;
	struct graph_side *sides = xcalloc(2, sizeof(*sides));
	int code = read_stacks(diff, 0, &sides[0]);

	if (!code)
		code = read_stacks(diff, diff_first_run(diff->diff, 1), &sides[1]);
	if (!code)
		code = flamegraph_diff_print(sides[0].table, sides[1].table, diff->words->diff.confidence, output);
	for (size_t i = 0; i < 2; i++) {
		table_free(sides[i].table);
		release_recording(&sides[i].recording);
		if (sides[i].opened)
			reader_close(&sides[i].reader);
	}
	free(sides);
	return code;
}

static void add_screen_notes(void *context, struct str *out)
{
	const struct diff_run *diff = context;
	struct note_list notes = { 0 };

	note_list_join(&notes, &diff->diff->notes);
	for (size_t i = 0; i < diff->n_read; i++)
		add_notes_of(diff, i, &notes);
	note_list_add_lines(&notes, out);
	note_list_release(&notes);
}

/* False: a text was asked for, or there is no terminal for the browser. */
static bool browse(struct diff_run *diff)
{
	const struct diff_words *words = diff->words;
	const struct screen_options options = { .title = "diff", .color = diff->run.output.color,
						.dots = diff->run.output.dots };
	const struct screen_diff shown = { .diff = diff->diff, .look = &words->look, .context = diff,
					   .graph = write_graph, .notes = add_screen_notes };
	struct str err = STR_INIT;
	bool done;

	if (words->stdio || words->json || words->look.separator || words->n_rules || words->sample.no_pager ||
	    !terminal_takes_keys())
		return false;
	done = !screen_run_diff(&options, &shown, &err);
	str_release(&err);
	return done;
}

static void compare(struct diff_run *diff)
{
	struct str err = STR_INIT;

	if (diff_new(&diff->diff, &diff->words->diff, diff->sides, diff->words->n_sides, &err)) {
		message_error("%s", err.s);
		diff->run.status = EXIT_PSTAT_FAILED;
	} else if (!browse(diff)) {
		print_diff(diff);
		print_notes(diff);
		check_rules(diff);
	}
	str_release(&err);
}

static int run_diff(struct diff_words *words)
{
	struct diff_run diff = { .words = words };

	sample_run_begin(&diff.run, &words->sample);
	words->query.session.sym.progress = sample_run_symbol_progress;
	words->query.session.sym.progress_context = &diff.run;
	if (read_files(&diff)) {
		if (words->flamegraph.given)
			print_picture(&diff);
		else if (words->cycles || words->streams)
			print_branches(&diff);
		else
			compare(&diff);
	}
	diff_free(diff.diff);
	for (size_t i = 0; i < diff.n_read; i++) {
		table_free(diff.tables[i]);
		release_recording(&diff.recordings[i]);
	}
	for (size_t i = 0; i < diff.n_open; i++)
		reader_close(&diff.readers[i]);
	free(diff.tables);
	free(diff.recordings);
	free(diff.readers);
	return sample_run_close(&diff.run);
}

/* -D: of each recording in turn. */
static int dump_all(struct diff_words *words)
{
	int status = 0;

	for (size_t i = 0; i < words->n_files && !status; i++) {
		words->sample.dump.input = words->files[i];
		status = raw_dump(&words->sample.dump);
	}
	return status;
}

int cmd_diff(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct diff_words *words = xcalloc(1, sizeof(*words));
	int first, status;

	(void)kern;
	diff_words_init(words);
	status = command_parse(self, argc, argv, words, &first);
	if (status < 0) {
		status = diff_words_finish(words, argc, argv, first);
		if (!status)
			status = raw_dump_only(&words->sample.dump) ? dump_all(words) : run_diff(words);
	}
	diff_words_release(words);
	free(words);
	return status;
}
