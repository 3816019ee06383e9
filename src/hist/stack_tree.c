/*
 * Recorded stacks into one tree of functions: each recorded stack is a node of a prefix tree of addresses, and is
 * turned once into a node of a second one, whose frames are the same when they read the same. At the end nodes are
 * numbered in the order of a walk, siblings by their names.
 */
#include "hist/stack_tree_internal.h"

#include <stdlib.h>

/* ---- frames ---- */

static const struct location_row *row_of(const struct stack_maker *maker, uint32_t location)
{
	const struct locations *locations = maker->table->session->locations;

	return location < locations->n ? &locations->v[location] : NULL;
}

static const char *annotation(const struct location_row *row, bool inlined)
{
	return inlined ? "_[i]" : location_is_kernel(row) ? "_[k]" : location_is_jit(row) ? "_[j]" : "";
}

uint32_t stack_maker_text(struct stack_maker *maker)
{
	for (size_t i = 0; maker->options->semicolon && i < maker->text.len; i++)
		if (maker->text.s[i] == ';')
			maker->text.s[i] = maker->options->semicolon;
	return texts_intern(maker->tree->texts, maker->text.s, maker->text.len);
}

static uint32_t frame_name(struct stack_maker *maker, const struct location_row *row, const struct symbol *symbol,
			   bool inlined)
{
	struct str *text = &maker->text;

	str_reset(text);
	if (symbol)
		str_add(text, symbol->name);
	else if (!row || !row->dso)
		str_add(text, "[unknown]");
	else if (row->dso->name[0] == '[')
		str_add(text, row->dso->name);
	else
		str_addf(text, "[%s]", row->dso->name);
	if (maker->options->annotate)
		str_add(text, annotation(row, inlined));
	return stack_maker_text(maker);
}

static uint32_t add_frame(struct stack_maker *maker, uint32_t name, enum frame_kind kind)
{
	struct stack_tree *tree = maker->tree;
	unsigned shown = maker->options->kinds_apart ? kind : 0;
	uint64_t hash = hash_word((uint64_t)name << 8 | shown);
	uint32_t i;

	if (INDEX_FIND(&maker->frame_ix, hash, i,
		       tree->frames[i].name == name &&
			       (!maker->options->kinds_apart || tree->frames[i].kind == kind)))
		return i;
	VEC_GROW(tree->frames, tree->n_frames, tree->cap_frames);
	tree->frames[tree->n_frames] = (struct stack_tree_frame){ .name = name, .kind = kind };
	index_add(&maker->frame_ix, hash, (uint32_t)tree->n_frames);
	return (uint32_t)tree->n_frames++;
}

static const struct frame_list *frames_of(struct stack_maker *maker, uint32_t location)
{
	return location_frames(maker->table->session, row_of(maker, location) ? location : (uint32_t)LOCATION_NONE,
			       maker->options->lines ? SYM_LINES : 0);
}

/* The place of an unknown location is behind all others. */
static size_t location_at(const struct stack_maker *maker, uint32_t location)
{
	size_t n = maker->table->session->locations->n;

	return location < n ? location : n;
}

/* The frames at a location: the function there, then what was inlined into it. */
static const uint32_t *location_list(struct stack_maker *maker, uint32_t location, size_t *n)
{
	const struct frame_list *frames = frames_of(maker, location);
	uint32_t *at = &maker->of_location[location_at(maker, location)];
	const struct location_row *row = row_of(maker, location);

	*n = frames->n;
	if (!*at) {
		*at = (uint32_t)maker->n_lists + 1;
		for (size_t i = frames->n; i-- > 0;) {
			const struct symbol *symbol = frames->v[i].symbol;
			bool inlined = i + 1 < frames->n;

			VEC_GROW(maker->lists, maker->n_lists, maker->cap_lists);
			maker->lists[maker->n_lists++] = add_frame(maker, frame_name(maker, row, symbol, inlined),
								   location_frame_kind(row, symbol, inlined));
		}
	}
	return maker->lists + *at - 1;
}

/* ---- nodes ---- */

static uint32_t add_child(struct stack_maker *maker, uint32_t parent, uint32_t frame)
{
	struct stack_tree *tree = maker->tree;
	uint64_t hash = hash_word((uint64_t)parent << 32 | frame);
	uint32_t i;

	if (INDEX_FIND(&maker->node_ix, hash, i, tree->nodes[i].parent == parent && tree->nodes[i].frame == frame))
		return i;
	VEC_GROW(tree->nodes, tree->n, tree->cap);
	tree->nodes[tree->n] = (struct stack_tree_node){ frame, parent, tree->nodes[parent].depth + 1 };
	index_add(&maker->node_ix, hash, (uint32_t)tree->n);
	return (uint32_t)tree->n++;
}

