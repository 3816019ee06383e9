/*
 * replay_forget.c: for those who feed for ever. What is kept follows what lives: names, relatives and files that nobody
 * has any more go when the caller says so, and numbers of the former and the latter may be given to others.
 */
#include "replay/state.h"

#include <stdlib.h>

void replay_keep_comms(struct replay *replay, bool *used)
{
	const struct deferred *deferred = &replay->private->deferred;

	for (size_t i = 0; i < replay->n_threads; i++)
		used[replay->threads[i]->comm] = true;
	for (const struct held_sample *held = deferred->oldest; held; held = held->newer)
		used[held->comm] = true;
	text_table_keep(&replay->private->comms, used);
}

static void mark_maps(const struct address_space *space, bool *used)
{
	const struct map *map = NULL;

	while ((map = address_space_next(space, map)))
		if (map->dso)
			used[map->dso->index] = true;
}

void replay_mark_dsos(const struct replay *replay, bool *used)
{
	const struct process *last = NULL;

	mark_maps(replay->kernel, used);
	mark_maps(replay->guest_kernel, used);
	for (size_t i = 0; i < replay->n_threads; i++) {
		const struct process *process = task_of(replay->threads[i])->process;

		if (process == last)
			continue;
		mark_maps(&process->address_space, used);
		mark_maps(&process->before_exec, used);
		last = process;
	}
}

uint32_t *replay_keep_dsos(struct replay *replay, const bool *used)
{
	uint32_t *now = dso_table_keep(&replay->dsos, used);

	kin_renumber(&replay->private->kin, now);
	return now;
}

/* Samples of a process that has ended may still come as long as its threads are there. */
static bool has_threads(const void *context, int32_t pid)
{
	const struct replay *replay = context;

	return id_table_find(&replay->private->processes.pids, pid);
}

void replay_forget_kin(struct replay *replay)
{
	kin_forget(&replay->private->kin, has_threads, replay);
}
