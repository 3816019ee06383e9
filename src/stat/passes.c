/* SPDX-License-Identifier: MIT */
/*
 * --passes: which events are counted in which run of the command, so that none has to share a counter.
 *
 *   groups, metrics --join--> clusters --first fit, largest first--> passes --copies--> plan
 *   plan --a run of the command for each pass--> readings --put together--> the reporter's one run
 *
 * Planning is pure: whether events fit a PMU is asked of the caller. A cluster is never parted: a group that was
 * written as one, and the events of a metric as far as they fit together. What takes no counter is counted in the
 * first pass. Where a metric needs an event that has its place in another pass, it is counted once more: a clock costs
 * nothing; a counter where one is left, or else in a pass of their own. Only a metric whose events don't fit together
 * at all is computed across passes.
 *
 * Each pass is a run of the command with counters of its own events. What they counted is read when the run ends, and
 * kept. When the last pass of a repeat is over, all counters are put together into one set, which the reporter takes
 * for one run that counted everything. Counters of passes that are over stay open until the report, which may ask for
 * reasons; they are stopped, so that nothing that the command left running takes a counter from the next pass.
 *
 * Did the passes do the same? Events that were counted in several of them tell: what was given twice, what is counted
 * again for metrics, and a clock and a software event, which are counted in each pass, and of which the reporter does
 * not know. With several runs of each pass their scatter says what is noise: Welch's test (B. L. Welch, Biometrika 34,
 * 1947), at 99.9 % because many events are compared, and a difference of less than 1 % is not worth a word. With one
 * run of each nothing is known of the scatter, and only what is no noise for most programs counts: a tenth of a count,
 * a third of a time.
 */
#include "stat/passes.h"

#include <errno.h>
#include <math.h>
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

/* ---- planning: does it fit? ---- */

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

/* ---- planning: clusters ---- */

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

/* ---- planning: passes ---- */

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

/* ---- planning: metrics across passes ---- */

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

/* The pass from whose run the metric can be computed; n_passes: a new one; SIZE_MAX: none. */
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

/* ---- planning: the whole ---- */

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

/* ---- did the passes do the same? ---- */

static bool same_event(const struct event *a, const struct event *b)
{
	return a->kind == b->kind && !memcmp(&a->attr, &b->attr, sizeof(a->attr)) &&
	       text_same(a->filter, b->filter);
}

static double noise(const struct pass_count *a, const struct pass_count *b)
{
	double mean = (a->values->mean + b->values->mean) / 2;
	double noise_a = series_stdev_of_mean(a->values), noise_b = series_stdev_of_mean(b->values);

	if (a->values->n > 1 && b->values->n > 1)
		return 2 + mean / 100 + t_quantile(0.999, (double)(a->values->n + b->values->n - 2)) *
						sqrt(noise_a * noise_a + noise_b * noise_b);
	if (event_is_clock(a->event))
		return mean / 3 + 2 * (double)NS_PER_MS;
	return mean / 10 + 4 * sqrt(mean);
}

static void add_value(struct str *text, const struct pass_count *count)
{
	if (event_is_clock(count->event))
		str_addf(text, "%.2f msec", count->values->mean / (double)NS_PER_MS);
	else
		str_add_grouped(text, (uint64_t)(count->values->mean + 0.5));
	str_addf(text, " in pass %u", count->pass + 1);
}

static void add_difference(struct str *which, const struct pass_count *a, const struct pass_count *b)
{
	const struct pass_count *first = a->pass < b->pass ? a : b, *second = first == a ? b : a;

	str_add(which, which->len ? "; " : "");
	str_add_printable(which, a->event->name, strlen(a->event->name));
	str_addc(which, ' ');
	add_value(which, first);
	str_add(which, ", ");
	add_value(which, second);
}

