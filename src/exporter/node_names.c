/* SPDX-License-Identifier: MIT */
/*
 * Metrics of node_exporter's perf collector, for dashboards that were made for it: "node_perf_" NAME "_total".
 *
 * Source: node_exporter, collector/perf_linux.go, for the names; perf_event_open(2) for the codes of the events.
 */
#include "exporter/exporter_internal.h"

#define CACHE(cache, operation, result)                                                                  \
	PERF_TYPE_HW_CACHE, (PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##operation << 8 |     \
			     PERF_COUNT_HW_CACHE_RESULT_##result << 16)
#define HARDWARE(code) PERF_TYPE_HARDWARE, PERF_COUNT_HW_##code
#define SOFTWARE(code) PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##code

/* To add one: a row. */
const struct node_name node_names[] = {
	{ "cpucycles", "cycles", "CPU cycles", HARDWARE(CPU_CYCLES) },
	{ "instructions", "instructions", "instructions", HARDWARE(INSTRUCTIONS) },
	{ "branch_instructions", "branches", "branch instructions", HARDWARE(BRANCH_INSTRUCTIONS) },
	{ "branch_misses", "branch-misses", "branches that were predicted wrongly", HARDWARE(BRANCH_MISSES) },
	{ "cache_refs", "cache-references", "accesses to the last level cache", HARDWARE(CACHE_REFERENCES) },
	{ "cache_misses", "cache-misses", "misses of the last level cache", HARDWARE(CACHE_MISSES) },
	{ "ref_cpucycles", "ref-cycles", "CPU cycles at a fixed rate", HARDWARE(REF_CPU_CYCLES) },
	{ "stalled_cycles_frontend", "stalled-cycles-frontend", "cycles without an instruction to begin",
	  HARDWARE(STALLED_CYCLES_FRONTEND) },
	{ "stalled_cycles_backend", "stalled-cycles-backend", "cycles without a unit to run an instruction",
	  HARDWARE(STALLED_CYCLES_BACKEND) },
	{ "page_faults", "page-faults", "page faults", SOFTWARE(PAGE_FAULTS) },
	{ "context_switches", "context-switches", "switches from one task to another", SOFTWARE(CONTEXT_SWITCHES) },
	{ "cpu_migrations", "cpu-migrations", "tasks that went on on another CPU", SOFTWARE(CPU_MIGRATIONS) },
	{ "minor_faults", "minor-faults", "page faults without reading a page", SOFTWARE(PAGE_FAULTS_MIN) },
	{ "major_faults", "major-faults", "page faults that read a page", SOFTWARE(PAGE_FAULTS_MAJ) },
	{ "cache_l1d_read_hits", "L1-dcache-loads", "reads of the first data cache", CACHE(L1D, READ, ACCESS) },
	{ "cache_l1d_read_misses", "L1-dcache-load-misses", "reads that missed the first data cache",
	  CACHE(L1D, READ, MISS) },
	{ "cache_l1d_write_hits", "L1-dcache-stores", "writes to the first data cache", CACHE(L1D, WRITE, ACCESS) },
	{ "cache_l1_instr_read_misses", "L1-icache-load-misses", "reads that missed the first instruction cache",
	  CACHE(L1I, READ, MISS) },
	{ "cache_tlb_instr_read_hits", "iTLB-loads", "look-ups in the instruction TLB", CACHE(ITLB, READ, ACCESS) },
	{ "cache_tlb_instr_read_misses", "iTLB-load-misses", "misses of the instruction TLB",
	  CACHE(ITLB, READ, MISS) },
	{ "cache_ll_read_hits", "LLC-loads", "reads of the last level cache", CACHE(LL, READ, ACCESS) },
	{ "cache_ll_read_misses", "LLC-load-misses", "reads that missed the last level cache", CACHE(LL, READ, MISS) },
	{ "cache_ll_write_hits", "LLC-stores", "writes to the last level cache", CACHE(LL, WRITE, ACCESS) },
	{ "cache_ll_write_misses", "LLC-store-misses", "writes that missed the last level cache",
	  CACHE(LL, WRITE, MISS) },
	{ "cache_bpu_read_hits", "branch-loads", "look-ups in the branch predictor", CACHE(BPU, READ, ACCESS) },
	{ "cache_bpu_read_misses", "branch-load-misses", "misses of the branch predictor", CACHE(BPU, READ, MISS) },
	{ .name = NULL },
};

/* A generic event's code is in the lower half; the upper half has a type of core. */
const struct node_name *node_name_of(const struct perf_event_attr *attr)
{
	for (const struct node_name *node = node_names; node->name; node++)
		if (node->type == attr->type && node->config == (uint32_t)attr->config)
			return node;
	return NULL;
}

void node_names_events(struct str *list)
{
	for (const struct node_name *node = node_names; node->name; node++)
		str_addf(list, "%s%s", list->len ? "," : "", node->event);
}
