/* SPDX-License-Identifier: MIT */
/*
 * Groups of events -> open counters. First it is planned which events are a group: those that the list groups, as far
 * as they have the same slots; and which groups wait for the counters of one PMU. Then a group on one CPU and task is
 * opened at once: leader and members back to back, before the next group, and all groups of a CPU (or thread) before
 * the next one. Every refusal goes through the ladder (fallback.c) and, if nothing helps, gets its reason (reason.c).
 *
 *            CPU 0                    CPU 1
 *   group a: leader member member     leader member member      opened: a0 b0 c0 b1 c1 a1
 *   group b: leader member            leader member             (a, b and c take turns on their PMU)
 *   group c: leader                   leader
 *
 * Decisions:
 *   - All slots of a counter have one attr. Where the ladder changes it after some slots are open, the
 *     group is closed everywhere and opened again from the first slot on.
 *   - A group is open in a slot as a whole or not at all: its values are always of the same tasks. A thread or CPU
 *     that is gone leaves the slot closed, and a counter is open as long as one slot is.
 *   - A member that cannot be opened is not supported; its group goes on without it. Where that is
 *     the leader, the first member that opens leads. (What can be counted together is.)
 *   - A task that forks may be given its child's events by the kernel (it swaps the contexts of tasks that
 *     are switched and have the same events): a leader that was opened a moment ago is then not of this task,
 *     and a fork between leader and member leaves a child with half a group. This slot alone is then opened again.
 *   - A weak group with a member that opens alone but not in the group is opened again, event by
 *     event.
 *   - Leaders start disabled, with enable_on_exec for a held command; members follow them. Whether
 *     children count is the group's, too: the kernel takes no member that differs.
 *   - Software events that stand alone and measure whole CPUs share one group all the same: they never
 *     wait for a counter, so nothing changes but the cost, one read and one interrupt per CPU instead
 *     of one per event.
 *   - Groups that may have to take turns on their PMU are opened in another order in each slot: the first is the
 *     first to run, and would otherwise be the only one that sees how the program starts.
 */
#include "kern/group_open.h"
#include "kern/reason.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* The call that failed, for the message. */
struct failed_call {
	pid_t pid;
	int cpu, group_fd;
	unsigned long flags;
};

/* One counter of a group, as it is being opened. */
struct member {
	struct counter *counter;
	struct attempt attempt; /* where it stands on the ladder */
	struct perf_event_attr asked; /* before any step of it */
	bool prepared; /* both are set up, for the leader that there is now */
	bool lost; /* it cannot be counted, and has its reason */
	size_t n_open; /* slots */
};

struct event_group {
	struct member *members; /* in the order of the list; all have the same slots */
	size_t n, cap;
	const struct event *event; /* the first, with the group's own words */
	bool batch; /* of all lone software events */
	bool grouped; /* members open on the leader; false: one by one */
	bool together; /* more than one is counted by the kernel */
	bool inherit, probe_path;
	bool single_reads;
	const struct event *rival; /* of its events that for which it may have to take turns, or NULL */
	size_t turn_first, turn_n; /* the groups that it takes turns with, itself among them, in order[] */
	size_t next; /* the slot that is opened next in its place of the list */
	int cgroup_fd; /* the folder, or -1 */
	int failed; /* why a slot stayed closed last: -errno, and the call */
	bool moved; /* that was for a task that forks too fast */
	struct failed_call call;
};

/* All groups, in the order of the list. */
struct event_groups {
	struct event_group *v;
	size_t n, cap;
	size_t *order; /* groups that take turns with each other stand side by side */
};

/* ---- which events are a group ---- */

static struct event_group *add_group(struct event_groups *groups, const struct event *event)
{
	VEC_GROW(groups->v, groups->n, groups->cap);
	groups->v[groups->n] = (struct event_group){
		.event = event, .cgroup_fd = -1, .turn_first = SIZE_MAX,
	};
	return &groups->v[groups->n++];
}

