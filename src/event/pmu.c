/* SPDX-License-Identifier: MIT */
/*
 * pmu: events of the PMUs that sysfs describes.
 *
 *	cpu/event=0x3c,umask=1/u   fields of the PMU's format/ folder
 *	uncore_imc/cas_count_read/ a name in its events/ folder, on each of the numbered PMUs
 *	cpu/cycles/                a generic name on a core PMU
 *	tsc                        a name in some PMU's events/ folder, core PMUs first
 *
 * A spec makes one event per PMU. Terms take effect in the order in which they are written: a later one replaces a
 * field that an earlier one has set. A field and an alias of the same name: the field wins, because the alias can still
 * be had with event=NAME. An alias's own terms are fields only; they take effect where the alias stands.
 */
#include "event/vendor.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

/* ---- terms that only one PMU understands: its fields, its aliases, generic names ---- */

/* The context of pmu_term(). */
struct pmu_terms {
	const struct pmu *pmu;
	const struct spec_event *spec;
	const char *alias; /* while an alias's own terms are applied: its name */
	bool has_scale, has_unit; /* an alias has brought one */
};

static void add_one_name(const char *name, struct near_name *near, struct str *names)
{
	near_consider(near, name);
	str_addf(names, "%s%s", names->len ? ", " : "", name);
}

static void add_pmu_names(void *data, struct near_name *near, struct str *names)
{
	const struct pmu_terms *t = data;
	struct name_list list = { 0 };
	char *dir = xasprintf("%s/format", t->pmu->dir);

	name_list_read(&list, dir);
	pmu_alias_names(t->pmu, &list);
	for (size_t i = 0; i < list.n; i++)
		add_one_name(list.v[i], near, names);
	name_list_release(&list);
	free(dir);
}

/* 1 taken, 0 the PMU has no such field, negative errno wrong. */
static int apply_format(struct event_parse *p, const struct spec_term *term, struct event *event,
			struct pmu_terms *t)
{
	struct pmu_format format = { 0 };
	uint64_t value;
	int ret = pmu_format_read(&format, t->pmu, term->name);

	if (ret == -ENOENT) {
		ret = 0;
	} else if (ret) {
		spec_fail(p->error, ret, term->name_pos,
			  "%s/format/%s: the kernel's description is not understood",
			  t->pmu->info.name, term->name);
	} else if (pmu_format_lacks(&format)) {
		ret = spec_fail(p->error, -EOPNOTSUPP, term->name_pos,
				"%s/%s/ is a part of %s, which the kernel headers that pstat was built "
				"with do not have",
				t->pmu->info.name, term->name, pmu_format_lacks(&format));
	} else {
		ret = term_number(p, term, pmu_format_max(&format), &value);
		if (ret == 0) {
			pmu_format_set(&format, &event->attr, value);
			ret = 1;
		}
	}
	pmu_format_release(&format);
	return ret;
}

static bool user_gave(const struct pmu_terms *t, const char *name)
{
	for (size_t i = 0; i < t->spec->n_terms; i++)
		if (t->spec->terms[i].value && strcmp(t->spec->terms[i].name, name) == 0)
			return true;
	return false;
}

/*
 * A term out of an alias's file. "core=?" is a parameter: the user's own core=N is a term as well.
 */
static int alias_term(struct event_parse *p, const struct spec_term *term, struct event *event,
		      void *data)
{
	struct pmu_terms *t = data;
	int ret;

	if (term->value && strcmp(term->value, "?") == 0) {
		if (user_gave(t, term->name))
			return 1;
		return spec_fail(p->error, -EINVAL, term->name_pos,
				 "%s needs a value for '%s': %s/%s,%s=N/", t->alias, term->name,
				 t->pmu->info.name, t->alias, term->name);
	}
	ret = apply_format(p, term, event, t);
	if (ret == 0)
		return spec_fail(p->error, -EINVAL, term->name_pos,
				 "%s: the kernel describes it with '%s', which its unit %s lacks",
				 t->alias, term->name, t->pmu->info.name);
	return ret;
}

