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
#include "hist/hist.h"
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
	uint64_t limit_period; /* that the least percentage is of */
	bool drawn; /* something */
	struct str rails; /* one per level of branches: '|' while more branches follow, else ' ' */
};

static bool is_fractal(const struct drawing *d)
{
	return d->options->kind == CHAIN_FRACTAL;
}

void calltree_add_name(const struct table *table, const struct view_frame *frame, struct str *out)
{
	const enum chain_key key = table->options.chain.key;
	const struct places *places = table->session->places;
	const struct place_row *row = frame->place < places->n ? &places->v[frame->place] : NULL;

	if (!frame->symbol) {
		str_addf(out, "%#llx", row ? (unsigned long long)row->ip : 0ULL);
		return;
	}
	str_add(out, frame->symbol->name);
	if (key != CHAIN_BY_FUNCTION && frame->line.file) {
		const char *file = frame->line.file, *base = strrchr(file, '/');

		if (base && !table->options.full_source_path)
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

static void add_line_of(struct drawing *d, const struct call_node *node)
{
	size_t start = d->out->len;

	calltree_add_name(d->table, &node->frame, d->out);
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

/* What stands before a name, up to the last level's rail; that level's own ten columns are the caller's. */
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
	}
	return end;
}

static uint64_t below(const struct call_node *node)
{
	return node->total_period - node->self_period;
}

/* The least period of a branch of this node that is drawn. */
static uint64_t least_period(const struct drawing *d, const struct call_node *node)
{
	const double part = d->options->min_percent / 100;
	double least = (double)(is_fractal(d) ? below(node) : d->limit_period) * part;
	uint64_t whole = (uint64_t)least;

	/* Rounded up; without ceil(), which would want libm. */
	return whole + (is_fractal(d) && (double)whole < least);
}

static void draw_remainder(struct drawing *d, const struct call_node *parent, uint64_t period,
			   uint64_t count_drawn, uint64_t total)
{
	uint64_t count = parent->total_count - parent->self_count;

	if (d->options->value == CHAIN_COUNT && count <= count_drawn)
		return;
	d->rails.s[d->rails.len - 1] = ' ';
	draw_branch_head(d, period, count - count_drawn, total);
	str_add(d->out, "[...]\n");
}

/* The branches below `parent`. total: what is 100 %. */
static void draw_level(struct drawing *d, const struct call_node *parent, uint64_t total)
{
	const uint64_t least = least_period(d, parent);
	uint64_t remaining = total, count_drawn = 0;
	unsigned n_drawn = 0;

	str_addc(&d->rails, '|');
	for (const struct call_node *node = parent->children, *next, *end; node; node = next) {
		if (node->total_period < least)
			break;
		next = node->next && node->next->total_period >= least ? node->next : NULL;
		remaining -= node->total_period;
		count_drawn += node->total_count;
		draw_gap(d);
		if (!next && (!is_fractal(d) || !remaining))
			d->rails.s[d->rails.len - 1] = ' ';
		end = draw_branch(d, node, total);
		draw_level(d, end, is_fractal(d) ? below(end) : total);
		output_step(d->output);
		if (++n_drawn == d->options->print_limit)
			break;
	}
	if (is_fractal(d) && remaining && remaining != total)
		draw_remainder(d, parent, remaining, count_drawn, total);
	d->rails.s[--d->rails.len] = '\0';
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
		if (++n_drawn == limit)
			break;
	}
	return end;
}

/* With entries of symbols alone the trunk's first name would be the entry's again. */
static bool entries_are_symbols(const struct report_options *options)
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
		root = draw_trunk(d, first, entries_are_symbols(&d->table->options));
	draw_level(d, root, total);
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

/* What is deeper on the same way stands first; else the order of siblings where the ways part. */
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

static void gather_ends(const struct call_node *node, uint64_t least, struct chain_ends *ends)
{
	for (; node; node = node->next) {
		gather_ends(node->children, least, ends);
		if (!node->self_period || node->self_period < least)
			continue;
		VEC_GROW(ends->v, ends->n, ends->cap);
		ends->v[ends->n++] = node;
	}
}

static void add_flat_names(struct drawing *d, const struct call_node *node)
{
	if (!node->parent)
		return;
	add_flat_names(d, node->parent);
	str_pad(d->out, ' ', FLAT_NAME_INDENT);
	add_line_of(d, node);
}

static void add_flat(struct drawing *d, const struct call_node *end)
{
	str_pad(d->out, ' ', FLAT_VALUE_INDENT);
	add_value(d, end->total_period, end->total_count, d->event_period);
	str_addc(d->out, '\n');
	add_flat_names(d, end);
	str_addc(d->out, '\n');
}

static void add_folded_names(struct drawing *d, const struct call_node *node, const char *separator)
{
	size_t start;

	if (node->parent->parent) {
		add_folded_names(d, node->parent, separator);
		str_add(d->out, separator);
	}
	start = d->out->len;
	calltree_add_name(d->table, &node->frame, d->out);
	for (size_t i = start; i < d->out->len; i++)
		if (d->out->s[i] == separator[0])
			d->out->s[i] = '.'; /* as names in columns: see fmt_stdio.c */
}

static void add_folded(struct drawing *d, const struct call_node *end)
{
	const char *separator = d->table->options.separator;

	add_value(d, end->self_period, end->self_count, d->event_period);
	str_addc(d->out, ' ');
	add_folded_names(d, end, separator && *separator ? separator : ";");
	str_addc(d->out, '\n');
}

static void draw_ends(struct drawing *d, struct call_tree *tree)
{
	void (*add)(struct drawing *, const struct call_node *) =
		d->options->kind == CHAIN_FLAT ? add_flat : add_folded;
	struct chain_ends ends = { NULL, 0, 0 };
	const unsigned limit = d->options->print_limit;

	gather_ends(tree->root.children, least_period(d, &tree->root), &ends);
	if (ends.n)
		qsort_r(ends.v, ends.n, sizeof(ends.v[0]), compare_ends, tree);
	for (size_t i = 0; i < ends.n && (!limit || i < limit); i++) {
		add(d, ends.v[i]);
		output_step(d->output);
	}
	free(ends.v);
}

void calltree_print(struct table *table, const struct hist *hist, const struct entry *entry,
		    unsigned left_margin, struct output *output)
{
	struct call_tree *tree = entry->tree;
	struct drawing d = {
		.table = table,
		.options = &table->options.chain,
		.output = output,
		.out = &output->text,
		.left_margin = left_margin,
		/* perf's branches are parts of all, also where --percentage relative makes entries not. */
		.event_period = hist->totals.period,
		.limit_period = table->options.percentage_relative ? hist->shown.period
								    : hist->totals.period,
		.entry_period = table->children ? entry->total.period : entry->self.period,
		.rails = STR_INIT,
	};

	if (!tree || d.options->kind == CHAIN_NONE)
		return;
	if (!tree->places) {
		tree->places = table->session->places;
		calltree_finish(tree);
	}
	if (d.options->kind == CHAIN_GRAPH || d.options->kind == CHAIN_FRACTAL)
		draw_graph(&d, &tree->root);
	else
		draw_ends(&d, tree);
	str_release(&d.rails);
}
