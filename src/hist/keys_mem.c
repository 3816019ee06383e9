/* SPDX-License-Identifier: MIT */
/*
 * Keys of memory samples: weights, what data was touched, and what the memory answered. Of the words of a
 * data source only the bits that make a column's text are its value.
 */
#include "hist/keys_internal.h"

#include <inttypes.h>

/* Bits of a data source; perf_event_open(2), union perf_mem_data_src. */
#define BITS(first, n) ((((uint64_t)1 << (n)) - 1) << (first))
#define OLD_LEVEL_BITS BITS(5, 14)
#define LEVEL_BITS (OLD_LEVEL_BITS | BITS(33, 4) | BITS(37, 1) | BITS(43, 3))
#define OLD_SNOOP_BITS BITS(19, 5)
#define SNOOP_BITS (OLD_SNOOP_BITS | BITS(38, 2))
#define LOCK_BITS BITS(24, 2)
#define TLB_BITS BITS(26, 7)
#define BLOCK_BITS BITS(40, 3)

enum { CACHE_LINE_BYTES = 64 };
/* Columns: "[.] ", and "0x" with an address behind it. */
enum { LEVEL_WIDTH = 4, ADDRESS_WIDTH = 18, TRANSACTION_WIDTH = 32 };

KEY_VALUE(value_weight)
{
	return source_fact(source, FACT_WEIGHT);
}

KEY_VALUE(value_ins_lat)
{
	return source_fact(source, FACT_INS_LAT);
}

KEY_VALUE(value_p_stage_cyc)
{
	return source_fact(source, FACT_P_STAGE_CYC);
}

KEY_VALUE(value_mem)
{
	return source_fact(source, FACT_DATA_SRC) & LEVEL_BITS;
}

/* perf orders by the older bits alone. */
KEY_COMPARE(compare_mem)
{
	int order = compare_ascending(table, a & OLD_LEVEL_BITS, b & OLD_LEVEL_BITS);

	return order ? order : compare_ascending(table, a, b);
}

KEY_COMPARE(compare_snoop)
{
	int order = compare_ascending(table, a & OLD_SNOOP_BITS, b & OLD_SNOOP_BITS);

	return order ? order : compare_ascending(table, a, b);
}

KEY_TEXT(text_mem)
{
	(void)table;
	mem_level_add(value, out);
}

KEY_VALUE(value_snoop)
{
	return source_fact(source, FACT_DATA_SRC) & SNOOP_BITS;
}

KEY_TEXT(text_snoop)
{
	(void)table;
	mem_snoop_add(value, out);
}

KEY_VALUE(value_tlb)
{
	return source_fact(source, FACT_DATA_SRC) & TLB_BITS;
}

KEY_TEXT(text_tlb)
{
	(void)table;
	mem_tlb_add(value, out);
}

KEY_VALUE(value_locked)
{
	return source_fact(source, FACT_DATA_SRC) & LOCK_BITS;
}

KEY_TEXT(text_locked)
{
	(void)table;
	mem_lock_add(value, out);
}

KEY_VALUE(value_blocked)
{
	return source_fact(source, FACT_DATA_SRC) & BLOCK_BITS;
}

KEY_TEXT(text_blocked)
{
	(void)table;
	mem_blocked_add(value, out);
}

KEY_VALUE(value_symbol_daddr)
{
	return table_memory_function(source->table, source_location(source, FACT_DATA_LOCATION), true);
}

KEY_WIDTH(width_data)
{
	const struct symbol *symbol = table->private->cache->function_ids.v[value].symbol;

	return LEVEL_WIDTH + ADDRESS_WIDTH + (unsigned)(symbol ? strlen(symbol->name) : 0);
}

KEY_VALUE(value_symbol_iaddr)
{
	return table_memory_function(source->table, source_location(source, FACT_LOCATION), false);
}

KEY_VALUE(value_dso_daddr)
{
	return table_dso_name(source->table, source_location(source, FACT_DATA_LOCATION));
}

/* Memory of one process: of no file, and not the kernel's. */
static bool is_private(const struct location_row *row)
{
	return !location_is_kernel(row) &&
	       (!row->dso || ((row->dso->kind == DSO_ANON || row->dso->kind == DSO_OTHER) && !row->dso->inode));
}

/* Tells private lines at the same address apart by process, as perf does; what processes may share is one line. */
KEY_VALUE(value_dcacheline)
{
	const uint32_t location = source_location(source, FACT_DATA_LOCATION);
	const bool private = is_private(table_location_row(source->table, location));

	return table_data_function(source->table, location, CACHE_LINE_BYTES,
				   private ? source_fact(source, FACT_PID) : 0);
}

KEY_WIDTH(width_cache_line)
{
	return width_data(table, value) + (table->private->cache->function_ids.v[value].symbol != NULL);
}

KEY_VALUE(value_phys_daddr)
{
	return source_fact(source, FACT_PHYS_ADDR);
}

KEY_TEXT(text_phys_daddr)
{
	(void)table;
	str_addf(out, "[.] %#.16" PRIx64, value);
}

KEY_VALUE(value_data_page_size)
{
	return source_fact(source, FACT_DATA_PAGE_SIZE);
}

KEY_VALUE(value_code_page_size)
{
	return source_fact(source, FACT_CODE_PAGE_SIZE);
}

KEY_TEXT(text_page_size)
{
	static const char units[] = " KMGTPE";
	unsigned unit = 0;

	(void)table;
	if (!value) {
		str_add(out, "N/A");
		return;
	}
	for (; value / 1024 > 1 && value % 1024 == 0; value /= 1024) /* 1 GiB is "1024M" in script, too */
		unit++;
	str_addf(out, "%" PRIu64, value);
	if (unit)
		str_addc(out, units[unit]);
}

/* Only decoders of hardware traces know it. */
KEY_VALUE(value_simd)
{
	(void)source;
	return 0;
}

KEY_TEXT(text_simd)
{
	(void)table, (void)value, (void)out;
}

KEY_VALUE(value_transaction)
{
	return source_fact(source, FACT_TRANSACTION);
}

/* Bits of PERF_SAMPLE_TRANSACTION; perf_event_open(2), PERF_TXN_*. */
KEY_TEXT(text_transaction)
{
	static const char *const words[] = {
		"EL ", "TX ", "SYNC ", "ASYNC ", "RETRY ", "CON ", "CAP-WRITE ", "CAP-READ ",
	};

	(void)table;
	for (unsigned i = 0; i < ARRAY_SIZE(words); i++)
		if (value >> i & 1)
			str_add(out, words[i]);
	if (value && !(value & (PERF_TXN_SYNC | PERF_TXN_ASYNC)))
		str_add(out, "NEITHER ");
	if (value & PERF_TXN_ABORT_MASK)
		str_addf(out, ":%" PRIx64, value >> PERF_TXN_ABORT_SHIFT);
}

KEY_WIDTH(width_transaction)
{
	(void)table;
	return value ? TRANSACTION_WIDTH : 0;
}
