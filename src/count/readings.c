/* SPDX-License-Identifier: MIT */
/*
 * Readings -> cells -> values. A read fills the cells first; when it is over, what is in them goes, scaled,
 * into the values of their event row and key: twice, as the total since counting began and as the
 * difference to the last read.
 *
 * A counter that shared its hardware ran for a part of the time it was enabled; the estimate for the whole time is
 * value * enabled / running (perf_event_open(2)).
 * Scaling is per cell, before anything is summed: CPUs and threads multiplex on their own. It waits for
 * the end of the read, because only all of its counters together show how long a task was on a type of cores.
 * A cell that was enabled and never ran is counted as such and never as 0; one that was never enabled (a
 * thread that slept) counted 0 events, which is right. A reading takes no memory.
 */
#include "count/aggregation.h"

#include <stdlib.h>

/* ---- arithmetic ---- */

/* The product needs 128 bits: a few hours of nanoseconds times a few billion counts do not fit into 64. */
uint64_t scale_count(uint64_t value, uint64_t enabled_ns, uint64_t running_ns)
{
	unsigned __int128 product = (unsigned __int128)value * enabled_ns;

	/* The largest product is 2^128 - 2^65 + 1: half of running_ns more still fits. */
	product = (product + running_ns / 2) / running_ns;
	return product > UINT64_MAX ? UINT64_MAX : (uint64_t)product;
}

/* Reads and switches are not at one moment: so much of the enabled time may be missing. */
enum { GAPS_PER_CENT = 1 };

enum core_time core_time_of(const uint64_t *longest_ns, size_t n_types, size_t n_counted, size_t type,
			    uint64_t enabled_ns, uint64_t *on_type_ns)
{
	unsigned __int128 seen = 0, enabled = enabled_ns, gap;

	for (size_t i = 0; i < n_types; i++)
		seen += longest_ns[i];
	gap = seen > enabled ? seen - enabled : enabled - seen;
	*on_type_ns = longest_ns[type];
	if (gap * 100 <= enabled * GAPS_PER_CENT)
		return CORE_TIME_KNOWN;
	return n_counted > 1 ? CORE_TIME_GAPS : CORE_TIME_UNSEEN;
}

/* ---- the cells of a read ---- */

void aggregation_begin_read(struct aggregation *agg)
{
	for (size_t i = 0; i < agg->layout->n_cells; i++)
		agg->layout->cells[i].was_read = agg->layout->cells[i].has_stopped = false;
	for (size_t i = 0; i < agg->n_rows; i++)
		agg->rows[i].read_err = 0;
}

/* NULL: it is none of these. */
static struct cell *cell_of(const struct aggregation *agg, size_t index, int cpu, size_t thread)
{
	const struct counted_event *counted = &agg->counted[index];
	size_t column = counted->cpus->n ? intset_index(counted->cpus, cpu) : 0;

	if (column == SIZE_MAX || thread >= counted->n_threads || counted->state != COUNTER_OPEN)
		return NULL;
	return &agg->layout->cells[agg->layout->cell_base[index] + column * counted->n_threads + thread];
}

void aggregation_take(void *data, size_t index, int cpu, size_t thread, const struct reading *reading)
{
	struct aggregation *agg = data;
	struct cell *cell = cell_of(agg, index, cpu, thread);

	if (!cell || cell->value == NO_VALUE)
		return;
	cell->was_read = true;
	cell->state = reading->state;
	cell->others_ran = reading->others_ran;
	cell->has_stopped = intset_has(&agg->layout->stopped_cpus, cpu) &&
			    !event_is_moved(agg->counted[index].event);
	if (reading->state == READING_OK) {
		cell->now = (struct cell_count){
			reading->value, reading->enabled_ns, reading->running_ns,
		};
		cell->missed_ns = reading->missed_ns;
		cell->unverified = reading->unverified;
	}
	if (reading->state == READING_FAILED)
		agg->rows[agg->row_of[index]].read_err = reading->err;
}

static struct cell_count difference(const struct cell *cell)
{
	return (struct cell_count){
		positive_difference(cell->now.value, cell->last.value),
		positive_difference(cell->now.enabled_ns, cell->last.enabled_ns),
		positive_difference(cell->now.running_ns, cell->last.running_ns),
	};
}

