/*
 * Open counters -> readings. A group whose leader was opened with PERF_FORMAT_GROUP is read whole:
 *
 *   single:  value enabled running [id] [lost]
 *   group:   nr enabled running { value id [lost] } x nr       nr: the leader and its open members
 *
 * id and lost are there where the counter was opened for samples.
 *
 * Order: CPU by CPU, then thread by thread; there by group as in the list; in it leader, then members.
 *
 * A group's values are told apart by their ids. Which counter has which id the first whole reading says, by its
 * order, which is that of opening: asking for each would cost a system call per counter.
 *
 * Cgroups' counters are read from their own CPU, unless open_options.leave_affinity.
 *
 * Nothing is allocated: what a reading needs was laid out when the counters were opened.
 *
 * Source: perf_event_open(2), "Reading results".
 */
#include "kern/cells.h"
#include "kern/kern.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

enum { GROUP_HEAD = 3, SINGLE_HEAD = 3, SINGLE_WORDS = 5 };
enum { MOST_GROUP_WORDS = 16384 / 8 }; /* what the kernel allows a group to have */

/*
 * ECHILD: a child's group is not its parent's now. A task that ends gives up its events one by one: that is over in
 * no time, unless the task has to wait for a CPU in the midst of it.
 */
enum { FEW_LOOKS = 8, MOST_LOOKS = 512, PAUSE_NS = 100000 };

struct reader {
	const struct counter_set *set;
	reading_fn fn;
	void *data;
};

static ssize_t read_fd(const struct sys_ops *sys, int fd, uint64_t *words, size_t bytes)
{
	ssize_t n;

	do {
		n = sys->read(fd, words, bytes);
	} while (n == -EINTR);
	return n;
}

static ssize_t read_inherited(const struct sys_ops *sys, int fd, uint64_t *words, size_t bytes,
			      int most_looks)
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

bool group_is_torn(const struct sys_ops *sys, int leader_fd)
{
	uint64_t words[MOST_GROUP_WORDS];

	return read_inherited(sys, leader_fd, words, sizeof(words), FEW_LOOKS) == -ECHILD;
}

/* ---- one cell ---- */

/* Behind each value: its id and its losses, where they were asked for. */
static size_t words_behind_value(uint64_t format)
{
	return (format & PERF_FORMAT_ID ? 1 : 0) + (format & FORMAT_LOST ? 1 : 0);
}

