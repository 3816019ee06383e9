/*
 * The call tree of an entry, when it is asked for. A node of the tree is a way: frames that are the same. It
 * stands for runs of leaves, each below one node of the forest; what goes on from there is partitioned by
 * the next frame, and only ways that are as great as the limit become nodes and are followed. So time and
 * memory follow what is printed: what is left out is looked at once, and as a run, not chain by chain.
 *
 * Nodes whose runs wait to be followed lie on a stack of our own: depth is input. Ways are told apart in the
 * order in which their first leaves stand in the forest, which is the order of appearance.
 */
#include "hist/fold_internal.h"

#include <stdlib.h>

struct way { /* frames that are the same, below the node at hand */
	uint32_t frame; /* of its first run */
	uint32_t same_name; /* the way before it with this name + 1; 0: none */
	uint32_t n_runs;
	size_t at; /* where its next run goes in growth.waiting */
	uint64_t period, count;
	struct call_node *node; /* NULL: below the limit */
};
struct waiting { /* a node whose children are not yet made; its runs are the last of growth.waiting */
	struct call_node *node;
	size_t n_runs;
};
struct growth {
	struct call_tree *tree;
	const struct tree_limit *limit;
	const struct forest *forest;
	const struct fold_frame *frames;
	const struct leaf *leaves;
	bool outermost;
	struct entry_leaves of_entry;
	uint64_t *periods, *counts; /* sums of the leaves before each of of_entry */
	struct leaf_run *runs; /* of the node at hand: what goes on from it */
	size_t n_runs, cap_runs;
	struct way *ways;
	size_t n_ways, cap_ways;
	struct way_slots *slots;
	struct leaf_run *waiting;
	size_t n_waiting, cap_waiting;
	struct waiting *nodes;
	size_t n_nodes, cap_nodes;
};

static uint64_t run_period(const struct growth *g, const struct leaf_run *run)
{
	return g->periods[run->end] - g->periods[run->first];
}

static uint64_t run_count(const struct growth *g, const struct leaf_run *run)
{
	return g->counts[run->end] - g->counts[run->first];
}

static void sum_leaves(struct growth *g)
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

static void add_run(struct growth *g, uint32_t node, uint32_t first, uint32_t end)
{
	VEC_GROW(g->runs, g->n_runs, g->cap_runs);
	g->runs[g->n_runs++] = (struct leaf_run){ .node = node, .first = first, .end = end };
}

static void end_here(const struct growth *g, struct call_node *node, const struct leaf_run *run)
{
	node->self_period += run_period(g, run);
	node->self_count += run_count(g, run);
}

static uint32_t leaf_at(const struct growth *g, uint32_t i)
{
	return g->leaves[g->of_entry.v[i]].at;
}

