/* SPDX-License-Identifier: MIT */
/*
 * process.c: see process.h. Threads and processes are found by chained buckets, at most as many things as buckets.
 */
#include "replay/process.h"

#include "replay/state.h"

#include <stdio.h>
#include <stdlib.h>

/* Exited threads: GONE_STEP at a time go, GONE_KEPT stay. */
enum { GONE_KEPT = 512, GONE_STEP = 512 };

/* ---- by pid or tid ---- */

static void id_table_release(struct id_table *table)
{
	free(table->buckets);
	*table = (struct id_table){ NULL, 0, 0 };
}

static struct id_link **bucket(const struct id_table *table, int32_t id)
{
	return &table->buckets[hash_word((uint32_t)id) & (table->n_buckets - 1)];
}

static struct id_link *id_table_find(const struct id_table *table, int32_t id)
{
	struct id_link *link = table->n_buckets ? *bucket(table, id) : NULL;

	while (link && link->id != id)
		link = link->next;
	return link;
}

static void grow(struct id_table *table)
{
	struct id_table old = *table;

	table->n_buckets = old.n_buckets ? old.n_buckets * 2 : 64;
	table->buckets = xcalloc(table->n_buckets, sizeof(*table->buckets));
	for (size_t i = 0; i < old.n_buckets; i++) {
		struct id_link *link = old.buckets[i];

		while (link) {
			struct id_link *next = link->next;
			struct id_link **to = bucket(table, link->id);

			link->next = *to;
			*to = link;
			link = next;
		}
	}
	free(old.buckets);
}

static void id_table_add(struct id_table *table, struct id_link *link, int32_t id)
{
	struct id_link **to;

	if (table->n == table->n_buckets)
		grow(table);
	to = bucket(table, id);
	*link = (struct id_link){ *to, id, true };
	*to = link;
	table->n++;
}

static void id_table_remove(struct id_table *table, struct id_link *link)
{
	struct id_link **at;

	if (!link->linked)
		return;
	for (at = bucket(table, link->id); *at != link; at = &(*at)->next)
		;
	*at = link->next;
	link->linked = false;
	table->n--;
}

/* ---- processes and threads ---- */

struct task *task_of(const struct thread *thread)
{
	/* Threads are only handed out as part of a task that can be written. */
	uintptr_t at = (uintptr_t)thread - offsetof(struct task, thread);

	return (struct task *)at;
}

/* The link is the first member of both. */
static struct task *task_by_link(struct id_link *link)
{
	return (struct task *)(void *)link;
}

static struct process *process_by_link(struct id_link *link)
{
	return (struct process *)(void *)link;
}

static struct process *process_new(struct process_table *table, int32_t pid)
{
	struct process *process = xcalloc(1, sizeof(*process));

	process->serial = table->n_made++;
	if (pid != -1)
		id_table_add(&table->pids, &process->by_pid, pid);
	return process;
}

/* The process of a pid; a new one for each thread whose pid is not known. */
static struct process *process_get(struct process_table *table, int32_t pid)
{
	struct id_link *link = pid == -1 ? NULL : id_table_find(&table->pids, pid);

	return link ? process_by_link(link) : process_new(table, pid);
}

static void leave(struct process_table *table, struct task *task)
{
	struct process *process = task->process;

	if (--process->n_threads)
		return;
	id_table_remove(&table->pids, &process->by_pid);
	address_space_release(&process->address_space);
	address_space_release(&process->before_exec);
	free(process);
}

static void join(struct replay *replay, struct task *task, struct process *process, int32_t pid)
{
	if (!process->n_threads)
		process_history_begin(&replay->private->history, pid);
	process->n_running++;
	task->process = process;
	task->thread.pid = pid;
	task->thread.process_serial = process->serial;
	task->thread.address_space = &process->address_space;
	process->n_threads++;
}

