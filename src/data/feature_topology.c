/*
 * feature_topology.c: features that describe the machine's shape: CPUs, NUMA nodes, caches, memory
 * blocks, hybrid units. CPU lists stay text ("0-3,7"), as the recorder found them in sysfs.
 */
#include "data/feature.h"

#include <stdlib.h>

typedef unsigned long long ull;

/*
 * core sibling lists | thread sibling lists | per CPU: core, socket | die sibling lists | per CPU: die
 * Older recorders end before the third or the fourth part; less than the shortest fourth is padding.
 */
enum { DIES_MIN_BYTES = 8 };

FEATURE_READ(cpu_topology)
{
	FEATURE_UNUSED;
	text_list_read(&info->core_siblings, c);
	text_list_read(&info->thread_siblings, c);
	if (c->bad || !cursor_left(c))
		return NULL;
	if (info->cpus_available > cursor_left(c) / 8)
		return "it has fewer CPUs than NRCPUS says";
	for (uint32_t i = 0; i < info->cpus_available; i++) {
		struct info_cpu *cpu = VEC_NEXT(info->cpus);

		cpu->core = cursor_u32(c);
		cpu->socket = cursor_u32(c);
	}
	if (cursor_left(c) < DIES_MIN_BYTES)
		return NULL;
	text_list_read(&info->die_siblings, c);
	info->has_dies = info->die_siblings.n != 0;
	for (size_t i = 0; i < info->cpus.n; i++)
		info->cpus.v[i].die = cursor_u32(c);
	return NULL;
}

/*
 * A record pads it to 8 bytes, and readers take padding for dies of which the rest is missing. So no
 * dies are left out only where nothing is padded, and else said in full.
 */
FEATURE_WRITE(cpu_topology)
{
	size_t start = out->len;

	FEATURE_UNUSED;
	text_list_write(&info->core_siblings, out);
	text_list_write(&info->thread_siblings, out);
	for (size_t i = 0; i < info->cpus.n; i++) {
		put_u32(out, info->cpus.v[i].core);
		put_u32(out, info->cpus.v[i].socket);
	}
	if (!info->has_dies && (out->len - start) % 8 == 0)
		return;
	text_list_write(&info->die_siblings, out);
	for (size_t i = 0; i < info->cpus.n; i++)
		put_u32(out, info->cpus.v[i].die);
}

static void siblings_print(const char *label, const struct text_list *list, struct str *out)
{
	for (size_t i = 0; i < list->n; i++) {
		str_addf(out, "# sibling %s : ", label);
		feature_add_text(out, list->v[i]);
		str_addc(out, '\n');
	}
}

FEATURE_PRINT(cpu_topology)
{
	FEATURE_UNUSED;
	siblings_print("sockets", &info->core_siblings, out);
	siblings_print("dies   ", &info->die_siblings, out);
	siblings_print("threads", &info->thread_siblings, out);
	for (size_t i = 0; i < info->cpus.n; i++) {
		const struct info_cpu *cpu = &info->cpus.v[i];

		str_addf(out, "# CPU %zu: Core ID %d, ", i, (int)cpu->core);
		if (info->has_dies)
			str_addf(out, "Die ID %d, ", (int)cpu->die);
		str_addf(out, "Socket ID %d\n", (int)cpu->socket);
	}
}

FEATURE_RELEASE(cpu_topology)
{
	(void)row;
	text_list_release(&info->core_siblings);
	text_list_release(&info->thread_siblings);
	text_list_release(&info->die_siblings);
	VEC_RELEASE(info->cpus);
	info->has_dies = false;
}

FEATURE_READ(numa)
{
	uint32_t n = cursor_u32(c);

	FEATURE_UNUSED;
	for (uint32_t i = 0; i < n && !c->bad; i++) {
		struct info_node *node = VEC_NEXT(info->nodes);

		node->node = cursor_u32(c);
		node->total_kb = cursor_u64(c);
		node->free_kb = cursor_u64(c);
		node->cpus = feature_text(c);
	}
	return NULL;
}

FEATURE_WRITE(numa)
{
	FEATURE_UNUSED;
	put_u32(out, (uint32_t)info->nodes.n);
	for (size_t i = 0; i < info->nodes.n; i++) {
		const struct info_node *node = &info->nodes.v[i];

		put_u32(out, node->node);
		put_u64(out, node->total_kb);
		put_u64(out, node->free_kb);
		feature_put_text(out, node->cpus);
	}
}

