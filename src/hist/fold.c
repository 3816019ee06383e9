/* SPDX-License-Identifier: MIT */
/*
 * Cells into entries, sorted. First cells become groups: a cell's location becomes a frame, its stack a stack of
 * frames, and cells that then agree are one group. There are far fewer groups than cells, because cells tell addresses
 * apart and groups functions; all that follows is done per group.
 *
 * --ignore-callees moves cells before that: samples in what a matching function called count as if they had been taken
 * in the function itself, so that all ways to it come together. Of several in one chain the outermost stands. A stack
 * is a node of a tree whose root is the outermost caller, and everything below a matching node is that node: one pass
 * over the nodes, callers first, finds it for all.
 */
#include "hist/fold_internal.h"

#include <stdlib.h>

static bool ends_here(struct table *table, uint32_t location)
{
	const struct symbol *symbol = location_symbol(table->session, location);

	return symbol && name_pattern_match(table->question->private->ignored, symbol->name);
}

/* The stack that each stack counts for: itself, or that of the function whose callees are ignored. */
static uint32_t *stacks_kept(struct table *table)
{
	const struct stacks *stacks = table->session->stacks;
	uint32_t *kept = xcalloc(stacks->n + 1, sizeof(*kept));
	bool *ended = xcalloc(stacks->n + 1, sizeof(*ended));

	for (size_t i = 1; i < stacks->n; i++) {
		uint32_t parent = stacks->v[i].parent;

		ended[i] = ended[parent] || ends_here(table, stacks->v[i].location);
		kept[i] = ended[parent] ? kept[parent] : (uint32_t)i;
	}
	free(ended);
	return kept;
}

/* The cells with their stacks moved; the profile's stay as they are. */
static void move_cells(struct hist *hist, size_t member, const struct stacks *stacks, const uint32_t *kept)
{
	const struct cells *from = hist->cells[member];
	struct cells *to = hist_own_cells(hist, member);

	for (size_t i = 0; i < from->n; i++) {
		uint32_t stack = (uint32_t)cell_fact(from, i, FACT_STACK);
		uint64_t facts[FACTS];

		for (unsigned f = 0; f < FACTS; f++)
			facts[f] = cell_fact(from, i, f);
		if (kept[stack] != stack) {
			facts[FACT_STACK] = kept[stack];
			facts[FACT_LOCATION] = stacks->v[kept[stack]].location;
		}
		cells_add(to, facts, &from->values[i]);
	}
	hist->cells[member] = to;
}

void hists_ignore_callees(struct table *table)
{
	uint32_t *kept;

	if (!table->question->private->ignored)
		return;
	kept = stacks_kept(table);
	for (size_t i = 0; i < table->n_hists; i++) {
		struct hist *hist = &table->hists[i];

		for (size_t m = 0; m < hist->n_members; m++)
			move_cells(hist, m, table->session->stacks, kept);
	}
	free(kept);
}

static uint32_t fact_location(const struct cells *cells, size_t cell, enum sample_fact fact)
{
	return cells_have(cells, fact) ? (uint32_t)cell_fact(cells, cell, fact) : (uint32_t)LOCATION_NONE;
}

struct entry_stats cell_stats(const struct cells *cells, size_t cell)
{
	const struct cell_values *values = &cells->values[cell];
	struct entry_stats stats = { .n_samples = values->n_samples,
				     .period = values->period,
				     .weight = values->weight };
	const uint64_t parallelism = cell_fact(cells, cell, FACT_PARALLELISM);

	if (parallelism)
		stats.latency = sample_latency(stats.period, parallelism);

	switch (cell_fact(cells, cell, FACT_MISC) & MISC_CPUMODE_MASK) {
	case MISC_KERNEL:
		stats.period_sys = stats.period;
		break;
	case MISC_USER:
		stats.period_us = stats.period;
		break;
	case MISC_GUEST_KERNEL:
		stats.period_guest_sys = stats.period;
		break;
	case MISC_GUEST_USER:
		stats.period_guest_us = stats.period;
		break;
	}
	return stats;
}

/* --hide-unresolved: as if it were not in the recording. */
static bool is_hidden(struct table *table, const struct cells *cells, size_t cell)
{
	struct session *session = table->session;

	if (!table->question->query.hide_unresolved)
		return false;
	if (table->question->branch_view)
		return !symbol_has_name(location_symbol(session, fact_location(cells, cell, FACT_FROM))) ||
		       !symbol_has_name(location_symbol(session, fact_location(cells, cell, FACT_TO)));
	return !symbol_has_name(location_symbol(session, fact_location(cells, cell, FACT_LOCATION)));
}

