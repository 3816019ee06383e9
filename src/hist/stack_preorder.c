/* SPDX-License-Identifier: MIT */
/*
 * All stacks of frames in preorder, the order of a walk: a node's number is followed by those of all nodes that go on
 * from it, so that "below a node" is a range of numbers. Groups that have a stack are leaves; sorted by the numbers of
 * their stacks, those that come by a node lie side by side, and sums over them are differences.
 *
 *	stack   main -> a -> b      number   1 main  2 a  3 b  4 c
 *	             -> c           end      5       4    4    5
 *
 * From here comes which leaves an entry's tree is made of, and where in their stacks the entry's part begins: leaves
 * that were sampled in it have their whole stack, the others what begins at its first frame.
 *
 * Identities and names of frames are numbers that are worked out once per frame, so that telling frames apart costs no
 * hash: the symbol, without a symbol the address, or the line of source.
 */
#include "hist/fold_internal.h"

#include <stdlib.h>

/* ---- what makes frames the same ---- */

/* The source of an identity. */
enum identity_kind { BY_SYMBOL, BY_LOCATION, BY_LINE };

/*
 * An address of a file. Where locations are known one of them is not enough: an address that was sampled and
 * returned to is two locations. Functions that were inlined at one address are frames of their own, and so are an
 * address that a branch came from, and the same that one went to.
 */
static uint64_t address_identity(const struct locations *locations, const struct view_frame *frame)
{
	uint64_t words[] = { frame->location, 0, 0, 0 };

	if (frame->location < locations->n) {
		words[0] = locations->v[frame->location].addr;
		words[1] = (uintptr_t)locations->v[frame->location].dso;
		words[3] = locations->v[frame->location].branch & (BRANCH_END_FROM | BRANCH_END_TO);
	}
	if (frame->inlined)
		words[2] = (uintptr_t)frame->symbol;
	return hash_words(words, ARRAY_SIZE(words));
}

static uint64_t line_identity(const struct view_frame *frame)
{
	const uint64_t words[] = {
		hash_bytes(frame->line.file, strlen(frame->line.file)),
		frame->line.line,
		(uintptr_t)frame->symbol,
	};

	return hash_words(words, ARRAY_SIZE(words));
}

static void frame_ids_init(struct frame_ids *ids)
{
	*ids = (struct frame_ids){ .names = texts_new() };
	row_set_init(&ids->rows, 2);
}

static void frame_ids_release(struct frame_ids *ids)
{
	free(ids->v);
	row_set_release(&ids->rows);
	texts_free(ids->names);
}

static void frame_ids_add(struct frame_ids *ids, const struct locations *locations, enum chain_key key,
		   const struct view_frame *frame)
{
	uint64_t row[] = { BY_LOCATION, 0 };
	struct frame_id *id;

	if (key == CHAIN_BY_SRCLINE && frame->line.file) {
		row[0] = BY_LINE;
		row[1] = line_identity(frame);
	} else if (key != CHAIN_BY_ADDRESS && frame->symbol) {
		row[0] = BY_SYMBOL;
		row[1] = (uintptr_t)frame->symbol;
	} else {
		row[1] = address_identity(locations, frame);
	}
	VEC_GROW(ids->v, ids->n, ids->cap);
	id = &ids->v[ids->n++];
	*id = (struct frame_id){ .same = row_set_intern(&ids->rows, row),
				 .by_symbol = row[0] == BY_SYMBOL };
	id->name = frame->symbol ? texts_intern(ids->names, frame->symbol->name,
						strlen(frame->symbol->name)) + 1
				 : 0;
	if (id->name > ids->n_names)
		ids->n_names = id->name;
}

/* ---- numbers of stacks ---- */

void stack_preorder_forget_rows(struct stack_preorder *preorder)
{
	free(preorder->row_end);
	free(preorder->of_row);
	preorder->of_row = preorder->row_end = NULL;
}

void stack_preorder_release(struct stack_preorder *preorder)
{
	stack_preorder_forget_rows(preorder);
	if (preorder->ids.names)
		frame_ids_release(&preorder->ids);
	free(preorder->frame);
	free(preorder->parent);
	free(preorder->end);
	free(preorder->number);
	*preorder = (struct stack_preorder){ .n = 0 };
}

