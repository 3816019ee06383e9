/* SPDX-License-Identifier: MIT */
/*
 * stack_spans: samples become spans, and spans that are too many become fewer. Each lane's last span is open: it stands
 * apart, and joins the others when a sample does not continue it. When there is no room, neighbours in a lane are
 * merged with a loss that doubles until half of the room is free.
 */
#include "hist/hist.h"

#include <stdlib.h>

enum { LOSS_FIRST = 1000 }; /* frames times ns */

void stack_spans_init(struct stack_spans *spans, const struct stack_tree_node *nodes, size_t n_lanes, size_t max)
{
	*spans = (struct stack_spans){ .nodes = nodes, .max = max, .n_lanes = n_lanes };
	spans->lanes = xcalloc(n_lanes + 1, sizeof(*spans->lanes));
	for (size_t i = 0; i < n_lanes; i++)
		spans->lanes[i].open.begin_ns = UINT64_MAX;
}

static void release_lanes(struct stack_spans *spans)
{
	for (size_t i = 0; spans->lanes && i < spans->n_lanes; i++)
		free(spans->lanes[i].v);
	free(spans->lanes);
	spans->lanes = NULL;
}

void stack_spans_release(struct stack_spans *spans)
{
	release_lanes(spans);
	free(spans->v);
	*spans = (struct stack_spans){ 0 };
}

/* ---- fewer ---- */

/* The innermost node that both are, or are called by. */
static uint32_t common_node(const struct stack_tree_node *nodes, uint32_t a, uint32_t b)
{
	while (a != b) {
		if (nodes[a].depth >= nodes[b].depth)
			a = nodes[a].parent;
		else
			b = nodes[b].parent;
	}
	return a;
}

/* Frames of a span above a node, times how long it is. */
static double frames_lost(const struct stack_spans *spans, const struct stack_span *span, uint32_t node)
{
	return (spans->nodes[span->node].depth - spans->nodes[node].depth) * (double)(span->end_ns - span->begin_ns);
}

/* Frames times ns that both have lost if they become one. */
static double lost_by_both(const struct stack_spans *spans, const struct stack_span *first,
			   const struct stack_span *second)
{
	const uint32_t node = common_node(spans->nodes, first->node, second->node);
	const double gap_ns = (double)(second->begin_ns - first->end_ns);

	return first->lost + second->lost + frames_lost(spans, first, node) + frames_lost(spans, second, node) +
	       gap_ns * (1 + spans->nodes[node].depth);
}

/* Makes both one, in `first`, the last of n so far. */
static void join(const struct stack_spans *spans, struct stack_span *first, const struct stack_span *second, size_t n)
{
	first->several |= second->several || first->node != second->node;
	first->node = common_node(spans->nodes, first->node, second->node);
	first->end_ns = second->end_ns;
	first->lost = second->lost_joined;
	if (n > 1)
		first->lost_joined = lost_by_both(spans, first - 1, first);
}

/* Joins each with the one before it, where no more than lost_most is lost. */
static void merge_neighbours(struct stack_spans *spans)
{
	spans->n = 0;
	for (size_t k = 0; k < spans->n_lanes; k++) {
		struct span_lane *lane = &spans->lanes[k];
		bool changed = false; /* the one before */
		size_t n = 0;

		for (size_t i = 0; i < lane->n; i++) {
			struct stack_span *span = &lane->v[i], *before = &lane->v[n ? n - 1 : 0];

			if (changed)
				span->lost_joined = lost_by_both(spans, before, span);
			changed = n && span->lost_joined <= spans->lost_most;
			if (changed)
				join(spans, before, span, n);
			else
				lane->v[n++] = *span;
		}
		lane->n = n;
		spans->n += n;
	}
}

/* Leaves at most so many. */
static void reduce(struct stack_spans *spans, size_t wanted)
{
	if (spans->lost_most > 0)
		merge_neighbours(spans);
	while (spans->n > wanted) {
		spans->lost_most = spans->lost_most > 0 ? 2 * spans->lost_most : LOSS_FIRST;
		merge_neighbours(spans);
	}
}

/* ---- samples ---- */

static void close_span(struct stack_spans *spans, struct span_lane *lane)
{
	struct stack_span *span = &lane->open;

	if (span->begin_ns == UINT64_MAX)
		return;
	if (spans->n + spans->n_lanes >= spans->max)
		reduce(spans, (spans->max - spans->n_lanes) / 2);
	VEC_GROW(lane->v, lane->n, lane->cap);
	span->lost_joined = lane->n ? lost_by_both(spans, &lane->v[lane->n - 1], span) : 0;
	lane->v[lane->n++] = *span;
	spans->n++;
}

void stack_spans_add(struct stack_spans *spans, const struct stack_span *sample, bool reaches_back)
{
	struct span_lane *lane = &spans->lanes[sample->lane];
	struct stack_span *open = &lane->open, now = *sample;
	const bool any = open->begin_ns != UINT64_MAX;

	if (any && (reaches_back || now.begin_ns < open->end_ns ||
		    now.begin_ns - open->end_ns < (now.end_ns - now.begin_ns) / 2))
		now.begin_ns = open->end_ns;
	if (now.end_ns < now.begin_ns)
		now.end_ns = now.begin_ns;
	if (any && now.node == open->node && now.begin_ns == open->end_ns) {
		open->end_ns = now.end_ns;
		return;
	}
	close_span(spans, lane);
	*open = now;
}

void stack_spans_end(struct stack_spans *spans)
{
	size_t n = 0;

	for (size_t i = 0; i < spans->n_lanes; i++)
		close_span(spans, &spans->lanes[i]);
	reduce(spans, spans->max);
	spans->v = xcalloc(spans->n + 1, sizeof(*spans->v));
	for (size_t i = 0; i < spans->n_lanes; i++) {
		const struct span_lane *lane = &spans->lanes[i];

		if (lane->n)
			memcpy(spans->v + n, lane->v, lane->n * sizeof(*lane->v));
		n += lane->n;
	}
	release_lanes(spans);
}
