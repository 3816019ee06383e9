/*
 * report_words: what the options of `pstat report` fill. Private to cmd/.
 */
#ifndef PSTAT_REPORT_WORDS_H
#define PSTAT_REPORT_WORDS_H

#include "cmd/sample_words.h"

struct report_words {
	struct sample_words sample; /* first: sample_options[] fills it */
	struct query report;
	const struct report_format *format;
	bool stdio, tui; /* neither: a browser on a terminal, else printed */
	bool folded, json;
	bool tasks, mmaps;
	int children, group, branch_stack, skip_empty; /* 1, 0 with --no-X; -1: not given */
	bool inverted; /* -G */
	bool no_shorten;
	bool hierarchy;
	long group_sort;
};

/* For option rows, also of other commands: the target is a struct report_words. */
int take_chains(void *target, const char *argument, struct str *err);
int take_percent_limit(void *target, const char *argument, struct str *err);
int take_percentage(void *target, const char *argument, struct str *err);
int take_widths(void *target, const char *argument, struct str *err);

void report_words_init(struct report_words *words);
/* Brings the words into words->report. 0, or an exit status after a message. */
int report_words_finish(struct report_words *words);
/* Is it for the screen? Keys come from standard input; what is asked for as a text is printed. */
bool report_wants_screen(const struct report_words *words);
/* A message for who asked for it: why there is none. */
void report_no_screen(const struct report_words *words, const char *why);

#endif
