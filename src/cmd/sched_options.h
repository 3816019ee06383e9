/* SPDX-License-Identifier: MIT */
/*
 * sched_options: the options of the commands of pstat sched. Private to cmd/.
 */
#ifndef PSTAT_SCHED_OPTIONS_H
#define PSTAT_SCHED_OPTIONS_H

#include "cmd/sample_options.h"
#include "sched/sched.h"

struct sched_words {
	struct sample_words sample; /* first: the shared rows fill it */
	struct timehist_options timehist;
	struct latency_options latency;
	struct cpu_map_options map;
	struct task_times_options times;
	struct page_options page;
	const char *output; /* file for the page; NULL: none was named */
	struct sched_format format; /* of rows, whatever they are of */
	unsigned interval_ms; /* 0: none */
	bool interval_clear;
	const char *color_pids, *color_cpus;
	const char *pids, *tids, *cpus, *prios, *time;
};

extern const struct option_row timehist_options[], latency_options[], map_options[], task_times_options[],
	page_options[];

/* Texts become lists and times. 0, or -EINVAL with a sentence. */
int sched_words_finish(struct sched_words *words, struct str *err);
void sched_words_release(struct sched_words *words);

#endif
