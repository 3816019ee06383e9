/* SPDX-License-Identifier: MIT */
/*
 * Groups: {a,b,c}:modifiers -> a leader followed by its members.
 *
 * The kernel schedules a group on one PMU. What was written as one group therefore becomes
 * one group per PMU: a generic name on a hybrid machine, or a PMU that exists several times, made
 * several events of one spec, and these part by PMU. Software events, tracepoints, breakpoints and
 * probes may stand in any group and go with the first. What pstat counts itself (duration_time)
 * is in no group.
 */
#include "event/source.h"

#include <errno.h>
#include <stdlib.h>

/* Which events can be in one group: equal keys. Others are attr.type, or the extended type. */
#define KEY_ANY UINT64_MAX
#define KEY_ALONE (UINT64_MAX - 1)
#define KEY_CORE (UINT64_MAX - 2) /* the only core PMU; its attr.type need not be known */

struct bucket {
	uint64_t key; /* KEY_ANY: only events so far that go with any */
	size_t n; /* events */
	size_t n_keyed; /* of these, the ones that are bound to the PMU */
	size_t at; /* where the next of its events goes */
};

struct regroup {
	struct bucket *buckets;
	size_t n, cap;
	size_t *bucket_of; /* by event, from the group's first on */
};

/* PMUs whose events the kernel treats as software events (perf_sw_context). */
static bool joins_any(const struct event *event)
{
	static const char *const pmus[] = { "msr", "kprobe", "uprobe" };
	uint32_t type = event->attr.type;

	if (type == PERF_TYPE_SOFTWARE || type == PERF_TYPE_TRACEPOINT || type == PERF_TYPE_BREAKPOINT)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(pmus); i++)
		if (strcmp(event->pmu_name, pmus[i]) == 0)
			return true;
	return strcmp(event->source, probe_source.topic.name) == 0;
}

/* The core PMU's own type in a generic event of a hybrid machine, else 0. */
static uint64_t extended_type(const struct event *event)
{
	uint32_t type = event->attr.type;

	if (type != PERF_TYPE_HARDWARE && type != PERF_TYPE_HW_CACHE)
		return 0;
	return event->attr.config >> PERF_PMU_TYPE_SHIFT;
}

static uint64_t group_key(const struct event *event)
{
	uint64_t extended = extended_type(event);

	if (event->kind != EVENT_KERNEL)
		return KEY_ALONE;
	if (joins_any(event))
		return KEY_ANY;
	if (extended)
		return extended;
	if (event->attr.type == PERF_TYPE_HARDWARE || event->attr.type == PERF_TYPE_HW_CACHE)
		return KEY_CORE;
	return event->attr.type;
}

/* Counted by a core PMU that the event leaves to the kernel to choose: there is only one. */
static bool leaves_core_open(const struct event *event)
{
	if (group_key(event) == KEY_CORE)
		return true;
	return event->attr.type == PERF_TYPE_RAW && !*event->pmu_name;
}

/* Do all core events of the group belong together, whether they name their PMU or not? */
static bool one_core_pmu(const struct event_list *list, size_t first)
{
	const char *name = NULL;
	bool left_open = false;

	for (size_t i = first; i < list->n; i++) {
		const struct event *event = &list->v[i];

		if (extended_type(event))
			return false;
		left_open |= leaves_core_open(event);
		if (!event->pmu_is_core || !*event->pmu_name)
			continue;
		if (name && strcmp(name, event->pmu_name) != 0)
			return false;
		name = event->pmu_name;
	}
	return left_open;
}

static bool is_core(const struct event *event)
{
	return event->pmu_is_core || leaves_core_open(event);
}

static size_t new_bucket(struct regroup *r, uint64_t key)
{
	VEC_GROW(r->buckets, r->n, r->cap);
	r->buckets[r->n] = (struct bucket){ .key = key };
	return r->n++;
}

/* The bucket for key; events that go with any take the first there is, and the first PMU joins it. */
static size_t find_bucket(struct regroup *r, uint64_t key)
{
	for (size_t i = 0; key != KEY_ALONE && i < r->n; i++) {
		struct bucket *b = &r->buckets[i];

		if (b->key == KEY_ALONE)
			continue;
		if (b->key == KEY_ANY)
			b->key = key;
		if (key == KEY_ANY || b->key == key)
			return i;
	}
	return new_bucket(r, key);
}

static void sort_into_buckets(struct regroup *r, const struct event_list *list, size_t first)
{
	bool one_core = one_core_pmu(list, first);

	r->bucket_of = xcalloc(list->n - first, sizeof(*r->bucket_of));
	for (size_t i = first; i < list->n; i++) {
		const struct event *event = &list->v[i];
		uint64_t key = group_key(event);
		size_t b;

		if (one_core && is_core(event) && key != KEY_ANY)
			key = KEY_CORE;
		b = find_bucket(r, key);
		r->buckets[b].n++;
		r->buckets[b].n_keyed += key != KEY_ANY;
		r->bucket_of[i - first] = b;
	}
}

