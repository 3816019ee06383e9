/* SPDX-License-Identifier: MIT */
/*
 * functions: the samples of a profile by function and address. One pass over the cells, whose locations are exact
 * addresses: location -> symbol -> function, and a sort.
 */
#include "annotate/annotate_internal.h"

#include <stdlib.h>

/* The part of a cell that counts for an address of a function. */
struct contribution {
	uint32_t function;
	uint32_t event; /* in the query */
	uint64_t addr;
	struct annotate_cell cell;
};
struct annotate {
	struct profile *profile;
	const char *name; /* borrowed until annotate_new ends */
	bool without_kernel; /* its functions are not looked up, their samples count in the totals */
	size_t *events;
	size_t n_events;
	struct annotate_cell *totals; /* of all that was counted */
	struct annotate_function *functions;
	size_t n_functions, cap_functions;
	struct index by_symbol;
	struct cycle_run *runs; /* of all functions */
	struct contribution *contributions; /* while they are collected */
	size_t n_contributions, cap_contributions;
	struct arena arena;
};

/* ---- collecting ---- */

static uint32_t function_of(struct annotate *annotate, const struct symbol *symbol, uint32_t code)
{
	uint64_t hash = hash_word((uintptr_t)symbol);
	uint32_t i;

	if (INDEX_FIND(&annotate->by_symbol, hash, i, annotate->functions[i].symbol == symbol))
		return i;
	index_add(&annotate->by_symbol, hash, (uint32_t)annotate->n_functions);
	VEC_GROW(annotate->functions, annotate->n_functions, annotate->cap_functions);
	annotate->functions[annotate->n_functions] = (struct annotate_function){ .symbol = symbol, .code = code };
	return (uint32_t)annotate->n_functions++;
}

const struct symbol *annotate_symbol_of(struct session *session, uint32_t location)
{
	const struct location_row *row = &session->locations->v[location];

	if (!row->dso || row->code || row->framed)
		return location_symbol(session, location);
	return symbols_find(session->symbols, row->dso, row->addr);
}

static void add_cell(struct annotate *annotate, uint32_t event, const struct filters *filters, uint32_t location,
		     const struct annotate_cell *cell)
{
	struct session *session = &annotate->profile->session;
	const struct location_row *row = &session->locations->v[location];
	bool kernel = row->dso && (row->dso->kind == DSO_KERNEL || row->dso->kind == DSO_MODULE);
	const struct symbol *symbol = kernel && annotate->without_kernel ? NULL : annotate_symbol_of(session, location);

	if (filters && !filters_take_location(filters, row, symbol))
		return;
	annotate->totals[event].n_samples += cell->n_samples;
	annotate->totals[event].period += cell->period;
	if (!symbol || (annotate->name && strcmp(symbol->name, annotate->name) != 0 &&
			strcmp(symbol->raw, annotate->name) != 0))
		return;
	VEC_GROW(annotate->contributions, annotate->n_contributions, annotate->cap_contributions);
	annotate->contributions[annotate->n_contributions++] = (struct contribution){
		.function = function_of(annotate, symbol, row->code),
		.event = event,
		.addr = row->addr,
		.cell = *cell,
	};
}

/* The profile's own filters by sample were asked when it was read. */
static void add_event(struct annotate *annotate, uint32_t i, const struct filters *filters)
{
	struct profile *profile = annotate->profile;
	size_t event = annotate->events[i];
	bool whole = filters && filters != profile->filters;
	const struct cells *coarse = whole ? NULL : profile_cells(profile, event, 1ULL << FACT_LOCATION);
	const struct cells *cells = whole ? &profile->events[event]->cells : coarse;

	for (size_t cell = 0; cell < cells->n; cell++) {
		const struct cell_values *values = &cells->values[cell];
		struct annotate_cell sum = { values->n_samples, values->period };
		uint64_t location = cell_fact(cells, cell, FACT_LOCATION);

		if (location == LOCATION_NONE || (whole && (filters_drop_cell(filters, cells, cell) ||
							    !filters_take_cell(filters, cells, cell))))
			continue;
		add_cell(annotate, i, filters, (uint32_t)location, &sum);
	}
	if (coarse)
		profile_cells_done(profile, event, coarse);
}

