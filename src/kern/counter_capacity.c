/* SPDX-License-Identifier: MIT */
/*
 * The capacity of a PMU's counters: which events take them, how many are free, and which events can be counted at the
 * same time. All of it is found by opening, by way of the ladder where an event may be given up in steps; nothing is
 * left open.
 *
 * A counter is free if a pinned event gets it: the kernel puts a pinned event or group that finds no counter into the
 * error state, in which reading gives end-of-file. Only that tells what somebody else holds right now (the NMI
 * watchdog, another user of the machine): the kernel's own check of a group, when a member joins, asks whether the
 * PMU could hold it at all.
 *
 * A core PMU's events run on its CPUs only, so the thread of pstat goes there for as long as it tries.
 */
#include "kern/fallback.h"
#include "kern/machine.h"
#include "kern/slots.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>

/* ---- which counters an event takes ---- */

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

/* ---- shared by both trials ---- */

/* The CPUs on which the thread of pstat ran before it went to those of a core PMU. */
struct core_visit {
	cpu_set_t before;
	bool moved;
};

static void go_to_core(struct core_visit *visit, bool is_core, const struct intset *cpus)
{
	cpu_set_t own;

	visit->moved = false;
	if (!is_core || !cpus->n || sched_getaffinity(0, sizeof(visit->before), &visit->before))
		return;
	CPU_ZERO(&own);
	for (size_t i = 0; i < cpus->n; i++) {
		if (cpus->v[i] >= 0 && cpus->v[i] < CPU_SETSIZE)
			CPU_SET(cpus->v[i], &own);
	}
	visit->moved = !sched_setaffinity(0, sizeof(own), &own);
}

static void leave_core(const struct core_visit *visit)
{
	if (visit->moved)
		sched_setaffinity(0, sizeof(visit->before), &visit->before);
}

/* Reads a pinned event: false where it found no counter. */
static bool has_counter(const struct sys_ops *sys, int fd)
{
	uint64_t value;

	return read_fd(sys, fd, &value, sizeof(value)) > 0;
}

/* ---- how many are free ---- */

/* No PMU has this many: one that grants them all does not ration its counters. */
enum { COUNTERS_MAX = 64 };

/* Generic events to open on a core PMU: those that need a general counter, the likeliest first. */
static const uint64_t general_events[] = {
	PERF_COUNT_HW_CACHE_REFERENCES,
	PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	PERF_COUNT_HW_BRANCH_MISSES,
	PERF_COUNT_HW_INSTRUCTIONS,
	PERF_COUNT_HW_CPU_CYCLES,
};

/* Some PMUs have a counter for one of these that counts nothing else. */
static const struct {
	uint64_t config;
	const char *name;
} own_events[] = {
	{ PERF_COUNT_HW_CPU_CYCLES, "cycles" },
	{ PERF_COUNT_HW_INSTRUCTIONS, "instructions" },
	{ PERF_COUNT_HW_REF_CPU_CYCLES, "ref-cycles" },
};

enum { EXTENDED_TYPE_SHIFT = 32 }; /* hybrid machines: the PMU's type in the high half of config */

struct counter_probe {
	const struct kern *kern;
	struct perf_event_attr attr;
	pid_t pid;
	int cpu;
};

static int probe_opens(struct counter_probe *p)
{
	int rc = open_once(p->kern, &p->attr, p->pid, p->cpu, 0);

	if ((rc == -EACCES || rc == -EPERM) && p->pid >= 0) {
		p->attr.exclude_kernel = p->attr.exclude_hv = 1;
		rc = open_once(p->kern, &p->attr, p->pid, p->cpu, 0);
	}
	return rc;
}

/*
 * Chooses an event that opens on the core PMU: first for this PMU alone, then as the kernel
 * picks.
 */
static int choose_core_event(struct counter_probe *p, const struct event_pmu *pmu)
{
	int rc = -ENOENT;

	for (int extended = 1; extended >= 0; extended--) {
		for (size_t i = 0; i < ARRAY_SIZE(general_events); i++) {
			p->attr.type = PERF_TYPE_HARDWARE;
			p->attr.config = general_events[i];
			if (extended)
				p->attr.config |= (uint64_t)pmu->type << EXTENDED_TYPE_SHIFT;
			rc = probe_opens(p);
			if (!rc)
				return 0;
		}
	}
	return rc;
}