static struct task *task_new(struct replay *replay, struct process *process, int32_t pid,
			     int32_t tid)
{
	struct process_table *table = &replay->private->processes;
	struct task *task = xcalloc(1, sizeof(*task));

	task->held_end = &task->held;
	task->ptid = -1;
	task->thread.tid = tid;
	task->thread.serial = table->n_made++;
	task->thread.ppid = -1;
	join(replay, task, process, pid);
	id_table_add(&table->tids, &task->by_tid, tid);
	VEC_GROW(replay->threads, replay->n_threads, replay->cap_threads);
	replay->threads[replay->n_threads++] = &task->thread;
	return task;
}

/*
 * A CPU that idles runs thread 0; in another PID namespace all threads outside of it have this number. Whatever
 * process a record says it is of, it is swapper, as in perf.
 */
static void name_unknown(struct replay *replay, struct thread *thread)
{
	char name[16];

	snprintf(name, sizeof(name), ":%d", thread->tid);
	thread->comm_known = !thread->tid;
	thread->comm =
		text_table_add(&replay->private->comms, thread->comm_known ? "swapper" : name);
}

static void task_free(struct replay *replay, struct task *task)
{
	struct process_table *table = &replay->private->processes;
	const struct replay_handlers *handlers = &replay->private->handlers;

	if (handlers->thread_gone)
		handlers->thread_gone(handlers->context, &task->thread);
	if (table->last == task)
		table->last = NULL;
	id_table_remove(&table->tids, &task->by_tid);
	leave(table, task);
	free(task);
}

/* Takes the marked ones out of replay->threads; the mark is a thread without an address space. */
static void forget_marked(struct replay *replay)
{
	size_t kept = 0;

	for (size_t i = 0; i < replay->n_threads; i++) {
		struct thread *thread = replay->threads[i];

		if (thread->address_space) {
			replay->threads[kept++] = thread;
			continue;
		}
		thread->address_space = &task_of(thread)->process->address_space;
		task_free(replay, task_of(thread));
	}
	replay->n_threads = kept;
}

/* The oldest go, but for those whose samples still wait. */
static void forget_gone(struct replay *replay)
{
	struct process_table *table = &replay->private->processes;
	struct task **at = &table->gone;
	size_t n = table->n_gone - GONE_KEPT;

	while (n--) {
		struct task *task = *at;

		if (task->held) {
			at = &task->next_gone;
			continue;
		}
		*at = task->next_gone;
		if (!*at)
			table->gone_end = at;
		table->n_gone--;
		task->thread.address_space = NULL;
	}
	table->gone_limit = table->n_gone + GONE_STEP;
	forget_marked(replay);
}

/* A recording of a single thread knows nothing of the others: so the first one has to be among those that ended. */
static void note_exit(struct replay *replay, const struct task *task)
{
	struct process *process = task->process;

	if (task->thread.exited)
		return;
	process->n_running--;
	process->first_exited |= task->thread.tid == task->thread.pid;
	if (!process->n_running && process->first_exited && process->by_pid.linked)
		process_history_end(&replay->private->history, task->thread.pid);
}

void process_table_exit(struct replay *replay, struct task *task)
{
	struct process_table *table = &replay->private->processes;

	note_exit(replay, task);
	task->thread.exited = true;
	if (task->gone || replay->options.keep_exited)
		return;
	task->gone = true;
	task->next_gone = NULL;
	*table->gone_end = task;
	table->gone_end = &task->next_gone;
	if (++table->n_gone >= table->gone_limit)
		forget_gone(replay);
}

/* The task's tid belongs to another thread from now on. */
static void replaced(struct replay *replay, struct task *task)
{
	struct process_table *table = &replay->private->processes;

	if (table->last == task)
		table->last = NULL;
	id_table_remove(&table->tids, &task->by_tid);
	process_table_exit(replay, task);
}

struct task *process_table_find(const struct replay *replay, int32_t tid)
{
	struct id_link *link = id_table_find(&replay->private->processes.tids, tid);

	return link ? task_by_link(link) : NULL;
}

struct thread *replay_find_thread(const struct replay *replay, int32_t tid)
{
	struct task *task = process_table_find(replay, tid);

	return task ? &task->thread : NULL;
}

