/* SPDX-License-Identifier: MIT */
/*
 * From locations to frames, once per distinct location, and from stacks of locations to stacks of frames, once per
 * node of the session's prefix tree. A parent is always an older node than its children, so one pass in
 * order of age turns the whole tree; what is left has a node per distinct function in context, however
 * many addresses in these functions were sampled.
 *
 * A return address stands for several frames where functions were inlined at the call; a sample's own
 * frame is the function of the symbol table.
 */
#include "hist/fold_internal.h"

#include <stdlib.h>

struct location_view { /* the frames of a location, in frames.lists */
	uint32_t first, n; /* innermost first; n 0: not yet worked out */
	uint32_t self; /* frame of a sample taken there: the function of the symbol table */
};

void frames_release(struct frames *frames)
{
	free(frames->v);
	row_set_release(&frames->ids);
	row_set_release(&frames->values);
	free(frames->locations);
	free(frames->lists);
	free(frames->stacks.v);
	index_release(&frames->stacks.ix);
	free(frames->depths);
	free(frames->stack_of);
	free(frames->parent_of);
	stack_preorder_release(&frames->preorder);
}

static uint32_t frame_values(struct table *table, const struct view_frame *view)
{
	struct frames *frames = &table->private->cache->frames;
	struct key_source source = { .table = table, .frame = view };
	uint64_t row[KEYS_MAX];
	unsigned n = 0;

	for (size_t i = 0; i < table->question->n_keys; i++) {
		source.key = table->question->keys[i];
		if (source.key->flags & KEY_FRAME)
			row[n++] = source.key->value(&source);
	}
	return row_set_intern(&frames->values, row);
}

/* The identity of a frame in a call tree. position: among the frames of its location. */
static uint64_t chain_identity(struct table *table, const struct view_frame *view,
			       unsigned position)
{
	struct str text = STR_INIT;
	uint64_t identity;

	if (!table->question->chains)
		return 0;
	if (table->question->query.chain.key == CHAIN_BY_FUNCTION)
		return table_function_id(table, view);
	if (table->question->query.chain.key == CHAIN_BY_ADDRESS || !view->line.file)
		return (uint64_t)view->location << 32 | position;
	str_addf(&text, "%s:%u", view->line.file, view->line.line);
	identity = UINT64_MAX - table_name(table, text.s, text.len);
	str_release(&text);
	return identity;
}

static bool is_named(const struct table *table, const struct view_frame *view)
{
	const char *filter = table->question->query.filters.symbol_filter;

	return !filter || (view->symbol && strstr(view->symbol->name, filter));
}

/* Now, or of this table's frames when another one has them. */
static bool filter_may_ask(const struct table *table)
{
	return table->question->query.filters.symbol_filter || table->private->is_cached;
}

static uint32_t frame_intern(struct table *table, const struct view_frame *view,
			     unsigned position)
{
	struct frames *frames = &table->private->cache->frames;
	uint32_t values = frame_values(table, view);
	const struct locations *locations = table->session->locations;
	const uint64_t id[] = { values, chain_identity(table, view, position),
				filter_may_ask(table) ? table_function_id(table, view) : 0,
				view->location < locations->n ? locations->v[view->location].branch : 0 };
	uint32_t i = row_set_intern(&frames->ids, id);

	if (i < frames->n)
		return i;
	VEC_GROW(frames->v, frames->n, frames->cap);
	frames->v[frames->n++] = (struct fold_frame){
		.view = *view,
		.values = values,
		.named = is_named(table, view),
	};
	return i;
}

void frames_filter(struct table *table)
{
	struct frames *frames = &table->private->cache->frames;

	for (size_t i = 0; i < frames->n; i++)
		frames->v[i].named = is_named(table, &frames->v[i].view);
}

static bool asks_for_stacks(const struct table *table)
{
	return table->private->facts & 1ULL << FACT_STACK;
}

/* Functions that were inlined are frames of callers alone, as lines are of DWARF alone: else it is not read. */
static bool asks_for_frames(const struct table *table)
{
	return table->question->private->want || asks_for_stacks(table);
}

static struct frame_list frames_at(struct table *table, uint32_t location, struct frame *alone)
{
	if (asks_for_frames(table))
		return *location_frames(table->session, location, table->question->private->want);
	*alone = (struct frame){ .symbol = location_symbol(table->session, location) };
	return (struct frame_list){ alone, 1 };
}

