/* SPDX-License-Identifier: MIT */
/*
 * Events -> counters, and what is done with open counters until they are closed: switched on and off, asked for their
 * ids, given another filter, period or program.
 *
 * Every event gets its slots (slots.c), the limit of open files is raised to what they need, group_open.c opens them
 * group by group, then filters are set and what no exec starts is started. At the end: is anything counted at all?
 *
 * Counters of whole CPUs cannot wait for a command's exec: they are enabled when all is open. Nothing counts before:
 * the kernel (6.18) takes a member into a group of clocks that counts already, says that it runs, and counts nothing in
 * it until the group is scheduled anew.
 *
 * Source: perf_event_open(2), "perf_event ioctl calls".
 */
#include "kern/group_open.h"
#include "kern/reason.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>

/* ---- what is to be opened ---- */

/* Asked before anything is open: what is open could hold the breakpoint that the trial needs. */
static void refuse_silent(struct opening *o, struct counter *c)
{
	const struct failure failure = {
		.machine = &o->machine,
		.event = c->event,
		.attr = &c->event->attr,
		.err = EOPNOTSUPP,
		.cpu = -1,
	};

	c->err = failure.err;
	reason_find(&failure, &c->reason, &c->remedy);
}

static bool is_bpf_output(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_BPF_OUTPUT;
}

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
	if (event_is_silent(&o->machine, event)) {
		refuse_silent(o, c);
		return;
	}
	intset_format(&event->cpus, &cpus);
	if (o->options->per_cpu ? slots_plan_per_cpu(c, o->target, &o->online) :
				  slots_plan(c, o->target, &o->online)) {
		c->err = ENODEV;
		c->reason = !event->cpus_chosen ? xasprintf("its unit counts on CPU %s only", cpus.s) :
						  xasprintf("CPU %s is not %s", cpus.s,
							    c->follows_tasks ? "online" : "measured");
	} else if (c->cpus.n && !c->follows_tasks && o->target->kind != TARGET_CPUS) {
		note_add(o->set->notes, true, NULL, is_bpf_output(&event->attr) ?
			 "%s: on CPU %s: holds what BPF programs write there, of any task" :
			 "%s: counts all tasks on CPU %s: its unit cannot follow a task", c->name, cpus.s);
	}
	if (event->bpf)
		note_add(o->set->notes, true, NULL, "%s: counted by perf events, without BPF",
			 c->name);
	str_release(&cpus);
}

/* Allows as many descriptors as the slots need, up to the hard limit; opening shows whether they are enough. */
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

size_t counters_plan_fds(const struct event_list *events, const struct target *target)
{
	const struct intset unknown = INTSET_INIT;
	size_t need = 0;

	for (size_t i = 0; i < events->n; i++) {
		struct counter counter = { .event = &events->v[i] };

		if (counter.event->kind == EVENT_KERNEL && !slots_plan(&counter, target, &unknown))
			need += slots_count(&counter) + (counter.event->cgroup != NULL);
		intset_release(&counter.cpus);
		free(counter.fds);
	}
	return need;
}

int files_allow(const struct kern *kern, size_t counters, size_t besides, struct str *err)
{
	struct rlimit limit;
	rlim_t need = counters + besides;

	if (kern->sys->rlimit(RLIMIT_NOFILE, NULL, &limit) < 0 || need <= limit.rlim_cur)
		return 0;
	if (need > limit.rlim_max)
		return fail(err, -EMFILE,
			    "cannot open all counters: %llu file descriptors are needed, the hard limit is %llu\n"
			    "count fewer events or CPUs, or as root: ulimit -n %llu",
			    (unsigned long long)need, (unsigned long long)limit.rlim_max, (unsigned long long)need);
	limit.rlim_cur = need;
	kern->sys->rlimit(RLIMIT_NOFILE, &limit, NULL);
	return 0;
}

/* ---- one open counter ---- */

/* All slots take the change, one after the other; the first that does not ends it. */
static int each_slot(const struct counter_set *set, size_t index, unsigned long request, unsigned long arg)
{
	const struct counter *c = &set->v[index];
	int rc = 0;

	for (size_t slot = 0; rc >= 0 && slot < slots_count(c); slot++)
		if (c->fds[slot] >= 0)
			rc = set->kern->sys->ioctl(c->fds[slot], request, arg);
	return rc < 0 ? rc : 0;
}

static int filter_failed(const struct counter_set *set, const struct event *event, const char *filter, int rc,
			 struct str *err)
{
	struct str reason = STR_INIT, remedy = STR_INIT;
	struct event refused = *event;

	refused.filter = xstrdup(filter);
	if (rc == -EINVAL)
		event_filter_explain(&refused, &set->kern->host, &reason, &remedy);
	free(refused.filter);
	str_add(err, "filter '");
	str_add_printable(err, filter, strlen(filter));
	str_addf(err, "' of %s: ", event->name);
	if (reason.len)
		str_addf(err, "%s\n%s", reason.s, remedy.s);
	else if (rc == -EEXIST)
		str_add(err, "it has a filter already, and the kernel accepts one for each open event");
	else
		str_addf(err, "the kernel refuses it: %s", strerror(-rc));
	str_release(&reason);
	str_release(&remedy);
	return rc;
}

