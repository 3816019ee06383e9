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

/* For each event: a value and its id, and what stands before the values where it is alone. */
enum { MOST_WORDS = 5 };

/* One descriptor. */
struct quick_cell {
	int fd;
	size_t bytes; /* of its reading */
	size_t n; /* its events */
	uint64_t *words; /* of its last reading */
	const uint64_t *id; /* the word of the first id; NULL: the kernel writes none */
	const uint64_t **ids; /* what the ids are to be */
	bool is_group;
};

struct quick_read {
	struct quick_cell *cells;
	size_t n_cells;
	uint64_t *words; /* of all cells */
	const uint64_t **ids;
	struct quick_value *values; /* by event */
	const struct counter_set *set;
};

static bool is_quick(const struct counter *c)
{
	if (c->state != COUNTER_OPEN)
		return true;
	return !c->cpus.n && c->n_threads == 1 && c->n_cpus == 1 && c->fds[0] >= 0 && !c->event->cgroup &&
	       !c->attr.inherit && !c->leaves_tasks && !(c->attr.read_format & FORMAT_LOST);
}

/* How far the plan has come. */
struct planned {
	size_t n_words, n_ids;
};

static void plan_cell(struct quick_read *quick, const size_t *members, size_t n, struct planned *planned)
{
	const struct counter *leader = &quick->set->v[members[0]];
	uint64_t format = leader->attr.read_format;
	bool is_group = format & PERF_FORMAT_GROUP, has_ids = format & PERF_FORMAT_ID;
	size_t first = is_group ? group_words(format, 0) : 0, step = 1 + has_ids;
	size_t n_words = is_group ? group_words(format, n) : group_words(format, 0) + has_ids;
	uint64_t *words = quick->words + planned->n_words;

	quick->cells[quick->n_cells++] = (struct quick_cell){
		.fd = leader->fds[0],
		.bytes = n_words * sizeof(*words),
		.n = n,
		.words = words,
		.id = is_group && has_ids ? words + first + 1 : NULL,
		.ids = quick->ids + planned->n_ids,
		.is_group = is_group,
	};
	planned->n_words += n_words;
	for (size_t i = 0; i < n; i++) {
		quick->ids[planned->n_ids++] = &quick->set->v[members[i]].ids[0];
		quick->values[members[i]] = (struct quick_value){ words + first + i * step, words + 1 };
	}
}

struct quick_read *quick_read_plan(const struct counter_set *set)
{
	const struct layout *layout = set->layout;
	struct planned planned = { 0 };
	struct quick_read *quick;

	for (size_t i = 0; i < set->n; i++)
		if (!is_quick(&set->v[i]))
			return NULL;
	if (!layout || !layout->n_cells)
		return NULL;
	quick = xcalloc(1, sizeof(*quick));
	quick->set = set;
	quick->cells = xcalloc(set->n, sizeof(*quick->cells));
	quick->ids = xcalloc(set->n, sizeof(*quick->ids));
	quick->values = xcalloc(set->n, sizeof(*quick->values));
	quick->words = xcalloc(set->n, MOST_WORDS * sizeof(*quick->words));
	for (size_t g = 0; g < layout->n_groups; g++) {
		const struct counter_group *group = &layout->groups[g];
		const size_t *members = layout->members + group->first;

		if (set->v[members[0]].attr.read_format & PERF_FORMAT_GROUP)
			plan_cell(quick, members, group->n, &planned);
		for (size_t i = 0; !(set->v[members[0]].attr.read_format & PERF_FORMAT_GROUP) && i < group->n; i++)
			plan_cell(quick, members + i, 1, &planned);
	}
	return quick;
}

void quick_read_free(struct quick_read *quick)
{
	if (!quick)
		return;
	free(quick->cells);
	free(quick->words);
	free(quick->ids);
	free(quick->values);
	free(quick);
}

const struct quick_value *quick_read_values(const struct quick_read *quick)
{
	return quick->values;
}

/* Is each value of a group where it was? */
static bool is_in_order(const struct quick_cell *cell)
{
	if (cell->words[0] != cell->n)
		return false;
	for (size_t i = 0; cell->id && i < cell->n; i++)
		if (cell->id[2 * i] != *cell->ids[i])
			return false;
	return true;
}

bool quick_read(const struct quick_read *quick)
{
	const struct sys_ops *sys = quick->set->kern->sys;
	const struct quick_cell *end = quick->cells + quick->n_cells;

	for (const struct quick_cell *cell = quick->cells; cell < end; cell++)
		if (sys_read(sys, cell->fd, cell->words, cell->bytes) != (ssize_t)cell->bytes ||
		    (cell->is_group && !is_in_order(cell)))
			return false;
	return true;
}
