/* SPDX-License-Identifier: MIT */
/*
 * record_options: what the command line of `pstat record` says. The option rows (record_options[]) fill it; it is
 * checked and completed with defaults before the plan in it runs. Private to cmd/.
 */
#ifndef PSTAT_RECORD_OPTIONS_H
#define PSTAT_RECORD_OPTIONS_H

#include "cmd/event_options.h"
#include "cmd/options.h"
#include "record/record.h"

enum { CALL_BYTES_DEFAULT = 32, CALL_BYTES_MAX = 4096 }; /* of buffers that calls read and write */

struct recording_words {
	struct event_words what; /* first: its option functions take this struct */
	struct record_plan plan;
	/* Options that recording_words_complete() turns into the plan's fields. */
	bool call_graph; /* -g */
	bool branches; /* -b */
	bool has_synth; /* --synth was given */
	bool has_off_cpu_least; /* --off-cpu-thresh was given */
	struct event_list switch_events; /* --switch-output-event */
	bool piped; /* into the pipe on standard output, as -o was not given */
	bool whole_machine; /* as nothing was named */
	bool no_default_event; /* no event of -e is needed: the plan has another one */
	bool latency; /* --latency */
	/* Options of the command itself. */
	const char *control;
	bool call_texts; /* --syscall-texts */
	unsigned string_limit; /* bytes of buffers that are among them */
	int verbose;
	bool quiet;
	bool symbols_in_file; /* --symbols-in-file */
	const char *kcore; /* --kcore: the file; NULL: not given */
};

void recording_words_init(struct recording_words *words, const struct kern *kern);
void recording_words_release(struct recording_words *words);

/*
 * Options that exclude or need each other, and defaults: events, -a where it goes without saying.
 * 0, or a negative errno with a sentence: the command line is wrong.
 */
int recording_words_complete(struct recording_words *words, struct str *err);

/* Arguments that `pstat top` takes as well, for option rows; the target is a struct recording_words. */
int take_frequency(void *target, const char *argument, struct str *err);
int take_period(void *target, const char *argument, struct str *err);
int take_call_graph(void *target, const char *argument, struct str *err);
int take_branch_filter(void *target, const char *argument, struct str *err);
int take_off_cpu_least(void *target, const char *argument, struct str *err);
int take_ring_size(void *target, const char *argument, struct str *err);

/* The names of clocks that --clockid knows, for completion; false: no more. */
bool clock_row(size_t i, const char **name, const char **help);

#endif