/* ---- time on core types ---- */

static void find_longest(struct aggregation *agg)
{
	struct core_longest *longest = &agg->layout->longest;
	size_t n = longest->n_types * longest->n_threads;

	if (!n)
		return;
	memset(longest->total_ns, 0, n * sizeof(*longest->total_ns));
	memset(longest->delta_ns, 0, n * sizeof(*longest->delta_ns));
	for (size_t i = 0; i < agg->events->n; i++) {
		const struct counted_event *counted = &agg->counted[i];
		const struct cell *cells = &agg->layout->cells[agg->layout->cell_base[i]];

		if (counted->core_type == NO_CORE_TYPE || counted->state != COUNTER_OPEN)
			continue;
		for (size_t t = 0; t < counted->n_threads; t++) {
			size_t at = t * longest->n_types + counted->core_type;
			struct cell_count delta = difference(&cells[t]);

			if (cells[t].now.running_ns > longest->total_ns[at])
				longest->total_ns[at] = cells[t].now.running_ns;
			if (delta.running_ns > longest->delta_ns[at])
				longest->delta_ns[at] = delta.running_ns;
		}
	}
}

/*
 * The time in which the cell could have run becomes its enabled time, where that is known; returns how well
 * it is. longest: of the cell's thread, by type; NULL: no question.
 */
static enum core_time limit_to_core_type(const struct aggregation *agg, size_t index,
					 const uint64_t *longest, struct cell_count *count)
{
	const struct core_longest *all = &agg->layout->longest;
	uint64_t on_type = 0;
	enum core_time known;

	if (!longest || count->running_ns >= count->enabled_ns)
		return CORE_TIME_KNOWN;
	known = core_time_of(longest, all->n_types, all->n_counted, agg->counted[index].core_type,
			     count->enabled_ns, &on_type);
	if (known == CORE_TIME_KNOWN)
		count->enabled_ns = on_type;
	return known;
}

static const uint64_t *longest_of(const struct aggregation *agg, size_t index, size_t thread,
				  const uint64_t *longest_ns)
{
	if (agg->counted[index].core_type == NO_CORE_TYPE)
		return NULL;
	return &longest_ns[thread * agg->layout->longest.n_types];
}

/* ---- cells -> values ---- */

/* count: as limited to the core type; enabled_ns: as read. */
static void fold(struct count_sum *sum, const struct cell_count *count, uint64_t enabled_ns,
		 enum core_time known, bool scale)
{
	uint64_t value = count->value;
	bool has_gaps = count->running_ns && count->running_ns < count->enabled_ns;

	sum->cells++;
	sum->enabled_ns = add_saturating(sum->enabled_ns, count->enabled_ns);
	sum->running_ns = add_saturating(sum->running_ns, count->running_ns);
	sum->elsewhere_ns = add_saturating(sum->elsewhere_ns, enabled_ns - count->enabled_ns);
	if (count->enabled_ns && !count->running_ns) {
		sum->cells_never_ran++;
		return;
	}
	if (has_gaps && scale && known == CORE_TIME_KNOWN)
		value = scale_count(value, count->enabled_ns, count->running_ns);
	sum->cells_scaled += has_gaps && scale && known == CORE_TIME_KNOWN;
	sum->cells_unseen += has_gaps && scale && known == CORE_TIME_UNSEEN;
	sum->cells_gaps += has_gaps && scale && known == CORE_TIME_GAPS;
	sum->value = add_saturating(sum->value, value);
}

/* Adds the counts until now to the slices before these are asked. */
static void count_evidence(struct aggregation *agg, const struct cell *cell, const struct cell_count *now,
			   const struct cell_count *delta)
{
	struct aggr_value *value = &agg->values[cell->value];
	struct slices *slices = &agg->layout->slices[cell - agg->layout->cells];
	struct pool *pool = &agg->layout->pools[cell->value];

	slices_add(slices, pool, now->value, now->enabled_ns, now->running_ns);
	slices_close(slices, pool);
	slices_count(&value->total.evidence, slices, false, now->enabled_ns, now->running_ns);
	slices_count(&value->delta.evidence, slices, true, delta->enabled_ns, delta->running_ns);
}

