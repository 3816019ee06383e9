/* SPDX-License-Identifier: MIT */
/*
 * The backend of counters that kern/ has opened: a counter set, read as it is.
 *
 * Core types: an event of a core PMU that has a list of CPUs follows a task, and counts while the task is
 * on these. Where they are all CPUs that are online there is nothing to know; else the machine has cores
 * of another type, which may be counted by events of their PMU, or by none.
 */
#include "count/count.h"

static bool follows_tasks_on_some_cpus(const struct counter *counter)
{
	return counter->state == COUNTER_OPEN && !counter->cpus.n && counter->event->pmu_is_core &&
	       counter->event->cpus.n;
}

static bool is_everywhere(const struct event *event, const struct host_paths *host)
{
	struct intset online = INTSET_INIT;
	bool everywhere = true;

	/* The PMU's own CPUs are all that are known where there is no list. */
	if (!cpus_online(host, &online))
		for (size_t i = 0; i < online.n && everywhere; i++)
			everywhere = intset_has(&event->cpus, online.v[i]);
	intset_release(&online);
	return everywhere;
}

/* Events of one PMU have one type, numbered in the order of the events. */
static void find_core_types(const struct counter_set *set, struct counted_event *events)
{
	size_t n_types = 0, only = 0;

	for (size_t i = 0; i < set->n; i++) {
		size_t same = 0;

		events[i].core_type = NO_CORE_TYPE;
		if (!follows_tasks_on_some_cpus(&set->v[i]))
			continue;
		while (same < i && (events[same].core_type == NO_CORE_TYPE ||
				    strcmp(set->v[same].event->pmu_name, set->v[i].event->pmu_name)))
			same++;
		if (same == i)
			only = i;
		events[i].core_type = same < i ? events[same].core_type : n_types++;
	}
	if (n_types != 1 || !is_everywhere(set->v[only].event, &set->kern->host))
		return;
	for (size_t i = 0; i < set->n; i++)
		events[i].core_type = NO_CORE_TYPE;
}

static void describe(const void *data, struct counted_event *events)
{
	const struct counter_set *set = data;

	for (size_t i = 0; i < set->n; i++) {
		const struct counter *counter = &set->v[i];

		events[i] = (struct counted_event){
			.event = counter->event,
			.attr = &counter->attr,
			.name = counter->name ? counter->name : counter->event->name,
			.state = counter->state,
			.reason = counter->reason,
			.cpus = &counter->cpus,
			.n_threads = counter->n_threads,
			.leader = counter->leader,
			.pass = counter->pass,
		};
	}
	find_core_types(set, events);
}

static void read_all(const void *data, reading_fn fn, void *to)
{
	counters_read(data, fn, to);
}

static int read_topology(const void *data, struct topology *topology, struct str *err)
{
	const struct counter_set *set = data;

	return topology_read(topology, &set->kern->host, err);
}

static int read_caches(const void *data, struct topology *topology, int level, struct str *err)
{
	const struct counter_set *set = data;

	return topology_read_caches(topology, level, &set->kern->host, err);
}

static void stopped_cpus(const void *data, struct intset *cpus)
{
	counters_stopped_cpus(data, cpus);
}

static char *never_ran_reason(const void *data, size_t index, const struct reading *sum)
{
	return counter_never_ran_reason(data, index, sum);
}

static const char *removed_reason(const void *data)
{
	return counters_removed_reason(data);
}

const struct count_backend count_backend_perf = {
	.name = "perf",
	.describe = describe,
	.read = read_all,
	.topology = read_topology,
	.caches = read_caches,
	.stopped_cpus = stopped_cpus,
	.never_ran_reason = never_ran_reason,
	.removed_reason = removed_reason,
	.unread = "the target was gone before it was opened",
};
