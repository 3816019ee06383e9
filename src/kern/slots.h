/* SPDX-License-Identifier: MIT */
/*
 * slots: one counter's file descriptors, laid out as [CPU][thread]; and what is open in them, group by group. A slot
 * is one counter on one CPU and task. Private to kern/.
 *
 *   target      event                          CPUs of the slots       tasks of the slots
 *   tasks       any, or a core type of CPUs    any (one column)        the target's threads
 *   tasks       a PMU with a cpumask           the cpumask             all tasks
 *   tasks       any other, of the term cpu=    the term's              the target's threads
 *   CPUs        any                            the target's            all tasks (or one cgroup's)
 *   CPUs        a PMU with CPUs of its own     both have it            all tasks (or one cgroup's)
 *
 * So a counter with CPUs measures all tasks, and one without measures the target's threads. Exceptions
 * (follows_tasks) are cpu=, and samples of tasks: each thread on each CPU, since a ring belongs to one.
 */
#ifndef PSTAT_SLOTS_H
#define PSTAT_SLOTS_H

#include "kern/kern.h"

/* PERF_FORMAT_LOST, of Linux 6.0; older headers lack it. */
#define FORMAT_LOST (1ull << 4)

/* Counters that were opened as one, and are switched as one; a lone counter is a group of one. */
struct counter_group {
	size_t first, n; /* members[first] of the layout leads, in the order of opening */
};

/* One group on one CPU and task: what is opened, switched and read at once. */
struct group_slot {
	uint32_t group, slot;
};

/* Open groups, laid out at the end of opening: after that nothing is allocated. */
struct layout {
	struct counter_group *groups; /* in the order of their leaders */
	size_t n_groups;
	size_t *members; /* indices of counters, group by group */
	struct group_slot *slots; /* CPU by CPU, thread by thread, group by group */
	size_t n_slots;
	uint64_t *words; /* room to read the largest group */
	void *masks; /* two cpu_set_t of mask_bytes, to visit the CPUs of cgroups; or NULL */
	size_t mask_bytes;
};

/*
 * Gives the counter its shape; all slots closed. -ENODEV if the event's CPUs and the target's have
 * none in common: then there are no slots. online: for events of cpu= on tasks; empty: not known.
 */
int slots_plan(struct counter *counter, const struct target *target, const struct intset *online);
/* The same for samples: what measures threads gets one slot per thread and CPU of `online`. */
int slots_plan_per_cpu(struct counter *counter, const struct target *target,
		       const struct intset *online);
/*
 * The CPUs that tasks started from here can come to, in topology.c: those online, or, where neither sysfs nor procfs is
 * mounted, those of this task's cpuset, which its children do not leave either. Never for whole CPUs: they are all.
 */
void cpus_for_tasks(const struct host_paths *host, struct intset *cpus);
size_t slots_count(const struct counter *counter);
/* Both counters have the same slots, as a group needs. */
bool slots_match(const struct counter *a, const struct counter *b);
/* The CPU of a slot, -1: any. */
int slot_cpu(const struct counter *counter, size_t slot);
/* The slot's place by CPU and then thread, comparable with that of other counters; UINT64_MAX: after the last. */
uint64_t slot_place(const struct counter *counter, size_t slot);

/* File descriptors that the whole set takes, with those that pstat has open anyway. */
size_t counters_need_fds(const struct counter_set *set);

/* ---- layout.c ---- */

/* Lays out a set that is open. visit_cpus: cgroups will be read from their own CPUs. */
void layout_make(struct counter_set *set, bool visit_cpus);
void layout_free(struct layout *layout); /* NULL is fine */
const struct counter *layout_leader(const struct counter_set *set, size_t group);

/* Words of a reading: before a group's values; of one event, value and times; the same with id and losses. */
enum { GROUP_HEAD = 3, SINGLE_HEAD = 3, SINGLE_WORDS = 5 };
/* Words after each value: its id and its losses, where they were asked for. */
size_t words_after_value(uint64_t read_format);
/* Words of a group's reading. */
size_t group_words(uint64_t read_format, size_t n_members);
/* Reads again when a signal came between. */
ssize_t read_fd(const struct sys_ops *sys, int fd, uint64_t *words, size_t bytes);
/* The same of a leader, which a child that is just ending may make wait for a moment. */
ssize_t read_inherited(const struct sys_ops *sys, int fd, uint64_t *words, size_t bytes);
/*
 * True where the kernel says that the group of this leader is not the same in all children. A child that is just
 * ending looks like that for a moment, and is waited for.
 */
bool group_is_torn(const struct sys_ops *sys, int leader_fd);
/* The times of what is open in one slot. 0 or a negative errno. */
int read_times(const struct counter_set *set, int fd, uint64_t *enabled_ns, uint64_t *running_ns);

/* read.c: has it been enabled in any of its slots, for however short a time? */
bool counter_was_enabled(const struct counter_set *set, size_t index);

/*
 * witness.c: whether tasks run that counters with leaves_tasks do not see, and how long tasks were on the CPUs of
 * cpu=. Opened when the counters are open, and switched last when these are enabled and first when they are disabled.
 */
void witnesses_open(struct counter_set *set, const struct target *target, const struct open_options *options);
void witnesses_switch(const struct counter_set *set, unsigned long request);
/* Reads the witnesses, before the counters, whose own enabled time is then compared. */
void witnesses_read(const struct counter_set *set);
bool witness_saw_others(const struct counter_set *set, size_t index, size_t thread, uint64_t own_ns);
/*
 * The time in which the counter could have run in this slot, where that is less than the kernel says: of a task
 * the kernel's enabled time goes on while it is on other CPUs than the counter. Else its enabled time.
 */
uint64_t witness_enabled_ns(const struct counter_set *set, size_t index, size_t slot, const struct reading *reading);
void witnesses_close(struct counter_set *set);

/* removal.c, for read.c: looks again at what is missing; writes what is known of one slot into its reading. */
void removal_judge(const struct counter_set *set);
void removal_mark(const struct counter_set *set, size_t index, size_t thread, struct reading *reading);
/* removal.c, for open.c: counting goes on, or stops, for all. */
void removal_begin(struct counter_set *set);
void removal_pause(struct counter_set *set);
void removal_free(struct removal *removal); /* NULL is fine */

#endif
