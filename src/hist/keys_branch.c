/* SPDX-License-Identifier: MIT */
/*
 * Keys of a branch: where from, where to, and how it went. Only in the branch view, where each entry of a
 * branch stack is a sample of its own.
 */
#include "hist/keys_internal.h"

static uint64_t branch_line(const struct key_source *source, enum sample_fact fact)
{
	return table_location_line(source->table, source_location(source, fact));
}

KEY_VALUE(value_dso_from)
{
	return table_dso_name(source->table, source_location(source, FACT_FROM));
}

KEY_VALUE(value_dso_to)
{
	return table_dso_name(source->table, source_location(source, FACT_TO));
}

KEY_COMPARE(compare_dso_descending)
{
	return compare_dso(table, b, a);
}

KEY_VALUE(value_symbol_from)
{
	return table_location_function(source->table, source_location(source, FACT_FROM));
}

KEY_VALUE(value_symbol_to)
{
	return table_location_function(source->table, source_location(source, FACT_TO));
}

KEY_VALUE(value_addr_from)
{
	return table_data_function(source->table, source_location(source, FACT_FROM), 1, 0);
}

KEY_VALUE(value_addr_to)
{
	return table_data_function(source->table, source_location(source, FACT_TO), 1, 0);
}

KEY_VALUE(value_srcline_from)
{
	return branch_line(source, FACT_FROM);
}

KEY_VALUE(value_srcline_to)
{
	return branch_line(source, FACT_TO);
}

KEY_VALUE(value_mispredict)
{
	return source_fact(source, FACT_BRANCH_FLAGS) & (BRANCH_MISPREDICTED | BRANCH_PREDICTED);
}

KEY_TEXT(text_mispredict)
{
	(void)table;
	str_add(out, value & BRANCH_PREDICTED ? "N" : value & BRANCH_MISPREDICTED ? "Y" : "N/A");
}

KEY_VALUE(value_in_tx)
{
	return source_fact(source, FACT_BRANCH_FLAGS) & BRANCH_IN_TX;
}

KEY_TEXT(text_in_tx)
{
	(void)table;
	str_add(out, value ? "T" : ".");
}

KEY_VALUE(value_abort)
{
	return source_fact(source, FACT_BRANCH_FLAGS) & BRANCH_ABORT;
}

KEY_TEXT(text_abort)
{
	(void)table;
	str_add(out, value ? "A" : ".");
}

KEY_VALUE(value_cycles)
{
	return source_fact(source, FACT_BRANCH_CYCLES);
}

KEY_TEXT(text_cycles)
{
	if (value)
		text_decimal(table, value, out);
	else
		str_add(out, "-");
}
