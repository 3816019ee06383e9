/* SPDX-License-Identifier: MIT */
/*
 * view_rows: the table on the screen: heads, then a line for each row, of which those in sight are made.
 *
 *	  Children      Self  Command  Shared Object  Symbol
 *	-   99.20%     0.00%  app      app            [.] main
 *	   - 99.20% main
 *	      + 60.10% one
 *	        39.10% two
 *
 * A row is an entry, or a frame of its call tree. Frames that share a branch without forks are one fold: the
 * first of them has the numbers and the mark, the others follow it. Trees are made when they are first unfolded,
 * and go with the table; what is unfolded is remembered by ids, made of names and addresses, so that the next table,
 * of other samples or in another order, looks the same.
 *
 * Columns are made to fit the terminal as those of --stdio are there; scrolled to the right, names are whole.
 */
#include "screen/screen_internal.h"

#include <errno.h>
#include <stdlib.h>

enum { MARK_COLUMNS = 2, STEP_COLUMNS = 3, HEAD_LINES = 1 };

struct id_set { /* sorted */
	uint64_t *v;
	size_t n, cap;
};
struct row_tree {
	const struct entry *entry;
	struct call_tree *tree; /* or NULL: it has none */
};
struct row_list {
	struct row *v;
	size_t n, cap;
	struct row_tree *trees; /* made when they are first unfolded */
	size_t n_trees, cap_trees;
	struct index of_entry; /* of trees */
	struct id_set flipped; /* rows that are not as `all_unfolded` says */
	bool all_unfolded;
	struct id_count { /* while rows are made: kept, for there are as many as rows */
		uint64_t id;
		uint32_t n; /* rows that would have it */
	} *ids;
	size_t n_ids, cap_ids;
	struct index of_id; /* of ids */
};
struct rows_view {
	struct row_list list;
	struct viewport viewport;
	uint64_t selected_id;
	bool whole_names;
	unsigned fitted; /* columns that the table's widths are for, and one more; 0: not yet */
	uint64_t menu_id; /* of the row that the menu is of; 0: of none */
	struct str menu_name; /* and its name */
};

/* Makes the rows of a hist. */
struct row_builder {
	struct row_list *rows;
	struct table *table;
	const struct hist *hist;
	struct str text;
};

/* ---- rows: sets of ids ---- */

static size_t id_place(const struct id_set *set, uint64_t id)
{
	return BISECT(i, 0, set->n, set->v[i] < id);
}

static bool id_has(const struct id_set *set, uint64_t id)
{
	size_t at = id_place(set, id);

	return at < set->n && set->v[at] == id;
}

static void id_flip(struct id_set *set, uint64_t id)
{
	size_t at = id_place(set, id);

	if (at < set->n && set->v[at] == id) {
		memmove(set->v + at, set->v + at + 1, (--set->n - at) * sizeof(id));
		return;
	}
	VEC_GROW(set->v, set->n, set->cap);
	memmove(set->v + at + 1, set->v + at, (set->n++ - at) * sizeof(id));
	set->v[at] = id;
}

static bool is_unfolded(const struct row_list *rows, uint64_t id)
{
	return rows->all_unfolded != (rows->flipped.n && id_has(&rows->flipped, id));
}

/* ---- ids ---- */

/* Rows that look the same and have the same parent get different ids by their order. */
static uint64_t child_id(struct row_builder *builder, uint64_t parent, uint64_t looks)
{
	const uint64_t words[] = { parent, looks };
	const uint64_t id = hash_words(words, ARRAY_SIZE(words));
	struct row_list *rows = builder->rows;
	uint32_t i;

	if (INDEX_FIND(&rows->of_id, id, i, rows->ids[i].id == id)) {
		const uint64_t again[] = { id, rows->ids[i].n++ };

		return hash_words(again, ARRAY_SIZE(again));
	}
	VEC_GROW(rows->ids, rows->n_ids, rows->cap_ids);
	index_add(&rows->of_id, id, (uint32_t)rows->n_ids);
	rows->ids[rows->n_ids++] = (struct id_count){ id, 1 };
	return id;
}

/* An entry is what its keys are; in a hierarchy those of its level, below its parent. */
static uint64_t entry_id(struct row_builder *builder, uint64_t parent, const struct entry *entry)
{
	return child_id(builder, parent, table_entry_hash(builder->table, entry));
}

