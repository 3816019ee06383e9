/* SPDX-License-Identifier: MIT */
/*
 * The call tree of one entry, when it is asked for: nodes, which frames are one node, and the order of siblings.
 *
 * A node stands for runs of leaves, each below one node of the preorder (stack_preorder.c). What goes on from there is
 * parted by the next frame into branches: frames that are the same by their identity (the symbol, without a symbol the
 * address), and inlined frames also by their name, for the function is one function. Only branches as great as the
 * limit become nodes and are followed. So time and memory grow with what is printed: what is left out is looked at
 * once, and as a run, not chain by chain.
 *
 * Nodes whose runs wait to be followed lie on a stack of our own: depth is input. Branches are told apart in the order
 * in which their first leaves stand in the preorder, which is the order of appearance. Siblings stand with the
 * greatest total first; ties by their files in order of appearance, then by address, both descending; lines as texts.
 */
#include "hist/hist.h"
#include "hist/fold_internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { FIRST_CHUNK = 8, MAX_CHUNK = 512 };
struct call_chunk {
	struct call_chunk *older;
	size_t n, cap;
	struct call_node nodes[];
};

static struct call_tree *calltree_new(const struct locations *locations, enum chain_key key)
{
	struct call_tree *tree = xcalloc(1, sizeof(*tree));

	tree->locations = locations;
	tree->key = key;
	return tree;
}

void calltree_free(struct call_tree *tree)
{
	if (!tree)
		return;
	for (struct call_chunk *chunk = tree->chunks, *older; chunk; chunk = older) {
		older = chunk->older;
		free(chunk);
	}
	for (struct branch_sums *sums = tree->branches, *next; sums; sums = next) {
		next = sums->next;
		free(sums);
	}
	free(tree);
}

static struct call_node *calltree_add(struct call_tree *tree, struct call_node *parent)
{
	struct call_chunk *chunk = tree->chunks;
	struct call_node *node;

	if (!chunk || chunk->n == chunk->cap) {
		size_t cap = !chunk                   ? FIRST_CHUNK
			     : chunk->cap < MAX_CHUNK ? chunk->cap * 2
						      : MAX_CHUNK;

		chunk = xmalloc(sizeof(*chunk) + cap * sizeof(chunk->nodes[0]));
		chunk->older = tree->chunks;
		chunk->n = 0;
		chunk->cap = cap;
		tree->chunks = chunk;
	}
	node = &chunk->nodes[chunk->n++];
	*node = (struct call_node){ .parent = parent, .next = parent->children };
	parent->children = node;
	tree->n_nodes++;
	return node;
}

/* ---- the order of siblings ---- */

/* Files in the order in which they appeared; no file comes before all. */
static uint64_t file_rank(const struct call_tree *tree, const struct view_frame *frame)
{
	const struct dso *dso = NULL;

	if (frame->symbol)
		dso = frame->symbol->dso;
	else if (frame->location < tree->locations->n)
		dso = tree->locations->v[frame->location].dso;
	return dso ? (uint64_t)dso->index + 1 : 0;
}

