/* SPDX-License-Identifier: MIT */
/*
 * host_info.c: what a recording's header says about this machine. One row per feature: its number and the function
 * that fills its members of struct info; a function that finds nothing leaves its feature out. First come texts and
 * numbers, then the machine's shape (CPUs, NUMA nodes, caches, blocks of memory), its PMUs, and what the events say.
 *
 * CPU lists stay text, as sysfs has them. What many CPUs share is read once, for the lowest of them.
 *
 * Source: perf.data-file-format.txt; proc(5); Documentation/ABI/stable/sysfs-devices-system-cpu and -node,
 * testing/sysfs-devices-memory, testing/sysfs-bus-event_source-devices-caps;
 * Documentation/admin-guide/cputopology.rst.
 */
#include "record/line_reader.h"
#include "record/record.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/limits.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Limits above the sizes of any machine; they bound what a broken sysfs can ask for. */
enum { CPU_MAX = 1 << 16, NODE_MAX = 1 << 16, CACHE_INDEX_MAX = 16, MEM_BLOCK_MAX = 1 << 20 };

struct host {
	const struct kern *kern;
	const struct event_list *events;
	int argc;
	char *const *argv;
};

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

/* A small file below sysfs, white space at its end removed; false: it is not there. */
PRINTF_LIKE(3, 4) static bool sysfs_line(const struct host *host, struct str *out, const char *fmt, ...)
{
	va_list ap;
	bool found;

	va_start(ap, fmt);
	found = sysfs_vline(host, out, fmt, ap);
	va_end(ap);
	return found;
}

PRINTF_LIKE(3, 4) static bool sysfs_u32(const struct host *host, uint32_t *out, const char *fmt, ...)
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

/* The CPUs of a list file below sysfs ("present"); false: it is not there, or is no list. */
static bool cpu_list(const struct host *host, const char *name, struct intset *cpus)
{
	struct str text = STR_INIT, err = STR_INIT;
	bool found = sysfs_line(host, &text, "devices/system/cpu/%s", name) &&
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

static bool find_uname_texts(struct info *info, const struct host *host)
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

static bool find_version(struct info *info, const struct host *host)
{
	(void)host;
	info->version = xstrdup("pstat " PSTAT_VERSION);
	return true;
}

static bool find_nrcpus(struct info *info, const struct host *host)
{
	struct intset online = INTSET_INIT, present = INTSET_INIT;
	bool found = cpu_list(host, "online", &online);

	if (found) {
		/* Counts up to the last CPU there is: readers index by CPU number. */
		const struct intset *all = cpu_list(host, "present", &present) ? &present :
										      &online;

		info->cpus_online = (uint32_t)online.n;
		info->cpus_available = (uint32_t)all->v[all->n - 1] + 1;
	}
	intset_release(&online);
	intset_release(&present);
	return found;
}

static bool find_cpudesc(struct info *info, const struct host *host)
{
	/* x86, arm, s390 and power, in the order of their number. */
	static const char *const keys[] = { "model name", "Processor", "vendor_id", "cpu" };

	for (size_t i = 0; !info->cpu_desc && i < ARRAY_SIZE(keys); i++)
		info->cpu_desc = proc_value(host, "cpuinfo", keys[i]);
	return info->cpu_desc != NULL;
}

/* x86: "GenuineIntel,6,142,10"; arm64: the main id register as the kernel shows it. */
static bool find_cpuid(struct info *info, const struct host *host)
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
	    sysfs_line(host, &text,
		       "devices/system/cpu/cpu0/regs/identification/midr_el1"))
		info->cpuid = str_detach(&text);
	str_release(&text);
	return info->cpuid != NULL;
}

static bool find_total_mem(struct info *info, const struct host *host)
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
static bool find_cmdline(struct info *info, const struct host *host)
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

/* ---- CPUs ---- */

/* True for the lowest CPU of a list like "2-3,6". */
static bool is_first_of(const struct str *list, int cpu)
{
	char *first = xstrndup(list->s, strcspn(list->s, "-,"));
	long number;
	bool is = !parse_int(first, 0, INT_MAX, &number) && number == cpu;

	free(first);
	return is;
}