bool process_table_has(const struct replay *replay, int32_t pid)
{
	return id_table_find(&replay->private->processes.pids, pid);
}

struct task *process_table_get(struct replay *replay, int32_t pid, int32_t tid)
{
	struct process_table *table = &replay->private->processes;
	struct task *task = table->last;

	if (task && task->thread.tid == tid && task->thread.pid == pid)
		return task;
	task = process_table_find(replay, tid);
	if (task && task->thread.pid != pid && pid != -1) {
		if (task->thread.pid == -1) {
			leave(table, task);
			join(replay, task, process_get(table, pid), pid);
		} else {
			/* The FORK of the thread that has the tid now was lost. */
			replaced(replay, task);
			task = NULL;
		}
	}
	if (!task) {
		task = task_new(replay, process_get(table, pid), pid, tid);
		name_unknown(replay, &task->thread);
	}
	table->last = task;
	return task;
}

/* A process that begins as a copy, or (synthesized) as nothing yet. */
static struct process *forked_process(struct replay *replay, const struct task *parent, int32_t pid,
				      bool empty)
{
	struct process_table *table = &replay->private->processes;
	struct id_link *old = pid == -1 ? NULL : id_table_find(&table->pids, pid);
	struct process *process;

	if (old)
		id_table_remove(&table->pids, old);
	process = process_new(table, pid);
	if (!empty) {
		address_space_share(&process->address_space, &parent->process->address_space);
		process->program = parent->process->program;
	}
	return process;
}

static void inherit(struct replay *replay, struct task *task, const struct task *parent)
{
	struct thread *thread = &task->thread;

	task->ptid = parent->thread.tid;
	thread->cgroup_dev = parent->thread.cgroup_dev;
	thread->cgroup_ino = parent->thread.cgroup_ino;
	thread->comm = parent->thread.comm;
	thread->comm_known = parent->thread.comm_known;
	if (!thread->comm_known)
		name_unknown(replay, thread);
}

struct task *process_table_fork(struct replay *replay, const struct record_body *body)
{
	int32_t pid = (int32_t)body->task.pid, tid = (int32_t)body->task.tid;
	int32_t ppid = (int32_t)body->task.ppid, ptid = (int32_t)body->task.ptid;
	struct process_table *table = &replay->private->processes;
	struct task *parent, *old, *task;
	struct process *process;

	if (tid == ptid)
		return process_table_get(replay, pid, tid);
	parent = process_table_get(replay, ppid, ptid);
	process = pid == ppid && pid != -1
			  ? parent->process
			  : forked_process(replay, parent, pid, body->misc & MISC_FORK_EXEC);
	old = process_table_find(replay, tid);
	if (old)
		id_table_remove(&table->tids, &old->by_tid);
	task = task_new(replay, process, pid, tid);
	inherit(replay, task, parent);
	task->thread.ppid = ppid;
	if (pid != ppid)
		process_history_parent(&replay->private->history, pid, ppid);
	task->thread.start_ns = body->task.time_ns;
	/* Last, because it may be what lets the parent go. */
	if (old)
		replaced(replay, old);
	return task;
}

void process_exec(struct replay *replay, struct process *process)
{
	address_space_release(&process->before_exec);
	address_space_share(&process->before_exec, &process->address_space);
	address_space_clear(&process->address_space, &replay->private->clock);
	process->program = NULL;
}

void process_runs(struct process *process)
{
	if (process->before_exec.n)
		address_space_release(&process->before_exec);
}

void process_table_init(struct replay *replay)
{
	struct process_table *table = &replay->private->processes;

	table->gone_end = &table->gone;
	table->gone_limit = GONE_KEPT + GONE_STEP;
	process_table_get(replay, 0, 0);
}

void process_table_release(struct replay *replay)
{
	struct process_table *table = &replay->private->processes;

	for (size_t i = 0; i < replay->n_threads; i++)
		task_free(replay, task_of(replay->threads[i]));
	free(replay->threads);
	replay->threads = NULL;
	replay->n_threads = replay->cap_threads = 0;
	id_table_release(&table->pids);
	id_table_release(&table->tids);
}