static void add_events(struct annotate *annotate, const struct filters *filters)
{
	memset(annotate->totals, 0, annotate->n_events * sizeof(*annotate->totals));
	for (size_t i = 0; i < annotate->n_events; i++)
		add_event(annotate, (uint32_t)i, filters);
}

/* ---- in order ---- */

static int by_function_and_address(const void *a, const void *b)
{
	const struct contribution *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static struct annotate_cell *new_cells(struct annotate *annotate)
{
	size_t bytes = annotate->n_events * sizeof(struct annotate_cell);

	return memset(arena_alloc(&annotate->arena, bytes), 0, bytes);
}

/* The n contributions of one function, ascending by address. */
static void make_function(struct annotate *annotate, const struct contribution *from, size_t n)
{
	struct annotate_function *function = &annotate->functions[from->function];
	struct annotate_address *addresses = arena_alloc(&annotate->arena, n * sizeof(*addresses));
	struct annotate_cell *total = new_cells(annotate), *cells = NULL;

	function->addresses = addresses;
	function->total = total;
	for (size_t i = 0; i < n; i++) {
		uint32_t event = from[i].event;

		if (!i || from[i].addr != from[i - 1].addr) {
			cells = new_cells(annotate);
			addresses[function->n_addresses++] = (struct annotate_address){ from[i].addr, cells };
		}
		cells[event].n_samples += from[i].cell.n_samples;
		cells[event].period += from[i].cell.period;
		total[event].n_samples += from[i].cell.n_samples;
		total[event].period += from[i].cell.period;
	}
}

static int heavier_first(const void *a, const void *b, void *context)
{
	const struct annotate_function *x = a, *y = b;
	const struct annotate *annotate = context;
	int order;

	for (size_t i = 0; i < annotate->n_events; i++)
		if (x->total[i].period != y->total[i].period)
			return x->total[i].period > y->total[i].period ? -1 : 1;
	order = strcmp(x->symbol->name, y->symbol->name);
	if (order)
		return order;
	if (x->symbol->dso->index != y->symbol->dso->index)
		return x->symbol->dso->index < y->symbol->dso->index ? -1 : 1;
	return x->symbol->start < y->symbol->start ? -1 : x->symbol->start > y->symbol->start;
}

static void put_in_order(struct annotate *annotate)
{
	struct contribution *v = annotate->contributions;
	size_t n = annotate->n_contributions;

	if (n)
		qsort(v, n, sizeof(*v), by_function_and_address);
	for (size_t first = 0, end; first < n; first = end) {
		for (end = first + 1; end < n && v[end].function == v[first].function; end++)
			continue;
		make_function(annotate, v + first, end - first);
	}
	if (annotate->n_functions)
		qsort_r(annotate->functions, annotate->n_functions, sizeof(*annotate->functions), heavier_first,
			annotate);
	index_clear(&annotate->by_symbol);
	for (size_t i = 0; i < annotate->n_functions; i++)
		index_add(&annotate->by_symbol, hash_word((uintptr_t)annotate->functions[i].symbol), (uint32_t)i);
	free(annotate->contributions);
	annotate->contributions = NULL;
}

/* ---- the whole ---- */

struct annotate *annotate_new(struct profile *profile, const struct annotate_query *query)
{
	struct annotate *annotate = xcalloc(1, sizeof(*annotate));

	annotate->profile = profile;
	annotate->n_events = query->n_events;
	annotate->events = xcalloc(query->n_events + 1, sizeof(*annotate->events));
	annotate->totals = xcalloc(query->n_events + 1, sizeof(*annotate->totals));
	memcpy(annotate->events, query->events, query->n_events * sizeof(*annotate->events));
	annotate->name = query->name;
	annotate->without_kernel = query->name && !(query->filters && filters_any(query->filters));
	add_events(annotate, query->filters);
	if (annotate->without_kernel && !annotate->n_functions) {
		annotate->without_kernel = false;
		add_events(annotate, query->filters);
	}
	put_in_order(annotate);
	annotate->runs = annotate_add_runs(annotate, query->events, query->n_events, profile, query->filters);
	return annotate;
}

void annotate_free(struct annotate *annotate)
{
	if (!annotate)
		return;
	free(annotate->events);
	free(annotate->totals);
	free(annotate->functions);
	free(annotate->runs);
	index_release(&annotate->by_symbol);
	arena_release(&annotate->arena);
	free(annotate);
}

const struct annotate_function *annotate_function_at(const struct annotate *annotate, size_t i)
{
	return i < annotate->n_functions ? &annotate->functions[i] : NULL;
}

struct annotate_function *annotate_own_function(struct annotate *annotate, const struct symbol *symbol)
{
	uint64_t hash = hash_word((uintptr_t)symbol);
	uint32_t i;

	if (INDEX_FIND(&annotate->by_symbol, hash, i, annotate->functions[i].symbol == symbol))
		return &annotate->functions[i];
	return NULL;
}

const struct annotate_function *annotate_function_of(struct annotate *annotate, const struct symbol *symbol)
{
	return annotate_own_function(annotate, symbol);
}

const struct annotate_function *annotate_function_any(struct annotate *annotate, const struct symbol *symbol)
{
	const struct annotate_function *found = annotate_function_of(annotate, symbol);
	struct annotate_function *empty;

	if (found)
		return found;
	empty = arena_alloc(&annotate->arena, sizeof(*empty));
	*empty = (struct annotate_function){ .symbol = symbol, .total = new_cells(annotate) };
	return empty;
}

const struct symbol *annotate_around(struct session *session, const struct symbol *symbol)
{
	const struct symbol *around =
		symbol && symbol->inlined ? symbols_find(session->symbols, symbol->dso, symbol->start) : NULL;

	return around ? around : symbol;
}

struct annotate_cell annotate_total(const struct annotate *annotate, size_t event)
{
	return annotate->totals[event];
}

bool annotate_is_heavy(const struct annotate *annotate, const struct annotate_function *function, double percent)
{
	return 100.0 * (double)function->total[0].period >= percent * (double)annotate->totals[0].period;
}

struct session *annotate_session(const struct annotate *annotate)
{
	return &annotate->profile->session;
}

const struct data_event *annotate_event(const struct annotate *annotate, size_t event)
{
	return event < annotate->n_events ? annotate->profile->session.recording->events->v[annotate->events[event]]
					  : NULL;
}

/* ---- a name that no function with samples has ---- */

/* Says into which functions the name was inlined, where it was. */
static const struct symbol *inlined_into(struct session *session, const char *name)
{
	for (size_t i = 0; i < session->locations->n; i++) {
		const struct frame_list *frames = location_frames(session, (uint32_t)i, 0);

		for (size_t f = 0; f + 1 < frames->n; f++)
			if (frames->v[f].symbol && (!strcmp(frames->v[f].symbol->name, name) ||
						    !strcmp(frames->v[f].symbol->raw, name)))
				return frames->v[frames->n - 1].symbol;
	}
	return NULL;
}

void annotate_add_unknown(struct session *session, const char *name, struct str *out)
{
	const struct symbol *in = inlined_into(session, name), *symbol;
	struct near_name near;

	near_init(&near, name, strlen(name));
	for (size_t i = 0; i < session->locations->n; i++) {
		symbol = location_symbol(session, (uint32_t)i);
		if (symbol)
			near_consider(&near, symbol->name);
	}
	str_add(out, "no samples in a function '");
	str_add_printable(out, name, strlen(name));
	str_addc(out, '\'');
	if (in)
		str_addf(out, "; it was inlined into %s and maybe others\n"
			 "annotate that function: pstat annotate %s", in->name, in->name);
	else if (near_best(&near) && strcmp(near_best(&near), name) != 0) /* else a filter leaves it out */
		str_addf(out, "\ndid you mean %s?", near_best(&near));
}
