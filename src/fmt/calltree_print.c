/* SPDX-License-Identifier: MIT */
/*
 * calltree_print.c: a call tree as text below its entry, in the kinds of -g:
 *
 *	graph, fractal          flat                 folded
 *	        |                  12.00%            12.00% main;f
 *	        |--30.00%--f            main
 *	        |          g            f
 *	        |
 *	         --5.00%--h
 *
 * Nodes on a way without forks, where no chain ends, share one branch: its first line has the value,
 * the others only the name. `graph` gives parts of the whole event, `fractal` parts of the branch above,
 * with a last branch "[...]" for what is below the limit. On a terminal names are cut to what is left of their
 * lines, but not in folded lines, which are read by programs.
 */
#include "fmt/fmt_internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { TREE_INDENT = 12, FLAT_VALUE_INDENT = 11, FLAT_NAME_INDENT = 16 };

struct drawing {
	const struct table *table;
	const struct chain_options *options;
	struct output *output;
	struct str *out; /* of output */
	unsigned left_margin;
	uint64_t event_period, entry_period;
	struct tree_limit limit;
	bool drawn; /* something */
	struct str rails; /* one per level of branches: '|' while more branches follow, else ' ' */
	struct branch_level *levels; /* as many as rails; a stack of our own: depth is input */
	size_t n_levels, cap_levels;
	const struct call_node **way; /* from the root to the end of a chain that is printed by itself */
	size_t cap_way;
};

static bool is_fractal(const struct drawing *d)
{
	return d->options->kind == CHAIN_FRACTAL;
}

void calltree_add_name(const struct table *table, const struct view_frame *frame, struct str *out)
{
	const enum chain_key key = table->question->query.chain.key;
	const struct locations *locations = table->session->locations;
	const struct location_row *row = frame->location < locations->n ? &locations->v[frame->location] : NULL;

	if (!frame->symbol) {
		str_addf(out, "%#llx", row ? (unsigned long long)row->ip : 0ULL);
		return;
	}
	str_add(out, frame->symbol->name);
	if (key != CHAIN_BY_FUNCTION && frame->line.file) {
		const char *file = frame->line.file, *base = strrchr(file, '/');

		if (base && !table->question->query.full_source_path)
			file = base + 1;
		str_addc(out, ' ');
		str_add_printable(out, file, strlen(file));
		str_addf(out, ":%u", frame->line.line);
	} else if (key == CHAIN_BY_ADDRESS && row) {
		str_addf(out, " +%llu", (unsigned long long)(row->addr - frame->symbol->start));
	}
	if (frame->inlined)
		str_add(out, " (inlined)");
}

static void add_word(struct str *out, const char *word)
{
	str_add(out, out->len ? " " : "");
	str_add(out, word);
}

/* Kinds of branches, and whether they went to another page. */
static void add_kinds(const struct branch_sums *branches, struct str *out)
{
	if (branches->cond_forward)
		add_word(out, "COND_FWD");
	if (branches->cond_backward)
		add_word(out, "COND_BWD");
	for (unsigned kind = 0; kind < BRANCH_KINDS; kind++)
		if (branches->kinds >> kind & 1 && kind != BRANCH_COND)
			add_word(out, branch_kind_name(kind));
	if (branches->crossed & BRANCH_CROSSES_4K)
		add_word(out, "CROSS_4K");
	if (branches->crossed & BRANCH_CROSSES_2M)
		add_word(out, "CROSS_2M");
}

static void add_share(struct str *out, const char *word, uint64_t n, uint64_t all)
{
	add_word(out, word);
	str_addf(out, ":%.1f%%", 100.0 * (double)n / (double)all);
}

static void add_branch_words(const struct branch_sums *branches, struct str *out)
{
	if (branches->end == BRANCH_END_FROM) {
		if (branches->cycles / branches->n)
			str_addf(out, "cycles:%llu", (unsigned long long)(branches->cycles / branches->n));
		return;
	}
	add_kinds(branches, out);
	if (branches->n_predicted < branches->n)
		add_share(out, "predicted", branches->n_predicted, branches->n);
	if (branches->n_aborted)
		add_share(out, "abort", branches->n_aborted, branches->n);
}

