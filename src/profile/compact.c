/*
 * A profile that is fed for ever stays as large as what it shows: sums decay, cells that have nothing left go, and with
 * them the stacks, locations and tasks that no other cell has. What stays is numbered anew, in its old order.
 */
#include "profile/filters_internal.h"
#include "profile/session_internal.h"

#include <stdlib.h>

/* What cells still have. */
struct marks {
	bool *stacks, *locations; /* by number */
	size_t n_stacks, n_locations;
};

static void mark_stack(const struct stacks *stacks, struct marks *marks, uint32_t stack)
{
	for (; stack && !marks->stacks[stack]; stack = stacks->v[stack].parent) {
		marks->stacks[stack] = true;
		marks->locations[stacks->v[stack].location] = true;
	}
}

static void mark_location(const struct locations *locations, struct marks *marks, uint64_t location)
{
	if (location < locations->n)
		marks->locations[location] = true;
}

static const enum sample_fact location_facts[] = { FACT_LOCATION, FACT_FROM, FACT_TO, FACT_DATA_LOCATION };

static void mark_cells(struct profile *profile, const struct cells *cells, struct marks *marks)
{
	for (size_t i = 0; i < cells->n; i++) {
		if (cells_have(cells, FACT_STACK))
			mark_stack(profile->session.stacks, marks, (uint32_t)cell_fact(cells, i, FACT_STACK));
		for (size_t f = 0; f < ARRAY_SIZE(location_facts); f++)
			if (cells_have(cells, location_facts[f]))
				mark_location(profile->session.locations, marks,
					      cell_fact(cells, i, location_facts[f]));
		if (profile->tasks && cells_have(cells, FACT_TID))
			task_names_keep(profile->tasks, cell_fact(cells, i, FACT_TID));
		if (profile->tasks && cells_have(cells, FACT_PID))
			task_names_keep(profile->tasks, cell_fact(cells, i, FACT_PID));
	}
}

static struct entry_stats sums_of(const struct cells *cells)
{
	struct entry_stats sums = { 0 };

	for (size_t i = 0; i < cells->n; i++) {
		sums.n_samples += cells->values[i].n_samples;
		sums.period += cells->values[i].period;
		sums.weight += cells->values[i].weight;
	}
	return sums;
}

/* What is in no cell, as filters left it out, decays likewise. */
static uint64_t decayed(uint64_t total, uint64_t in_cells, uint64_t left_in_cells, unsigned eighths)
{
	uint64_t others = total > in_cells ? total - in_cells : 0;

	return left_in_cells + others / 8 * (8 - eighths) + others % 8 * (8 - eighths) / 8;
}

static void decay_totals(struct entry_stats *totals, const struct entry_stats *old, const struct entry_stats *left,
			 unsigned eighths)
{
	uint64_t *const parts[] = { &totals->period_sys, &totals->period_us, &totals->period_guest_sys,
				    &totals->period_guest_us };
	const uint64_t period = totals->period;

	totals->n_samples = decayed(totals->n_samples, old->n_samples, left->n_samples, eighths);
	totals->period = decayed(totals->period, old->period, left->period, eighths);
	totals->weight = decayed(totals->weight, old->weight, left->weight, eighths);
	for (size_t i = 0; i < ARRAY_SIZE(parts) && period; i++) {
		unsigned __int128 part = (unsigned __int128)*parts[i] * totals->period / period;

		/* Sums of hostile periods wrap around, and a part may be more than its whole. */
		*parts[i] = part < totals->period ? (uint64_t)part : totals->period;
	}
}

static void decay_all(struct profile *profile, unsigned eighths)
{
	const struct cell_moves moves = { .decay_eighths = eighths, .carry = &profile->decay_carry };

	for (size_t i = 0; i < profile->n_events; i++) {
		struct profile_event *event = profile->events[i];
		struct cells old = event->cells;
		struct entry_stats before = sums_of(&old), after;

		cells_move(&event->cells, &old, cells_facts(&old), &moves);
		cells_release(&old);
		after = sums_of(&event->cells);
		decay_totals(&event->totals, &before, &after, eighths);
	}
}

