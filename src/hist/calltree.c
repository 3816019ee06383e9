/*
 * calltree.c: see calltree.h. A prefix tree of one node per frame; what shares a line in print is worked
 * out when it is printed, so that adding a chain is one look-up per frame.
 *
 * Frames are the same when their identities are: the symbol's pointer, without a symbol the place. Only
 * an inlined frame is also the same as one of equal name, inlined or not: the function is one function.
 * Such a frame gets an edge of its own to the node that has its name already, so that the name is looked
 * at once per node and symbol, not once per chain.
 */
#include "hist/hist.h"

#include <stdio.h>
#include <stdlib.h>

struct call_edge {
	uint64_t identity;
	struct call_node *child; /* its parent is the parent */
};

enum { FIRST_CHUNK = 8, MAX_CHUNK = 512 };
struct call_chunk {
	struct call_chunk *older;
	size_t n, cap;
	struct call_node nodes[];
};

/* What an identity is taken from; hashed with it, so that they don't meet. */
enum identity_kind { BY_SYMBOL, BY_PLACE, BY_LINE, BY_NAME };

struct identity {
	enum identity_kind kind;
	uint64_t value;
};

struct call_tree *calltree_new(void)
{
	return xcalloc(1, sizeof(struct call_tree));
}

void calltree_free(struct call_tree *tree)
{
	if (!tree)
		return;
	for (struct call_chunk *chunk = tree->chunks, *older; chunk; chunk = older) {
		older = chunk->older;
		free(chunk);
	}
	free(tree->edges);
	index_release(&tree->ix);
	free(tree);
}

/*
 * An address of a file. Where places are known one of them is not enough: an address that was sampled and
 * returned to is two places. Functions that were inlined at one address are frames of their own.
 */
static struct identity address_identity(const struct call_tree *tree,
					const struct view_frame *frame)
{
	const struct places *places = tree->places;
	uint64_t words[] = { frame->place, 0, 0 };

	if (places && frame->place < places->n) {
		words[0] = places->v[frame->place].addr;
		words[1] = (uintptr_t)places->v[frame->place].dso;
	}
	if (frame->inlined)
		words[2] = (uintptr_t)frame->symbol;
	return (struct identity){ BY_PLACE, hash_words(words, ARRAY_SIZE(words)) };
}

static struct identity frame_identity(const struct call_tree *tree, enum chain_key key,
				      const struct view_frame *frame)
{
	if (key == CHAIN_BY_SRCLINE && frame->line.file) {
		const uint64_t words[] = {
			hash_bytes(frame->line.file, strlen(frame->line.file)),
			frame->line.line,
			(uintptr_t)frame->symbol,
		};

		return (struct identity){ BY_LINE, hash_words(words, ARRAY_SIZE(words)) };
	}
	if (key != CHAIN_BY_ADDRESS && frame->symbol)
		return (struct identity){ BY_SYMBOL, (uintptr_t)frame->symbol };
	return address_identity(tree, frame);
}

static struct identity name_identity(const struct view_frame *frame)
{
	const char *name = frame->symbol->name;

	return (struct identity){ BY_NAME, hash_bytes(name, strlen(name)) };
}

static uint64_t edge_hash(const struct call_node *parent, struct identity identity)
{
	const uint64_t words[] = { identity.value, (uint64_t)parent->number << 2 | identity.kind };

	return hash_words(words, ARRAY_SIZE(words));
}

static void add_edge(struct call_tree *tree, struct identity identity, struct call_node *child)
{
	VEC_GROW(tree->edges, tree->n_edges, tree->cap_edges);
	tree->edges[tree->n_edges] = (struct call_edge){ identity.value, child };
	index_add(&tree->ix, edge_hash(child->parent, identity), (uint32_t)tree->n_edges++);
}

static struct call_node *find_edge(const struct call_tree *tree, const struct call_node *parent,
				   struct identity identity)
{
	uint64_t hash = edge_hash(parent, identity);
	uint32_t i;

	for (size_t at = index_first(&tree->ix, hash); index_next(&tree->ix, hash, &at, &i);) {
		const struct call_edge *edge = &tree->edges[i];

		if (edge->identity == identity.value && edge->child->parent == parent)
			return edge->child;
	}
	return NULL;
}

/* ---- names: from the first inlined frame on ---- */

static void name_all(struct call_tree *tree)
{
	tree->by_name = true;
	for (struct call_chunk *chunk = tree->chunks; chunk; chunk = chunk->older)
		for (size_t i = 0; i < chunk->n; i++)
			if (chunk->nodes[i].frame.symbol)
				add_edge(tree, name_identity(&chunk->nodes[i].frame),
					 &chunk->nodes[i]);
}

static struct call_node *find_name(const struct call_tree *tree, const struct call_node *parent,
				   const struct view_frame *frame)
{
	struct identity identity = name_identity(frame);
	uint64_t hash = edge_hash(parent, identity);
	uint32_t i;

	for (size_t at = index_first(&tree->ix, hash); index_next(&tree->ix, hash, &at, &i);) {
		const struct call_edge *edge = &tree->edges[i];
		const struct view_frame *other = &edge->child->frame;

		if (edge->identity == identity.value && edge->child->parent == parent &&
		    (frame->inlined || other->inlined) &&
		    !strcmp(frame->symbol->name, other->symbol->name))
			return edge->child;
	}
	return NULL;
}