static void fold_missed(struct count_sum *sum, const struct cell *cell, uint64_t missed_ns)
{
	sum->cells_removed += missed_ns > 0;
	sum->missed_ns = add_saturating(sum->missed_ns, missed_ns);
	sum->cells_unverified += cell->unverified;
}

/* delta: as limited to the core type. */
static void sum_read(struct aggr_value *value, struct cell *cell, const struct cell_count *delta)
{
	struct read_sum *sum = &value->summed;
	uint64_t counted = delta->value;

	sum->enabled_ns = add_saturating(sum->enabled_ns, delta->enabled_ns);
	sum->running_ns = add_saturating(sum->running_ns, delta->running_ns);
	cell->carried_ns = add_saturating(cell->carried_ns, delta->enabled_ns);
	if (!delta->running_ns)
		return;
	if (delta->running_ns < cell->carried_ns)
		counted = scale_count(counted, cell->carried_ns, delta->running_ns);
	sum->value = add_saturating(sum->value, counted);
	cell->carried_ns = 0;
}

static void fold_counts(struct aggregation *agg, size_t index, size_t thread, struct cell *cell)
{
	struct aggr_value *value = &agg->values[cell->value];
	const struct core_longest *longest = &agg->layout->longest;
	bool snapshot = agg->events->v[index].snapshot, scale = agg->options.scale;
	struct cell_count now = cell->now, delta = snapshot ? cell->now : difference(cell);
	uint64_t now_enabled_ns = now.enabled_ns, delta_enabled_ns = delta.enabled_ns;
	enum core_time known_now, known_delta;

	known_now = limit_to_core_type(agg, index, longest_of(agg, index, thread, longest->total_ns), &now);
	known_delta =
		limit_to_core_type(agg, index, longest_of(agg, index, thread, longest->delta_ns), &delta);
	fold(&value->total, &now, now_enabled_ns, known_now, scale);
	fold(&value->delta, &delta, delta_enabled_ns, known_delta, scale);
	if (agg->options.sum_reads)
		sum_read(value, cell, &delta);
	if (agg->layout->slices && !snapshot)
		count_evidence(agg, cell, &now, &delta);
	fold_missed(&value->total, cell, cell->missed_ns);
	fold_missed(&value->delta, cell, positive_difference(cell->missed_ns, cell->missed_last_ns));
	cell->last = cell->now;
	cell->missed_last_ns = cell->missed_ns;
}

/* Keeps what a cell counted before it could not be read any more: the total is a lower bound. */
static void fold_failure(struct aggregation *agg, struct cell *cell)
{
	struct aggr_value *value = &agg->values[cell->value];

	if (cell->now.running_ns)
		fold(&value->total, &cell->now, cell->now.enabled_ns, CORE_TIME_KNOWN, agg->options.scale);
	else
		value->total.cells++;
	value->total.cells_failed++;
	value->delta.cells++;
	value->delta.cells_failed++;
}

static void fold_cell(struct aggregation *agg, size_t index, size_t thread, struct cell *cell)
{
	struct aggr_value *value = &agg->values[cell->value];

	if (cell->has_stopped) {
		value->total.cells_stopped++;
		value->delta.cells_stopped++;
	}
	value->total.cells_left_tasks += cell->others_ran;
	value->delta.cells_left_tasks += cell->others_ran;
	switch (cell->state) {
	case READING_OK:
		fold_counts(agg, index, thread, cell);
		break;
	case READING_NOT_OPEN:
		break; /* the task was gone before it could count anything */
	case READING_LOST_PIN:
		value->total.cells++;
		value->total.cells_lost_pin++;
		value->delta.cells++;
		value->delta.cells_lost_pin++;
		break;
	case READING_FAILED:
		fold_failure(agg, cell);
		break;
	}
}

static size_t cells_end(const struct aggregation *agg, size_t index)
{
	return index + 1 < agg->events->n ? agg->layout->cell_base[index + 1] : agg->layout->n_cells;
}

/* ---- clocks ---- */

/* A number that holds all the time. */
static uint64_t fact_of(const struct aggregation *agg, const struct event *event)
{
	return event->kind == EVENT_FACT       ? event->fact :
	       event->kind == EVENT_TARGET_CPU ? agg->target_kind == TARGET_CPUS :
						 agg->core_wide;
}

