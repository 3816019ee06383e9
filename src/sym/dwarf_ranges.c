/* SPDX-License-Identifier: MIT */
/*
 * dwarf_ranges: where the code of a DIE is. A unit of split DWARF counts its addresses and lists from what its skeleton
 * says, which lies in another file; so all that they are counted from is gathered once for a unit:
 *
 *	low_pc      the base of lists            .debug_ranges    pairs of addresses, up to version 4
 *	addr_base   where its addresses begin    .debug_rnglists  entries of seven kinds, since version 5
 *
 * A function's DIE is met by the scan, which knows its form already; libdw would look for each attribute from its
 * beginning, and knows no packages before 0.191.
 *
 * Source: DWARF 5, 2.17.3 (range lists), 7.25, 7.28; GNU extensions to DWARF 4 ("DebugFission").
 */
#include "sym/dwarf_internal.h"

/* ---- what a unit counts from ---- */

enum { LOW, ADDR_BASE, GNU_ADDR_BASE, LISTS_BASE, GNU_RANGES_BASE, LOCATIONS_BASE, N_BASES };

static bool is_address(uint64_t form)
{
	return form == DW_FORM_addr || form == DW_FORM_addrx || form == DW_FORM_GNU_addr_index ||
	       (form >= DW_FORM_addrx1 && form <= DW_FORM_addrx4);
}

bool dwarf_bases_address(const struct dwarf_bases *bases, uint64_t index, uint64_t *addr)
{
	struct dwarf_cursor cursor = bases->addr;

	if (index >= cursor_left(&cursor) / bases->address_bytes)
		return false;
	cursor_skip(&cursor, index * bases->address_bytes);
	*addr = cursor_number(&cursor, bases->address_bytes);
	return !cursor.bad;
}

static bool address_of(const struct dwarf_bases *bases, const struct dwarf_value *value, uint64_t *addr)
{
	*addr = value->number;
	return value->known && (value->form == DW_FORM_addr || dwarf_bases_address(bases, value->number, addr));
}

void dwarf_bases_read(struct dwarf_bases *bases, const struct dwarf_scan *skeleton, const struct dwarf_scan *code,
		      const struct dwarf_sections *main, const struct dwarf_sections *split)
{
	struct dwarf_value own[N_BASES] = {
		[LOW] = { .attribute = DW_AT_low_pc },
		[ADDR_BASE] = { .attribute = DW_AT_addr_base },
		[GNU_ADDR_BASE] = { .attribute = DW_AT_GNU_addr_base },
		[LISTS_BASE] = { .attribute = DW_AT_rnglists_base },
		[GNU_RANGES_BASE] = { .attribute = DW_AT_GNU_ranges_base },
		[LOCATIONS_BASE] = { .attribute = DW_AT_loclists_base },
	};
	const struct dwarf_abbrevs *table = code->abbrevs;
	bool is_split = split != main;
	uint64_t base;

	dwarf_scan_values(skeleton, own, N_BASES);
	*bases = (struct dwarf_bases){
		.version = table->version,
		.address_bytes = table->address_bytes ? table->address_bytes : 1,
		.offset_bytes = table->offset_bytes,
		.addr = main->addr,
		.lists = table->version >= 5 ? split->rnglists : main->ranges,
	};
	base = own[ADDR_BASE].known ? own[ADDR_BASE].number : own[GNU_ADDR_BASE].number;
	cursor_skip(&bases->addr, base);
	address_of(bases, &own[LOW], &bases->low);
	bases->locations_base = !is_split && own[LOCATIONS_BASE].known ? own[LOCATIONS_BASE].number :
				table->offset_bytes == 8	       ? 20 : 12;
	if (table->version < 5)
		bases->lists_base = is_split ? own[GNU_RANGES_BASE].number : 0;
	else if (!is_split && own[LISTS_BASE].known)
		bases->lists_base = own[LISTS_BASE].number;
	else
		bases->lists_base = table->offset_bytes == 8 ? 20 : 12; /* behind the header of the only list */
}

/* ---- ranges ---- */

struct taking {
	struct dwarf_file *file;
	const struct dwarf_bases *bases;
	struct dwarf_range range; /* its rank and id */
	struct dwarf_range_list *out;
	size_t n;
};

static void take(struct taking *taking, uint64_t start, uint64_t end)
{
	struct dwarf_range_list *out = taking->out;

	if (start == end)
		return;
	taking->n++;
	if (start > end || !dwarf_file_is_code(taking->file, start))
		return;
	VEC_GROW(out->v, out->n, out->cap);
	out->v[out->n] = taking->range;
	out->v[out->n].start = start;
	out->v[out->n++].end = end;
}