bool passes_differ(const struct pass_count *counts, size_t n, struct str *which)
{
	bool *seen = xcalloc(n + 1, sizeof(*seen));
	size_t start = which->len;

	for (size_t i = 0; i < n; i++) {
		const struct pass_count *least = &counts[i], *most = &counts[i];

		for (size_t k = i + 1; k < n && !seen[i]; k++) {
			if (!same_event(counts[i].event, counts[k].event))
				continue;
			seen[k] = true;
			least = counts[k].values->mean < least->values->mean ? &counts[k] : least;
			most = counts[k].values->mean > most->values->mean ? &counts[k] : most;
		}
		if (least->pass != most->pass &&
		    most->values->mean - least->values->mean > noise(least, most))
			add_difference(which, least, most);
	}
	free(seen);
	return which->len > start;
}

struct kept_reading {
	size_t index; /* in the pass */
	int cpu;
	size_t thread;
	struct reading reading;
};

/* One pass, and its run in the current repeat. */
struct pass_run {
	struct event_list events; /* of the plan's, whose texts they borrow */
	size_t *index; /* by event: in the plan */
	struct counter_set set;
	bool done; /* set and what follows are of this repeat */
	struct count_clock clock;
	struct kept_reading *readings;
	size_t n_readings, cap_readings;
};

struct pass_runs {
	struct pass_plan plan;
	struct stat_plan stat_plan; /* the user's, with the events of all passes */
	struct pass_run *v; /* by pass */
	bool counted; /* a pass was, since the last repeat was handed over */
	struct event_list told; /* the plan's first ones: all but those that are only compared */
	struct series *values; /* by event of the plan, over the repeats; of what was counted all the time */
	struct counter_set all; /* its counters are those of the passes, or made for those left out */
};

/* ---- carrying it out: the question, asked of the machine ---- */

struct asking {
	const struct event_list *events;
	const struct kern *kern;
	size_t *pmu;
	struct metric_line *lines;
	struct metric_uses uses;
};

static bool fit_together(void *data, const size_t *events, size_t n)
{
	const struct asking *a = data;
	const struct event **v = xcalloc(n + 1, sizeof(*v));
	bool fit;

	for (size_t i = 0; i < n; i++)
		v[i] = &a->events->v[events[i]];
	fit = events_fit(v, n, a->kern);
	free(v);
	return fit;
}

/* An event that does not open takes no counter from others. */
static void find_pmu(struct asking *a, size_t i)
{
	const struct event *v = a->events->v;
	size_t first = 0;

	a->pmu[i] = NO_PMU;
	if (!events_share_counters(&v[i], &v[i]))
		return;
	a->lines[i].supported = !event_try(&v[i], a->kern);
	if (!a->lines[i].supported)
		return;
	while (first < i && (a->pmu[first] == NO_PMU || !events_share_counters(&v[first], &v[i])))
		first++;
	a->pmu[i] = first < i ? a->pmu[first] : i;
}

static void ask_machine(struct asking *a, const struct metric *const *chosen, size_t n_chosen)
{
	const struct event_list *events = a->events;

	a->pmu = xcalloc(events->n + 1, sizeof(*a->pmu));
	a->lines = xcalloc(events->n + 1, sizeof(*a->lines));
	for (size_t i = 0; i < events->n; i++) {
		const struct event *event = &events->v[i];

		a->lines[i] = metric_line_of(event, &event->attr);
		find_pmu(a, i);
	}
	metrics_bind(&a->uses, a->lines, events->n, chosen, n_chosen);
}

static int group_too_big(const struct event_list *events, size_t leader, const struct kern *kern, struct str *err)
{
	const struct event *event = &events->v[leader];
	size_t n = 0;
	int counters;

	for (size_t i = leader; i < leader + event->n_members; i++)
		n += events_share_counters(&events->v[i], &events->v[i]);
	counters = event_counters(event, n, kern);
	str_add(err, "--passes: the group of ");
	str_add_printable(err, event->name, strlen(event->name));
	if (counters > 0 && n > (size_t)counters)
		fail(err, -E2BIG, ": %zu events for %d counters", n, counters);
	else
		fail(err, -E2BIG, ": its %zu events cannot be counted at the same time", n);
	return fail(err, -E2BIG, "\nmake it smaller, or add :W, so that it may be counted in parts");
}

