/*
 * Which events are a group: those that the list groups, as far as they have the same cells; what each member
 * asks the kernel for; and which groups wait for the counters of one PMU, so that each has to be the first somewhere.
 */
#include "kern/cells.h"
#include "kern/group.h"

#include <stdlib.h>

/* ---- attr ---- */

/*
 * The kernel reads the text that a probe's attr points to again for each new task, out of the memory
 * of the task that forks: there it is not, and fork() in the measured program would fail (EFAULT).
 */
bool group_has_probe_path(const struct group *g, const struct counter *c)
{
	return g->grouped ? g->probe_path : c->event->probe_path != NULL;
}

bool group_wants_inherit(const struct opening *o, const struct group *g, const struct counter *c)
{
	enum term_switch term = c->event->terms.inherit;

	if (g->grouped)
		return g->inherit;
	return term == TERM_UNSET ? o->options->inherit : term == TERM_ON;
}

static bool inherits(const struct opening *o, const struct group *g, const struct counter *c)
{
	return !group_has_probe_path(g, c) && group_wants_inherit(o, g, c);
}

/* leader: NULL where c is to lead, or to be alone. */
static void attr_prepare(struct perf_event_attr *attr, const struct counter *c,
			 const struct counter *leader, const struct opening *o, const struct group *g)
{
	const struct event *event = c->event;
	bool together = g->grouped && g->together;

	*attr = event->attr;
	attr->size = sizeof(*attr);
	attr->inherit = leader ? leader->attr.inherit : inherits(o, g, c);
	attr->disabled = !leader;
	attr->enable_on_exec = !leader && (!c->cpus.n || c->follows_tasks) &&
			       o->options->enable_on_exec && !o->options->start_disabled;
	/* The kernel takes these two from leaders only. */
	attr->pinned = !leader && (event->attr.pinned || (together && g->event->attr.pinned));
	attr->exclusive = !leader && (event->attr.exclusive || (together && g->event->attr.exclusive));
	if (event->precise_max && event_needs_counter(event))
		attr->precise_ip = 3;
	if (event->tracking)
		attr->disabled = attr->enable_on_exec = 0;
	if (o->machine.deferral == DEFERRAL_DOUBTED || o->machine.deferral == DEFERRAL_UNKNOWN)
		attr_set_deferral(attr, 0);
	if (o->options->sample)
		return;
	/* Tracepoints and terms may ask for samples; a count has none. */
	attr->sample_period = 0;
	attr->freq = 0;
	attr->sample_type = 0;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (together && !o->options->single_reads && !g->single_reads)
		attr->read_format |= PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	if (leader)
		attr->read_format = leader->attr.read_format;
}

void member_prepare(struct opening *o, const struct group *g, struct member *m,
		    const struct counter *leader)
{
	m->attempt = (struct attempt){
		.machine = &o->machine,
		.event = m->counter->event,
		.is_member = leader != NULL,
		.weak = g->event->weak,
	};
	attr_prepare(&m->attempt.attr, m->counter, leader, o, g);
	m->asked = m->attempt.attr;
	m->prepared = true;
}

/* ---- groups ---- */

static struct group *add_group(struct groups *groups, const struct event *event)
{
	VEC_GROW(groups->v, groups->n, groups->cap);
	groups->v[groups->n] = (struct group){
		.event = event, .cgroup_fd = -1, .turn_first = SIZE_MAX,
	};
	return &groups->v[groups->n++];
}

static void add_member(struct group *g, struct counter *c)
{
	VEC_GROW(g->members, g->n, g->cap);
	g->members[g->n++] = (struct member){ .counter = c };
}

/* May this lone event be read together with its like? */
static bool may_join_batch(const struct opening *o, const struct counter *c)
{
	const struct event *event = c->event;

	return event->kind == EVENT_KERNEL && event->attr.type == PERF_TYPE_SOFTWARE &&
	       event->n_members <= 1 && !event->attr.pinned && !event->attr.exclusive &&
	       !event->cgroup && c->cpus.n && o->target->kind == TARGET_CPUS && !c->err &&
	       !o->options->single_reads && !o->options->sample;
}

static struct group *batch_for(struct groups *groups, const struct counter *c)
{
	for (size_t i = 0; i < groups->n; i++) {
		if (groups->v[i].batch)
			return cells_match(c, groups->v[i].members[0].counter) ? &groups->v[i] : NULL;
	}
	return NULL;
}

