/* SPDX-License-Identifier: MIT */
/*
 * fold: what the files that turn cells into entries share. Private to hist/.
 *
 *   stack of locations --fold_frames.c--> stack of distinct frames      (one pass over all stack nodes)
 *   cell --fold.c--> group: other keys, frame, stack of frames  (far fewer than cells)
 *   group --entries.c--> sums of the nodes of stacks
 *   group, sums --entries.c--> entries --entry_order.c--> sorted
 *   group --calltree.c--> call tree of an entry, when a format asks for it
 *   all but entries --fold_cache.c--> the next table
 *
 * Two frames are the same where all keys of code and the chain's key say so; what the keys of code make of a
 * frame, and what the other keys make of a cell, is a row of words that is kept once. An entry is then
 * just a pair of row numbers.
 */
#ifndef PSTAT_FOLD_H
#define PSTAT_FOLD_H

#include "hist/hist.h"

/* ---- stack_preorder.c: all stacks in the order of a walk ---- */
struct frame_id { /* of a frame */
	uint32_t same; /* frames with the same number are the same */
	uint32_t name; /* number of its function's name + 1; 0: none */
	bool by_symbol; /* `same` is a function's: then a name may do as well */
};
struct frame_ids {
	struct frame_id *v;
	size_t n, cap;
	struct row_set rows; /* `same` numbers these */
	struct text_index *names;
	uint32_t n_names;
};
struct stack_preorder {
	size_t n; /* nodes; 0: not yet made. The root is number 0 */
	uint32_t *frame, *parent; /* of each node */
	uint32_t *end; /* the first number that is not below the node */
	uint32_t *number; /* by stack: its node */
	/* Needed by trees besides. */
	struct frame_ids ids; /* of frames */
	uint32_t *of_row, *row_end; /* the nodes by row of frames.values; NULL: nobody has asked */
	size_t n_frames; /* that there were then */
};
void stack_preorder_release(struct stack_preorder *preorder);
/* Forgets what depends on which frames are let through. */
void stack_preorder_forget_rows(struct stack_preorder *preorder);
/*
 * The numbers of n things in order of their keys, which are below n_keys; equal ones as they stand in `before`
 * (NULL: in order of their numbers). The caller frees them.
 */
uint32_t *numbers_sorted(const uint32_t *keys, size_t n, size_t n_keys, const uint32_t *before);
/* All stacks of the table's frames, numbered. */
const struct stack_preorder *stack_preorder_update(struct table *table);

/* ---- fold_frames.c ---- */
struct fold_frame {
	struct view_frame view;
	uint32_t values; /* row of frames.values */
	bool named; /* --symbol-filter lets it through */
};
struct location_view;
struct frames {
	struct fold_frame *v;
	size_t n, cap;
	/* Frames by row of values, what the chain's key tells apart, and the function where a filter may ask. */
	struct row_set ids;
	struct row_set values; /* of the keys with KEY_FRAME, in order of table.keys */
	struct location_view *locations; /* by location + 1 */
	size_t n_locations;
	uint32_t *lists;
	size_t n_lists, cap_lists;
	struct stacks stacks; /* of frames: node.location is a frame's number */
	uint32_t *depths; /* of its nodes */
	size_t n_depths;
	uint32_t *stack_of; /* session stack -> stack here */
	uint32_t *parent_of; /* session stack -> the name that --parent's expression found + 1, or 0 */
	size_t n_stacks; /* session stacks that were looked at */
	uint32_t max_depth; /* frames of the deepest stack */
	struct stack_preorder preorder; /* made by who first asks for it */
};
void frames_release(struct frames *frames);
/* Asks --symbol-filter about each anew. */
void frames_filter(struct table *table);
/* Makes stack_of and parent_of complete for all stacks of the session. */
void frames_update(struct table *table);
/* The frame of a sample taken at this location, which may be LOCATION_NONE. */
uint32_t frames_self(struct table *table, uint32_t location);
/* The frames of a stack in the report's order; returns how many. out: frames.max_depth of them. */
size_t frames_walk(const struct table *table, uint32_t stack, uint32_t *out);

/* ---- question.c ---- */
#define FACT(name) (1ULL << FACT_##name)
/* The filters of its query that are asked of samples or cells. */
struct filter_options question_filters(const struct question *question);
/* The facts that filters ask of a cell: bits. */
uint64_t filter_facts(const struct filter_options *filters);