int pass_plan_ask(struct pass_plan *plan, const struct event_list *events, const struct metric *const *chosen,
		  size_t n_chosen, const struct kern *kern, struct str *err)
{
	struct asking asking = { .events = events, .kern = kern };
	struct pass_question question = { .events = events, .fits = fit_together };
	size_t too_big;
	int rc;

	ask_machine(&asking, chosen, n_chosen);
	question.pmu = asking.pmu;
	question.uses = asking.uses.v;
	question.n_uses = asking.uses.n;
	question.data = &asking;
	rc = pass_plan_make(plan, &question, &too_big);
	if (rc)
		group_too_big(events, too_big, kern, err);
	free(asking.pmu);
	free(asking.lines);
	metric_uses_release(&asking.uses);
	return rc;
}

/* ---- carrying it out: the events of each pass ---- */

void pass_plan_events(const struct pass_plan *plan, unsigned pass, struct event_list *events, size_t **index)
{
	*events = (struct event_list){ .v = xcalloc(plan->events.n + 1, sizeof(*events->v)) };
	*index = xcalloc(plan->events.n + 1, sizeof(**index));
	for (size_t i = 0; i < plan->events.n; i++) {
		const struct event *event = &plan->events.v[i];
		size_t at = events->n;

		if (plan->pass[i] != pass)
			continue;
		events->v[at] = *event;
		events->v[at].leader = at - (i - event->leader);
		(*index)[at] = i;
		events->n++;
	}
}

static bool is_counted_in(const struct pass_plan *plan, const struct perf_event_attr *attr, unsigned pass)
{
	for (size_t i = 0; i < plan->events.n; i++)
		if (plan->pass[i] == pass && !memcmp(&plan->events.v[i].attr, attr, sizeof(*attr)))
			return true;
	return false;
}

/* The user's, if it was given. */
static size_t find_software(const struct event_list *events, uint64_t config)
{
	size_t i = 0;

	while (i < events->n && (events->v[i].kind != EVENT_KERNEL || events->v[i].filter ||
				 events->v[i].attr.type != PERF_TYPE_SOFTWARE ||
				 events->v[i].attr.config != config))
		i++;
	return i;
}

static void put_last_into(struct pass_plan *plan, unsigned pass)
{
	plan->pass = xreallocarray(plan->pass, plan->events.n, sizeof(*plan->pass));
	plan->pass[plan->events.n - 1] = pass;
}

/* name: in user mode, which everybody may count. */
static int count_in_each(struct pass_plan *plan, const char *name, uint64_t config, const struct kern *kern,
			 struct str *err)
{
	size_t at = find_software(&plan->events, config);

	if (at == plan->events.n) {
		int rc = event_list_parse(&plan->events, name, &kern->host, err);

		if (rc)
			return rc;
		put_last_into(plan, 0);
	}
	for (unsigned pass = 0; pass < plan->n_passes; pass++) {
		if (is_counted_in(plan, &plan->events.v[at].attr, pass))
			continue;
		event_list_repeat(&plan->events, at);
		put_last_into(plan, pass);
	}
	return 0;
}

static int add_controls(struct pass_plan *plan, const struct kern *kern, struct str *err)
{
	int rc;

	if (plan->n_passes == 1)
		return 0;
	rc = count_in_each(plan, "task-clock:u", PERF_COUNT_SW_TASK_CLOCK, kern, err);
	return rc ? rc : count_in_each(plan, "page-faults:u", PERF_COUNT_SW_PAGE_FAULTS, kern, err);
}

