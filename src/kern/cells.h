/*
 * cells: one counter's file descriptors, laid out as [CPU][thread]. Private to kern/.
 *
 *   target      event                          CPUs of the cells       tasks of the cells
 *   tasks       any, or a core type of CPUs    any (one column)        the target's threads
 *   tasks       a PMU with a cpumask          the cpumask             all tasks
 *   CPUs        any                            the target's            all tasks (or one cgroup's)
 *   CPUs        a PMU with CPUs of its own    both have it            all tasks (or one cgroup's)
 *
 * So a counter with CPUs measures all tasks, and one without measures the target's threads. Samples
 * of tasks are the exception (follows_tasks): each thread on each CPU, since a ring belongs to one.
 */
#ifndef PSTAT_CELLS_H
#define PSTAT_CELLS_H

#include "kern/kern.h"

/* PERF_FORMAT_LOST, of Linux 6.0; older headers lack it. */
#define FORMAT_LOST (1ull << 4)

/* The call that failed, for the message. */
struct failed_call {
	pid_t pid;
	int cpu, group_fd;
	unsigned long flags;
};

/*
 * Gives the counter its shape; all cells closed. -ENODEV if the event's CPUs and the target's have
 * none in common: then there are no cells.
 */
int cells_plan(struct counter *counter, const struct target *target);
/* The same for samples: what measures threads gets one cell per thread and CPU of `online`. */
int cells_plan_per_cpu(struct counter *counter, const struct target *target,
		       const struct intset *online);
size_t cells_count(const struct counter *counter);
/* Both counters have the same cells, as a group needs. */
bool cells_match(const struct counter *a, const struct counter *b);

/*
 * Opens every cell with counter->attr, as a member of leader's cells where leader is not NULL.
 * cgroup_fd: a folder, or -1. A task or a CPU that is gone leaves its cell closed, and a closed
 * cell of the leader closes the member's. 0 if one cell is open; else the negative errno of the
 * cell that decided, all cells closed, and *failed.
 */
int cells_open(struct counter *counter, const struct counter *leader, const struct target *target,
	       int cgroup_fd, const struct sys_ops *sys, struct failed_call *failed);
void cells_close(struct counter *counter, const struct sys_ops *sys);

/* cgroup_dir.c: the cgroup's folder, opened; -errno with a sentence. The caller closes it. */
int cgroup_open(const char *name, const struct host_paths *host, struct str *err);

#endif