static bool takes_task(const struct table *table, const struct cells *cells, size_t cell)
{
	return table_is_read_filtered(table) || filters_take_cell(table->filters, cells, cell);
}

static bool takes_location(struct table *table, uint32_t location)
{
	struct session *session = table->session;

	if (!table->filters || location == LOCATION_NONE || !filters_any(table->filters))
		return true;
	return filters_take_location(table->filters, &session->locations->v[location],
				     filters_ask_symbols(table->filters) ? location_symbol(session, location) : NULL);
}

bool table_takes_cell_at(struct table *table, const struct cells *cells, size_t cell, uint32_t location)
{
	return takes_task(table, cells, cell) && takes_location(table, location);
}

bool table_takes_cell(struct table *table, const struct cells *cells, size_t cell)
{
	return table_takes_cell_at(table, cells, cell, fact_location(cells, cell, FACT_LOCATION));
}

static uint32_t other_values(struct table *table, struct groups *groups,
			     const struct cells *cells, size_t cell)
{
	struct key_source source = { .table = table, .cells = cells, .cell = cell };
	uint64_t row[KEYS_MAX];
	unsigned n = 0;

	for (size_t i = 0; i < table->question->n_keys; i++) {
		source.key = table->question->keys[i];
		if (!(source.key->flags & KEY_FRAME))
			row[n++] = source.key->value(&source);
	}
	/* Cells come in the order of time: mostly it is the last one again. */
	if (!groups->values.n || memcmp(row_set_at(&groups->values, groups->last_values), row, n * sizeof(*row)) != 0)
		groups->last_values = row_set_intern(&groups->values, row);
	return groups->last_values;
}

static uint32_t intern_group(struct groups *groups, const struct group *group)
{
	const uint64_t id[] = { (uint64_t)group->self << 32 | group->values,
				(uint64_t)group->stack << 32 | group->member };

	return row_set_intern(&groups->ids, id);
}

static uint32_t add_group(struct groups *groups, const struct group *group)
{
	VEC_GROW(groups->v, groups->n, groups->cap);
	groups->v[groups->n] = *group;
	return (uint32_t)groups->n++;
}

/* The number of its group; a new one is empty. */
static uint32_t find_group(struct table *table, struct groups *groups, size_t member, const struct cells *cells,
			   size_t cell)
{
	const struct frames *frames = &table->private->cache->frames;
	uint32_t location = fact_location(cells, cell, FACT_LOCATION), i;
	const struct group group = { .self = frames_self(table, location),
				     .values = other_values(table, groups, cells, cell),
				     .stack = frames->stack_of[cell_fact(cells, cell, FACT_STACK)],
				     .location = location,
				     .member = member };

	/* Groups appended by carry_group() have no id yet; give them one, so that this cell can find them. */
	for (size_t at = groups->ids.n; at < groups->n; at++)
		intern_group(groups, &groups->v[at]);
	i = intern_group(groups, &group);
	return i == groups->n ? add_group(groups, &group) : i;
}

static void subtract(struct entry_stats *from, const struct entry_stats *stats)
{
	from->n_samples -= stats->n_samples;
	from->period -= stats->period;
	from->weight -= stats->weight;
	from->latency -= stats->latency;
}

enum verdict { NOT_ASKED, TAKEN, LEFT_OUT };
struct grouping {
	struct table *table;
	struct groups *groups;
	/* Groups of the same cells, by other filters: cells of one group there are of one here. NULL: none. */
	const struct groups *before;
	uint32_t *now; /* by group of `before` + 1: its group here + 1; 0: not yet met */
	uint32_t *values_now; /* the same of rows of before->values */
	bool mixed; /* a cell was met that `before` has not: its group may be that of others */
	uint8_t *verdicts; /* enum verdict, per location; NULL: filters ask for none */
};

/* Filters ask a location for its names: once. */
static bool is_location_taken(struct grouping *g, uint32_t location)
{
	uint8_t *verdict;

	if (!g->verdicts || location == LOCATION_NONE)
		return takes_location(g->table, location);
	verdict = &g->verdicts[location];
	if (*verdict == NOT_ASKED)
		*verdict = takes_location(g->table, location) ? TAKEN : LEFT_OUT;
	return *verdict == TAKEN;
}