/* One list of siblings: the file, its name in older kernels, and where it goes. */
static const struct sibling_list {
	const char *file, *old_file;
	size_t list; /* offset in struct info */
} sibling_lists[] = {
	{ "package_cpus_list", "core_siblings_list", offsetof(struct info, core_siblings) },
	{ "die_cpus_list", NULL, offsetof(struct info, die_siblings) },
	{ "core_cpus_list", "thread_siblings_list", offsetof(struct info, thread_siblings) },
};

static void find_siblings(struct info *info, const struct host *host, int cpu)
{
	struct str text = STR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(sibling_lists); i++) {
		const struct sibling_list *row = &sibling_lists[i];
		struct text_list *list = (struct text_list *)((char *)info + row->list);
		bool found = sysfs_line(host, &text, "devices/system/cpu/cpu%d/topology/%s",
					cpu, row->file);

		if (!found && row->old_file)
			found = sysfs_line(host, &text, "devices/system/cpu/cpu%d/topology/%s",
					   cpu, row->old_file);
		/* The lowest CPU names them all; the others would only repeat it. */
		if (found && is_first_of(&text, cpu))
			text_list_add(list, text.s, text.len);
	}
	str_release(&text);
}

static bool find_cpu_topology(struct info *info, const struct host *host)
{
	struct topology topology;
	struct str err = STR_INIT;
	bool found = info_has(info, FEATURE_NRCPUS) &&
		     !topology_read(&topology, &host->kern->host, &err);

	str_release(&err);
	if (!found)
		return false;
	for (uint32_t cpu = 0; cpu < info->cpus_available; cpu++) {
		const struct topology_cpu *place = topology_find(&topology, (int)cpu);
		struct info_cpu *to;

		VEC_GROW(info->cpus.v, info->cpus.n, info->cpus.cap);
		to = &info->cpus.v[info->cpus.n++];
		/* An offline CPU has no place; readers know it by -1. */
		to->core = place ? (uint32_t)place->core : UINT32_MAX;
		to->socket = place ? (uint32_t)place->socket : UINT32_MAX;
		to->die = place ? (uint32_t)place->die : UINT32_MAX;
		if (place)
			find_siblings(info, host, (int)cpu);
	}
	info->has_dies = info->die_siblings.n != 0;
	topology_release(&topology);
	return true;
}

/* ---- NUMA nodes ---- */

/* "Node 0 MemTotal:       4286676 kB" */
static uint64_t node_kb(const struct str *meminfo, const char *key)
{
	const char *at = strstr(meminfo->s, key);
	uint64_t kb = 0;
	char *digits;

	if (!at)
		return 0;
	at += strlen(key);
	at += strspn(at, " ");
	digits = xstrndup(at, strspn(at, "0123456789"));
	if (parse_u64(digits, 10, &kb))
		kb = 0;
	free(digits);
	return kb;
}

static bool online_nodes(const struct host *host, struct intset *nodes)
{
	struct str text = STR_INIT, err = STR_INIT;
	bool found = sysfs_line(host, &text, "devices/system/node/online") && text.len &&
		     !intset_parse(nodes, text.s, NODE_MAX, &err);

	str_release(&text);
	str_release(&err);
	return found;
}

static bool find_numa_topology(struct info *info, const struct host *host)
{
	struct intset nodes = INTSET_INIT;
	struct str meminfo = STR_INIT, cpus = STR_INIT;

	online_nodes(host, &nodes);
	for (size_t i = 0; i < nodes.n; i++) {
		struct info_node *node;

		if (!sysfs_line(host, &meminfo, "devices/system/node/node%d/meminfo",
				nodes.v[i]) ||
		    !sysfs_line(host, &cpus, "devices/system/node/node%d/cpulist", nodes.v[i]))
			continue;
		VEC_GROW(info->nodes.v, info->nodes.n, info->nodes.cap);
		node = &info->nodes.v[info->nodes.n++];
		node->node = (uint32_t)nodes.v[i];
		node->total_kb = node_kb(&meminfo, "MemTotal:");
		node->free_kb = node_kb(&meminfo, "MemFree:");
		node->cpus = xstrndup(cpus.s, cpus.len);
	}
	intset_release(&nodes);
	str_release(&meminfo);
	str_release(&cpus);
	return info->nodes.n != 0;
}

