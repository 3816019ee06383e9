/*
 * Groups into entries. A group counts for the entry of its own frame and, with --children, once for each
 * other entry of its chain, however often that comes up there. An entry's part of the chain begins at its
 * first frame in the order that is shown: a caller's goes on with what it called, a callee's with its
 * callers; the sampled function's own part is the whole chain.
 *
 * Chains are not walked one by one. Groups whose other keys are the same, a run, are put on the nodes of their stacks;
 * sums then go from each node to its caller, and from nodes to entries, once per node. Each node knows the first group
 * that came by it, and so does each entry: entries are numbered in the order in which the chains, walked one after the
 * other, come by them, and only chains that an entry begins with are walked for that.
 */
#include "hist/fold_internal.h"

#include <stdlib.h>

struct reached { /* a node that chains of the run come by; callers before what they called */
	uint32_t node; /* of frames.stacks */
	uint32_t first; /* group of the run that came by it */
	uint32_t deepest; /* frames of the longest of these chains */
	struct entry_stats stats; /* of all groups from here on, when sums have gone up */
};
struct found { /* an entry, in the order of runs */
	struct entry *entry;
	uint32_t first; /* group that counts for it */
};
struct found_slot { /* valid where the run is the present one */
	uint32_t run, at;
};
struct making {
	struct entries *entries;
	struct table *table;
	const struct hist *hist;
	const struct groups *groups;
	const struct frames *frames;
	struct found *found;
	size_t n_found, cap_found;
	struct found_slot *of_values; /* `found`, per row of frames.values */
	uint32_t run;
	struct reached *reached; /* by the groups of the run that are of one member */
	size_t n_reached; /* at most all nodes */
	uint32_t *slot_of; /* per node: its place in `reached`, if it is there */
	bool *repeated; /* per number of the forest: a caller of this node is of the same entry */
	uint32_t *chain;
};

/* ---- entries of a run ---- */

/* others, codes: rows of groups.values and frames.values. */
static struct entry *new_entry(const struct making *m, uint32_t others, uint32_t codes)
{
	struct table *table = m->table;
	struct entry *entry = entry_new(table, m->hist);
	const uint64_t *other_row = row_set_at(&m->groups->values, others);
	const uint64_t *code_row = row_set_at(&m->frames->values, codes);

	for (size_t i = 0; i < table->n_keys; i++) {
		const struct key_slot *slot = &table->private->slots[i];

		entry->values[i] = slot->frame ? code_row[slot->at] : other_row[slot->at];
	}
	entry->others = others;
	entry->codes = codes;
	return entry;
}

/* The entry that the group counts for; made when it is not there. */
static struct entry *find_entry(struct making *m, uint32_t group, uint32_t codes)
{
	struct found_slot *slot = &m->of_values[codes];
	struct found *found;

	if (slot->run != m->run) {
		*slot = (struct found_slot){ m->run, (uint32_t)m->n_found };
		VEC_GROW(m->found, m->n_found, m->cap_found);
		m->found[m->n_found++] =
			(struct found){ new_entry(m, m->groups->v[group].values, codes), group };
	}
	found = &m->found[slot->at];
	if (group < found->first)
		found->first = group;
	return found->entry;
}

/* Only the first member of a group of events has totals of its own. */
static void add_total(struct entry *entry, size_t member, const struct entry_stats *stats)
{
	if (entry->members)
		entry_stats_add(&entry->members_total[member], stats);
	if (!member)
		entry_stats_add(&entry->total, stats);
}

static void lengthen(struct entry *entry, size_t member, uint32_t depth)
{
	if (!member && depth > entry->chain_depth)
		entry->chain_depth = depth;
}

/* ---- a group's own frame ---- */

static uint32_t chain_len(const struct frames *frames, uint32_t stack)
{
	return stack ? frames->depths[stack] : 0;
}

/* As a rule the innermost frame is it. */
static bool is_on_stack(const struct frames *frames, uint32_t stack, uint32_t codes)
{
	for (; stack; stack = frames->stacks.v[stack].parent) {
		const struct fold_frame *frame = &frames->v[frames->stacks.v[stack].location];

		if (frame->named && frame->values == codes)
			return true;
	}
	return false;
}

