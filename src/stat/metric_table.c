/*
 * The tables of metric.c: what can be computed from counts, and which events the formulas name.
 *
 * To add a metric: a row in metrics[]; a row in metric_events[] for each new name; its name in the
 * list of tests/unit/test_metric.c. `pstat list metric` and -M read the same rows.
 *
 * Formulas see plain counts: clocks in ns, not in msec. Labels, decimals and colour limits of the
 * metrics that stand beside rows by default are those of perf 6.1, whose columns people parse.
 */
#include "stat/metric.h"

#define CACHE(id, op, result)                                                          \
	PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_##id | PERF_COUNT_HW_CACHE_OP_##op << 8 | \
				    PERF_COUNT_HW_CACHE_RESULT_##result << 16
#define HW(id) PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id
#define SW(id) PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id

const struct metric_event metric_events[] = {
	{ "task-clock", SW(TASK_CLOCK) },
	{ "task-clock", SW(CPU_CLOCK) }, /* serves as well where task-clock is not counted */
	{ "page-faults", SW(PAGE_FAULTS) },
	{ "context-switches", SW(CONTEXT_SWITCHES) },
	{ "cpu-migrations", SW(CPU_MIGRATIONS) },
	{ "cycles", HW(CPU_CYCLES) },
	{ "instructions", HW(INSTRUCTIONS) },
	{ "cache-references", HW(CACHE_REFERENCES) },
	{ "cache-misses", HW(CACHE_MISSES) },
	{ "branches", HW(BRANCH_INSTRUCTIONS) },
	{ "branch-misses", HW(BRANCH_MISSES) },
	{ "stalled-cycles-frontend", HW(STALLED_CYCLES_FRONTEND) },
	{ "stalled-cycles-backend", HW(STALLED_CYCLES_BACKEND) },
	{ "L1-dcache-loads", CACHE(L1D, READ, ACCESS) },
	{ "L1-dcache-load-misses", CACHE(L1D, READ, MISS) },
	{ "L1-icache-loads", CACHE(L1I, READ, ACCESS) },
	{ "L1-icache-load-misses", CACHE(L1I, READ, MISS) },
	{ "LLC-loads", CACHE(LL, READ, ACCESS) },
	{ "LLC-load-misses", CACHE(LL, READ, MISS) },
	{ "dTLB-loads", CACHE(DTLB, READ, ACCESS) },
	{ "dTLB-load-misses", CACHE(DTLB, READ, MISS) },
	{ "iTLB-loads", CACHE(ITLB, READ, ACCESS) },
	{ "iTLB-load-misses", CACHE(ITLB, READ, MISS) },
};
const size_t n_metric_events = ARRAY_SIZE(metric_events);
_Static_assert(ARRAY_SIZE(metric_events) < 64, "sets of them are bits of a word");

