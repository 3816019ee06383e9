/* SPDX-License-Identifier: MIT */
/*
 * struct pstat_readings: what all descriptors of a handle said at one time, and the value, state and reason of each
 * event that follow from it.
 *
 *	counters_read() --> cells (less what they were when reset) --fold()--> one struct pstat_reading per event
 *
 * Cells are kept, so that the difference of two readings is scaled from the times between them, descriptor by
 * descriptor, as CPUs and threads share their counters each on their own. A reading takes no memory: all room is made
 * by pstat_readings_new().
 *
 * Where all cells of an event counted the whole time their sum is the answer, which is the common case and costs next
 * to nothing. The aggregation works out what is to be scaled, and what is missing, as it does for pstat stat: it knows
 * types of cores, packages, and what a partial sum is worth. Readings may outlive their counters: all that the
 * aggregation borrows is a copy of theirs.
 */
#include "count/lib.h"

#include <errno.h>
#include <stdlib.h>

/* ---- what the aggregation asks of readings ---- */

static void describe_events(const void *data, struct counted_event *events)
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
	.describe = describe_events,
	.topology = read_topology,
};
/* The backend for reasons, which need the counters themselves. */
static const struct count_backend of_counters = {
	.name = "readings of open counters",
	.describe = describe_events,
	.topology = read_topology,
	.never_ran_reason = never_ran_reason,
};

static const struct aggregation_options all_in_one = { .mode = AGGR_TOTAL, .scale = true };

static int prepare_fold(struct pstat_readings *r, const struct pstat_counters *c, struct str *err)
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

static void release_fold(struct pstat_readings *r)
{
	if (r->agg)
		aggregation_free(r->agg);
	for (size_t i = 0; r->cpus && i < r->n; i++)
		intset_release(&r->cpus[i]);
	free(r->cpus);
	free(r->counted);
	event_list_release(&r->events);
}

/* ---- cells -> values ---- */

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

/* Gives all cells to the aggregation. */
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

/* Makes values, states and reasons of the cells. Takes no memory. */
static void fold(struct pstat_readings *r)
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

/* ---- making room ---- */

static char *keep(struct pstat_readings *r, const char *text)
{
	if (!text)
		return NULL;
	VEC_GROW(r->texts, r->n_texts, r->texts_cap);
	return r->texts[r->n_texts++] = xstrdup(text);
}

/* The name that the event has in JSON, or the earlier event that it is summed with. */
static void describe_json(struct pstat_readings *r, const struct pstat_counters *c, size_t i)
{
	const struct event *event = c->set.v[i].event;
	struct str name = STR_INIT, text = STR_INIT;
	unsigned same = 1;

	r->twin[i] = i;
	for (size_t k = 0; k < i; k++) {
		const struct event *other = c->set.v[k].event;

		if (strcmp(r->v[k].name, r->v[i].name) != 0)
			continue;
		if (event->expansion == EXPANSION_PMUS && other->expansion_id == event->expansion_id) {
			r->twin[i] = r->twin[k];
			return;
		}
		same += r->twin[k] == k;
	}
	str_add(&name, r->v[i].name);
	if (same > 1)
		str_addf(&name, "#%u", same);
	str_add_json(&text, name.s);
	r->json_names[i] = keep(r, text.s);
	str_release(&name);
	str_release(&text);
}

static void describe(struct pstat_readings *r, const struct pstat_counters *c, size_t i)
{
	const struct pstat_counter *info = &c->info[i];

	r->v[i] = (struct pstat_reading){
		.size = sizeof(r->v[i]),
		.name = keep(r, info->name),
		.unit = keep(r, info->unit),
	};
	r->facts[i] = (struct lib_fact){
		.open = info->supported,
		.read_elsewhere = c->set.v[i].event->cgroup && !c->may_move_thread,
		.reason = keep(r, info->reason),
		.remedy = keep(r, info->remedy),
		.error = info->error,
	};
	describe_json(r, c, i);
}

static void copy_tids(struct pstat_readings *r, const struct target *target)
{
	r->tids = xcalloc(target->n_threads + 1, sizeof(*r->tids));
	for (size_t i = 0; i < target->n_threads; i++)
		r->tids[i] = target->threads[i].tid;
}

struct new_call {
	struct pstat_readings **readings;
	const struct pstat_counters *counters;
};