static void add_member(struct event_group *g, struct counter *c)
{
	VEC_GROW(g->members, g->n, g->cap);
	g->members[g->n++] = (struct member){ .counter = c };
}

/* May this lone event be read together with its like? */
static bool may_join_batch(const struct opening *o, const struct counter *c)
{
	const struct event *event = c->event;

	return event->kind == EVENT_KERNEL && event->attr.type == PERF_TYPE_SOFTWARE &&
	       event->n_members <= 1 && !event->attr.pinned && !event->attr.exclusive &&
	       !event->cgroup && c->cpus.n && o->target->kind == TARGET_CPUS && !c->err &&
	       !o->options->single_reads && !o->options->sample;
}

static struct event_group *batch_for(struct event_groups *groups, const struct counter *c)
{
	for (size_t i = 0; i < groups->n; i++) {
		if (groups->v[i].batch)
			return slots_match(c, groups->v[i].members[0].counter) ? &groups->v[i] : NULL;
	}
	return NULL;
}

/* Whether children count: the first of the group's events that has a word on it decides. */
static void choose_inherit(const struct opening *o, struct event_group *g, size_t first, size_t n)
{
	const struct counter *decides = NULL;

	g->inherit = o->options->inherit;
	for (size_t i = first; i < first + n; i++) {
		const struct counter *c = &o->set->v[i];
		enum term_switch term = c->event->terms.inherit;

		g->probe_path = g->probe_path || c->event->probe_path;
		if (term == TERM_UNSET)
			continue;
		if (decides && (term == TERM_ON) != g->inherit)
			note_add(o->set->notes, false, NULL,
				 "%s: child processes are %scounted with it: the whole group is opened one "
				 "way, and %s decides", c->name, g->inherit ? "" : "not ",
				 decides->name);
		if (!decides)
			g->inherit = term == TERM_ON;
		decides = decides ? decides : c;
	}
}

/* A member whose CPUs or cgroup are not the group's cannot share it. */
static void plan_group(const struct opening *o, struct event_groups *groups, size_t first, size_t n)
{
	struct counter *v = o->set->v;
	const struct event *event = v[first].event;
	size_t at = groups->n, n_kernel = 0;
	struct event_group *g = add_group(groups, event);

	g->members = xcalloc(n, sizeof(*g->members));
	g->cap = n;
	g->grouped = n > 1;
	if (n > 1)
		choose_inherit(o, g, first, n);
	for (size_t i = first; i < first + n; i++) {
		n_kernel += v[i].event->kind == EVENT_KERNEL;
		if (v[i].state == COUNTER_SOFTWARE || v[i].err)
			continue;
		if (!groups->v[at].n || slots_match(&v[i], groups->v[at].members[0].counter)) {
			add_member(&groups->v[at], &v[i]);
			continue;
		}
		note_add(o->set->notes, false, NULL,
			 "%s: counted outside its group: it is counted on other CPUs than the group",
			 v[i].name);
		add_member(add_group(groups, v[i].event), &v[i]);
	}
	groups->v[at].together = n_kernel > 1;
}

/* ---- which groups take turns ---- */

/*
 * The group's first event that takes a counter; NULL where there is none, or where it takes no turns: of pinned groups
 * the first in the list keeps the counter.
 */
static const struct event *wants_counter(const struct opening *o, const struct event_group *g)
{
	for (size_t i = 0; i < g->n && !o->options->sample && !g->event->attr.pinned; i++) {
		const struct event *event = g->members[i].counter->event;

		if (events_share_counters(event, event))
			return event;
	}
	return NULL;
}

static bool take_turns(const struct event_group *a, const struct event_group *b)
{
	return a->rival && b->rival && events_share_counters(a->rival, b->rival) &&
	       slots_match(a->members[0].counter, b->members[0].counter);
}

