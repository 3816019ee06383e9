/*
 * Groups into entries. A group counts for the entry of its own frame and, with --children, once for each
 * other entry of its chain, however often that comes up there. An entry's part of the chain begins at its
 * first frame in the order that is shown: a caller's goes on with what it called, a callee's with its
 * callers; the sampled function's own part is the whole chain.
 *
 * Chains are not walked one by one: the nodes of their stacks have the sums of all that come by them (runs.c), and give
 * these to the entries of their frames. Each node knows the first group that comes by it, and so does each entry:
 * entries are numbered in the order in which the chains, walked one after the other, come by them, and only chains that
 * an entry begins with are walked for that.
 */
#include "hist/fold_internal.h"

#include <stdlib.h>

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
	if (!m->table->children)
		return;
	lengthen(entry, group->member, chain_len(m->frames, group->stack));
	/* Else it comes with its node. */
	if (!is_on_stack(m->frames, group->stack, frame->values))
		add_total(entry, group->member, &own);
}

/* ---- nodes ---- */

static void add_nodes(struct making *m, const struct group_run *run)
{
	const uint32_t *numbers = m->frames->forest.number;

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
		lengthen(entry, run->member, m->table->order == CHAIN_CALLER ? sums->deepest - depth + 1 : depth);
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

static void add_runs(struct making *m)
{
	const struct runs *runs = &m->groups->runs;

	for (size_t i = 0; i < runs->n; i++) {
		const struct group_run *run = &runs->v[i];

		/* Members share the entries of the same other keys. */
		m->run += !i || runs->v[i - 1].others != run->others;
		for (size_t k = 0; k < run->n; k++)
			add_own(m, run->groups[k]);
		if (m->table->children)
			add_nodes(m, run);
	}
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

void entries_make(struct entries *entries, struct table *table, const struct hist *hist, struct groups *groups)
{
	const struct frames *frames = &table->private->folding->frames;
	struct making m = { .entries = entries, .table = table, .hist = hist, .groups = groups, .frames = frames };

	*entries = (struct entries){ .table = table, .hist = hist };
	if (table->options.needs & NEED_BLOCKS)
		entries->own = xcalloc(groups->n + 1, sizeof(*entries->own));
	m.of_values = xcalloc(frames->values.n + 1, sizeof(*m.of_values));
	m.chain = xcalloc(frames->max_depth + 1, sizeof(*m.chain));
	runs_make(&groups->runs, groups);
	if (table->children) {
		runs_sum(&groups->runs, frames, groups);
		find_repeated(&m);
	}
	add_runs(&m);
	number_entries(&m);
	if (!folding_is_for_others(table))
		runs_release(&groups->runs);
	free(m.found);
	free(m.of_values);
	free(m.repeated);
	free(m.chain);
}

void entries_release(struct entries *entries)
{
	free(entries->v);
	free(entries->own);
}
