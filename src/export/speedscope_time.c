/* SPDX-License-Identifier: MIT */
/*
 * speedscope_time.c: samples in the order of time as a file of speedscope, one JSON document (its
 * file-format-schema.json):
 *
 *	{ "$schema": ..., "exporter": "pstat VERSION", "name": text, "activeProfileIndex": that with most samples,
 *	  "profiles": [ { "type": "sampled", "name": "event: comm tid", "unit": text, "startValue": 0, "endValue": sum,
 *	      "samples": [ [ frames, outermost first ], ... ], "weights": [ number, ... ] }, ... ],
 *	  "shared": { "frames": [ { "name": text, "file": text, "line": number }, ... ] } }
 *
 * One profile for each thread and event. A weight is what the sample stands for: of clocks and waits "milliseconds",
 * else the event's count ("none"); 1 where no sample has a count. What a thread of a wall-clock event did not run is in
 * a frame "[waiting]" or "[preempted]".
 *
 * While the recording is read, each sample is put into its thread's row of a spill; rows are written one after the
 * other. So memory grows with threads, distinct stacks and addresses, not with samples. Stacks merged, whatever the
 * thread and the time, are fmt/speedscope.c.
 */
#include "export/export_internal.h"

#include <stdlib.h>

enum { STATE_BITS = 2 }; /* of a sample's word: enum task_state; above it its stack */

struct timed_track {
	int32_t pid, tid;
	uint32_t serial, process_serial; /* tell those apart that had one number */
	const struct data_event *event;
	uint32_t comm; /* the last name that it had in a sample */
	uint64_t sum; /* of periods */
	struct spill_row samples; /* period, stack and state */
};

struct timed_frame {
	uint32_t name, file; /* numbers of texts; file 0: not known */
	uint32_t line; /* where it was seen first; 0: not known */
};

struct timed_stacks {
	struct export *export; /* first: export_progress */
	struct text_out out;
	struct sample_spill spill;
	struct timed_track *tracks;
	size_t n_tracks, cap_tracks;
	struct index track_ix; /* by serial and event */
	struct text_index *texts;
	struct row_set frame_ids; /* name, file */
	struct timed_frame *frames; /* by the number of frame_ids */
	size_t n_frames, cap_frames;
	uint32_t *walked;
	struct str scratch;
};

/* ---- while the recording is read ---- */

static struct timed_track *track_of(struct timed_stacks *s, const struct replay_sample *sample)
{
	const struct thread *thread = sample->thread;
	const struct data_event *event = sample->event;
	uint64_t hash = hash_word((uint64_t)thread->serial << 32 | event->index);
	uint32_t i;

	if (INDEX_FIND(&s->track_ix, hash, i,
		       s->tracks[i].serial == thread->serial && s->tracks[i].event == event &&
			       s->tracks[i].tid == thread->tid))
		return &s->tracks[i];
	VEC_GROW(s->tracks, s->n_tracks, s->cap_tracks);
	s->tracks[s->n_tracks] = (struct timed_track){ .pid = thread->pid,
							    .tid = thread->tid,
							    .serial = thread->serial,
							    .process_serial = thread->process_serial,
							    .event = event };
	index_add(&s->track_ix, hash, (uint32_t)s->n_tracks);
	return &s->tracks[s->n_tracks++];
}

static int take_sample(void *context, const struct sink_sample *taken, struct str *err)
{
	struct timed_stacks *s = context;
	struct timed_track *track = track_of(s, taken->sample);
	struct spill_record record = { .time = taken->period };

	record.word = (uint64_t)taken->stack << STATE_BITS;
	if (event_is_wall_clock(taken->sample->event)) /* of others all samples are alike */
		record.word |= export_task_state(taken->sample);
	track->comm = taken->sample->thread->comm;
	track->sum += taken->period;
	return spill_add(&s->spill, &track->samples, &record, err);
}

/* ---- frames ---- */

static uint32_t text_number(struct timed_stacks *s, const char *text)
{
	return texts_intern(s->texts, text, strlen(text));
}

