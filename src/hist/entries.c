/* SPDX-License-Identifier: MIT */
/*
 * Groups into entries, and an entry as a thing of its own: its numbers, and whether it is shown.
 *
 * A group counts for the entry of its own frame and, with --children, once for each other entry of its chain, however
 * often that comes up there. An entry's part of the chain begins at its first frame in the order that is shown: a
 * caller's goes on with what it called, a callee's with its callers; the sampled function's own part is the whole
 * chain.
 *
 * Chains are not walked one by one. Groups whose other keys are the same and whose samples are of one member are a
 * run: it is put on the nodes of its stacks, and sums then go from each node to its caller, once per node
 * (stack_totals; they depend on the groups alone, and are kept with these). Nodes give their sums to the entries of
 * their frames. Each node knows the first group that comes by it, and so does each entry: entries are numbered in the
 * order in which the chains, walked one after the other, come by them, and only chains that an entry begins with are
 * walked for that.
 */
#include "hist/fold_internal.h"

#include <stdlib.h>

static void *empty(const struct hist *hist, size_t bytes)
{
	return memset(arena_alloc(hist->memory, bytes), 0, bytes);
}

struct entry *entry_new(struct table *table, const struct hist *hist)
{
	/* In one piece with its values. */
	struct entry *entry = empty(hist, sizeof(*entry) + table->question->n_keys * sizeof(*entry->values));

	entry->values = (uint64_t *)(entry + 1);
	entry->location = LOCATION_NONE;
	entry->group_key = entry->frame_key = NO_ROW;
	if (table->question->private->sum_facts)
		entry->sums = empty(hist, hist->n_members * sizeof(*entry->sums));
	if (hist->n_members > 1) {
		entry->members = empty(hist, hist->n_members * sizeof(*entry->members));
		entry->members_total = empty(hist, hist->n_members * sizeof(*entry->members_total));
	}
	return entry;
}

void entry_stats_add(struct entry_stats *to, const struct entry_stats *from)
{
	to->n_samples += from->n_samples;
	to->period += from->period;
	to->period_sys += from->period_sys;
	to->period_us += from->period_us;
	to->period_guest_sys += from->period_guest_sys;
	to->period_guest_us += from->period_guest_us;
	to->weight += from->weight;
	to->latency += from->latency;
}

static struct entry_total entry_own_total(const struct entry_stats *self)
{
	return (struct entry_total){ .n_samples = self->n_samples,
				      .period = self->period,
				      .latency = self->latency };
}

static void entry_total_add(struct entry_total *to, const struct entry_total *from)
{
	to->n_samples += from->n_samples;
	to->period += from->period;
	to->latency += from->latency;
}

uint64_t entry_number(const struct entry *entry, const struct field_row *field, size_t member)
{
	const struct entry_stats *self = entry->members ? &entry->members[member] : &entry->self;
	const struct entry_total *total = entry->members ? &entry->members_total[member] : &entry->total;
	const char *from = field->total ? (const char *)total : (const char *)self;
	uint64_t number;

	if (field->facts)
		from = (const char *)&entry->sums[member];
	memcpy(&number, from + field->stat, sizeof(number));
	return number;
}

double entry_mean(const struct entry *entry, const struct field_row *field, size_t member)
{
	const struct entry_stats *self = entry->members ? &entry->members[member] : &entry->self;

	return self->n_samples ? (double)entry_number(entry, field, member) / (double)self->n_samples : 0;
}

uint64_t entry_limit_period(const struct table *table, const struct entry *entry)
{
	return table->question->children ? entry->total.period : entry->self.period;
}

/* All that percentages are of. */
static const struct entry_stats *hist_whole(const struct table *table, const struct hist *hist, size_t member)
{
	bool relative = table->question->query.percentage_relative;

	if (member)
		return relative ? &hist->member_shown[member] : &hist->member_totals[member];
	return relative ? &hist->shown : &hist->totals;
}

uint64_t hist_period(const struct table *table, const struct hist *hist, size_t member)
{
	return hist_whole(table, hist, member)->period;
}