/* ---- caches ---- */

/* False: there is no such cache. Files that the kernel leaves out stand for 0. */
static bool find_cache(struct info *info, const struct host *host, int cpu, int index)
{
#define CACHE_FILE(name) "devices/system/cpu/cpu%d/cache/index%d/" name, cpu, index
	struct str cpus = STR_INIT, text = STR_INIT;
	struct info_cache *cache;
	uint32_t level;
	bool found = sysfs_u32(host, &level, CACHE_FILE("level")) &&
		     sysfs_line(host, &cpus, CACHE_FILE("shared_cpu_list"));

	if (found && is_first_of(&cpus, cpu)) {
		VEC_GROW(info->caches.v, info->caches.n, info->caches.cap);
		cache = &info->caches.v[info->caches.n++];
		*cache = (struct info_cache){ .level = level };
		sysfs_u32(host, &cache->line_bytes, CACHE_FILE("coherency_line_size"));
		sysfs_u32(host, &cache->sets, CACHE_FILE("number_of_sets"));
		sysfs_u32(host, &cache->ways, CACHE_FILE("ways_of_associativity"));
		cache->type = xstrdup(sysfs_line(host, &text, CACHE_FILE("type")) ? text.s : "");
		cache->size = xstrdup(sysfs_line(host, &text, CACHE_FILE("size")) ? text.s : "");
		cache->cpus = xstrdup(cpus.s);
	}
	str_release(&cpus);
	str_release(&text);
	return found;
#undef CACHE_FILE
}

/* Sorts by level; within one level in the order found, which qsort(3) does not promise to keep. */
static void sort_caches(struct info *info)
{
	size_t n = info->caches.n, done = 0;
	struct info_cache *sorted = xcalloc(n ? n : 1, sizeof(*sorted));
	uint32_t level = 0;

	while (done < n) {
		uint32_t next = UINT32_MAX;

		for (size_t i = 0; i < n; i++) {
			uint32_t one = info->caches.v[i].level;

			if (one == level)
				sorted[done++] = info->caches.v[i];
			else if (one > level && one < next)
				next = one;
		}
		level = next;
	}
	free(info->caches.v);
	info->caches.v = sorted;
	info->caches.cap = n ? n : 1;
}

static bool find_caches(struct info *info, const struct host *host)
{
	struct intset cpus = INTSET_INIT;

	cpu_list(host, "online", &cpus);
	for (size_t i = 0; i < cpus.n; i++) {
		for (int index = 0; index < CACHE_INDEX_MAX; index++) {
			if (!find_cache(info, host, cpus.v[i], index))
				break;
		}
	}
	intset_release(&cpus);
	sort_caches(info);
	return info->caches.n != 0;
}

/* ---- blocks of memory ---- */

static void set_block(struct info_mem_node *node, size_t *cap_words, uint64_t block)
{
	size_t word = block / 64;

	if (word >= *cap_words) {
		size_t cap = (word + 1) * 2;

		node->blocks = xreallocarray(node->blocks, cap, sizeof(*node->blocks));
		memset(node->blocks + *cap_words, 0, (cap - *cap_words) * sizeof(*node->blocks));
		*cap_words = cap;
	}
	node->blocks[word] |= 1ULL << (block % 64);
	if (block >= node->n_blocks)
		node->n_blocks = block + 1;
}

/* A node's folder has a link memoryN for each of its blocks. */
static void find_blocks(struct info *info, const struct host *host, int number)
{
	char *path = xasprintf("%s/devices/system/node/node%d", host->kern->host.sysfs, number);
	struct info_mem_node node = { .node = (uint64_t)number };
	DIR *dir = opendir(path);
	struct dirent *entry;
	size_t cap_words = 0;

	free(path);
	while (dir && (entry = readdir(dir)) != NULL) {
		static const char prefix[] = "memory";
		long block;

		if (!strncmp(entry->d_name, prefix, strlen(prefix)) &&
		    !parse_int(entry->d_name + strlen(prefix), 0, MEM_BLOCK_MAX - 1, &block))
			set_block(&node, &cap_words, (uint64_t)block);
	}
	if (dir)
		closedir(dir);
	if (!node.n_blocks)
		return;
	VEC_GROW(info->mem_nodes.v, info->mem_nodes.n, info->mem_nodes.cap);
	info->mem_nodes.v[info->mem_nodes.n++] = node;
}

