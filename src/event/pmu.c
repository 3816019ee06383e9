/*
 * pmu: events of the PMUs that sysfs describes.
 *
 *	cpu/event=0x3c,umask=1/u   fields of the PMU's format/ folder
 *	uncore_imc/cas_count_read/ a name in its events/ folder, on each of the numbered PMUs
 *	cpu/cycles/                a generic name on a core PMU
 *	tsc                        a name in some PMU's events/ folder, core PMUs first
 *
 * A spec makes one event per PMU. Terms take effect in the order in which they are written: a
 * later one replaces a field that an earlier one has set (pmu_term.c).
 */
#include "event/pmu.h"

#include <stdlib.h>

/* ---- events ---- */

static int add_pmu_event(struct event_parse *p, const struct spec_event *spec, bool word_is_alias,
			 const struct pmu *pmu)
{
	struct event *event = event_new(p, spec, &pmu_source);

	event->attr.type = pmu->info.type;
	free(event->pmu_name);
	event->pmu_name = xstrdup(pmu->info.name);
	event->pmu_is_core = pmu->info.is_core;
	intset_copy(&event->cpus, &pmu->info.cpus);
	return pmu_apply_terms(p, spec, word_is_alias, event, pmu);
}

/* Would the PMU take the spec? Tried on a list that is thrown away. */
static bool pmu_accepts(const struct event_parse *p, const struct spec_event *spec,
			const struct pmu *pmu)
{
	struct event_list list;
	struct spec_error error = { .reason = STR_INIT, .hint = STR_INIT };
	struct event_parse trial = *p;
	bool ok;

	event_list_init(&list);
	trial.list = &list;
	trial.error = &error;
	ok = add_pmu_event(&trial, spec, false, pmu) == 0;
	event_list_release(&list);
	spec_error_release(&error);
	return ok;
}

/* A pattern means those of its PMUs that know the terms; if none does, the first says why. */
static void keep_accepting(const struct event_parse *p, const struct spec_event *spec,
			   struct pmu_set *set)
{
	size_t kept = 0;

	for (size_t i = 0; i < set->n; i++)
		if (pmu_accepts(p, spec, set->v[i]))
			set->v[kept++] = set->v[i];
	set->n = kept ? kept : 1;
}

static int add_pmus(struct event_parse *p, const struct spec_event *spec, bool word_is_alias,
		    const struct pmu_set *set)
{
	enum event_expansion expansion = EXPANSION_CORE_TYPES;
	unsigned id = 0;

	for (size_t i = 0; i < set->n; i++)
		if (!set->v[i]->info.is_core)
			expansion = EXPANSION_PMUS;
	if (set->n > 1)
		id = ++p->list->n_expansions;
	for (size_t i = 0; i < set->n; i++) {
		struct event *event;
		int ret = add_pmu_event(p, spec, word_is_alias, set->v[i]);

		if (ret < 0)
			return ret;
		event = &p->list->v[p->list->n - 1];
		event->expansion_id = id;
		event->expansion = id ? expansion : EXPANSION_NONE;
	}
	return 1;
}

/* Keeps the PMUs that have the alias; true if there is one. */
static bool keep_having(struct pmu_set *set, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < set->n; i++) {
		struct pmu_alias alias = { 0 };

		if (pmu_alias_read(&alias, set->v[i], name) == 0)
			set->v[kept++] = set->v[i];
		pmu_alias_release(&alias);
	}
	set->n = kept;
	return kept;
}

static int lookup_alias(struct event_parse *p, const struct spec_event *spec)
{
	const struct event_pmu_list *core;
	struct pmu_set set = { 0 };
	int ret = 0;

	if (!is_plain_file_name(spec->word))
		return 0;
	core = pmu_core_pmus(p);
	for (size_t i = 0; i < core->n; i++) {
		VEC_GROW(set.v, set.n, set.cap);
		set.v[set.n++] = pmu_get(p, core->v[i].name);
	}
	if (!keep_having(&set, spec->word)) {
		pmu_all(p, &set);
		keep_having(&set, spec->word);
	}
	if (set.n)
		ret = add_pmus(p, spec, true, &set);
	pmu_set_release(&set);
	return ret;
}

