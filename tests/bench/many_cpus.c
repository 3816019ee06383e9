/* SPDX-License-Identifier: MIT */
/*
 * What opening, reading and closing cost on a machine of 256 CPUs, with a kernel that costs nothing: system calls for
 * each event and CPU, and the CPU time of pstat's own part. Not in it: what the kernel does, interrupts above all.
 *
 * Prints one row for each case, with the cheapest of several passes: other programs only make them dearer.
 */
#include "kern/kern.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CPUS = 256, MAX_EVENTS = 20, PASSES = 30, FIRST_FD = 1000 };

/* To add a case: a row here. */
static const struct cost_case {
	const char *what;
	uint32_t type;
	size_t n_events;
	bool grouped;
} cases[] = {
	{ "lone hardware events", PERF_TYPE_HARDWARE, 7, false },
	{ "one group", PERF_TYPE_HARDWARE, 7, true },
	{ "lone software events", PERF_TYPE_SOFTWARE, 7, false },
	{ "lone hardware events", PERF_TYPE_HARDWARE, 20, false },
	{ "one group", PERF_TYPE_HARDWARE, 20, true },
};

static struct {
	int next_fd;
	size_t opens, closes, ioctls, reads;
} kernel;

static int count_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
{
	(void)attr, (void)pid, (void)cpu, (void)group_fd, (void)flags;
	kernel.opens++;
	return kernel.next_fd++;
}

static int count_ioctl(int fd, unsigned long request, unsigned long arg)
{
	(void)fd, (void)request, (void)arg;
	kernel.ioctls++;
	return 0;
}

/* One layout for all: { nr or value, enabled, running, { value, id } ... } */
static ssize_t count_read(int fd, void *buf, size_t bytes)
{
	uint64_t *words = buf;
	size_t n = bytes / sizeof(*words);

	kernel.reads++;
	words[0] = (n - 3) / 2;
	words[1] = words[2] = 1000000;
	for (size_t i = 3; i + 1 < n; i += 2) {
		words[i] = i;
		words[i + 1] = (uint64_t)fd * MAX_EVENTS + i;
	}
	return (ssize_t)bytes;
}

static int count_close(int fd)
{
	(void)fd;
	kernel.closes++;
	return 0;
}

static int no_limit(int resource, const struct rlimit *set, struct rlimit *old)
{
	(void)resource, (void)set;
	if (old)
		*old = (struct rlimit){ RLIM_INFINITY, RLIM_INFINITY };
	return 0;
}

static const struct sys_ops counting = {
	.perf_event_open = count_open, .ioctl = count_ioctl, .read = count_read, .close = count_close,
	.rlimit = no_limit,
};

static uint64_t sum;

static void take(void *data, size_t index, int cpu, size_t thread, const struct reading *reading)
{
	(void)data, (void)index, (void)cpu, (void)thread;
	if (reading->state != READING_OK)
		errx(1, "a value could not be read");
	sum += reading->value;
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void make_events(struct event *events, const struct cost_case *c)
{
	static char name[] = "x", none[1];

	for (size_t i = 0; i < c->n_events; i++)
		events[i] = (struct event){
			.attr = { .type = c->type, .config = i }, .name = name, .pmu_name = none,
			.unit = none, .scale = 1, .leader = c->grouped ? 0 : i,
			.n_members = !c->grouped ? 1 : i ? 0 : c->n_events,
		};
}

struct cost {
	uint64_t open_close_ns, read_ns;
	size_t open_close_calls, reads;
};

static struct cost one_pass(const struct event_list *list, const struct target *target)
{
	const struct open_options options = { .start_disabled = true };
	const struct kern kern = { .sys = &counting, .host = { "/none", "/none", "/none", NULL } };
	struct note_list notes = { 0 };
	struct counter_set set;
	struct str why = STR_INIT;
	struct cost cost = { 0 };
	uint64_t from = cpu_ns();

	memset(&kernel, 0, sizeof(kernel));
	kernel.next_fd = FIRST_FD;
	if (counters_open(&set, list, target, &options, &kern, &notes, &why))
		errx(1, "%s", why.s);
	cost.open_close_ns = cpu_ns() - from;
	counters_read(&set, take, NULL);
	kernel.reads = 0;
	from = cpu_ns();
	counters_read(&set, take, NULL);
	cost.read_ns = cpu_ns() - from;
	cost.reads = kernel.reads;
	from = cpu_ns();
	counters_close(&set);
	cost.open_close_ns += cpu_ns() - from;
	cost.open_close_calls = kernel.opens + kernel.closes + kernel.ioctls;
	note_list_release(&notes);
	return cost;
}

static void run_case(const struct cost_case *c, struct target *target)
{
	struct event events[MAX_EVENTS];
	const struct event_list list = { .v = events, .n = c->n_events };
	struct cost best = { .open_close_ns = UINT64_MAX, .read_ns = UINT64_MAX };
	double n = (double)c->n_events * CPUS;

	make_events(events, c);
	for (int pass = 0; pass < PASSES; pass++) {
		struct cost cost = one_pass(&list, target);

		cost.open_close_ns = cost.open_close_ns < best.open_close_ns ? cost.open_close_ns : best.open_close_ns;
		cost.read_ns = cost.read_ns < best.read_ns ? cost.read_ns : best.read_ns;
		best = cost;
	}
	printf("%-22s %8zu %14.2f %14.0f %14.2f %14.1f\n", c->what, c->n_events, (double)best.open_close_calls / n,
	       (double)best.open_close_ns / n, (double)best.reads / n, (double)best.read_ns / n);
}

int main(void)
{
	static struct target_thread all = { .tid = -1, .pid = -1 };
	struct target target = { .kind = TARGET_CPUS, .threads = &all, .n_threads = 1 };
	struct str why = STR_INIT;

	if (intset_parse(&target.cpus, "0-255", CPUS, &why))
		errx(1, "%s", why.s);
	printf("%d CPUs, for each event and CPU\n%-22s %8s %14s %14s %14s %14s\n", CPUS, "", "events",
	       "open+close", "ns", "reads", "ns per value");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		run_case(&cases[i], &target);
	intset_release(&target.cpus);
	return sum ? 0 : 1;
}
