/* SPDX-License-Identifier: MIT */
/*
 * The sort keys: one row each. A row's value function turns facts of a cell, or a frame, into a number that
 * is the same for what shall be one entry; text and compare work on that number.
 */
#include "hist/keys_internal.h"
#include "types/types.h"

#include <inttypes.h>
#include <strings.h>

KEY_COMPARE(compare_ascending)
{
	(void)table;
	return ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b);
}

KEY_COMPARE(compare_descending)
{
	return compare_ascending(table, b, a);
}

KEY_COMPARE(compare_names)
{
	return a == b ? 0
		      : strcmp(texts_get(table->private->cache->names, (uint32_t)a),
			       texts_get(table->private->cache->names, (uint32_t)b));
}

KEY_TEXT(text_decimal)
{
	(void)table;
	str_addf(out, "%" PRIu64, value);
}

KEY_TEXT(text_name)
{
	str_add(out, texts_get(table->private->cache->names, (uint32_t)value));
}

uint32_t table_name(struct table *table, const char *text, size_t len)
{
	return texts_intern(table->private->cache->names, text, len);
}

#define FRAME FACT(LOCATION), KEY_FRAME
#define BRANCH(fact) FACT(fact), KEY_BRANCH
#define MEM(fact) FACT(fact), KEY_MEM

/*
 * To add a key: its functions in keys_*.c, one row here, an entry in pstat-report(1), a line in
 * tests/cli/report_keys.sh. The order is the one in which the beginning of a name is looked up.
 */
