/*
 * Runs under pressure only, where decoding a sample costs less than losing the next.
 */
#include "record/squeeze.h"

enum { CUT_BELOW_PART = 4, DROP_BELOW_PART = 8 };

/* Header, count and a trailer of all fields. */
enum { LOSS_BYTES_MAX = 64 };

void squeeze_init(struct squeeze *squeeze, const struct events *events)
{
	*squeeze = (struct squeeze){ .record = STR_INIT };
	decoder_init(&squeeze->decoder, events, false);
	tally_init(&squeeze->dropped, events);
}

void squeeze_release(struct squeeze *squeeze)
{
	decoder_release(&squeeze->decoder);
	tally_release(&squeeze->dropped);
	str_release(&squeeze->record);
}

enum squeeze_level squeeze_level(size_t free_bytes, size_t all_bytes)
{
	if (free_bytes >= all_bytes / CUT_BELOW_PART)
		return SQUEEZE_NOTHING;
	return free_bytes >= all_bytes / DROP_BELOW_PART ? SQUEEZE_STACKS : SQUEEZE_SAMPLES;
}

/* The sample without the copy of its stack; itself where it has none, or makes no sense. */
static const struct perf_event_header *without_stack(struct squeeze *squeeze,
						     const struct perf_event_header *header)
{
	struct record record;
	struct record_body body;
	struct str why = STR_INIT;
	int rc;

	record_from_bytes(&record, (const uint8_t *)header, 0, false);
	rc = record_decode(&squeeze->decoder, &record, &body, &why);
	if (rc || !body.event || !(body.sample.has & PERF_SAMPLE_STACK_USER) || !body.sample.stack_size) {
		str_release(&why);
		return header;
	}
	body.sample.stack_size = body.sample.stack_dyn_size = 0;
	body.sample.stack = NULL;
	str_reset(&squeeze->record);
	rc = record_encode(&body, body.event, &squeeze->record, &why);
	str_release(&why);
	if (rc)
		return header;
	squeeze->n_cut++;
	return (const void *)squeeze->record.s;
}

const struct perf_event_header *squeeze_record(struct squeeze *squeeze, enum squeeze_level level,
					       const struct perf_event_header *record)
{
	if (record->type != RECORD_SAMPLE || level == SQUEEZE_NOTHING)
		return record;
	if (level == SQUEEZE_STACKS)
		return without_stack(squeeze, record);
	tally_walk(&squeeze->dropped, (const uint8_t *)record, record->size, 0, NULL, NULL);
	squeeze->any_dropped = true;
	squeeze->n_dropped++;
	return NULL;
}

void squeeze_losses(struct squeeze *squeeze, struct str *out, size_t max)
{
	struct tally *dropped = &squeeze->dropped;
	const struct events *events = dropped->events;
	struct str why = STR_INIT;
	size_t start = out->len;

	squeeze->any_dropped = false;
	for (size_t i = 0; i < events->n; i++) {
		if (!dropped->v[i].samples)
			continue;
		if (out->len - start + LOSS_BYTES_MAX > max) {
			squeeze->any_dropped = true;
			break;
		}
		/* Some words: no record is too small for it. */
		(void)tally_encode_loss(events->v[i], dropped->v[i].samples, dropped->last_ns, out, &why);
		dropped->v[i].samples = 0;
	}
	if (!squeeze->any_dropped)
		tally_clear(dropped);
	str_release(&why);
}
