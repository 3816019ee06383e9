/* SPDX-License-Identifier: MIT */
/*
 * pstat compare: runs the commands side by side, and prints what came of it.
 */
#include "cmd/command.h"
#include "cmd/compare_options.h"
#include "cmd/message.h"
#include "cmd/progress.h"
#include "cmd/signals.h"
#include "cmd/terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Exit statuses of --check. */
enum { EXIT_SLOWER = 3, EXIT_UNDECIDED = 4 };

static void show_progress(void *data, long round, size_t n_rounds, size_t command)
{
	(void)command;
	progress_step(data, round > 0 ? "measuring" : "warming up",
		      round > 0 ? (double)(round - 1) / (double)n_rounds : -1);
}

/* ---- results ---- */

/* A place that takes nothing is found before the first round. */
static int check_exports(const struct compare_words *words, struct str *err)
{
	for (size_t i = 0; i < words->n_exports; i++) {
		const char *path = words->exports[i].path;
		struct str why = STR_INIT;
		struct destination to;
		int rc = 0;

		if (strcmp(path, "-")) {
			rc = destination_begin_public(&to, path, &why);
			destination_end(&to);
		}
		if (rc)
			fail(err, rc, "%s: %s", path, why.s);
		str_release(&why);
		if (rc)
			return rc;
	}
	return 0;
}

static int write_export(const struct compare_words *words, const struct compare_export *export,
			const struct compare_result *result)
{
	struct str text = STR_INIT, err = STR_INIT;
	int rc;

	export->format->print(&text, &words->data, result, &words->plan.question);
	if (!strcmp(export->path, "-")) {
		rc = message_stdout(&text);
	} else {
		rc = destination_write_whole(export->path, &text, &err);
		if (rc)
			message_error("%s: %s", export->path, err.s);
	}
	str_release(&text);
	str_release(&err);
	return rc;
}