static bool is_taken(struct grouping *g, const struct cells *cells, size_t cell)
{
	const struct frames *frames = &g->table->private->cache->frames;

	return (!g->table->question->query.exclude_other || frames->parent_of[cell_fact(cells, cell, FACT_STACK)]) &&
	       takes_task(g->table, cells, cell) &&
	       is_location_taken(g, fact_location(cells, cell, FACT_LOCATION));
}

/* A new group that is what one of `before` is; empty. */
static uint32_t carry_group(struct grouping *g, const struct group *before, const struct cells *cells, size_t cell)
{
	uint32_t *values = &g->values_now[before->values];
	struct group group = { .self = before->self,
			       .stack = before->stack,
			       .location = fact_location(cells, cell, FACT_LOCATION),
			       .member = before->member };

	if (!*values)
		*values = row_set_intern(&g->groups->values, row_set_at(&g->before->values, before->values)) + 1;
	group.values = *values - 1;
	return add_group(g->groups, &group);
}

static uint32_t group_of_cell(struct grouping *g, size_t member, const struct cells *cells, size_t cell)
{
	const uint32_t before = g->before ? g->before->of_cell[member][cell] : 0;
	uint32_t *now = before ? &g->now[before] : NULL, group;

	if (now && *now)
		return *now - 1;
	g->mixed |= !before;
	group = g->mixed ? find_group(g->table, g->groups, member, cells, cell)
			 : carry_group(g, &g->before->v[before - 1], cells, cell);
	if (now)
		*now = group + 1;
	return group;
}

static void group_cells(struct grouping *g, size_t member, const struct cells *cells)
{
	struct groups *groups = g->groups;
	uint32_t *of_cell = groups->of_cell ? xcalloc(cells->n + 1, sizeof(*of_cell)) : NULL;

	for (size_t i = 0; i < cells->n; i++) {
		const struct entry_stats stats = cell_stats(cells, i);
		uint32_t group;

		if (is_hidden(g->table, cells, i)) {
			entry_stats_add(&groups->hidden[member], &stats);
			continue;
		}
		if (!is_taken(g, cells, i))
			continue;
		group = group_of_cell(g, member, cells, i);
		entry_stats_add(&groups->v[group].stats, &stats);
		if (of_cell)
			of_cell[i] = group + 1;
	}
	if (of_cell)
		groups->of_cell[member] = of_cell;
}

bool table_traces_cells(const struct table *table)
{
	return table->question->query.needs & NEED_BLOCKS || table->question->private->sum_facts;
}

static void make_groups(struct table *table, const struct hist *hist, struct groups *groups,
			const struct groups *before)
{
	struct grouping g = { .table = table, .groups = groups, .before = before };

	row_set_init(&groups->ids, 2);
	row_set_init(&groups->values, table->question->private->n_other_keys);
	groups->n_members = hist->n_members;
	groups->hidden = xcalloc(hist->n_members, sizeof(*groups->hidden));
	if (table_traces_cells(table) || table->private->is_cached)
		groups->of_cell = xcalloc(hist->n_members, sizeof(*groups->of_cell));
	if (before) {
		g.now = xcalloc(before->n + 1, sizeof(*g.now));
		g.values_now = xcalloc(before->values.n + 1, sizeof(*g.values_now));
	}
	if (table->filters && filters_any(table->filters))
		g.verdicts = xcalloc(table->session->locations->n + 1, sizeof(*g.verdicts));
	for (size_t i = 0; i < hist->n_members; i++)
		group_cells(&g, i, hist->cells[i]);
	free(g.now);
	free(g.values_now);
	free(g.verdicts);
	row_set_release(&groups->ids);
}

static void grow_set(struct group_set *set, size_t n)
{
	set->v = xreallocarray(set->v, n, sizeof(*set->v));
	memset(set->v + set->n, 0, (n - set->n) * sizeof(*set->v));
	set->n = n;
}

/* Makes the groups of this hist, unless an earlier table has left them. */
static struct groups *groups_of(struct table *table, const struct hist *hist)
{
	struct group_set *set = &table->private->cache->sets[0];
	const size_t at = hist->event->index;

	frames_update(table);
	if (at >= set->n)
		grow_set(set, at + 1);
	if (!set->v[at].hidden)
		make_groups(table, hist, &set->v[at], fold_cache_groups_before(table->private->cache, at));
	return &set->v[at];
}

