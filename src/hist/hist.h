/* SPDX-License-Identifier: MIT */
/*
 * hist: a profile and a question -> a table.
 *
 *     query --question.c--> question: keys, columns, facts that a profile has to keep
 *     profile: cells, question --table.c, fold.c--> entries by the sort keys; children; filters
 *                                                       |
 *                                                       v
 *                                                   calltree.c: the call tree of one entry, when it is asked for
 *
 * Cells tell facts apart, entries tell key values apart: facts are turned into values (a location into its
 * symbol), equal values into one entry. A format prints what is here and computes nothing.
 *
 * Words, here and in the files of this folder:
 *
 *	cell		what samples have that agree in all facts: how often, with how much period (profile.h)
 *	query		what is asked, in a user's words: keys, columns, filters, limits, how chains are shown
 *	question	the same understood for one recording, and constant: question_make()
 *	table		the answer: one hist for each event, or for each group of events
 *	key, field	what makes entries different; a number of an entry. A column shows one of either
 *	hist, member	the entries of an event; one event of a group's hist
 *	entry		one row: the values of its keys, what was sampled in it (self), with what it called (total)
 *	frame		a function at a location, or one that was inlined there, as the keys tell frames apart
 *	group		cells whose frame, stack and other values agree: after reading all work is done by group
 *	tree, node	the callers or callees of one entry; made when it is asked for, and only above its limit
 *	function_id	a function, or an address without one, as a value of a key
 */
#ifndef PSTAT_HIST_H
#define PSTAT_HIST_H

#include "profile/profile.h"
#include "trace/trace.h"

#include "hist/diff.h"
#include "hist/stack_diff.h"
#include "hist/stack_tree.h"

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
/* The default: whole trees, but branches of at least half a percent. */
struct chain_options chain_options_default(void);
/* "graph,0.5,caller,function,percent": any part may be missing, as perf's -g takes it. */
int chain_options_parse(struct chain_options *options, const char *text, struct str *err);

/* Parts of a table that a format needs; bits. Nothing is made that nobody needs. */
enum table_needs {
	NEED_STACKS = 1, /* whole stacks with the names of their threads, cells as they are */
	NEED_ENTRIES = 2, /* entries by the sort keys */
	NEED_TREES = 4, /* table_tree: the call trees of entries that are shown */
	NEED_HEAD = 8, /* what is the same for all rows stands above them, in no column */
	NEED_TIMES = 16, /* with NEED_STACKS: when, and on which CPU or in which thread; samples, never branches */
	NEED_TASKS = 32, /* with NEED_STACKS: thread, process and CPU of each; samples, never branches */
	NEED_BLOCKS = 64, /* with NEED_ENTRIES: hist.blocks */
	NEED_PROCESSES = 128, /* with NEED_STACKS: the process of each; samples, never branches */
	NEED_ORDER = 256, /* with NEED_TIMES: the order of a recording's samples; none of live ones */
	NEED_CODE_BLOCKS = 512, /* code_blocks_new(); alone */
	NEED_STREAMS = 1024, /* stream_diff_new(); alone, with session.branch_history */
};
enum report_view { VIEW_FLAT_ENTRIES, VIEW_HIERARCHY };
/* Query: the words of a user, or of a key of the browser, before anything is known of the recording. */
struct query {
	/* Samples: from where, which ones, how they are told apart. */
	struct session_options session;
	struct filter_options filters;
	bool branch_stack; /* -b; --no-branch-stack: branch_stack_off */
	bool branch_stack_off;
	bool mem_mode; /* --mem-mode */
	uint64_t time_quantum_ns; /* 0: 100 ms */
	bool threads_counted; /* -T: per-thread event counts (READ records) */

	/* Rows: their keys, which are shown, in which order. */
	const char *sort; /* -s, as typed; NULL: the default for the recording */
	const char *parent; /* -p: regular expression; NULL: the default, "^sys_|^do_page_fault" */
	bool exclude_other; /* -x: only entries with a parent */
	enum report_view view; /* --hierarchy */
	bool group, group_off; /* --group */
	size_t group_sort; /* the member that orders rows; too great: the first */
	bool empty_shown; /* --no-skip-empty: events without samples */
	bool hide_unresolved; /* -U */
	double percent_limit; /* --percent-limit */
	size_t rows_max; /* of an event's rows, in their order: with hierarchy of its first level; 0: all */
	uint64_t samples_over; /* only rows with more samples than this */