FEATURE_PRINT(numa)
{
	FEATURE_UNUSED;
	for (size_t i = 0; i < info->nodes.n; i++) {
		const struct info_node *node = &info->nodes.v[i];

		str_addf(out, "# node%u meminfo  : total = %llu kB, free = %llu kB\n", node->node,
			 (ull)node->total_kb, (ull)node->free_kb);
		str_addf(out, "# node%u cpu list : ", node->node);
		feature_add_text(out, node->cpus);
		str_addc(out, '\n');
	}
}

FEATURE_RELEASE(numa)
{
	(void)row;
	for (size_t i = 0; i < info->nodes.n; i++)
		free(info->nodes.v[i].cpus);
	VEC_RELEASE(info->nodes);
}

FEATURE_READ(cache)
{
	uint32_t version = cursor_u32(c);
	uint32_t n = cursor_u32(c);

	FEATURE_UNUSED;
	if (version != 1)
		return "its version is not 1";
	for (uint32_t i = 0; i < n && !c->bad; i++) {
		struct info_cache *cache = VEC_NEXT(info->caches);

		cache->level = cursor_u32(c);
		cache->line_bytes = cursor_u32(c);
		cache->sets = cursor_u32(c);
		cache->ways = cursor_u32(c);
		cache->type = feature_text(c);
		cache->size = feature_text(c);
		cache->cpus = feature_text(c);
	}
	return NULL;
}

FEATURE_WRITE(cache)
{
	FEATURE_UNUSED;
	put_u32(out, 1);
	put_u32(out, (uint32_t)info->caches.n);
	for (size_t i = 0; i < info->caches.n; i++) {
		const struct info_cache *cache = &info->caches.v[i];

		put_u32(out, cache->level);
		put_u32(out, cache->line_bytes);
		put_u32(out, cache->sets);
		put_u32(out, cache->ways);
		feature_put_text(out, cache->type);
		feature_put_text(out, cache->size);
		feature_put_text(out, cache->cpus);
	}
}

static void add_padded(struct str *out, const char *text, size_t width, bool right)
{
	size_t start = out->len, len;
	struct str shown = STR_INIT;

	feature_add_text(&shown, text);
	len = shown.len < width ? width - shown.len : 0;
	if (right)
		str_pad(out, ' ', len);
	str_addn(out, shown.s, shown.len);
	if (!right)
		str_pad(out, ' ', width - (out->len - start < width ? out->len - start : width));
	str_release(&shown);
}

FEATURE_PRINT(cache)
{
	FEATURE_UNUSED;
	str_add(out, "# CPU cache info:\n");
	for (size_t i = 0; i < info->caches.n; i++) {
		const struct info_cache *cache = &info->caches.v[i];

		str_addf(out, "#  L%u ", cache->level);
		add_padded(out, cache->type, 15, false);
		str_addc(out, ' ');
		add_padded(out, cache->size, 8, true);
		str_add(out, " [");
		feature_add_text(out, cache->cpus);
		str_add(out, "]\n");
	}
}

FEATURE_RELEASE(cache)
{
	(void)row;
	for (size_t i = 0; i < info->caches.n; i++) {
		free(info->caches.v[i].type);
		free(info->caches.v[i].size);
		free(info->caches.v[i].cpus);
	}
	VEC_RELEASE(info->caches);
}

/* Of one node: 128 TiB in blocks of 128 MiB, as they are today. */
enum { MEM_BLOCKS_MAX = 1 << 20 };

/* version 1 | block size | n | per node: number, size, bits in the set, the set in u64 words */
FEATURE_READ(mem_topology)
{
	uint64_t n;

	FEATURE_UNUSED;
	if (cursor_u64(c) != 1)
		return "its version is not 1";
	info->mem_block_bytes = cursor_u64(c);
	n = cursor_u64(c);
	for (uint64_t i = 0; i < n && !c->bad; i++) {
		struct info_mem_node *node = VEC_NEXT(info->mem_nodes);
		uint64_t n_words;

		node->node = cursor_u64(c);
		cursor_u64(c); /* the size of the set, again */
		node->n_blocks = cursor_u64(c);
		n_words = node->n_blocks / 64 + !!(node->n_blocks % 64);
		if (node->n_blocks > MEM_BLOCKS_MAX || n_words > cursor_left(c) / 8)
			return "its set of memory blocks is cut off or too large";
		node->blocks = xcalloc(n_words, sizeof(*node->blocks));
		for (uint64_t k = 0; k < n_words; k++)
			node->blocks[k] = cursor_u64(c);
	}
	return NULL;
}

