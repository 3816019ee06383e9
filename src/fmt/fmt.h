/*
 * fmt: a table -> text: one file and one row each. A format computes nothing and asks nothing; what it needs to be
 * there stands in its row.
 */
#ifndef PSTAT_FMT_H
#define PSTAT_FMT_H

#include "annotate/annotate.h"
#include "hist/hist.h"

struct report_format {
	const char *name;
	const char *help;
	unsigned needs; /* enum table_needs */
	int (*print)(struct table *table, struct output *output);
};
/* By name: "stdio", "folded", "json"; or NULL. */
const struct report_format *report_format_find(const char *name);

/* ---- fmt_annotate.c: a function's code, as `pstat annotate` prints it ---- */

enum annotation_value { ANNOTATION_PERCENT, ANNOTATION_PERIOD, ANNOTATION_SAMPLES };
struct annotation_look {
	enum annotation_value value; /* what stands in front of each instruction */
	enum annotate_percent percent; /* what a percentage is of */
	bool lines; /* -l: the hottest source lines first, and the line behind each hot instruction */
	bool raw_bytes; /* --asm-raw */
	bool full_paths; /* -P: files of source lines with their folders */
	bool arrows; /* --stdio2: where jumps, calls and returns go */
};
/* A head that names file, function and events; then rows. Lines have the shape of perf's. */
void annotation_print(const struct annotation *annotation, const struct annotation_look *look, struct output *output);
/* "local period" */
const char *annotation_percent_name(enum annotate_percent percent);

#endif
