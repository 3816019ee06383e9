/* SPDX-License-Identifier: MIT */
/*
 * A small world for test_count.c and test_row*.c: events, counters and targets made by hand, and
 * readings fed into an aggregation one by one. No file, no system call.
 */
#ifndef COUNT_SAMPLE_H
#define COUNT_SAMPLE_H

#include "stat/reporter.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>


enum { WORLD_MAX_EVENTS = 8, WORLD_MAX_THREADS = 4 };

struct world {
	struct kern kern;
	struct event events[WORLD_MAX_EVENTS];
	struct event_list list;
	struct counter counters[WORLD_MAX_EVENTS];
	struct counter_set set;
	struct target_thread threads[WORLD_MAX_THREADS];
	struct target target;
	struct stat_plan plan;
	struct reporter *reporter;
	struct topology topology; /* what the backend has; n 0: none */
	struct intset stopped;
	struct count_clock since_start, since_last;
	bool reading; /* not folded yet */
};

static inline int no_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
				     unsigned long flags)
{
	(void)attr, (void)pid, (void)cpu, (void)group_fd, (void)flags;
	return -ENOENT;
}

static const struct sys_ops no_sys = { .perf_event_open = no_perf_event_open };
static char world_text[1];

static inline void world_init(struct world *w, enum aggr_mode aggr, enum target_kind kind,
			      const char *cpus)
{
	struct str err = STR_INIT;

	*w = (struct world){ .kern = { &no_sys, { "/nowhere", "/nowhere", "/nowhere", NULL } } };
	w->list.v = w->events;
	w->set = (struct counter_set){ .v = w->counters, .kern = &w->kern };
	w->target = (struct target){ .kind = kind, .threads = w->threads, .n_threads = 1 };
	w->threads[0].tid = -1;
	if (cpus)
		assert_int_equal(intset_parse(&w->target.cpus, cpus, 1000, &err), 0);
	str_release(&err);
	w->plan = (struct stat_plan){
		.events = &w->list,
		.aggr = aggr,
		.scale = true,
		.merge = true,
		.repeat = 1,
		.kern = &w->kern,
	};
}

static inline void world_thread(struct world *w, size_t i, const char *comm, pid_t tid)
{
	snprintf(w->threads[i].comm, sizeof(w->threads[i].comm), "%s", comm);
	w->threads[i].tid = w->threads[i].pid = tid;
	if (w->target.n_threads <= i)
		w->target.n_threads = i + 1;
}

/* An event open on all CPUs of the target (none: any CPU), for each of its threads. */
static inline struct event *world_event(struct world *w, const char *name, uint32_t type,
					uint64_t config)
{
	size_t i = w->list.n++;
	struct event *event = &w->events[i];
	struct counter *counter = &w->counters[i];

	assert_true(i < WORLD_MAX_EVENTS);
	*event = (struct event){
		.scale = 1, .unit = world_text, .pmu_name = world_text, .leader = i, .n_members = 1
	};
	event->name = xstrdup(name);
	event->attr.type = type;
	event->attr.config = config;
	*counter = (struct counter){ .event = event, .attr = event->attr, .leader = i };
	counter->name = xstrdup(name);
	intset_copy(&counter->cpus, &w->target.cpus);
	w->set.n = w->list.n;
	return event;
}

