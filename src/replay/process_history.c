/* SPDX-License-Identifier: MIT */
/*
 * process_history.c: see process_history.h. One row per pid, the latest process's; a row costs 48 bytes, and the number
 * of rows is bounded, since a recording may have millions of processes: those that come after PROCESSES_MAX others are
 * not known, unless those that ended are forgotten in time. Of the processes that mapped a dso a few are kept, the
 * latest over the oldest.
 */
#include "replay/process_history.h"

#include "replay/state.h"

#include <stdlib.h>

enum { PROCESSES_MAX = 1 << 16, ANCESTORS_MAX = 4 };

void process_history_release(struct process_history *history)
{
	for (size_t i = 0; i < history->n; i++)
		free(history->v[i].jit_path);
	free(history->v);
	free(history->mappers);
	index_release(&history->by_pid);
}

static struct known_process *find(const struct process_history *history, int32_t pid)
{
	uint64_t hash = hash_word((uint32_t)pid);
	uint32_t i;

	if (INDEX_FIND(&history->by_pid, hash, i, history->v[i].pid == pid))
		return &history->v[i];
	return NULL;
}

void process_history_begin(struct process_history *history, int32_t pid)
{
	struct known_process *known = find(history, pid);

	if (pid <= 0 || (!known && history->n == PROCESSES_MAX))
		return;
	if (!known) {
		index_add(&history->by_pid, hash_word((uint32_t)pid), (uint32_t)history->n);
		VEC_GROW(history->v, history->n, history->cap);
		known = &history->v[history->n++];
		known->jit_path = NULL;
	}
	free(known->jit_path);
	*known = (struct known_process){ .pid = pid, .ppid = -1 };
}

void process_history_parent(struct process_history *history, int32_t pid, int32_t ppid)
{
	struct known_process *known = find(history, pid);

	if (known)
		known->ppid = ppid;
}

void process_history_end(struct process_history *history, int32_t pid)
{
	struct known_process *known = find(history, pid);

	if (known)
		known->exited = true;
}

void process_history_map(struct process_history *history, int32_t pid, const struct record_mmap *mmap)
{
	struct known_process *known = jit_dump_pid(mmap->path) >= 0 ? find(history, pid) : NULL;

	if (!known)
		return;
	free(known->jit_path);
	known->jit_path = xstrdup(mmap->path);
	known->jit_major = mmap->major;
	known->jit_minor = mmap->minor;
	known->jit_inode = mmap->inode;
}

void process_history_add_mapper(struct process_history *history, const struct dso *dso, int32_t pid)
{
	struct dso_mappers *mappers;

	while (history->n_mappers <= dso->index) {
		VEC_GROW(history->mappers, history->n_mappers, history->cap_mappers);
		history->mappers[history->n_mappers++] = (struct dso_mappers){ .n = 0 };
	}
	mappers = &history->mappers[dso->index];
	for (size_t i = 0; i < MAPPERS_KEPT; i++)
		if (mappers->v[i] == pid)
			return;
	mappers->v[mappers->n++ % MAPPERS_KEPT] = pid;
}

void process_history_forget(struct process_history *history, bool (*stays)(const void *context, int32_t pid),
			    const void *context)
{
	size_t n = 0;

	index_clear(&history->by_pid);
	for (size_t i = 0; i < history->n; i++) {
		struct known_process *known = &history->v[i];

		if (known->exited && !stays(context, known->pid)) {
			free(known->jit_path);
			continue;
		}
		index_add(&history->by_pid, hash_word((uint32_t)known->pid), (uint32_t)n);
		history->v[n++] = *known;
	}
	history->n = n;
}

void process_history_renumber(struct process_history *history, const uint32_t *now)
{
	size_t n = 0;

	for (size_t i = 0; i < history->n_mappers; i++)
		if (now[i] != DSO_DROPPED)
			history->mappers[n++] = history->mappers[i];
	history->n_mappers = n;
}

/* ---- what others ask ---- */

const struct known_process *replay_known_process(const struct replay *replay, int32_t pid)
{
	return find(&replay->private->history, pid);
}

struct pid_list {
	int32_t *v;
	size_t n, max;
};

static void add(struct pid_list *list, const struct known_process *known)
{
	if (!known || known->exited || list->n == list->max)
		return;
	for (size_t i = 0; i < list->n; i++)
		if (list->v[i] == known->pid)
			return;
	list->v[list->n++] = known->pid;
}

static void add_parents(const struct process_history *history, const struct known_process *known, struct pid_list *list)
{
	for (unsigned i = 0; known && i < ANCESTORS_MAX; i++) {
		known = known->ppid > 0 ? find(history, known->ppid) : NULL;
		add(list, known);
	}
}

static void add_children(const struct process_history *history, int32_t pid, struct pid_list *list)
{
	for (size_t i = 0; i < history->n && list->n < list->max; i++)
		if (history->v[i].ppid == pid)
			add(list, &history->v[i]);
}

size_t replay_mappers(const struct replay *replay, const struct dso *dso, int32_t *pids, size_t max)
{
	const struct process_history *history = &replay->private->history;
	static const struct dso_mappers none;
	const struct dso_mappers *mappers =
		dso->index < history->n_mappers ? &history->mappers[dso->index] : &none;
	size_t n = mappers->n < MAPPERS_KEPT ? mappers->n : MAPPERS_KEPT;
	struct pid_list list = { .v = pids, .max = max };

	for (size_t i = 0; i < n; i++)
		add(&list, find(history, mappers->v[(mappers->n - 1 - i) % MAPPERS_KEPT]));
	for (size_t i = 0; i < n; i++) {
		add_children(history, mappers->v[i], &list);
		add_parents(history, find(history, mappers->v[i]), &list);
	}
	return list.n;
}
