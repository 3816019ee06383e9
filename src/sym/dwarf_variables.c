/* SPDX-License-Identifier: MIT */
/*
 * dwarf_variables: which variable a register or a piece of memory is, where code runs. The first question about a
 * function goes over all that is declared in it, and in what is inlined into it:
 *
 *	subprogram f                    where       from  to
 *	  parameter p  loclist --.     register 5   1000 1010  pointer to struct node, depth 1
 *	  block                   `--> register 3   1010 1040  pointer to struct node, depth 1
 *	    variable s exprloc ------> CFA - 56     1004 1038  struct sum, depth 2
 *
 * Where several variables claim one register, as those of inlined functions do, the one with the more telling type
 * answers: a pointer to a structure before one to any other, one to void after these, and last what leads to no data;
 * then one that the register is, before one that it is at a distance from; then the innermost one.
 *
 * Global variables are those of the unit that the code is of, found by their address; or, where they are declared in
 * it and defined elsewhere, by the name that the file's symbols have for the address. Variables that each thread has of
 * its own are found by their place in a thread's copy. Where an address alone is known, as that of a sample's data, all
 * units are asked, also for what is static in functions.
 *
 * Calls are found by where they return to: what is called, and what that returns, is said also of functions of other
 * files.
 *
 * Only expressions are understood that are one step from a register, from the frame, or an address alone: others (of
 * values that are in pieces, or computed) tell of no place.
 *
 * Source: DWARF 5, 2.6 (locations), 7.7.3 (location lists); 4.1 (variables).
 */
#include "sym/dwarf_internal.h"

#include <stdlib.h>

enum {
	DEPTH_MAX = 200,
	REGISTERS = 32, /* that pointers are in, by DWARF's numbers */
	ENTRIES_MAX = 1 << 20, /* of one function */
};

enum variable_place_kind {
	PLACE_VALUE,
	PLACE_AT_REGISTER,
	PLACE_AT_CFA,
	PLACE_AT_ADDRESS,
	PLACE_OF_THREAD, /* in a copy that each thread has */
	PLACE_UNKNOWN,
};
struct variable_place {
	enum variable_place_kind kind;
	uint8_t reg;
	int64_t offset; /* of the place, or of the value, from it; or the address; of a copy from where that begins */
};

struct variable_in_memory { /* a variable in memory */
	uint64_t start, end;
	struct variable_place place;
	const struct data_type *type;
	size_t depth;
};
struct variable_value { /* in a register: what it points to, and how far into that; target NULL: it is no pointer */
	const struct data_type *target, *type;
	int64_t offset;
	uint64_t start, end, rank;
	uint32_t before; /* 1 + the index of the one before it in this register; 0: there is none */
};
struct global {
	enum variable_place_kind kind; /* PLACE_AT_ADDRESS, PLACE_OF_THREAD, PLACE_UNKNOWN */
	uint64_t addr;
	const char *name; /* or NULL */
	const struct data_type *type;
};
struct dwarf_globals { /* of a unit, or of all */
	struct global *v; /* ascending, by kind first */
	size_t n, cap;
	struct index names;
};
struct call_site {
	uint64_t returns; /* to this address */
	const uint8_t *die;
};

struct dwarf_variables {
	struct dwarf_file *file;
	struct dwarf_unit *unit;
	struct variable_in_memory *memory;
	size_t n_memory, cap_memory;
	struct variable_value *values;
	size_t n_values, cap_values;
	uint32_t last_values[REGISTERS]; /* see variable_value.before */
	struct dwarf_range_list claims[REGISTERS]; /* ids are indexes of values */
	struct dwarf_spans spans[REGISTERS]; /* made of them when the register is asked for */
	struct call_site *calls; /* ascending, once calls_sorted */
	size_t n_calls, cap_calls;
	bool calls_sorted;
	struct variable_place frame; /* that DW_OP_fbreg counts from */
	bool has_frame;
};

struct list_reading;
struct walk {
	struct dwarf_variables *out;
	struct dwarf_scan scan;
	const struct dwarf_cursor *lists; /* .debug_loc or .debug_loclists */
	bool (*take_entry)(struct list_reading *reading); /* the next of a list; false: the end, or what is not known */
	struct dwarf_range_list ranges; /* of the scopes that are open */
	struct {
		size_t first, n; /* of ranges */
	} scopes[DEPTH_MAX]; /* by depth of the DIEs in them */
};

