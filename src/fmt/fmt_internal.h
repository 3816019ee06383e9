/*
 * fmt_internal: what the formats share: the text of one cell of the table, colours. Private to fmt/.
 */
#ifndef PSTAT_FMT_INTERNAL_H
#define PSTAT_FMT_INTERNAL_H

#include "fmt/fmt.h"

/* ---- fmt_cell.c ---- */

/* Text in the colour of its percentage, where colours are wanted. */
void fmt_add_colored(struct output *output, double percent, const char *text);
/*
 * One cell of an entry's line. With a separator a text that holds it, or a quote, is quoted. last: nothing
 * follows on the line, so that what needs no filling up gets none.
 */
void fmt_add_cell(struct table *table, const struct hist *hist, const struct entry *entry,
		  const struct column *column, bool last, struct output *output);
/* What -w says of a column; 0: nothing, as always in a hierarchy. */
unsigned fmt_user_width(const struct table *table, const struct column *column);
/* How wide a column is: as wide as -w says, but a number needs room for its head and its group. */
unsigned fmt_width(const struct table *table, const struct hist *hist,
		   const struct column *column);
/* A column's head in its width. */
void fmt_add_head(const struct table *table, const struct hist *hist,
		  const struct column *column, struct str *out);
/* What stands between two columns. */
const char *fmt_between(const struct table *table);

/* ---- fmt_fit.c: tables that fit a terminal ---- */

/* Is what is printed to fit a terminal? Not with a separator. */
bool fmt_fits(const struct table *table, const struct output *output);
/* Narrows the report's columns of long texts, for one table, so that its lines fit. */
void fmt_fit_columns(struct table *table, const struct hist *hist, const struct output *output);
/* Cuts a text from `start` to the end of the output to what is left of its line. function: a function's name. */
void fmt_fit_text(const struct table *table, struct output *output, size_t start, bool function);
/* Cuts the line that is being made, which begins at `start`: dots below heads. */
void fmt_fit_line(const struct table *table, struct output *output, size_t start);

/* ---- fmt_head.c ---- */

/* Everything before the first event: "# Total Lost Samples: 0". */
void head_add_start(struct table *table, struct output *output);
/* "cpu-clock"; of a group "anon group { cycles, instructions }". */
void head_add_event_name(const struct table *table, const struct hist *hist, struct str *out);
/* The hist's events: member 0 is hist->event. */
const struct data_event *head_member(const struct table *table, const struct hist *hist,
				     size_t member);
/* Samples and period of all members. shown: of what the filters let through. */
struct entry_stats head_totals(const struct hist *hist, bool shown);
/* Has it anything to show? Events without samples are left out. */
bool head_is_empty(const struct hist *hist);

/* The "# Samples: 59K of event 'cpu-clock'" lines and the column heads. */
void head_add(struct table *table, const struct hist *hist, struct output *output);

/* ---- fmt_hierarchy.c ---- */

void hierarchy_add_head(struct table *table, const struct hist *hist, struct output *output);
void hierarchy_add_entries(struct table *table, const struct hist *hist, struct output *output);

/* ---- calltree_print.c ---- */

/* The name of a frame as perf writes it: "f", "f (inlined)", "f deep.c:7", "0x7f12". Printable. */
void calltree_add_name(const struct table *table, const struct view_frame *frame,
		       struct str *out);
/*
 * Makes the tree of an entry, if it has one, and prints it below the entry's line as perf does, in the kind, value
 * and limits of the report's chain options. entry_period: of the entry (children: total), total_period: of the
 * hist.
 */
void calltree_print(struct table *table, const struct hist *hist, const struct entry *entry,
		    unsigned left_margin, struct output *output);

extern const struct report_format format_stdio, format_folded, format_json;

#endif
