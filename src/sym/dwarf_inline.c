/* SPDX-License-Identifier: MIT */
/*
 * dwarf_inline: which functions, inlined into each other, are at an address. The first question about a
 * unit goes over its functions, and the first one about a function over what is in that:
 *
 *	subprogram f          functions: 0 f  (real)
 *	  lexical_block                  1 g  in 0, called at a.c:5
 *	    inlined g, called at 5       2 h  in 1, called at a.c:9
 *	      inlined h           spans: f f g h g f    the innermost one at each address
 *
 * An answer is two binary searches and then the way out through `parent`. A parent always has the smaller
 * index, so that way ends. Names and places of calls are looked up for functions that occur in an answer:
 * most of a program is never sampled. A unit may be a whole program of gigabytes, of which compilers say where the
 * next function begins.
 *
 * Nothing recurses: the depth of DIEs is the file's to choose. What lies deeper than DEPTH_MAX is left out.
 *
 * Source: DWARF 5, 3.3.8 (inlined subroutines), 2.17 (code addresses and ranges).
 */
#include "sym/dwarf_internal.h"

#include <stdlib.h>

enum {
	DEPTH_MAX = 200,
	FORGET_BYTES = 4 << 20,
	HOPS_MAX = 16, /* from an inlined copy to the declaration that has its name: 3 in practice */
};

enum die_role { ROLE_NONE, ROLE_SCOPE, ROLE_FUNCTION, ROLE_INLINED };
/* DIEs that are functions, or that functions are found in. All others are passed over, with all in them. */
static const uint8_t roles[] = {
	[DW_TAG_subprogram] = ROLE_FUNCTION,
	[DW_TAG_inlined_subroutine] = ROLE_INLINED,
	[DW_TAG_lexical_block] = ROLE_SCOPE,
	[DW_TAG_try_block] = ROLE_SCOPE,
	[DW_TAG_catch_block] = ROLE_SCOPE,
	[DW_TAG_with_stmt] = ROLE_SCOPE,
	[DW_TAG_namespace] = ROLE_SCOPE,
	[DW_TAG_module] = ROLE_SCOPE,
	[DW_TAG_class_type] = ROLE_SCOPE,
	[DW_TAG_structure_type] = ROLE_SCOPE,
	[DW_TAG_union_type] = ROLE_SCOPE,
	[DW_TAG_interface_type] = ROLE_SCOPE,
};

struct inline_walk {
	struct dwarf_file *file;
	struct dwarf_unit *unit;
	struct dwarf_scan scan;
	struct dwarf_range_list ranges;
	uint32_t parents[DEPTH_MAX]; /* by depth below the function: which one a DIE is in */
};

static bool begin(struct inline_walk *walk, struct dwarf_file *file, struct dwarf_unit *unit)
{
	*walk = (struct inline_walk){ .file = file, .unit = unit };
	return unit->code.cu && dwarf_scan_begin(&walk->scan, file, &unit->code);
}

static enum die_role role_of(const struct dwarf_scan *scan)
{
	return scan->abbrev->tag < ARRAY_SIZE(roles) ? roles[scan->abbrev->tag] : ROLE_NONE;
}

static Dwarf_Die die_of(const struct inline_walk *walk)
{
	Dwarf_Die die = { .addr = walk->unit->code.addr, .cu = walk->unit->code.cu };

	die.addr = (char *)die.addr + (walk->scan.die - (const uint8_t *)die.addr);
	return die;
}

/* ---- a unit's functions ---- */

static void take_subprogram(struct inline_walk *walk)
{
	struct dwarf_unit *unit = walk->unit;

	/* A subprogram without code is the pattern of inlined copies, or a declaration. */
	if (!walk->scan.abbrev->has_code || unit->n_subprograms >= SPAN_NONE - 1 ||
	    !dwarf_ranges_add(walk->file, &unit->bases, &walk->scan, walk->scan.depth, (uint32_t)unit->n_subprograms,
			      &walk->ranges))
		return;
	VEC_GROW(unit->subprograms, unit->n_subprograms, unit->cap_subprograms);
	unit->subprograms[unit->n_subprograms++] = (struct dwarf_subprogram){
		.die = (uint64_t)(walk->scan.die - (const uint8_t *)unit->code.addr),
	};
}

