/*
 * hist: cells, entries and their keys. Private to report/.
 *
 * A cell is one distinct combination of the facts that the sort keys need (a comm, a place, a stack, a
 * CPU, ...), with how often and with how much period it was sampled: reading a recording only finds and
 * adds to cells. Afterwards cells are folded into entries: facts are turned into key values (a place into
 * its symbol), equal values into one entry.
 */
#ifndef PSTAT_HIST_H
#define PSTAT_HIST_H

#include "report/session.h"
#include "report/thread_counts.h"

/* ---- sample_cells.c ---- */

enum fact {
	FACT_COMM,
	FACT_PID, /* << 32, and which of the processes that had it */
	FACT_TID, /* likewise */
	FACT_CPU,
	FACT_TIME, /* number of its time quantum */
	FACT_PLACE, /* of the ip; in branch view of the branch's target */
	FACT_STACK, /* session_stack */
	FACT_FROM,
	FACT_TO,
	FACT_BRANCH_FLAGS,
	FACT_BRANCH_CYCLES, /* branch view: one cell an entry */
	FACT_DATA_PLACE,
	FACT_DATA_ADDR,
	FACT_DATA_SRC,
	FACT_WEIGHT,
	FACT_INS_LAT,
	FACT_P_STAGE_CYC,
	FACT_PHYS_ADDR,
	FACT_DATA_PAGE_SIZE,
	FACT_CODE_PAGE_SIZE,
	FACT_TRANSACTION,
	FACT_CGROUP, /* PERF_SAMPLE_CGROUP's id */
	FACT_CGROUP_DEV,
	FACT_CGROUP_INO, /* of the thread's namespace */
	FACT_TRACE, /* number of a distinct text in report.texts */
	FACT_MISC, /* cpumode */
	FACTS,
};
struct cell_values {
	uint64_t n_samples, period, weight;
	int32_t tid; /* of the first sample: orders ties of overhead_children */
};
struct cells { /* of one event */
	uint8_t at[FACTS]; /* index of a fact in a cell's words; UINT8_MAX: not kept */
	uint8_t kept[FACTS]; /* the fact of each word */
	unsigned n_facts;
	uint64_t *facts; /* n * n_facts */
	struct cell_values *values;
	size_t n, cap;
	struct index ix;
};
void cells_init(struct cells *cells, uint64_t facts); /* bits 1 << FACT_* */
void cells_release(struct cells *cells);
/* facts: all FACTS of them; those not kept are ignored. */
void cells_add(struct cells *cells, const uint64_t *facts, const struct cell_values *values);
static inline uint64_t cell_fact(const struct cells *cells, size_t cell, enum fact fact)
{
	return cells->at[fact] == UINT8_MAX ? 0
					    : cells->facts[cell * cells->n_facts + cells->at[fact]];
}

/* ---- frames as a format sees them ---- */

struct view_frame {
	const struct symbol *symbol; /* NULL: not known */
	uint32_t place;
	struct source_line line;
	bool inlined;
};

/* ---- keys.c: the sort keys and fields ---- */

struct report; /* below */
/* What a key's value is taken from: a cell and, for keys of code, the frame (the cell's own place, or a
 * caller's with --children). */
struct key_source {
	struct report *report;
	const struct cells *cells;
	size_t cell;
	const struct view_frame *frame;
	const struct sort_key *key; /* whose value is asked for */
};
enum key_flags {
	KEY_FRAME = 1, /* differs by frame: dso, symbol, srcline, ... */
	KEY_BRANCH = 2, /* needs the branch view */
	KEY_MEM = 4, /* memory samples */
	KEY_NO_CSV = 8,
	KEY_TIMES_SAMPLES = 16, /* what is shown is the value times the entry's samples */
	KEY_FIXED_WIDTH = 64, /* min_width, however long its texts */
	KEY_LONG = 512, /* texts of any length: on a terminal cut in the middle where there is no room */
	KEY_FUNCTION = 1024, /* names of functions: cut likewise, but brackets lose what they hold first */
	KEY_POWERPC = 256, /* only shown of recordings from such a machine */
	KEY_HEAD_RIGHT = 128, /* the head is aligned to the right too */
	KEY_RAGGED = 32, /* as the last column not filled up with blanks, as perf has it: symbols, lines */
};
/*
 * To add a sort key: one row in keys.c, an entry in pstat-report(1), a line in tests/cli/report_keys.sh.
 * Equal values are one entry: value() must be an identity (a pointer, a number, an interned text).
 */
struct sort_key {
	const char *name; /* as typed */
	const char *header; /* the column's head, perf's */
	const char *help;
	uint64_t facts; /* bits */
	unsigned flags;
	unsigned min_width;
	bool right; /* numbers: aligned to the right */
	uint64_t (*value)(const struct key_source *source);
	int (*compare)(struct report *report, uint64_t a, uint64_t b); /* order of ties, perf's */
	void (*text)(struct report *report, uint64_t value, struct str *out); /* printable */
	/* The order in which perf finds them, for what is still equal. NULL: as compare. */
	int (*find_order)(struct report *report, uint64_t a, uint64_t b);
	/* Least width of the column for this value, beside its text's; perf's. NULL: none. */
	unsigned (*width)(struct report *report, uint64_t value);
};
extern const struct sort_key sort_keys[];
extern const size_t n_sort_keys;
const struct sort_key *sort_key_find(const char *name, size_t len);

