/* SPDX-License-Identifier: MIT */
/*
 * What a read costs beyond the kernel's part: readings -> cells -> values, by events, CPUs and mode. The
 * readings are made up, so that nothing but the aggregation is measured.
 */
#include "count/count.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PASSES = 200, MAX_CPUS = 256, MAX_EVENTS = 20 };

struct machine {
	struct event events[MAX_EVENTS];
	struct event_list list;
	struct target target;
	struct target_thread thread;
	uint64_t now_ns;
};

static void describe(const void *data, struct counted_event *events)
{
	const struct machine *m = data;

	for (size_t i = 0; i < m->list.n; i++)
		events[i] = (struct counted_event){
			.event = &m->events[i],
			.attr = &m->events[i].attr,
			.name = "",
			.state = COUNTER_OPEN,
			.cpus = &m->target.cpus,
			.n_threads = 1,
			.leader = i,
			.core_type = NO_CORE_TYPE,
		};
}

/* Every second counter shares its hardware. */
static void read_all(const void *data, reading_fn fn, void *to)
{
	const struct machine *m = data;

	for (size_t i = 0; i < m->list.n; i++) {
		for (size_t c = 0; c < m->target.cpus.n; c++) {
			const struct reading reading = {
				.value = m->now_ns * (i + 1),
				.enabled_ns = m->now_ns,
				.running_ns = m->now_ns >> (i % 2),
			};

			fn(to, i, m->target.cpus.v[c], 0, &reading);
		}
	}
}

static const struct count_backend made_up = { .name = "made up", .describe = describe, .read = read_all };

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t fastest_read(struct machine *m, struct aggregation *agg)
{
	uint64_t best = UINT64_MAX;

	for (unsigned i = 0; i < PASSES; i++) {
		const struct count_clock clock = { 0 };
		uint64_t before = cpu_ns(), took;

		m->now_ns += 1000000;
		aggregation_read(agg, &clock, &clock, NULL, NULL);
		took = cpu_ns() - before;
		best = took < best ? took : best;
	}
	return best;
}

static void measure(size_t n_events, int n_cpus, enum aggr_mode mode)
{
	const struct aggregation_options options = { .mode = mode, .scale = true };
	static char text[1];
	struct machine m = { .list = { .n = n_events } };
	struct aggregation *agg;
	struct str why = STR_INIT;
	uint64_t ns;

	m.list.v = m.events;
	m.thread.tid = -1;
	m.target = (struct target){ .kind = TARGET_CPUS, .threads = &m.thread, .n_threads = 1 };
	for (int cpu = 0; cpu < n_cpus; cpu++)
		intset_add(&m.target.cpus, cpu);
	for (size_t i = 0; i < n_events; i++)
		m.events[i] = (struct event){
			.name = text, .unit = text, .pmu_name = text, .scale = 1, .leader = i, .n_members = 1,
		};
	agg = aggregation_new(&m.list, &options);
	if (aggregation_attach(agg, &made_up, &m, &m.target, &why))
		errx(2, "%s", why.s);
	ns = fastest_read(&m, agg);
	if (aggregation_value(agg, 0, agg->key_order[0])->total.value < m.now_ns)
		errx(2, "a count is missing");
	printf("%5d %6zu %-6s %10.1f %9.1f\n", n_cpus, n_events, mode == AGGR_CPU ? "-A" : "total",
	       (double)ns / 1e3, (double)ns / (double)(n_events * (size_t)n_cpus));
	aggregation_free(agg);
	intset_release(&m.target.cpus);
}

int main(void)
{
	printf("%5s %6s %-6s %10s %9s\n", "CPUs", "events", "mode", "us a read", "ns each");
	for (int cpus = 1; cpus <= MAX_CPUS; cpus *= 16) {
		measure(MAX_EVENTS, cpus, AGGR_TOTAL);
		measure(MAX_EVENTS, cpus, AGGR_CPU);
	}
	return 0;
}