/* Gives back the bytes that were looked at: of a large unit they would all be in memory. */
static const uint8_t *forget(const struct inline_walk *walk, const uint8_t *from)
{
	if (walk->scan.at.at - from < FORGET_BYTES || walk->file->view.relocatable)
		return from;
	elf_view_forget(from, (size_t)(walk->scan.at.at - from));
	return walk->scan.at.at;
}

/*
 * nested: those that are inside of others (of languages that have such), which takes a look at all DIEs; else those
 * that are not, and the insides of functions are passed over.
 */
static void read_subprograms(struct dwarf_file *file, struct dwarf_unit *unit, bool nested)
{
	size_t function_depth = DEPTH_MAX; /* where the function is that all is in */
	const uint8_t *from;
	struct inline_walk walk;
	bool enter = true;

	if (!begin(&walk, file, unit))
		return;
	from = walk.scan.unit;
	while (dwarf_scan_next(&walk.scan, enter)) {
		size_t depth = walk.scan.depth;
		enum die_role role = role_of(&walk.scan);

		if (depth <= function_depth)
			function_depth = DEPTH_MAX;
		if (role == ROLE_FUNCTION && nested == (function_depth < depth))
			take_subprogram(&walk);
		if (role == ROLE_FUNCTION && depth < function_depth)
			function_depth = depth;
		enter = !depth || (depth < DEPTH_MAX && role && (nested || role == ROLE_SCOPE));
		from = forget(&walk, from);
	}
	dwarf_spans_build(nested ? &unit->nested_spans : &unit->spans, &walk.ranges);
}

uint32_t dwarf_subprogram_find(struct dwarf_file *file, struct dwarf_unit *unit, uint64_t addr)
{
	uint32_t found;

	if (!unit->subprograms_read) {
		unit->subprograms_read = true;
		unit->nested_read = !dwarf_unit_code_die(file, unit);
		if (!unit->nested_read)
			read_subprograms(file, unit, false);
	}
	found = dwarf_spans_find(&unit->spans, addr);
	if (found != SPAN_NONE)
		return found;
	if (!unit->nested_read) {
		unit->nested_read = true;
		read_subprograms(file, unit, true);
	}
	return dwarf_spans_find(&unit->nested_spans, addr);
}

/* ---- what is inlined into one of them ---- */

/* The function that what is inside the DIE belongs to. */
static uint32_t take_function(struct inline_walk *walk, uint32_t parent, bool inlined)
{
	struct dwarf_unit *unit = walk->unit;
	Dwarf_Die die = die_of(walk);
	uint32_t id = (uint32_t)unit->n_functions;
	size_t n = 0;

	if (walk->scan.abbrev->has_code)
		n = dwarf_ranges_add(walk->file, &unit->bases, &walk->scan, walk->scan.depth, id, &walk->ranges);
	if ((!n && !inlined) || unit->n_functions >= SPAN_NONE - 1)
		return inlined ? parent : SPAN_NONE;
	VEC_GROW(unit->functions, unit->n_functions, unit->cap_functions);
	unit->functions[unit->n_functions++] = (struct dwarf_function){
		.die = walk->file->lib->dwarf_dieoffset(&die),
		.parent = inlined ? parent : SPAN_NONE,
	};
	return id;
}

/* Whether functions can be inside the DIE. */
static bool take_die(struct inline_walk *walk)
{
	const struct dwarf_scan *scan = &walk->scan;
	enum die_role role = role_of(scan);
	uint32_t parent;

	if (!role || scan->depth >= DEPTH_MAX)
		return false;
	parent = walk->parents[scan->depth];
	if (role >= ROLE_FUNCTION)
		parent = take_function(walk, parent, role == ROLE_INLINED);
	if (scan->depth + 1 < DEPTH_MAX)
		walk->parents[scan->depth + 1] = parent;
	return true;
}

