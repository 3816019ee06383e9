/* SPDX-License-Identifier: MIT */
/*
 * compare_options: the words of `pstat compare`. Private to cmd/.
 */
#ifndef PSTAT_COMPARE_OPTIONS_H
#define PSTAT_COMPARE_OPTIONS_H

#include "cmd/event_options.h"
#include "cmd/options.h"
#include "compare/compare.h"

/* A list of words as they were given; borrowed from argv. */
struct given_words {
	const char **v;
	size_t n, cap;
};

/* A name in braces in commands, and what takes its place: one run of commands for each. */
struct parameter {
	char *name;
	char **values;
	size_t n;
};

/* A place for the result. */
struct compare_export {
	const char *path; /* "-": standard output */
	const struct compare_format *format;
};

enum compare_sort { COMPARE_SORT_AUTO, COMPARE_SORT_COMMAND, COMPARE_SORT_TIME };
enum compare_style {
	COMPARE_STYLE_AUTO,
	COMPARE_STYLE_BASIC,
	COMPARE_STYLE_FULL,
	COMPARE_STYLE_NOCOLOR,
	COMPARE_STYLE_COLOR,
	COMPARE_STYLE_NONE,
};

struct compare_words {
	struct event_words what; /* first: event_options.h */
	struct compare_plan plan;
	struct compare_data data; /* commands and seed, or what was loaded */
	struct given_words names, prepare, conclude, environment;
	struct parameter *parameters;
	size_t n_parameters;
	struct compare_export *exports;
	size_t n_exports;
	const char *scan, *to, *step; /* -P as it was given, its end; -D */
	char *from; /* of -P */
	char *metric_names; /* with commas; or NULL */
	const char *reference, *shell, *output, *seed;
	bool load; /* words are files of results, which were measured before */
	bool check; /* the exit status is by the verdict of: */
	const char *checked; /* a row's name */
	char ***assignments; /* --env by command */
	int *ignored;
	cpu_set_t cpus;
	int style, sort, colour; /* enum compare_style, compare_sort, color_mode */
	int verbose;
};

extern const struct option_row compare_options[];

void compare_words_init(struct compare_words *words, const struct kern *kern);
void compare_words_release(struct compare_words *words);
/*
 * The commands: strings of which each is one, and after "--" words that ":::" parts. Then what goes together, and what
 * the options mean. -EINVAL with a sentence.
 */
int compare_words_complete(struct compare_words *words, char **strings, size_t n_strings, char **after, size_t n_after,
			   struct str *err);
/* The same with --load, where the strings are files: before they are loaded, and then. */
int compare_words_complete_load(struct compare_words *words, size_t n_files, size_t n_after, struct str *err);
int compare_words_complete_loaded(struct compare_words *words, struct str *err);

#endif