static void make_runs(struct run *run, struct pass_runs *runs)
{
	runs->v = xcalloc(runs->plan.n_passes, sizeof(*runs->v));
	for (unsigned pass = 0; pass < runs->plan.n_passes; pass++)
		pass_plan_events(&runs->plan, pass, &runs->v[pass].events, &runs->v[pass].index);
	runs->all.v = xcalloc(runs->plan.events.n + 1, sizeof(*runs->all.v));
	runs->values = xcalloc(runs->plan.events.n + 1, sizeof(*runs->values));
	runs->stat_plan = *run->plan;
	runs->stat_plan.events = &runs->told;
	runs->stat_plan.pass_plan = &runs->plan;
	run->plan = &runs->stat_plan;
	run->passes = runs;
	run->n_passes = runs->plan.n_passes;
}

int passes_begin(struct run *run)
{
	const struct stat_plan *plan = run->plan;
	struct pass_runs *runs = xcalloc(1, sizeof(*runs));
	int rc = pass_plan_ask(&runs->plan, plan->events, (const struct metric *const *)plan->metrics, plan->n_metrics,
			       plan->kern, run->err);

	runs->told = runs->plan.events;
	if (!rc)
		rc = add_controls(&runs->plan, plan->kern, run->err);
	runs->told.v = runs->plan.events.v;
	if (rc) {
		pass_plan_release(&runs->plan);
		free(runs);
		return rc;
	}
	make_runs(run, runs);
	return 0;
}

const struct event_list *passes_events(const struct run *run)
{
	return &run->passes->v[run->pass].events;
}

/* ---- carrying it out: one run ---- */

static void keep_reading(void *data, size_t index, int cpu, size_t thread, const struct reading *reading)
{
	struct pass_run *pass = data;

	VEC_GROW(pass->readings, pass->n_readings, pass->cap_readings);
	pass->readings[pass->n_readings++] = (struct kept_reading){ index, cpu, thread, *reading };
}

void passes_read(struct run *run, const struct count_clock *clock)
{
	struct pass_run *pass = &run->passes->v[run->pass];

	counters_read(&run->set, keep_reading, pass);
	counters_disable(&run->set);
	pass->clock = *clock;
	pass->done = true;
	run->passes->counted = true;
	pass->set = run->set;
	run->set = (struct counter_set){ 0 };
	run->set_open = false;
}

void passes_forget(struct run *run)
{
	for (unsigned i = 0; i < run->n_passes; i++) {
		struct pass_run *pass = &run->passes->v[i];

		if (pass->done)
			counters_close(&pass->set);
		pass->done = false;
		pass->n_readings = 0;
	}
	run->passes->all.n = 0;
}

/* ---- carrying it out: all runs of a repeat ---- */

static void put_together(struct run *run)
{
	struct pass_runs *runs = run->passes;
	const struct event_list *events = &runs->told;

	runs->all.n = events->n;
	runs->all.kern = run->plan->kern;
	runs->all.notes = run->plan->notes;
	for (size_t i = 0; i < events->n; i++)
		runs->all.v[i] = (struct counter){
			.attr = events->v[i].attr,
			.state = COUNTER_LEFT_OUT,
			.leader = events->v[i].leader,
		};
	for (unsigned k = 0; k < run->n_passes; k++) {
		const struct pass_run *pass = &runs->v[k];

		for (size_t i = 0; i < pass->set.n && pass->done; i++) {
			struct counter *counter = &runs->all.v[pass->index[i]];

			if (pass->index[i] >= events->n)
				continue;
			*counter = pass->set.v[i];
			counter->leader = pass->index[counter->leader];
		}
	}
	for (size_t i = 0; i < events->n; i++) {
		runs->all.v[i].event = &events->v[i];
		runs->all.v[i].pass = runs->plan.pass[i];
	}
}

static void hand_over(struct run *run)
{
	const struct count_clock *clock = &run->passes->v[0].clock;

	aggregation_begin_read(run->reporter->counts);
	for (unsigned k = 0; k < run->n_passes; k++) {
		const struct pass_run *pass = &run->passes->v[k];

		for (size_t i = 0; i < pass->n_readings; i++) {
			const struct kept_reading *kept = &pass->readings[i];

			if (pass->index[kept->index] < run->passes->told.n)
				aggregation_take(run->reporter->counts, pass->index[kept->index],
						 kept->cpu, kept->thread, &kept->reading);
		}
		if (pass->done)
			reporter_end_pass(run->reporter, k, &pass->clock);
	}
	reporter_end_read(run->reporter, clock, clock);
	reporter_end_repeat(run->reporter);
}

