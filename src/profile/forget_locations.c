/*
 * forget_locations: an end to what grows with distinct addresses. Locations, stacks and the frames that were looked up
 * go all at once, because the next samples soon bring back those that are needed: no order of age is kept,
 * and a look-up costs no more than without it.
 *
 * What is said at the end about all locations is added up per file before they go.
 */
#include "profile/session_internal.h"

#include <stdlib.h>

static struct dso_total *total_of(struct location_totals *totals, uint32_t dso)
{
	if (dso >= totals->n_dsos) {
		size_t n = dso + dso / 2 + 16;

		totals->dsos = xreallocarray(totals->dsos, n, sizeof(*totals->dsos));
		memset(totals->dsos + totals->n_dsos, 0, (n - totals->n_dsos) * sizeof(*totals->dsos));
		totals->n_dsos = n;
	}
	return &totals->dsos[dso];
}

void location_totals_add(struct location_totals *totals, const struct session *session)
{
	for (size_t i = 0; i < session->locations->n; i++) {
		const struct location_row *row = &session->locations->v[i];

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

void location_totals_all(struct location_totals *totals, const struct session *session)
{
	const struct location_totals *forgotten = &session->private->forgotten;

	*totals = *forgotten;
	totals->dsos = xcalloc(forgotten->n_dsos + 1, sizeof(*totals->dsos));
	if (forgotten->n_dsos)
		memcpy(totals->dsos, forgotten->dsos, forgotten->n_dsos * sizeof(*totals->dsos));
	location_totals_add(totals, session);
	if (session->replay.dsos.n) /* one for each, whether it was seen or not */
		total_of(totals, (uint32_t)(session->replay.dsos.n - 1));
}

void location_totals_release(struct location_totals *totals)
{
	free(totals->dsos);
	*totals = (struct location_totals){ .n_dsos = 0 };
}

void session_forget_locations(struct session *session)
{
	location_totals_add(&session->private->forgotten, session);
	session->locations->n = 0;
	index_clear(&session->locations->ix);
	session->stacks->n = 0;
	index_clear(&session->stacks->ix);
	session_forget(session, NULL);
	symbols_forget(session->symbols);
}
