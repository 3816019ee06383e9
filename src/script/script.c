/*
 * script: a sink that prints. Each sample goes to the writer of its format, and text is handed on in pieces. What
 * is remembered is bounded (see profile.h: struct sample_sink; texts of frames here), so memory depends neither
 * on how many samples there are nor on how many distinct addresses they have.
 */
#include "script/script_internal.h"

#include <stdlib.h>

enum { TEXTS_MAX_BYTES = 16 << 20 };

/* Are addresses of data to be named? */
static bool needs_data_maps(const struct script *script)
{
	const struct events *events = script->session.recording->events;

	for (size_t i = 0; i < SCRIPT_TYPES; i++)
		if (script->choice.asked[i] & FIELD_BIT(FIELD_ADDR))
			return true;
	for (size_t i = 0; i < events->n; i++)
		if (script->options.json && (events->v[i]->attr.sample_type & PERF_SAMPLE_ADDR))
			return true;
	return false;
}

int script_new(struct script **result, const struct script_options *options, struct reader *reader,
	       struct str *err)
{
	struct script *script = xcalloc(1, sizeof(*script));
	int rc;

	script->options = *options;
	str_init(&script->scratch);
	str_init(&script->stops.bytes);
	*result = script;
	rc = session_init(&script->session, reader, &options->session, err);
	if (!rc)
		rc = filters_new(&script->filters, &options->filters, &script->session, err);
	if (!rc && options->stop_bt)
		rc = name_set_parse(&script->stops, "--stop-bt", options->stop_bt, err);
	if (!rc)
		rc = script_read_choice(&script->choice, options->fields, err);
	/* A pipe's events come later, and its fields are chosen then. */
	if (!rc && !reader->pipe)
		rc = script_choose_fields(script, err);
	if (!rc)
		script->session.replay.options.data_maps |= needs_data_maps(script);
	return rc;
}

static void forget_events(struct script *script)
{
	for (size_t i = 0; i < script->n_events; i++)
		free(script->events[i].name);
	free(script->events);
	script_release_styles(script);
	script_release_counts(&script->counts);
	script->events = NULL;
	script->n_events = 0;
}

void script_free(struct script *script)
{
	if (!script)
		return;
	forget_events(script);
	tracepoints_free(script->tracepoints);
	filters_free(script->filters);
	name_set_release(&script->stops);
	session_release(&script->session);
	arena_release(&script->texts);
	str_release(&script->scratch);
	free(script);
}

struct session *script_session(struct script *script)
{
	return &script->session;
}

struct tracepoints *script_tracepoints(struct script *script)
{
	struct str why = STR_INIT;

	if (script->tracepoints_tried)
		return script->tracepoints;
	script->tracepoints_tried = true;
	script->tracepoints = tracepoints_new(script->session.recording, &why);
	if (script->tracepoints)
		tracepoints_name_functions(script->tracepoints, session_function, &script->session);
	else
		note_add(&script->session.notes, false, NULL, "fields of tracepoints: %s", why.s);
	str_release(&why);
	return script->tracepoints;
}

/* Once, in front of all else: in a pipe what the header says has come by then. */
static void print_header(struct script *script)
{
	if (script->options.header && !script->header_printed)
		reader_print_header(script->session.reader, script->options.full_header,
				    &script->output->text);
	script->header_printed = true;
}

/* Events of a pipe are known when their records have gone by, and their names a little later. */
static int know_event(struct script *script, size_t index, bool is_sample, struct str *err)
{
	bool named = !script->session.reader->pipe || script->events_named;

	script->events_named |= is_sample;
	if (index < script->n_events && (named || !is_sample))
		return 0;
	forget_events(script);
	return script_choose_fields(script, err);
}

/* A pipe has more to say in front of the first record. */
static int begin(void *context, struct str *err)
{
	struct script *script = context;

	(void)err;
	if (!script->session.reader->pipe)
		print_header(script);
	return 0;
}

static int wants(void *context, const struct data_event *event, unsigned *wanted, struct str *err)
{
	struct script *script = context;
	const struct script_event *fields;
	int rc = know_event(script, event->index, true, err);

	if (rc)
		return rc;
	fields = &script->events[event->index];
	if (fields->fields)
		*wanted |= SAMPLE_TAKEN;
	if (fields->chain)
		*wanted |= SAMPLE_CHAIN;
	if (script->options.json || (script_prints(fields, FIELD_IP) && !fields->chain))
		*wanted |= SAMPLE_IP;
	return 0;
}

static int take_sample(void *context, const struct sink_sample *taken, struct str *err)
{
	struct script *script = context;
	const struct replay_sample *sample = taken->sample;
	const struct sample *s = sample->sample;
	const struct script_event *event = &script->events[sample->event->index];
	const struct script_start start = {
		.thread = sample->thread,   .pid = (int32_t)s->pid, .tid = (int32_t)s->tid,
		.cpu = s->cpu,              .time_ns = s->time_ns,  .has = s->has,
		.misc = sample->body->misc, .type = RECORD_SAMPLE,
	};

	(void)err;
	if (script->texts.bytes > TEXTS_MAX_BYTES)
		script_forget_texts(script);
	print_header(script);
	if (script->options.json)
		script_json_sample(script, event, taken, &start);
	else
		script_text_sample(script, event, taken, &start);
	return output_step(script->output);
}

static int take_other(void *context, const struct record *record, const struct record_body *body,
		      const struct thread *thread, struct str *err)
{
	struct script *script = context;
	int rc;

	if (script_take_counts(script, body))
		return output_step(script->output);
	if (!script_shows_others(&script->options))
		return 0;
	rc = know_event(script, body->event ? body->event->index : 0, false, err);

	if (rc)
		return rc;
	print_header(script);
	script_other_record(script, record, body, thread);
	return output_step(script->output);
}

static void forget(void *context)
{
	script_forget_texts(context);
}

static void on_progress(void *context, double part)
{
	struct script *script = context;

	if (script->progress)
		script->progress(script->progress_context, part);
}

int script_run(struct script *script, struct output *output, void (*progress)(void *context, double part),
	       void *context, struct str *err)
{
	const struct sample_sink sink = {
		.context = script,
		.begin = begin,
		.wants = wants,
		.sample = take_sample,
		.other = take_other,
		.forget = forget,
		.progress = on_progress,
	};
	int rc;

	script->output = output;
	script->progress = progress;
	script->progress_context = context;
	rc = sample_stream_run(&script->session, script->filters, &sink, err);
	print_header(script);
	filters_add_note(script->filters, &script->options.filters, &script->session);
	if (script->without_trace)
		note_add(&script->session.notes, false, NULL,
			 "fields of tracepoints: %llu samples are without: their format is missing, or "
			 "they don't fit it",
			 (unsigned long long)script->without_trace);
	return rc ? rc : output->failed;
}
