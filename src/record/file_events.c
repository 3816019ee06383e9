/*
 * Open counters -> the file's events. What could not be opened is not in the file, so an event's
 * index there may differ from its index in the set: counter_of leads back.
 */
#include "record/recording.h"

#include <stdlib.h>

static void describe(struct data_event *to, const struct counter *c)
{
	const struct event *event = c->event;

	to->name = xstrdup(c->name);
	if (event->unit[0])
		to->unit = xstrdup(event->unit);
	to->scale = event->scale;
	intset_copy(&to->cpus, &event->cpus);
}

/* The index in the file of the counter at `index` of the set. */
static size_t file_index(const struct recording *rec, size_t index)
{
	size_t i = 0;

	while (i < rec->events.n && rec->counter_of[i] != index)
		i++;
	return i;
}

static void set_groups(struct recording *rec)
{
	for (size_t i = 0; i < rec->events.n; i++) {
		const struct counter *c = &rec->set.v[rec->counter_of[i]];
		struct data_event *event = rec->events.v[i];

		event->leader = file_index(rec, c->leader);
		event->n_members = c->leader == rec->counter_of[i] ? c->n_members : 1;
		if (event->n_members < 2)
			continue;
		event->group_name = c->event->group_name ? xstrdup(c->event->group_name) : NULL;
		info_set(&rec->info, FEATURE_GROUP_DESC);
	}
}

int recording_list_events(struct recording *rec)
{
	rec->counter_of = xcalloc(rec->set.n + 1, sizeof(*rec->counter_of));
	for (size_t i = 0; i < rec->set.n; i++) {
		const struct counter *c = &rec->set.v[i];
		uint64_t *ids = NULL;
		size_t n_ids = 0;
		int rc;

		if (c->state != COUNTER_OPEN)
			continue;
		rc = counter_add_ids(&rec->set, i, &ids, &n_ids);
		if (rc) {
			free(ids);
			return fail(rec->err, rc, "%s: the kernel does not tell its id: %s", c->name,
				    strerror(-rc));
		}
		rec->counter_of[rec->events.n] = i;
		describe(events_add(&rec->events, &c->attr, sizeof(c->attr), ids, n_ids), c);
		free(ids);
	}
	set_groups(rec);
	return 0;
}
