/*
 * The readings of one task's counters for those who read all the time: what read.c finds out for each reading (which
 * group, which layout, who is where) stands in a plan, so that little is left beside the system calls.
 *
 * Only what is as it always is is read so: anything else (a group that fell apart, a lost pin, an error, values in
 * another order) is false, and the caller asks counters_read(), which knows what to make of it.
 */
#include "kern/cells.h"

#include <linux/perf_event.h>
#include <stdlib.h>

/* One descriptor. */
struct quick_cell {
	int fd;
	size_t bytes; /* of its reading */
	size_t first, n; /* its events in `events` */
	size_t value, step; /* the word of the first value, and how many there are for each */
	bool is_group, has_ids;
};

struct quick_read {
	struct quick_cell *cells;
	size_t n_cells;
	size_t *events; /* indices of counters */
	const uint64_t **ids; /* of these */
	const struct counter_set *set;
};

static bool is_quick(const struct counter *c)
{
	return c->state != COUNTER_OPEN || (!c->cpus.n && c->n_threads == 1 && c->n_cpus == 1 && c->fds[0] >= 0 &&
					    !c->event->cgroup && !c->attr.inherit &&
					    !(c->attr.read_format & FORMAT_LOST));
}

static void plan_cell(struct quick_read *quick, const size_t *members, size_t n, size_t *n_events)
{
	const struct counter *leader = &quick->set->v[members[0]];
	uint64_t format = leader->attr.read_format;
	struct quick_cell *cell = &quick->cells[quick->n_cells++];

	*cell = (struct quick_cell){
		.fd = leader->fds[0],
		.first = *n_events,
		.n = n,
		.is_group = format & PERF_FORMAT_GROUP,
		.has_ids = format & PERF_FORMAT_ID,
	};
	cell->step = 1 + cell->has_ids;
	cell->value = cell->is_group ? group_words(format, 0) : 0;
	cell->bytes = (cell->is_group ? group_words(format, n) : group_words(format, 0) + cell->has_ids) *
		      sizeof(uint64_t);
	for (size_t i = 0; i < n; i++) {
		quick->ids[*n_events] = &quick->set->v[members[i]].ids[0];
		quick->events[(*n_events)++] = members[i];
	}
}

struct quick_read *quick_read_plan(const struct counter_set *set)
{
	const struct layout *layout = set->layout;
	struct quick_read *quick;
	size_t n_events = 0;

	for (size_t i = 0; i < set->n; i++)
		if (!is_quick(&set->v[i]))
			return NULL;
	if (!layout || !layout->n_cells)
		return NULL;
	quick = xcalloc(1, sizeof(*quick));
	quick->set = set;
	quick->cells = xcalloc(set->n, sizeof(*quick->cells));
	quick->events = xcalloc(set->n, sizeof(*quick->events));
	quick->ids = xcalloc(set->n, sizeof(*quick->ids));
	for (size_t g = 0; g < layout->n_groups; g++) {
		const struct counter_group *group = &layout->groups[g];
		const size_t *members = layout->members + group->first;

		if (set->v[members[0]].attr.read_format & PERF_FORMAT_GROUP)
			plan_cell(quick, members, group->n, &n_events);
		for (size_t i = 0; !(set->v[members[0]].attr.read_format & PERF_FORMAT_GROUP) && i < group->n; i++)
			plan_cell(quick, members + i, 1, &n_events);
	}
	return quick;
}

void quick_read_free(struct quick_read *quick)
{
	if (!quick)
		return;
	free(quick->cells);
	free(quick->events);
	free(quick->ids);
	free(quick);
}

/* The values of one reading; false: one is not where it was. */
static bool take_group(const struct quick_read *quick, const struct quick_cell *cell, const uint64_t *words,
		       struct quick_value *values)
{
	const uint64_t *row = words + cell->value;

	if (words[0] != cell->n)
		return false;
	for (size_t k = 0; k < cell->n; k++, row += cell->step) {
		size_t event = quick->events[cell->first + k];

		if (cell->has_ids && row[1] != *quick->ids[cell->first + k])
			return false;
		values[event] = (struct quick_value){ row[0], words[1], words[2] };
	}
	return true;
}

bool quick_read(const struct quick_read *quick, struct quick_value *values)
{
	const struct sys_ops *sys = quick->set->kern->sys;
	uint64_t *words = quick->set->layout->words;

	for (const struct quick_cell *cell = quick->cells; cell < quick->cells + quick->n_cells; cell++) {
		if (sys->read(cell->fd, words, cell->bytes) != (ssize_t)cell->bytes)
			return false;
		if (!cell->is_group)
			values[quick->events[cell->first]] = (struct quick_value){ words[0], words[1], words[2] };
		else if (!take_group(quick, cell, words, values))
			return false;
	}
	return true;
}
