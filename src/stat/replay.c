/*
 * A recording's rounds -> reports: as of a run, with the recorded counts for a backend.
 */
#include "stat/reporter.h"

#include <stdlib.h>

struct stat_replay {
	const struct stat_plan *plan;
	struct reporter *reporter;
	uint64_t last_ns; /* when the last round ended */
};

struct stat_replay *stat_replay_new(const struct stat_plan *plan, const struct recorded_counts *counts,
				    struct str *err)
{
	struct stat_replay *replay = xcalloc(1, sizeof(*replay));

	replay->plan = plan;
	replay->reporter = reporter_new(plan, err);
	if (!replay->reporter ||
	    reporter_attach(replay->reporter, &count_backend_recorded, counts, &counts->target, err)) {
		stat_replay_free(replay);
		return NULL;
	}
	if (plan->scale)
		aggregation_keep_slices(replay->reporter->counts); /* from round to round */
	return replay;
}

int stat_replay_round(struct stat_replay *replay, enum stat_report_kind kind, uint64_t since_start_ns)
{
	struct count_clock since_start = { .elapsed_ns = since_start_ns }, since_last = { 0 };

	if (since_start_ns > replay->last_ns)
		since_last.elapsed_ns = since_start_ns - replay->last_ns;
	replay->last_ns = since_start_ns;
	reporter_read(replay->reporter, &since_start, &since_last);
	return replay->plan->emit(replay->plan->emit_data,
				  reporter_report(replay->reporter, kind, since_start_ns));
}

void stat_replay_free(struct stat_replay *replay)
{
	if (!replay)
		return;
	reporter_free(replay->reporter);
	free(replay);
}
