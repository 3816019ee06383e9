/*
 * report: samples -> tables and texts. What `pstat report` and `pstat script` print, without printing it.
 *
 *   replay -> session (place of each address, callchain)  -> script.c -> one text per sample
 *                 |
 *                 v
 *             sample_cells.c  one cell per distinct raw sample (event, comm, stack, ...): counts and periods
 *                 v          the file has been read; from here on costs grow with what is distinct
 *             fold.c     names; cells -> entries of a histogram by the sort keys; children; filters
 *                 v
 *             calltree.c chains of the entries that will be shown
 *                 v
 *             fmt_*.c    text
 *
 * A format never computes; what computes never formats more than one value. Nothing here writes to a
 * descriptor: text goes to a struct output, whose owner writes it.
 */
#ifndef PSTAT_REPORT_H
#define PSTAT_REPORT_H

#include "sym/sym.h"
#include "unwind/unwind.h"

/* ---- where text goes ---- */
struct output {
	struct str text;
	bool color; /* escape sequences wanted */
	unsigned columns; /* of the terminal that tables are to fit; 0: lines as long as they need */
	const char *dots; /* what stands for a left out part of a name there */
	int (*write)(void *context, struct str *text); /* writes all and empties it; 0 or -errno */
	void *context;
	int failed; /* the first error of write: nothing more is written */
};
/* To be called between lines: writes when 64 KiB have come together. 0 or output.failed. */
int output_step(struct output *output);
int output_end(struct output *output); /* writes the rest */

/* ---- session.c: one recording being read ---- */
struct session_options {
	struct sym_options sym;
	struct replay_options replay;
	unsigned max_stack; /* frames kept of a chain; 0: 127 */
	bool no_unwind; /* leave sampled stacks alone */
};
struct filters; /* filters.c */
struct places; /* places.h: distinct addresses */
struct stacks; /* stacks.h: distinct chains */
struct session {
	struct session_options options;
	struct reader *reader;
	struct replay replay;
	struct symbols *symbols;
	struct places *places;
	struct stacks *stacks;
	struct unwind unwind;
	bool can_unwind;
	struct note_list
		notes; /* losses, files without symbols, stacks cut, ...: for the user, at the end */
	/* What the notes are about. names_unseen: nothing that is shown has a function's name in it. */
	bool names_unseen;
	const struct filters *files_shown; /* files that these leave out are not in any row; NULL: none is left out */
	struct session_private *private;
};
/* The reader must stay open; what its header says is used. Release in every case. */
int session_init(struct session *session, struct reader *reader,
		 const struct session_options *options, struct str *err);
void session_release(struct session *session);
/*
 * At the end: notes about lost samples, chains that were incomplete, the recording's missing end, and one
 * line that lists the files whose symbols were missing and why, with their share of the samples. Of what is not
 * shown nothing is said.
 */
void session_add_notes(struct session *session);

/* ---- filters.c: which samples take part; for report and script alike ---- */
struct filter_options { /* texts as typed; NULL: all. Lists are separated by commas */
	const char *comms, *dsos, *symbols; /* "file:/path": one name a line */
	const char *symbol_filter; /* part of a symbol's name */
	const char *pids, *tids, *cpus, *sockets;
	const char *
		time; /* "1.5,2.5", "1.5,", ",2.5", "10%/2", "0%-10%,30%-40%", several by space or comma as perf */
	const char *switch_on, *switch_off; /* names of events: only what was sampled between them */
	bool switches_shown; /* samples of these events too */
};
/* first_ns, last_ns of the recording are needed for percentages: from the header, else a first pass. */
int filters_new(struct filters **filters, const struct filter_options *options,
		struct session *session, struct str *err);
void filters_free(struct filters *filters);

/* ---- report ---- */
enum chain_kind { CHAIN_NONE, CHAIN_GRAPH, CHAIN_FRACTAL, CHAIN_FLAT, CHAIN_FOLDED };
enum chain_order { CHAIN_CALLER, CHAIN_CALLEE };
enum chain_key { CHAIN_BY_FUNCTION, CHAIN_BY_ADDRESS, CHAIN_BY_SRCLINE };
enum chain_value { CHAIN_PERCENT, CHAIN_PERIOD, CHAIN_COUNT };
struct chain_options {
	enum chain_kind kind;
	double min_percent; /* 0.5 */
	unsigned print_limit; /* 0: no limit */
	enum chain_order order;
	bool order_set; /* else: caller with children, callee without */
	enum chain_key key;
	enum chain_value value;
	bool branch; /* "branch": branch info in chains */
};
/* "graph,0.5,caller,function,percent": any part may be missing, as perf's -g takes it. */
int chain_options_parse(struct chain_options *options, const char *text, struct str *err);