/* A clock runs all the time; the command's own times are known once it has ended. */
static struct count_sum clock_sum(const struct aggregation *agg, const struct count_clock *clock,
				  const struct event *event)
{
	bool usage = event->kind == EVENT_USER_TIME || event->kind == EVENT_SYSTEM_TIME;
	struct count_sum sum = { .cells = 1 };

	if ((usage && !clock->has_usage) || event->fact_unknown)
		return sum;
	sum.value = event->kind == EVENT_DURATION_TIME ? clock->elapsed_ns :
		    event->kind == EVENT_USER_TIME     ? clock->user_ns :
		    event->kind == EVENT_SYSTEM_TIME   ? clock->system_ns :
							 fact_of(agg, event);
	sum.enabled_ns = sum.running_ns = clock->elapsed_ns;
	return sum;
}

static void take_clocks(struct aggregation *agg, const struct count_clock *since_start,
			const struct count_clock *since_last, reading_fn also, void *also_data)
{
	for (size_t i = 0; i < agg->events->n; i++) {
		struct aggr_value *value = aggregation_value(agg, agg->row_of[i], key_of_clock(agg));
		const struct event *event = &agg->events->v[i];
		struct reading reading;

		if (agg->counted[i].state != COUNTER_SOFTWARE)
			continue;
		value->total = clock_sum(agg, since_start, event);
		value->delta = clock_sum(agg, since_last, event);
		reading = (struct reading){
			.value = value->total.value,
			.enabled_ns = value->total.enabled_ns,
			.running_ns = value->total.running_ns,
		};
		if (also && reading.running_ns)
			also(also_data, i, -1, 0, &reading);
	}
}

/* ---- a read ---- */

void aggregation_end_read(struct aggregation *agg, const struct count_clock *since_start,
			  const struct count_clock *since_last, reading_fn also, void *also_data)
{
	for (size_t i = 0; i < aggregation_n_values(agg); i++)
		agg->values[i].total = agg->values[i].delta = (struct count_sum){ 0 };
	find_longest(agg);
	for (size_t i = 0; i < agg->events->n; i++) {
		size_t first = agg->layout->cell_base[i], n_threads = agg->counted[i].n_threads;

		for (size_t c = first; c < cells_end(agg, i); c++)
			if (agg->layout->cells[c].was_read)
				fold_cell(agg, i, (c - first) % n_threads, &agg->layout->cells[c]);
	}
	for (size_t i = 0; agg->layout->pools && i < aggregation_n_values(agg); i++) {
		pool_end_read(&agg->layout->pools[i]);
		pool_count(&agg->values[i].total.evidence, &agg->layout->pools[i], false);
		pool_count(&agg->values[i].delta.evidence, &agg->layout->pools[i], true);
	}
	take_clocks(agg, since_start, since_last, also, also_data);
}

struct tee {
	struct aggregation *agg;
	reading_fn also;
	void *also_data;
};

static void take_both(void *data, size_t index, int cpu, size_t thread, const struct reading *reading)
{
	const struct tee *tee = data;

	aggregation_take(tee->agg, index, cpu, thread, reading);
	tee->also(tee->also_data, index, cpu, thread, reading);
}

void aggregation_read(struct aggregation *agg, const struct count_clock *since_start,
		      const struct count_clock *since_last, reading_fn also, void *also_data)
{
	const struct cell_layout *layout = agg->layout;
	struct tee tee = { agg, also, also_data };

	aggregation_begin_read(agg);
	if (also)
		layout->backend->read(layout->data, take_both, &tee);
	else
		layout->backend->read(layout->data, aggregation_take, agg);
	aggregation_end_read(agg, since_start, since_last, also, also_data);
}

void aggregation_find_stopped(struct aggregation *agg)
{
	struct cell_layout *layout = agg->layout;

	layout->stopped_cpus.n = 0;
	if (layout->backend->stopped_cpus)
		layout->backend->stopped_cpus(layout->data, &layout->stopped_cpus);
}

/* ---- runs ---- */

