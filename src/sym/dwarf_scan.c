/* SPDX-License-Identifier: MIT */
/*
 * dwarf_scan: steps over the DIEs of a unit, fast. Of a hundred DIEs one is a function; libdw looks at each
 * several times (its tag, its children, its sibling), which is most of the time that an answer takes. Here
 * each abbreviation is turned once into a short list of steps, usually one: "skip 17 bytes".
 *
 *	abbreviation  subprogram: name strp, decl_line data1, type ref4, location exprloc, sibling ref4
 *	steps         skip 9 | skip a block | sibling, 4 bytes
 *
 * Values that matter (ranges, names) are still decoded by libdw, at the DIEs found here.
 *
 * Source: DWARF 5, 7.5.3 (abbreviations), 7.5.6 (forms).
 */
#include "sym/dwarf_internal.h"

#include <stdlib.h>

enum {
	CODES_MAX = 1 << 20, /* abbreviations are numbered from 1 */
	STEPS_MAX = 1 << 20,
};

enum step_kind {
	STEP_UNKNOWN, /* a form that nobody knows the size of */
	STEP_SKIP, /* bytes */
	STEP_OFFSET, /* 4 or 8, as the unit has it */
	STEP_ADDRESS,
	STEP_REFERENCE, /* DW_FORM_ref_addr: was an address in DWARF 2 */
	STEP_LEB,
	STEP_TEXT,
	STEP_BLOCK, /* after a length of so many bytes; 0: LEB */
	STEP_SIBLING, /* of 4 bytes: where the next DIE of this level is, from the unit's start */
	STEP_INDIRECT, /* the form is in the DIE */
};

/* How to step over a form. To add one: a row. */
static const struct form {
	uint8_t kind, bytes;
} forms[] = {
	[DW_FORM_addr] = { STEP_ADDRESS, 0 },
	[DW_FORM_block1] = { STEP_BLOCK, 1 },
	[DW_FORM_block2] = { STEP_BLOCK, 2 },
	[DW_FORM_block4] = { STEP_BLOCK, 4 },
	[DW_FORM_block] = { STEP_BLOCK, 0 },
	[DW_FORM_exprloc] = { STEP_BLOCK, 0 },
	[DW_FORM_data1] = { STEP_SKIP, 1 },
	[DW_FORM_data2] = { STEP_SKIP, 2 },
	[DW_FORM_data4] = { STEP_SKIP, 4 },
	[DW_FORM_data8] = { STEP_SKIP, 8 },
	[DW_FORM_data16] = { STEP_SKIP, 16 },
	[DW_FORM_string] = { STEP_TEXT, 0 },
	[DW_FORM_flag] = { STEP_SKIP, 1 },
	[DW_FORM_flag_present] = { STEP_SKIP, 0 },
	[DW_FORM_implicit_const] = { STEP_SKIP, 0 },
	[DW_FORM_sdata] = { STEP_LEB, 0 },
	[DW_FORM_udata] = { STEP_LEB, 0 },
	[DW_FORM_strp] = { STEP_OFFSET, 0 },
	[DW_FORM_line_strp] = { STEP_OFFSET, 0 },
	[DW_FORM_strp_sup] = { STEP_OFFSET, 0 },
	[DW_FORM_sec_offset] = { STEP_OFFSET, 0 },
	[DW_FORM_ref_addr] = { STEP_REFERENCE, 0 },
	[DW_FORM_ref1] = { STEP_SKIP, 1 },
	[DW_FORM_ref2] = { STEP_SKIP, 2 },
	[DW_FORM_ref4] = { STEP_SKIP, 4 },
	[DW_FORM_ref8] = { STEP_SKIP, 8 },
	[DW_FORM_ref_udata] = { STEP_LEB, 0 },
	[DW_FORM_ref_sig8] = { STEP_SKIP, 8 },
	[DW_FORM_ref_sup4] = { STEP_SKIP, 4 },
	[DW_FORM_ref_sup8] = { STEP_SKIP, 8 },
	[DW_FORM_strx] = { STEP_LEB, 0 },
	[DW_FORM_strx1] = { STEP_SKIP, 1 },
	[DW_FORM_strx2] = { STEP_SKIP, 2 },
	[DW_FORM_strx3] = { STEP_SKIP, 3 },
	[DW_FORM_strx4] = { STEP_SKIP, 4 },
	[DW_FORM_addrx] = { STEP_LEB, 0 },
	[DW_FORM_addrx1] = { STEP_SKIP, 1 },
	[DW_FORM_addrx2] = { STEP_SKIP, 2 },
	[DW_FORM_addrx3] = { STEP_SKIP, 3 },
	[DW_FORM_addrx4] = { STEP_SKIP, 4 },
	[DW_FORM_loclistx] = { STEP_LEB, 0 },
	[DW_FORM_rnglistx] = { STEP_LEB, 0 },
	[DW_FORM_indirect] = { STEP_INDIRECT, 0 },
};