static size_t frame_number(struct timed_stacks *s, const char *name, const struct source_line *line, const char *dso)
{
	const char *file = line && line->file ? line->file : dso ? dso : "";
	const uint64_t words[] = { text_number(s, name), text_number(s, file) };
	uint32_t number = row_set_intern(&s->frame_ids, words);

	if (number >= s->n_frames) {
		VEC_GROW(s->frames, s->n_frames, s->cap_frames);
		s->frames[s->n_frames++] = (struct timed_frame){
			(uint32_t)words[0], (uint32_t)words[1], line && line->file ? line->line : 0,
		};
	}
	return number;
}

/* The functions at a location: the one that has code there, then what was inlined into it. */
static void add_location(struct timed_stacks *s, uint32_t location, bool *any)
{
	struct session *session = &s->export->session;
	const struct location_row *row = location < session->locations->n ? &session->locations->v[location] : NULL;
	const struct frame_list *frames = location_frames(session, row ? location : (uint32_t)LOCATION_NONE, SYM_LINES);

	for (size_t i = frames->n; i-- > 0;) {
		const struct frame *frame = &frames->v[i];

		str_reset(&s->scratch);
		if (frame->symbol)
			str_add(&s->scratch, frame->symbol->name);
		else
			export_add_nameless(row, &s->scratch);
		str_addf(&s->out.text, "%s%zu", *any ? "," : "",
			 frame_number(s, s->scratch.s, &frame->line, row && row->dso ? row->dso->name : NULL));
		*any = true;
	}
}

static void add_stack(struct timed_stacks *s, uint64_t word)
{
	static const char *const states[] = { [TASK_WAITING] = "[waiting]", [TASK_PREEMPTED] = "[preempted]" };
	const struct session *session = &s->export->session;
	const unsigned state = word & ((1U << STATE_BITS) - 1);
	const uint32_t stack = (uint32_t)(word >> STATE_BITS);
	size_t n = stacks_walk(session->stacks, stack, s->walked, session->options.max_stack + 1);
	bool any = false;

	str_addc(&s->out.text, '[');
	while (n)
		add_location(s, s->walked[--n], &any);
	if (state != TASK_RUNNING)
		str_addf(&s->out.text, "%s%zu", any ? "," : "", frame_number(s, states[state], NULL, NULL));
	str_addc(&s->out.text, ']');
}

/* ---- profiles ---- */

static bool is_time(const struct data_event *event)
{
	return event_is_cpu_time(event) || event_is_wall_clock(event) || event_has_waits(event) ||
	       event_has_wakers(event);
}

/* Milliseconds of times, with all digits. */
static void add_weight(struct timed_stacks *s, const struct timed_track *track, uint64_t n, uint64_t period)
{
	if (!track->sum)
		str_add_u64(&s->out.text, n);
	else if (is_time(track->event))
		str_addf(&s->out.text, "%llu.%06llu", (unsigned long long)(period / NS_PER_MS),
			 (unsigned long long)(period % NS_PER_MS));
	else
		str_add_u64(&s->out.text, period);
}

static int add_rows(struct timed_stacks *s, const struct timed_track *track, bool weights, struct str *err)
{
	struct spill_reader reader;
	struct spill_record record;
	bool any = false;
	int code;

	spill_read(&reader, &s->spill, &track->samples);
	while ((code = spill_next(&reader, &record, err)) > 0 && !text_out_step(&s->out)) {
		str_add(&s->out.text, any ? "," : "");
		any = true;
		if (weights)
			add_weight(s, track, 1, record.time);
		else
			add_stack(s, record.word);
	}
	return code < 0 ? code : 0;
}

static int add_profile(struct timed_stacks *s, const struct timed_track *track, struct str *err)
{
	const struct session *session = &s->export->session;
	const char *comm = track->comm < session_n_comms(session) ? session_comm(session, track->comm) : "";
	struct str *out = &s->out.text;
	int code;

	str_reset(&s->scratch);
	data_event_add_name(track->event, &s->scratch);
	str_add(&s->scratch, ": ");
	str_add_printable(&s->scratch, comm, strlen(comm));
	str_addf(&s->scratch, " %d", track->tid);
	str_add(out, "\n{\"type\":\"sampled\",\"name\":");
	str_add_json(out, s->scratch.s);
	str_addf(out, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":",
		 track->sum && is_time(track->event) ? "milliseconds" : "none");
	add_weight(s, track, track->samples.n_records, track->sum);
	str_add(out, ",\"samples\":[");
	code = add_rows(s, track, false, err);
	str_add(out, "],\"weights\":[");
	if (!code)
		code = add_rows(s, track, true, err);
	str_add(out, "]}");
	return code;
}

