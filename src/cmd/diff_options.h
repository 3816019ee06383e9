/* SPDX-License-Identifier: MIT */
/*
 * diff_options: what the options of `pstat diff` fill. Private to cmd/.
 */
#ifndef PSTAT_DIFF_OPTIONS_H
#define PSTAT_DIFF_OPTIONS_H

#include "cmd/report_options.h"

enum { DIFF_RULES_MAX = 64, DIFF_RUNS_MAX = 256 };

struct diff_words {
	struct sample_words sample; /* first: name_options[] fills it */
	struct diff_options diff;
	struct diff_look look;
	const char *sort;
	bool percentage_relative;
	long order; /* -1: not given */
	const char *old, *new; /* lists of recordings, one side each */
	const char *per;
	struct diff_rule rules[DIFF_RULES_MAX];
	size_t n_rules;
	bool json, stdio;
	bool cycles, cycles_spread; /* -c cycles, which --cycles-hist means, too */
	bool streams;
	struct export_choice flamegraph;

	/* The fields below are made of those above by diff_words_finish(). */
	char *files[DIFF_RUNS_MAX]; /* of all sides, one after the other */
	char *times[DIFF_RUNS_MAX]; /* --time of each; NULL: all of it */
	double units[DIFF_RUNS_MAX];
	size_t side_runs[DIFF_SIDES_MAX]; /* how many of them are of each side */
	size_t n_files, n_sides;
	struct query query; /* of each recording; its filters' time is the recording's own */
};

void diff_words_init(struct diff_words *words);
/* argv from `first` on: recordings. 0, or an exit status after a message. */
int diff_words_finish(struct diff_words *words, int argc, char **argv, int first);
void diff_words_release(struct diff_words *words);

#endif
