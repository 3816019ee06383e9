/* SPDX-License-Identifier: MIT */
/*
 * reporter: from an aggregation to finished reports. Private to stat/.
 *
 *   reporter.c          runs, clocks, metrics bound to what was opened; values -> struct stat_report
 *   repeated_events.c   one event in several groups: do the turns keep step with the program?
 */
#ifndef PSTAT_REPORTER_H
#define PSTAT_REPORTER_H

#include "stat/metric.h"
#include "stat/stat.h"

struct report_room { /* of the report that was made last */
	struct stat_row *v; /* room for one per value */
	size_t n;
	struct stat_metric *metrics; /* room for each use at each key */
	size_t n_metrics;
	size_t *order; /* scratch: the keys of one event row, as printed */
	struct copy *copies; /* scratch: one per event row */
	char **texts; /* reasons; freed by the next report */
	size_t n_texts, texts_cap;
	struct str text; /* scratch */
};

struct reporter {
	const struct stat_plan *plan;
	struct aggregation *counts;
	char **row_names; /* by event row, as printed; own */
	char **key_names; /* by key */
	size_t n_key_names;
	struct amount *amounts; /* by value: what the report shows */

	struct metric_line *metric_lines; /* by event row */
	struct metric_uses uses;
	size_t *uses_base; /* by event row, and one more: its first use */

	struct count_clock since_start, since_last; /* of the last read */
	struct stat_times times; /* over the runs that ended */
	double *run_seconds;
	size_t n_runs, runs_cap;
	struct series *pass_elapsed; /* seconds, by pass; NULL without passes */

	struct report_room rows;
	struct stat_times shown_times;
	struct stat_report report;
	unsigned n_intervals;
	bool reported;
};

/*
 * A reporter of the plan's events. With -r the same reporter takes all runs: reporter_attach() is called with what
 * each has opened. backend, data and what they lend stay until the last report of the run is done with; the
 * target only during the call.
 */
struct reporter *reporter_new(const struct stat_plan *plan, struct str *err); /* NULL on failure */
int reporter_attach(struct reporter *r, const struct count_backend *backend, const void *data,
		    const struct target *target, struct str *err);
void reporter_free(struct reporter *r);

/* Reads all counters now, for the plan's tap too. Takes no memory. */
void reporter_read(struct reporter *r, const struct count_clock *since_start,
		   const struct count_clock *since_last);
/* The read's end, where the readings came from elsewhere: see aggregation_begin_read(). */
void reporter_end_read(struct reporter *r, const struct count_clock *since_start,
		       const struct count_clock *since_last);
/*
 * One repeat is over: its totals are kept, and a final report takes means. Repeats without end (plan->repeat
 * 0) are reported one by one: each takes a new reporter.
 */
void reporter_end_run(struct reporter *r, const struct count_clock *clock);
/* The two halves of it, for repeats that are several runs: one run is over, then all of a repeat are. */
void reporter_end_pass(struct reporter *r, unsigned pass, const struct count_clock *clock);
void reporter_end_repeat(struct reporter *r);

/*
 * The rows of a report, in print order: events in list order within a key for CPU, core, die,
 * socket and node modes as perf has them (-A: event by event, then CPUs; --per-core and wider: key
 * by key, then events; --per-thread: event by event, threads by value descending).
 * Owned by the reporter, good until the next call.
 */
const struct stat_report *reporter_report(struct reporter *r, enum stat_report_kind kind, uint64_t time_ns);

/* ---- repeated_events.c ---- */
/* Amounts are set: compares those of one event in several groups, and widens errors where the turns are in step. */
void repeated_events_compare(struct reporter *r);

#endif
