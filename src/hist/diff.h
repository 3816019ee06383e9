/* SPDX-License-Identifier: MIT */
/*
 * diff: tables of two or more sides -> rows that say what is different between them, and how sure that is.
 *
 *     table of each recording --diff_rows.c--> row: the same names on all sides
 *                                                   |
 *                             --diff_match.c--> renamed and moved functions: one row
 *                                                   |
 *                             --diff.c--> rates, changes, verdicts, order
 *
 * A side is one recording or several of the same kind; the first one is the baseline that all others are compared with.
 */
#ifndef PSTAT_DIFF_H
#define PSTAT_DIFF_H

#include "hist/significance.h"
#include "profile/profile.h"

struct table;
struct hist;
struct sort_key;

/* The number shown of a row, which orders rows, too; perf's. */
enum diff_compute { DIFF_DELTA_ABS, DIFF_DELTA, DIFF_RATIO, DIFF_WEIGHTED };
enum diff_per {
	PER_SAMPLE, /* shares of all samples, by their periods */
	PER_SECOND, /* that were recorded */
	PER_UNIT, /* of work: numbers that the user gives */
	PER_EVENT, /* periods of another event */
};
enum diff_verdict {
	/* The row is not on both sides of a possible comparison: all, or too many runs, have no samples of it. */
	DIFF_NONE,
	DIFF_FEW, /* too few samples to tell anything */
	DIFF_NOISE, /* chance explains it: 0 is within the bounds */
	DIFF_CERTAIN, /* whatever other rows there are */
	DIFF_MAYBE, /* the bounds, which are the row's own, leave out 0; but among so many rows chance explains it */
};
/* Samples of a row, on both sides together, below which no test of many rows can find it. */
enum { DIFF_FEW_SAMPLES = 8, DIFF_RUNS_LEAST = 3, DIFF_SIDES_MAX = 64 };

struct diff_options {
	enum diff_compute compute;
	double weights[2]; /* DIFF_WEIGHTED: of the baseline's periods, of the others' */
	bool baseline_only; /* only rows that the baseline has, and another side */
	bool names_exact; /* renamed and moved functions are not looked for */
	int order; /* the side whose values order rows, 0: by the baseline; -1: what is certain first, then side 1 */
	enum diff_per per;
	const char *event; /* PER_EVENT: its name */
	const double *units; /* PER_UNIT: of each recording, in order of sides */
	double confidence; /* 0.95 */
};

struct diff_side {
	struct table **tables; /* one a recording; borrowed. Their queries are equal, with NEED_ENTRIES | NEED_BLOCKS */
	size_t n;
	bool runs; /* three or more, as on the baseline: changes come from the variance between runs */
};

/* A row on one side. */
struct diff_cell {
	bool found;
	uint64_t period, n_samples; /* of all recordings of the side */
	double rate, percent; /* of all of them; with runs their mean */
	/* Against the baseline; not of the baseline itself. */
	struct change change;
	double corrected; /* change.p, for all rows of the comparison */
	enum diff_verdict verdict;
};
struct diff_row {
	char *key; /* the texts of its keys, printable, separated by '\t' */
	char *was; /* the baseline's, where it had another name; or NULL */
	struct diff_cell *cells; /* one a side */
	struct rate *runs; /* one a recording, in order of sides */
	struct build_id *build_ids; /* of its file: of the baseline, of the others; size 0: not known */
	char level; /* '.', 'k': as struct entry has it */
	size_t number; /* in order of appearance */
};
struct diff_event {
	char *name;
	struct entry_stats *totals; /* one a side: of all samples */
	struct diff_row **rows; /* in the order in which they are shown */
	size_t n, cap;
	bool by_samples; /* periods are all 0 on a side: samples are compared in their place */
};
struct diff {
	struct diff_options options;
	struct diff_side *sides; /* borrowed */
	size_t n_sides, n_runs; /* n_runs: recordings of all sides */
	const struct sort_key **keys; /* of the rows, in order */
	size_t n_keys;
	struct diff_event *events; /* those that the baseline has and another side, too */
	size_t n_events, cap_events;
	struct note_list notes;
};

/*
 * 0; -EINVAL with a sentence: the sides have no event in common, or an option asks for what the recordings don't have.
 * The tables were run, and must stay.
 */
int diff_new(struct diff **diff, const struct diff_options *options, struct diff_side *sides, size_t n_sides,
	     struct str *err);
void diff_free(struct diff *diff); /* NULL is fine */

/* perf's value of a row against the baseline. False: there is none, as nothing is there to compare. */
bool diff_value(const struct diff *diff, const struct diff_row *row, size_t side, double *value);
/* Is it on the baseline and on another side? */
bool diff_row_is_matched(const struct diff *diff, const struct diff_row *row);
/* The place in row.runs where the side's recordings begin. */
size_t diff_first_run(const struct diff *diff, size_t side);
/* The text of key number i; its length. */
const char *diff_key_text(const char *key, size_t i, size_t *len);
/* A function's name without the "[.] " before it, if that is there; what it is without it is its new length. */
const char *diff_key_plain(const char *text, size_t *len);
/* The verdict on a row with enough samples; corrected: its p for all rows at once. */
enum diff_verdict diff_verdict_of(const struct change *change, double corrected, double confidence);
/* "certain" */
const char *diff_verdict_name(enum diff_verdict verdict);

/* ---- what a caller asks of it: "symbol>+2%" ---- */
struct diff_rule {
	char *name; /* of a function, "*": any */
	int sign; /* 1: more than, -1: less than */
	double limit; /* percentage points of shares; of other rates percent of the baseline's */
};
/* -EINVAL with a sentence. The caller frees the name. */
int diff_rule_parse(struct diff_rule *rule, const char *text, struct str *err);
/*
 * Is it broken, certainly? A line for each row that is beyond the limit, printable: which, by how much, how certain.
 * Rows are those of all events, for all sides against the baseline. n_rules: asked at once.
 */
bool diff_rule_broken(const struct diff *diff, const struct diff_rule *rule, size_t n_rules, struct note_list *lines);

/* ---- diff_rows.c, diff_match.c: for diff.c ---- */
/* Rows of one event with their sums; hists: of each recording, NULL: it has no such event. */
void diff_rows_collect(struct diff *diff, struct diff_event *event, struct hist *const *hists);
/* Rows that are one function with another name become one. */
void diff_rows_match(struct diff *diff, struct diff_event *event);
void diff_row_free(struct diff_row *row);
/* A symbol without its version and the marks of clones: "foo.isra.0.cold" and "foo@@V2" are "foo". */
void diff_add_plain_symbol(struct str *out, const char *name, size_t len);
/* A file's name without versions: "libz.so.1.3" is "libz.so", "tool-2.41" is "tool". */
void diff_add_plain_file(struct str *out, const char *name, size_t len);

#endif
