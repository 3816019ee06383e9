/* SPDX-License-Identifier: MIT */
/*
 * fmt: a table -> text. Each format is a file that ends in its struct report_format, and a row of
 * REPORT_TEXT_FORMATS or REPORT_FILE_FORMATS. A format computes nothing and asks nothing; what it needs to be there
 * stands in its row (needs).
 *
 *   table -> fmt_stdio.c: heads, a line for each entry (fmt_cell.c), its call tree (calltree_print.c)
 *         -> table_json.c, fmt_stacks.c, fmt_folded.c, fmt_code_blocks.c, fmt_streams.c
 *         -> flamegraph.c, speedscope.c, pprof.c
 *   diff  -> diff_text.c, diff_json.c, flamegraph.c        annotation -> fmt_annotate.c
 *   type_uses -> fmt_types.c
 *
 * Text goes to a struct output, which is handed on in pieces (output_step) and knows colours and the terminal's
 * width. Names come from outside: they are printable in texts, and escaped in JSON, HTML and SVG. The browser
 * (screen/) shows the same lines by the functions at the end of this header.
 */
#ifndef PSTAT_FMT_H
#define PSTAT_FMT_H

#include "annotate/annotate.h"
#include "hist/hist.h"
#include "types/types.h"

/*
 * The formats of `pstat report`. To add one: fmt/x.c, which ends in its struct report_format, format_x; a row here;
 * its paragraph in pstat-report(1); a test in tests/unit/test_fmt_report.c.
 */
#define REPORT_TEXT_FORMATS(ROW) ROW(stdio) ROW(stacks) ROW(folded) ROW(json) ROW(total_cycles) ROW(flamegraph_svg)
/*
 * Formats for other programs: each has an option of its name, --NAME[=FILE], whose help stands here, too. The file is
 * the one that is written where the option names none and standard output is a terminal.
 */
#define REPORT_FILE_FORMATS(ROW)                                                                     \
	ROW(flamegraph, "flamegraph.html",                                                           \
	    "write a flame graph: an HTML page, or .svg")                                             \
	ROW(speedscope, "speedscope.json", "write samples in time order for speedscope")           \
	ROW(pprof, "profile.pb.gz", "write samples, stacks and labels for pprof")

struct report_format {
	const char *name;
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
	bool lines; /* -l: the hottest source lines first, and the line after each hot instruction */
	bool raw_bytes; /* --asm-raw */
	bool full_paths; /* -P: files of source lines with their folders */
	bool arrows; /* --stdio2: where jumps, calls and returns go */
	struct types *types; /* --code-with-type: the type that an instruction reads or writes; NULL: not asked for */
};
/* A head that names file, function and events; then rows. Lines have the shape of perf's. */
void annotation_print(const struct annotation *annotation, const struct annotation_look *look, struct output *output);
/*
 * The same in parts, for who shows it line by line: the head's lines, and the one line of a row of
 * annotation->rows.
 */
void annotation_add_head(const struct annotation *annotation, const struct annotation_look *look,
			 struct output *output);
void annotation_add_row(const struct annotation *annotation, const struct annotation_look *look, size_t row,
			struct output *output);
/* How many columns the numbers take that an instruction's line begins with. */
unsigned annotation_values_columns(const struct annotation *annotation, const struct annotation_look *look);
/* The greatest percentage among the events of an instruction's row; 0 for other rows. */
double annotation_row_percent(const struct annotation *annotation, const struct annotation_look *look, size_t row);

/* ---- fmt_types.c: types of data, as `pstat annotate --data-type` prints them ---- */

/* Types with the samples of their members. event: NULL: there is only one. Of look the value in front. */
void type_uses_print(const struct type_uses *uses, const char *event, const struct annotation_look *look,
		     struct output *output);
/* Numbers of sampled instructions by what is known of their types; and by their names. */
void type_uses_print_states(const struct type_uses *uses, struct output *output);
void type_uses_print_instructions(const struct type_uses *uses, struct output *output);
/* All of it as one JSON object on a line. Its schema stands above it. */
void type_uses_print_json(const struct type_uses *uses, const char *event, struct output *output);

/* ---- differences: text, JSON, a page or a picture of stacks; computed in hist/ ---- */

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
/*
 * fmt_code_blocks.c: the blocks of code of two recordings, by events' names; tables with NEED_CODE_BLOCKS. spread: with
 * columns of how the cycles of single runs differ.
 */
int code_blocks_diff_print(struct table *before, struct table *now, bool spread, struct output *output);
/* fmt_streams.c: the streams of two recordings, by events' names; tables with NEED_STREAMS. */
int streams_diff_print(struct table *before, struct table *now, struct output *output);
/* The same in parts, for who shows it line by line: the lines above the rows of an event; one row. */
struct diff_lines; /* how wide the columns of an event are */
struct diff_lines *diff_lines_new(const struct diff *diff, const struct diff_event *event, const struct diff_look *look,
				  const struct output *output);
void diff_lines_free(struct diff_lines *lines); /* NULL is fine */
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
/* The sentence that says what changes are judged by: "sampling noise alone, ...". */
void diff_add_basis(const struct diff *diff, struct str *out);

/* ---- parts of a table, for who shows it line by line ---- */

/* "Samples: 59K of event 'cpu-clock'", with the spans of --time. */
void head_add_samples(const struct table *table, const struct hist *hist, struct str *out);
/* The hist's events: member 0 is hist->event. */
const struct data_event *head_member(const struct table *table, const struct hist *hist, size_t member);
/* Has it anything to show? Events without samples are left out. */
bool head_is_empty(const struct hist *hist);
/* Narrows the report's columns of long texts, for one table, so that its lines fit. */
void fmt_fit_columns(struct table *table, const struct hist *hist, const struct output *output);
/* How wide a column is: as wide as -w says, but a number needs room for its head and its group. */
unsigned fmt_width(const struct table *table, const struct hist *hist, const struct column *column);
/* A column's head in its width. */
void fmt_add_head(const struct table *table, const struct hist *hist, const struct column *column, struct str *out);
/*
 * One cell of an entry's line. With a separator a text that holds it, or a quote, is quoted. last: nothing
 * follows on the line, so that what needs no filling up gets none.
 */
void fmt_add_cell(struct table *table, const struct hist *hist, const struct entry *entry,
		  const struct column *column, bool last, struct output *output);
/* The name of a frame as perf writes it: "f", "f (inlined)", "f file.c:7", "0x7f12". Printable. */
void calltree_add_name(const struct table *table, const struct view_frame *frame, struct str *out);
/* Adds what the branches did that end at the node, as perf writes it: " (CALL predicted:50.0%)"; or nothing. */
void calltree_add_branches(const struct table *table, const struct call_node *node, struct str *out);

#endif
