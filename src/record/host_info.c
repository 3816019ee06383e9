/*
 * What a recording's header says about this machine. One row per feature: its number and the function
 * that fills its members of struct info; a function that finds nothing leaves its feature out.
 *
 * Source: perf.data-file-format.txt; proc(5); Documentation/ABI for sysfs.
 */
#include "record/host_info.h"

#include "record/line_reader.h"

#include <fcntl.h>
#include <linux/limits.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { CPU_MAX = 1 << 16 };

/* ---- files ---- */

static bool sysfs_vline(const struct host *host, struct str *out, const char *fmt, va_list ap)
{
	struct str path = STR_INIT;
	bool found;

	str_addf(&path, "%s/", host->kern->host.sysfs);
	str_vaddf(&path, fmt, ap);
	found = !read_line_file(path.s, out);
	str_release(&path);
	return found;
}

bool host_sysfs_line(const struct host *host, struct str *out, const char *fmt, ...)
{
	va_list ap;
	bool found;

	va_start(ap, fmt);
	found = sysfs_vline(host, out, fmt, ap);
	va_end(ap);
	return found;
}

bool host_sysfs_u32(const struct host *host, uint32_t *out, const char *fmt, ...)
{
	struct str text = STR_INIT;
	uint64_t value;
	va_list ap;
	bool found;

	va_start(ap, fmt);
	found = sysfs_vline(host, &text, fmt, ap) && !parse_u64(text.s, 10, &value) &&
		value <= UINT32_MAX;
	va_end(ap);
	if (found)
		*out = (uint32_t)value;
	str_release(&text);
	return found;
}

bool host_cpu_list(const struct host *host, const char *name, struct intset *cpus)
{
	struct str text = STR_INIT, err = STR_INIT;
	bool found = host_sysfs_line(host, &text, "devices/system/cpu/%s", name) &&
		     !intset_parse(cpus, text.s, CPU_MAX, &err) && cpus->n;

	str_release(&text);
	str_release(&err);
	return found;
}

/* The value of "key : value" in a file below procfs, white space runs as one space; NULL: not there. */
static char *proc_value(const struct host *host, const char *file, const char *key)
{
	struct line_reader *reader = xmalloc(sizeof(*reader));
	char *path = xasprintf("%s/%s", host->kern->host.procfs, file), *line;
	struct str value = STR_INIT;
	bool found = false;

	if (!line_reader_open(reader, AT_FDCWD, path)) {
		while (!found && (line = line_reader_next(reader)) != NULL) {
			char *at = line + strlen(key);

			if (strncmp(line, key, strlen(key)))
				continue;
			at += strspn(at, " \t");
			if (*at++ != ':')
				continue;
			found = true;
			for (char *word; (word = strsep(&at, " \t")) != NULL;) {
				if (*word)
					str_addf(&value, "%s%s", value.len ? " " : "", word);
			}
		}
		line_reader_close(reader);
	}
	free(path);
	free(reader);
	return found ? str_detach(&value) : NULL;
}

/* ---- texts and numbers ---- */

static bool take_uname(struct info *info, const struct host *host)
{
	struct utsname name;

	(void)host;
	if (uname(&name))
		return false;
	info->hostname = xstrdup(name.nodename);
	info->os_release = xstrdup(name.release);
	info->arch = xstrdup(name.machine);
	info_set(info, FEATURE_OSRELEASE);
	info_set(info, FEATURE_ARCH);
	return true;
}

static bool take_version(struct info *info, const struct host *host)
{
	(void)host;
	info->version = xstrdup("pstat " PSTAT_VERSION);
	return true;
}

static bool take_nrcpus(struct info *info, const struct host *host)
{
	struct intset online = INTSET_INIT, present = INTSET_INIT;
	bool found = host_cpu_list(host, "online", &online);

	if (found) {
		/* Up to the last CPU there is: readers index by CPU number. */
		const struct intset *all = host_cpu_list(host, "present", &present) ? &present :
										      &online;

		info->cpus_online = (uint32_t)online.n;
		info->cpus_available = (uint32_t)all->v[all->n - 1] + 1;
	}
	intset_release(&online);
	intset_release(&present);
	return found;
}

static bool take_cpudesc(struct info *info, const struct host *host)
{
	/* x86, arm, s390 and power, in the order of their number. */
	static const char *const keys[] = { "model name", "Processor", "vendor_id", "cpu" };

	for (size_t i = 0; !info->cpu_desc && i < ARRAY_SIZE(keys); i++)
		info->cpu_desc = proc_value(host, "cpuinfo", keys[i]);
	return info->cpu_desc != NULL;
}

