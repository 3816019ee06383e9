/*
 * The rows of a stack_tree: cells by node, group, lane and bucket. There are fewer rows than cells, which tell the
 * addresses of a function apart.
 */
#include "hist/stack_tree_internal.h"

#include <stdlib.h>

/* ---- groups ---- */

/* The keys of a row of values, "callers, 1234:callers". */
static void add_key_texts(struct stack_maker *maker, const uint64_t *values)
{
	struct table *table = maker->table;
	const uint64_t task = FACT(PID) | FACT(TID);
	struct str one = STR_INIT;
	unsigned n = 0;

	for (size_t i = 0; i < table->n_keys; i++) {
		if (table->keys[i]->flags & KEY_FRAME)
			continue;
		str_reset(&one);
		table->keys[i]->text(table, values[n], &one);
		str_add(&maker->text, n++ ? ", " : "");
		/* Numbers of tasks stand in a column of the table. */
		str_add(&maker->text, one.s + (table->keys[i]->facts & task ? strspn(one.s, " ") : 0));
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

	if (!maker->text.len && (maker->options->by_comm || maker->values.width))
		str_add(&maker->text, "[unknown]");
	text = stack_maker_text(maker);
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

	if (maker->options->by_comm)
		values[n++] = cell_fact(maker->cells, cell, FACT_COMM);
	for (size_t i = 0; i < maker->table->n_keys && !maker->options->by_comm; i++) {
		source.key = maker->table->keys[i];
		if (!(source.key->flags & KEY_FRAME))
			values[n++] = source.key->value(&source);
	}
	row = row_set_intern(&maker->values, values);
	if (row >= maker->n_group_of) {
		VEC_GROW(maker->group_of, maker->n_group_of, maker->cap_group_of);
		str_reset(&maker->text);
		if (maker->options->by_comm)
			add_comm(maker, (uint32_t)values[0]);
		else
			add_key_texts(maker, values);
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

static uint32_t lane_text(struct stack_maker *maker, uint64_t value)
{
	const struct table *table = maker->table;

	str_reset(&maker->text);
	if (maker->tree->lanes_are_cpus) {
		if (value == UINT64_MAX)
			str_add(&maker->text, "CPU not known");
		else
			str_addf(&maker->text, "CPU %llu", (unsigned long long)value);
	} else {
		str_addf(&maker->text, "%d ", task_names_number(value));
		if (table->profile->tasks)
			add_comm(maker, task_names_comm(table->profile->tasks, value));
	}
	return stack_maker_text(maker);
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

/* Those with most samples, by number, and one for the rest. The new number of each: the caller frees it. */
static uint32_t *choose_lanes(struct stack_maker *maker, const uint64_t *n_samples)
{
	struct stack_tree *tree = maker->tree;
	size_t n = maker->lanes.n, kept = n > STACK_LANES ? STACK_LANES - 1 : n;
	struct lane_order *order = xcalloc(n + 1, sizeof(*order));
	uint32_t *number = xcalloc(n + 1, sizeof(*number));

	for (size_t i = 0; i < n; i++)
		order[i] = (struct lane_order){ *row_set_at(&maker->lanes, (uint32_t)i), n_samples[i], (uint32_t)i };
	qsort(order, n, sizeof(*order), most_samples_first);
	qsort(order, kept, sizeof(*order), by_value);
	tree->lanes = xcalloc(kept + 1, sizeof(*tree->lanes));
	for (size_t i = 0; i < n; i++) {
		number[order[i].number] = (uint32_t)(i < kept ? i : kept);
		if (i < kept)
			tree->lanes[i] = lane_text(maker, order[i].value);
	}
	tree->n_lanes = kept;
	if (kept < n) {
		str_reset(&maker->text);
		str_addf(&maker->text, "%zu others", n - kept);
		tree->lanes[tree->n_lanes++] = stack_maker_text(maker);
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
		.node = stack_maker_node(maker, cell),
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
	uint64_t *n_samples = xcalloc(maker->lanes.n + 1, sizeof(*n_samples));
	uint32_t *number;

	for (size_t i = 0; i < tree->n_rows; i++)
		n_samples[lanes[i]] += tree->rows[i].n_samples;
	number = choose_lanes(maker, n_samples);
	for (size_t i = 0; i < tree->n_rows; i++)
		tree->rows[i].lane = (uint16_t)number[lanes[i]];
	free(n_samples);
	free(number);
}

static unsigned n_group_keys(const struct stack_maker *maker)
{
	unsigned n = 0;

	for (size_t i = 0; i < maker->table->n_keys; i++)
		n += !(maker->table->keys[i]->flags & KEY_FRAME);
	return maker->options->by_comm ? 1 : n;
}

void stack_rows_make(struct stack_maker *maker)
{
	const struct cells *cells = maker->cells;
	struct stack_tree *tree = maker->tree;
	uint32_t *lanes = xcalloc(cells->n + 1, sizeof(*lanes));

	/* The key `parent` is asked of frames, which nobody has made where entries are not wanted. */
	if (maker->table->private->parent)
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

void stack_rows_finish(struct stack_maker *maker, const uint32_t *of_node)
{
	struct stack_tree *tree = maker->tree;

	for (size_t i = 0; i < tree->n_rows; i++)
		tree->rows[i].node = of_node[tree->rows[i].node];
	sort_groups(tree);
	sort_rows(tree);
	join_rows(tree);
}