	/* Callchains. */
	int children; /* 1, 0; -1: on where there are chains */
	const char *ignore_callees; /* regular expression: functions whose callees count for them; or NULL */
	bool no_chains; /* --no-call-graph: as if there were none */
	bool reference_chains; /* --show-ref-call-graph: see table_chain_entry() */
	bool chains_asked; /* -g was given: a recording without chains is worth a note */
	struct chain_options chain;

	/* Columns. */
	const char *fields; /* -F; NULL: made from sort and the switches below */
	bool n_samples, total_period; /* -n, --show-total-period */
	bool cpu_utilization; /* --showcpuutilization */
	/*
	 * --latency: rows by their part of wall-clock time, in columns before those of CPU time. Without it these
	 * columns come after, where context switches were recorded and not nearly all samples were of a thread alone.
	 */
	bool latency;
	bool latency_off; /* no such columns unless words name them */
	bool percentage_relative; /* --percentage relative: of what the filters left; default absolute */

	/* Text. */
	unsigned needs; /* of its format: enum table_needs */
	const char *separator; /* -t; NULL: aligned columns */
	const char *field_widths; /* -w */
	unsigned verbose; /* -v */
	bool full_source_path;
	bool raw_trace; /* texts of tracepoints: field by field */
	bool ns; /* nine digits for the sort key time */
	bool folded_annotate; /* --folded -a: _[k], _[i] */
	bool folded_delimiter; /* a "-" frame between user and kernel */
	/* Stacks of all events, below a line "# event NAME" each; else those of the first one that has samples. */
	bool folded_events;
	bool quiet;
	bool header_shown; /* the caller has put the recording's header in front of the text */
};

struct table;
struct fold_cache;
struct question; /* below */
/*
 * The question that a query asks of a recording, whose events are known; it stays as it is. Texts of the query and the
 * recording are borrowed. 0, or -EINVAL with a sentence about a sort key, field, filter or expression.
 */
int question_make(struct question **question, const struct query *query, const struct recording_info *recording,
		  struct str *err);
void question_free(struct question *question); /* NULL is fine */
/* Uses of a profile that is read for a question, beside this question; bits. */
enum profile_use {
	PROFILE_LIVE = 1, /* it is fed with what is being recorded, and asked again and again */
	PROFILE_FOR_OTHERS = 2, /* it keeps all that cells can tell but times, whatever is filtered */
};
struct profile_options question_profile(const struct question *question, unsigned uses);
/*
 * The answer that the profile's cells give. Both must outlive the table, and nothing may be added to the profile
 * meanwhile. cache: of who asks this profile many times; NULL: nothing is kept. 0; -EAGAIN without a sentence: the
 * cells can't tell, another profile has to be read for this question; -EINVAL with a sentence: a filter is wrong.
 */
int table_make(struct table **table, struct profile *profile, const struct question *question,
	       struct fold_cache *cache, struct str *err);
void table_free(struct table *table);
/* Frames and groups made of a profile's cells, kept for the next table: see fold_cache.c. One for a profile. */
struct fold_cache *fold_cache_new(void);
void fold_cache_free(struct fold_cache *cache); /* NULL is fine; no table uses it */

/* Rows for -h and the man pages: name and help of each, in order. false: no more. */
bool report_key_row(size_t i, const char **name, const char **help);
bool chain_word_row(size_t i, const char **name, const char **help);

/* ---- frames as a format sees them ---- */

struct view_frame {
	const struct symbol *symbol; /* NULL: not known */
	uint32_t location;
	struct source_line line;
	bool inlined;
};

/* ---- keys.c: the sort keys and fields ---- */

/* The source of a key's value: a cell and, for keys of code, the frame (the cell's own location, or a
 * caller's with --children). */
