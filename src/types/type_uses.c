/* SPDX-License-Identifier: MIT */
/*
 * type_uses: the samples of an event by type of data: how many each type has, and at which of its offsets. Types of
 * one name and size in one file are one: debug information has them once for each unit. And how many sampled
 * instructions have a type, by reason and by the instruction's name.
 */
#include "profile/profile.h"
#include "types/types_internal.h"

#include <stdlib.h>

struct uses_reading {
	struct type_uses *out;
	struct types *types;
	struct profile *profile;
	const struct type_query *query;
	struct instructions *instructions; /* NULL: their names are not asked for */
};

/* ---- types ---- */

static bool is_use_of(const struct type_use *use, const struct dso *dso, const struct data_type *type)
{
	return use->dso == dso && use->type->bytes == type->bytes && !strcmp(use->type->name, type->name);
}

static struct type_use *use_of(struct type_uses *uses, const struct dso *dso, const struct data_type *type)
{
	uint64_t hash = hash_bytes(type->name, strlen(type->name));
	uint32_t i;

	if (INDEX_FIND(&uses->ix, hash, i, is_use_of(&uses->v[i], dso, type)))
		return &uses->v[i];
	index_add(&uses->ix, hash, (uint32_t)uses->n);
	VEC_GROW(uses->v, uses->n, uses->cap);
	uses->v[uses->n] = (struct type_use){ .type = type, .dso = dso };
	return &uses->v[uses->n++];
}

static void add_at(struct type_use *use, uint64_t offset, const struct cell_values *values)
{
	size_t i = BISECT(k, 0, use->n, use->at[k].offset < offset);

	if (i == use->n || use->at[i].offset != offset) {
		VEC_GROW(use->at, use->n, use->cap);
		memmove(use->at + i + 1, use->at + i, (use->n++ - i) * sizeof(*use->at));
		use->at[i] = (struct type_use_at){ .offset = offset };
	}
	use->at[i].samples.n_samples += values->n_samples;
	use->at[i].samples.period += values->period;
}

struct type_samples type_use_sum(const struct type_use *use, uint64_t offset, uint64_t bytes)
{
	struct type_samples sum = { 0 };

	for (size_t i = BISECT(k, 0, use->n, use->at[k].offset < offset);
	     i < use->n && use->at[i].offset - offset < bytes; i++) {
		sum.n_samples += use->at[i].samples.n_samples;
		sum.period += use->at[i].samples.period;
	}
	return sum;
}

/* ---- instructions ---- */

static void add_instruction(struct type_uses *uses, const char *name, bool known)
{
	uint64_t hash = hash_bytes(name, strlen(name));
	uint32_t i;

	if (!INDEX_FIND(&uses->instruction_ix, hash, i, !strcmp(uses->instructions[i].name, name))) {
		i = (uint32_t)uses->n_instructions;
		index_add(&uses->instruction_ix, hash, i);
		VEC_GROW(uses->instructions, uses->n_instructions, uses->cap_instructions);
		uses->instructions[uses->n_instructions++] = (struct type_instruction){ .name = xstrdup(name) };
	}
	uses->instructions[i].with += known;
	uses->instructions[i].without += !known;
}

/* ---- cells ---- */

static bool takes_location(const struct uses_reading *reading, uint32_t location)
{
	const struct type_query *query = reading->query;
	struct session *session = &reading->profile->session;
	const struct symbol *symbol = annotate_symbol_of(session, location);

	if (query->filters && !filters_take_location(query->filters, &session->locations->v[location], symbol))
		return false;
	return !query->symbol || query->symbol == symbol;
}

/* The location of a sample's data; NULL: it has none. */
static const struct location_row *data_row(const struct uses_reading *reading, const struct cells *cells, size_t cell)
{
	const uint64_t location = cells_have(cells, FACT_DATA_LOCATION) ? cell_fact(cells, cell, FACT_DATA_LOCATION) :
									  LOCATION_NONE;

	return location == LOCATION_NONE ? NULL : &reading->profile->session.locations->v[location];
}

