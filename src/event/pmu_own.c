/* SPDX-License-Identifier: MIT */
/*
 * pmu_own: what a PMU itself calls the events that have generic names.
 *
 * A generic event of a machine with several kinds of cores names its PMU in the upper half of config. Kernels
 * before 6.6 do not read that on arm64: they answer ENOENT on every core. The PMU's own number of the
 * event does as well, and sysfs lists it under the name that the architecture gives it; where the
 * name is not listed, the PMU does not have the event, and its number would open and count 0.
 *
 * Sources: Arm Architecture Reference Manual, "Common event numbers" (PMUv3); sysfs of the kernel.
 */
#include "event/event.h"

#include <stdlib.h>

#define CACHE(cache, result)                                              \
	PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_##cache |                 \
		PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_##result << 16
#define HARDWARE(event) PERF_TYPE_HARDWARE, PERF_COUNT_HW_##event

/* To add a name: here, the better one first; a case in tests/unit/test_pmu_open.c. */
static const struct own_event {
	uint32_t type;
	uint64_t config;
	const char *names[2]; /* Arm's PMUv3; the second is an older one's, or Apple's */
} own_events[] = {
	{ HARDWARE(CPU_CYCLES), { "cpu_cycles", "cycles" } },
	{ HARDWARE(INSTRUCTIONS), { "inst_retired", "instructions" } },
	{ HARDWARE(CACHE_REFERENCES), { "l1d_cache" } },
	{ HARDWARE(CACHE_MISSES), { "l1d_cache_refill" } },
	{ HARDWARE(BRANCH_INSTRUCTIONS), { "br_retired", "pc_write_retired" } },
	{ HARDWARE(BRANCH_MISSES), { "br_mis_pred" } },
	{ HARDWARE(BUS_CYCLES), { "bus_cycles" } },
	{ HARDWARE(STALLED_CYCLES_FRONTEND), { "stall_frontend" } },
	{ HARDWARE(STALLED_CYCLES_BACKEND), { "stall_backend" } },
	{ CACHE(L1D, ACCESS), { "l1d_cache" } },
	{ CACHE(L1D, MISS), { "l1d_cache_refill" } },
	{ CACHE(L1I, ACCESS), { "l1i_cache" } },
	{ CACHE(L1I, MISS), { "l1i_cache_refill" } },
	{ CACHE(LL, ACCESS), { "ll_cache_rd" } },
	{ CACHE(LL, MISS), { "ll_cache_miss_rd" } },
	{ CACHE(DTLB, ACCESS), { "l1d_tlb" } },
	{ CACHE(DTLB, MISS), { "l1d_tlb_refill" } },
	{ CACHE(ITLB, ACCESS), { "l1i_tlb" } },
	{ CACHE(ITLB, MISS), { "l1i_tlb_refill" } },
	{ CACHE(BPU, ACCESS), { "br_pred" } },
	{ CACHE(BPU, MISS), { "br_mis_pred" } },
};

static bool take_named(const char *pmu, const char *name, const struct host_paths *host,
		       struct perf_event_attr *attr)
{
	char *spec = xasprintf("%s/event=%s/", pmu, name);
	struct str err = STR_INIT;
	struct event_list list;
	bool found;

	event_list_init(&list);
	found = !event_list_parse(&list, spec, host, &err) && list.n == 1;
	if (found) {
		attr->type = list.v[0].attr.type;
		attr->config = list.v[0].attr.config;
	}
	event_list_release(&list);
	str_release(&err);
	free(spec);
	return found;
}

bool event_own_code(const struct event *event, const struct host_paths *host,
		    struct perf_event_attr *attr)
{
	uint64_t config = event->attr.config & UINT32_MAX;
	bool found = false;

	if (config == event->attr.config || !event->pmu_name[0])
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(own_events) && !found; i++) {
		const struct own_event *own = &own_events[i];

		if (own->type != event->attr.type || own->config != config)
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(own->names) && own->names[k] && !found; k++)
			found = take_named(event->pmu_name, own->names[k], host, attr);
	}
	return found;
}