static uint64_t node_id(struct row_builder *builder, uint64_t parent, const struct call_node *node)
{
	const struct symbol *symbol = node->frame.symbol;
	uint64_t looks;

	str_reset(&builder->text);
	calltree_add_name(builder->table, &node->frame, &builder->text);
	looks = hash_bytes(builder->text.s, builder->text.len);
	return child_id(builder, parent, symbol ? hash_word(looks ^ function_identity(symbol)) : looks);
}

/* ---- call trees ---- */

static bool has_children(const struct row_builder *builder, const struct entry *entry)
{
	for (size_t i = 0; i < entry->n_children; i++)
		if (entry_is_shown(builder->table, builder->hist, entry->children[i]))
			return true;
	return false;
}

static struct call_tree *tree_of(struct row_builder *builder, const struct entry *entry)
{
	const bool of_branch = builder->table->question->query.chain.kind == CHAIN_FRACTAL;
	const struct tree_limit limit = table_tree_limit(builder->table, builder->hist, of_branch);
	struct row_list *rows = builder->rows;
	uint64_t hash = hash_word((uintptr_t)entry);
	uint32_t i;

	if (INDEX_FIND(&rows->of_entry, hash, i, rows->trees[i].entry == entry))
		return rows->trees[i].tree;
	VEC_GROW(rows->trees, rows->n_trees, rows->cap_trees);
	rows->trees[rows->n_trees] = (struct row_tree){
		.entry = entry, .tree = table_tree(builder->table, builder->hist, entry, &limit),
	};
	index_add(&rows->of_entry, hash, (uint32_t)rows->n_trees);
	return rows->trees[rows->n_trees++].tree;
}

static void add_row(struct row_builder *builder, const struct row *row)
{
	struct row_list *rows = builder->rows;

	VEC_GROW(rows->v, rows->n, rows->cap);
	rows->v[rows->n++] = *row;
}

/* A branch up to its end, which follows its first frame where it is unfolded. The end's row. */
static struct row add_branch(struct row_builder *builder, const struct entry *entry, const struct call_node *node,
			     uint64_t parent, unsigned depth)
{
	const struct call_node *end = calltree_run_end(node);
	struct row row = { .entry = entry, .node = node, .depth = depth };

	row.id = node_id(builder, parent, node);
	row.foldable = end != node || end->children;
	row.unfolded = row.foldable && is_unfolded(builder->rows, row.id);
	add_row(builder, &row);
	while (row.unfolded && row.node != end) {
		row.node = row.node->children;
		row.id = node_id(builder, row.id, row.node);
		row.continued = true;
		row.foldable = false;
		add_row(builder, &row);
	}
	row.node = row.unfolded ? end : NULL;
	return row;
}

/* The depth is input: where the walk goes on is on a stack of our own. */
static void add_tree(struct row_builder *builder, const struct entry *entry, const struct row *above)
{
	struct call_tree *tree = tree_of(builder, entry);
	struct level {
		const struct call_node *next;
		uint64_t parent;
	} *levels = NULL;
	size_t n = 0, cap = 0;

	if (!tree)
		return;
	VEC_GROW(levels, n, cap);
	levels[n++] = (struct level){ tree->root.children, above->id };
	while (n) {
		struct level *level = &levels[n - 1];
		const struct call_node *node = level->next;
		struct row end;

		if (!node) {
			n--;
			continue;
		}
		level->next = node->next;
		end = add_branch(builder, entry, node, level->parent, above->depth + (unsigned)n);
		if (!end.node)
			continue;
		VEC_GROW(levels, n, cap);
		levels[n++] = (struct level){ end.node->children, end.id };
	}
	free(levels);
}

/* ---- entries ---- */

static void add_entry(struct row_builder *builder, const struct entry *entry, uint64_t parent)
{
	struct row row = { .entry = entry, .depth = (unsigned)entry->depth };

	if (!entry_is_shown(builder->table, builder->hist, entry))
		return;
	row.id = entry_id(builder, parent, entry);
	row.foldable = entry->n_children ? has_children(builder, entry)
					 : table_has_tree(builder->table, builder->hist, entry);
	row.unfolded = row.foldable && is_unfolded(builder->rows, row.id);
	add_row(builder, &row);
	if (!row.unfolded)
		return;
	if (!entry->n_children)
		add_tree(builder, entry, &row);
	/* The recursion is as deep as there are keys. */
	for (size_t i = 0; i < entry->n_children; i++)
		add_entry(builder, entry->children[i], row.id);
}