/* ---- expressions ---- */

/* A number, and that it is of the copy that a thread has. */
static bool take_thread_number(struct walk *walk, uint8_t op, struct dwarf_cursor *bytes, struct variable_place *place)
{
	uint64_t number;

	if (op == DW_OP_const4u || op == DW_OP_const8u)
		number = cursor_number(bytes, op == DW_OP_const4u ? 4 : 8);
	else if (!dwarf_bases_address(&walk->out->unit->bases, cursor_uleb(bytes), &number))
		return false;
	op = cursor_u8(bytes);
	*place = (struct variable_place){ .kind = PLACE_OF_THREAD, .offset = (int64_t)number };
	return op == DW_OP_form_tls_address || op == DW_OP_GNU_push_tls_address;
}

/* One step from somewhere; false: something else. */
static bool take_expression(struct walk *walk, struct dwarf_cursor bytes, struct variable_place *place)
{
	uint8_t op = cursor_u8(&bytes);
	uint64_t number = 0;

	*place = (struct variable_place){ .kind = PLACE_AT_REGISTER };
	if (op >= DW_OP_reg0 && op <= DW_OP_reg31) {
		*place = (struct variable_place){ .kind = PLACE_VALUE, .reg = op - DW_OP_reg0 };
	} else if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
		place->reg = op - DW_OP_breg0;
		place->offset = cursor_sleb(&bytes);
	} else if (op == DW_OP_call_frame_cfa) {
		place->kind = PLACE_AT_CFA;
	} else if (op == DW_OP_fbreg && walk->out->has_frame) {
		*place = walk->out->frame;
		place->offset += cursor_sleb(&bytes);
	} else if (op == DW_OP_const4u || op == DW_OP_const8u || op == DW_OP_constx || op == DW_OP_GNU_const_index) {
		if (!take_thread_number(walk, op, &bytes, place))
			return false;
	} else if (op == DW_OP_addr || op == DW_OP_addrx || op == DW_OP_GNU_addr_index) {
		place->kind = PLACE_AT_ADDRESS;
		if (op == DW_OP_addr)
			number = cursor_number(&bytes, walk->out->unit->bases.address_bytes);
		else if (!dwarf_bases_address(&walk->out->unit->bases, cursor_uleb(&bytes), &number))
			return false;
		place->offset = (int64_t)number;
	} else {
		return false;
	}
	if (place->kind == PLACE_AT_REGISTER && cursor_left(&bytes) == 1 && *bytes.at == DW_OP_stack_value) {
		place->kind = PLACE_VALUE;
		cursor_u8(&bytes);
	}
	return !bytes.bad && !cursor_left(&bytes);
}

/* ---- what is where ---- */

static void take_place(struct walk *walk, const struct data_type *type, const struct variable_place *place,
		       uint64_t start, uint64_t end)
{
	struct dwarf_variables *out = walk->out;
	const struct data_type *target;
	uint64_t rank;

	if (start >= end || out->n_memory + out->n_values >= ENTRIES_MAX || !dwarf_file_spend(out->file, 1))
		return;
	if (place->kind != PLACE_VALUE) {
		VEC_GROW(out->memory, out->n_memory, out->cap_memory);
		out->memory[out->n_memory++] =
			(struct variable_in_memory){ start, end, *place, type, walk->scan.depth };
		return;
	}
	if (place->reg >= REGISTERS)
		return;
	target = type->kind == DATA_POINTER ? data_type_target(type) : NULL;
	rank = !target ? 0 : target->kind == DATA_RECORD || target->kind == DATA_UNION ? 3 : 1 + (target->bytes != 0);
	rank = rank << 33 | (uint64_t)!place->offset << 32 | walk->scan.depth;
	VEC_GROW(out->values, out->n_values, out->cap_values);
	/* The variable's value is so far behind the register's. */
	out->values[out->n_values] = (struct variable_value){
		target, type, (int64_t)(0 - (uint64_t)place->offset), start, end, rank,
		out->last_values[place->reg]
	};
	out->last_values[place->reg] = (uint32_t)out->n_values + 1;
	VEC_GROW(out->claims[place->reg].v, out->claims[place->reg].n, out->claims[place->reg].cap);
	out->claims[place->reg].v[out->claims[place->reg].n++] = (struct dwarf_range){
		start, end, rank, (uint32_t)out->n_values++
	};
}