/* ---- table.c ---- */
/* The table's filters are those that its profile was read with: nothing is to be asked of cells. */
static inline bool table_is_read_filtered(const struct table *table)
{
	return !table->profile || table->filters == table->profile->filters;
}
/* Asks like table_takes_cell(), but about this location, not the cell's own. fold.c */
bool table_takes_cell_at(struct table *table, const struct cells *cells, size_t cell, uint32_t location);
void hist_release(struct hist *hist);
/* Room for so many members, without cells. */
void hist_grow(struct hist *hist, size_t n_members);
/* Empty cells of the member's facts, for this hist alone: in `own`, to be put in `cells` when they are filled. */
struct cells *hist_own_cells(struct hist *hist, size_t member);
struct entry_stats cell_stats(const struct cells *cells, size_t cell);
/* ---- entries.c: groups of the same other keys and member ---- */
struct group_run;
struct stack_totals { /* runs; those of the same other keys are behind each other */
	struct group_run *v;
	size_t n, cap;
	uint32_t *order; /* of all groups; NULL: not yet made */
	bool summed; /* nodes are there */
};
struct groups;
void stack_totals_release(struct stack_totals *totals);

/* ---- widths.c: kept with the groups ---- */
struct known_widths { /* of all entries that --symbol-filter leaves, per key */
	size_t *v[2][2]; /* without children or with them; perf's room for unknown files or not */
};

/* ---- groups of a hist ---- */
struct group {
	uint32_t values; /* row of the keys without KEY_FRAME */
	uint32_t self; /* frame */
	uint32_t stack; /* of frames.stacks */
	uint32_t location; /* one that it came from */
	size_t member;
	struct entry_stats stats;
};
struct groups {
	struct group *v;
	size_t n, cap;
	struct entry_stats *hidden; /* of each member: what --hide-unresolved leaves out of totals, too */
	struct row_set ids; /* while they are made */
	struct row_set values; /* of the keys without KEY_FRAME */
	uint32_t last_values; /* the row that was asked for last */
	struct stack_totals totals;
	struct trees *trees; /* NULL: not yet made */
	uint32_t **of_cell; /* of each member: the cell's group + 1, 0: left out; NULL: nobody asks */
	size_t n_members; /* of hidden and of_cell */
	struct known_widths widths;
};

/* ---- entries.c: groups into entries ---- */
struct entries {
	struct table *table;
	const struct hist *hist;
	struct entry **v; /* in the order in which the groups' chains come by them */
	size_t n;
	/* By group, where of_cell is: the entry that it counts for itself; NULL: a filter leaves it out. */
	struct entry **own;
};
/* Is it asked which entry a cell counts for? */
bool table_traces_cells(const struct table *table);
void entries_make(struct entries *entries, struct table *table, const struct hist *hist, struct groups *groups);
void entries_release(struct entries *entries); /* not the struct entry themselves */

/* ---- fold_blocks.c ---- */
/* Blocks of each event, up to the last that any event has a cell in; 0: not asked for. Before any hist is folded. */
size_t hist_blocks_count(const struct table *table);
/* NULL: not asked for. When all groups are added. */
struct hist_blocks *hist_blocks_new(struct entries *entries, const struct groups *groups);
void hist_blocks_free(struct hist_blocks *blocks); /* NULL is fine */

/* ---- fold_sums.c ---- */
/* Gives each entry its sums, where a field asks for them. When all groups are added. */
void hist_add_sums(struct entries *entries, struct hist *hist, const struct groups *groups);
void entry_sums_add(struct entry_sums *to, const struct entry_sums *from);

