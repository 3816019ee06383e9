/*
 * Open counters -> readings. A group whose leader was opened with PERF_FORMAT_GROUP is read whole:
 *
 *   single:  value enabled running [id] [lost]
 *   group:   nr enabled running { value id [lost] } x nr       nr: the leader and its open members
 *
 * id and lost are there where the counter was opened for samples.
 *
 * Order: by group as in the list; in it by cell (CPU, then thread); in a cell leader, then members.
 * The kernel gives a group's values in the order of opening, which is the order of the list; a
 * member that is not open in a cell has no value there, so the values are handed out by counting
 * open cells.
 *
 * Cgroups' counters come last, CPU by CPU, each read from its own CPU.
 *
 * Nothing is allocated for the others: the kernel allows a group at most 16 KiB to read.
 *
 * Source: perf_event_open(2), "Reading results".
 */
#include "kern/cells.h"
#include "kern/kern.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

enum { GROUP_WORDS = 16384 / 8, GROUP_HEAD = 3, SINGLE_HEAD = 3, SINGLE_WORDS = 5 };

struct reader {
	const struct counter_set *set;
	reading_fn fn;
	void *data;
};

static ssize_t read_fd(const struct reader *r, int fd, uint64_t *words, size_t bytes)
{
	ssize_t n;

	do {
		n = r->set->kern->sys->read(fd, words, bytes);
	} while (n == -EINTR);
	return n;
}

/* Behind each value: its id and its losses, where they were asked for. */
static size_t words_behind_value(uint64_t format)
{
	return (format & PERF_FORMAT_ID ? 1 : 0) + (format & FORMAT_LOST ? 1 : 0);
}

/* What `n` bytes say where `expected` should have come. */
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

static bool takes_no_counter(const struct counter *c)
{
	return c->attr.type == PERF_TYPE_SOFTWARE || c->attr.type == PERF_TYPE_TRACEPOINT;
}

/*
 * A software event on its own never waits for a counter: whenever its cgroup runs, it counts. What its
 * enabled time has beyond that is the kernel's mistake (see read_cgroups), and no reason to scale.
 */
static bool enabled_is_running(const struct counter *c, const struct reading *reading)
{
	return c->event->cgroup && c->n_members == 1 && takes_no_counter(c) &&
	       !(c->attr.read_format & PERF_FORMAT_GROUP) && reading->running_ns;
}

static void hand_over(const struct reader *r, size_t index, size_t cell,
		      const struct reading *reading)
{
	const struct counter *c = &r->set->v[index];
	int cpu = c->cpus.n ? c->cpus.v[cell / c->n_threads] : -1;
	struct reading mended = *reading;

	if (enabled_is_running(c, reading))
		mended.enabled_ns = reading->running_ns;
	r->fn(r->data, index, cpu, cell % c->n_threads, &mended);
}

/* Also a group that has but one event. */
static void read_single(const struct reader *r, size_t index, size_t cell)
{
	int fd = r->set->v[index].fds[cell];
	struct reading reading = { .state = READING_NOT_OPEN };
	uint64_t format = r->set->v[index].attr.read_format, words[1 + SINGLE_WORDS];
	size_t value = format & PERF_FORMAT_GROUP ? GROUP_HEAD : 0;
	size_t n_words = SINGLE_HEAD + (value ? 1 : 0) + words_behind_value(format);

	if (fd >= 0) {
		ssize_t n = read_fd(r, fd, words, n_words * sizeof(*words));

		reading.state = state_of(n, n_words * sizeof(*words), &reading.err);
	}
	if (reading.state == READING_OK) {
		reading.value = words[value];
		reading.enabled_ns = words[1];
		reading.running_ns = words[2];
		reading.lost = format & FORMAT_LOST ? words[n_words - 1] : 0;
	}
	hand_over(r, index, cell, &reading);
}

/* The next counter behind `index` in the same group as opened; set->n at the end. */
static size_t next_in_group(const struct counter_set *set, size_t leader, size_t index)
{
	do {
		index++;
	} while (index < set->n &&
		 (set->v[index].state != COUNTER_OPEN || set->v[index].leader != leader));
	return index;
}

/*
 * When a CPU goes offline the kernel takes the groups on it apart: the leader's read has only itself,
 * and each member, with what it counted until then, is a group of one.
 */
static void read_apart(const struct reader *r, size_t leader, size_t cell)
{
	size_t left = r->set->v[leader].n_members;

	for (size_t i = leader; left--; i = next_in_group(r->set, leader, i))
		read_single(r, i, cell);
}

static bool fell_apart(const uint64_t *words, ssize_t n, size_t n_values, size_t step)
{
	return n_values > 1 && n == (ssize_t)((GROUP_HEAD + step) * sizeof(*words)) && words[0] == 1;
}