struct list_reading {
	struct walk *walk;
	const struct data_type *type;
	struct dwarf_cursor at;
	uint64_t base;
};

static void take_described(struct list_reading *reading, uint64_t start, uint64_t end, uint64_t bytes)
{
	struct dwarf_cursor expression = reading->at;
	struct variable_place place;

	cursor_skip(&reading->at, bytes);
	if (reading->at.bad)
		return;
	expression.end = reading->at.at;
	if (take_expression(reading->walk, expression, &place))
		take_place(reading->walk, reading->type, &place, start, end);
}

/* Entries up to version 4. */
static bool take_pair(struct list_reading *reading)
{
	unsigned bytes = reading->walk->out->unit->bases.address_bytes;
	const uint64_t most = bytes >= 8 ? UINT64_MAX : ((uint64_t)1 << 8 * bytes) - 1;
	uint64_t start = cursor_number(&reading->at, bytes), end = cursor_number(&reading->at, bytes);

	if (reading->at.bad || (!start && !end))
		return false;
	if (start == most)
		reading->base = end;
	else
		take_described(reading, reading->base + start, reading->base + end, cursor_number(&reading->at, 2));
	return !reading->at.bad;
}

/* Entries of version 4 in a .dwo file. */
static bool take_split_entry(struct list_reading *reading)
{
	const struct dwarf_bases *bases = &reading->walk->out->unit->bases;
	struct dwarf_cursor *at = &reading->at;
	uint64_t start = 0, end = 0;
	bool known = true;

	switch (cursor_u8(at)) {
	case DW_LLE_GNU_base_address_selection_entry:
		return dwarf_bases_address(bases, cursor_uleb(at), &reading->base) && !at->bad;
	case DW_LLE_GNU_start_end_entry:
		known = dwarf_bases_address(bases, cursor_uleb(at), &start);
		known = dwarf_bases_address(bases, cursor_uleb(at), &end) && known;
		break;
	case DW_LLE_GNU_start_length_entry:
		known = dwarf_bases_address(bases, cursor_uleb(at), &start);
		end = start + cursor_number(at, 4);
		break;
	default:
		return false;
	}
	take_described(reading, known ? start : 0, known ? end : 0, cursor_number(at, 2));
	return !at->bad;
}

/* Entries of version 5. */
static bool take_entry(struct list_reading *reading)
{
	const struct dwarf_bases *bases = &reading->walk->out->unit->bases;
	struct dwarf_cursor *at = &reading->at;
	uint64_t start = 0, end = UINT64_MAX;
	bool known = true;

	switch (cursor_u8(at)) {
	case DW_LLE_GNU_view_pair:
		cursor_uleb(at);
		cursor_uleb(at);
		return !at->bad;
	case DW_LLE_base_addressx:
		return dwarf_bases_address(bases, cursor_uleb(at), &reading->base) && !at->bad;
	case DW_LLE_base_address:
		reading->base = cursor_number(at, bases->address_bytes);
		return !at->bad;
	case DW_LLE_startx_endx:
		known = dwarf_bases_address(bases, cursor_uleb(at), &start);
		known = dwarf_bases_address(bases, cursor_uleb(at), &end) && known;
		break;
	case DW_LLE_startx_length:
		known = dwarf_bases_address(bases, cursor_uleb(at), &start);
		end = start + cursor_uleb(at);
		break;
	case DW_LLE_offset_pair:
		start = reading->base + cursor_uleb(at);
		end = reading->base + cursor_uleb(at);
		break;
	case DW_LLE_default_location:
		break;
	case DW_LLE_start_end:
		start = cursor_number(at, bases->address_bytes);
		end = cursor_number(at, bases->address_bytes);
		break;
	case DW_LLE_start_length:
		start = cursor_number(at, bases->address_bytes);
		end = start + cursor_uleb(at);
		break;
	default:
		return false;
	}
	take_described(reading, known ? start : 0, known ? end : 0, cursor_uleb(at));
	return !at->bad;
}