/* Scale, unit and the like may come from one alias only: two could not both be true. */
static int take_side_files(struct event_parse *p, const struct pmu_alias *alias, size_t pos,
			   struct event *event, struct pmu_terms *t)
{
	if ((alias->has_scale && t->has_scale) || (*alias->unit && t->has_unit))
		return spec_fail(p->error, -EINVAL, pos,
				 "%s: another event in this list already has a unit or a scale",
				 alias->name);
	if (alias->has_scale)
		event->scale = alias->scale;
	if (*alias->unit) {
		free(event->unit);
		event->unit = xstrdup(alias->unit);
	}
	t->has_scale |= alias->has_scale;
	t->has_unit |= *alias->unit != '\0';
	event->per_pkg |= alias->per_pkg;
	event->snapshot |= alias->snapshot;
	return 0;
}

/* An event that the kernel names, or else the vendor. -ENOENT: neither. */
static int read_alias(struct event_parse *p, struct pmu_alias *alias, const struct pmu *pmu, const char *name,
		      struct str *why)
{
	int ret = pmu_alias_read(alias, pmu, name);

	if (ret == -ENOENT)
		return vendor_alias_read(p, alias, pmu, name, why);
	if (ret)
		str_add(why, strerror(-ret));
	return ret;
}

/* 1 taken, 0 the PMU has no such alias, negative errno wrong. */
static int apply_alias(struct event_parse *p, const char *name, size_t pos, struct event *event,
		       struct pmu_terms *t)
{
	struct pmu_alias alias = { 0 };
	struct spec_event spec = { .kind = SPEC_PMU, .has_terms = true };
	struct str why = STR_INIT;
	int ret = read_alias(p, &alias, t->pmu, name, &why);

	if (ret == -ENOENT) {
		ret = 0;
		goto out;
	}
	if (ret) {
		spec_fail(p->error, ret, pos, "%s/%s/: %s", t->pmu->info.name, name, why.s);
		goto out;
	}
	for (size_t i = 0; i < alias.n_terms; i++)
		alias.terms[i].name_pos = alias.terms[i].value_pos = pos;
	spec.word = t->pmu->info.name;
	spec.terms = alias.terms;
	spec.n_terms = alias.n_terms;
	t->alias = alias.name;
	ret = event_apply_terms(p, &spec, event, alias_term, NULL, t);
	t->alias = NULL;
	if (ret == 0)
		ret = take_side_files(p, &alias, pos, event, t);
	if (ret == 0) {
		event->usual_period = alias.period;
		ret = 1;
	}
out:
	str_release(&why);
	pmu_alias_release(&alias);
	return ret;
}

/* cpu/cycles/, software/page-faults/. 1 taken, 0 not a generic name of such a PMU. */
static int apply_generic(struct event_parse *p, const struct spec_term *term, struct event *event,
			 const struct event_pmu *info)
{
	uint32_t type;
	uint64_t config;

	if (!generic_config(term->name, &type, &config))
		return 0;
	if (info->is_core && (type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE)) {
		/* The upper half of config says which, where there are several core PMUs. */
		if (pmu_core_pmus(p)->n > 1)
			config |= (uint64_t)info->type << PERF_PMU_TYPE_SHIFT;
	} else if (type != info->type) {
		return 0;
	}
	event->attr.type = type;
	event->attr.config = config;
	return 1;
}

static void suggest_alias(struct event_parse *p, const struct pmu *pmu, const char *name)
{
	struct name_list list = { 0 };
	struct near_name near;

	near_init(&near, name, strlen(name));
	pmu_alias_names(pmu, &list);
	for (size_t i = 0; i < list.n; i++)
		near_consider(&near, list.v[i]);
	name_list_release(&list);
	if (near_best(&near))
		str_addf(&p->error->hint, "did you mean '%s'? ", near_best(&near));
}

static int pmu_term(struct event_parse *p, const struct spec_term *term, struct event *event,
		    void *data)
{
	struct pmu_terms *t = data;
	int ret;

	/* event=NAME: an alias in the place of its number. */
	if (term->value && strcmp(term->name, "event") == 0 &&
	    !isdigit((unsigned char)term->value[0])) {
		ret = apply_alias(p, term->value, term->value_pos, event, t);
		if (ret)
			return ret;
		suggest_alias(p, t->pmu, term->value);
	}
	ret = apply_format(p, term, event, t);
	if (ret || (term->value && strcmp(term->value, "1") != 0))
		return ret;
	ret = apply_alias(p, term->name, term->name_pos, event, t);
	if (ret || term->value)
		return ret;
	return apply_generic(p, term, event, &t->pmu->info);
}

/*
 * Applies spec's terms to an event of the PMU: the common ones, the PMU's fields and aliases, and generic names; before
 * them, where word_is_alias, the alias that spec's word names. 0 or negative errno with p->error filled.
 */