void calltree_add_branches(const struct table *table, const struct call_node *node, struct str *out)
{
	const struct locations *locations = table->session->locations;
	const uint32_t location = node->frame.location;
	const bool branch = location < locations->n && locations->v[location].branch;
	struct str words = STR_INIT;

	if (!table->question->query.session.branch_history)
		return;
	if (node->branches)
		add_branch_words(node->branches, &words);
	else if (!branch)
		str_add(&words, "calltrace");
	if (words.len)
		str_addf(out, " (%s)", words.s);
	str_release(&words);
}

static void add_line_of(struct drawing *d, const struct call_node *node)
{
	size_t start = d->out->len;

	calltree_add_name(d->table, &node->frame, d->out);
	calltree_add_branches(d->table, node, d->out);
	fmt_fit_text(d->table, d->output, start, true);
	str_addc(d->out, '\n');
}

static void add_value(struct drawing *d, uint64_t period, uint64_t count, uint64_t total)
{
	double percent = total ? (double)period * 100.0 / (double)total : 0.0;
	char text[32];

	switch (d->options->value) {
	case CHAIN_COUNT:
		str_addf(d->out, "%llu", (unsigned long long)count);
		break;
	case CHAIN_PERIOD:
		str_addf(d->out, "%llu", (unsigned long long)period);
		break;
	case CHAIN_PERCENT:
		snprintf(text, sizeof(text), "%.2f%%", percent);
		fmt_add_colored(d->output, percent, text);
		break;
	}
}

/* ---- graph and fractal ---- */

static void add_margin(struct drawing *d)
{
	str_pad(d->out, ' ', TREE_INDENT + d->left_margin);
}

/* The line above a branch. */
static void draw_gap(struct drawing *d)
{
	d->drawn = true;
	add_margin(d);
	for (size_t i = 0; i < d->rails.len; i++) {
		str_addc(d->out, d->rails.s[i]);
		str_pad(d->out, ' ', 10);
	}
	str_addc(d->out, '\n');
}

/* Draws the rails in front of a name, up to the last level's; that level's own ten columns are the caller's. */
static void draw_rails(struct drawing *d)
{
	add_margin(d);
	for (size_t i = 0; i < d->rails.len; i++) {
		if (i)
			str_pad(d->out, ' ', 10);
		str_addc(d->out, d->rails.s[i]);
	}
}

static void draw_branch_head(struct drawing *d, uint64_t period, uint64_t count, uint64_t total)
{
	draw_rails(d);
	str_add(d->out, "--");
	add_value(d, period, count, total);
	str_add(d->out, "--");
}

/* The names from `node` to the end of its run; the end. */
static const struct call_node *draw_branch(struct drawing *d, const struct call_node *node,
					   uint64_t total)
{
	const struct call_node *end = calltree_run_end(node);

	draw_branch_head(d, node->total_period, node->total_count, total);
	add_line_of(d, node);
	while (node != end) {
		node = node->children;
		draw_rails(d);
		str_pad(d->out, ' ', 10);
		add_line_of(d, node);
		output_step(d->output);
	}
	return end;
}

/* The least period of a branch of this node that is drawn. */
static uint64_t least_period(const struct drawing *d, const struct call_node *node)
{
	return tree_limit_period(&d->limit, node);
}

/* The branches below a node, as far as they are drawn. */
struct branch_level {
	const struct call_node *parent, *next;
	uint64_t least; /* period of a branch */
	uint64_t total; /* what is 100 % */
	uint64_t remaining, count_drawn;
	unsigned n_drawn;
};

static const struct call_node *if_drawn(const struct branch_level *level, const struct call_node *node)
{
	return node && node->total_period >= level->least ? node : NULL;
}

static void open_level(struct drawing *d, const struct call_node *parent, uint64_t total)
{
	struct branch_level level = { .parent = parent,
			       .least = least_period(d, parent),
			       .total = total,
			       .remaining = total };

	level.next = if_drawn(&level, parent->children);
	str_addc(&d->rails, '|');
	VEC_GROW(d->levels, d->n_levels, d->cap_levels);
	d->levels[d->n_levels++] = level;
}

static void draw_remainder(struct drawing *d, const struct branch_level *level)
{
	uint64_t count = level->parent->total_count - level->parent->self_count;

	if (!is_fractal(d) || !level->remaining || level->remaining == level->total)
		return;
	if (d->options->value == CHAIN_COUNT && count <= level->count_drawn)
		return;
	d->rails.s[d->rails.len - 1] = ' ';
	draw_branch_head(d, level->remaining, count - level->count_drawn, level->total);
	str_add(d->out, "[...]\n");
}

