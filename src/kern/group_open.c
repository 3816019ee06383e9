/*
 * Groups of events -> open counters. What is opened at once is a group on one CPU and task: leader and
 * members back to back, before the next group, and all groups of a CPU (or thread) before the next one. Every
 * refusal goes through the ladder (fallback.c) and, if nothing helps, gets its reason (reason.c).
 *
 *            CPU 0                    CPU 1
 *   group a: leader member member     leader member member      opened: a0 b0 c0 b1 c1 a1
 *   group b: leader member            leader member             (a, b and c take turns on their PMU)
 *   group c: leader                   leader
 *
 * Decisions:
 *   - All cells of a counter have one attr. Where the ladder changes it after some cells are open, the
 *     group is closed everywhere and opened again from the first cell on.
 *   - A group is open in a cell as a whole or not at all: its values are always of the same tasks. A thread or CPU
 *     that is gone leaves the cell closed, and a counter is open as long as one cell is.
 *   - A member that cannot be opened is not supported; its group goes on without it. Where that is
 *     the leader, the first member that opens leads. (What can be counted together is.)
 *   - A task that forks may be given its child's events by the kernel (it swaps the contexts of tasks that
 *     are switched and have the same events): a leader that was opened a moment ago is then not of this task,
 *     and a fork between leader and member leaves a child with half a group. This cell alone is then opened again.
 *   - A weak group with a member that opens alone but not in the group is opened again, event by
 *     event.
 *   - Leaders start disabled, with enable_on_exec for a held command; members follow them. Whether
 *     children count is the group's, too: the kernel takes no member that differs.
 *   - Software events that stand alone and measure whole CPUs share one group all the same: they never
 *     wait for a counter, so nothing changes but the cost, one read and one interrupt per CPU instead
 *     of one per event.
 *   - Groups that may have to take turns on their PMU are opened in another order in each cell: the first is the
 *     first to run, and would otherwise be the only one that sees how the program starts.
 */
#include "kern/cells.h"
#include "kern/group.h"
#include "kern/reason.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* So often one cell is opened again for a task that forks; some forks in a hundred come between. */
enum { MOST_TRIES = 100 };

/* What came of opening a member, or a cell; negative errnos end the run. */
enum opened {
	OPENED,
	GONE, /* its task or CPU is not there */
	LOST, /* the member cannot be counted; the others go on */
	MOVED, /* the task forked, and its leader is its child's: the cell has to be opened again */
	TORN, /* the task forked, and its child has half a group: the same */
	CHANGED, /* so have all: the whole group is closed */
};

/* What has been prepared for another leader, or for the leader as it was, is made anew. */
static void forget_prepared(struct group *g, const struct member *but)
{
	for (size_t i = 0; i < g->n; i++)
		g->members[i].prepared = &g->members[i] == but;
}

/* ---- closing ---- */

static void close_member(const struct opening *o, struct member *m, size_t cell)
{
	if (m->counter->fds[cell] < 0)
		return;
	o->set->kern->sys->close(m->counter->fds[cell]);
	m->counter->fds[cell] = -1;
	m->n_open--;
}

/* Members before their leader: else each would be made a leader first. */
static void close_cell(const struct opening *o, struct group *g, size_t cell)
{
	for (size_t i = g->n; i-- > 0;)
		close_member(o, &g->members[i], cell);
}

static void close_everywhere(const struct opening *o, struct group *g)
{
	for (size_t cell = 0; cell < cells_count(g->members[0].counter); cell++)
		close_cell(o, g, cell);
}

static enum opened start_again(const struct opening *o, struct group *g)
{
	close_everywhere(o, g);
	forget_prepared(g, NULL);
	return CHANGED;
}

/* ---- refusals ---- */

static char *call_text(const struct perf_event_attr *attr, const struct failed_call *call, int rc)
{
	return xasprintf("perf_event_open({type %u, config 0x%llx}, pid %d, cpu %d, group_fd %d, "
			 "flags 0x%lx): %s (errno %d)",
			 attr->type, (unsigned long long)attr->config, (int)call->pid, call->cpu,
			 call->group_fd, call->flags, strerror(-rc), -rc);
}

/* The group's events that take a counter, up to this one. */
static size_t events_on_pmu(const struct group *g, const struct member *last)
{
	size_t n = event_needs_counter(last->counter->event);

	for (const struct member *m = g->members; m < last; m++)
		n += !m->lost && g->grouped && event_needs_counter(m->counter->event);
	return n;
}