static void read_group(const struct reader *r, size_t leader, size_t cell)
{
	const struct counter_set *set = r->set;
	struct reading base = { .state = READING_NOT_OPEN };
	uint64_t words[GROUP_WORDS];
	size_t n_values = 0, next = 0, left = set->v[leader].n_members;
	uint64_t format = set->v[leader].attr.read_format;
	size_t step = 1 + words_behind_value(format);
	int fd = set->v[leader].fds[cell];

	if (fd >= 0) {
		ssize_t n;

		for (size_t i = leader, k = left; k--; i = next_in_group(set, leader, i))
			n_values += set->v[i].fds[cell] >= 0;
		n = read_fd(r, fd, words, sizeof(words));
		if (fell_apart(words, n, n_values, step)) {
			read_apart(r, leader, cell);
			return;
		}
		base.state = state_of(n, (GROUP_HEAD + step * n_values) * sizeof(*words),
				      &base.err);
		if (base.state == READING_OK && words[0] != n_values) {
			base.state = READING_FAILED;
			base.err = EIO;
		}
	}
	for (size_t i = leader; left--; i = next_in_group(set, leader, i)) {
		struct reading reading = base;

		if (set->v[i].fds[cell] < 0)
			reading = (struct reading){ .state = READING_NOT_OPEN };
		if (reading.state == READING_OK) {
			const uint64_t *row = words + GROUP_HEAD + step * next++;

			reading.value = row[0];
			reading.lost = format & FORMAT_LOST ? row[step - 1] : 0;
			reading.enabled_ns = words[1];
			reading.running_ns = words[2];
		}
		hand_over(r, i, cell, &reading);
	}
}

/* True where a read of this counter's cell begins: at a lone counter, or at a group's leader. */
static bool starts_read(const struct counter *c, size_t index)
{
	return c->state == COUNTER_OPEN &&
	       (c->leader == index || !(c->attr.read_format & PERF_FORMAT_GROUP));
}

static void read_cell(const struct reader *r, size_t index, size_t cell)
{
	if (r->set->v[index].attr.read_format & PERF_FORMAT_GROUP)
		read_group(r, index, cell);
	else
		read_single(r, index, cell);
}

/* The cgroups' cells of one CPU, read from that CPU. */
static void read_cgroups_of(const struct reader *r, int cpu)
{
	cpu_set_t *here = CPU_ALLOC((size_t)cpu + 1);
	size_t bytes = CPU_ALLOC_SIZE((size_t)cpu + 1);

	if (here) {
		CPU_ZERO_S(bytes, here);
		CPU_SET_S((size_t)cpu, bytes, here);
		/* A CPU that is gone, or not allowed: then the read comes from another. */
		sched_setaffinity(0, bytes, here);
		CPU_FREE(here);
	}
	for (size_t i = 0; i < r->set->n; i++) {
		const struct counter *c = &r->set->v[i];

		if (!c->event->cgroup || !starts_read(c, i))
			continue;
		for (size_t cell = 0; cell < c->n_cpus * c->n_threads; cell++) {
			if (c->cpus.v[cell / c->n_threads] == cpu)
				read_cell(r, i, cell);
		}
	}
}

/*
 * Read from elsewhere, a cgroup's counter whose tasks are not on its CPU now may have the time since
 * they were in its enabled time (seen with Linux 6.18), and would be scaled up by it.
 */
static void read_cgroups(const struct reader *r)
{
	enum { MAX_CPUS = 65536 };
	struct intset cpus = INTSET_INIT;
	cpu_set_t *before = CPU_ALLOC(MAX_CPUS);
	size_t bytes = CPU_ALLOC_SIZE(MAX_CPUS);
	bool known = before && !sched_getaffinity(0, bytes, before);

	for (size_t i = 0; i < r->set->n; i++) {
		const struct counter *c = &r->set->v[i];

		for (size_t k = 0; c->event->cgroup && c->state == COUNTER_OPEN && k < c->cpus.n; k++)
			intset_add(&cpus, c->cpus.v[k]);
	}
	for (size_t i = 0; i < cpus.n; i++)
		read_cgroups_of(r, cpus.v[i]);
	if (known)
		sched_setaffinity(0, bytes, before);
	CPU_FREE(before);
	intset_release(&cpus);
}

void counters_read(const struct counter_set *set, reading_fn fn, void *data)
{
	const struct reader r = { set, fn, data };
	bool cgroups = false;

	for (size_t i = 0; i < set->n; i++) {
		const struct counter *c = &set->v[i];

		if (!starts_read(c, i))
			continue;
		if (c->event->cgroup && !set->leave_affinity) {
			cgroups = true;
			continue;
		}
		for (size_t cell = 0; cell < c->n_cpus * c->n_threads; cell++)
			read_cell(&r, i, cell);
	}
	if (cgroups)
		read_cgroups(&r);
}

/* ---- CPUs that went away ---- */

/* Enabled time always passes on a CPU, unless the counter has stopped; 0: not known. */
static uint64_t enabled_time(const struct reader *r, int fd)
{
	uint64_t words[GROUP_WORDS];

	return fd >= 0 && read_fd(r, fd, words, sizeof(words)) >= (ssize_t)(SINGLE_HEAD * sizeof(*words)) ?
		       words[1] : 0;
}

static bool counts_whole_cpus(const struct counter *c, size_t index)
{
	return c->state == COUNTER_OPEN && c->leader == index && c->cpus.n && !c->follows_tasks &&
	       c->n_threads == 1 && !c->event->cgroup && !c->attr.pinned && !event_is_moved(c->event);
}

/* Those of its CPUs on which it stands still, if it goes on elsewhere: else it is just disabled. */
static void add_standing(const struct reader *r, const struct counter *c, struct intset *cpus)
{
	uint64_t *before = xcalloc(c->n_cpus, sizeof(*before));
	struct intset standing = INTSET_INIT;
	bool goes_on = false;

	for (size_t i = 0; i < c->n_cpus; i++)
		before[i] = enabled_time(r, c->fds[i]);
	for (size_t i = 0; i < c->n_cpus; i++) {
		uint64_t now = enabled_time(r, c->fds[i]);

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
	const struct reader r = { .set = set };
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
			add_standing(&r, c, cpus);
		looked = true;
	}
	intset_release(&online);
}