static inline struct event *world_clock(struct world *w)
{
	struct event *event =
		world_event(w, "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	static char msec[] = "msec";

	event->unit = msec;
	event->scale = 1e-6;
	return event;
}

static inline struct event *world_cs(struct world *w)
{
	return world_event(w, "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES);
}

static inline struct event *world_cycles(struct world *w)
{
	return world_event(w, "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
}

static inline struct event *world_instructions(struct world *w)
{
	return world_event(w, "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
}

static inline void world_open_on(struct world *w, size_t index, const char *cpus)
{
	struct str err = STR_INIT;

	w->counters[index].cpus.n = 0;
	assert_int_equal(intset_parse(&w->counters[index].cpus, cpus, 1000, &err), 0);
	str_release(&err);
}

static inline void world_unsupported(struct world *w, size_t index)
{
	static char reason[] = "no such counter";

	w->counters[index].state = COUNTER_NOT_SUPPORTED;
	w->counters[index].reason = reason;
	w->counters[index].cpus.n = 0;
}

/*
 * Two sockets of two cores; each core has two threads: CPUs n and n + 4. One node per socket. Clusters 5 and 6 are
 * of even and odd CPUs; the CPUs below 6 have an L3 in common with their socket, the others none.
 */
static inline void world_topology(struct world *w)
{
	struct topology topology = { .v = xcalloc(8, sizeof(*topology.v)), .n = 8 };

	for (int cpu = 0; cpu < 8; cpu++)
		topology.v[cpu] = (struct topology_cpu){ .cpu = cpu,
						      .core = cpu % 2,
						      .die = -1,
						      .socket = cpu % 4 / 2,
						      .cluster = 5 + cpu % 2,
						      .cache_level = cpu < 6 ? 3 : 0,
						      .cache = cpu < 6 ? cpu % 4 / 2 * 2 : -1,
						      .node = cpu % 4 / 2 };
	w->topology = topology;
}

/* ---- the backend: the perf one, with a topology of its own and read by hand ---- */

static void world_describe(const void *data, struct counted_event *events)
{
	const struct world *w = data;

	count_backend_perf.describe(&w->set, events);
}

static void world_read_nothing(const void *data, reading_fn fn, void *to)
{
	(void)data, (void)fn, (void)to;
}

static int world_find_topology(const void *data, struct topology *topology, struct str *err)
{
	const struct world *w = data;

	if (!w->topology.n)
		return count_backend_perf.topology(&w->set, topology, err);
	topology->v = xcalloc(w->topology.n, sizeof(*topology->v));
	memcpy(topology->v, w->topology.v, w->topology.n * sizeof(*topology->v));
	topology->n = w->topology.n;
	return 0;
}

/* They come with the topology. */
static int world_find_caches(const void *data, struct topology *topology, int level, struct str *err)
{
	(void)data, (void)level;
	return topology_check_caches(topology, level, err);
}

static void world_stopped_cpus(const void *data, struct intset *cpus)
{
	const struct world *w = data;

	for (size_t i = 0; i < w->stopped.n; i++)
		intset_add(cpus, w->stopped.v[i]);
}

static char *world_never_ran_reason(const void *data, size_t index, const struct reading *sum)
{
	const struct world *w = data;

	return count_backend_perf.never_ran_reason(&w->set, index, sum);
}

static const struct count_backend world_backend = {
	.name = "world",
	.describe = world_describe,
	.read = world_read_nothing,
	.topology = world_find_topology,
	.caches = world_find_caches,
	.stopped_cpus = world_stopped_cpus,
	.never_ran_reason = world_never_ran_reason,
	.unread = "never read",
};

static inline void world_attach(struct world *w)
{
	struct str err = STR_INIT;

	for (size_t i = 0; i < w->set.n; i++) {
		w->counters[i].n_cpus = w->counters[i].cpus.n ? w->counters[i].cpus.n : 1;
		w->counters[i].n_threads = w->target.n_threads;
	}
	assert_int_equal(reporter_attach(w->reporter, &world_backend, w, &w->target, &err), 0);
	str_release(&err);
}

static inline void world_reporter(struct world *w)
{
	struct str err = STR_INIT;

	w->reporter = reporter_new(&w->plan, &err);
	assert_non_null(w->reporter);
	str_release(&err);
}

static inline void world_start(struct world *w)
{
	world_reporter(w);
	world_topology(w);
	world_attach(w);
}

/* The end of what was fed since world_read(). */
static inline void world_end_read(struct world *w)
{
	if (w->reading)
		reporter_end_read(w->reporter, &w->since_start, &w->since_last);
	w->reading = false;
}

/* seconds on the wall, in all and since the last read */
static inline void world_read(struct world *w, double total_s, double delta_s)
{
	world_end_read(w);
	w->since_start = (struct count_clock){ .elapsed_ns = (uint64_t)(total_s * 1e9) };
	w->since_last = (struct count_clock){ .elapsed_ns = (uint64_t)(delta_s * 1e9) };
	w->reading = true;
	aggregation_begin_read(w->reporter->counts);
}

static inline const struct stat_report *world_report(struct world *w, enum stat_report_kind kind)
{
	world_end_read(w);
	return reporter_report(w->reporter, kind, 0);
}

static inline void world_end_run(struct world *w, const struct count_clock *clock)
{
	world_end_read(w);
	reporter_end_run(w->reporter, clock);
}

static inline void feed(struct world *w, size_t index, int cpu, size_t thread, uint64_t value,
			uint64_t enabled_ns, uint64_t running_ns)
{
	const struct reading reading = { .value = value,
					 .enabled_ns = enabled_ns,
					 .running_ns = running_ns };

	aggregation_take(w->reporter->counts, index, cpu, thread, &reading);
}

static inline void feed_state(struct world *w, size_t index, int cpu, size_t thread,
			      enum reading_state state, int err)
{
	const struct reading reading = { .state = state, .err = err };

	aggregation_take(w->reporter->counts, index, cpu, thread, &reading);
}

static inline const struct stat_row *row_of(const struct stat_report *report, const char *key,
					    const char *name)
{
	for (size_t i = 0; i < report->n_rows; i++)
		if (!strcmp(report->rows[i].key, key) && !strcmp(report->rows[i].name, name))
			return &report->rows[i];
	fail_msg("no row '%s' at '%s'", name, key);
	return NULL;
}

/* "key name value; ..." of all rows: shows order and content at once. */
static inline void expect_rows(const struct stat_report *report, const char *want)
{
	static const char *const words[] = { "", "<not counted>", "<not supported>" };
	struct str got = STR_INIT;

	for (size_t i = 0; i < report->n_rows; i++) {
		const struct stat_row *row = &report->rows[i];

		str_addf(&got, "%s%s %s ", i ? "; " : "", row->key, row->name);
		if (row->state == COUNT_OK)
			str_addf(&got, "%llu", (unsigned long long)row->count);
		str_add(&got, words[row->state]);
	}
	assert_string_equal(got.s, want);
	str_release(&got);
}

static inline void world_release(struct world *w)
{
	reporter_free(w->reporter);
	free(w->topology.v);
	intset_release(&w->stopped);
	for (size_t i = 0; i < w->list.n; i++) {
		free(w->events[i].name);
		intset_release(&w->events[i].cpus);
		free(w->counters[i].name);
		intset_release(&w->counters[i].cpus);
	}
	intset_release(&w->target.cpus);
}

#endif