static void move_all(struct profile *profile, const struct cell_moves *moves)
{
	for (size_t i = 0; i < profile->n_events; i++) {
		struct cells *cells = &profile->events[i]->cells, old = *cells;

		cells_move(cells, &old, cells_facts(&old), moves);
		cells_release(&old);
	}
}

/* Tasks that live are told of anew with their next sample. */
static void forget_tasks(struct profile *profile)
{
	const struct replay *replay = &profile->session.replay;

	task_names_drop(profile->tasks);
	for (size_t i = 0; i < replay->n_threads; i++)
		task_names_dropped(profile->tasks, replay->threads[i]);
}

/* Names that no cell and no task has any more. */
static void forget_comms(struct profile *profile)
{
	bool *used = xcalloc(session_n_comms(&profile->session) + 1, sizeof(bool));

	for (size_t i = 0; i < profile->n_events; i++) {
		const struct cells *cells = &profile->events[i]->cells;

		for (size_t c = 0; cells_have(cells, FACT_COMM) && c < cells->n; c++)
			used[cell_fact(cells, c, FACT_COMM)] = true;
	}
	if (profile->tasks)
		task_names_mark_comms(profile->tasks, used);
	replay_keep_comms(&profile->session.replay, used);
	filters_forget_numbers(profile->filters);
	free(used);
}

void session_forget_frames(struct session *session)
{
	for (size_t i = 0; i < session->locations->n; i++) {
		session->locations->v[i].framed = false;
		session->locations->v[i].want = 0;
	}
	symbols_forget(session->symbols);
}

/*
 * When there is twice as much as the tables behind the last time asked for, which is what those that are left may need
 * again: so most of it is of locations that went.
 */
static void forget_names(struct session *session)
{
	struct session_private *private = session->private;
	size_t bytes = symbols_forgettable(session->symbols);

	if (private->names_bytes == NAMES_FORGOTTEN)
		private->names_bytes = bytes;
	else if (bytes > NAMES_LEAST_BYTES && bytes / 2 > private->names_bytes) {
		session_forget_frames(session);
		private->names_bytes = NAMES_FORGOTTEN;
	}
}

void profile_compact(struct profile *profile, unsigned decay_eighths)
{
	struct session *session = &profile->session;
	struct cell_moves moves = { .decay_eighths = 0 };
	struct marks marks = {
		.stacks = xcalloc(session->stacks->n + 1, sizeof(bool)),
		.locations = xcalloc(session->locations->n + 1, sizeof(bool)),
		.n_stacks = session->stacks->n,
		.n_locations = session->locations->n,
	};
	uint32_t *stacks, *locations;

	profile_forget_left(profile);
	profile_forget_coarse(profile);
	if (decay_eighths)
		decay_all(profile, decay_eighths);
	for (size_t i = 0; i < profile->n_events; i++)
		mark_cells(profile, &profile->events[i]->cells, &marks);
	session_forget_files(session, marks.locations);
	locations = locations_keep(session->locations, marks.locations);
	stacks = stacks_keep(session->stacks, marks.stacks, locations);
	moves.renumbered[FACT_STACK] = (struct cell_renumbering){ stacks, marks.n_stacks };
	for (size_t f = 0; f < ARRAY_SIZE(location_facts); f++)
		moves.renumbered[location_facts[f]] = (struct cell_renumbering){ locations, marks.n_locations };
	move_all(profile, &moves);
	session_forget(session, locations);
	if (profile->shape.by_function)
		session_name_functions(session);
	forget_names(session);
	if (profile->tasks)
		forget_tasks(profile);
	forget_comms(profile);
	free(stacks);
	free(locations);
	free(marks.stacks);
	free(marks.locations);
}