static void add_cell(struct uses_reading *reading, const struct cells *cells, size_t cell)
{
	const struct cell_values *values = &cells->values[cell];
	const uint32_t location = (uint32_t)cell_fact(cells, cell, FACT_LOCATION);
	const bool exact = cell_fact(cells, cell, FACT_MISC) & MISC_EXACT_IP;
	const struct location_row *rows = reading->profile->session.locations->v;
	const struct location_row *data = data_row(reading, cells, cell);
	struct type_place place = types_of_sample(reading->types, &rows[location], exact, data);
	struct instruction_found found;
	struct type_use *use;

	reading->out->places[place.state]++;
	if (reading->instructions && instruction_at_location(reading->instructions, location, &found) && *found.name)
		add_instruction(reading->out, found.name, type_place_known(&place));
	if (!place.type)
		return;
	use = use_of(reading->out, place.state == TYPE_ADDRESSED ? data->dso : rows[location].dso, place.type);
	use->total.n_samples += values->n_samples;
	use->total.period += values->period;
	add_at(use, place.offset, values);
}

static int by_period(const void *a, const void *b)
{
	const struct type_use *x = a, *y = b;

	if (x->total.period != y->total.period)
		return x->total.period > y->total.period ? -1 : 1;
	if (x->total.n_samples != y->total.n_samples)
		return x->total.n_samples > y->total.n_samples ? -1 : 1;
	return strcmp(x->type->name, y->type->name);
}

static int by_number(const void *a, const void *b)
{
	const struct type_instruction *x = a, *y = b;
	uint64_t n = x->with + x->without, m = y->with + y->without;

	return n != m ? n > m ? -1 : 1 : strcmp(x->name, y->name);
}

/* The profile's own filters by sample were asked when it was read. */
static void add_cells(struct uses_reading *reading)
{
	const struct filters *filters = reading->query->filters;
	const bool whole = filters && filters != reading->profile->filters;
	const size_t event = reading->query->event;
	const struct cells *coarse =
		whole ? NULL : profile_cells(reading->profile, event, TYPE_FACTS);
	const struct cells *cells = whole ? &reading->profile->events[event]->cells : coarse;

	for (size_t i = 0; i < cells->n; i++) {
		const uint64_t location = cell_fact(cells, i, FACT_LOCATION);

		if (location == LOCATION_NONE || (whole && (filters_drop_cell(filters, cells, i) ||
							    !filters_take_cell(filters, cells, i))))
			continue;
		if (takes_location(reading, (uint32_t)location))
			add_cell(reading, cells, i);
	}
	if (coarse)
		profile_cells_done(reading->profile, event, coarse);
}

struct type_uses *type_uses_new(struct profile *profile, struct types *types, const struct type_query *query)
{
	struct type_uses *uses = xcalloc(1, sizeof(*uses));
	struct uses_reading reading = { .out = uses, .types = types, .profile = profile, .query = query };

	if (query->instructions)
		reading.instructions = instructions_new(&profile->session);
	add_cells(&reading);
	instructions_free(reading.instructions);
	if (uses->n)
		qsort(uses->v, uses->n, sizeof(*uses->v), by_period);
	if (uses->n_instructions)
		qsort(uses->instructions, uses->n_instructions, sizeof(*uses->instructions), by_number);
	return uses;
}

static bool is_named(const struct data_type *type, const char *name)
{
	const char *blank = strchr(type->name, ' ');
	bool tagged = type->kind == DATA_RECORD || type->kind == DATA_UNION;

	return !strcmp(type->name, name) || (tagged && blank && !strcmp(blank + 1, name));
}

void type_uses_keep(struct type_uses *uses, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < uses->n; i++) {
		if (is_named(uses->v[i].type, name))
			uses->v[n++] = uses->v[i];
		else
			free(uses->v[i].at);
	}
	uses->n = n;
}

void type_uses_free(struct type_uses *uses)
{
	if (!uses)
		return;
	for (size_t i = 0; i < uses->n; i++)
		free(uses->v[i].at);
	for (size_t i = 0; i < uses->n_instructions; i++)
		free(uses->instructions[i].name);
	free(uses->v);
	free(uses->instructions);
	index_release(&uses->ix);
	index_release(&uses->instruction_ix);
	free(uses);
}
