/*
 * reader_take.c: a stream's next record, and what is taken from it: records that describe the recording
 * itself (attrs, names, units, features, tracepoint formats, build-ids) go into events and info while
 * they go by, so that a pipe ends up with what a file's header has. A record that cannot be understood
 * becomes a note.
 */
#include "data/bytes.h"
#include "data/feature.h"
#include "data/reader.h"
#include "data/stream.h"

#include <stdlib.h>

enum { EVENTS_MAX = 65536 }; /* of a pipe, which has no size to bound them by */

static void take_attr(struct reader *reader, const struct record *record, const struct record_body *body)
{
	const struct record_bytes *attr = &body->header_attr.attr;
	const struct record_words *ids = &body->header_attr.ids;

	/* In a file they repeat what the header has said. */
	if (!reader->pipe || reader->events.n >= EVENTS_MAX ||
	    (ids->n && events_find(&reader->events, ids->v[0])))
		return;
	if (record->misc)
		reader_add_ids(reader, record->misc - 1u, attr->v, attr->n, ids->v, ids->n);
	else
		reader_add_event(reader, attr->v, attr->n, ids->v, ids->n);
}

static void take_update(struct reader *reader, const struct record_body *body)
{
	struct data_event *event = events_find(&reader->events, body->update.id);
	char **text = NULL;
	size_t cursor = 0;
	int cpu;

	if (!event)
		return;
	switch (body->update.kind) {
	case EVENT_UPDATE_UNIT:
		text = &event->unit;
		break;
	case EVENT_UPDATE_NAME:
		text = &event->name;
		break;
	case EVENT_UPDATE_SCALE:
		event->scale = body->update.scale;
		break;
	case EVENT_UPDATE_CPUS:
		while (record_cpus_get(&body->update.cpus, &cursor, &cpu))
			intset_add(&event->cpus, cpu);
	}
	if (text) {
		free(*text);
		*text = xstrdup(body->update.text);
	}
}

/*
 * perf of Linux 4.14 writes a pipe's features before its attrs. Two of them name events that are not known
 * then: they wait. False: it need not.
 */
static bool keep_early(struct reader *reader, const struct record *record, const struct record_body *body)
{
	uint64_t id = body->feature.feature;
	struct early_feature *early = &reader->early[reader->n_early];

	if (!reader->pipe || reader->events.n || (id != FEATURE_EVENT_DESC && id != FEATURE_GROUP_DESC))
		return false;
	for (size_t i = 0; i < reader->n_early; i++)
		if (reader->early[i].feature == id)
			return true;
	*early = (struct early_feature){ (unsigned)id, record->offset, STR_INIT };
	str_addn(&early->bytes, (const char *)body->feature.bytes.v, body->feature.bytes.n);
	reader->n_early++;
	return true;
}

static void take_early(struct reader *reader)
{
	for (size_t i = 0; i < reader->n_early; i++) {
		struct early_feature *early = &reader->early[i];

		reader_add_feature(reader, early->feature, (const uint8_t *)early->bytes.s,
				   early->bytes.len, early->offset);
		str_release(&early->bytes);
	}
	reader->n_early = 0;
}

static void take_feature(struct reader *reader, const struct record *record,
			 const struct record_body *body)
{
	uint64_t id = body->feature.feature;

	/* perf ends the list with an empty one past its last feature; what the file's header has is newer. */
	if (id && id < FEATURE_BITS && !info_has(&reader->info, (unsigned)id) &&
	    body->feature.bytes.n && !keep_early(reader, record, body))
		reader_add_feature(reader, (unsigned)id, body->feature.bytes.v,
				   body->feature.bytes.n, record->offset);
}

static void take_tracing_data(struct reader *reader, struct stream *stream, struct record *record)
{
	struct str bytes = STR_INIT;

	if (!info_has(&reader->info, FEATURE_TRACING_DATA) &&
	    stream_extra(stream, record, READER_FEATURE_MAX, &bytes))
		reader_add_feature(reader, FEATURE_TRACING_DATA, (const uint8_t *)bytes.s,
				   bytes.len, record->offset);
	str_release(&bytes);
}

static void take_build_id(struct reader *reader, const struct record *record)
{
	struct cursor c = cursor_on(record->bytes, record->size, reader->swap);
	struct str place = STR_INIT;
	const char *why = build_id_entry_read(&c, &reader->info);

	if (!why) {
		info_set(&reader->info, FEATURE_BUILD_ID);
		return;
	}
	record_fail(record, &place, 0, "%s", why);
	reader_note(reader, "%s", place.s);
	str_release(&place);
}

static void take(struct reader *reader, struct stream *stream, struct record *record)
{
	struct str why = STR_INIT;
	struct record_body body;

	if (record_decode(&reader->decoder, record, &body, &why)) {
		reader_note(reader, "%s", why.s);
		str_release(&why);
		return;
	}
	switch (record->type) {
	case RECORD_HEADER_ATTR:
		take_attr(reader, record, &body);
		break;
	case RECORD_EVENT_UPDATE:
		take_update(reader, &body);
		break;
	case RECORD_HEADER_FEATURE:
		take_feature(reader, record, &body);
		break;
	case RECORD_HEADER_TRACING_DATA:
		take_tracing_data(reader, stream, record);
		break;
	case RECORD_HEADER_BUILD_ID:
		take_build_id(reader, record);
		break;
	}
}

static bool describes_recording(uint32_t type)
{
	return type == RECORD_HEADER_ATTR || type == RECORD_EVENT_UPDATE ||
	       type == RECORD_HEADER_FEATURE || type == RECORD_HEADER_TRACING_DATA ||
	       type == RECORD_HEADER_BUILD_ID;
}

int reader_next_of(struct reader *reader, size_t stream, struct record *record, struct str *err)
{
	struct str missing = STR_INIT;
	int rc = stream_next(reader->streams[stream], reader->swap, record, &missing, err);

	if (missing.len) {
		if (reader->missing.len)
			str_add(&reader->missing, "; ");
		str_addn(&reader->missing, missing.s, missing.len);
	}
	str_release(&missing);
	if (rc > 0 && describes_recording(record->type))
		take(reader, reader->streams[stream], record);
	else if (reader->n_early && (reader->events.n || rc <= 0))
		take_early(reader);
	return rc;
}