/* x86: "GenuineIntel,6,142,10"; arm64: the main id register as the kernel shows it. */
static bool take_cpuid(struct info *info, const struct host *host)
{
	static const char *const keys[] = { "vendor_id", "cpu family", "model", "stepping" };
	struct str text = STR_INIT;
	size_t n = 0;

	for (; n < ARRAY_SIZE(keys); n++) {
		char *value = proc_value(host, "cpuinfo", keys[n]);

		if (!value)
			break;
		str_addf(&text, "%s%s", n ? "," : "", value);
		free(value);
	}
	if (n == ARRAY_SIZE(keys) ||
	    host_sysfs_line(host, &text,
			    "devices/system/cpu/cpu0/regs/identification/midr_el1"))
		info->cpuid = str_detach(&text);
	str_release(&text);
	return info->cpuid != NULL;
}

static bool take_total_mem(struct info *info, const struct host *host)
{
	char *text = proc_value(host, "meminfo", "MemTotal");
	bool found;

	if (!text)
		return false;
	text[strcspn(text, " ")] = '\0';
	found = !parse_u64(text, 10, &info->total_mem_kb);
	free(text);
	return found;
}

/* The program with its whole path, as perf has it, then the words. */
static bool take_cmdline(struct info *info, const struct host *host)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path));

	if (n > 0 && (size_t)n < sizeof(path))
		text_list_add(&info->cmdline, path, (size_t)n);
	else if (host->argc > 0)
		text_list_add(&info->cmdline, host->argv[0], strlen(host->argv[0]));
	for (int i = 1; i < host->argc; i++)
		text_list_add(&info->cmdline, host->argv[i], strlen(host->argv[i]));
	return info->cmdline.n != 0;
}

/* ---- what the events say ---- */

static bool take_event_desc(struct info *info, const struct host *host)
{
	(void)info;
	return host->events->n != 0;
}

static bool take_group_desc(struct info *info, const struct host *host)
{
	(void)info;
	for (size_t i = 0; i < host->events->n; i++) {
		if (host->events->v[i].n_members > 1)
			return true;
	}
	return false;
}

static bool take_branch_stack(struct info *info, const struct host *host)
{
	(void)info;
	for (size_t i = 0; i < host->events->n; i++) {
		if (host->events->v[i].attr.sample_type & PERF_SAMPLE_BRANCH_STACK)
			return true;
	}
	return false;
}

/*
 * To add a feature that can be known when the recording begins: a row here, its function, a case in
 * tests/unit/test_host_info.c; its row in data/feature.c says how it is stored. One that needs another
 * comes after it.
 */
static const struct host_feature {
	enum feature_id id;
	bool (*take)(struct info *info, const struct host *host);
} features[] = {
	{ FEATURE_HOSTNAME, take_uname }, /* with OSRELEASE and ARCH: one system call has all three */
	{ FEATURE_VERSION, take_version },
	{ FEATURE_NRCPUS, take_nrcpus },
	{ FEATURE_CPUDESC, take_cpudesc },
	{ FEATURE_CPUID, take_cpuid },
	{ FEATURE_TOTAL_MEM, take_total_mem },
	{ FEATURE_CMDLINE, take_cmdline },
	{ FEATURE_EVENT_DESC, take_event_desc },
	{ FEATURE_CPU_TOPOLOGY, host_cpu_topology }, /* one entry per CPU of NRCPUS */
	{ FEATURE_NUMA_TOPOLOGY, host_numa_topology },
	{ FEATURE_BRANCH_STACK, take_branch_stack },
	{ FEATURE_PMU_MAPPINGS, host_pmu_mappings },
	{ FEATURE_GROUP_DESC, take_group_desc },
	{ FEATURE_CACHE, host_caches },
	{ FEATURE_MEM_TOPOLOGY, host_mem_topology },
	{ FEATURE_CPU_PMU_CAPS, host_cpu_caps },
	{ FEATURE_HYBRID_TOPOLOGY, host_hybrid_topology },
	{ FEATURE_PMU_CAPS, host_pmu_caps },
};

void host_info_collect(struct info *info, const struct event_list *events, int argc,
		       char *const *argv, const struct kern *kern)
{
	struct host host = { .kern = kern, .events = events, .argc = argc, .argv = argv };

	for (size_t i = 0; i < ARRAY_SIZE(features); i++) {
		if (features[i].take(info, &host))
			info_set(info, features[i].id);
	}
}