static void take_list(struct walk *walk, const struct data_type *type, const struct dwarf_value *location)
{
	const struct dwarf_bases *bases = &walk->out->unit->bases;
	struct list_reading reading = { .walk = walk, .type = type, .at = *walk->lists, .base = bases->low };
	uint64_t offset = location->number;

	if (location->form == DW_FORM_loclistx) {
		struct dwarf_cursor offsets = reading.at;

		cursor_skip(&offsets, bases->locations_base);
		if (offset >= cursor_left(&offsets) / (bases->offset_bytes ? bases->offset_bytes : 1))
			return;
		cursor_skip(&offsets, offset * bases->offset_bytes);
		offset = cursor_number(&offsets, bases->offset_bytes);
		if (__builtin_add_overflow(offset, bases->locations_base, &offset))
			return;
	}
	cursor_skip(&reading.at, offset);
	while (cursor_left(&reading.at) && dwarf_file_spend(walk->out->file, 1) &&
	       walk->take_entry(&reading))
		continue;
}

/* ---- a function ---- */

static Dwarf_Die die_of(const struct dwarf_unit *unit, const uint8_t *at)
{
	Dwarf_Die die = { .addr = unit->code.addr, .cu = unit->code.cu };

	die.addr = (char *)die.addr + (at - (const uint8_t *)die.addr);
	return die;
}

/* The location of the DIE that the scan stands on; block: where it is an expression. false: it has none. */
static bool location_of(const struct dwarf_scan *scan, unsigned attribute, struct dwarf_value *location,
			struct dwarf_cursor *block)
{
	*location = (struct dwarf_value){ .attribute = attribute, .takes_block = true };
	dwarf_scan_values(scan, location, 1);
	*block = (struct dwarf_cursor){ .swapped = scan->at.swapped };
	if (location->block)
		*block = (struct dwarf_cursor){ location->block, location->block + location->number,
						scan->at.swapped, false };
	return location->known;
}

static void take_variable(struct walk *walk)
{
	struct dwarf_variables *out = walk->out;
	struct dwarf_value location;
	struct dwarf_cursor block;
	const struct data_type *type;
	struct variable_place place;
	Dwarf_Die die;

	if (!location_of(&walk->scan, DW_AT_location, &location, &block))
		return;
	die = die_of(out->unit, walk->scan.die);
	type = dwarf_type_of(out->file, &die);
	if (!type)
		return;
	if (!location.block)
		take_list(walk, type, &location);
	else if (take_expression(walk, block, &place))
		for (size_t i = 0; i < walk->scopes[walk->scan.depth].n; i++) {
			const struct dwarf_range *range = &walk->ranges.v[walk->scopes[walk->scan.depth].first + i];

			take_place(walk, type, &place, range->start, range->end);
		}
}

static void take_frame(struct walk *walk)
{
	struct dwarf_value location;
	struct dwarf_cursor block;
	struct variable_place frame;

	if (!location_of(&walk->scan, DW_AT_frame_base, &location, &block) || !location.block ||
	    !take_expression(walk, block, &frame) || frame.kind > PLACE_AT_CFA)
		return;
	/* A register alone is one that the frame is at. */
	if (frame.kind == PLACE_VALUE)
		frame.kind = PLACE_AT_REGISTER;
	walk->out->frame = frame;
	walk->out->has_frame = true;
}

/* A call, which may say what is called, and up to version 4 has its own names for it. */
static void take_call(struct walk *walk, unsigned attribute)
{
	struct dwarf_variables *out = walk->out;
	struct dwarf_value returns = { .attribute = attribute };

	if (!dwarf_scan_values(&walk->scan, &returns, 1) || out->n_calls >= ENTRIES_MAX)
		return;
	if (returns.form != DW_FORM_addr &&
	    !dwarf_bases_address(&out->unit->bases, returns.number, &returns.number))
		return;
	VEC_GROW(out->calls, out->n_calls, out->cap_calls);
	out->calls[out->n_calls++] = (struct call_site){ returns.number, walk->scan.die };
}

/* Opens the scope of what is in this DIE; one without code of its own has that of the DIE around it. */
static void open_scope(struct walk *walk)
{
	size_t depth = walk->scan.depth, first = walk->ranges.n;

	walk->scopes[depth + 1].first = first;
	if (walk->scan.abbrev->has_code)
		dwarf_ranges_add(walk->out->file, &walk->out->unit->bases, &walk->scan, 0, 0, &walk->ranges);
	walk->scopes[depth + 1].n = walk->ranges.n - first;
	if (!walk->scan.abbrev->has_code && depth)
		walk->scopes[depth + 1] = walk->scopes[depth];
}

