/* SPDX-License-Identifier: MIT */
/*
 * deferred.c: see deferred.h. Each held sample is in two lists: of its task, oldest first, and of all.
 *
 * Source: PERF_RECORD_CALLCHAIN_DEFERRED in include/uapi/linux/perf_event.h.
 */
#include "replay/deferred.h"

#include "replay/process_events.h"
#include "replay/state.h"

#include <stdlib.h>

enum { HELD_MAX = 1 << 16, HELD_BYTES_MAX = 64 << 20 };

#define CONTEXT_USER ((uint64_t)-512)

bool deferred_cookie(const struct sample *sample, uint64_t *cookie)
{
	if (sample->n_ips < 2 || sample->ips[sample->n_ips - 2] != CONTEXT_USER_DEFERRED)
		return false;
	*cookie = sample->ips[sample->n_ips - 1];
	return true;
}

static size_t held_bytes(const struct held_sample *held)
{
	return sizeof(*held) + held->record.size;
}

/* The first of its task's list leaves both lists. */
static struct held_sample *pop(struct deferred *deferred, struct task *task)
{
	struct held_sample *held = task->held;

	task->held = held->next;
	if (!task->held)
		task->held_end = &task->held;
	*(held->older ? &held->older->newer : &deferred->oldest) = held->newer;
	*(held->newer ? &held->newer->older : &deferred->newest) = held->older;
	deferred->n--;
	deferred->bytes -= held_bytes(held);
	return held;
}

void deferred_release(struct replay *replay)
{
	struct deferred *deferred = &replay->private->deferred;

	while (deferred->oldest)
		free(pop(deferred, deferred->oldest->task));
	free(deferred->ips);
	free(deferred->chain);
}

static void reserve(uint64_t **v, size_t *cap, size_t n)
{
	if (n <= *cap)
		return;
	*cap = n + n / 2;
	*v = xreallocarray(*v, *cap, sizeof(**v));
}

/* The kernel's frames, then, where they are known, the user's. */
static void join_chain(struct deferred *deferred, struct replay_sample *sample)
{
	size_t own = sample->n_ips - 2, n = own, more = deferred->n_ips;

	reserve(&deferred->chain, &deferred->cap_chain, own + more + 1);
	if (own)
		memcpy(deferred->chain, sample->ips, own * sizeof(uint64_t));
	if (more) {
		uint8_t mode;

		if (!context_mode(deferred->ips[0], &mode))
			deferred->chain[n++] = CONTEXT_USER;
		memcpy(deferred->chain + n, deferred->ips, more * sizeof(uint64_t));
		n += more;
	}
	sample->ips = deferred->chain;
	sample->n_ips = n;
}

/* Delivers and frees. matched: deferred->ips are its frames. */
static int deliver(struct replay *replay, struct held_sample *held, bool matched, struct str *err)
{
	struct deferred *deferred = &replay->private->deferred;
	struct thread *thread = &held->task->thread;
	struct replay_sample sample;
	struct record_body body;
	uint32_t now = thread->comm;
	int rc = record_decode(replay->recording->decoder, &held->record, &body, err);

	if (!rc) {
		process_events_fill_sample(&sample, &held->record, &body, thread, held->parallelism);
		if (matched) {
			join_chain(deferred, &sample);
		} else {
			sample.n_ips -= 2;
			sample.user_frames_missing = true;
			replay->counts.deferred_missing++;
		}
		thread->comm = held->comm;
		rc = process_events_emit(replay, &sample, err);
		thread->comm = now;
	}
	free(held);
	return rc;
}

int deferred_hold(struct replay *replay, struct task *task, const struct record *record,
		  uint64_t cookie, struct str *err)
{
	struct deferred *deferred = &replay->private->deferred;
	struct held_sample *held = xmalloc(sizeof(*held) + record->size);
	int rc = 0;

	*held = (struct held_sample){ .older = deferred->newest,
				      .task = task,
				      .cookie = cookie,
				      .comm = task->thread.comm,
				      .parallelism = replay_parallelism(replay),
				      .record = *record };
	memcpy(held->bytes, record->bytes, record->size);
	held->record.bytes = (const uint8_t *)held->bytes;
	*task->held_end = held;
	task->held_end = &held->next;
	*(deferred->newest ? &deferred->newest->newer : &deferred->oldest) = held;
	deferred->newest = held;
	deferred->n++;
	deferred->bytes += held_bytes(held);
	while (!rc && (deferred->n > HELD_MAX || deferred->bytes > HELD_BYTES_MAX))
		rc = deliver(replay, pop(deferred, deferred->oldest->task), false, err);
	return rc;
}

void deferred_take(struct replay *replay, const struct record_body *body)
{
	struct deferred *deferred = &replay->private->deferred;

	deferred->n_ips = body->deferred.ips.n;
	reserve(&deferred->ips, &deferred->cap_ips, deferred->n_ips);
	if (deferred->n_ips)
		memcpy(deferred->ips, body->deferred.ips.v, deferred->n_ips * sizeof(uint64_t));
}

int deferred_arrived(struct replay *replay, struct task *task, uint64_t cookie, struct str *err)
{
	struct deferred *deferred = &replay->private->deferred;
	size_t n = 0, i = 0;
	int rc = 0;

	for (const struct held_sample *held = task->held; held; held = held->next) {
		i++;
		if (held->cookie == cookie)
			n = i;
	}
	while (n-- && !rc) {
		bool matched = task->held->cookie == cookie;

		rc = deliver(replay, pop(deferred, task), matched, err);
	}
	return rc;
}

int deferred_give_up(struct replay *replay, struct task *task, struct str *err)
{
	struct deferred *deferred = &replay->private->deferred;
	int rc = 0;

	while (!rc && (task ? task->held : deferred->oldest))
		rc = deliver(replay, pop(deferred, task ? task : deferred->oldest->task), false,
			     err);
	return rc;
}
