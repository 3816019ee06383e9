/* SPDX-License-Identifier: MIT */
/*
 * Open counters -> readings. A group whose leader was opened with PERF_FORMAT_GROUP is read whole, see layout.c.
 *
 * Order: CPU by CPU, then thread by thread; there by group as in the list; in it leader, then members.
 *
 * A group's values are told apart by their ids. The first whole reading says which counter has which id, by its order,
 * which is that of opening: asking for each would cost a system call per counter.
 *
 * Cgroups' counters are read from their own CPU, unless open_options.leave_affinity.
 *
 * Programs that read one task's counters all the time have a plan (quick_read_plan) in place of what each reading finds
 * out again, so that little is left beside the system calls. It reads only what is as it always is; anything else (a
 * group that fell apart, a lost pin, an error, values in another order) is false, and counters_read() has to be asked.
 *
 * Nothing is allocated: all that a reading needs was laid out when the counters were opened.
 */
#include "kern/slots.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>

struct slots_reading {
	const struct counter_set *set;
	reading_fn fn;
	void *data;
};

/* ---- one slot ---- */

/* Judges a reading by its length: n bytes where `expected` should have come. */
static enum reading_state state_of(ssize_t n, size_t expected, int *err)
{
	*err = 0;
	if (n == 0)
		return READING_LOST_PIN;
	if (n > 0 && (size_t)n == expected)
		return READING_OK;
	*err = n < 0 ? (int)-n : EIO;
	return READING_FAILED;
}

/*
 * A group that never waits runs whenever it is enabled. Enabled time beyond its running time is a mistake that the
 * kernel makes with cgroups, or the time of a task on other CPUs, and no reason to scale.
 */
static bool enabled_is_running(const struct counter *c, const struct reading *reading)
{
	return c->never_waits && (c->follows_tasks || (c->event->cgroup && reading->running_ns));
}

static void hand_over(const struct slots_reading *r, size_t index, size_t slot,
		      const struct reading *reading)
{
	const struct counter *c = &r->set->v[index];
	struct reading mended = *reading;

	if (enabled_is_running(c, reading))
		mended.enabled_ns = reading->running_ns;
	else if (c->follows_tasks)
		mended.enabled_ns = witness_enabled_ns(r->set, index, slot, reading);
	mended.others_ran = reading->state == READING_OK &&
			    witness_saw_others(r->set, index, slot % c->n_threads, reading->enabled_ns);
	/* A task that is counted on several CPUs has missed it once. */
	if (r->set->removal && reading->state == READING_OK && (slot < c->n_threads || !c->follows_tasks))
		removal_mark(r->set, index, slot % c->n_threads, &mended);
	r->fn(r->data, index, slot_cpu(c, slot), slot % c->n_threads, &mended);
}

/* Reads one event alone; it may be a group of one, whose words are then those of a group. */
static void read_single(const struct slots_reading *r, size_t index, size_t slot)
{
	int fd = r->set->v[index].fds[slot];
	struct reading reading = { .state = READING_NOT_OPEN };
	uint64_t format = r->set->v[index].attr.read_format, words[1 + SINGLE_WORDS];
	size_t value = format & PERF_FORMAT_GROUP ? GROUP_HEAD : 0;
	size_t n_words = SINGLE_HEAD + (value ? 1 : 0) + words_after_value(format);

	if (fd >= 0) {
		ssize_t n = read_fd(r->set->kern->sys, fd, words, n_words * sizeof(*words));

		reading.state = state_of(n, n_words * sizeof(*words), &reading.err);
	}
	if (reading.state == READING_OK) {
		reading.value = words[value];
		reading.enabled_ns = words[1];
		reading.running_ns = words[2];
		reading.lost = format & FORMAT_LOST ? words[n_words - 1] : 0;
	}
	hand_over(r, index, slot, &reading);
}

static void read_one_by_one(const struct slots_reading *r, const struct counter_group *group, size_t slot)
{
	for (size_t i = 0; i < group->n; i++)
		read_single(r, r->set->layout->members[group->first + i], slot);
}

/*
 * The values of member i: in its place, unless the kernel has them in another order; NULL where they are missing.
 */
static const uint64_t *row_of(const struct counter_set *set, const struct counter_group *group, size_t i,
			      size_t slot, uint64_t format)
{
	const uint64_t *rows = set->layout->words + GROUP_HEAD;
	uint64_t *id = &set->v[set->layout->members[group->first + i]].ids[slot];
	size_t step = 1 + words_after_value(format);

	if (!(format & PERF_FORMAT_ID))
		return rows + i * step;
	if (!*id)
		*id = rows[i * step + 1];
	if (rows[i * step + 1] == *id)
		return rows + i * step;
	for (size_t k = 0; k < group->n; k++) {
		if (rows[k * step + 1] == *id)
			return rows + k * step;
	}
	return NULL;
}

