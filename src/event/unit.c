/*
 * unit: which counter units there are, and which of them a word means.
 *
 * The catalogue holds the units that were looked at so far. A unit's folder is read when its name
 * is first asked for; the list of all names only where a word is not simply the name of a unit. A
 * unit stays at its place until unit_catalog_free(), so that pointers to it may be kept.
 *
 * A core unit counts what the CPU does for the running task and may follow it: it is one of
 * core_names[], or has a `cpus` file (hybrid x86, arm). An uncore unit has a `cpumask` file
 * instead: the CPUs on which it is to be opened.
 */
#include "event/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_CPU = 65535 };

/* Core units without a `cpus` file. Where the first exists it is the only one. */
static const char *const core_names[] = { "cpu", "cpum_cf" };

struct unit_catalog {
	struct unit **v;
	size_t n, cap;
	struct name_list names; /* of all units */
	bool names_read;
	int names_error; /* why they could not be read, or 0 */
	struct event_unit_list core;
	bool core_read;
};

static struct unit_catalog *catalog(struct event_parse *p)
{
	if (!p->catalog)
		p->catalog = xcalloc(1, sizeof(*p->catalog));
	return p->catalog;
}

static void unit_info_release(struct event_unit *info)
{
	free(info->name);
	intset_release(&info->cpus);
}

void event_unit_list_release(struct event_unit_list *units)
{
	for (size_t i = 0; i < units->n; i++)
		unit_info_release(&units->v[i]);
	free(units->v);
	*units = (struct event_unit_list){ 0 };
}

void unit_catalog_free(struct unit_catalog *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++) {
		unit_info_release(&c->v[i]->info);
		free(c->v[i]->dir);
		free(c->v[i]);
	}
	free(c->v);
	name_list_release(&c->names);
	event_unit_list_release(&c->core);
	free(c);
}

void unit_set_release(struct unit_set *set)
{
	free(set->v);
	*set = (struct unit_set){ 0 };
}

static void unit_set_add(struct unit_set *set, const struct unit *unit)
{
	VEC_GROW(set->v, set->n, set->cap);
	set->v[set->n++] = unit;
}

/* Adds the CPUs in a unit's file; false if it has no such file. */
static bool read_cpus(const char *dir, const char *file, struct intset *cpus)
{
	struct str text = STR_INIT, err = STR_INIT;
	char *path = xasprintf("%s/%s", dir, file);
	bool found = read_line_file(path, &text) == 0;

	/* A list that cannot be understood must not become half a list: then any CPU will do. */
	if (found && text.len && intset_parse(cpus, text.s, MAX_CPU, &err))
		intset_release(cpus);
	str_release(&text);
	str_release(&err);
	free(path);
	return found;
}

static bool is_core_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(core_names); i++)
		if (strcmp(name, core_names[i]) == 0)
			return true;
	return false;
}

static struct unit *unit_read(const char *dir, const char *name)
{
	char *path = xasprintf("%s/type", dir);
	struct unit *unit = NULL;
	uint64_t type;

	if (read_u64_file(path, &type) == 0 && type <= UINT32_MAX) {
		unit = xcalloc(1, sizeof(*unit));
		unit->info.name = xstrdup(name);
		unit->info.type = (uint32_t)type;
		unit->dir = xstrdup(dir);
		unit->info.is_core = is_core_name(name);
		if (!read_cpus(dir, "cpumask", &unit->info.cpus))
			unit->info.is_core |= read_cpus(dir, "cpus", &unit->info.cpus);
	}
	free(path);
	return unit;
}

static char *devices_dir(struct event_parse *p)
{
	return xasprintf("%s/bus/event_source/devices", p->host->sysfs);
}

const struct unit *unit_get(struct event_parse *p, const char *name)
{
	struct unit_catalog *c = catalog(p);
	struct unit *unit;
	char *dir;

	if (!is_plain_file_name(name))
		return NULL;
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->v[i]->info.name, name) == 0)
			return c->v[i];
	dir = xasprintf("%s/bus/event_source/devices/%s", p->host->sysfs, name);
	unit = unit_read(dir, name);
	free(dir);
	if (!unit)
		return NULL;
	VEC_GROW(c->v, c->n, c->cap);
	c->v[c->n++] = unit;
	return unit;
}

