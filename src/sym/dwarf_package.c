/*
 * dwarf_package.c: see dwarf_package.h. All numbers are of the file's byte order; ids is a hash table, open, by the
 * bits of the id:
 *
 *	version | sections S | units U | slots N | ids[N] u64 | rows[N] u32 | table
 *	table: numbers[S], offsets[U][S], sizes[U][S]
 *
 * Every number is hostile: U is at most N, and S not much more than the 8 that the formats know, so that the size of
 * the table is no more than 64 bits hold, and a look-up takes no longer than its bytes.
 *
 * Source: DWARF 5, 7.3.5 (package files); GNU extensions to DWARF 4 ("DebugFissionDWP").
 */
#include "sym/dwarf_package.h"

enum { SECTIONS_MAX = 64 };

struct package_index {
	struct dwarf_cursor ids, rows;
	uint32_t n_slots;
};

static bool read_index(struct dwarf_cursor cursor, struct package_index *index, struct dwarf_package_unit *unit)
{
	struct dwarf_cursor copy = cursor;
	uint64_t version = cursor_number(&cursor, 4);

	if (version != 2) { /* since 5 it has 2 bytes, and 2 of padding */
		version = cursor_number(&copy, 2);
		if (version != 5)
			return false;
	}
	unit->version = (uint8_t)version;
	unit->n_sections = (uint32_t)cursor_number(&cursor, 4);
	unit->n_units = (uint32_t)cursor_number(&cursor, 4);
	index->n_slots = (uint32_t)cursor_number(&cursor, 4);
	if (unit->n_sections > SECTIONS_MAX || unit->n_units > index->n_slots)
		return false;
	index->ids = cursor;
	cursor_skip(&cursor, (uint64_t)index->n_slots * 8);
	index->rows = cursor;
	cursor_skip(&cursor, (uint64_t)index->n_slots * 4);
	unit->table = cursor;
	cursor_skip(&cursor, (1 + 2 * (uint64_t)unit->n_units) * unit->n_sections * 4);
	return !cursor.bad && !(index->n_slots & (index->n_slots - 1)) && index->n_slots;
}

static uint64_t number_at(struct dwarf_cursor cursor, uint64_t i, unsigned bytes)
{
	cursor_skip(&cursor, i * bytes);
	return cursor_number(&cursor, bytes);
}

bool dwarf_package_find(struct dwarf_package_unit *unit, struct dwarf_cursor bytes, uint64_t id)
{
	struct package_index index;
	uint32_t mask, at, step;

	if (!bytes.at || !read_index(bytes, &index, unit))
		return false;
	mask = index.n_slots - 1;
	at = (uint32_t)id & mask;
	step = ((uint32_t)(id >> 32) & mask) | 1;
	for (uint32_t i = 0; i < index.n_slots; i++, at = (at + step) & mask) {
		unit->row = (uint32_t)number_at(index.rows, at, 4);
		if (!unit->row || unit->row > unit->n_units)
			return false;
		if (number_at(index.ids, at, 8) == id)
			return true;
	}
	return false;
}

static bool slice(struct dwarf_cursor *section, uint64_t offset, uint64_t bytes)
{
	if (!section->at || offset > cursor_left(section) || bytes > cursor_left(section) - offset)
		return false;
	section->at += offset;
	section->end = section->at + bytes;
	return true;
}

void dwarf_package_part(const struct dwarf_package_unit *unit, uint8_t number, struct dwarf_cursor *section)
{
	const struct dwarf_cursor table = unit->table;
	uint32_t n = unit->n_sections, k = 0;

	while (k < n && number_at(table, k, 4) != number)
		k++;
	if (k == n || !slice(section, number_at(table, (uint64_t)unit->row * n + k, 4),
			     number_at(table, ((uint64_t)unit->n_units + unit->row) * n + k, 4)))
		*section = (struct dwarf_cursor){ .at = NULL };
}