static bool find_mem_topology(struct info *info, const struct host *host)
{
	struct intset nodes = INTSET_INIT;
	struct str text = STR_INIT;

	if (sysfs_line(host, &text, "devices/system/memory/block_size_bytes") &&
	    !parse_u64(text.s, 16, &info->mem_block_bytes)) {
		online_nodes(host, &nodes);
		for (size_t i = 0; i < nodes.n; i++)
			find_blocks(info, host, nodes.v[i]);
	}
	intset_release(&nodes);
	str_release(&text);
	return info->mem_nodes.n != 0;
}

/* ---- PMUs ---- */

/* perf's name for the only core PMU of x86: its caps are a feature of their own. */
static const char core_pmu[] = "cpu";

static bool find_pmu_mappings(struct info *info, const struct host *host)
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

		if (sysfs_line(host, &value, "bus/event_source/devices/%s/caps/%s", pmu, name)) {
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

static bool find_cpu_caps(struct info *info, const struct host *host)
{
	struct info_caps caps;

	if (!read_caps(&caps, host, core_pmu))
		return false;
	VEC_GROW(info->cpu_caps.v, info->cpu_caps.n, info->cpu_caps.cap);
	info->cpu_caps.v[info->cpu_caps.n++] = caps;
	return true;
}

/* Needs the PMUs of PMU_MAPPINGS, which was collected before. */
static bool find_pmu_caps(struct info *info, const struct host *host)
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
static bool find_hybrid_topology(struct info *info, const struct host *host)
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

/* ---- what the events say ---- */

static bool find_event_desc(struct info *info, const struct host *host)
{
	(void)info;
	return host->events->n != 0;
}

static bool find_group_desc(struct info *info, const struct host *host)
{
	(void)info;
	for (size_t i = 0; i < host->events->n; i++) {
		if (host->events->v[i].n_members > 1)
			return true;
	}
	return false;
}

static bool find_branch_stack(struct info *info, const struct host *host)
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
	bool (*find)(struct info *info, const struct host *host);
} features[] = {
	{ FEATURE_HOSTNAME, find_uname_texts }, /* with OSRELEASE and ARCH: one system call has all three */
	{ FEATURE_VERSION, find_version },
	{ FEATURE_NRCPUS, find_nrcpus },
	{ FEATURE_CPUDESC, find_cpudesc },
	{ FEATURE_CPUID, find_cpuid },
	{ FEATURE_TOTAL_MEM, find_total_mem },
	{ FEATURE_CMDLINE, find_cmdline },
	{ FEATURE_EVENT_DESC, find_event_desc },
	{ FEATURE_CPU_TOPOLOGY, find_cpu_topology }, /* one entry per CPU of NRCPUS */
	{ FEATURE_NUMA_TOPOLOGY, find_numa_topology },
	{ FEATURE_BRANCH_STACK, find_branch_stack },
	{ FEATURE_PMU_MAPPINGS, find_pmu_mappings },
	{ FEATURE_GROUP_DESC, find_group_desc },
	{ FEATURE_CACHE, find_caches },
	{ FEATURE_MEM_TOPOLOGY, find_mem_topology },
	{ FEATURE_CPU_PMU_CAPS, find_cpu_caps },
	{ FEATURE_HYBRID_TOPOLOGY, find_hybrid_topology },
	{ FEATURE_PMU_CAPS, find_pmu_caps },
};

void host_info_collect(struct info *info, const struct event_list *events, int argc,
		       char *const *argv, const struct kern *kern)
{
	struct host host = { .kern = kern, .events = events, .argc = argc, .argv = argv };

	for (size_t i = 0; i < ARRAY_SIZE(features); i++) {
		if (features[i].find(info, &host))
			info_set(info, features[i].id);
	}
}