/* Threads of a process together, the first thread first; events of a thread together. */
static int in_order(const void *pa, const void *pb)
{
	const struct timed_track *a = pa, *b = pb;

	if (a->process_serial != b->process_serial)
		return a->process_serial < b->process_serial ? -1 : 1;
	if (a->serial != b->serial)
		return a->serial < b->serial ? -1 : 1;
	return a->event->index < b->event->index ? -1 : a->event->index > b->event->index;
}

static size_t most_sampled(const struct timed_stacks *s)
{
	size_t most = 0;

	for (size_t i = 1; i < s->n_tracks; i++)
		if (s->tracks[i].samples.n_records > s->tracks[most].samples.n_records)
			most = i;
	return most;
}

static void add_frames(struct timed_stacks *s)
{
	struct str *out = &s->out.text;

	str_add(out, "\"shared\":{\"frames\":[");
	for (size_t i = 0; i < s->n_frames; i++) {
		const struct timed_frame *frame = &s->frames[i];
		const char *file = texts_get(s->texts, frame->file);

		str_add(out, i ? ",\n{\"name\":" : "\n{\"name\":");
		str_add_json(out, texts_get(s->texts, frame->name));
		if (*file) {
			str_add(out, ",\"file\":");
			str_add_json(out, file);
		}
		if (frame->line)
			str_addf(out, ",\"line\":%u", frame->line);
		str_addc(out, '}');
		text_out_step(&s->out);
	}
	str_add(out, "]}}\n");
}

static int write_profiles(struct timed_stacks *s, struct str *err)
{
	struct str *out = &s->out.text;
	int code = 0;

	if (s->n_tracks)
		qsort(s->tracks, s->n_tracks, sizeof(*s->tracks), in_order);
	str_add(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
		     "\"exporter\":\"pstat " PSTAT_VERSION "\",\"name\":");
	str_add_json(out, s->export->session.reader ? s->export->session.reader->path : "pstat");
	str_addf(out, ",\"activeProfileIndex\":%zu,\n\"profiles\":[", most_sampled(s));
	for (size_t i = 0; i < s->n_tracks && !code && !s->out.output->failed; i++) {
		str_add(out, i ? "," : "");
		code = add_profile(s, &s->tracks[i], err);
	}
	str_add(out, "],\n");
	add_frames(s);
	return code;
}

static void release(struct timed_stacks *s)
{
	for (size_t i = 0; i < s->n_tracks; i++)
		spill_row_release(&s->tracks[i].samples);
	free(s->tracks);
	index_release(&s->track_ix);
	spill_release(&s->spill);
	texts_free(s->texts);
	row_set_release(&s->frame_ids);
	free(s->frames);
	free(s->walked);
	str_release(&s->scratch);
}

static int run_speedscope(struct export *export, struct output *output, bool gzip, struct str *err)
{
	struct timed_stacks s = { .export = export, .texts = texts_new(), .scratch = STR_INIT };
	const struct sample_sink sink = {
		.context = &s,
		.locations_max = SIZE_MAX,
		.wants = export_wants,
		.sample = take_sample,
		.progress = export_progress,
	};
	struct str why = STR_INIT;
	int code, written;

	spill_init(&s.spill);
	row_set_init(&s.frame_ids, 2);
	text_number(&s, "");
	code = export_run(export, &sink, err);
	s.walked = xcalloc(export->session.options.max_stack + 1, sizeof(*s.walked));
	text_out_init(&s.out, output, gzip, &why);
	if (why.len)
		note_add(&export->session.notes, false, NULL, "the file is not compressed: %s", why.s);
	/* The file has what could be read, also where reading had to end early. */
	written = write_profiles(&s, code ? &why : err);
	text_out_end(&s.out);
	release(&s);
	str_release(&why);
	return code ? code : written ? written : output->failed;
}

const struct export_text_format export_speedscope = { "speedscope", run_speedscope };
