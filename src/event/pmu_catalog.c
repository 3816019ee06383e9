/* SPDX-License-Identifier: MIT */
/*
 * pmu_catalog: which PMUs there are, and which of them a word means.
 *
 * The catalogue holds the PMUs that were looked at so far. A PMU's folder is read when its name
 * is first asked for; the list of all names only where a word is not simply the name of a PMU. A
 * PMU stays at its place until pmu_catalog_free(), so that pointers to it may be kept.
 *
 * A core PMU counts what the CPU does for the running task and may follow it: it is one of
 * core_names[], or has a `cpus` file (hybrid x86, arm). An uncore PMU has a `cpumask` file
 * instead: the CPUs on which it is to be opened.
 */
#include "event/pmu.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_CPU = 65535 };

/* Core PMUs without a `cpus` file. Where the first exists it is the only one. */
static const char *const core_names[] = { "cpu", "cpum_cf" };

/*
 * PMUs that the kernel itself makes on every machine, none of them of the core. That a file is missing in sysfs takes
 * it 5 to 20 microseconds to say, and where there is no core PMU, as in most virtual machines, all are asked.
 */
static const char *const never_core[] = { "breakpoint", "kprobe", "msr", "software", "tracepoint", "uprobe" };

struct pmu_catalog {
	struct pmu **v;
	size_t n, cap;
	struct name_list names; /* of all PMUs */
	bool names_read;
	int names_error; /* why they could not be read, or 0 */
	struct event_pmu_list core;
	bool core_read;
};

static struct pmu_catalog *catalog(struct event_parse *p)
{
	if (!p->catalog)
		p->catalog = xcalloc(1, sizeof(*p->catalog));
	return p->catalog;
}

static void pmu_info_release(struct event_pmu *info)
{
	free(info->name);
	intset_release(&info->cpus);
}

void event_pmu_list_release(struct event_pmu_list *pmus)
{
	for (size_t i = 0; i < pmus->n; i++)
		pmu_info_release(&pmus->v[i]);
	free(pmus->v);
	*pmus = (struct event_pmu_list){ 0 };
}

void pmu_catalog_free(struct pmu_catalog *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++) {
		pmu_info_release(&c->v[i]->info);
		free(c->v[i]->dir);
		free(c->v[i]);
	}
	free(c->v);
	name_list_release(&c->names);
	event_pmu_list_release(&c->core);
	free(c);
}

void pmu_set_release(struct pmu_set *set)
{
	free(set->v);
	*set = (struct pmu_set){ 0 };
}

static void pmu_set_add(struct pmu_set *set, const struct pmu *pmu)
{
	VEC_GROW(set->v, set->n, set->cap);
	set->v[set->n++] = pmu;
}

/* The CPUs in a PMU's file; false if it has no such file. */
static bool read_cpus(const char *dir, const char *file, struct event_pmu *info)
{
	struct str text = STR_INIT, err = STR_INIT;
	char *path = xasprintf("%s/%s", dir, file);
	bool found = read_line_file(path, &text) == 0;

	/* A list that cannot be understood must not become half a list: then any CPU will do. */
	if (found && text.len && intset_parse(&info->cpus, text.s, MAX_CPU, &err))
		intset_release(&info->cpus);
	info->has_no_cpu = found && !text.len;
	str_release(&text);
	str_release(&err);
	free(path);
	return found;
}

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static bool is_core_name(const char *name)
{
	return is_one_of(name, core_names, ARRAY_SIZE(core_names));
}

static struct pmu *pmu_read(const char *dir, const char *name)
{
	char *path = xasprintf("%s/type", dir);
	struct pmu *pmu = NULL;
	uint64_t type;

	if (read_u64_file(path, &type) == 0 && type <= UINT32_MAX) {
		pmu = xcalloc(1, sizeof(*pmu));
		pmu->info.name = xstrdup(name);
		pmu->info.type = (uint32_t)type;
		pmu->dir = xstrdup(dir);
		pmu->info.is_core = is_core_name(name);
		if (!read_cpus(dir, "cpumask", &pmu->info))
			pmu->info.is_core |= read_cpus(dir, "cpus", &pmu->info);
	}
	free(path);
	return pmu;
}

static char *devices_dir(struct event_parse *p)
{
	return xasprintf("%s/bus/event_source/devices", p->host->sysfs);
}

int pmu_folder_exists(struct event_parse *p, const struct spec_event *spec)
{
	char *dir = devices_dir(p);
	int rc = 0;

	if (access(dir, F_OK)) {
		rc = spec_fail(p->error, -errno, spec->word_pos, "'%s' cannot be looked for: %s: %s", spec->word, dir,
			       strerror(errno));
		if (!strcmp(p->host->sysfs, "/sys"))
			str_add(&p->error->hint, "mount -t sysfs none /sys");
	}
	free(dir);
	return rc;
}

const struct pmu *pmu_get(struct event_parse *p, const char *name)
{
	struct pmu_catalog *c = catalog(p);
	struct pmu *pmu;
	char *dir;

	if (!is_plain_file_name(name))
		return NULL;
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->v[i]->info.name, name) == 0)
			return c->v[i];
	dir = xasprintf("%s/bus/event_source/devices/%s", p->host->sysfs, name);
	pmu = pmu_read(dir, name);
	free(dir);
	if (!pmu)
		return NULL;
	VEC_GROW(c->v, c->n, c->cap);
	c->v[c->n++] = pmu;
	return pmu;
}

