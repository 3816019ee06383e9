/*
 * pstat stat report: a recording's counts, printed as `pstat stat` prints them. Words of the command line
 * come before what the recording says of itself.
 *
 *   records -> struct recorded_counts -> at each STAT_ROUND: replay -> report -> output
 */
#include "cmd/stat_report.h"

#include "cmd/command.h"
#include "cmd/input.h"
#include "cmd/message.h"
#include "cmd/stat_output.h"

#include <limits.h>
#include <stdlib.h>

enum { ROUND_INTERVAL };

struct session {
	struct stat_words *words;
	struct input input;
	struct recorded_counts counts;
	struct stat_plan plan;
	struct stat_replay *replay; /* NULL before the first round */
	struct stat_output output;
	char *title;
	struct str err;
};

static int on_report(void *data, const struct stat_report *report)
{
	struct session *session = data;

	return stat_output_report(&session->output, report);
}

/* ---- what the recording says ---- */

static char *make_title(const struct reader *reader)
{
	const struct text_list *cmdline = &reader->info.cmdline;
	const char *place = strcmp(reader->path, "-") ? reader->path : "pipe";
	struct str title = STR_INIT;

	str_addc(&title, '\'');
	for (size_t i = 0; i < cmdline->n; i++) {
		str_add(&title, i ? " " : "");
		str_add_printable(&title, cmdline->v[i], strlen(cmdline->v[i]));
	}
	if (!cmdline->n)
		str_add_printable(&title, place, strlen(place));
	str_addc(&title, '\'');
	return str_detach(&title);
}

static bool is_by_cpu(enum aggr_mode aggr)
{
	return aggr >= AGGR_CPU && aggr <= AGGR_NODE;
}

/* Why the recording cannot be added up so: what it lacks; NULL: nothing. */
static const char *what_lacks(const struct session *session, enum aggr_mode aggr)
{
	const struct info *info = &session->input.reader.info;
	const struct recorded_counts *counts = &session->counts;

	if (is_by_cpu(aggr) && !counts->cpus.n)
		return "its counts are not by CPU: record with -a or -C";
	if (aggr == AGGR_NODE && !info_has(info, FEATURE_NUMA_TOPOLOGY))
		return "it does not say which memory nodes there are";
	if (is_by_cpu(aggr) && aggr != AGGR_CPU && aggr != AGGR_NODE &&
	    !info_has(info, FEATURE_CPU_TOPOLOGY))
		return "it does not say where its CPUs are";
	if (aggr == AGGR_THREAD && counts->n_threads == 1 && counts->threads[0].tid == -1)
		return "its counts are not by thread: record with --per-thread";
	return NULL;
}

static bool begin(struct session *session)
{
	struct stat_words *words = session->words;
	const struct reader *reader = &session->input.reader;
	enum aggr_mode aggr = words->plan.aggr;
	const char *lack;

	if (aggr == AGGR_TOTAL)
		aggr = recorded_aggr(&session->counts, reader->info.version);
	lack = what_lacks(session, aggr);
	if (lack) {
		input_message(&session->input, lack);
		return false;
	}
	words->plan.aggr = aggr;
	words->plan.interval_ms = session->counts.interval_ms > INT_MAX ?
				     INT_MAX : (long)session->counts.interval_ms;
	session->title = make_title(reader);
	words->title = session->title;
	if (stat_output_open(&session->output, words, &session->err))
		return false;
	recorded_describe(&session->counts, &reader->events, &reader->info);
	session->plan = (struct stat_plan){
		.events = &session->counts.list,
		.aggr = aggr,
		.scale = words->plan.scale && session->counts.scale,
		.merge = true,
		.repeat = 1,
		.emit = on_report,
		.emit_data = session,
	};
	session->replay = stat_replay_new(&session->plan, &session->counts, &session->err);
	return session->replay;
}

/* ---- the records ---- */

static bool end_round(struct session *session, const struct record_body *body)
{
	bool interval = body->stat_round.kind == ROUND_INTERVAL && session->counts.interval_ms;

	if (!session->counts.fixed)
		return true; /* a round without counts */
	if (!session->replay && !begin(session))
		return false;
	/* A failed output says why when it is closed. */
	return !stat_replay_round(session->replay, interval ? REPORT_INTERVAL : REPORT_FINAL,
				  body->stat_round.time_ns);
}

static bool take_record(struct session *session, const struct record *record)
{
	struct record_body body;
	struct str why = STR_INIT;
	int rc;

	if (!input_decode(&session->input, record, &body))
		return true;
	if (record->type == RECORD_STAT_ROUND)
		return end_round(session, &body);
	rc = recorded_take(&session->counts, &session->input.reader.events, &body, &why);
	if (rc) {
		record_fail(record, &session->err, rc, "%s", why.s);
		input_message(&session->input, session->err.s);
		str_reset(&session->err);
	}
	str_release(&why);
	return !rc;
}

static bool is_about_counts(uint32_t type)
{
	return type >= RECORD_THREAD_MAP && type <= RECORD_STAT_ROUND;
}

static bool read_rounds(struct session *session)
{
	struct record record;

	while (input_next(&session->input, &record))
		if (is_about_counts(record.type) && !take_record(session, &record))
			return false;
	return true;
}

static void report_what_is_missing(struct session *session)
{
	struct input *in = &session->input;
	struct str text = STR_INIT;

	if (session->counts.n_strays)
		str_addf(&text,
			 "%llu counts are left out: their event, CPU or thread is not one of "
			 "the recording's",
			 (unsigned long long)session->counts.n_strays);
	else if (!session->replay && session->counts.fixed)
		str_add(&text, "the end is missing: no round of counts is complete");
	else if (!session->replay)
		str_addf(&text, "there are no counts in it%s",
			 in->reader.missing.len ? "" : ": it is not of stat record");
	if (text.len)
		input_message(in, text.s);
	str_release(&text);
}

int stat_report(struct stat_words *words, const char *word)
{
	struct session session = {
		.words = words, .err = STR_INIT, .output = { .fd = -1, .text = STR_INIT },
	};
	bool good;
	int status;

	if (word)
		return bad_usage("stat report: '%s' is not an option; the recording is named with -i",
				 word);
	if (stat_words_check_report(words, &session.err)) {
		status = bad_usage("%s", session.err.s);
		str_release(&session.err);
		return status;
	}
	recorded_init(&session.counts);
	good = !input_open(&session.input, words->input) && read_rounds(&session);
	if (good)
		report_what_is_missing(&session);
	good = good && session.replay;
	if (stat_output_close(&session.output, &session.err))
		good = false;
	if (session.err.len)
		message_error(session.err.s);
	stat_replay_free(session.replay);
	recorded_release(&session.counts);
	free(session.title);
	str_release(&session.err);
	status = input_close(&session.input);
	return status || good ? status : EXIT_PSTAT_FAILED;
}