static int apply_terms(struct event_parse *p, const struct spec_event *spec, bool word_is_alias,
		    struct event *event, const struct pmu *pmu)
{
	struct pmu_terms t = { .pmu = pmu, .spec = spec };

	if (word_is_alias) {
		int ret = apply_alias(p, spec->word, spec->word_pos, event, &t);

		if (ret < 0)
			return ret;
	}
	return event_apply_terms(p, spec, event, pmu_term, add_pmu_names, &t);
}

/* ---- events ---- */

static int add_pmu_event(struct event_parse *p, const struct spec_event *spec, bool word_is_alias,
			 const struct pmu *pmu)
{
	struct event *event = event_new(p, spec, &pmu_source);

	event->attr.type = pmu->info.type;
	event_set_pmu(event, &pmu->info);
	return apply_terms(p, spec, word_is_alias, event, pmu);
}

/* The event that the PMU would make of the spec, on a list to be thrown away; n 0: none. */
static void try_pmu_event(const struct event_parse *p, const struct spec_event *spec,
			  bool word_is_alias, const struct pmu *pmu, struct event_list *list)
{
	struct spec_error error = { .reason = STR_INIT, .hint = STR_INIT };
	struct event_parse trial = *p;

	event_list_init(list);
	trial.list = list;
	trial.error = &error;
	if (add_pmu_event(&trial, spec, word_is_alias, pmu))
		event_list_release(list);
	spec_error_release(&error);
}

static bool pmu_accepts(const struct event_parse *p, const struct spec_event *spec,
			const struct pmu *pmu)
{
	struct event_list list;
	bool ok;

	try_pmu_event(p, spec, false, pmu, &list);
	ok = list.n;
	event_list_release(&list);
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

int pmu_add_events(struct event_parse *p, const struct spec_event *spec, bool word_is_alias, const struct pmu_set *set)
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
		ret = pmu_add_events(p, spec, true, &set);
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
	ret = set.n ? pmu_add_events(p, spec, false, &set) : lookup_alias(p, spec);
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

/* ---- events that know their PMU by number ---- */

/* Takes over what the kernel says about an alias with the same code; not scale and unit, which change the number. */
static void take_alias_of_code(struct event_parse *p, const struct pmu *pmu, struct event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	struct name_list names = { 0 };

	pmu_alias_names(pmu, &names);
	for (size_t i = 0; i < names.n; i++) {
		const struct spec_event spec = { .kind = SPEC_WORD, .word = names.v[i] };
		struct event_list list;

		try_pmu_event(p, &spec, true, pmu, &list);
		if (list.n && list.v[0].attr.config == attr->config &&
		    list.v[0].attr.config1 == attr->config1 &&
		    list.v[0].attr.config2 == attr->config2) {
			event->per_pkg |= list.v[0].per_pkg;
			event->snapshot |= list.v[0].snapshot;
		}
		event_list_release(&list);
	}
	name_list_release(&names);
}

void event_find_pmu(struct event_parse *p, struct event *event)
{
	bool generic = event->attr.type == PERF_TYPE_HARDWARE || event->attr.type == PERF_TYPE_HW_CACHE;
	uint64_t number = generic ? event->attr.config >> PERF_PMU_TYPE_SHIFT : event->attr.type;
	struct pmu_set all = { 0 };

	/* Lower numbers are the kernel's own kinds; type 4 leaves the choice of the core PMU to it. */
	if ((!generic && number < PERF_TYPE_MAX) || !number || number == EVENT_TYPE_ABSENT)
		return;
	pmu_all(p, &all);
	for (size_t i = 0; i < all.n; i++) {
		if (all.v[i]->info.type != number)
			continue;
		event_set_pmu(event, &all.v[i]->info);
		if (!generic)
			take_alias_of_code(p, all.v[i], event);
		break;
	}
	pmu_set_release(&all);
}

/* ---- list ---- */

static int list_alias(const struct pmu *pmu, const char *name, event_info_fn fn, void *data)
{
	struct event_info info = { .topic = pmu_source.topic.name, .pmu_name = pmu->info.name };
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
		const struct event_info info = { .topic = pmu_source.topic.name, .name = name,
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
	.topic = { "pmu", "Counter units", "Kernel PMU event", true },
	.lookup = pmu_lookup,
	.list = pmu_list,
};
