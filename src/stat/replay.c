/*
 * A recording's readings -> reports: the same tally book as for counters that are open, filled from
 * outside. What a recording does not have (reasons, the command's own times) is not made up.
 */
#include "stat/rows.h"

#include <stdlib.h>

struct stat_replay {
	const struct stat_plan *plan;
	struct tally_book *book;
	uint64_t last_ns; /* when the last round ended */
	uint64_t now_ns;
};

struct stat_replay *stat_replay_new(const struct stat_plan *plan, struct counter_set *set,
				    const struct target *target, struct topology *topology,
				    struct str *err)
{
	struct stat_replay *replay = xcalloc(1, sizeof(*replay));

	replay->plan = plan;
	replay->book = book_new(plan, err);
	if (replay->book) {
		book_set_topology(replay->book, topology);
		if (!book_attach(replay->book, set, target, err)) {
			if (plan->scale)
				book_keep_slices(replay->book); /* from round to round */
			return replay;
		}
	}
	stat_replay_free(replay);
	return NULL;
}

void stat_replay_begin_round(struct stat_replay *replay, uint64_t since_start_ns)
{
	struct stat_clock since_start = { .elapsed_ns = since_start_ns }, since_last = { 0 };

	if (since_start_ns > replay->last_ns)
		since_last.elapsed_ns = since_start_ns - replay->last_ns;
	replay->now_ns = since_start_ns;
	book_begin_read(replay->book, &since_start, &since_last);
}

void stat_replay_reading(struct stat_replay *replay, size_t index, int cpu, size_t thread,
			 const struct reading *reading)
{
	book_take_reading(replay->book, index, cpu, thread, reading);
}

int stat_replay_end_round(struct stat_replay *replay, enum stat_report_kind kind)
{
	replay->last_ns = replay->now_ns;
	return replay->plan->emit(replay->plan->emit_data,
				  book_report(replay->book, kind, replay->now_ns));
}

void stat_replay_free(struct stat_replay *replay)
{
	if (!replay)
		return;
	book_free(replay->book);
	free(replay);
}
