/* SPDX-License-Identifier: MIT */
/*
 * dwarf_units: which compilation unit has the code at an address. One table per file, made when it is
 * opened, from the ranges that each unit's own DIE states. .debug_aranges, which gcc writes and clang does not, is
 * asked only for units that list none: before DWARF 3 there were no lists, and a unit that has code in several
 * sections says no more than where .text is. Where neither says anything, as in the files that perf inject makes of
 * code compiled at run time, the units' line tables are read at once.
 *
 * Type units and partial units have no code. The unit of split DWARF (.dwo) is found through its skeleton
 * here, and opened only when one of its addresses is asked for.
 */
#include "sym/dwarf_internal.h"

#include <errno.h>
#include <stdlib.h>

struct unlisted { /* a unit whose DIE says of one piece of its code where it is, or of none */
	uint64_t die;
	Dwarf_CU *cu;
	uint32_t id; /* SPAN_NONE: none is known yet */
};
struct units_reading {
	struct dwarf_file *file;
	struct dwarf_range_list ranges;
	struct unlisted *unlisted; /* ascending by die, as the section has them */
	size_t n_unlisted, cap_unlisted;
};

static uint32_t add_unit(struct dwarf_file *file, Dwarf_CU *cu)
{
	VEC_GROW(file->units, file->n_units, file->cap_units);
	file->units[file->n_units] = (struct dwarf_unit){ .cu = cu };
	return (uint32_t)file->n_units++;
}

static void take_unit(struct units_reading *reading, Dwarf_CU *cu, Dwarf_Die *die)
{
	struct dwarf_file *file = reading->file;
	int tag = file->lib->dwarf_tag(die);
	size_t before = reading->ranges.n, stated;
	uint32_t id = SPAN_NONE;
	Dwarf_Attribute list;

	if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit)
		return;
	stated = dwarf_file_ranges(file, die, 0, (uint32_t)file->n_units, &reading->ranges);
	/* Identical functions may have been folded: the unit that claims less is more likely right. */
	for (size_t i = before; i < reading->ranges.n; i++)
		reading->ranges.v[i].rank = ~(reading->ranges.v[i].end - reading->ranges.v[i].start);
	if (reading->ranges.n != before) /* else there are none, or the linker threw all of it away */
		id = add_unit(file, cu);
	if (stated && file->lib->dwarf_attr(die, DW_AT_ranges, &list))
		return;
	VEC_GROW(reading->unlisted, reading->n_unlisted, reading->cap_unlisted);
	reading->unlisted[reading->n_unlisted++] = (struct unlisted){
		.die = file->lib->dwarf_dieoffset(die), .cu = cu, .id = id
	};
}

static struct unlisted *find_unlisted(const struct units_reading *reading, uint64_t die)
{
	size_t at = BISECT(i, 0, reading->n_unlisted, reading->unlisted[i].die < die);

	return at < reading->n_unlisted && reading->unlisted[at].die == die ?
		       &reading->unlisted[at] :
		       NULL;
}

static void take_aranges(struct units_reading *reading)
{
	struct dwarf_file *file = reading->file;
	Dwarf_Aranges *list;
	size_t n;

	if (!reading->n_unlisted || file->lib->dwarf_getaranges(file->dwarf, &list, &n))
		return;
	for (size_t i = 0; i < n && dwarf_file_spend(file, 1); i++) {
		Dwarf_Addr start;
		Dwarf_Word bytes;
		Dwarf_Off die;
		struct unlisted *unit;
		struct dwarf_range_list *ranges = &reading->ranges;

		if (file->lib->dwarf_getarangeinfo(file->lib->dwarf_onearange(list, i), &start,
						   &bytes, &die))
			continue;
		unit = find_unlisted(reading, die);
		if (!unit || bytes > UINT64_MAX - start || !dwarf_file_is_code(file, start))
			continue;
		if (unit->id == SPAN_NONE)
			unit->id = add_unit(file, unit->cu);
		VEC_GROW(ranges->v, ranges->n, ranges->cap);
		ranges->v[ranges->n++] = (struct dwarf_range){
			.start = start, .end = start + bytes, .rank = ~bytes, .id = unit->id
		};
	}
}