double entry_percent(const struct table *table, const struct hist *hist,
		     const struct entry *entry, const struct field_row *field, size_t member)
{
	const struct entry_stats *whole = hist_whole(table, hist, member);
	uint64_t all = field->of_latency ? whole->latency : whole->period;

	return all ? 100.0 * (double)entry_number(entry, field, member) / (double)all : 0.0;
}

bool entry_is_shown(const struct table *table, const struct hist *hist, const struct entry *entry)
{
	uint64_t all = hist_period(table, hist, 0);
	double percent =
		all ? 100.0 * (double)entry_limit_period(table, entry) / (double)all : 0.0;
	uint64_t n_samples = table->question->children ? entry->total.n_samples : entry->self.n_samples;

	if (table->question->query.samples_over && n_samples <= table->question->query.samples_over)
		return false;
	return percent >= table->question->query.percent_limit;
}

struct node_sums { /* of a node that chains of the run come by; callers stand before what they called */
	uint32_t node; /* of frames.stacks */
	uint32_t first; /* group of the run that comes by it */
	uint32_t deepest; /* frames of the longest chain that does */
	struct entry_total total; /* of all of them */
};
struct group_run {
	uint32_t group_key; /* row of groups.values */
	size_t member;
	const uint32_t *groups; /* n of their numbers, ascending */
	size_t n;
	struct node_sums *nodes;
	size_t n_nodes;
};
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

/* Sums the nodes of each run, unless that was done before. */
static void sum_runs(struct stack_totals *totals, const struct frames *frames, const struct groups *groups)
{
	struct summing s = { .frames = frames, .groups = groups };

	if (totals->summed)
		return;
	s.slot_of = xcalloc(frames->stacks.n + 1, sizeof(*s.slot_of));
	s.path = xcalloc(frames->max_depth + 1, sizeof(*s.path));
	for (size_t i = 0; i < totals->n; i++)
		sum_run(&s, &totals->v[i]);
	totals->summed = true;
	free(s.slot_of);
	free(s.path);
}

/* Sorts groups by their other keys, and leaves those with the same keys in order: member after member. */
static uint32_t *order_groups(const struct groups *groups)
{
	uint32_t *keys = xcalloc(groups->n + 1, sizeof(*keys)), *order;

	for (size_t i = 0; i < groups->n; i++)
		keys[i] = groups->v[i].values;
	order = numbers_sorted(keys, groups->n, groups->values.n, NULL);
	free(keys);
	return order;
}

/* Parts the groups into runs, unless that was done before. */
static void make_runs(struct stack_totals *totals, const struct groups *groups)
{
	const struct group *v = groups->v;

	if (totals->order)
		return;
	totals->order = order_groups(groups);
	for (size_t i = 0, end; i < groups->n; i = end) {
		const struct group *first = &v[totals->order[i]];

		for (end = i; end < groups->n && v[totals->order[end]].values == first->values &&
			      v[totals->order[end]].member == first->member;)
			end++;
		VEC_GROW(totals->v, totals->n, totals->cap);
		totals->v[totals->n++] = (struct group_run){ .group_key = first->values,
							 .member = first->member,
							 .groups = totals->order + i,
							 .n = end - i };
	}
}

void stack_totals_release(struct stack_totals *totals)
{
	for (size_t i = 0; i < totals->n; i++)
		free(totals->v[i].nodes);
	free(totals->v);
	free(totals->order);
	*totals = (struct stack_totals){ .n = 0 };
}

struct built_entry { /* an entry, in the order of runs */
	struct entry *entry;
	uint32_t first; /* group that counts for it */
};
struct built_slot { /* valid where the run is the present one */
	uint32_t run, at;
};
struct entry_builder {
	struct entries *entries;
	struct table *table;
	const struct hist *hist;
	const struct groups *groups;
	const struct frames *frames;
	struct built_entry *built;
	size_t n_built, cap_built;
	struct built_slot *of_values; /* `built`, per row of frames.values */
	uint32_t run;
	bool *repeated; /* per number of the preorder: a caller of this node is of the same entry */
	uint32_t *chain;
};