static struct form form_of(uint64_t number)
{
	if (number == DW_FORM_GNU_addr_index || number == DW_FORM_GNU_str_index)
		return (struct form){ STEP_LEB, 0 };
	if (number == DW_FORM_GNU_ref_alt || number == DW_FORM_GNU_strp_alt)
		return (struct form){ STEP_OFFSET, 0 };
	return number < ARRAY_SIZE(forms) ? forms[number] : (struct form){ STEP_UNKNOWN, 0 };
}

/* Forms whose size depends on the unit become a number of bytes. */
static struct form settle(const struct dwarf_abbrevs *table, struct form form)
{
	switch (form.kind) {
	case STEP_OFFSET:
		return (struct form){ STEP_SKIP, table->offset_bytes };
	case STEP_ADDRESS:
		return (struct form){ STEP_SKIP, table->address_bytes };
	case STEP_REFERENCE:
		return (struct form){ STEP_SKIP, table->version == 2 ? table->address_bytes :
								       table->offset_bytes };
	default:
		return form;
	}
}

static void add_step(struct dwarf_abbrevs *table, struct dwarf_abbrev *abbrev, struct form form)
{
	if (form.kind == STEP_SKIP && abbrev->n_steps &&
	    table->steps[table->n_steps - 1].kind == STEP_SKIP) {
		table->steps[table->n_steps - 1].bytes += form.bytes;
		return;
	}
	if (form.kind == STEP_SKIP && !form.bytes)
		return;
	VEC_GROW(table->steps, table->n_steps, table->cap_steps);
	table->steps[table->n_steps++] = (struct dwarf_step){ .bytes = form.bytes, .kind = form.kind };
	abbrev->n_steps++;
}

static void add_field(struct dwarf_abbrevs *table, struct dwarf_abbrev *abbrev, uint64_t attribute, uint64_t form,
		      int64_t constant)
{
	VEC_GROW(table->fields, table->n_fields, table->cap_fields);
	table->fields[table->n_fields++] = (struct dwarf_field){
		.attribute = attribute <= UINT16_MAX ? (uint16_t)attribute : 0,
		.form = form <= UINT16_MAX ? (uint16_t)form : UINT16_MAX,
		.constant = constant,
	};
	abbrev->n_fields++;
}

static bool read_attributes(struct dwarf_file *file, struct dwarf_abbrevs *table, struct dwarf_cursor *cursor,
			    struct dwarf_abbrev *abbrev)
{
	while (!cursor->bad && table->n_steps < STEPS_MAX && dwarf_file_spend(file, 1)) {
		uint64_t attribute = cursor_uleb(cursor), number = cursor_uleb(cursor);
		struct form form = settle(table, form_of(number));
		int64_t constant = 0;

		if (!attribute && !number)
			return !cursor->bad;
		if (number == DW_FORM_implicit_const)
			constant = cursor_sleb(cursor);
		abbrev->has_code |= attribute == DW_AT_low_pc || attribute == DW_AT_ranges;
		add_field(table, abbrev, attribute, number, constant);
		if (attribute == DW_AT_sibling && number == DW_FORM_ref4)
			form = (struct form){ STEP_SIBLING, 4 };
		add_step(table, abbrev, form);
	}
	return false;
}

static void read_abbrevs(struct dwarf_file *file, struct dwarf_abbrevs *table, struct dwarf_cursor cursor)
{
	while (!cursor.bad) {
		uint64_t code = cursor_uleb(&cursor);
		struct dwarf_abbrev abbrev = { .first_step = (uint32_t)table->n_steps,
					       .first_field = (uint32_t)table->n_fields };
		uint64_t tag;

		if (!code || code >= CODES_MAX)
			return;
		tag = cursor_uleb(&cursor);
		abbrev.tag = tag <= UINT16_MAX ? (uint16_t)tag : DW_TAG_invalid;
		abbrev.children = cursor_u8(&cursor) != 0;
		if (!read_attributes(file, table, &cursor, &abbrev))
			return;
		abbrev.known = true;
		if (code >= table->n && !dwarf_file_spend(file, code - table->n))
			return;
		while (table->n <= code) {
			VEC_GROW(table->v, table->n, table->cap);
			table->v[table->n++] = (struct dwarf_abbrev){ .known = false };
		}
		if (!table->v[code].known)
			table->v[code] = abbrev;
	}
}

