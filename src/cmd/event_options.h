/* SPDX-License-Identifier: MIT */
/*
 * event_options: the options that name events, the same for all commands that open some: -e, --filter, --events-dir,
 * --pfm-events, -G. The functions are for option rows (OPTION_CALL): the struct that such rows fill
 * has a struct event_words as its first member. Private to cmd/.
 */
#ifndef PSTAT_EVENT_OPTIONS_H
#define PSTAT_EVENT_OPTIONS_H

#include "cmd/run_probes.h"
#include "event/event.h"
#include "kern/kern.h"

struct event_words {
	const struct kern *kern;
	struct host_paths host; /* kern's, with the folder of --events-dir */
	struct event_list events;
	struct str early_cgroups; /* -G before any -e */
	bool has_cgroups;
	struct run_probes probes; /* that -e has made; release removes them: their events are closed then */
};
void event_words_init(struct event_words *words, const struct kern *kern);
void event_words_release(struct event_words *words);
/* When all events are known: the names of an early -G are given to them. */
int event_words_add_cgroups(struct event_words *words, struct str *err);

int take_events(void *target, const char *argument, struct str *err);
int take_pfm_events(void *target, const char *argument, struct str *err);
int take_filter(void *target, const char *argument, struct str *err);
/* --events-dir: for what is named after it. */
int take_events_dir(void *target, const char *argument, struct str *err);
int take_cgroups(void *target, const char *argument, struct str *err);

#endif
