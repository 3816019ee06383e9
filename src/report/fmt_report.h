/*
 * fmt_report: what the formats of report share: the text of one cell of the table, colours. Private to
 * report/.
 */
#ifndef PSTAT_FMT_REPORT_H
#define PSTAT_FMT_REPORT_H

#include "report/hist.h"

/* ---- fmt_cell.c ---- */

/* Text in the colour of its percentage, where colours are wanted. */
void fmt_add_colored(struct output *output, double percent, const char *text);
/*
 * One cell of an entry's line. With a separator a text that holds it, or a quote, is quoted. last: nothing
 * follows on the line, so that what needs no filling up gets none.
 */
void fmt_add_cell(struct report *report, const struct hist *hist, const struct entry *entry,
		  const struct column *column, bool last, struct output *output);
/* The text of a key, without blanks around it. */
void fmt_add_key(struct report *report, const struct entry *entry, const struct column *column,
		 struct str *out);
/* What -w says of a column; 0: nothing, as always in a hierarchy. */
unsigned fmt_user_width(const struct report *report, const struct column *column);
/* How wide a column is: as wide as -w says, but a number needs room for its head and its group. */
unsigned fmt_width(const struct report *report, const struct hist *hist,
		   const struct column *column);
/* A column's head in its width. */
void fmt_add_head(const struct report *report, const struct hist *hist,
		  const struct column *column, struct str *out);
/* What stands between two columns. */
const char *fmt_between(const struct report *report);

/* ---- fmt_fit.c: tables that fit a terminal ---- */

/* Is what is printed to fit a terminal? Not with a separator. */
bool fmt_fits(const struct report *report, const struct output *output);
/* Narrows the report's columns of long texts, for one table, so that its lines fit. */
void fmt_fit_columns(struct report *report, const struct hist *hist, const struct output *output);
/* Cuts a text from `start` to the end of the output to what is left of its line. function: a function's name. */
void fmt_fit_text(const struct report *report, struct output *output, size_t start, bool function);
/* Cuts the line that is being made, which begins at `start`: dots below heads. */
void fmt_fit_line(const struct report *report, struct output *output, size_t start);

/* ---- fmt_head.c ---- */

/* Everything before the first event: "# Total Lost Samples: 0". */
void head_add_start(struct report *report, struct output *output);
/* "cpu-clock"; of a group "anon group { cycles, instructions }". */
void head_add_event_name(const struct report *report, const struct hist *hist, struct str *out);
/* The hist's events: member 0 is hist->event. */
const struct data_event *head_member(const struct report *report, const struct hist *hist,
				     size_t member);
/* Samples and period of all members. shown: of what the filters let through. */
struct entry_stats head_totals(const struct hist *hist, bool shown);
/* Has it anything to show? Events without samples are left out. */
bool head_is_empty(const struct hist *hist);

/* ---- fmt_hierarchy.c ---- */

void hierarchy_add_head(struct report *report, const struct hist *hist, struct output *output);
void hierarchy_add_entries(struct report *report, const struct hist *hist, struct output *output);

#endif
