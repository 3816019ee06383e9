/* SPDX-License-Identifier: MIT */
/*
 * Open groups as switching and reading need them: their members, the order of their slots, and room for a reading; and
 * how the reading of one descriptor lies. The layout is made once, when all is open; nothing is allocated after that.
 *
 *   single:  value enabled running [id] [lost]
 *   group:   nr enabled running { value id [lost] } x nr       nr: the leader and its open members
 *
 * id and lost are there where the counter was opened for samples.
 *
 * Source: perf_event_open(2), "Reading results".
 */
#include "kern/slots.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

/* ---- one descriptor ---- */

enum { MOST_GROUP_WORDS = 16384 / 8 }; /* what the kernel allows a group to have */

/*
 * ECHILD: a child's group is not its parent's now. A task that ends gives up its events one by one: that is over in
 * no time, unless the task has to wait for a CPU in the midst of it.
 */
enum { FEW_LOOKS = 8, MOST_LOOKS = 512, PAUSE_NS = 100000 };

size_t words_after_value(uint64_t format)
{
	return (format & PERF_FORMAT_ID ? 1 : 0) + (format & FORMAT_LOST ? 1 : 0);
}

size_t group_words(uint64_t format, size_t n)
{
	return GROUP_HEAD + n * (1 + words_after_value(format));
}

ssize_t read_fd(const struct sys_ops *sys, int fd, uint64_t *words, size_t bytes)
{
	ssize_t n;

	do {
		n = sys->read(fd, words, bytes);
	} while (n == -EINTR);
	return n;
}

static ssize_t read_for(const struct sys_ops *sys, int fd, uint64_t *words, size_t bytes, int most_looks)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	ssize_t n = read_fd(sys, fd, words, bytes);

	for (int looks = 1; n == -ECHILD && looks < most_looks; looks++) {
		if (looks < FEW_LOOKS)
			sched_yield();
		else
			nanosleep(&pause, NULL);
		n = read_fd(sys, fd, words, bytes);
	}
	return n;
}

ssize_t read_inherited(const struct sys_ops *sys, int fd, uint64_t *words, size_t bytes)
{
	return read_for(sys, fd, words, bytes, MOST_LOOKS);
}

bool group_is_torn(const struct sys_ops *sys, int leader_fd)
{
	uint64_t words[MOST_GROUP_WORDS];

	return read_for(sys, leader_fd, words, sizeof(words), FEW_LOOKS) == -ECHILD;
}

/* The words that all layouts have in the same place. */
int read_times(const struct counter_set *set, int fd, uint64_t *enabled_ns, uint64_t *running_ns)
{
	uint64_t words[MOST_GROUP_WORDS];
	ssize_t n = read_inherited(set->kern->sys, fd, words, sizeof(words));

	if (n < (ssize_t)(SINGLE_HEAD * sizeof(*words)))
		return n < 0 ? (int)n : -EIO;
	*enabled_ns = words[1];
	*running_ns = words[2];
	return 0;
}

/* ---- what is open ---- */

/* CPUs of a mask: more than any kernel has, as a smaller mask would be refused. */
enum { MASK_CPUS = 65536 };

const struct counter *layout_leader(const struct counter_set *set, size_t group)
{
	return &set->v[set->layout->members[set->layout->groups[group].first]];
}

static bool takes_no_counter(const struct counter *c)
{
	return c->attr.type == PERF_TYPE_SOFTWARE || c->attr.type == PERF_TYPE_TRACEPOINT;
}

/* Finds them by what each counter says of its leader. */
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

static void order_slots(struct layout *layout, const struct counter_set *set)
{
	size_t *next = xcalloc(layout->n_groups + 1, sizeof(*next)), n = 0;

	for (size_t g = 0; g < layout->n_groups; g++)
		n += slots_count(layout_leader(set, g));
	layout->slots = xcalloc(n + 1, sizeof(*layout->slots));
	while (layout->n_slots < n) {
		uint64_t place = UINT64_MAX;

		for (size_t g = 0; g < layout->n_groups; g++) {
			uint64_t its = slot_place(layout_leader(set, g), next[g]);

			place = its < place ? its : place;
		}
		for (size_t g = 0; g < layout->n_groups; g++) {
			if (slot_place(layout_leader(set, g), next[g]) == place)
				layout->slots[layout->n_slots++] =
					(struct group_slot){ (uint32_t)g, (uint32_t)next[g]++ };
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
			c->ids = xcalloc(slots_count(c), sizeof(*c->ids));
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
	order_slots(set->layout, set);
	make_room(set->layout, set, visit_cpus);
}

void layout_free(struct layout *layout)
{
	if (!layout)
		return;
	free(layout->groups);
	free(layout->members);
	free(layout->slots);
	free(layout->words);
	free(layout->masks);
	free(layout);
}
