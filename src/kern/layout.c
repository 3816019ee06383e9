/*
 * What is open, as switching and reading need it: groups and their members, the order of the cells, and room for
 * what a read gives. It is made once, when all is open; nothing is allocated after that.
 */
#include "kern/cells.h"

#include <sched.h>
#include <stdlib.h>

/* More than any kernel has: a smaller mask would be refused. */
enum { MASK_CPUS = 65536 };

const struct counter *layout_leader(const struct counter_set *set, size_t group)
{
	return &set->v[set->layout->members[set->layout->groups[group].first]];
}

static bool takes_no_counter(const struct counter *c)
{
	return c->attr.type == PERF_TYPE_SOFTWARE || c->attr.type == PERF_TYPE_TRACEPOINT;
}

/* From what each counter says of its leader. */
static void find_groups(struct layout *layout, const struct counter_set *set)
{
	size_t *group_of = xcalloc(set->n + 1, sizeof(*group_of)), n_members = 0;

	layout->groups = xcalloc(set->n + 1, sizeof(*layout->groups));
	layout->members = xcalloc(set->n + 1, sizeof(*layout->members));
	for (size_t i = 0; i < set->n; i++) {
		const struct counter *c = &set->v[i];

		if (c->state != COUNTER_OPEN || c->leader != i)
			continue;
		group_of[i] = layout->n_groups;
		layout->groups[layout->n_groups++].first = n_members;
		n_members += c->n_members;
	}
	/* A leader comes before its members. */
	for (size_t i = 0; i < set->n; i++) {
		struct counter_group *group = &layout->groups[group_of[set->v[i].leader]];

		if (set->v[i].state == COUNTER_OPEN)
			layout->members[group->first + group->n++] = i;
	}
	free(group_of);
}

/* A group with one event that takes a counter waits as a whole. */
static void find_what_never_waits(struct counter_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		set->v[i].never_waits = true;
	for (size_t i = 0; i < set->n; i++)
		if (set->v[i].state == COUNTER_OPEN && !takes_no_counter(&set->v[i]))
			set->v[set->v[i].leader].never_waits = false;
	for (size_t i = 0; i < set->n; i++)
		set->v[i].never_waits = set->v[set->v[i].leader].never_waits;
}

static void order_cells(struct layout *layout, const struct counter_set *set)
{
	size_t *next = xcalloc(layout->n_groups + 1, sizeof(*next)), n = 0;

	for (size_t g = 0; g < layout->n_groups; g++)
		n += cells_count(layout_leader(set, g));
	layout->cells = xcalloc(n + 1, sizeof(*layout->cells));
	while (layout->n_cells < n) {
		uint64_t place = UINT64_MAX;

		for (size_t g = 0; g < layout->n_groups; g++) {
			uint64_t its = cell_place(layout_leader(set, g), next[g]);

			place = its < place ? its : place;
		}
		for (size_t g = 0; g < layout->n_groups; g++) {
			if (cell_place(layout_leader(set, g), next[g]) == place)
				layout->cells[layout->n_cells++] =
					(struct group_cell){ (uint32_t)g, (uint32_t)next[g]++ };
		}
	}
	free(next);
}

static void make_room(struct layout *layout, struct counter_set *set, bool visit_cpus)
{
	bool visits = false;
	size_t words = 0;

	for (size_t g = 0; g < layout->n_groups; g++) {
		const struct counter *leader = layout_leader(set, g);
		size_t need = group_words(leader->attr.read_format, layout->groups[g].n);

		words = need > words ? need : words;
		visits |= visit_cpus && leader->event->cgroup;
		set->group_reads |= (leader->attr.read_format & PERF_FORMAT_GROUP) != 0;
	}
	for (size_t i = 0; i < set->n; i++) {
		struct counter *c = &set->v[i];

		if (c->state == COUNTER_OPEN && (c->attr.read_format & PERF_FORMAT_GROUP))
			c->ids = xcalloc(cells_count(c), sizeof(*c->ids));
	}
	layout->words = xcalloc(words + 1, sizeof(*layout->words));
	if (visits) {
		layout->mask_bytes = CPU_ALLOC_SIZE(MASK_CPUS);
		layout->masks = xcalloc(2, layout->mask_bytes);
	}
}

void layout_make(struct counter_set *set, bool visit_cpus)
{
	set->layout = xcalloc(1, sizeof(*set->layout));
	find_groups(set->layout, set);
	find_what_never_waits(set);
	order_cells(set->layout, set);
	make_room(set->layout, set, visit_cpus);
}

void layout_free(struct layout *layout)
{
	if (!layout)
		return;
	free(layout->groups);
	free(layout->members);
	free(layout->cells);
	free(layout->words);
	free(layout->masks);
	free(layout);
}