/* ---- stack_preorder.c: what trees are made of ---- */
struct leaf { /* a group with a stack, of the first event of its hist */
	uint32_t stack, at; /* its node, see preorder.number */
	uint32_t group_key, self; /* rows of groups.values and of its own frame; NO_ROW: not asked for */
	uint64_t period, count;
};
struct branch_slot; /* calltree.c */
struct branch_slots { /* kept from tree to tree: there are as many as frames, and most trees have few */
	struct branch_slot *of_id, *of_name; /* branches by frame_id.same and .name */
	size_t n_ids, n_names;
	uint64_t round;
};
struct trees { /* of the groups of a hist */
	struct leaf *v; /* sorted by `at` once n_numbered is set */
	size_t n, n_rows; /* of groups.values */
	size_t n_numbered; /* nodes of the preorder that numbered them */
	uint32_t *by_group_key; /* of v, in order of group_key, then of v */
	uint32_t *at; /* of by_group_key: v[].at, close together, for it is searched by every node of an entry */
	uint32_t *by_self; /* of v, in order of group_key and self, then of v */
	struct branch_slots slots;
};
/* Keeps what trees need of the groups; NULL where no format will ask for trees. */
struct trees *trees_new(struct table *table, const struct groups *groups);
/* The trees of the groups, which keep them; NULL likewise. */
struct trees *trees_of(struct table *table, struct groups *groups);
/* Numbers the leaves. */
const struct stack_preorder *trees_prepare(struct trees *trees, struct table *table);

struct leaf_run { /* leaves that come by one node; branch: for the caller's use */
	uint32_t node, first, end, branch;
};
struct entry_leaves {
	uint32_t *v; /* of trees.v; those of a run are in order */
	size_t n, cap;
	struct leaf_run *starts; /* where the entry's part of their stacks begins; the root, 0: with the next */
	size_t n_starts, cap_starts;
};
/* outermost: stacks begin with the outermost caller, else with the innermost frame. */
void entry_leaves_find(struct entry_leaves *out, const struct trees *trees, const struct stack_preorder *preorder,
		       const struct entry *entry, bool outermost, bool children);
void entry_leaves_release(struct entry_leaves *leaves);

/* ---- entry_order.c ---- */
struct order_item { /* what entries are sorted by, first first */
	const struct field_row *field; /* NULL: a key */
	size_t key_index;
};
void entries_sort(struct table *table, const struct hist *hist, struct entry **entries, size_t n);

/* ---- fold_levels.c: sorted flat entries into levels ---- */
void hist_make_hierarchy(struct table *table, struct hist *hist);

/* ---- widths.c ---- */
/* How wide the texts of its entries are, per key. known: of its groups; NULL: nothing is kept. */
void hist_measure(struct table *table, struct hist *hist, struct known_widths *known);
void known_widths_forget(struct known_widths *known);

/* ---- fields.c ---- */
extern const struct field_row field_rows[];
extern const size_t n_field_rows;
extern const struct field_row field_self; /* overhead, beside overhead_children */
const struct field_row *field_find(const char *name, size_t len);
/* The rows of a field's answers, at most MEM_ANSWERS_MAX; the others stay as they are. */
void field_answers(struct field_row *rows, enum mem_respect respect);

/* ---- function ids: values of keys of code, in keys_code.c ---- */
struct function_id {
	const struct symbol *symbol; /* NULL: not known */
	uint64_t addr; /* in its file, or as it is */
	uint64_t ip; /* as it was in memory, for keys that show that where no symbol is known; or 0 */
	uint64_t file; /* table_dso_name */
	uint64_t process; /* whose memory it is, as FACT_PID; 0: code, or memory that processes may share */
	char level;
	bool data; /* an address of data: printed with its distance from the symbol */
};
struct function_ids {
	struct function_id *v;
	size_t n, cap;
	struct row_set ids;
};

struct name_pattern;
struct field_key; /* keys_trace.c: a key made of a tracepoint's field */
struct key_slot {
	bool frame; /* in frames.values, else in groups.values */
	unsigned at;
	unsigned level; /* --hierarchy */
};
enum { KEYS_MAX = 64 };

/* ---- fold_cache.c: what is made of cells before there are entries ---- */
enum { GROUP_SETS = 2 };
/*
 * A question, as far as the cache depends on it and questions that one profile can answer differ in it. Members are
 * numbers without gaps between them, so that keys are compared as bytes; texts are numbers in fold_cache.asked + 1.
 * All 0: of an empty set.
 */
