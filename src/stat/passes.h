/* SPDX-License-Identifier: MIT */
/*
 * passes: which events are counted in which run of the command, so that none has to share a counter (--passes).
 * Private to stat/.
 */
#ifndef PSTAT_PASSES_H
#define PSTAT_PASSES_H

#include "stat/metric.h"
#include "stat/run.h"

/* ---- planning: struct pass_plan of stat.h ---- */

#define NO_PMU SIZE_MAX

/* The question: all that the plan depends on. */
struct pass_question {
	const struct event_list *events;
	const size_t *pmu; /* by event: whose counters it takes, any number; NO_PMU: none */
	const struct metric_use *uses; /* lines are indexes of events */
	size_t n_uses;
	/* Can these events of one PMU, ascending, be counted at the same time? */
	bool (*fits)(void *data, const size_t *events, size_t n);
	void *data;
};

/*
 * -E2BIG: a group does not fit by itself; *too_big is the index of its leader. Release the plan in every
 * case.
 */
int pass_plan_make(struct pass_plan *plan, const struct pass_question *question, size_t *too_big);

/* ---- did the passes do the same? ---- */

/* An event in one of the passes. */
struct pass_count {
	const struct event *event;
	unsigned pass; /* from 0 */
	const struct series *values; /* of its runs, at least one; clocks in ns */
};
/*
 * Does an event that was counted in several passes differ between two of them by more than noise? Adds which
 * events, with their values.
 */
bool passes_differ(const struct pass_count *counts, size_t n, struct str *which);

/* ---- carrying out ---- */

/*
 * Decides what is counted in which pass; run->plan is then one with the events of all. -E2BIG with a
 * sentence: a group is too big for its PMU.
 */
int passes_begin(struct run *run);
/* The events of run->pass. */
const struct event_list *passes_events(const struct run *run);
/* The pass is over: its counters are read, stopped and kept. */
void passes_read(struct run *run, const struct count_clock *clock);
/*
 * The passes are over, or no more will be run: hands what they counted to the reporter; of a repeat that was
 * cut short and would spoil the mean, only the names.
 */
int passes_end_repeat(struct run *run);
/* Called after the last repeat: a note tells if passes differ by more than noise; true then. */
bool passes_compare(struct run *run);
/* Closes the counters, before the next repeat. The reporter must not be asked for a report any more. */
void passes_forget(struct run *run);
void passes_end(struct run *run);

#endif
