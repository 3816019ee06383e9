/*
 * The call tree of one entry: nodes, which frames are one node, and the order of siblings. What chains a node
 * stands for is known to fold_trees.c, which makes the nodes level by level and leaves out what is too small
 * to be printed.
 *
 * Frames are the same when their identities are: the symbol, without a symbol the address. Only an inlined
 * frame is also the same as one of equal name, inlined or not: the function is one function. Identities and
 * names are numbers that are worked out once per frame, so that telling frames apart costs no hash.
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

struct call_tree *calltree_new(const struct locations *locations, enum chain_key key)
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
	free(tree);
}

struct call_node *calltree_add(struct call_tree *tree, struct call_node *parent)
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

/* ---- what makes frames the same ---- */

/* What an identity is taken from. */
enum identity_kind { BY_SYMBOL, BY_LOCATION, BY_LINE };

/*
 * An address of a file. Where locations are known one of them is not enough: an address that was sampled and
 * returned to is two locations. Functions that were inlined at one address are frames of their own.
 */
static uint64_t address_identity(const struct locations *locations, const struct view_frame *frame)
{
	uint64_t words[] = { frame->location, 0, 0 };

	if (frame->location < locations->n) {
		words[0] = locations->v[frame->location].addr;
		words[1] = (uintptr_t)locations->v[frame->location].dso;
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

void frame_ids_init(struct frame_ids *ids)
{
	*ids = (struct frame_ids){ .names = texts_new() };
	row_set_init(&ids->rows, 2);
}

void frame_ids_release(struct frame_ids *ids)
{
	free(ids->v);
	row_set_release(&ids->rows);
	texts_free(ids->names);
}

void frame_ids_add(struct frame_ids *ids, const struct locations *locations, enum chain_key key,
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

/* ---- order: see perf_order.c ---- */

static int compare_siblings(const void *pa, const void *pb, void *tree)
{
	const struct call_node *a = *(struct call_node *const *)pa;
	const struct call_node *b = *(struct call_node *const *)pb;
	int by = (a->total_period < b->total_period) - (a->total_period > b->total_period);

	return by ? by : calltree_compare_frames(tree, a, b);
}

void calltree_sort_children(struct call_tree *tree, struct call_node *parent)
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

/* ---- limits and ways ---- */

uint64_t tree_limit_period(const struct tree_limit *limit, const struct call_node *parent)
{
	double least = limit->of_branch ? (double)calltree_below(parent) * limit->part
					: (double)limit->period * limit->part;
	uint64_t whole;

	if (least >= (double)UINT64_MAX)
		return UINT64_MAX;
	whole = (uint64_t)least;
	/* Of a branch rounded up; without ceil(), which would want libm. */
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

/* ---- ways through a tree ---- */

const struct call_node *calltree_after(const struct call_node *node)
{
	if (node->children)
		return node->children;
	while (node && !node->next)
		node = node->parent;
	return node ? node->next : NULL;
}
