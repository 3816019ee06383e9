/* SPDX-License-Identifier: MIT */
/*
 * pstat stat: the wiring. Options have filled a plan, which runs (stat/run.c); its reports go to the output, its
 * notes to stderr. Nothing is computed here.
 *
 * `pstat stat record` is the same with a tap on the readings (stat_record.c); `pstat stat report` is in
 * cmd_stat_report.c.
 */
#include "cmd/command.h"
#include "cmd/message.h"
#include "cmd/signals.h"
#include "cmd/control_place.h"
#include "cmd/stat_output.h"
#include "cmd/stat_record.h"
#include "cmd/stat_options.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* The callbacks of a run get this. */
struct stat_session {
	const struct stat_words *words;
	struct stat_output output;
	struct stat_record record;
	struct stat_tap tap;
	struct note_list notes;
	size_t n_noted; /* notes that were printed */
};

/* ---- what a run reports ---- */

/*
 * Programs read CSV and JSON from stderr too: a note between the rows would break them. What a note
 * says of an event stands in its row as well, by ":u" in its name or by a reason.
 */
static bool notes_are_wanted(const struct stat_session *session)
{
	const struct stat_words *words = session->words;
	bool machine_on_stderr = session->output.with_notes && !session->output.format->for_people;

	return !words->quiet && (words->verbose > 0 || !machine_on_stderr);
}

static void print_notes(struct stat_session *session)
{
	if (notes_are_wanted(session))
		session->n_noted = message_notes(&session->notes, session->n_noted,
						 session->words->verbose > 0);
}

static void on_opened(void *data, const struct counter_set *set)
{
	struct stat_session *session = data;

	print_notes(session);
	if (session->words->whole_machine && !session->words->plan.duration_ns && notes_are_wanted(session) &&
	    isatty(STDERR_FILENO))
		message_error("no command or task is given: counting the whole machine; Ctrl-C ends it");
	for (size_t i = 0; i < set->n && session->words->verbose && !session->words->quiet; i++)
		message_counter(&set->v[i]);
}

static int on_report(void *data, const struct stat_report *report)
{
	struct stat_session *session = data;

	if (report->kind == REPORT_INTERVAL)
		return stat_output_offer(&session->output, report);
	return stat_output_report(&session->output, report);
}

static int on_write_on(void *data)
{
	struct stat_session *session = data;

	return stat_output_write_on(&session->output);
}

/* ---- the run ---- */

/* Gives the plan, which the options have filled, what only the session knows. */
static void complete_plan(struct stat_plan *plan, const char *recording, struct stat_session *session)
{
	plan->tap = recording ? &session->tap : NULL;
	plan->stdout_taken = recording && !strcmp(recording, "-");
	plan->notes = &session->notes;
	plan->emit = on_report;
	plan->write_on = on_write_on;
	plan->emit_data = session;
	plan->opened = on_opened;
}

static int run_plan(struct stat_words *words, struct stat_session *session)
{
	struct stat_plan *plan = &words->plan;
	struct control_place control = CONTROL_PLACE_INIT;
	struct exec_state found;
	struct str err = STR_INIT;
	bool mute = false;
	int status = EXIT_PSTAT_FAILED, rc = control_place_open(&control, words->control, &err);

	complete_plan(plan, words->recording, session);
	if (rc)
		status = EXIT_BAD_USAGE;
	else
		rc = stat_output_open(&session->output, words, &err);
	if (!rc) {
		plan->control_fd = control.fd;
		plan->ack_fd = control.ack_fd;
		plan->output_fd = session->output.fd;
		if (notes_are_wanted(session))
			message_notes(&words->what.events.notes, 0, words->verbose > 0);
		plan->stop = signals_catch(false, &found);
		plan->found = &found;
		session->output.stop = plan->stop;
		stat_run(plan, &status, &err);
		/* Before the notes: they may go to the same place, and nobody may be reading there. */
		mute = stat_output_finish(&session->output) == -EINTR && session->output.with_notes;
	}
	if (!mute)
		print_notes(session);
	if (err.len && !mute)
		message_error("%s", err.s);
	str_reset(&err);
	rc = stat_record_end(&session->record, &err);
	if (stat_output_close(&session->output, &err) || rc)
		status = EXIT_PSTAT_FAILED;
	if (err.len && !mute)
		message_error("%s", err.s);
	control_place_close(&control);
	str_release(&err);
	return status;
}

/* pstat's own words, for the header of a recording. The caller frees. */
static char **command_line(int argc, char **argv)
{
	static char name[] = "pstat", stat[] = "stat";
	char **line = xcalloc((size_t)argc + 2, sizeof(*line));

	line[0] = name;
	memcpy(line + 1, argv, (size_t)argc * sizeof(*line));
	line[1] = stat; /* also where it was left out */
	return line;
}

static int count(struct stat_words *words, int argc, char **argv)
{
	struct stat_session session = { .words = words, .output = { .fd = -1, .text = STR_INIT } };
	char **own_argv = command_line(argc, argv);
	struct str err = STR_INIT;
	int status;

	stat_record_init(&session.record, words, argc + 1, own_argv);
	session.tap = stat_record_tap(&session.record);
	if (stat_words_complete(words, &err))
		status = bad_usage("%s", err.s);
	else if (words->recording && !strcmp(words->recording, "-") && isatty(STDOUT_FILENO))
		status = bad_usage("--output: standard output is a terminal; a recording is for "
				   "a file or a program");
	else
		status = run_plan(words, &session);
	note_list_release(&session.notes);
	str_release(&err);
	free(own_argv);
	return status;
}

/* A word after "--" is a program, whatever it is called. */
static bool is_word(const char *word, int at, int argc, char **argv)
{
	return at < argc && !strcmp(argv[at], word) && strcmp(argv[at - 1], "--");
}

/* The words of `pstat stat record` and `pstat stat report` may stand on both sides of it. */
const struct command stat_parts[] = {
	{ "stat record", "[<options>] [<command>]", "count events, and store the counts in a file",
	  stat_options, "", .run = cmd_stat, .measures = true, .options_end = true },
	{ "stat report", "[<options>]", "print the counts that pstat stat record stored",
	  stat_report_options, "", .run = cmd_stat },
	{ .name = NULL },
};
static const struct command *const record_command = &stat_parts[0];
static const struct command *const report_command = &stat_parts[1];

int cmd_stat(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct stat_words words;
	int first, more, status;

	stat_words_init(&words, kern);
	status = command_parse(self, argc, argv, &words, &first);
	if (status < 0 && is_word("report", first, argc, argv)) {
		status = command_parse(report_command, argc - first, argv + first, &words, NULL);
		if (status < 0)
			status = stat_report(&words);
		goto out;
	}
	if (status < 0 && is_word("record", first, argc, argv)) {
		words.record = true;
		status = command_parse(record_command, argc - first, argv + first, &words, &more);
		first += more;
	}
	if (status < 0) {
		words.plan.argv = first < argc ? argv + first : NULL;
		status = count(&words, argc, argv);
	}
out:
	stat_words_release(&words);
	return status;
}
