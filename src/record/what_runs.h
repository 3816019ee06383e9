/*
 * what_runs: what runs already when a recording begins, told to a sink as the records that the kernel would have
 * written: the kernel and its modules, tasks, their names and maps. Private to record/.
 */
#ifndef PSTAT_WHAT_RUNS_H
#define PSTAT_WHAT_RUNS_H

#include "record/record.h"

/* A record of synth.h, appended in the layout of the event that records what tasks do. */
int what_runs_encode(const struct events *events, const struct record_body *body, struct str *out,
		     struct str *err);
/* All that the plan asks for, in large pieces. */
int what_runs_tell(const struct record_plan *plan, const struct target *target,
		   const struct events *events, struct record_sink *to, struct str *err);

#endif
