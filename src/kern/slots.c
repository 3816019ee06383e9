/* SPDX-License-Identifier: MIT */
/*
 * The shape of a counter: on which CPUs and tasks it has a slot, and how many descriptors that takes.
 */
#include "kern/slots.h"

#include <errno.h>
#include <stdlib.h>

/* File descriptors that are open anyway: standard ones, output, pipes to the child, a library. */
enum { FDS_BESIDES_COUNTERS = 64 };

static void intersect(struct intset *to, const struct intset *a, const struct intset *b)
{
	for (size_t i = 0; i < a->n; i++) {
		if (intset_has(b, a->v[i]))
			intset_add(to, a->v[i]);
	}
}

static void alloc_slots(struct counter *counter)
{
	counter->fds = xreallocarray(counter->fds, slots_count(counter), sizeof(*counter->fds));
	for (size_t i = 0; i < slots_count(counter); i++)
		counter->fds[i] = -1;
}

int slots_plan(struct counter *counter, const struct target *target, const struct intset *online)
{
	const struct event *event = counter->event;
	bool tasks = target->n_threads && target->threads[0].tid >= 0;
	bool of_all_tasks = event_is_moved(event);

	counter->cpus.n = 0;
	counter->follows_tasks = tasks && event->cpus_chosen;
	counter->n_threads = tasks && !of_all_tasks ? target->n_threads : 1;
	if (counter->follows_tasks && online->n)
		intersect(&counter->cpus, online, &event->cpus);
	else if (tasks && (of_all_tasks || event->cpus_chosen))
		intset_copy(&counter->cpus, &event->cpus);
	else if (!tasks && event->cpus.n)
		intersect(&counter->cpus, &target->cpus, &event->cpus);
	else if (!tasks)
		intset_copy(&counter->cpus, &target->cpus);
	counter->n_cpus = counter->cpus.n ? counter->cpus.n : 1;
	if ((!tasks || counter->follows_tasks) && !counter->cpus.n) {
		counter->n_cpus = 0;
		return -ENODEV;
	}
	alloc_slots(counter);
	return 0;
}

int slots_plan_per_cpu(struct counter *counter, const struct target *target,
		       const struct intset *online)
{
	const struct event *event = counter->event;
	int rc = slots_plan(counter, target, online);

	if (rc || counter->cpus.n || target->kind == TARGET_CPUS)
		return rc;
	if (event->cpus.n)
		intersect(&counter->cpus, online, &event->cpus);
	else
		intset_copy(&counter->cpus, online);
	if (!counter->cpus.n)
		return -ENODEV;
	counter->n_cpus = counter->cpus.n;
	counter->follows_tasks = true;
	alloc_slots(counter);
	return 0;
}

size_t slots_count(const struct counter *counter)
{
	return counter->n_cpus * counter->n_threads;
}

bool slots_match(const struct counter *a, const struct counter *b)
{
	return a->n_threads == b->n_threads && a->cpus.n == b->cpus.n &&
	       a->follows_tasks == b->follows_tasks &&
	       (!a->cpus.n || !memcmp(a->cpus.v, b->cpus.v, a->cpus.n * sizeof(*a->cpus.v))) &&
	       text_same(a->event->cgroup, b->event->cgroup);
}

int slot_cpu(const struct counter *counter, size_t slot)
{
	return counter->cpus.n ? counter->cpus.v[slot / counter->n_threads] : -1;
}

uint64_t slot_place(const struct counter *counter, size_t slot)
{
	if (slot >= slots_count(counter))
		return UINT64_MAX;
	return (uint64_t)(slot_cpu(counter, slot) + 1) << 32 | slot % counter->n_threads;
}

size_t counters_need_fds(const struct counter_set *set)
{
	size_t need = FDS_BESIDES_COUNTERS;

	/* A cgroup's folder is open while its counters are opened; beside tasks on some CPUs there are witnesses. */
	for (size_t i = 0; i < set->n; i++) {
		const struct counter *c = &set->v[i];

		if (c->state != COUNTER_SOFTWARE)
			need += slots_count(c) * (c->follows_tasks ? 2 : 1) + (c->event->cgroup != NULL);
	}
	return need;
}