/* Counts what is in the groups, and how much of it --symbol-filter leaves. */
static void count_groups(const struct table *table, struct hist *hist, const struct groups *groups)
{
	const struct fold_frame *frames = table->private->cache->frames.v;

	for (size_t i = 0; i < hist->n_members; i++)
		subtract(i ? &hist->member_totals[i] : &hist->totals, &groups->hidden[i]);
	for (size_t i = 0; i < groups->n; i++) {
		const struct group *group = &groups->v[i];

		if (frames[group->self].named)
			entry_stats_add(group->member ? &hist->member_shown[group->member] : &hist->shown,
					&group->stats);
	}
	if (hist->n_members > 1) {
		hist->member_totals[0] = hist->totals;
		hist->member_shown[0] = hist->shown;
	}
}

/* For formats without entries: what there is and what the filters let through. */
static void count_cells(struct table *table, const struct cells *cells, struct entry_stats *totals,
			struct entry_stats *shown)
{
	for (size_t i = 0; i < cells->n; i++) {
		const struct entry_stats stats = cell_stats(cells, i);

		if (is_hidden(table, cells, i))
			subtract(totals, &stats);
		else if (table_takes_cell(table, cells, i))
			entry_stats_add(shown, &stats);
	}
}

static void count_members(struct table *table, struct hist *hist)
{
	count_cells(table, hist->cells[0], &hist->totals, &hist->shown);
	for (size_t i = 1; i < hist->n_members; i++)
		count_cells(table, hist->cells[i], &hist->member_totals[i],
			    &hist->member_shown[i]);
}

static int greatest_first(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return (a < b) - (a > b);
}

/* Only those that can be among the first rows_max are worth the sorting: by the number that orders them. */
static void drop_small(const struct table *table, struct hist *hist)
{
	const struct order_item *first = &table->question->private->order[0];
	size_t n = 0, n_shown = 0, max = table->question->query.rows_max;
	uint64_t *numbers, least;

	if (!table->question->private->n_order || !first->field || hist->n_members > 1 || hist->n <= max)
		return;
	numbers = xcalloc(hist->n, sizeof(*numbers));
	for (size_t i = 0; i < hist->n; i++)
		if (entry_is_shown(table, hist, hist->entries[i]))
			numbers[n_shown++] = entry_number(hist->entries[i], first->field, 0);
	qsort(numbers, n_shown, sizeof(*numbers), greatest_first);
	least = n_shown > max ? numbers[max - 1] : 0;
	free(numbers);
	for (size_t i = 0; i < hist->n; i++) {
		if (entry_number(hist->entries[i], first->field, 0) >= least)
			hist->entries[n++] = hist->entries[i];
	}
	hist->n = n;
}

/* Drops entries that are not shown, so that columns are no wider than needed. */
static void drop_rest(const struct table *table, struct hist *hist)
{
	size_t n = 0, n_shown = 0;

	while (n < hist->n && n_shown < table->question->query.rows_max)
		n_shown += entry_is_shown(table, hist, hist->entries[n++]);
	hist->n = n;
}

static void sort_rows(struct table *table, struct hist *hist)
{
	bool some = table->question->query.rows_max;

	if (table->question->query.view == VIEW_HIERARCHY) {
		hist_make_hierarchy(table, hist);
	} else {
		if (some)
			drop_small(table, hist);
		entries_sort(table, hist, hist->entries, hist->n);
	}
	if (some)
		drop_rest(table, hist);
}

void hist_fold(struct table *table, struct hist *hist)
{
	struct known_widths *known;
	struct groups *groups;
	struct entries entries;

	if (!(table->question->query.needs & NEED_ENTRIES)) {
		count_members(table, hist);
		return;
	}
	hist->memory = xcalloc(1, sizeof(*hist->memory));
	groups = groups_of(table, hist);
	count_groups(table, hist, groups);
	entries_make(&entries, table, hist, groups);
	hist->trees = trees_of(table, groups);
	hist->blocks = hist_blocks_new(&entries, groups);
	hist_add_sums(&entries, hist, groups);
	hist->entries = entries.v;
	hist->n = entries.n;
	entries.v = NULL;
	entries_release(&entries);
	sort_rows(table, hist);
	/* Rows that are left out count for none. */
	known = table->private->is_cached && !table->question->query.rows_max ? &groups->widths : NULL;
	hist_measure(table, hist, known);
}