/* A PMU's first event numbers: most PMUs have something there, and only opening can tell. */
static int choose_pmu_event(struct counter_probe *p, const struct event_pmu *pmu)
{
	int rc = -ENOENT;

	p->attr.type = pmu->type;
	p->pid = -1;
	p->cpu = pmu->cpus.n ? pmu->cpus.v[0] : 0;
	for (uint64_t config = 1; rc && config < 4; config++) {
		p->attr.config = config % 3;
		rc = probe_opens(p);
	}
	return rc;
}

/* Watches an address of pstat's own that nobody writes while this runs. */
static int choose_breakpoint(struct counter_probe *p)
{
	static uint64_t watched;

	p->attr.type = PERF_TYPE_BREAKPOINT;
	p->attr.bp_type = HW_BREAKPOINT_W;
	p->attr.bp_addr = (uintptr_t)&watched;
	p->attr.bp_len = HW_BREAKPOINT_LEN_4;
	return probe_opens(p);
}

/* A descriptor that holds a counter, or -1. */
static int pin_one(const struct counter_probe *p)
{
	struct perf_event_attr attr = p->attr;
	int fd = p->kern->sys->perf_event_open(&attr, p->pid, p->cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -1;
	if (has_counter(p->kern->sys, fd))
		return fd;
	p->kern->sys->close(fd);
	return -1;
}

/* An event that still gets a counter while all general ones are held has one of its own. */
static int pin_own(struct counter_probe *p, struct pmu_counters *counters, int *fds)
{
	uint64_t pmu_bits = p->attr.config >> EXTENDED_TYPE_SHIFT << EXTENDED_TYPE_SHIFT;
	int n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(own_events); i++) {
		p->attr.config = own_events[i].config | pmu_bits;
		fds[n] = pin_one(p);
		if (fds[n] < 0)
			continue;
		counters->own_names[n++] = own_events[i].name;
	}
	return n;
}

/* Opens pinned events until one gets no counter. */
static int count_pinned(struct counter_probe *p, bool is_core, struct pmu_counters *counters)
{
	int fds[COUNTERS_MAX + ARRAY_SIZE(own_events)], n = 0, fd = 0;

	p->attr.pinned = 1;
	while (n < COUNTERS_MAX && (fd = pin_one(p)) >= 0)
		fds[n++] = fd;
	counters->general = n;
	if (is_core && n && n < COUNTERS_MAX)
		counters->own = pin_own(p, counters, fds + n);
	n += counters->own;
	for (int i = 0; i < n; i++)
		p->kern->sys->close(fds[i]);
	return counters->general < COUNTERS_MAX ? 0 : -ENOTSUP;
}

int pmu_free_counters(const struct event_pmu *pmu, const struct kern *kern)
{
	struct pmu_counters counters;
	int rc = pmu_counters_find(pmu, kern, &counters);

	return rc ? rc : counters.general;
}

int pmu_counters_short_for(const struct pmu_counters *counters, size_t n)
{
	int all = counters->general + counters->own;

	return n > (size_t)all ? all : counters->general;
}

void pmu_counters_format(const struct pmu_counters *counters, const char *free_word,
			 struct str *out)
{
	str_addf(out, "%d %s", counters->general + counters->own, free_word);
	if (counters->own)
		str_addf(out, ": %d for any event", counters->general);
	for (int i = 0; i < counters->own; i++)
		str_addf(out, ", 1 for %s", counters->own_names[i]);
}

int pmu_counters_find(const struct event_pmu *pmu, const struct kern *kern,
		      struct pmu_counters *counters)
{
	struct counter_probe p = { .kern = kern, .cpu = -1 };
	struct core_visit visit;
	int rc;

