/* SPDX-License-Identifier: MIT */
/*
 * Keys: where cells are added up, for every mode. A key keeps the parts of a CPU's position that its
 * mode asks for, or a thread; what it is called when printed is the client's business.
 *
 * Invariants: keys[0] is the rest, which holds everything without --per-* options; keys are never
 * removed or moved, because values are numbered by them; key_order is how they are printed. The
 * topology is read only where a mode or an event needs it.
 */
#include "count/aggregation.h"

#include <stdlib.h>

/* Parts of a CPU's position that a mode keeps. To add one: enum aggr_mode, a row here and one in stat/reporter.c. */
static const struct {
	bool node, socket, die, cluster, cache, core, cpu;
	bool needs_topology;
} kept[] = {
	[AGGR_TOTAL] = { 0 },
	[AGGR_CPU] = { .cpu = true },
	[AGGR_CORE] = { .socket = true, .die = true, .core = true, .needs_topology = true },
	[AGGR_CLUSTER] = { .socket = true, .die = true, .cluster = true, .needs_topology = true },
	[AGGR_CACHE] = { .socket = true, .die = true, .cache = true, .needs_topology = true },
	[AGGR_DIE] = { .socket = true, .die = true, .needs_topology = true },
	[AGGR_SOCKET] = { .socket = true, .needs_topology = true },
	[AGGR_NODE] = { .node = true, .needs_topology = true },
	[AGGR_THREAD] = { 0 },
};

static bool is_by_cpu(enum aggr_mode mode)
{
	return mode != AGGR_TOTAL && mode != AGGR_THREAD;
}

static int known(int number)
{
	return number < 0 ? 0 : number;
}

static const struct topology_cpu *position_of(const struct aggregation *agg, int cpu)
{
	return agg->layout->has_topology ? topology_find(&agg->layout->topology, cpu) : NULL;
}

static struct aggr_key key_of_cpu(const struct aggregation *agg, enum aggr_mode mode, int cpu)
{
	const struct topology_cpu *at = position_of(agg, cpu);
	struct aggr_key key = { .mode = mode, .cpu = kept[mode].cpu ? cpu : 0 };

	if (!at)
		return key;
	key.node = kept[mode].node ? known(at->node) : 0;
	key.socket = kept[mode].socket ? known(at->socket) : 0;
	key.die = kept[mode].die ? known(at->die) : 0;
	key.cluster = kept[mode].cluster ? known(at->cluster) : 0;
	if (kept[mode].cache)
		key.cache_level = agg->options.cache_level ? agg->options.cache_level : at->cache_level;
	key.cache = kept[mode].cache ? at->cache : 0;
	key.core = kept[mode].core ? known(at->core) : 0;
	return key;
}