/* ---- entries of a run ---- */

/* group_key, frame_key: rows of groups.values and frames.values. */
static struct entry *new_entry(const struct entry_builder *m, uint32_t group_key, uint32_t frame_key)
{
	struct table *table = m->table;
	struct entry *entry = entry_new(table, m->hist);
	const uint64_t *other_row = row_set_at(&m->groups->values, group_key);
	const uint64_t *code_row = row_set_at(&m->frames->values, frame_key);

	for (size_t i = 0; i < table->question->n_keys; i++) {
		const struct key_slot *slot = &table->question->private->slots[i];

		entry->values[i] = slot->frame ? code_row[slot->at] : other_row[slot->at];
	}
	entry->group_key = group_key;
	entry->frame_key = frame_key;
	return entry;
}

/* The entry that the group counts for; made when it is not there. */
static struct entry *find_entry(struct entry_builder *m, uint32_t group, uint32_t frame_key)
{
	struct built_slot *slot = &m->of_values[frame_key];
	struct built_entry *found;

	if (slot->run != m->run) {
		*slot = (struct built_slot){ m->run, (uint32_t)m->n_built };
		VEC_GROW(m->built, m->n_built, m->cap_built);
		m->built[m->n_built++] =
			(struct built_entry){ new_entry(m, m->groups->v[group].values, frame_key), group };
	}
	found = &m->built[slot->at];
	if (group < found->first)
		found->first = group;
	return found->entry;
}

