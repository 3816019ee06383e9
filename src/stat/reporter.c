/* SPDX-License-Identifier: MIT */
/*
 * The reporter: what is fixed for a run (names, metrics bound to what was opened), what is kept over the runs of a
 * command (times), and values -> struct stat_report: all that is printed, complete and in order. Formats add nothing to
 * it. What is counted is count/'s.
 *
 * For a report every value first becomes an amount (of the interval, since the start, or the mean of the runs); then
 * the rows are made from the amounts, with their metrics and, where something is missing, the reason. Room for rows
 * is laid out when counters are attached.
 */
#include "stat/reporter.h"

#include "stat/passes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* ---- names ---- */

static const struct counted_event *first_of(const struct reporter *r, size_t row)
{
	return &r->counts->counted[r->counts->rows[row].first];
}

/* Do rows that were made from one spec stay apart and look alike? Then they get their PMU into the name. */
static bool needs_pmu_name(const struct reporter *r, size_t row)
{
	const struct event *event = first_of(r, row)->event;

	if (!event->expansion_id || !event->pmu_name[0])
		return false;
	for (size_t i = 0; i < r->counts->n_rows; i++) {
		const struct event *other = first_of(r, i)->event;

		if (i != row && event->expansion_id == other->expansion_id &&
		    text_same(event->cgroup, other->cgroup) && !strcmp(event->name, other->name))
			return true;
	}
	return false;
}

/* cpu_core/cycles/u -> cycles:u, cpu_core/cycles,period=5/u -> cycles/period=5/u: the row is of all types of cores. */
static char *name_on_all_types(const struct counted_event *first)
{
	size_t pmu_len = strlen(first->event->pmu_name);
	const char *name = first->name + pmu_len + 1;
	size_t len = strncmp(first->name, first->event->pmu_name, pmu_len) || first->name[pmu_len] != '/' ?
			     0 : strcspn(name, ",/");

	if (!len || !name[len])
		return xstrdup(first->name);
	if (name[len] == ',')
		return xasprintf("%.*s/%s", (int)len, name, name + len + 1);
	return xasprintf("%.*s%s%s", (int)len, name, name[len + 1] && name[len + 1] != ':' ? ":" : "",
			 name + len + 1);
}

static char *name_of_row(const struct reporter *r, size_t row)
{
	const struct counted_event *first = first_of(r, row);

	if (first->event->expansion == EXPANSION_CORE_TYPES && r->counts->rows[row].n_events > 1)
		return name_on_all_types(first);

	if (!needs_pmu_name(r, row))
		return xstrdup(first->name);
	if (first->event->expansion == EXPANSION_CORE_TYPES)
		return xasprintf("%s/%s/", first->event->pmu_name, first->name);
	return xasprintf("%s [%s]", first->name, first->event->pmu_name);
}

/* To add a mode: here, in count/aggr_keys.c and in the formats' table key_looks[]. */
static char *name_of_key(const struct aggr_key *key)
{
	struct str name = STR_INIT;

	if (key->rest) {
		str_add(&name, key->mode == AGGR_TOTAL ? "" : "all");
		return str_detach(&name);
	}
	switch (key->mode) {
	case AGGR_TOTAL:
		break;
	case AGGR_CPU:
		str_addf(&name, "CPU%d", key->cpu);
		break;
	case AGGR_CORE:
		str_addf(&name, "S%d-D%d-C%d", key->socket, key->die, key->core);
		break;
	case AGGR_CLUSTER:
		str_addf(&name, "S%d-D%d-CLS%d", key->socket, key->die, key->cluster);
		break;
	case AGGR_CACHE:
		str_addf(&name, "S%d-D%d-L%d-ID%d", key->socket, key->die, key->cache_level, key->cache);
		break;
	case AGGR_DIE:
		str_addf(&name, "S%d-D%d", key->socket, key->die);
		break;
	case AGGR_SOCKET:
		str_addf(&name, "S%d", key->socket);
		break;
	case AGGR_NODE:
		str_addf(&name, "N%d", key->node);
		break;
	case AGGR_THREAD:
		str_add_printable(&name, key->comm, strnlen(key->comm, sizeof(key->comm)));
		str_addf(&name, "-%d", (int)key->tid);
		break;
	}
	return str_detach(&name);
}