/* Makes the rows of a hist as they are folded now. */
static void row_list_make(struct row_list *rows, struct table *table, const struct hist *hist)
{
	struct row_builder builder = { .rows = rows, .table = table, .hist = hist, .text = STR_INIT };

	rows->n = rows->n_ids = 0;
	index_clear(&rows->of_id);
	for (size_t i = 0; i < hist->n; i++)
		add_entry(&builder, hist->entries[i], 0);
	str_release(&builder.text);
}

/* Before the table goes: forgets all that points into it. */
static void row_list_forget(struct row_list *rows)
{
	for (size_t i = 0; i < rows->n_trees; i++)
		calltree_free(rows->trees[i].tree);
	rows->n_trees = 0;
	rows->n = 0;
	index_clear(&rows->of_entry);
}

static void row_list_release(struct row_list *rows)
{
	row_list_forget(rows);
	free(rows->v);
	free(rows->trees);
	free(rows->flipped.v);
	index_release(&rows->of_entry);
	free(rows->ids);
	index_release(&rows->of_id);
}

/* The number of the row with this id; rows->n: there is none. */
static size_t row_list_find(const struct row_list *rows, uint64_t id)
{
	size_t i = 0;

	while (i < rows->n && rows->v[i].id != id)
		i++;
	return i;
}

/* ---- folding ---- */

/* Unfolds or folds one row; row_list_make() shows it. */
static void row_list_flip(struct row_list *rows, const struct row *row)
{
	if (row->foldable)
		id_flip(&rows->flipped, row->id);
}

static void row_list_set_all(struct row_list *rows, bool unfold)
{
	rows->flipped.n = 0;
	rows->all_unfolded = unfold;
}

static void set(struct row_list *rows, uint64_t id, bool unfold)
{
	if (is_unfolded(rows, id) != unfold)
		id_flip(&rows->flipped, id);
}

/*
 * All folds below one come to light by unfolding those above them first: until nothing new does. Rounds are as
 * many as levels, and each sees the rows of the one before.
 */
static void row_list_set_below(struct row_list *rows, struct table *table, const struct hist *hist,
			       const struct row *row, bool unfold)
{
	const uint64_t id = row->id;
	const unsigned depth = row->depth;
	size_t before;

	do {
		size_t i = row_list_find(rows, id);

		before = rows->n;
		if (i < rows->n)
			set(rows, id, unfold);
		while (++i < rows->n &&
		       (rows->v[i].depth > depth || (rows->v[i].continued && rows->v[i].depth == depth)))
			if (rows->v[i].foldable)
				set(rows, rows->v[i].id, unfold);
		row_list_make(rows, table, hist);
	} while (unfold && rows->n > before);
}

/* ---- the selected row ---- */

const struct row *rows_selected(const struct screen *screen)
{
	const struct rows_view *view = screen->rows;

	return view->viewport.selected < view->list.n ? &view->list.v[view->viewport.selected] : NULL;
}

const struct column *rows_key_column(const struct table *table, const struct entry *entry, const char *key)
{
	for (size_t i = 0; i < table->n_columns; i++) {
		const struct column *column = &table->columns[i];

		if (column->kind == COLUMN_KEY && !strcmp(column->key->name, key))
			return !entry->n_children || column->level <= entry->depth ? column : NULL;
	}
	return NULL;
}

/* Is it of one function? Where rows have no rows within, also by a key without a column. */
static bool is_by_function(const struct table *table, const struct entry *entry)
{
	for (size_t i = 0; i < table->question->n_keys && !entry->n_children; i++)
		if (!strcmp(table->question->keys[i]->name, "symbol"))
			return true;
	return rows_key_column(table, entry, "symbol");
}

const struct symbol *rows_selected_symbol(const struct screen *screen)
{
	const struct row *row = rows_selected(screen);
	struct session *session = screen->table->session;

	if (row && row->node)
		return row->node->frame.symbol;
	return row && row->entry->location < session->locations->n && is_by_function(screen->table, row->entry)
		       ? location_symbol(session, row->entry->location)
		       : NULL;
}