static uint32_t add_location(struct stack_maker *maker, uint32_t node, uint32_t location)
{
	size_t n;
	const uint32_t *list = location_list(maker, location, &n);

	for (size_t i = 0; i < n; i++)
		node = add_child(maker, node, list[i]);
	return node;
}

/* From the innermost node that is known on. */
static uint32_t add_stack(struct stack_maker *maker, uint32_t stack)
{
	const struct stacks *stacks = maker->table->session->stacks;
	uint32_t *path = NULL, node = 0, s;
	size_t n = 0, cap = 0;
	const struct location_row *outer;

	for (s = stack; s && !maker->of_stack[s]; s = stacks->v[s].parent) {
		VEC_GROW(path, n, cap);
		path[n++] = s;
	}
	if (s)
		node = maker->of_stack[s] - 1;
	outer = s ? row_of(maker, stacks->v[s].location) : NULL;
	while (n) {
		const struct location_row *row;

		s = path[--n];
		row = row_of(maker, stacks->v[s].location);
		if (maker->options->delimiter && outer && !location_is_kernel(outer) && location_is_kernel(row))
			node = add_child(maker, node, maker->delimiter);
		node = add_location(maker, node, stacks->v[s].location);
		maker->of_stack[s] = node + 1;
		outer = row;
	}
	free(path);
	return node;
}

uint32_t stack_maker_node(struct stack_maker *maker, size_t cell)
{
	uint32_t stack = (uint32_t)cell_fact(maker->cells, cell, FACT_STACK);
	uint32_t location = (uint32_t)cell_fact(maker->cells, cell, FACT_LOCATION);
	uint64_t n = maker->cells->values[cell].n_samples;

	if (stack) {
		maker->stack_samples[stack] += n;
		return maker->of_stack[stack] ? maker->of_stack[stack] - 1 : add_stack(maker, stack);
	}
	maker->location_samples[location_at(maker, location)] += n;
	return add_location(maker, 0, location);
}

/* ---- the order of a walk ---- */

static int compare_siblings(const void *pa, const void *pb, void *context)
{
	const struct stack_tree *tree = context;
	const struct stack_tree_node *a = &tree->nodes[*(const uint32_t *)pa], *b = &tree->nodes[*(const uint32_t *)pb];
	const struct stack_tree_frame *fa = &tree->frames[a->frame], *fb = &tree->frames[b->frame];
	int by;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	by = strcmp(stack_tree_text(tree, fa->name), stack_tree_text(tree, fb->name));
	return by ? by : (int)fa->kind - (int)fb->kind;
}

/*
 * A parent has a lower number than its children: so the sizes of subtrees come from one way back, and the final
 * numbers from one way forth over the nodes sorted by parent and name. The caller frees them.
 */
static uint32_t *number_nodes(struct stack_tree *tree)
{
	uint32_t *order = xcalloc(tree->n, sizeof(*order)), *size = xcalloc(tree->n, sizeof(*size));
	uint32_t *number = xcalloc(tree->n, sizeof(*number)), *next = xcalloc(tree->n, sizeof(*next));

	for (size_t i = tree->n; i-- > 0;) {
		order[i] = (uint32_t)i;
		size[i]++;
		if (i)
			size[tree->nodes[i].parent] += size[i];
	}
	qsort_r(order + 1, tree->n - 1, sizeof(*order), compare_siblings, tree);
	next[0] = 1;
	for (size_t i = 1; i < tree->n; i++) {
		uint32_t node = order[i], parent = tree->nodes[node].parent;

		number[node] = next[parent];
		next[node] = number[node] + 1;
		next[parent] += size[node];
	}
	free(order);
	free(size);
	free(next);
	return number;
}

static void move_nodes(struct stack_tree *tree, const uint32_t *number)
{
	struct stack_tree_node *moved = xcalloc(tree->n, sizeof(*moved));

	for (size_t i = 0; i < tree->n; i++) {
		struct stack_tree_node node = tree->nodes[i];

		node.parent = number[node.parent];
		moved[number[i]] = node;
	}
	free(tree->nodes);
	tree->nodes = moved;
	tree->cap = tree->n;
}

/* ---- where frames come from ---- */