const struct sort_key sort_keys[] = {
	{ "pid", "    Pid:Command", "thread, by number and name", FACT(TID), .min_width = 15, .value = value_tid,
	  .compare = compare_ascending, .text = text_task, .identity = identity_task },
	{ "comm", "Command", "name of the thread when it was sampled", FACT(COMM), .value = value_comm,
	  .compare = compare_comm, .text = text_comm },
	{ "comm_nodigit", "CommandNoDigit", "the same with <N> for each number in it", FACT(COMM),
	  .value = value_comm_nodigit, .compare = compare_names, .text = text_name },
	{ "dso", "Shared Object", "file that the sampled code is of", FRAME | KEY_OF_FUNCTION | KEY_LONG,
	  .value = value_dso,
	  .compare = compare_dso, .text = text_dso },
	{ "symbol", "Symbol", "function that was sampled", FRAME | KEY_OF_FUNCTION | KEY_RAGGED | KEY_FUNCTION,
	  .value = value_symbol, .compare = compare_function, .text = text_function, .identity = identity_function },
	{ "symoff", "Symbol Offset", "address that was sampled, by its function and the offset in it",
	  FRAME | KEY_RAGGED | KEY_FUNCTION, .value = value_symoff, .compare = compare_function_address,
	  .text = text_function, .identity = identity_function },
	{ "parent", "Parent symbol", "first caller that --parent matches", FACT(STACK), KEY_FUNCTION,
	  .value = value_parent, .compare = compare_parent, .text = text_parent },
	{ "cpu", "CPU", "CPU that the thread ran on", FACT(CPU), KEY_FIXED_WIDTH, .min_width = 3, .right = true,
	  .value = value_cpu, .compare = compare_ascending, .text = text_cpu, .type = TABLE_NUMBER,
	  .number = number_cpu },
	{ "socket", "Socket", "processor socket of that CPU", FACT(CPU), KEY_FIXED_WIDTH, .min_width = 6, .right = true,
	  .value = value_socket, .compare = compare_ascending, .text = text_cpu, .type = TABLE_NUMBER,
	  .number = number_cpu },
	{ "srcline", "Source:Line", "line of source code", FRAME | KEY_RAGGED | KEY_LONG, .value = value_srcline,
	  .compare = compare_names, .text = text_name },
	{ "srcfile", "Source File", "file of source code", FRAME | KEY_RAGGED | KEY_LONG, .value = value_srcfile,
	  .compare = compare_names, .text = text_name },
	{ "local_weight", "Local Weight", "weight of a sample, e.g. cycles of a load", FACT(WEIGHT), .min_width = 12,
	  .value = value_weight, .compare = compare_descending, .text = text_decimal, .type = TABLE_NUMBER },
	{ "weight", "Weight", "the same times the number of samples", FACT(WEIGHT), KEY_TIMES_SAMPLES, .min_width = 12,
	  .value = value_weight, .compare = compare_descending, .text = text_decimal, .type = TABLE_NUMBER },
	{ "transaction", "Transaction                ", "how a transaction ended", FACT(TRANSACTION), KEY_FIXED_WIDTH,
	  .value = value_transaction, .compare = compare_descending, .text = text_transaction,
	  .width = width_transaction },
	{ "trace", "Trace output", "a tracepoint's text", FACT(TRACE), KEY_RAGGED | KEY_LONG, .value = value_trace,
	  .compare = compare_names, .text = text_name },
	{ "symbol_size", "Symbol size", "bytes of the function", FRAME, .right = true, .value = value_symbol_size,
	  .compare = compare_ascending, .text = text_size, .type = TABLE_NUMBER, .number = number_size },
	{ "dso_size", "DSO size", "bytes of the file that are mapped", FRAME, .right = true, .value = value_dso_size,
	  .compare = compare_ascending, .text = text_size, .type = TABLE_NUMBER, .number = number_size },
	{ "cgroup", "Cgroup", "control group", FACT(CGROUP), KEY_RAGGED | KEY_LONG, .min_width = 6,
	  .value = value_cgroup, .compare = compare_ascending, .text = text_cgroup },
	{ "cgroup_id", "cgroup id (dev/inode)", "device and inode of the cgroup namespace",
	  FACT(CGROUP_DEV) | FACT(CGROUP_INO), .min_width = 20, .value = value_cgroup_id, .compare = compare_cgroup_id,
	  .text = text_cgroup_id },
	{ "time", "Time", "time in steps of --time-quantum", FACT(TIME), .min_width = 12, .value = value_time,
	  .compare = compare_ascending, .text = text_time, .type = TABLE_TIME, .number = number_time },
	{ "code_page_size", "Code Page Size", "size of the page of the code", FACT(CODE_PAGE_SIZE), .min_width = 6,
	  .value = value_code_page_size, .compare = compare_ascending, .text = text_page_size },
	{ "type", "Data Type", "type of the data that the sampled instruction reads or writes",
	  TYPE_FACTS, KEY_RAGGED | KEY_LONG, .value = value_type, .compare = compare_names,
	  .text = text_name },
	{ "typeoff", "Data Type Offset", "the same with the offset in the type and the member there",
	  TYPE_FACTS, KEY_RAGGED | KEY_LONG, .value = value_typeoff, .compare = compare_type_rows,
	  .text = text_typeoff },
	{ "typecln", "Data Type Cacheline", "the same with the cache line of the type", TYPE_FACTS,
	  KEY_RAGGED | KEY_LONG, .value = value_typecln, .compare = compare_type_rows, .text = text_typecln },
	{ "local_ins_lat", "Local INSTR Latency", "cycles of the sampled instruction", FACT(INS_LAT), .min_width = 13,
	  .value = value_ins_lat, .compare = compare_descending, .text = text_decimal, .type = TABLE_NUMBER },
	{ "ins_lat", "INSTR Latency", "the same times the number of samples", FACT(INS_LAT), KEY_TIMES_SAMPLES,
	  .min_width = 13, .value = value_ins_lat, .compare = compare_descending, .text = text_decimal,
	  .type = TABLE_NUMBER },
	{ "local_p_stage_cyc", "Local Pipeline Stage Cycle", "cycles of the sampled instruction in a pipeline stage",
	  FACT(P_STAGE_CYC), KEY_POWERPC, .min_width = 13, .value = value_p_stage_cyc, .compare = compare_descending,
	  .text = text_decimal, .type = TABLE_NUMBER },
	{ "p_stage_cyc", "Pipeline Stage Cycle", "the same times the number of samples", FACT(P_STAGE_CYC),
	  KEY_TIMES_SAMPLES | KEY_POWERPC, .min_width = 13, .value = value_p_stage_cyc, .compare = compare_descending,
	  .text = text_decimal, .type = TABLE_NUMBER },
	{ "local_retire_lat", "Local Retire Latency", "cycles until the sampled instruction retired", FACT(P_STAGE_CYC),
	  .min_width = 13, .value = value_p_stage_cyc, .compare = compare_descending, .text = text_decimal,
	  .type = TABLE_NUMBER },
	{ "retire_lat", "Retire Latency", "the same times the number of samples", FACT(P_STAGE_CYC), KEY_TIMES_SAMPLES,
	  .min_width = 13, .value = value_p_stage_cyc, .compare = compare_descending, .text = text_decimal,
	  .type = TABLE_NUMBER },
	{ "simd", "Simd", "kind of a vector instruction in hardware traces: empty", FACT(MISC), .min_width = 7,
	  .value = value_simd, .compare = compare_ascending, .text = text_simd },
	{ "tid", "    Tid:Command", "the same as pid", FACT(TID), .min_width = 15, .value = value_tid,
	  .compare = compare_ascending, .text = text_task, .identity = identity_task },
	{ "parallelism", "Parallelism", "threads that ran at once when it was sampled", FACT(PARALLELISM),
	  .right = true, .value = value_parallelism, .compare = compare_ascending, .text = text_decimal,
	  .type = TABLE_NUMBER },
	{ "state", "State", "whether the thread ran, waited or slept, or was preempted (record --off-cpu)", FACT(STATE),
	  .min_width = 9, .value = value_state, .compare = compare_ascending, .text = text_state },
	{ "tgid", "   Tgid:Command", "process, by number and name", FACT(PID), .min_width = 15, .value = value_pid,
	  .compare = compare_ascending, .text = text_task, .identity = identity_task },
	{ "addr", "Address", "address that was sampled", FRAME, .min_width = 18, .value = value_addr,
	  .compare = compare_ascending, .text = text_addr, .type = TABLE_ADDRESS },
	{ "dso_from", "Source Shared Object", "file that a branch left", BRANCH(FROM) | KEY_LONG,
	  .value = value_dso_from, .compare = compare_dso_descending, .text = text_dso },
	{ "dso_to", "Target Shared Object", "file that a branch went to", BRANCH(TO) | KEY_LONG, .value = value_dso_to,
	  .compare = compare_dso_descending, .text = text_dso },
	{ "symbol_from", "Source Symbol", "function that a branch left", BRANCH(FROM) | KEY_RAGGED | KEY_FUNCTION,
	  .value = value_symbol_from, .compare = compare_function_address, .text = text_function,
	  .identity = identity_function },
	{ "symbol_to", "Target Symbol", "function that a branch went to", BRANCH(TO) | KEY_RAGGED | KEY_FUNCTION,
	  .value = value_symbol_to, .compare = compare_function_address, .text = text_function,
	  .identity = identity_function },
	{ "mispredict", "Branch Mispredicted", "N, or Y: the branch was predicted wrong", BRANCH(BRANCH_FLAGS),
	  .value = value_mispredict, .compare = compare_ascending, .text = text_mispredict },
	{ "abort", "Transaction abort", "A: the branch aborted a transaction", BRANCH(BRANCH_FLAGS),
	  .value = value_abort, .compare = compare_ascending, .text = text_abort },
	{ "in_tx", "Branch in transaction", "T: the branch was in a transaction", BRANCH(BRANCH_FLAGS),
	  .value = value_in_tx, .compare = compare_ascending, .text = text_in_tx },
	{ "cycles", "Basic Block Cycles", "cycles since the branch before", BRANCH(BRANCH_CYCLES),
	  .value = value_cycles, .compare = compare_descending, .text = text_cycles },
	{ "ipc_lbr", "IPC   [IPC Coverage]", "instructions per cycle of the function, and the part that they are of",
	  FACT(TO) | FACT(FROM) | FACT(BLOCK_START) | FACT(BRANCH_CYCLES), KEY_BRANCH, .value = value_ipc,
	  .compare = compare_ipc, .text = text_ipc },
	{ "srcline_from", "From Source:Line", "line that a branch left", BRANCH(FROM) | KEY_RAGGED | KEY_LONG,
	  .value = value_srcline_from, .compare = compare_names, .text = text_name },
	{ "srcline_to", "To Source:Line", "line that a branch went to", BRANCH(TO) | KEY_RAGGED | KEY_LONG,
	  .value = value_srcline_to, .compare = compare_names, .text = text_name },
	{ "addr_from", "Source Address", "address that a branch left", BRANCH(FROM) | KEY_RAGGED, .min_width = 22,
	  .value = value_addr_from, .compare = compare_function_address, .text = text_function,
	  .identity = identity_function },
	{ "addr_to", "Target Address", "address that a branch went to", BRANCH(TO) | KEY_RAGGED, .min_width = 22,
	  .value = value_addr_to, .compare = compare_function_address, .text = text_function,
	  .identity = identity_function },
	{ "symbol_daddr", "Data Symbol", "address of data", MEM(DATA_LOCATION) | KEY_RAGGED | KEY_FUNCTION,
	  .value = value_symbol_daddr, .compare = compare_memory, .text = text_function,
	  .identity = identity_function, .width = width_data },
	{ "dso_daddr", "Data Object", "file that the data is of", MEM(DATA_LOCATION) | KEY_LONG,
	  .value = value_dso_daddr, .compare = compare_dso, .text = text_dso },
	{ "locked", "Locked", "the bus was locked", MEM(DATA_SRC), .min_width = 6, .value = value_locked,
	  .compare = compare_ascending, .text = text_locked },
	{ "tlb", "TLB access", "where the translation of the address was", MEM(DATA_SRC), .min_width = 22,
	  .value = value_tlb, .compare = compare_ascending, .text = text_tlb },
	{ "mem", "Memory access", "which memory answered", MEM(DATA_SRC), .min_width = 24, .value = value_mem,
	  .compare = compare_mem, .text = text_mem },
	{ "snoop", "Snoop", "what other caches answered", MEM(DATA_SRC), .min_width = 12, .value = value_snoop,
	  .compare = compare_snoop, .text = text_snoop },
	{ "dcacheline", "Data Cacheline", "cache line of the data",
	  FACT(PID) | MEM(DATA_LOCATION) | KEY_RAGGED | KEY_FUNCTION,
	  .value = value_dcacheline, .compare = compare_function_address, .text = text_function,
	  .identity = identity_function, .width = width_cache_line },
	{ "symbol_iaddr", "Code Symbol", "address of the instruction, by its function",
	  MEM(LOCATION) | KEY_RAGGED | KEY_FUNCTION, .value = value_symbol_iaddr, .compare = compare_memory,
	  .text = text_function, .identity = identity_function },
	{ "phys_daddr", "Data Physical Address", "physical address of the data", MEM(PHYS_ADDR), .min_width = 22,
	  .value = value_phys_daddr, .compare = compare_ascending, .text = text_phys_daddr, .type = TABLE_ADDRESS },
	{ "data_page_size", "Data Page Size", "size of the page of the data", MEM(DATA_PAGE_SIZE), .min_width = 22,
	  .value = value_data_page_size, .compare = compare_ascending, .text = text_page_size },
	{ "blocked", "Blocked", "why a load had to wait", MEM(DATA_SRC), .min_width = 10, .value = value_blocked,
	  .compare = compare_ascending, .text = text_blocked },
};
const size_t n_sort_keys = ARRAY_SIZE(sort_keys);

const struct sort_key *sort_key_find(const char *name, size_t len)
{
	for (size_t i = 0; i < n_sort_keys; i++)
		if (strlen(sort_keys[i].name) == len && !strncasecmp(sort_keys[i].name, name, len))
			return &sort_keys[i];
	for (size_t i = 0; i < n_sort_keys; i++)
		if (!strncasecmp(sort_keys[i].name, name, len))
			return &sort_keys[i];
	return NULL;
}

bool report_key_row(size_t i, const char **name, const char **help)
{
	if (i >= n_sort_keys + n_field_rows)
		return false;
	*name = i < n_sort_keys ? sort_keys[i].name : field_rows[i - n_sort_keys].name;
	*help = i < n_sort_keys ? sort_keys[i].help : field_rows[i - n_sort_keys].help;
	return true;
}
