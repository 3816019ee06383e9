/*
 * Readings -> tallies. Each reading goes to its cell and from there, scaled, into the slot of its
 * line and place: twice, as the total since counting began and as the difference to the last read.
 *
 * Scaling is per cell, before anything is summed: CPUs and threads multiplex on their own. A cell
 * that was enabled and never ran is counted as such and never as 0; one that was never enabled (a
 * thread that slept) counted 0 events, which is right. A reading takes no memory.
 */
#include "stat/book.h"

#include <stdlib.h>

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static uint64_t positive_difference(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void fold(struct tally *tally, const struct cell *r, bool scale)
{
	uint64_t value = r->value;

	tally->cells++;
	tally->enabled_ns = add_saturating(tally->enabled_ns, r->enabled_ns);
	tally->running_ns = add_saturating(tally->running_ns, r->running_ns);
	if (r->enabled_ns && !r->running_ns) {
		tally->cells_never_ran++;
		return;
	}
	if (scale && r->running_ns && r->running_ns < r->enabled_ns)
		value = scale_count(value, r->enabled_ns, r->running_ns);
	tally->value = add_saturating(tally->value, value);
}

static void take_value(struct tally_book *book, struct slot *slot, struct cell *cell,
		       const struct reading *reading, bool snapshot)
{
	struct cell now = { reading->value, reading->enabled_ns, reading->running_ns, cell->slot };
	struct cell delta = now;

	if (!snapshot) {
		delta.value = positive_difference(now.value, cell->value);
		delta.enabled_ns = positive_difference(now.enabled_ns, cell->enabled_ns);
		delta.running_ns = positive_difference(now.running_ns, cell->running_ns);
	}
	fold(&slot->total, &now, book->plan->scale);
	fold(&slot->delta, &delta, book->plan->scale);
	if (book->slices && !snapshot)
		doubt_take(slot, &book->slices[cell - book->cells], &now, &delta);
	*cell = now;
}

/* What a cell counted before it could not be read any more remains: the total is a lower bound. */
static void take_failure(struct tally_book *book, struct slot *slot, const struct cell *cell)
{
	if (cell->running_ns)
		fold(&slot->total, cell, book->plan->scale);
	else
		slot->total.cells++;
	slot->total.cells_failed++;
	slot->delta.cells++;
	slot->delta.cells_failed++;
}

void book_take_reading(void *data, size_t index, int cpu, size_t thread,
		       const struct reading *reading)
{
	struct tally_book *book = data;
	const struct counter *counter = &book->set->v[index];
	size_t column = counter->cpus.n ? cpu_index(&counter->cpus, cpu) : 0;
	struct cell *cell;
	struct slot *slot;

	if (column == SIZE_MAX || thread >= counter->n_threads || counter->state != COUNTER_OPEN)
		return;
	cell = &book->cells[book->cell_base[index] + column * counter->n_threads + thread];
	if (cell->slot == SLOT_NONE)
		return;
	slot = &book->slots[cell->slot];
	if (intset_has(&book->stopped_cpus, cpu)) {
		slot->total.cells_stopped++;
		slot->delta.cells_stopped++;
	}
	switch (reading->state) {
	case READING_OK:
		take_value(book, slot, cell, reading, counter->event->snapshot);
		break;
	case READING_NOT_OPEN:
		break; /* the task was gone before it could count anything */
	case READING_LOST_PIN:
		slot->total.cells++;
		slot->total.cells_lost_pin++;
		slot->delta.cells++;
		slot->delta.cells_lost_pin++;
		break;
	case READING_FAILED:
		take_failure(book, slot, cell);
		book->lines[book->line_of[index]].read_err = reading->err;
		break;
	}
}

void book_find_stopped(struct tally_book *book)
{
	book->stopped_cpus.n = 0;
	counters_stopped_cpus(book->set, &book->stopped_cpus);
}

void book_begin_read(struct tally_book *book, const struct stat_clock *since_start,
		     const struct stat_clock *since_last)
{
	for (size_t i = 0; i < book_n_slots(book); i++) {
		book->slots[i].total = (struct tally){ 0 };
		book->slots[i].delta = (struct tally){ 0 };
		book->slots[i].total_doubt = book->slots[i].delta_doubt = (struct doubt){ 0 };
	}
	for (size_t i = 0; i < book->n_lines; i++)
		book->lines[i].read_err = 0;
	book->since_start = *since_start;
	book->since_last = *since_last;
}

/* A clock runs all the time; the command's own times are known once it has ended. */
static struct tally clock_tally(const struct stat_clock *clock, enum event_kind kind)
{
	struct tally tally = { .cells = 1 };

	if (kind != EVENT_DURATION_TIME && !clock->has_usage)
		return tally;
	tally.value = kind == EVENT_DURATION_TIME ? clock->elapsed_ns
		      : kind == EVENT_USER_TIME   ? clock->user_ns
						  : clock->system_ns;
	tally.enabled_ns = tally.running_ns = clock->elapsed_ns;
	return tally;
}

/* The book's reading, and the plan's tap's. */
static void take_tapped(void *data, size_t index, int cpu, size_t thread,
			const struct reading *reading)
{
	const struct tally_book *book = data;
	const struct stat_tap *tap = book->plan->tap;

	book_take_reading(data, index, cpu, thread, reading);
	tap->reading(tap->data, index, cpu, thread, reading);
}

static void tap_clock(const struct tally_book *book, size_t index, const struct tally *tally)
{
	const struct stat_tap *tap = book->plan->tap;
	const struct reading reading = {
		.value = tally->value,
		.enabled_ns = tally->enabled_ns,
		.running_ns = tally->running_ns,
	};

	if (tap && tally->running_ns)
		tap->reading(tap->data, index, -1, 0, &reading);
}

void book_take_clocks(struct tally_book *book)
{
	for (size_t i = 0; i < book->set->n; i++) {
		const struct counter *counter = &book->set->v[i];
		size_t at = place_of_clock(book) * book->n_lines + book->line_of[i];

		if (counter->state != COUNTER_SOFTWARE)
			continue;
		book->slots[at].total = clock_tally(&book->since_start, counter->event->kind);
		book->slots[at].delta = clock_tally(&book->since_last, counter->event->kind);
		tap_clock(book, i, &book->slots[at].total);
	}
}

void book_read(struct tally_book *book, const struct stat_clock *since_start,
	       const struct stat_clock *since_last)
{
	book_begin_read(book, since_start, since_last);
	counters_read(book->set, book->plan->tap ? take_tapped : book_take_reading, book);
	book_take_clocks(book);
}

static void repeat_add(struct repeat *repeat, const struct slot *slot)
{
	const struct tally *tally = &slot->total;

	if (!tally->cells)
		return;
	repeat->runs++;
	repeat->enabled_ns = add_saturating(repeat->enabled_ns, tally->enabled_ns);
	repeat->running_ns = add_saturating(repeat->running_ns, tally->running_ns);
	repeat->cells += tally->cells;
	repeat->cells_never_ran += tally->cells_never_ran;
	repeat->cells_failed += tally->cells_failed;
	repeat->cells_lost_pin += tally->cells_lost_pin;
	repeat->cells_stopped += tally->cells_stopped;
	doubt_add(&repeat->doubt, &slot->total_doubt);
	if (!tally->running_ns)
		return;
	series_add(&repeat->value, (double)tally->value);
	repeat->value_sum += tally->value;
}

void book_end_repeat(struct tally_book *book)
{
	for (size_t i = 0; book->repeats && i < book_n_slots(book); i++)
		repeat_add(&book->repeats[i], &book->slots[i]);
}

static void add_times(struct tally_book *book, double elapsed_s, double user_s, double sys_s,
		      bool has_usage)
{
	series_add(&book->times.elapsed, elapsed_s);
	book->times.has_usage = has_usage;
	if (has_usage) {
		series_add(&book->times.user, user_s);
		series_add(&book->times.sys, sys_s);
	}
	VEC_GROW(book->run_seconds, book->n_runs, book->runs_cap);
	book->run_seconds[book->n_runs++] = elapsed_s;
}

void book_end_run(struct tally_book *book, double elapsed_s, double user_s, double sys_s,
		  bool has_usage)
{
	book_end_repeat(book);
	add_times(book, elapsed_s, user_s, sys_s, has_usage);
}

void book_end_pass(struct tally_book *book, unsigned pass, const struct stat_clock *clock)
{
	double elapsed_s = (double)clock->elapsed_ns / 1e9;

	series_add(&book->pass_elapsed[pass], elapsed_s);
	add_times(book, elapsed_s, (double)clock->user_ns / 1e9, (double)clock->system_ns / 1e9,
		  clock->has_usage);
}

/* ---- reads between reports ---- */

void book_keep_slices(struct tally_book *book)
{
	free(book->slices);
	book->slices = xcalloc(book->n_cells + 1, sizeof(*book->slices));
}

struct slice_read {
	struct tally_book *book;
	bool takes_turns;
};

static void take_slice(void *data, size_t index, int cpu, size_t thread, const struct reading *reading)
{
	struct slice_read *read = data;
	struct tally_book *book = read->book;
	const struct counter *counter = &book->set->v[index];
	size_t column = counter->cpus.n ? cpu_index(&counter->cpus, cpu) : 0;
	size_t cell;

	if (reading->state != READING_OK || column == SIZE_MAX || counter->event->snapshot)
		return;
	cell = book->cell_base[index] + column * counter->n_threads + thread;
	if (book->cells[cell].slot == SLOT_NONE)
		return;
	read->takes_turns |= reading->running_ns < reading->enabled_ns;
	slices_add(&book->slices[cell], reading->value, reading->enabled_ns, reading->running_ns);
}

bool book_read_slices(struct tally_book *book)
{
	struct slice_read read = { .book = book };

	counters_read(book->set, take_slice, &read);
	return read.takes_turns;
}