/* Parents are older than their children: sizes come from one way back, numbers from one way forth. */
static void number_stacks(struct stack_preorder *preorder, const struct stacks *stacks)
{
	uint32_t *size = xcalloc(preorder->n, sizeof(*size));
	uint32_t *next = xcalloc(preorder->n, sizeof(*next)); /* of the next child */

	for (size_t i = preorder->n; i-- > 1;)
		size[stacks->v[i].parent] += ++size[i];
	size[0]++;
	preorder->end[0] = (uint32_t)preorder->n;
	next[0] = 1;
	for (size_t i = 1; i < preorder->n; i++) {
		const struct stack_node *node = &stacks->v[i];
		uint32_t number = next[node->parent];

		next[node->parent] += size[i];
		next[i] = number + 1;
		preorder->number[i] = number;
		preorder->frame[number] = node->location;
		preorder->parent[number] = preorder->number[node->parent];
		preorder->end[number] = number + size[i];
	}
	free(size);
	free(next);
}

uint32_t *numbers_sorted(const uint32_t *keys, size_t n, size_t n_keys, const uint32_t *before)
{
	uint32_t *start = xcalloc(n_keys + 1, sizeof(*start));
	uint32_t *order = xcalloc(n + 1, sizeof(*order));

	for (size_t i = 0; i < n; i++)
		start[keys[i] + 1]++;
	for (size_t i = 1; i < n_keys; i++)
		start[i] += start[i - 1];
	for (size_t i = 0; i < n; i++) {
		uint32_t at = before ? before[i] : (uint32_t)i;

		order[start[keys[at]]++] = at;
	}
	free(start);
	return order;
}

/* The nodes in order of their rows of frames.values; those behind the others whose names are not asked for. */
static void sort_by_row(struct stack_preorder *preorder, const struct frames *frames)
{
	uint32_t *rows = xcalloc(preorder->n, sizeof(*rows));
	size_t n_rows = frames->values.n;

	preorder->row_end = xcalloc(n_rows + 1, sizeof(*preorder->row_end));
	for (size_t i = 0; i < preorder->n; i++) {
		const struct fold_frame *frame = i ? &frames->v[preorder->frame[i]] : NULL;

		rows[i] = frame && frame->named ? frame->values : (uint32_t)n_rows;
		preorder->row_end[rows[i]]++;
	}
	for (size_t i = 1; i < n_rows; i++)
		preorder->row_end[i] += preorder->row_end[i - 1];
	preorder->of_row = numbers_sorted(rows, preorder->n, n_rows + 1, NULL);
	free(rows);
}

const struct stack_preorder *stack_preorder_update(struct table *table)
{
	struct frames *frames = &table->private->cache->frames;
	struct stack_preorder *preorder = &frames->preorder;
	const size_t n = frames->stacks.n ? frames->stacks.n : 1;

	if (preorder->n == n)
		return preorder;
	stack_preorder_release(preorder);
	preorder->n = n;
	preorder->frame = xcalloc(n, sizeof(*preorder->frame));
	preorder->parent = xcalloc(n, sizeof(*preorder->parent));
	preorder->end = xcalloc(n, sizeof(*preorder->end));
	preorder->number = xcalloc(n, sizeof(*preorder->number));
	number_stacks(preorder, &frames->stacks);
	return preorder;
}

/* Another hist may have brought more frames. */
static void update_ids(struct table *table)
{
	const struct frames *frames = &table->private->cache->frames;
	struct frame_ids *ids = &table->private->cache->frames.preorder.ids;

	if (!ids->names)
		frame_ids_init(ids);
	for (size_t i = ids->n; i < frames->n; i++)
		frame_ids_add(ids, table->session->locations, table->question->query.chain.key, &frames->v[i].view);
}

static void update_rows(struct table *table)
{
	const struct frames *frames = &table->private->cache->frames;
	struct stack_preorder *preorder = &table->private->cache->frames.preorder;

	if (!table->question->children || (preorder->of_row && preorder->n_frames == frames->n))
		return;
	stack_preorder_forget_rows(preorder);
	preorder->n_frames = frames->n;
	sort_by_row(preorder, frames);
}

/* ---- leaves ---- */

