/*
 * Events -> counters: every event gets its cells (cells.c), the limit of open files is raised to
 * what they need, group_open.c opens them group by group, then filters are set and what no exec
 * starts is started. At the end: is anything counted at all?
 *
 * What measures whole CPUs cannot wait for a command's exec: it is enabled when all is open.
 */
#include "kern/cells.h"
#include "kern/kern.h"
#include "kern/opening.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>

/* File descriptors that are open anyway: standard ones, output, pipes to the child, a library. */
enum { FDS_BESIDES_COUNTERS = 64 };

static void plan_counter(struct opening *o, struct counter *c)
{
	const struct event *event = c->event;
	struct str cpus = STR_INIT;

	if (event->kind != EVENT_KERNEL) {
		c->state = COUNTER_SOFTWARE;
		return;
	}
	c->state = COUNTER_NOT_SUPPORTED;
	if (event_nowhere(event)) {
		c->err = ENODEV;
		c->reason = xstrdup(event_nowhere(event));
		return;
	}
	intset_format(&event->cpus, &cpus);
	if (o->options->per_cpu ? cells_plan_per_cpu(c, o->target, &o->online) :
				  cells_plan(c, o->target)) {
		c->err = ENODEV;
		c->reason = xasprintf("its unit counts on CPU %s only", cpus.s);
	} else if (c->cpus.n && !c->follows_tasks && o->target->kind != TARGET_CPUS) {
		note_add(o->set->notes, true, NULL,
			 "%s: counts all tasks on CPU %s: its unit cannot follow a task", c->name,
			 cpus.s);
	}
	if (event->bpf)
		note_add(o->set->notes, true, NULL, "%s: counted by perf events, without BPF",
			 c->name);
	str_release(&cpus);
}

size_t counters_need_fds(const struct counter_set *set)
{
	size_t need = FDS_BESIDES_COUNTERS;

	for (size_t i = 0; i < set->n; i++) {
		if (set->v[i].state != COUNTER_SOFTWARE)
			need += cells_count(&set->v[i]);
	}
	return need;
}

/*
 * As many descriptors as the cells need, up to the hard limit; what that gives shows when opening.
 */
static void raise_file_limit(const struct opening *o)
{
	const struct sys_ops *sys = o->set->kern->sys;
	rlim_t need = counters_need_fds(o->set);
	struct rlimit limit;

	if (sys->rlimit(RLIMIT_NOFILE, NULL, &limit) < 0 || need <= limit.rlim_cur)
		return;
	limit.rlim_cur = need < limit.rlim_max ? need : limit.rlim_max;
	sys->rlimit(RLIMIT_NOFILE, &limit, NULL);
}

int counters_set_filters(struct counter_set *set, struct str *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < set->n; i++) {
		if (set->v[i].state == COUNTER_OPEN && set->v[i].event->filter)
			rc = counter_set_filter(set, i, set->v[i].event->filter, err);
	}
	return rc;
}

/* What no exec can start, where the others wait for one. */
static int enable_cpu_wide(struct opening *o, const struct counter *c)
{
	for (size_t cell = 0; cell < cells_count(c); cell++) {
		int rc = c->fds[cell] < 0 ? 0 :
			 o->set->kern->sys->ioctl(c->fds[cell], PERF_EVENT_IOC_ENABLE, 0);

		if (rc < 0)
			return fail(o->err, rc, "cannot enable %s: %s", c->name, strerror(-rc));
	}
	return 0;
}

static int finish(struct opening *o)
{
	bool waits = o->options->enable_on_exec && !o->options->start_disabled;
	int rc = o->options->filters_later ? 0 : counters_set_filters(o->set, o->err);

	for (size_t i = 0; !rc && i < o->set->n; i++) {
		const struct counter *c = &o->set->v[i];

		if (c->state != COUNTER_OPEN)
			continue;
		if (c->leader == i && c->cpus.n && !c->follows_tasks && waits)
			rc = enable_cpu_wide(o, c);
		if (c->leader == i && (c->attr.read_format & PERF_FORMAT_GROUP))
			o->set->group_reads = true;
	}
	return rc;
}