static void forget_names(struct reporter *r)
{
	for (size_t i = 0; i < r->counts->n_rows; i++)
		free(r->row_names[i]);
	for (size_t i = 0; i < r->n_key_names; i++)
		free(r->key_names[i]);
	r->n_key_names = 0;
}

static void make_names(struct reporter *r)
{
	forget_names(r);
	for (size_t i = 0; i < r->counts->n_rows; i++)
		r->row_names[i] = name_of_row(r, i);
	r->n_key_names = r->counts->n_keys;
	r->key_names = xreallocarray(r->key_names, r->n_key_names, sizeof(*r->key_names));
	for (size_t i = 0; i < r->n_key_names; i++)
		r->key_names[i] = name_of_key(&r->counts->keys[i]);
}

static void forget_texts(struct report_room *rows)
{
	for (size_t i = 0; i < rows->n_texts; i++)
		free(rows->texts[i]);
	rows->n_texts = 0;
}

/* Room for all rows, after what was attached. */
static void rows_prepare(struct reporter *r)
{
	struct report_room *rows = &r->rows;
	size_t n = aggregation_n_values(r->counts);

	make_names(r);
	r->amounts = xreallocarray(r->amounts, n + 1, sizeof(*r->amounts));
	rows->v = xreallocarray(rows->v, n + 1, sizeof(*rows->v));
	rows->metrics =
		xreallocarray(rows->metrics, r->counts->n_keys * r->uses.n + 1, sizeof(*rows->metrics));
	rows->order = xreallocarray(rows->order, r->counts->n_keys, sizeof(*rows->order));
	rows->copies = xreallocarray(rows->copies, r->counts->n_rows + 1, sizeof(*rows->copies));
}

static void rows_release(struct reporter *r)
{
	forget_names(r);
	forget_texts(&r->rows);
	free(r->row_names);
	free(r->key_names);
	free(r->amounts);
	free(r->rows.texts);
	free(r->rows.v);
	free(r->rows.metrics);
	free(r->rows.order);
	free(r->rows.copies);
	str_release(&r->rows.text);
}

/* ---- amounts ---- */

/* value: the sum over so many runs. */
static void set_estimate(struct amount *amount, const struct evidence *evidence, double value, double runs)
{
	amount->has_estimate = evidence->cells;
	amount->runs = runs;
	amount->scale = (struct copy){ value, evidence->spread, estimate_make(evidence, value) };
}

static struct amount amount_of_sum(const struct count_sum *sum)
{
	struct amount amount = {
		.there = sum->cells > 0,
		.count = sum->value,
		.mean = (double)sum->value,
		.enabled_ns = sum->enabled_ns,
		.running_ns = sum->running_ns,
		.cells = sum->cells,
		.cells_never_ran = sum->cells_never_ran,
		.cells_failed = sum->cells_failed,
		.cells_lost_pin = sum->cells_lost_pin,
		.cells_stopped = sum->cells_stopped,
		.cells_removed = sum->cells_removed,
		.missed_ns = sum->missed_ns,
		.cells_unscaled = sum->cells_unseen + sum->cells_gaps,
	};

	set_estimate(&amount, &sum->evidence, amount.mean, 1);
	return amount;
}

/* The means over the runs: values of those in which it ran, times of those in which it had cells. */
static struct amount amount_of_runs(const struct aggr_value *value)
{
	struct amount amount = amount_of_sum(&value->all_runs);
	unsigned __int128 sum = 0;
	struct series series = { 0 };

	if (value->n_runs) {
		amount.enabled_ns /= value->n_runs;
		amount.running_ns /= value->n_runs;
		amount.missed_ns /= value->n_runs;
	}
	for (size_t i = 0; i < value->n_run_values; i++) {
		series_add(&series, (double)value->runs[i].value);
		sum += value->runs[i].value;
	}
	if (series.n) {
		amount.count = (uint64_t)((sum + series.n / 2) / series.n);
		amount.mean = series.mean;
		amount.stdev_pct = series_rel_stdev_pct(&series);
		set_estimate(&amount, &value->all_runs.evidence, (double)sum, (double)series.n);
		estimate_from_runs(&amount.scale.estimate, series.n,
				   series_stdev_of_mean(&series) * sqrt(amount.runs), amount.scale.value);
	}
	return amount;
}

/* Which of a value's sums this report shows. */
static const struct count_sum *shown_sum(const struct reporter *r, const struct aggr_value *value)
{
	if (r->report.kind == REPORT_INTERVAL)
		return &value->delta;
	return r->counts->options.keep_runs && r->counts->n_runs ? &value->all_runs : &value->total;
}

