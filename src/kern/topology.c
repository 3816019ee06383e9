/* SPDX-License-Identifier: MIT */
/*
 * The place of each online CPU: core, cluster, die, socket, node, cache. Read from sysfs, once, and only for the
 * modes that print it. A file that is missing (old kernels have no die_id, small machines no nodes)
 * leaves -1.
 *
 * Source: Documentation/ABI/stable/sysfs-devices-system-cpu, sysfs-devices-node.
 */
#include "kern/slots.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>

enum { CPU_MAX = 1 << 16, NODE_MAX = 1 << 16, CACHE_INDEX_MAX = 16 };

/*
 * "cpu12 ..." in stat(5) of procfs, a line for each CPU that is online; "cpu ..." is their sum. Better than
 * the CPUs that pstat may run on: these would be too few without a word.
 */
static void cpus_of_proc_stat(const char *procfs, struct intset *cpus)
{
	struct str text = STR_INIT;
	char *path = xasprintf("%s/stat", procfs);

	if (read_text_file(path, &text))
		str_reset(&text);
	for (char *line = text.s, *end; text.len && *line; line = end) {
		long cpu;

		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		line[strcspn(line, " ")] = '\0';
		if (!strncmp(line, "cpu", 3) && !parse_int(line + 3, 0, CPU_MAX, &cpu))
			intset_add(cpus, (int)cpu);
	}
	free(path);
	str_release(&text);
}

int cpus_online(const struct host_paths *host, struct intset *cpus)
{
	struct str text = STR_INIT, err = STR_INIT;
	char *path = xasprintf("%s/devices/system/cpu/online", host->sysfs);
	int rc = read_line_file(path, &text);

	if (!rc)
		rc = intset_parse(cpus, text.s, CPU_MAX, &err);
	if (rc) {
		intset_release(cpus);
		cpus_of_proc_stat(host->procfs, cpus);
		rc = cpus->n ? 0 : rc;
	}
	free(path);
	str_release(&text);
	str_release(&err);
	return rc;
}

/* The CPUs of this task's cpuset, asked for by wishing for all; then its own wish is put back. */
static void cpus_of_cpuset(struct intset *cpus)
{
	const size_t bytes = CPU_ALLOC_SIZE(CPU_MAX);
	cpu_set_t *own = xcalloc(1, bytes), *all = xcalloc(1, bytes);

	memset(all, 0xff, bytes);
	if (!sched_getaffinity(0, bytes, own) && !sched_setaffinity(0, bytes, all)) {
		if (sched_getaffinity(0, bytes, all))
			memcpy(all, own, bytes);
		sched_setaffinity(0, bytes, own);
		for (int cpu = 0; cpu < CPU_MAX; cpu++)
			if (CPU_ISSET_S(cpu, bytes, all))
				intset_add(cpus, cpu);
	}
	free(own);
	free(all);
}

void cpus_for_tasks(const struct host_paths *host, struct intset *cpus)
{
	if (cpus_online(host, cpus))
		cpus_of_cpuset(cpus);
}

/* One field of a CPU: its file below cpuN/topology/, and where the number goes. */
static const struct place_field {
	const char *file;
	size_t offset;
} place_fields[] = {
	{ "core_id", offsetof(struct topology_cpu, core) },
	{ "die_id", offsetof(struct topology_cpu, die) },
	{ "physical_package_id", offsetof(struct topology_cpu, socket) },
	{ "cluster_id", offsetof(struct topology_cpu, cluster) },
};

static void place_read(struct topology_cpu *place, const char *sysfs)
{
	struct str text = STR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(place_fields); i++) {
		const struct place_field *field = &place_fields[i];
		char *path = xasprintf("%s/devices/system/cpu/cpu%d/topology/%s", sysfs, place->cpu,
				       field->file);
		long value;

		/* The kernel itself writes -1 or 65535 where it does not know. */
		if (!read_line_file(path, &text) && !parse_int(text.s, 0, INT_MAX, &value) &&
		    value != 65535)
			*(int *)((char *)place + field->offset) = (int)value;
		free(path);
	}
	str_release(&text);
}

static struct topology_cpu *place_of(const struct topology *topology, int cpu)
{
	size_t at = BISECT(i, 0, topology->n, topology->v[i].cpu < cpu);

	return at < topology->n && topology->v[at].cpu == cpu ? &topology->v[at] : NULL;
}

