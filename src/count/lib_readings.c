/*
 * struct pstat_readings: what all descriptors of a handle said at one time, and what that makes of each event.
 *
 *	counters_read() --> cells (less what they were when reset) --fold--> one struct pstat_reading per event
 *
 * Cells are kept, so that the difference of two readings is scaled from the times between them, descriptor by
 * descriptor, as CPUs and threads share their counters each on their own. A reading takes no memory: all room is made
 * by pstat_readings_new().
 */
#include "count/lib.h"

#include "count/count.h"

#include <errno.h>
#include <stdlib.h>

/* What folding needs to know of an event. */
struct rule {
	double scale;
	bool open, snapshot;
	bool read_elsewhere; /* of a cgroup, from whatever CPU the caller was on */
	bool lost_pin; /* as folded last */
	const char *unsupported, *remedy, *never_enabled;
	int error;
	char *found; /* by pstat_explain(); owned; NULL: nothing yet */
};

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
	const struct counter *counter = &c->set.v[i];
	const struct pstat_counter *info = &c->info[i];

	r->v[i] = (struct pstat_reading){
		.size = sizeof(r->v[i]),
		.name = keep(r, info->name),
		.unit = keep(r, info->unit),
	};
	r->rules[i] = (struct rule){
		.scale = info->scale,
		.open = info->supported,
		.snapshot = counter->event->snapshot,
		.read_elsewhere = counter->event->cgroup && !c->may_move_thread,
		.unsupported = keep(r, info->reason),
		.remedy = keep(r, info->remedy),
		.never_enabled = event_never_enabled(counter->event, counter->cpus.n),
		.error = info->error,
	};
	describe_json(r, c, i);
}

static void fold(struct pstat_readings *r);

struct new_call {
	struct pstat_readings **readings;
	const struct pstat_counters *counters;
};

static int new_body(void *data, struct str *err)
{
	const struct new_call *call = data;
	const struct pstat_counters *c = call->counters;
	struct pstat_readings *r = xcalloc(1, sizeof(*r));

	(void)err;
	r->of = c;
	r->n = c->set.n;
	r->n_cells = c->first_cell[r->n];
	r->v = xcalloc(r->n + 1, sizeof(*r->v));
	r->rules = xcalloc(r->n + 1, sizeof(*r->rules));
	r->twin = xcalloc(r->n + 1, sizeof(*r->twin));
	r->json_names = xcalloc(r->n + 1, sizeof(*r->json_names));
	r->first_cell = xcalloc(r->n + 1, sizeof(*r->first_cell));
	memcpy(r->first_cell, c->first_cell, (r->n + 1) * sizeof(*r->first_cell));
	r->cells = xcalloc(r->n_cells + 1, sizeof(*r->cells));
	for (size_t i = 0; i < r->n; i++)
		describe(r, c, i);
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
		free(readings->rules[i].found);
	free(readings->v);
	free(readings->rules);
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
		if (!strcmp(readings->v[i].name, name))
			return &readings->v[i];
	return NULL;
}

/* ---- cells -> readings ---- */

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Cells of one event, by what became of them. */
struct fates {
	size_t there, counted, never_ran, failed, lost_pin;
};

static void add_cell(struct pstat_reading *reading, struct fates *fates, const struct lib_cell *cell)
{
	if (cell->state == READING_NOT_OPEN)
		return;
	fates->there++;
	fates->failed += cell->state == READING_FAILED;
	fates->lost_pin += cell->state == READING_LOST_PIN;
	if (cell->state == READING_FAILED)
		reading->error = cell->err;
	if (cell->state != READING_OK)
		return;
	reading->enabled_ns = add_saturating(reading->enabled_ns, cell->enabled_ns);
	reading->running_ns = add_saturating(reading->running_ns, cell->running_ns);
	reading->raw = add_saturating(reading->raw, cell->value);
	if (cell->running_ns && cell->running_ns < cell->enabled_ns)
		reading->scaled = add_saturating(reading->scaled,
						 scale_count(cell->value, cell->enabled_ns, cell->running_ns));
	else
		reading->scaled = add_saturating(reading->scaled, cell->value);
	fates->never_ran += cell->enabled_ns && !cell->running_ns;
	fates->counted += cell->running_ns != 0;
}

static void conclude(struct pstat_reading *reading, const struct rule *rule, const struct fates *fates)
{
	if (fates->counted) {
		bool partial = fates->never_ran || fates->failed || fates->lost_pin;

		reading->state = partial ? PSTAT_LOWER_BOUND :
				 reading->running_ns < reading->enabled_ns ? PSTAT_SCALED : PSTAT_COUNTED;
		reading->reason = fates->never_ran ? "some of its counters never ran" :
				  fates->failed	   ? "some of its counters could not be read" :
				  fates->lost_pin  ? "some of its counters lost the pin" :
				  rule->read_elsewhere && reading->state == PSTAT_SCALED ?
						     "a cgroup's times are right on the CPU that is read alone: "
						     "scaled too much, unless the thread may move" : NULL;
		return;
	}
	reading->state = PSTAT_NOT_COUNTED;
	if (fates->failed) {
		reading->state = PSTAT_READ_FAILED;
		reading->reason = strerror(reading->error);
	} else if (fates->lost_pin) {
		reading->reason = "pinned, and no counter was free";
	} else if (!fates->there) {
		reading->reason = "the target was gone before it was opened";
	} else {
		reading->reason = fates->never_ran ? "it never got a counter" : rule->never_enabled;
	}
}

