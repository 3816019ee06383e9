/* SPDX-License-Identifier: MIT */
/*
 * The event list as a whole: life and death, copies, and what options say about all of its events.
 * An event owns its texts; `source` alone is static. A copy shares nothing with the original but that.
 */
#include "event/event.h"

#include "event/source.h"

#include <errno.h>
#include <stdlib.h>

void event_list_init(struct event_list *list)
{
	*list = (struct event_list){ .v = NULL };
}

void event_release(struct event *event)
{
	free(event->name);
	free(event->pmu_name);
	free(event->unit);
	free(event->group_name);
	free(event->filter);
	free(event->sample_filter);
	free(event->tracepoint);
	free(event->cgroup);
	free(event->probe_path);
	free(event->terms.call_graph);
	free(event->terms.branch_type);
	free(event->terms.metric_id);
	intset_release(&event->terms.cpus);
	intset_release(&event->cpus);
}

void event_set_pmu(struct event *event, const struct event_pmu *pmu)
{
	free(event->pmu_name);
	event->pmu_name = xstrdup(pmu->name);
	event->pmu_is_core = pmu->is_core;
	intset_copy(&event->cpus, &pmu->cpus);
	event->has_no_cpu = pmu->has_no_cpu;
}

bool event_is_moved(const struct event *event)
{
	return event->cpus.n && !event->pmu_is_core && !event->cpus_chosen;
}

void event_choose_cpus(struct event *event)
{
	struct intset both = INTSET_INIT;
	const bool is_moved = event_is_moved(event), any = !event->cpus.n && !event->has_no_cpu;

	if (!event->terms.has_cpus)
		return;
	for (size_t i = 0; i < event->terms.cpus.n; i++)
		if (any || intset_has(&event->cpus, event->terms.cpus.v[i]))
			intset_add(&both, event->terms.cpus.v[i]);
	event->has_no_cpu = !both.n;
	event->cpus_chosen = !is_moved && both.n;
	intset_release(&event->cpus);
	event->cpus = both;
}

void event_list_release(struct event_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		event_release(&list->v[i]);
	free(list->v);
	note_list_release(&list->notes);
	vendor_catalog_free(list->vendors);
	event_list_init(list);
}

