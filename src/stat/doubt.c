/*
 * How sure scaled values are: cells that take turns are read in slices, and what estimate.c makes of
 * the slices is summed where the cells are.
 *
 * A report closes the open slices first, so that the sums belong to the values it shows. Where one
 * scaled cell of a slot has too few slices, the slot has no estimate: a part says nothing of the whole.
 */
#include "stat/book.h"

#include <stdlib.h>

static void doubt_cell(struct doubt *doubt, const struct slice_sums *sums, const struct cell *cell)
{
	struct estimate estimate;

	if (!cell->running_ns || cell->running_ns >= cell->enabled_ns)
		return;
	doubt->cells_scaled++;
	if (!estimate_make(sums, &estimate))
		return;
	doubt->cells_estimated++;
	estimate_add(&doubt->sum, &estimate);
}

void doubt_take(struct slot *slot, struct slices *slices, const struct cell *now, const struct cell *delta)
{
	struct slice_sums since;

	slices_add(slices, now->value, now->enabled_ns, now->running_ns);
	slices_close(slices);
	since = slice_sums_since(&slices->sums, &slices->reported);
	slices->reported = slices->sums;
	doubt_cell(&slot->total_doubt, &slices->sums, now);
	doubt_cell(&slot->delta_doubt, &since, delta);
}

void doubt_add(struct doubt *sum, const struct doubt *doubt)
{
	sum->cells_scaled += doubt->cells_scaled;
	sum->cells_estimated += doubt->cells_estimated;
	estimate_add(&sum->sum, &doubt->sum);
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
