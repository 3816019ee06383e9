/* SPDX-License-Identifier: MIT */
/*
 * What the tests of opening share: a machine of files, a kernel played by fake_sys.h, events made
 * by hand, and counters_open() on them. Every test ends with all descriptors closed.
 */
#ifndef OPEN_FIXTURE_H
#define OPEN_FIXTURE_H

#include "fake_machine.h"
#include "fake_sys.h"

#include <linux/hw_breakpoint.h>
#include <sys/ioctl.h>

enum { MAX_EVENTS = 16, CORE_TYPE = 4, UNCORE_TYPE = 20 };

static struct fake_machine machine;
static struct event events[MAX_EVENTS];
static struct event_list list;
static struct target target;
static struct target_thread threads[4];
static int cpu_numbers[4];
static struct open_options options;
static struct kern kern;
static struct note_list notes;
static struct str err;
static struct counter_set set;

static inline void put(const char *path, const char *text)
{
	fake_machine_file(&machine, path, text);
}

static inline int setup(void **state)
{
	(void)state;
	fake_reset();
	fake_machine_init(&machine);
	memset(events, 0, sizeof(events));
	memset(cpu_numbers, 0, sizeof(cpu_numbers));
	list = (struct event_list){ .v = events };
	threads[0] = (struct target_thread){ .tid = 100, .pid = 100 };
	target = (struct target){ .kind = TARGET_COMMAND, .threads = threads, .n_threads = 1 };
	options = (struct open_options){ .inherit = true, .enable_on_exec = true };
	kern = (struct kern){ &fake_ops, machine.host };
	put("sys/devices/system/cpu/online", "0-3\n");
	put("proc/sys/kernel/perf_event_paranoid", "2\n");
	put("proc/self/status", "Name:\tx\nUid:\t500\t500\t500\t500\nCapEff:\t0\nSeccomp:\t0\n");
	put("proc/100/status", "Name:\tx\nUid:\t500\t500\t500\t500\n");
	put("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu sse\n");
	put("sys/bus/event_source/devices/software/type", "1\n");
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	counters_close(&set);
	assert_int_equal(fake.n_open, 0);
	note_list_release(&notes);
	str_release(&err);
	for (size_t i = 0; i < list.n; i++)
		free(events[i].name);
	fake_machine_release(&machine);
	return 0;
}

static inline struct event *add(const char *name, uint32_t type, uint64_t config)
{
	struct event *event = &events[list.n];

	*event = make_event(name, type, config);
	event->leader = list.n++;
	return event;
}

/* The events from `first` on are one group. */
static inline void group_from(size_t first)
{
	events[first].n_members = list.n - first;
	for (size_t i = first; i < list.n; i++)
		events[i].leader = first;
}

static inline void all_cpus(int n)
{
	static int numbers[] = { 0, 1, 2, 3 };

	threads[0] = (struct target_thread){ .tid = -1, .pid = -1 };
	target.kind = TARGET_CPUS;
	target.cpus = (struct intset){ numbers, (size_t)n, 0 };
}

static inline void on_cpu(struct event *event, int cpu, bool core)
{
	int *number = &cpu_numbers[event - events];

	*number = cpu;
	event->cpus = (struct intset){ number, 1, 0 };
	event->pmu_is_core = core;
}

static inline void core_pmu(void)
{
	put("sys/bus/event_source/devices/cpu/type", "4\n");
	put("sys/bus/event_source/devices/cpu/format/event", "config:0-7\n");
}

static inline int do_open(void)
{
	return counters_open(&set, &list, &target, &options, &kern, &notes, &err);
}

static inline void open_all(void)
{
	assert_int_equal(do_open(), 0);
	assert_int_equal(err.len, 0);
	assert_int_equal(set.n, list.n);
}

static inline bool noted(const char *text)
{
	for (size_t i = 0; i < notes.n; i++) {
		if (strstr(notes.v[i].text, text))
			return true;
	}
	return false;
}

/* An answer for fake.answer: every event is refused with answer_errno. */
static int answer_errno;

static inline int always(const struct fake_call *call)
{
	(void)call;
	return -answer_errno;
}

#endif