struct key_source {
	struct table *table;
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
	KEY_OF_FUNCTION = 2048, /* with KEY_FRAME: the same for all addresses of a function */
	KEY_POWERPC = 256, /* only shown of recordings from such a machine */
	KEY_HEAD_RIGHT = 128, /* the head is aligned to the right too */
	KEY_RAGGED = 32, /* as the last column not filled up with blanks, as perf has it: symbols, lines */
};
/* The type of a column's values, for those who want more than their text. */
enum value_type {
	TABLE_TEXT,
	TABLE_NUMBER,
	TABLE_PERCENT,
	TABLE_MEAN,
	TABLE_ADDRESS,
	TABLE_TIME, /* ns of the recording's clock */
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
	enum value_type type;
	/* The number, where the type is not text; false: not known, there is only the text. NULL: it is the value. */
	bool (*number)(const struct table *table, uint64_t value, uint64_t *number);
	uint64_t (*value)(const struct key_source *source);
	/* The order of ties, perf's where it has one; 0 only for values whose texts are the same. */
	int (*compare)(struct table *table, uint64_t a, uint64_t b);
	void (*text)(struct table *table, uint64_t value, struct str *out); /* printable */
	/* Least width of the column for this value, beside its text's; perf's. NULL: none. */
	unsigned (*width)(struct table *table, uint64_t value);
	/* Tells values apart whose texts may be the same; in each table the same number. NULL: texts do. */
	uint64_t (*identity)(struct table *table, uint64_t value);
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
	size_t stat; /* offset in struct entry_stats, of a total in struct entry_total, with facts in entry_sums */
	bool percent; /* shown as a part of the period of all, or of its latency; else as it is */
	bool total; /* of entry.total, not entry.self */
	unsigned width; /* perf's */
	bool of_latency; /* the number is latency */
	uint64_t facts; /* bits; not 0: a number of entry.sums, made of these facts of the entry's cells */
	bool mean; /* with facts: shown is the number for each sample */
	bool tenths; /* of a percentage one digit is shown, not two */
	/* Has a column for each answer that any sample gives, of --mem-mode; the field is the title above them. */
	bool answers;
	enum mem_respect respect;
};
/* Numbers that only who asks for them pays for. */
struct entry_sums {
	uint64_t weights[3]; /* of PERF_SAMPLE_WEIGHT_STRUCT: its numbers; of PERF_SAMPLE_WEIGHT the first */
	uint64_t periods[MEM_RESPECTS][MEM_ANSWERS_MAX];
};

/* ---- entries ---- */

enum { NO_ROW = UINT32_MAX };
struct entry_total { /* of what comes by, however it was sampled */
	uint64_t n_samples, period, latency;
};
struct entry {
	uint64_t *values; /* one per key of the report, in order of table.keys */
	struct entry_stats self;
	struct entry_total total; /* with what it called; only with children */
	/* --group: one per event of the group, [0] the leader; else NULL. */
	struct entry_stats *members;
	struct entry_total *members_total;
	struct entry_sums *sums; /* one per event of the group; NULL: not asked for */
	/* The rows of groups.values and frames.values that its values were made of, for table_tree. NO_ROW: no tree. */
	uint32_t group_key, frame_key;
	uint32_t location; /* one that it came from, for addresses and -v; LOCATION_NONE */
	char level; /* '.', 'k', ... of that location */
	uint32_t number; /* in order of appearance, within its hist */
	uint32_t chain_depth; /* frames of its longest chain: orders ties of overhead_children */
	/* --hierarchy */
	struct entry *parent;
	struct entry **children; /* sorted */
	size_t n_children, depth;
};
struct trees; /* calltree.c */
struct entry_block { /* what an entry has in a block of time */
	uint32_t entry, block; /* entry.number; blocks are counted from 0 */
	uint64_t n_samples, period;
};
/*
 * fold_blocks.c: blocks are equally long, at most STACK_BUCKETS, and as many for each event of a table: they reach to
 * the last sample of any event that is in its cells. The last one may not be full.
 */
