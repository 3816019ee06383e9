/* SPDX-License-Identifier: MIT */
/*
 * tasks_listing.c: who ran and what was mapped, as text: `report --tasks` and `--mmaps`. Words and layout are
 * those of perf:
 *
 *	#      pid      tid     ppid  comm
 *	     20365    20365       -1 |sh
 *	     20366    20366    20365 | true
 *	                                 55a3baf24000-55a3baf37000 r-xp 00004000 247230 /usr/bin/true
 *
 * A thread's parent is the last one before it that had the parent's id: ids are reused, and the parent
 * of a later thread cannot be a still later one. So the threads are a forest whatever the file says.
 */
#include "replay/state.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { LEVEL_MAX = 100 /* columns of indentation */ };

struct node {
	const struct task *task;
	uint32_t level;
	size_t parent1, first1, last1, next1; /* 1 + index of node; 0: none */
};

struct by_tid {
	int32_t tid;
	size_t index;
};

static int compare(const void *a, const void *b)
{
	const struct by_tid *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* 1 + index of the last thread before `index` that has this tid, or 0. */
static size_t find_parent(const struct by_tid *v, size_t n, int32_t tid, size_t index)
{
	const struct by_tid key = { tid, index };
	size_t at = BISECT(i, 0, n, compare(&v[i], &key) < 0);

	return at && v[at - 1].tid == tid ? v[at - 1].index + 1 : 0;
}

static void add_child(struct node *nodes, size_t parent1, size_t child)
{
	struct node *parent = &nodes[parent1 - 1];

	nodes[child].parent1 = parent1;
	nodes[child].level = parent->level + 1;
	*(parent->last1 ? &nodes[parent->last1 - 1].next1 : &parent->first1) = child + 1;
	parent->last1 = child + 1;
}

static struct node *forest_new(const struct replay *replay)
{
	size_t n = replay->n_threads;
	struct node *nodes = xcalloc(n + 1, sizeof(*nodes));
	struct by_tid *ids = xcalloc(n + 1, sizeof(*ids));

	for (size_t i = 0; i < n; i++) {
		nodes[i].task = task_of(replay->threads[i]);
		ids[i] = (struct by_tid){ replay->threads[i]->tid, i };
	}
	qsort(ids, n, sizeof(*ids), compare);
	for (size_t i = 0; i < n; i++) {
		int32_t ptid = nodes[i].task->ptid;
		size_t parent1 = ptid == -1 ? 0 : find_parent(ids, n, ptid, i);

		if (parent1)
			add_child(nodes, parent1, i);
	}
	free(ids);
	return nodes;
}

/* The node after this one, children first; 0: none below this one's root. */
static size_t next_in_tree(const struct node *nodes, size_t at1)
{
	if (nodes[at1 - 1].first1)
		return nodes[at1 - 1].first1;
	while (at1 && !nodes[at1 - 1].next1)
		at1 = nodes[at1 - 1].parent1;
	return at1 ? nodes[at1 - 1].next1 : 0;
}

static size_t add_task(const struct replay *replay, const struct node *node, struct str *out)
{
	const struct thread *thread = &node->task->thread;
	const char *comm = replay_comm(replay, thread->comm);
	size_t start = out->len, indent;

	str_addf(out, "  %8d %8d %8d |", thread->pid, thread->tid, node->task->ptid);
	str_pad(out, ' ', node->level < LEVEL_MAX ? node->level : LEVEL_MAX);
	indent = out->len - start;
	str_add_printable(out, comm, strlen(comm));
	str_addc(out, '\n');
	return indent;
}

static void add_map(const struct map *map, size_t indent, struct str *out)
{
	const struct dso *dso = map->dso;

	str_pad(out, ' ', indent + 2);
	str_addf(out, "%llx-%llx %c%c%c%c %08llx %llu ", (unsigned long long)map->start,
		 (unsigned long long)map->end, map->prot & PROT_READ ? 'r' : '-',
		 map->prot & PROT_WRITE ? 'w' : '-', map->prot & PROT_EXEC ? 'x' : '-',
		 map->flags & MAP_SHARED ? 's' : 'p', (unsigned long long)map->pgoff,
		 (unsigned long long)dso->inode);
	str_add_printable(out, dso->path, strlen(dso->path));
	str_addc(out, '\n');
}

static void print(const struct replay *replay, bool maps, struct str *out)
{
	struct node *nodes = forest_new(replay);

	str_add(out, "#      pid      tid     ppid  comm\n");
	for (size_t i = 0; i < replay->n_threads; i++) {
		if (nodes[i].parent1)
			continue;
		for (size_t at1 = i + 1; at1; at1 = next_in_tree(nodes, at1)) {
			const struct node *node = &nodes[at1 - 1];
			size_t indent = add_task(replay, node, out);
			const struct address_space *space = node->task->thread.address_space;

			for (const struct map *map = maps ? address_space_next(space, NULL) : NULL; map;
			     map = address_space_next(space, map))
				add_map(map, indent, out);
		}
	}
	free(nodes);
}

void replay_print_tasks(const struct replay *replay, struct str *out)
{
	print(replay, false, out);
}

void replay_print_mmaps(const struct replay *replay, struct str *out)
{
	print(replay, true, out);
}
