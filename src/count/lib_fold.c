/*
 * Cells -> readings: what descriptors said becomes one value, state and reason for each event.
 *
 * Where all cells of an event counted the whole time their sum is the answer, which is the common case and costs
 * next to nothing. What is to be scaled, and what is missing, is worked out by the aggregation, as it is for pstat
 * stat: it knows types of cores, packages, and what a partial sum is worth.
 *
 * Readings may outlive their counters: all that the aggregation borrows is a copy of theirs.
 */
#include "count/lib.h"

#include <errno.h>
#include <stdlib.h>

/* ---- what the aggregation asks of readings ---- */

static void describe(const void *data, struct counted_event *events)
{
	const struct pstat_readings *r = data;

	memcpy(events, r->counted, r->n * sizeof(*events));
}

static int read_topology(const void *data, struct topology *topology, struct str *err)
{
	const struct pstat_readings *r = data;

	return topology_read(topology, &r->of->kern.host, err);
}

static char *never_ran_reason(const void *data, size_t index, const struct reading *sum)
{
	const struct pstat_readings *r = data;

	return counter_never_ran_reason(&r->of->set, index, sum);
}

static const struct count_backend of_readings = {
	.name = "readings",
	.describe = describe,
	.topology = read_topology,
};
/* While the counters are there: for reasons. */
static const struct count_backend of_counters = {
	.name = "readings of open counters",
	.describe = describe,
	.topology = read_topology,
	.never_ran_reason = never_ran_reason,
};

static const struct aggregation_options all_in_one = { .mode = AGGR_TOTAL, .scale = true };

/* In a memory scope. */
int lib_fold_prepare(struct pstat_readings *r, const struct pstat_counters *c, struct str *err)
{
	event_list_copy(&r->events, &c->events);
	r->cpus = xcalloc(r->n + 1, sizeof(*r->cpus));
	r->counted = xcalloc(r->n + 1, sizeof(*r->counted));
	count_backend_perf.describe(&c->set, r->counted);
	for (size_t i = 0; i < r->n; i++) {
		struct counted_event *counted = &r->counted[i];

		r->events.v[i].attr = *counted->attr;
		intset_copy(&r->cpus[i], counted->cpus);
		counted->event = &r->events.v[i];
		counted->attr = &r->events.v[i].attr;
		counted->name = r->v[i].name;
		counted->reason = r->facts[i].reason;
		counted->cpus = &r->cpus[i];
	}
	r->agg = aggregation_new(&r->events, &all_in_one);
	return aggregation_attach(r->agg, &of_readings, r, &c->target, err);
}

void lib_fold_release(struct pstat_readings *r)
{
	if (r->agg)
		aggregation_free(r->agg);
	for (size_t i = 0; r->cpus && i < r->n; i++)
		intset_release(&r->cpus[i]);
	free(r->cpus);
	free(r->counted);
	event_list_release(&r->events);
}

/* ---- folding ---- */

static void begin(struct pstat_readings *r, size_t i)
{
	struct pstat_reading *reading = &r->v[i];

	reading->raw = reading->scaled = reading->enabled_ns = reading->running_ns = 0;
	reading->value = 0;
	reading->error = 0;
	reading->reason = reading->remedy = NULL;
	reading->way = PSTAT_BY_READ;
	reading->state = PSTAT_COUNTED;
}

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Sums the cells; true if each of them counted all the time. */
static bool fold_plain(struct pstat_readings *r, size_t i)
{
	struct pstat_reading *reading = &r->v[i];
	bool plain = !r->events.v[i].per_pkg && r->first_cell[i] < r->first_cell[i + 1];

	for (size_t k = r->first_cell[i]; k < r->first_cell[i + 1]; k++) {
		const struct lib_cell *cell = &r->cells[k];

		if (cell->state != READING_OK) {
			plain = false;
			continue;
		}
		plain = plain && !cell->others_ran && cell->running_ns && cell->running_ns == cell->enabled_ns;
		reading->raw = add_saturating(reading->raw, cell->value);
		reading->enabled_ns = add_saturating(reading->enabled_ns, cell->enabled_ns);
		reading->running_ns = add_saturating(reading->running_ns, cell->running_ns);
	}
	reading->scaled = reading->raw;
	return plain;
}

static void not_supported(struct pstat_readings *r, size_t i)
{
	r->v[i].state = PSTAT_NOT_SUPPORTED;
	r->v[i].error = r->facts[i].error;
	r->v[i].reason = r->facts[i].reason;
	r->v[i].remedy = r->facts[i].remedy;
}

/* All cells to the aggregation; takes no memory. */
static void feed(struct aggregation *agg, const struct pstat_readings *r)
{
	const struct count_clock no_clock = { 0 };

	aggregation_begin_read(agg);
	for (size_t i = 0; i < r->n; i++) {
		size_t n_threads = r->counted[i].n_threads;

		for (size_t k = r->first_cell[i]; k < r->first_cell[i + 1]; k++) {
			const struct lib_cell *cell = &r->cells[k];
			size_t at = k - r->first_cell[i];
			const struct reading reading = {
				.value = cell->value,
				.enabled_ns = cell->enabled_ns,
				.running_ns = cell->running_ns,
				.state = cell->state,
				.others_ran = cell->others_ran,
				.err = cell->err,
			};

			aggregation_take(agg, i, r->cpus[i].n ? r->cpus[i].v[at / n_threads] : -1, at % n_threads,
					 &reading);
		}
	}
	aggregation_end_read(agg, &no_clock, &no_clock, NULL, NULL);
}