/*
 * Fills why the counter is not supported. The last errno counts: the kernel looks at permissions
 * first, so what remains after the fallbacks is the real hindrance. What permission would be needed
 * is a question of what was asked for, before any fallback.
 */
static void give_up(struct opening *o, const struct group *g, struct member *m,
		    const struct failed_call *call, int rc)
{
	struct counter *c = m->counter;
	struct failure failure = {
		.machine = &o->machine,
		.event = c->event,
		.attr = rc == -EACCES || rc == -EPERM ? &m->asked : &c->attr,
		.err = -rc,
		.pid = call->pid,
		.cpu = call->cpu,
		.flags = call->flags & PERF_FLAG_PID_CGROUP,
		.task_forks = g->moved,
		.group_events = events_on_pmu(g, m),
	};

	failure.only_in_group = call->group_fd >= 0 &&
				!open_once(o->set->kern, &c->attr, call->pid, call->cpu,
					   failure.flags);
	c->state = COUNTER_NOT_SUPPORTED;
	c->err = -rc;
	c->call = call_text(&c->attr, call, rc);
	reason_find(&failure, &c->reason, &c->remedy);
	o->refused += is_refusal(&failure);
	o->gone += rc == -ESRCH;
	m->lost = true;
}

static int no_descriptors(struct opening *o, int rc)
{
	struct rlimit limit = { 0 };
	size_t need = counters_need_fds(o->set);

	if (rc == -ENFILE)
		return fail(o->err, rc, "cannot open all counters: the system has no free files\n"
			    "measure fewer events, CPUs or threads");
	o->set->kern->sys->rlimit(RLIMIT_NOFILE, NULL, &limit);
	return fail(o->err, rc,
		    "cannot open all counters: %zu file descriptors are needed, the limit "
		    "is %llu\nmeasure fewer events, CPUs or threads, or as root: ulimit -n %zu",
		    need, (unsigned long long)limit.rlim_cur, need);
}

/* All counters of the group are closed again, to be opened one by one. */
static enum opened break_up(struct opening *o, struct group *g)
{
	note_add(o->set->notes, true, NULL, "%s: its weak group does not fit: counted one by one",
		 g->event->name);
	g->grouped = false;
	return start_again(o, g);
}

/*
 * The member cannot be counted. Where others were opened on it, or it has cells elsewhere, the group
 * has to do without it there too.
 */
static enum opened lose(struct opening *o, struct group *g, struct member *m,
			const struct failed_call *call, int rc, bool leads)
{
	give_up(o, g, m, call, rc);
	if (leads && g->grouped && m->n_open)
		return start_again(o, g);
	if (leads && g->grouped)
		forget_prepared(g, NULL);
	for (size_t cell = 0; cell < cells_count(m->counter); cell++)
		close_member(o, m, cell);
	return LOST;
}

/* ---- tasks that fork ---- */

/*
 * Does the leader belong to another task by now? Then it takes no member whatever, not even an event that goes with
 * all others: EINVAL while that task lives, ENODEV when it has ended (6.18). The failed call has ended the swapping
 * of contexts for this task, so the answer stays true. Where the CPU or the task itself is gone by now, opening the
 * cell again will tell.
 */
static bool leader_has_moved(const struct opening *o, const struct counter *leader,
			     const struct failed_call *call)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.inherit = leader->attr.inherit,
		.use_clockid = leader->attr.use_clockid,
		.clockid = leader->attr.clockid,
	};
	int fd = o->set->kern->sys->perf_event_open(&attr, call->pid, call->cpu, call->group_fd,
						    PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		o->set->kern->sys->close(fd);
	return fd == -EINVAL || fd == -ENODEV || fd == -ESRCH;
}

/* A child that was forked between leader and member has half a group, and the kernel (6.7) adds up no such halves. */
static bool child_has_half(const struct opening *o, const struct group *g, const struct counter *leader,
			   size_t cell)
{
	if (o->target->kind != TARGET_TASKS || !g->grouped || g->n < 2 || !leader->attr.inherit ||
	    !(leader->attr.read_format & PERF_FORMAT_GROUP))
		return false;
	return group_is_torn(o->set->kern->sys, leader->fds[cell]);
}

/* ---- one cell ---- */

