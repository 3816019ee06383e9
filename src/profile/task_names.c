/* SPDX-License-Identifier: MIT */
/*
 * task_names.c: see profile.h.
 */
#include "profile/profile.h"

#include <stdlib.h>

struct task_name {
	uint64_t id;
	uint32_t comm;
	bool of_first_thread; /* a process's own name */
	bool kept; /* task_names_keep */
};

struct task_names {
	struct task_name *v;
	size_t n, cap;
	struct index ix;
};

struct task_names *task_names_new(void)
{
	return xcalloc(1, sizeof(struct task_names));
}

void task_names_free(struct task_names *names)
{
	if (!names)
		return;
	free(names->v);
	index_release(&names->ix);
	free(names);
}

static uint64_t task_id(int32_t number, uint32_t serial)
{
	return (uint64_t)(uint32_t)number << 32 | serial;
}

uint64_t task_names_tid(const struct thread *thread)
{
	return task_id(thread->tid, thread->serial);
}

uint64_t task_names_pid(const struct thread *thread)
{
	return task_id(thread->pid, thread->process_serial);
}

static struct task_name *find(const struct task_names *names, uint64_t id)
{
	uint64_t hash = hash_word(id);
	uint32_t i;

	if (INDEX_FIND(&names->ix, hash, i, names->v[i].id == id))
		return &names->v[i];
	return NULL;
}

static void add(struct task_names *names, uint64_t id, uint32_t comm)
{
	if (find(names, id))
		return;
	index_add(&names->ix, hash_word(id), (uint32_t)names->n);
	VEC_GROW(names->v, names->n, names->cap);
	names->v[names->n++] = (struct task_name){ .id = id, .comm = comm };
}

void task_names_want(struct task_names *names, struct thread *thread)
{
	/* Not a flag: a process that was not known is another one when it is. */
	void *wanted = (void *)((uintptr_t)thread->process_serial + 1);

	if (thread->user == wanted)
		return;
	thread->user = wanted;
	add(names, task_names_tid(thread), thread->comm);
	add(names, task_names_pid(thread), thread->comm);
}

void task_names_last(struct task_names *names, struct thread *thread)
{
	bool first = thread->tid == thread->pid;
	struct task_name *own, *process;

	if (!names->n)
		return;
	own = thread->user ? find(names, task_names_tid(thread)) : NULL;
	/* The first thread may have no sample itself. */
	process = thread->user || first ? find(names, task_names_pid(thread)) : NULL;
	thread->user = NULL;
	if (own)
		own->comm = thread->comm;
	if (process && (first || !process->of_first_thread)) {
		process->comm = thread->comm;
		process->of_first_thread = first;
	}
}

uint32_t task_names_comm(const struct task_names *names, uint64_t id)
{
	const struct task_name *name = find(names, id);

	return name ? name->comm : 0;
}

void task_names_keep(struct task_names *names, uint64_t id)
{
	struct task_name *name = find(names, id);

	if (name)
		name->kept = true;
}

void task_names_drop(struct task_names *names)
{
	size_t n = 0;

	index_clear(&names->ix);
	for (size_t i = 0; i < names->n; i++) {
		if (!names->v[i].kept)
			continue;
		names->v[n] = names->v[i];
		names->v[n].kept = false;
		index_add(&names->ix, hash_word(names->v[n].id), (uint32_t)n);
		n++;
	}
	names->n = n;
}

void task_names_mark_comms(const struct task_names *names, bool *used)
{
	for (size_t i = 0; i < names->n; i++)
		used[names->v[i].comm] = true;
}

void task_names_dropped(const struct task_names *names, struct thread *thread)
{
	if (!find(names, task_names_tid(thread)))
		thread->user = NULL;
}
