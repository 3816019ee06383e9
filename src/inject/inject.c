/* SPDX-License-Identifier: MIT */
/*
 * inject.c: the way of each record from the reader to the writer; see inject.h. Records about the recording itself are
 * written by the writer, from what the reader made of them, so those of the input go no further; ends of rounds are
 * those of the replay. All others are handed to what changes them, and else written as they are.
 */
#include "inject/inject_internal.h"

#include <errno.h>

enum {
	PROGRESS_EVERY = 16384, /* records */
	MAX_STACK = 65535, /* all frames of a chain */
};

int inject_put_bytes(struct inject *inject, const void *bytes, size_t n, struct str *err)
{
	inject->result->records++;
	inject->result->bytes += n;
	return writer_add(&inject->writer, bytes, n, err);
}

int inject_put(struct inject *inject, const struct record_body *body, const struct data_event *event, struct str *err)
{
	struct str bytes = STR_INIT;
	int rc = record_encode(body, event, &bytes, err);

	if (!rc)
		rc = inject_put_bytes(inject, bytes.s, bytes.len, err);
	str_release(&bytes);
	return rc;
}

/* ---- samples ---- */

/* The frames that came later are in the sample now, and so their own record is left out. */
static int put_joined(struct inject *inject, const struct replay_sample *sample, struct str *err)
{
	struct record_body body = *sample->body;

	body.sample.ips = sample->ips;
	body.sample.n_ips = sample->n_ips;
	return inject_put(inject, &body, sample->event, err);
}

static int take_sample(void *context, struct replay *replay, const struct replay_sample *sample, struct str *err)
{
	struct inject *inject = context;
	int rc;

	(void)replay;
	inject->delivered += data_sample_count(sample->event, sample->sample);
	inject_ids_sample(inject->ids, sample);
	rc = inject_ids_put(inject->ids, err);
	if (!rc && inject->jit && sample->sample->has & PERF_SAMPLE_TIME)
		rc = inject_jit_until(inject->jit, sample->sample->time_ns, err);
	if (!rc && inject->maps)
		rc = inject_maps_sample(inject->maps, sample, err);
	if (!rc && inject->waits)
		rc = inject_waits_sample(inject->waits, sample, err);
	if (!rc && inject->chains)
		rc = inject_chains_sample(inject->chains, sample, err);
	if (rc)
		return rc < 0 ? rc : 0;
	if (sample->event && sample->ips != sample->body->sample.ips)
		return put_joined(inject, sample, err);
	return inject_put_bytes(inject, sample->record->bytes, sample->record->size, err);
}

/* ---- all other records ---- */

/* The writer has said it, or will, or it is no longer true. */
static bool is_written_anew(uint32_t type)
{
	switch (type) {
	case RECORD_HEADER_ATTR:
	case RECORD_HEADER_TRACING_DATA:
	case RECORD_HEADER_BUILD_ID:
	case RECORD_HEADER_FEATURE:
	case RECORD_FINISHED_ROUND:
	case RECORD_COMPRESSED:
	case RECORD_COMPRESSED2:
	case RECORD_CALLCHAIN_DEFERRED:
		return true;
	default:
		return false;
	}
}

/* The file of the mapping that this record is about, which replay knows by now; NULL: not known. */
static struct dso *mapped(struct replay *replay, struct thread *thread, const struct record_body *body)
{
	const uint8_t mode = body->misc & MISC_CPUMODE_MASK;
	struct location location;

	replay_locate(replay, thread ? thread : replay->threads[0], mode, body->mmap.start, &location);
	return location.dso;
}

static int take_map(struct inject *inject, struct thread *thread, const struct record *record,
		    const struct record_body *body, struct str *err)
{
	const struct inject_options *options = inject->options;
	struct replay *replay = &inject->session.replay;
	const bool user = (body->misc & MISC_CPUMODE_MASK) == MISC_USER;
	struct record_body changed = *body;
	struct dso *dso = NULL;
	int rc = inject->jit ? inject_jit_map(inject->jit, body, err) : 0;

	if (rc)
		return rc < 0 ? rc : 0;
	if (inject->maps && inject_maps_take(inject->maps, thread, body))
		return 0;
	if ((options->all_build_ids || options->map_build_ids) && (thread || (!user && replay->n_threads)))
		dso = mapped(replay, thread, body);
	if (dso && options->all_build_ids)
		inject_ids_want(inject->ids, dso);
	if (dso && options->map_build_ids && inject_ids_map(inject->ids, &changed, dso))
		rc = inject_put(inject, &changed, body->event ? body->event : inject->written.v[0], err);
	else
		rc = inject_put_bytes(inject, record->bytes, record->size, err);
	return rc;
}

static int take_other(void *context, struct replay *replay, const struct record *record,
		      const struct record_body *body, struct thread *thread, struct str *err)
{
	struct inject *inject = context;
	int rc = 0;

	(void)replay;
	if (record->type == RECORD_AUXTRACE)
		return fail(err, -EINVAL, "it has what hardware traced (AUX), which can't be written anew");
	if (is_written_anew(record->type))
		return 0;
	if (inject->jit && body->id.has & PERF_SAMPLE_TIME)
		rc = inject_jit_until(inject->jit, body->id.time_ns, err);
	if (rc)
		return rc;
	if (record->type == RECORD_MMAP || record->type == RECORD_MMAP2)
		return take_map(inject, thread, record, body, err);
	if (inject->maps && thread && record->type == RECORD_COMM && body->misc & MISC_COMM_EXEC)
		inject_maps_exec(inject->maps, thread);
	return inject_put_bytes(inject, record->bytes, record->size, err);
}