/* Moves the events so that each bucket's stand together, in the order they were written. */
static void reorder(struct regroup *r, struct event_list *list, size_t first)
{
	size_t n = list->n - first, at = first;
	struct event *copy = xcalloc(n, sizeof(*copy));

	memcpy(copy, list->v + first, n * sizeof(*copy));
	for (size_t b = 0; b < r->n; b++) {
		r->buckets[b].at = at;
		at += r->buckets[b].n;
	}
	for (size_t i = 0; i < n; i++)
		list->v[r->buckets[r->bucket_of[i]].at++] = copy[i];
	free(copy);
}

/* How many specs of the group made events on several PMUs; their ids were given in a row. */
static size_t count_expansions(const struct event_list *list, size_t first)
{
	unsigned low = UINT32_MAX, high = 0;

	for (size_t i = first; i < list->n; i++) {
		unsigned id = list->v[i].expansion_id;

		if (id && id < low)
			low = id;
		if (id > high)
			high = id;
	}
	return high ? high - low + 1 : 0;
}

/*
 * A split needs a note unless it is the plain consequence of names that mean several PMUs: every
 * event bound to a PMU is one of an expansion, and each expansion is on each PMU.
 */
static bool split_is_natural(const struct regroup *r, const struct event_list *list, size_t first)
{
	size_t expansions = count_expansions(list, first);

	for (size_t b = 0; b < r->n; b++)
		if (r->buckets[b].n_keyed && r->buckets[b].n_keyed != expansions)
			return false;
	for (size_t i = first; i < list->n; i++)
		if (group_key(&list->v[i]) <= KEY_CORE && !list->v[i].expansion_id)
			return false;
	return true;
}

static void add_pmu_name(struct str *out, const struct event *event)
{
	if (*event->pmu_name)
		str_add(out, event->pmu_name);
	else if (is_core(event))
		str_add(out, "the core unit");
	else
		str_addf(out, "type %u", event->attr.type);
}

/* Leaders stand in the list already. */
static void note_split(const struct regroup *r, struct event_list *list, size_t first,
		       const struct spec_group *group)
{
	struct str pmus = STR_INIT;
	size_t n_pmus = 0;

	for (size_t b = 0, at = first; b < r->n; at += r->buckets[b++].n) {
		size_t i = at;

		if (r->buckets[b].key == KEY_ALONE || !r->buckets[b].n_keyed)
			continue;
		while (group_key(&list->v[i]) == KEY_ANY)
			i++;
		str_add(&pmus, n_pmus++ ? ", " : "");
		add_pmu_name(&pmus, &list->v[i]);
	}
	if (n_pmus > 1 && !split_is_natural(r, list, first))
		note_add(&list->notes, false, NULL,
			 "group %s%s%ssplit: its events are on several units (%s), which count separately",
			 group->name ? "'" : "", group->name ? group->name : "",
			 group->name ? "' " : "", pmus.s);
	str_release(&pmus);
}

/* A member has a letter of its own that only leaders may have: the last that wrote one. */
static int refuse_leader_letters(struct event_parse *p, const struct spec_group *group)
{
	for (size_t i = group->n; i-- > 0;) {
		const struct spec_event *event = &group->events[i];
		size_t at = strcspn(event->modifiers, "De");

		if (!event->modifiers[at])
			continue;
		if (!p->error->code)
			str_addf(&p->error->hint, "write it after the group: {...}:%c",
				 event->modifiers[at]);
		return spec_fail(p->error, -EINVAL, event->modifiers_pos + at,
				 "modifier '%c' is for the first event of a group",
				 event->modifiers[at]);
	}
	return 0;
}

/* One bucket's events become a group with its own leader. */
static int lead(struct event_parse *p, size_t leader, const struct bucket *bucket,
		const struct spec_group *group)
{
	struct event *v = p->list->v;
	bool weak = false, own_leader_letter = false;

	for (size_t i = leader; i < leader + bucket->n; i++) {
		int rc = event_apply_group_modifiers(p, group->modifiers, group->modifiers_pos,
						     i == leader, &v[i]);

		if (rc)
			return rc;
		v[i].leader = leader;
		weak |= v[i].weak;
		v[i].weak = false;
		v[i].n_members = i == leader ? bucket->n : 1;
		own_leader_letter |= i > leader && (v[i].attr.pinned || v[i].attr.exclusive);
	}
	v[leader].weak = weak;
	if (group->name && bucket->key != KEY_ALONE)
		v[leader].group_name = xstrdup(group->name);
	return own_leader_letter ? refuse_leader_letters(p, group) : 0;
}

int event_make_group(struct event_parse *p, size_t first, const struct spec_group *group)
{
	struct event_list *list = p->list;
	struct regroup r = { .buckets = NULL };
	int rc = 0;

	sort_into_buckets(&r, list, first);
	reorder(&r, list, first);
	for (size_t b = 0, at = first; b < r.n && !rc; at += r.buckets[b++].n)
		rc = lead(p, at, &r.buckets[b], group);
	if (!rc)
		note_split(&r, list, first, group);
	free(r.buckets);
	free(r.bucket_of);
	return rc;
}
