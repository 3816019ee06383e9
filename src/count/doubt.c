/*
 * How sure scaled values are: cells that take turns are read in slices, and what estimate.c makes of
 * the slices is summed where the cells are.
 *
 * A report closes the open slices first, so that the sums belong to the values it shows. Where one
 * scaled cell of a value has too few slices, it has no estimate: a part says nothing of the whole.
 */
#include "count/count.h"

static void doubt_cell(struct doubt *doubt, const struct slice_sums *sums,
		       const struct cell_count *cell)
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

void doubt_take(struct doubt *total_doubt, struct doubt *delta_doubt, struct slices *slices,
		const struct cell_count *now, const struct cell_count *delta)
{
	struct slice_sums since;

	slices_add(slices, now->value, now->enabled_ns, now->running_ns);
	slices_close(slices);
	since = slice_sums_since(&slices->sums, &slices->reported);
	slices->reported = slices->sums;
	doubt_cell(total_doubt, &slices->sums, now);
	doubt_cell(delta_doubt, &since, delta);
}

void doubt_add(struct doubt *sum, const struct doubt *doubt)
{
	sum->cells_scaled += doubt->cells_scaled;
	sum->cells_estimated += doubt->cells_estimated;
	estimate_add(&sum->sum, &doubt->sum);
}
