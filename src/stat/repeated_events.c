/* SPDX-License-Identifier: MIT */
/*
 * Errors of events that take turns with each other, compared: each group sees what the others do not.
 *
 * Events that stand in several groups, once more in each: their values say whether the groups saw the same program
 * (count/agreement.c). Where they do not, the turns keep step with it, and no event that takes part in these turns is
 * as sure as its own slices make it: copies get an interval as wide as they scatter, the others none.
 *
 * Start-up: the first group saw it, those after it did not. Where the first slice of an event is unlike all
 * others, nothing is stated of events that take turns with it.
 */
#include "stat/reporter.h"

#include <string.h>

static const struct counted_event *counted_of(const struct reporter *r, size_t row)
{
	return &r->counts->counted[r->counts->rows[row].first];
}

static bool same_count(const struct event *a, const struct event *b)
{
	const struct perf_event_attr *x = &a->attr, *y = &b->attr;

	return x->type == y->type && x->config == y->config && x->config1 == y->config1 &&
	       x->config2 == y->config2 && x->exclude_user == y->exclude_user &&
	       x->exclude_kernel == y->exclude_kernel && x->exclude_hv == y->exclude_hv &&
	       x->exclude_idle == y->exclude_idle && x->exclude_host == y->exclude_host &&
	       x->exclude_guest == y->exclude_guest && text_same(a->cgroup, b->cgroup);
}

static bool is_copy(const struct reporter *r, size_t row, size_t other)
{
	const struct counted_event *a = counted_of(r, row), *b = counted_of(r, other);

	return row == other || (a->leader != b->leader && same_count(a->event, b->event));
}

static bool takes_turns(const struct amount *amount)
{
	return amount->state == COUNT_OK && amount->has_estimate;
}

/* Gathers the rows at one key, from `row` on, that are copies of it. */
static size_t gather(const struct reporter *r, size_t row, const struct amount *amounts, struct copy *copies)
{
	size_t n = 0;

	for (size_t i = row; i < r->counts->n_rows; i++)
		if (takes_turns(&amounts[i]) && is_copy(r, row, i))
			copies[n++] = amounts[i].scale;
	return n;
}

static bool is_first(const struct reporter *r, size_t row, const struct amount *amounts)
{
	for (size_t i = 0; i < row; i++)
		if (takes_turns(&amounts[i]) && is_copy(r, row, i))
			return false;
	return takes_turns(&amounts[row]);
}

static void widen(struct reporter *r, size_t row, struct amount *amounts, double scatter)
{
	const struct event *event = counted_of(r, row)->event;

	for (size_t i = 0; i < r->counts->n_rows; i++) {
		bool copy = is_copy(r, row, i);

		if (takes_turns(&amounts[i]) &&
		    (copy || events_share_counters(event, counted_of(r, i)->event)))
			copy_widen(&amounts[i].scale, !copy, scatter);
	}
	if (r->plan->notes)
		note_add(r->plan->notes, false,
			 "count fewer events at a time, or each in a run of its own: --passes",
			 "%s: its groups counted more or less than chance allows: their turns keep step with the "
			 "program",
			 event->name);
}

static void withhold_unseen_start(struct reporter *r, size_t row, struct amount *amounts)
{
	const struct event *event = counted_of(r, row)->event;

	for (size_t i = 0; i < r->counts->n_rows; i++)
		if (takes_turns(&amounts[i]) && amounts[i].scale.estimate.state == ESTIMATE_OK &&
		    events_share_counters(event, counted_of(r, i)->event))
			amounts[i].scale.estimate.state = ESTIMATE_START;
}

void repeated_events_compare(struct reporter *r)
{
	size_t n_rows = r->counts->n_rows;
	struct copy *copies = r->rows.copies;

	for (size_t key = 0; key < r->counts->n_keys; key++) {
		struct amount *amounts = &r->amounts[key * n_rows];

		for (size_t row = 0; row < n_rows; row++) {
			double scatter;
			size_t n = is_first(r, row, amounts) ? gather(r, row, amounts, copies) : 0;

			if (n > 1 && !copies_agree(copies, n, &scatter))
				widen(r, row, amounts, scatter);
			if (takes_turns(&amounts[row]) && amounts[row].scale.estimate.start_differs)
				withhold_unseen_start(r, row, amounts);
		}
	}
}
