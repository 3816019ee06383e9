/* SPDX-License-Identifier: MIT */
/*
 * fmt_internal: what the formats share: the text of one cell of the table, colours. Private to fmt/.
 */
#ifndef PSTAT_FMT_INTERNAL_H
#define PSTAT_FMT_INTERNAL_H

#include "fmt/fmt.h"

/* ---- fmt_cell.c ---- */

/* Text in the colour of its percentage, where colours are wanted. */
void fmt_add_colored(struct output *output, double percent, const char *text);
/* The text between two columns. */
const char *fmt_between(const struct table *table);
/* The text in front of the column with this index: the same, but nothing between answers of one title. */
const char *fmt_before(const struct table *table, size_t column);

/* Does a field hold the separator or a quote? NULL: there is none. */
bool fmt_needs_quotes(const char *text, const char *separator);
/* Puts what was added since `start` in quotes, as RFC 4180 has it. */
void fmt_quote_field(struct str *out, size_t start);

/* Is what is printed to fit a terminal? Not with a separator. */
bool fmt_fits(const struct table *table, const struct output *output);
/* Cuts a text from `start` to the end of the output to what is left of its line. function: a function's name. */
void fmt_fit_text(const struct table *table, struct output *output, size_t start, bool function);
/* Cuts the line that is being made, which begins at `start`: dots below heads. */
void fmt_fit_line(const struct table *table, struct output *output, size_t start);

/* ---- fmt_head.c ---- */

/* "cpu-clock"; of a group "anon group { cycles, instructions }". */
void head_add_event_name(const struct table *table, const struct hist *hist, struct str *out);
/* Samples and period of all members. shown: of what the filters let through. */
struct entry_stats head_totals(const struct hist *hist, bool shown);
/* The first event that has samples, with a note where there are others; NULL: none has. what: "folded stacks". */
const struct hist *head_only_hist(struct table *table, const char *what, const char *why);

/*
 * Begins the event at index i of one recording and the event of that name in the other, which it returns: with a
 * line of the name if `named` and not -q, after a blank one for all but the first of the *n so far. NULL: the other
 * has none.
 */
const struct hist *head_begin_pair(struct table *before, size_t i, struct table *now, bool named, size_t *n,
				   struct output *output);

/*
 * Prints the stacks of the event that head_only_hist() chooses; with folded_events those of each that has samples,
 * below a line with its name where there are several.
 */
struct stack_tree;
void head_print_stacks(struct table *table, const char *what, const struct stack_tree_options *options,
		       void (*print)(struct stack_tree *tree, struct output *output), struct output *output);

/* ---- fmt_stdio.c ---- */

/* The lines before the first event, and those above the heads of an event's columns; with -q none. */
void stdio_add_start(struct table *table, struct output *output);
void stdio_add_event_head(struct table *table, const struct hist *hist, struct str *out);

/* ---- calltree_print.c ---- */

/*
 * Makes the tree of an entry, if it has one, and prints it below the entry's line as perf does, in the kind, value
 * and limits of the report's chain options. entry_period: of the entry (children: total), total_period: of the
 * hist.
 */
void calltree_print(struct table *table, const struct hist *hist, const struct entry *entry,
		    unsigned left_margin, struct output *output);

/* ---- files of the page, which the build puts into the program: see "files in the program" in the Makefile ---- */
extern const char flamegraph_css[], flamegraph_html[], flamegraph_model_js[], flamegraph_looks_js[],
	flamegraph_views_js[], flamegraph_draw_js[], flamegraph_pen_js[], flamegraph_table_js[], flamegraph_strip_js[],
	flamegraph_view_js[], flamegraph_svg_css[], flamegraph_svg_js[];

#define DECLARE_FORMAT(id, ...) extern const struct report_format format_##id;
REPORT_TEXT_FORMATS(DECLARE_FORMAT)
REPORT_FILE_FORMATS(DECLARE_FORMAT)

#endif
