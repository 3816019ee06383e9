/*
 * pstat record: the wiring. Words become a plan, the plan runs (record/record_run.c), its notes and
 * totals go to stderr. Nothing is computed here.
 */
#include "cmd/command.h"
#include "cmd/counter_message.h"
#include "cmd/message.h"
#include "cmd/progress.h"
#include "cmd/record_summary.h"
#include "cmd/record_words.h"
#include "cmd/recording_symbols.h"
#include "cmd/signals.h"
#include "cmd/control_place.h"

#include <stdlib.h>
#include <unistd.h>

enum { PROGRESS_AFTER_S = 2 };

/* What the callbacks of a run need. */
struct record_session {
	const struct recording_words *words;
	struct note_list notes;
	size_t n_noted; /* notes that were printed */
	bool progress; /* stderr is a terminal */
	bool progress_shown;
	struct progress caching;
};

/* ---- what a run tells ---- */

static void to_stderr(struct str *text)
{
	/* Nothing is left to do if this fails. */
	(void)!write_all(STDERR_FILENO, text->s, text->len);
	str_release(text);
}

static void print_notes(struct record_session *session)
{
	if (!session->words->quiet)
		session->n_noted = message_notes(&session->notes, session->n_noted,
						 session->words->verbose > 0);
}

static void on_opened(void *data, const struct counter_set *set)
{
	struct record_session *session = data;

	print_notes(session);
	for (size_t i = 0; i < set->n && session->words->verbose && !session->words->quiet; i++)
		message_counter(&set->v[i]);
}

static void on_list_events(void *data, const struct events *events, const char *words)
{
	const struct evlist_options options = {
		.verbose = strstr(words, "-v") != NULL,
		.group = strstr(words, "-g") != NULL,
		.freq = strstr(words, "-F") != NULL,
	};
	struct str text = STR_INIT;

	(void)data;
	events_print(events, NULL, &options, &text);
	to_stderr(&text);
}

static void on_progress(void *data, const struct record_totals *totals)
{
	struct record_session *session = data;
	struct str text = STR_INIT;

	if (!session->progress || totals->elapsed_ns < PROGRESS_AFTER_S * 1000000000ull)
		return;
	record_progress_add(&text, totals);
	session->progress_shown = true;
	to_stderr(&text);
}

static void on_caching(void *data, double part)
{
	struct record_session *session = data;

	if (!session->caching.begun_ns)
		progress_init(&session->caching, "keeping the files that had samples", session->progress);
	progress_step(&session->caching, NULL, part);
}

static void print_summary(struct record_session *session, const struct record_totals *totals)
{
	struct str text = STR_INIT;

	progress_end(&session->caching);
	if (session->progress_shown)
		str_add(&text, "\r\033[K");
	if (totals->path && !session->words->quiet)
		record_summary_add(&text, totals);
	to_stderr(&text);
}

/* ---- words -> plan ---- */

static int run_plan(struct recording_words *words, struct record_session *session)
{
	struct control_place control = CONTROL_PLACE_INIT;
	struct exec_state found;
	struct record_plan *plan = &words->plan;
	struct record_totals totals = { 0 };
	struct str err = STR_INIT;
	int status = EXIT_BAD_USAGE;

	if (!control_place_open(&control, words->control, &err)) {
		plan->control_fd = control.fd;
		plan->ack_fd = control.ack_fd;
		plan->notes = &session->notes;
		plan->stop = signals_catch(true, &found);
		plan->found = &found;
		plan->opened = on_opened;
		plan->list_events = on_list_events;
		plan->progress = session->progress ? on_progress : NULL;
		plan->caching = on_caching;
		plan->data = session;
		record_run(plan, &totals, &status, &err);
	}
	print_summary(session, &totals);
	print_notes(session);
	if (err.len)
		message_error(err.s);
	if (words->symbols_in_file && totals.path &&
	    recording_symbols_put(totals.fd, totals.path,
				  &(struct symbols_put){ .cache_dir = plan->cache_dir,
							 .quiet = words->quiet,
							 .no_cache = plan->no_cache },
				  plan->stop) && !status)
		status = EXIT_PSTAT_FAILED;
	record_totals_release(&totals);
	control_place_close(&control);
	str_release(&err);
	return status;
}

int cmd_record(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct recording_words words;
	struct record_session session = { .words = &words };
	char program[] = "pstat", **own_argv = NULL;
	struct str err = STR_INIT;
	int first, status;

	record_words_init(&words, kern);
	status = command_parse(self, argc, argv, &words, &first);
	if (status >= 0)
		goto out;
	if (first < argc)
		words.plan.argv = argv + first;
	/* For the header: the words as they were typed, argv[0] being the subcommand. */
	words.plan.argc = argc + 1;
	own_argv = xcalloc((size_t)argc + 2, sizeof(*own_argv));
	memcpy(own_argv + 1, argv, (size_t)argc * sizeof(*own_argv));
	own_argv[0] = program;
	words.plan.own_argv = own_argv;
	if (record_words_complete(&words, &err)) {
		status = bad_usage("%s", err.s);
		goto out;
	}
	session.progress = !words.quiet && isatty(STDERR_FILENO);
	if (!words.quiet)
		message_notes(&words.what.events.notes, 0, words.verbose > 0);
	status = run_plan(&words, &session);
out:
	note_list_release(&session.notes);
	record_words_release(&words);
	free(own_argv);
	str_release(&err);
	return status;
}
