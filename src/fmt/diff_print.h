/*
 * diff_print: a difference -> text, JSON, a page or a picture of stacks. Rows are computed in hist/diff.h, places of a
 * picture in hist/stack_diff.h. Read by including fmt.h.
 */
#ifndef PSTAT_DIFF_PRINT_H
#define PSTAT_DIFF_PRINT_H

#include "hist/hist.h"

struct diff_look {
	bool period; /* -p: columns with the sums of periods */
	bool formula; /* -F */
	bool samples; /* -v: numbers of samples, and the design effect */
	bool quiet; /* no lines above the rows */
	const char *separator; /* -t; NULL: aligned columns */
};

/* 0, or the first error of the output. */
int diff_print_text(const struct diff *diff, const struct diff_look *look, struct output *output);
int diff_print_json(const struct diff *diff, struct output *output);
/* The same in parts, for who shows it line by line: the lines above the rows of an event; one row. */
struct diff_lines; /* how wide the columns of an event are */
struct diff_lines *diff_lines_new(const struct diff *diff, const struct diff_event *event, const struct diff_look *look,
				  const struct output *output);
void diff_lines_free(struct diff_lines *lines); /* NULL is fine */
void diff_lines_add_head(const struct diff_lines *lines, struct output *output);
/* The heads of columns alone, one line. */
void diff_lines_add_heads(const struct diff_lines *lines, struct output *output);
void diff_lines_add_row(const struct diff_lines *lines, const struct diff_row *row, struct output *output);
/*
 * A page for a browser. The tables were made with NEED_STACKS | NEED_TIMES. 0, the first error of the
 * output.
 */
int flamegraph_diff_print(struct table *before, struct table *now, double confidence, struct output *output);
/* The same as a picture (SVG) of one event, with the widths of the new recording. */
int flamegraph_diff_svg_print(struct table *before, struct table *now, double confidence, struct output *output);
/* -ENOMSG with a sentence: there is nothing to compare. */
int flamegraph_diff_check(struct table *before, struct table *now, struct str *err);
/* What changes are judged by: "sampling noise alone, ...". */
void diff_add_basis(const struct diff *diff, struct str *out);

#endif
