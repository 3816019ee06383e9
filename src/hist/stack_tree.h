/* SPDX-License-Identifier: MIT */
/*
 * stack_tree: the stacks of an event as one tree of functions, for what shows or exports whole stacks. Frames that
 * read the same are one; each row says how often a stack was sampled, by whom and when.
 *
 *   recorded stack --> node (outermost frame first), nodes in the order of a walk: depth says the rest
 *   cell --> row: node, group (what -s tells apart beside code), lane (CPU or thread), bucket of time
 *
 * Costs grow with distinct stacks and, where times are asked for, with STACK_BUCKETS, never with samples alone; memory,
 * too, where spans are asked for, for which all samples are gone through. Read by including hist.h.
 */
#ifndef PSTAT_STACK_TREE_H
#define PSTAT_STACK_TREE_H

#include "hist/stack_spans.h"
#include "profile/profile.h"

struct table;
struct hist;

/* Groups of rows. */
enum stack_groups {
	GROUPS_BY_KEYS, /* what -s tells apart beside code: "callers, 1234:callers" */
	GROUPS_BY_COMM, /* names of threads: "callers" */
	GROUPS_BY_PROCESS, /* names of threads, and their processes: "callers (1234)"; the format has NEED_PROCESSES */
};
struct stack_tree_options {
	bool kinds_apart; /* frames of one name and two kinds are two */
	bool lines; /* source lines of frames */
	bool times; /* lanes and buckets: the table's format has NEED_TIMES */
	enum stack_groups groups;
	bool annotate; /* names end in _[k], _[i], _[j] */
	bool delimiter; /* a frame "-" between user and kernel part */
	char semicolon; /* what stands for ';' in names and groups; 0: it stays */
};

struct stack_tree_frame {
	uint32_t name; /* number of a text; printable: as a symbol's name, else "[file]", "[unknown]" */
	enum frame_kind kind;
	const struct dso *dso; /* of its most sampled address; NULL: not known */
	struct source_line line; /* likewise; raw bytes */
	uint64_t line_samples; /* with what was called from there */
};
/* 0 is the root, without a frame. A node stands behind its parent and before its next sibling; siblings by name. */
struct stack_tree_node {
	uint32_t frame, parent;
	uint32_t depth; /* of the root 0 */
};
struct stack_tree_row {
	uint32_t node, group;
	uint16_t lane, bucket;
	uint64_t n_samples, period;
};
enum {
	STACK_BUCKETS = 256, /* at most */
	STACK_LANES = 64, /* at most: the last one has the rest */
	STACK_SPANS = 100000, /* at most */
};
struct stack_tree {
	struct text_index *texts;
	struct stack_tree_frame *frames;
	size_t n_frames, cap_frames;
	uint32_t delimiter; /* the frame "-"; UINT32_MAX: none was asked for */
	struct stack_tree_node *nodes;
	size_t n, cap; /* nodes */
	struct stack_tree_row *rows; /* by node, group, lane, bucket; each combination once */
	size_t n_rows, cap_rows;
	uint32_t *groups; /* numbers of texts, by text; "": nothing is told apart */
	size_t n_groups, cap_groups;
	uint32_t *lanes; /* likewise, of CPUs or threads by number */
	size_t n_lanes;
	bool lanes_are_cpus;
	size_t n_buckets;
	uint64_t bucket_ns, start_ns; /* width, and where the first begins on the recording's clock */
	uint64_t n_samples, period; /* sums of the rows */
	bool is_time; /* the event's samples are times in ns, all of them or those off the CPU */
	struct stack_spans spans; /* by thread; the table's format has NEED_ORDER */
	uint32_t *threads; /* numbers of texts, by lane of the spans */
	size_t n_threads, n_threads_left_out; /* of more than STACK_LANES those with fewest samples have no lane */
	struct str no_spans; /* why there are none; "": there are */
};
/* Makes the tree of one member of a hist. The table must stay; the caller frees it. */
struct stack_tree *stack_tree_new(struct table *table, const struct hist *hist, size_t member,
				  const struct stack_tree_options *options);
void stack_tree_free(struct stack_tree *tree); /* NULL is fine */
/* All n_rows of them, those of one group together and else as they are; the caller frees the array. */
const struct stack_tree_row **stack_tree_by_group(const struct stack_tree *tree);
/* Weight of a row, where it is one number: its samples; of times how long they were, in us. The next: of what. */
static inline uint64_t stack_tree_weight(const struct stack_tree *tree, const struct stack_tree_row *row)
{
	return tree->is_time ? row->period / 1000 : row->n_samples;
}
static inline const char *stack_tree_unit(const struct stack_tree *tree)
{
	return tree->is_time ? "us" : "samples";
}
static inline const char *stack_tree_text(const struct stack_tree *tree, uint32_t number)
{
	return texts_get(tree->texts, number);
}

/* ---- boxes: the tree as it is drawn ---- */

struct stack_box { /* a function in one place: from `start` on as wide as its weight */
	bool is_group;
	uint32_t what; /* number of a frame, or of a group */
	uint32_t node; /* of a frame; of a group 0 */
	uint32_t level; /* groups, where there are any, stand at 0 */
	uint64_t start, weight, self;
};
struct stack_boxes {
	struct stack_box *v; /* each behind what called it, from left to right */
	size_t n, cap;
	uint32_t n_levels;
	uint64_t weight;
	size_t n_small; /* left out: they have less than the least part */
};
/* part: of the weight of all. The caller releases them. */
void stack_boxes_make(struct stack_boxes *boxes, const struct stack_tree *tree, double part);
void stack_boxes_release(struct stack_boxes *boxes);

#endif
