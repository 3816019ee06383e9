/*
 * The recording as its drains see it: one lock, held while a piece is handed over; the walk over the
 * records and the copying out of the rings happen outside of it.
 *
 * Files of --switch-output: PATH is always the one being written; see outfile_date.c.
 */
#include "record/outfile.h"

#include <stdlib.h>

/* Pieces of this size and larger go to the file without another copy. */
enum { FLUSH_BYTES = 64 << 10 };

static const struct data_event *tracking_event(const struct events *events)
{
	for (size_t i = 0; i < events->n; i++) {
		if (events->v[i]->attr.mmap || events->v[i]->attr.mmap2)
			return events->v[i];
	}
	return events->n ? events->v[0] : NULL;
}

void outfile_init(struct outfile *out, const struct record_plan *plan, const struct target *target,
		  const struct events *events, struct info *info)
{
	*out = (struct outfile){
		.plan = plan,
		.target = target,
		.events = events,
		.tracking = tracking_event(events),
		.info = info,
		.writer = { .fd = -1, .buf = STR_INIT, .unwritten = STR_INIT, .why = STR_INIT },
		.why = STR_INIT,
	};
	pthread_mutex_init(&out->lock, NULL);
	if (plan->build_ids)
		out->build_ids = buildid_set_new(plan->kern);
	decoder_init(&out->decoder, events, false);
	tally_init(&out->file, events);
	tally_init(&out->pending, events);
	tally_init(&out->dropped, events);
	tally_init(&out->total, events);
}

void outfile_release(struct outfile *out)
{
	if (!out->plan)
		return;
	writer_close(&out->writer);
	if (out->build_ids)
		buildid_set_free(out->build_ids);
	decoder_release(&out->decoder);
	tally_release(&out->file);
	tally_release(&out->pending);
	tally_release(&out->dropped);
	tally_release(&out->total);
	for (size_t i = 0; i < out->n_kept; i++)
		free(out->kept[i]);
	free(out->kept);
	free(out->last_path);
	str_release(&out->why);
	pthread_mutex_destroy(&out->lock);
	*out = (struct outfile){ 0 };
}

/* ---- what drains call ---- */

/* Has every drain completed a pass that began after the last mark? */
static bool round_is_complete(const struct outfile *out)
{
	for (const struct outfile_drain *side = out->drains; side; side = side->next) {
		if (side->done_round <= out->round)
			return false;
	}
	return true;
}

static bool ends_round(struct outfile_drain *side)
{
	struct outfile *out = side->out;
	bool complete;

	side->done_round = side->pass_round + 1;
	complete = !out->snapshots && round_is_complete(out);
	out->round += complete;
	side->pass_round = out->round;
	return complete;
}

static void add_mark(struct outfile *out, struct str *bytes)
{
	const struct perf_event_header mark = {
		.type = RECORD_FINISHED_ROUND,
		.size = sizeof(mark),
	};

	if (out->unmarked || bytes->len)
		str_addn(bytes, (const char *)&mark, sizeof(mark));
	out->unmarked = false;
}

static uint64_t bytes_so_far(const struct outfile *out)
{
	return out->writer.data_offset + out->writer.data_size + out->writer.buf.len;
}

static void ignore_mmap(void *data, const struct record *record)
{
	(void)data;
	(void)record;
}

/* After the first failed write: of what was pending, the writer knows what is not in the file. */
static void settle_failure(struct outfile *out)
{
	const struct str *unwritten = &out->writer.unwritten;
	struct tally gone;

	tally_init(&gone, out->events);
	tally_walk(&gone, (const uint8_t *)unwritten->s, unwritten->len, ignore_mmap, NULL);
	tally_subtract(&out->pending, &gone);
	tally_merge(&out->file, &out->pending);
	tally_merge(&out->dropped, &gone);
	tally_release(&gone);
}

/*
 * Where n bytes are that the writer was just given, and what was pending before them. The pending piece
 * is in the file if the writer's buffer holds no more than these bytes.
 */
static void settle(struct outfile *out, struct tally *tally, size_t n, bool fails_now)
{
	if (fails_now) {
		tally_merge(&out->pending, tally);
		settle_failure(out);
	} else if (out->writer.failed) {
		tally_merge(&out->dropped, tally);
	} else {
		if (out->writer.buf.len <= n)
			tally_merge(&out->file, &out->pending);
		tally_merge(out->writer.buf.len ? &out->pending : &out->file, tally);
	}
}