static void select_row(struct screen *screen, size_t i)
{
	struct rows_view *view = screen->rows;

	view->viewport.selected = i;
	viewport_clamp(&view->viewport, screen, view->list.n, HEAD_LINES);
	if (view->list.n)
		view->selected_id = view->list.v[view->viewport.selected].id;
}

static bool rows_select(struct screen *screen, uint64_t id)
{
	size_t i = row_list_find(&screen->rows->list, id);

	if (i == screen->rows->list.n)
		return false;
	select_row(screen, i);
	return true;
}

/* At the same height of the screen, where the row is still there; else the line at the same place, or the first. */
static void select_again(struct rows_view *view)
{
	const struct row_list *rows = &view->list;
	struct viewport *at = &view->viewport;
	size_t before = at->selected, found;

	found = view->selected_id ? row_list_find(rows, view->selected_id) : rows->n;
	if (found < rows->n && found >= before)
		at->top += found - before;
	else if (found < rows->n)
		at->top -= at->top > before - found ? before - found : at->top;
	at->selected = found < rows->n ? found : before;
	/* Nobody has moved yet: the first row stays selected, whatever it is. */
	if (!before && !at->top)
		at->selected = 0;
}

static void make_rows(struct screen *screen)
{
	struct rows_view *view = screen->rows;

	row_list_make(&view->list, screen->table, screen->hist);
	select_again(view);
	if (screen->terminal)
		viewport_clamp(&view->viewport, screen, view->list.n, HEAD_LINES);
}

/* ---- the life of the view ---- */

static void begin(struct screen *screen)
{
	screen->rows = xcalloc(1, sizeof(*screen->rows));
	str_init(&screen->rows->menu_name);
}

static void end(struct screen *screen)
{
	row_list_release(&screen->rows->list);
	str_release(&screen->rows->menu_name);
	free(screen->rows);
}

static void forget_table(struct screen *screen)
{
	row_list_forget(&screen->rows->list);
	screen->rows->fitted = 0;
}

bool rows_renew(struct screen *screen)
{
	forget_table(screen);
	if (screen->hist)
		make_rows(screen);
	return screen->rows->list.n;
}

/* ---- lines ---- */

static void rows_fit(struct screen *screen)
{
	struct rows_view *view = screen->rows;
	const unsigned width = terminal_width(screen->terminal);
	struct output output = { .columns = width > MARK_COLUMNS ? width - MARK_COLUMNS : 1 };

	if (view->whole_names || view->viewport.left)
		output.columns = 0;
	if (view->fitted == width + 1)
		return;
	view->fitted = width + 1;
	table_columns_for(screen->table, screen->hist);
	fmt_fit_columns(screen->table, screen->hist, &output);
}

static bool has_levels(const struct table *table)
{
	return table->question->query.view == VIEW_HIERARCHY;
}

static void rows_add_heads(struct screen *screen, struct str *out)
{
	const struct table *table = screen->table;
	bool first_key = true;

	str_pad(out, ' ', MARK_COLUMNS);
	for (size_t i = 0; i < table->n_columns; i++) {
		const struct column *column = &table->columns[i];
		size_t blanks;

		if (!has_levels(table) || column->kind == COLUMN_NUMBER) {
			str_add(out, i ? "  " : "");
			fmt_add_head(table, screen->hist, column, out);
			continue;
		}
		/* "Command / Shared Object / Symbol" above the column that all levels share. */
		blanks = strspn(column->key->header, " ");
		str_add(out, first_key ? "  " : " / ");
		str_add(out, column->key->header + blanks);
		first_key = false;
	}
}

static void add_mark(const struct row *row, struct str *out)
{
	str_add(out, !row->foldable ? "  " : row->unfolded ? "- " : "+ ");
}

/* Begins a line that is shortened to the terminal, unless names are to be whole. */
static struct output begin_line(const struct screen *screen)
{
	unsigned width = terminal_width(screen->terminal);
	bool whole = screen->rows->whole_names || screen->rows->viewport.left;

	return (struct output){ .text = STR_INIT, .columns = whole ? 0 : width, .dots = screen->options->dots };
}