static void plan_turns(const struct opening *o, struct event_groups *groups)
{
	size_t n = 0;

	groups->order = xcalloc(groups->n + 1, sizeof(*groups->order));
	for (size_t i = 0; i < groups->n; i++)
		groups->v[i].rival = wants_counter(o, &groups->v[i]);
	for (size_t i = 0; i < groups->n; i++) {
		size_t first = n;

		for (size_t k = i; !groups->v[i].turn_n && k < groups->n; k++) {
			if (groups->v[k].turn_first == SIZE_MAX && take_turns(&groups->v[i], &groups->v[k])) {
				groups->v[k].turn_first = first;
				groups->order[n++] = k;
			}
		}
		for (size_t k = first; k < n; k++)
			groups->v[groups->order[k]].turn_n = n - first;
	}
}

/* Leaves a note where the planned groups are not those that were asked for. */
static void groups_plan(struct event_groups *groups, const struct opening *o)
{
	struct counter_set *set = o->set;
	size_t n_batched = 0;

	*groups = (struct event_groups){ 0 };
	for (size_t i = 0; i < set->n; i++)
		n_batched += may_join_batch(o, &set->v[i]);
	for (size_t i = 0; i < set->n; i++) {
		const struct event *event = set->v[i].event;
		size_t n = event->n_members ? event->n_members : 1;
		bool joins = n_batched > 1 && may_join_batch(o, &set->v[i]);
		struct event_group *batch = joins ? batch_for(groups, &set->v[i]) : NULL;

		if (event->leader != i)
			continue;
		if (batch) {
			add_member(batch, &set->v[i]);
			continue;
		}
		plan_group(o, groups, i, n <= set->n - i ? n : set->n - i);
		if (joins) {
			batch = &groups->v[groups->n - 1];
			batch->batch = batch->grouped = batch->together = true;
			batch->inherit = o->options->inherit;
		}
	}
	plan_turns(o, groups);
}

static void groups_release(struct event_groups *groups)
{
	for (size_t i = 0; i < groups->n; i++)
		free(groups->v[i].members);
	free(groups->v);
	free(groups->order);
	*groups = (struct event_groups){ 0 };
}

/* The group whose turn it is, in the slot that `g` opens next, where `g` stands in the list. */
static struct event_group *whose_turn(const struct event_groups *groups, const struct event_group *g,
				      unsigned first_group)
{
	size_t at = (size_t)(g - groups->v), k = 0;

	if (g->turn_n < 2)
		return &groups->v[at];
	while (groups->order[g->turn_first + k] != at)
		k++;
	return &groups->v[groups->order[g->turn_first + (k + first_group + g->next) % g->turn_n]];
}

/* ---- what a member asks the kernel for ---- */

/*
 * The kernel reads the text that a probe's attr points to again for each new task, out of the memory
 * of the task that forks: there it is not, and fork() in the measured program would fail (EFAULT).
 */
static bool has_probe_path(const struct event_group *g, const struct counter *c)
{
	return g->grouped ? g->probe_path : c->event->probe_path != NULL;
}

/* Are children and new threads to count with this counter, whether that can be had or not? */
static bool wants_inherit(const struct opening *o, const struct event_group *g,
			  const struct counter *c)
{
	enum term_switch term = c->event->terms.inherit;

	if (g->grouped)
		return g->inherit;
	return term == TERM_UNSET ? o->options->inherit : term == TERM_ON;
}

static bool inherits(const struct opening *o, const struct event_group *g, const struct counter *c)
{
	return !has_probe_path(g, c) && wants_inherit(o, g, c);
}

