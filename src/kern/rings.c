/* SPDX-License-Identifier: MIT */
/*
 * The rings of a counter set: which descriptors share one, how large they are, and which descriptor
 * tells that there is something in it.
 *
 *   event 0 on CPU 0   fd 5  mapped  <--+
 *   event 1 on CPU 0   fd 7  SET_OUTPUT +      a ring for CPU 0
 *   event 0 on CPU 1   fd 6  mapped  <--+
 *   event 1 on CPU 1   fd 8  SET_OUTPUT +      a ring for CPU 1
 *
 * The kernel lets descriptors share a ring that are of one CPU, or without a CPU of one task, and that
 * all write forwards or all backwards (perf_event_open(2), PERF_EVENT_IOC_SET_OUTPUT).
 *
 * Invariants: all rings are of one size. Descriptors are borrowed from the counter set, which must
 * be closed after the rings.
 */
#include "kern/slots.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Four times what perf takes, while all rings together stay within ALL_BYTES. */
enum { DEFAULT_BYTES = 2 << 20, ALL_BYTES = 64 << 20, WAKE_PARTS = 4 };
/*
 * Least sizes of a ring, even where all together are then larger than ALL_BYTES. Each CPU may be busy at once; of many
 * threads only as many are as there are CPUs, and a ring of theirs needs room for what comes until pstat has woken.
 */
enum { LEAST_BYTES_OF_CPU = 512 << 10, LEAST_BYTES_OF_THREAD = 16 << 10 };