struct trees *trees_new(struct table *table, const struct groups *groups)
{
	const struct frames *frames = &table->private->cache->frames;
	struct trees *trees;

	if (!table->question->chains || !(table->question->query.needs & NEED_TREES))
		return NULL;
	trees = xcalloc(1, sizeof(*trees));
	trees->v = xcalloc(groups->n + 1, sizeof(*trees->v));
	trees->n_rows = groups->values.n;
	for (size_t i = 0; i < groups->n; i++) {
		const struct group *group = &groups->v[i];
		const struct fold_frame *self = &frames->v[group->self];

		if (!group->stack || group->member)
			continue;
		trees->v[trees->n++] = (struct leaf){
			.stack = group->stack,
			.group_key = group->values,
			.self = self->named ? self->values : NO_ROW,
			.period = group->stats.period,
			.count = group->stats.n_samples,
		};
	}
	return trees;
}

struct trees *trees_of(struct table *table, struct groups *groups)
{
	if (!groups->trees)
		groups->trees = trees_new(table, groups);
	return table->question->query.needs & NEED_TREES ? groups->trees : NULL;
}

void trees_free(struct trees *trees)
{
	if (!trees)
		return;
	free(trees->v);
	free(trees->by_group_key);
	free(trees->at);
	free(trees->by_self);
	free(trees->slots.of_id);
	free(trees->slots.of_name);
	free(trees);
}

/* In the order of their stacks' numbers, as groups were found before. */
static void sort_leaves(struct trees *trees, const struct stack_preorder *preorder)
{
	uint32_t *keys = xcalloc(trees->n + 1, sizeof(*keys)), *order;
	struct leaf *v = xcalloc(trees->n + 1, sizeof(*v));

	for (size_t i = 0; i < trees->n; i++)
		keys[i] = preorder->number[trees->v[i].stack];
	order = numbers_sorted(keys, trees->n, preorder->n, NULL);
	for (size_t i = 0; i < trees->n; i++) {
		v[i] = trees->v[order[i]];
		v[i].at = keys[order[i]];
	}
	free(trees->v);
	trees->v = v;
	free(order);
	free(keys);
}

static void sort_by_entry(struct trees *trees, size_t n_rows)
{
	uint32_t *group_key = xcalloc(trees->n + 1, sizeof(*group_key));
	uint32_t *selves = xcalloc(trees->n + 1, sizeof(*selves)), *order;

	for (size_t i = 0; i < trees->n; i++) {
		const struct leaf *leaf = &trees->v[i];

		group_key[i] = leaf->group_key;
		selves[i] = leaf->self == NO_ROW ? (uint32_t)n_rows : leaf->self;
	}
	free(trees->by_group_key);
	free(trees->at);
	free(trees->by_self);
	trees->by_group_key = numbers_sorted(group_key, trees->n, trees->n_rows, NULL);
	trees->at = xcalloc(trees->n + 1, sizeof(*trees->at));
	for (size_t i = 0; i < trees->n; i++)
		trees->at[i] = trees->v[trees->by_group_key[i]].at;
	order = numbers_sorted(selves, trees->n, n_rows + 1, NULL);
	trees->by_self = numbers_sorted(group_key, trees->n, trees->n_rows, order);
	free(order);
	free(group_key);
	free(selves);
}

const struct stack_preorder *trees_prepare(struct trees *trees, struct table *table)
{
	const struct frames *frames = &table->private->cache->frames;
	const struct stack_preorder *preorder = stack_preorder_update(table);

	update_ids(table);
	update_rows(table);
	if (trees->n_numbered != preorder->n) {
		sort_leaves(trees, preorder);
		sort_by_entry(trees, frames->values.n);
		trees->n_numbered = preorder->n;
	}
	return preorder;
}

/* ---- the leaves of an entry ---- */

/* The first of by_group_key[first .. end) whose stack's number is not below `number`. As a rule it is not far. */
static size_t first_from(const struct trees *trees, size_t first, size_t end, uint32_t number)
{
	for (size_t step = 1; step < end - first; step *= 2) {
		if (trees->at[first + step] >= number) {
			end = first + step;
			break;
		}
		first += step;
	}
	return BISECT(i, first, end, trees->at[i] < number);
}

