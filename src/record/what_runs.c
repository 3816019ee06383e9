/*
 * What runs already is described as what starts later will be: with maps of data, where those are recorded.
 */
#include "record/what_runs.h"

enum { PIECE_BYTES = 64 << 10 };

struct telling {
	const struct events *events;
	struct record_sink *to;
	struct str bytes;
	struct str *err;
};

/* The event whose layout records about tasks have. */
static const struct data_event *tracking_event(const struct events *events)
{
	for (size_t i = 0; i < events->n; i++) {
		if (events->v[i]->attr.mmap || events->v[i]->attr.mmap2)
			return events->v[i];
	}
	return events->n ? events->v[0] : NULL;
}

int what_runs_encode(const struct events *events, const struct record_body *body, struct str *out,
		     struct str *err)
{
	const struct data_event *event = tracking_event(events);
	struct record_body stamped = *body;

	if (event->n_ids)
		stamped.id.id = stamped.id.stream_id = event->ids[0];
	return record_encode(&stamped, event, out, err);
}

static int tell(struct telling *telling)
{
	int rc = 0;

	if (telling->bytes.len)
		rc = telling->to->take(telling->to, telling->bytes.s, telling->bytes.len, telling->err);
	str_reset(&telling->bytes);
	return rc;
}

static int take(void *data, const struct record_body *body)
{
	struct telling *telling = data;
	int rc = what_runs_encode(telling->events, body, &telling->bytes, telling->err);

	return !rc && telling->bytes.len >= PIECE_BYTES ? tell(telling) : rc;
}

static unsigned what_to_tell(const struct record_plan *plan)
{
	bool data = false;

	for (size_t i = 0; i < plan->events->n; i++)
		data |= plan->events->v[i].attr.mmap_data;
	return plan->synth | (data && (plan->synth & SYNTH_MMAPS) ? SYNTH_DATA_MMAPS : 0);
}

int what_runs_tell(const struct record_plan *plan, const struct target *target,
		   const struct events *events, struct record_sink *to, struct str *err)
{
	struct telling telling = { .events = events, .to = to, .bytes = STR_INIT, .err = err };
	int rc = synth_kernel(plan->kern, take, &telling, err); /* whatever --synth leaves out, as perf's */

	if (!rc && plan->synth)
		rc = synth_tasks(target, what_to_tell(plan), plan->sampling.namespaces, plan->kern, take,
				 &telling, err);
	if (!rc)
		rc = tell(&telling);
	str_release(&telling.bytes);
	return rc;
}