static int new_body(void *data, struct str *err)
{
	const struct new_call *call = data;
	const struct pstat_counters *c = call->counters;
	struct pstat_readings *r = xcalloc(1, sizeof(*r));
	int rc;

	r->of = c;
	r->n = c->set.n;
	r->n_cells = c->first_cell[r->n];
	r->v = xcalloc(r->n + 1, sizeof(*r->v));
	r->facts = xcalloc(r->n + 1, sizeof(*r->facts));
	r->twin = xcalloc(r->n + 1, sizeof(*r->twin));
	r->json_names = xcalloc(r->n + 1, sizeof(*r->json_names));
	r->first_cell = xcalloc(r->n + 1, sizeof(*r->first_cell));
	memcpy(r->first_cell, c->first_cell, (r->n + 1) * sizeof(*r->first_cell));
	r->cells = xcalloc(r->n_cells + 1, sizeof(*r->cells));
	copy_tids(r, &c->target);
	for (size_t i = 0; i < r->n; i++)
		describe(r, c, i);
	rc = prepare_fold(r, c, err);
	if (rc < 0) {
		pstat_readings_free(r);
		return rc;
	}
	fold(r);
	*call->readings = r;
	return 0;
}

int pstat_readings_new(struct pstat_readings **readings, const struct pstat_counters *counters)
{
	struct new_call call = { readings, counters };
	int rc;

	if (!readings || !counters)
		return -EINVAL;
	rc = lib_run(new_body, &call, NULL);
	if (rc < 0)
		*readings = NULL;
	return rc;
}

void pstat_readings_free(struct pstat_readings *readings)
{
	if (!readings)
		return;
	for (size_t i = 0; i < readings->n_texts; i++)
		free(readings->texts[i]);
	free(readings->texts);
	for (size_t i = 0; i < readings->n; i++)
		free(readings->facts[i].explained);
	free(readings->v);
	free(readings->facts);
	free(readings->tids);
	release_fold(readings);
	free(readings->twin);
	free(readings->json_names);
	free(readings->first_cell);
	free(readings->cells);
	free(readings);
}

size_t pstat_readings_count(const struct pstat_readings *readings)
{
	return readings->n;
}

const struct pstat_reading *pstat_reading_at(const struct pstat_readings *readings, size_t index)
{
	return index < readings->n ? &readings->v[index] : NULL;
}

const struct pstat_reading *pstat_reading_of(const struct pstat_readings *readings, const char *name)
{
	for (size_t i = 0; i < readings->n; i++)
		if (!strcmp(readings->v[i].name, name) || !strcmp(readings->events.v[i].name, name))
			return &readings->v[i];
	return NULL;
}

/* ---- reading ---- */

/* The index, among all cells, of the one that a reading is about. */
static size_t cell_index(const struct pstat_counters *counters, size_t index, int cpu, size_t thread)
{
	const struct counter *counter = &counters->set.v[index];
	size_t column = counter->cpus.n ? intset_index(&counter->cpus, cpu) : 0;

	return counters->first_cell[index] + column * counter->n_threads + thread;
}

/* The reading of a descriptor, less that of the last reset. base NULL: as it is. */
static struct lib_cell cell_of(const struct event *event, const struct reading *reading, const struct lib_cell *base)
{
	struct lib_cell cell = { reading->value, reading->enabled_ns, reading->running_ns, reading->state,
				 reading->err, reading->others_ran };

	if (!base || reading->state != READING_OK)
		return cell;
	if (!event->snapshot)
		cell.value = positive_difference(cell.value, base->value);
	cell.enabled_ns = positive_difference(cell.enabled_ns, base->enabled_ns);
	cell.running_ns = positive_difference(cell.running_ns, base->running_ns);
	return cell;
}

struct read_call {
	const struct pstat_counters *counters;
	struct lib_cell *cells;
	const struct lib_cell *base; /* NULL: as the kernel says it */
};

static void store_cell(void *data, size_t index, int cpu, size_t thread, const struct reading *reading)
{
	const struct read_call *call = data;
	size_t i = cell_index(call->counters, index, cpu, thread);

	call->cells[i] = cell_of(call->counters->set.v[index].event, reading, call->base ? &call->base[i] : NULL);
}

/*
 * Each open event has one cell. While all of them count all the time nothing but numbers changes from reading to
 * reading: states and reasons are as they were folded before.
 */
static bool read_quick(const struct pstat_counters *counters, struct pstat_readings *readings)
{
	bool plain = readings->all_plain;

	if (!quick_read(counters->quick))
		return false;
	for (size_t i = 0; i < counters->n_quick; i++) {
		const struct lib_quick *event = &counters->quick_events[i];
		const struct lib_cell *base = &counters->base[event->cell];
		struct lib_cell *cell = &readings->cells[event->cell];
		struct pstat_reading *reading = &readings->v[event->index];
		uint64_t value = positive_difference(*event->now.value, base->value);
		uint64_t enabled_ns = positive_difference(event->now.times[0], base->enabled_ns);
		uint64_t running_ns = positive_difference(event->now.times[1], base->running_ns);

		*cell = (struct lib_cell){ value, enabled_ns, running_ns, READING_OK, 0, false };
		plain = plain && running_ns && running_ns == enabled_ns;
		reading->raw = reading->scaled = value;
		reading->enabled_ns = reading->running_ns = enabled_ns;
		reading->value = (double)value * event->scale;
	}
	if (!plain)
		fold(readings);
	return true;
}