static bool take_die(struct walk *walk)
{
	if (walk->scan.depth + 1 >= DEPTH_MAX)
		return false;
	switch (walk->scan.abbrev->tag) {
	case DW_TAG_variable:
	case DW_TAG_formal_parameter:
		if (walk->scan.depth)
			take_variable(walk);
		return false;
	case DW_TAG_call_site:
		take_call(walk, DW_AT_call_return_pc);
		return false;
	case DW_TAG_GNU_call_site:
		take_call(walk, DW_AT_low_pc);
		return false;
	case DW_TAG_subprogram:
		/* Functions within functions have variables of their own. */
		if (walk->scan.depth)
			return false;
		take_frame(walk);
		break;
	case DW_TAG_lexical_block:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
		break;
	default:
		return false;
	}
	open_scope(walk);
	return true;
}

static struct dwarf_variables *read_variables(struct dwarf_file *file, struct dwarf_unit *unit, uint64_t die)
{
	struct dwarf_variables *out = xcalloc(1, sizeof(*out));
	struct walk *walk = xcalloc(1, sizeof(*walk));
	bool enter = true;

	out->file = file;
	out->unit = unit;
	walk->out = out;
	walk->lists = dwarf_elf_locations(file, unit);
	walk->take_entry = unit->bases.version >= 5 ? take_entry :
			   unit->code.cu != unit->cu ? take_split_entry :
						       take_pair;
	if (dwarf_scan_begin(&walk->scan, file, &unit->code)) {
		dwarf_scan_from(&walk->scan, (const uint8_t *)unit->code.addr + die);
		while (dwarf_scan_next(&walk->scan, enter)) {
			enter = take_die(walk);
			if (!walk->scan.depth && !walk->scan.abbrev->children)
				break;
		}
	}
	free(walk->ranges.v);
	free(walk);
	return out;
}

struct dwarf_variables *dwarf_variables_of(struct dwarf_file *file, uint64_t vaddr)
{
	struct dwarf_unit *unit = dwarf_units_find(file, vaddr);
	uint32_t found = unit ? dwarf_subprogram_find(file, unit, vaddr) : SPAN_NONE;

	return found == SPAN_NONE ? NULL : read_variables(file, unit, unit->subprograms[found].die);
}

void dwarf_variables_free(struct dwarf_variables *variables)
{
	if (!variables)
		return;
	for (size_t i = 0; i < REGISTERS; i++) {
		free(variables->claims[i].v);
		dwarf_spans_release(&variables->spans[i]);
	}
	free(variables->calls);
	free(variables->memory);
	free(variables->values);
	free(variables);
}

static int by_return(const void *a, const void *b)
{
	const struct call_site *x = a, *y = b;

	return x->returns < y->returns ? -1 : x->returns > y->returns;
}

const struct data_type *dwarf_variables_returned(struct dwarf_variables *variables, uint64_t returns)
{
	size_t at;
	Dwarf_Die die;

	if (!variables->calls_sorted && variables->n_calls)
		qsort(variables->calls, variables->n_calls, sizeof(*variables->calls), by_return);
	variables->calls_sorted = true;
	at = BISECT(i, 0, variables->n_calls, variables->calls[i].returns < returns);
	if (at == variables->n_calls || variables->calls[at].returns != returns)
		return NULL;
	die = die_of(variables->unit, variables->calls[at].die);
	return dwarf_type_of(variables->file, &die);
}

const struct data_type *dwarf_returned(struct dwarf_file *file, uint64_t vaddr)
{
	struct dwarf_unit *unit = dwarf_units_find(file, vaddr);
	uint32_t found = unit ? dwarf_subprogram_find(file, unit, vaddr) : SPAN_NONE;
	Dwarf_Die die;

	if (found == SPAN_NONE)
		return NULL;
	die = unit->code;
	die.addr = (char *)die.addr + unit->subprograms[found].die;
	return dwarf_type_of(file, &die);
}

/* ---- questions ---- */

/* The value in a register, of the variable that tells the most; NULL: of none. */
static const struct variable_value *value_at(struct dwarf_variables *variables, uint64_t vaddr, uint8_t reg)
{
	uint32_t id;

	if (reg >= REGISTERS)
		return NULL;
	if (variables->claims[reg].n)
		dwarf_spans_build(&variables->spans[reg], &variables->claims[reg]);
	id = dwarf_spans_find(&variables->spans[reg], vaddr);
	return id == SPAN_NONE ? NULL : &variables->values[id];
}

