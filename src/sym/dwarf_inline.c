/*
 * dwarf_inline: which functions, inlined into each other, are at an address. The first question about a
 * unit goes over its DIEs once:
 *
 *	subprogram f          functions: 0 f  (real)
 *	  lexical_block                  1 g  in 0, called at a.c:5
 *	    inlined g, called at 5       2 h  in 1, called at a.c:9
 *	      inlined h           spans: f f g h g f    the innermost one at each address
 *
 * An answer is a binary search and then the way out through `parent`. A parent always has the smaller
 * index, so that way ends. Names and places of calls are looked up for functions that occur in an answer:
 * most of a program is never sampled.
 *
 * Nothing recurses: the depth of DIEs is the file's to choose. What lies deeper than DEPTH_MAX is left out.
 *
 * Source: DWARF 5, 3.3.8 (inlined subroutines), 2.17 (code addresses and ranges).
 */
#include "sym/dwarf_internal.h"

enum {
	DEPTH_MAX = 200,
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

struct walk {
	struct dwarf_file *file;
	struct dwarf_unit *unit;
	struct dwarf_scan scan;
	struct dwarf_range_list ranges;
	uint32_t parents[DEPTH_MAX]; /* by depth: the function that a DIE is in */
};

/* The function that what is inside the DIE belongs to. */
static uint32_t take_function(struct walk *walk, uint32_t parent, bool inlined)
{
	struct dwarf_unit *unit = walk->unit;
	Dwarf_Die die = { .addr = walk->unit->code.addr, .cu = unit->code.cu };
	uint32_t id = (uint32_t)unit->n_functions;
	size_t n = 0;

	die.addr = (char *)die.addr + (walk->scan.die - (const uint8_t *)die.addr);
	if (walk->scan.abbrev->has_code)
		n = dwarf_file_ranges(walk->file, &die, walk->scan.depth, id, &walk->ranges);
	/* Without code, it is the pattern of inlined copies, or a declaration. */
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
static bool take_die(struct walk *walk)
{
	const struct dwarf_scan *scan = &walk->scan;
	uint8_t role = scan->abbrev->tag < ARRAY_SIZE(roles) ? roles[scan->abbrev->tag] : ROLE_NONE;
	uint32_t parent;

	if (!scan->depth || !role)
		return !scan->depth;
	if (scan->depth >= DEPTH_MAX)
		return false;
	parent = walk->parents[scan->depth];
	if (role >= ROLE_FUNCTION)
		parent = take_function(walk, parent, role == ROLE_INLINED);
	if (scan->depth + 1 < DEPTH_MAX)
		walk->parents[scan->depth + 1] = parent;
	return true;
}

static void read_functions(struct dwarf_file *file, struct dwarf_unit *unit)
{
	struct walk walk = { .file = file, .unit = unit };
	bool enter = true;

	dwarf_unit_code_die(file, unit);
	if (!unit->code.cu || !dwarf_scan_begin(&walk.scan, file, &unit->code))
		return;
	walk.parents[1] = SPAN_NONE;
	while (dwarf_scan_next(&walk.scan, enter))
		enter = take_die(&walk);
	dwarf_spans_build(&unit->spans, &walk.ranges);
}

uint32_t dwarf_inline_find(struct dwarf_file *file, struct dwarf_unit *unit, uint64_t addr)
{
	if (!unit->functions_read) {
		unit->functions_read = true;
		read_functions(file, unit);
	}
	return dwarf_spans_find(&unit->spans, addr);
}

/*
 * The linkage name, wherever on the way from the copy over its pattern to the declaration it stands; the
 * plain name where there is none.
 */
static const char *function_name(struct dwarf_file *file, Dwarf_Die die)
{
	const char *plain = NULL;

	for (int hop = 0; hop < HOPS_MAX; hop++) {
		const struct dw_lib *lib = file->lib;
		Dwarf_Attribute attribute;
		const char *name = dwarf_file_text(file, &die, DW_AT_linkage_name);

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

static uint64_t number(const struct dwarf_file *file, Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!file->lib->dwarf_attr(die, name, &attribute) ||
	    file->lib->dwarf_formudata(&attribute, &value))
		return 0;
	return value;
}

const struct dwarf_function *dwarf_inline_resolve(struct dwarf_file *file, struct dwarf_unit *unit,
						  uint32_t index)
{
	struct dwarf_function *function = &unit->functions[index];
	Dwarf_Die die;
	uint64_t line;

	if (function->resolved)
		return function;
	function->resolved = true;
	if (!file->lib->dwarf_offdie(file->lib->dwarf_cu_getdwarf(unit->code.cu), function->die, &die))
		return function;
	function->name = function_name(file, die);
	if (function->parent == SPAN_NONE)
		return function;
	line = number(file, &die, DW_AT_call_line);
	function->call_line = line <= UINT32_MAX ? (uint32_t)line : 0;
	function->call_file =
		dwarf_line_call_source(file, unit, number(file, &die, DW_AT_call_file));
	return function;
}