static void close_level(struct drawing *d)
{
	draw_remainder(d, &d->levels[--d->n_levels]);
	d->rails.s[--d->rails.len] = '\0';
}

/* The next branch of a level; its end. */
static const struct call_node *draw_next(struct drawing *d, struct branch_level *level)
{
	const struct call_node *node = level->next;

	level->next = if_drawn(level, node->next);
	level->remaining -= node->total_period;
	level->count_drawn += node->total_count;
	draw_gap(d);
	if (!level->next && (!is_fractal(d) || !level->remaining))
		d->rails.s[d->rails.len - 1] = ' ';
	if (++level->n_drawn == d->options->print_limit)
		level->next = NULL;
	return draw_branch(d, node, level->total);
}

/* All branches below `parent`. total: what is 100 %. */
static void draw_levels(struct drawing *d, const struct call_node *parent, uint64_t total)
{
	open_level(d, parent, total);
	while (d->n_levels) {
		struct branch_level *level = &d->levels[d->n_levels - 1];
		const struct call_node *end = level->next ? draw_next(d, level) : NULL;

		if (end)
			open_level(d, end, is_fractal(d) ? calltree_below(end) : level->total);
		else
			close_level(d);
		output_step(d->output);
	}
}

static void draw_trunk_head(struct drawing *d)
{
	d->drawn = true;
	add_margin(d);
	str_add(d->out, "|\n");
	add_margin(d);
	str_add(d->out, "---");
	d->left_margin += 3;
}

/* The way that all chains have in common needs no value: it is the entry's. */
static const struct call_node *draw_trunk(struct drawing *d, const struct call_node *node,
					  bool skip_first)
{
	const struct call_node *end = calltree_run_end(node);
	const unsigned limit = d->options->print_limit;
	unsigned n_drawn = 0;
	bool more = true;

	for (; more; node = node->children) {
		more = node != end;
		if (skip_first) {
			skip_first = false;
			continue;
		}
		if (!n_drawn)
			draw_trunk_head(d);
		else
			add_margin(d);
		add_line_of(d, node);
		output_step(d->output);
		if (++n_drawn == limit)
			break;
	}
	return end;
}

/* An entry that is a symbol alone has the name of its trunk's first frame already. */
static bool entries_are_symbols(const struct query *options)
{
	return !options->fields && options->sort && !strncmp(options->sort, "sym", 3);
}

static void draw_graph(struct drawing *d, const struct call_node *root)
{
	const struct call_node *first = root->children;
	uint64_t total = is_fractal(d) ? d->entry_period : d->event_period;

	if (first && first->total_period >= least_period(d, root) &&
	    !(first->next && first->next->total_period >= least_period(d, root)) &&
	    first->total_period == d->entry_period)
		root = draw_trunk(d, first, entries_are_symbols(&d->table->question->query));
	draw_levels(d, root, total);
	if (d->drawn)
		str_addc(d->out, '\n');
}

/* ---- flat and folded: one chain after the other ---- */

struct chain_ends {
	const struct call_node **v;
	size_t n, cap;
};

static size_t depth_of(const struct call_node *node)
{
	size_t depth = 0;

	while (node->parent) {
		node = node->parent;
		depth++;
	}
	return depth;
}

/* The deeper of two nodes on one way stands first; nodes on different ways stand as the siblings where these part. */
static int compare_ways(const struct call_tree *tree, const struct call_node *a,
			const struct call_node *b)
{
	size_t depth_a = depth_of(a), depth_b = depth_of(b), i;
	const struct call_node *x = a, *y = b;

	for (i = depth_a; i > depth_b; i--)
		x = x->parent;
	for (i = depth_b; i > depth_a; i--)
		y = y->parent;
	if (x == y)
		return depth_a > depth_b ? -1 : depth_a < depth_b ? 1 : 0;
	while (x->parent != y->parent) {
		x = x->parent;
		y = y->parent;
	}
	return calltree_compare_frames(tree, x, y);
}