/* Adds the keys that make the entry different, in a hierarchy those of its level; the last one's column. */
static const struct column *add_key_texts(struct table *table, const struct entry *entry, struct str *out)
{
	const struct column *last = NULL;

	for (size_t i = 0; i < table->n_columns; i++) {
		const struct column *column = &table->columns[i];

		if (column->kind != COLUMN_KEY || (has_levels(table) && column->level != entry->depth))
			continue;
		str_add(out, last ? " " : "");
		table_key_text(table, entry, column, out);
		last = column;
	}
	return last;
}

static void rows_add_name(struct screen *screen, const struct row *row, struct str *out)
{
	struct str name = STR_INIT;

	if (row->node)
		calltree_add_name(screen->table, &row->node->frame, &name);
	else
		add_key_texts(screen->table, row->entry, &name);
	/* Numbers of tasks stand in a column. */
	str_add(out, name.s + strspn(name.s, " "));
	str_release(&name);
}

static void add_level_line(struct screen *screen, const struct row *row, struct output *output)
{
	struct table *table = screen->table;
	const struct column *last;
	struct str *out = &output->text;
	size_t n = 0, keys;

	add_mark(row, out);
	for (size_t i = 0; i < table->n_columns; i++) {
		const struct column *column = &table->columns[i];

		if (column->kind != COLUMN_NUMBER)
			continue;
		str_add(out, n++ ? "  " : "");
		fmt_add_cell(table, screen->hist, row->entry, column, false, output);
	}
	str_pad(out, ' ', 2 + row->depth * STEP_COLUMNS);
	keys = out->len;
	last = add_key_texts(table, row->entry, out);
	n = text_columns(out->s, keys);
	if (output->columns > n && last)
		str_shorten(out, keys, output->columns - n, last->key->flags & KEY_FUNCTION, output->dots);
}

static void add_entry_line(struct screen *screen, const struct row *row, struct output *output)
{
	struct table *table = screen->table;

	if (has_levels(table)) {
		add_level_line(screen, row, output);
		return;
	}
	add_mark(row, &output->text);
	for (size_t i = 0; i < table->n_columns; i++) {
		str_add(&output->text, i ? "  " : "");
		fmt_add_cell(table, screen->hist, row->entry, &table->columns[i], i + 1 == table->n_columns, output);
	}
}

static double node_percent(const struct screen *screen, const struct row *row)
{
	const struct call_node *node = row->node;
	uint64_t total = hist_period(screen->table, screen->hist, 0);

	if (screen->table->question->query.chain.kind == CHAIN_FRACTAL)
		total = calltree_below(node->parent);
	return total ? (double)node->total_period * 100.0 / (double)total : 0.0;
}

static void add_node_line(struct screen *screen, const struct row *row, struct output *output)
{
	const struct table *table = screen->table;
	struct str *out = &output->text;
	size_t name, room;

	str_pad(out, ' ', row->depth * STEP_COLUMNS);
	add_mark(row, out);
	if (row->continued)
		str_pad(out, ' ', MARK_COLUMNS);
	else if (table->question->query.chain.value == CHAIN_PERCENT)
		str_addf(out, "%.2f%% ", node_percent(screen, row));
	else if (table->question->query.chain.value == CHAIN_PERIOD)
		str_addf(out, "%llu ", (unsigned long long)row->node->total_period);
	else
		str_addf(out, "%llu ", (unsigned long long)row->node->total_count);
	name = out->len;
	calltree_add_name(table, &row->node->frame, out);
	calltree_add_branches(table, row->node, out);
	room = text_columns(out->s, name);
	if (output->columns && output->columns > room)
		str_shorten(out, name, output->columns - room, true, output->dots);
}

static void add_row_line(struct screen *screen, const struct row *row, struct output *output)
{
	if (row->node)
		add_node_line(screen, row, output);
	else
		add_entry_line(screen, row, output);
}

static enum terminal_look look_of(const struct screen *screen, const struct row *row)
{
	const struct table *table = screen->table;
	double percent = 0;

	if (row->node) {
		percent = row->continued ? 0 : node_percent(screen, row);
	} else {
		for (size_t i = 0; i < table->n_columns && percent <= 0; i++)
			if (table->columns[i].kind == COLUMN_NUMBER && table->columns[i].field->percent)
				percent = entry_percent(table, screen->hist, row->entry, table->columns[i].field, 0);
	}
	return screen_percent_look(percent);
}

