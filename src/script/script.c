/*
 * script: the samples of a recording one by one. The replay brings them in the order of time; each goes
 * through the filters and to the writer of its format, and text is handed on in pieces, so memory does
 * not depend on how many there are.
 */
#include "script/script_internal.h"

#include <stdlib.h>

/* Are addresses of data to be named? */
static bool needs_data_maps(const struct script *script)
{
	const struct events *events = &script->session.reader->events;

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
	for (size_t i = 0; i < script->n_events; i++) {
		free(script->events[i].name);
		free(script->events[i].frames);
	}
	free(script->events);
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
	script->tracepoints = tracepoints_new(&script->session.reader->recording, &why);
	if (script->tracepoints)
		tracepoints_name_functions(script->tracepoints, session_function, &script->session);
	else
		note_add(&script->session.notes, false, NULL, "fields of tracepoints: %s", why.s);
	str_release(&why);
	return script->tracepoints;
}

static bool takes_symbol(struct script *script, const struct replay_sample *sample)
{
	uint32_t place;

	if (!filters_any(script->filters))
		return true;
	place = session_ip_place(&script->session, sample);
	return filters_take_place(script->filters, &script->session.places->v[place],
				  place_symbol(&script->session, place));
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

static int print_sample(struct script *script, const struct replay_sample *sample, struct str *err)
{
	const struct sample *s = sample->sample;
	struct script_start start = {
		.thread = sample->thread,   .pid = (int32_t)s->pid, .tid = (int32_t)s->tid,
		.cpu = s->cpu,              .time_ns = s->time_ns,  .has = s->has,
		.misc = sample->body->misc, .type = RECORD_SAMPLE,
	};
	struct script_event *event;
	int rc = know_event(script, sample->event->index, true, err);

	if (rc)
		return rc;
	event = &script->events[sample->event->index];
	if (!event->fields || !takes_symbol(script, sample))
		return 0;
	print_header(script);
	if (script->options.json)
		script_json_sample(script, event, sample, &start);
	else
		script_text_sample(script, event, sample, &start);
	return output_step(script->output);
}

/* A sample that holds the values of its group is one of each member that went on. */
static int print_shares(struct script *script, const struct replay_sample *sample, struct str *err)
{
	struct sample values = *sample->sample;
	struct replay_sample one = *sample;
	const struct sample_share *shares;
	size_t n = session_shares(&script->session, sample, &shares);
	int rc = 0;

	if (!filters_take_sample(script->filters, sample))
		return 0;
	values.has |= PERF_SAMPLE_PERIOD;
	one.sample = &values;
	for (size_t i = 0; i < n && !rc; i++) {
		one.event = shares[i].event;
		values.period = shares[i].period;
		rc = print_sample(script, &one, err);
	}
	return rc;
}

static int on_sample(void *context, struct replay *replay, const struct replay_sample *sample, struct str *err)
{
	struct script *script = context;

	(void)replay;
	if (!sample->event)
		return 0;
	if (sample->sample->has & PERF_SAMPLE_READ)
		return print_shares(script, sample, err);
	if (!filters_take_sample(script->filters, sample))
		return 0;
	return print_sample(script, sample, err);
}

static int on_other(void *context, struct replay *replay, const struct record *record,
		    const struct record_body *body, struct thread *thread, struct str *err)
{
	struct script *script = context;
	int rc = know_event(script, body->event ? body->event->index : 0, false, err);

	(void)replay;
	if (rc)
		return rc;
	print_header(script);
	script_other_record(script, record, body, thread);
	return output_step(script->output);
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
	struct replay_handlers handlers = {
		.context = script,
		.sample = on_sample,
		.other = script_shows_others(&script->options) ? on_other : NULL,
		.progress = on_progress,
	};
	int rc;

	script->output = output;
	script->progress = progress;
	script->progress_context = context;
	if (!script->session.reader->pipe)
		print_header(script);
	rc = replay_run(&script->session.replay, &script->session.reader->source, &handlers, err);
	print_header(script);
	filters_add_note(script->filters, &script->options.filters, &script->session);
	if (script->without_trace)
		note_add(&script->session.notes, false, NULL,
			 "fields of tracepoints: %llu samples are without: their format is missing, or "
			 "they don't fit it",
			 (unsigned long long)script->without_trace);
	return rc ? rc : output->failed;
}
