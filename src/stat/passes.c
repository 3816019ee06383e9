/*
 * Events -> passes. Pure: whether events fit a PMU is asked of the caller.
 *
 *   groups, metrics --join--> clusters --first fit, largest first--> passes --copies--> plan
 *
 * A cluster is never parted: a group that was written as one, and the events of a metric as far as they
 * fit together. What takes no counter is counted in the first pass. Where a metric needs an event
 * that has its place in another pass, it is counted once more: a clock costs nothing; a counter
 * where one is left, or else in a pass of their own. Only a metric whose events don't fit together at
 * all is computed across passes.
 */
#include "stat/passes.h"

#include <errno.h>
#include <stdlib.h>

struct planner {
	const struct pass_question *q;
	size_t n; /* events */
	size_t *cluster; /* by event: the first event of its cluster */
	size_t *size; /* by cluster */
	bool *broken; /* by event: member of a weak group that is broken up */
	size_t *home; /* by event: the pass of its row */
	bool **in; /* by pass and event: it is counted there */
	size_t n_passes, cap_passes;
	bool *set; /* scratch, by event */
	size_t *list; /* scratch */
};

static const struct event *event_at(const struct planner *p, size_t i)
{
	return &p->q->events->v[i];
}

static bool takes_counter(const struct planner *p, size_t i)
{
	return p->q->pmu[i] != NO_PMU;
}

/* ---- does it fit? ---- */

/* A group with modifier e does not bear others on its PMU. */
static bool bears_others(const struct planner *p, const size_t *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; event_at(p, list[i])->attr.exclusive && k < n; k++)
			if (event_at(p, list[k])->leader != list[i])
				return false;
	}
	return true;
}

/* The events of p->set that are on the PMU of `first`. */
static bool pmu_fits(struct planner *p, size_t first)
{
	size_t n = 0;

	for (size_t i = first; i < p->n; i++)
		if (p->set[i] && p->q->pmu[i] == p->q->pmu[first])
			p->list[n++] = i;
	return n == 1 || (bears_others(p, p->list, n) && p->q->fits(p->q->data, p->list, n));
}

static bool set_fits(struct planner *p)
{
	for (size_t i = 0; i < p->n; i++) {
		size_t before = 0;

		if (!p->set[i] || !takes_counter(p, i))
			continue;
		while (before < i && !(p->set[before] && p->q->pmu[before] == p->q->pmu[i]))
			before++;
		if (before == i && !pmu_fits(p, i))
			return false;
	}
	return true;
}

static void empty_set(struct planner *p)
{
	memset(p->set, 0, p->n * sizeof(*p->set));
}

static void add_cluster(struct planner *p, size_t cluster)
{
	for (size_t i = 0; i < p->n; i++)
		p->set[i] |= p->cluster[i] == cluster;
}

/* ---- clusters ---- */

static int cluster_groups(struct planner *p, size_t *too_big)
{
	for (size_t i = 0; i < p->n; i++) {
		size_t end = i + event_at(p, i)->n_members;
		bool fits;

		if (event_at(p, i)->leader != i || end <= i + 1)
			continue;
		empty_set(p);
		for (size_t k = i; k < end && k < p->n; k++)
			p->set[k] = true;
		fits = set_fits(p);
		if (!fits && !event_at(p, i)->weak) {
			*too_big = i;
			return -E2BIG;
		}
		for (size_t k = i; k < end && k < p->n; k++) {
			p->broken[k] = !fits;
			p->cluster[k] = fits ? i : k;
		}
	}
	return 0;
}

/* The metric's events that take counters, as far as there are any. */
static bool is_counted_input(const struct planner *p, const struct metric_input *input)
{
	return input->line != SIZE_MAX && takes_counter(p, input->line);
}

static void join_set(struct planner *p)
{
	size_t first = 0;

	while (!p->set[first])
		first++;
	for (size_t i = 0; i < p->n; i++)
		if (p->set[i])
			p->cluster[i] = first;
}