static struct failed_call call_for(const struct opening *o, const struct group *g,
				   const struct counter *c, const struct counter *leader, size_t cell)
{
	bool in_cgroup = g->cgroup_fd >= 0;

	return (struct failed_call){
		.pid = in_cgroup ? g->cgroup_fd :
		       c->cpus.n && !c->follows_tasks ? -1 :
		       o->target->threads[cell % c->n_threads].tid,
		.cpu = cell_cpu(c, cell),
		.group_fd = leader ? leader->fds[cell] : -1,
		.flags = PERF_FLAG_FD_CLOEXEC | (in_cgroup ? PERF_FLAG_PID_CGROUP : 0),
	};
}

static bool is_gone(const struct failed_call *call, int rc)
{
	return (rc == -ESRCH && call->pid >= 0 && !(call->flags & PERF_FLAG_PID_CGROUP)) ||
	       (rc == -ENODEV && call->cpu >= 0);
}

/* What to do about a call that failed. OPENED: try again with the attempt's attr. */
static int after_refusal(struct opening *o, struct group *g, struct member *m,
			 const struct counter *leader, const struct failed_call *call, int rc)
{
	struct attempt *a = &m->attempt;

	if (rc == -EMFILE || rc == -ENFILE)
		return no_descriptors(o, rc);
	g->failed = rc;
	g->call = *call;
	if (leader && (rc == -EINVAL || rc == -ENODEV) && call->pid >= 0 && g->cgroup_fd < 0 &&
	    leader_has_moved(o, leader, call))
		return MOVED;
	if (is_gone(call, rc))
		return GONE;
	a->pid = call->pid;
	a->cpu = call->cpu;
	a->flags = call->flags & PERF_FLAG_PID_CGROUP;
	if (!fallback_next(a, -rc))
		return lose(o, g, m, call, rc, !leader);
	if (a->break_group)
		return break_up(o, g);
	if (!leader && g->grouped)
		forget_prepared(g, m);
	if (!m->n_open)
		return OPENED;
	/* What is open elsewhere has the old attr. */
	close_everywhere(o, g);
	return CHANGED;
}

static int open_member(struct opening *o, struct group *g, struct member *m,
		       const struct counter *leader, size_t cell)
{
	struct counter *c = m->counter;
	const struct failed_call call = call_for(o, g, c, leader, cell);
	int rc;

	if (!m->prepared)
		member_prepare(o, g, m, leader);
	do {
		c->attr = m->attempt.attr;
		rc = o->set->kern->sys->perf_event_open(&c->attr, call.pid, call.cpu, call.group_fd,
							call.flags);
		if (rc >= 0) {
			c->fds[cell] = rc;
			m->n_open++;
			if (attr_deferral(&c->attr))
				o->machine.deferral = DEFERRAL_KNOWN;
			return OPENED;
		}
		rc = after_refusal(o, g, m, leader, &call, rc);
	} while (rc == OPENED);
	return rc;
}

/* Events that are opened one by one take turns with each other as well. */
static struct member *nth_member(const struct opening *o, struct group *g, size_t i, size_t cell)
{
	if (g->grouped || !g->rival)
		return &g->members[i];
	return &g->members[(i + o->options->first_group + cell) % g->n];
}

static int open_back_to_back(struct opening *o, struct group *g, size_t cell)
{
	const struct counter *leader = NULL;

	for (size_t i = 0; i < g->n; i++) {
		struct member *m = nth_member(o, g, i, cell);
		int rc;

		if (m->lost)
			continue;
		rc = open_member(o, g, m, g->grouped ? leader : NULL, cell);
		if (rc == LOST)
			continue;
		if (rc != OPENED)
			return rc;
		leader = leader ? leader : m->counter;
	}
	return leader && child_has_half(o, g, leader, cell) ? TORN : OPENED;
}

/* CHANGED, or OPENED where the cell is as open as it will be. */
static int open_cell(struct opening *o, struct group *g, size_t cell)
{
	int rc, tries = 0;

	do {
		rc = open_back_to_back(o, g, cell);
		if (rc == GONE || rc == MOVED || rc == TORN)
			close_cell(o, g, cell);
	} while ((rc == MOVED || rc == TORN) && ++tries < MOST_TRIES);
	if (rc == TORN) {
		note_add(o->set->notes, true, NULL, "%s: its group is read event by event: its tasks fork "
			 "faster than it can be opened", g->event->name);
		g->single_reads = true;
		return start_again(o, g);
	}
	g->moved = g->moved || rc == MOVED;
	return rc == GONE || rc == MOVED ? OPENED : rc;
}