static void prepare_attr(struct perf_event_attr *attr, const struct counter *c,
			 const struct counter *leader, const struct opening *o, const struct event_group *g)
{
	const struct event *event = c->event;
	bool together = g->grouped && g->together;

	*attr = event->attr;
	attr->size = sizeof(*attr);
	attr->inherit = leader ? leader->attr.inherit : inherits(o, g, c);
	attr->disabled = !leader;
	attr->enable_on_exec = !leader && (!c->cpus.n || c->follows_tasks) &&
			       o->options->enable_on_exec && !o->options->start_disabled;
	/* The kernel takes these two from leaders only. */
	attr->pinned = !leader && (event->attr.pinned || (together && g->event->attr.pinned));
	attr->exclusive = !leader && (event->attr.exclusive || (together && g->event->attr.exclusive));
	if (event->precise_max && event_needs_counter(event))
		attr->precise_ip = 3;
	if (event->tracking)
		attr->disabled = attr->enable_on_exec = 0;
	if (o->machine.defer == DEFER_DOUBTED || o->machine.defer == DEFER_UNKNOWN)
		attr_set_defer(attr, 0);
	if (o->options->sample)
		return;
	/* Tracepoints and terms may ask for samples; a count has none. */
	attr->sample_period = 0;
	attr->freq = 0;
	attr->sample_type = 0;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (together && !o->options->single_reads && !g->single_reads)
		attr->read_format |= PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	if (leader)
		attr->read_format = leader->attr.read_format;
}

/* leader: NULL where the member is to lead, or to be alone. */
static void prepare_member(struct opening *o, const struct event_group *g, struct member *m,
			   const struct counter *leader)
{
	m->attempt = (struct attempt){
		.machine = &o->machine,
		.event = m->counter->event,
		.is_member = leader != NULL,
		.weak = g->event->weak,
	};
	prepare_attr(&m->attempt.attr, m->counter, leader, o, g);
	m->asked = m->attempt.attr;
	m->prepared = true;
}

/* Tries to open one slot for a task that forks; some forks in a hundred come between. */
enum { MOST_TRIES = 100 };

/* Results of opening a member, or a slot; negative errnos end the run. */
enum opened {
	OPENED,
	GONE, /* its task or CPU is not there */
	LOST, /* the member cannot be counted; the others go on */
	MOVED, /* the task forked, and its leader is its child's: the slot has to be opened again */
	TORN, /* the task forked, and its child has half a group: the same */
	CHANGED, /* so have all: the whole group is closed */
};

/* Attrs that were prepared for another leader, or for the leader as it was, are made anew. */
static void forget_prepared(struct event_group *g, const struct member *but)
{
	for (size_t i = 0; i < g->n; i++)
		g->members[i].prepared = &g->members[i] == but;
}

/* ---- closing ---- */

static void close_member(const struct opening *o, struct member *m, size_t slot)
{
	if (m->counter->fds[slot] < 0)
		return;
	o->set->kern->sys->close(m->counter->fds[slot]);
	m->counter->fds[slot] = -1;
	m->n_open--;
}

/* Members before their leader: else each would be made a leader first. */
static void close_slot(const struct opening *o, struct event_group *g, size_t slot)
{
	for (size_t i = g->n; i-- > 0;)
		close_member(o, &g->members[i], slot);
}

static void close_everywhere(const struct opening *o, struct event_group *g)
{
	for (size_t slot = 0; slot < slots_count(g->members[0].counter); slot++)
		close_slot(o, g, slot);
}

