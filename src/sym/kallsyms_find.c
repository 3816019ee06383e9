/* SPDX-License-Identifier: MIT */
/*
 * kallsyms_find: the running kernel's symbols of some names, for people who ask where a function is; and the names of
 * all functions.
 *
 * For addresses the list is read twice: for those of the names, then for where each of these symbols ends, which is
 * where the next one of the same module begins. Names are not unique: a static function may be there several times.
 */
#include "sym/dso_names.h"
#include "sym/kallsyms.h"

#include <errno.h>
#include <stdlib.h>

enum { LAST_BYTES = 4096 }; /* the last symbol of a module has no end; it gets what perf gives it */

struct kallsyms_finding {
	const char *const *names;
	size_t n_names;
	struct kallsyms_found *found;
};

static void take_named(void *context, const struct kallsyms_symbol *symbol)
{
	const struct kallsyms_finding *finding = context;
	struct kallsyms_found *found = finding->found;

	for (size_t i = 0; i < finding->n_names; i++) {
		if (strlen(finding->names[i]) != symbol->name_len ||
		    memcmp(finding->names[i], symbol->name, symbol->name_len))
			continue;
		VEC_GROW(found->v, found->n, found->cap);
		found->v[found->n++] = (struct kallsyms_place){
			.name = i, .start = symbol->addr,
			.module = symbol->module ? xstrndup(symbol->module, symbol->module_len) : NULL,
		};
	}
}

static bool same_module(const struct kallsyms_place *a, const struct kallsyms_symbol *b)
{
	if (!a->module || !b->module)
		return !a->module && !b->module;
	return strlen(a->module) == b->module_len && !memcmp(a->module, b->module, b->module_len);
}

static void take_end(void *context, const struct kallsyms_symbol *symbol)
{
	const struct kallsyms_finding *finding = context;

	for (size_t i = 0; i < finding->found->n; i++) {
		struct kallsyms_place *known = &finding->found->v[i];

		if (symbol->addr > known->start && (!known->end || symbol->addr < known->end) &&
		    same_module(known, symbol))
			known->end = symbol->addr;
	}
}

/* Does as kallsyms_each(), and refuses a list without addresses. */
static int each_with_address(const char *procfs,
			     void (*take)(void *context, const struct kallsyms_symbol *symbol), void *context,
			     struct str *err)
{
	char *path = xasprintf("%s/kallsyms", procfs ? procfs : "/proc");
	bool zeroed;
	int rc = kallsyms_each(path, take, context, &zeroed, err);

	if (!rc && zeroed)
		rc = fail(err, -EACCES, "%s: kernel addresses are hidden", path);
	free(path);
	return rc;
}

int kallsyms_find(struct kallsyms_found *found, const char *procfs, const char *const *names, size_t n,
			struct str *err)
{
	struct kallsyms_finding finding = { names, n, found };
	int rc = each_with_address(procfs, take_named, &finding, err);

	if (!rc && found->n)
		rc = each_with_address(procfs, take_end, &finding, err);
	for (size_t i = 0; i < found->n; i++)
		if (!found->v[i].end)
			found->v[i].end = (found->v[i].start | (LAST_BYTES - 1)) + 1 + LAST_BYTES;
	return rc;
}

struct kallsyms_naming {
	void (*take)(void *context, const char *name);
	void *context;
	struct str name;
};

static void take_function(void *context, const struct kallsyms_symbol *symbol)
{
	struct kallsyms_naming *naming = context;

	if (!symbol->text)
		return;
	str_reset(&naming->name);
	str_addn(&naming->name, symbol->name, symbol->name_len);
	naming->take(naming->context, naming->name.s);
}

int kallsyms_functions(const char *procfs, void (*take)(void *context, const char *name), void *context,
		       struct str *err)
{
	struct kallsyms_naming naming = { take, context, STR_INIT };
	int rc = each_with_address(procfs, take_function, &naming, err);

	str_release(&naming.name);
	return rc;
}

void kallsyms_found_release(struct kallsyms_found *found)
{
	for (size_t i = 0; i < found->n; i++)
		free(found->v[i].module);
	free(found->v);
	*found = (struct kallsyms_found){ .n = 0 };
}