const struct event_unit *unit_find(struct event_parse *p, const char *name)
{
	const struct unit *unit = unit_get(p, name);

	return unit ? &unit->info : NULL;
}

static const struct name_list *all_names(struct event_parse *p)
{
	struct unit_catalog *c = catalog(p);

	if (!c->names_read) {
		char *dir = devices_dir(p);

		c->names_error = name_list_read(&c->names, dir);
		c->names_read = true;
		free(dir);
	}
	return &c->names;
}

int unit_all(struct event_parse *p, struct unit_set *set)
{
	const struct name_list *names = all_names(p);

	for (size_t i = 0; i < names->n; i++) {
		const struct unit *unit = unit_get(p, names->v[i]);

		if (unit)
			unit_set_add(set, unit);
	}
	return catalog(p)->names_error;
}

static const char *without_uncore(const char *name)
{
	return strncmp(name, "uncore_", 7) == 0 ? name + 7 : name;
}

/* "uncore_imc" is meant by uncore_imc_0 and uncore_imc0. */
static bool is_numbered(const char *name, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(name, word, len) != 0)
		return false;
	name += len;
	if (*name == '_')
		name++;
	return *name && name[strspn(name, "0123456789")] == '\0';
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

void unit_match(struct event_parse *p, const char *word, struct unit_set *set)
{
	const struct unit *unit = unit_get(p, word);
	const struct name_list *names;
	size_t first = set->n;

	if (unit) {
		unit_set_add(set, unit);
		return;
	}
	names = all_names(p);
	for (size_t i = 0; i < names->n; i++)
		if (name_matches(names->v[i], word) && (unit = unit_get(p, names->v[i])))
			unit_set_add(set, unit);
	for (size_t i = 0; i < names->n && set->n == first; i++)
		if (has_sysfs_alias(p, names->v[i], word) && (unit = unit_get(p, names->v[i])))
			unit_set_add(set, unit);
}

static void unit_list_add(struct event_unit_list *list, const struct event_unit *info)
{
	struct event_unit *copy;

	VEC_GROW(list->v, list->n, list->cap);
	copy = &list->v[list->n++];
	*copy = (struct event_unit){ .name = xstrdup(info->name), .type = info->type,
				     .is_core = info->is_core };
	intset_copy(&copy->cpus, &info->cpus);
}

/* Found out without reading the unit: most units of a big machine are not of the core. */
static bool may_be_core(struct event_parse *p, const char *name)
{
	char *path = xasprintf("%s/bus/event_source/devices/%s/cpus", p->host->sysfs, name);
	bool found = is_core_name(name) || access(path, F_OK) == 0;

	free(path);
	return found;
}

const struct event_unit_list *unit_core_units(struct event_parse *p)
{
	struct unit_catalog *c = catalog(p);
	const struct name_list *names;
	const struct unit *unit;

	if (c->core_read)
		return &c->core;
	c->core_read = true;
	unit = unit_get(p, core_names[0]);
	if (unit) {
		unit_list_add(&c->core, &unit->info);
		return &c->core;
	}
	names = all_names(p);
	for (size_t i = 0; i < names->n; i++) {
		unit = may_be_core(p, names->v[i]) ? unit_get(p, names->v[i]) : NULL;
		if (unit && unit->info.is_core)
			unit_list_add(&c->core, &unit->info);
	}
	return &c->core;
}

int event_units_read(struct event_unit_list *units, const struct host_paths *host)
{
	struct event_parse p = { .host = host };
	struct unit_set all = { 0 };
	int ret = unit_all(&p, &all);

	for (size_t i = 0; i < all.n; i++)
		unit_list_add(units, &all.v[i]->info);
	unit_set_release(&all);
	unit_catalog_free(p.catalog);
	return ret;
}

void event_core_units_read(struct event_unit_list *units, const struct host_paths *host)
{
	struct event_parse p = { .host = host };

	unit_core_units(&p);
	*units = p.catalog->core;
	p.catalog->core = (struct event_unit_list){ 0 };
	unit_catalog_free(p.catalog);
}
