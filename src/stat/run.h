/* SPDX-License-Identifier: MIT */
/*
 * run: the state of a run, shared by run.c (its course), hooks.c (what comes before and after each run of the command),
 * passes.c (--passes) and slicing.c. Private to stat/.
 */
#ifndef PSTAT_RUN_H
#define PSTAT_RUN_H

#include "stat/reporter.h"

/* Reads between reports, which tell how sure a scaled value is: see slicing.c. */
struct slicing {
	uint64_t next_ns; /* NEVER_NS: none */
	uint64_t interval_ns;
	uint64_t last_cost_ns; /* of the read before; 0: there was none */
	bool takes_turns; /* a counter was seen to */
};

struct run {
	const struct stat_plan *plan;
	struct str *err;
	struct reporter *reporter;
	unsigned index; /* of this repeat */
	struct pass_runs *passes; /* --passes; or NULL */
	unsigned pass, n_passes; /* runs of the command make a repeat; 1 without --passes */
	bool warming_up; /* --warm-up: this run comes before all others, and has no counters */
	bool smis_frozen; /* by smi_freeze_begin(), and to be put back */
	off_t input_at; /* where each run begins to read its standard input; -1: it is no file */
	int status; /* for pstat, when it has not failed */
	int failed_status; /* and when it has */
	unsigned first_failed; /* -r: the run, from 1, that first ended with another status than 0; 0: none */

	/* of one repeat */
	struct child child;
	bool has_child, child_is_target;
	struct target target;
	struct counter_set set;
	bool set_open;
	bool reportable; /* the set was read to its end and is still open */
	struct watch watch;
	struct control control;

	struct ticker ticker;
	struct slicing slicing;
	uint64_t start_ns; /* counting began; NEVER_NS: not yet */
	uint64_t last_ns; /* the last interval ended */
	uint64_t delay_until_ns;
	uint64_t look_at_ns; /* removal_look() */
	unsigned n_intervals;
	int signals_seen;
	bool told_to_end; /* by pstat: its time was up, control, counters that could not be started */
	bool output_waits; /* a report is not all written: no more intervals until it is */
	bool output_failed; /* no more reports */
	int rc; /* of the first failure while running */
};

/* ---- hooks.c ---- */
/* Called when it is known how many runs there will be. -EINVAL with a sentence: standard input is a pipe. */
int hooks_begin(struct run *run);
/* Called before and after each run of the command: 0, or a negative errno with a sentence. */
int hooks_before(struct run *run);
int hooks_after(struct run *run);

/* ---- smi_freeze.c ---- */
/* --smi-cost: freezes counters in system management interrupts. 0, or a negative errno with a sentence. */
int smi_freeze_begin(struct run *run);
void smi_freeze_end(struct run *run);

/* ---- slicing.c ---- */
/* Counting has begun. */
void slicing_begin(struct run *run);
/* The time between reads, where the event that ran least did so for this share, and a read costs as much. */
uint64_t slicing_interval_ns(double least_share, uint64_t cost_ns);
/* Reads, if it is time to. */
void slicing_go_on(struct run *run, uint64_t now);

#endif