/* Whether children count: the first of the group's events that has a word on it decides. */
static void choose_inherit(const struct opening *o, struct group *g, size_t first, size_t n)
{
	const struct counter *decides = NULL;

	g->inherit = o->options->inherit;
	for (size_t i = first; i < first + n; i++) {
		const struct counter *c = &o->set->v[i];
		enum term_switch term = c->event->terms.inherit;

		g->probe_path = g->probe_path || c->event->probe_path;
		if (term == TERM_UNSET)
			continue;
		if (decides && (term == TERM_ON) != g->inherit)
			note_add(o->set->notes, false, NULL,
				 "%s: child processes are %scounted with it: one word on that holds for the "
				 "whole group, and %s has the first", c->name, g->inherit ? "" : "not ",
				 decides->name);
		if (!decides)
			g->inherit = term == TERM_ON;
		decides = decides ? decides : c;
	}
}

/* A member whose CPUs or cgroup are not the group's cannot share it. */
static void plan_group(const struct opening *o, struct groups *groups, size_t first, size_t n)
{
	struct counter *v = o->set->v;
	const struct event *event = v[first].event;
	size_t at = groups->n, n_kernel = 0;
	struct group *g = add_group(groups, event);

	g->grouped = n > 1;
	if (n > 1)
		choose_inherit(o, g, first, n);
	for (size_t i = first; i < first + n; i++) {
		n_kernel += v[i].event->kind == EVENT_KERNEL;
		if (v[i].state == COUNTER_SOFTWARE || v[i].err)
			continue;
		if (!groups->v[at].n || cells_match(&v[i], groups->v[at].members[0].counter)) {
			add_member(&groups->v[at], &v[i]);
			continue;
		}
		note_add(o->set->notes, false, NULL,
			 "%s: counted outside its group: it is counted on other CPUs than the group",
			 v[i].name);
		add_member(add_group(groups, v[i].event), &v[i]);
	}
	groups->v[at].together = n_kernel > 1;
}

/* ---- turns ---- */

/* Its first event that takes a counter; NULL where it waits for none. Of pinned groups the first has the counter. */
static const struct event *wants_counter(const struct opening *o, const struct group *g)
{
	for (size_t i = 0; i < g->n && !o->options->sample && !g->event->attr.pinned; i++) {
		const struct event *event = g->members[i].counter->event;

		if (events_share_counters(event, event))
			return event;
	}
	return NULL;
}

static bool take_turns(const struct group *a, const struct group *b)
{
	return a->rival && b->rival && events_share_counters(a->rival, b->rival) &&
	       cells_match(a->members[0].counter, b->members[0].counter);
}

static void plan_turns(const struct opening *o, struct groups *groups)
{
	size_t n = 0;

	groups->order = xcalloc(groups->n + 1, sizeof(*groups->order));
	for (size_t i = 0; i < groups->n; i++)
		groups->v[i].rival = wants_counter(o, &groups->v[i]);
	for (size_t i = 0; i < groups->n; i++) {
		size_t first = n;

		for (size_t k = i; !groups->v[i].turn_n && k < groups->n; k++) {
			if (groups->v[k].turn_first == SIZE_MAX && take_turns(&groups->v[i], &groups->v[k])) {
				groups->v[k].turn_first = first;
				groups->order[n++] = k;
			}
		}
		for (size_t k = first; k < n; k++)
			groups->v[groups->order[k]].turn_n = n - first;
	}
}

void groups_plan(struct groups *groups, const struct opening *o)
{
	struct counter_set *set = o->set;
	size_t n_batched = 0;

	*groups = (struct groups){ 0 };
	for (size_t i = 0; i < set->n; i++)
		n_batched += may_join_batch(o, &set->v[i]);
	for (size_t i = 0; i < set->n; i++) {
		const struct event *event = set->v[i].event;
		size_t n = event->n_members ? event->n_members : 1;
		bool joins = n_batched > 1 && may_join_batch(o, &set->v[i]);
		struct group *batch = joins ? batch_for(groups, &set->v[i]) : NULL;

		if (event->leader != i)
			continue;
		if (batch) {
			add_member(batch, &set->v[i]);
			continue;
		}
		plan_group(o, groups, i, n <= set->n - i ? n : set->n - i);
		if (joins) {
			batch = &groups->v[groups->n - 1];
			batch->batch = batch->grouped = batch->together = true;
			batch->inherit = o->options->inherit;
		}
	}
	plan_turns(o, groups);
}

void groups_release(struct groups *groups)
{
	for (size_t i = 0; i < groups->n; i++)
		free(groups->v[i].members);
	free(groups->v);
	free(groups->order);
	*groups = (struct groups){ 0 };
}

struct group *group_in_turn(const struct groups *groups, const struct group *g, unsigned first_group)
{
	size_t at = (size_t)(g - groups->v), k = 0;

	if (g->turn_n < 2)
		return &groups->v[at];
	while (groups->order[g->turn_first + k] != at)
		k++;
	return &groups->v[groups->order[g->turn_first + (k + first_group + g->next) % g->turn_n]];
}