struct hist_blocks {
	struct entry_block *v; /* by entry, then by block; each pair once */
	size_t n;
	double *periods, *samples; /* of each block: of all that percentages are of, as far as it is in cells */
	size_t n_blocks;
};
struct hist { /* one per event, or per group */
	const struct data_event *event;
	size_t n_members; /* 1 without --group */
	const struct cells **cells; /* of each member: `asked`, or those in `own` */
	const struct cells **asked; /* the profile's */
	struct cells **own; /* made for this hist; NULL: the profile's are as they are to be */
	struct arena *memory; /* of all entries; NULL: there were none yet */
	struct entry **entries; /* sorted as they are shown */
	size_t n;
	size_t *widths; /* of the widest text of each key; NULL: it has no entries */
	struct entry_stats totals; /* of all samples of the event */
	struct entry_stats shown; /* of those that pass all filters */
	struct entry_stats *member_totals, *member_shown;
	struct trees *trees; /* what table_tree takes them from, of its groups; NULL: there are none */
	struct hist_blocks *blocks; /* of the first member; NULL: not asked for */
	struct entry_sums *sums; /* of all entries, of all members together; NULL: not asked for */
};

/* One column of the output, in order: a number or a key. */
enum column_kind { COLUMN_NUMBER, COLUMN_KEY };
struct column {
	enum column_kind kind;
	const struct field_row *field;
	const struct field_row *title; /* of an answer: its field; there are no gaps between answers of one */
	const struct sort_key *key;
	size_t key_index; /* in entry.values */
	unsigned level; /* --hierarchy: depth of the entries that show it (keys); braces share one */
	unsigned width; /* worked out after folding; as wide as its widest text */
};

/* A query about a recording, worked out. */
struct question {
	struct query query;
	const struct recording_info *recording;
	const struct sort_key **keys; /* those that make entries different */
	size_t n_keys;
	struct column *columns; /* all; those of the hist that is printed: table.columns */
	size_t n_columns;
	bool children, chains, branch_view;
	enum chain_order order;
	struct profile_shape shape; /* what cells must tell */
	struct str sort_text; /* the sort keys, for "# Sort order" */
	struct str elided; /* "# dso: two\n": columns that a filter leaves out; before all else */
	struct note_list notes; /* what is done otherwise than asked */
	struct question_private *private;
};
struct table {
	const struct question *question;
	struct profile *profile;
	struct session *session; /* the profile's */
	struct filters *filters; /* the profile's, where they are the same; else own ones */
	struct note_list notes; /* the question's, and what there is to say of this answer */
	struct column *columns;
	size_t n_columns;
	struct hist *hists;
	size_t n_hists;
	struct table_private *private;
};

/* A cell that no filter leaves out, also not by its location. */
bool table_takes_cell(struct table *table, const struct cells *cells, size_t cell);
/* The hist of an event of that name; NULL: there is none. */
struct hist *table_hist_of(const struct table *table, const char *event);
/* fold.c: cells into entries, sorts and limits; for a format without entries sums alone. */
void hist_fold(struct table *table, struct hist *hist);
/* An entry's mean of a field that is one; 0 without samples. */
double entry_mean(const struct entry *entry, const struct field_row *field, size_t member);
/* An entry's percentage for a number column, as perf has it. */
double entry_percent(const struct table *table, const struct hist *hist,
		     const struct entry *entry, const struct field_row *field, size_t member);
/* A column's value of an entry: a number, where it is one; its text is the key's. */
struct table_value {
	enum value_type type;
	uint64_t number; /* of all types but text, percent and mean */
	double percent; /* or mean */
};
struct table_value table_value(const struct table *table, const struct hist *hist, const struct entry *entry,
			       const struct column *column, size_t member);
/* The text of a key, printable. */
void table_key_text(struct table *table, const struct entry *entry, const struct column *column, struct str *out);
/* The name of the type of data that a key's value is of; NULL: the key is of something else. */
const char *table_key_type(const struct table *table, const struct sort_key *key, uint64_t value);
/* A hash of its texts, and of what tells it from others with these; the same number in each table of a profile. */
uint64_t table_entry_hash(struct table *table, const struct entry *entry);
/* Tells a function from others, together with its name; likewise the same in each table. */
uint64_t function_identity(const struct symbol *symbol);
/* A shown entry is at or above options.percent_limit, and has more samples than options.samples_over. */
bool entry_is_shown(const struct table *table, const struct hist *hist,
		    const struct entry *entry);

