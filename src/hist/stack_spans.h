/* SPDX-License-Identifier: MIT */
/*
 * stack_spans: what each thread did in the order of time: neighbouring samples of one stack are one span. There are at
 * most as many as the caller wants; where there would be more, neighbours are merged further:
 *
 *	main a b | main a c     a span of `main a`, which says that it is several
 *	main a | gap | main a   one span, gap and all
 *
 * A merged span loses what the stacks below it do not have in common, in frames times ns, and gaps likewise. Merging is
 * by the least loss that suffices, and no span loses more than `lost_most`. Read by including hist.h.
 */
#ifndef PSTAT_STACK_SPANS_H
#define PSTAT_STACK_SPANS_H

#include "util/util.h"

struct stack_tree_node;
struct stack_span {
	uint32_t lane, node;
	bool several; /* of different stacks: node is what they have in common */
	uint64_t begin_ns, end_ns;
	double lost, lost_joined; /* frames times ns: of itself, and of one with the span before it in the lane */
};
struct stack_spans {
	struct stack_span *v; /* after stack_spans_end: by lane and time; those of a lane do not overlap */
	size_t n; /* of all lanes */
	double lost_most; /* 0: none was merged further */

	const struct stack_tree_node *nodes;
	size_t max, n_lanes;
	struct span_lane {
		struct stack_span open; /* the last one; its begin is UINT64_MAX: there is none */
		struct stack_span *v; /* those before, in the order of time */
		size_t n, cap;
	} *lanes; /* until stack_spans_end */
};
/* max: spans that are kept, more than lanes. The nodes are borrowed until the end. Release in every case. */
void stack_spans_init(struct stack_spans *spans, const struct stack_tree_node *nodes, size_t n_lanes, size_t max);
void stack_spans_release(struct stack_spans *spans);
/*
 * Adds a sample, each lane's in the order of time. What overlaps the one before begins where that ends, and a gap of
 * less than half of the sample is none. reaches_back: it begins where the one before ends.
 */
void stack_spans_add(struct stack_spans *spans, const struct stack_span *sample, bool reaches_back);
void stack_spans_end(struct stack_spans *spans);

#endif
