/* SPDX-License-Identifier: MIT */
/*
 * dwarf_split: split DWARF: a unit in the program, or in its debug file, is a skeleton, which has an id and the name of
 * a file with all the rest. That lies in a .dwo file, or with those of all units in a package:
 *
 *	package   <that file>.dwp, <program>.dwp
 *	file      the skeleton's name beside that file, or below the directory it was compiled in
 *
 * libdw would open whatever file is named, and knows packages since 0.191 only. So files are opened here as all are,
 * and it is given what belongs to one unit (elf_view_compose), in which it looks for names. Where code is, is counted
 * from what the skeleton says: dwarf_ranges.c.
 *
 * A package says by .debug_cu_index where the parts of a unit are. All numbers are of the file's byte order; ids is a
 * hash table, open, by the bits of the id:
 *
 *	version | sections S | units U | slots N | ids[N] u64 | rows[N] u32 | table
 *	table: numbers[S], offsets[U][S], sizes[U][S]
 *
 * Every number is hostile: U is at most N, and S not much more than the 8 that the formats know, so that the size of
 * the table is no more than 64 bits hold, and a look-up takes no longer than its bytes.
 *
 * Source: DWARF 5, 7.3.2 (split objects) and 7.3.5 (package files); GNU extensions to DWARF 4 ("DebugFissionDWP").
 */
#include "sym/dwarf_internal.h"

#include <errno.h>
#include <stdlib.h>

enum {
	SECTIONS_MAX = 64,
	UNITS_MAX = 1 << 16, /* of one .dwo file: its own and those of its types */
};

/* The sections that names need. To add one: a row; numbers: of the index in version 2 and 5, 0: all share it. */
static const struct {
	const char *name, *split_name;
	uint8_t numbers[2];
} wanted[] = {
	{ ".debug_info", "debug_info", { 1, 1 } },
	{ ".debug_types", "debug_types", { 2, 0 } },
	{ ".debug_abbrev", "debug_abbrev", { 3, 3 } },
	{ ".debug_str", "debug_str", { 0, 0 } },
	{ ".debug_str_offsets", "debug_str_offsets", { 6, 6 } },
	{ ".debug_rnglists", "debug_rnglists", { 0, 8 } },
};
enum { LOCATIONS = 5 }; /* the number of those that variables need, which are read when they are asked for */
#define CU_INDEX ".debug_cu_index"
enum { N_WANTED = ARRAY_SIZE(wanted), INFO = 0 };

struct dwarf_split_file { /* .dwo or .dwp */
	char *path;
	bool open; /* else it can't be used */
	struct elf_file view;
	struct dwarf_cursor sections[N_WANTED]; /* each whole */
	struct dwarf_cursor index; /* of a package */
	struct elf_file location_view;
	struct dwarf_sections locations; /* loc and loclists, each whole */
	bool locations_tried;
};
struct dwarf_split_unit {
	struct dwarf_split_file *from;
	uint64_t id;
	bool locations_found;
	struct elf_file view;
	Dwarf *dwarf;
	struct dwarf_sections sections;
};

static bool is_wanted(const char *section)
{
	for (size_t i = 0; i < N_WANTED; i++)
		if (dwarf_section_is(section, wanted[i].split_name))
			return true;
	return !strcmp(section, CU_INDEX);
}

/* ---- the index of a package ---- */

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

/* ---- files ---- */

static struct dwarf_cursor contents(struct dwarf_split_file *split, const struct elf_section *section)
{
	struct dwarf_cursor cursor = { .swapped = split->view.swapped };
	size_t n;
	const uint8_t *bytes = elf_view_bytes(&split->view, section, &n);

	if (bytes)
		cursor.at = bytes, cursor.end = bytes + n;
	return cursor;
}

static void find_sections(struct dwarf_split_file *split)
{
	struct elf_section section = { 0 };

	while (elf_section_next(&split->view, &section)) {
		if (!strcmp(section.name, CU_INDEX))
			split->index = contents(split, &section);
		for (size_t i = 0; i < N_WANTED; i++)
			if (!split->sections[i].at && dwarf_section_is(section.name, wanted[i].split_name))
				split->sections[i] = contents(split, &section);
	}
}

static void open_split(struct dwarf_file *file, struct dwarf_split_file *split)
{
	struct str why = STR_INIT;
	struct elf_file *elf;
	int rc = file_parts_open(&file->parts, file->elf_files, split->path, &elf, &why);

	if (!rc) {
		rc = elf_view_open(&split->view, elf, is_wanted, &why);
		file->parts.unsure |= rc;
		if (!rc) {
			split->open = true;
			find_sections(split);
			elf_view_done(&split->view);
		}
		elf_file_let_go(elf);
	}
	if (rc == -EFBIG && !file->refused.len)
		str_addf(&file->refused, "inlined functions are missing: %s: %s", split->path, why.s);
	str_release(&why);
}