static enum opened start_again(const struct opening *o, struct event_group *g)
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
static size_t events_on_pmu(const struct event_group *g, const struct member *last)
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
static void give_up(struct opening *o, const struct event_group *g, struct member *m,
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

/* Closes all counters of the group, to be opened one by one. */
static enum opened break_up(struct opening *o, struct event_group *g)
{
	note_add(o->set->notes, true, NULL, "%s: its weak group does not fit: counted one by one",
		 g->event->name);
	g->grouped = false;
	return start_again(o, g);
}

/*
 * The member cannot be counted. Where others were opened on it, or it has slots elsewhere, the group
 * has to do without it there too.
 */
static enum opened lose(struct opening *o, struct event_group *g, struct member *m,
			const struct failed_call *call, int rc, bool leads)
{
	give_up(o, g, m, call, rc);
	if (leads && g->grouped && m->n_open)
		return start_again(o, g);
	if (leads && g->grouped)
		forget_prepared(g, NULL);
	for (size_t slot = 0; slot < slots_count(m->counter); slot++)
		close_member(o, m, slot);
	return LOST;
}

/* ---- tasks that fork ---- */

/*
 * Does the leader belong to another task by now? Then it takes no member whatever, not even an event that goes with
 * all others: EINVAL while that task lives, ENODEV when it has ended (6.18). The failed call has ended the swapping
 * of contexts for this task, so the answer stays true. Where the CPU or the task itself is gone by now, opening the
 * slot again will tell.
 */
static bool leader_has_moved(const struct opening *o, const struct counter *leader,
			     const struct failed_call *call)
{
	struct perf_event_attr attr = {
		ATTR_OF_NOTHING,
		.size = sizeof(attr),
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
static bool child_has_half(const struct opening *o, const struct event_group *g, const struct counter *leader,
			   size_t slot)
{
	if (o->target->kind != TARGET_TASKS || !g->grouped || g->n < 2 || !leader->attr.inherit ||
	    !(leader->attr.read_format & PERF_FORMAT_GROUP))
		return false;
	return group_is_torn(o->set->kern->sys, leader->fds[slot]);
}

/* ---- one slot ---- */

static struct failed_call call_for(const struct opening *o, const struct event_group *g,
				   const struct counter *c, const struct counter *leader, size_t slot)
{
	bool in_cgroup = g->cgroup_fd >= 0;

	return (struct failed_call){
		.pid = in_cgroup ? g->cgroup_fd :
		       c->cpus.n && !c->follows_tasks ? -1 :
		       o->target->threads[slot % c->n_threads].tid,
		.cpu = slot_cpu(c, slot),
		.group_fd = leader ? leader->fds[slot] : -1,
		.flags = PERF_FLAG_FD_CLOEXEC | (in_cgroup ? PERF_FLAG_PID_CGROUP : 0),
	};
}

static bool is_gone(const struct failed_call *call, int rc)
{
	return (rc == -ESRCH && call->pid >= 0 && !(call->flags & PERF_FLAG_PID_CGROUP)) ||
	       (rc == -ENODEV && call->cpu >= 0);
}

/* Decides about a call that failed. OPENED: try again with the attempt's attr. */
static int after_refusal(struct opening *o, struct event_group *g, struct member *m,
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
	/* The slots that are open have the old attr. */
	close_everywhere(o, g);
	return CHANGED;
}

static int open_member(struct opening *o, struct event_group *g, struct member *m,
		       const struct counter *leader, size_t slot)
{
	struct counter *c = m->counter;
	const struct failed_call call = call_for(o, g, c, leader, slot);
	int rc;

	if (!m->prepared)
		prepare_member(o, g, m, leader);
	do {
		c->attr = m->attempt.attr;
		rc = o->set->kern->sys->perf_event_open(&c->attr, call.pid, call.cpu, call.group_fd,
							call.flags);
		if (rc >= 0) {
			c->fds[slot] = rc;
			m->n_open++;
			if (attr_defer(&c->attr))
				o->machine.defer = DEFER_KNOWN;
			return OPENED;
		}
		rc = after_refusal(o, g, m, leader, &call, rc);
	} while (rc == OPENED);
	return rc;
}

/* Events that are opened one by one take turns with each other as well. */
static struct member *nth_member(const struct opening *o, struct event_group *g, size_t i, size_t slot)
{
	if (g->grouped || !g->rival)
		return &g->members[i];
	return &g->members[(i + o->options->first_group + slot) % g->n];
}

static int open_back_to_back(struct opening *o, struct event_group *g, size_t slot)
{
	const struct counter *leader = NULL;

	for (size_t i = 0; i < g->n; i++) {
		struct member *m = nth_member(o, g, i, slot);
		int rc;

		if (m->lost)
			continue;
		rc = open_member(o, g, m, g->grouped ? leader : NULL, slot);
		if (rc == LOST)
			continue;
		if (rc != OPENED)
			return rc;
		leader = leader ? leader : m->counter;
	}
	return leader && child_has_half(o, g, leader, slot) ? TORN : OPENED;
}

/* CHANGED, or OPENED where the slot is as open as it will be. */
static int open_slot(struct opening *o, struct event_group *g, size_t slot)
{
	int rc, tries = 0;

	do {
		rc = open_back_to_back(o, g, slot);
		if (rc == GONE || rc == MOVED || rc == TORN)
			close_slot(o, g, slot);
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

/* The next slot; where that changes the group, those before it as well. */
static int open_next_slot(struct opening *o, struct event_group *g, size_t next)
{
	int rc = open_slot(o, g, next);

	if (rc != CHANGED)
		return rc;
	for (size_t slot = 0; slot <= next; slot = rc == CHANGED ? 0 : slot + 1) {
		rc = open_slot(o, g, slot);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* ---- all slots ---- */

/* CPU by CPU and thread by thread, all groups that have a slot there. */
static int open_all_slots(struct opening *o, const struct event_groups *groups)
{
	uint64_t place;

	do {
		place = UINT64_MAX;
		for (size_t i = 0; i < groups->n; i++) {
			const struct event_group *g = &groups->v[i];
			uint64_t its = g->n ? slot_place(g->members[0].counter, g->next) : UINT64_MAX;

			place = its < place ? its : place;
		}
		for (size_t i = 0; place != UINT64_MAX && i < groups->n; i++) {
			struct event_group *g = &groups->v[i];
			int rc;

			if (!g->n || slot_place(g->members[0].counter, g->next) != place)
				continue;
			rc = open_next_slot(o, whose_turn(groups, g, o->options->first_group),
					    g->next);
			if (rc < 0)
				return rc;
			g->next++;
		}
	} while (place != UINT64_MAX);
	return 0;
}

/* ---- conclusions ---- */

static void note_probe(const struct opening *o, const struct event_group *g, const struct counter *c)
{
	if (c->leaves_tasks && has_probe_path(g, c))
		note_add(o->set->notes, false, "-a counts them, with all other programs",
			 "%s: child processes and new threads are not counted: the kernel follows only "
			 "probes that are set up in tracefs", c->name);
}

static void conclude_member(struct opening *o, struct event_group *g, struct member *m)
{
	struct counter *c = m->counter;

	if (m->lost)
		return;
	if (!m->n_open) {
		if (!m->prepared)
			prepare_member(o, g, m, NULL);
		c->attr = m->attempt.attr;
		give_up(o, g, m, &g->call, g->failed);
		return;
	}
	fallback_notes(&m->attempt, o->set->notes);
	c->leaves_tasks = (!c->cpus.n || c->follows_tasks) && o->target->kind != TARGET_CPUS && !c->attr.inherit &&
			  wants_inherit(o, g, c);
	note_probe(o, g, c);
	free(c->name);
	c->name = fallback_name(&m->attempt);
	c->state = COUNTER_OPEN;
}

static void conclude(struct opening *o, struct event_group *g)
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

static int open_cgroups(struct opening *o, struct event_groups *groups)
{
	for (size_t i = 0; i < groups->n; i++) {
		struct event_group *g = &groups->v[i];
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
	struct event_groups groups;
	int rc;

	groups_plan(&groups, o);
	rc = open_cgroups(o, &groups);
	if (!rc)
		rc = open_all_slots(o, &groups);
	for (size_t i = 0; i < groups.n; i++) {
		if (!rc)
			conclude(o, &groups.v[i]);
		if (groups.v[i].cgroup_fd >= 0)
			close(groups.v[i].cgroup_fd);
	}
	groups_release(&groups);
	return rc;
}