bool dwarf_variables_value(struct dwarf_variables *variables, uint64_t vaddr, uint8_t reg, struct data_found *found)
{
	const struct variable_value *value = value_at(variables, vaddr, reg);

	if (!value || !value->target)
		return false;
	*found = (struct data_found){ value->target, value->offset };
	return true;
}

const struct data_type *dwarf_variables_type(struct dwarf_variables *variables, uint64_t vaddr, uint8_t reg)
{
	const struct variable_value *value = value_at(variables, vaddr, reg);

	return value && !value->offset ? value->type : NULL;
}

bool dwarf_variables_reached(struct dwarf_variables *variables, uint64_t vaddr, uint8_t reg, int64_t offset,
			     struct data_found *found)
{
	const struct variable_value *best = NULL, *value;

	for (uint32_t i = reg < REGISTERS ? variables->last_values[reg] : 0; i; i = value->before) {
		value = &variables->values[i - 1];
		if (!dwarf_file_spend(variables->file, 1))
			break;
		if (vaddr < value->start || vaddr >= value->end || !value->target ||
		    (best && value->rank <= best->rank) ||
		    (uint64_t)value->offset + (uint64_t)offset >= value->target->bytes)
			continue;
		best = value;
		*found = (struct data_found){ value->target, value->offset };
	}
	return best;
}

/* How far from the place the address lies; false: they are not counted from the same. */
static bool distance(const struct variable_place *place, const struct data_frame *frame, uint8_t reg, int64_t offset,
		     int64_t *far)
{
	uint64_t at = (uint64_t)offset;

	if (place->kind == PLACE_AT_CFA && frame->known && frame->reg == reg)
		at -= (uint64_t)frame->offset;
	else if (place->kind != PLACE_AT_REGISTER || place->reg != reg)
		return false;
	*far = (int64_t)(at - (uint64_t)place->offset);
	return true;
}

bool dwarf_variables_memory(struct dwarf_variables *variables, uint64_t vaddr, const struct data_frame *frame,
			    uint8_t reg, int64_t offset, struct data_found *found)
{
	const struct variable_in_memory *best = NULL;
	int64_t far;

	for (size_t i = 0; i < variables->n_memory && dwarf_file_spend(variables->file, 1); i++) {
		const struct variable_in_memory *entry = &variables->memory[i];

		if (vaddr < entry->start || vaddr >= entry->end ||
		    !distance(&entry->place, frame, reg, offset, &far) || far < 0 ||
		    (uint64_t)far >= entry->type->bytes || (best && entry->depth < best->depth))
			continue;
		best = entry;
		*found = (struct data_found){ entry->type, far };
	}
	return best;
}

/* ---- global variables ---- */

