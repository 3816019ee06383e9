/* SPDX-License-Identifier: MIT */
/*
 * Aggregation: which events share a row, and which cell feeds which value. All of it is worked out
 * when counters have been opened, so that a read only adds.
 *
 * Invariants: rows are fixed for the life of an aggregation; keys and values only grow; cells, and what
 * the values say of them, belong to the current run.
 */
#include "count/aggregation.h"

#include <stdlib.h>

/* ---- event rows ---- */

static bool is_merged(const struct aggregation_options *options, const struct event *event)
{
	if (!event->expansion_id)
		return false;
	return (event->expansion == EXPANSION_PMUS && options->merge) ||
	       (event->expansion == EXPANSION_CORE_TYPES && options->hybrid_merge);
}

/* The row that event i joins; n_rows if it begins a new one. */
static size_t row_to_join(const struct aggregation *agg, size_t i)
{
	const struct event *events = agg->events->v;
	size_t row = agg->n_rows;

	if (!is_merged(&agg->options, &events[i]))
		return row;
	for (row = 0; row < agg->n_rows; row++) {
		const struct event *first = &events[agg->rows[row].first];

		if (is_merged(&agg->options, first) && first->expansion_id == events[i].expansion_id &&
		    text_same(first->cgroup, events[i].cgroup))
			break;
	}
	return row;
}

static void make_rows(struct aggregation *agg)
{
	const struct event_list *events = agg->events;

	agg->row_of = xcalloc(events->n + 1, sizeof(*agg->row_of));
	agg->rows = xcalloc(events->n + 1, sizeof(*agg->rows));
	for (size_t i = 0; i < events->n; i++) {
		size_t at = row_to_join(agg, i);

		if (at == agg->n_rows) {
			agg->rows[at].first = i;
			agg->rows[at].by_core = agg->options.mode == AGGR_CPU &&
						events->v[i].terms.percore == TERM_ON;
			agg->n_rows++;
		}
		agg->rows[at].n_events++;
		agg->row_of[i] = at;
	}
}

static void count_unsupported(struct aggregation *agg)
{
	for (size_t i = 0; i < agg->n_rows; i++)
		agg->rows[i].n_unsupported = 0;
	for (size_t i = 0; i < agg->events->n; i++)
		agg->rows[agg->row_of[i]].n_unsupported +=
			agg->counted[i].state == COUNTER_NOT_SUPPORTED;
}

/* ---- values and cells: laid out once per run ---- */

/* Empties the parts of each value that are about the current run; the sums over all runs stay. */
static void begin_values(struct aggregation *agg, size_t n_before)
{
	size_t n = aggregation_n_values(agg);

	agg->values = xreallocarray(agg->values, n, sizeof(*agg->values));
	for (size_t i = 0; i < n; i++) {
		struct aggr_value *value = &agg->values[i];

		if (i >= n_before)
			*value = (struct aggr_value){ 0 };
		value->total = value->delta = (struct count_sum){ 0 };
		value->is_open = false;
		value->n_unsupported = value->n_cpus = 0;
	}
}

/* Has an earlier CPU of this event the same package? */
static bool package_is_taken(const struct aggregation *agg, const struct intset *cpus, size_t column)
{
	int64_t package = package_of_cpu(agg, cpus->v[column]);

	for (size_t i = 0; i < column && package >= 0; i++)
		if (package_of_cpu(agg, cpus->v[i]) == package)
			return true;
	return false;
}

static size_t n_columns(const struct counted_event *counted)
{
	return counted->cpus->n ? counted->cpus->n : 1;
}

static void lay_out_open(struct aggregation *agg, size_t index)
{
	const struct counted_event *counted = &agg->counted[index];
	size_t row = agg->row_of[index];
	struct cell *cell = &agg->layout->cells[agg->layout->cell_base[index]];

	for (size_t c = 0; c < n_columns(counted); c++) {
		int cpu = counted->cpus->n ? counted->cpus->v[c] : -1;
		bool taken = agg->events->v[index].per_pkg && cpu >= 0 &&
			     package_is_taken(agg, counted->cpus, c);

		for (size_t t = 0; t < counted->n_threads; t++, cell++) {
			size_t key = key_of_cell(agg, &agg->rows[row], counted, cpu, t);

			cell->value = taken ? NO_VALUE : key * agg->n_rows + row;
			if (taken)
				continue;
			agg->values[cell->value].is_open = true;
			if (t == 0 && cpu >= 0 && index == agg->rows[row].first)
				agg->values[cell->value].n_cpus++;
		}
	}
}

/* The keys at which an event that could not be opened is missed. */
static void lay_out_unsupported(struct aggregation *agg, size_t index, const struct target *target)
{
	const struct cell_layout *layout = agg->layout;
	const struct event *event = &agg->events->v[index];
	size_t row = agg->row_of[index];
	const struct intset *cpus = event->cpus.n ? &event->cpus : &target->cpus;
	const size_t *by_cpu = agg->rows[row].by_core ? layout->core_keys : layout->cpu_keys;
	bool by_thread = agg->options.mode == AGGR_THREAD && target->kind != TARGET_CPUS;
	size_t n = by_thread ? target->n_threads : layout->cpu_keys ? cpus->n : 0;
	bool found = false;

	for (size_t i = 0; i < n; i++) {
		size_t at = by_thread ? i : intset_index(&layout->cpus, cpus->v[i]);
		struct aggr_value *value;

		if (at == SIZE_MAX)
			continue;
		value = aggregation_value(agg, row, by_thread ? layout->thread_keys[at] : by_cpu[at]);
		value->n_unsupported++;
		value->n_cpus += !by_thread && index == agg->rows[row].first;
		found = true;
	}
	if (!found)
		aggregation_value(agg, row, 0)->n_unsupported++;
}