static void draw_empty(struct screen *screen)
{
	const bool begins = screen->fed == SCREEN_FED_LATER && !screen->seen;
	struct str text = STR_INIT;

	str_add(&text, begins || screen->fed == SCREEN_FED_MORE ? "No sample so far" : "No sample is left");
	if (zooms_any(screen))
		str_add(&text, " (Left: back)");
	screen_put_line(screen, HEAD_LINES, &text, 0, LOOK_PLAIN);
	str_release(&text);
}

static void draw(struct screen *screen)
{
	struct rows_view *view = screen->rows;
	struct viewport *viewport = &view->viewport;
	struct str heads = STR_INIT;

	if (!screen->table || !screen->hist || !view->list.n) {
		draw_empty(screen);
		return;
	}
	rows_fit(screen);
	viewport_clamp(viewport, screen, view->list.n, HEAD_LINES);
	rows_add_heads(screen, &heads);
	screen_put_line(screen, 0, &heads, viewport->left, LOOK_HEAD);
	str_release(&heads);
	for (unsigned y = 0; y < screen_body_lines(screen, HEAD_LINES) && viewport->top + y < view->list.n; y++) {
		const struct row *row = &view->list.v[viewport->top + y];
		struct output output = begin_line(screen);

		add_row_line(screen, row, &output);
		screen_put_line(screen, HEAD_LINES + y, &output.text, viewport->left,
				row == rows_selected(screen) ? LOOK_SELECTED : look_of(screen, row));
		str_release(&output.text);
	}
}

static void add_title(const struct screen *screen, struct str *out)
{
	if (!screen->hist)
		return;
	head_add_samples(screen->table, screen->hist, out);
	str_addf(out, "%s", screen_has_next_event(screen) ? " (Tab: the next)" : "");
	zooms_add(screen, out);
}

/* ---- moving ---- */

static void move(struct screen *screen, enum movement how)
{
	struct rows_view *view = screen->rows;

	if (!screen_need_table(screen) || !view->list.n)
		return;
	viewport_move(&view->viewport, screen, how, view->list.n, HEAD_LINES);
	select_row(screen, view->viewport.selected);
}

/* Columns of the longest line in sight, with whole names. */
static size_t widest_in_sight(struct screen *screen)
{
	const struct row_list *rows = &screen->rows->list;
	const size_t top = screen->rows->viewport.top;
	struct output output = { .text = STR_INIT };
	size_t widest;

	table_columns_for(screen->table, screen->hist);
	rows_add_heads(screen, &output.text);
	widest = screen_line_columns(&output.text);
	for (size_t i = top; i < top + screen_body_lines(screen, HEAD_LINES) && i < rows->n; i++) {
		size_t columns;

		str_reset(&output.text);
		add_row_line(screen, &rows->v[i], &output);
		columns = screen_line_columns(&output.text);
		widest = columns > widest ? columns : widest;
	}
	str_release(&output.text);
	return widest;
}

static void scroll(struct screen *screen, int by)
{
	const size_t widest = by > 0 && screen_need_table(screen) ? widest_in_sight(screen) : 0;

	viewport_scroll(&screen->rows->viewport, screen, by, widest);
	screen->rows->fitted = 0;
}

const struct view view_rows = {
	.bit = VIEW_ROWS, .title = add_title, .draw = draw, .move = move, .scroll = scroll,
	.begin = begin, .end = end, .forget_table = forget_table,
};

void act_left(struct screen *screen)
{
	if (screen->rows->viewport.left)
		scroll(screen, -1);
	else
		act_back(screen);
}

void act_back(struct screen *screen)
{
	if (!zoom_out(screen))
		screen_say(screen, "this is all there is; q leaves");
}

/* ---- folding ---- */

void act_fold_all(struct screen *screen, int unfold)
{
	if (!screen_need_table(screen))
		return;
	row_list_set_all(&screen->rows->list, unfold);
	make_rows(screen);
}

/* Selects the first frame of the selected fold, which the others follow. NULL: there is no row. */
static const struct row *select_head(struct screen *screen)
{
	const struct row_list *rows = &screen->rows->list;
	size_t i = screen->rows->viewport.selected;

	if (!screen_need_table(screen) || !rows->n)
		return NULL;
	while (i && rows->v[i].continued)
		i--;
	select_row(screen, i);
	return rows_selected(screen);
}