struct fold_key {
	/* Frames, and values of keys, depend on these; */
	uint64_t profile, n_changes, stacks, chains, chain_key, hide_unresolved, full_source_path, verbose,
		parent, parent_order, keys[KEYS_MAX];
	/* cells also on these; */
	uint64_t facts, group, group_off, kernel_hidden, user_hidden, cpus, ignore_callees;
	/* groups of them also on these; */
	uint64_t comms, dsos, symbols, pids, tids, sockets, parallelism, exclude_other;
	/* trees and widths also on this. */
	uint64_t symbol_filter;
};
enum fold_level { /* how far keys are compared */
	FOLD_FRAMES = offsetof(struct fold_key, facts),
	FOLD_CELLS = offsetof(struct fold_key, comms),
	FOLD_GROUPS = offsetof(struct fold_key, symbol_filter),
};
static inline bool fold_keys_agree(const struct fold_key *a, const struct fold_key *b, enum fold_level level)
{
	return !memcmp(a, b, level);
}
struct group_set { /* groups by one set of filters */
	struct fold_key key; /* of all sets the same as to frames */
	struct groups *v; /* of each hist, by index of its event; those without `hidden` are not made */
	size_t n;
};
struct key_hashes { /* fields.c: of keys' texts, for table_entry_hash */
	uint64_t *v;
	size_t n, cap;
	struct row_set values; /* the key's index, and its value */
};
struct fold_cache {
	bool busy; /* a table has it */
	struct frames frames;
	struct function_ids function_ids;
	struct key_hashes key_hashes;
	struct text_index *names; /* texts that are values: of files, lines, fields */
	uint32_t *dso_names; /* per dso, its number in names + 1 */
	size_t n_dso_names;
	struct row_set cgroup_ids; /* device, inode */
	struct types *types; /* NULL: nobody has asked for types of data */
	struct row_set type_rows; /* see keys_types.c */
	struct text_index *asked; /* texts of questions, for keys; not of a table's own cache */
	struct group_set sets[GROUP_SETS]; /* the first is the table's; another one is from before a zoom */
};
/*
 * Before hists are folded: private->cache is the one that is given, of which stays what this table would make, or one
 * of its own where there is none that could be kept.
 */
void fold_cache_begin(struct table *table, struct fold_cache *cache);
void fold_cache_end(struct table *table);
/* Groups of the same cells of a hist that another question has left, with of_cell; NULL: there are none. */
const struct groups *fold_cache_groups_before(const struct fold_cache *cache, size_t hist);

struct question_private {
	struct field_key **field_keys;
	size_t n_field_keys, cap_field_keys;
	struct tracepoints *tracepoints; /* NULL: nobody has asked for fields */
	struct str trace_fields; /* names of field_keys, for the profile */
	struct key_slot *slots; /* per key */
	unsigned n_frame_keys, n_other_keys;
	struct order_item *order;
	size_t n_order, cap_order;
	size_t cap_columns;
	struct name_pattern *parent, *ignored; /* --ignore-callees; NULL: not asked for */
	unsigned want; /* SYM_LINES */
	bool latency_beside; /* columns of latency are usual: context switches were recorded */
	bool latency_unasked; /* and not named: a table leaves them out where they tell nothing */
	uint64_t sum_facts; /* of fields that are summed from cells; 0: there is none */
	struct field_row answers[MEM_RESPECTS][MEM_ANSWERS_MAX]; /* of the fields that are asked for */
};
struct table_private {
	struct fold_cache *cache;
	bool is_cached; /* the cache is the caller's: what is in it may serve another table */
	uint64_t facts; /* of cells: what the question and its filters ask */
	size_t n_blocks; /* hist_blocks_count */
	bool latency_left_out; /* its columns are not shown */
	struct function_ipcs *ipcs; /* NULL: the question has no key of them */
};
uint32_t table_name(struct table *table, const char *text, size_t len); /* a number in names */
/* The value of a frame's function: a number in function_ids, the same for the same function or unknown address. */
uint64_t table_function_id(struct table *table, const struct view_frame *view);

/* keys_types.c: how many samples have no type of data, and why, where the question is about types. */
void table_add_types_note(struct table *table);

/* function_ipc.c: instructions per cycle, where the question has the key, before any hist is folded. */
void table_count_ipc(struct table *table);
void function_ipcs_free(struct function_ipcs *ipcs); /* NULL is fine */

/* question.c */
bool name_pattern_match(const struct name_pattern *pattern, const char *name);

/* --ignore-callees, before any hist is folded, if it was given; its cells keep FACT_STACK and FACT_LOCATION. */
void hists_ignore_callees(struct table *table);

#endif
