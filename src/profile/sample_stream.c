/*
 * sample_stream: a recording read once, sample by sample, for a sink. Here is what every sink would do alike:
 *
 *   replay -> shares of a group's sample -> filters -> sink.wants -> filter by location -> frames -> sink.sample
 *
 * Nothing is kept of a sample that was handed over but what may come again: the locations of its addresses and their
 * names. When these are too many all are forgotten, between two samples, so memory does not grow with the
 * recording's length nor with its distinct addresses.
 */
#include "profile/session_internal.h"

enum {
	LOCATIONS_MAX = 1 << 16,
	NAMES_BYTES_MAX = 24 << 20, /* lists of frames may be long where much is inlined */
};

struct sample_stream {
	struct session *session;
	const struct filters *filters;
	const struct sample_sink *sink;
	size_t locations_max;
};

static void forget_when_full(struct sample_stream *stream)
{
	struct session *session = stream->session;

	if (session->locations->n <= stream->locations_max &&
	    (stream->locations_max == SIZE_MAX || symbols_forgettable(session->symbols) <= NAMES_BYTES_MAX))
		return;
	session_forget_locations(session);
	if (stream->sink->forget)
		stream->sink->forget(stream->sink->context);
}

static bool takes_location(struct sample_stream *stream, const struct replay_sample *sample)
{
	struct session *session = stream->session;
	uint32_t location;

	if (!filters_any(stream->filters))
		return true;
	location = session_ip_location(session, sample);
	return filters_take_location(stream->filters, &session->locations->v[location],
				     location_symbol(session, location));
}

static int hand_over(struct sample_stream *stream, const struct replay_sample *sample, uint64_t period, struct str *err)
{
	const struct sample_sink *sink = stream->sink;
	struct sink_sample out = { .sample = sample, .period = period };
	struct chain_entry own = { sample->sample->ip, LOCATION_NONE };
	unsigned wants = 0;
	int rc = sink->wants(sink->context, sample->event, &wants, err);

	if (rc || !(wants & SAMPLE_TAKEN) || !takes_location(stream, sample))
		return rc;
	if (wants & SAMPLE_CHAIN)
		session_chain(stream->session, sample, &out.frames);
	if ((wants & SAMPLE_IP) && !out.frames.n && (sample->sample->has & PERF_SAMPLE_IP)) {
		own.location = session_ip_location(stream->session, sample);
		out.frames = (struct chain){ &own, 1 };
	}
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
		.locations_max = sink->locations_max ? sink->locations_max : LOCATIONS_MAX,
	};
	const struct replay_handlers handlers = {
		.context = &stream,
		.sample = on_sample,
		.other = sink->other ? on_other : NULL,
		.progress = sink->progress ? on_progress : NULL,
	};
	int rc = sink->begin ? sink->begin(sink->context, err) : 0;

	if (!rc)
		rc = replay_run(&session->replay, session->source, &handlers, err);
	if (!rc && sink->end)
		rc = sink->end(sink->context, err);
	return rc;
}