static void read_group(const struct slots_reading *r, const struct counter_group *group, size_t slot)
{
	const struct counter_set *set = r->set;
	const size_t *members = set->layout->members + group->first;
	const struct counter *leader = &set->v[members[0]];
	uint64_t *words = set->layout->words;
	struct reading base = { .state = READING_NOT_OPEN };
	uint64_t format = leader->attr.read_format;
	size_t bytes = group_words(format, group->n) * sizeof(*words);
	ssize_t n = 0;

	if (leader->fds[slot] >= 0) {
		n = read_inherited(set->kern->sys, leader->fds[slot], words, bytes);
		base.state = state_of(n, bytes, &base.err);
	}
	/*
	 * When a CPU goes offline the kernel takes the groups on it apart: the leader's read has only itself,
	 * and each member, with what it counted until then, is a group of one.
	 */
	if (group->n > 1 && n == (ssize_t)(group_words(format, 1) * sizeof(*words)) &&
	    words[0] == 1) {
		read_one_by_one(r, group, slot);
		return;
	}
	if (base.state == READING_OK && words[0] != group->n)
		base = (struct reading){ .state = READING_FAILED, .err = EIO };
	for (size_t i = 0; i < group->n; i++) {
		struct reading reading = base;
		const uint64_t *row =
			base.state == READING_OK ? row_of(set, group, i, slot, format) : NULL;

		if (row) {
			reading.value = row[0];
			reading.lost = format & FORMAT_LOST ? row[words_after_value(format)] : 0;
			reading.enabled_ns = words[1];
			reading.running_ns = words[2];
		} else if (base.state == READING_OK) {
			reading = (struct reading){ .state = READING_FAILED, .err = EIO };
		}
		hand_over(r, members[i], slot, &reading);
	}
}

/* ---- all slots ---- */

/*
 * Read from elsewhere, a cgroup's counter whose tasks are not on its CPU now may have the time since
 * they were in its enabled time (seen with Linux 6.18), and would be scaled up by it. All others are
 * read from where the caller is: 20 reads of another CPU take 80 us, going there and back saves a third
 * of that, and up to 8 ms are lost where that CPU is busy.
 */
struct visit {
	cpu_set_t *before, *here; /* where the caller may run, and the CPU that is visited */
	size_t bytes; /* of each */
	int cpu; /* -1: at home */
};

/* A CPU that is gone, or not allowed: then the read comes from another. */
static void visit_cpu(struct visit *visit, int cpu)
{
	if (cpu == visit->cpu || cpu < 0 || !visit->before)
		return;
	if (visit->cpu < 0 && sched_getaffinity(0, visit->bytes, visit->before))
		return;
	CPU_ZERO_S(visit->bytes, visit->here);
	CPU_SET_S((size_t)cpu, visit->bytes, visit->here);
	sched_setaffinity(0, visit->bytes, visit->here);
	visit->cpu = cpu;
}

static void go_home(const struct visit *visit)
{
	if (visit->cpu >= 0)
		sched_setaffinity(0, visit->bytes, visit->before);
}

void counters_read(const struct counter_set *set, reading_fn fn, void *data)
{
	const struct slots_reading r = { set, fn, data };
	const struct layout *layout = set->layout;
	struct visit visit = { .cpu = -1 };

	removal_judge(set);
	if (layout && layout->masks)
		visit = (struct visit){
			.before = layout->masks,
			.here = (cpu_set_t *)((char *)layout->masks + layout->mask_bytes),
			.bytes = layout->mask_bytes,
			.cpu = -1,
		};
	witnesses_read(set);
	for (size_t i = 0; layout && i < layout->n_slots; i++) {
		const struct counter_group *group = &layout->groups[layout->slots[i].group];
		const struct counter *leader = &set->v[layout->members[group->first]];
		size_t slot = layout->slots[i].slot;

		if (leader->event->cgroup)
			visit_cpu(&visit, slot_cpu(leader, slot));
		if (leader->attr.read_format & PERF_FORMAT_GROUP)
			read_group(&r, group, slot);
		else
			read_one_by_one(&r, group, slot);
	}
	go_home(&visit);
}

/* ---- enabled or not ---- */

/* 0: not known. */
static uint64_t enabled_time(const struct counter_set *set, int fd)
{
	uint64_t enabled_ns, running_ns;

	return fd < 0 || read_times(set, fd, &enabled_ns, &running_ns) ? 0 : enabled_ns;
}

bool counter_was_enabled(const struct counter_set *set, size_t index)
{
	const struct counter *c = &set->v[index];
	bool enabled = false;

	for (size_t slot = 0; c->state == COUNTER_OPEN && !enabled && slot < slots_count(c); slot++)
		enabled = enabled_time(set, c->fds[slot]) != 0;
	return enabled;
}

/* ---- CPUs that went away: there enabled time stands still ---- */