/* The commands as they are shown: as they were given, or the fastest first. The caller frees. */
static size_t *shown_order(const struct compare_words *words, const struct compare_result *result)
{
	const struct compare_data *data = &words->data;
	size_t *order = xcalloc(data->n_commands, sizeof(*order));

	for (size_t i = 0; i < data->n_commands; i++) {
		double mean = result->rows[i * data->n_columns].mean;
		size_t at = i;

		for (; at && words->sort == COMPARE_SORT_TIME &&
		       result->rows[order[at - 1] * data->n_columns].mean > mean; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	return order;
}

static bool exports_to_stdout(const struct compare_words *words)
{
	for (size_t i = 0; i < words->n_exports; i++)
		if (!strcmp(words->exports[i].path, "-"))
			return true;
	return false;
}

static int print_result(const struct compare_words *words, const struct compare_result *result)
{
	const struct compare_data *data = &words->data;
	bool plain = words->style == COMPARE_STYLE_BASIC || words->style == COMPARE_STYLE_NOCOLOR;
	bool forced = words->style == COMPARE_STYLE_FULL || words->style == COMPARE_STYLE_COLOR;
	enum color_mode mode = words->colour ? (enum color_mode)words->colour : forced ? COLOR_ALWAYS : COLOR_DEFAULT;
	size_t *order;
	struct str text = STR_INIT;
	int rc;

	if (words->style == COMPARE_STYLE_NONE || exports_to_stdout(words))
		return 0;
	order = shown_order(words, result);
	compare_print_text(&text, data, result, &words->plan.question, order,
			   !plain && color_wanted(mode, STDOUT_FILENO));
	rc = message_stdout(&text);
	free(order);
	str_release(&text);
	return rc;
}

/* ---- --check ---- */

static int check_row(const struct compare_words *words, const struct compare_result *result)
{
	const struct compare_data *data = &words->data;
	bool undecided = false;

	for (size_t i = 0; i < data->n_commands * data->n_columns; i++) {
		const struct compare_row *row = &result->rows[i];

		if (i / data->n_columns == words->plan.question.reference ||
		    strcmp(data->columns[i % data->n_columns].name, words->checked))
			continue;
		if (row->verdict == COMPARE_SLOWER)
			return EXIT_SLOWER;
		undecided = undecided || row->verdict == COMPARE_UNDECIDED || row->verdict == COMPARE_WITHHELD;
	}
	return undecided ? EXIT_UNDECIDED : 0;
}

static bool has_row(const struct compare_data *data, const char *name)
{
	for (size_t i = 0; i < data->n_columns; i++)
		if (!strcmp(data->columns[i].name, name))
			return true;
	return false;
}

/* ---- the whole ---- */

/* notes: of the runs; then of the result, too. */
static int show(const struct compare_words *words, struct note_list *notes)
{
	struct compare_result result;
	int status = 0;

	compare_analyse(&words->data, &words->plan.question, &result);
	note_list_join(notes, &result.notes);
	note_list_join(&result.notes, notes);
	for (size_t i = 0; i < words->n_exports; i++)
		status = write_export(words, &words->exports[i], &result) ? EXIT_PSTAT_FAILED : status;
	if (print_result(words, &result))
		status = EXIT_PSTAT_FAILED;
	if (!status && words->check)
		status = has_row(&words->data, words->checked) ?
				 check_row(words, &result) :
				 bad_usage("--check: there is no row '%s'", words->checked);
	compare_result_release(&result);
	return status;
}

static int compare(struct compare_words *words)
{
	struct compare_plan *plan = &words->plan;
	struct note_list notes = { 0 };
	struct progress progress;
	struct exec_state found;
	struct str err = STR_INIT;
	int status = EXIT_PSTAT_FAILED, rc;

	plan->events = &words->what.events;
	plan->notes = &notes;
	plan->stop = signals_catch(false, &found);
	plan->found = &found;
	plan->progress = show_progress;
	plan->progress_data = &progress;
	progress_init(&progress, "warming up", words->style != COMPARE_STYLE_NONE);
	rc = check_exports(words, &err);
	if (!rc)
		rc = compare_run(plan, &words->data, &status, &err);
	progress_end(&progress);
	if (!rc)
		status = words->data.n_rounds ? show(words, &notes) : 0;
	if (!rc && words->data.sessions[0].interrupted)
		status = 128 + plan->stop->signal;
	message_notes(&notes, 0, words->verbose > 0);
	if (rc)
		message_error("%s", err.s);
	note_list_release(&notes);
	str_release(&err);
	return status;
}

static int compare_loaded(struct compare_words *words, char **files, size_t n_files, size_t n_after)
{
	struct note_list notes = { 0 };
	struct str err = STR_INIT;
	int status = EXIT_PSTAT_FAILED;

	if (compare_words_complete_load(words, n_files, n_after, &err))
		status = bad_usage("%s", err.s);
	else if (compare_load(files, n_files, &words->data, &words->plan.question, &notes, &err))
		message_error("%s", err.s);
	else if (compare_words_complete_loaded(words, &err))
		status = bad_usage("%s", err.s);
	else if (check_exports(words, &err))
		message_error("%s", err.s);
	else
		status = show(words, &notes);
	message_notes(&notes, 0, words->verbose > 0);
	note_list_release(&notes);
	str_release(&err);
	return status;
}

/* hyperfine's -L has two words after it, and its -P three: they become one, NAME=VALUES and NAME=FROM:TO. */
static const struct {
	const char *names[2];
	int n; /* words */
} joined_options[] = { { { "-L", "--parameter-list" }, 2 }, { { "-P", "--parameter-scan" }, 3 } };

static int words_to_join(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(joined_options); i++)
		if (!strcmp(word, joined_options[i].names[0]) || !strcmp(word, joined_options[i].names[1]))
			return joined_options[i].n;
	return 0;
}

/* joined: words that were made, up to a NULL. Returns how many words there are now. */
static int join_words(int argc, char **argv, char **joined)
{
	int to = 0;

	for (int from = 0; from < argc; from++) {
		int n = words_to_join(argv[from]);

		argv[to++] = argv[from];
		if (!n || from + n >= argc || strchr(argv[from + 1], '='))
			continue;
		*joined = n == 2 ? xasprintf("%s=%s", argv[from + 1], argv[from + 2]) :
				   xasprintf("%s=%s:%s", argv[from + 1], argv[from + 2], argv[from + 3]);
		argv[to++] = *joined++;
		from += n;
	}
	return to;
}

/* Words before "--" are options and commands in one string each; those after it are whole words. */
int cmd_compare(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	char **joined = xcalloc((size_t)argc + 1, sizeof(*joined));
	struct compare_words words;
	struct str err = STR_INIT;
	int dashes = 1, own, first, status;

	while (dashes < argc && strcmp(argv[dashes], "--"))
		dashes++;
	own = join_words(dashes, argv, joined);
	compare_words_init(&words, kern);
	status = command_parse(self, own, argv, &words, &first);
	if (status < 0 && words.load)
		status = compare_loaded(&words, argv + first, (size_t)(own - first),
					dashes < argc ? (size_t)(argc - dashes - 1) : 0);
	else if (status < 0 && compare_words_complete(&words, argv + first, (size_t)(own - first), argv + dashes + 1,
						 dashes < argc ? (size_t)(argc - dashes - 1) : 0, &err))
		status = bad_usage("%s", err.s);
	else if (status < 0)
		status = compare(&words);
	compare_words_release(&words);
	str_release(&err);
	for (char **word = joined; *word; word++)
		free(*word);
	free(joined);
	return status;
}