/* Descriptors that write into a ring: the mapped one first. */
struct ring_fds {
	int *v;
	size_t n, cap;
	size_t next; /* the first that has not been given out for polling */
	pid_t tid; /* of rings without a CPU */
};

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* How many there will be; what an event has of its own (a PMU's CPUs) can only make them fewer. */
static size_t planned(const struct event_list *events, const struct target *target, bool per_cpu,
		      const struct kern *kern)
{
	struct intset online = INTSET_INIT;
	bool forward = false, backward = false;
	size_t n = target->n_threads;

	if (target->cpus.n) {
		n = target->cpus.n;
	} else if (per_cpu) {
		cpus_for_tasks(&kern->host, &online);
		n = online.n ? online.n : n;
	}
	intset_release(&online);
	for (size_t i = 0; i < events->n; i++) {
		forward |= !events->v[i].attr.write_backward;
		backward |= events->v[i].attr.write_backward;
	}
	return forward && backward ? 2 * n : n;
}

static uint64_t wanted_bytes(uint64_t want)
{
	uint64_t bytes = page_bytes();

	while (bytes < want && bytes < UINT64_MAX / 2)
		bytes *= 2;
	return bytes;
}

uint64_t rings_default_bytes(const struct event_list *events, const struct target *target,
			     bool per_cpu, const struct kern *kern)
{
	bool of_cpus = per_cpu || target->cpus.n;
	uint64_t bytes = DEFAULT_BYTES, n = planned(events, target, per_cpu, kern);
	uint64_t least = of_cpus ? LEAST_BYTES_OF_CPU : LEAST_BYTES_OF_THREAD;

	/* One dump of a stack is taken while the next one comes. */
	for (size_t i = 0; i < events->n; i++) {
		uint64_t two_dumps = wanted_bytes(2ull * events->v[i].attr.sample_stack_user + 1);

		least = two_dumps > least ? two_dumps : least;
	}
	while (bytes > least && bytes * n > ALL_BYTES)
		bytes /= 2;
	return bytes;
}

uint32_t rings_watermark(uint64_t data_bytes)
{
	uint64_t part = wanted_bytes(data_bytes) / WAKE_PARTS;

	return part < UINT32_MAX ? (uint32_t)part : UINT32_MAX;
}

/* ---- who shares a ring ---- */

static struct ring_fds *find(const struct ring_set *rings, int cpu, size_t thread, bool overwrite)
{
	for (size_t i = rings->n; i-- > 0;) {
		const struct ring *ring = &rings->v[i];

		if (ring->cpu == cpu && ring->overwrite == overwrite &&
		    (cpu >= 0 || rings->fds[i].tid == (pid_t)thread))
			return &rings->fds[i];
	}
	return NULL;
}

static struct ring_fds *add_ring(struct ring_set *rings, int cpu, size_t thread, bool overwrite)
{
	size_t old_cap = rings->cap;

	VEC_GROW(rings->v, rings->n, rings->cap);
	if (rings->cap != old_cap)
		rings->fds = xreallocarray(rings->fds, rings->cap, sizeof(*rings->fds));
	rings->v[rings->n] = (struct ring){ .fd = -1, .cpu = cpu, .overwrite = overwrite };
	rings->fds[rings->n] = (struct ring_fds){ .tid = (pid_t)thread };
	return &rings->fds[rings->n++];
}

static void plan_counter(struct ring_set *rings, const struct counter *c)
{
	for (size_t slot = 0; slot < c->n_cpus * c->n_threads; slot++) {
		int cpu = c->cpus.n ? c->cpus.v[slot / c->n_threads] : -1;
		size_t thread = slot % c->n_threads;
		struct ring_fds *fds;

		if (c->fds[slot] < 0)
			continue;
		fds = find(rings, cpu, thread, c->attr.write_backward);
		if (!fds)
			fds = add_ring(rings, cpu, thread, c->attr.write_backward);
		VEC_GROW(fds->v, fds->n, fds->cap);
		fds->v[fds->n++] = c->fds[slot];
	}
}

/* ---- mapping ---- */

static void unmap_all(struct ring_set *rings)
{
	for (size_t i = 0; i < rings->n; i++)
		ring_unmap(&rings->v[i]);
}

static int map_all(struct ring_set *rings, const struct sys_ops *sys, uint64_t bytes)
{
	for (size_t i = 0; i < rings->n; i++) {
		struct ring *ring = &rings->v[i];
		int rc = ring_map(ring, sys, rings->fds[i].v[0], ring->cpu,
				  (size_t)(bytes / page_bytes()), ring->overwrite);

		if (rc) {
			unmap_all(rings);
			return rc;
		}
	}
	rings->data_bytes = bytes;
	return 0;
}

/* Over the limit of locked memory, or no memory at all: less may go. */
static bool may_be_smaller(int rc, uint64_t bytes)
{
	return (rc == -EPERM || rc == -ENOMEM) && bytes > page_bytes();
}

static int map_what_fits(struct ring_set *rings, const struct counter_set *set,
			 const struct ring_options *options, struct str *err)
{
	uint64_t want = wanted_bytes(options->data_bytes), bytes = want;
	int rc = map_all(rings, set->kern->sys, bytes);

	while (may_be_smaller(rc, bytes)) {
		bytes /= 2;
		rc = map_all(rings, set->kern->sys, bytes);
	}
	if (rc == -EPERM)
		return fail(err, rc, "%zu rings of %zu bytes: over the limit of locked memory\n"
			    "sudo sysctl kernel.perf_event_mlock_kb=%zu, or raise ulimit -l",
			    rings->n, page_bytes(), rings->n * 516);
	if (rc)
		return fail(err, rc, "%zu rings of %llu bytes cannot be mapped: %s", rings->n,
			    (unsigned long long)bytes, strerror(-rc));
	if (bytes < want && bytes < options->enough_bytes)
		note_add(set->notes, false,
			 "sudo sysctl kernel.perf_event_mlock_kb=8192, or raise ulimit -l",
			 "rings of %llu KiB instead of %llu KiB: that is what the limit of locked "
			 "memory allows", (unsigned long long)bytes / 1024,
			 (unsigned long long)want / 1024);
	return 0;
}

static int share(const struct ring_set *rings, const struct sys_ops *sys, struct str *err)
{
	for (size_t i = 0; i < rings->n; i++) {
		const struct ring_fds *fds = &rings->fds[i];

		for (size_t k = 1; k < fds->n; k++) {
			int rc = sys->ioctl(fds->v[k], PERF_EVENT_IOC_SET_OUTPUT,
					    (unsigned long)fds->v[0]);

			if (rc < 0)
				return fail(err, rc, "an event cannot share the ring of CPU %d: %s",
					    rings->v[i].cpu, strerror(-rc));
		}
	}
	return 0;
}

int rings_open(struct ring_set *rings, const struct counter_set *set,
	       const struct ring_options *options, struct str *err)
{
	int rc;

	*rings = (struct ring_set){ 0 };
	for (size_t i = 0; i < set->n; i++) {
		if (set->v[i].state == COUNTER_OPEN)
			plan_counter(rings, &set->v[i]);
	}
	rc = map_what_fits(rings, set, options, err);
	if (!rc)
		rc = share(rings, set->kern->sys, err);
	if (rc)
		rings_close(rings);
	return rc;
}

void rings_close(struct ring_set *rings)
{
	unmap_all(rings);
	for (size_t i = 0; i < rings->n; i++)
		free(rings->fds[i].v);
	free(rings->fds);
	free(rings->v);
	*rings = (struct ring_set){ 0 };
}

int rings_next_fd(struct ring_set *rings, size_t index)
{
	struct ring_fds *fds = &rings->fds[index];

	return fds->next < fds->n ? fds->v[fds->next++] : -1;
}