static bool counts_whole_cpus(const struct counter *c, size_t index)
{
	return c->state == COUNTER_OPEN && c->leader == index && c->cpus.n && !c->follows_tasks &&
	       c->n_threads == 1 && !c->event->cgroup && !c->attr.pinned && !event_is_moved(c->event);
}

/* Adds the counter's CPUs on which it stands still, if it goes on elsewhere: else it is just disabled. */
static void add_standing(const struct counter_set *set, const struct counter *c, struct intset *cpus)
{
	uint64_t *before = xcalloc(c->n_cpus, sizeof(*before));
	struct intset standing = INTSET_INIT;
	bool goes_on = false;

	for (size_t i = 0; i < c->n_cpus; i++)
		before[i] = enabled_time(set, c->fds[i]);
	for (size_t i = 0; i < c->n_cpus; i++) {
		uint64_t now = enabled_time(set, c->fds[i]);

		if (before[i] && now == before[i])
			intset_add(&standing, c->cpus.v[i]);
		goes_on = goes_on || now > before[i];
	}
	for (size_t i = 0; goes_on && i < standing.n; i++)
		intset_add(cpus, standing.v[i]);
	intset_release(&standing);
	free(before);
}

void counters_stopped_cpus(const struct counter_set *set, struct intset *cpus)
{
	struct intset online = INTSET_INIT;
	bool known = !cpus_online(&set->kern->host, &online), looked = false;

	for (size_t i = 0; i < set->n; i++) {
		const struct counter *c = &set->v[i];

		if (!counts_whole_cpus(c, i))
			continue;
		for (size_t k = 0; known && k < c->cpus.n; k++) {
			if (!intset_has(&online, c->cpus.v[k]))
				intset_add(cpus, c->cpus.v[k]);
		}
		if (!looked)
			add_standing(set, c, cpus);
		looked = true;
	}
	intset_release(&online);
}

/* ---- one task's counters, in the least time ---- */

/* Words of one event's own reading: a value and its id, and what stands before the values. */
enum { MOST_WORDS = 5 };

/* One descriptor. */
struct quick_slot {
	int fd;
	size_t bytes; /* of its reading */
	size_t n; /* its events */
	uint64_t *words; /* of its last reading */
	const uint64_t *id; /* the word of the first id; NULL: the kernel writes none */
	const uint64_t **ids; /* what the ids are to be */
	bool is_group;
};

struct quick_read {
	struct quick_slot *slots;
	size_t n_slots;
	uint64_t *words; /* of all slots */
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

static void plan_slot(struct quick_read *quick, const size_t *members, size_t n, struct planned *planned)
{
	const struct counter *leader = &quick->set->v[members[0]];
	uint64_t format = leader->attr.read_format;
	bool is_group = format & PERF_FORMAT_GROUP, has_ids = format & PERF_FORMAT_ID;
	size_t first = is_group ? group_words(format, 0) : 0, step = 1 + has_ids;
	size_t n_words = is_group ? group_words(format, n) : group_words(format, 0) + has_ids;
	uint64_t *words = quick->words + planned->n_words;

	quick->slots[quick->n_slots++] = (struct quick_slot){
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
		quick->ids[planned->n_ids++] = quick->set->v[members[i]].ids;
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
	if (!layout || !layout->n_slots)
		return NULL;
	quick = xcalloc(1, sizeof(*quick));
	quick->set = set;
	quick->slots = xcalloc(set->n, sizeof(*quick->slots));
	quick->ids = xcalloc(set->n, sizeof(*quick->ids));
	quick->values = xcalloc(set->n, sizeof(*quick->values));
	quick->words = xcalloc(set->n, MOST_WORDS * sizeof(*quick->words));
	for (size_t g = 0; g < layout->n_groups; g++) {
		const struct counter_group *group = &layout->groups[g];
		const size_t *members = layout->members + group->first;

		if (set->v[members[0]].attr.read_format & PERF_FORMAT_GROUP)
			plan_slot(quick, members, group->n, &planned);
		for (size_t i = 0; !(set->v[members[0]].attr.read_format & PERF_FORMAT_GROUP) && i < group->n; i++)
			plan_slot(quick, members + i, 1, &planned);
	}
	return quick;
}

void quick_read_free(struct quick_read *quick)
{
	if (!quick)
		return;
	free(quick->slots);
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
static bool is_in_order(const struct quick_slot *slot)
{
	if (slot->words[0] != slot->n)
		return false;
	for (size_t i = 0; slot->id && i < slot->n; i++)
		if (slot->id[2 * i] != *slot->ids[i])
			return false;
	return true;
}

bool quick_read(const struct quick_read *quick)
{
	const struct sys_ops *sys = quick->set->kern->sys;
	const struct quick_slot *end = quick->slots + quick->n_slots;

	for (const struct quick_slot *slot = quick->slots; slot < end; slot++)
		if (sys->read(slot->fd, slot->words, slot->bytes) != (ssize_t)slot->bytes ||
		    (slot->is_group && !is_in_order(slot)))
			return false;
	return true;
}