/* Takes the ranges of units from their line tables, where these units have no others. */
static void take_lines(struct units_reading *reading)
{
	struct dwarf_file *file = reading->file;

	for (size_t i = 0; i < reading->n_unlisted && dwarf_file_spend(file, 1); i++) {
		reading->unlisted[i].id = add_unit(file, reading->unlisted[i].cu);
		dwarf_line_ranges(file, reading->unlisted[i].id, &reading->ranges);
	}
}

/* Takes the units without code, which may have variables. */
static void take_others(struct units_reading *reading)
{
	for (size_t i = 0; i < reading->n_unlisted && dwarf_file_spend(reading->file, 1); i++)
		if (reading->unlisted[i].id == SPAN_NONE)
			add_unit(reading->file, reading->unlisted[i].cu);
}

int dwarf_units_read(struct dwarf_file *file, struct str *err)
{
	struct units_reading reading = { .file = file };
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;
	bool any = false;

	while (file->n_units < SPAN_NONE - 1 && dwarf_file_spend(file, 1) &&
	       !file->lib->dwarf_get_units(file->dwarf, cu, &cu, NULL, &type, &die, NULL)) {
		any = true;
		if (die.cu)
			take_unit(&reading, cu, &die);
	}
	take_aranges(&reading);
	if (!reading.ranges.n)
		take_lines(&reading);
	take_others(&reading);
	dwarf_spans_build(&file->spans, &reading.ranges);
	free(reading.unlisted);
	return any ? 0 : fail(err, -ENODATA, "it has no DWARF");
}

struct dwarf_unit *dwarf_units_find(struct dwarf_file *file, uint64_t addr)
{
	uint32_t id = dwarf_spans_find(&file->spans, addr);

	return id == SPAN_NONE ? NULL : &file->units[id];
}

/* Also what its addresses are counted from. */
static bool find_bases(struct dwarf_file *file, struct dwarf_unit *unit, Dwarf_Die *skeleton)
{
	struct dwarf_scan own, code;

	if (!dwarf_scan_begin(&own, file, skeleton) || !dwarf_scan_next(&own, true) ||
	    !dwarf_scan_begin(&code, file, &unit->code))
		return false;
	dwarf_bases_read(&unit->bases, &own, &code, &file->sections, dwarf_elf_sections(file, unit->code.cu));
	return true;
}

bool dwarf_unit_code_die(struct dwarf_file *file, struct dwarf_unit *unit)
{
	const struct dw_lib *lib = file->lib;
	Dwarf_Die skeleton, split;
	uint8_t type;

	if (lib->dwarf_cu_info(unit->cu, NULL, &type, &skeleton, NULL, NULL, NULL, NULL) || !skeleton.cu)
		return false;
	unit->code = skeleton;
	if (type == DW_UT_skeleton && dwarf_split_die(file, unit->cu, &skeleton, &split))
		unit->code = split;
	return find_bases(file, unit, &skeleton);
}

const char *dwarf_unit_directory(struct dwarf_file *file, const struct dwarf_unit *unit)
{
	Dwarf_Die die;

	if (file->lib->dwarf_cu_info(unit->cu, NULL, NULL, &die, NULL, NULL, NULL, NULL) || !die.cu)
		return NULL;
	return dwarf_file_text(file, &die, DW_AT_comp_dir);
}

void dwarf_units_release(struct dwarf_file *file)
{
	for (size_t i = 0; i < file->n_units; i++) {
		struct dwarf_unit *unit = &file->units[i];

		dwarf_inline_release(unit);
		dwarf_globals_release(unit->globals);
		dwarf_sources_release(&unit->sources);
		free(unit->rows);
		free(unit->sequences);
		dwarf_spans_release(&unit->row_spans);
	}
	free(file->units);
	dwarf_spans_release(&file->spans);
}
