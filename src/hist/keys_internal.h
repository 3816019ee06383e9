/* SPDX-License-Identifier: MIT */
/*
 * keys: the functions behind the rows of sort_keys[], by what they are about. Private to hist/.
 */
#ifndef PSTAT_KEYS_H
#define PSTAT_KEYS_H

#include "hist/fold_internal.h"
#include "util/util.h"

#define KEY_VALUE(name) uint64_t name(const struct key_source *source)
#define KEY_TEXT(name) void name(struct table *table, uint64_t value, struct str *out)
#define KEY_COMPARE(name) int name(struct table *table, uint64_t a, uint64_t b)
#define KEY_NUMBER(name) bool name(const struct table *table, uint64_t value, uint64_t *number)
#define KEY_WIDTH(name) unsigned name(struct table *table, uint64_t value)
#define KEY_IDENTITY(name) uint64_t name(struct table *table, uint64_t value)

/* ---- keys.c ---- */
KEY_COMPARE(compare_ascending); /* as signed numbers */
KEY_COMPARE(compare_descending);
KEY_COMPARE(compare_names); /* numbers in cache->names, by their texts */
KEY_TEXT(text_decimal);
KEY_TEXT(text_name);
static inline uint64_t source_fact(const struct key_source *source, enum sample_fact fact)
{
	return cell_fact(source->cells, source->cell, fact);
}
static inline uint32_t source_location(const struct key_source *source, enum sample_fact fact)
{
	return cells_have(source->cells, fact) ? (uint32_t)source_fact(source, fact) : (uint32_t)LOCATION_NONE;
}

/* ---- keys_code.c ---- */
/* The value of a frame's or location's function: a number in cache->function_ids. */
uint64_t table_location_function(struct table *table, uint32_t location);
/* The value of an address of data, cut to a multiple of `align`. */
/* LOCATION_NONE: one of nowhere. */
const struct location_row *table_location_row(struct table *table, uint32_t location);
uint64_t table_data_function(struct table *table, uint32_t location, uint64_t align, uint64_t process);
/*
 * The value of an address in memory, each of them one of its own: of data, or of an instruction, which is
 * shown as its function.
 */
uint64_t table_memory_function(struct table *table, uint32_t location, bool data);
uint64_t table_dso_name(struct table *table, uint32_t location); /* 0: not known, else its name + 1 */
uint64_t table_line(struct table *table, uint32_t location, const struct symbol *symbol,
		    const struct source_line *line);
/* The same of the function that has the location, or that was inlined there last. */
uint64_t table_location_line(struct table *table, uint32_t location);
KEY_VALUE(value_dso);
KEY_VALUE(value_symbol);
KEY_VALUE(value_symoff);
KEY_VALUE(value_addr);
KEY_VALUE(value_srcline);
KEY_VALUE(value_srcfile);
KEY_VALUE(value_symbol_size);
KEY_VALUE(value_dso_size);
KEY_TEXT(text_dso);
KEY_TEXT(text_function);
KEY_TEXT(text_addr);
KEY_TEXT(text_size);
KEY_NUMBER(number_size);
KEY_COMPARE(compare_dso);
KEY_COMPARE(compare_function); /* by name, then by file and address */
KEY_COMPARE(compare_function_address); /* by address, then as compare_function */
KEY_COMPARE(compare_memory);
KEY_IDENTITY(identity_function);