static int lookup_pmu(struct event_parse *p, const struct spec_event *spec)
{
	struct pmu_set set = { 0 };
	int ret;

	pmu_match(p, spec->word, &set);
	if (set.n > 1 && has_glob_chars(spec->word))
		keep_accepting(p, spec, &set);
	ret = set.n ? add_pmus(p, spec, false, &set) : lookup_alias(p, spec);
	pmu_set_release(&set);
	return ret;
}

static int pmu_lookup(struct event_parse *p, const struct spec_event *spec)
{
	switch (spec->kind) {
	case SPEC_PMU:
		return lookup_pmu(p, spec);
	case SPEC_WORD:
		return lookup_alias(p, spec);
	default:
		return 0;
	}
}

/* ---- list ---- */

static int list_alias(const struct pmu *pmu, const char *name, event_info_fn fn, void *data)
{
	struct event_info info = { .topic = pmu_source.name, .pmu_name = pmu->info.name };
	struct str full = STR_INIT, desc = STR_INIT;
	struct pmu_alias alias = { 0 };
	int ret = 0;

	if (pmu_alias_read(&alias, pmu, name))
		goto out;
	str_addf(&full, "%s/%s", pmu->info.name, alias.name);
	for (size_t i = 0; i < alias.n_terms; i++) {
		const struct spec_term *term = &alias.terms[i];

		if (term->value && strcmp(term->value, "?") == 0)
			str_addf(&full, ",%s=?", term->name);
		str_addf(&desc, "%s%s%s%s", i ? "," : "", term->name, term->value ? "=" : "",
			 term->value ? term->value : "");
	}
	str_addc(&full, '/');
	if (alias.per_pkg)
		str_add(&desc, ", counted once per package");
	info.name = full.s;
	info.alias = alias.name;
	info.desc = desc.s;
	info.unit = alias.unit;
	info.scale = alias.scale;
	ret = fn(&info, data);
out:
	pmu_alias_release(&alias);
	str_release(&full);
	str_release(&desc);
	return ret;
}

/* One row for the fields of the PMU, with the biggest value of each. */
static int list_formats(const struct pmu *pmu, event_info_fn fn, void *data)
{
	char *dir = xasprintf("%s/format", pmu->dir);
	char *name = xasprintf("%s/.../", pmu->info.name);
	struct name_list formats = { 0 };
	struct str desc = STR_INIT;
	int ret = 0;

	name_list_read(&formats, dir);
	for (size_t i = 0; i < formats.n; i++) {
		struct pmu_format format = { 0 };

		if (pmu_format_read(&format, pmu, formats.v[i]) == 0)
			str_addf(&desc, "%s%s=0..0x%llx", desc.len ? ", " : "terms: ", formats.v[i],
				 (unsigned long long)pmu_format_max(&format));
		pmu_format_release(&format);
	}
	if (desc.len) {
		const struct event_info info = { .topic = pmu_source.name, .name = name,
						 .alias = "", .desc = desc.s, .unit = "",
						 .pmu_name = pmu->info.name, .scale = 1.0 };

		ret = fn(&info, data);
	}
	name_list_release(&formats);
	str_release(&desc);
	free(name);
	free(dir);
	return ret;
}

static int list_pmu(const struct pmu *pmu, event_info_fn fn, void *data)
{
	struct name_list aliases = { 0 };
	int ret = 0;

	pmu_alias_names(pmu, &aliases);
	for (size_t i = 0; i < aliases.n && !ret; i++)
		ret = list_alias(pmu, aliases.v[i], fn, data);
	name_list_release(&aliases);
	return ret ? ret : list_formats(pmu, fn, data);
}

static int pmu_list(const struct host_paths *host, event_info_fn fn, void *data, struct str *err)
{
	struct event_parse p = { .host = host };
	struct pmu_set all = { 0 };
	int ret = pmu_all(&p, &all);

	if (ret)
		fail(err, ret, "%s/bus/event_source/devices: %s", host->sysfs, strerror(-ret));
	for (size_t i = 0; i < all.n && !ret; i++)
		ret = list_pmu(all.v[i], fn, data);
	pmu_set_release(&all);
	pmu_catalog_free(p.catalog);
	return ret;
}

const struct event_source pmu_source = {
	.name = "pmu",
	.lookup = pmu_lookup,
	.list = pmu_list,
};
