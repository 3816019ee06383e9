/*
 * pmu: events of the counter units that sysfs describes.
 *
 *	cpu/event=0x3c,umask=1/u   fields of the unit's format/ folder
 *	uncore_imc/cas_count_read/ a name in its events/ folder, on each of the numbered units
 *	cpu/cycles/                a generic name on a core unit
 *	tsc                        a name in some unit's events/ folder, core units first
 *
 * A spec makes one event per unit. Terms take effect in the order in which they are written: a
 * later one replaces a field that an earlier one has set (unit_term.c).
 */
#include "event/unit.h"

#include <stdlib.h>

/* ---- events ---- */

static int add_unit_event(struct event_parse *p, const struct spec_event *spec, bool word_is_alias,
			  const struct unit *unit)
{
	struct event *event = event_new(p, spec, &unit_source);

	event->attr.type = unit->info.type;
	free(event->unit_name);
	event->unit_name = xstrdup(unit->info.name);
	event->unit_is_core = unit->info.is_core;
	intset_copy(&event->cpus, &unit->info.cpus);
	return unit_apply_terms(p, spec, word_is_alias, event, unit);
}

/* Would the unit take the spec? Tried on a list that is thrown away. */
static bool unit_accepts(const struct event_parse *p, const struct spec_event *spec,
			 const struct unit *unit)
{
	struct event_list list;
	struct spec_error error = { .reason = STR_INIT, .hint = STR_INIT };
	struct event_parse trial = *p;
	bool ok;

	event_list_init(&list);
	trial.list = &list;
	trial.error = &error;
	ok = add_unit_event(&trial, spec, false, unit) == 0;
	event_list_release(&list);
	spec_error_release(&error);
	return ok;
}

/* A pattern means those of its units that know the terms; if none does, the first says why. */
static void keep_accepting(const struct event_parse *p, const struct spec_event *spec,
			   struct unit_set *set)
{
	size_t kept = 0;

	for (size_t i = 0; i < set->n; i++)
		if (unit_accepts(p, spec, set->v[i]))
			set->v[kept++] = set->v[i];
	set->n = kept ? kept : 1;
}

static int add_units(struct event_parse *p, const struct spec_event *spec, bool word_is_alias,
		     const struct unit_set *set)
{
	enum event_spread spread = SPREAD_CORE_TYPES;
	unsigned id = 0;

	for (size_t i = 0; i < set->n; i++)
		if (!set->v[i]->info.is_core)
			spread = SPREAD_UNITS;
	if (set->n > 1)
		id = ++p->list->n_spreads;
	for (size_t i = 0; i < set->n; i++) {
		struct event *event;
		int ret = add_unit_event(p, spec, word_is_alias, set->v[i]);

		if (ret < 0)
			return ret;
		event = &p->list->v[p->list->n - 1];
		event->spread_id = id;
		event->spread = id ? spread : SPREAD_NONE;
	}
	return 1;
}

/* Keeps the units that have the alias; true if there is one. */
static bool keep_having(struct unit_set *set, const char *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < set->n; i++) {
		struct unit_alias alias = { 0 };

		if (unit_alias_read(&alias, set->v[i], name) == 0)
			set->v[kept++] = set->v[i];
		unit_alias_release(&alias);
	}
	set->n = kept;
	return kept;
}

static int lookup_alias(struct event_parse *p, const struct spec_event *spec)
{
	const struct event_unit_list *core;
	struct unit_set set = { 0 };
	int ret = 0;

	if (!is_plain_file_name(spec->word))
		return 0;
	core = unit_core_units(p);
	for (size_t i = 0; i < core->n; i++) {
		VEC_GROW(set.v, set.n, set.cap);
		set.v[set.n++] = unit_get(p, core->v[i].name);
	}
	if (!keep_having(&set, spec->word)) {
		unit_all(p, &set);
		keep_having(&set, spec->word);
	}
	if (set.n)
		ret = add_units(p, spec, true, &set);
	unit_set_release(&set);
	return ret;
}

static int lookup_unit(struct event_parse *p, const struct spec_event *spec)
{
	struct unit_set set = { 0 };
	int ret;

	unit_match(p, spec->word, &set);
	if (set.n > 1 && has_glob_chars(spec->word))
		keep_accepting(p, spec, &set);
	ret = set.n ? add_units(p, spec, false, &set) : lookup_alias(p, spec);
	unit_set_release(&set);
	return ret;
}

static int pmu_lookup(struct event_parse *p, const struct spec_event *spec)
{
	switch (spec->kind) {
	case SPEC_UNIT:
		return lookup_unit(p, spec);
	case SPEC_WORD:
		return lookup_alias(p, spec);
	default:
		return 0;
	}
}

/* ---- list ---- */

static int list_alias(const struct unit *unit, const char *name, event_info_fn fn, void *data)
{
	struct event_info info = { .topic = unit_source.name, .unit_name = unit->info.name };
	struct str full = STR_INIT, desc = STR_INIT;
	struct unit_alias alias = { 0 };
	int ret = 0;

	if (unit_alias_read(&alias, unit, name))
		goto out;
	str_addf(&full, "%s/%s", unit->info.name, alias.name);
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
	unit_alias_release(&alias);
	str_release(&full);
	str_release(&desc);
	return ret;
}

/* One row for the fields of the unit, with the biggest value of each. */
static int list_formats(const struct unit *unit, event_info_fn fn, void *data)
{
	char *dir = xasprintf("%s/format", unit->dir);
	char *name = xasprintf("%s/.../", unit->info.name);
	struct name_list formats = { 0 };
	struct str desc = STR_INIT;
	int ret = 0;

	name_list_read(&formats, dir);
	for (size_t i = 0; i < formats.n; i++) {
		struct unit_format format = { 0 };

		if (unit_format_read(&format, unit, formats.v[i]) == 0)
			str_addf(&desc, "%s%s=0..0x%llx", desc.len ? ", " : "terms: ", formats.v[i],
				 (unsigned long long)unit_format_max(&format));
		unit_format_release(&format);
	}
	if (desc.len) {
		const struct event_info info = { .topic = unit_source.name, .name = name,
						 .alias = "", .desc = desc.s, .unit = "",
						 .unit_name = unit->info.name, .scale = 1.0 };

		ret = fn(&info, data);
	}
	name_list_release(&formats);
	str_release(&desc);
	free(name);
	free(dir);
	return ret;
}

static int list_unit(const struct unit *unit, event_info_fn fn, void *data)
{
	struct name_list aliases = { 0 };
	int ret = 0;

	unit_alias_names(unit, &aliases);
	for (size_t i = 0; i < aliases.n && !ret; i++)
		ret = list_alias(unit, aliases.v[i], fn, data);
	name_list_release(&aliases);
	return ret ? ret : list_formats(unit, fn, data);
}

static int pmu_list(const struct host_paths *host, event_info_fn fn, void *data, struct str *err)
{
	struct event_parse p = { .host = host };
	struct unit_set all = { 0 };
	int ret = unit_all(&p, &all);

	if (ret)
		fail(err, ret, "%s/bus/event_source/devices: %s", host->sysfs, strerror(-ret));
	for (size_t i = 0; i < all.n && !ret; i++)
		ret = list_unit(all.v[i], fn, data);
	unit_set_release(&all);
	unit_catalog_free(p.catalog);
	return ret;
}

const struct event_source unit_source = {
	.name = "pmu",
	.lookup = pmu_lookup,
	.list = pmu_list,
};
