/*
 * Hardware cache events: CACHE[-OPERATION][-RESULT], such as L1-dcache-load-misses.
 *
 * Three tables of words. The operation is "loads" and the result "accesses" where the name leaves
 * them out; the two may come in either order. config = cache | operation << 8 | result << 16
 * (perf_event_open(2)). Not every cache has every operation: a row's `ops` says which.
 */
#include "event/cache.h"

#include <errno.h>

enum { OP_R = 1 << PERF_COUNT_HW_CACHE_OP_READ, OP_W = 1 << PERF_COUNT_HW_CACHE_OP_WRITE,
       OP_P = 1 << PERF_COUNT_HW_CACHE_OP_PREFETCH };

struct cache_word {
	unsigned id; /* PERF_COUNT_HW_CACHE_* */
	const char *words[6]; /* as the event language has them; the first is the one listed */
	const char *desc;
	unsigned ops; /* caches only: bits of the operations there are */
};

/* To add a word: its row, a row in tests/unit/test_event.c. */
static const struct cache_word caches[] = {
	{ PERF_COUNT_HW_CACHE_L1D, { "L1-dcache", "l1-d", "l1d", "L1-data" },
	  "level 1 data cache", OP_R | OP_W | OP_P },
	{ PERF_COUNT_HW_CACHE_L1I, { "L1-icache", "l1-i", "l1i", "L1-instruction" },
	  "level 1 instruction cache", OP_R | OP_P },
	{ PERF_COUNT_HW_CACHE_LL, { "LLC", "L2" }, "last-level cache", OP_R | OP_W | OP_P },
	{ PERF_COUNT_HW_CACHE_DTLB, { "dTLB", "d-tlb", "Data-TLB" }, "data TLB", OP_R | OP_W | OP_P },
	{ PERF_COUNT_HW_CACHE_ITLB, { "iTLB", "i-tlb", "Instruction-TLB" }, "instruction TLB", OP_R },
	{ PERF_COUNT_HW_CACHE_BPU, { "branch", "branches", "bpu", "btb", "bpc" },
	  "branch prediction unit", OP_R },
	{ PERF_COUNT_HW_CACHE_NODE, { "node" }, "memory of the CPU's node", OP_R | OP_W | OP_P },
};

static const struct cache_word operations[] = {
	{ PERF_COUNT_HW_CACHE_OP_READ, { "load", "loads", "read" }, "loads", 0 },
	{ PERF_COUNT_HW_CACHE_OP_WRITE, { "store", "stores", "write" }, "stores", 0 },
	{ PERF_COUNT_HW_CACHE_OP_PREFETCH,
	  { "prefetch", "prefetches", "speculative-read", "speculative-load" }, "prefetches", 0 },
};

static const struct cache_word results[] = {
	{ PERF_COUNT_HW_CACHE_RESULT_ACCESS, { "refs", "Reference", "ops", "access" }, "accesses", 0 },
	{ PERF_COUNT_HW_CACHE_RESULT_MISS, { "misses", "miss" }, "misses", 0 },
};

/* The row with the longest word that text begins with, up to its end or a '-'; *len its length. */
static const struct cache_word *match(const struct cache_word *rows, size_t n, const char *text,
				      size_t *len)
{
	const struct cache_word *found = NULL;

	*len = 0;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < ARRAY_SIZE(rows[i].words) && rows[i].words[j]; j++) {
			size_t l = strlen(rows[i].words[j]);

			if (l <= *len || strncmp(rows[i].words[j], text, l) != 0)
				continue;
			if (text[l] && text[l] != '-')
				continue;
			found = &rows[i];
			*len = l;
		}
	}
	return found;
}

/* One "-word" of *text; takes it if it is in the table and the table's turn has not been. */
static bool take_part(const char **text, const struct cache_word *rows, size_t n,
		      const struct cache_word **out)
{
	const struct cache_word *row;
	size_t len;

	if (**text != '-' || *out)
		return false;
	row = match(rows, n, *text + 1, &len);
	if (!row)
		return false;
	*out = row;
	*text += 1 + len;
	return true;
}

int cache_config(const char *name, uint64_t *config, const char **why)
{
	const struct cache_word *op = NULL, *result = NULL, *cache;
	size_t len;

	cache = match(caches, ARRAY_SIZE(caches), name, &len);
	if (!cache)
		return 0;
	name += len;
	while (take_part(&name, operations, ARRAY_SIZE(operations), &op) ||
	       take_part(&name, results, ARRAY_SIZE(results), &result))
		;
	if (*name)
		return 0;
	if (op && !(cache->ops & 1u << op->id)) {
		if (why)
			*why = op->desc;
		return -EINVAL;
	}
	*config = cache->id | (uint64_t)(op ? op->id : PERF_COUNT_HW_CACHE_OP_READ) << 8 |
		  (uint64_t)(result ? result->id : PERF_COUNT_HW_CACHE_RESULT_ACCESS) << 16;
	return 1;
}

/* "L1-dcache-loads", "L1-dcache-load-misses" */
static int list_one(const struct cache_word *cache, const struct cache_word *op, bool misses,
		    const char *topic, event_info_fn fn, void *data)
{
	struct str name = STR_INIT, desc = STR_INIT;
	struct event_info info = { .topic = topic, .alias = "", .pmu_name = "",
				   .unit = "", .scale = 1.0 };
	int rc;

	str_addf(&name, "%s-%s%s", cache->words[0], misses ? op->words[0] : op->desc,
		 misses ? "-misses" : "");
	str_addf(&desc, "%s: %s%s", cache->desc, op->desc, misses ? " that missed" : "");
	info.name = name.s;
	info.desc = desc.s;
	rc = fn(&info, data);
	str_release(&name);
	str_release(&desc);
	return rc;
}

int cache_walk(const char *topic, event_info_fn fn, void *data)
{
	int rc = 0;

	for (size_t i = 0; i < ARRAY_SIZE(caches); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(operations); j++) {
			if (!(caches[i].ops & 1u << operations[j].id))
				continue;
			rc = list_one(&caches[i], &operations[j], false, topic, fn, data);
			if (!rc)
				rc = list_one(&caches[i], &operations[j], true, topic, fn, data);
			if (rc)
				return rc;
		}
	}
	return 0;
}