/* Overhead columns: numbers of an entry's stats. */
struct field_row {
	const char *
		name; /* "overhead", "overhead_sys", "overhead_children", "sample", "period", .. */
	const char *header;
	const char *help;
	size_t stat; /* offset in struct entry_stats */
	bool percent; /* shown as a part of the period of all; else as it is */
	bool total; /* of entry.total, not entry.self */
	unsigned width; /* perf's */
};

/* ---- entries ---- */

struct entry_stats {
	uint64_t n_samples, period;
	uint64_t period_sys, period_us, period_guest_sys, period_guest_us;
	uint64_t weight; /* sum */
};
struct call_tree; /* calltree.h */
struct entry {
	uint64_t *values; /* one per key of the report, in order of report.keys */
	struct entry_stats self;
	struct entry_stats total; /* with what it called; only with children */
	struct entry_stats *members,
		*members_total; /* --group: one per event of the group, [0] the leader; else NULL */
	struct call_tree *tree; /* NULL: none, or below the limit */
	uint32_t place; /* one that it came from, for addresses and -v; PLACE_NONE */
	char level; /* '.', 'k', ... of that place */
	uint32_t number; /* in order of appearance, within its hist */
	int32_t tid; /* of its first sample */
	uint32_t chain_depth; /* frames of its longest chain: orders ties of overhead_children */
	/* --hierarchy */
	struct entry *parent;
	struct entry **children; /* sorted */
	size_t n_children, depth;
	bool filtered;
};
struct hist { /* one per event, or per group */
	const struct data_event *event;
	struct cells cells;
	struct cells *member_cells; /* --group: of the other members */
	size_t n_members; /* 1 without --group */
	struct entry **entries; /* sorted as they are shown */
	size_t n;
	struct entry_stats totals; /* of all samples of the event */
	struct entry_stats shown; /* of those that pass all filters */
	struct entry_stats *member_totals, *member_shown;
};

/* One column of the output, in order: a number or a key. */
enum column_kind { COLUMN_NUMBER, COLUMN_KEY };
struct column {
	enum column_kind kind;
	const struct field_row *field;
	const struct sort_key *key;
	size_t key_index; /* in entry.values */
	unsigned level; /* --hierarchy: depth of the entries that show it (keys); braces share one */
	unsigned width; /* worked out after folding; as wide as its widest text */
};

struct report {
	struct report_options options;
	struct session session;
	struct filters *filters;
	struct tracepoints *tracepoints;
	const struct sort_key **keys; /* those that make entries different */
	size_t n_keys;
	struct column *columns;
	size_t n_columns;
	bool children, chains, branch_view; /* as worked out from options and recording */
	enum chain_order order;
	struct hist *hists;
	size_t n_hists;
	struct text_index *texts; /* distinct texts made while reading: FACT_TRACE */
	struct task_names *tasks; /* task_names.h: for FACT_PID and FACT_TID; NULL: not kept */
	struct str sort_text; /* the sort keys, for "# Sort order" */
	struct str elided; /* "# dso: two\n": columns that a filter leaves out; before all else */
	struct thread_counts thread_counts; /* -T */
	struct report_private *private;
};

/*
 * keys_trace.c: the text of FACT_TRACE for a sample, from report->tracepoints: what the keys `trace` and
 * those of single fields need, in one piece.
 */
void report_trace_text(struct report *report, const struct data_event *event,
		       const struct sample *sample, struct str *out);

/* fold.c: cells into entries, sorts and limits; then builds the trees of entries that are shown. */
void hist_fold(struct report *report, struct hist *hist);
/* An entry's percentage for a number column, as perf has it. */
double entry_percent(const struct report *report, const struct hist *hist,
		     const struct entry *entry, const struct field_row *field, size_t member);
/* A shown entry is at or above options.percent_limit. */
bool entry_is_shown(const struct report *report, const struct hist *hist,
		    const struct entry *entry);

/*
 * Sets report->columns to those that this hist has (a tracepoint's field is only a column of events that
 * have it), as wide as its entries need, also those below the limit. To be called before its heads are
 * printed; after report_run columns are those of all hists.
 */
void report_columns_for(struct report *report, const struct hist *hist);

/* ---- fmt_*.c: one row each in report_formats.c ---- */
struct report_format {
	const char *name;
	const char *help;
	int (*print)(struct report *report, struct output *output);
};
extern const struct report_format format_stdio, format_folded, format_json;
const struct report_format *report_format_find(const char *name);

/* The "# Samples: 59K of event 'cpu-clock'" lines and the column heads are fmt_head.c's. */
void head_add(struct report *report, const struct hist *hist, struct output *output);

#endif
