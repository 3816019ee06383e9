/* SPDX-License-Identifier: MIT */
/*
 * The text that FACT_TRACE stands for: of a tracepoint's sample the values of some fields, each ended by
 * TRACE_PIECE_END, and after them the text that perf prints of the sample, where that is wanted.
 */
#include "profile/session_internal.h"

#include <stdlib.h>

struct trace_texts {
	struct session *session;
	struct tracepoints *tracepoints; /* NULL: the recording does not say what its tracepoints look like */
	struct wanted_field *fields;
	size_t n, cap;
	bool whole, raw;
	struct str own; /* text of the present sample */
};

/* ---- fields and their names ---- */

void wanted_field_parse(struct wanted_field *field, const char *name, size_t len)
{
	const char *dot = memchr(name, '.', len);
	const char *at = dot ? dot + 1 : name;
	size_t at_len = len - (size_t)(at - name);

	*field = (struct wanted_field){ .event = dot ? xstrndup(name, (size_t)(dot - name)) : NULL };
	field->raw = at_len > 4 && !strncmp(at + at_len - 4, "/raw", 4);
	field->name = xstrndup(at, field->raw ? at_len - 4 : at_len);
}

void wanted_field_release(struct wanted_field *field)
{
	free(field->event);
	free(field->name);
}

bool wanted_field_is_of(const struct wanted_field *field, const struct data_event *event)
{
	uint64_t number;

	if (event->attr.type != PERF_TYPE_TRACEPOINT)
		return false;
	if (!field->event)
		return true;
	if (field->event[0] == '%')
		return !parse_u64(field->event + 1, 10, &number) && number == (uint64_t)event->index + 1;
	if (!event->name)
		return false;
	if (strchr(field->event, ':'))
		return !strcmp(event->name, field->event);
	return strstr(event->name, field->event);
}

/* ---- a sample's text ---- */

struct trace_texts *trace_texts_new(struct session *session, const struct trace_pieces *pieces)
{
	struct trace_texts *texts = xcalloc(1, sizeof(*texts));
	struct str why = STR_INIT;
	bool has_raw = false;

	*texts = (struct trace_texts){
		.session = session, .whole = pieces->whole, .raw = pieces->raw, .own = STR_INIT,
	};
	for (const char *at = pieces->fields; at && *at; at += strspn(at, ",")) {
		size_t len = strcspn(at, ",");

		VEC_GROW(texts->fields, texts->n, texts->cap);
		wanted_field_parse(&texts->fields[texts->n++], at, len);
		at += len;
	}
	for (size_t i = 0; i < session->recording->events->n; i++)
		has_raw |= event_sample_has(session->recording->events->v[i]) & PERF_SAMPLE_RAW;
	texts->tracepoints = tracepoints_new(session->recording, &why);
	if (texts->tracepoints)
		tracepoints_name_functions(texts->tracepoints, session_function, session);
	else if (has_raw)
		note_add(&session->notes, false, NULL, "tracepoints: %s", why.s);
	if (texts->tracepoints && texts->raw)
		tracepoints_print_raw(texts->tracepoints);
	str_release(&why);
	return texts;
}

void trace_texts_free(struct trace_texts *texts)
{
	if (!texts)
		return;
	for (size_t i = 0; i < texts->n; i++)
		wanted_field_release(&texts->fields[i]);
	free(texts->fields);
	tracepoints_free(texts->tracepoints);
	str_release(&texts->own);
	free(texts);
}

/* The word after "name=" in a tracepoint's text; false: it is not there. */
static bool add_word(const char *text, const char *name, struct str *out)
{
	size_t len = strlen(name);

	while (text) {
		text += strspn(text, " ");
		if (!strncmp(text, name, len) && text[len] == '=') {
			str_addn(out, text + len + 1, strcspn(text + len + 1, " "));
			return true;
		}
		text = strchr(text, ' ');
	}
	return false;
}

static void add_field(const struct trace_texts *texts, const struct wanted_field *field, const struct data_event *event,
		      const struct sample *sample, struct str *out)
{
	struct str value = STR_INIT;
	int64_t number;
	bool is_number;

	if (wanted_field_is_of(field, event) &&
	    tracepoint_value(texts->tracepoints, event, sample, field->name, &value, &number, &is_number) &&
	    (field->raw || texts->raw || !add_word(texts->own.s, field->name, out)))
		str_add(out, value.s);
	str_release(&value);
}

void trace_texts_add(struct trace_texts *texts, const struct data_event *event, const struct sample *sample,
		     struct str *out)
{
	str_reset(&texts->own);
	if (!texts->tracepoints || event->attr.type != PERF_TYPE_TRACEPOINT ||
	    !tracepoint_print(texts->tracepoints, event, sample, &texts->own))
		str_add(&texts->own, "N/A");
	for (size_t i = 0; i < texts->n; i++) {
		if (texts->tracepoints)
			add_field(texts, &texts->fields[i], event, sample, out);
		str_addc(out, TRACE_PIECE_END);
	}
	if (texts->whole)
		str_addn(out, texts->own.s, texts->own.len);
}