	*counters = (struct pmu_counters){ 0 };
	if (pmu->has_no_cpu)
		return -ENODEV;
	p.attr.size = sizeof(p.attr);
	if (pmu->type == PERF_TYPE_SOFTWARE || pmu->type == PERF_TYPE_TRACEPOINT ||
	    !strcmp(pmu->name, "kprobe") || !strcmp(pmu->name, "uprobe"))
		return -ENOTSUP;
	go_to_core(&visit, pmu->is_core, &pmu->cpus);
	if (pmu->type == PERF_TYPE_BREAKPOINT)
		rc = choose_breakpoint(&p);
	else if (pmu->is_core)
		rc = choose_core_event(&p, pmu);
	else
		rc = choose_pmu_event(&p, pmu);
	if (!rc)
		rc = count_pinned(&p, pmu->is_core, counters);
	leave_core(&visit);
	return rc;
}

/* ---- what fits at the same time ---- */

struct trial_group {
	const struct kern *kern;
	struct machine machine;
	pid_t pid;
	int cpu;
	int *fds;
	size_t n;
};

/* Finds the attr that opens alone, after the steps that counters_open() would take: 0, or the negative errno. */
static int opening_attr(struct trial_group *trial, const struct event *event, struct perf_event_attr *attr)
{
	struct attempt a = {
		.machine = &trial->machine,
		.event = event,
		.attr = event->attr,
		.pid = trial->pid,
		.cpu = trial->cpu,
	};
	int rc;

	if (event_nowhere(event))
		return -ENODEV;
	if (event_is_silent(&trial->machine, event))
		return -EOPNOTSUPP;
	a.attr.size = sizeof(a.attr);
	a.attr.sample_period = a.attr.sample_type = 0;
	a.attr.freq = a.attr.pinned = a.attr.exclusive = 0;
	if (event->precise_max && event_needs_counter(event))
		a.attr.precise_ip = 3;
	do {
		rc = open_once(trial->kern, &a.attr, trial->pid, trial->cpu, 0);
	} while (rc < 0 && fallback_next(&a, -rc));
	*attr = a.attr;
	return rc;
}

/* Adds one event to the group; the first leads it. */
static bool joins(struct trial_group *trial, struct perf_event_attr *attr)
{
	int fd;

	attr->pinned = attr->disabled = trial->n == 0;
	fd = trial->kern->sys->perf_event_open(attr, trial->pid, trial->cpu, trial->n ? trial->fds[0] : -1,
					     PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return false;
	trial->fds[trial->n++] = fd;
	return true;
}

static bool runs(const struct trial_group *trial)
{
	const struct sys_ops *sys = trial->kern->sys;

	return sys->ioctl(trial->fds[0], PERF_EVENT_IOC_ENABLE, 0) >= 0 && has_counter(sys, trial->fds[0]);
}

static bool opens_and_runs(struct trial_group *trial, struct perf_event_attr *attrs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!joins(trial, &attrs[i]))
			return false;
	return !n || runs(trial);
}

bool events_fit(const struct event *const *events, size_t n, const struct kern *kern)
{
	bool whole_cpus = n && event_is_moved(events[0]);
	struct trial_group trial = {
		.kern = kern,
		.pid = whole_cpus ? -1 : 0,
		.cpu = whole_cpus ? events[0]->cpus.v[0] : -1,
		.fds = xcalloc(n + 1, sizeof(*trial.fds)),
	};
	struct perf_event_attr *attrs = xcalloc(n + 1, sizeof(*attrs));
	struct core_visit visit;
	size_t n_opening = 0;
	bool fits;

	machine_init(&trial.machine, kern);
	go_to_core(&visit, n && events[0]->pmu_is_core, n ? &events[0]->cpus : NULL);
	/* Each event is tried alone before any is held: later it might not open for want of a counter. */
	for (size_t i = 0; i < n; i++)
		n_opening += opening_attr(&trial, events[i], &attrs[n_opening]) >= 0;
	fits = opens_and_runs(&trial, attrs, n_opening);
	while (trial.n)
		kern->sys->close(trial.fds[--trial.n]);
	leave_core(&visit);
	machine_release(&trial.machine);
	free(trial.fds);
	free(attrs);
	return fits;
}

/* ---- how many counters n events find ---- */

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