/* Only the first member of a group of events has totals of its own. */
static void add_total(struct entry *entry, size_t member, const struct entry_total *total)
{
	if (entry->members)
		entry_total_add(&entry->members_total[member], total);
	if (!member)
		entry_total_add(&entry->total, total);
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

/* Mostly the innermost frame is the one. */
static bool is_on_stack(const struct frames *frames, uint32_t stack, uint32_t frame_key)
{
	for (; stack; stack = frames->stacks.v[stack].parent) {
		const struct fold_frame *frame = &frames->v[frames->stacks.v[stack].location];

		if (frame->named && frame->values == frame_key)
			return true;
	}
	return false;
}

static void add_own(struct entry_builder *m, uint32_t number)
{
	const struct group *group = &m->groups->v[number];
	const struct fold_frame *frame = &m->frames->v[group->self];
	const struct entry_total own = entry_own_total(&group->stats);
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
	if (!m->table->question->children)
		return;
	lengthen(entry, group->member, chain_len(m->frames, group->stack));
	/* Else it comes with its node. */
	if (!is_on_stack(m->frames, group->stack, frame->values))
		add_total(entry, group->member, &own);
}

/* ---- nodes ---- */

static void add_nodes(struct entry_builder *m, const struct group_run *run)
{
	const uint32_t *numbers = m->frames->preorder.number;

	for (size_t i = 0; i < run->n_nodes; i++) {
		const struct node_sums *sums = &run->nodes[i];
		const struct fold_frame *frame = &m->frames->v[m->frames->stacks.v[sums->node].location];
		const uint32_t depth = m->frames->depths[sums->node];
		struct entry *entry;

		if (!frame->named)
			continue;
		entry = find_entry(m, sums->first, frame->values);
		if (!m->repeated[numbers[sums->node]])
			add_total(entry, run->member, &sums->total);
		lengthen(entry, run->member,
			 m->table->question->order == CHAIN_CALLER ? sums->deepest - depth + 1 : depth);
	}
}

/* In the order of a walk nodes are below the last one of the same entry until that ends. */
static void find_repeated(struct entry_builder *m)
{
	const struct stack_preorder *preorder = stack_preorder_update(m->table);
	uint32_t *end_of = xcalloc(m->frames->values.n + 1, sizeof(*end_of));

	m->repeated = xcalloc(preorder->n, sizeof(*m->repeated));
	for (uint32_t i = 1; i < preorder->n; i++) {
		const struct fold_frame *frame = &m->frames->v[preorder->frame[i]];

		if (!frame->named)
			continue;
		m->repeated[i] = end_of[frame->values] > i;
		if (!m->repeated[i])
			end_of[frame->values] = preorder->end[i];
	}
	free(end_of);
}

static void add_runs(struct entry_builder *m)
{
	const struct stack_totals *totals = &m->groups->totals;

	for (size_t i = 0; i < totals->n; i++) {
		const struct group_run *run = &totals->v[i];

		/* Members share the entries of the same other keys. */
		m->run += !i || totals->v[i - 1].group_key != run->group_key;
		for (size_t k = 0; k < run->n; k++)
			add_own(m, run->groups[k]);
		if (m->table->question->children)
			add_nodes(m, run);
	}
}

/* ---- numbers ---- */

static void set_number(struct entries *entries, struct entry *entry, uint32_t location)
{
	const struct locations *locations = entries->table->session->locations;

	entry->location = location;
	entry->level = location == LOCATION_NONE ? '.' : location_level(&locations->v[location]);
	entry->number = (uint32_t)entries->n;
	entries->v[entries->n++] = entry;
}

/* found: n entries that this group is the first to count for. */
static void number_some(struct entry_builder *m, const struct group *group, const uint32_t *found, size_t n)
{
	const struct fold_frame *frame = &m->frames->v[group->self];
	size_t len = frames_walk(m->table, group->stack, m->chain);

	m->run++;
	for (size_t i = 0; i < n; i++)
		m->of_values[m->built[found[i]].entry->frame_key] = (struct built_slot){ m->run, found[i] };
	for (size_t i = 0; i <= len && n; i++) {
		const bool own = !i;
		struct built_slot *slot;

		frame = own ? frame : &m->frames->v[m->chain[i - 1]];
		slot = &m->of_values[frame->values];
		if (!frame->named || slot->run != m->run)
			continue;
		set_number(m->entries, m->built[slot->at].entry, own ? group->location : frame->view.location);
		slot->run = 0;
		n--;
	}
}

static void number_entries(struct entry_builder *m)
{
	uint32_t *keys = xcalloc(m->n_built + 1, sizeof(*keys)), *order;

	for (size_t i = 0; i < m->n_built; i++)
		keys[i] = m->built[i].first;
	order = numbers_sorted(keys, m->n_built, m->groups->n, NULL);
	m->entries->v = xcalloc(m->n_built + 1, sizeof(*m->entries->v));
	for (size_t i = 0, end; i < m->n_built; i = end) {
		const uint32_t first = keys[order[i]];

		for (end = i; end < m->n_built && keys[order[end]] == first;)
			end++;
		number_some(m, &m->groups->v[first], order + i, end - i);
	}
	free(keys);
	free(order);
}

/* ---- contract ---- */

void entries_make(struct entries *entries, struct table *table, const struct hist *hist, struct groups *groups)
{
	const struct frames *frames = &table->private->cache->frames;
	struct entry_builder m = {
		.entries = entries, .table = table, .hist = hist, .groups = groups, .frames = frames,
	};

	*entries = (struct entries){ .table = table, .hist = hist };
	if (table_traces_cells(table))
		entries->own = xcalloc(groups->n + 1, sizeof(*entries->own));
	m.of_values = xcalloc(frames->values.n + 1, sizeof(*m.of_values));
	m.chain = xcalloc(frames->max_depth + 1, sizeof(*m.chain));
	make_runs(&groups->totals, groups);
	if (table->question->children) {
		sum_runs(&groups->totals, frames, groups);
		find_repeated(&m);
	}
	add_runs(&m);
	number_entries(&m);
	if (!table->private->is_cached)
		stack_totals_release(&groups->totals);
	free(m.built);
	free(m.of_values);
	free(m.repeated);
	free(m.chain);
}

void entries_release(struct entries *entries)
{
	free(entries->v);
	free(entries->own);
}
