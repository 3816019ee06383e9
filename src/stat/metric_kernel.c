/* SPDX-License-Identifier: MIT */
/*
 * Metrics of events that the kernel itself names in sysfs. Where a vendor's file has metrics of the same name or group,
 * those are taken.
 *
 * The top-down method: where the slots of a core went in which it could have begun operations.
 *
 * Intel's core counts the slots of each kind by an own counter (Intel SDM vol. 3B, 20.3.9.3); the four kinds of level 1
 * add up to all slots. Arm's counts the slots that stalled (Arm ARM, the events STALL_SLOT*).
 *
 * Transactions in hardware: the cycles in them (cycles-t), those of transactions that were committed (cycles-ct), and
 * how many began (Linux, tools: the events of arch/x86/events/intel/core.c). System management interrupts: APERF counts
 * in them, and a counter of cycles that is frozen by --smi-cost does not.
 *
 * To add one: a row; its group in pstat-stat(1); a machine in tests/attr.
 */
#include "stat/metric.h"

#define ALL_SLOTS "(topdown\\-fe\\-bound + topdown\\-bad\\-spec + topdown\\-retiring + topdown\\-be\\-bound)"
#define SHARE(kind) "topdown\\-" kind " / " ALL_SLOTS
#define REST(whole, part) "max(0, tma_" whole " - tma_" part ")"
#define ARM_SLOTS "(#slots * cpu_cycles)"

#define LEVEL1(n, text, expr, limit)                                                            \
	{ .name = n, .groups = "TopdownL1", .desc = text, .formula = expr, .scale_unit = "100%", \
	  .threshold = limit }
#define LEVEL2(n, text, expr)                                                                   \
	{ .name = n, .groups = "TopdownL2", .desc = text, .formula = expr, .scale_unit = "100%" }

#define TRANSACTION(n, text, expr, scale) \
	{ .name = n, .groups = "transaction", .desc = text, .formula = expr, .scale_unit = scale }
#define SMI(n, text, expr, scale) \
	{ .name = n, .groups = "smi", .desc = text, .formula = expr, .scale_unit = scale }

const struct event_metric kernel_metrics[] = {
	LEVEL1("tma_retiring", "Slots with an operation that retired", SHARE("retiring"), "tma_retiring > 0.7"),
	LEVEL1("tma_bad_speculation", "Slots lost to operations that were thrown away", SHARE("bad\\-spec"),
	       "tma_bad_speculation > 0.15"),
	LEVEL1("tma_frontend_bound", "Slots for which no operation was delivered", SHARE("fe\\-bound"),
	       "tma_frontend_bound > 0.15"),
	LEVEL1("tma_backend_bound", "Slots that waited for data or units", SHARE("be\\-bound"),
	       "tma_backend_bound > 0.2"),
	LEVEL2("tma_heavy_operations", "Slots with operations of several parts", SHARE("heavy\\-ops")),
	LEVEL2("tma_light_operations", "Slots with operations of one part", REST("retiring", "heavy_operations")),
	LEVEL2("tma_branch_mispredicts", "Slots lost to mispredicted branches", SHARE("br\\-mispredict")),
	LEVEL2("tma_machine_clears", "Slots lost to cleared pipelines",
	       REST("bad_speculation", "branch_mispredicts")),
	LEVEL2("tma_fetch_latency", "Slots in cycles without any delivery", SHARE("fetch\\-lat")),
	LEVEL2("tma_fetch_bandwidth", "Slots in cycles with too little delivery",
	       REST("frontend_bound", "fetch_latency")),
	LEVEL2("tma_memory_bound", "Slots that waited for memory", SHARE("mem\\-bound")),
	LEVEL2("tma_core_bound", "Slots that waited for units of the core", REST("backend_bound", "memory_bound")),
	LEVEL1("frontend_bound", "Slots for which no operation was delivered",
	       "stall_slot_frontend / " ARM_SLOTS, "frontend_bound > 0.2"),
	LEVEL1("backend_bound", "Slots that waited for data or units", "stall_slot_backend / " ARM_SLOTS,
	       "backend_bound > 0.2"),
	LEVEL1("retiring", "Slots with an operation that retired",
	       "op_retired / op_spec * (1 - stall_slot / " ARM_SLOTS ")", NULL),
	LEVEL1("bad_speculation", "Slots lost to operations that were thrown away",
	       "(1 - op_retired / op_spec) * (1 - stall_slot / " ARM_SLOTS ")", "bad_speculation > 0.1"),
	TRANSACTION("tsx_transactional_cycles", "Cycles in transactions, of all cycles", "cycles\\-t / cycles", "100%"),
	TRANSACTION("tsx_aborted_cycles", "Cycles in transactions that were aborted, of all cycles",
		    "max(cycles\\-t - cycles\\-ct, 0) / cycles", "100%"),
	TRANSACTION("tsx_cycles_per_transaction", "Cycles in transactions for each that began",
		    "cycles\\-t / tx\\-start", NULL),
	TRANSACTION("tsx_cycles_per_elision", "Cycles in transactions for each elided lock",
		    "cycles\\-t / el\\-start", NULL),
	SMI("smi_cycles", "Cycles in system management interrupts, of all cycles",
	    "(msr@aperf@ - cycles) / msr@aperf@ if msr@smi@ > 0 else 0", "100%"),
	SMI("smi_num", "System management interrupts", "msr@smi@", "1SMI#"),
};
const size_t n_kernel_metrics = ARRAY_SIZE(kernel_metrics);
