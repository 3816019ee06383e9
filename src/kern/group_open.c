/*
 * One group of events -> open counters: its leader's cells first, then each member's on the
 * leader's file descriptors; every refusal goes through the ladder (fallback.c) and, if nothing
 * helps, gets its reason (reason.c).
 *
 * Decisions:
 *   - A member that cannot be opened is not supported; its group goes on without it. Where that is
 *     the leader, the first member that opens leads. (What can be counted together is.)
 *   - A weak group with a member that opens alone but not in the group is opened again, event by
 *     event.
 *   - Only leaders start disabled, with enable_on_exec for a held command; members follow them.
 *   - Software events that stand alone and measure whole CPUs share one group all the same: they never
 *     wait for a counter, so nothing changes but the cost, one read and one interrupt per CPU instead
 *     of one per event.
 *   - A counter with closed cells (a thread that ended meanwhile) is open as long as one cell is.
 */
#include "kern/cells.h"
#include "kern/fallback.h"
#include "kern/opening.h"
#include "kern/reason.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* One group as it is being opened. */
struct group {
	size_t first, n; /* events, not all of them necessarily counters of the group */
	bool weak, pinned, exclusive;
	bool grouped; /* members open on the leader; false: one by one */
	bool batch; /* the group of all lone software events: opening->batch leads it */
	struct counter *leader; /* NULL while none is open */
	size_t on_pmu; /* events open so far that take a counter of a PMU */
};

/* ---- attr ---- */

/* How many of the group's events the kernel counts. */
static size_t kernel_events(const struct opening *o, const struct group *g)
{
	size_t n = 0;

	for (size_t i = g->first; i < g->first + g->n; i++)
		n += o->set->v[i].event->kind == EVENT_KERNEL;
	return n;
}

/*
 * The kernel reads the text that a probe's attr points to again for each new task, out of the memory
 * of the task that forks: there it is not, and fork() in the measured program would fail (EFAULT).
 */
static bool has_probe_path(const struct opening *o, const struct group *g, const struct counter *c)
{
	if (!g->grouped)
		return c->event->probe_path;
	for (size_t i = g->first; i < g->first + g->n; i++)
		if (o->set->v[i].event->probe_path)
			return true;
	return false;
}

static bool inherits(const struct opening *o, const struct group *g, const struct counter *c)
{
	enum term_switch term = c->event->terms.inherit;

	return (term == TERM_UNSET ? o->options->inherit : term == TERM_ON) && !has_probe_path(o, g, c);
}

static void note_probe(const struct opening *o, const struct group *g, const struct counter *c)
{
	if (o->options->inherit && o->target->kind != TARGET_CPUS && has_probe_path(o, g, c))
		note_add(o->set->notes, false, NULL,
			 "%s: child processes and new threads are not counted: the kernel follows only "
			 "probes that are set up in tracefs", c->name);
}

static void attr_prepare(struct perf_event_attr *attr, const struct counter *c,
			 const struct opening *o, const struct group *g)
{
	const struct event *event = c->event;
	bool leads = !g->grouped || !g->leader;
	bool together = g->grouped && (g->batch || kernel_events(o, g) > 1);

	*attr = event->attr;
	attr->size = sizeof(*attr);
	attr->inherit = inherits(o, g, c);
	attr->disabled = leads && (o->options->enable_on_exec || o->options->start_disabled);
	attr->enable_on_exec = leads && (!c->cpus.n || c->follows_tasks) &&
			       o->options->enable_on_exec && !o->options->start_disabled;
	/* The kernel takes these two from leaders only. */
	attr->pinned = leads && (event->attr.pinned || (together && g->pinned));
	attr->exclusive = leads && (event->attr.exclusive || (together && g->exclusive));
	if (event->precise_max && event_needs_counter(event))
		attr->precise_ip = 3;
	if (event->tracking)
		attr->disabled = attr->enable_on_exec = 0;
	if (o->options->sample)
		return;
	/* Tracepoints and terms may ask for samples; a count has none. */
	attr->sample_period = 0;
	attr->freq = 0;
	attr->sample_type = 0;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (together && !o->options->single_reads)
		attr->read_format |= PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	if (!leads)
		attr->read_format = g->leader->attr.read_format;
}

/* ---- one counter ---- */

static char *call_text(const struct perf_event_attr *attr, const struct failed_call *call, int rc)
{
	return xasprintf("perf_event_open({type %u, config 0x%llx}, pid %d, cpu %d, group_fd %d, "
			 "flags 0x%lx): %s (errno %d)",
			 attr->type, (unsigned long long)attr->config, (int)call->pid, call->cpu,
			 call->group_fd, call->flags, strerror(-rc), -rc);
}

/*
 * Fills why the counter is not supported. The last errno counts: the kernel looks at permissions
 * first, so what remains after the fallbacks is the real hindrance. What permission would be needed
 * is a question of what was asked for, before any fallback.
 */