static void read_insides(struct dwarf_file *file, struct dwarf_unit *unit, uint64_t die, struct dwarf_spans *spans)
{
	struct inline_walk walk;
	bool enter = true;

	if (!begin(&walk, file, unit))
		return;
	dwarf_scan_from(&walk.scan, (const uint8_t *)unit->code.addr + die);
	walk.parents[0] = SPAN_NONE;
	while (dwarf_scan_next(&walk.scan, enter)) {
		enter = take_die(&walk);
		if (!walk.scan.depth && !walk.scan.abbrev->children)
			break;
	}
	dwarf_spans_build(spans, &walk.ranges);
}

uint32_t dwarf_inline_find(struct dwarf_file *file, struct dwarf_unit *unit, uint64_t addr)
{
	uint32_t found = dwarf_subprogram_find(file, unit, addr);
	struct dwarf_subprogram *subprogram;

	if (found == SPAN_NONE)
		return SPAN_NONE;
	subprogram = &unit->subprograms[found];
	if (!subprogram->insides1) {
		VEC_GROW(unit->insides, unit->n_insides, unit->cap_insides);
		unit->insides[unit->n_insides] = (struct dwarf_spans){ NULL, 0, 0 };
		read_insides(file, unit, subprogram->die, &unit->insides[unit->n_insides]);
		subprogram->insides1 = (uint32_t)++unit->n_insides;
	}
	return dwarf_spans_find(&unit->insides[subprogram->insides1 - 1], addr);
}

void dwarf_inline_release(struct dwarf_unit *unit)
{
	for (size_t i = 0; i < unit->n_insides; i++)
		dwarf_spans_release(&unit->insides[i]);
	free(unit->insides);
	free(unit->functions);
	free(unit->subprograms);
	dwarf_spans_release(&unit->spans);
	dwarf_spans_release(&unit->nested_spans);
}

/* ---- names ---- */

static uint64_t number(const struct dwarf_file *file, Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!file->lib->dwarf_attr(die, name, &attribute) ||
	    file->lib->dwarf_formudata(&attribute, &value))
		return 0;
	return value;
}

/*
 * The linkage name, wherever on the way from the copy over its pattern to the declaration it stands; the
 * plain name where there is none. decl_line: the first on the same way, where the function's body is.
 */
static const char *function_name(struct dwarf_file *file, Dwarf_Die die, uint64_t *decl_line)
{
	const char *plain = NULL;

	*decl_line = 0;

	for (int hop = 0; hop < HOPS_MAX; hop++) {
		const struct dw_lib *lib = file->lib;
		Dwarf_Attribute attribute;
		const char *name = dwarf_file_text(file, &die, DW_AT_linkage_name);

		if (!*decl_line)
			*decl_line = number(file, &die, DW_AT_decl_line);
		if (!name)
			name = dwarf_file_text(file, &die, DW_AT_MIPS_linkage_name);
		if (name)
			return name;
		if (!plain)
			plain = dwarf_file_text(file, &die, DW_AT_name);
		if (!lib->dwarf_attr(&die, DW_AT_abstract_origin, &attribute) &&
		    !lib->dwarf_attr(&die, DW_AT_specification, &attribute))
			break;
		if (!dwarf_file_has(file, &attribute) || !lib->dwarf_formref_die(&attribute, &die))
			break;
	}
	return plain;
}

const struct dwarf_function *dwarf_inline_resolve(struct dwarf_file *file, struct dwarf_unit *unit,
						  uint32_t index, bool lines)
{
	struct dwarf_function *function = &unit->functions[index];
	bool call = lines && !function->has_call && function->parent != SPAN_NONE;
	Dwarf_Die die;
	uint64_t line;

	if ((function->has_name && !call) ||
	    !file->lib->dwarf_offdie(file->lib->dwarf_cu_getdwarf(unit->code.cu), function->die, &die))
		return function;
	if (!function->has_name) {
		function->name = function_name(file, die, &line);
		function->decl_line = line <= UINT32_MAX ? (uint32_t)line : 0;
	}
	function->has_name = true;
	if (!call)
		return function;
	function->has_call = true;
	line = number(file, &die, DW_AT_call_line);
	function->call_line = line <= UINT32_MAX ? (uint32_t)line : 0;
	function->call_file =
		dwarf_line_call_source(file, unit, number(file, &die, DW_AT_call_file));
	return function;
}
