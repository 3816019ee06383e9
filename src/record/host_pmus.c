/*
 * The machine's PMUs: their numbers (attr.type in the events means nothing without them), what
 * they say about themselves in sysfs/bus/event_source/devices/PMU/caps, and which CPUs they are on
 * where there are several kinds of cores.
 *
 * Source: Documentation/ABI/testing/sysfs-bus-event_source-devices-caps.
 */
#include "record/host_info.h"

#include <dirent.h>
#include <stdlib.h>

/* perf's name for the only core PMU of x86: its caps are a feature of their own. */
static const char core_pmu[] = "cpu";

bool host_pmu_mappings(struct info *info, const struct host *host)
{
	struct event_pmu_list pmus = { .v = NULL };

	if (event_pmus_read(&pmus, &host->kern->host))
		return false;
	for (size_t i = 0; i < pmus.n; i++) {
		struct info_pmu *pmu;

		VEC_GROW(info->pmus.v, info->pmus.n, info->pmus.cap);
		pmu = &info->pmus.v[info->pmus.n++];
		pmu->type = pmus.v[i].type;
		pmu->name = xstrdup(pmus.v[i].name);
	}
	event_pmu_list_release(&pmus);
	return info->pmus.n != 0;
}

static int not_hidden(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* The PMU's caps in the order of their names; false: it has none. */
static bool read_caps(struct info_caps *caps, const struct host *host, const char *pmu)
{
	char *path = xasprintf("%s/bus/event_source/devices/%s/caps", host->kern->host.sysfs, pmu);
	struct str value = STR_INIT;
	struct dirent **names;
	int n = scandir(path, &names, not_hidden, alphasort);

	free(path);
	*caps = (struct info_caps){ .pmu = NULL };
	for (int i = 0; i < n; i++) {
		const char *name = names[i]->d_name;

		if (host_sysfs_line(host, &value, "bus/event_source/devices/%s/caps/%s", pmu, name)) {
			text_list_add(&caps->names, name, strlen(name));
			text_list_add(&caps->values, value.s, value.len);
		}
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	str_release(&value);
	return caps->names.n != 0;
}

bool host_cpu_caps(struct info *info, const struct host *host)
{
	struct info_caps caps;

	if (!read_caps(&caps, host, core_pmu))
		return false;
	VEC_GROW(info->cpu_caps.v, info->cpu_caps.n, info->cpu_caps.cap);
	info->cpu_caps.v[info->cpu_caps.n++] = caps;
	return true;
}

/* Of the PMUs of PMU_MAPPINGS, which was collected before. */
bool host_pmu_caps(struct info *info, const struct host *host)
{
	for (size_t i = 0; i < info->pmus.n; i++) {
		const char *pmu = info->pmus.v[i].name;
		struct info_caps caps;

		if (!strcmp(pmu, core_pmu) || !read_caps(&caps, host, pmu))
			continue;
		caps.pmu = xstrdup(pmu);
		VEC_GROW(info->pmu_caps.v, info->pmu_caps.n, info->pmu_caps.cap);
		info->pmu_caps.v[info->pmu_caps.n++] = caps;
	}
	return info->pmu_caps.n != 0;
}

/* Written only where cores differ. */
bool host_hybrid_topology(struct info *info, const struct host *host)
{
	struct event_pmu_list pmus = { .v = NULL };
	size_t n_core = 0;

	if (event_pmus_read(&pmus, &host->kern->host))
		return false;
	for (size_t i = 0; i < pmus.n; i++)
		n_core += pmus.v[i].is_core;
	for (size_t i = 0; n_core > 1 && i < pmus.n; i++) {
		struct str cpus = STR_INIT;
		struct info_hybrid *hybrid;

		if (!pmus.v[i].is_core)
			continue;
		intset_format(&pmus.v[i].cpus, &cpus);
		VEC_GROW(info->hybrid.v, info->hybrid.n, info->hybrid.cap);
		hybrid = &info->hybrid.v[info->hybrid.n++];
		hybrid->pmu = xstrdup(pmus.v[i].name);
		hybrid->cpus = str_detach(&cpus);
	}
	event_pmu_list_release(&pmus);
	return info->hybrid.n != 0;
}