enum report_view { VIEW_FLAT_ENTRIES, VIEW_HIERARCHY };
struct report_options {
	struct session_options session;
	struct filter_options filters;
	const char *sort; /* -s, as typed; NULL: the default for the recording */
	const char *fields; /* -F; NULL: made from sort and the switches below */
	const char *format; /* row of report_formats[]: "stdio", "folded", "json" */
	const char *separator; /* -t; NULL: aligned columns */
	const char *parent; /* -p: regular expression; NULL: the default, "^sys_|^do_page_fault" */
	bool exclude_other; /* -x: only entries with a parent */
	const char *ignore_callees; /* regular expression: functions whose callees count for them; or NULL */
	int children; /* 1, 0; -1: on where there are chains */
	bool no_chains; /* --no-call-graph: as if there were none */
	bool chains_asked; /* -g was given: a recording without chains is worth a note */
	struct chain_options chain;
	bool branch_stack; /* -b; --no-branch-stack: branch_stack_off */
	bool branch_stack_off;
	bool mem_mode; /* --mem-mode */
	bool n_samples, total_period; /* -n, --show-total-period */
	bool cpu_utilization; /* --showcpuutilization */
	bool group, group_off; /* --group */
	size_t group_sort; /* the member that orders rows; too great: the first */
	bool empty_shown; /* --no-skip-empty: events without samples */
	enum report_view view; /* --hierarchy */
	bool threads_counted; /* -T: per-thread event counts (READ records) */
	double percent_limit; /* --percent-limit */
	bool percentage_relative; /* --percentage relative: of what the filters left; default absolute */
	const char *field_widths; /* -w */
	unsigned verbose; /* -v */
	bool hide_unresolved; /* -U */
	bool full_source_path;
	bool raw_trace; /* texts of tracepoints: field by field */
	uint64_t time_quantum_ns; /* 0: 100 ms */
	bool ns; /* nine digits for the sort key time */
	bool folded_annotate; /* --folded -a: _[k], _[i] */
	bool folded_delimiter; /* a "-" frame between user and kernel */
	bool quiet;
	bool header_shown; /* the caller has put the recording's header in front of the text */
};

struct report;
/* 0, or -EINVAL with a sentence about a sort key, field, filter or expression. */
int report_new(struct report **report, const struct report_options *options, struct reader *reader,
	       struct str *err);
void report_free(struct report *report);
/* Reads the recording and folds. */
int report_run(struct report *report, void (*progress)(void *context, double part), void *context,
	       struct str *err);
struct session *report_session(struct report *report);
/* The text, in the format of the options. */
int report_print(struct report *report, struct output *output);

/* ---- script ---- */
struct script_options {
	struct session_options session;
	struct filter_options filters;
	const char *fields; /* -F, as typed, several one on a line; NULL: the default of each event type */
	bool json; /* -j */
	bool no_chains; /* -G */
	const char *stop_bt; /* functions at which chains end, a list; NULL: none */
	bool full_source_path;
	bool ns; /* --ns: nine digits */
	bool reltime, deltatime;
	bool header, full_header; /* the recording's header in front */
	bool show_tasks, show_mmaps, show_switches, show_lost, show_namespaces, show_cgroups,
		show_bpf, show_text_poke;
	unsigned max_stack;
	unsigned verbose;
};
struct script;
int script_new(struct script **script, const struct script_options *options, struct reader *reader,
	       struct str *err);
void script_free(struct script *script);
int script_run(struct script *script, struct output *output,
	       void (*progress)(void *context, double part), void *context, struct str *err);
struct session *script_session(struct script *script);

/* Rows for -h and the man pages: name and help of each, in order. false: no more. */
bool report_key_row(size_t i, const char **name, const char **help);
bool script_field_row(size_t i, const char **name, const char **help);
bool chain_word_row(size_t i, const char **name, const char **help);

#endif
