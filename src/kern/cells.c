/*
 * One counter's file descriptors: which cells it has, and opening and closing all of them. Knows no
 * fallbacks: the first error that is not "this task or CPU is gone" closes the counter again.
 */
#include "kern/cells.h"

#include <errno.h>
#include <stdlib.h>

static void intersect(struct intset *to, const struct intset *a, const struct intset *b)
{
	for (size_t i = 0; i < a->n; i++) {
		if (intset_has(b, a->v[i]))
			intset_add(to, a->v[i]);
	}
}

static void alloc_cells(struct counter *counter)
{
	counter->fds = xreallocarray(counter->fds, cells_count(counter), sizeof(*counter->fds));
	for (size_t i = 0; i < cells_count(counter); i++)
		counter->fds[i] = -1;
}

int cells_plan(struct counter *counter, const struct target *target)
{
	const struct event *event = counter->event;
	bool tasks = target->n_threads && target->threads[0].tid >= 0;

	counter->cpus.n = 0;
	counter->n_threads = 1;
	if (tasks && (!event->cpus.n || event->pmu_is_core))
		counter->n_threads = target->n_threads;
	else if (tasks)
		intset_copy(&counter->cpus, &event->cpus);
	else if (event->cpus.n)
		intersect(&counter->cpus, &target->cpus, &event->cpus);
	else
		intset_copy(&counter->cpus, &target->cpus);
	counter->n_cpus = counter->cpus.n ? counter->cpus.n : 1;
	if (!tasks && !counter->cpus.n) {
		counter->n_cpus = 0;
		return -ENODEV;
	}
	alloc_cells(counter);
	return 0;
}

int cells_plan_per_cpu(struct counter *counter, const struct target *target,
		       const struct intset *online)
{
	const struct event *event = counter->event;
	int rc = cells_plan(counter, target);

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
	alloc_cells(counter);
	return 0;
}

size_t cells_count(const struct counter *counter)
{
	return counter->n_cpus * counter->n_threads;
}

bool cells_match(const struct counter *a, const struct counter *b)
{
	return a->n_threads == b->n_threads && a->cpus.n == b->cpus.n &&
	       a->follows_tasks == b->follows_tasks &&
	       (!a->cpus.n || !memcmp(a->cpus.v, b->cpus.v, a->cpus.n * sizeof(*a->cpus.v))) &&
	       text_same(a->event->cgroup, b->event->cgroup);
}

int cells_open(struct counter *counter, const struct counter *leader, const struct target *target,
	       int cgroup_fd, const struct sys_ops *sys, struct failed_call *failed)
{
	unsigned long flags = PERF_FLAG_FD_CLOEXEC | (cgroup_fd >= 0 ? PERF_FLAG_PID_CGROUP : 0);
	int rc = -ESRCH;
	size_t open = 0;

	for (size_t cell = 0; cell < cells_count(counter); cell++) {
		size_t thread = cell % counter->n_threads;
		struct failed_call call = {
			.pid = cgroup_fd >= 0 ? cgroup_fd :
			       counter->cpus.n && !counter->follows_tasks ? -1 :
			       target->threads[thread].tid,
			.cpu = counter->cpus.n ? counter->cpus.v[cell / counter->n_threads] : -1,
			.group_fd = leader ? leader->fds[cell] : -1,
			.flags = flags,
		};
		int fd;

		if (leader && call.group_fd < 0)
			continue;
		fd = sys->perf_event_open(&counter->attr, call.pid, call.cpu, call.group_fd, flags);
		if (fd >= 0) {
			counter->fds[cell] = fd;
			open++;
			continue;
		}
		rc = fd;
		*failed = call;
		if ((rc == -ESRCH && call.pid >= 0 && cgroup_fd < 0) ||
		    (rc == -ENODEV && call.cpu >= 0))
			continue;
		cells_close(counter, sys);
		return rc;
	}
	return open ? 0 : rc;
}

void cells_close(struct counter *counter, const struct sys_ops *sys)
{
	for (size_t cell = 0; counter->fds && cell < cells_count(counter); cell++) {
		if (counter->fds[cell] >= 0)
			sys->close(counter->fds[cell]);
		counter->fds[cell] = -1;
	}
}
