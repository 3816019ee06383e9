/* SPDX-License-Identifier: MIT */
/*
 * stat_options: what the command line of `pstat stat` says. The option rows (stat_options[]) fill it; it is checked
 * and completed with defaults before the plan in it runs, and its output is opened (stat_output.c). Private to
 * cmd/.
 */
#ifndef PSTAT_STAT_OPTIONS_H
#define PSTAT_STAT_OPTIONS_H

#include "cmd/event_options.h"
#include "cmd/options.h"
#include "stat/stat.h"

enum { N_AGGR = AGGR_THREAD + 1 };

struct stat_words {
	struct event_words what; /* first: its option functions take this struct. -M and defaults add to it */
	struct stat_plan plan; /* of the events of `what` */
	struct stat_style style; /* what the options say of it; the rest is stat_output_open()'s */

	/* Options that stat_words_complete() turns into the plan's fields. */
	struct str metric_names; /* -M */
	bool no_thresholds; /* --metric-no-threshold */
	bool topdown;
	bool transaction; /* -T */
	long topdown_level;
	int detailed;
	bool all_user, all_kernel;
	const char *each_cgroup;
	const char *only_pmu; /* --cputype, --pmu-filter; or NULL */
	long timeout_ms; /* --timeout: plan.duration_ns in ms */
	bool aggr[N_AGGR]; /* by enum aggr_mode */

	/* Options of the command itself. */
	const char *control;
	bool interval_clear;
	const char *output;
	bool json, append, quiet;
	long log_fd; /* -1: none */
	int verbose;
	bool whole_machine; /* as nothing was named */
	bool record; /* pstat stat record: -o names the recording */
	const char *recording; /* where it goes, "-": stdout; NULL: nowhere */
	const char *input; /* pstat stat report: -i, or NULL */
	const char *title; /* of a report, printable; NULL: made of the words */
};

void stat_words_init(struct stat_words *words, const struct kern *kern);
void stat_words_release(struct stat_words *words);

/*
 * Options that exclude or need each other, and defaults: -a where it goes without saying, events, the
 * events of -M. 0, or a negative errno with a sentence: the command line is wrong.
 */
int stat_words_complete(struct stat_words *words, struct str *err);

/* The same for `stat report`, which has no events and no target of its own. */
int stat_words_check_report(struct stat_words *words, struct str *err);

/* `pstat stat report` (cmd_stat_report.c). The exit status. */
int stat_report(struct stat_words *words);

#endif