/* ---- keys_task.c ---- */
KEY_VALUE(value_tid);
KEY_VALUE(value_pid);
KEY_VALUE(value_comm);
KEY_VALUE(value_comm_nodigit);
KEY_VALUE(value_cpu);
KEY_VALUE(value_socket);
KEY_VALUE(value_time);
KEY_VALUE(value_parallelism);
KEY_VALUE(value_state);
KEY_VALUE(value_cgroup);
KEY_VALUE(value_cgroup_id);
KEY_VALUE(value_parent);
KEY_TEXT(text_task);
KEY_IDENTITY(identity_task);
KEY_TEXT(text_comm);
KEY_TEXT(text_cpu);
KEY_NUMBER(number_cpu);
KEY_NUMBER(number_time);
KEY_TEXT(text_time);
KEY_TEXT(text_state);
KEY_TEXT(text_cgroup);
KEY_TEXT(text_cgroup_id);
KEY_TEXT(text_parent);
KEY_COMPARE(compare_comm);
KEY_COMPARE(compare_cgroup_id);
KEY_COMPARE(compare_parent);

/* ---- keys_branch.c ---- */
KEY_VALUE(value_dso_from);
KEY_VALUE(value_dso_to);
KEY_VALUE(value_symbol_from);
KEY_VALUE(value_symbol_to);
KEY_VALUE(value_addr_from);
KEY_VALUE(value_addr_to);
KEY_VALUE(value_srcline_from);
KEY_VALUE(value_srcline_to);
KEY_VALUE(value_mispredict);
KEY_VALUE(value_in_tx);
KEY_VALUE(value_abort);
KEY_VALUE(value_cycles);
KEY_TEXT(text_mispredict);
KEY_TEXT(text_in_tx);
KEY_TEXT(text_abort);
KEY_TEXT(text_cycles);
KEY_COMPARE(compare_dso_descending);

/* ---- function_ipc.c ---- */
KEY_VALUE(value_ipc);
KEY_TEXT(text_ipc);
KEY_COMPARE(compare_ipc);

/* ---- keys_mem.c ---- */
KEY_VALUE(value_weight);
KEY_VALUE(value_ins_lat);
KEY_VALUE(value_p_stage_cyc);
KEY_VALUE(value_mem);
KEY_VALUE(value_snoop);
KEY_VALUE(value_tlb);
KEY_VALUE(value_locked);
KEY_VALUE(value_blocked);
KEY_VALUE(value_symbol_daddr);
KEY_VALUE(value_symbol_iaddr);
KEY_VALUE(value_dso_daddr);
KEY_VALUE(value_dcacheline);
KEY_VALUE(value_phys_daddr);
KEY_VALUE(value_data_page_size);
KEY_VALUE(value_code_page_size);
KEY_VALUE(value_simd);
KEY_VALUE(value_transaction);
KEY_COMPARE(compare_mem);
KEY_COMPARE(compare_snoop);
KEY_TEXT(text_mem);
KEY_TEXT(text_snoop);
KEY_TEXT(text_tlb);
KEY_TEXT(text_locked);
KEY_TEXT(text_blocked);
KEY_TEXT(text_phys_daddr);
KEY_TEXT(text_page_size);
KEY_TEXT(text_simd);
KEY_TEXT(text_transaction);
KEY_WIDTH(width_transaction);
KEY_WIDTH(width_data);
KEY_WIDTH(width_cache_line);

/* ---- keys_types.c ---- */
KEY_VALUE(value_type);
KEY_VALUE(value_typeoff);
KEY_VALUE(value_typecln);
KEY_TEXT(text_typeoff);
KEY_TEXT(text_typecln);
KEY_COMPARE(compare_type_rows);

/* ---- keys_trace.c ---- */
KEY_VALUE(value_trace);
KEY_VALUE(value_field);
KEY_COMPARE(compare_fields);
/*
 * A key named "field" or "event.field", with or without "/raw", added to private->field_keys: true and *key; false: the
 * recording has no such field.
 */
bool field_key_new(struct question *question, const char *name, size_t len, const struct sort_key **key);
/* False: the key is a tracepoint's field that this event does not have. */
bool key_is_of_event(const struct question *question, const struct sort_key *key, const struct data_event *event);
/* Opens private->tracepoints once; false with a sentence: the recording has none. */
bool question_open_tracepoints(struct question *question, struct str *err);
void field_keys_free(struct question *question);

#endif
