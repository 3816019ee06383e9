/* SPDX-License-Identifier: MIT */
/*
 * Witnesses: events beside the counters that count nothing, never wait, and tell by their times what counters cannot.
 *
 * Did tasks run that are not counted? Some events cannot be inherited: a probe by its path, and what a unit cannot
 * follow. Then the children and new threads of a task are not in its count, which is right only if there were none.
 * So each task has a witness, which is inherited. Its enabled time is that of the task and of all that it started; a
 * counter's own is the task's. The witness is enabled after the counters and disabled before them, and read before
 * them, so that it is never longer unless others ran. A command's are enabled by one exec and end with it: there both
 * are the same to the nanosecond.
 *
 * How long was a task on a CPU? A counter of a task on one CPU (cpu=) is enabled as long as the task runs anywhere,
 * and that it does not run elsewhere is no reason to scale. Its witness on that CPU runs whenever the task is there.
 *
 *   witness   0 ... n_threads - 1   of the target's threads: enabled time
 *             first[i] + slot       beside a leader that may wait for its unit, on this CPU: running time
 *
 * Source: perf_event_open(2), "inherit", "PERF_FORMAT_TOTAL_TIME_ENABLED".
 */
#include "kern/machine.h"
#include "kern/slots.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>

struct witnesses {
	size_t n;
	int *fds; /* -1: could not be opened, or nobody asks */
	uint64_t *ns; /* as read last; UINT64_MAX: not known, which is taken for the worst */
	size_t n_threads;
	size_t *first; /* by counter; 0: it has none of its own */
};

/* Samples on each CPU have no sum that could be too small. */
static bool needs_witness(const struct counter *c)
{
	return c->state == COUNTER_OPEN && c->leaves_tasks && !c->follows_tasks;
}

static bool needs_its_own(const struct counter_set *set, size_t index)
{
	const struct counter *c = &set->v[index];

	return c->state == COUNTER_OPEN && c->leader == index && c->follows_tasks && !c->never_waits;
}

/* NULL where nobody needs any. */
static struct witnesses *plan(const struct counter_set *set, const struct target *target, bool samples)
{
	struct witnesses *w = xcalloc(1, sizeof(*w));
	bool of_threads = false;

	w->first = xcalloc(set->n + 1, sizeof(*w->first));
	w->n = w->n_threads = target->n_threads;
	for (size_t i = 0; i < set->n; i++) {
		of_threads = of_threads || needs_witness(&set->v[i]);
		if (samples || !needs_its_own(set, i))
			continue;
		w->first[i] = w->n;
		w->n += slots_count(&set->v[i]);
	}
	if (!of_threads && w->n == w->n_threads) {
		free(w->first);
		free(w);
		return NULL;
	}
	if (!of_threads)
		w->n_threads = 0;
	w->fds = xcalloc(w->n + 1, sizeof(*w->fds));
	w->ns = xcalloc(w->n + 1, sizeof(*w->ns));
	for (size_t i = 0; i < w->n; i++)
		w->fds[i] = -1;
	return w;
}

void witnesses_open(struct counter_set *set, const struct target *target, const struct open_options *options)
{
	const struct sys_ops *sys = set->kern->sys;
	struct perf_event_attr attr = {
		ATTR_OF_NOTHING,
		.size = sizeof(attr),
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = options->enable_on_exec && !options->start_disabled,
	};
	struct witnesses *w = set->witnesses = plan(set, target, options->sample);

	for (size_t i = 0; w && i < w->n_threads; i++)
		w->fds[i] = sys->perf_event_open(&attr, target->threads[i].tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	for (size_t i = 0; w && i < set->n; i++) {
		const struct counter *c = &set->v[i];

		attr.inherit = c->attr.inherit;
		for (size_t slot = 0; w->first[i] && slot < slots_count(c); slot++)
			w->fds[w->first[i] + slot] =
				sys->perf_event_open(&attr, target->threads[slot % c->n_threads].tid, slot_cpu(c, slot),
						     -1, PERF_FLAG_FD_CLOEXEC);
	}
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
		uint64_t words[SINGLE_HEAD]; /* value, enabled and running time */
		ssize_t n = w->fds[i] < 0 ? -EBADF : read_fd(set->kern->sys, w->fds[i], words, sizeof(words));

		w->ns[i] = n == (ssize_t)sizeof(words) ? words[i < w->n_threads ? 1 : 2] : UINT64_MAX;
	}
}

bool witness_saw_others(const struct counter_set *set, size_t index, size_t thread, uint64_t own_ns)
{
	const struct witnesses *w = set->witnesses;

	return w && needs_witness(&set->v[index]) && thread < w->n_threads && w->ns[thread] > own_ns;
}

uint64_t witness_enabled_ns(const struct counter_set *set, size_t index, size_t slot, const struct reading *reading)
{
	const struct witnesses *w = set->witnesses;
	size_t first = w ? w->first[set->v[index].leader] : 0;
	uint64_t there_ns = first ? w->ns[first + slot] : UINT64_MAX;

	if (there_ns < reading->running_ns)
		return reading->running_ns;
	return there_ns < reading->enabled_ns ? there_ns : reading->enabled_ns;
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
	free(w->ns);
	free(w->first);
	free(w);
	set->witnesses = NULL;
}
