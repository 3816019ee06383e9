/*
 * How many counters of a PMU are free, found out by opening; nothing is left open. Knows no fallbacks and no reasons:
 * these ask here.
 *
 * A counter is free if a pinned event gets it: the kernel puts a pinned event that finds no counter
 * into the error state, in which reading gives end-of-file.
 */
#include "kern/kern.h"
#include "kern/machine.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <sched.h>
#include <stdlib.h>

/* No PMU has this many: one that grants them all does not ration its counters. */
enum { COUNTERS_MAX = 64 };

/* What to open on a core PMU: generic events that need a general counter, the likeliest first. */
static const uint64_t general_events[] = {
	PERF_COUNT_HW_CACHE_REFERENCES,
	PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	PERF_COUNT_HW_BRANCH_MISSES,
	PERF_COUNT_HW_INSTRUCTIONS,
	PERF_COUNT_HW_CPU_CYCLES,
};

/* Those that some PMUs have a counter for that counts nothing else. */
static const struct {
	uint64_t config;
	const char *name;
} own_events[] = {
	{ PERF_COUNT_HW_CPU_CYCLES, "cycles" },
	{ PERF_COUNT_HW_INSTRUCTIONS, "instructions" },
	{ PERF_COUNT_HW_REF_CPU_CYCLES, "ref-cycles" },
};

enum { EXTENDED_TYPE_SHIFT = 32 }; /* hybrid machines: the PMU's type in the high half of config */

struct probe {
	const struct kern *kern;
	struct perf_event_attr attr;
	pid_t pid;
	int cpu;
};

static int probe_opens(struct probe *p)
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
static int choose_core_event(struct probe *p, const struct event_pmu *pmu)
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
static int choose_pmu_event(struct probe *p, const struct event_pmu *pmu)
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
static int choose_breakpoint(struct probe *p)
{
	static uint64_t watched;

	p->attr.type = PERF_TYPE_BREAKPOINT;
	p->attr.bp_type = HW_BREAKPOINT_W;
	p->attr.bp_addr = (uintptr_t)&watched;
	p->attr.bp_len = HW_BREAKPOINT_LEN_4;
	return probe_opens(p);
}

static bool has_counter(const struct probe *p, int fd)
{
	uint64_t value;
	ssize_t n;

	do {
		n = p->kern->sys->read(fd, &value, sizeof(value));
	} while (n == -EINTR);
	return n > 0;
}

/* A descriptor that holds a counter, or -1. */
static int pin_one(const struct probe *p)
{
	struct perf_event_attr attr = p->attr;
	int fd = p->kern->sys->perf_event_open(&attr, p->pid, p->cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -1;
	if (has_counter(p, fd))
		return fd;
	p->kern->sys->close(fd);
	return -1;
}

/* While all general counters are held: an event that still gets one has a counter of its own. */
static int pin_own(struct probe *p, struct pmu_counters *counters, int *fds)
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
static int count_pinned(struct probe *p, bool is_core, struct pmu_counters *counters)
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
	struct probe p = { .kern = kern, .cpu = -1 };
	cpu_set_t old, own;
	bool moved = false;
	int rc;

	*counters = (struct pmu_counters){ 0 };
	if (pmu->has_no_cpu)
		return -ENODEV;
	p.attr.size = sizeof(p.attr);
	if (pmu->type == PERF_TYPE_SOFTWARE || pmu->type == PERF_TYPE_TRACEPOINT ||
	    !strcmp(pmu->name, "kprobe") || !strcmp(pmu->name, "uprobe"))
		return -ENOTSUP;
	/* A core type's events only run on its CPUs: go there. */
	if (pmu->is_core && pmu->cpus.n && !sched_getaffinity(0, sizeof(old), &old)) {
		CPU_ZERO(&own);
		for (size_t i = 0; i < pmu->cpus.n; i++) {
			if (pmu->cpus.v[i] >= 0 && pmu->cpus.v[i] < CPU_SETSIZE)
				CPU_SET(pmu->cpus.v[i], &own);
		}
		moved = !sched_setaffinity(0, sizeof(own), &own);
	}
	if (pmu->type == PERF_TYPE_BREAKPOINT)
		rc = choose_breakpoint(&p);
	else if (pmu->is_core)
		rc = choose_core_event(&p, pmu);
	else
		rc = choose_pmu_event(&p, pmu);
	if (!rc)
		rc = count_pinned(&p, pmu->is_core, counters);
	if (moved)
		sched_setaffinity(0, sizeof(old), &old);
	return rc;
}
