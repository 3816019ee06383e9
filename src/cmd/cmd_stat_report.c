/* SPDX-License-Identifier: MIT */
/*
 * pstat stat report: a recording's counts, printed as `pstat stat` prints them. Words of the command line
 * come before what the recording says of itself.
 *
 *   records -> struct recorded_counts -> at each STAT_ROUND: replay -> report -> output
 */
#include "cmd/command.h"
#include "cmd/input.h"
#include "cmd/message.h"
#include "cmd/stat_output.h"

#include <limits.h>
#include <stdlib.h>

enum { ROUND_INTERVAL };

struct stat_report_run {
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
	struct stat_report_run *run = data;

	return stat_output_report(&run->output, report);
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
static const char *what_lacks(const struct stat_report_run *run, enum aggr_mode aggr)
{
	const struct info *info = &run->input.reader.info;
	const struct recorded_counts *counts = &run->counts;

	if (is_by_cpu(aggr) && !counts->cpus.n)
		return "its counts are not by CPU: record with -a or -C";
	if (aggr == AGGR_CLUSTER)
		return "no recording says which clusters of cores there are";
	if (aggr == AGGR_CACHE && !info_has(info, FEATURE_CACHE))
		return "it does not say which caches there are";
	if (aggr == AGGR_NODE && !info_has(info, FEATURE_NUMA_TOPOLOGY))
		return "it does not say which memory nodes there are";
	if (is_by_cpu(aggr) && aggr != AGGR_CPU && aggr != AGGR_NODE &&
	    !info_has(info, FEATURE_CPU_TOPOLOGY))
		return "it does not say where its CPUs are";
	if (aggr == AGGR_THREAD && counts->n_threads == 1 && counts->threads[0].tid == -1)
		return "its counts are not by thread: record with --per-thread";
	return NULL;
}

static bool begin(struct stat_report_run *run)
{
	struct stat_words *words = run->words;
	const struct reader *reader = &run->input.reader;
	enum aggr_mode aggr = words->plan.aggr;
	const char *lack;

	if (aggr == AGGR_TOTAL)
		aggr = recorded_aggr(&run->counts, reader->info.version);
	lack = what_lacks(run, aggr);
	if (lack) {
		input_message(&run->input, lack);
		return false;
	}
	words->plan.aggr = aggr;
	words->plan.interval_ms = run->counts.interval_ms > INT_MAX ?
				     INT_MAX : (long)run->counts.interval_ms;
	run->title = make_title(reader);
	words->title = run->title;
	if (stat_output_open(&run->output, words, &run->err))
		return false;
	recorded_describe(&run->counts, &reader->events, &reader->info);
	run->plan = (struct stat_plan){
		.events = &run->counts.list,
		.aggr = aggr,
		.cache_level = words->plan.cache_level,
		.scale = words->plan.scale && run->counts.scale,
		.merge = true,
		.repeat = 1,
		.emit = on_report,
		.emit_data = run,
	};
	run->replay = stat_replay_new(&run->plan, &run->counts, &run->err);
	return run->replay;
}

/* ---- the records ---- */

static bool end_round(struct stat_report_run *run, const struct record_body *body)
{
	bool interval = body->stat_round.kind == ROUND_INTERVAL && run->counts.interval_ms;

	if (!run->counts.fixed)
		return true; /* a round without counts */
	if (!run->replay && !begin(run))
		return false;
	/* A failed output says why when it is closed. */
	return !stat_replay_round(run->replay, interval ? REPORT_INTERVAL : REPORT_FINAL,
				  body->stat_round.time_ns);
}

static bool take_record(struct stat_report_run *run, const struct record *record)
{
	struct record_body body;
	struct str why = STR_INIT;
	int rc;

	if (!input_decode(&run->input, record, &body))
		return true;
	if (record->type == RECORD_STAT_ROUND)
		return end_round(run, &body);
	rc = recorded_take(&run->counts, &run->input.reader.events, &body, &why);
	if (rc) {
		record_fail(record, &run->err, rc, "%s", why.s);
		input_message(&run->input, run->err.s);
		str_reset(&run->err);
	}
	str_release(&why);
	return !rc;
}

static bool is_about_counts(uint32_t type)
{
	return type >= RECORD_THREAD_MAP && type <= RECORD_STAT_ROUND;
}

static bool read_rounds(struct stat_report_run *run)
{
	struct record record;

	while (input_next(&run->input, &record))
		if (is_about_counts(record.type) && !take_record(run, &record))
			return false;
	return true;
}

static void report_what_is_missing(struct stat_report_run *run)
{
	struct input *in = &run->input;
	struct str text = STR_INIT;

	if (run->counts.n_strays)
		str_addf(&text,
			 "%llu counts are left out: their event, CPU or thread is not one of "
			 "the recording's",
			 (unsigned long long)run->counts.n_strays);
	else if (!run->replay && run->counts.fixed)
		str_add(&text, "the end is missing: no round of counts is complete");
	else if (!run->replay)
		str_addf(&text, "there are no counts in it%s",
			 in->reader.missing.len ? "" : ": it is not of stat record");
	if (text.len)
		input_message(in, text.s);
	str_release(&text);
}

int stat_report(struct stat_words *words)
{
	struct stat_report_run run = {
		.words = words, .err = STR_INIT, .output = { .fd = -1, .text = STR_INIT },
	};
	bool good;
	int status;

	if (stat_words_check_report(words, &run.err)) {
		status = bad_usage("%s", run.err.s);
		str_release(&run.err);
		return status;
	}
	recorded_init(&run.counts);
	good = !input_open(&run.input, words->input) && read_rounds(&run);
	if (good)
		report_what_is_missing(&run);
	good = good && run.replay;
	if (stat_output_close(&run.output, &run.err))
		good = false;
	if (run.err.len)
		message_error("%s", run.err.s);
	stat_replay_free(run.replay);
	recorded_release(&run.counts);
	free(run.title);
	str_release(&run.err);
	status = input_close(&run.input);
	return status || good ? status : EXIT_PSTAT_FAILED;
}