/* LOCATION_NONE has the first view. */
static const struct location_view *location_view(struct table *table, uint32_t location)
{
	struct frames *frames = &table->private->cache->frames;
	size_t at = location == LOCATION_NONE ? 0 : (size_t)location + 1;
	struct frame_list list;
	struct frame alone;
	struct location_view made = { .first = (uint32_t)frames->n_lists };
	struct view_frame view = { .location = location };

	VEC_REACH(frames->locations, frames->n_locations, at);
	if (frames->locations[at].n)
		return &frames->locations[at];
	list = frames_at(table, location, &alone);
	for (size_t i = 0; i < list.n; i++) {
		view.symbol = list.v[i].symbol;
		view.line = list.v[i].line;
		view.inlined = i + 1 < list.n;
		VEC_GROW(frames->lists, frames->n_lists, frames->cap_lists);
		frames->lists[frames->n_lists++] = frame_intern(table, &view, (unsigned)i);
	}
	made.n = (uint32_t)list.n;
	view.line = list.v[0].line;
	/* A location's only frame is the sample's own. */
	made.self = list.n == 1 ? frames->lists[made.first] : frame_intern(table, &view, 0);
	frames->locations[at] = made;
	return &frames->locations[at];
}

uint32_t frames_self(struct table *table, uint32_t location)
{
	return location_view(table, location)->self;
}

static uint32_t push_frame(struct frames *frames, uint32_t parent, uint32_t frame)
{
	uint32_t depth = frames->n_depths ? frames->depths[parent] + 1 : 1;
	uint32_t node = stacks_child(&frames->stacks, parent, frame);

	if (node >= frames->n_depths) {
		size_t n = (size_t)node + node / 2 + 64;

		frames->depths = xreallocarray(frames->depths, n, sizeof(*frames->depths));
		memset(frames->depths + frames->n_depths, 0,
		       (n - frames->n_depths) * sizeof(*frames->depths));
		frames->n_depths = n;
	}
	frames->depths[node] = depth;
	if (depth > frames->max_depth)
		frames->max_depth = depth;
	return node;
}

static uint32_t push_location(struct table *table, uint32_t parent, uint32_t location)
{
	struct frames *frames = &table->private->cache->frames;
	const struct location_view view = *location_view(table, location);

	for (uint32_t i = view.n; i-- > 0;) {
		uint32_t frame = frames->lists[view.first + i];

		if (table->question->query.hide_unresolved && !symbol_has_name(frames->v[frame].view.symbol))
			continue;
		parent = push_frame(frames, parent, frame);
	}
	return parent;
}

/* The caller's own finding, or this frame's: the first in the order in which the chain is shown. */
static uint32_t find_parent(struct table *table, uint32_t of_caller, uint32_t location)
{
	const struct symbol *symbol;

	if (!table->question->private->parent || (table->question->order == CHAIN_CALLER && of_caller))
		return of_caller;
	symbol = location_symbol(table->session, location);
	if (!symbol || !name_pattern_match(table->question->private->parent, symbol->name))
		return of_caller;
	return table_name(table, symbol->name, strlen(symbol->name)) + 1;
}

/* Locations of the kernel are last: the list of its names may still be on its way, see symbols_expect. */
static void view_files(struct table *table)
{
	const struct locations *locations = table->session->locations;
	const struct stacks *stacks = table->session->stacks;

	if (asks_for_frames(table))
		locations_frames_ahead(table->session, table->question->private->want);
	for (size_t i = 1; i < stacks->n && asks_for_stacks(table); i++) {
		uint32_t location = stacks->v[i].location;

		if (locations->v[location].dso && locations->v[location].dso->kind == DSO_FILE)
			location_view(table, location);
	}
}

void frames_update(struct table *table)
{
	struct frames *frames = &table->private->cache->frames;
	const struct stacks *stacks = table->session->stacks;
	/* If nobody asks for stacks, all cells are of stack 0. */
	size_t n = stacks->n && asks_for_stacks(table) ? stacks->n : 1;

	if (frames->n_stacks >= n)
		return;
	view_files(table);
	frames->stack_of = xreallocarray(frames->stack_of, n, sizeof(*frames->stack_of));
	frames->parent_of = xreallocarray(frames->parent_of, n, sizeof(*frames->parent_of));
	for (size_t i = frames->n_stacks; i < n; i++) {
		const struct stack_node *node = i ? &stacks->v[i] : NULL;

		frames->stack_of[i] = i ? push_location(table, frames->stack_of[node->parent], node->location) : 0;
		frames->parent_of[i] = i ? find_parent(table, frames->parent_of[node->parent], node->location) : 0;
	}
	frames->n_stacks = n;
}

size_t frames_walk(const struct table *table, uint32_t stack, uint32_t *out)
{
	const struct frames *frames = &table->private->cache->frames;
	size_t n = stacks_walk(&frames->stacks, stack, out, frames->max_depth);

	if (table->question->order == CHAIN_CALLEE)
		return n;
	for (size_t i = 0; i < n / 2; i++) {
		uint32_t frame = out[i];

		out[i] = out[n - 1 - i];
		out[n - 1 - i] = frame;
	}
	return n;
}
