/* SPDX-License-Identifier: MIT */
/*
 * Keys of data types: which type, and which part of it, the sampled instruction reads or writes. A value is a row of
 * fold_cache.type_rows: the type's name, an offset or the number of a cache line, and the member's name.
 */
#include "hist/keys_internal.h"
#include "types/types.h"

#include <inttypes.h>

enum { CACHE_LINE_BYTES = 64 };

static struct type_place place_of(const struct key_source *source)
{
	struct fold_cache *cache = source->table->private->cache;
	const struct location_row *row =
		table_location_row(source->table, source_location(source, FACT_LOCATION));
	const uint32_t data = source_location(source, FACT_DATA_LOCATION);

	if (!cache->types)
		cache->types = types_new(source->table->session->symbols);
	return types_of_sample(cache->types, row, source_fact(source, FACT_MISC) & MISC_EXACT_IP,
			       data == LOCATION_NONE ? NULL : table_location_row(source->table, data));
}

static uint32_t name_of(const struct key_source *source, const struct type_place *place)
{
	const char *name = type_place_name(place);

	return table_name(source->table, name, strlen(name));
}

/* ---- samples without a type ---- */

static bool is_of_types(const struct sort_key *key)
{
	return key->value == value_type || key->value == value_typeoff || key->value == value_typecln;
}

static void count_states(struct table *table, const struct cells *cells, uint64_t *counts)
{
	struct key_source source = { .table = table, .cells = cells };

	for (source.cell = 0; source.cell < cells->n; source.cell++)
		if (table_takes_cell(table, cells, source.cell))
			counts[place_of(&source).state] += cells->values[source.cell].n_samples;
}

void table_add_types_note(struct table *table)
{
	uint64_t counts[TYPE_STATES] = { 0 }, all = 0, without = 0;
	struct str reasons = STR_INIT;
	bool asked = false;

	for (size_t i = 0; i < table->question->n_keys; i++)
		asked |= is_of_types(table->question->keys[i]);
	for (size_t i = 0; asked && i < table->n_hists; i++)
		for (size_t member = 0; member < table->hists[i].n_members; member++)
			count_states(table, table->hists[i].cells[member], counts);
	for (size_t state = 0; state < TYPE_STATES; state++)
		all += counts[state];
	for (size_t state = 0; state < TYPE_STATES; state++) {
		double pct = all ? 100.0 * (double)counts[state] / (double)all : 0;

		if (!counts[state] || !type_state_text((enum type_state)state))
			continue;
		without += counts[state];
		if (pct >= 0.05)
			str_addf(&reasons, "%s%.1f %%: %s", reasons.len ? "; " : "", pct,
				 type_state_text((enum type_state)state));
	}
	if (reasons.len)
		note_add(&table->notes, false, NULL, "types: %.1f %% of %" PRIu64 " samples have none (%s)",
			 100.0 * (double)without / (double)all, all, reasons.s);
	if (counts[TYPE_ADDRESSED])
		note_add(&table->notes, false, NULL,
			 "types: %.1f %% of %" PRIu64 " samples have that of the variable at their data's address",
			 100.0 * (double)counts[TYPE_ADDRESSED] / (double)all, all);
	if (counts[TYPE_WAITED])
		note_add(&table->notes, false, NULL,
			 "types: %.1f %% of %" PRIu64 " samples are at the instruction after the one that reads it",
			 100.0 * (double)counts[TYPE_WAITED] / (double)all, all);
	str_release(&reasons);
}

/* ---- keys ---- */

KEY_VALUE(value_type)
{
	struct type_place place = place_of(source);

	return name_of(source, &place);
}

KEY_VALUE(value_typeoff)
{
	struct type_place place = place_of(source);
	struct str path = STR_INIT;
	uint64_t row[] = { name_of(source, &place), place.offset, 0 };

	if (place.type && !data_type_path(place.type, place.offset, &path))
		str_add(&path, "no field");
	row[2] = table_name(source->table, path.s, path.len);
	str_release(&path);
	return row_set_intern(&source->table->private->cache->type_rows, row);
}

KEY_VALUE(value_typecln)
{
	struct type_place place = place_of(source);
	const uint64_t row[] = { name_of(source, &place), place.offset / CACHE_LINE_BYTES, UINT64_MAX };

	return row_set_intern(&source->table->private->cache->type_rows, row);
}

static const uint64_t *row_of(const struct table *table, uint64_t value)
{
	return row_set_at(&table->private->cache->type_rows, (uint32_t)value);
}

const char *table_key_type(const struct table *table, const struct sort_key *key, uint64_t value)
{
	if (!is_of_types(key))
		return NULL;
	if (key->value != value_type)
		value = row_of(table, value)[0];
	return texts_get(table->private->cache->names, (uint32_t)value);
}

KEY_TEXT(text_typeoff)
{
	const uint64_t *row = row_of(table, value);
	const char *path = texts_get(table->private->cache->names, (uint32_t)row[2]);

	text_name(table, row[0], out);
	if (*path)
		str_addf(out, " +%#" PRIx64 " (%s)", row[1], path);
}

KEY_TEXT(text_typecln)
{
	const uint64_t *row = row_of(table, value);

	text_name(table, row[0], out);
	str_addf(out, ": cache-line %" PRIu64, row[1]);
}

KEY_COMPARE(compare_type_rows)
{
	const uint64_t *x = row_of(table, a), *y = row_of(table, b);
	int order = compare_names(table, x[0], y[0]);

	return order ? order : x[1] < y[1] ? -1 : x[1] > y[1];
}
