/*
 * collect: one pass over the recording that leaves, per event, its cells and totals. Private to hist/.
 *
 * What is worked out for a sample follows from the facts that the targets' cells keep: without
 * FACT_STACK no chain is looked at, without FACT_TRACE no tracepoint is decoded.
 */
#ifndef PSTAT_COLLECT_H
#define PSTAT_COLLECT_H

#include "hist/hist.h"

struct collect_target { /* where an event's samples go */
	struct cells *cells; /* initialized; NULL: the event's samples are left out */
	struct entry_stats
		*totals; /* added to: all samples that --time and --cpu leave, filtered or not */
};
/*
 * Fills target for this event. Called for all events known by then: before the first sample, and again when
 * a sample comes after more have become known (in a pipe events arrive with the records). Each time the
 * last answer counts, and it is asked for twice, so that pointers may have moved meanwhile.
 * Here the report decides what depends on the events: keys, branch_view, chains.
 */
typedef int collect_target_fn(struct table *table, const struct data_event *event,
			      struct collect_target *target, struct str *err);

/*
 * Reads the recording: adds to the targets' cells what the filters by sample (pid, tid, comm, time, CPU) let
 * through; in table->branch_view one cell per branch entry. Filters by dso and symbol are the reader's of
 * the cells (filters_take_place). Opens table->tracepoints and table->texts when FACT_TRACE is kept.
 * 0; or a negative errno with a sentence, when what came before is in the cells.
 *
 * FACT_CPU and other facts that a sample does not have are 0, but FACT_CPU, which is UINT64_MAX, and places,
 * which are PLACE_NONE. FACT_TIME is counted from the epoch of the recording's clock.
 */
int collect_run(struct table *table, collect_target_fn *target,
		void (*progress)(void *context, double part), void *context, struct str *err);

#endif