/* Orders keys as they are printed: the rest last. */
static int compare_keys(const struct aggr_key *a, const struct aggr_key *b)
{
	const int pairs[][2] = {
		{ a->rest, b->rest }, { (int)a->mode, (int)b->mode }, { a->node, b->node },
		{ a->socket, b->socket }, { a->die, b->die }, { a->cluster, b->cluster },
		{ a->cache_level, b->cache_level }, { a->cache, b->cache }, { a->core, b->core },
		{ a->cpu, b->cpu }, { a->thread, b->thread },
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		if (pairs[i][0] != pairs[i][1])
			return pairs[i][0] < pairs[i][1] ? -1 : 1;
	return 0;
}

/* n_keys if it is not there. */
static size_t find_key(const struct aggregation *agg, const struct aggr_key *key)
{
	size_t i = 0;

	while (i < agg->n_keys && compare_keys(&agg->keys[i], key))
		i++;
	return i;
}

static size_t add_key(struct aggregation *agg, const struct aggr_key *key)
{
	VEC_GROW(agg->keys, agg->n_keys, agg->keys_cap);
	agg->keys[agg->n_keys] = *key;
	return agg->n_keys++;
}

/* Keys for all CPUs there are; returns them by index into the set. */
static size_t *add_cpus(struct aggregation *agg, enum aggr_mode mode)
{
	const struct intset *cpus = &agg->layout->cpus;
	size_t *keys = xcalloc(cpus->n + 1, sizeof(*keys));

	for (size_t i = 0; i < cpus->n; i++) {
		struct aggr_key key = key_of_cpu(agg, mode, cpus->v[i]);

		keys[i] = find_key(agg, &key);
		if (keys[i] == agg->n_keys)
			add_key(agg, &key);
	}
	return keys;
}

/* The target's CPUs, and those of PMUs with CPUs of their own. */
static void collect_cpus(struct aggregation *agg, const struct target *target)
{
	intset_copy(&agg->layout->cpus, &target->cpus);
	for (size_t i = 0; i < agg->events->n; i++)
		for (size_t k = 0; k < agg->counted[i].cpus->n; k++)
			intset_add(&agg->layout->cpus, agg->counted[i].cpus->v[k]);
}

/* A repeated command is a new process each time, and yet the same thread for those who count. */
static struct aggr_key key_of_thread(const struct target *target, size_t thread)
{
	const struct target_thread *of = &target->threads[thread];
	struct aggr_key key = {
		.mode = AGGR_THREAD,
		.thread = target->kind == TARGET_COMMAND ? (int)thread : of->tid,
		.tid = of->tid,
	};

	memcpy(key.comm, of->comm, sizeof(key.comm));
	return key;
}

static void add_threads(struct aggregation *agg, const struct target *target)
{
	bool first_run = agg->n_keys == 1; /* threads of one target are distinct */
	struct cell_layout *layout = agg->layout;

	layout->thread_keys = xreallocarray(layout->thread_keys, target->n_threads + 1,
					    sizeof(*layout->thread_keys));
	for (size_t i = 0; i < target->n_threads; i++) {
		struct aggr_key key = key_of_thread(target, i);
		size_t at = first_run ? agg->n_keys : find_key(agg, &key);

		if (at == agg->n_keys)
			at = add_key(agg, &key);
		agg->keys[at] = key;
		layout->thread_keys[i] = at;
	}
	layout->n_threads = target->n_threads;
}

static bool any_by_core(const struct aggregation *agg)
{
	for (size_t i = 0; i < agg->n_rows; i++)
		if (agg->rows[i].by_core)
			return true;
	return false;
}

static bool needs_topology(const struct aggregation *agg)
{
	if (kept[agg->options.mode].needs_topology || any_by_core(agg))
		return true;
	for (size_t i = 0; i < agg->events->n; i++)
		if ((agg->events->v[i].per_pkg && agg->counted[i].cpus->n > 1) ||
		    agg->events->v[i].kind == EVENT_CORE_WIDE)
			return true;
	return false;
}

static int compare_by_key(const void *a, const void *b, void *data)
{
	const struct aggregation *agg = data;

	return compare_keys(&agg->keys[*(const size_t *)a], &agg->keys[*(const size_t *)b]);
}

static void set_order(struct aggregation *agg)
{
	agg->key_order = xreallocarray(agg->key_order, agg->n_keys, sizeof(*agg->key_order));
	for (size_t i = 0; i < agg->n_keys; i++)
		agg->key_order[i] = i;
	qsort_r(agg->key_order, agg->n_keys, sizeof(*agg->key_order), compare_by_key, agg);
}

int keys_update(struct aggregation *agg, const struct target *target, struct str *err)
{
	enum aggr_mode mode = agg->options.mode;
	struct cell_layout *layout = agg->layout;

	if (needs_topology(agg) && !layout->has_topology) {
		int rc = layout->backend->topology(layout->data, &layout->topology, err);

		if (!rc && mode == AGGR_CACHE)
			rc = layout->backend->caches(layout->data, &layout->topology,
						     agg->options.cache_level, err);
		if (rc)
			return rc;
		layout->has_topology = true;
	}
	if (!agg->n_keys)
		add_key(agg, &(struct aggr_key){ .mode = mode, .rest = true });
	collect_cpus(agg, target);
	free(layout->cpu_keys);
	free(layout->core_keys);
	layout->cpu_keys = is_by_cpu(mode) ? add_cpus(agg, mode) : NULL;
	layout->core_keys = any_by_core(agg) ? add_cpus(agg, AGGR_CORE) : NULL;
	if (mode == AGGR_THREAD)
		add_threads(agg, target);
	set_order(agg);
	return 0;
}

void keys_release(struct aggregation *agg)
{
	struct cell_layout *layout = agg->layout;

	free(agg->keys);
	free(agg->key_order);
	free(layout->cpu_keys);
	free(layout->core_keys);
	free(layout->thread_keys);
	intset_release(&layout->cpus);
	intset_release(&layout->stopped_cpus);
	topology_release(&layout->topology);
}

size_t key_of_cell(const struct aggregation *agg, const struct event_row *row,
		   const struct counted_event *counted, int cpu, size_t thread)
{
	const struct cell_layout *layout = agg->layout;
	const size_t *by_cpu = row->by_core ? layout->core_keys : layout->cpu_keys;

	if (by_cpu && cpu >= 0)
		return by_cpu[intset_index(&layout->cpus, cpu)];
	/* A PMU that cannot follow threads has one column for all of them. */
	if (agg->options.mode == AGGR_THREAD && counted->n_threads == layout->n_threads &&
	    (counted->cpus->n == 0 || counted->event->cpus_chosen))
		return layout->thread_keys[thread];
	return 0;
}

size_t aggregation_core_key(const struct aggregation *agg, int cpu)
{
	size_t at = agg->layout->core_keys ? intset_index(&agg->layout->cpus, cpu) : SIZE_MAX;

	return at == SIZE_MAX ? SIZE_MAX : agg->layout->core_keys[at];
}

size_t key_of_clock(const struct aggregation *agg)
{
	return is_by_cpu(agg->options.mode) ? agg->key_order[0] : 0;
}

int64_t package_of_cpu(const struct aggregation *agg, int cpu)
{
	const struct topology_cpu *at = position_of(agg, cpu);

	return at ? (int64_t)known(at->socket) << 32 | known(at->die) : -1;
}