FEATURE_WRITE(mem_topology)
{
	FEATURE_UNUSED;
	put_u64(out, 1);
	put_u64(out, info->mem_block_bytes);
	put_u64(out, info->mem_nodes.n);
	for (size_t i = 0; i < info->mem_nodes.n; i++) {
		const struct info_mem_node *node = &info->mem_nodes.v[i];

		put_u64(out, node->node);
		put_u64(out, node->n_blocks);
		put_u64(out, node->n_blocks);
		for (uint64_t k = 0; k < (node->n_blocks + 63) / 64; k++)
			put_u64(out, node->blocks[k]);
	}
}

static void mem_node_print(const struct info_mem_node *node, uint64_t block_bytes, struct str *out)
{
	static const char units[] = "BKMGTPE";
	struct str ranges = STR_INIT;
	uint64_t bytes, n = 0;
	unsigned unit = 0;

	for (uint64_t i = 0; i < node->n_blocks; i++) {
		uint64_t first = i;

		while (i < node->n_blocks && node->blocks[i / 64] >> (i % 64) & 1)
			i++;
		if (i == first)
			continue;
		n += i - first;
		str_addf(&ranges, ranges.len ? ",%llu" : "%llu", (ull)first);
		if (i - first > 1)
			str_addf(&ranges, "-%llu", (ull)i - 1);
	}
	bytes = n * block_bytes;
	for (; bytes >= 1024 && unit + 2 < sizeof(units); unit++)
		bytes /= 1024;
	str_addf(out, "#  %3llu [%llu%c]: %s\n", (ull)node->node, (ull)bytes, units[unit],
		 ranges.s);
	str_release(&ranges);
}

FEATURE_PRINT(mem_topology)
{
	FEATURE_UNUSED;
	str_addf(out, "# memory nodes (nr %zu, block size %#llx):\n", info->mem_nodes.n,
		 (ull)info->mem_block_bytes);
	for (size_t i = 0; i < info->mem_nodes.n; i++)
		mem_node_print(&info->mem_nodes.v[i], info->mem_block_bytes, out);
}

FEATURE_RELEASE(mem_topology)
{
	(void)row;
	for (size_t i = 0; i < info->mem_nodes.n; i++)
		free(info->mem_nodes.v[i].blocks);
	VEC_RELEASE(info->mem_nodes);
}

FEATURE_READ(hybrid)
{
	uint32_t n = cursor_u32(c);

	FEATURE_UNUSED;
	for (uint32_t i = 0; i < n && !c->bad; i++) {
		struct info_hybrid *hybrid = VEC_NEXT(info->hybrid);

		hybrid->pmu = feature_text(c);
		hybrid->cpus = feature_text(c);
	}
	return NULL;
}

FEATURE_WRITE(hybrid)
{
	FEATURE_UNUSED;
	put_u32(out, (uint32_t)info->hybrid.n);
	for (size_t i = 0; i < info->hybrid.n; i++) {
		feature_put_text(out, info->hybrid.v[i].pmu);
		feature_put_text(out, info->hybrid.v[i].cpus);
	}
}

FEATURE_PRINT(hybrid)
{
	FEATURE_UNUSED;
	str_add(out, "# hybrid cpu system:\n");
	for (size_t i = 0; i < info->hybrid.n; i++) {
		str_add(out, "# ");
		feature_add_text(out, info->hybrid.v[i].pmu);
		str_add(out, " cpu list : ");
		feature_add_text(out, info->hybrid.v[i].cpus);
		str_addc(out, '\n');
	}
}

FEATURE_RELEASE(hybrid)
{
	(void)row;
	for (size_t i = 0; i < info->hybrid.n; i++) {
		free(info->hybrid.v[i].pmu);
		free(info->hybrid.v[i].cpus);
	}
	VEC_RELEASE(info->hybrid);
}
