/* SPDX-License-Identifier: MIT */
/*
 * report_options: what the options of `pstat report` fill. Private to cmd/.
 */
#ifndef PSTAT_REPORT_OPTIONS_H
#define PSTAT_REPORT_OPTIONS_H

#include "cmd/sample_options.h"
#include "export/export.h"
#include "fmt/fmt.h"

/*
 * --FORMAT[=FILE]: formats that are files for other programs. Firefox's is made sample by sample, not from a table.
 */
#define REPORT_EXPORTS(ROW)      \
	REPORT_FILE_FORMATS(ROW) \
	ROW(firefox, "profile.json.gz", "write samples for the Firefox profiler")
#define EXPORT_NUMBER(id, file, help) EXPORT_##id,
enum { REPORT_EXPORTS(EXPORT_NUMBER) N_EXPORTS };
struct export_choice {
	bool given;
	const char *file; /* NULL: none was named */
};

struct report_words {
	struct sample_words sample; /* first: sample_options[] fills it */
	struct query report;
	const struct report_format *format;
	const struct export_text_format *export; /* made sample by sample, not from a table; or NULL */
	bool packed; /* the name of its file ends in .gz */
	bool stdio, tui; /* neither: a browser on a terminal, else printed */
	bool folded, json, stacks, total_cycles;
	struct export_choice exports[N_EXPORTS];
	bool merge; /* --speedscope: stacks merged in place of samples in time */
	bool unnamed; /* the name of the output is not the user's */
	const char *output; /* where the text goes: a file; NULL: to standard output */
	bool tasks, mmaps;
	int children, group, branch_stack, skip_empty; /* 1, 0 with --no-X; -1: not given */
	bool inverted; /* -G */
	bool no_shorten;
	struct annotate_options code; /* as the browser shows it */
	enum annotate_percent code_percent; /* likewise */
	bool hierarchy;
	long group_sort;
};

/* For option rows, also of other commands: the target is a struct report_words. */
int take_chains(void *target, const char *argument, struct str *err);
int take_percent_limit(void *target, const char *argument, struct str *err);
int take_widths(void *target, const char *argument, struct str *err);
/* --FORMAT[=FILE]; the target is a struct export_choice. */
int take_export(void *target, const char *argument, struct str *err);

void report_words_init(struct report_words *words);
/* Brings the words into words->report. 0, or an exit status after a message. */
int report_words_finish(struct report_words *words);
/* Is it for the screen? What is asked for as a text is printed. */
bool report_wants_screen(const struct report_words *words);

#endif