/* Samples of stacks go to those that called, then to their addresses. */
static void count_locations(struct stack_maker *maker)
{
	const struct stacks *stacks = maker->table->session->stacks;

	for (size_t i = stacks->n; i-- > 1;) {
		uint32_t parent = stacks->v[i].parent;

		if (parent < i)
			maker->stack_samples[parent] += maker->stack_samples[i];
		maker->location_samples[location_at(maker, stacks->v[i].location)] += maker->stack_samples[i];
	}
}

/* A frame has been at many addresses: it shows the file and the line of the one with most samples. */
static void place_frames(struct stack_maker *maker)
{
	size_t n_locations = maker->table->session->locations->n;

	count_locations(maker);
	for (size_t i = 0; i < n_locations; i++) {
		const struct frame_list *frames;
		uint64_t n_samples = maker->location_samples[i];
		const struct location_row *row;

		if (!maker->of_location[i])
			continue;
		frames = frames_of(maker, (uint32_t)i);
		row = row_of(maker, (uint32_t)i);
		for (size_t k = 0; k < frames->n; k++) {
			uint32_t number = maker->lists[maker->of_location[i] - 1 + frames->n - 1 - k];
			struct stack_tree_frame *frame = &maker->tree->frames[number];

			if (frame->line_samples && frame->line_samples >= n_samples)
				continue;
			frame->dso = row->dso;
			frame->line = frames->v[k].line;
			frame->line_samples = n_samples;
		}
	}
}

/* ---- contract ---- */

static void maker_init(struct stack_maker *maker, struct table *table, const struct hist *hist, size_t member,
		       const struct stack_tree_options *options)
{
	const struct session *session = table->session;
	struct stack_tree *tree = xcalloc(1, sizeof(*tree));

	*maker = (struct stack_maker){
		.tree = tree, .table = table, .cells = hist->cells[member], .options = options, .text = STR_INIT,
	};
	tree->texts = texts_new();
	texts_intern(tree->texts, "", 0);
	VEC_GROW(tree->nodes, tree->n, tree->cap);
	tree->nodes[tree->n++] = (struct stack_tree_node){ 0 };
	maker->of_stack = xcalloc(session->stacks->n + 1, sizeof(*maker->of_stack));
	maker->of_location = xcalloc(session->locations->n + 1, sizeof(*maker->of_location));
	maker->stack_samples = xcalloc(session->stacks->n + 1, sizeof(*maker->stack_samples));
	maker->location_samples = xcalloc(session->locations->n + 1, sizeof(*maker->location_samples));
	if (options->delimiter) {
		str_add(&maker->text, "-");
		maker->delimiter = add_frame(maker, stack_maker_text(maker), FRAME_USER);
	}
}

static void maker_release(struct stack_maker *maker)
{
	str_release(&maker->text);
	index_release(&maker->frame_ix);
	index_release(&maker->node_ix);
	free(maker->of_stack);
	free(maker->of_location);
	free(maker->lists);
	free(maker->stack_samples);
	free(maker->location_samples);
}

struct stack_tree *stack_tree_new(struct table *table, const struct hist *hist, size_t member,
				  const struct stack_tree_options *options)
{
	struct stack_maker maker;
	uint32_t *number;

	maker_init(&maker, table, hist, member, options);
	stack_rows_make(&maker);
	number = number_nodes(maker.tree);
	move_nodes(maker.tree, number);
	stack_rows_finish(&maker, number);
	free(number);
	place_frames(&maker);
	maker_release(&maker);
	return maker.tree;
}

void stack_tree_free(struct stack_tree *tree)
{
	if (!tree)
		return;
	texts_free(tree->texts);
	free(tree->frames);
	free(tree->nodes);
	free(tree->rows);
	free(tree->groups);
	free(tree->lanes);
	free(tree);
}

static int by_group(const void *pa, const void *pb)
{
	const struct stack_tree_row *a = *(const struct stack_tree_row *const *)pa;
	const struct stack_tree_row *b = *(const struct stack_tree_row *const *)pb;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return a < b ? -1 : a > b;
}

const struct stack_tree_row **stack_tree_by_group(const struct stack_tree *tree)
{
	const struct stack_tree_row **rows = xcalloc(tree->n_rows + 1, sizeof(*rows));

	for (size_t i = 0; i < tree->n_rows; i++)
		rows[i] = &tree->rows[i];
	qsort(rows, tree->n_rows, sizeof(*rows), by_group);
	return rows;
}