/* With the lock held. tally: of these bytes; it is emptied. */
static int put(struct outfile *out, const void *bytes, size_t n, struct tally *tally, struct str *err)
{
	const struct record_plan *plan = out->plan;
	bool failed = out->writer.failed;
	int rc = 0;

	if (out->failed || out->full) {
		tally_merge(&out->dropped, tally);
		return out->failed ? fail(err, out->failed, "%s", out->why.s) : 0;
	}
	if (n)
		rc = writer_add(&out->writer, bytes, n, err);
	settle(out, tally, n, rc && !failed);
	if (rc) {
		out->failed = rc;
		str_add(&out->why, err->s);
	}
	if (plan->max_bytes && out->bytes_before + bytes_so_far(out) >= plan->max_bytes)
		out->full = true;
	return rc;
}

/* Records that are no samples. */
static int put_uncounted(struct outfile *out, const void *bytes, size_t n, struct str *err)
{
	struct tally none;
	int rc;

	tally_init(&none, out->events);
	rc = put(out, bytes, n, &none, err);
	tally_release(&none);
	return rc;
}

/* What is pending into the file, or as much of it as fits. */
static int flush(struct outfile *out, struct str *err)
{
	bool failed = out->writer.failed;
	int rc = writer_flush(&out->writer, err);

	if (rc && !failed)
		settle_failure(out);
	else
		tally_merge(rc ? &out->dropped : &out->file, &out->pending);
	return rc;
}

static int take(struct outfile_drain *side, struct drain *drain, bool mark, struct str *err)
{
	struct outfile *out = side->out;

	out->unmarked |= drain->buf.len > 0;
	if (mark)
		add_mark(out, &drain->buf);
	return put(out, drain->buf.s, drain->buf.len, &drain->tally, err);
}

static int take_ready(void *data, struct drain *drain, bool round_ends, struct str *err)
{
	struct outfile_drain *side = data;
	int rc;

	pthread_mutex_lock(&side->out->lock);
	rc = take(side, drain, round_ends && ends_round(side), err);
	pthread_mutex_unlock(&side->out->lock);
	return rc;
}

static int take_snapshot(void *data, struct drain *drain, bool round_ends, struct str *err)
{
	struct outfile_drain *side = data;
	int rc;

	pthread_mutex_lock(&side->out->lock);
	rc = take(side, drain, round_ends, err);
	pthread_mutex_unlock(&side->out->lock);
	return rc;
}

static void take_build_id(struct outfile *out, const struct record *record)
{
	struct record_body body;
	struct str why = STR_INIT;

	if (!record_decode(&out->decoder, record, &body, &why))
		buildid_set_take(out->build_ids, &body);
	str_release(&why);
}

static void on_space(void *data, const struct record *record)
{
	struct outfile_drain *side = data;

	if (!side->out->build_ids)
		return;
	pthread_mutex_lock(&side->out->lock);
	take_build_id(side->out, record);
	pthread_mutex_unlock(&side->out->lock);
}

void outfile_add_drain(struct outfile *out, struct outfile_drain *side, struct drain *drain)
{
	*side = (struct outfile_drain){ .out = out, .next = out->drains };
	out->drains = side;
	drain->take = take_ready;
	drain->on_space = on_space;
	drain->data = side;
}

void outfile_add_snapshots(struct outfile *out, struct outfile_drain *side, struct drain *drain)
{
	*side = (struct outfile_drain){ .out = out };
	out->snapshots = true;
	drain->take = take_snapshot;
	drain->on_space = on_space;
	drain->data = side;
}

/* ---- what runs already ---- */

struct synth {
	struct outfile *out;
	struct str bytes;
	struct str *err;
};

static int put_synth(void *data, const struct record_body *body)
{
	struct synth *synth = data;
	struct outfile *out = synth->out;
	const struct data_event *event = out->tracking;
	struct record_body stamped = *body;
	int rc;

	if (event->n_ids)
		stamped.id.id = stamped.id.stream_id = event->ids[0];
	if (out->build_ids)
		buildid_set_take(out->build_ids, body);
	rc = record_encode(&stamped, event, &synth->bytes, synth->err);
	if (!rc && synth->bytes.len >= FLUSH_BYTES) {
		rc = put_uncounted(out, synth->bytes.s, synth->bytes.len, synth->err);
		str_reset(&synth->bytes);
	}
	return rc;
}

/* What runs already is described as what starts later will be. */
static unsigned what_to_synthesize(const struct record_plan *plan)
{
	bool data = false;

	for (size_t i = 0; i < plan->events->n; i++)
		data |= plan->events->v[i].attr.mmap_data;
	return plan->synth | (data && (plan->synth & SYNTH_MMAPS) ? SYNTH_DATA_MMAPS : 0);
}

/* With the lock held. */
static int synthesize(struct outfile *out, struct str *err)
{
	const struct record_plan *plan = out->plan;
	struct synth synth = { .out = out, .bytes = STR_INIT, .err = err };
	int rc = 0;

	if (plan->synth & (SYNTH_TASKS | SYNTH_MMAPS))
		rc = synth_kernel(plan->kern, put_synth, &synth, err);
	if (!rc && plan->synth)
		rc = synth_tasks(out->target, what_to_synthesize(plan), plan->sampling.namespaces,
				 plan->kern, put_synth, &synth, err);
	if (!rc)
		rc = put_uncounted(out, synth.bytes.s, synth.bytes.len, err);
	str_release(&synth.bytes);
	return rc;
}