static void add_own(struct making *m, uint32_t number)
{
	const struct group *group = &m->groups->v[number];
	const struct fold_frame *frame = &m->frames->v[group->self];
	struct entry *entry;

	if (!frame->named)
		return;
	entry = find_entry(m, number, frame->values);
	if (m->entries->own)
		m->entries->own[number] = entry;
	if (entry->members)
		entry_stats_add(&entry->members[group->member], &group->stats);
	if (!group->member)
		entry_stats_add(&entry->self, &group->stats);
	if (!m->table->children)
		return;
	lengthen(entry, group->member, chain_len(m->frames, group->stack));
	/* Else it comes with its node. */
	if (!is_on_stack(m->frames, group->stack, frame->values))
		add_total(entry, group->member, &group->stats);
}

/* ---- nodes ---- */

static bool is_reached(const struct making *m, uint32_t node)
{
	const uint32_t at = m->slot_of[node];

	return at < m->n_reached && m->reached[at].node == node;
}

static struct reached *reach(struct making *m, uint32_t stack, uint32_t group)
{
	size_t n = 0;

	for (uint32_t node = stack; node && !is_reached(m, node); node = m->frames->stacks.v[node].parent)
		m->chain[n++] = node;
	while (n) {
		const uint32_t node = m->chain[--n];

		m->slot_of[node] = (uint32_t)m->n_reached;
		m->reached[m->n_reached++] = (struct reached){ .node = node, .first = group };
	}
	return &m->reached[m->slot_of[stack]];
}

static void put_on_node(struct making *m, uint32_t number)
{
	const struct group *group = &m->groups->v[number];
	struct reached *reached;

	if (!group->stack)
		return;
	reached = reach(m, group->stack, number);
	entry_stats_add(&reached->stats, &group->stats);
	reached->deepest = chain_len(m->frames, group->stack);
}

/* From the last one that was reached to the first: what is called before its caller. */
static void pass_up(struct making *m)
{
	for (size_t i = m->n_reached; i-- > 0;) {
		const struct reached *from = &m->reached[i];
		const uint32_t caller = m->frames->stacks.v[from->node].parent;
		struct reached *to = caller ? &m->reached[m->slot_of[caller]] : NULL;

		if (!to)
			continue;
		entry_stats_add(&to->stats, &from->stats);
		if (from->deepest > to->deepest)
			to->deepest = from->deepest;
	}
}

static void give_to_entries(struct making *m, size_t member)
{
	const uint32_t *numbers = m->frames->forest.number;

	for (size_t i = 0; i < m->n_reached; i++) {
		const struct reached *reached = &m->reached[i];
		const struct fold_frame *frame = &m->frames->v[m->frames->stacks.v[reached->node].location];
		const uint32_t depth = m->frames->depths[reached->node];
		struct entry *entry;

		if (!frame->named)
			continue;
		entry = find_entry(m, reached->first, frame->values);
		if (!m->repeated[numbers[reached->node]])
			add_total(entry, member, &reached->stats);
		lengthen(entry, member, m->table->order == CHAIN_CALLER ? reached->deepest - depth + 1 : depth);
	}
}

/* In the order of a walk nodes are below the last one of the same entry until that ends. */
static void find_repeated(struct making *m)
{
	const struct forest *forest = forest_update(m->table);
	uint32_t *end_of = xcalloc(m->frames->values.n + 1, sizeof(*end_of));

	m->repeated = xcalloc(forest->n, sizeof(*m->repeated));
	for (uint32_t i = 1; i < forest->n; i++) {
		const struct fold_frame *frame = &m->frames->v[forest->frame[i]];

		if (!frame->named)
			continue;
		m->repeated[i] = end_of[frame->values] > i;
		if (!m->repeated[i])
			end_of[frame->values] = forest->end[i];
	}
	free(end_of);
}

/* ---- runs ---- */

static void add_children(struct making *m, const uint32_t *groups, size_t n)
{
	const struct group *v = m->groups->v;

	for (size_t i = 0, end; i < n; i = end) {
		const size_t member = v[groups[i]].member;

		m->n_reached = 0;
		for (end = i; end < n && v[groups[end]].member == member; end++)
			put_on_node(m, groups[end]);
		pass_up(m);
		give_to_entries(m, member);
	}
}