static void add_run(const struct aggregation *agg, struct aggr_value *value)
{
	const struct count_sum *run = &value->total;
	struct count_sum *all = &value->all_runs;

	if (!run->cells)
		return;
	value->n_runs++;
	all->enabled_ns = add_saturating(all->enabled_ns, run->enabled_ns);
	all->running_ns = add_saturating(all->running_ns, run->running_ns);
	all->elsewhere_ns = add_saturating(all->elsewhere_ns, run->elsewhere_ns);
	all->cells += run->cells;
	all->cells_scaled += run->cells_scaled;
	all->cells_never_ran += run->cells_never_ran;
	all->cells_failed += run->cells_failed;
	all->cells_lost_pin += run->cells_lost_pin;
	all->cells_stopped += run->cells_stopped;
	all->cells_left_tasks += run->cells_left_tasks;
	all->cells_removed += run->cells_removed;
	all->missed_ns = add_saturating(all->missed_ns, run->missed_ns);
	all->cells_unverified += run->cells_unverified;
	all->cells_unseen += run->cells_unseen;
	all->cells_gaps += run->cells_gaps;
	evidence_add(&all->evidence, &run->evidence);
	if (!run->running_ns)
		return;
	VEC_GROW(value->runs, value->n_run_values, value->runs_cap);
	value->runs[value->n_run_values++] = (struct run_value){ agg->n_runs, run->value };
}

void aggregation_end_run(struct aggregation *agg)
{
	for (size_t i = 0; agg->options.keep_runs && i < aggregation_n_values(agg); i++)
		add_run(agg, &agg->values[i]);
	agg->n_runs++;
}

/* ---- reads between reports ---- */

/* Groups that take turns with this event's. */
static size_t groups_beside(const struct aggregation *agg, size_t index)
{
	size_t n = 0;

	for (size_t i = 0; i < agg->events->n; i++)
		n += agg->counted[i].leader == i && agg->counted[i].state == COUNTER_OPEN &&
		     events_share_counters(&agg->events->v[i], &agg->events->v[index]);
	return n;
}

void aggregation_keep_slices(struct aggregation *agg)
{
	struct cell_layout *layout = agg->layout;

	free(layout->slices);
	free(layout->pools);
	layout->slices = xcalloc(layout->n_cells + 1, sizeof(*layout->slices));
	layout->pools = xcalloc(aggregation_n_values(agg) + 1, sizeof(*layout->pools));
	for (size_t i = 0; i < agg->events->n; i++) {
		size_t first = layout->cell_base[i], n = cells_end(agg, i) - first;
		size_t groups = n > 1 ? groups_beside(agg, i) : 0;

		for (size_t c = 0; c < n; c++)
			layout->slices[first + c].turn_kind = slices_turn_kind(c, n, groups);
	}
}

/* Returns the share of its time that it ran; 1 where that is not known, or nothing. */
static double add_slice(struct aggregation *agg, size_t index, size_t thread, const struct cell *cell)
{
	const uint64_t *longest = longest_of(agg, index, thread, agg->layout->longest.total_ns);
	struct cell_count now = cell->now;

	if (limit_to_core_type(agg, index, longest, &now) != CORE_TIME_KNOWN)
		return 1;
	slices_add(&agg->layout->slices[cell - agg->layout->cells], &agg->layout->pools[cell->value],
		   now.value, now.enabled_ns, now.running_ns);
	return now.running_ns && now.running_ns < now.enabled_ns
		       ? (double)now.running_ns / (double)now.enabled_ns
		       : 1;
}

double aggregation_read_slices(struct aggregation *agg)
{
	double least = 1;

	aggregation_begin_read(agg);
	agg->layout->backend->read(agg->layout->data, aggregation_take, agg);
	find_longest(agg);
	for (size_t i = 0; i < agg->events->n; i++) {
		size_t first = agg->layout->cell_base[i], n_threads = agg->counted[i].n_threads;

		for (size_t c = first; c < cells_end(agg, i) && !agg->events->v[i].snapshot; c++) {
			const struct cell *cell = &agg->layout->cells[c];

			double share = 1;

			if (cell->was_read && cell->state == READING_OK)
				share = add_slice(agg, i, (c - first) % n_threads, cell);
			if (share < least)
				least = share;
		}
	}
	for (size_t i = 0; i < aggregation_n_values(agg); i++)
		pool_end_read(&agg->layout->pools[i]);
	return least;
}
