/*
 * Groups in runs, those whose other keys are the same and whose samples are of one member, with the sums of each node
 * that their chains come by. A run is put on the nodes of its stacks; sums then go from each node to its caller, once
 * per node. They depend on the groups alone, and are kept with these.
 */
#include "hist/fold_internal.h"

#include <stdlib.h>

struct summing {
	const struct frames *frames;
	const struct groups *groups;
	struct node_sums *nodes; /* of the run */
	size_t n;
	uint32_t *slot_of; /* per node: its place in `nodes`, if it is there */
	uint32_t *path;
};

static bool is_reached(const struct summing *s, uint32_t node)
{
	const uint32_t at = s->slot_of[node];

	return at < s->n && s->nodes[at].node == node;
}

/* Callers before what they called. */
static struct node_sums *reach(struct summing *s, uint32_t stack, uint32_t group)
{
	size_t n = 0;

	for (uint32_t node = stack; node && !is_reached(s, node); node = s->frames->stacks.v[node].parent)
		s->path[n++] = node;
	while (n) {
		const uint32_t node = s->path[--n];

		s->slot_of[node] = (uint32_t)s->n;
		s->nodes[s->n++] = (struct node_sums){ .node = node, .first = group };
	}
	return &s->nodes[s->slot_of[stack]];
}

static void put_on_node(struct summing *s, uint32_t number)
{
	const struct group *group = &s->groups->v[number];
	const struct entry_total own = entry_own_total(&group->stats);
	struct node_sums *sums;

	if (!group->stack)
		return;
	sums = reach(s, group->stack, number);
	entry_total_add(&sums->total, &own);
	sums->deepest = s->frames->depths[group->stack];
}

/* From the last one that was reached to the first: what is called before its caller. */
static void pass_up(struct summing *s)
{
	for (size_t i = s->n; i-- > 0;) {
		const struct node_sums *from = &s->nodes[i];
		const uint32_t caller = s->frames->stacks.v[from->node].parent;
		struct node_sums *to = caller ? &s->nodes[s->slot_of[caller]] : NULL;

		if (!to)
			continue;
		entry_total_add(&to->total, &from->total);
		if (from->deepest > to->deepest)
			to->deepest = from->deepest;
	}
}

/* Nodes that the run can come by, at most. */
static size_t most_nodes(const struct summing *s, const struct group_run *run)
{
	size_t n = 0;

	for (size_t i = 0; i < run->n && n < s->frames->stacks.n; i++) {
		const uint32_t stack = s->groups->v[run->groups[i]].stack;

		n += stack ? s->frames->depths[stack] : 0;
	}
	return n < s->frames->stacks.n ? n : s->frames->stacks.n;
}

static void sum_run(struct summing *s, struct group_run *run)
{
	s->nodes = xmalloc((most_nodes(s, run) + 1) * sizeof(*s->nodes));
	s->n = 0;
	for (size_t i = 0; i < run->n; i++)
		put_on_node(s, run->groups[i]);
	pass_up(s);
	run->nodes = xreallocarray(s->nodes, s->n + 1, sizeof(*s->nodes));
	run->n_nodes = s->n;
}

void runs_sum(struct runs *runs, const struct frames *frames, const struct groups *groups)
{
	struct summing s = { .frames = frames, .groups = groups };

	if (runs->summed)
		return;
	s.slot_of = xcalloc(frames->stacks.n + 1, sizeof(*s.slot_of));
	s.path = xcalloc(frames->max_depth + 1, sizeof(*s.path));
	for (size_t i = 0; i < runs->n; i++)
		sum_run(&s, &runs->v[i]);
	runs->summed = true;
	free(s.slot_of);
	free(s.path);
}

/* Those with the same other keys behind each other, in their order: of the members one after the other. */
static uint32_t *order_groups(const struct groups *groups)
{
	uint32_t *keys = xcalloc(groups->n + 1, sizeof(*keys)), *order;

	for (size_t i = 0; i < groups->n; i++)
		keys[i] = groups->v[i].values;
	order = numbers_sorted(keys, groups->n, groups->values.n, NULL);
	free(keys);
	return order;
}

void runs_make(struct runs *runs, const struct groups *groups)
{
	const struct group *v = groups->v;

	if (runs->order)
		return;
	runs->order = order_groups(groups);
	for (size_t i = 0, end; i < groups->n; i = end) {
		const struct group *first = &v[runs->order[i]];

		for (end = i; end < groups->n && v[runs->order[end]].values == first->values &&
			      v[runs->order[end]].member == first->member;)
			end++;
		VEC_GROW(runs->v, runs->n, runs->cap);
		runs->v[runs->n++] = (struct group_run){ .others = first->values,
							 .member = first->member,
							 .groups = runs->order + i,
							 .n = end - i };
	}
}

void runs_release(struct runs *runs)
{
	for (size_t i = 0; i < runs->n; i++)
		free(runs->v[i].nodes);
	free(runs->v);
	free(runs->order);
	*runs = (struct runs){ .n = 0 };
}