/*
 * Sets table->columns to those that this hist has (a tracepoint's field is only a column of events that
 * have it), as wide as its entries need, also those below the limit. To be called before its heads are
 * printed; after table_make columns are those of all hists.
 */
void table_columns_for(struct table *table, const struct hist *hist);

/* ---- entries.c ---- */
/* Empty, with room for its values; it goes with the hist. */
struct entry *entry_new(struct table *table, const struct hist *hist);
void entry_stats_add(struct entry_stats *to, const struct entry_stats *from);
/* An entry's number for a field row. */
uint64_t entry_number(const struct entry *entry, const struct field_row *field, size_t member);
/* The number that --percent-limit looks at: the total with children, else the entry's own period. */
uint64_t entry_limit_period(const struct table *table, const struct entry *entry);
uint64_t hist_period(const struct table *table, const struct hist *hist, size_t member);

/* ---- code_blocks.c: code that ran from one branch to the next ---- */
enum { CODE_BLOCK_CLASSES = 17 }; /* of runs, by the binary digits of their cycles: a branch has 16 */
struct code_block {
	const struct symbol *symbol;
	uint32_t start, end; /* locations; start LOCATION_NONE: not known. end: of the branch that it ends with */
	uint64_t start_offset, end_offset; /* in the function */
	uint64_t n, cycles; /* how often it ran, and cycles of all runs together */
	double squares; /* the sum of each run's cycles, squared */
	uint64_t runs[CODE_BLOCK_CLASSES];
};
struct code_blocks {
	struct code_block *v; /* those with most cycles first */
	size_t n, cap;
	uint64_t cycles; /* of all branches that filters leave, also of those in code without a function */
	uint64_t means; /* sum of the blocks' cycles for each run */
};
/* Makes those of the first member of the hist's events. */
struct code_blocks *code_blocks_new(struct table *table, const struct hist *hist);
void code_blocks_free(struct code_blocks *blocks);
/* Blocks of two recordings that begin and end at the same places of functions with the same name and file name. */
struct code_block_pair {
	const struct code_block *before, *now;
	int64_t change; /* of the mean cycles of one run */
};
struct code_block_pairs {
	struct code_block_pair *v; /* the greatest change first */
	size_t n;
	uint64_t lone_cycles[2]; /* of blocks that the other side has not: before, now */
	size_t n_lone[2];
};
struct code_block_pairs *code_block_pairs_new(const struct code_blocks *before, const struct code_blocks *now);
void code_block_pairs_free(struct code_block_pairs *pairs);
static inline uint64_t code_block_mean(const struct code_block *block)
{
	return block->cycles / block->n;
}
/* The standard deviation of the cycles of one run. */
double code_block_deviation(const struct code_block *block);
/* How often it ran by the cycles of a run, each class twice as wide as the one before: "8-15:3 16-31:4". */
void code_block_add_runs(const struct code_block *block, struct str *out);
/* "[main.c:12 -> main.c:15]", "[main+16 -> main+24]", "[? -> main+24]" */
void code_block_add_range(struct table *table, const struct code_block *block, struct str *out);

/* ---- streams.c: the ways by which samples were reached, in two recordings ---- */
struct hot_stream {
	size_t first, n_places; /* in hot_streams.places, innermost first */
	uint64_t n, cycles; /* samples, and the cycles between branches of all of them */
	size_t other; /* the other recording's stream with the same places; SIZE_MAX: it has none */
};
struct hot_streams {
	struct hot_stream *v; /* those with most samples first */
	size_t n;
	uint32_t *places; /* numbers of texts, of all streams */
	size_t n_places;
	uint64_t n_samples; /* that filters leave, also those without a chain */
};
struct stream_diff {
	struct hot_streams sides[2]; /* before, now */
	struct text_index *texts; /* of places: "main main.c:12", "main+16"; printable */
};
/* Makes those of the first members of the hists' events. */
struct stream_diff *stream_diff_new(struct table *before, const struct hist *hist, struct table *now,
				    const struct hist *hist_now);
