/* SPDX-License-Identifier: MIT */
/*
 * Why a counter that was open never ran. Unlike reason.c there is no errno: the evidence is the
 * enabled and running time, the set itself, and how many counters the PMU has free.
 */
#include "kern/slots.h"
#include "kern/machine.h"

#include <stdlib.h>

struct never_ran {
	const struct counter_set *set;
	const struct counter *counter; /* that never ran */
	const struct reading *sum;
	struct machine machine;
	size_t competing; /* events of the set on the same PMU */
	int counters; /* free counters of that PMU; <= 0: not known */
	bool others_ran; /* it was never enabled, and others of the set were: the target was there */
};

/* True, and text is wanted, if more events compete than the PMU has counters. */
static bool too_many(const struct never_ran *evidence)
{
	return evidence->counters > 0 && evidence->competing > (size_t)evidence->counters;
}

static bool is_pinned(const struct never_ran *evidence)
{
	return evidence->set->v[evidence->counter->leader].attr.pinned;
}

/* A pinned event without a counter reads as end-of-file, and as zeros once its task has ended. */
static bool lost_pin(const struct never_ran *evidence)
{
	return evidence->sum->state == READING_LOST_PIN ||
	       (is_pinned(evidence) && !evidence->sum->enabled_ns && evidence->others_ran);
}

static bool lost_pin_to_many(const struct never_ran *evidence)
{
	return lost_pin(evidence) && too_many(evidence);
}

static bool never_enabled(const struct never_ran *evidence)
{
	return evidence->sum->enabled_ns == 0;
}

static bool watchdog_holds_one(const struct never_ran *evidence)
{
	uint64_t on;

	return kernel_setting(&evidence->machine.kern->host, "nmi_watchdog", &on) && on && too_many(evidence);
}

static bool task_ran_elsewhere(const struct never_ran *evidence)
{
	return evidence->counter->event->pmu_is_core && evidence->counter->event->cpus.n &&
	       !evidence->counter->cpus.n && !too_many(evidence);
}

static bool task_left_out_cpus(const struct never_ran *evidence)
{
	return evidence->counter->follows_tasks && !evidence->sum->enabled_ns;
}

/* ---- texts ---- */

const char *event_never_enabled(const struct event *event, bool on_cpus)
{
	if (event->cgroup)
		return "nothing in the cgroup ran while counting";
	return on_cpus ? "never enabled" : "the task never ran while counting";
}

static char *say_never_enabled(const struct never_ran *evidence)
{
	return xstrdup(event_never_enabled(evidence->counter->event, evidence->counter->cpus.n));
}

static char *say_numbers(const struct never_ran *evidence)
{
	return xasprintf("%zu events for %d counters", evidence->competing, evidence->counters);
}

static char *say_pinned_numbers(const struct never_ran *evidence)
{
	return xasprintf("pinned, and no counter was left: %zu events for %d counters",
			 evidence->competing, evidence->counters);
}

static char *say_watchdog(const struct never_ran *evidence)
{
	return xasprintf("%zu events for %d counters, the NMI watchdog holds one", evidence->competing,
			 evidence->counters);
}

static char *say_elsewhere(const struct never_ran *evidence)
{
	struct str text = STR_INIT;

	str_add(&text, "the task never ran on CPU ");
	intset_format(&evidence->counter->event->cpus, &text);
	return str_detach(&text);
}

/*
 * The first that holds is the answer. To add a cause: a row, and a case in tests/unit/test_facts.c.
 */
static const struct never_ran_cause {
	bool (*holds)(const struct never_ran *evidence);
	const char *text; /* or NULL: */
	char *(*describe)(const struct never_ran *evidence);
} never_ran_causes[] = {
	{ lost_pin_to_many, NULL, say_pinned_numbers },
	{ lost_pin, "pinned, and no counter was free", NULL },
	{ task_left_out_cpus, NULL, say_elsewhere },
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

char *counter_never_ran_reason(const struct counter_set *set, size_t index, const struct reading *sum)
{
	struct never_ran evidence = {
		.set = set,
		.counter = &set->v[index],
		.sum = sum,
	};
	char *reason = NULL;

	machine_init(&evidence.machine, set->kern);
	for (size_t i = 0; i < set->n; i++)
		evidence.competing += set->v[i].state == COUNTER_OPEN &&
				      set->v[i].pass == set->v[index].pass &&
				      events_share_counters(set->v[i].event, evidence.counter->event);
	evidence.others_ran = is_pinned(&evidence) && only_others_ran(set, index);
	if (evidence.competing)
		evidence.counters = machine_counters(&evidence.machine, evidence.counter->event, evidence.competing);
	for (size_t i = 0; !reason && i < ARRAY_SIZE(never_ran_causes); i++) {
		const struct never_ran_cause *cause = &never_ran_causes[i];

		if (cause->holds(&evidence))
			reason = cause->text ? xstrdup(cause->text) : cause->describe(&evidence);
	}
	machine_release(&evidence.machine);
	return reason;
}
