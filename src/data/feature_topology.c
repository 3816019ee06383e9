/* SPDX-License-Identifier: MIT */
/*
 * feature_topology.c: kinds of fields of the machine's shape that are no plain list: CPUs with their
 * dies, and sets of memory blocks. CPU lists stay text ("0-3,7"), as the recorder found them in sysfs.
 */
#include "data/feature.h"

#include <stdlib.h>

typedef unsigned long long ull;

/*
 * CPU_TOPOLOGY: core sibling lists | thread sibling lists | per CPU: core, socket | die sibling lists |
 * per CPU: die. Older recorders end before the third or the fourth part; less than the shortest fourth
 * is padding.
 */
enum { DIES_MIN_BYTES = 8 };

FEATURE_READ(cpus)
{
	if (!cursor_left(&r->c))
		return;
	if (r->info->cpus_available > cursor_left(&r->c) / 8) {
		r->why = "it has fewer CPUs than NRCPUS says";
		return;
	}
	for (uint32_t i = 0; i < r->info->cpus_available; i++) {
		struct info_cpu *cpu = feature_next(at, sizeof(*cpu));

		cpu->core = cursor_u32(&r->c);
		cpu->socket = cursor_u32(&r->c);
	}
}

FEATURE_WRITE(cpus)
{
	for (size_t i = 0; i < t->info->cpus.n; i++) {
		put_u32(t->out, t->info->cpus.v[i].core);
		put_u32(t->out, t->info->cpus.v[i].socket);
	}
}

FEATURE_PRINT(cpus)
{
	for (size_t i = 0; i < t->info->cpus.n; i++) {
		const struct info_cpu *cpu = &t->info->cpus.v[i];

		str_addf(t->out, "# CPU %zu: Core ID %d, ", i, (int)cpu->core);
		if (t->info->has_dies)
			str_addf(t->out, "Die ID %d, ", (int)cpu->die);
		str_addf(t->out, "Socket ID %d\n", (int)cpu->socket);
	}
}

FEATURE_READ(dies)
{
	struct info *info = r->info;

	if (cursor_left(&r->c) < DIES_MIN_BYTES)
		return;
	feature_list_read(r, f, at);
	info->has_dies = info->die_siblings.n != 0;
	for (size_t i = 0; i < info->cpus.n; i++)
		info->cpus.v[i].die = cursor_u32(&r->c);
}

/*
 * A record pads it to 8 bytes, and readers take padding for dies of which the rest is missing. So no
 * dies are left out only where nothing is padded, and else said in full.
 */
FEATURE_WRITE(dies)
{
	if (!t->info->has_dies && (t->out->len - t->start) % 8 == 0)
		return;
	feature_list_write(t, f, at);
	for (size_t i = 0; i < t->info->cpus.n; i++)
		put_u32(t->out, t->info->cpus.v[i].die);
}

FEATURE_RELEASE(dies)
{
	feature_list_release(info, f, at);
	info->has_dies = false;
}

/* MEM_TOPOLOGY, per node: number, bits in the set, the same again, the set in u64 words */
FEATURE_READ(blocks)
{
	struct info_mem_node *node = at;
	uint64_t n_words;

	cursor_u64(&r->c);
	node->n_blocks = cursor_u64(&r->c);
	n_words = node->n_blocks / 64 + !!(node->n_blocks % 64);
	if (node->n_blocks > f->n || n_words > cursor_left(&r->c) / 8) {
		r->why = "its set of memory blocks is cut off or too large";
		return;
	}
	node->blocks = xcalloc(n_words, sizeof(*node->blocks));
	for (uint64_t k = 0; k < n_words; k++)
		node->blocks[k] = cursor_u64(&r->c);
}

FEATURE_WRITE(blocks)
{
	const struct info_mem_node *node = at;

	put_u64(t->out, node->n_blocks);
	put_u64(t->out, node->n_blocks);
	for (uint64_t k = 0; k < (node->n_blocks + 63) / 64; k++)
		put_u64(t->out, node->blocks[k]);
}

static bool has_block(const struct info_mem_node *node, uint64_t i)
{
	return i < node->n_blocks && node->blocks[i / 64] >> (i % 64) & 1;
}

FEATURE_PRINT(blocks)
{
	const struct info_mem_node *node = at;
	const char *between = "";

	for (uint64_t i = 0; i < node->n_blocks; i++) {
		uint64_t first = i;

		while (has_block(node, i))
			i++;
		if (i == first)
			continue;
		str_addf(t->out, "%s%llu", between, (ull)first);
		if (i - first > 1)
			str_addf(t->out, "-%llu", (ull)i - 1);
		between = ",";
	}
}

FEATURE_PRINT(blocks_size)
{
	static const char units[] = "BKMGTPE";
	const struct info_mem_node *node = at;
	uint64_t bytes, n = 0;
	unsigned unit = 0;

	for (uint64_t i = 0; i < node->n_blocks; i++)
		n += has_block(node, i);
	bytes = n * t->info->mem_block_bytes;
	for (; bytes >= 1024 && unit + 2 < sizeof(units); unit++)
		bytes /= 1024;
	str_addf(t->out, "%llu%c", (ull)bytes, units[unit]);
}

FEATURE_RELEASE(blocks)
{
	struct info_mem_node *node = at;

	free(node->blocks);
	node->blocks = NULL;
}

const struct feature_kind feature_cpus = { cpus_read, cpus_write, cpus_print,
					   feature_list_release };
const struct feature_kind feature_dies = { dies_read, dies_write, feature_list_print,
					   dies_release };
const struct feature_kind feature_blocks = { blocks_read, blocks_write, blocks_print,
					     blocks_release };
const struct feature_kind feature_blocks_size = { NULL, NULL, blocks_size_print, NULL };
