/* SPDX-License-Identifier: MIT */
/*
 * deferred.h: samples whose user frames come later. The kernel may walk a user stack only when the thread
 * returns to user mode: the sample's chain then ends in PERF_CONTEXT_USER_DEFERRED and a cookie, and a
 * CALLCHAIN_DEFERRED record of the thread brings the frames for all its samples with that cookie.
 * Private to replay/.
 *
 * Such samples are held until then. Those that waited in vain (their record was lost, their thread has
 * exited, too many wait) are delivered without user frames.
 */
#ifndef PSTAT_REPLAY_DEFERRED_H
#define PSTAT_REPLAY_DEFERRED_H

#include "replay/replay.h"

#define CONTEXT_USER_DEFERRED ((uint64_t)-640)

struct task;

struct held_sample {
	struct held_sample *next; /* of the same task */
	struct held_sample *newer, *older; /* of all */
	struct task *task;
	uint64_t cookie;
	uint32_t comm, parallelism; /* the thread's name, and threads on a CPU, when it was taken */
	struct record record;
	uint64_t bytes[]; /* the record's */
};

struct deferred {
	struct held_sample *oldest, *newest;
	size_t n, bytes;
	uint64_t *ips; /* the frames of the present CALLCHAIN_DEFERRED record */
	size_t n_ips, cap_ips;
	uint64_t *chain; /* a sample's, joined */
	size_t cap_chain;
};

void deferred_release(struct replay *replay);
/* Whether a sample's user frames come later; then their cookie. */
bool deferred_cookie(const struct sample *sample, uint64_t *cookie);
/* Takes a copy. The older samples that must go to make room are delivered. */
int deferred_hold(struct replay *replay, struct task *task, const struct record *record,
		  uint64_t cookie, struct str *err);
/* Keeps the frames of a CALLCHAIN_DEFERRED record for deferred_arrived. */
void deferred_take(struct replay *replay, const struct record_body *body);
/* Delivers the task's samples up to the last with this cookie. */
int deferred_arrived(struct replay *replay, struct task *task, uint64_t cookie, struct str *err);
/* Delivers all samples of the task; of all tasks, where it is NULL. */
int deferred_give_up(struct replay *replay, struct task *task, struct str *err);

#endif