static int compare_ends(const void *pa, const void *pb, void *tree)
{
	const struct call_node *a = *(const struct call_node *const *)pa;
	const struct call_node *b = *(const struct call_node *const *)pb;

	if (a->self_period != b->self_period)
		return a->self_period < b->self_period ? 1 : -1;
	return compare_ways(tree, a, b);
}

static void gather_ends(const struct call_tree *tree, uint64_t least, struct chain_ends *ends)
{
	const struct call_node *node = &tree->root;

	while ((node = calltree_after(node))) {
		if (!node->self_period || node->self_period < least)
			continue;
		VEC_GROW(ends->v, ends->n, ends->cap);
		ends->v[ends->n++] = node;
	}
}

/* The nodes from the root's child to this one, into d->way; how many. */
static size_t find_way(struct drawing *d, const struct call_node *node)
{
	const size_t n = depth_of(node);

	if (n > d->cap_way) {
		d->cap_way = n + n / 2;
		d->way = xreallocarray(d->way, d->cap_way, sizeof(*d->way));
	}
	for (size_t i = n; i-- > 0; node = node->parent)
		d->way[i] = node;
	return n;
}

static void add_flat(struct drawing *d, const struct call_node *end)
{
	const size_t n = find_way(d, end);

	str_pad(d->out, ' ', FLAT_VALUE_INDENT);
	add_value(d, end->total_period, end->total_count, d->event_period);
	str_addc(d->out, '\n');
	for (size_t i = 0; i < n; i++) {
		str_pad(d->out, ' ', FLAT_NAME_INDENT);
		add_line_of(d, d->way[i]);
		output_step(d->output);
	}
	str_addc(d->out, '\n');
}

static void add_folded(struct drawing *d, const struct call_node *end)
{
	const char *separator = d->table->question->query.separator;
	const size_t n = find_way(d, end);

	separator = separator && *separator ? separator : ";";
	add_value(d, end->self_period, end->self_count, d->event_period);
	for (size_t i = 0; i < n; i++) {
		size_t start;

		str_add(d->out, i ? separator : " ");
		start = d->out->len;
		calltree_add_name(d->table, &d->way[i]->frame, d->out);
		for (size_t c = start; c < d->out->len; c++)
			if (d->out->s[c] == separator[0])
				d->out->s[c] = '.'; /* as names in columns: see fmt_stdio.c */
	}
	str_addc(d->out, '\n');
}

static void draw_ends(struct drawing *d, struct call_tree *tree)
{
	void (*add)(struct drawing *, const struct call_node *) =
		d->options->kind == CHAIN_FLAT ? add_flat : add_folded;
	struct chain_ends ends = { NULL, 0, 0 };
	const unsigned limit = d->options->print_limit;

	gather_ends(tree, least_period(d, &tree->root), &ends);
	if (ends.n)
		qsort_r(ends.v, ends.n, sizeof(ends.v[0]), compare_ends, tree);
	for (size_t i = 0; i < ends.n && (!limit || i < limit); i++) {
		add(d, ends.v[i]);
		output_step(d->output);
	}
	free(ends.v);
}

static void draw_tree(struct table *table, const struct hist *hist, const struct entry *entry, unsigned left_margin,
		      struct output *output)
{
	const enum chain_kind kind = table->question->query.chain.kind;
	struct drawing d = {
		.table = table,
		.options = &table->question->query.chain,
		.output = output,
		.out = &output->text,
		.left_margin = left_margin,
		/* perf's branches are parts of all, also where --percentage relative makes entries not. */
		.event_period = hist->totals.period,
		.entry_period = table->question->children ? entry->total.period : entry->self.period,
		.limit = table_tree_limit(table, hist, kind == CHAIN_FRACTAL),
		.rails = STR_INIT,
	};
	struct call_tree *tree = kind == CHAIN_NONE ? NULL : table_tree(table, hist, entry, &d.limit);

	if (!tree)
		return;
	if (kind == CHAIN_GRAPH || kind == CHAIN_FRACTAL)
		draw_graph(&d, &tree->root);
	else
		draw_ends(&d, tree);
	calltree_free(tree);
	str_release(&d.rails);
	free(d.levels);
	free(d.way);
}

void calltree_print(struct table *table, const struct hist *hist, const struct entry *entry,
		    unsigned left_margin, struct output *output)
{
	const struct entry *shown = table_chain_entry(table, &hist, entry);

	if (shown)
		draw_tree(table, hist, shown, left_margin, output);
}
