/* SPDX-License-Identifier: MIT */
/*
 * stack_tree: recorded stacks as one tree of functions, and the rows that say how often each was sampled.
 *
 * Each recorded stack is a node of a prefix tree of addresses, and is turned once into a node of a second one, whose
 * frames are the same when they read the same. At the end nodes are numbered in the order of a walk, siblings by their
 * names. Rows are cells by node, group, lane and bucket: fewer than cells, which tell the addresses of a function
 * apart.
 *
 * Boxes are the tree as it is drawn: rows in the order of a walk, group by group. What a row shares with the one
 * before stays open, all else is closed, and a box that is too small to be seen is left out again, with all that it
 * called.
 */
#include "hist/keys_internal.h"

#include <stdlib.h>

/* A stack_tree being made. */
struct stack_maker {
	struct stack_tree *tree;
	struct table *table;
	const struct cells *cells;
	const struct stack_tree_options *options;
	bool wall_clock; /* the event's waits have a frame of their own */
	struct str text;
	/* of frames and nodes */
	struct index frame_ix, node_ix;
	uint32_t *of_stack; /* by stack of the session: its node + 1; 0: not yet known */
	uint32_t *of_location; /* by location: where its frames begin in `lists`, + 1; outermost first */
	uint32_t *lists;
	size_t n_lists, cap_lists;
	uint64_t *stack_samples, *location_samples; /* with what was called from there */
	/* of rows, groups and lanes */
	struct row_set values; /* of groups, by keys that are not of code */
	uint32_t *group_of; /* by row of values, or by comm: the group + 1 */
	size_t n_group_of, cap_group_of;
	struct index group_ix;
	struct row_set lanes; /* CPU, or FACT_TID */
	/* of spans: by cell of the event's sample_order */
	uint32_t *ordered_nodes; /* UINT32_MAX: left out; numbers as nodes have at the end */
};

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

/* maker->text with ";" replaced, as the number of a text. */
static uint32_t add_text(struct stack_maker *maker)
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
	return add_text(maker);
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
			node = add_child(maker, node, maker->tree->delimiter);
		node = add_location(maker, node, stacks->v[s].location);
		maker->of_stack[s] = node + 1;
		outer = row;
	}
	free(path);
	return node;
}

/* The node of a cell's code. */
static uint32_t code_node(struct stack_maker *maker, size_t cell)
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