void stream_diff_free(struct stream_diff *diff);
/* The text of its i-th place. */
const char *stream_place(const struct stream_diff *diff, size_t side, const struct hot_stream *stream, size_t i);

/* ---- calltree.c: the call tree of one entry ---- */

/*
 * A node stands for one frame of chains in the order they are shown (callers first for CHAIN_CALLER, callees
 * first for CHAIN_CALLEE); frames that are the same by the chain's key share a node.
 */
/* Sums over the branches that a frame is an end of (session_options.branch_history). */
struct branch_sums {
	struct branch_sums *next; /* of another node of the tree */
	uint64_t n, n_predicted, n_aborted, cycles;
	uint64_t end; /* BRANCH_END_FROM or BRANCH_END_TO */
	uint64_t crossed; /* BRANCH_CROSSES_* bits of those whose kind is known */
	uint32_t kinds; /* bits, by branch_kind() */
	bool cond_forward, cond_backward; /* conditional ones of either direction are among them */
};
struct call_node {
	struct view_frame frame;
	const struct branch_sums *branches; /* NULL: it is an end of none */
	struct call_node *parent, *children, *next; /* next: sibling; sorted as they are shown */
	uint64_t self_period, self_count; /* chains that end here */
	uint64_t total_period, total_count; /* with all below, also what was left out */
	uint32_t number; /* among its siblings, in order of appearance */
	bool left_out; /* it has more children, below the limit */
};
struct call_chunk; /* nodes that were allocated together */
struct call_tree {
	struct call_node root; /* without a frame; totals are the tree's */
	const struct locations *locations; /* tells frames without a symbol apart */
	enum chain_key key;
	struct call_chunk *chunks;
	struct branch_sums *branches; /* of its nodes */
	size_t n_nodes;
};
/* The least period of the branches that are made and drawn, of which the first of -g's numbers is a part. */
struct tree_limit {
	double part; /* 0.005 */
	bool of_branch; /* of what goes on from the branch above, rounded up; else: of this period, rounded down */
	uint64_t period;
};
uint64_t tree_limit_period(const struct tree_limit *limit, const struct call_node *parent);
/* The limit of -g; of_branch: as `fractal` has it. */
struct tree_limit table_tree_limit(const struct table *table, const struct hist *hist, bool of_branch);
/*
 * calltree.c: the tree of a shown entry; NULL: none is printed with it. All nodes that are at or above the limit
 * are there, and those that alone go on from one. Made anew by each call: the caller frees it, best before
 * it asks for the next one.
 */
struct call_tree *table_tree(struct table *table, const struct hist *hist, const struct entry *entry,
			     const struct tree_limit *limit);
/*
 * Finds whose tree belongs to the entry: its own, as long as its event has callchains. With query.reference_chains an
 * event without them has those of the first event that has some: *hist becomes that one, and its entry with the same
 * keys is returned; NULL: there is none, or the entry is too small for a tree.
 */
const struct entry *table_chain_entry(const struct table *table, const struct hist **hist, const struct entry *entry);
/* The event whose callchains are shown below the hist's entries. */
const struct hist *table_chain_hist(const struct table *table, const struct hist *hist);
/* Would it be one? Nothing is made. */
bool table_has_tree(const struct table *table, const struct hist *hist, const struct entry *entry);
void trees_free(struct trees *trees); /* NULL is allowed */
void calltree_free(struct call_tree *tree); /* NULL is allowed */
/* The period of the chains that go on from a node. */
uint64_t calltree_below(const struct call_node *node);
/* The order of ties: negative where a stands before b. */
int calltree_compare_frames(const struct call_tree *tree, const struct call_node *a,
			    const struct call_node *b);
/* A branch without forks: the last node below `node` that shares its line with it. */
const struct call_node *calltree_run_end(const struct call_node *node);
/* The next node in a walk through the tree, parents before their children; NULL: it was the last one. */
const struct call_node *calltree_after(const struct call_node *node);

#endif