static void set_amounts(struct reporter *r)
{
	for (size_t i = 0; i < aggregation_n_values(r->counts); i++) {
		const struct aggr_value *value = &r->counts->values[i];
		const struct count_sum *sum = shown_sum(r, value);
		struct amount *amount = &r->amounts[i];

		*amount = sum == &value->all_runs ? amount_of_runs(value) : amount_of_sum(sum);
		amount->there = amount->there || value->is_open || value->n_unsupported;
		amount->value = amount->mean * first_of(r, i % r->counts->n_rows)->event->scale;
		amount->state = count_state(value, sum);
	}
}

/* ---- reasons ---- */

/* NULL: there is none. */
static const char *reason_of(struct reporter *r, size_t row, const struct aggr_value *value, bool *missing)
{
	struct report_room *rows = &r->rows;

	*missing = aggregation_reason(r->counts, row, value, shown_sum(r, value), &rows->text);
	if (!rows->text.len)
		return NULL;
	VEC_GROW(rows->texts, rows->n_texts, rows->texts_cap);
	return rows->texts[rows->n_texts++] = xstrdup(rows->text.s);
}

/* ---- rows ---- */

/* A scale without a fraction keeps the count exact, unless it is too big for that. */
static void set_value(struct stat_row *row, const struct amount *amount, double scale)
{
	uint64_t product;

	row->value = amount->value;
	row->count = amount->count;
	row->integral = scale == 1;
	if (scale > 1 && scale < (double)UINT32_MAX && (double)(uint64_t)scale == scale &&
	    !__builtin_mul_overflow(amount->count, (uint64_t)scale, &product)) {
		row->count = product;
		row->integral = true;
	}
}

static double running_pct(const struct amount *amount)
{
	double ns = (double)amount->enabled_ns + (double)amount->missed_ns;

	if (amount->running_ns == amount->enabled_ns && !amount->missed_ns)
		return 100;
	return ns > 0 ? 100.0 * (double)amount->running_ns / ns : 0;
}

/* Cells did not run all the time, and it is not known how long they could have: the value is as counted. */
static bool is_left_unscaled(const struct count_sum *sum)
{
	return (sum->cells_unseen || sum->cells_gaps) && !sum->cells_scaled;
}

static void set_scale_error(const struct reporter *r, struct stat_row *row, const struct amount *amount)
{
	const struct estimate *estimate = &amount->scale.estimate;

	if (!r->plan->scale)
		return; /* the value is no estimate */
	if (r->plan->pass_plan)
		row->scale_error_reason = "counted in passes";
	else if (row->partial)
		row->scale_error_reason = "a part is missing";
	else if (!amount->has_estimate)
		row->scale_error_reason = estimate_reason(ESTIMATE_FEW_SLICES);
	else
		row->scale_error_reason = estimate_reason(estimate->state);
	row->has_scale_error = !row->scale_error_reason;
	if (row->has_scale_error)
		row->scale_error_pct = 100 * estimate->error / amount->scale.value;
}

static void set_state_and_reason(struct reporter *r, struct stat_row *row, size_t event_row,
				 const struct amount *amount, const struct aggr_value *value)
{
	bool missing;

	row->state = amount->state;
	row->reason = reason_of(r, event_row, value, &missing);
	row->removed = amount->cells_removed;
	if (amount->state != COUNT_OK)
		return;
	row->scaled = amount->running_ns < amount->enabled_ns && !is_left_unscaled(shown_sum(r, value));
	row->partial = missing;
	row->unverified = row->reason && !missing;
	if (row->scaled)
		set_scale_error(r, row, amount);
}

/* A metric's own: where it is of one pass, that pass's. */
static double elapsed_of(const struct reporter *r, const struct metric_use *use, double elapsed_s)
{
	for (size_t i = 0; i < use->n_inputs && r->pass_elapsed; i++) {
		size_t row = use->inputs[i].line;

		if (row != SIZE_MAX)
			return r->pass_elapsed[r->metric_lines[row].pass].mean;
	}
	return elapsed_s;
}

