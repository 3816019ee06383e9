/* SPDX-License-Identifier: MIT */
/*
 * Did tasks run that are not counted? Some events cannot be inherited: a probe by its path, and what a unit cannot
 * follow. Then the children and new threads of a task are not in its count, which is right only if there were none.
 *
 * So beside such counters each task has a witness: an event that counts nothing, and is inherited. Its enabled time
 * is that of the task and of all that it started; a counter's own is the task's. The witness is enabled after the
 * counters and disabled before them, and read before them, so that it is never longer unless others ran. A
 * command's are enabled by one exec and end with it: there both are the same to the nanosecond.
 *
 * Source: perf_event_open(2), "inherit", "PERF_FORMAT_TOTAL_TIME_ENABLED".
 */
#include "kern/machine.h"
#include "kern/slots.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>

struct witnesses {
	size_t n; /* one for each of the target's threads */
	int *fds; /* -1: could not be opened */
	uint64_t *enabled_ns; /* as read last; UINT64_MAX: not known, which is taken for the worst */
};

/* Samples on each CPU have no sum that could be too small. */
static bool needs_witness(const struct counter *c)
{
	return c->state == COUNTER_OPEN && c->leaves_tasks && !c->follows_tasks;
}

static bool one_needs_witness(const struct counter_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		if (needs_witness(&set->v[i]))
			return true;
	return false;
}

void witnesses_open(struct counter_set *set, const struct target *target, bool enable_on_exec)
{
	struct perf_event_attr attr = {
		ATTR_OF_NOTHING,
		.size = sizeof(attr),
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = enable_on_exec,
	};
	struct witnesses *w;

	if (!one_needs_witness(set))
		return;
	w = xcalloc(1, sizeof(*w));
	w->fds = xcalloc(target->n_threads, sizeof(*w->fds));
	w->enabled_ns = xcalloc(target->n_threads, sizeof(*w->enabled_ns));
	for (w->n = 0; w->n < target->n_threads; w->n++)
		w->fds[w->n] = set->kern->sys->perf_event_open(&attr, target->threads[w->n].tid, -1, -1,
							       PERF_FLAG_FD_CLOEXEC);
	set->witnesses = w;
}

void witnesses_switch(const struct counter_set *set, unsigned long request)
{
	for (size_t i = 0; set->witnesses && i < set->witnesses->n; i++)
		if (set->witnesses->fds[i] >= 0)
			set->kern->sys->ioctl(set->witnesses->fds[i], request, 0);
}

void witnesses_read(const struct counter_set *set)
{
	struct witnesses *w = set->witnesses;

	for (size_t i = 0; w && i < w->n; i++) {
		uint64_t words[2]; /* value, enabled time */
		ssize_t n = w->fds[i] < 0 ? -EBADF : read_fd(set->kern->sys, w->fds[i], words, sizeof(words));

		w->enabled_ns[i] = n == (ssize_t)sizeof(words) ? words[1] : UINT64_MAX;
	}
}

bool witness_saw_others(const struct counter_set *set, size_t index, size_t thread, uint64_t own_ns)
{
	const struct witnesses *w = set->witnesses;

	return w && needs_witness(&set->v[index]) && thread < w->n && w->enabled_ns[thread] > own_ns;
}

void witnesses_close(struct counter_set *set)
{
	struct witnesses *w = set->witnesses;

	if (!w)
		return;
	for (size_t i = 0; i < w->n; i++)
		if (w->fds[i] >= 0)
			set->kern->sys->close(w->fds[i]);
	free(w->fds);
	free(w->enabled_ns);
	free(w);
	set->witnesses = NULL;
}
