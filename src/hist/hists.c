/*
 * The hists of a table: one per event, or per group of events, with the profile's cells and totals of each member. What
 * a question leaves out of totals, or changes in cells, is made anew for the hist: a profile is asked many times.
 */
#include "hist/fold_internal.h"

#include <stdlib.h>

static bool recording_has_groups(const struct events *events)
{
	for (size_t i = 0; i < events->n; i++)
		if (events->v[i]->leader == i && events->v[i]->n_members > 1)
			return true;
	return false;
}

static const struct data_event *leader_of(const struct table *table,
					  const struct data_event *event, size_t *n_members)
{
	const struct events *events = table->session->recording->events;
	bool own = recording_has_groups(events);
	size_t n;

	*n_members = 1;
	if (table->options.group_off || (!own && !table->options.group))
		return event;
	if (!own) {
		*n_members = events->n;
		return events->v[0];
	}
	/* A file may say anything; members stand behind their leader. */
	if (event->leader > event->index || event->leader >= events->n)
		return event;
	n = events->v[event->leader]->n_members;
	if (n > events->n - event->leader)
		n = events->n - event->leader;
	if (event->index - event->leader >= n)
		return event;
	*n_members = n;
	return events->v[event->leader];
}

static struct hist *find_hist(struct table *table, const struct data_event *leader)
{
	for (size_t i = 0; i < table->n_hists; i++)
		if (table->hists[i].event == leader)
			return &table->hists[i];
	table->hists = xreallocarray(table->hists, table->n_hists + 1, sizeof(*table->hists));
	table->hists[table->n_hists] = (struct hist){ .event = leader };
	return &table->hists[table->n_hists++];
}

/* Of a member whose event had not come when the recording ended. */
static const struct cells no_cells;

void hist_grow(struct hist *hist, size_t n)
{
	size_t old = hist->n_members;

	if (n <= old)
		return;
	hist->n_members = n;
	hist->cells = xreallocarray(hist->cells, n, sizeof(*hist->cells));
	hist->asked = xreallocarray(hist->asked, n, sizeof(*hist->asked));
	for (size_t i = old; i < n; i++)
		hist->cells[i] = hist->asked[i] = &no_cells;
	if (n == 1)
		return;
	hist->member_totals = xreallocarray(hist->member_totals, n, sizeof(*hist->member_totals));
	hist->member_shown = xreallocarray(hist->member_shown, n, sizeof(*hist->member_shown));
	for (size_t i = old > 1 ? old : 0; i < n; i++)
		hist->member_totals[i] = hist->member_shown[i] = (struct entry_stats){ 0 };
}

void table_release_hists(struct table *table)
{
	for (size_t i = 0; i < table->n_hists; i++) {
		struct hist *hist = &table->hists[i];

		for (size_t m = 0; m < hist->n_members; m++)
			if (hist->event->index + m < table->profile->n_events)
				profile_cells_done(table->profile, hist->event->index + m, hist->asked[m]);
		hist_release(hist);
	}
	free(table->hists);
}

void hist_release(struct hist *hist)
{
	if (hist->memory)
		arena_release(hist->memory);
	free(hist->memory);
	free(hist->entries);
	free(hist->widths);
	for (size_t i = 0; hist->own && i < hist->n_members; i++) {
		cells_release(hist->own[i]);
		free(hist->own[i]);
	}
	free(hist->own);
	free(hist->cells);
	free(hist->asked);
	free(hist->member_totals);
	free(hist->member_shown);
	hist_blocks_free(hist->blocks);
}

struct hist *table_hist_of(const struct table *table, const char *event)
{
	struct str name = STR_INIT;
	struct hist *found = NULL;

	for (size_t i = 0; i < table->n_hists && !found; i++) {
		str_reset(&name);
		data_event_add_name(table->hists[i].event, &name);
		found = !strcmp(name.s, event) ? &table->hists[i] : NULL;
	}
	str_release(&name);
	return found;
}

struct cells *hist_own_cells(struct hist *hist, size_t member)
{
	if (!hist->own)
		hist->own = xcalloc(hist->n_members, sizeof(*hist->own));
	hist->own[member] = xcalloc(1, sizeof(*hist->own[member]));
	cells_init(hist->own[member], cells_facts(hist->cells[member]));
	return hist->own[member];
}

/* Filters that leave samples out of the totals, too, and can be asked of cells. */
static bool totals_filtered(const struct filter_options *filters)
{
	return filters->cpus || filters->kernel_hidden || filters->user_hidden;
}

/* The totals of what these leave, from cells that know their CPU and mode. */
static struct entry_stats left_totals(const struct table *table, const struct cells *cells)
{
	struct entry_stats totals = { 0 };

	for (size_t i = 0; i < cells->n; i++)
		if (!filters_drop_cell(table->filters, cells, i)) {
			struct entry_stats stats = cell_stats(cells, i);

			entry_stats_add(&totals, &stats);
		}
	return totals;
}

void table_make_hists(struct table *table)
{
	const struct profile *profile = table->profile;

	for (size_t i = 0; i < profile->n_events; i++) {
		const struct data_event *event = table->session->recording->events->v[i];
		const struct profile_event *samples = profile->events[i];
		size_t n_members, member;
		const struct data_event *leader = leader_of(table, event, &n_members);
		struct hist *hist = find_hist(table, leader);
		struct entry_stats totals = samples->totals;

		hist_grow(hist, n_members);
		member = event->index - leader->index;
		hist->cells[member] = hist->asked[member] =
			profile_cells(table->profile, i, table->private->shape.facts);
		if (table->cells_unfiltered && totals_filtered(&table->options.filters))
			totals = left_totals(table, hist->cells[member]);
		if (member)
			hist->member_totals[member] = totals;
		else
			hist->totals = totals;
	}
}
