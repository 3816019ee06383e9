/* SPDX-License-Identifier: MIT */
/*
 * pmu_alias: events that the kernel names. A file NAME in a PMU's events/ folder holds terms of
 * that PMU ("event=0x3c,umask=0x01"); files beside it say more about the value:
 *
 *	NAME.scale     factor from count to value        NAME.unit      the value's unit
 *	NAME.per-pkg   counts once per package           NAME.snapshot  a level, not a sum
 */
#include "event/pmu.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>

static const char *const side_suffixes[] = { ".scale", ".unit", ".per-pkg", ".snapshot" };

static bool is_side_file(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(side_suffixes); i++) {
		size_t n = strlen(side_suffixes[i]);

		if (len > n && strcmp(name + len - n, side_suffixes[i]) == 0)
			return true;
	}
	return false;
}

void pmu_alias_names(const struct pmu *pmu, struct name_list *names)
{
	char *dir = xasprintf("%s/events", pmu->dir);
	size_t kept = names->n, first = names->n;

	name_list_read(names, dir);
	free(dir);
	for (size_t i = first; i < names->n; i++) {
		if (is_side_file(names->v[i]))
			free(names->v[i]);
		else
			names->v[kept++] = names->v[i];
	}
	names->n = kept;
}

/* "event=0x3c,umask=1,any" */
static void split_terms(struct pmu_alias *alias, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, ",");
		size_t name_len = strcspn(text, "=,");
		struct spec_term *term;

		if (len) {
			VEC_GROW(alias->terms, alias->n_terms, alias->terms_cap);
			term = &alias->terms[alias->n_terms++];
			*term = (struct spec_term){ .name = xstrndup(text, name_len) };
			if (name_len < len)
				term->value = xstrndup(text + name_len + 1, len - name_len - 1);
		}
		text += len;
		if (*text)
			text++;
	}
}

static int read_side_file(const struct pmu *pmu, const char *name, const char *suffix,
			  struct str *text)
{
	char *path = xasprintf("%s/events/%s%s", pmu->dir, name, suffix);
	int ret = read_line_file(path, text);

	free(path);
	return ret;
}

/* Reads the file of exactly that name. */
static int read_exact(struct pmu_alias *alias, const struct pmu *pmu, const char *name)
{
	struct str text = STR_INIT;
	int ret = read_side_file(pmu, name, "", &text);

	if (ret < 0)
		goto out;
	split_terms(alias, text.s);
	alias->name = xstrdup(name);
	alias->scale = 1.0;
	if (read_side_file(pmu, name, ".scale", &text) == 0)
		alias->has_scale = parse_double(text.s, &alias->scale) == 0;
	alias->unit = xstrdup(read_side_file(pmu, name, ".unit", &text) == 0 ? text.s : "");
	alias->per_pkg = read_side_file(pmu, name, ".per-pkg", &text) == 0;
	alias->snapshot = read_side_file(pmu, name, ".snapshot", &text) == 0;
out:
	str_release(&text);
	return ret;
}

int pmu_alias_read(struct pmu_alias *alias, const struct pmu *pmu, const char *name)
{
	struct name_list names = { 0 };
	int ret;

	if (!is_plain_file_name(name) || is_side_file(name))
		return -ENOENT;
	ret = read_exact(alias, pmu, name);
	if (ret != -ENOENT)
		return ret;
	pmu_alias_names(pmu, &names);
	for (size_t i = 0; i < names.n && ret == -ENOENT; i++)
		if (strcasecmp(names.v[i], name) == 0)
			ret = read_exact(alias, pmu, names.v[i]);
	name_list_release(&names);
	return ret;
}

void pmu_alias_release(struct pmu_alias *alias)
{
	for (size_t i = 0; i < alias->n_terms; i++) {
		free(alias->terms[i].name);
		free(alias->terms[i].value);
	}
	free(alias->terms);
	free(alias->name);
	free(alias->unit);
	*alias = (struct pmu_alias){ 0 };
}
