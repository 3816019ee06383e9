/*
 * stat_settings: what the command line of `pstat stat` says, as far as it is plain words: filled by the
 * option rows (stat_options.c), checked and completed with defaults (stat_settings.c), then turned into a
 * struct stat_plan (cmd_stat.c) and an output (stat_output.c). Private to cmd/.
 */
#ifndef PSTAT_STAT_SETTINGS_H
#define PSTAT_STAT_SETTINGS_H

#include "cmd/event_options.h"
#include "cmd/options.h"
#include "stat/stat.h"

enum { N_AGGR = AGGR_THREAD + 1 };

struct stat_settings {
	struct event_words what; /* first: its option functions take this struct. -M and defaults add to it */
	char *const *argv; /* the command, or NULL */

	/* what to count */
	struct str metric_names; /* -M */
	const struct metric **metrics; /* chosen by -M; NULL: the default ones */
	size_t n_metrics;
	int detailed;
	bool null_run, all_user, all_kernel;

	/* what to measure */
	bool all_cpus, inherit;
	const char *cpus, *pids, *tids;
	const char *each_cgroup;

	/* how often */
	long repeat, interval_ms, interval_count, timeout_ms, delay_ms;
	bool table, interval_clear, summary, sync, passes, warm_up;
	const char *control, *pre, *post;

	/* how to add up */
	bool aggr[N_AGGR]; /* by enum aggr_mode */
	bool merge, scale;

	/* how to print */
	const char *separator, *output;
	bool json, append, big_num, metric_only, csv_summary, quiet;
	long log_fd; /* -1: none */
	int verbose;

	/* counts in a file */
	bool record; /* pstat stat record: -o names the recording */
	const char *recording; /* where it goes, "-": stdout; NULL: nowhere */
	const char *input; /* pstat stat report: -i, or NULL */
	const char *title; /* of a report, printable; NULL: made of the words */
};

void stat_settings_init(struct stat_settings *settings, const struct kern *kern);
void stat_settings_release(struct stat_settings *settings);

/*
 * Options that exclude or need each other, and defaults: -a where it goes without saying, events, the
 * events of -M. 0, or a negative errno with a sentence: the command line is wrong.
 */
int stat_settings_complete(struct stat_settings *settings, struct str *err);

/* The same for `stat report`, which has no events and no target of its own. */
int stat_settings_check_report(const struct stat_settings *settings, struct str *err);

enum aggr_mode stat_settings_aggr(const struct stat_settings *settings);

#endif
