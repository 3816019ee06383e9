/* SPDX-License-Identifier: MIT */
/*
 * Samples with counter values: an event that is sampled with PERF_SAMPLE_READ stores its own value, or those
 * of its whole group, as they stand. What a sample is worth is how far they went on since the counter's
 * last one; a group's sample is one of each of its events.
 */
#include "profile/session_internal.h"

#include <stdlib.h>

void last_values_release(struct last_values *values)
{
	free(values->v);
	free(values->shares);
	index_release(&values->ix);
	*values = (struct last_values){ .n = 0 };
}

static struct last_value *find_last(struct last_values *values, uint64_t id, uint64_t tid)
{
	const uint64_t key[] = { id, tid };
	uint64_t hash = hash_words(key, ARRAY_SIZE(key));
	uint32_t i;

	if (INDEX_FIND(&values->ix, hash, i, values->v[i].id == id && values->v[i].tid == tid))
		return &values->v[i];
	VEC_GROW(values->v, values->n, values->cap);
	values->v[values->n] = (struct last_value){ id, tid, 0 };
	index_add(&values->ix, hash, (uint32_t)values->n);
	return &values->v[values->n++];
}

static void add_share(struct last_values *values, const struct data_event *event, uint64_t period)
{
	VEC_GROW(values->shares, values->n_shares, values->cap_shares);
	values->shares[values->n_shares++] = (struct sample_share){ event, period };
}

/* One row of a sample's counter values. */
static void add_value(struct session *session, const struct replay_sample *sample, uint64_t i)
{
	struct last_values *values = &session->private->last_values;
	const struct read_values *read = &sample->sample->read;
	const struct data_event *event = sample->event;
	uint64_t value = read_values_value(read, i), period, id = sample->sample->id;
	bool inherit = event && event->attr.inherit;
	struct last_value *last;

	if (read_values_id(read, i, &id))
		event = events_find(session->recording->events, id);
	if (!event)
		return;
	last = find_last(values, id, inherit ? sample->sample->tid : 0);
	period = value >= last->value ? value - last->value : value; /* it was set back */
	last->value = value;
	if (period)
		add_share(values, event, period);
}

size_t session_shares(struct session *session, const struct replay_sample *sample,
		      const struct sample_share **shares)
{
	struct last_values *values = &session->private->last_values;
	const struct sample *s = sample->sample;

	values->n_shares = 0;
	if (s->has & PERF_SAMPLE_READ)
		for (uint64_t i = 0; i < s->read.n; i++)
			add_value(session, sample, i);
	else
		add_share(values, sample->event,
			  s->has & PERF_SAMPLE_PERIOD ? s->period
			  : sample->event             ? sample->event->attr.sample_period
						      : 0);
	*shares = values->shares;
	return values->n_shares;
}