static void add_metrics(struct reporter *r, struct stat_row *row, size_t key, size_t event_row,
			double elapsed_s)
{
	row->metrics = r->rows.metrics + r->rows.n_metrics;
	for (size_t u = r->uses_base[event_row]; u < r->uses_base[event_row + 1]; u++)
		metric_eval(&r->uses.v[u], r->metric_lines, &r->amounts[key * r->counts->n_rows],
			    elapsed_of(r, &r->uses.v[u], elapsed_s), &row->metrics[row->n_metrics++]);
	r->rows.n_metrics += row->n_metrics;
}

/* Threads that counted nothing are left out where all of the system's are counted: there are hundreds. */
static bool is_shown(const struct reporter *r, const struct aggr_key *key, const struct amount *amount)
{
	if (!amount->there)
		return false;
	return r->plan->aggr != AGGR_THREAD || r->counts->target_kind != TARGET_CPUS || key->rest ||
	       (amount->state == COUNT_OK && amount->mean > 0);
}

static void add_row(struct reporter *r, size_t key, size_t event_row, double elapsed_s)
{
	size_t at = key * r->counts->n_rows + event_row;
	const struct amount *amount = &r->amounts[at];
	const struct aggr_value *value = &r->counts->values[at];
	const struct event *event = first_of(r, event_row)->event;
	struct stat_row *row;

	if (r->metric_lines[event_row].again || !is_shown(r, &r->counts->keys[key], amount))
		return;
	row = &r->rows.v[r->rows.n++];
	*row = (struct stat_row){
		.aggr = r->counts->keys[key].mode,
		.key = r->key_names[key],
		.n_folded = value->n_cpus,
		.name = r->row_names[event_row],
		.cgroup = event->cgroup,
		.unit = event->unit,
		.running_ns = amount->running_ns,
		.running_pct = running_pct(amount),
		.stdev_pct = amount->stdev_pct,
		.pass = r->pass_elapsed ? r->metric_lines[event_row].pass + 1 : 0,
	};
	set_value(row, amount, event->scale);
	set_state_and_reason(r, row, event_row, amount, value);
	row->has_stdev = r->plan->repeat > 1 && r->report.kind != REPORT_INTERVAL &&
			 row->state == COUNT_OK;
	if (row->scaled && row->running_pct < r->report.least_running_pct)
		r->report.least_running_pct = row->running_pct;
	add_metrics(r, row, key, event_row, elapsed_s);
}

/* ---- order ---- */

struct by_value {
	const struct reporter *r;
	size_t row;
};

static int compare_by_value(const void *a, const void *b, void *data)
{
	const struct by_value *by = data;
	const struct aggregation *counts = by->r->counts;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	double vx = by->r->amounts[x * counts->n_rows + by->row].value;
	double vy = by->r->amounts[y * counts->n_rows + by->row].value;

	if (counts->keys[x].rest != counts->keys[y].rest)
		return counts->keys[x].rest ? 1 : -1;
	if (vx != vy)
		return vx > vy ? -1 : 1;
	return (x > y) - (x < y);
}

/* Adds a percore event's sum of a core once for each CPU of it, as perf's --percore-show-thread does. */
static void add_event_of_cores(struct reporter *r, size_t event_row, double elapsed_s)
{
	for (size_t i = 0; i < r->counts->n_keys; i++) {
		const struct aggr_key *cpu = &r->counts->keys[r->counts->key_order[i]];
		size_t n = r->rows.n, core = SIZE_MAX;

		if (cpu->mode == AGGR_CPU && !cpu->rest)
			core = aggregation_core_key(r->counts, cpu->cpu);
		if (core != SIZE_MAX)
			add_row(r, core, event_row, elapsed_s);
		if (r->rows.n == n)
			continue;
		r->rows.v[n].aggr = AGGR_CPU;
		r->rows.v[n].key = r->key_names[r->counts->key_order[i]];
	}
}

static void add_event(struct reporter *r, size_t event_row, double elapsed_s)
{
	size_t *order = r->rows.order;

	if (r->plan->percore_on_cpus && r->counts->rows[event_row].by_core) {
		add_event_of_cores(r, event_row, elapsed_s);
		return;
	}
	memcpy(order, r->counts->key_order, r->counts->n_keys * sizeof(*order));
	if (r->plan->aggr == AGGR_THREAD)
		qsort_r(order, r->counts->n_keys, sizeof(*order), compare_by_value,
			&(struct by_value){ r, event_row });
	for (size_t i = 0; i < r->counts->n_keys; i++)
		add_row(r, order[i], event_row, elapsed_s);
}

