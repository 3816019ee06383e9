/*
 * host_info: what the features are collected from and by. Private to record/: host_info.c has the
 * table and the features that are a text or a number, host_topology.c those about the machine's shape,
 * host_pmus.c those about its PMUs.
 */
#ifndef PSTAT_HOST_INFO_H
#define PSTAT_HOST_INFO_H

#include "record/record.h"

struct host {
	const struct kern *kern;
	const struct event_list *events;
	int argc;
	char *const *argv;
};

/* The rest of the functions of the table. True: info has the feature now. */
bool host_cpu_topology(struct info *info, const struct host *host);
bool host_numa_topology(struct info *info, const struct host *host);
bool host_caches(struct info *info, const struct host *host);
bool host_mem_topology(struct info *info, const struct host *host);
bool host_pmu_mappings(struct info *info, const struct host *host);
bool host_cpu_caps(struct info *info, const struct host *host);
bool host_pmu_caps(struct info *info, const struct host *host);
bool host_hybrid_topology(struct info *info, const struct host *host);

/* A small file below sysfs, white space at its end removed; false: it is not there. */
bool host_sysfs_line(const struct host *host, struct str *out, const char *fmt, ...) PRINTF_LIKE(3, 4);
bool host_sysfs_u32(const struct host *host, uint32_t *out, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* The CPUs of a list file below sysfs ("present"); false: it is not there, or is no list. */
bool host_cpu_list(const struct host *host, const char *name, struct intset *cpus);

#endif
