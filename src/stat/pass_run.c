/*
 * --passes: the question for passes.c is asked of the machine, and its plan carried out.
 *
 * Each pass is a run of the command with counters of its own events. What they counted is read when the
 * run ends, and kept. When the last pass of a repeat is over, all counters are put together into one set,
 * which the reporter takes for one run that counted everything. Counters of passes that are over stay
 * open until the report, which may ask for reasons; they are stopped, so that nothing that the command
 * left running takes a counter from the next pass.
 *
 * A clock and a software event are counted in each pass, so that something tells whether the command did the same. The
 * reporter does not know of them.
 */
#include "stat/passes.h"

#include <errno.h>
#include <stdlib.h>

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

/* ---- the question ---- */

struct asking {
	const struct stat_plan *plan;
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
		v[i] = &a->plan->events->v[events[i]];
	fit = events_fit(v, n, a->plan->kern);
	free(v);
	return fit;
}

/* An event that does not open takes no counter from others. */
static void find_pmu(struct asking *a, size_t i)
{
	const struct event *v = a->plan->events->v;
	size_t first = 0;

	a->pmu[i] = NO_PMU;
	if (!events_share_counters(&v[i], &v[i]))
		return;
	a->lines[i].supported = !event_try(&v[i], a->plan->kern);
	if (!a->lines[i].supported)
		return;
	while (first < i && (a->pmu[first] == NO_PMU || !events_share_counters(&v[first], &v[i])))
		first++;
	a->pmu[i] = first < i ? a->pmu[first] : i;
}

static void ask_machine(struct asking *a)
{
	const struct event_list *events = a->plan->events;

	a->pmu = xcalloc(events->n + 1, sizeof(*a->pmu));
	a->lines = xcalloc(events->n + 1, sizeof(*a->lines));
	for (size_t i = 0; i < events->n; i++) {
		const struct event *event = &events->v[i];

		a->lines[i] = metric_line_of(event, &event->attr);
		find_pmu(a, i);
	}
	metrics_bind(&a->uses, a->lines, events->n,
		     (const struct metric *const *)a->plan->metrics, a->plan->n_metrics);
}

static int group_too_big(const struct stat_plan *plan, size_t leader, struct str *err)
{
	const struct event *event = &plan->events->v[leader];
	size_t n = 0;
	int counters;

	for (size_t i = leader; i < leader + event->n_members; i++)
		n += events_share_counters(&plan->events->v[i], &plan->events->v[i]);
	counters = event_counters(event, n, plan->kern);
	str_add(err, "--passes: the group of ");
	str_add_printable(err, event->name, strlen(event->name));
	if (counters > 0 && n > (size_t)counters)
		fail(err, -E2BIG, ": %zu events for %d counters", n, counters);
	else
		fail(err, -E2BIG, ": its %zu events cannot be counted at the same time", n);
	return fail(err, -E2BIG, "\nmake it smaller, or add :W, so that it may be counted in parts");
}

/* ---- the passes ---- */

/* Events of one pass in the plan's order, so that a group's members follow its leader. */
static void fill_pass(struct pass_runs *runs, unsigned pass)
{
	const struct pass_plan *plan = &runs->plan;
	struct pass_run *run = &runs->v[pass];

	run->events.v = xcalloc(plan->events.n + 1, sizeof(*run->events.v));
	run->index = xcalloc(plan->events.n + 1, sizeof(*run->index));
	for (size_t i = 0; i < plan->events.n; i++) {
		const struct event *event = &plan->events.v[i];
		size_t at = run->events.n;

		if (plan->pass[i] != pass)
			continue;
		run->events.v[at] = *event;
		run->events.v[at].leader = at - (i - event->leader);
		run->index[at] = i;
		run->events.n++;
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
		fill_pass(runs, pass);
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
	struct asking asking = { .plan = run->plan };
	struct pass_question question = { .events = run->plan->events, .fits = fit_together };
	struct pass_runs *runs = xcalloc(1, sizeof(*runs));
	size_t too_big;
	int rc;

	ask_machine(&asking);
	question.pmu = asking.pmu;
	question.uses = asking.uses.v;
	question.n_uses = asking.uses.n;
	question.data = &asking;
	rc = pass_plan_make(&runs->plan, &question, &too_big);
	if (rc)
		group_too_big(run->plan, too_big, run->err);
	runs->told = runs->plan.events;
	if (!rc)
		rc = add_controls(&runs->plan, run->plan->kern, run->err);
	runs->told.v = runs->plan.events.v;
	if (rc) {
		pass_plan_release(&runs->plan);
		free(runs);
	} else {
		make_runs(run, runs);
	}
	free(asking.pmu);
	free(asking.lines);
	metric_uses_release(&asking.uses);
	return rc;
}

const struct event_list *passes_events(const struct run *run)
{
	return &run->passes->v[run->pass].events;
}

/* ---- one run ---- */

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

/* ---- all runs of a repeat ---- */

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

/* What the event counted in this run; false: it was not there all the time. */
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
		"what they counted does not belong together; -r shows how much runs differ" :
		"what they counted does not belong together; --warm-up runs the command once before, -r shows how "
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
		note_add(run->plan->notes, false, remedy, "--passes: the command did not do the same in each: %s",
			 which.s);
	str_release(&which);
	free(counts);
	return differ;
}

static void note_cut_short(const struct run *run, unsigned n_done, bool spoilt)
{
	if (spoilt)
		note_add(run->plan->notes, false, NULL,
			 "-r: run %u of %u was interrupted in pass %u of %u and is left out",
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
