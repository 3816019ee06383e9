/* SPDX-License-Identifier: MIT */
/*
 * A recording that is read while it is looked at, as a source of tables.
 *
 * What was read is a profile, read in steps between keys; all its cells can tell is answered by it. A question that
 * they can't answer (a span of time, memory samples, branches) is of another reading: a profile of its own, which
 * begins empty and fills, too. The last few are kept, so that the way back costs no reading. A table points into its
 * reading: the one that was asked last is never among those that go.
 */
#include "screen/screen.h"

#include <errno.h>
#include <stdlib.h>

enum { READINGS_MAX = 4, REFRESH_MS = 250, LATER_MS = 50 };

/*
 * A recording that comes through a pipe is kept in a temporary file of this size, for questions that need another
 * reading.
 */
#define KEPT_BYTES_MAX (UINT64_C(1) << 30)

struct recording_reading {
	struct profile *profile;
	struct fold_cache *cache; /* of its tables */
	struct reader *reader;
	struct reader *owned; /* reader, where it was opened for this; else NULL */
	bool ended; /* all was taken, or it failed */
	bool noted; /* notes are complete: a table has looked for names since then */
};
struct screen_recording {
	struct reader *reader;
	struct recording_reading readings[READINGS_MAX]; /* the first one stays; then the oldest first */
	size_t n;
	size_t asked; /* the one that was asked last */
	struct str failed;
};

static void reading_release(struct recording_reading *reading)
{
	fold_cache_free(reading->cache);
	profile_free(reading->profile);
	if (reading->owned)
		reader_close(reading->owned);
	free(reading->owned);
	*reading = (struct recording_reading){ .profile = NULL };
}

/* Filters are asked of the cells, but those by time: the next question may have others. */
static int reading_open(struct recording_reading *reading, const struct question *question, struct str *err)
{
	const struct profile_options options = question_profile(question, PROFILE_FOR_OTHERS);
	int code = profile_new(&reading->profile, &options, reading->reader, err);

	if (code)
		return code;
	reading->cache = fold_cache_new();
	note_list_join(&reading->profile->session.notes, &question->notes);
	return 0;
}

static int open_first(struct screen_recording *recording, const struct query *query, struct str *err)
{
	struct question *question;
	int code = question_make(&question, query, &recording->reader->recording, err);

	if (!code)
		code = reading_open(&recording->readings[0], question, err);
	question_free(question);
	return code;
}

int screen_recording_new(struct screen_recording **recording, struct reader *reader, const struct query *query,
			 struct str *err)
{
	struct screen_recording *made = xcalloc(1, sizeof(*made));
	int code;

	str_init(&made->failed);
	made->reader = reader;
	made->readings[0].reader = reader;
	made->n = 1;
	/* A question that needs a recording that could not be kept says so. */
	if (reader_keep(reader, KEPT_BYTES_MAX, err))
		str_reset(err);
	reader_no_wait(reader);
	reader_know_events(reader);
	code = open_first(made, query, err);
	*recording = made;
	if (code) {
		screen_recording_free(made);
		*recording = NULL;
	}
	return code;
}

void screen_recording_free(struct screen_recording *recording)
{
	if (!recording)
		return;
	for (size_t i = recording->n; i-- > 0;)
		reading_release(&recording->readings[i]);
	str_release(&recording->failed);
	free(recording);
}

const char *screen_recording_failed(const struct screen_recording *recording)
{
	return recording->failed.len ? recording->failed.s : NULL;
}

/* ---- tables ---- */

/* Makes room for one more reading. */
static void forget_oldest(struct screen_recording *recording)
{
	const size_t i = recording->asked == 1 ? 2 : 1;

	reading_release(&recording->readings[i]);
	recording->n--;
	recording->asked -= recording->asked > i;
	memmove(&recording->readings[i], &recording->readings[i + 1],
		(recording->n - i) * sizeof(recording->readings[0]));
}

/* Begins a reading that keeps what this question asks for. */
static int read_again(struct screen_recording *recording, const struct question *question, struct str *err)
{
	struct recording_reading made = { .profile = NULL };
	int code;

	made.reader = made.owned = xcalloc(1, sizeof(*made.owned));
	code = reader_open_again(made.owned, recording->reader, err);
	if (!code) {
		reader_know_events(made.reader);
		code = reading_open(&made, question, err);
	}
	if (code) {
		reading_release(&made);
		return code;
	}
	if (recording->n == READINGS_MAX)
		forget_oldest(recording);
	recording->readings[recording->n++] = made;
	return 0;
}

/* -EAGAIN: its cells can't answer this. */
static int ask(struct screen_recording *recording, size_t i, struct table **table, const struct question *question,
	       struct str *err)
{
	struct recording_reading *reading = &recording->readings[i];
	int code = table_make(table, reading->profile, question, reading->cache, err);

