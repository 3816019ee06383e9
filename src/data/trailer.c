/*
 * trailer.c: the block that sample_id_all appends to every record but SAMPLE, so that they can be ordered
 * and attributed. Its fields stand in a fixed order; one table says which, where and how wide.
 *
 * Source: struct sample_id in include/uapi/linux/perf_event.h.
 */
#include "data/decode.h"

static const struct {
	uint64_t bit;
	uint16_t at;
	bool halves; /* two u32: pid and tid; cpu and a reserved one */
	bool second; /* the second u32 is stored, too */
} fields[] = {
	{ PERF_SAMPLE_TID, offsetof(struct sample_id, pid), true, true },
	{ PERF_SAMPLE_TIME, offsetof(struct sample_id, time_ns), false, false },
	{ PERF_SAMPLE_ID, offsetof(struct sample_id, id), false, false },
	{ PERF_SAMPLE_STREAM_ID, offsetof(struct sample_id, stream_id), false, false },
	{ PERF_SAMPLE_CPU, offsetof(struct sample_id, cpu), true, false },
	{ PERF_SAMPLE_IDENTIFIER, offsetof(struct sample_id, id), false, false },
};

_Static_assert(offsetof(struct sample_id, tid) ==
		       offsetof(struct sample_id, pid) + sizeof(uint32_t),
	       "pid and tid are stored together");

size_t trailer_size(const struct perf_event_attr *attr)
{
	size_t n = 0;

	if (!attr->sample_id_all)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		n += attr->sample_type & fields[i].bit ? sizeof(uint64_t) : 0;
	return n;
}

void trailer_decode(const struct perf_event_attr *attr, struct cursor *c, struct sample_id *id)
{
	memset(id, 0, sizeof(*id));
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		char *at = (char *)id + fields[i].at;

		if (!(attr->sample_type & fields[i].bit))
			continue;
		id->has |= fields[i].bit;
		if (fields[i].halves) {
			uint32_t v[2];

			v[0] = cursor_u32(c);
			v[1] = cursor_u32(c);
			memcpy(at, v, fields[i].second ? sizeof(v) : sizeof(v[0]));
		} else {
			uint64_t v = cursor_u64(c);

			memcpy(at, &v, sizeof(v));
		}
	}
}

void trailer_encode(const struct perf_event_attr *attr, const struct sample_id *id, struct str *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const char *at = (const char *)id + fields[i].at;

		if (!(attr->sample_type & fields[i].bit))
			continue;
		if (fields[i].halves && !fields[i].second) {
			str_addn(out, at, sizeof(uint32_t));
			put_u32(out, 0);
		} else {
			str_addn(out, at, sizeof(uint64_t));
		}
	}
}