/* ---- adding ---- */

static struct call_node *new_node(struct call_tree *tree)
{
	struct call_chunk *chunk = tree->chunks;

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
	return &chunk->nodes[chunk->n++];
}

static struct call_node *add_child(struct call_tree *tree, struct call_node *parent,
				   const struct view_frame *frame, struct identity identity)
{
	struct call_node *child = new_node(tree);

	*child = (struct call_node){
		.frame = *frame,
		.parent = parent,
		.next = parent->children,
		.number = (uint32_t)++tree->n_nodes,
	};
	parent->children = child;
	add_edge(tree, identity, child);
	if (tree->by_name && frame->symbol)
		add_edge(tree, name_identity(frame), child);
	return child;
}

/* Surely the same frame, seen without a look-up. Not to be sure is no harm. */
static bool same_at_sight(enum chain_key key, const struct view_frame *a, const struct view_frame *b)
{
	if (key == CHAIN_BY_SRCLINE || a->symbol != b->symbol || a->inlined != b->inlined)
		return false;
	return a->place == b->place || (key == CHAIN_BY_FUNCTION && a->symbol);
}

static struct call_node *find_child(struct call_tree *tree, struct call_node *parent,
				    enum chain_key key, const struct view_frame *frame)
{
	struct identity identity = frame_identity(tree, key, frame);
	struct call_node *child = find_edge(tree, parent, identity);

	if (child)
		return child;
	if (identity.kind == BY_SYMBOL) {
		if (frame->inlined && !tree->by_name)
			name_all(tree);
		child = tree->by_name ? find_name(tree, parent, frame) : NULL;
		if (child) {
			add_edge(tree, identity, child);
			return child;
		}
	}
	return add_child(tree, parent, frame, identity);
}

static struct call_node *child_of(struct call_tree *tree, struct call_node *parent,
				  enum chain_key key, const struct view_frame *frame)
{
	if (!parent->last || !same_at_sight(key, &parent->last->frame, frame))
		parent->last = find_child(tree, parent, key, frame);
	return parent->last;
}

void calltree_add(struct call_tree *tree, enum chain_key key, const struct view_frame *frames,
		  size_t n, uint64_t period, uint64_t count)
{
	struct call_node *node = &tree->root;

	tree->key = key;
	if (!n)
		return;
	node->total_period += period;
	node->total_count += count;
	for (size_t i = 0; i < n; i++) {
		node = child_of(tree, node, key, &frames[i]);
		node->total_period += period;
		node->total_count += count;
	}
	node->self_period += period;
	node->self_count += count;
}

/* ---- order ---- */

/* Files in the order in which they appeared; no file comes before all. */
static uint64_t file_rank(const struct call_tree *tree, const struct view_frame *frame)
{
	const struct dso *dso = NULL;

	if (frame->symbol)
		dso = frame->symbol->dso;
	else if (tree->places && frame->place < tree->places->n)
		dso = tree->places->v[frame->place].dso;
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

static uint64_t place_rank(const struct call_tree *tree, const struct view_frame *frame)
{
	return tree->places && frame->place < tree->places->n ? tree->places->v[frame->place].ip
							      : frame->place;
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
		by = descending(fa->symbol ? fa->symbol->start : place_rank(tree, fa),
				fb->symbol ? fb->symbol->start : place_rank(tree, fb));
	if (!by && fa->symbol && fb->symbol)
		by = compare_texts(fa->symbol->name, fb->symbol->name);
	if (!by)
		by = descending(place_rank(tree, fa), place_rank(tree, fb));
	return by ? by : descending(b->number, a->number);
}

static int compare_siblings(const void *pa, const void *pb, void *tree)
{
	const struct call_node *a = *(struct call_node *const *)pa;
	const struct call_node *b = *(struct call_node *const *)pb;
	int by = descending(a->total_period, b->total_period);

	return by ? by : calltree_compare_frames(tree, a, b);
}

struct siblings {
	struct call_node **v;
	size_t n, cap;
};

static void sort_children(struct call_tree *tree, struct call_node *parent,
			  struct siblings *siblings)
{
	struct call_node **link = &parent->children;

	if (!parent->children || !parent->children->next)
		return;
	siblings->n = 0;
	for (struct call_node *child = parent->children; child; child = child->next) {
		VEC_GROW(siblings->v, siblings->n, siblings->cap);
		siblings->v[siblings->n++] = child;
	}
	qsort_r(siblings->v, siblings->n, sizeof(siblings->v[0]), compare_siblings, tree);
	for (size_t i = 0; i < siblings->n; i++) {
		*link = siblings->v[i];
		link = &siblings->v[i]->next;
	}
	*link = NULL;
}

void calltree_finish(struct call_tree *tree)
{
	struct siblings siblings = { NULL, 0, 0 };

	sort_children(tree, &tree->root, &siblings);
	for (struct call_chunk *chunk = tree->chunks; chunk; chunk = chunk->older)
		for (size_t i = 0; i < chunk->n; i++)
			sort_children(tree, &chunk->nodes[i], &siblings);
	free(siblings.v);
}

const struct call_node *calltree_run_end(const struct call_node *node)
{
	while (!node->self_count && node->children && !node->children->next)
		node = node->children;
	return node;
}