int counter_set_filter(const struct counter_set *set, size_t index, const char *filter, struct str *err)
{
	int rc = each_slot(set, index, PERF_EVENT_IOC_SET_FILTER, (unsigned long)filter);

	return rc < 0 ? filter_failed(set, set->v[index].event, filter, rc, err) : 0;
}

int counter_set_period(const struct counter_set *set, size_t index, uint64_t period)
{
	return each_slot(set, index, PERF_EVENT_IOC_PERIOD, (unsigned long)&period);
}

/* The program of a tracepoint is the kernel's for all of its descriptors, whichever it was given to. */
int counter_attach_bpf(const struct counter_set *set, size_t index, int program_fd)
{
	const struct counter *c = &set->v[index];

	for (size_t slot = 0; c->attr.type == PERF_TYPE_TRACEPOINT && slot < slots_count(c); slot++)
		if (c->fds[slot] >= 0)
			return set->kern->sys->ioctl(c->fds[slot], PERF_EVENT_IOC_SET_BPF, (unsigned long)program_fd);
	return each_slot(set, index, PERF_EVENT_IOC_SET_BPF, (unsigned long)program_fd);
}

int counter_refresh(const struct counter_set *set, size_t index, unsigned n)
{
	return each_slot(set, index, PERF_EVENT_IOC_REFRESH, n);
}

/* The kernel keeps at most so many for a tracepoint (BPF_TRACE_MAX_PROGS). */
enum { BPF_PROGRAMS_MAX = 64 };

int counter_bpf_programs(const struct counter_set *set, size_t index, uint32_t *ids, size_t max)
{
	uint32_t query[2 + BPF_PROGRAMS_MAX] = { BPF_PROGRAMS_MAX }; /* struct perf_event_query_bpf */
	const struct counter *c = &set->v[index];
	size_t slot = 0;
	int rc;

	while (slot < slots_count(c) && c->fds[slot] < 0)
		slot++;
	if (slot == slots_count(c))
		return -EINVAL;
	rc = set->kern->sys->ioctl(c->fds[slot], PERF_EVENT_IOC_QUERY_BPF, (unsigned long)query);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < max && i < query[1]; i++)
		ids[i] = query[2 + i];
	return (int)query[1];
}

int counter_slot_id(const struct counter_set *set, size_t index, size_t slot, uint64_t *id)
{
	return set->kern->sys->ioctl(set->v[index].fds[slot], PERF_EVENT_IOC_ID, (unsigned long)id);
}

int counter_add_ids(const struct counter_set *set, size_t index, uint64_t **ids, size_t *n)
{
	const struct counter *c = &set->v[index];

	*ids = xreallocarray(*ids, *n + slots_count(c), sizeof(**ids));
	for (size_t slot = 0; slot < slots_count(c); slot++) {
		uint64_t id;
		int rc;

		if (c->fds[slot] < 0)
			continue;
		rc = counter_slot_id(set, index, slot, &id);
		if (rc < 0)
			return rc;
		(*ids)[(*n)++] = id;
	}
	return 0;
}

/* ---- all of them ---- */

int counters_set_filters(struct counter_set *set, struct str *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < set->n; i++) {
		if (set->v[i].state == COUNTER_OPEN && set->v[i].event->filter)
			rc = counter_set_filter(set, i, set->v[i].event->filter, err);
	}
	return rc;
}

/* One request for each group, CPU by CPU; -errno of the first that failed, after all were tried. */
static int switch_groups(const struct counter_set *set, unsigned long request,
			 bool (*wanted)(const struct counter *leader), const struct counter **failed)
{
	const struct layout *layout = set->layout;
	int rc = 0;

	for (size_t i = 0; layout && i < layout->n_slots; i++) {
		const struct counter *leader = layout_leader(set, layout->slots[i].group);
		int fd = leader->fds[layout->slots[i].slot], one;

		if (fd < 0 || !wanted(leader))
			continue;
		one = set->kern->sys->ioctl(fd, request, 0);
		if (one < 0 && !rc) {
			rc = one;
			*failed = leader;
		}
	}
	return rc;
}

static bool is_cpu_wide(const struct counter *leader)
{
	return leader->cpus.n && !leader->follows_tasks;
}

static bool is_switched(const struct counter *leader)
{
	return !leader->event->tracking;
}