static int by_place(const void *a, const void *b)
{
	const struct global *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void take_global(struct walk *walk, struct dwarf_globals *globals)
{
	struct dwarf_variables *out = walk->out;
	struct dwarf_value location;
	struct dwarf_cursor block;
	struct variable_place place = { .kind = PLACE_UNKNOWN };
	Dwarf_Die die = die_of(out->unit, walk->scan.die);

	if (globals->n >= ENTRIES_MAX)
		return;
	if (!location_of(&walk->scan, DW_AT_location, &location, &block) || !location.block ||
	    !take_expression(walk, block, &place) || place.kind < PLACE_AT_ADDRESS)
		place = (struct variable_place){ .kind = PLACE_UNKNOWN };
	VEC_GROW(globals->v, globals->n, globals->cap);
	globals->v[globals->n++] = (struct global){ .kind = place.kind,
						    .addr = (uint64_t)place.offset,
						    .name = dwarf_file_text(out->file, &die, DW_AT_name),
						    .type = dwarf_type_of(out->file, &die) };
}

static bool has_globals(unsigned tag, bool of_functions)
{
	return tag == DW_TAG_namespace ||
	       (of_functions && (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block));
}

/* of_functions: also what is static in one. */
static void read_globals(struct dwarf_variables *out, bool of_functions, struct dwarf_globals *globals)
{
	struct walk walk = { .out = out };
	bool enter = true;

	if (!dwarf_scan_begin(&walk.scan, out->file, &out->unit->code))
		return;
	while (dwarf_scan_next(&walk.scan, enter)) {
		if (walk.scan.abbrev->tag == DW_TAG_variable)
			take_global(&walk, globals);
		enter = !walk.scan.depth ||
			(walk.scan.depth < DEPTH_MAX && has_globals(walk.scan.abbrev->tag, of_functions));
	}
}

static void sort_globals(struct dwarf_globals *globals)
{
	if (globals->n)
		qsort(globals->v, globals->n, sizeof(*globals->v), by_place);
}

static struct dwarf_globals *globals_of(struct dwarf_variables *variables)
{
	struct dwarf_globals *globals = variables->unit->globals;

	if (globals)
		return globals;
	variables->unit->globals = globals = xcalloc(1, sizeof(*globals));
	read_globals(variables, false, globals);
	sort_globals(globals);
	for (size_t i = 0; i < globals->n; i++) {
		const char *name = globals->v[i].name;

		if (name)
			index_add(&globals->names, hash_bytes(name, strlen(name)), (uint32_t)i);
	}
	return globals;
}

void dwarf_globals_release(struct dwarf_globals *globals)
{
	if (!globals)
		return;
	free(globals->v);
	index_release(&globals->names);
	free(globals);
}

static bool find_global(const struct dwarf_globals *globals, enum variable_place_kind kind, uint64_t address,
			struct data_found *found)
{
	size_t at = BISECT(i, 0, globals->n,
			   globals->v[i].kind < kind || (globals->v[i].kind == kind && globals->v[i].addr <= address));
	const struct global *global = at ? &globals->v[at - 1] : NULL;

	if (!global || global->kind != kind || !global->type || address - global->addr >= global->type->bytes)
		return false;
	*found = (struct data_found){ global->type, (int64_t)(address - global->addr) };
	return true;
}

/* The variable at an address of a kind of places, first of those within the function. */
static bool find_placed(struct dwarf_variables *variables, enum variable_place_kind kind, uint64_t vaddr,
			uint64_t address, struct data_found *found)
{
	for (size_t i = 0; i < variables->n_memory && dwarf_file_spend(variables->file, 1); i++) {
		const struct variable_in_memory *entry = &variables->memory[i];

		if (entry->place.kind != kind || vaddr < entry->start || vaddr >= entry->end ||
		    address - (uint64_t)entry->place.offset >= entry->type->bytes)
			continue;
		*found = (struct data_found){ entry->type, (int64_t)(address - (uint64_t)entry->place.offset) };
		return true;
	}
	return find_global(globals_of(variables), kind, address, found);
}

static struct dwarf_globals *all_globals(struct dwarf_file *file)
{
	if (file->globals)
		return file->globals;
	file->globals = xcalloc(1, sizeof(*file->globals));
	for (size_t i = 0; i < file->n_units; i++) {
		struct dwarf_variables of_unit = { .file = file, .unit = &file->units[i] };

		if (dwarf_unit_code_die(file, of_unit.unit))
			read_globals(&of_unit, true, file->globals);
	}
	sort_globals(file->globals);
	return file->globals;
}

bool dwarf_global_at(struct dwarf_file *file, uint64_t address, struct data_found *found)
{
	return find_global(all_globals(file), PLACE_AT_ADDRESS, address, found);
}

bool dwarf_variables_global(struct dwarf_variables *variables, uint64_t vaddr, uint64_t address,
			    struct data_found *found)
{
	return find_placed(variables, PLACE_AT_ADDRESS, vaddr, address, found);
}

bool dwarf_variables_thread(struct dwarf_variables *variables, uint64_t vaddr, int64_t distance,
			    struct data_found *found)
{
	uint64_t offset = (uint64_t)distance - (uint64_t)variables->file->thread_block;

	return find_placed(variables, PLACE_OF_THREAD, vaddr, offset, found);
}

const struct data_type *dwarf_variables_named(struct dwarf_variables *variables, const char *name)
{
	const struct dwarf_globals *globals = globals_of(variables);
	uint32_t i;

	if (!INDEX_FIND(&globals->names, hash_bytes(name, strlen(name)), i,
			globals->v[i].type && !strcmp(globals->v[i].name, name)))
		return NULL;
	return globals->v[i].type;
}