/* Nothing is open: is that the end of the run? */
static int verdict(struct opening *o)
{
	const struct counter *why = NULL;
	size_t wanted = 0, software = 0;

	for (size_t i = 0; i < o->set->n; i++) {
		const struct counter *c = &o->set->v[i];

		if (c->state == COUNTER_OPEN)
			return 0;
		software += c->state == COUNTER_SOFTWARE;
		if (c->state == COUNTER_SOFTWARE)
			continue;
		wanted++;
		why = why ? why : c;
	}
	if (wanted && o->gone == wanted)
		return fail(o->err, -ESRCH, "cannot count: the target has ended");
	if (!wanted || software || o->refused != wanted)
		return 0;
	return fail(o->err, -EACCES, "cannot count %s: %s%s%s", why->name, why->reason,
		    why->remedy ? "\n" : "", why->remedy ? why->remedy : "");
}

int counters_open(struct counter_set *set, const struct event_list *events,
		  const struct target *target, const struct open_options *options,
		  const struct kern *kern, struct note_list *notes, struct str *err)
{
	struct opening o = { .set = set, .target = target, .options = options, .err = err };
	int rc = 0;

	machine_init(&o.machine, kern);
	/* Without sysfs there is no CPU to open on, which is what the events then say. */
	if (options->per_cpu && cpus_online(&kern->host, &o.online))
		o.online.n = 0;
	*set = (struct counter_set){ .kern = kern, .notes = notes, .n = events->n,
				     .leave_affinity = options->leave_affinity };
	set->v = xcalloc(events->n, sizeof(*set->v));
	for (size_t i = 0; i < set->n; i++) {
		set->v[i].event = &events->v[i];
		set->v[i].name = xstrdup(events->v[i].name);
		set->v[i].leader = i;
		set->v[i].n_members = 1;
		plan_counter(&o, &set->v[i]);
	}
	batch_plan(&o);
	if (!options->leave_limits)
		raise_file_limit(&o);
	for (size_t i = 0; !rc && i < set->n; i++) {
		if (events->v[i].leader == i)
			rc = open_group(&o, i);
	}
	if (!rc)
		rc = finish(&o);
	if (!rc)
		rc = verdict(&o);
	machine_release(&o.machine);
	intset_release(&o.online);
	if (rc)
		counters_close(set);
	return rc;
}

void counters_close(struct counter_set *set)
{
	for (size_t i = 0; i < set->n; i++) {
		struct counter *c = &set->v[i];

		cells_close(c, set->kern->sys);
		intset_release(&c->cpus);
		free(c->fds);
		free(c->name);
		free(c->call);
		free(c->reason);
		free(c->remedy);
	}
	free(set->v);
	*set = (struct counter_set){ 0 };
}

static int all_leaders(struct counter_set *set, unsigned long request)
{
	int rc = 0;

	for (size_t i = 0; i < set->n; i++) {
		const struct counter *c = &set->v[i];

		if (c->state != COUNTER_OPEN || c->leader != i || c->event->tracking)
			continue;
		for (size_t cell = 0; cell < cells_count(c); cell++) {
			int one = c->fds[cell] < 0 ? 0 :
				  set->kern->sys->ioctl(c->fds[cell], request, 0);

			rc = rc ? rc : one < 0 ? one : 0;
		}
	}
	return rc;
}

int counters_enable(struct counter_set *set)
{
	return all_leaders(set, PERF_EVENT_IOC_ENABLE);
}

int counters_disable(struct counter_set *set)
{
	return all_leaders(set, PERF_EVENT_IOC_DISABLE);
}

int counter_add_ids(const struct counter_set *set, size_t index, uint64_t **ids, size_t *n)
{
	const struct counter *c = &set->v[index];

	*ids = xreallocarray(*ids, *n + cells_count(c), sizeof(**ids));
	for (size_t cell = 0; cell < cells_count(c); cell++) {
		uint64_t id;
		int rc;

		if (c->fds[cell] < 0)
			continue;
		rc = counter_cell_id(set, index, cell, &id);
		if (rc < 0)
			return rc;
		(*ids)[(*n)++] = id;
	}
	return 0;
}
