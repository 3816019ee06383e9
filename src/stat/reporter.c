/*
 * The reporter: what is fixed for a run (names, metrics bound to what was opened), and what is kept
 * over the runs of a command (times). What is counted is count/'s.
 */
#include "stat/reporter.h"

#include "stat/passes.h"

#include <errno.h>
#include <stdlib.h>

/* ---- metrics ---- */

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