static bool is_key_by_key(enum aggr_mode mode)
{
	return mode >= AGGR_CORE && mode <= AGGR_NODE;
}

static void add_rows(struct reporter *r, double elapsed_s)
{
	if (is_key_by_key(r->plan->aggr)) {
		for (size_t i = 0; i < r->counts->n_keys; i++)
			for (size_t row = 0; row < r->counts->n_rows; row++)
				add_row(r, r->counts->key_order[i], row, elapsed_s);
		return;
	}
	for (size_t row = 0; row < r->counts->n_rows; row++)
		add_event(r, row, elapsed_s);
}

/* ---- the report ---- */

/* The clock of the last read stands for a run, while none has ended. */
static void set_times(struct reporter *r)
{
	const struct count_clock *clock = &r->since_start;
	struct stat_times *times = &r->shown_times;

	*times = r->times;
	if (r->n_runs)
		return;
	times->has_usage = clock->has_usage;
	series_add(&times->elapsed, (double)clock->elapsed_ns / 1e9);
	if (clock->has_usage) {
		series_add(&times->user, (double)clock->user_ns / 1e9);
		series_add(&times->sys, (double)clock->system_ns / 1e9);
	}
}

const struct stat_report *reporter_report(struct reporter *r, enum stat_report_kind kind, uint64_t time_ns)
{
	double elapsed_s;

	forget_texts(&r->rows);
	r->rows.n = 0;
	r->rows.n_metrics = 0;
	set_times(r);
	r->report = (struct stat_report){
		.kind = kind,
		.time_ns = time_ns,
		.first = !r->reported,
		.n_before = r->n_intervals,
		.rows = r->rows.v,
		.times = &r->shown_times,
		.run_seconds = r->run_seconds,
		.n_runs = r->n_runs,
		.least_running_pct = 100,
		.n_passes = r->plan->pass_plan ? r->plan->pass_plan->n_passes : 0,
	};
	elapsed_s = kind == REPORT_INTERVAL ? (double)r->since_last.elapsed_ns / 1e9 :
					      r->shown_times.elapsed.mean;
	set_amounts(r);
	repeated_events_compare(r);
	add_rows(r, elapsed_s);
	r->report.n_rows = r->rows.n;
	r->reported = true;
	r->n_intervals += kind == REPORT_INTERVAL;
	return &r->report;
}

/* ---- metrics, bound to what was opened ---- */

static void describe_row(const struct reporter *r, size_t row, struct metric_line *line)
{
	const struct event_row *of = &r->counts->rows[row];
	const struct counted_event *first = &r->counts->counted[of->first];

	*line = metric_line_of(first->event, first->attr);
	line->leader = first->leader;
	line->n_sources = (unsigned)(of->n_events - of->n_unsupported);
	line->pass = first->pass;
	line->again = r->plan->pass_plan && of->first >= r->plan->pass_plan->n_given;
	line->supported = of->n_unsupported < of->n_events;
}

static void bind_metrics(struct reporter *r)
{
	size_t use = 0, n_rows = r->counts->n_rows;

	for (size_t i = 0; i < n_rows; i++)
		describe_row(r, i, &r->metric_lines[i]);
	metrics_bind(&r->uses, r->metric_lines, n_rows, (const struct metric *const *)r->plan->metrics,
		     r->plan->n_metrics);
	for (size_t i = 0; i <= n_rows; i++) {
		while (use < r->uses.n && r->uses.v[use].line < i)
			use++;
		r->uses_base[i] = use;
	}
}

/* ---- a run ---- */

int reporter_attach(struct reporter *r, const struct count_backend *backend, const void *data,
		    const struct target *target, struct str *err)
{
	int rc = aggregation_attach(r->counts, backend, data, target, err);

	if (rc)
		return rc;
	bind_metrics(r);
	rows_prepare(r);
	r->since_start = r->since_last = (struct count_clock){ 0 };
	return 0;
}

static void set_clocks(struct reporter *r, const struct count_clock *since_start,
		       const struct count_clock *since_last)
{
	r->since_start = *since_start;
	r->since_last = *since_last;
}

void reporter_read(struct reporter *r, const struct count_clock *since_start,
		   const struct count_clock *since_last)
{
	const struct stat_tap *tap = r->plan->tap;

	set_clocks(r, since_start, since_last);
	aggregation_read(r->counts, since_start, since_last, tap ? tap->reading : NULL,
			 tap ? tap->data : NULL);
}

