/* SPDX-License-Identifier: MIT */
/*
 * process.h: who runs. Threads by tid; processes by pid, each with the address space that its threads share.
 * Private to replay/.
 *
 * A thread that has exited stays for a while, because samples of it may still come: it goes when a few
 * hundred others have exited after it, never with keep_exited. A tid that is used again belongs to the
 * new thread at once.
 */
#ifndef PSTAT_REPLAY_PROCESS_H
#define PSTAT_REPLAY_PROCESS_H

#include "replay/replay.h"

struct held_sample; /* deferred.h */

/* Things by their pid or tid. The link lies in the thing; unlike util's index, it can be taken out. */
struct id_link {
	struct id_link *next;
	int32_t id;
	bool linked; /* it is in its table */
};
struct id_table {
	struct id_link **buckets;
	size_t n_buckets, n; /* n_buckets is 0 or a power of 2 */
};

struct process {
	/* First, so that a link is a process; not linked: its pid is not known, or was reused. */
	struct id_link by_pid;
	uint32_t serial;
	uint32_t n_threads; /* that are known */
	uint32_t n_running; /* those of them that have not exited */
	bool first_exited; /* the thread whose tid is the pid */
	struct address_space address_space;
	const struct dso *program; /* the first file whose code was mapped, to be compared; NULL: not known */
	/*
	 * The maps from before the last exec, where the frames of its own system call lie. Kept until a sample in user
	 * mode shows that the new program runs.
	 */
	struct address_space before_exec;
};

/* A thread; others see its struct thread. */
struct task {
	struct id_link by_tid; /* first, as above; not linked: the tid was reused */
	struct thread thread;
	struct process *process;
	int32_t ptid; /* -1: not known */
	struct task *next_gone;
	bool gone; /* it is in the list of those that exited or were replaced */
	/* Samples that wait for their user frames, in order. */
	struct held_sample *held, **held_end;
};

struct process_table {
	struct id_table pids, tids;
	struct task *last; /* that was looked up, or NULL */
	struct task *gone, **gone_end; /* oldest first */
	size_t n_gone, gone_limit; /* at the limit some go */
	uint32_t n_made; /* processes and threads */
};

struct task *task_of(const struct thread *thread);
void process_table_init(struct replay *replay);
void process_table_release(struct replay *replay);
/* The thread, made if there is none; -1: not known. */
struct task *process_table_get(struct replay *replay, int32_t pid, int32_t tid);
struct task *process_table_find(const struct replay *replay, int32_t tid); /* or NULL */
/* True: the process has threads, also ones that have exited a short while ago. */
bool process_table_has(const struct replay *replay, int32_t pid);
struct task *process_table_fork(struct replay *replay, const struct record_body *body);
/* To be called when its EXIT has been handed on. */
void process_table_exit(struct replay *replay, struct task *task);
/* A new program: what was mapped is gone. */
void process_exec(struct replay *replay, struct process *process);
/* A sample in user mode: see before_exec. */
void process_runs(struct process *process);

#endif