const struct metric metrics[] = {
	{ .name = "cpus-utilized", .group = "Default",
	  .desc = "CPUs kept busy on average: CPU time per elapsed time",
	  .formula = "task-clock / 1e9 / elapsed",
	  .unit = "CPUs utilized", .beside = "task-clock", .decimals = 3 },
	{ .name = "frequency", .group = "Default",
	  .desc = "Cycles per second of CPU time",
	  .formula = "cycles / task-clock",
	  .unit = "GHz", .beside = "cycles", .decimals = 3 },
	{ .name = "ipc", .group = "Default",
	  .desc = "Instructions per cycle",
	  .formula = "instructions / cycles",
	  .unit = "insn per cycle", .beside = "instructions", .decimals = 2 },
	{ .name = "cpi", .group = "Pipeline",
	  .desc = "Cycles per instruction",
	  .formula = "cycles / instructions",
	  .unit = "cycles per insn", .decimals = 2 },
	{ .name = "stalled-per-insn", .group = "Pipeline",
	  .desc = "Stalled cycles per instruction, of the end that stalls more",
	  .formula = "max(stalled-cycles-frontend, stalled-cycles-backend) / instructions",
	  .unit = "stalled cycles per insn", .beside = "instructions", .decimals = 2 },
	{ .name = "frontend-stalled", .group = "Pipeline",
	  .desc = "Cycles in which nothing was fetched, of all cycles",
	  .formula = "100 * stalled-cycles-frontend / cycles",
	  .unit = "% frontend cycles idle", .beside = "stalled-cycles-frontend", .decimals = 2,
	  .look = 10, .bad = 50 },
	{ .name = "backend-stalled", .group = "Pipeline",
	  .desc = "Cycles in which nothing was executed, of all cycles",
	  .formula = "100 * stalled-cycles-backend / cycles",
	  .unit = "% backend cycles idle", .beside = "stalled-cycles-backend", .decimals = 2,
	  .look = 20, .bad = 75 },
	{ .name = "branch-miss-rate", .group = "Branches",
	  .desc = "Mispredicted branches, of all branches",
	  .formula = "100 * branch-misses / branches",
	  .unit = "% of all branches", .beside = "branch-misses", .decimals = 2,
	  .look = 5, .bad = 20 },
	{ .name = "branch-mpki", .group = "Branches",
	  .desc = "Mispredicted branches per 1000 instructions",
	  .formula = "1000 * branch-misses / instructions",
	  .unit = "branch misses per K insn", .decimals = 2 },
	{ .name = "branch-share", .group = "Branches",
	  .desc = "Branches, of all instructions",
	  .formula = "100 * branches / instructions",
	  .unit = "% branches of all insn", .decimals = 2 },
	{ .name = "cache-miss-rate", .group = "Cache",
	  .desc = "Misses of the last cache, of all its references",
	  .formula = "100 * cache-misses / cache-references",
	  .unit = "% of all cache refs", .beside = "cache-misses", .decimals = 2,
	  .look = 5, .bad = 20 },
	{ .name = "cache-mpki", .group = "Cache",
	  .desc = "Misses of the last cache per 1000 instructions",
	  .formula = "1000 * cache-misses / instructions",
	  .unit = "cache misses per K insn", .decimals = 2 },
	{ .name = "l1d-miss-rate", .group = "Cache",
	  .desc = "Loads that miss the first data cache, of all its loads",
	  .formula = "100 * L1-dcache-load-misses / L1-dcache-loads",
	  .unit = "% of all L1-dcache accesses", .beside = "L1-dcache-load-misses", .decimals = 2,
	  .look = 5, .bad = 20 },
	{ .name = "l1i-miss-rate", .group = "Cache",
	  .desc = "Fetches that miss the first instruction cache, of all its fetches",
	  .formula = "100 * L1-icache-load-misses / L1-icache-loads",
	  .unit = "% of all L1-icache accesses", .beside = "L1-icache-load-misses", .decimals = 2,
	  .look = 5, .bad = 20 },
	{ .name = "llc-miss-rate", .group = "Cache",
	  .desc = "Loads that miss the last-level cache, of all its loads",
	  .formula = "100 * LLC-load-misses / LLC-loads",
	  .unit = "% of all LL-cache accesses", .beside = "LLC-load-misses", .decimals = 2,
	  .look = 5, .bad = 20 },
	{ .name = "dtlb-miss-rate", .group = "TLB",
	  .desc = "Loads whose page is not in the data TLB, of all its look-ups",
	  .formula = "100 * dTLB-load-misses / dTLB-loads",
	  .unit = "% of all dTLB cache accesses", .beside = "dTLB-load-misses", .decimals = 2,
	  .look = 5, .bad = 20 },
	{ .name = "itlb-miss-rate", .group = "TLB",
	  .desc = "Fetches whose page is not in the instruction TLB, of all its look-ups",
	  .formula = "100 * iTLB-load-misses / iTLB-loads",
	  .unit = "% of all iTLB cache accesses", .beside = "iTLB-load-misses", .decimals = 2,
	  .look = 5, .bad = 20 },
	{ .name = "page-fault-rate", .group = "OS",
	  .desc = "Page faults per second of CPU time",
	  .formula = "page-faults * 1e9 / task-clock",
	  .unit = "/sec", .decimals = 3, .per_second = true },
	{ .name = "context-switch-rate", .group = "OS",
	  .desc = "Context switches per second of CPU time",
	  .formula = "context-switches * 1e9 / task-clock",
	  .unit = "/sec", .decimals = 3, .per_second = true },
	{ .name = "migration-rate", .group = "OS",
	  .desc = "Moves to another CPU per second of CPU time",
	  .formula = "cpu-migrations * 1e9 / task-clock",
	  .unit = "/sec", .decimals = 3, .per_second = true },
	{ .name = "kernel-share", .group = "OS",
	  .desc = "Cycles spent in the kernel, of those in kernel and user mode",
	  .formula = "100 * cycles:k / (cycles:k + cycles:u)",
	  .unit = "% of cycles in the kernel", .decimals = 2 },
};
const size_t n_metrics = ARRAY_SIZE(metrics);

const struct metric metric_rate = {
	.name = "rate", .group = "Default",
	.desc = "Count per second of CPU time",
	.formula = "self * 1e9 / task-clock",
	.unit = "/sec", .decimals = 3, .per_second = true,
};