void reporter_end_read(struct reporter *r, const struct count_clock *since_start,
		       const struct count_clock *since_last)
{
	set_clocks(r, since_start, since_last);
	aggregation_end_read(r->counts, since_start, since_last, NULL, NULL);
}

/* ---- over the runs ---- */

static void add_times(struct reporter *r, const struct count_clock *clock)
{
	double elapsed_s = (double)clock->elapsed_ns / 1e9;

	series_add(&r->times.elapsed, elapsed_s);
	r->times.has_usage = clock->has_usage;
	if (clock->has_usage) {
		series_add(&r->times.user, (double)clock->user_ns / 1e9);
		series_add(&r->times.sys, (double)clock->system_ns / 1e9);
	}
	VEC_GROW(r->run_seconds, r->n_runs, r->runs_cap);
	r->run_seconds[r->n_runs++] = elapsed_s;
}

void reporter_end_repeat(struct reporter *r)
{
	aggregation_end_run(r->counts);
}

void reporter_end_run(struct reporter *r, const struct count_clock *clock)
{
	reporter_end_repeat(r);
	add_times(r, clock);
}

void reporter_end_pass(struct reporter *r, unsigned pass, const struct count_clock *clock)
{
	series_add(&r->pass_elapsed[pass], (double)clock->elapsed_ns / 1e9);
	add_times(r, clock);
}

/* ---- the reporter ---- */

struct reporter *reporter_new(const struct stat_plan *plan, struct str *err)
{
	const struct aggregation_options options = {
		.mode = plan->aggr,
		.scale = plan->scale,
		.merge = plan->merge,
		.hybrid_merge = plan->hybrid_merge,
		.cache_level = plan->cache_level,
		.keep_runs = plan->repeat > 1,
	};
	struct reporter *r;

	if (!plan->events->n && !plan->null_run) {
		fail(err, -EINVAL, "no events: there is nothing to count");
		return NULL;
	}
	r = xcalloc(1, sizeof(*r));
	r->plan = plan;
	r->counts = aggregation_new(plan->events, &options);
	r->row_names = xcalloc(r->counts->n_rows + 1, sizeof(*r->row_names));
	r->metric_lines = xcalloc(r->counts->n_rows + 1, sizeof(*r->metric_lines));
	r->uses_base = xcalloc(r->counts->n_rows + 1, sizeof(*r->uses_base));
	str_init(&r->rows.text);
	if (plan->pass_plan)
		r->pass_elapsed = xcalloc(plan->pass_plan->n_passes, sizeof(*r->pass_elapsed));
	return r;
}

void reporter_free(struct reporter *r)
{
	if (!r)
		return;
	rows_release(r);
	metric_uses_release(&r->uses);
	aggregation_free(r->counts);
	free(r->metric_lines);
	free(r->uses_base);
	free(r->run_seconds);
	free(r->pass_elapsed);
	free(r);
}

/* ---- replay: the reports of a recording, with its counts for a backend ---- */

struct stat_replay {
	const struct stat_plan *plan;
	struct reporter *reporter;
	uint64_t last_ns; /* when the last round ended */
};

struct stat_replay *stat_replay_new(const struct stat_plan *plan, const struct recorded_counts *counts,
				    struct str *err)
{
	struct stat_replay *replay = xcalloc(1, sizeof(*replay));

	replay->plan = plan;
	replay->reporter = reporter_new(plan, err);
	if (!replay->reporter ||
	    reporter_attach(replay->reporter, &count_backend_recorded, counts, &counts->target, err)) {
		stat_replay_free(replay);
		return NULL;
	}
	if (plan->scale)
		aggregation_keep_slices(replay->reporter->counts); /* from round to round */
	return replay;
}

int stat_replay_round(struct stat_replay *replay, enum stat_report_kind kind, uint64_t since_start_ns)
{
	struct count_clock since_start = { .elapsed_ns = since_start_ns }, since_last = { 0 };

	if (since_start_ns > replay->last_ns)
		since_last.elapsed_ns = since_start_ns - replay->last_ns;
	replay->last_ns = since_start_ns;
	reporter_read(replay->reporter, &since_start, &since_last);
	return replay->plan->emit(replay->plan->emit_data,
				  reporter_report(replay->reporter, kind, since_start_ns));
}

void stat_replay_free(struct stat_replay *replay)
{
	if (!replay)
		return;
	reporter_free(replay->reporter);
	free(replay);
}
