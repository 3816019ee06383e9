/* SPDX-License-Identifier: MIT */
/*
 * Forgetting, so that what is read or fed for ever stays as large as what it shows. Three kinds of things grow:
 *
 *   cells       profile_compact(): sums decay, cells that have nothing left go, and with them the stacks, locations,
 *               names and tasks that no other cell has. What stays is numbered anew, in its old order.
 *   addresses   session_forget_locations(): locations, stacks and looked-up frames go all at once, because the next
 *               samples soon bring back those that are needed. No order of age is kept, and a look-up costs no more.
 *               What notes say of all locations is added up per file before they go (struct location_totals).
 *   files       forget_files(): programs that were built, run and removed, and code that compilers made at run time,
 *               which is a dso for each process. A dso is a few hundred bytes, its symbols may be megabytes. It goes
 *               when no process that replay knows has it mapped and no location that is left lies in it; a program that
 *               runs again and again stays, for its last samples have not decayed when it comes back. Notes at the end
 *               don't speak of files that were forgotten.
 */
#include "profile/session_internal.h"

#include <stdlib.h>

static struct dso_total *total_of(struct location_totals *totals, uint32_t dso)
{
	VEC_REACH(totals->dsos, totals->n_dsos, dso);
	return &totals->dsos[dso];
}

/* Adds the locations that there are. */
static void location_totals_add(struct location_totals *totals, const struct session *session)
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

enum {
	LOCATIONS_MAX = 1 << 16,
	FRAMES_BYTES_MAX = 24 << 20, /* lists of frames may be long where much is inlined */
};

bool session_forget_when_full(struct session *session, size_t locations_max)
{
	const size_t most = locations_max ? locations_max : LOCATIONS_MAX;

	if (session->locations->n <= most &&
	    (most == SIZE_MAX || symbols_forgettable(session->symbols) <= FRAMES_BYTES_MAX))
		return false;
	session_forget_locations(session);
	return true;
}

/* Fewer and less than that is not worth new numbers, or looking names up again. */
enum { GONE_MIN = 32, GONE_BYTES_MIN = 256 << 10, NAMES_BYTES_MIN = 2 << 20 };

static void mark_located(const struct session *session, const bool *locations, bool *used)
{
	for (size_t i = 0; i < session->locations->n; i++)
		if (locations[i] && session->locations->v[i].dso)
			used[session->locations->v[i].dso->index] = true;
}

/* A dso that a machine has one of has its place in the notes, and costs nothing. */
static bool goes(const struct dso *dso)
{
	return dso->kind == DSO_FILE || dso->kind == DSO_ANON || dso->kind == DSO_BPF;
}

/* Marks what stays; whether the rest is worth it. */
static bool worth_it(const struct session *session, const bool *locations, bool *used)
{
	const struct dso_table *dsos = &session->replay.dsos;
	size_t n = 0, bytes = 0;

	mark_located(session, locations, used);
	for (size_t i = 0; i < session->private->n_held; i++)
		used[session->private->held[i]->index] = true;
	replay_mark_dsos(&session->replay, used);
	for (size_t i = 0; i < dsos->n; i++) {
		used[i] |= !goes(dsos->v[i]);
		if (used[i])
			continue;
		n++;
		bytes += symbols_bytes(session->symbols, dsos->v[i]);
	}
	return n >= GONE_MIN || bytes >= GONE_BYTES_MIN;
}

/* Which of the codes at an address is meant is a number in the dump as it was read: who tells them apart keeps all. */
static bool is_needed_whole(const struct session *session)
{
	return session->private->code_clock.n || session->private->forgotten.n_dsos;
}

/*
 * Dsos that no process has mapped any more, and in which none of the locations that are `used` lies, go with all that
 * was read for them. The others have new indexes: whoever keeps something by index has to forget it. Locations that
 * are not used may point nowhere afterwards.
 */
static void forget_files(struct session *session, const bool *used)
{
	size_t n = session->replay.dsos.n;
	bool *dsos = xcalloc(n + 1, sizeof(*dsos));

	replay_forget_processes(&session->replay);
	if (!is_needed_whole(session) && worth_it(session, used, dsos)) {
		uint32_t *now = replay_keep_dsos(&session->replay, dsos);

		session_renumber_files(session, now);
		free(now);
	}
	free(dsos);
}

void session_hold_files(struct session *session, const struct dso *const *dsos, size_t n)
{
	struct session_private *private = session->private;

	private->held = xreallocarray(private->held, n + 1, sizeof(*private->held));
	if (n)
		memcpy(private->held, dsos, n * sizeof(*dsos));
	private->n_held = n;
}

/* Marks of what cells still have. */
struct cell_marks {
	bool *stacks, *locations; /* by number */
	size_t n_stacks, n_locations;
};

static void mark_stack(const struct stacks *stacks, struct cell_marks *marks, uint32_t stack)
{
	for (; stack && !marks->stacks[stack]; stack = stacks->v[stack].parent) {
		marks->stacks[stack] = true;
		marks->locations[stacks->v[stack].location] = true;
	}
}

static void mark_location(const struct locations *locations, struct cell_marks *marks, uint64_t location)
{
	if (location < locations->n)
		marks->locations[location] = true;
}

static const enum sample_fact location_facts[] = { FACT_LOCATION, FACT_FROM, FACT_TO, FACT_BLOCK_START,
						   FACT_DATA_LOCATION };

static void mark_cells(struct profile *profile, const struct cells *cells, struct cell_marks *marks)
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

/* Samples that filters left out are in no cell; they decay likewise. */
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
 * Forgets names once they take twice what was looked up again after the last time, which is what the locations that are
 * left may need: most of the rest is then of locations that went.
 */
static void forget_names(struct session *session)
{
	struct session_private *private = session->private;
	size_t bytes = symbols_forgettable(session->symbols);

	if (private->names_bytes == SIZE_MAX)
		private->names_bytes = bytes;
	else if (bytes > NAMES_BYTES_MIN && bytes / 2 > private->names_bytes) {
		session_forget_frames(session);
		private->names_bytes = SIZE_MAX;
	}
}

void profile_compact(struct profile *profile, unsigned decay_eighths)
{
	struct session *session = &profile->session;
	struct cell_moves moves = { .decay_eighths = 0 };
	struct cell_marks marks = {
		.stacks = xcalloc(session->stacks->n + 1, sizeof(bool)),
		.locations = xcalloc(session->locations->n + 1, sizeof(bool)),
		.n_stacks = session->stacks->n,
		.n_locations = session->locations->n,
	};
	uint32_t *stacks, *locations;

	profile->n_changes++;
	profile_forget_coarse(profile);
	if (decay_eighths)
		decay_all(profile, decay_eighths);
	if (decay_eighths == 8)
		session->replay.first_ns = session->replay.last_ns = 0;
	for (size_t i = 0; i < profile->n_events; i++)
		mark_cells(profile, &profile->events[i]->cells, &marks);
	forget_files(session, marks.locations);
	locations = locations_keep(session->locations, marks.locations);
	stacks = stacks_keep(session->stacks, marks.stacks, locations);
	moves.renumbered[FACT_STACK] = (struct cell_renumbering){ stacks, marks.n_stacks };
	for (size_t f = 0; f < ARRAY_SIZE(location_facts); f++)
		moves.renumbered[location_facts[f]] = (struct cell_renumbering){ locations, marks.n_locations };
	move_all(profile, &moves);
	profile_count_stacks(profile);
	session_forget(session, locations);
	if (profile->options.shape.by_function)
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