	if (code == -EAGAIN)
		return code;
	recording->asked = i;
	if (!code && reading->ended && !reading->noted)
		session_add_notes(&reading->profile->session);
	reading->noted |= !code && reading->ended;
	return code;
}

static int make_table(void *context, struct table **table, const struct question *question, struct str *err)
{
	struct screen_recording *recording = context;
	int code = -EAGAIN;

	for (size_t i = 0; i < recording->n && code == -EAGAIN; i++)
		code = ask(recording, i, table, question, err);
	if (code != -EAGAIN)
		return code;
	code = read_again(recording, question, err);
	if (code)
		return code;
	code = ask(recording, recording->n - 1, table, question, err);
	return code == -EAGAIN ? fail(err, -EINVAL, "not available here; use pstat report --stdio")
			       : code;
}

/* ---- reading ---- */

/* The one that was asked last, then the others; recording->n: all are ended. */
static size_t to_be_fed(const struct screen_recording *recording)
{
	size_t i = 0;

	if (!recording->readings[recording->asked].ended)
		return recording->asked;
	while (i < recording->n && recording->readings[i].ended)
		i++;
	return i;
}

static bool reads_on(const void *context)
{
	const struct screen_recording *recording = context;

	return to_be_fed(recording) < recording->n;
}

static int feed(void *context, uint64_t budget_ns, struct str *err)
{
	struct screen_recording *recording = context;
	const size_t i = to_be_fed(recording);
	struct recording_reading *reading;
	struct profile *profile;
	int rc;

	if (i == recording->n)
		return SCREEN_FED_ALL;
	reading = &recording->readings[i];
	profile = reading->profile;
	rc = profile_feed(profile, &reading->reader->source, budget_ns, err);
	if (rc > 0)
		return rc == PROFILE_FED_LATER ? SCREEN_FED_LATER : SCREEN_FED_MORE;
	profile_end(profile);
	reading->ended = true;
	if (rc < 0) {
		str_reset(&recording->failed);
		str_add(&recording->failed, err->s);
		return rc;
	}
	return reads_on(recording) ? SCREEN_FED_MORE : SCREEN_FED_ALL;
}

/* ---- what is said ---- */

static size_t n_doubts(const struct recording_reading *reading)
{
	const struct note_list *lists[] = { &reading->profile->session.notes, &reading->reader->notes };
	size_t n = reading->reader->missing.len > 0;

	for (size_t l = 0; l < ARRAY_SIZE(lists); l++)
		for (size_t i = 0; i < lists[l]->n; i++)
			n += !lists[l]->v[i].verbose;
	return n;
}

static void add_status(void *context, struct str *out)
{
	struct screen_recording *recording = context;
	const struct recording_reading *reading = &recording->readings[recording->asked];
	const struct replay_counts *counts = &reading->profile->session.replay.counts;
	size_t notes = n_doubts(reading);

	if (!reading->ended) {
		double part = reading->reader->source.part(&reading->reader->source);

		str_add(out, "reading");
		if (part >= 0)
			str_addf(out, " %.0f %%", part * 100);
	}
	if (counts->lost_samples)
		str_addf(out, "%slost: %llu samples", out->len ? ", " : "", (unsigned long long)counts->lost_samples);
	if (counts->lost_events)
		str_addf(out, "%slost: %llu records", out->len ? ", " : "", (unsigned long long)counts->lost_events);
	if (reading->reader->missing.len)
		str_addf(out, "%sits end is missing", out->len ? ", " : "");
	if (recording->failed.len)
		str_addf(out, "%sreading failed", out->len ? ", " : "");
	if (notes)
		str_addf(out, "%s%zu %s (!)", out->len ? ", " : "", notes, notes == 1 ? "note" : "notes");
}

static void add_notes(void *context, struct str *out)
{
	struct screen_recording *recording = context;
	const struct recording_reading *reading = &recording->readings[recording->asked];

	if (recording->failed.len)
		str_addf(out, "%s\n", recording->failed.s);
	if (reading->reader->missing.len)
		str_addf(out, "%s\n", reading->reader->missing.s);
	note_list_add_lines(&reading->reader->notes, out);
	note_list_add_lines(&reading->profile->session.notes, out);
}

static void add_header(void *context, struct str *out)
{
	struct screen_recording *recording = context;

	reader_print_header(recording->reader, true, out);
}

struct screen_source screen_recording_source(struct screen_recording *recording)
{
	return (struct screen_source){
		.context = recording,
		.recording = &recording->reader->recording,
		.make = make_table,
		.feed = feed,
		.reads_on = reads_on,
		.later_ms = LATER_MS,
		.refresh_ms = REFRESH_MS,
		.status = add_status,
		.notes = add_notes,
		.header = add_header,
	};
}