/* The node where a cell was sampled; of waits one that says so, below their code's. */
static uint32_t cell_node(struct stack_maker *maker, size_t cell)
{
	const uint64_t state = maker->wall_clock ? cell_fact(maker->cells, cell, FACT_STATE) : TASK_RUNNING;
	const uint32_t node = code_node(maker, cell);

	if (state == TASK_RUNNING)
		return node;
	str_reset(&maker->text);
	str_add(&maker->text, state == TASK_PREEMPTED ? "[preempted]" : "[waiting]");
	return add_child(maker, node, add_frame(maker, add_text(maker), FRAME_WAITING));
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

/* ---- groups ---- */

/* The keys of a row of values, "callers, 1234:callers". */
static void add_key_texts(struct stack_maker *maker, const uint64_t *values)
{
	struct table *table = maker->table;
	const uint64_t task = FACT(PID) | FACT(TID);
	struct str one = STR_INIT;
	unsigned n = 0;

	for (size_t i = 0; i < table->question->n_keys; i++) {
		if (table->question->keys[i]->flags & KEY_FRAME)
			continue;
		str_reset(&one);
		table->question->keys[i]->text(table, values[n], &one);
		str_add(&maker->text, n++ ? ", " : "");
		/* Numbers of tasks stand in a column of the table. */
		str_add(&maker->text, one.s + (table->question->keys[i]->facts & task ? strspn(one.s, " ") : 0));
	}
	str_release(&one);
}

static void add_comm(struct stack_maker *maker, uint32_t comm)
{
	const struct session *session = maker->table->session;
	const char *name = comm < session_n_comms(session) ? session_comm(session, comm) : "";

	str_add_printable(&maker->text, name, strlen(name));
}

static uint32_t add_group(struct stack_maker *maker)
{
	struct stack_tree *tree = maker->tree;
	uint32_t text, i;
	uint64_t hash;

	if (!maker->text.len && maker->values.width)
		str_add(&maker->text, "[unknown]");
	text = add_text(maker);
	hash = hash_word(text);
	if (INDEX_FIND(&maker->group_ix, hash, i, tree->groups[i] == text))
		return i;
	VEC_GROW(tree->groups, tree->n_groups, tree->cap_groups);
	index_add(&maker->group_ix, hash, (uint32_t)tree->n_groups);
	tree->groups[tree->n_groups] = text;
	return (uint32_t)tree->n_groups++;
}

static uint32_t group_of(struct stack_maker *maker, size_t cell)
{
	struct key_source source = { .table = maker->table, .cells = maker->cells, .cell = cell };
	uint64_t values[KEYS_MAX] = { 0 };
	uint32_t row;
	unsigned n = 0;

	if (maker->options->groups != GROUPS_BY_KEYS)
		values[n++] = cell_fact(maker->cells, cell, FACT_COMM);
	if (maker->options->groups == GROUPS_BY_PROCESS)
		values[n++] = cell_fact(maker->cells, cell, FACT_PID);
	for (size_t i = 0; i < maker->table->question->n_keys && maker->options->groups == GROUPS_BY_KEYS; i++) {
		source.key = maker->table->question->keys[i];
		if (!(source.key->flags & KEY_FRAME))
			values[n++] = source.key->value(&source);
	}
	row = row_set_intern(&maker->values, values);
	if (row >= maker->n_group_of) {
		VEC_GROW(maker->group_of, maker->n_group_of, maker->cap_group_of);
		str_reset(&maker->text);
		if (maker->options->groups == GROUPS_BY_KEYS)
			add_key_texts(maker, values);
		else
			add_comm(maker, (uint32_t)values[0]);
		if (maker->options->groups == GROUPS_BY_PROCESS)
			str_addf(&maker->text, " (%d)", task_names_number(values[1]));
		maker->group_of[maker->n_group_of++] = add_group(maker);
	}
	return maker->group_of[row];
}

/* ---- lanes ---- */

static bool lanes_are_cpus(const struct stack_maker *maker)
{
	return cells_have(maker->cells, FACT_CPU) && !cells_have(maker->cells, FACT_TID);
}

static uint32_t lane_of(struct stack_maker *maker, size_t cell)
{
	const uint64_t value = cell_fact(maker->cells, cell, maker->tree->lanes_are_cpus ? FACT_CPU : FACT_TID);

	return row_set_intern(&maker->lanes, &value);
}

static uint32_t cpu_text(struct stack_maker *maker, uint64_t value)
{
	str_reset(&maker->text);
	if (value == UINT64_MAX)
		str_add(&maker->text, "CPU not known");
	else
		str_addf(&maker->text, "CPU %llu", (unsigned long long)value);
	return add_text(maker);
}

static uint32_t thread_text(struct stack_maker *maker, uint64_t value)
{
	const struct table *table = maker->table;

	str_reset(&maker->text);
	str_addf(&maker->text, "%d ", task_names_number(value));
	if (table->profile->tasks)
		add_comm(maker, task_names_comm(table->profile->tasks, value));
	return add_text(maker);
}

struct lane_order {
	uint64_t value, n_samples;
	uint32_t number;
};

static int most_samples_first(const void *pa, const void *pb)
{
	const struct lane_order *a = pa, *b = pb;

	if (a->n_samples != b->n_samples)
		return a->n_samples < b->n_samples ? 1 : -1;
	return a->value < b->value ? -1 : a->value > b->value;
}

static int by_value(const void *pa, const void *pb)
{
	const struct lane_order *a = pa, *b = pb;

	return a->value < b->value ? -1 : a->value > b->value;
}

/*
 * Chooses those of the lanes with most samples, by number: `kept` of them in the order of their values, and then the
 * others. The new number of each: the caller frees it.
 */
static uint32_t *choose_lanes(struct stack_maker *maker, const uint64_t *n_samples, size_t kept, uint32_t *names,
			      uint32_t (*text)(struct stack_maker *maker, uint64_t value))
{
	size_t n = maker->lanes.n;
	struct lane_order *order = xcalloc(n + 1, sizeof(*order));
	uint32_t *number = xcalloc(n + 1, sizeof(*number));

	for (size_t i = 0; i < n; i++)
		order[i] = (struct lane_order){ *row_set_at(&maker->lanes, (uint32_t)i), n_samples[i], (uint32_t)i };
	qsort(order, n, sizeof(*order), most_samples_first);
	qsort(order, kept, sizeof(*order), by_value);
	for (size_t i = 0; i < n; i++) {
		number[order[i].number] = (uint32_t)(i < kept ? i : kept);
		if (i < kept)
			names[i] = text(maker, order[i].value);
	}
	free(order);
	return number;
}

/* ---- rows ---- */

/* While rows are made `lane` is too narrow for all of 10,000 threads: the numbers stand beside them. */
static void make_row(struct stack_maker *maker, size_t cell, uint32_t *lane)
{
	const struct cell_values *values = &maker->cells->values[cell];
	struct stack_tree *tree = maker->tree;

	VEC_GROW(tree->rows, tree->n_rows, tree->cap_rows);
	tree->rows[tree->n_rows] = (struct stack_tree_row){
		.node = cell_node(maker, cell),
		.group = group_of(maker, cell),
		.bucket = maker->options->times ? (uint16_t)cell_fact(maker->cells, cell, FACT_BUCKET) : 0,
		.n_samples = values->n_samples,
		.period = values->period,
	};
	*lane = maker->options->times ? lane_of(maker, cell) : 0;
	if (tree->rows[tree->n_rows].bucket >= tree->n_buckets)
		tree->n_buckets = tree->rows[tree->n_rows].bucket + 1U;
	tree->n_samples += values->n_samples;
	tree->period += values->period;
	tree->n_rows++;
}

static void set_lanes(struct stack_maker *maker, const uint32_t *lanes)
{
	struct stack_tree *tree = maker->tree;
	const size_t n = maker->lanes.n, kept = n > STACK_LANES ? STACK_LANES - 1 : n;
	uint64_t *n_samples = xcalloc(n + 1, sizeof(*n_samples));
	uint32_t *number;

	for (size_t i = 0; i < tree->n_rows; i++)
		n_samples[lanes[i]] += tree->rows[i].n_samples;
	tree->lanes = xcalloc(kept + 1, sizeof(*tree->lanes));
	tree->n_lanes = kept;
	number = choose_lanes(maker, n_samples, kept, tree->lanes, tree->lanes_are_cpus ? cpu_text : thread_text);
	if (kept < n) {
		str_reset(&maker->text);
		str_addf(&maker->text, "%zu others", n - kept);
		tree->lanes[tree->n_lanes++] = add_text(maker);
	}
	for (size_t i = 0; i < tree->n_rows; i++)
		tree->rows[i].lane = (uint16_t)number[lanes[i]];
	free(n_samples);
	free(number);
}

static unsigned n_group_keys(const struct stack_maker *maker)
{
	unsigned n = 0;

	if (maker->options->groups != GROUPS_BY_KEYS)
		return maker->options->groups == GROUPS_BY_COMM ? 1 : 2;
	for (size_t i = 0; i < maker->table->question->n_keys; i++)
		n += !(maker->table->question->keys[i]->flags & KEY_FRAME);
	return n;
}

/* Makes a row for each cell that no filter leaves out; nodes get their final numbers later. */
static void make_rows(struct stack_maker *maker)
{
	const struct cells *cells = maker->cells;
	struct stack_tree *tree = maker->tree;
	uint32_t *lanes = xcalloc(cells->n + 1, sizeof(*lanes));

	/* The key `parent` is asked of frames, which nobody has made where entries are not wanted. */
	if (maker->table->question->private->parent)
		frames_update(maker->table);
	tree->lanes_are_cpus = lanes_are_cpus(maker);
	tree->bucket_ns = maker->table->profile->bucket_ns;
	tree->start_ns = maker->table->profile->bucket_origin_ns;
	row_set_init(&maker->values, n_group_keys(maker));
	row_set_init(&maker->lanes, 1);
	for (size_t i = 0; i < cells->n; i++)
		if (cells->values[i].n_samples && table_takes_cell(maker->table, cells, i))
			make_row(maker, i, &lanes[tree->n_rows]);
	if (maker->options->times)
		set_lanes(maker, lanes);
	free(lanes);
	row_set_release(&maker->values);
	row_set_release(&maker->lanes);
	index_release(&maker->group_ix);
	free(maker->group_of);
}

/* ---- order ---- */

static int compare_groups(const void *pa, const void *pb, void *context)
{
	const struct stack_tree *tree = context;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return strcmp(stack_tree_text(tree, tree->groups[a]), stack_tree_text(tree, tree->groups[b]));
}

/* Groups in the order of their texts; rows follow. */
static void sort_groups(struct stack_tree *tree)
{
	uint32_t *order = xcalloc(tree->n_groups + 1, sizeof(*order));
	uint32_t *number = xcalloc(tree->n_groups + 1, sizeof(*number));
	uint32_t *groups = xcalloc(tree->n_groups + 1, sizeof(*groups));

	for (size_t i = 0; i < tree->n_groups; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, tree->n_groups, sizeof(*order), compare_groups, tree);
	for (size_t i = 0; i < tree->n_groups; i++) {
		groups[i] = tree->groups[order[i]];
		number[order[i]] = (uint32_t)i;
	}
	for (size_t i = 0; i < tree->n_rows; i++)
		tree->rows[i].group = number[tree->rows[i].group];
	free(tree->groups);
	tree->groups = groups;
	free(order);
	free(number);
}

static int compare_rows(const void *pa, const void *pb)
{
	const struct stack_tree_row *a = pa, *b = pb;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return a->lane != b->lane ? (int)a->lane - (int)b->lane : (int)a->bucket - (int)b->bucket;
}

/* By node in one pass over them all, then within each node, where there are few. */
static void sort_rows(struct stack_tree *tree)
{
	size_t *first = xcalloc(tree->n + 2, sizeof(*first));
	struct stack_tree_row *sorted = xcalloc(tree->n_rows + 1, sizeof(*sorted));

	for (size_t i = 0; i < tree->n_rows; i++)
		first[tree->rows[i].node + 2]++;
	for (size_t i = 0; i < tree->n; i++)
		first[i + 1] += first[i];
	for (size_t i = 0; i < tree->n_rows; i++)
		sorted[first[tree->rows[i].node + 1]++] = tree->rows[i];
	for (size_t i = 0; i < tree->n; i++)
		if (first[i + 1] - first[i] > 1)
			qsort(sorted + first[i], first[i + 1] - first[i], sizeof(*sorted), compare_rows);
	free(first);
	free(tree->rows);
	tree->rows = sorted;
	tree->cap_rows = tree->n_rows + 1;
}

static void join_rows(struct stack_tree *tree)
{
	size_t n = 0;

	for (size_t i = 0; i < tree->n_rows; i++) {
		struct stack_tree_row *row = &tree->rows[i], *last = n ? &tree->rows[n - 1] : NULL;

		if (last && last->node == row->node && !compare_rows(last, row)) {
			last->n_samples += row->n_samples;
			last->period += row->period;
		} else {
			tree->rows[n++] = *row;
		}
	}
	tree->n_rows = n;
}

/* Sorts rows, groups and lanes, and joins what agrees. of_node: the final numbers. */
static void finish_rows(struct stack_maker *maker, const uint32_t *of_node)
{
	struct stack_tree *tree = maker->tree;

	for (size_t i = 0; i < tree->n_rows; i++)
		tree->rows[i].node = of_node[tree->rows[i].node];
	sort_groups(tree);
	sort_rows(tree);
	join_rows(tree);
}

/* ---- spans ---- */

/* The event's samples in the order of time; NULL: there are none, and the tree says why. */
static const struct sample_order *order_of(struct stack_maker *maker, const struct data_event *event)
{
	const struct profile *profile = maker->table->profile;
	bool has_samples = event->index < profile->n_events;
	const struct sample_order *order = has_samples ? profile->events[event->index]->order : NULL;
	struct str *why = &maker->tree->no_spans;

	if (!order && !maker->table->session->reader)
		str_add(why, "a live profile does not keep the order of its samples");
	else if (!order)
		str_add(why, "pstat report --flamegraph of the recording has it");
	else if (event->counted)
		str_add(why, "the recording has counts of samples, without their times");
	else if (profile->order_failed.len)
		str_addf(why, "the order of the samples could not be kept: %s", profile->order_failed.s);
	else if (!order->row.n_records)
		str_add(why, "the samples have no times");
	return why->len ? NULL : order;
}

/* Looks for the nodes of all that was sampled, which rows have made, before they are numbered anew. */
static void find_ordered_nodes(struct stack_maker *maker, const struct sample_order *order)
{
	const struct cells *cells = maker->cells;

	maker->ordered_nodes = xcalloc(order->cells.n + 1, sizeof(*maker->ordered_nodes));
	maker->cells = &order->cells;
	for (size_t i = 0; i < order->cells.n; i++)
		maker->ordered_nodes[i] =
			table_takes_cell(maker->table, maker->cells, i) ? cell_node(maker, i) : UINT32_MAX;
	maker->cells = cells;
}

/* The lane of each cell; one that is n_threads or more has none. The caller frees them. */
static uint32_t *choose_threads(struct stack_maker *maker, const struct sample_order *order, struct str *err)
{
	uint32_t *lanes = xcalloc(order->cells.n + 1, sizeof(*lanes)), *number;
	struct ordered_sample sample;
	struct spill_reader reader;
	uint64_t *n_samples;
	size_t n, kept;

	row_set_init(&maker->lanes, 1);
	for (size_t i = 0; i < order->cells.n; i++) {
		const uint64_t thread = cell_fact(&order->cells, i, FACT_TID);

		lanes[i] = row_set_intern(&maker->lanes, &thread);
	}
	n = maker->lanes.n;
	kept = n < STACK_LANES ? n : STACK_LANES;
	n_samples = xcalloc(n + 1, sizeof(*n_samples));
	spill_read(&reader, &maker->table->profile->spill, &order->row);
	while (sample_order_next(&reader, &sample, err) > 0)
		n_samples[lanes[sample.cell]] += maker->ordered_nodes[sample.cell] != UINT32_MAX;
	maker->tree->threads = xcalloc(kept + 1, sizeof(*maker->tree->threads));
	maker->tree->n_threads = kept;
	maker->tree->n_threads_left_out = n - kept;
	number = choose_lanes(maker, n_samples, kept, maker->tree->threads, thread_text);
	for (size_t i = 0; i < order->cells.n; i++)
		lanes[i] = number[lanes[i]];
	free(number);
	free(n_samples);
	row_set_release(&maker->lanes);
	return lanes;
}

static void make_spans(struct stack_maker *maker, const struct sample_order *order, const uint32_t *of_node)
{
	struct stack_tree *tree = maker->tree;
	uint32_t *lanes = choose_threads(maker, order, &tree->no_spans);
	struct ordered_sample sample;
	struct spill_reader reader;

	stack_spans_init(&tree->spans, tree->nodes, tree->n_threads, STACK_SPANS);
	spill_read(&reader, &maker->table->profile->spill, &order->row);
	while (!tree->no_spans.len && sample_order_next(&reader, &sample, &tree->no_spans) > 0) {
		const uint32_t node = maker->ordered_nodes[sample.cell], lane = lanes[sample.cell];
		const struct stack_span span = { .lane = lane, .begin_ns = sample.begin_ns, .end_ns = sample.end_ns,
						 .node = node == UINT32_MAX ? 0 : of_node[node] };

		if (node != UINT32_MAX && lane < tree->n_threads)
			stack_spans_add(&tree->spans, &span, sample.reaches_back);
	}
	stack_spans_end(&tree->spans);
	free(lanes);
}

/* ---- the whole ---- */

static void maker_init(struct stack_maker *maker, struct table *table, const struct hist *hist, size_t member,
		       const struct stack_tree_options *options)
{
	const struct session *session = table->session;
	const struct data_event *event = session->recording->events->v[hist->event->index + member];
	struct stack_tree *tree = xcalloc(1, sizeof(*tree));

	str_init(&tree->no_spans);
	*maker = (struct stack_maker){
		.tree = tree, .table = table, .cells = hist->cells[member], .options = options, .text = STR_INIT,
	};
	tree->texts = texts_new();
	tree->delimiter = UINT32_MAX;
	maker->wall_clock = event_is_wall_clock(event);
	tree->is_time = maker->wall_clock || event_has_waits(event) || event_has_wakers(event);
	texts_intern(tree->texts, "", 0);
	VEC_GROW(tree->nodes, tree->n, tree->cap);
	tree->nodes[tree->n++] = (struct stack_tree_node){ 0 };
	maker->of_stack = xcalloc(session->stacks->n + 1, sizeof(*maker->of_stack));
	maker->of_location = xcalloc(session->locations->n + 1, sizeof(*maker->of_location));
	maker->stack_samples = xcalloc(session->stacks->n + 1, sizeof(*maker->stack_samples));
	maker->location_samples = xcalloc(session->locations->n + 1, sizeof(*maker->location_samples));
	if (options->delimiter) {
		str_add(&maker->text, "-");
		tree->delimiter = add_frame(maker, add_text(maker), FRAME_USER);
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
	free(maker->ordered_nodes);
}

struct stack_tree *stack_tree_new(struct table *table, const struct hist *hist, size_t member,
				  const struct stack_tree_options *options)
{
	const size_t event = hist->event->index + member;
	const struct sample_order *order;
	struct stack_maker maker;
	uint32_t *number;

	maker_init(&maker, table, hist, member, options);
	make_rows(&maker);
	order = order_of(&maker, table->session->recording->events->v[event]);
	if (order)
		find_ordered_nodes(&maker, order);
	index_release(&maker.node_ix); /* no more nodes come, and it is larger than they are */
	number = number_nodes(maker.tree);
	move_nodes(maker.tree, number);
	finish_rows(&maker, number);
	if (order)
		make_spans(&maker, order, number);
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
	stack_spans_release(&tree->spans);
	free(tree->threads);
	str_release(&tree->no_spans);
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

/* ---- as it is drawn ---- */

struct box_walk {
	struct stack_boxes *boxes;
	const struct stack_tree *tree;
	struct open_box {
		size_t box;
		uint32_t node;
	} *open; /* from the outside in */
	size_t n_open, cap_open;
	uint32_t *todo;
	size_t cap_todo;
	uint64_t x;
	double least; /* weight */
};

static void open_box(struct box_walk *walk, bool is_group, uint32_t what, uint32_t node)
{
	struct stack_boxes *boxes = walk->boxes;

	VEC_GROW(boxes->v, boxes->n, boxes->cap);
	VEC_GROW(walk->open, walk->n_open, walk->cap_open);
	boxes->v[boxes->n] = (struct stack_box){
		.is_group = is_group, .what = what, .node = node, .level = (uint32_t)walk->n_open, .start = walk->x,
	};
	walk->open[walk->n_open++] = (struct open_box){ boxes->n++, node };
}

static void close_boxes(struct box_walk *walk, size_t n_open)
{
	struct stack_boxes *boxes = walk->boxes;

	while (walk->n_open > n_open) {
		size_t at = walk->open[--walk->n_open].box;
		struct stack_box *box = &boxes->v[at];

		box->weight = walk->x - box->start;
		if ((double)box->weight < walk->least) {
			/* Boxes below have no more: they were left out before it. */
			boxes->n_small += boxes->n - at;
			boxes->n = at;
		} else if (box->level >= boxes->n_levels) {
			boxes->n_levels = box->level + 1;
		}
	}
}

static void add_row(struct box_walk *walk, const struct stack_tree_row *row, size_t n_groups)
{
	const struct stack_tree *tree = walk->tree;
	const uint64_t weight = stack_tree_weight(tree, row);
	size_t n_todo = 0, depth;
	uint32_t node = row->node;

	for (;; node = tree->nodes[node].parent) {
		depth = tree->nodes[node].depth + n_groups;
		if (!node || (depth <= walk->n_open && walk->open[depth - 1].node == node))
			break;
		VEC_GROW(walk->todo, n_todo, walk->cap_todo);
		walk->todo[n_todo++] = node;
	}
	close_boxes(walk, depth);
	while (n_todo) {
		node = walk->todo[--n_todo];
		open_box(walk, false, tree->nodes[node].frame, node);
	}
	if (walk->n_open)
		walk->boxes->v[walk->open[walk->n_open - 1].box].self += weight;
	walk->x += weight;
}

void stack_boxes_make(struct stack_boxes *boxes, const struct stack_tree *tree, double part)
{
	const struct stack_tree_row **rows = stack_tree_by_group(tree);
	struct box_walk walk = { .boxes = boxes, .tree = tree };
	bool grouped = tree->n_groups > 1 || (tree->n_groups && *stack_tree_text(tree, tree->groups[0]));

	*boxes = (struct stack_boxes){ .weight = 0 };
	for (size_t i = 0; i < tree->n_rows; i++)
		boxes->weight += stack_tree_weight(tree, rows[i]);
	walk.least = part * (double)boxes->weight;
	for (size_t i = 0; i < tree->n_rows; i++) {
		if (grouped && (!i || rows[i - 1]->group != rows[i]->group)) {
			close_boxes(&walk, 0);
			open_box(&walk, true, rows[i]->group, 0);
		}
		add_row(&walk, rows[i], grouped);
	}
	close_boxes(&walk, 0);
	free(rows);
	free(walk.open);
	free(walk.todo);
}

void stack_boxes_release(struct stack_boxes *boxes)
{
	free(boxes->v);
	*boxes = (struct stack_boxes){ 0 };
}