/* The next cell; where that changes the group, those before it as well. */
static int open_next_cell(struct opening *o, struct group *g, size_t next)
{
	int rc = open_cell(o, g, next);

	if (rc != CHANGED)
		return rc;
	for (size_t cell = 0; cell <= next; cell = rc == CHANGED ? 0 : cell + 1) {
		rc = open_cell(o, g, cell);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* ---- all cells ---- */

/* CPU by CPU and thread by thread, all groups that have a cell there. */
static int open_all_cells(struct opening *o, const struct groups *groups)
{
	uint64_t place;

	do {
		place = UINT64_MAX;
		for (size_t i = 0; i < groups->n; i++) {
			const struct group *g = &groups->v[i];
			uint64_t its = g->n ? cell_place(g->members[0].counter, g->next) : UINT64_MAX;

			place = its < place ? its : place;
		}
		for (size_t i = 0; place != UINT64_MAX && i < groups->n; i++) {
			struct group *g = &groups->v[i];
			int rc;

			if (!g->n || cell_place(g->members[0].counter, g->next) != place)
				continue;
			rc = open_next_cell(o, group_in_turn(groups, g, o->options->first_group),
					    g->next);
			if (rc < 0)
				return rc;
			g->next++;
		}
	} while (place != UINT64_MAX);
	return 0;
}

/* ---- conclusions ---- */

static void note_probe(const struct opening *o, const struct group *g, const struct counter *c)
{
	if (c->leaves_tasks && group_has_probe_path(g, c))
		note_add(o->set->notes, false, "-a counts them, with all other programs",
			 "%s: child processes and new threads are not counted: the kernel follows only "
			 "probes that are set up in tracefs", c->name);
}

static void conclude_member(struct opening *o, struct group *g, struct member *m)
{
	struct counter *c = m->counter;

	if (m->lost)
		return;
	if (!m->n_open) {
		if (!m->prepared)
			member_prepare(o, g, m, NULL);
		c->attr = m->attempt.attr;
		give_up(o, g, m, &g->call, g->failed);
		return;
	}
	fallback_notes(&m->attempt, o->set->notes);
	c->leaves_tasks = (!c->cpus.n || c->follows_tasks) && o->target->kind != TARGET_CPUS && !c->attr.inherit &&
			  group_wants_inherit(o, g, c);
	note_probe(o, g, c);
	free(c->name);
	c->name = fallback_name(&m->attempt);
	c->state = COUNTER_OPEN;
}

static void conclude(struct opening *o, struct group *g)
{
	struct counter *leader = NULL, *first = g->n ? g->members[0].counter : NULL;

	for (size_t i = 0; i < g->n; i++) {
		struct counter *c = g->members[i].counter;

		conclude_member(o, g, &g->members[i]);
		if (c->state != COUNTER_OPEN || !g->grouped)
			continue;
		if (leader) {
			c->leader = leader->leader;
			leader->n_members++;
			continue;
		}
		leader = c;
		if (c != first && !g->batch)
			note_add(o->set->notes, true, NULL,
				 "%s: leads its group, because %s cannot be counted", c->name,
				 first->name);
	}
	if (leader && g->moved)
		note_add(o->set->notes, false, NULL,
			 "%s: some threads are not counted: they fork faster than a group can be opened",
			 leader->name);
}

static int open_cgroups(struct opening *o, struct groups *groups)
{
	for (size_t i = 0; i < groups->n; i++) {
		struct group *g = &groups->v[i];
		const struct counter *c = g->n ? g->members[0].counter : NULL;

		if (!c || !c->event->cgroup)
			continue;
		if (!c->cpus.n || c->follows_tasks)
			return fail(o->err, -EINVAL, "cgroup '%s': it is counted on CPUs, not on tasks\n"
				    "add -a or -C", c->event->cgroup);
		g->cgroup_fd = cgroup_open(c->event->cgroup, &o->set->kern->host, o->err);
		if (g->cgroup_fd < 0)
			return g->cgroup_fd;
	}
	return 0;
}

int groups_open(struct opening *o)
{
	struct groups groups;
	int rc;

	groups_plan(&groups, o);
	rc = open_cgroups(o, &groups);
	if (!rc)
		rc = open_all_cells(o, &groups);
	for (size_t i = 0; i < groups.n; i++) {
		if (!rc)
			conclude(o, &groups.v[i]);
		if (groups.v[i].cgroup_fd >= 0)
			close(groups.v[i].cgroup_fd);
	}
	groups_release(&groups);
	return rc;
}