static void take_pairs(struct taking *taking, struct dwarf_cursor list)
{
	const struct dwarf_bases *bases = taking->bases;
	const uint64_t most = bases->address_bytes >= 8 ? UINT64_MAX : ((uint64_t)1 << 8 * bases->address_bytes) - 1;
	uint64_t base = bases->low;

	while (cursor_left(&list) && dwarf_file_spend(taking->file, 1)) {
		uint64_t start = cursor_number(&list, bases->address_bytes);
		uint64_t end = cursor_number(&list, bases->address_bytes);

		if (list.bad || (!start && !end))
			return;
		if (start == most)
			base = end;
		else
			take(taking, base + start, base + end);
	}
}

/* The next entry of a list of version 5: a range, or a new base, or (false) the end. */
static bool take_entry(struct taking *taking, struct dwarf_cursor *list, uint64_t *base)
{
	const struct dwarf_bases *bases = taking->bases;
	uint8_t kind = cursor_u8(list);
	uint64_t start = 0, end = 0;
	bool known = true;

	switch (kind) {
	case DW_RLE_base_addressx:
		return dwarf_bases_address(bases, cursor_uleb(list), base) && !list->bad;
	case DW_RLE_base_address:
		*base = cursor_number(list, bases->address_bytes);
		return !list->bad;
	case DW_RLE_startx_endx:
		known = dwarf_bases_address(bases, cursor_uleb(list), &start);
		known = dwarf_bases_address(bases, cursor_uleb(list), &end) && known;
		break;
	case DW_RLE_startx_length:
		known = dwarf_bases_address(bases, cursor_uleb(list), &start);
		end = start + cursor_uleb(list);
		break;
	case DW_RLE_offset_pair:
		start = *base + cursor_uleb(list);
		end = *base + cursor_uleb(list);
		break;
	case DW_RLE_start_end:
		start = cursor_number(list, bases->address_bytes);
		end = cursor_number(list, bases->address_bytes);
		break;
	case DW_RLE_start_length:
		start = cursor_number(list, bases->address_bytes);
		end = start + cursor_uleb(list);
		break;
	default: /* the end, or what nobody knows the size of */
		return false;
	}
	if (known && !list->bad)
		take(taking, start, end);
	return !list->bad;
}

static void take_list(struct taking *taking, const struct dwarf_value *value)
{
	const struct dwarf_bases *bases = taking->bases;
	struct dwarf_cursor list = bases->lists;
	uint64_t offset = value->number, base = bases->low;

	if (value->form == DW_FORM_rnglistx) {
		struct dwarf_cursor offsets = list;

		cursor_skip(&offsets, bases->lists_base);
		if (offset >= cursor_left(&offsets) / (bases->offset_bytes ? bases->offset_bytes : 1))
			return;
		cursor_skip(&offsets, offset * bases->offset_bytes);
		offset = cursor_number(&offsets, bases->offset_bytes);
	}
	if (value->form == DW_FORM_rnglistx || bases->version < 5) {
		if (offset > UINT64_MAX - bases->lists_base)
			return;
		offset += bases->lists_base;
	}
	cursor_skip(&list, offset);
	if (bases->version < 5)
		take_pairs(taking, list);
	else
		while (cursor_left(&list) && dwarf_file_spend(taking->file, 1) && take_entry(taking, &list, &base))
			continue;
}

size_t dwarf_ranges_add(struct dwarf_file *file, const struct dwarf_bases *bases, const struct dwarf_scan *scan,
			uint64_t rank, uint32_t id, struct dwarf_range_list *out)
{
	enum { LOW_PC, HIGH_PC, RANGES, N_PLACES };
	struct dwarf_value places[N_PLACES] = {
		[LOW_PC] = { .attribute = DW_AT_low_pc },
		[HIGH_PC] = { .attribute = DW_AT_high_pc },
		[RANGES] = { .attribute = DW_AT_ranges },
	};
	struct taking taking = { .file = file, .bases = bases, .range = { .rank = rank, .id = id }, .out = out };
	uint64_t low, high;

	dwarf_scan_values(scan, places, N_PLACES);
	if (places[HIGH_PC].known && dwarf_file_spend(file, 1) && address_of(bases, &places[LOW_PC], &low)) {
		if (!is_address(places[HIGH_PC].form))
			take(&taking, low, low + places[HIGH_PC].number);
		else if (address_of(bases, &places[HIGH_PC], &high))
			take(&taking, low, high);
	} else if (places[RANGES].known) {
		take_list(&taking, &places[RANGES]);
	}
	return taking.n;
}