int pstat_read(struct pstat_counters *counters, struct pstat_readings *readings)
{
	struct read_call call = { counters, readings->cells, counters->base };

	if (readings->of != counters || readings->n_cells != counters->first_cell[counters->set.n])
		return -EINVAL;
	if (counters->quick && read_quick(counters, readings))
		return 0;
	counters_read(&counters->set, store_cell, &call);
	fold(readings);
	return 0;
}

int pstat_reset(struct pstat_counters *counters)
{
	struct read_call call = { counters, counters->base, NULL };

	counters_read(&counters->set, store_cell, &call);
	return 0;
}

static bool alike(const struct pstat_readings *a, const struct pstat_readings *b)
{
	return a->of == b->of && a->n == b->n && a->n_cells == b->n_cells;
}

int pstat_readings_subtract(struct pstat_readings *later, const struct pstat_readings *earlier)
{
	if (!alike(later, earlier))
		return -EINVAL;
	for (size_t i = 0; i < later->n; i++) {
		for (size_t k = later->first_cell[i]; k < later->first_cell[i + 1]; k++) {
			struct lib_cell *cell = &later->cells[k];
			const struct lib_cell *before = &earlier->cells[k];

			if (cell->state != READING_OK || before->state != READING_OK)
				continue;
			if (!later->events.v[i].snapshot)
				cell->value = positive_difference(cell->value, before->value);
			cell->enabled_ns = positive_difference(cell->enabled_ns, before->enabled_ns);
			cell->running_ns = positive_difference(cell->running_ns, before->running_ns);
		}
	}
	fold(later);
	return 0;
}

int pstat_readings_copy(struct pstat_readings *to, const struct pstat_readings *from)
{
	if (!alike(to, from))
		return -EINVAL;
	memcpy(to->cells, from->cells, from->n_cells * sizeof(*to->cells));
	fold(to);
	return 0;
}

/* ---- in pieces ---- */

/* One descriptor's. A core type's share of the time is known only for all of a task's events together. */
static struct pstat_reading piece_of(const struct pstat_readings *r, size_t i, const struct lib_cell *cell)
{
	struct pstat_reading piece = {
		.size = sizeof(piece),
		.name = r->v[i].name,
		.unit = r->v[i].unit,
		.raw = cell->value,
		.scaled = cell->value,
		.enabled_ns = cell->enabled_ns,
		.running_ns = cell->running_ns,
		.way = r->v[i].way,
	};

	if (cell->state == READING_FAILED) {
		piece.state = PSTAT_READ_FAILED;
		piece.error = cell->err;
		piece.reason = strerror(cell->err);
	} else if (cell->state == READING_LOST_PIN || !cell->running_ns) {
		piece.state = PSTAT_NOT_COUNTED;
	} else if (cell->others_ran) {
		piece.state = PSTAT_LOWER_BOUND;
		piece.reason = "children and new threads ran, and are not counted";
	} else if (cell->running_ns < cell->enabled_ns && r->counted[i].core_type != NO_CORE_TYPE) {
		piece.state = PSTAT_LOWER_BOUND;
		piece.reason = "not scaled: it counts on one type of core";
	} else if (cell->running_ns < cell->enabled_ns) {
		piece.state = PSTAT_SCALED;
		piece.scaled = scale_count(cell->value, cell->enabled_ns, cell->running_ns);
	}
	piece.value = (double)piece.scaled * r->events.v[i].scale;
	return piece;
}

int pstat_readings_cells(const struct pstat_readings *readings, pstat_cell_fn fn, void *data)
{
	const struct pstat_readings *r = readings;
	int rc = 0;

	for (size_t i = 0; i < r->n; i++) {
		for (size_t k = r->first_cell[i]; !rc && k < r->first_cell[i + 1]; k++) {
			size_t at = k - r->first_cell[i], n_threads = r->counted[i].n_threads;
			struct pstat_reading piece = piece_of(r, i, &r->cells[k]);

			if (r->cells[k].state != READING_NOT_OPEN)
				rc = fn(data, i, r->cpus[i].n ? r->cpus[i].v[at / n_threads] : -1,
					r->tids[at % n_threads], &piece);
		}
	}
	return rc;
}

/* ---- reasons ---- */

/*
 * Finds reasons by an aggregation that is made for it: the answers belong to that, and one that existed before may not
 * be changed in a memory scope.
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
		lib_own_sentence(&text);
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