static bool is_of(const struct dwarf_abbrevs *table, const struct dwarf_abbrevs *wanted)
{
	return table->bytes == wanted->bytes && table->version == wanted->version &&
	       table->address_bytes == wanted->address_bytes && table->offset_bytes == wanted->offset_bytes;
}

/* The table of a unit, which is read once: units may share one, and functions are asked for in any order. */
static const struct dwarf_abbrevs *get_abbrevs(struct dwarf_file *file, const struct dwarf_cursor *cursor,
					       const struct dwarf_abbrevs *wanted)
{
	uint64_t hash = hash_word((uintptr_t)wanted->bytes);
	struct dwarf_abbrevs *table;
	uint32_t i;

	if (INDEX_FIND(&file->abbrev_index, hash, i, is_of(file->abbrevs[i], wanted)))
		return file->abbrevs[i];
	table = xmalloc(sizeof(*table));
	*table = *wanted;
	read_abbrevs(file, table, *cursor);
	index_add(&file->abbrev_index, hash, (uint32_t)file->n_abbrevs);
	VEC_GROW(file->abbrevs, file->n_abbrevs, file->cap_abbrevs);
	return file->abbrevs[file->n_abbrevs++] = table;
}

void dwarf_scan_release(struct dwarf_file *file)
{
	for (size_t i = 0; i < file->n_abbrevs; i++) {
		free(file->abbrevs[i]->v);
		free(file->abbrevs[i]->steps);
		free(file->abbrevs[i]->fields);
		free(file->abbrevs[i]);
	}
	free(file->abbrevs);
	index_release(&file->abbrev_index);
}

bool dwarf_scan_begin(struct dwarf_scan *scan, struct dwarf_file *file, Dwarf_Die *unit)
{
	const struct dw_lib *lib = file->lib;
	Dwarf_Off start = lib->dwarf_dieoffset(unit) - lib->dwarf_cuoffset(unit), next, abbrevs;
	const struct dwarf_sections *sections = dwarf_elf_sections(file, unit->cu);
	struct dwarf_cursor info = sections->info, abbrev = sections->abbrev;
	struct dwarf_abbrevs table = { 0 };
	Dwarf_Half version;
	size_t header;

	if (lib->dwarf_next_unit(lib->dwarf_cu_getdwarf(unit->cu), start, &next, &header, &version,
				 &abbrevs, &table.address_bytes, &table.offset_bytes, NULL, NULL))
		return false;
	if (start > cursor_left(&info) || next < start || header > next - start ||
	    unit->addr != info.at + start + header)
		return false;
	cursor_skip(&abbrev, abbrevs);
	table.bytes = abbrev.at;
	table.version = version;
	*scan = (struct dwarf_scan){
		.file = file, .abbrevs = get_abbrevs(file, &abbrev, &table), .unit = info.at + start, .at = info
	};
	if (next - start < cursor_left(&info) - start)
		scan->at.end = scan->unit + (next - start);
	scan->at.at = scan->unit + header;
	return true;
}

void dwarf_scan_from(struct dwarf_scan *scan, const uint8_t *die)
{
	scan->at.at = die <= scan->at.end ? die : scan->at.end;
	scan->n_levels = 0;
	scan->die = NULL;
}

static void step_over(struct dwarf_scan *scan, struct form form)
{
	struct dwarf_cursor *at = &scan->at;
	uint64_t sibling;

	switch (form.kind) {
	case STEP_SKIP:
		cursor_skip(at, form.bytes);
		break;
	case STEP_LEB:
		cursor_uleb(at);
		break;
	case STEP_TEXT:
		cursor_text(at);
		break;
	case STEP_BLOCK:
		cursor_skip(at, form.bytes ? cursor_number(at, form.bytes) : cursor_uleb(at));
		break;
	case STEP_SIBLING:
		sibling = cursor_number(at, form.bytes);
		if (sibling <= (size_t)(at->end - scan->unit))
			scan->sibling = scan->unit + sibling;
		break;
	default:
		cursor_spoil(at);
	}
}