static char *copy_text(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

static void copy_event(struct event *to, const struct event *from)
{
	*to = *from;
	to->name = copy_text(from->name);
	to->pmu_name = copy_text(from->pmu_name);
	to->unit = copy_text(from->unit);
	to->group_name = copy_text(from->group_name);
	to->filter = copy_text(from->filter);
	to->sample_filter = copy_text(from->sample_filter);
	to->tracepoint = copy_text(from->tracepoint);
	to->cgroup = copy_text(from->cgroup);
	to->terms.call_graph = copy_text(from->terms.call_graph);
	to->terms.branch_type = copy_text(from->terms.branch_type);
	to->terms.metric_id = copy_text(from->terms.metric_id);
	to->cpus = to->terms.cpus = (struct intset)INTSET_INIT;
	intset_copy(&to->cpus, &from->cpus);
	intset_copy(&to->terms.cpus, &from->terms.cpus);
	to->probe_path = copy_text(from->probe_path);
	if (from->probe_path && from->attr.config1 == (uintptr_t)from->probe_path)
		to->attr.config1 = (uintptr_t)to->probe_path;
}

void event_list_copy(struct event_list *to, const struct event_list *from)
{
	event_list_init(to);
	to->v = from->n ? xcalloc(from->n, sizeof(*to->v)) : NULL;
	to->n = from->n;
	to->cap = from->n;
	to->last_spec = from->last_spec;
	to->n_cgroups = from->n_cgroups;
	to->n_expansions = from->n_expansions;
	for (size_t i = 0; i < from->n; i++)
		copy_event(&to->v[i], &from->v[i]);
}

void event_list_repeat(struct event_list *list, size_t index)
{
	struct event *copy;

	VEC_GROW(list->v, list->n, list->cap);
	copy = &list->v[list->n];
	copy_event(copy, &list->v[index]);
	free(copy->group_name);
	copy->group_name = NULL;
	copy->leader = list->n++;
	copy->n_members = 1;
	copy->weak = false;
	copy->expansion_id = 0;
	copy->expansion = EXPANSION_NONE;
}

/* The new leader takes over what only leaders have. */
static void lead_instead(struct event *heir, struct event *leader)
{
	heir->n_members = leader->n_members - 1;
	heir->group_name = leader->group_name;
	leader->group_name = NULL;
	heir->weak = leader->weak;
	heir->attr.pinned = leader->attr.pinned;
	heir->attr.exclusive = leader->attr.exclusive;
}

void event_list_remove(struct event_list *list, size_t index)
{
	struct event *gone = &list->v[index];
	size_t leader = gone->leader;

	if (leader != index)
		list->v[leader].n_members--;
	else if (gone->n_members > 1)
		lead_instead(gone + 1, gone);
	event_release(gone);
	list->n--;
	memmove(gone, gone + 1, (list->n - index) * sizeof(*gone));
	for (size_t i = index; i < list->n; i++) {
		/* The first member of a leader that is gone is now at its index. */
		if (list->v[i].leader > index)
			list->v[i].leader--;
	}
	if (list->last_spec > index)
		list->last_spec--;
}

void event_list_only_user(struct event_list *list)
{
	struct str left = STR_INIT;

	for (size_t i = 0; i < list->n; i++) {
		struct event *event = &list->v[i];

		if (event_is_kernel_only(event)) {
			if (!event->attr.exclude_kernel)
				str_addf(&left, "%s%s", left.len ? ", " : "", event->name);
			continue;
		}
		event->attr.exclude_kernel = 1;
		event->attr.exclude_user = 0;
		event->user_excludes = true;
	}
	if (left.len)
		note_add(&list->notes, false, NULL,
			 "--all-user does not change %s: they happen only in the kernel", left.s);
	str_release(&left);
}

void event_list_only_kernel(struct event_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		list->v[i].attr.exclude_user = 1;
		list->v[i].attr.exclude_kernel = 0;
		list->v[i].user_excludes = true;
	}
}

/* --filter stands behind an -e and says something. */
static int check_filter(const struct event_list *list, const char *filter, struct str *err)
{
	if (list->last_spec >= list->n)
		return fail(err, -EINVAL, "--filter: there is no -e before it");
	if (!filter[strspn(filter, " \t\n")])
		return fail(err, -EINVAL, "--filter: the filter is empty");
	return 0;
}

bool event_list_ends_with_tracepoints(const struct event_list *list)
{
	for (size_t i = list->last_spec; i < list->n; i++)
		if (list->v[i].attr.type != PERF_TYPE_TRACEPOINT)
			return false;
	return list->last_spec < list->n;
}

int event_list_set_sample_filter(struct event_list *list, const char *filter, struct str *err)
{
	int rc = check_filter(list, filter, err);

	for (size_t i = list->last_spec; i < list->n && !rc; i++) {
		struct event *event = &list->v[i];
		char *both = event->sample_filter ? xasprintf("%s, %s", event->sample_filter, filter) :
						    xstrdup(filter);

		if (event->attr.type == PERF_TYPE_TRACEPOINT)
			rc = fail(err, -EINVAL, "--filter: '%s' is a tracepoint, and others of this -e are none: give "
				  "each kind its own -e and --filter", event->name);
		free(event->sample_filter);
		event->sample_filter = both;
	}
	return rc;
}

int event_list_set_filter(struct event_list *list, const char *filter, struct str *err)
{
	int rc = check_filter(list, filter, err);

	if (rc)
		return rc;
	for (size_t i = list->last_spec; i < list->n; i++)
		if (list->v[i].attr.type != PERF_TYPE_TRACEPOINT)
			return fail(err, -EINVAL,
				    "--filter: '%s' is not a tracepoint, only these have fields to filter by",
				    list->v[i].name);
	for (size_t i = list->last_spec; i < list->n; i++) {
		struct event *event = &list->v[i];
		char *both = event->filter ? xasprintf("(%s) && (%s)", event->filter, filter) :
					     xstrdup(filter);

		free(event->filter);
		event->filter = both;
	}
	return 0;
}