static int descending(uint64_t a, uint64_t b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int compare_texts(const char *a, const char *b)
{
	int by = strcmp(b, a);

	return by < 0 ? -1 : by > 0;
}

/* "x.c:10" stands behind "x.c:9": as texts, as perf has it. */
static int compare_lines(const struct source_line *a, const struct source_line *b)
{
	const char *base_a = strrchr(a->file, '/'), *base_b = strrchr(b->file, '/');
	char line_a[16], line_b[16];
	int by = compare_texts(base_a ? base_a + 1 : a->file, base_b ? base_b + 1 : b->file);

	snprintf(line_a, sizeof(line_a), "%u", a->line);
	snprintf(line_b, sizeof(line_b), "%u", b->line);
	return by ? by : compare_texts(line_a, line_b);
}

static uint64_t location_rank(const struct call_tree *tree, const struct view_frame *frame)
{
	return frame->location < tree->locations->n ? tree->locations->v[frame->location].ip : frame->location;
}

int calltree_compare_frames(const struct call_tree *tree, const struct call_node *a,
			    const struct call_node *b)
{
	const struct view_frame *fa = &a->frame, *fb = &b->frame;
	int by = 0;

	if (tree->key == CHAIN_BY_SRCLINE && fa->line.file && fb->line.file)
		by = compare_lines(&fa->line, &fb->line);
	if (!by)
		by = descending(file_rank(tree, fa), file_rank(tree, fb));
	if (!by)
		by = descending(fa->symbol ? fa->symbol->start : location_rank(tree, fa),
				fb->symbol ? fb->symbol->start : location_rank(tree, fb));
	if (!by && fa->symbol && fb->symbol)
		by = compare_texts(fa->symbol->name, fb->symbol->name);
	if (!by)
		by = descending(location_rank(tree, fa), location_rank(tree, fb));
	return by ? by : descending(b->number, a->number);
}

static int compare_siblings(const void *pa, const void *pb, void *tree)
{
	const struct call_node *a = *(struct call_node *const *)pa;
	const struct call_node *b = *(struct call_node *const *)pb;
	int by = (a->total_period < b->total_period) - (a->total_period > b->total_period);

	return by ? by : calltree_compare_frames(tree, a, b);
}

static void sort_children(struct call_tree *tree, struct call_node *parent)
{
	struct call_node **link = &parent->children, **v;
	size_t n = 0;

	if (!parent->children || !parent->children->next)
		return;
	for (const struct call_node *child = parent->children; child; child = child->next)
		n++;
	v = xcalloc(n, sizeof(struct call_node *));
	n = 0;
	for (struct call_node *child = parent->children; child; child = child->next)
		v[n++] = child;
	qsort_r(v, n, sizeof(v[0]), compare_siblings, tree);
	for (size_t i = 0; i < n; i++) {
		*link = v[i];
		link = &v[i]->next;
	}
	*link = NULL;
	free(v);
}

/* ---- limits and runs ---- */

uint64_t tree_limit_period(const struct tree_limit *limit, const struct call_node *parent)
{
	double least = limit->of_branch ? (double)calltree_below(parent) * limit->part
					: (double)limit->period * limit->part;
	uint64_t whole;

	if (least >= (double)UINT64_MAX)
		return UINT64_MAX;
	whole = (uint64_t)least;
	/* The limit of a branch is rounded up; without ceil(), which would want libm. */
	return whole + (limit->of_branch && (double)whole < least);
}

uint64_t calltree_below(const struct call_node *node)
{
	return node->total_period - node->self_period;
}

const struct call_node *calltree_run_end(const struct call_node *node)
{
	while (!node->self_count && node->children && !node->children->next && !node->left_out)
		node = node->children;
	return node;
}

/* ---- a walk through a tree ---- */

const struct call_node *calltree_after(const struct call_node *node)
{
	if (node->children)
		return node->children;
	while (node && !node->next)
		node = node->parent;
	return node ? node->next : NULL;
}

struct branch { /* frames that are the same, below the node at hand */
	uint32_t frame; /* of its first run */
	uint32_t same_name; /* the branch before it with this name + 1; 0: none */
	uint32_t n_runs;
	size_t at; /* where its next run goes in builder.waiting */
	uint64_t period, count;
	struct branch_sums taken; /* the branches that their frames are ends of */
	struct call_node *node; /* NULL: below the limit */
};
struct waiting { /* a node whose children are not yet made; its runs are the last of builder.waiting */
	struct call_node *node;
	size_t n_runs;
};
struct branch_slot { /* valid where the round is the present one */
	uint64_t round;
	uint32_t branch;
};
struct tree_builder {
	struct call_tree *tree;
	const struct tree_limit *limit;
	const struct stack_preorder *preorder;
	const struct fold_frame *frames;
	const struct leaf *leaves;
	bool outermost;
	struct entry_leaves of_entry;
	uint64_t *periods, *counts; /* sums of the leaves before each of of_entry */
	struct leaf_run *runs; /* of the node at hand: what goes on from it */
	size_t n_runs, cap_runs;
	struct branch *branches;
	size_t n_branches, cap_branches;
	struct branch_slots *slots;
	struct leaf_run *waiting;
	size_t n_waiting, cap_waiting;
	struct waiting *nodes;
	size_t n_nodes, cap_nodes;
};

static uint64_t run_period(const struct tree_builder *g, const struct leaf_run *run)
{
	return g->periods[run->end] - g->periods[run->first];
}

static uint64_t run_count(const struct tree_builder *g, const struct leaf_run *run)
{
	return g->counts[run->end] - g->counts[run->first];
}

static void sum_leaves(struct tree_builder *g)
{
	const struct entry_leaves *of_entry = &g->of_entry;

	g->periods = xcalloc(of_entry->n + 1, sizeof(*g->periods));
	g->counts = xcalloc(of_entry->n + 1, sizeof(*g->counts));
	for (size_t i = 0; i < of_entry->n; i++) {
		const struct leaf *leaf = &g->leaves[of_entry->v[i]];

		g->periods[i + 1] = g->periods[i] + leaf->period;
		g->counts[i + 1] = g->counts[i] + leaf->count;
	}
}

/* ---- what goes on from a run ---- */

static void add_run(struct tree_builder *g, uint32_t node, uint32_t first, uint32_t end)
{
	VEC_GROW(g->runs, g->n_runs, g->cap_runs);
	g->runs[g->n_runs++] = (struct leaf_run){ .node = node, .first = first, .end = end };
}

static void end_here(const struct tree_builder *g, struct call_node *node, const struct leaf_run *run)
{
	node->self_period += run_period(g, run);
	node->self_count += run_count(g, run);
}

static uint32_t leaf_at(const struct tree_builder *g, uint32_t i)
{
	return g->leaves[g->of_entry.v[i]].at;
}

/* The first leaf of first .. end that is not below the preorder's node. Mostly that is none. */
static uint32_t end_below(const struct tree_builder *g, uint32_t node, uint32_t first, uint32_t end)
{
	const uint32_t behind = g->preorder->end[node];

	if (leaf_at(g, end - 1) < behind)
		return end;
	return (uint32_t)BISECT(i, first, end, leaf_at(g, (uint32_t)i) < behind);
}

/* Inwards: the callees of a node that have leaves, in order; leaves at the node itself end here. */
static void go_inwards(struct tree_builder *g, struct call_node *node, struct leaf_run run)
{
	struct leaf_run self = { .first = run.first };
	uint32_t callee = run.node + 1;

	while (run.first < run.end && leaf_at(g, run.first) == run.node)
		run.first++;
	self.end = run.first;
	end_here(g, node, &self);
	while (run.first < run.end) {
		uint32_t end;

		while (g->preorder->end[callee] <= leaf_at(g, run.first))
			callee = g->preorder->end[callee];
		end = end_below(g, callee, run.first, run.end);
		add_run(g, callee, run.first, end);
		run.first = end;
	}
}

static void go_outwards(struct tree_builder *g, struct call_node *node, const struct leaf_run *run)
{
	const uint32_t caller = g->preorder->parent[run->node], *leaves = g->of_entry.v;
	struct leaf_run *last = g->n_runs ? &g->runs[g->n_runs - 1] : NULL;

	if (!caller)
		end_here(g, node, run);
	else if (last && last->node == caller && last->end == run->first &&
		 leaves[last->first] < leaves[run->first])
		last->end = run->end; /* they have met: from here on they are one */
	else
		add_run(g, caller, run->first, run->end);
}

static void go_on(struct tree_builder *g, struct call_node *node, const struct leaf_run *run)
{
	if (g->outermost)
		go_inwards(g, node, *run);
	else
		go_outwards(g, node, run);
}

/* ---- branches ---- */

static int compare_runs(const void *pa, const void *pb, void *builder)
{
	const uint32_t *leaves = ((const struct tree_builder *)builder)->of_entry.v;
	uint32_t a = leaves[((const struct leaf_run *)pa)->first];
	uint32_t b = leaves[((const struct leaf_run *)pb)->first];

	return (a > b) - (a < b);
}

static void sort_runs(struct tree_builder *g)
{
	for (size_t i = 1; i < g->n_runs; i++) {
		if (compare_runs(&g->runs[i - 1], &g->runs[i], g) <= 0)
			continue;
		qsort_r(g->runs, g->n_runs, sizeof(*g->runs), compare_runs, g);
		return;
	}
}

static uint32_t add_branch(struct tree_builder *g, uint32_t frame)
{
	const struct frame_id *id = &g->preorder->ids.v[frame];
	struct branch branch = { .frame = frame };

	if (id->name) {
		struct branch_slot *slot = &g->slots->of_name[id->name];

		branch.same_name = slot->round == g->slots->round ? slot->branch + 1 : 0;
		*slot = (struct branch_slot){ g->slots->round, (uint32_t)g->n_branches };
	}
	VEC_GROW(g->branches, g->n_branches, g->cap_branches);
	g->branches[g->n_branches] = branch;
	return (uint32_t)g->n_branches++;
}

/* The first branch of this function's name, if one of the two frames is inlined; n_branches: there is none. */
static uint32_t find_name(const struct tree_builder *g, uint32_t frame)
{
	const struct frame_id *id = &g->preorder->ids.v[frame];
	const struct branch_slot *slot = &g->slots->of_name[id->name];
	uint32_t found = (uint32_t)g->n_branches;

	if (!id->by_symbol || slot->round != g->slots->round)
		return found;
	for (uint32_t i = slot->branch + 1; i; i = g->branches[i - 1].same_name)
		if (g->frames[frame].view.inlined || g->frames[g->branches[i - 1].frame].view.inlined)
			found = i - 1;
	return found;
}

static uint32_t find_branch(struct tree_builder *g, uint32_t frame)
{
	struct branch_slot *slot = &g->slots->of_id[g->preorder->ids.v[frame].same];

	if (slot->round != g->slots->round) {
		uint32_t branch = find_name(g, frame);

		*slot = (struct branch_slot){ g->slots->round, branch < g->n_branches ? branch : add_branch(g, frame) };
	}
	return slot->branch;
}

/* Adds count times the branch that the frame is an end of. */
static void add_taken(const struct tree_builder *g, uint32_t frame, uint64_t count, struct branch_sums *sums)
{
	const struct view_frame *view = &g->frames[frame].view;
	const uint64_t branch =
		view->location < g->tree->locations->n ? g->tree->locations->v[view->location].branch : 0;
	const unsigned kind = branch_kind(branch & BRANCH_BITS);

	/* The function that others were inlined into is the one that has the branch. */
	if (!branch || view->inlined)
		return;
	sums->end = branch & (BRANCH_END_FROM | BRANCH_END_TO);
	sums->n += count;
	sums->n_predicted += branch & BRANCH_PREDICTED ? count : 0;
	sums->n_aborted += branch & BRANCH_ABORT ? count : 0;
	sums->cycles += count * branch_cycles(branch & BRANCH_BITS);
	if (!kind)
		return;
	sums->kinds |= 1U << kind;
	sums->crossed |= branch & (BRANCH_CROSSES_4K | BRANCH_CROSSES_2M);
	sums->cond_forward |= kind == BRANCH_COND && branch & BRANCH_FORWARD;
	sums->cond_backward |= kind == BRANCH_COND && !(branch & BRANCH_FORWARD);
}

static void find_branches(struct tree_builder *g)
{
	sort_runs(g);
	g->n_branches = 0;
	g->slots->round++;
	for (size_t i = 0; i < g->n_runs; i++) {
		struct leaf_run *run = &g->runs[i];
		struct branch *branch;

		run->branch = find_branch(g, g->preorder->frame[run->node]);
		branch = &g->branches[run->branch];
		branch->n_runs++;
		branch->period += run_period(g, run);
		branch->count += run_count(g, run);
		add_taken(g, g->preorder->frame[run->node], run_count(g, run), &branch->taken);
	}
}

/* ---- nodes ---- */

static const struct branch_sums *keep_sums(struct call_tree *tree, const struct branch_sums *sums)
{
	struct branch_sums *kept = xmalloc(sizeof(*kept));

	*kept = *sums;
	kept->next = tree->branches;
	tree->branches = kept;
	return kept;
}

static void add_node(struct tree_builder *g, struct call_node *parent, uint32_t number)
{
	struct branch *branch = &g->branches[number];
	struct call_node *node = calltree_add(g->tree, parent);

	node->frame = g->frames[branch->frame].view;
	node->total_period = branch->period;
	node->total_count = branch->count;
	if (branch->taken.n)
		node->branches = keep_sums(g->tree, &branch->taken);
	node->number = number;
	branch->node = node;
	branch->at = g->n_waiting;
	g->n_waiting += branch->n_runs;
	VEC_GROW(g->nodes, g->n_nodes, g->cap_nodes);
	g->nodes[g->n_nodes++] = (struct waiting){ node, branch->n_runs };
}

/* The children of a node, from the runs that go on from it. */
static void add_children(struct tree_builder *g, struct call_node *parent)
{
	const uint64_t least = tree_limit_period(g->limit, parent);

	find_branches(g);
	while (g->n_waiting + g->n_runs > g->cap_waiting) {
		g->cap_waiting = g->cap_waiting + g->cap_waiting / 2 + g->n_runs;
		g->waiting = xreallocarray(g->waiting, g->cap_waiting, sizeof(*g->waiting));
	}
	for (size_t i = 0; i < g->n_branches; i++) {
		if (g->branches[i].period >= least)
			add_node(g, parent, (uint32_t)i);
		else
			parent->left_out = true;
	}
	for (size_t i = 0; i < g->n_runs; i++) {
		struct branch *branch = &g->branches[g->runs[i].branch];

		if (branch->node)
			g->waiting[branch->at++] = g->runs[i];
	}
	sort_children(g->tree, parent);
}

static void start(struct tree_builder *g)
{
	struct call_node *root = &g->tree->root;

	root->total_period = g->periods[g->of_entry.n];
	root->total_count = g->counts[g->of_entry.n];
	for (size_t i = 0; i < g->of_entry.n_starts; i++) {
		const struct leaf_run *start = &g->of_entry.starts[i];

		if (start->node)
			add_run(g, start->node, start->first, start->end);
		else
			go_inwards(g, root, *start);
	}
	add_children(g, root);
}

static void build(struct tree_builder *g)
{
	while (g->n_nodes) {
		struct waiting next = g->nodes[--g->n_nodes];

		g->n_runs = 0;
		g->n_waiting -= next.n_runs;
		for (size_t i = 0; i < next.n_runs; i++)
			go_on(g, next.node, &g->waiting[g->n_waiting + i]);
		add_children(g, next.node);
	}
}

/* ---- contract ---- */

struct tree_limit table_tree_limit(const struct table *table, const struct hist *hist, bool of_branch)
{
	return (struct tree_limit){
		.part = table->question->query.chain.min_percent / 100,
		.of_branch = of_branch,
		.period = table->question->query.percentage_relative ? hist->shown.period : hist->totals.period,
	};
}

/* Only `fractal` has limits that a small entry's branches can reach. */
bool table_has_tree(const struct table *table, const struct hist *hist, const struct entry *entry)
{
	const struct chain_options *chain = &table->question->query.chain;
	double all = (double)hist_period(table, hist, 0);

	if (!hist->trees || entry->frame_key == NO_ROW || !entry_is_shown(table, hist, entry))
		return false;
	return chain->kind == CHAIN_FRACTAL ||
	       (double)entry_limit_period(table, entry) >= all * chain->min_percent / 100.0;
}

static bool has_chains(const struct hist *hist)
{
	return hist->event->attr.sample_type & PERF_SAMPLE_CALLCHAIN;
}

const struct hist *table_chain_hist(const struct table *table, const struct hist *hist)
{
	if (!table->question->query.reference_chains || has_chains(hist))
		return hist;
	for (size_t i = 0; i < table->n_hists; i++)
		if (has_chains(&table->hists[i]))
			return &table->hists[i];
	return hist;
}

/* An entry with the least share has a tree at all (-g), so that few entries are looked for. */
const struct entry *table_chain_entry(const struct table *table, const struct hist **hist, const struct entry *entry)
{
	const struct hist *reference = table_chain_hist(table, *hist);
	const size_t bytes = table->question->n_keys * sizeof(*entry->values);

	if (reference == *hist)
		return entry;
	if (!table_has_tree(table, *hist, entry))
		return NULL;
	*hist = reference;
	for (size_t i = 0; i < reference->n; i++)
		if (!memcmp(reference->entries[i]->values, entry->values, bytes))
			return reference->entries[i];
	return NULL;
}

static void grow_slots(struct branch_slot **slots, size_t *n, size_t wanted)
{
	if (wanted <= *n)
		return;
	*slots = xreallocarray(*slots, wanted, sizeof(**slots));
	memset(*slots + *n, 0, (wanted - *n) * sizeof(**slots));
	*n = wanted;
}

static struct branch_slots *branch_slots_of(struct trees *trees, const struct frame_ids *ids)
{
	struct branch_slots *slots = &trees->slots;

	grow_slots(&slots->of_id, &slots->n_ids, ids->rows.n + 1);
	grow_slots(&slots->of_name, &slots->n_names, (size_t)ids->n_names + 1);
	return slots;
}

struct call_tree *table_tree(struct table *table, const struct hist *hist, const struct entry *entry,
			     const struct tree_limit *limit)
{
	struct tree_builder g = { .limit = limit, .outermost = table->question->order == CHAIN_CALLER };

	if (!table_has_tree(table, hist, entry))
		return NULL;
	g.preorder = trees_prepare(hist->trees, table);
	g.leaves = hist->trees->v;
	g.frames = table->private->cache->frames.v;
	g.tree = calltree_new(table->session->locations, table->question->query.chain.key);
	g.slots = branch_slots_of(hist->trees, &g.preorder->ids);
	entry_leaves_find(&g.of_entry, hist->trees, g.preorder, entry, g.outermost, table->question->children);
	sum_leaves(&g);
	start(&g);
	build(&g);
	entry_leaves_release(&g.of_entry);
	free(g.periods);
	free(g.counts);
	free(g.runs);
	free(g.branches);
	free(g.waiting);
	free(g.nodes);
	return g.tree;
}
