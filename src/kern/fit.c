/*
 * What this machine counts for this user, and what at the same time: found out by opening, by way of the ladder, as
 * counters_open() would; nothing is left open.
 *
 * The kernel's own check of a group, when a member joins, asks whether the PMU could hold it at all.
 * What somebody else holds right now (the NMI watchdog, another user of the machine) shows only when
 * the group is to run: a pinned group that finds no room then reads as end-of-file.
 */
#include "kern/fallback.h"
#include "kern/kern.h"
#include "kern/machine.h"
#include "kern/reason.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>

/* ---- one event ---- */

/* Long enough never to be reached while the event is open. */
enum { TRY_PERIOD = 1 << 30 };

static int try_to_open(const struct event *event, uint64_t period, const struct kern *kern)
{
	bool whole_cpus = event->cpus.n && !event->pmu_is_core;
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

/* ---- one PMU ---- */

/* The kernel counts for these itself, as often as it is asked to. */
static bool is_unlimited(const struct event *event)
{
	static const char *const pmus[] = { "msr", "kprobe", "uprobe", "tracepoint", "software" };

	for (size_t i = 0; i < ARRAY_SIZE(pmus); i++) {
		if (!strcmp(event->pmu_name, pmus[i]))
			return true;
	}
	return false;
}

/* The PMU of an event that takes a counter, "" for a core PMU that the kernel chooses; or NULL. */
static const char *pmu_of(const struct event *event)
{
	if (event->kind != EVENT_KERNEL)
		return NULL;
	if (event->attr.type == PERF_TYPE_BREAKPOINT)
		return "breakpoint";
	if (event_needs_counter(event))
		return event->pmu_name;
	if (event->attr.type < PERF_TYPE_MAX || !event->pmu_name[0] || is_unlimited(event))
		return NULL;
	return event->pmu_name;
}

bool events_share_counters(const struct event *a, const struct event *b)
{
	const char *pmu_a = pmu_of(a), *pmu_b = pmu_of(b);

	if (!pmu_a || !pmu_b)
		return false;
	if (!strcmp(pmu_a, pmu_b))
		return true;
	return event_needs_counter(a) && event_needs_counter(b) && (!*pmu_a || !*pmu_b);
}

/* ---- opening together ---- */

struct fit {
	const struct kern *kern;
	struct machine machine;
	pid_t pid;
	int cpu;
	int *fds;
	size_t n;
	cpu_set_t old_cpus;
	bool moved;
};

/* What opens alone, after the steps that counters_open() would take: 0, or the negative errno. */
static int opening_attr(struct fit *fit, const struct event *event, struct perf_event_attr *attr)
{
	struct attempt a = {
		.machine = &fit->machine,
		.event = event,
		.attr = event->attr,
		.pid = fit->pid,
		.cpu = fit->cpu,
	};
	int rc;

	if (event_nowhere(event))
		return -ENODEV;
	if (event_is_silent(&fit->machine, event))
		return -EOPNOTSUPP;
	a.attr.size = sizeof(a.attr);
	a.attr.sample_period = a.attr.sample_type = 0;
	a.attr.freq = a.attr.pinned = a.attr.exclusive = 0;
	if (event->precise_max && event_needs_counter(event))
		a.attr.precise_ip = 3;
	do {
		rc = open_once(fit->kern, &a.attr, fit->pid, fit->cpu, 0);
	} while (rc < 0 && fallback_next(&a, -rc));
	*attr = a.attr;
	return rc;
}

/* Adds one event to the group; the first leads it. */
static bool joins(struct fit *fit, struct perf_event_attr *attr)
{
	int fd;

	attr->pinned = attr->disabled = fit->n == 0;
	fd = fit->kern->sys->perf_event_open(attr, fit->pid, fit->cpu, fit->n ? fit->fds[0] : -1,
					     PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return false;
	fit->fds[fit->n++] = fd;
	return true;
}

static bool runs(const struct fit *fit)
{
	const struct sys_ops *sys = fit->kern->sys;
	uint64_t value;
	ssize_t n;

	if (sys->ioctl(fit->fds[0], PERF_EVENT_IOC_ENABLE, 0) < 0)
		return false;
	do {
		n = sys->read(fit->fds[0], &value, sizeof(value));
	} while (n == -EINTR);
	return n > 0;
}

/* A core type's events run on its CPUs only: go there. */
static void go_to(struct fit *fit, const struct event *event)
{
	cpu_set_t own;

	if (!event->pmu_is_core || !event->cpus.n ||
	    sched_getaffinity(0, sizeof(fit->old_cpus), &fit->old_cpus))
		return;
	CPU_ZERO(&own);
	for (size_t i = 0; i < event->cpus.n; i++) {
		if (event->cpus.v[i] >= 0 && event->cpus.v[i] < CPU_SETSIZE)
			CPU_SET(event->cpus.v[i], &own);
	}
	fit->moved = !sched_setaffinity(0, sizeof(own), &own);
}

static bool opens_and_runs(struct fit *fit, struct perf_event_attr *attrs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!joins(fit, &attrs[i]))
			return false;
	return !n || runs(fit);
}

bool events_fit(const struct event *const *events, size_t n, const struct kern *kern)
{
	bool whole_cpus = n && events[0]->cpus.n && !events[0]->pmu_is_core;
	struct fit fit = {
		.kern = kern,
		.pid = whole_cpus ? -1 : 0,
		.cpu = whole_cpus ? events[0]->cpus.v[0] : -1,
		.fds = xcalloc(n + 1, sizeof(*fit.fds)),
	};
	struct perf_event_attr *attrs = xcalloc(n + 1, sizeof(*attrs));
	size_t n_opening = 0;
	bool fits;

	machine_init(&fit.machine, kern);
	if (n)
		go_to(&fit, events[0]);
	/* All of them first: while others are held, one that opens alone may not. */
	for (size_t i = 0; i < n; i++)
		n_opening += opening_attr(&fit, events[i], &attrs[n_opening]) >= 0;
	fits = opens_and_runs(&fit, attrs, n_opening);
	while (fit.n)
		kern->sys->close(fit.fds[--fit.n]);
	if (fit.moved)
		sched_setaffinity(0, sizeof(fit.old_cpus), &fit.old_cpus);
	machine_release(&fit.machine);
	free(fit.fds);
	free(attrs);
	return fits;
}

int machine_counters(struct machine *machine, const struct event *event, size_t n)
{
	const char *name = pmu_of(event);
	const struct event_pmu *pmu = name ? machine_pmu(machine, name) : NULL;
	struct pmu_counters counters;

	if (!pmu || pmu_counters_find(pmu, machine->kern, &counters))
		return 0;
	return pmu_counters_short_for(&counters, n);
}

int event_counters(const struct event *event, size_t n, const struct kern *kern)
{
	struct machine machine;
	int found;

	machine_init(&machine, kern);
	found = machine_counters(&machine, event, n);
	machine_release(&machine);
	return found;
}