void act_fold_row(struct screen *screen)
{
	const struct row *row = select_head(screen);

	if (!row)
		return;
	row_list_flip(&screen->rows->list, row);
	make_rows(screen);
}

void act_fold_below(struct screen *screen, int unfold)
{
	const struct row *row = select_head(screen);

	if (!row)
		return;
	row_list_set_below(&screen->rows->list, screen->table, screen->hist, row, unfold);
	make_rows(screen);
}

/* Unfolds or folds a row that can be; else opens the menu of what can be done with it. */
void act_enter(struct screen *screen)
{
	const struct row *row;

	if (!screen_need_table(screen))
		return;
	row = rows_selected(screen);
	if (row && (row->foldable || row->continued))
		act_fold_row(screen);
	else
		act_menu(screen);
}

/* ---- names ---- */

void act_whole_names(struct screen *screen)
{
	screen->rows->whole_names = !screen->rows->whole_names;
	screen->rows->fitted = 0;
}

/* The row's line without any cut, broken into as many lines as it needs. */
void act_show_name(struct screen *screen)
{
	struct output output = { .text = STR_INIT };
	struct str lines = STR_INIT;
	unsigned width = terminal_width(screen->terminal);

	if (!screen_need_table(screen) || !rows_selected(screen))
		return;
	table_columns_for(screen->table, screen->hist);
	screen->rows->fitted = 0;
	add_row_line(screen, rows_selected(screen), &output);
	for (size_t at = 0; at < output.text.len;) {
		size_t n = text_fitting(output.text.s + at, output.text.len - at, width ? width : 1);

		n = n ? n : output.text.len - at;
		str_addn(&lines, output.text.s + at, n);
		str_addc(&lines, '\n');
		at += n;
	}
	str_release(&output.text);
	text_open(screen, "The whole row", &lines);
}

/* ---- to a file ---- */

void rows_print(struct screen *screen, struct output *output)
{
	if (!screen_need_table(screen)) {
		output->failed = -ENODATA;
		return;
	}
	report_format_find("stdio")->print(screen->table, output);
	/* Columns fit the last event now. */
	screen->rows->fitted = 0;
}

/* ---- the menu of a row ---- */

/* A line does what its key does. */
static const struct menu_row {
	const char *line;
	int key;
	bool of_row;
} menu_rows[] = {
	{ "Annotate: the code of this function", 'a', true },
	{ "Only this thread", 't', true },
	{ "Only this file (dso)", 'd', true },
	{ "Only this task's name (comm)", 'n', true },
	{ "Only this function (symbol)", 's', true },
	{ "Only one CPU", 'u', true },
	{ "Only one socket", 'S', true },
	{ "Data: the types that its samples touch", 'D', true },
	{ "Only a span of time", 'T', false },
	{ "The whole row, with nothing shortened", 'W', true },
	{ "Print the table to a file", 'P', false },
	{ "Write the flame graph to a file", 'V', false },
	{ "Leave", 'q', false },
};

/* Other samples may have come: the row is another line now, or none. */
static void menu_chosen(struct screen *screen, size_t i)
{
	const struct rows_view *view = screen->rows;

	if (menu_rows[i].of_row && view->menu_id &&
	    (!screen_need_table(screen) || !rows_select(screen, view->menu_id)))
		screen_say(screen, "%s no longer exists", view->menu_name.s);
	else
		screen_key_act(screen, screen_key_find(VIEW_ROWS, menu_rows[i].key));
}

void act_menu(struct screen *screen)
{
	struct rows_view *view = screen->rows;
	struct str title = STR_INIT, lines = STR_INIT;
	const struct row *row;

	if (!screen_need_table(screen))
		return;
	row = rows_selected(screen);
	view->menu_id = row ? row->id : 0;
	str_reset(&view->menu_name);
	if (row)
		rows_add_name(screen, row, &view->menu_name);
	str_addf(&title, "What to do%s%s", row ? " with " : "", view->menu_name.s);
	for (size_t i = 0; i < ARRAY_SIZE(menu_rows); i++)
		str_addf(&lines, "%s\n", menu_rows[i].line);
	menu_open(screen, title.s, &lines, menu_chosen);
	str_release(&title);
}