static void nodes_read(struct topology *topology, const char *sysfs)
{
	struct intset nodes = INTSET_INIT, cpus = INTSET_INIT;
	struct str text = STR_INIT, err = STR_INIT;
	char *path = xasprintf("%s/devices/system/node/online", sysfs);

	if (!read_line_file(path, &text) && text.len)
		intset_parse(&nodes, text.s, NODE_MAX, &err);
	free(path);
	for (size_t i = 0; i < nodes.n; i++) {
		path = xasprintf("%s/devices/system/node/node%d/cpulist", sysfs, nodes.v[i]);
		cpus.n = 0;
		/* A node of memory only has an empty list. */
		if (!read_line_file(path, &text) && text.len)
			intset_parse(&cpus, text.s, CPU_MAX, &err);
		for (size_t k = 0; k < cpus.n; k++) {
			struct topology_cpu *place = place_of(topology, cpus.v[k]);

			if (place)
				place->node = nodes.v[i];
		}
		free(path);
	}
	intset_release(&nodes);
	intset_release(&cpus);
	str_release(&text);
	str_release(&err);
}

int topology_read(struct topology *topology, const struct host_paths *host, struct str *err)
{
	struct intset cpus = INTSET_INIT;
	int rc = cpus_online(host, &cpus);

	*topology = (struct topology){ 0 };
	if (rc || !cpus.n) {
		rc = rc ? rc : -ENODEV;
		fail(err, rc, "%s/devices/system/cpu/online: %s", host->sysfs, strerror(-rc));
	} else {
		topology->v = xcalloc(cpus.n, sizeof(*topology->v));
		topology->n = cpus.n;
		for (size_t i = 0; i < cpus.n; i++) {
			topology->v[i] = (struct topology_cpu){ cpus.v[i], -1, -1, -1, -1, -1, 0, -1 };
			place_read(&topology->v[i], host->sysfs);
		}
		nodes_read(topology, host->sysfs);
	}
	intset_release(&cpus);
	return rc;
}

void topology_cpu_take_cache(struct topology_cpu *at, int wanted, int level, const char *shared_cpus)
{
	struct intset cpus = INTSET_INIT;
	struct str ignored = STR_INIT;
	bool better = wanted ? level == wanted && at->cache < 0 : level > at->cache_level;

	if (better && !intset_parse(&cpus, shared_cpus, CPU_MAX, &ignored) && intset_has(&cpus, at->cpu)) {
		at->cache_level = level;
		at->cache = cpus.v[0];
	}
	intset_release(&cpus);
	str_release(&ignored);
}

int topology_check_caches(const struct topology *topology, int wanted, struct str *err)
{
	for (size_t i = 0; i < topology->n; i++)
		if (topology->v[i].cache >= 0)
			return 0;
	if (wanted)
		return fail(err, -ENOENT, "L%d: no CPU has a cache of this level", wanted);
	return fail(err, -ENOENT, "caches: which CPUs share them is not known here");
}

static void caches_of_cpu(struct topology_cpu *at, int wanted, const char *sysfs)
{
	struct str text = STR_INIT;
	long level = 1;

	for (int index = 0; index < CACHE_INDEX_MAX && level > 0; index++) {
		char *folder = xasprintf("%s/devices/system/cpu/cpu%d/cache/index%d", sysfs, at->cpu, index);
		char *file = xasprintf("%s/level", folder), *cpus = xasprintf("%s/shared_cpu_list", folder);

		if (read_line_file(file, &text) || parse_int(text.s, 1, INT_MAX, &level))
			level = 0;
		if (level && !read_line_file(cpus, &text))
			topology_cpu_take_cache(at, wanted, (int)level, text.s);
		free(folder);
		free(file);
		free(cpus);
	}
	str_release(&text);
}

int topology_read_caches(struct topology *topology, int level, const struct host_paths *host, struct str *err)
{
	for (size_t i = 0; i < topology->n; i++)
		caches_of_cpu(&topology->v[i], level, host->sysfs);
	return topology_check_caches(topology, level, err);
}

const struct topology_cpu *topology_find(const struct topology *topology, int cpu)
{
	return place_of(topology, cpu);
}

void topology_release(struct topology *topology)
{
	free(topology->v);
	*topology = (struct topology){ 0 };
}