const struct event_pmu *pmu_find(struct event_parse *p, const char *name)
{
	const struct pmu *pmu = pmu_get(p, name);

	return pmu ? &pmu->info : NULL;
}

static const struct name_list *all_names(struct event_parse *p)
{
	struct pmu_catalog *c = catalog(p);

	if (!c->names_read) {
		char *dir = devices_dir(p);

		c->names_error = name_list_read(&c->names, dir);
		c->names_read = true;
		free(dir);
	}
	return &c->names;
}

int pmu_all(struct event_parse *p, struct pmu_set *set)
{
	const struct name_list *names = all_names(p);

	for (size_t i = 0; i < names->n; i++) {
		const struct pmu *pmu = pmu_get(p, names->v[i]);

		if (pmu)
			pmu_set_add(set, pmu);
	}
	return catalog(p)->names_error;
}

static const char *without_uncore(const char *name)
{
	return strncmp(name, "uncore_", 7) == 0 ? name + 7 : name;
}

/*
 * "uncore_imc" is meant by uncore_imc_0 and uncore_imc0, and arm_dmc620 by arm_dmc620_10008c000, which is
 * named by its address. Fewer than three hexadecimal digits are a name's last part: s390's cpum_cf.
 */
static bool is_numbered(const char *name, const char *word)
{
	size_t len = strlen(word), digits, hex;
	bool behind_line;

	if (strncmp(name, word, len) != 0)
		return false;
	name += len;
	behind_line = *name == '_';
	name += behind_line;
	digits = strspn(name, "0123456789");
	hex = strspn(name, "0123456789abcdefABCDEF");
	return *name && (!name[digits] || (behind_line && hex > 2 && !name[hex]));
}

static bool name_matches(const char *name, const char *word)
{
	if (has_glob_chars(word))
		return glob_match(word, name) || glob_match(word, without_uncore(name));
	return is_numbered(name, word) || strcmp(without_uncore(name), word) == 0 ||
	       is_numbered(without_uncore(name), word);
}

static bool has_sysfs_alias(struct event_parse *p, const char *name, const char *word)
{
	struct str text = STR_INIT;
	char *path = xasprintf("%s/bus/event_source/devices/%s/alias", p->host->sysfs, name);
	bool found = read_line_file(path, &text) == 0 && strcmp(text.s, word) == 0;

	str_release(&text);
	free(path);
	return found;
}

void pmu_match(struct event_parse *p, const char *word, struct pmu_set *set)
{
	const struct pmu *pmu = pmu_get(p, word);
	const struct name_list *names;
	size_t first = set->n;

	if (pmu) {
		pmu_set_add(set, pmu);
		return;
	}
	names = all_names(p);
	for (size_t i = 0; i < names->n; i++)
		if (name_matches(names->v[i], word) && (pmu = pmu_get(p, names->v[i])))
			pmu_set_add(set, pmu);
	for (size_t i = 0; i < names->n && set->n == first; i++)
		if (has_sysfs_alias(p, names->v[i], word) && (pmu = pmu_get(p, names->v[i])))
			pmu_set_add(set, pmu);
}

static void pmu_list_add(struct event_pmu_list *list, const struct event_pmu *info)
{
	struct event_pmu *copy;

	VEC_GROW(list->v, list->n, list->cap);
	copy = &list->v[list->n++];
	*copy = (struct event_pmu){ .name = xstrdup(info->name), .type = info->type,
				    .is_core = info->is_core, .has_no_cpu = info->has_no_cpu };
	intset_copy(&copy->cpus, &info->cpus);
}

/* Found out without reading the PMU: most PMUs of a big machine are not of the core. */
static bool may_be_core(struct event_parse *p, const char *name)
{
	char *path;
	bool found;

	if (is_core_name(name) || is_one_of(name, never_core, ARRAY_SIZE(never_core)))
		return is_core_name(name);
	path = xasprintf("%s/bus/event_source/devices/%s/cpus", p->host->sysfs, name);
	found = access(path, F_OK) == 0;
	free(path);
	return found;
}

const struct event_pmu_list *pmu_core_pmus(struct event_parse *p)
{
	struct pmu_catalog *c = catalog(p);
	const struct name_list *names;
	const struct pmu *pmu;

	if (c->core_read)
		return &c->core;
	c->core_read = true;
	pmu = pmu_get(p, core_names[0]);
	if (pmu) {
		pmu_list_add(&c->core, &pmu->info);
		return &c->core;
	}
	names = all_names(p);
	for (size_t i = 0; i < names->n; i++) {
		pmu = may_be_core(p, names->v[i]) ? pmu_get(p, names->v[i]) : NULL;
		if (pmu && pmu->info.is_core)
			pmu_list_add(&c->core, &pmu->info);
	}
	return &c->core;
}

int event_pmus_read(struct event_pmu_list *pmus, const struct host_paths *host)
{
	struct event_parse p = { .host = host };
	struct pmu_set all = { 0 };
	int ret = pmu_all(&p, &all);

	for (size_t i = 0; i < all.n; i++)
		pmu_list_add(pmus, &all.v[i]->info);
	pmu_set_release(&all);
	pmu_catalog_free(p.catalog);
	return ret;
}

void event_core_pmus_read(struct event_pmu_list *pmus, const struct host_paths *host)
{
	struct event_parse p = { .host = host };

	pmu_core_pmus(&p);
	*pmus = p.catalog->core;
	p.catalog->core = (struct event_pmu_list){ 0 };
	pmu_catalog_free(p.catalog);
}