/* The first of `order` that is not before the row of group_key and of self, itself in this order. */
static size_t first_of(const struct trees *trees, const uint32_t *order, uint64_t group_key, uint64_t self)
{
	const struct leaf *v = trees->v;

	return BISECT(i, 0, trees->n, v[order[i]].group_key < group_key ||
				      (v[order[i]].group_key == group_key && v[order[i]].self < self));
}

struct gathering {
	const struct trees *trees;
	const struct stack_preorder *preorder;
	const struct entry *entry;
	struct entry_leaves *out;
	size_t next, end; /* what is left of trees->by_group_key for this entry */
	uint32_t *open; /* nodes of the entry that the walk is below, outermost first */
	size_t n_open, cap_open;
};

static void add_leaf(struct entry_leaves *out, uint32_t leaf)
{
	VEC_GROW(out->v, out->n, out->cap);
	out->v[out->n++] = leaf;
}

static void add_start(struct entry_leaves *out, uint32_t node, size_t first)
{
	if (first == out->n)
		return;
	VEC_GROW(out->starts, out->n_starts, out->cap_starts);
	out->starts[out->n_starts++] = (struct leaf_run){ .node = node,
							   .first = (uint32_t)first,
							   .end = (uint32_t)out->n };
}

/* Leaves before this number begin at the innermost open node; those below none are not the entry's. */
static void take_before(struct gathering *g, uint32_t number)
{
	const size_t first = g->out->n, end = first_from(g->trees, g->next, g->end, number);

	for (; g->n_open && g->next < end; g->next++) {
		uint32_t leaf = g->trees->by_group_key[g->next];

		if (g->trees->v[leaf].self != g->entry->frame_key)
			add_leaf(g->out, leaf);
	}
	g->next = end;
	if (g->n_open)
		add_start(g->out, g->open[g->n_open - 1], first);
}

static void close_before(struct gathering *g, uint32_t number)
{
	while (g->n_open && g->preorder->end[g->open[g->n_open - 1]] <= number) {
		take_before(g, g->preorder->end[g->open[g->n_open - 1]]);
		g->n_open--;
	}
}

/* Gathers what the entry called: from its outermost frame on, or outwards from its innermost one. */
static void gather_callers(struct gathering *g, bool outermost)
{
	const struct stack_preorder *preorder = g->preorder;
	const uint32_t row = g->entry->frame_key;

	g->next = first_of(g->trees, g->trees->by_group_key, g->entry->group_key, 0);
	g->end = first_of(g->trees, g->trees->by_group_key, (uint64_t)g->entry->group_key + 1, 0);
	for (uint32_t i = row ? preorder->row_end[row - 1] : 0; i < preorder->row_end[row]; i++) {
		uint32_t node = preorder->of_row[i];

		close_before(g, node);
		if (outermost && g->n_open)
			continue;
		take_before(g, node);
		VEC_GROW(g->open, g->n_open, g->cap_open);
		g->open[g->n_open++] = node;
	}
	close_before(g, (uint32_t)preorder->n);
	free(g->open);
}

/* Gathers what was sampled in the entry itself. */
static void gather_selves(struct gathering *g, bool outermost)
{
	const struct trees *trees = g->trees;
	size_t i = first_of(trees, trees->by_self, g->entry->group_key, g->entry->frame_key);
	size_t end = first_of(trees, trees->by_self, g->entry->group_key, (uint64_t)g->entry->frame_key + 1);

	while (i < end) {
		const uint32_t at = trees->v[trees->by_self[i]].at;
		const size_t first = g->out->n;

		do
			add_leaf(g->out, trees->by_self[i++]);
		while (i < end && (outermost || trees->v[trees->by_self[i]].at == at));
		add_start(g->out, outermost ? 0 : at, first);
	}
}

void entry_leaves_find(struct entry_leaves *out, const struct trees *trees, const struct stack_preorder *preorder,
		       const struct entry *entry, bool outermost, bool children)
{
	struct gathering g = { .trees = trees, .preorder = preorder, .entry = entry, .out = out };

	*out = (struct entry_leaves){ .n = 0 };
	gather_selves(&g, outermost);
	if (children)
		gather_callers(&g, outermost);
}

void entry_leaves_release(struct entry_leaves *leaves)
{
	free(leaves->v);
	free(leaves->starts);
}