static void fold_event(struct pstat_readings *r, size_t i)
{
	struct pstat_reading *reading = &r->v[i];
	struct rule *rule = &r->rules[i];
	struct fates fates = { 0 };

	reading->raw = reading->scaled = reading->enabled_ns = reading->running_ns = 0;
	reading->error = 0;
	reading->reason = reading->remedy = NULL;
	reading->way = PSTAT_BY_READ;
	if (!rule->open) {
		reading->state = PSTAT_NOT_SUPPORTED;
		reading->error = rule->error;
		reading->reason = rule->unsupported;
		reading->remedy = rule->remedy;
		reading->value = 0;
		return;
	}
	for (size_t cell = r->first_cell[i]; cell < r->first_cell[i + 1]; cell++)
		add_cell(reading, &fates, &r->cells[cell]);
	rule->lost_pin = fates.lost_pin;
	conclude(reading, rule, &fates);
	reading->value = (double)reading->scaled * rule->scale;
}

static void fold(struct pstat_readings *r)
{
	for (size_t i = 0; i < r->n; i++)
		fold_event(r, i);
}

/* ---- reading ---- */

size_t lib_cell_index(const struct pstat_counters *counters, size_t index, int cpu, size_t thread)
{
	const struct counter *counter = &counters->set.v[index];
	size_t low = 0, high = counter->cpus.n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (counter->cpus.v[middle] < cpu)
			low = middle + 1;
		else
			high = middle;
	}
	return counters->first_cell[index] + low * counter->n_threads + thread;
}

static uint64_t positive_difference(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* What a descriptor said, less what it said at the last reset. base NULL: as it is. */
static struct lib_cell cell_of(const struct event *event, const struct reading *reading, const struct lib_cell *base)
{
	struct lib_cell cell = { reading->value, reading->enabled_ns, reading->running_ns, reading->state,
				 reading->err };

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

static void take(void *data, size_t index, int cpu, size_t thread, const struct reading *reading)
{
	const struct read_call *call = data;
	size_t i = lib_cell_index(call->counters, index, cpu, thread);

	call->cells[i] = cell_of(call->counters->set.v[index].event, reading, call->base ? &call->base[i] : NULL);
}

int pstat_read(struct pstat_counters *counters, struct pstat_readings *readings)
{
	struct read_call call = { counters, readings->cells, counters->base };

	if (readings->of != counters || readings->n_cells != counters->first_cell[counters->set.n])
		return -EINVAL;
	counters_read(&counters->set, take, &call);
	fold(readings);
	return 0;
}

int pstat_reset(struct pstat_counters *counters)
{
	struct read_call call = { counters, counters->base, NULL };

	counters_read(&counters->set, take, &call);
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
			if (!later->rules[i].snapshot)
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

struct cells_call {
	struct pstat_counters *counters;
	pstat_cell_fn fn;
	void *data;
	int rc;
};

static void hand_over(void *data, size_t index, int cpu, size_t thread, const struct reading *reading)
{
	struct cells_call *call = data;
	const struct pstat_counters *c = call->counters;
	const struct counter *counter = &c->set.v[index];
	const struct rule rule = {
		.scale = c->info[index].scale,
		.never_enabled = event_never_enabled(counter->event, counter->cpus.n),
	};
	struct lib_cell cell = cell_of(counter->event, reading, &c->base[lib_cell_index(c, index, cpu, thread)]);
	struct pstat_reading piece = {
		.size = sizeof(piece),
		.name = c->info[index].name,
		.unit = c->info[index].unit,
	};
	struct fates fates = { 0 };

	if (call->rc || reading->state == READING_NOT_OPEN)
		return;
	add_cell(&piece, &fates, &cell);
	conclude(&piece, &rule, &fates);
	piece.value = (double)piece.scaled * rule.scale;
	call->rc = call->fn(call->data, index, cpu, c->target.threads[thread].tid, &piece);
}

int pstat_read_cells(struct pstat_counters *counters, pstat_cell_fn fn, void *data)
{
	struct cells_call call = { counters, fn, data, 0 };

	counters_read(&counters->set, hand_over, &call);
	return call.rc;
}

/* ---- reasons ---- */

struct explain_call {
	struct pstat_counters *counters;
	struct pstat_readings *readings;
	char **found; /* one per event; NULL: nothing better is known */
};

static int explain_body(void *data, struct str *err)
{
	struct explain_call *call = data;
	struct pstat_readings *r = call->readings;

	(void)err;
	call->found = xcalloc(r->n + 1, sizeof(*call->found));
	for (size_t i = 0; i < r->n; i++) {
		const struct reading sum = {
			.enabled_ns = r->v[i].enabled_ns,
			.running_ns = r->v[i].running_ns,
			.state = r->rules[i].lost_pin ? READING_LOST_PIN : READING_OK,
		};

		if (r->v[i].state == PSTAT_NOT_COUNTED && r->first_cell[i] < r->first_cell[i + 1])
			call->found[i] = counter_idle_reason(&call->counters->set, i, &sum);
	}
	/* From here on nothing fails. */
	for (size_t i = 0; i < r->n; i++) {
		if (!call->found[i])
			continue;
		free(r->rules[i].found);
		r->v[i].reason = r->rules[i].found = call->found[i];
	}
	free(call->found);
	return 0;
}

int pstat_explain(struct pstat_counters *counters, struct pstat_readings *readings)
{
	struct explain_call call = { .counters = counters, .readings = readings };

	if (readings->of != counters)
		return -EINVAL;
	return lib_run(explain_body, &call, NULL);
}