/* The first leaf of first .. end that is not below the forest's node. Mostly that is none. */
static uint32_t end_below(const struct growth *g, uint32_t node, uint32_t first, uint32_t end)
{
	const uint32_t behind = g->forest->end[node];

	if (leaf_at(g, end - 1) < behind)
		return end;
	while (first < end) {
		uint32_t middle = first + (end - first) / 2;

		if (leaf_at(g, middle) < behind)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

/* Inwards: the callees of a node that have leaves, in order; leaves at the node itself end here. */
static void go_inwards(struct growth *g, struct call_node *node, struct leaf_run run)
{
	struct leaf_run self = { .first = run.first };
	uint32_t callee = run.node + 1;

	while (run.first < run.end && leaf_at(g, run.first) == run.node)
		run.first++;
	self.end = run.first;
	end_here(g, node, &self);
	while (run.first < run.end) {
		uint32_t end;

		while (g->forest->end[callee] <= leaf_at(g, run.first))
			callee = g->forest->end[callee];
		end = end_below(g, callee, run.first, run.end);
		add_run(g, callee, run.first, end);
		run.first = end;
	}
}

static void go_outwards(struct growth *g, struct call_node *node, const struct leaf_run *run)
{
	const uint32_t caller = g->forest->parent[run->node], *leaves = g->of_entry.v;
	struct leaf_run *last = g->n_runs ? &g->runs[g->n_runs - 1] : NULL;

	if (!caller)
		end_here(g, node, run);
	else if (last && last->node == caller && last->end == run->first &&
		 leaves[last->first] < leaves[run->first])
		last->end = run->end; /* they have met: from here on they are one */
	else
		add_run(g, caller, run->first, run->end);
}

static void go_on(struct growth *g, struct call_node *node, const struct leaf_run *run)
{
	if (g->outermost)
		go_inwards(g, node, *run);
	else
		go_outwards(g, node, run);
}

/* ---- ways ---- */

static int compare_runs(const void *pa, const void *pb, void *growth)
{
	const uint32_t *leaves = ((const struct growth *)growth)->of_entry.v;
	uint32_t a = leaves[((const struct leaf_run *)pa)->first];
	uint32_t b = leaves[((const struct leaf_run *)pb)->first];

	return (a > b) - (a < b);
}

static void sort_runs(struct growth *g)
{
	for (size_t i = 1; i < g->n_runs; i++) {
		if (compare_runs(&g->runs[i - 1], &g->runs[i], g) <= 0)
			continue;
		qsort_r(g->runs, g->n_runs, sizeof(*g->runs), compare_runs, g);
		return;
	}
}

static uint32_t add_way(struct growth *g, uint32_t frame)
{
	const struct frame_id *id = &g->forest->ids.v[frame];
	struct way way = { .frame = frame };

	if (id->name) {
		struct way_slot *slot = &g->slots->of_name[id->name];

		way.same_name = slot->round == g->slots->round ? slot->way + 1 : 0;
		*slot = (struct way_slot){ g->slots->round, (uint32_t)g->n_ways };
	}
	VEC_GROW(g->ways, g->n_ways, g->cap_ways);
	g->ways[g->n_ways] = way;
	return (uint32_t)g->n_ways++;
}

/* The first way of this function's name, if one of the two frames is inlined; n_ways: there is none. */
static uint32_t find_name(const struct growth *g, uint32_t frame)
{
	const struct frame_id *id = &g->forest->ids.v[frame];
	const struct way_slot *slot = &g->slots->of_name[id->name];
	uint32_t found = (uint32_t)g->n_ways;

	if (!id->by_symbol || slot->round != g->slots->round)
		return found;
	for (uint32_t i = slot->way + 1; i; i = g->ways[i - 1].same_name)
		if (g->frames[frame].view.inlined || g->frames[g->ways[i - 1].frame].view.inlined)
			found = i - 1;
	return found;
}

static uint32_t find_way(struct growth *g, uint32_t frame)
{
	struct way_slot *slot = &g->slots->of_id[g->forest->ids.v[frame].same];

	if (slot->round != g->slots->round) {
		uint32_t way = find_name(g, frame);

		*slot = (struct way_slot){ g->slots->round, way < g->n_ways ? way : add_way(g, frame) };
	}
	return slot->way;
}

static void find_ways(struct growth *g)
{
	sort_runs(g);
	g->n_ways = 0;
	g->slots->round++;
	for (size_t i = 0; i < g->n_runs; i++) {
		struct leaf_run *run = &g->runs[i];
		struct way *way;

		run->way = find_way(g, g->forest->frame[run->node]);
		way = &g->ways[run->way];
		way->n_runs++;
		way->period += run_period(g, run);
		way->count += run_count(g, run);
	}
}

/* ---- nodes ---- */

static void add_node(struct growth *g, struct call_node *parent, uint32_t number)
{
	struct way *way = &g->ways[number];
	struct call_node *node = calltree_add(g->tree, parent);

	node->frame = g->frames[way->frame].view;
	node->total_period = way->period;
	node->total_count = way->count;
	node->number = number;
	way->node = node;
	way->at = g->n_waiting;
	g->n_waiting += way->n_runs;
	VEC_GROW(g->nodes, g->n_nodes, g->cap_nodes);
	g->nodes[g->n_nodes++] = (struct waiting){ node, way->n_runs };
}

/* The children of a node, from the runs that go on from it. */
static void add_children(struct growth *g, struct call_node *parent)
{
	const uint64_t least = tree_limit_period(g->limit, parent);

	find_ways(g);
	while (g->n_waiting + g->n_runs > g->cap_waiting) {
		g->cap_waiting = g->cap_waiting + g->cap_waiting / 2 + g->n_runs;
		g->waiting = xreallocarray(g->waiting, g->cap_waiting, sizeof(*g->waiting));
	}
	for (size_t i = 0; i < g->n_ways; i++) {
		if (g->ways[i].period >= least)
			add_node(g, parent, (uint32_t)i);
		else
			parent->left_out = true;
	}
	for (size_t i = 0; i < g->n_runs; i++) {
		struct way *way = &g->ways[g->runs[i].way];

		if (way->node)
			g->waiting[way->at++] = g->runs[i];
	}
	calltree_sort_children(g->tree, parent);
}

static void plant(struct growth *g)
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

static void grow(struct growth *g)
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
		.part = table->options.chain.min_percent / 100,
		.of_branch = of_branch,
		.period = table->options.percentage_relative ? hist->shown.period : hist->totals.period,
	};
}

/* Only `fractal` has limits that a small entry's branches can reach. */
bool table_has_tree(const struct table *table, const struct hist *hist, const struct entry *entry)
{
	const struct chain_options *chain = &table->options.chain;
	double all = (double)hist_period(table, hist, 0);

	if (!hist->trees || entry->codes == NO_ROW || !entry_is_shown(table, hist, entry))
		return false;
	return chain->kind == CHAIN_FRACTAL ||
	       (double)entry_limit_period(table, entry) >= all * chain->min_percent / 100.0;
}

static void grow_slots(struct way_slot **slots, size_t *n, size_t wanted)
{
	if (wanted <= *n)
		return;
	*slots = xreallocarray(*slots, wanted, sizeof(**slots));
	memset(*slots + *n, 0, (wanted - *n) * sizeof(**slots));
	*n = wanted;
}

static struct way_slots *way_slots_of(struct trees *trees, const struct frame_ids *ids)
{
	struct way_slots *slots = &trees->slots;

	grow_slots(&slots->of_id, &slots->n_ids, ids->rows.n + 1);
	grow_slots(&slots->of_name, &slots->n_names, (size_t)ids->n_names + 1);
	return slots;
}

struct call_tree *table_tree(struct table *table, const struct hist *hist, const struct entry *entry,
			     const struct tree_limit *limit)
{
	struct growth g = { .limit = limit, .outermost = table->order == CHAIN_CALLER };

	if (!table_has_tree(table, hist, entry))
		return NULL;
	g.forest = trees_prepare(hist->trees, table);
	g.leaves = hist->trees->v;
	g.frames = table->private->folding->frames.v;
	g.tree = calltree_new(table->session->locations, table->options.chain.key);
	g.slots = way_slots_of(hist->trees, &g.forest->ids);
	entry_leaves_find(&g.of_entry, hist->trees, g.forest, entry, g.outermost, table->children);
	sum_leaves(&g);
	plant(&g);
	grow(&g);
	entry_leaves_release(&g.of_entry);
	free(g.periods);
	free(g.counts);
	free(g.runs);
	free(g.ways);
	free(g.waiting);
	free(g.nodes);
	return g.tree;
}