static void lay_out_clock(struct aggregation *agg, size_t index)
{
	struct aggr_value *value = aggregation_value(agg, agg->row_of[index], key_of_clock(agg));

	value->is_open = true;
	value->n_cpus = 1;
}

/* Types of cores, and the threads that may move between them. */
static void lay_out_core_types(struct aggregation *agg)
{
	struct core_longest *longest = &agg->layout->longest;
	size_t n;

	longest->n_types = longest->n_counted = longest->n_threads = 0;
	for (size_t i = 0; i < agg->events->n; i++) {
		const struct counted_event *counted = &agg->counted[i];

		if (counted->core_type == NO_CORE_TYPE || counted->state != COUNTER_OPEN)
			continue;
		if (counted->core_type >= longest->n_types)
			longest->n_types = counted->core_type + 1;
		if (counted->n_threads > longest->n_threads)
			longest->n_threads = counted->n_threads;
	}
	for (size_t type = 0; type < longest->n_types; type++)
		for (size_t i = 0; i < agg->events->n; i++)
			if (agg->counted[i].core_type == type && agg->counted[i].state == COUNTER_OPEN) {
				longest->n_counted++;
				break;
			}
	n = longest->n_types * longest->n_threads;
	longest->total_ns = xreallocarray(longest->total_ns, n + 1, sizeof(*longest->total_ns));
	longest->delta_ns = xreallocarray(longest->delta_ns, n + 1, sizeof(*longest->delta_ns));
}

static void lay_out_cells(struct aggregation *agg)
{
	struct cell_layout *layout = agg->layout;
	size_t n = 0;

	layout->cell_base =
		xreallocarray(layout->cell_base, agg->events->n + 1, sizeof(*layout->cell_base));
	for (size_t i = 0; i < agg->events->n; i++) {
		const struct counted_event *counted = &agg->counted[i];

		layout->cell_base[i] = n;
		if (counted->state == COUNTER_OPEN)
			n += n_columns(counted) * counted->n_threads;
	}
	free(layout->cells);
	free(layout->slices);
	free(layout->pools);
	layout->cells = xcalloc(n + 1, sizeof(*layout->cells));
	layout->slices = NULL;
	layout->pools = NULL;
	layout->n_cells = n;
}

static void lay_out(struct aggregation *agg, const struct target *target)
{
	lay_out_cells(agg);
	lay_out_core_types(agg);
	for (size_t i = 0; i < agg->events->n; i++) {
		if (agg->counted[i].state == COUNTER_OPEN)
			lay_out_open(agg, i);
		else if (agg->counted[i].state != COUNTER_NOT_SUPPORTED)
			lay_out_clock(agg, i); /* also what was left out: its row says so */
		else
			lay_out_unsupported(agg, i, target);
	}
}

/* ---- the aggregation ---- */

struct aggregation *aggregation_new(const struct event_list *events,
				    const struct aggregation_options *options)
{
	struct aggregation *agg = xcalloc(1, sizeof(*agg));

	agg->events = events;
	agg->options = *options;
	agg->layout = xcalloc(1, sizeof(*agg->layout));
	make_rows(agg);
	agg->counted = xcalloc(events->n + 1, sizeof(*agg->counted));
	agg->layout->never_ran = xcalloc(agg->n_rows + 1, sizeof(*agg->layout->never_ran));
	return agg;
}

/* Are CPUs counted, and with each one all others of its core? */
static bool is_core_wide(const struct topology *topology, const struct target *target)
{
	for (size_t i = 0; i < topology->n && target->kind == TARGET_CPUS; i++) {
		const struct topology_cpu *a = &topology->v[i];

		for (size_t k = 0; k < topology->n; k++) {
			const struct topology_cpu *b = &topology->v[k];

			if (a->socket == b->socket && a->die == b->die && a->core == b->core &&
			    intset_has(&target->cpus, a->cpu) != intset_has(&target->cpus, b->cpu))
				return false;
		}
	}
	return target->kind == TARGET_CPUS;
}

int aggregation_attach(struct aggregation *agg, const struct count_backend *backend, const void *data,
		       const struct target *target, struct str *err)
{
	size_t before = aggregation_n_values(agg);
	int rc;

	agg->layout->backend = backend;
	agg->layout->data = data;
	agg->target_kind = target->kind;
	backend->describe(data, agg->counted);
	rc = keys_update(agg, target, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < agg->events->n; i++)
		if (agg->events->v[i].kind == EVENT_CORE_WIDE)
			agg->core_wide = is_core_wide(&agg->layout->topology, target);
	begin_values(agg, before);
	lay_out(agg, target);
	count_unsupported(agg);
	aggregation_begin_read(agg);
	return 0;
}

void aggregation_free(struct aggregation *agg)
{
	if (!agg)
		return;
	for (size_t i = 0; i < agg->n_rows; i++) {
		free(agg->layout->never_ran[i].text[0]);
		free(agg->layout->never_ran[i].text[1]);
	}
	for (size_t i = 0; agg->values && i < aggregation_n_values(agg); i++)
		free(agg->values[i].runs);
	keys_release(agg);
	free(agg->layout->never_ran);
	free(agg->layout->cells);
	free(agg->layout->slices);
	free(agg->layout->pools);
	free(agg->layout->cell_base);
	free(agg->layout->longest.total_ns);
	free(agg->layout->longest.delta_ns);
	free(agg->layout);
	free(agg->row_of);
	free(agg->rows);
	free(agg->values);
	free(agg->counted);
	free(agg);
}