/* Finds the event's count in this run; false: it did not count all the time. */
static bool whole_count(const struct pass_run *pass, size_t index, double *count)
{
	bool whole = false;

	*count = 0;
	for (size_t i = 0; i < pass->n_readings; i++) {
		const struct reading *reading = &pass->readings[i].reading;

		if (pass->readings[i].index != index)
			continue;
		if (reading->state != READING_OK || !reading->running_ns ||
		    reading->running_ns < reading->enabled_ns)
			return false;
		*count += (double)reading->value;
		whole = true;
	}
	return whole;
}

static void keep_values(struct run *run)
{
	for (unsigned k = 0; k < run->n_passes; k++) {
		const struct pass_run *pass = &run->passes->v[k];
		double count;

		for (size_t i = 0; i < pass->events.n && pass->done; i++)
			if (whole_count(pass, i, &count))
				series_add(&run->passes->values[pass->index[i]], count);
	}
}

bool passes_compare(struct run *run)
{
	struct pass_runs *runs = run->passes;
	const char *remedy = run->plan->warm_up ?
		"their counts cannot be combined; -r shows how much runs differ" :
		"their counts cannot be combined; --warm-up runs the command once before, -r shows how "
		"much runs differ";
	struct pass_count *counts = xcalloc(runs->plan.events.n + 1, sizeof(*counts));
	struct str which = STR_INIT;
	size_t n = 0;
	bool differ;

	for (size_t i = 0; i < runs->plan.events.n; i++)
		if (runs->values[i].n)
			counts[n++] = (struct pass_count){ &runs->plan.events.v[i], runs->plan.pass[i],
							   &runs->values[i] };
	differ = passes_differ(counts, n, &which);
	if (differ)
		note_add(run->plan->notes, false, remedy, "--passes: the command did not do the same in each pass: %s",
			 which.s);
	str_release(&which);
	free(counts);
	return differ;
}

static void note_cut_short(const struct run *run, unsigned n_done, bool spoilt)
{
	if (spoilt)
		note_add(run->plan->notes, false, NULL,
			 "-r: run %u of %ld was interrupted in pass %u of %u and is left out",
			 run->index + 1, run->plan->repeat, n_done, run->n_passes);
	else
		note_add(run->plan->notes, false, NULL, "--passes: interrupted in pass %u of %u", n_done,
			 run->n_passes);
}

int passes_end_repeat(struct run *run)
{
	bool interrupted = run->plan->stop->signal != 0, spoilt;
	unsigned n_done = 0;
	int rc;

	if (!run->passes->counted)
		return 0;
	run->passes->counted = false;
	while (n_done < run->n_passes && run->passes->v[n_done].done)
		n_done++;
	spoilt = run->index > 0 && (interrupted || n_done < run->n_passes);
	if (interrupted)
		note_cut_short(run, n_done, spoilt);
	put_together(run);
	rc = reporter_attach(run->reporter, &count_backend_perf, &run->passes->all, &run->target, run->err);
	if (rc || spoilt)
		return rc;
	hand_over(run);
	keep_values(run);
	return 0;
}

void passes_end(struct run *run)
{
	if (!run->passes)
		return;
	passes_forget(run);
	for (unsigned i = 0; i < run->n_passes; i++) {
		free(run->passes->v[i].events.v);
		free(run->passes->v[i].index);
		free(run->passes->v[i].readings);
	}
	free(run->passes->v);
	free(run->passes->all.v);
	free(run->passes->values);
	pass_plan_release(&run->passes->plan);
	free(run->passes);
	run->passes = NULL;
}