/* The reason without asking the machine, in words that need no memory; the counterpart is aggregation_reason(). */
static const char *static_reason(const struct pstat_readings *r, size_t i, const struct count_sum *sum)
{
	const struct counted_event *counted = &r->counted[i];

	if (!sum->cells)
		return "the target was gone before it was opened";
	if (sum->cells_failed)
		return strerror(r->v[i].error);
	if (sum->cells_lost_pin)
		return "pinned, and no counter was free";
	if (sum->enabled_ns)
		return "it never got a counter";
	if (sum->elsewhere_ns)
		return "the task never ran on its type of core";
	return event_never_enabled(counted->event, counted->cpus->n != 0);
}

static const char *partial_reason(const struct count_sum *sum)
{
	return sum->cells_failed    ? "some of its counters could not be read" :
	       sum->cells_lost_pin  ? "some of its counters lost the pin" :
	       sum->cells_never_ran ? "some of its counters never ran" :
	       sum->cells_left_tasks ? "children and new threads ran, and are not counted" :
	       sum->cells_unseen    ? "not scaled: nothing is counted on the other cores" :
	       sum->cells_gaps	    ? "not scaled: no counter saw all of its core's time" : NULL;
}

/* The aggregation's answer for one event. */
static void conclude(struct pstat_readings *r, size_t i)
{
	struct pstat_reading *reading = &r->v[i];
	const struct aggr_value *value = aggregation_value(r->agg, r->agg->row_of[i], 0);
	const struct count_sum *sum = &value->total;

	reading->error = r->agg->rows[r->agg->row_of[i]].read_err;
	reading->enabled_ns = sum->enabled_ns;
	reading->running_ns = sum->running_ns;
	if (count_state(value, sum) != COUNT_OK) {
		reading->state = sum->cells_failed ? PSTAT_READ_FAILED : PSTAT_NOT_COUNTED;
		reading->reason = static_reason(r, i, sum);
		reading->scaled = 0;
		return;
	}
	reading->scaled = sum->value;
	reading->reason = partial_reason(sum);
	reading->state = reading->reason ? PSTAT_LOWER_BOUND :
			 sum->running_ns < sum->enabled_ns ? PSTAT_SCALED : PSTAT_COUNTED;
	if (reading->state == PSTAT_SCALED && r->facts[i].read_elsewhere)
		reading->reason = "a cgroup's times are right on their own CPU alone: it may be scaled too "
				  "much, unless the thread may move";
}

void lib_fold(struct pstat_readings *r)
{
	bool all_plain = true;

	for (size_t i = 0; i < r->n; i++) {
		begin(r, i);
		r->facts[i].plain = r->facts[i].open && fold_plain(r, i);
		all_plain = all_plain && (r->facts[i].plain || !r->facts[i].open);
	}
	r->all_plain = all_plain;
	if (!all_plain)
		feed(r->agg, r);
	for (size_t i = 0; i < r->n; i++) {
		if (!r->facts[i].open)
			not_supported(r, i);
		else if (!r->facts[i].plain)
			conclude(r, i);
		r->v[i].value = (double)r->v[i].scaled * r->events.v[i].scale;
	}
}

/* ---- reasons ---- */

/*
 * By an aggregation that is made for it: what it finds out belongs to it, and one that existed before may not be
 * changed in a memory scope.
 */
static int explain(void *data, struct str *err)
{
	struct pstat_readings *r = data;
	struct aggregation *agg = aggregation_new(&r->events, &all_in_one);
	char **found = xcalloc(r->n + 1, sizeof(*found));
	struct str text = STR_INIT;
	int rc = aggregation_attach(agg, &of_counters, r, &r->of->target, err);

	if (rc < 0) {
		aggregation_free(agg);
		free(found);
		return rc;
	}
	feed(agg, r);
	for (size_t i = 0; i < r->n; i++) {
		const struct aggr_value *value = aggregation_value(agg, agg->row_of[i], 0);

		if (r->v[i].state != PSTAT_LOWER_BOUND && r->v[i].state != PSTAT_NOT_COUNTED)
			continue;
		aggregation_reason(agg, agg->row_of[i], value, &value->total, &text);
		found[i] = text.len ? xstrdup(text.s) : NULL;
	}
	str_release(&text);
	aggregation_free(agg);
	/* From here on nothing fails. */
	for (size_t i = 0; i < r->n; i++) {
		if (!found[i])
			continue;
		free(r->facts[i].explained);
		r->v[i].reason = r->facts[i].explained = found[i];
	}
	free(found);
	return 0;
}

int pstat_explain(struct pstat_counters *counters, struct pstat_readings *readings)
{
	if (readings->of != counters)
		return -EINVAL;
	return lib_run(explain, readings, NULL);
}
