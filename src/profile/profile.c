/*
 * A recording as facts: what is decided before it is read, and what it is kept in. The reading itself is collect.c.
 */
#include "profile/session_internal.h"

#include <stdlib.h>

enum { FIRST_BUCKET_NS = 1 << 20 }; /* about a millisecond: 4 s in all buckets */

/* reader NULL: it is being recorded. */
static int make(struct profile **profile, const struct profile_options *options, struct reader *reader,
		const struct recording_info *recording, struct record_source *source, struct str *err)
{
	struct profile *made = xcalloc(1, sizeof(*made));
	int code;

	*profile = made;
	made->options = *options;
	made->options.session.sym.of_now = !reader;
	made->bucket_ns = FIRST_BUCKET_NS;
	code = reader ? session_init(&made->session, reader, &made->options.session, err)
		      : session_init_live(&made->session, recording, source, &made->options.session, err);
	if (!code)
		code = filters_new(&made->filters, &made->options.filters, &made->session, err);
	if (code) {
		profile_free(made);
		*profile = NULL;
	}
	return code;
}

int profile_new(struct profile **profile, const struct profile_options *options, struct reader *reader,
		struct str *err)
{
	return make(profile, options, reader, NULL, NULL, err);
}

int profile_new_live(struct profile **profile, const struct profile_options *options,
		     const struct recording_info *recording, struct record_source *source, struct str *err)
{
	return make(profile, options, NULL, recording, source, err);
}

/* Those that nobody uses, but for the first `kept` of them. */
static void forget_coarse(struct profile_event *event, size_t kept)
{
	size_t n = 0;

	for (size_t i = 0; i < event->n_coarse; i++) {
		if (event->coarse[i]->users || n < kept) {
			event->coarse[n++] = event->coarse[i];
			continue;
		}
		cells_release(&event->coarse[i]->cells);
		free(event->coarse[i]);
	}
	event->n_coarse = n;
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	profile_end(profile);
	profile_forget_left(profile);
	for (size_t i = 0; i < profile->n_events; i++) {
		forget_coarse(profile->events[i], 0);
		free(profile->events[i]->coarse);
		cells_release(&profile->events[i]->cells);
		free(profile->events[i]);
	}
	free(profile->events);
	texts_free(profile->texts);
	task_names_free(profile->tasks);
	thread_counts_release(&profile->thread_counts);
	filters_free(profile->filters);
	session_release(&profile->session);
	free(profile);
}

int profile_decide(struct profile *profile, struct str *err)
{
	const struct profile_options *options = &profile->options;

	if (profile->decided)
		return 0;
	profile->decided = true;
	profile->shape = (struct profile_shape){ .facts = PROFILE_WHOLE };
	return options->choose ? options->choose(options->context, profile, &profile->shape, err) : 0;
}

static void widen_buckets(struct profile *profile, unsigned shift)
{
	const struct cell_moves moves = { .bucket_shift = shift };

	for (size_t i = 0; i < profile->n_events; i++) {
		struct cells *cells = &profile->events[i]->cells, old = *cells;

		cells_move(cells, &old, cells_facts(&old), &moves);
		cells_release(&old);
	}
	profile->bucket_ns <<= shift;
}

static unsigned buckets_max(const struct profile *profile)
{
	return profile->shape.buckets ? profile->shape.buckets : PROFILE_BUCKETS;
}

/* As wide as they will be in the end, where the header knows when that is: then nothing is widened on the way. */
static void begin_buckets(struct profile *profile, uint64_t time_ns)
{
	uint64_t last_ns = profile->session.recording->info->last_sample_ns;

	profile->bucket_origin_ns = time_ns;
	while (last_ns > time_ns && (last_ns - time_ns) / profile->bucket_ns >= buckets_max(profile))
		profile->bucket_ns <<= 1;
}

uint32_t profile_bucket(struct profile *profile, uint64_t time_ns)
{
	uint64_t since_ns;
	unsigned shift = 0;

	if (!profile->bucket_origin_ns)
		begin_buckets(profile, time_ns);
	since_ns = time_ns > profile->bucket_origin_ns ? time_ns - profile->bucket_origin_ns : 0;
	while (since_ns / profile->bucket_ns >> shift >= buckets_max(profile))
		shift++;
	if (shift)
		widen_buckets(profile, shift);
	return (uint32_t)(since_ns / profile->bucket_ns);
}

/* ---- what questions made of it, for the next ones ---- */

void profile_forget_left(struct profile *profile)
{
	if (profile->left)
		profile->free_left(profile->left);
	profile->left = NULL;
}

const struct cells *profile_cells(struct profile *profile, size_t at, uint64_t facts)
{
	static const struct cell_moves none;
	struct profile_event *event = profile->events[at];
	const struct cells *from = &event->cells;
	struct coarse_cells *coarse = NULL;

	if (event->coarse_samples != event->totals.n_samples)
		forget_coarse(event, 0);
	event->coarse_samples = event->totals.n_samples;
	facts &= cells_facts(&event->cells);
	for (size_t i = 0; i < event->n_coarse; i++)
		if (!(facts & ~cells_facts(&event->coarse[i]->cells)) && event->coarse[i]->cells.n <= from->n) {
			coarse = event->coarse[i];
			from = &coarse->cells;
		}
	if (cells_facts(from) != facts) {
		coarse = xcalloc(1, sizeof(*coarse));
		cells_move(&coarse->cells, from, facts, &none);
		/* The first one stays: it is what most others are made of. */
		if (event->n_coarse >= COARSE_CELLS)
			forget_coarse(event, 1);
		VEC_GROW(event->coarse, event->n_coarse, event->cap_coarse);
		event->coarse[event->n_coarse++] = coarse;
	}
	if (coarse)
		coarse->users++;
	return coarse ? &coarse->cells : from;
}

void profile_cells_done(struct profile *profile, size_t at, const struct cells *cells)
{
	struct profile_event *event = profile->events[at];

	for (size_t i = 0; i < event->n_coarse; i++)
		if (&event->coarse[i]->cells == cells)
			event->coarse[i]->users--;
}

void profile_forget_coarse(struct profile *profile)
{
	for (size_t i = 0; i < profile->n_events; i++)
		forget_coarse(profile->events[i], 0);
}