int outfile_add_lost(struct outfile *out, size_t index, uint64_t lost, struct str *err)
{
	const struct data_event *event = out->events->v[index];
	struct record_body body = { .type = RECORD_LOST_SAMPLES };
	struct str bytes = STR_INIT;
	int rc;

	body.lost.lost = lost;
	if (event->n_ids)
		body.id.id = body.id.stream_id = event->ids[0];
	rc = record_encode(&body, event, &bytes, err);
	if (!rc)
		rc = put_uncounted(out, bytes.s, bytes.len, err);
	str_release(&bytes);
	return rc;
}

/* ---- files ---- */

static int open_file(struct outfile *out, struct str *err)
{
	const struct record_plan *plan = out->plan;
	const struct writer_options options = {
		.path = plan->path,
		.zstd_level = plan->zstd_level,
		.flush_bytes = FLUSH_BYTES,
	};
	int rc = writer_open(&out->writer, &options, out->events, out->info, err);

	out->is_open = !rc;
	out->opened_ns = now_ns();
	out->n_files += !rc;
	if (!rc && !plan->tail_synthesize)
		rc = synthesize(out, err);
	/* From now on a kill leaves a recording that says what it is and what ran. */
	rc = rc ? rc : writer_flush(&out->writer, err);
	out->beginning_bytes = bytes_so_far(out);
	return rc;
}

int outfile_open(struct outfile *out, struct str *err)
{
	int rc;

	pthread_mutex_lock(&out->lock);
	rc = open_file(out, err);
	pthread_mutex_unlock(&out->lock);
	return rc;
}

int outfile_flush(struct outfile *out, struct str *err)
{
	int rc = 0;

	pthread_mutex_lock(&out->lock);
	if (out->is_open && !out->failed) {
		rc = flush(out, err);
	}
	pthread_mutex_unlock(&out->lock);
	return rc;
}

uint64_t outfile_bytes(struct outfile *out)
{
	uint64_t bytes;

	pthread_mutex_lock(&out->lock);
	bytes = bytes_so_far(out) - out->beginning_bytes;
	pthread_mutex_unlock(&out->lock);
	return bytes;
}

static bool is_switching(const struct record_plan *plan)
{
	return plan->switch_on_signal || plan->switch_bytes || plan->switch_ns;
}

static void complete_info(struct outfile *out)
{
	if (out->file.first_ns <= out->file.last_ns) {
		out->info->first_sample_ns = out->file.first_ns;
		out->info->last_sample_ns = out->file.last_ns;
		info_set(out->info, FEATURE_SAMPLE_TIME);
	}
	if (out->build_ids) {
		buildid_set_write(out->build_ids, out->info);
		buildid_set_note(out->build_ids, out->plan->notes);
	}
}

static int finish_file(struct outfile *out, struct str *err)
{
	bool dated = out->plan->timestamp_name || is_switching(out->plan);
	struct str again = STR_INIT;
	int rc = out->failed, finish_rc;

	if (!out->is_open)
		return 0;
	if (rc)
		fail(err, rc, "%s", out->why.s);
	/* --max-size ends the samples; what names them still goes in. */
	out->full = false;
	if (!rc && out->plan->tail_synthesize)
		rc = synthesize(out, err);
	if (!rc)
		rc = flush(out, err);
	else
		tally_merge(&out->dropped, &out->pending);
	complete_info(out);
	/* Also after a failure: there may be room for the little that makes the file whole. */
	finish_rc = writer_finish(&out->writer, out->events, out->info, rc ? &again : err);
	rc = rc ? rc : finish_rc;
	str_release(&again);
	out->bytes_before += out->writer.data_offset + out->writer.data_size;
	writer_close(&out->writer);
	out->is_open = false;
	tally_merge(&out->total, &out->file);
	if (!out->last_path)
		out->last_path = xstrdup(out->plan->path);
	if (!rc && dated && !out->writer.pipe)
		rc = outfile_give_date(out, err);
	return rc;
}

int outfile_switch(struct outfile *out, struct str *err)
{
	int rc;

	pthread_mutex_lock(&out->lock);
	rc = finish_file(out, err);
	if (!rc)
		rc = open_file(out, err);
	if (rc && !out->failed) {
		out->failed = rc;
		str_add(&out->why, err->s);
	}
	pthread_mutex_unlock(&out->lock);
	return rc;
}

int outfile_finish(struct outfile *out, struct str *err)
{
	return finish_file(out, err);
}
