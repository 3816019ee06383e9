/*
 * The machine's shape: CPUs, NUMA nodes, caches, blocks of memory. CPU lists stay text, as sysfs has
 * them. What many CPUs share is read once, for the lowest of them.
 *
 * Source: Documentation/ABI/stable/sysfs-devices-system-cpu and -node, testing/sysfs-devices-memory,
 * Documentation/admin-guide/cputopology.rst.
 */
#include "record/host_info.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>

/* Above the sizes of any machine; they bound what a broken sysfs can ask for. */
enum { NODE_MAX = 1 << 16, CACHE_INDEX_MAX = 16, MEM_BLOCK_MAX = 1 << 20 };

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

static void take_siblings(struct info *info, const struct host *host, int cpu)
{
	struct str text = STR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(sibling_lists); i++) {
		const struct sibling_list *row = &sibling_lists[i];
		struct text_list *list = (struct text_list *)((char *)info + row->list);
		bool found = host_sysfs_line(host, &text, "devices/system/cpu/cpu%d/topology/%s",
					     cpu, row->file);

		if (!found && row->old_file)
			found = host_sysfs_line(host, &text, "devices/system/cpu/cpu%d/topology/%s",
						cpu, row->old_file);
		/* The lowest CPU names them all; the others would only repeat it. */
		if (found && is_first_of(&text, cpu))
			text_list_add(list, text.s, text.len);
	}
	str_release(&text);
}

bool host_cpu_topology(struct info *info, const struct host *host)
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
			take_siblings(info, host, (int)cpu);
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
	bool found = host_sysfs_line(host, &text, "devices/system/node/online") && text.len &&
		     !intset_parse(nodes, text.s, NODE_MAX, &err);

	str_release(&text);
	str_release(&err);
	return found;
}

bool host_numa_topology(struct info *info, const struct host *host)
{
	struct intset nodes = INTSET_INIT;
	struct str meminfo = STR_INIT, cpus = STR_INIT;

	online_nodes(host, &nodes);
	for (size_t i = 0; i < nodes.n; i++) {
		struct info_node *node;

		if (!host_sysfs_line(host, &meminfo, "devices/system/node/node%d/meminfo",
				     nodes.v[i]) ||
		    !host_sysfs_line(host, &cpus, "devices/system/node/node%d/cpulist", nodes.v[i]))
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
static bool take_cache(struct info *info, const struct host *host, int cpu, int index)
{
#define CACHE_FILE(name) "devices/system/cpu/cpu%d/cache/index%d/" name, cpu, index
	struct str cpus = STR_INIT, text = STR_INIT;
	struct info_cache *cache;
	uint32_t level;
	bool found = host_sysfs_u32(host, &level, CACHE_FILE("level")) &&
		     host_sysfs_line(host, &cpus, CACHE_FILE("shared_cpu_list"));

	if (found && is_first_of(&cpus, cpu)) {
		VEC_GROW(info->caches.v, info->caches.n, info->caches.cap);
		cache = &info->caches.v[info->caches.n++];
		*cache = (struct info_cache){ .level = level };
		host_sysfs_u32(host, &cache->line_bytes, CACHE_FILE("coherency_line_size"));
		host_sysfs_u32(host, &cache->sets, CACHE_FILE("number_of_sets"));
		host_sysfs_u32(host, &cache->ways, CACHE_FILE("ways_of_associativity"));
		cache->type = xstrdup(host_sysfs_line(host, &text, CACHE_FILE("type")) ? text.s : "");
		cache->size = xstrdup(host_sysfs_line(host, &text, CACHE_FILE("size")) ? text.s : "");
		cache->cpus = xstrdup(cpus.s);
	}
	str_release(&cpus);
	str_release(&text);
	return found;
#undef CACHE_FILE
}

/* By level; within one level in the order found, which qsort(3) does not promise to keep. */
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

bool host_caches(struct info *info, const struct host *host)
{
	struct intset cpus = INTSET_INIT;

	host_cpu_list(host, "online", &cpus);
	for (size_t i = 0; i < cpus.n; i++) {
		for (int index = 0; index < CACHE_INDEX_MAX; index++) {
			if (!take_cache(info, host, cpus.v[i], index))
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
static void take_blocks(struct info *info, const struct host *host, int number)
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

bool host_mem_topology(struct info *info, const struct host *host)
{
	struct intset nodes = INTSET_INIT;
	struct str text = STR_INIT;

	if (host_sysfs_line(host, &text, "devices/system/memory/block_size_bytes") &&
	    !parse_u64(text.s, 16, &info->mem_block_bytes)) {
		online_nodes(host, &nodes);
		for (size_t i = 0; i < nodes.n; i++)
			take_blocks(info, host, nodes.v[i]);
	}
	intset_release(&nodes);
	str_release(&text);
	return info->mem_nodes.n != 0;
}