static void cluster_metrics(struct planner *p)
{
	for (size_t u = 0; u < p->q->n_uses; u++) {
		const struct metric_use *use = &p->q->uses[u];
		bool any = false;

		empty_set(p);
		for (size_t i = 0; i < use->n_inputs; i++) {
			if (!is_counted_input(p, &use->inputs[i]))
				continue;
			add_cluster(p, p->cluster[use->inputs[i].line]);
			any = true;
		}
		if (any && set_fits(p))
			join_set(p);
	}
}

/* ---- passes ---- */

static size_t new_pass(struct planner *p)
{
	VEC_GROW(p->in, p->n_passes, p->cap_passes);
	p->in[p->n_passes] = xcalloc(p->n + 1, sizeof(**p->in));
	return p->n_passes++;
}

/* How many of each cluster take counters; returns the most. */
static size_t measure_clusters(struct planner *p)
{
	size_t most = 0;

	for (size_t i = 0; i < p->n; i++) {
		size_t *size = &p->size[p->cluster[i]];

		*size += takes_counter(p, i);
		most = *size > most ? *size : most;
	}
	return most;
}

static bool fits_into(struct planner *p, size_t pass, size_t cluster)
{
	memcpy(p->set, p->in[pass], p->n * sizeof(*p->set));
	add_cluster(p, cluster);
	return set_fits(p);
}

static void put_cluster(struct planner *p, size_t pass, size_t cluster)
{
	for (size_t i = 0; i < p->n; i++) {
		if (p->cluster[i] != cluster)
			continue;
		p->home[i] = pass;
		p->in[pass][i] = true;
	}
}

/* First fit, the largest first: that is seldom more than the fewest passes there can be. */
static void place_clusters(struct planner *p)
{
	for (size_t size = measure_clusters(p); size > 0; size--) {
		for (size_t c = 0; c < p->n; c++) {
			size_t pass = 0;

			if (p->size[c] != size)
				continue;
			while (pass < p->n_passes && !fits_into(p, pass, c))
				pass++;
			if (pass == p->n_passes)
				new_pass(p);
			put_cluster(p, pass, c);
		}
	}
}

static void swap_passes(struct planner *p, size_t a, size_t b)
{
	bool *in = p->in[a];

	p->in[a] = p->in[b];
	p->in[b] = in;
	for (size_t i = 0; i < p->n; i++) {
		if (p->home[i] == a)
			p->home[i] = b;
		else if (p->home[i] == b)
			p->home[i] = a;
	}
}

/* Numbered in the order of their first events, as rows are. */
static void order_passes(struct planner *p)
{
	size_t next = 0;

	for (size_t i = 0; i < p->n; i++) {
		if (!takes_counter(p, i) || p->home[i] < next)
			continue;
		swap_passes(p, p->home[i], next);
		next++;
	}
}

/* Alone or in a group of their like: the first pass. */
static void place_others(struct planner *p)
{
	if (!p->n_passes)
		new_pass(p);
	for (size_t c = 0; c < p->n; c++)
		if (p->cluster[c] == c && !p->size[c])
			put_cluster(p, 0, c);
}

/* ---- metrics across passes ---- */

static bool has_inputs(const struct planner *p, const struct metric_use *use, size_t pass)
{
	for (size_t i = 0; i < use->n_inputs; i++)
		if (is_counted_input(p, &use->inputs[i]) && !p->in[pass][use->inputs[i].line])
			return false;
	return true;
}

static bool may_take_inputs(struct planner *p, const struct metric_use *use, size_t pass)
{
	if (pass < p->n_passes)
		memcpy(p->set, p->in[pass], p->n * sizeof(*p->set));
	else
		empty_set(p);
	for (size_t i = 0; i < use->n_inputs; i++)
		if (is_counted_input(p, &use->inputs[i]))
			p->set[use->inputs[i].line] = true;
	return set_fits(p);
}

