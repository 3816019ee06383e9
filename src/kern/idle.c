/*
 * Why a counter that was open never ran. Unlike reason.c there is no errno: the evidence is the
 * enabled and running time, the set itself, and how many counters the PMU has free.
 */
#include "kern/cells.h"
#include "kern/kern.h"
#include "kern/machine.h"

#include <stdlib.h>

struct idle {
	const struct counter_set *set;
	const struct counter *counter; /* that never ran */
	const struct reading *sum;
	struct machine machine;
	size_t competing; /* events of the set on the same PMU */
	int counters; /* free counters of that PMU; <= 0: not known */
	bool others_ran; /* it was never enabled, and others of the set were: the target was there */
};

/* True, and text is wanted, if more events compete than the PMU has counters. */
static bool too_many(const struct idle *idle)
{
	return idle->counters > 0 && idle->competing > (size_t)idle->counters;
}

static bool is_pinned(const struct idle *idle)
{
	return idle->set->v[idle->counter->leader].attr.pinned;
}

/* Once its task has ended, a pinned event without a counter reads as zeros and no longer as the end. */
static bool lost_pin(const struct idle *idle)
{
	return idle->sum->state == READING_LOST_PIN ||
	       (is_pinned(idle) && !idle->sum->enabled_ns && idle->others_ran);
}

static bool lost_pin_to_many(const struct idle *idle)
{
	return lost_pin(idle) && too_many(idle);
}

static bool never_enabled(const struct idle *idle)
{
	return idle->sum->enabled_ns == 0;
}

static bool watchdog_holds_one(const struct idle *idle)
{
	char *path = xasprintf("%s/sys/kernel/nmi_watchdog", idle->machine.kern->host.procfs);
	uint64_t on = 0;
	int rc = read_u64_file(path, &on);

	free(path);
	return !rc && on && too_many(idle);
}

static bool task_ran_elsewhere(const struct idle *idle)
{
	return idle->counter->event->pmu_is_core && idle->counter->event->cpus.n &&
	       !idle->counter->cpus.n && !too_many(idle);
}

/* ---- texts ---- */

const char *event_never_enabled(const struct event *event, bool on_cpus)
{
	if (event->cgroup)
		return "nothing in the cgroup ran while counting";
	return on_cpus ? "never enabled" : "the task never ran while counting";
}

static char *say_never_enabled(const struct idle *idle)
{
	return xstrdup(event_never_enabled(idle->counter->event, idle->counter->cpus.n));
}

static char *say_numbers(const struct idle *idle)
{
	return xasprintf("%zu events for %d counters", idle->competing, idle->counters);
}

static char *say_pinned_numbers(const struct idle *idle)
{
	return xasprintf("pinned, and no counter was left: %zu events for %d counters",
			 idle->competing, idle->counters);
}

static char *say_watchdog(const struct idle *idle)
{
	return xasprintf("%zu events for %d counters, the NMI watchdog holds one", idle->competing,
			 idle->counters);
}

static char *say_elsewhere(const struct idle *idle)
{
	struct str text = STR_INIT;

	str_add(&text, "the task never ran on CPU ");
	intset_format(&idle->counter->event->cpus, &text);
	return str_detach(&text);
}

/*
 * The first that holds is the answer. To add a cause: a row, and a case in tests/unit/test_facts.c.
 */
static const struct idle_cause {
	bool (*holds)(const struct idle *idle);
	const char *text; /* or NULL: */
	char *(*describe)(const struct idle *idle);
} idle_causes[] = {
	{ lost_pin_to_many, NULL, say_pinned_numbers },
	{ lost_pin, "pinned, and no counter was free", NULL },
	{ never_enabled, NULL, say_never_enabled },
	{ watchdog_holds_one, NULL, say_watchdog },
	{ too_many, NULL, say_numbers },
	{ task_ran_elsewhere, NULL, say_elsewhere },
};

static bool only_others_ran(const struct counter_set *set, size_t index)
{
	bool others_ran = false;

	if (set->v[index].event->cgroup || counter_was_enabled(set, index))
		return false;
	for (size_t i = 0; !others_ran && i < set->n; i++)
		others_ran = i != index && counter_was_enabled(set, i);
	return others_ran;
}

char *counter_idle_reason(const struct counter_set *set, size_t index, const struct reading *sum)
{
	struct idle idle = {
		.set = set,
		.counter = &set->v[index],
		.sum = sum,
	};
	char *reason = NULL;

	machine_init(&idle.machine, set->kern);
	for (size_t i = 0; i < set->n; i++)
		idle.competing += set->v[i].state == COUNTER_OPEN &&
				  set->v[i].pass == set->v[index].pass &&
				  events_share_counters(set->v[i].event, idle.counter->event);
	idle.others_ran = is_pinned(&idle) && only_others_ran(set, index);
	if (idle.competing)
		idle.counters = machine_counters(&idle.machine, idle.counter->event, idle.competing);
	for (size_t i = 0; !reason && i < ARRAY_SIZE(idle_causes); i++) {
		const struct idle_cause *cause = &idle_causes[i];

		if (cause->holds(&idle))
			reason = cause->text ? xstrdup(cause->text) : cause->describe(&idle);
	}
	machine_release(&idle.machine);
	return reason;
}