static void step_over_all(struct dwarf_scan *scan, const struct dwarf_abbrev *abbrev)
{
	const struct dwarf_step *step = &scan->abbrevs->steps[abbrev->first_step];

	scan->sibling = NULL;
	for (uint32_t i = 0; i < abbrev->n_steps; i++, step++) {
		if (step->kind == STEP_SKIP)
			cursor_skip(&scan->at, step->bytes);
		else if (step->kind == STEP_INDIRECT)
			step_over(scan, settle(scan->abbrevs, form_of(cursor_uleb(&scan->at))));
		else
			step_over(scan, (struct form){ step->kind, (uint8_t)step->bytes });
	}
}

/* Reads a form that is a number; false: it is none. An index of an address is taken as the number that it is. */
static bool read_number(struct dwarf_scan *scan, const struct dwarf_field *field, struct dwarf_value *value)
{
	struct dwarf_cursor *at = &scan->at;
	struct form form = settle(scan->abbrevs, form_of(value->form));

	switch (value->form) {
	case DW_FORM_implicit_const:
		value->number = (uint64_t)field->constant;
		return true;
	case DW_FORM_sdata:
		value->number = (uint64_t)cursor_sleb(at);
		return true;
	case DW_FORM_string:
	case DW_FORM_data16:
		return false;
	}
	if (form.kind == STEP_LEB)
		value->number = cursor_uleb(at);
	else if (form.kind == STEP_SKIP && form.bytes && form.bytes <= sizeof(value->number))
		value->number = cursor_number(at, form.bytes);
	else
		return false;
	return true;
}

/* Reads a form that is a block; false: it is none, and nothing was read; or it is cut. */
static bool read_block(struct dwarf_scan *scan, struct dwarf_value *value)
{
	struct form form = settle(scan->abbrevs, form_of(value->form));

	if (form.kind != STEP_BLOCK)
		return false;
	value->number = form.bytes ? cursor_number(&scan->at, form.bytes) : cursor_uleb(&scan->at);
	value->block = scan->at.at;
	cursor_skip(&scan->at, value->number);
	return !scan->at.bad;
}

size_t dwarf_scan_values(const struct dwarf_scan *scan, struct dwarf_value *values, size_t n)
{
	struct dwarf_scan copy = *scan;
	const struct dwarf_field *field = &scan->abbrevs->fields[scan->abbrev->first_field];
	size_t found = 0;

	copy.at.at = scan->die;
	cursor_uleb(&copy.at);
	for (uint32_t i = 0; i < scan->abbrev->n_fields && found < n && !copy.at.bad; i++, field++) {
		struct dwarf_value here = { .attribute = field->attribute, .form = field->form };
		size_t k = 0;

		if (here.form == DW_FORM_indirect)
			here.form = cursor_uleb(&copy.at);
		while (k < n && values[k].attribute != here.attribute)
			k++;
		if (k == n || values[k].known)
			step_over(&copy, settle(scan->abbrevs, form_of(here.form)));
		else if ((values[k].takes_block && read_block(&copy, &here)) ||
			 (read_number(&copy, field, &here) && !copy.at.bad))
			here.known = true, values[k] = here, found++;
		else
			break;
	}
	return found;
}

/* Past what is in the DIE just stepped over, where the file says how far that is. */
static bool jump(struct dwarf_scan *scan)
{
	if (!scan->sibling || scan->sibling < scan->at.at)
		return false;
	scan->at.at = scan->sibling;
	return true;
}

bool dwarf_scan_next(struct dwarf_scan *scan, bool enter)
{
	/* Levels deeper than this are passed over. */
	size_t wanted = scan->n_levels;

	if (!enter && scan->die && scan->abbrev->children) {
		wanted = scan->n_levels - 1;
		if (jump(scan))
			scan->n_levels--;
	}
	while (cursor_left(&scan->at)) {
		const uint8_t *start = scan->at.at;
		uint64_t code = cursor_uleb(&scan->at);

		if (!code) {
			if (scan->n_levels <= 1)
				return false;
			if (--scan->n_levels < wanted)
				wanted = scan->n_levels;
			continue;
		}
		scan->abbrev = code < scan->abbrevs->n ? &scan->abbrevs->v[code] : NULL;
		if (!scan->abbrev || !scan->abbrev->known)
			return false;
		step_over_all(scan, scan->abbrev);
		if (scan->at.bad || !dwarf_file_spend(scan->file, (uint64_t)(scan->at.at - start)))
			return false;
		scan->die = start;
		scan->depth = scan->n_levels;
		if (scan->depth > wanted && scan->abbrev->children && jump(scan))
			continue;
		scan->n_levels += scan->abbrev->children;
		if (scan->depth <= wanted)
			return true;
	}
	return false;
}
