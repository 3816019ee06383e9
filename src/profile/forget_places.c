/*
 * forget_places: an end to what grows with distinct addresses. Places, stacks and the frames that were looked up
 * go all at once, because the next samples soon bring back those that are needed: no order of age is kept,
 * and a look-up costs no more than without it.
 *
 * What is said at the end about all places is added up per file before they go.
 */
#include "profile/session_internal.h"

#include <stdlib.h>

static struct dso_total *total_of(struct place_totals *totals, uint32_t dso)
{
	if (dso >= totals->n_dsos) {
		size_t n = dso + dso / 2 + 16;

		totals->dsos = xreallocarray(totals->dsos, n, sizeof(*totals->dsos));
		memset(totals->dsos + totals->n_dsos, 0, (n - totals->n_dsos) * sizeof(*totals->dsos));
		totals->n_dsos = n;
	}
	return &totals->dsos[dso];
}

void place_totals_add(struct place_totals *totals, const struct session *session)
{
	for (size_t i = 0; i < session->places->n; i++) {
		const struct place_row *row = &session->places->v[i];

		totals->n_samples += row->n_samples;
		if (row->dso) {
			struct dso_total *dso = total_of(totals, row->dso->index);

			dso->n_samples += row->n_samples;
			dso->seen = true;
		} else if (row->mode == MISC_KERNEL) {
			totals->n_unmapped += row->n_samples;
			totals->unmapped = true;
		}
	}
}

void place_totals_all(struct place_totals *totals, const struct session *session)
{
	const struct place_totals *forgotten = &session->private->forgotten;

	*totals = *forgotten;
	totals->dsos = xcalloc(forgotten->n_dsos + 1, sizeof(*totals->dsos));
	if (forgotten->n_dsos)
		memcpy(totals->dsos, forgotten->dsos, forgotten->n_dsos * sizeof(*totals->dsos));
	place_totals_add(totals, session);
	if (session->replay.dsos.n) /* one for each, whether it was seen or not */
		total_of(totals, (uint32_t)(session->replay.dsos.n - 1));
}

void place_totals_release(struct place_totals *totals)
{
	free(totals->dsos);
	*totals = (struct place_totals){ .n_dsos = 0 };
}

void session_forget_places(struct session *session)
{
	place_totals_add(&session->private->forgotten, session);
	session->places->n = 0;
	index_clear(&session->places->ix);
	session->stacks->n = 0;
	index_clear(&session->stacks->ix);
	session_forget(session);
	symbols_forget(session->symbols);
}