/*
 * Nothing older comes after the end of a round. So it has none while replay holds samples whose frames come later: they
 * are written after records that are newer.
 */
static int end_round(struct inject *inject, struct str *err)
{
	int rc = replay_round(&inject->session.replay, err);

	if (!rc && inject->delivered == inject->session.replay.counts.samples)
		rc = writer_add_round(&inject->writer, err);
	if (!rc && inject->writer.pipe)
		rc = writer_flush(&inject->writer, err);
	return rc;
}

/* All records; an error of the source is kept in *why and *source_rc, so that what came before it is written. */
static int take_all(struct inject *inject, int *source_rc, struct str *why, struct str *err)
{
	const struct inject_options *options = inject->options;
	struct record_source *source = &inject->reader->source;
	struct replay *replay = &inject->session.replay;
	struct record record;
	uint64_t n = 0;
	int rc = 0, got = 0;

	while (!rc && (got = source->next(source, &record, why)) > 0) {
		rc = got == SOURCE_ROUND ? end_round(inject, err) : replay_feed(replay, &record, err);
		if (++n % PROGRESS_EVERY == 0 && options->progress)
			options->progress(options->progress_context, source->part(source));
	}
	*source_rc = got < 0 ? got : 0;
	return rc ? rc : replay_end(replay, err);
}

/* ---- from the beginning to the end ---- */

static int check_recording(const struct reader *reader, struct str *err)
{
	if (reader->swap)
		return fail(err, -EINVAL, "it is of the other byte order, in which nothing can be written");
	if (info_has(&reader->info, FEATURE_AUXTRACE))
		return fail(err, -EINVAL, "it has what hardware traced (AUX), which can't be written anew");
	if (!reader->events.n)
		return fail(err, -EINVAL, "it has no events");
	return 0;
}

static int begin(struct inject *inject, struct str *err)
{
	const struct inject_options *options = inject->options;
	const struct writer_options output = { .path = options->output };
	struct reader *reader = inject->reader;
	int rc = 0;

	rc = inject_ids_new(&inject->ids, inject, err);
	if (!rc && options->waits)
		rc = inject_waits_new(&inject->waits, inject, err);
	if (!rc && options->jit)
		inject->jit = inject_jit_new(inject);
	if (options->used_maps)
		inject->maps = inject_maps_new(inject);
	if (!rc && options->chains)
		rc = inject_chains_new(&inject->chains, inject, err);
	if (!rc && !inject->chains)
		events_copy(&inject->written, &reader->events);
	return rc ? rc : writer_open(&inject->writer, &output, &inject->written, &reader->info, err);
}

static int finish(struct inject *inject, struct str *err)
{
	struct info info = inject->reader->info; /* shares all memory with it */
	int rc = inject_ids_put(inject->ids, err);

	if (!rc && inject->jit)
		rc = inject_jit_until(inject->jit, UINT64_MAX, err);
	if (inject->writer.pipe)
		info_clear(&info, FEATURE_BUILD_ID);
	else if (info.build_ids.n)
		info_set(&info, FEATURE_BUILD_ID);
	return rc ? rc : writer_finish(&inject->writer, &inject->written, &info, err);
}

/* 0, or what ended it first; what was taken until then is in the output. */
static int rewrite(struct inject *inject, struct str *err)
{
	const struct replay_handlers handlers = { .context = inject, .sample = take_sample, .other = take_other };
	struct str why = STR_INIT, again = STR_INIT;
	int source_rc = 0, rc, ended;

	replay_begin(&inject->session.replay, &handlers);
	rc = take_all(inject, &source_rc, &why, err);
	ended = finish(inject, rc ? &again : err);
	if (!rc && !ended && source_rc)
		fail(err, source_rc, "%s", why.s);
	str_release(&why);
	str_release(&again);
	return rc ? rc : ended ? ended : source_rc;
}

int inject_run(struct reader *reader, const struct inject_options *options, struct inject_result *result,
	       uint64_t *broken, struct str *err)
{
	const struct session_options session = { .sym = options->sym, .as_recorded = true, .max_stack = MAX_STACK };
	struct inject inject = { .options = options, .reader = reader, .result = result, .writer = { .fd = -1 } };
	int rc;

	*result = (struct inject_result){ .records = 0 };
	events_init(&inject.written);
	reader_know_events(reader);
	rc = check_recording(reader, err);
	if (!rc)
		rc = session_init(&inject.session, reader, &session, err);
	if (!rc)
		rc = begin(&inject, err);
	if (!rc)
		rc = rewrite(&inject, err);
	*broken = inject.session.replay.counts.broken;
	inject_ids_note(inject.ids, &result->notes);
	writer_close(&inject.writer);
	inject_chains_free(inject.chains);
	inject_maps_free(inject.maps);
	inject_jit_free(inject.jit);
	inject_waits_free(inject.waits);
	inject_ids_free(inject.ids);
	session_release(&inject.session);
	events_release(&inject.written);
	return rc;
}