static void give_up(struct opening *o, const struct group *g, struct counter *c,
		    const struct perf_event_attr *asked, const struct failed_call *call, int rc)
{
	struct failure failure = {
		.machine = &o->machine,
		.event = c->event,
		.attr = rc == -EACCES || rc == -EPERM ? asked : &c->attr,
		.err = -rc,
		.pid = call->pid,
		.cpu = call->cpu,
		.flags = call->flags & PERF_FLAG_PID_CGROUP,
		.group_events = g->on_pmu + event_needs_counter(c->event),
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

enum opened { OPENED, NOT_OPENED, GROUP_BREAKS };

/*
 * Opens one counter, as a leader or as a member, by way of the ladder. enum opened, or a negative
 * errno that ends the run.
 */
static int open_counter(struct opening *o, const struct group *g, struct counter *c, int cgroup_fd)
{
	const struct counter *leader = g->grouped ? g->leader : NULL;
	struct attempt a = {
		.machine = &o->machine,
		.event = c->event,
		.is_member = leader != NULL,
		.weak = g->weak,
	};
	struct failed_call call = { .pid = -1, .cpu = -1, .group_fd = -1 };
	struct perf_event_attr asked;
	int rc;

	attr_prepare(&a.attr, c, o, g);
	asked = a.attr;
	for (;;) {
		c->attr = a.attr;
		rc = cells_open(c, leader, o->target, cgroup_fd, o->set->kern->sys, &call);
		if (!rc)
			break;
		if (rc == -EMFILE || rc == -ENFILE)
			return no_descriptors(o, rc);
		a.pid = call.pid;
		a.cpu = call.cpu;
		a.flags = call.flags & PERF_FLAG_PID_CGROUP;
		if (!fallback_next(&a, -rc)) {
			give_up(o, g, c, &asked, &call, rc);
			return NOT_OPENED;
		}
		if (a.break_group)
			return GROUP_BREAKS;
	}
	fallback_notes(&a, o->set->notes);
	note_probe(o, g, c);
	free(c->name);
	c->name = fallback_name(&a);
	c->state = COUNTER_OPEN;
	return OPENED;
}

/* The same with the cgroup's folder, where the event has one. */
static int open_in_cgroup(struct opening *o, const struct group *g, struct counter *c)
{
	int fd = -1, rc;

	if (!c->event->cgroup)
		return open_counter(o, g, c, -1);
	if (!c->cpus.n || c->follows_tasks)
		return fail(o->err, -EINVAL, "cgroup '%s': it is counted on CPUs, not on tasks\n"
			    "add -a or -C", c->event->cgroup);
	fd = cgroup_open(c->event->cgroup, &o->set->kern->host, o->err);
	if (fd < 0)
		return fd;
	rc = open_counter(o, g, c, fd);
	close(fd);
	return rc;
}

/* ---- groups ---- */

/* All counters of the group are closed again, to be opened one by one. */
static void break_up(struct opening *o, struct group *g)
{
	struct counter *v = o->set->v;

	for (size_t i = g->first; i < g->first + g->n; i++) {
		if (v[i].state != COUNTER_OPEN)
			continue;
		cells_close(&v[i], o->set->kern->sys);
		v[i].leader = i;
		v[i].n_members = 1;
	}
	note_add(o->set->notes, true, NULL, "%s: its weak group does not fit: counted one by one",
		 v[g->first].name);
	g->grouped = false;
	g->leader = NULL;
	g->on_pmu = 0;
}

static void joined(struct opening *o, struct group *g, size_t index)
{
	struct counter *c = &o->set->v[index];

	g->on_pmu += event_needs_counter(c->event);
	if (g->grouped && g->leader) {
		c->leader = (size_t)(g->leader - o->set->v);
		g->leader->n_members++;
		return;
	}
	if (g->grouped && index != g->first && o->set->v[g->first].state == COUNTER_NOT_SUPPORTED)
		note_add(o->set->notes, true, NULL,
			 "%s: leads its group, because %s cannot be counted", c->name,
			 o->set->v[g->first].name);
	g->leader = c;
}

/* A member whose CPUs or cgroup are not its leader's cannot share a group with it. */
static int open_apart(struct opening *o, struct counter *c)
{
	struct group alone = { .first = (size_t)(c - o->set->v), .n = 1 };

	note_add(o->set->notes, false, NULL,
		 "%s: counted outside its group: it is counted on other CPUs than the group",
		 c->name);
	return open_in_cgroup(o, &alone, c);
}

/* May this lone event be read together with its like? */
static bool may_join_batch(const struct opening *o, const struct counter *c)
{
	const struct event *event = c->event;

	return event->kind == EVENT_KERNEL && event->attr.type == PERF_TYPE_SOFTWARE &&
	       event->n_members <= 1 && !event->attr.pinned && !event->attr.exclusive &&
	       !event->cgroup && c->cpus.n && o->target->kind == TARGET_CPUS &&
	       !o->options->single_reads && !o->options->sample;
}

void batch_plan(struct opening *o)
{
	size_t n = 0;

	for (size_t i = 0; i < o->set->n; i++)
		n += may_join_batch(o, &o->set->v[i]);
	o->batches = n > 1;
}

int open_group(struct opening *o, size_t first)
{
	const struct event *event = o->set->v[first].event;
	struct group g = {
		.first = first,
		.n = event->n_members ? event->n_members : 1,
		.weak = event->weak,
		.pinned = event->attr.pinned,
		.exclusive = event->attr.exclusive,
	};
	int rc;

	g.n = g.n <= o->set->n - first ? g.n : o->set->n - first;
	g.batch = o->batches && may_join_batch(o, &o->set->v[first]) &&
		  (!o->batch || cells_match(&o->set->v[first], o->batch));
	g.leader = g.batch ? o->batch : NULL;
	g.grouped = g.batch || g.n > 1;
	for (size_t i = first; i < first + g.n; i++) {
		struct counter *c = &o->set->v[i];

		/*
		 * err: it failed for a reason of its own, before its group was broken up or
		 * planned.
		 */
		if (c->state == COUNTER_SOFTWARE || c->err)
			continue;
		if (g.grouped && g.leader && !cells_match(c, g.leader)) {
			rc = open_apart(o, c);
			if (rc < 0)
				return rc;
			continue;
		}
		rc = open_in_cgroup(o, &g, c);
		if (rc < 0)
			return rc;
		if (rc == OPENED)
			joined(o, &g, i);
		if (rc == GROUP_BREAKS) {
			break_up(o, &g);
			i = first - 1;
		}
	}
	if (g.batch)
		o->batch = g.leader;
	return 0;
}