/* Takes the path. Each is opened once, also where that fails: units of a package ask for it again and again. */
static struct dwarf_split_file *split_at(struct dwarf_file *file, char *path)
{
	struct dwarf_split_file *split;

	for (size_t i = 0; i < file->n_splits; i++) {
		if (strcmp(file->splits[i]->path, path))
			continue;
		free(path);
		return file->splits[i]->open ? file->splits[i] : NULL;
	}
	split = xcalloc(1, sizeof(*split));
	split->path = path;
	split->view.fd = split->location_view.fd = -1;
	VEC_GROW(file->splits, file->n_splits, file->cap_splits);
	file->splits[file->n_splits++] = split;
	open_split(file, split);
	return split->open ? split : NULL;
}

/* ---- packages ---- */

/* The unit's part of each section; false: it has none. */
static bool find_parts(const struct dwarf_split_file *package, uint64_t id, struct dwarf_cursor *parts)
{
	struct dwarf_package_unit unit;

	if (!dwarf_package_find(&unit, package->index, id))
		return false;
	for (size_t i = 0; i < N_WANTED; i++) {
		uint8_t number = wanted[i].numbers[unit.version == 5];

		parts[i] = package->sections[i];
		if (number)
			dwarf_package_part(&unit, number, &parts[i]);
	}
	return parts[INFO].at;
}

/* ---- units ---- */

static bool find_unit(struct dwarf_file *file, const struct dwarf_split_unit *unit, uint64_t id, Dwarf_Die *die)
{
	Dwarf_CU *cu = NULL;
	uint64_t found;
	uint8_t type;

	for (size_t i = 0; i < UNITS_MAX && dwarf_file_spend(file, 1); i++) {
		if (file->lib->dwarf_get_units(unit->dwarf, cu, &cu, NULL, &type, die, NULL))
			return false;
		if (die->cu && !file->lib->dwarf_cu_info(cu, NULL, NULL, NULL, NULL, &found, NULL, NULL) &&
		    found == id && type == DW_UT_split_compile)
			return true;
	}
	return false;
}

static void unit_free(struct dwarf_file *file, struct dwarf_split_unit *unit)
{
	if (unit->dwarf)
		file->lib->dwarf_end(unit->dwarf);
	elf_file_close(&unit->view);
	free(unit);
}

/* From the parts of a unit to its DIE; NULL: they don't have it. */
static struct dwarf_split_unit *begin_unit(struct dwarf_file *file, struct dwarf_split_file *from,
					   const struct dwarf_cursor *sections, uint64_t id, Dwarf_Die *die)
{
	struct dwarf_split_unit *unit = xcalloc(1, sizeof(*unit));
	struct elf_part parts[N_WANTED];
	struct str ignored = STR_INIT;
	size_t n = 0;

	for (size_t i = 0; i < N_WANTED; i++)
		if (sections[i].at && cursor_left(&sections[i]))
			parts[n++] = (struct elf_part){ wanted[i].name, sections[i].at, cursor_left(&sections[i]) };
	unit->from = from;
	unit->id = id;
	unit->view.fd = -1;
	if (!elf_view_compose(&unit->view, &file->view, parts, n, &ignored))
		unit->dwarf = file->lib->dwarf_begin_elf(unit->view.elf, DWARF_C_READ, NULL);
	str_release(&ignored);
	if (!unit->dwarf || !find_unit(file, unit, id, die)) {
		unit_free(file, unit);
		return NULL;
	}
	dwarf_elf_find_sections(&unit->view, &unit->sections);
	return unit;
}

static struct dwarf_split_unit *from_package_of(struct dwarf_file *file, const char *path, uint64_t id, Dwarf_Die *die)
{
	struct dwarf_split_file *package = split_at(file, xasprintf("%s.dwp", path));
	struct dwarf_cursor parts[N_WANTED];

	return package && find_parts(package, id, parts) ? begin_unit(file, package, parts, id, die) : NULL;
}

static struct dwarf_split_unit *from_package(struct dwarf_file *file, uint64_t id, Dwarf_Die *die)
{
	const char *const paths[] = { file->path, file->program };
	struct dwarf_split_unit *unit = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(paths) && paths[i] && !unit; i++) {
		/* Links below a process's root lead elsewhere than here. */
		char *real = foreign_root_bytes(paths[i]) ? NULL : realpath(paths[i], NULL);

		unit = from_package_of(file, paths[i], id, die);
		if (!unit && real && strcmp(real, paths[i]) != 0)
			unit = from_package_of(file, real, id, die);
		free(real);
	}
	return unit;
}