static void add_run(struct making *m, const uint32_t *groups, size_t n)
{
	m->run++;
	for (size_t i = 0; i < n; i++)
		add_own(m, groups[i]);
	if (m->table->children)
		add_children(m, groups, n);
}

/* Those with the same other keys behind each other, in their order. */
static uint32_t *order_groups(const struct groups *groups)
{
	uint32_t *keys = xcalloc(groups->n + 1, sizeof(*keys)), *order;

	for (size_t i = 0; i < groups->n; i++)
		keys[i] = groups->v[i].values;
	order = numbers_sorted(keys, groups->n, groups->values.n, NULL);
	free(keys);
	return order;
}

static void add_runs(struct making *m)
{
	const struct groups *groups = m->groups;
	uint32_t *order = order_groups(groups);

	for (size_t i = 0, end; i < groups->n; i = end) {
		const uint32_t others = groups->v[order[i]].values;

		for (end = i; end < groups->n && groups->v[order[end]].values == others;)
			end++;
		add_run(m, order + i, end - i);
	}
	free(order);
}

/* ---- numbers ---- */

static void set_number(struct entries *entries, struct entry *entry, const struct group *group, uint32_t location)
{
	const struct locations *locations = entries->table->session->locations;

	entry->location = location;
	entry->level = location == LOCATION_NONE ? '.' : location_level(&locations->v[location]);
	entry->tid = group->tid;
	entry->number = (uint32_t)entries->n;
	entries->v[entries->n++] = entry;
}

/* found: n entries that this group is the first to count for. */
static void number_some(struct making *m, const struct group *group, const uint32_t *found, size_t n)
{
	const struct fold_frame *frame = &m->frames->v[group->self];
	size_t len = frames_walk(m->table, group->stack, m->chain);

	m->run++;
	for (size_t i = 0; i < n; i++)
		m->of_values[m->found[found[i]].entry->codes] = (struct found_slot){ m->run, found[i] };
	for (size_t i = 0; i <= len && n; i++) {
		const bool own = !i;
		struct found_slot *slot;

		frame = own ? frame : &m->frames->v[m->chain[i - 1]];
		slot = &m->of_values[frame->values];
		if (!frame->named || slot->run != m->run)
			continue;
		set_number(m->entries, m->found[slot->at].entry, group, own ? group->location : frame->view.location);
		slot->run = 0;
		n--;
	}
}

static void number_entries(struct making *m)
{
	uint32_t *keys = xcalloc(m->n_found + 1, sizeof(*keys)), *order;

	for (size_t i = 0; i < m->n_found; i++)
		keys[i] = m->found[i].first;
	order = numbers_sorted(keys, m->n_found, m->groups->n, NULL);
	m->entries->v = xcalloc(m->n_found + 1, sizeof(*m->entries->v));
	for (size_t i = 0, end; i < m->n_found; i = end) {
		const uint32_t first = keys[order[i]];

		for (end = i; end < m->n_found && keys[order[end]] == first;)
			end++;
		number_some(m, &m->groups->v[first], order + i, end - i);
	}
	free(keys);
	free(order);
}

/* ---- contract ---- */

void entries_make(struct entries *entries, struct table *table, const struct hist *hist, const struct groups *groups)
{
	const struct frames *frames = &table->private->folding->frames;
	struct making m = { .entries = entries, .table = table, .hist = hist, .groups = groups, .frames = frames };

	*entries = (struct entries){ .table = table, .hist = hist };
	if (groups->of_cell)
		entries->own = xcalloc(groups->n + 1, sizeof(*entries->own));
	m.of_values = xcalloc(frames->values.n + 1, sizeof(*m.of_values));
	m.chain = xcalloc(frames->max_depth + 1, sizeof(*m.chain));
	if (table->children) {
		m.slot_of = xcalloc(frames->stacks.n + 1, sizeof(*m.slot_of));
		m.reached = xcalloc(frames->stacks.n + 1, sizeof(*m.reached));
		find_repeated(&m);
	}
	add_runs(&m);
	number_entries(&m);
	free(m.found);
	free(m.of_values);
	free(m.reached);
	free(m.slot_of);
	free(m.repeated);
	free(m.chain);
}

void entries_release(struct entries *entries)
{
	free(entries->v);
	free(entries->own);
}
