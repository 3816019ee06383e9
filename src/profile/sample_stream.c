/* SPDX-License-Identifier: MIT */
/*
 * sample_stream: a recording read once, sample by sample, for a sink. Here is what every sink would do alike:
 *
 *   replay -> shares of a group's sample -> filters -> sink.wants -> filter by location -> frames -> sink.sample
 *
 * Where chains are cut frames come before the filter, which is asked about the location that is left of them.
 *
 * Nothing is kept of a sample that was handed over but what may come again: the locations of its addresses and their
 * names. When these are too many all are forgotten, between two samples, so memory does not grow with the
 * recording's length nor with its distinct addresses.
 */
#include "profile/session_internal.h"

struct sample_stream {
	struct session *session;
	const struct filters *filters;
	const struct sample_sink *sink;
};

static void forget_when_full(struct sample_stream *stream)
{
	if (session_forget_when_full(stream->session, stream->sink->locations_max) && stream->sink->forget)
		stream->sink->forget(stream->sink->context);
}

static bool takes_location(struct sample_stream *stream, uint32_t location)
{
	struct session *session = stream->session;

	return filters_take_location(stream->filters, &session->locations->v[location],
				     location_symbol(session, location));
}

/* The chain, as frames or as a stack, as far as it was recorded and is kept. */
static void add_chain(struct session *session, unsigned wants, struct sink_sample *out)
{
	if (wants & SAMPLE_CHAIN)
		session_chain(session, out->sample, &out->frames);
	if (wants & SAMPLE_STACK)
		out->stack = session_stack(session, out->sample);
}

/* The frame that the sample counts for. Where chains are cut, its chain was added before. */
static struct chain_entry own_frame(struct session *session, const struct sink_sample *out)
{
	struct chain_entry own = { out->sample->sample->ip, LOCATION_NONE };

	if (out->frames.n)
		own.location = out->frames.v[0].location;
	else if (out->stack)
		own.location = session->stacks->v[out->stack].location;
	own.location = session_own_location(session, out->sample, own.location);
	if (out->frames.n && out->frames.v[0].location == own.location)
		own.ip = out->frames.v[0].ip;
	return own;
}

/* Nothing is left of its chain: that is shown in the chain's place. */
static bool is_left_out(const struct session *session, const struct chain_entry *own)
{
	const struct dso *dso = session->locations->v[own->location].dso;

	return dso && dso->kind == DSO_LEFT_OUT;
}

/* Puts the sample's own frame where it is wanted and there is no chain. */
static void add_own(struct session *session, unsigned wants, struct chain_entry *own, struct sink_sample *out)
{
	const bool cut = session->options.part != STACK_WHOLE;

	if (!(wants & SAMPLE_CHAIN))
		out->frames.n = 0;
	if (!(out->sample->sample->has & PERF_SAMPLE_IP) || out->frames.n || out->stack ||
	    !(wants & (SAMPLE_IP | SAMPLE_STACK) || cut))
		return;
	if (!cut)
		*own = own_frame(session, out);
	if (wants & SAMPLE_STACK)
		out->stack = stacks_child(session->stacks, 0, own->location);
	if (wants & SAMPLE_IP || (wants & SAMPLE_CHAIN && is_left_out(session, own)))
		out->frames = (struct chain){ own, 1 };
}

static int hand_over(struct sample_stream *stream, const struct replay_sample *sample, uint64_t period, struct str *err)
{
	const struct sample_sink *sink = stream->sink;
	struct sink_sample out = { .sample = sample, .period = period };
	struct session *session = stream->session;
	const bool cut = session->options.part != STACK_WHOLE;
	struct chain_entry own = { .location = LOCATION_NONE };
	unsigned wants = 0;
	int rc = sink->wants(sink->context, sample->event, &wants, err);

	if (rc || !(wants & SAMPLE_TAKEN))
		return rc;
	if (cut)
		add_chain(session, wants & SAMPLE_STACK ? wants : wants | SAMPLE_CHAIN, &out);
	if (cut || filters_any(stream->filters))
		own = own_frame(session, &out);
	if (filters_any(stream->filters) && !takes_location(stream, own.location))
		return 0;
	if (!cut)
		add_chain(session, wants, &out);
	add_own(session, wants, &own, &out);
	return sink->sample(sink->context, &out, err);
}

/* A sample that holds the values of its group is one of each member that went on. */
static int hand_over_shares(struct sample_stream *stream, const struct replay_sample *sample, struct str *err)
{
	struct sample values = *sample->sample;
	struct replay_sample one = *sample;
	const struct sample_share *shares;
	size_t n = session_shares(stream->session, sample, &shares); /* also of samples that are left out */
	int rc = 0;

	if (!filters_take_sample(stream->filters, sample))
		return 0;
	values.has |= PERF_SAMPLE_PERIOD;
	one.sample = &values;
	for (size_t i = 0; i < n && !rc; i++) {
		one.event = shares[i].event;
		values.period = shares[i].period;
		rc = hand_over(stream, &one, values.period, err);
	}
	return rc;
}

static int on_sample(void *context, struct replay *replay, const struct replay_sample *sample, struct str *err)
{
	struct sample_stream *stream = context;
	const struct sample *s = sample->sample;

	(void)replay;
	if (!sample->event)
		return 0;
	forget_when_full(stream);
	if (s->has & PERF_SAMPLE_READ)
		return hand_over_shares(stream, sample, err);
	if (!filters_take_sample(stream->filters, sample))
		return 0;
	return hand_over(stream, sample,
			 s->has & PERF_SAMPLE_PERIOD ? s->period : sample->event->attr.sample_period, err);
}

static int on_other(void *context, struct replay *replay, const struct record *record,
		    const struct record_body *body, struct thread *thread, struct str *err)
{
	const struct sample_stream *stream = context;

	(void)replay;
	return stream->sink->other(stream->sink->context, record, body, thread, err);
}

static bool on_event(void *context, const struct data_event *event)
{
	const struct sample_stream *stream = context;

	return stream->sink->skips(stream->sink->context, event);
}

static void on_progress(void *context, double part)
{
	const struct sample_stream *stream = context;

	stream->sink->progress(stream->sink->context, part);
}

int sample_stream_run(struct session *session, const struct filters *filters, const struct sample_sink *sink,
		      struct str *err)
{
	struct sample_stream stream = {
		.session = session,
		.filters = filters,
		.sink = sink,
	};
	const struct replay_handlers handlers = {
		.context = &stream,
		.sample = on_sample,
		.other = sink->other ? on_other : NULL,
		.skips = sink->skips ? on_event : NULL,
		.progress = sink->progress ? on_progress : NULL,
	};
	int rc = sink->begin ? sink->begin(sink->context, err) : 0;

	if (!rc)
		rc = replay_run(&session->replay, session->source, &handlers, err);
	if (!rc && sink->end)
		rc = sink->end(sink->context, err);
	return rc;
}