static int finish(struct opening *o)
{
	int rc = o->options->filters_later ? 0 : counters_set_filters(o->set, o->err);
	const struct counter *failed = NULL;

	if (rc)
		return rc;
	layout_make(o->set, !o->options->leave_affinity);
	witnesses_open(o->set, o->target, o->options);
	/* An exec starts all but what counts whole CPUs. */
	if (!o->options->start_disabled)
		rc = switch_groups(o->set, PERF_EVENT_IOC_ENABLE,
				   o->options->enable_on_exec ? is_cpu_wide : is_switched, &failed);
	if (!o->options->start_disabled && !o->options->enable_on_exec)
		witnesses_switch(o->set, PERF_EVENT_IOC_ENABLE);
	return rc ? fail(o->err, rc, "cannot enable %s: %s", failed->name, strerror(-rc)) : 0;
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

static bool any_cpus_chosen(const struct event_list *events)
{
	bool any = false;

	for (size_t i = 0; i < events->n; i++)
		any = any || events->v[i].cpus_chosen;
	return any;
}

int counters_open(struct counter_set *set, const struct event_list *events,
		  const struct target *target, const struct open_options *options,
		  const struct kern *kern, struct note_list *notes, struct str *err)
{
	struct opening o = { .set = set, .target = target, .options = options, .err = err };
	int rc;

	machine_init(&o.machine, kern);
	if (options->per_cpu && options->task_cpus)
		intset_copy(&o.online, options->task_cpus);
	else if (options->per_cpu || any_cpus_chosen(events))
		cpus_for_tasks(&kern->host, &o.online);
	*set = (struct counter_set){ .kern = kern, .notes = notes, .n = events->n };
	set->v = xcalloc(events->n, sizeof(*set->v));
	for (size_t i = 0; i < set->n; i++) {
		set->v[i].event = &events->v[i];
		set->v[i].name = xstrdup(events->v[i].name);
		set->v[i].leader = i;
		set->v[i].n_members = 1;
		plan_counter(&o, &set->v[i]);
	}
	if (!options->leave_limits)
		raise_file_limit(&o);
	rc = groups_open(&o);
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

/* A leader last: its members would each be made a leader before they are closed. */
static void close_slots(const struct counter_set *set)
{
	for (size_t i = set->n; i-- > 0;) {
		const struct counter *c = &set->v[i];

		for (size_t slot = 0; c->fds && slot < slots_count(c); slot++) {
			if (c->fds[slot] >= 0)
				set->kern->sys->close(c->fds[slot]);
		}
	}
}

void counters_close(struct counter_set *set)
{
	witnesses_close(set);
	close_slots(set);
	for (size_t i = 0; i < set->n; i++) {
		struct counter *c = &set->v[i];

		intset_release(&c->cpus);
		free(c->fds);
		free(c->ids);
		free(c->name);
		free(c->call);
		free(c->reason);
		free(c->remedy);
	}
	free(set->v);
	layout_free(set->layout);
	removal_free(set->removal);
	*set = (struct counter_set){ 0 };
}

int counters_enable(struct counter_set *set)
{
	const struct counter *failed;
	int rc = switch_groups(set, PERF_EVENT_IOC_ENABLE, is_switched, &failed);

	witnesses_switch(set, PERF_EVENT_IOC_ENABLE);
	removal_begin(set);
	return rc;
}

int counters_disable(struct counter_set *set)
{
	const struct counter *failed;

	witnesses_switch(set, PERF_EVENT_IOC_DISABLE);
	removal_pause(set);
	return switch_groups(set, PERF_EVENT_IOC_DISABLE, is_switched, &failed);
}

/* ---- an event, tried alone ---- */

/* A period that is never reached while the event is open. */
enum { TRY_PERIOD = 1 << 30 };

static int try_to_open(const struct event *event, uint64_t period, const struct kern *kern)
{
	bool whole_cpus = event_is_moved(event);
	struct machine machine;
	struct attempt a = {
		.machine = &machine,
		.event = event,
		.attr = event->attr,
		.pid = whole_cpus ? -1 : 0,
		.cpu = whole_cpus ? event->cpus.v[0] : -1,
	};
	int rc;

	if (event->kind != EVENT_KERNEL)
		return 0;
	if (event_nowhere(event))
		return -ENODEV;
	a.attr.sample_period = period;
	a.attr.freq = 0;
	a.attr.sample_type = 0;
	machine_init(&machine, kern);
	if (event_is_silent(&machine, event)) {
		machine_release(&machine);
		return -EOPNOTSUPP;
	}
	do {
		rc = open_once(kern, &a.attr, a.pid, a.cpu, 0);
	} while (rc < 0 && fallback_next(&a, -rc));
	machine_release(&machine);
	return rc;
}

int event_try(const struct event *event, const struct kern *kern)
{
	return try_to_open(event, 0, kern);
}

int event_try_sample(const struct event *event, const struct kern *kern, char **reason)
{
	int rc = try_to_open(event, TRY_PERIOD, kern);
	struct perf_event_attr attr = event->attr;
	struct machine machine;
	struct failure failure = {
		.machine = &machine,
		.event = event,
		.attr = &attr,
		.err = -rc,
		.cpu = -1,
	};
	char *remedy = NULL;

	if (!rc)
		return 0;
	attr.sample_period = TRY_PERIOD;
	machine_init(&machine, kern);
	reason_find(&failure, reason, &remedy);
	machine_release(&machine);
	free(remedy);
	return rc;
}