/* Below the root of the process that the program was found below; the caller frees. */
static char *dwo_path(const struct dwarf_file *file, const char *directory, const char *name)
{
	size_t root = foreign_root_bytes(file->path);
	const char *slash = strrchr(file->path, '/');

	if (name[0] == '/')
		return xasprintf("%.*s%s", (int)root, file->path, name);
	if (directory)
		return xasprintf("%.*s%s/%s", (int)root, file->path, directory, name);
	return xasprintf("%.*s%s", slash ? (int)(slash + 1 - file->path) : 0, file->path, name);
}

static struct dwarf_split_unit *from_file(struct dwarf_file *file, const char *directory, const char *name,
					  uint64_t id, Dwarf_Die *die)
{
	struct dwarf_split_file *split = split_at(file, dwo_path(file, directory, name));

	return split ? begin_unit(file, split, split->sections, id, die) : NULL;
}

static struct dwarf_split_unit *find_split(struct dwarf_file *file, Dwarf_Die *skeleton, uint64_t id, Dwarf_Die *die)
{
	struct dwarf_split_unit *unit = from_package(file, id, die);
	const char *name = dwarf_file_text(file, skeleton, DW_AT_dwo_name);
	const char *directory = dwarf_file_text(file, skeleton, DW_AT_comp_dir);

	if (!name)
		name = dwarf_file_text(file, skeleton, DW_AT_GNU_dwo_name);
	if (!unit && name)
		unit = from_file(file, NULL, name, id, die);
	if (!unit && name && directory && directory[0] == '/' && name[0] != '/')
		unit = from_file(file, directory, name, id, die);
	return unit;
}

bool dwarf_split_die(struct dwarf_file *file, Dwarf_CU *skeleton_cu, Dwarf_Die *skeleton, Dwarf_Die *die)
{
	struct dwarf_split_unit *unit;
	uint64_t id;

	if (file->lib->dwarf_cu_info(skeleton_cu, NULL, NULL, NULL, NULL, &id, NULL, NULL))
		return false;
	unit = find_split(file, skeleton, id, die);
	if (!unit)
		return false;
	VEC_GROW(file->split_units, file->n_split_units, file->cap_split_units);
	file->split_units[file->n_split_units++] = unit;
	dwarf_elf_split_used(file, &unit->sections);
	return true;
}

static struct dwarf_split_unit *unit_of(const struct dwarf_file *file, const void *elf)
{
	for (size_t i = file->n_split_units; i-- > 0;)
		if (file->split_units[i]->view.elf == elf)
			return file->split_units[i];
	return NULL;
}

const struct dwarf_sections *dwarf_split_sections(const struct dwarf_file *file, const void *elf)
{
	const struct dwarf_split_unit *unit = unit_of(file, elf);

	return unit ? &unit->sections : NULL;
}

/* ---- where variables are ---- */

/* Gives a unit its part of what its package has, or all that its file has. */
static void take_locations(struct dwarf_split_unit *unit)
{
	struct dwarf_split_file *from = unit->from;
	struct dwarf_package_unit rows;
	struct dwarf_cursor *whole, part;

	unit->sections.loc = from->locations.loc;
	unit->sections.loclists = from->locations.loclists;
	if (!dwarf_package_find(&rows, from->index, unit->id))
		return;
	whole = rows.version == 5 ? &unit->sections.loclists : &unit->sections.loc;
	part = *whole;
	dwarf_package_part(&rows, LOCATIONS, &part);
	if (part.at)
		*whole = part;
	else
		whole->end = whole->at;
}

void dwarf_split_find_locations(struct dwarf_file *file, const void *elf)
{
	struct dwarf_split_unit *unit = unit_of(file, elf);
	struct dwarf_split_file *from = unit ? unit->from : NULL;

	if (!unit || unit->locations_found)
		return;
	if (!from->locations_tried && dwarf_elf_open_later(file, &from->view, &from->location_view,
							   dwarf_elf_is_locations, &from->locations))
		dwarf_elf_locations_used(file, &from->locations);
	from->locations_tried = true;
	if (from->locations.elf)
		take_locations(unit);
	unit->locations_found = true;
}

void dwarf_split_release(struct dwarf_file *file)
{
	for (size_t i = 0; i < file->n_split_units; i++)
		unit_free(file, file->split_units[i]);
	free(file->split_units);
	for (size_t i = 0; i < file->n_splits; i++) {
		elf_file_close(&file->splits[i]->view);
		elf_file_close(&file->splits[i]->location_view);
		free(file->splits[i]->path);
		free(file->splits[i]);
	}
	free(file->splits);
}