/* Where the metric can be computed from one run; n_passes: in a new one; SIZE_MAX: nowhere. */
static size_t pass_for(struct planner *p, const struct metric_use *use)
{
	size_t own = p->home[use->line];

	if (has_inputs(p, use, own))
		return own;
	for (size_t pass = 0; pass < p->n_passes; pass++)
		if (has_inputs(p, use, pass))
			return pass;
	if (may_take_inputs(p, use, own))
		return own;
	for (size_t pass = 0; pass <= p->n_passes; pass++)
		if (may_take_inputs(p, use, pass))
			return pass;
	return SIZE_MAX;
}

static void complete_metrics(struct planner *p)
{
	for (size_t u = 0; u < p->q->n_uses; u++) {
		const struct metric_use *use = &p->q->uses[u];
		size_t pass = pass_for(p, use);

		if (pass == SIZE_MAX)
			continue;
		if (pass == p->n_passes)
			new_pass(p);
		for (size_t i = 0; i < use->n_inputs; i++)
			if (use->inputs[i].line != SIZE_MAX)
				p->in[pass][use->inputs[i].line] = true;
	}
}

/* ---- the plan ---- */

static void break_up_groups(const struct planner *p, struct event_list *events)
{
	for (size_t i = 0; i < p->n; i++) {
		if (!p->broken[i])
			continue;
		events->v[i].leader = i;
		events->v[i].n_members = 1;
		events->v[i].weak = false;
	}
}

static void write_plan(const struct planner *p, struct pass_plan *plan)
{
	size_t cap = p->n;

	event_list_copy(&plan->events, p->q->events);
	break_up_groups(p, &plan->events);
	plan->n_given = p->n;
	plan->n_passes = (unsigned)p->n_passes;
	plan->pass = xcalloc(cap + 1, sizeof(*plan->pass));
	for (size_t i = 0; i < p->n; i++)
		plan->pass[i] = (unsigned)p->home[i];
	for (size_t pass = 0; pass < p->n_passes; pass++) {
		for (size_t i = 0; i < p->n; i++) {
			if (!p->in[pass][i] || p->home[i] == pass)
				continue;
			VEC_GROW(plan->pass, plan->events.n, cap);
			plan->pass[plan->events.n] = (unsigned)pass;
			event_list_repeat(&plan->events, i);
		}
	}
}

int pass_plan_make(struct pass_plan *plan, const struct pass_question *question, size_t *too_big)
{
	size_t n = question->events->n;
	struct planner p = {
		.q = question,
		.n = n,
		.cluster = xcalloc(n + 1, sizeof(*p.cluster)),
		.size = xcalloc(n + 1, sizeof(*p.size)),
		.broken = xcalloc(n + 1, sizeof(*p.broken)),
		.home = xcalloc(n + 1, sizeof(*p.home)),
		.set = xcalloc(n + 1, sizeof(*p.set)),
		.list = xcalloc(n + 1, sizeof(*p.list)),
	};
	int rc;

	*plan = (struct pass_plan){ .n_passes = 0 };
	for (size_t i = 0; i < n; i++)
		p.cluster[i] = i;
	rc = cluster_groups(&p, too_big);
	if (!rc) {
		cluster_metrics(&p);
		place_clusters(&p);
		order_passes(&p);
		place_others(&p);
		complete_metrics(&p);
		write_plan(&p, plan);
	}
	for (size_t i = 0; i < p.n_passes; i++)
		free(p.in[i]);
	free(p.in);
	free(p.cluster);
	free(p.size);
	free(p.broken);
	free(p.home);
	free(p.set);
	free(p.list);
	return rc;
}

void pass_plan_release(struct pass_plan *plan)
{
	event_list_release(&plan->events);
	free(plan->pass);
	*plan = (struct pass_plan){ .n_passes = 0 };
}
