/* SPDX-License-Identifier: MIT */
/*
 * Two trees of stacks become one of places, a place being the names from the outermost frame on. Sums go from the
 * leaves up, block of time by block of time; rates and verdicts are those of any row of a difference (significance.h).
 */
#include "hist/hist.h"

#include <stdlib.h>

enum { SIDES = 2, BLOCKS = 32 };

struct place {
	uint32_t parent; /* 0: the root, which is its own */
	double part[SIDES], n_part[SIDES];
	struct stack_node_diff diff;
};
struct places {
	struct place *v;
	size_t n, cap;
	struct row_set ids; /* parent, name, kind */
	struct text_index *names;
	double *blocks[SIDES]; /* BLOCKS of each place */
	size_t n_blocks[SIDES];
	double whole[SIDES], n_whole[SIDES], whole_blocks[SIDES][BLOCKS];
	uint32_t *of_node[SIDES];
	bool by_samples;
};

static void add_nodes(struct places *places, size_t side, const struct stack_tree *tree)
{
	uint32_t *of_node = xcalloc(tree->n, sizeof(*of_node));

	/* Parents stand before their children. */
	for (size_t i = 1; i < tree->n; i++) {
		const struct stack_tree_frame *frame = &tree->frames[tree->nodes[i].frame];
		const char *name = stack_tree_text(tree, frame->name);
		const uint64_t id[] = { of_node[tree->nodes[i].parent],
					texts_intern(places->names, name, strlen(name)), frame->kind };
		uint32_t number = row_set_intern(&places->ids, id) + 1;

		if (number == places->n) {
			VEC_GROW(places->v, places->n, places->cap);
			places->v[places->n++] = (struct place){ .parent = (uint32_t)id[0] };
		}
		of_node[i] = number;
	}
	places->of_node[side] = of_node;
}

static void add_rows(struct places *places, size_t side, const struct stack_tree *tree)
{
	size_t merged = (tree->n_buckets + BLOCKS - 1) / BLOCKS;

	merged = merged ? merged : 1;
	places->n_blocks[side] = (tree->n_buckets + merged - 1) / merged;
	places->blocks[side] = xcalloc(places->n * BLOCKS, sizeof(*places->blocks[side]));
	for (size_t i = 0; i < tree->n_rows; i++) {
		const struct stack_tree_row *row = &tree->rows[i];
		double period = (double)(places->by_samples ? row->n_samples : row->period);
		size_t block = row->bucket / merged;
		uint32_t at = places->of_node[side][row->node];

		places->v[at].part[side] += period;
		places->v[at].n_part[side] += (double)row->n_samples;
		places->blocks[side][at * BLOCKS + block] += period;
	}
}

/* From the leaves up: a child's number is greater than its parent's. */
static void sum_up(struct places *places, size_t side)
{
	double *blocks = places->blocks[side];

	for (size_t i = places->n - 1; i > 0; i--) {
		struct place *place = &places->v[i], *parent = &places->v[place->parent];

		parent->part[side] += place->part[side];
		parent->n_part[side] += place->n_part[side];
		for (size_t b = 0; b < places->n_blocks[side]; b++)
			blocks[place->parent * BLOCKS + b] += blocks[i * BLOCKS + b];
	}
	places->whole[side] = places->v[0].part[side];
	places->n_whole[side] = places->v[0].n_part[side];
	memcpy(places->whole_blocks[side], blocks, sizeof(places->whole_blocks[side]));
}

static struct rate rate_of(const struct places *places, size_t i, size_t side)
{
	const struct place *place = &places->v[i];
	struct rate rate = { .part = place->part[side], .whole = places->whole[side], .n_part = place->n_part[side],
			     .n_whole = places->n_whole[side] };

	rate.sample = rate.n_part > 0 ? rate.part / rate.n_part : 1;
	if (rate.n_part > 0)
		rate_add_blocks(&rate, places->blocks[side] + i * BLOCKS, places->whole_blocks[side],
				places->n_blocks[side]);
	return rate;
}

static bool is_parents(const struct places *places, size_t i)
{
	const struct place *place = &places->v[i], *parent = &places->v[place->parent];

	return place->part[0] >= parent->part[0] && place->part[1] >= parent->part[1] && place->parent;
}

static void judge(struct places *places, double level)
{
	struct confidence confidence = { .level = level };
	double *p = xcalloc(places->n, sizeof(*p));
	size_t n = 0;

	for (size_t i = 1; i < places->n; i++) {
		struct stack_node_diff *diff = &places->v[i].diff;
		const struct rate before = rate_of(places, i, 0), now = rate_of(places, i, 1);

		diff->before = rate_value(&before);
		diff->now = rate_value(&now);
		rates_compare(&before, &now, RATE_SHARE, &confidence, &diff->change);
		diff->verdict = before.n_part + now.n_part < DIFF_FEW_SAMPLES ? DIFF_FEW : DIFF_NOISE;
		if (diff->verdict == DIFF_NOISE && !is_parents(places, i))
			p[n++] = diff->change.p;
	}
	holm_correct(p, n);
	n = 0;
	for (size_t i = 1; i < places->n; i++) {
		struct stack_node_diff *diff = &places->v[i].diff;

		if (diff->verdict != DIFF_NOISE)
			continue;
		if (is_parents(places, i))
			diff->verdict = places->v[places->v[i].parent].diff.verdict;
		else
			diff->verdict = diff_verdict_of(&diff->change, p[n++], level);
	}
	free(p);
}

static struct stack_node_diff *of_tree(const struct places *places, size_t side, size_t n)
{
	struct stack_node_diff *diffs = xcalloc(n, sizeof(*diffs));

	for (size_t i = 1; i < n; i++)
		diffs[i] = places->v[places->of_node[side][i]].diff;
	return diffs;
}

struct stack_diff *stack_diff_new(const struct stack_tree *before, const struct stack_tree *now, double confidence)
{
	const struct stack_tree *trees[] = { before, now };
	struct stack_diff *diff = xcalloc(1, sizeof(*diff));
	struct places places = { .names = texts_new(), .by_samples = !before->period || !now->period };

	row_set_init(&places.ids, 3);
	VEC_GROW(places.v, places.n, places.cap);
	places.v[places.n++] = (struct place){ .parent = 0 };
	for (size_t side = 0; side < SIDES; side++)
		add_nodes(&places, side, trees[side]);
	for (size_t side = 0; side < SIDES; side++) {
		add_rows(&places, side, trees[side]);
		sum_up(&places, side);
	}
	judge(&places, confidence);
	diff->before = of_tree(&places, 0, before->n);
	diff->now = of_tree(&places, 1, now->n);
	for (size_t side = 0; side < SIDES; side++) {
		free(places.blocks[side]);
		free(places.of_node[side]);
	}
	free(places.v);
	row_set_release(&places.ids);
	texts_free(places.names);
	return diff;
}

void stack_diff_free(struct stack_diff *diff)
{
	if (!diff)
		return;
	free(diff->before);
	free(diff->now);
	free(diff);
}
