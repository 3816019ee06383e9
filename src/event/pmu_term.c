/*
 * pmu_term: the terms that only one PMU understands, applied to an event of that PMU:
 * its format fields, its aliases, and generic names.
 *
 * A field and an alias of the same name: the field wins, because the alias can still be had with
 * event=NAME. An alias's own terms are fields only; they take effect where the alias stands.
 */
#include "event/pmu.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

/* What pmu_term() needs beside the event. */
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
				 "%s: another event here has brought a unit or a scale already",
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

/* 1 taken, 0 the PMU has no such alias, negative errno wrong. */
static int apply_alias(struct event_parse *p, const char *name, size_t pos, struct event *event,
		       struct pmu_terms *t)
{
	struct pmu_alias alias = { 0 };
	struct spec_event spec = { .kind = SPEC_PMU, .has_terms = true };
	int ret = pmu_alias_read(&alias, t->pmu, name);

	if (ret == -ENOENT) {
		ret = 0;
		goto out;
	}
	if (ret) {
		spec_fail(p->error, ret, pos, "%s/events/%s: %s", t->pmu->info.name, name,
			  strerror(-ret));
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
	if (ret == 0)
		ret = 1;
out:
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
		/* Where there are several core PMUs, the upper half of config says which. */
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

int pmu_apply_terms(struct event_parse *p, const struct spec_event *spec, bool word_is_alias,
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
