/*
 * record_words: what the command line of `pstat record` says: filled by the option rows
 * (record_options.c), checked and completed with defaults (record_words.c). Most of it is the plan
 * itself. Private to cmd/.
 */
#ifndef PSTAT_RECORD_WORDS_H
#define PSTAT_RECORD_WORDS_H

#include "cmd/event_words.h"
#include "cmd/options.h"
#include "record/record.h"

struct recording_words {
	struct event_words what; /* first: its option functions take this struct */
	struct record_plan plan;
	/* What is not yet as the plan has it. */
	bool call_graph; /* -g */
	bool branches; /* -b */
	bool has_synth; /* --synth was given */
	bool physical; /* --phys-data */
	long max_stack;
	long switch_max_files;
	const char *control;
	int verbose;
	bool quiet;
	bool symbols_in_file; /* --symbols-in-file */
};

void record_words_init(struct recording_words *words, const struct kern *kern);
void record_words_release(struct recording_words *words);

/*
 * Options that exclude or need each other, and defaults: events, -a where it goes without saying.
 * 0, or a negative errno with a sentence: the command line is wrong.
 */
int record_words_complete(struct recording_words *words, struct str *err);

/* record_values.c: arguments that are more than a word or a number; for option rows */
int take_frequency(void *target, const char *argument, struct str *err);
int take_period(void *target, const char *argument, struct str *err);
int take_start_delay(void *target, const char *argument, struct str *err);
int take_call_graph(void *target, const char *argument, struct str *err);
int take_branch_filter(void *target, const char *argument, struct str *err);
int take_user_regs(void *target, const char *argument, struct str *err);
int take_intr_regs(void *target, const char *argument, struct str *err);
bool clock_row(size_t i, const char **name, const char **help); /* the words that take_clock() knows */
int take_clock(void *target, const char *argument, struct str *err);
int take_ring_size(void *target, const char *argument, struct str *err);
int take_buffer_size(void *target, const char *argument, struct str *err);
int take_threads(void *target, const char *argument, struct str *err);
int take_affinity(void *target, const char *argument, struct str *err);
int take_compression(void *target, const char *argument, struct str *err);
int take_cache_size(void *target, const char *argument, struct str *err);
int take_max_size(void *target, const char *argument, struct str *err);
int take_switch_output(void *target, const char *argument, struct str *err);
int take_synth(void *target, const char *argument, struct str *err);

#endif
