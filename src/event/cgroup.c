/* SPDX-License-Identifier: MIT */
/*
 * Cgroup names on events: -G gives names to the events in their order, --for-each-cgroup gives the
 * whole list once to each name. Names only: kern/ finds their folders.
 *
 * "The n-th event" counts as the user does: the events that one name made on several PMUs are one.
 */
#include "event/event.h"

#include "event/source.h"

#include <errno.h>
#include <stdlib.h>

/* Splits names at commas; the caller frees each and the array. An empty text is one empty name. */
static char **split_names(const char *names, size_t *n)
{
	char **v = NULL;
	size_t cap = 0;

	*n = 0;
	for (;;) {
		size_t len = strcspn(names, ",");

		VEC_GROW(v, *n, cap);
		v[(*n)++] = xstrndup(names, len);
		if (!names[len])
			return v;
		names += len + 1;
	}
}

static void free_names(char **v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(v[i]);
	free(v);
}

/* Numbers the events as they were given: ordinals[i] of event i; returns how many there are. */
static size_t count_given(const struct event_list *list, size_t *ordinals)
{
	size_t *of_expansion = xcalloc(list->n_expansions + 1, sizeof(*of_expansion));
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++) {
		unsigned id = list->v[i].expansion_id;

		if (id && of_expansion[id]) {
			ordinals[i] = of_expansion[id] - 1;
			continue;
		}
		ordinals[i] = n++;
		if (id)
			of_expansion[id] = n;
	}
	free(of_expansion);
	return n;
}

static void set_cgroup(struct event *event, const char *name)
{
	free(event->cgroup);
	event->cgroup = *name ? xstrdup(name) : NULL;
}

static bool same_cgroup(const struct event *a, const struct event *b)
{
	return strcmp(a->cgroup ? a->cgroup : "", b->cgroup ? b->cgroup : "") == 0;
}

/* The kernel wants one cgroup per group: a task is in one cgroup at a time. */
static int check_groups(const struct event_list *list, struct str *err)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct event *leader = &list->v[list->v[i].leader];

		if (!same_cgroup(&list->v[i], leader))
			return fail(err, -EINVAL,
				    "-G: '%s' and '%s' are in one group and need the same cgroup",
				    leader->name, list->v[i].name);
	}
	return 0;
}

int event_list_set_cgroups(struct event_list *list, const char *names, struct str *err)
{
	size_t *ordinals, n_given, n_names, from = list->n_cgroups;
	char **v;
	bool all;
	int rc = 0;

	if (!list->n)
		return fail(err, -EINVAL, "-G: there is no event before it");
	v = split_names(names, &n_names);
	ordinals = xcalloc(list->n, sizeof(*ordinals));
	n_given = count_given(list, ordinals);
	all = from == 0 && n_names == 1 && *v[0];
	if (from + n_names > n_given) {
		rc = fail(err, -EINVAL, "-G: %zu cgroups for %zu events: '%s' has no event",
			  from + n_names, n_given, v[n_given > from ? n_given - from : 0]);
		goto out;
	}
	for (size_t i = 0; i < list->n; i++) {
		if (all)
			set_cgroup(&list->v[i], v[0]);
		else if (ordinals[i] >= from && ordinals[i] - from < n_names)
			set_cgroup(&list->v[i], v[ordinals[i] - from]);
	}
	list->n_cgroups += n_names;
	rc = check_groups(list, err);
out:
	free(ordinals);
	free_names(v, n_names);
	return rc;
}

/* Appends a copy of base whose events belong to name. */
static void append_for(struct event_list *list, const struct event_list *base, const char *name)
{
	struct event_list copy;
	size_t shift = list->n;

	event_list_copy(&copy, base);
	for (size_t i = 0; i < copy.n; i++) {
		struct event *event = &copy.v[i];

		event->leader += shift;
		if (event->expansion_id)
			event->expansion_id += list->n_expansions;
		set_cgroup(event, name);
		VEC_GROW(list->v, list->n, list->cap);
		list->v[list->n++] = *event;
	}
	list->n_expansions += base->n_expansions;
	free(copy.v);
}

int event_list_for_each_cgroup(struct event_list *list, const char *names, struct str *err)
{
	struct event_list all;
	size_t n_names;
	char **v;
	int rc = 0;

	if (!list->n)
		return fail(err, -EINVAL, "--for-each-cgroup: there is no event before it");
	for (size_t i = 0; i < list->n; i++)
		if (list->v[i].cgroup)
			return fail(err, -EINVAL, "--for-each-cgroup: '%s' has a cgroup from -G",
				    list->v[i].name);
	event_list_init(&all);
	v = split_names(names, &n_names);
	for (size_t i = 0; i < n_names && !rc; i++)
		if (!*v[i])
			rc = fail(err, -EINVAL, "--for-each-cgroup: an empty name in '%s'", names);
	for (size_t i = 0; i < n_names && !rc; i++)
		append_for(&all, list, v[i]);
	free_names(v, n_names);
	if (rc)
		return rc;
	all.notes = list->notes;
	list->notes = (struct note_list){ .v = NULL };
	all.last_spec = list->last_spec;
	event_list_release(list);
	*list = all;
	return 0;
}