size_t group_words(uint64_t format, size_t n)
{
	return GROUP_HEAD + n * (1 + words_behind_value(format));
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

/*
 * What the enabled time of a group that never waits has beyond its running time is the kernel's mistake, which it makes
 * of cgroups, and no reason to scale.
 */
static bool enabled_is_running(const struct counter *c, const struct reading *reading)
{
	return c->event->cgroup && c->never_waits && reading->running_ns;
}

static void hand_over(const struct reader *r, size_t index, size_t cell,
		      const struct reading *reading)
{
	const struct counter *c = &r->set->v[index];
	struct reading mended = *reading;

	if (enabled_is_running(c, reading))
		mended.enabled_ns = reading->running_ns;
	mended.others_ran = reading->state == READING_OK &&
			    witness_saw_others(r->set, index, cell % c->n_threads, reading->enabled_ns);
	if (r->set->removal && reading->state == READING_OK)
		removal_mark(r->set, index, cell % c->n_threads, &mended);
	r->fn(r->data, index, cell_cpu(c, cell), cell % c->n_threads, &mended);
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
		ssize_t n = read_fd(r->set->kern->sys, fd, words, n_words * sizeof(*words));

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

static void read_one_by_one(const struct reader *r, const struct counter_group *group, size_t cell)
{
	for (size_t i = 0; i < group->n; i++)
		read_single(r, r->set->layout->members[group->first + i], cell);
}

/*
 * The values of member i: in its place, unless the kernel has them in another order; NULL where they are missing.
 */
static const uint64_t *row_of(const struct counter_set *set, const struct counter_group *group, size_t i,
			      size_t cell, uint64_t format)
{
	const uint64_t *rows = set->layout->words + GROUP_HEAD;
	uint64_t *id = &set->v[set->layout->members[group->first + i]].ids[cell];
	size_t step = 1 + words_behind_value(format);

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

static void read_group(const struct reader *r, const struct counter_group *group, size_t cell)
{
	const struct counter_set *set = r->set;
	const size_t *members = set->layout->members + group->first;
	const struct counter *leader = &set->v[members[0]];
	uint64_t *words = set->layout->words;
	struct reading base = { .state = READING_NOT_OPEN };
	uint64_t format = leader->attr.read_format;
	size_t bytes = group_words(format, group->n) * sizeof(*words);
	ssize_t n = 0;

	if (leader->fds[cell] >= 0) {
		n = read_inherited(set->kern->sys, leader->fds[cell], words, bytes, MOST_LOOKS);
		base.state = state_of(n, bytes, &base.err);
	}
	/*
	 * When a CPU goes offline the kernel takes the groups on it apart: the leader's read has only itself,
	 * and each member, with what it counted until then, is a group of one.
	 */
	if (group->n > 1 && n == (ssize_t)(group_words(format, 1) * sizeof(*words)) &&
	    words[0] == 1) {
		read_one_by_one(r, group, cell);
		return;
	}
	if (base.state == READING_OK && words[0] != group->n)
		base = (struct reading){ .state = READING_FAILED, .err = EIO };
	for (size_t i = 0; i < group->n; i++) {
		struct reading reading = base;
		const uint64_t *row =
			base.state == READING_OK ? row_of(set, group, i, cell, format) : NULL;

		if (row) {
			reading.value = row[0];
			reading.lost = format & FORMAT_LOST ? row[words_behind_value(format)] : 0;
			reading.enabled_ns = words[1];
			reading.running_ns = words[2];
		} else if (base.state == READING_OK) {
			reading = (struct reading){ .state = READING_FAILED, .err = EIO };
		}
		hand_over(r, members[i], cell, &reading);
	}
}

/* ---- all cells ---- */

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
	const struct reader r = { set, fn, data };
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
	for (size_t i = 0; layout && i < layout->n_cells; i++) {
		const struct counter_group *group = &layout->groups[layout->cells[i].group];
		const struct counter *leader = &set->v[layout->members[group->first]];
		size_t cell = layout->cells[i].cell;

		if (leader->event->cgroup)
			visit_cpu(&visit, cell_cpu(leader, cell));
		if (leader->attr.read_format & PERF_FORMAT_GROUP)
			read_group(&r, group, cell);
		else
			read_one_by_one(&r, group, cell);
	}
	go_home(&visit);
}

/* ---- enabled or not ---- */

/* The words that all layouts have in the same place. */
int read_times(const struct counter_set *set, int fd, uint64_t *enabled_ns, uint64_t *running_ns)
{
	uint64_t words[MOST_GROUP_WORDS];
	ssize_t n = read_inherited(set->kern->sys, fd, words, sizeof(words), MOST_LOOKS);

	if (n < (ssize_t)(SINGLE_HEAD * sizeof(*words)))
		return n < 0 ? (int)n : -EIO;
	*enabled_ns = words[1];
	*running_ns = words[2];
	return 0;
}

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

	for (size_t cell = 0; c->state == COUNTER_OPEN && !enabled && cell < cells_count(c); cell++)
		enabled = enabled_time(set, c->fds[cell]) != 0;
	return enabled;
}

/* ---- CPUs that went away: there enabled time stands still ---- */

static bool counts_whole_cpus(const struct counter *c, size_t index)
{
	return c->state == COUNTER_OPEN && c->leader == index && c->cpus.n && !c->follows_tasks &&
	       c->n_threads == 1 && !c->event->cgroup && !c->attr.pinned && !event_is_moved(c->event);
}

/* Those of its CPUs on which it stands still, if it goes on elsewhere: else it is just disabled. */
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
